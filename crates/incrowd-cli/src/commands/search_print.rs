//! What a search over levels found, as text.

use incrowd::Report;
use incrowd::recode::full_domain::{FoundNode, SearchReport};

use crate::print::{number, say, table, thousands};

/// More minimal nodes than this are only counted.
const SHOWN: usize = 12;

pub(crate) fn print(report: &Report, search: &SearchReport) {
    say!(
        "search   {}: {} of {} combinations of levels keep the promises, {} of them minimal; {} checked{}",
        search.search,
        thousands(search.satisfying),
        thousands(search.nodes),
        thousands(search.minimal.len() as u64),
        thousands(search.checked),
        if search.pruned || search.search == "exhaustive" {
            ""
        } else {
            ", because none could be ruled out by another"
        }
    );
    let header: Vec<String> = ["", search.metric, "groups", "suppressed"].map(str::to_owned).to_vec();
    let mut rows = vec![header.into_iter().chain(search.columns.iter().cloned()).collect::<Vec<_>>()];
    rows.push(row("published", &search.best));
    // The best by the metric comes first, as it would be chosen.
    let mut minimal: Vec<&FoundNode> = search.minimal.iter().collect();
    minimal.sort_by(|a, b| a.value.total_cmp(&b.value).then(b.groups.cmp(&a.groups)));
    for (i, node) in minimal.iter().take(SHOWN).enumerate() {
        rows.push(row(if i == 0 { "minimal" } else { "" }, node));
    }
    say!("{}", table(rows));
    if minimal.len() > SHOWN {
        say!(
            "         and {} more minimal ones; --json lists all",
            thousands((minimal.len() - SHOWN) as u64)
        );
    }
    let published = report.records.suppressed;
    if published != search.best.suppressed {
        say!(
            "         {} records were suppressed in the end, to keep every promise of what is left",
            thousands(published)
        );
    }
}

fn row(name: &str, node: &FoundNode) -> Vec<String> {
    let stated = [name.to_owned(), number(node.value), thousands(node.groups), thousands(node.suppressed)];
    stated.into_iter().chain(node.levels.iter().map(u32::to_string)).collect()
}
