//! How groups were grown, as text.

use incrowd::Report;
use incrowd::core::outlier::Forced;
use incrowd::recode::expansion::ExpansionReport;

use crate::print::{say, thousands};

pub(crate) fn print(report: &Report, expansion: &ExpansionReport) {
    let records = report.records.published + report.records.suppressed;
    if let Some(forced) = &expansion.forced {
        say!("outliers {}", outliers(forced));
        say!(
            "before   at least {} of {} records have to be left out, whatever the algorithm{}",
            thousands(forced.removals()),
            thousands(records),
            if forced.settled { "" } else { " (a bound: not every outlier was settled)" }
        );
    }
    say!(
        "growing  {} groups by {} expansions; {} records grew into none at first, {} of them for a dead corner; {} boxes and \
         corners looked at",
        thousands(expansion.grown_groups),
        thousands(expansion.expansions),
        thousands(expansion.residues),
        thousands(expansion.dead_ends),
        thousands(expansion.looked)
    );
    let out = expansion.removed_global + expansion.removed_local + expansion.removed_residues;
    say!(
        "after    {} records left out: {} global outliers, {} local outliers before growing, {} that fit into no group",
        thousands(out),
        thousands(expansion.removed_global),
        thousands(expansion.removed_local),
        thousands(expansion.removed_residues)
    );
}

/// How many outliers there are, in words.
pub(crate) fn outliers(forced: &Forced) -> String {
    format!(
        "{} global, {} local, {} of which may fit into a plain group",
        thousands(forced.outliers.global),
        thousands(forced.outliers.local),
        thousands(forced.may_fit)
    )
}
