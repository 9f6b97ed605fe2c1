//! What an algorithm found, as JSON: the chosen levels are public, the rest is the data owner's.

use incrowd_recode::Found;
use incrowd_recode::ascent::AscentReport;
use incrowd_recode::full_domain::{FoundNode, SearchReport};
use incrowd_recode::optimized::{KeptRun, SingleWidth, Trial, TrialReport};
use serde_json::{Map, Value as Json, json};

use crate::expansion::expansion_json;

/// What was found, and under which name it stands in the private part.
pub(crate) fn found_json(found: &Found) -> Option<(&'static str, Json)> {
    match found {
        Found::Nothing => None,
        Found::Search(report) => Some(("search", search_json(report))),
        Found::Trials(report) => Some(("trials", trials_json(report))),
        Found::Expansion(report) => Some(("expansion", expansion_json(report))),
        Found::Ascent(report) => Some(("ascent", ascent_json(report))),
    }
}

/// What was searched and found. It tells which releases would not have kept the promises, so it is not for the public.
fn search_json(report: &SearchReport) -> Json {
    let node = |node: &FoundNode| {
        let levels: Map<String, Json> =
            report.columns.iter().cloned().zip(node.levels.iter().map(|&level| json!(level))).collect();
        json!({ "levels": levels, "value": node.value, "groups": node.groups, "suppressed": node.suppressed })
    };
    json!({
        "search": report.search,
        "metric": report.metric,
        "nodes": report.nodes,
        "checked": report.checked,
        "pruned": report.pruned,
        "satisfying": report.satisfying,
        "best": node(&report.best),
        "minimal": report.minimal.iter().map(node).collect::<Vec<_>>(),
    })
}

/// What trial runs found. It tells what other releases would have cost, so it is not for the public.
fn trials_json(report: &TrialReport) -> Json {
    let trial = |trial: &Trial| json!({ "column": trial.column, "ncp": trial.rate, "ncp_if_published": trial.published });
    let width = |w: &SingleWidth| {
        let SingleWidth { column, width, before, after } = w;
        json!({ "column": column, "width": width, "ncp_before": before, "ncp_after": after })
    };
    json!({
        "priority": report.priority,
        "trials": report.trials.iter().map(trial).collect::<Vec<_>>(),
        "median_trials": report.median_trials.iter().map(trial).collect::<Vec<_>>(),
        "order": report.order,
        "final": report.last,
        "kept": match &report.kept {
            KeptRun::Last => json!({ "run": "final" }),
            KeptRun::Trial(column) => json!({ "run": "trial", "column": column }),
        },
        "runs": report.runs,
        "single_width": report.single_width.iter().map(width).collect::<Vec<_>>(),
    })
}

/// What was reached and what cannot be gone below. A bound tells about records nobody else resembles, so it is not for the public.
fn ascent_json(report: &AscentReport) -> Json {
    json!({
        "metric": report.metric.name(),
        "effort": report.effort.name(),
        "combinations": report.combinations,
        "groups_at_first": report.groups_at_first,
        "without_company": report.without_company,
        "loss_before_moving": report.climbed,
        "loss": report.reached,
        "rounds": report.rounds,
        "out_of_time": report.out_of_time,
        "no_release_below": report.bound,
    })
}
