//! Top-down local recoding: everybody starts at the roots, and whatever part of a group can step down a hierarchy does.
//!
//! Paper: `sun2008`, section 5, which shows it for one quasi-identifier; the exact form, for any number of them, is in
//! `docs/papers.md`.
//!
//! A group tries to step down along each quasi-identifier that is still free. Its records part by the child they lie below;
//! children the models do not admit form a rest, and records move from the other children to the rest, one by one, until it
//! is admitted too. The step that lets most records down is taken; the rest goes on without that quasi-identifier.
//!
//! Where we differ: rows are distinct rows, so equal records are interchangeable; where some of them move and others stay,
//! the row is divided. Ties go by the values, not by the order of the input, which must not show. Any model that survives
//! merging can be used.

mod step;

use incrowd_core::model::{BoundModel, Verdict};
use incrowd_core::{Dataset, Error, Partition, Progress, Result, RowId};
use rayon::prelude::*;

use crate::{Algorithm, Card};
use step::{Stepper, SteppingGroup};

/// The list entry.
pub const CARD: Card = Card {
    name: "local-recoding",
    paper: "sun2008",
    about: "Starts with everything at the root of its hierarchy and lets the records of a group step down together, one \
            quasi-identifier at a time, as long as every part keeps the promises. Records that others need for company stay \
            behind, so the same value may be published at different levels. Columns without a hierarchy have two levels, \
            the value and everything.",
    limits: "Greedy, and slower than mondrian. Records left behind at a node tell somebody who knows the algorithm that \
             their child was too small or too uniform. The same value at different levels makes analysis harder.",
    params: &[],
    repeatable: &[],
    local: false,
    make: |_| Ok(Box::new(LocalRecoding)),
};

/// The algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalRecoding;

impl Algorithm for LocalRecoding {
    /// Two groups may be published with the same cells: along a chain of single children labels do not differ.
    fn needs_merging(&self) -> bool {
        true
    }

    fn recode(
        &self,
        data: &Dataset,
        models: &[Box<dyn BoundModel>],
        _: u64,
        progress: &dyn Progress,
    ) -> Result<Partition> {
        let whole = data.whole();
        if let Some(verdict) = models.iter().map(|m| m.admits(&whole)).find(|verdict| !verdict.holds) {
            let Verdict { what, have, need, .. } = verdict;
            return Err(Error::unsatisfiable(format!(
                "with all records in one group the {what} is {have:.6}, where {need:.6} is needed"
            ))
            .help("ask for less"));
        }
        progress.step("stepping down", Some(data.records()));
        let stepper = Stepper::new(data, models);
        let mut groups = divide(&stepper, stepper.everybody(), progress);
        // The order of threads must not show.
        groups.sort_by(|a, b| a.rows.cmp(&b.rows));
        collect(data, &groups)
    }
}

/// Divides a group until nothing can step down any more.
fn divide(stepper: &Stepper<'_>, group: SteppingGroup, progress: &dyn Progress) -> Vec<SteppingGroup> {
    match stepper.step(&group) {
        None => {
            progress.advance(group.records());
            vec![group]
        }
        Some(parts) => {
            parts.into_par_iter().map(|part| divide(stepper, part, progress)).collect::<Vec<_>>().concat()
        }
    }
}

/// Turns groups into a partition; a row whose records are in several groups is divided.
fn collect(data: &Dataset, groups: &[SteppingGroup]) -> Result<Partition> {
    let mut partition = Partition::new(data.quasi().len(), data.rows());
    let mut left: Vec<u64> = (0..data.rows()).map(|row| data.weight(row)).collect();
    for group in groups {
        let mut rows = Vec::with_capacity(group.rows.len());
        for &(row, records) in &group.rows {
            // The last group that has records of a row takes the row itself, so that it keeps what is left.
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
