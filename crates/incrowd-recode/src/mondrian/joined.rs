//! Mondrian for k-join-anonymity, where some rows are external. Parts without microdata are not
//! published. The tree of divisions determines which groups share their sensitive values.
//!
//! Paper: `sacharidis2010`. A box may contain a single person of the microdata, whose sensitive
//! value must not be published with it. The tree is traversed from the root. If the models admit
//! the microdata of every child, each child is treated separately. Otherwise all leaves below form
//! one sensitive group.

use incrowd_core::{Dataset, GroupSummary, Histogram, Progress, Result};

use super::part::{Leaves, Part, Splitter};
use super::space::{self, Unit, WorkingRows};
use super::{Cut, Mondrian};
use crate::join::{Grouping, JoinAlgorithm, JoinRules};

/// The sensitive groups of the leaves of a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct SensitiveGroups {
    /// Whether the first leaf starts a sensitive group.
    pub(super) starts: bool,
    /// Whether all leaves belong to the same sensitive group.
    fused: bool,
}

impl Default for SensitiveGroups {
    fn default() -> Self {
        SensitiveGroups { starts: true, fused: false }
    }
}

impl Splitter<'_> {
    /// Determines for the children of a part where sensitive groups start. `rows` contains the rows
    /// of the children, one child after another.
    pub(super) fn mark_sensitive_groups<U: Unit>(
        &self,
        part: &Part<U>,
        parts: &mut [(Part<U>, usize)],
        rows: &[U],
    ) {
        let Some(rules) = self.rules else { return };
        let mut start = 0;
        let separate = !part.sensitive.fused
            && parts.iter().all(|(child, length)| {
                let own = &rows[start..start + length];
                start += length;
                child.microdata == 0 || rules.admits(&self.microdata_of(rules, child, own))
            });
        let mut first = part.sensitive.starts;
        for (child, _) in parts.iter_mut().filter(|(child, _)| child.microdata > 0) {
            child.sensitive = SensitiveGroups { starts: separate || first, fused: !separate };
            first = false;
        }
    }

    /// Returns a summary of the microdata of a part.
    fn microdata_of<U: Unit>(
        &self,
        rules: &JoinRules<'_>,
        part: &Part<U>,
        rows: &[U],
    ) -> GroupSummary {
        let mut summary = GroupSummary { records: part.microdata, ..GroupSummary::default() };
        let watched = rules.watched();
        if !watched.is_empty() {
            summary.sensitive = vec![Histogram::default(); self.data.sensitive().len()];
            let own: Vec<&[U]> = rows
                .chunks_exact(self.layout.stride)
                .filter(|row| rules.is_microdata(self.layout.id(row)))
                .collect();
            for &column in watched {
                let codes = own.iter().map(|row| {
                    (self.layout.sensitive(row)[column].code(), u64::from(self.layout.count(row)))
                });
                let values = self.data.sensitive()[column].values.len();
                summary.sensitive[column] = Histogram::count(values, codes);
            }
        }
        summary
    }
}

impl JoinAlgorithm for Mondrian {
    fn group(
        &self,
        data: &Dataset,
        rows: &[u32],
        rules: &JoinRules<'_>,
        progress: &dyn Progress,
    ) -> Result<Grouping> {
        let choice = self.choice(data)?;
        let sensitive = !rules.watched().is_empty();
        let sorted = self.cut == Cut::Relaxed;
        let leaves = if space::is_narrow(data) {
            let mut space: WorkingRows<u16> =
                WorkingRows::load(data, Some(rows), sensitive, sorted).with_spare();
            Splitter::with_external(data, rules, self, &choice, space.layout, progress)
                .run(&mut space, 0)
        } else {
            let mut space: WorkingRows<u32> =
                WorkingRows::load(data, Some(rows), sensitive, sorted).with_spare();
            Splitter::with_external(data, rules, self, &choice, space.layout, progress)
                .run(&mut space, 0)
        };
        Ok(grouping(leaves))
    }
}

fn grouping(leaves: Vec<Leaves>) -> Grouping {
    let mut all = Grouping::default();
    for part in leaves {
        let before = all.rows.len();
        all.rows.extend(part.rows);
        all.ends.extend(part.ends.into_iter().map(|end| before + end));
        all.starts.extend(part.starts);
    }
    all
}
