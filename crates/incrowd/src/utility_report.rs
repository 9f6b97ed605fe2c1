//! What a release is still good for, and what of the answer may be told.
//!
//! What may be published is computed over the whole table or over many queries. The data owner alone sees what says
//! something about few records: how many values were lost altogether, errors of queries by what they really select (the
//! queries follow from the seed, so an error tells a count), and scores of single folds.

use incrowd_audit::utility::{
    Classification, ColumnUtility, Comparison, EntropyLoss, Errors, PairUtility, Part, QueryError, Scores,
    Task, UTILITIES, Workload, classify, columns, non_uniform_entropy, pairs, query_error,
};
use incrowd_core::metric::METRICS;
use incrowd_core::{Error, Progress, Result};
use serde_json::{Map, Value as Json, json};

use crate::audience::{Audience, Fact};

/// What to measure beyond the loss of cells.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// Names of measures; none means all but the pairs of columns.
    pub only: Vec<String>,
    /// Whether to measure pairs of columns too.
    pub pairs: bool,
    /// The queries to ask.
    pub workload: Workload,
    /// The column to predict; none takes a sensitive one.
    pub target: Option<String>,
}

impl Ask {
    /// Refuses names that no measure has.
    pub(crate) fn check(&self) -> Result<()> {
        let known = || METRICS.iter().map(|m| m.name).chain(UTILITIES.iter().map(|u| u.name));
        match self.only.iter().find(|name| !known().any(|k| k == name.as_str())) {
            Some(name) => {
                Err(Error::job(format!("there is no measure called `{name}`")).help_near(name, known()))
            }
            None => Ok(()),
        }
    }

    /// Whether a measure is asked for.
    pub fn wants(&self, name: &str) -> bool {
        match name {
            "association" if self.pairs => true,
            "association" => self.only.iter().any(|only| only == name),
            _ => self.only.is_empty() || self.only.iter().any(|only| only == name),
        }
    }

    /// The column to predict, if it is named and will be predicted.
    pub(crate) fn target(&self) -> Option<&str> {
        self.target.as_deref().filter(|_| self.wants("classification"))
    }
}

/// What a release is still good for. What was not asked for is absent.
#[derive(Debug)]
pub struct Utility {
    /// What became of each column.
    pub columns: Vec<ColumnUtility>,
    /// Non-uniform entropy over all quasi-identifiers.
    pub entropy: Option<EntropyLoss>,
    /// What became of each pair of columns.
    pub pairs: Option<Vec<PairUtility>>,
    /// How well queries are answered.
    pub queries: Option<QueryError>,
    /// How well a column can be predicted; absent also if no column can be a target.
    pub classification: Option<Classification>,
}

impl Utility {
    pub(crate) fn new(comparison: &Comparison, ask: &Ask, progress: &dyn Progress) -> Result<Utility> {
        let of_columns = ["ncp", "non_uniform_entropy", "kl_divergence", "total_variation"];
        let columns =
            if of_columns.iter().any(|name| ask.wants(name)) { columns(comparison) } else { Vec::new() };
        let entropy = ask.wants("non_uniform_entropy").then(|| non_uniform_entropy(comparison));
        let pairs = ask.wants("association").then(|| pairs(comparison));
        let queries = match ask.wants("query_error") {
            true => Some(query_error(comparison, &ask.workload, progress)?),
            false => None,
        };
        let task = Task { target: ask.target.clone(), seed: ask.workload.seed };
        let classification = match ask.wants("classification") {
            true => classify(comparison, &task, progress)?,
            false => None,
        };
        Ok(Utility { columns, entropy, pairs, queries, classification })
    }

    /// Whether the errors of queries are averages over enough of them to be published.
    pub fn queries_may_be_published(&self) -> bool {
        self.queries.as_ref().is_some_and(|queries| {
            let fact = Fact::QueryErrors { answered: queries.all.answered };
            Audience::decide(fact, false).is_everybody()
        })
    }

    /// What may be published.
    pub(crate) fn public_json(&self) -> Json {
        let mut all = Map::new();
        if !self.columns.is_empty() {
            let column = |c: &ColumnUtility| (c.name.clone(), column_json(c));
            all.insert("columns".into(), Json::Object(self.columns.iter().map(column).collect()));
        }
        if let Some(entropy) = self.entropy {
            all.insert("non_uniform_entropy".into(), json!(entropy.share()));
        }
        if let Some(pairs) = &self.pairs {
            all.insert("association".into(), pairs.iter().map(pair_json).collect());
        }
        if let Some(queries) = &self.queries {
            let mut object = workload_json(queries);
            if self.queries_may_be_published() {
                object.extend(errors_json(&queries.all));
            }
            all.insert("query_error".into(), Json::Object(object));
        }
        if let Some(c) = &self.classification {
            let object = json!({
                "target": c.target,
                "classes": c.classes,
                "seed": c.seed,
                "records_drawn": { "original": c.originals, "release": c.published },
                "folds": c.folds,
                "from_release": scores_json(&c.from_release),
                "from_originals": scores_json(&c.from_originals),
                "majority": scores_json(&c.majority),
            });
            all.insert("classification".into(), object);
        }
        Json::Object(all)
    }

    /// What is for the data owner only.
    pub(crate) fn private_json(&self) -> Json {
        let mut all = Map::new();
        if !self.columns.is_empty() {
            let lost = |c: &ColumnUtility| (c.name.clone(), json!(c.lost_values));
            all.insert("lost_values".into(), Json::Object(self.columns.iter().map(lost).collect()));
        }
        if let Some(pairs) = &self.pairs {
            let lost =
                |p: &PairUtility| json!({ "columns": [p.columns.0, p.columns.1], "lost": p.lost_pairs });
            all.insert("lost_pairs".into(), pairs.iter().map(lost).collect());
        }
        if let Some(queries) = &self.queries {
            let mut object = Map::new();
            object.insert("all".into(), Json::Object(counted_json(&queries.all)));
            let class = |(to, errors): &(f64, Errors)| {
                let mut class = counted_json(errors);
                class.insert("selectivity_up_to".into(), json!(to));
                Json::Object(class)
            };
            object.insert("by_selectivity".into(), queries.by_selectivity.iter().map(class).collect());
            all.insert("query_error".into(), Json::Object(object));
        }
        if let Some(c) = &self.classification {
            let fold = |(release, originals): &(Scores, Scores)| json!({ "from_release": scores_json(release), "from_originals": scores_json(originals) });
            all.insert("classification_by_fold".into(), c.by_fold.iter().map(fold).collect());
        }
        Json::Object(all)
    }
}

/// An infinite divergence is `null`: JSON has no infinity.
fn column_json(c: &ColumnUtility) -> Json {
    let role = match c.part {
        Part::Quasi => "quasi",
        Part::Sensitive => "sensitive",
        Part::Target => "target",
    };
    json!({
        "role": role,
        "distinct_cells": c.cells,
        "ncp": c.ncp,
        "non_uniform_entropy": c.entropy.share(),
        "kl_divergence": c.kl_divergence,
        "total_variation": c.total_variation,
        "mean_width": c.mean_width,
    })
}

fn pair_json(p: &PairUtility) -> Json {
    json!({
        "columns": [p.columns.0, p.columns.1],
        "cramers_v": { "original": p.original, "reconstructed": p.reconstructed },
        "kl_divergence": p.kl_divergence,
        "total_variation": p.total_variation,
    })
}

fn workload_json(queries: &QueryError) -> Map<String, Json> {
    let mut object = Map::new();
    object.insert("queries".into(), json!(queries.workload.queries));
    object.insert("seed".into(), json!(queries.workload.seed));
    object.insert("selectivity".into(), json!(queries.workload.selectivity));
    object.insert("dimensions".into(), json!(queries.dimensions));
    object.insert("sensitive_predicate".into(), json!(queries.sensitive));
    object.insert("sanity_bound".into(), json!(queries.bound));
    object
}

fn errors_json(errors: &Errors) -> Map<String, Json> {
    let pairs = [
        ("mean_relative_error", errors.mean),
        ("median_relative_error", errors.median),
        ("mean_bounded_error", errors.bounded_mean),
        ("median_bounded_error", errors.bounded_median),
    ];
    // Four decimals: all digits of a mean would say more about the counts behind it than a reader needs.
    let round = |x: f64| (x * 1e4).round() / 1e4;
    pairs.into_iter().map(|(name, x)| (name.to_owned(), json!(x.map(round)))).collect()
}

fn counted_json(errors: &Errors) -> Map<String, Json> {
    let mut object = errors_json(errors);
    object.insert("queries".into(), json!(errors.queries));
    object.insert("with_a_count_above_zero".into(), json!(errors.answered));
    object
}

fn scores_json(scores: &Scores) -> Json {
    json!({
        "accuracy": scores.accuracy,
        "balanced_accuracy": scores.balanced_accuracy,
        "macro_f1": scores.macro_f1,
        "auc": scores.auc,
    })
}
