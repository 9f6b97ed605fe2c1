//! Everything that has a name, in one list: models, algorithms, metrics, attacks and the rest, as people are told of them.

use incrowd_audit::attack::ATTACKS;
use incrowd_audit::utility::UTILITIES;
use incrowd_core::metric::METRICS;
use incrowd_core::model::MODELS;
use incrowd_core::{Better, Param, ParamKind};
use incrowd_recode::ALGORITHMS;

/// One entry of any list.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The list it stands on: `model`, `algorithm` and so on.
    pub kind: &'static str,
    /// Its name in a job.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// What it does not do.
    pub limits: Option<&'static str>,
    /// What it needs, keys in backticks.
    pub needs: Option<&'static str>,
    /// The key of its paper in docs/papers.md.
    pub paper: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Which end of its scale is the good one, if it is a measure.
    pub better: Option<Better>,
    /// What makes the same table give the same release again, if it does not anyway.
    pub repeatable: &'static [(&'static str, &'static str)],
    /// Whether it is an algorithm that can plan a table in parts.
    pub local: bool,
}

/// Everything that can be explained, list after list.
pub fn entries() -> Vec<Entry> {
    let models = MODELS.iter().map(|c| Entry {
        kind: "model",
        name: c.name,
        about: c.promise,
        limits: Some(c.limits),
        needs: None,
        paper: c.paper,
        params: c.params,
        better: None,
        repeatable: &[],
        local: false,
    });
    let algorithms = ALGORITHMS.iter().map(|c| Entry {
        kind: "algorithm",
        name: c.name,
        about: c.about,
        limits: Some(c.limits),
        needs: None,
        paper: c.paper,
        params: c.params,
        better: None,
        repeatable: c.repeatable,
        local: c.local,
    });
    let metrics = METRICS.iter().map(|c| Entry {
        kind: "metric",
        name: c.name,
        about: c.about,
        limits: None,
        needs: None,
        paper: c.paper,
        params: &[],
        better: Some(c.better),
        repeatable: &[],
        local: false,
    });
    let attacks = ATTACKS.iter().map(|c| Entry {
        kind: "attack",
        name: c.name,
        about: c.about,
        limits: Some(c.limits),
        needs: Some(c.needs_text),
        paper: c.paper,
        params: c.params,
        better: None,
        repeatable: &[],
        local: false,
    });
    let utilities = UTILITIES.iter().map(|c| Entry {
        kind: "utility",
        name: c.name,
        about: c.about,
        limits: Some(c.limits),
        needs: None,
        paper: c.paper,
        params: &[],
        better: Some(c.better),
        repeatable: &[],
        local: false,
    });
    let estimators = incrowd_audit::risk::population::ESTIMATORS.iter().map(|e| Entry {
        kind: "estimator",
        name: e.name,
        about: e.about,
        limits: Some(e.limits),
        needs: None,
        paper: e.paper,
        params: &[],
        better: None,
        repeatable: &[],
        local: false,
    });
    let joins = incrowd_recode::join::CARDS.iter().map(|c| Entry {
        kind: "joining",
        name: c.name,
        about: c.about,
        limits: Some(c.limits),
        needs: Some("an external table (`external`) with the identifier and all quasi-identifiers"),
        paper: c.paper,
        params: &[],
        better: None,
        repeatable: &[],
        local: false,
    });
    let suppressions = incrowd_recode::suppression::SUPPRESSIONS.iter().map(|c| Entry {
        kind: "suppression",
        name: c.name,
        about: c.about,
        limits: Some(c.limits),
        needs: None,
        paper: c.paper,
        params: c.params,
        better: None,
        repeatable: &[],
        local: false,
    });
    let choice = [&crate::CHOICE].into_iter().map(|c| Entry {
        kind: "choice",
        name: c.name,
        about: c.about,
        limits: Some(c.limits),
        needs: None,
        paper: c.paper,
        params: &[],
        better: None,
        repeatable: &[],
        local: false,
    });
    models
        .chain(algorithms)
        .chain(suppressions)
        .chain(metrics)
        .chain(utilities)
        .chain(attacks)
        .chain(estimators)
        .chain(joins)
        .chain(choice)
        .collect()
}

/// What a parameter takes, in words.
pub fn takes(kind: ParamKind) -> String {
    match kind {
        ParamKind::Count(least) => format!("a whole number from {least}"),
        ParamKind::Number(lo, f64::MAX) => format!("a number from {lo}"),
        ParamKind::Number(lo, hi) => format!("a number from {lo} to {hi}"),
        ParamKind::Choice(words) => words.join(" | "),
        ParamKind::Column => "the name of a sensitive column".to_owned(),
        ParamKind::Words => "a list of names".to_owned(),
        ParamKind::Flag => "true | false".to_owned(),
    }
}
