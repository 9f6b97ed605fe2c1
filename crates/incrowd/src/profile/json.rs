//! A profile as JSON: public data at the top, all other data under `private`.

use serde_json::{Value as Json, json};

use super::{ColumnProfile, Profile, SIZES, Uniqueness};
use crate::job::RoleName;

impl Profile {
    /// Returns the profile as JSON.
    pub fn to_json(&self) -> Json {
        let name = |c: &usize| self.columns[*c].name.as_str();
        let names = |columns: &[usize]| columns.iter().map(name).collect::<Vec<_>>();
        let sets = self.found.combinations.iter().map(|set| {
            json!({
                "columns": names(&set.columns),
                "unique": set.unique,
                "unique_share": self.share_of(set.unique),
            })
        });
        let functions = self
            .found
            .dependencies
            .iter()
            .map(|d| json!({ "from": name(&d.from), "to": name(&d.to) }));
        json!({
            "records": self.records,
            "columns": self.table_columns,
            "private": {
                "columns": self.columns.iter().map(|c| self.column_json(c)).collect::<Vec<_>>(),
                "incomplete_records": self.incomplete,
                "unique_on_sensitive": self.sensitive_unique,
                "singling_out": {
                    "share": self.share,
                    "records_needed": self.found.needed,
                    "max_columns": self.most,
                    "cut_short": self.cut_short,
                    "sets_counted": self.found.counted,
                    "sets": sets.collect::<Vec<_>>(),
                },
                "functions": functions.collect::<Vec<_>>(),
                "uniqueness": self.uniqueness.as_ref().map(|u| self.uniqueness_json(u)),
                "weighted": self.weighted.as_ref().map(|risk| {
                    let json = |(worst, found): (f64, f64)| {
                        json!({ "worst": worst, "expected_found": found })
                    };
                    json!({
                        "people": risk.people,
                        "fewest_people": risk.fewest,
                        "by_weights": json(risk.by_weights),
                        "benedetti_franconi": json(risk.expected),
                    })
                }),
                "population": self.population.as_ref().map(population_json),
            },
        })
    }

    /// Returns a number of records as a share of all.
    pub fn share_of(&self, records: u64) -> f64 {
        if self.records == 0 { 0.0 } else { records as f64 / self.records as f64 }
    }

    fn column_json(&self, column: &ColumnProfile) -> Json {
        let counts = &column.counts;
        let markers =
            column.markers.iter().map(|m| json!({ "text": m.text, "records": m.records }));
        json!({
            "name": column.name,
            "kind": column.kind.name(),
            "distinct": counts.distinct,
            "missing": counts.missing,
            "missing_share": self.share_of(counts.missing),
            "unique": counts.unique,
            "unique_share": self.share_of(counts.unique),
            "largest_share": self.share_of(counts.largest),
            "likely_missing_markers": markers.collect::<Vec<_>>(),
            "role": role_name(column.proposal.role),
            "sure": column.proposal.sure,
            "reason": column.proposal.reason,
            "remarks": column.remarks,
        })
    }

    fn uniqueness_json(&self, uniqueness: &Uniqueness) -> Json {
        let sizes = &uniqueness.sizes;
        let unique = sizes.of_size(1);
        let band = |&(low, high): &(u64, u64)| {
            let (groups, records) = sizes.between(low, high);
            let high = (high < u64::MAX).then_some(high);
            json!({ "from": low, "to": high, "groups": groups, "records": records })
        };
        let without = uniqueness.columns.iter().zip(&uniqueness.without).map(|(&c, &unique)| {
            let column = &self.columns[c].name;
            json!({ "column": column, "unique": unique, "unique_share": self.share_of(unique) })
        });
        json!({
            "columns":
                uniqueness.columns.iter().map(|&c| &self.columns[c].name).collect::<Vec<_>>(),
            "columns_given": uniqueness.given,
            "unique": unique,
            "unique_share": self.share_of(unique),
            "groups": sizes.groups(),
            "smallest_group": sizes.sizes.first().map(|(size, _)| size),
            "group_sizes": SIZES.iter().map(band).collect::<Vec<_>>(),
            "without_column": without.collect::<Vec<_>>(),
        })
    }
}

/// Returns the name of a role in a job file.
pub(super) fn role_name(role: RoleName) -> &'static str {
    RoleName::ALL.iter().find(|(_, r)| *r == role).map_or("drop", |(name, _)| name)
}

fn population_json(population: &incrowd_audit::risk::population::Population) -> Json {
    let people = population.size as f64;
    let estimates = population.estimates.iter().map(|e| match e.uniques {
        Ok(uniques) => {
            json!({ "estimator": e.name, "unique": uniques, "unique_share": uniques / people })
        }
        Err(why) => {
            json!({ "estimator": e.name, "unique": null, "unique_share": null, "why_not": why })
        }
    });
    json!({
        "size": population.size,
        "sampling_fraction": population.fraction,
        "estimates": estimates.collect::<Vec<_>>(),
        "chosen": population.chosen.map(|(name, uniques)| {
            json!({ "estimator": name, "unique": uniques, "unique_share": uniques / people })
        }),
    })
}
