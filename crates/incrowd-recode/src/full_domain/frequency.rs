//! Frequency sets: the groups of a node, and how those of a higher node follow from them without looking at rows again.

use super::key::{Field, Key};
use super::levels::ClassLevels;

/// The groups of a node as models see them.
#[derive(Clone, Debug, Default)]
pub(super) struct FrequencySet<K> {
    /// The classes of each group and its records.
    pub(super) groups: Vec<(K, u64)>,
    /// The people each group covers; empty unless a model asks. Groups without records are people beside all records.
    pub(super) people: Vec<u64>,
    /// A histogram of each sensitive column that is looked at.
    pub(super) counts: Vec<Counts>,
    /// A histogram of the persons' holdings, if persons are counted.
    pub(super) persons: Option<Counts>,
}

/// Histograms of all groups, one after another.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// Where the histogram of each group ends.
    ends: Vec<u32>,
    /// Codes with their records, ascending within a group.
    pairs: Vec<(u32, u64)>,
    /// How many codes there are.
    values: usize,
}

impl Counts {
    /// The histogram of a group.
    pub(super) fn of(&self, group: usize) -> &[(u32, u64)] {
        let start = if group == 0 { 0 } else { self.ends[group - 1] as usize };
        &self.pairs[start..self.ends[group] as usize]
    }

    /// Histograms from a code and records of each row, `group` saying where each row belongs.
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

    /// Histograms from several codes of each row, one per record.
    pub(super) fn of_lists<'a>(
        values: usize,
        groups: usize,
        group: &[u32],
        row: impl Fn(usize) -> &'a [u32],
        scratch: &mut Tally,
    ) -> Counts {
        let (starts, scattered) =
            scatter(groups, group, |i| row(i).len() as u32, |i| row(i).iter().map(|&code| (code, 1)));
        merged(values, &starts, &scattered, &mut scratch.sums)
    }

    /// The histograms after every group `i` has become part of group `moved[i]`.
    fn rolled(&self, groups: usize, moved: &[u32], scratch: &mut Tally) -> Counts {
        let (starts, scattered) =
            scatter(groups, moved, |i| self.of(i).len() as u32, |i| self.of(i).iter().copied());
        merged(self.values, &starts, &scattered, &mut scratch.sums)
    }

    fn bytes(&self) -> usize {
        4 * self.ends.len() + 16 * self.pairs.len()
    }
}

/// Puts the pairs of each part behind those of the others of its group. Also where each group starts.
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

/// Adds up the pairs of equal code in each group.
fn merged(values: usize, starts: &[u32], scattered: &[(u32, u64)], sums: &mut Vec<u64>) -> Counts {
    let groups = starts.len() - 1;
    let mut counts = Counts { ends: Vec::with_capacity(groups), pairs: Vec::new(), values };
    sums.clear();
    sums.resize(values, 0);
    let mut seen: Vec<u32> = Vec::new();
    for group in 0..groups {
        let pairs = &scattered[starts[group] as usize..starts[group + 1] as usize];
        seen.clear();
        for &(code, records) in pairs.iter().filter(|pair| pair.1 > 0) {
            if sums[code as usize] == 0 {
                seen.push(code);
            }
            sums[code as usize] += records;
        }
        seen.sort_unstable();
        counts.pairs.extend(seen.iter().map(|&code| (code, std::mem::take(&mut sums[code as usize]))));
        counts.ends.push(counts.pairs.len() as u32);
    }
    counts
}

/// Buffers for adding up histograms.
#[derive(Debug, Default)]
pub(super) struct Tally {
    sums: Vec<u64>,
}

/// Room that is used again from one roll-up to the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// A hash table of positions in the groups, from 1 on.
    slots: Vec<u32>,
    /// The new group of each old one.
    moved: Vec<u32>,
    pub(super) tally: Tally,
    /// The groups that were refused when a node was judged.
    pub(super) refused: Vec<u32>,
}

/// How keys change from one node to another.
struct Step<'a> {
    field: Field,
    table: &'a [u32],
}

impl<K: Key> FrequencySet<K> {
    /// The frequency set at `to`, which is not below `from`, where this one is.
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
            steps.iter().fold(key, |key, step| key.set(step.field, step.table[key.get(step.field) as usize]))
        };
        let groups =
            collect(self.groups.iter().map(|&(key, records)| (climb(key), records)), most, follow, scratch);
        let mut people = vec![0; if self.people.is_empty() { 0 } else { groups.len() }];
        self.people.iter().zip(&scratch.moved).for_each(|(n, &group)| people[group as usize] += n);
        let counts =
            self.counts.iter().map(|counts| counts.rolled(groups.len(), &scratch.moved, &mut scratch.tally));
        let counts = counts.collect();
        let persons =
            self.persons.as_ref().map(|own| own.rolled(groups.len(), &scratch.moved, &mut scratch.tally));
        FrequencySet { groups, people, counts, persons }
    }

    /// How much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.groups.as_slice())
            + 8 * self.people.len()
            + self.counts.iter().chain(&self.persons).map(Counts::bytes).sum::<usize>()
    }
}

/// Adds up the records of equal keys, in order of first appearance. At most `most` different keys come. With `follow`,
/// `scratch.moved` says where each entry went.
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
        let mut at = (key.mixed() >> shift) as usize;
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
    /// Where each entry of the last [`collect`] went.
    pub(super) fn moved(&self) -> &[u32] {
        &self.moved
    }
}
