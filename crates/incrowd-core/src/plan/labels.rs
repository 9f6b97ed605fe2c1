//! The distinct texts of the published cells.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use hashbrown::hash_table::{Entry, HashTable};
use rayon::prelude::*;

use crate::dataset::Dataset;
use crate::index::{Code, GroupId};
use crate::partition::{Partition, Span};

/// The published texts of all quasi-identifiers.
pub(super) struct Labels {
    /// For each quasi-identifier, its distinct texts and the text of each group.
    pub(super) columns: Vec<(Vec<String>, Vec<u32>)>,
    /// Whether the sets exceed the table's limit. Some texts are `*` then: a release of them would
    /// be wrong.
    pub(super) is_cut: bool,
}

/// The memory for sets of values, which all columns share.
struct LabelBudget {
    most: u64,
    used: AtomicU64,
}

impl LabelBudget {
    /// Makes the text of a set. Once the budget is used up, no more texts are made: with long values,
    /// those of all groups could exceed the memory of the machine.
    fn label(&self, set: impl FnOnce() -> String) -> String {
        if self.is_exceeded() {
            return "*".to_owned();
        }
        let text = set();
        self.used.fetch_add(text.len() as u64, Ordering::Relaxed);
        text
    }

    /// Whether the texts made so far take more bytes than there are. Each distinct set is counted
    /// once, so the final answer does not depend on the order in which columns are processed.
    fn is_exceeded(&self) -> bool {
        self.used.load(Ordering::Relaxed) > self.most
    }
}

/// Makes the texts of all columns.
pub(super) fn columns(dataset: &Dataset, partition: &Partition) -> Labels {
    let quasi = dataset.quasi();
    let publishes_sets =
        |q: usize| quasi[q].domain.publishes_sets() && partition.levels().is_none();
    let few = |q: &usize| publishes_sets(*q) && quasi[*q].domain.leaves() <= MASK;
    let masks = Masks::new(dataset, partition, (0..quasi.len()).filter(few).collect());
    let budget = LabelBudget { most: dataset.most_labels(), used: AtomicU64::new(0) };
    let column = |q: usize| match publishes_sets(q) {
        true if few(&q) => mask_cells(dataset, partition, q, &masks, &budget),
        true => set_cells(dataset, partition, q, &budget),
        false => span_cells(dataset, partition, q),
    };
    let columns = (0..quasi.len()).into_par_iter().map(column).collect();
    Labels { columns, is_cut: budget.is_exceeded() }
}

/// Distinct texts in the order of insertion.
#[derive(Default)]
struct DistinctLabels {
    list: Vec<String>,
    /// The indices of the texts in the list, by hash.
    places: HashTable<u32>,
    hashes: FixedState,
}

impl DistinctLabels {
    fn add(&mut self, text: String) -> u32 {
        let DistinctLabels { list, places, hashes } = self;
        let same = |place: &u32| list[*place as usize] == text;
        let hash = |place: &u32| hashes.hash_one(list[*place as usize].as_str());
        match places.entry(hashes.hash_one(text.as_str()), same, hash) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => {
                let place = list.len() as u32;
                free.insert(place);
                list.push(text);
                place
            }
        }
    }
}

/// Distinct sets of codes, each with the index of its text.
#[derive(Default)]
struct DistinctSets {
    codes: Vec<Code>,
    /// The end of each set in `codes`; a set begins where the previous one ends.
    ends: Vec<usize>,
    texts: Vec<u32>,
    places: HashTable<u32>,
    hashes: FixedState,
}

impl DistinctSets {
    fn get(&mut self, set: &[Code], text: impl FnOnce() -> u32) -> u32 {
        let DistinctSets { codes, ends, texts, places, hashes } = self;
        let own = |place: u32| {
            let start = if place == 0 { 0 } else { ends[place as usize - 1] };
            &codes[start..ends[place as usize]]
        };
        let same = |place: &u32| own(*place) == set;
        let hash = |place: &u32| hashes.hash_one(own(*place));
        match places.entry(hashes.hash_one(set), same, hash) {
            Entry::Occupied(known) => texts[*known.get() as usize],
            Entry::Vacant(free) => {
                free.insert(texts.len() as u32);
                codes.extend_from_slice(set);
                ends.push(codes.len());
                texts.push(text());
                texts[texts.len() - 1]
            }
        }
    }
}

/// The distinct texts of a quasi-identifier that publishes spans, and the text of each group.
fn span_cells(dataset: &Dataset, partition: &Partition, q: usize) -> (Vec<String>, Vec<u32>) {
    let domain = &dataset.quasi()[q].domain;
    let level = partition.levels().map(|levels| levels[q] as usize);
    let mut known: HashMap<Span, u32, FixedState> = HashMap::default();
    cells(partition, |group, texts| {
        let span = partition.spans(group)[q];
        let text = || match level {
            Some(level) => texts.add(domain.level_label(span.lo, level)),
            None => texts.add(domain.label(span.lo, span.hi)),
        };
        *known.entry(span).or_insert_with(text)
    })
}

/// The number of values that fit into a bit mask.
const MASK: u32 = 64;

/// The texts of a quasi-identifier with at most 64 values that publishes sets.
fn mask_cells(
    dataset: &Dataset,
    partition: &Partition,
    q: usize,
    masks: &Masks,
    budget: &LabelBudget,
) -> (Vec<String>, Vec<u32>) {
    let domain = &dataset.quasi()[q].domain;
    let mut known: HashMap<u64, u32, FixedState> = HashMap::default();
    cells(partition, |group, texts| {
        let mask = masks.of(group, q);
        *known.entry(mask).or_insert_with(|| {
            let set: Vec<Code> = (0..MASK).filter(|bit| mask >> bit & 1 == 1).map(Code).collect();
            texts.add(budget.label(|| domain.set_label(&set)))
        })
    })
}

/// The texts of a quasi-identifier with many values that publishes sets.
fn set_cells(
    dataset: &Dataset,
    partition: &Partition,
    q: usize,
    budget: &LabelBudget,
) -> (Vec<String>, Vec<u32>) {
    let domain = &dataset.quasi()[q].domain;
    let sets = Sets::new(dataset, partition, q);
    let mut known = DistinctSets::default();
    cells(partition, |group, texts| {
        let set = sets.of(group);
        known.get(set, || texts.add(budget.label(|| domain.set_label(set))))
    })
}

/// Bit masks of the values that occur in each group, for columns with few values.
struct Masks {
    /// The columns; a group has one word per column.
    columns: Vec<usize>,
    words: Vec<AtomicU64>,
}

impl Masks {
    fn new(dataset: &Dataset, partition: &Partition, columns: Vec<usize>) -> Masks {
        let width = columns.len();
        let mut words = Vec::new();
        words.resize_with(partition.groups() * width, AtomicU64::default);
        if width == 0 {
            return Masks { columns, words };
        }
        // All columns of a row are handled together, because its group's words are adjacent. Most
        // bits are already set, and testing before writing avoids contention.
        let mark = |row: usize| {
            let Some(group) = partition.group(row) else { return };
            let codes = dataset.quasi_codes(row);
            for (word, &q) in words[group.index() * width..][..width].iter().zip(&columns) {
                let bit = 1 << codes[q];
                if word.load(Ordering::Relaxed) & bit == 0 {
                    word.fetch_or(bit, Ordering::Relaxed);
                }
            }
        };
        (0..dataset.rows()).into_par_iter().with_min_len(1 << 14).for_each(mark);
        Masks { columns, words }
    }

    fn of(&self, group: GroupId, q: usize) -> u64 {
        let place = self.columns.iter().position(|own| *own == q);
        place.map_or(0, |place| {
            self.words[group.index() * self.columns.len() + place].load(Ordering::Relaxed)
        })
    }
}

/// The cells of all groups; `*` for a starred group.
fn cells(
    partition: &Partition,
    mut cell: impl FnMut(GroupId, &mut DistinctLabels) -> u32,
) -> (Vec<String>, Vec<u32>) {
    let mut texts = DistinctLabels::default();
    let starred = partition.starred();
    let groups = (0..partition.groups() as u32).map(GroupId);
    let own = |group| if starred == Some(group) { 0 } else { cell(group, &mut texts) };
    let mut cells: Vec<u32> = groups.map(own).collect();
    if let Some(star) = starred {
        cells[star.index()] = texts.add("*".to_owned());
    }
    (texts.list, cells)
}

/// The sets of values of all groups.
struct Sets {
    /// The start of each group in `codes`; the last entry is the end of the last group.
    starts: Vec<u32>,
    /// The number of distinct values of each group; they are the first of its codes, ascending.
    values: Vec<u32>,
    codes: Vec<Code>,
}

impl Sets {
    fn new(dataset: &Dataset, partition: &Partition, q: usize) -> Sets {
        let groups =
            || (0..dataset.rows()).filter_map(|row| Some((row, partition.group(row)?.index())));
        let mut starts = vec![0u32; partition.groups() + 1];
        groups().for_each(|(_, group)| starts[group + 1] += 1);
        (0..partition.groups()).for_each(|group| starts[group + 1] += starts[group]);
        let mut next = starts.clone();
        let mut codes = vec![Code(0); starts[partition.groups()] as usize];
        for (row, group) in groups() {
            codes[next[group] as usize] = Code(dataset.quasi_codes(row)[q]);
            next[group] += 1;
        }
        let mut rest = codes.as_mut_slice();
        let sizes = starts.windows(2).map(|ends| (ends[1] - ends[0]) as usize);
        let own: Vec<&mut [Code]> =
            sizes.map(|size| rest.split_off_mut(..size).unwrap_or_default()).collect();
        let values = own.into_par_iter().with_min_len(1 << 10).map(distinct).collect();
        Sets { starts, values, codes }
    }

    fn of(&self, group: GroupId) -> &[Code] {
        let start = self.starts[group.index()] as usize;
        &self.codes[start..start + self.values[group.index()] as usize]
    }
}

/// Moves the distinct values to the front, ascending. Returns their number.
fn distinct(codes: &mut [Code]) -> u32 {
    codes.sort_unstable();
    let mut kept = 0;
    for at in 0..codes.len() {
        if kept == 0 || codes[at] != codes[kept - 1] {
            codes[kept] = codes[at];
            kept += 1;
        }
    }
    kept as u32
}
