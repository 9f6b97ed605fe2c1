//! What a model is told about a group.

/// How often each sensitive value occurs, by code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
}

impl Histogram {
    /// Counts `records` more of a value.
    pub fn add(&mut self, code: u32, records: u64) {
        let i = code as usize;
        if i >= self.counts.len() {
            self.counts.resize(i + 1, 0);
        }
        self.counts[i] += records;
    }

    /// The count of each value by code; values beyond the end do not occur.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Histogram) {
        for (code, &records) in other.counts.iter().enumerate().filter(|(_, records)| **records > 0) {
            self.add(code as u32, records);
        }
    }

    /// Takes away a histogram that was added before.
    pub fn remove(&mut self, other: &Histogram) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine -= theirs;
        }
        let used = self.counts.iter().rposition(|&records| records > 0).map_or(0, |last| last + 1);
        self.counts.truncate(used);
    }
}

/// A group as models see it. Summaries merge: the summary of a union is the merged summary of its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupSummary {
    /// How many records the group has.
    pub records: u64,
    /// For each sensitive column how often each value occurs; empty if no model asked for it.
    pub sensitive: Vec<Histogram>,
}

impl GroupSummary {
    /// A group without records and with `sensitive` empty histograms.
    pub fn empty(sensitive: usize) -> GroupSummary {
        GroupSummary { records: 0, sensitive: vec![Histogram::default(); sensitive] }
    }

    /// Counts `records` more with these sensitive codes.
    pub fn add(&mut self, records: u64, sensitive: &[u32]) {
        self.records += records;
        for (histogram, &code) in self.sensitive.iter_mut().zip(sensitive) {
            histogram.add(code, records);
        }
    }

    /// Adds another group.
    pub fn merge(&mut self, other: &GroupSummary) {
        self.records += other.records;
        for (mine, theirs) in self.sensitive.iter_mut().zip(&other.sensitive) {
            mine.merge(theirs);
        }
    }

    /// Takes away a part that was added before.
    pub fn remove(&mut self, part: &GroupSummary) {
        self.records -= part.records;
        for (mine, theirs) in self.sensitive.iter_mut().zip(&part.sensitive) {
            mine.remove(theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn summary(rows: &[(u64, u32, u32)]) -> GroupSummary {
        let mut s = GroupSummary::empty(2);
        for &(records, a, b) in rows {
            s.add(records, &[a, b]);
        }
        s
    }

    proptest! {
        #[test]
        fn the_summary_of_a_union_is_the_merged_summary(
            a in prop::collection::vec((1u64..5, 0u32..6, 0u32..6), 0..9),
            b in prop::collection::vec((1u64..5, 0u32..6, 0u32..6), 0..9),
        ) {
            let mut merged = summary(&a);
            merged.merge(&summary(&b));
            let union: Vec<_> = a.iter().chain(&b).copied().collect();
            prop_assert_eq!(&merged, &summary(&union));
            merged.remove(&summary(&b));
            prop_assert_eq!(merged, summary(&a));
        }
    }
}
