//! How groups were grown, as JSON. Counts of outliers and of what was left out describe people who are not protected, so
//! all of it is the data owner's.

use incrowd_core::outlier::Forced;
use incrowd_recode::expansion::ExpansionReport;
use serde_json::{Value as Json, json};

pub(crate) fn expansion_json(report: &ExpansionReport) -> Json {
    json!({
        "algorithm": report.algorithm,
        "outliers": report.forced.as_ref().map(forced_json),
        "residues": report.residues,
        "residues_at_a_dead_corner": report.dead_ends,
        "grown": { "groups": report.grown_groups, "records": report.grown_records },
        "removed": {
            "global_outliers": report.removed_global,
            "local_outliers": report.removed_local,
            "residues": report.removed_residues,
        },
        "groups": report.groups,
        "expansions": report.expansions,
        "corners_looked_at": report.looked,
    })
}

/// Outliers, and how many of them no algorithm can keep.
pub(crate) fn forced_json(forced: &Forced) -> Json {
    json!({
        "global": forced.outliers.global,
        "local": forced.outliers.local,
        "local_that_may_fit": forced.may_fit,
        "removals_at_least": forced.removals(),
        "settled": forced.settled,
    })
}
