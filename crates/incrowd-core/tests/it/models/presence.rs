//! k-map and δ-presence: records compared with the people of a population that their cells cover.

use proptest::prelude::*;

use super::{Millionths, agree, count, privacy_model};
use incrowd_core::model::Verdict;
use incrowd_core::{ColumnSpec, Dataset, Folded, GroupSummary, Value};

/// The verdict of a model that does not read the table.
fn judge(name: &str, params: &[(&str, Value)], records: u64, population: u64) -> Verdict {
    let folded = Folded::from_records(&["q"], [vec![Some("x")]], false);
    let data = Dataset::encode(folded, &[&ColumnSpec::default()], &[], "?").unwrap();
    let group = GroupSummary { records, population, ..GroupSummary::empty(0) };
    privacy_model(name, params).model.bind(&data).unwrap().admits(&group)
}

proptest! {
    #[test]
    fn k_map_counts_people_and_not_records(records in 1u64..20, people in 0u64..20, k in 1u64..20) {
        agree(&judge("k-map", &[("k", count(k))], records, people), people as f64, people >= k);
    }

    #[test]
    fn presence_is_records_over_people(records in 0i128..20, people in 0i128..20) {
        // People without a record are certainly absent. Records without people contradict the
        // population.
        prop_assume!(records > 0 || people > 0);
        let (part, whole) = (records, people.max(1));
        let share = if people == 0 { f64::INFINITY } else { records as f64 / people as f64 };
        let one = Millionths(1_000_000);
        let around = Millionths::around(part.min(whole), whole).into_iter();
        for bound in around.filter(|bound| bound.0 <= one.0) {
            let below = people > 0 && bound.at_most(part, whole);
            let params = [("delta_max", bound.value())];
            let verdict = judge("delta-presence", &params, records as u64, people as u64);
            agree(&verdict, share, below);
            let params = [("delta_min", bound.value()), ("delta_max", one.value())];
            let verdict = judge("delta-presence", &params, records as u64, people as u64);
            let above = people == 0 || !bound.cmp_fraction(part, whole).is_lt();
            agree(&verdict, share, above && people > 0 && records <= people);
        }
    }
}

/// People that no cell covers are certainly absent, and no record links to them.
#[test]
fn people_that_no_cell_covers_violate_a_positive_minimum_only() {
    assert!(judge("k-map", &[("k", count(5))], 0, 3).holds);
    assert!(judge("delta-presence", &[("delta_max", Value::Real(0.5))], 0, 3).holds);
    let params = [("delta_min", Value::Real(0.1)), ("delta_max", Value::Real(0.5))];
    assert!(!judge("delta-presence", &params, 0, 3).holds);
    assert!(judge("delta-presence", &params, 0, 0).holds);
}
