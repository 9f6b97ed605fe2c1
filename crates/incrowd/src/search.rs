//! What a search over levels found, as JSON: the chosen levels are public, the rest is the data owner's.

use incrowd_core::{Dataset, Partition};
use incrowd_recode::full_domain::{FoundNode, SearchReport};
use serde_json::{Map, Value as Json, json};

/// The published level of each quasi-identifier, if every cell of it is at the same one.
pub(crate) fn levels_json(data: &Dataset, partition: &Partition) -> Option<Json> {
    let names = data.quasi().iter().map(|quasi| quasi.name.clone());
    Some(Json::Object(names.zip(partition.levels()?.iter().map(|&level| json!(level))).collect()))
}

/// What was searched and found. It tells which releases would not have kept the promises, so it is not for the public.
pub(crate) fn search_json(report: &SearchReport) -> Json {
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
