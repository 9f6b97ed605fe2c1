//! Mondrian among rows of which some are external: parts without microdata are given up, and the tree tells which groups
//! share their sensitive values.
//!
//! Paper: `sacharidis2010`. A box may hold a single person of the microdata, whose sensitive value must not be published
//! with it. The tree is walked from the root: where all children that hold microdata could stand as groups of their own,
//! each child goes on by itself; otherwise everything below is one sensitive group.

use incrowd_core::{Dataset, GroupSummary, Histogram, Progress, Result};

use super::part::{Leaves, Part, Splitter};
use super::space::{self, Space, Unit};
use super::{Cut, Mondrian};
use crate::join::{Grouping, JoinAlgorithm, JoinRules};

/// Which sensitive groups the leaves of a part are of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sensitive {
    /// The first leaf begins a sensitive group.
    pub(super) starts: bool,
    /// All leaves are of the same one.
    fused: bool,
}

impl Default for Sensitive {
    fn default() -> Self {
        Sensitive { starts: true, fused: false }
    }
}

impl Splitter<'_> {
    /// Decides for the children of a part, whose rows lie in `rows` one child after another, where sensitive groups begin.
    pub(super) fn share_sensitive<U: Unit>(
        &self,
        part: &Part<U>,
        parts: &mut [(Part<U>, usize)],
        rows: &[U],
    ) {
        let Some(rules) = self.rules else { return };
        let mut start = 0;
        let alone = !part.sensitive.fused
            && parts.iter().all(|(child, length)| {
                let own = &rows[start..start + length];
                start += length;
                child.microdata == 0 || rules.admits(&self.microdata_of(rules, child, own))
            });
        let mut first = part.sensitive.starts;
        for (child, _) in parts.iter_mut().filter(|(child, _)| child.microdata > 0) {
            child.sensitive = Sensitive { starts: alone || first, fused: !alone };
            first = false;
        }
    }

    /// The microdata of a part as models see it.
    fn microdata_of<U: Unit>(&self, rules: &JoinRules<'_>, part: &Part<U>, rows: &[U]) -> GroupSummary {
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
                    (self.layout.sensitive(row)[column].code(), u64::from(self.layout.weight(row)))
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
            let mut space: Space<u16> = Space::load(data, Some(rows), sensitive, sorted).with_spare();
            Splitter::among(data, rules, self, &choice, space.layout, progress).run(&mut space, 0)
        } else {
            let mut space: Space<u32> = Space::load(data, Some(rows), sensitive, sorted).with_spare();
            Splitter::among(data, rules, self, &choice, space.layout, progress).run(&mut space, 0)
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
