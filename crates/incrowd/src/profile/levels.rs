//! Columns that are functions of another column become levels of its hierarchy: municipality,
//! district, region.

use incrowd_audit::risk::Dependency;

use super::{ColumnProfile, Generalization, Proposal, ValueKind};
use crate::job::RoleName;

/// Makes the columns that are functions of a column its levels, and drops them: the hierarchy
/// contains their values.
pub(super) fn arrange(columns: &mut [ColumnProfile], dependencies: &[Dependency], records: u64) {
    let follows = |from: usize, to: usize| dependencies.contains(&Dependency { from, to });
    let category = |column: &ColumnProfile| {
        let named = column.kind == ValueKind::Text || column.code.is_some();
        let free =
            !matches!(column.generalization, Generalization::Known(_) | Generalization::Bands);
        named && free && column.proposal.role == RoleName::Quasi && column.counts.distinct > 1
    };
    // With fewer than ten records per value the dependency may be coincidental. A level must join
    // at least two values on average.
    let above = |columns: &[ColumnProfile], from: usize, to: usize| {
        from != to
            && follows(from, to)
            && !follows(to, from)
            && category(&columns[from])
            && category(&columns[to])
            && columns[from].counts.distinct * 10 <= records
            && columns[from].counts.distinct >= 2 * columns[to].counts.distinct
    };
    let n = columns.len();
    let finest: Vec<usize> = (0..n)
        .filter(|&c| {
            (0..n).any(|to| above(columns, c, to)) && !(0..n).any(|from| above(columns, from, c))
        })
        .collect();
    for leaf in finest {
        let mut chain: Vec<usize> = Vec::new();
        while let Some(next) = (0..n)
            .filter(|&to| {
                above(columns, *chain.last().unwrap_or(&leaf), to) && above(columns, leaf, to)
            })
            .max_by_key(|&to| (columns[to].counts.distinct, std::cmp::Reverse(to)))
        {
            chain.push(next);
        }
        let name = columns[leaf].name.clone();
        for &level in &chain {
            let reason = format!("follows from `{name}` and is a level of its hierarchy");
            columns[level].proposal = Proposal { role: RoleName::Drop, sure: true, reason };
        }
        columns[leaf].levels = chain.iter().map(|&level| columns[level].name.clone()).collect();
    }
}
