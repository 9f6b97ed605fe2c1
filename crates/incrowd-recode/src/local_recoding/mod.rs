//! Top-down local recoding: all records start at the roots, and subsets of a group descend the
//! hierarchies.
//!
//! Paper: `sun2008`, section 5, which describes it for one quasi-identifier; the exact form, for
//! any number of them, is in `docs/papers.md`.
//!
//! A group tries to descend along each quasi-identifier that is still free. Its records are divided
//! by the child that covers them. Children that the models do not admit form a rest. Records move
//! from the other children to the rest, one by one, until the rest is admitted too. The step in
//! which most records descend is taken. The rest continues without that quasi-identifier.
//!
//! Differences from the paper: rows are distinct rows, so equal records are interchangeable. If
//! some of them move and others do not, the row is divided. Ties are broken by values, because the
//! order of the input must not affect the release. Any model that survives merging can be used.

mod step;

use incrowd_core::{Dataset, Partition, Progress, Result, RowId};
use rayon::prelude::*;

use crate::mondrian::require_valid_whole;
use crate::{Algorithm, Card, Recoding, Task};
use step::{Stepper, SteppingGroup};

/// The description of this algorithm.
pub const CARD: Card = Card {
    name: "local-recoding",
    paper: "sun2008",
    about: "Starts with all records at the roots of the hierarchies and lets the records of a \
            group descend together, one quasi-identifier at a time, while every part satisfies the \
            models. Records that complete another group stay at the higher level, so the same \
            value may be published at different levels. Columns without a hierarchy have two \
            levels, the value and everything.",
    limits: "Greedy, and slower than mondrian. Records that stay at a node reveal to an adversary \
             who knows the algorithm that their child was too small or too uniform. The same value \
             at different levels makes analysis harder.",
    params: &[],
    repeatable: &[],
    local: false,
    make: |_| Ok(Box::new(LocalRecoding)),
};

/// The algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalRecoding;

impl Algorithm for LocalRecoding {
    /// Two groups may be published with the same cells, because labels do not differ along a chain
    /// of single children.
    fn needs_merging(&self) -> bool {
        true
    }

    fn solve(&self, Task { data, models, progress, .. }: Task<'_>) -> Result<Recoding> {
        require_valid_whole(CARD.name, data, models)?;
        progress.step("descending", Some(data.records()));
        let stepper = Stepper::new(data, models);
        let mut groups = divide(&stepper, stepper.root_group(), progress);
        // The order must not depend on the threads.
        groups.sort_by(|a, b| a.rows.cmp(&b.rows));
        collect(data, &groups).map(Recoding::new)
    }
}

/// Divides a group until no records can descend.
fn divide(
    stepper: &Stepper<'_>,
    group: SteppingGroup,
    progress: &dyn Progress,
) -> Vec<SteppingGroup> {
    match stepper.step(&group) {
        None => {
            progress.advance(group.records());
            vec![group]
        }
        Some(parts) => parts
            .into_par_iter()
            .map(|part| divide(stepper, part, progress))
            .collect::<Vec<_>>()
            .concat(),
    }
}

/// Creates a partition of the groups. A row whose records are in several groups is divided.
fn collect(data: &Dataset, groups: &[SteppingGroup]) -> Result<Partition> {
    let mut partition = Partition::new(data.quasi().len(), data.rows());
    let mut left: Vec<u64> = (0..data.rows()).map(|row| data.weight(row)).collect();
    for group in groups {
        let mut rows = Vec::with_capacity(group.rows.len());
        for &(row, records) in &group.rows {
            // The last group with records of a row gets the row itself. The other groups get
            // divided rows.
            left[row as usize] -= records;
            rows.push(if left[row as usize] == 0 {
                RowId(row)
            } else {
                partition.divide(RowId(row), records)
            });
        }
        partition.add(&group.spans(data), rows)?;
    }
    Ok(partition)
}
