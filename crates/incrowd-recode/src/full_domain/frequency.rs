//! Frequency sets: the groups of a node. Those of a higher node follow from them without reading
//! the rows again.

use super::key::{Field, Key};
use super::levels::ClassLevels;

/// The groups of a node.
#[derive(Clone, Debug, Default)]
pub(super) struct FrequencySet<K> {
    /// The classes of each group and its records.
    pub(super) groups: Vec<(K, u64)>,
    /// The people that each group covers. Empty unless a model needs them. Groups without records
    /// contain people who match no record.
    pub(super) people: Vec<u64>,
    /// A histogram of each sensitive column that a model depends on.
    pub(super) counts: Vec<Counts>,
    /// A histogram of the persons' holdings, if persons are counted.
    pub(super) persons: Option<Counts>,
}

/// Histograms of all groups, concatenated.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// The end of each group's histogram.
    ends: Vec<u32>,
    /// Codes with their records, ascending within a group.
    pairs: Vec<(u32, u64)>,
    /// The number of codes.
    values: usize,
}

impl Counts {
    /// Returns the histogram of a group.
    pub(super) fn of(&self, group: usize) -> &[(u32, u64)] {
        let start = if group == 0 { 0 } else { self.ends[group - 1] as usize };
        &self.pairs[start..self.ends[group] as usize]
    }

    /// Creates histograms from a code and a number of records per row. `group` contains the group
    /// of each row.
    pub(super) fn new(
        values: usize,
        groups: usize,
        group: &[u32],
        row: impl Fn(usize) -> (u32, u64),
        scratch: &mut Tally,
    ) -> Counts {
        let (starts, scattered) = scatter(groups, group, |_| 1, |i| std::iter::once(row(i)));
        merged(values, &starts, &scattered, &mut scratch.sums)
    }

    /// Creates histograms from several codes per row, each counted once.
    pub(super) fn of_lists<'a>(
        values: usize,
        groups: usize,
        group: &[u32],
        row: impl Fn(usize) -> &'a [u32],
        scratch: &mut Tally,
    ) -> Counts {
        let (starts, scattered) = scatter(
            groups,
            group,
            |i| row(i).len() as u32,
            |i| row(i).iter().map(|&code| (code, 1)),
        );
        merged(values, &starts, &scattered, &mut scratch.sums)
    }

    /// Returns the histograms after every group `i` has been merged into group `moved[i]`.
    fn rolled(&self, groups: usize, moved: &[u32], scratch: &mut Tally) -> Counts {
        let (starts, scattered) =
            scatter(groups, moved, |i| self.of(i).len() as u32, |i| self.of(i).iter().copied());
        merged(self.values, &starts, &scattered, &mut scratch.sums)
    }

    fn bytes(&self) -> usize {
        4 * self.ends.len() + 16 * self.pairs.len()
    }
}

/// Sorts the pairs of all parts by their groups. Also returns the start of each group.
fn scatter<I: Iterator<Item = (u32, u64)>>(
    groups: usize,
    group: &[u32],
    len: impl Fn(usize) -> u32,
    pairs: impl Fn(usize) -> I,
) -> (Vec<u32>, Vec<(u32, u64)>) {
    let mut starts = vec![0u32; groups + 1];
    group.iter().enumerate().for_each(|(i, &g)| starts[g as usize + 1] += len(i));
    (0..groups).for_each(|g| starts[g + 1] += starts[g]);
    let mut next = starts.clone();
    let mut scattered = vec![(0, 0); starts[groups] as usize];
    for (i, &g) in group.iter().enumerate() {
        for pair in pairs(i) {
            scattered[next[g as usize] as usize] = pair;
            next[g as usize] += 1;
        }
    }
    (starts, scattered)
}

/// Adds up the pairs with equal codes in each group.
fn merged(values: usize, starts: &[u32], scattered: &[(u32, u64)], sums: &mut Vec<u64>) -> Counts {
    let groups = starts.len() - 1;
    let mut counts = Counts { ends: Vec::with_capacity(groups), pairs: Vec::new(), values };
    sums.clear();
    sums.resize(values, 0);
    let mut codes: Vec<u32> = Vec::new();
    for group in 0..groups {
        let pairs = &scattered[starts[group] as usize..starts[group + 1] as usize];
        codes.clear();
        for &(code, records) in pairs.iter().filter(|pair| pair.1 > 0) {
            if sums[code as usize] == 0 {
                codes.push(code);
            }
            sums[code as usize] += records;
        }
        codes.sort_unstable();
        counts
            .pairs
            .extend(codes.iter().map(|&code| (code, std::mem::take(&mut sums[code as usize]))));
        counts.ends.push(counts.pairs.len() as u32);
    }
    counts
}

/// A buffer for adding up histograms.
#[derive(Debug, Default)]
pub(super) struct Tally {
    sums: Vec<u64>,
}

/// Buffers that are reused by all roll-ups of a thread.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// A hash table of group numbers plus 1. 0 marks a free slot.
    slots: Vec<u32>,
    /// The new group of each old one.
    moved: Vec<u32>,
    pub(super) tally: Tally,
    /// The groups that were refused at the node that was checked last.
    pub(super) refused: Vec<u32>,
}

/// The change of one column's class in a key.
struct Step<'a> {
    field: Field,
    table: &'a [u32],
}

impl<K: Key> FrequencySet<K> {
    /// Returns the frequency set at `to`. This set is at `from`, which must not be above `to`.
    pub(super) fn rolled_up(
        &self,
        column_levels: &[ClassLevels],
        fields: &[Field],
        from: &[u8],
        to: &[u8],
        scratch: &mut Scratch,
    ) -> FrequencySet<K> {
        let mut steps = Vec::with_capacity(fields.len());
        let mut most = 1usize;
        for (column, of_column) in column_levels.iter().enumerate() {
            let (a, b) = (usize::from(from[column]), usize::from(to[column]));
            most = most.saturating_mul(of_column.classes(b));
            if a != b {
                steps.push(Step { field: fields[column], table: of_column.up(a, b) });
            }
        }
        let follow = !self.people.is_empty() || !self.counts.is_empty() || self.persons.is_some();
        let climb = |key: K| {
            steps.iter().fold(key, |key, step| {
                key.set(step.field, step.table[key.get(step.field) as usize])
            })
        };
        let groups = collect(
            self.groups.iter().map(|&(key, records)| (climb(key), records)),
            most,
            follow,
            scratch,
        );
        let mut people = vec![0; if self.people.is_empty() { 0 } else { groups.len() }];
        self.people.iter().zip(&scratch.moved).for_each(|(n, &group)| people[group as usize] += n);
        let counts = self
            .counts
            .iter()
            .map(|counts| counts.rolled(groups.len(), &scratch.moved, &mut scratch.tally));
        let counts = counts.collect();
        let persons = self
            .persons
            .as_ref()
            .map(|own| own.rolled(groups.len(), &scratch.moved, &mut scratch.tally));
        FrequencySet { groups, people, counts, persons }
    }

    /// Returns its size in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.groups.as_slice())
            + 8 * self.people.len()
            + self.counts.iter().chain(&self.persons).map(Counts::bytes).sum::<usize>()
    }
}

/// Adds up the records of equal keys, in order of first appearance. `most` is an upper bound of the
/// number of different keys. With `follow`, the group of each entry is stored in `scratch.moved`.
pub(super) fn collect<K: Key>(
    entries: impl ExactSizeIterator<Item = (K, u64)>,
    most: usize,
    follow: bool,
    scratch: &mut Scratch,
) -> Vec<(K, u64)> {
    let most = most.min(entries.len());
    let bits = (2 * most.max(2)).next_power_of_two().trailing_zeros();
    let Scratch { slots, moved, .. } = scratch;
    slots.clear();
    slots.resize(1 << bits, 0);
    moved.clear();
    let (shift, last) = (64 - bits, slots.len() - 1);
    let mut groups: Vec<(K, u64)> = Vec::new();
    for (key, records) in entries {
        let mut at = (key.hash() >> shift) as usize;
        let group = loop {
            match slots[at] {
                0 => {
                    groups.push((key, 0));
                    slots[at] = groups.len() as u32;
                    break groups.len() - 1;
                }
                slot if groups[slot as usize - 1].0 == key => break slot as usize - 1,
                _ => at = (at + 1) & last,
            }
        };
        groups[group].1 += records;
        if follow {
            moved.push(group as u32);
        }
    }
    groups
}

impl Scratch {
    /// Returns the group of each entry of the last [`collect`].
    pub(super) fn moved(&self) -> &[u32] {
        &self.moved
    }
}
