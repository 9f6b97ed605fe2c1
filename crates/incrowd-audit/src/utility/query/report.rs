//! Reports of query errors. The seed determines the queries, so the errors of few queries reveal
//! counts. The number of records that the queries select is only for the data owner.

use incrowd_core::audience::{Audience, FEWEST_QUERIES, Fact};
use incrowd_core::text::{Block, number, thousands};
use serde_json::{Map, Value as Json, json};

use super::{Errors, QueryError};
use crate::utility::Measured;

impl QueryError {
    /// Returns whether the errors are averages over enough queries to be published.
    pub fn may_be_published(&self) -> bool {
        Audience::decide(Fact::QueryErrors { answered: self.all.answered }, false).is_everybody()
    }
}

impl Measured for QueryError {
    fn public_json(&self) -> Json {
        let mut all = json!({
            "queries": self.workload.queries,
            "seed": self.workload.seed,
            "selectivity": self.workload.selectivity,
            "dimensions": self.dimensions,
            "sensitive_predicate": self.sensitive,
            "sanity_bound": self.bound,
        });
        if let (true, Some(all)) = (self.may_be_published(), all.as_object_mut()) {
            all.extend(self.all.to_json());
        }
        all
    }

    fn private_json(&self) -> Option<(&'static str, Json)> {
        let class = |(to, errors): &(f64, Errors)| {
            let mut class = errors.to_counted_json();
            class.insert("selectivity_up_to".into(), json!(to));
            Json::Object(class)
        };
        let classes: Json = self.by_selectivity.iter().map(class).collect();
        Some((
            "query_error",
            json!({ "all": self.all.to_counted_json(), "by_selectivity": classes }),
        ))
    }

    fn public_text(&self) -> Vec<Block> {
        let ranges = match self.dimensions {
            1 => "a range on 1 quasi-identifier".to_owned(),
            n => format!("ranges on {n} quasi-identifiers"),
        };
        let and = if self.sensitive { " and values of a sensitive column" } else { "" };
        let workload = format!(
            "queries: {} random counts with {ranges}{and}, expected selectivity {}, seed {}",
            thousands(self.workload.queries as u64),
            self.workload.selectivity,
            self.workload.seed
        );
        let errors = if self.may_be_published() {
            Block::Table(vec![
                ["relative error", "median", "mean"].map(str::to_owned).to_vec(),
                vec!["of counts above 0".into(), shown(self.all.median), shown(self.all.mean)],
                vec![
                    "bounded: at least 0.1 % of the records".into(),
                    shown(self.all.bounded_median),
                    shown(self.all.bounded_mean),
                ],
            ])
        } else {
            Block::line(format!(
                " fewer than {FEWEST_QUERIES} queries have a count above 0: their errors are only \
                 for the data owner"
            ))
        };
        vec![Block::line(""), Block::Line(workload), errors]
    }

    fn private_text(&self) -> Vec<Block> {
        let head =
            ["selected", "queries", "above 0", "median", "mean", "bounded median", "bounded mean"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let classes =
            self.by_selectivity.iter().map(|(to, e)| (format!("up to {} %", to * 100.0), e));
        rows.extend(classes.chain([("all".to_owned(), &self.all)]).map(|(selected, e)| {
            vec![
                selected,
                thousands(e.queries),
                thousands(e.answered),
                shown(e.median),
                shown(e.mean),
                shown(e.bounded_median),
                shown(e.bounded_mean),
            ]
        }));
        let title = "queries by the share of records that they select";
        vec![Block::line(""), Block::line(title), Block::Table(rows)]
    }
}

fn shown(x: Option<f64>) -> String {
    x.map_or_else(|| "-".into(), number)
}

impl Errors {
    fn to_json(self) -> Map<String, Json> {
        let pairs = [
            ("mean_relative_error", self.mean),
            ("median_relative_error", self.median),
            ("mean_bounded_error", self.bounded_mean),
            ("median_bounded_error", self.bounded_median),
        ];
        // Rounded to four decimals, because more digits would reveal more about the counts.
        let round = |x: f64| (x * 1e4).round() / 1e4;
        pairs.into_iter().map(|(name, x)| (name.to_owned(), json!(x.map(round)))).collect()
    }

    fn to_counted_json(self) -> Map<String, Json> {
        let mut object = self.to_json();
        object.insert("queries".into(), json!(self.queries));
        object.insert("with_a_count_above_zero".into(), json!(self.answered));
        object
    }
}
