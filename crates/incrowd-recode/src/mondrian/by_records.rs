//! Mondrian's splits where only the number of records decides. It finds the same parts as
//! [`super::part`], its reference implementation in the tests. The counts that select a split also
//! give the new position of every row. No memory is allocated per part. Rows that are already in
//! order are not moved.

use incrowd_core::Progress;
use rayon::prelude::*;

use super::cut;
use super::part::{Leaves, PARALLEL_ROWS, Refusal};
use super::runs::Choice;
use super::tables::{Line, Rule, Slots};
use super::words::{Bounds, Field, Row, Words, id, records};
use super::{Mondrian, Undersized};

/// The number of rows that one thread moves at a time. One thread moves a part with at most that
/// many rows.
const AT_ONCE: usize = if cfg!(test) { 5 } else { 1 << 15 };

/// Marks a line for which no hopeless node is known.
const NOWHERE: u32 = u32::MAX;

/// The inputs that all parts share.
pub(super) struct RecordSplitter<'a, const S: usize, const L: usize> {
    pub(super) lines: &'a [Line<'a>],
    pub(super) words: &'a Words<S, L>,
    pub(super) mondrian: &'a Mondrian,
    pub(super) choice: &'a Choice,
    /// The minimum number of records of a part.
    pub(super) least: u64,
    pub(super) progress: &'a dyn Progress,
}

/// A set of rows that may be split further.
#[derive(Clone, Copy, Debug)]
struct Part<const L: usize> {
    bounds: Bounds<L>,
    records: u64,
    /// The number of rows.
    length: usize,
    /// Bit mask of the lines along which this part must not be split again, because it was pooled
    /// on them.
    closed: u32,
    /// For each line, the node at which no split of this part, or of a part of it, can have enough
    /// records on two sides.
    hopeless: [u32; L],
    /// The next line for round robin.
    turn: usize,
}

/// A number of rows, and the number of their records.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    records: u64,
    rows: usize,
}

impl Count {
    fn with(self, other: Count) -> Count {
        Count { records: self.records + other.records, rows: self.rows + other.rows }
    }
}

/// The counts of each slot, for the first and the second half of the rows.
#[derive(Debug, Default)]
struct Halves {
    front: Vec<Count>,
    back: Vec<Count>,
}

impl Halves {
    fn clear(&mut self, slots: usize) {
        for counts in [&mut self.front, &mut self.back] {
            counts.clear();
            counts.resize(slots, Count::default());
        }
    }

    fn all(&self) -> impl Iterator<Item = Count> {
        self.front.iter().zip(&self.back).map(|(&front, &back)| front.with(back))
    }
}

/// Buffers that are reused for every part.
#[derive(Debug)]
struct Scratch<const L: usize> {
    /// The counts of each slot.
    counts: Vec<Count>,
    /// The counts of each slot, by halves of the rows.
    halves: Halves,
    /// The counts of each slot for every piece of a large part, by halves of the rows of the piece.
    pieces: Vec<Halves>,
    /// For each slot, the index of its new part.
    part_of: Vec<u32>,
    /// For each new part, its counts.
    lengths: Vec<Count>,
    /// For each new part, the position of its next row, for either half of the rows.
    next: [Vec<usize>; 2],
    /// Codes with their records, for lines with many more values than the part has rows.
    pairs: Vec<(u32, u32)>,
    /// The bounds of the new parts, if they were computed while rows were moved.
    bounds: Vec<Bounds<L>>,
    /// Parts that are still to be split.
    parts: Vec<Part<L>>,
}

impl<const L: usize> Scratch<L> {
    fn new() -> Scratch<L> {
        Scratch {
            counts: Vec::new(),
            halves: Halves::default(),
            pieces: Vec::new(),
            part_of: Vec::new(),
            lengths: Vec::new(),
            next: [Vec::new(), Vec::new()],
            pairs: Vec::new(),
            bounds: Vec::new(),
            parts: Vec::new(),
        }
    }
}

/// The split of a part.
#[derive(Clone, Copy, Debug)]
struct Split<'a> {
    line: usize,
    by: By<'a>,
    /// The index of the pooled part, which must not be split along this line again.
    pool: Option<usize>,
    /// Whether the rows are already in the order of the new parts.
    is_done: bool,
}

#[derive(Clone, Copy, Debug)]
enum By<'a> {
    /// Codes greater than this one go to the second part.
    Value(u32),
    /// `Scratch::part_of` has the new part of each slot.
    Slot(Slots<'a>),
}

impl<'a, const S: usize, const L: usize> RecordSplitter<'a, S, L> {
    /// Splits the whole table. `spare` is as long as `rows` and is overwritten.
    pub(super) fn run(&self, rows: &mut [Row<S>], spare: &mut [Row<S>]) -> Vec<Leaves> {
        if rows.is_empty() {
            return Vec::new();
        }
        let all = rows.par_iter().with_min_len(AT_ONCE).map(|row| u64::from(records(row))).sum();
        let part = Part {
            bounds: self.bounds(rows),
            records: all,
            length: rows.len(),
            closed: 0,
            hopeless: [NOWHERE; L],
            turn: 0,
        };
        self.divide(part, rows, spare)
    }

    fn bounds(&self, rows: &[Row<S>]) -> Bounds<L> {
        if rows.len() <= AT_ONCE {
            return self.words.bounds(rows);
        }
        let pieces = rows.par_chunks(AT_ONCE).map(|rows| self.words.bounds(rows));
        pieces.reduce(|| Bounds::NONE, Bounds::with)
    }

    /// Splits a part. Large parts are split on all threads.
    fn divide(&self, mut part: Part<L>, rows: &mut [Row<S>], spare: &mut [Row<S>]) -> Vec<Leaves> {
        let mut scratch = Scratch::new();
        let mut leaves = Leaves::default();
        if rows.len() < PARALLEL_ROWS {
            leaves.rows.reserve(rows.len());
            self.divide_here(part, rows, spare, &mut scratch, &mut leaves);
            self.progress.advance(leaves.rows.len() as u64);
            return vec![leaves];
        }
        let Some(split) = self.find_split(&mut part, rows, &mut scratch) else {
            self.keep(&part, rows, &mut leaves);
            self.progress.advance(leaves.rows.len() as u64);
            return vec![leaves];
        };
        self.move_rows(&part, split, rows, spare, &mut scratch);
        let (mut rows, mut spare) = if split.is_done { (rows, spare) } else { (spare, rows) };
        let mut jobs = Vec::with_capacity(scratch.parts.len());
        for part in scratch.parts {
            let own = rows.split_off_mut(..part.length).unwrap_or_default();
            jobs.push((part, own, spare.split_off_mut(..part.length).unwrap_or_default()));
        }
        let divided: Vec<Vec<Leaves>> = jobs
            .into_par_iter()
            .map(|(part, rows, spare)| self.divide(part, rows, spare))
            .collect();
        divided.into_iter().flatten().collect()
    }

    /// Splits a part on the current thread. All leaves are appended to one list.
    fn divide_here(
        &self,
        mut part: Part<L>,
        rows: &mut [Row<S>],
        spare: &mut [Row<S>],
        scratch: &mut Scratch<L>,
        leaves: &mut Leaves,
    ) {
        let Some(split) = self.find_split(&mut part, rows, scratch) else {
            return self.keep(&part, rows, leaves);
        };
        let first = scratch.parts.len();
        self.move_rows(&part, split, rows, spare, scratch);
        let (rows, spare) = if split.is_done { (rows, spare) } else { (spare, rows) };
        let mut start = 0;
        for at in first..scratch.parts.len() {
            let part = scratch.parts[at];
            let own = start..start + part.length;
            start = own.end;
            self.divide_here(part, &mut rows[own.clone()], &mut spare[own], scratch, leaves);
        }
        scratch.parts.truncate(first);
    }

    fn keep(&self, part: &Part<L>, rows: &[Row<S>], leaves: &mut Leaves) {
        rows.iter().for_each(|row| leaves.rows.extend(self.words.alike.rows(id(row))));
        leaves.ends.push(leaves.rows.len());
        leaves.records.push(part.records);
        let (mut cost, mut regular) = (0.0, 0.0);
        for (line, &field) in self.lines.iter().zip(&self.words.fields) {
            let (lo, hi) = part.bounds.span(field);
            leaves.spans.push((lo, hi));
            let own = line.cost(lo, hi);
            cost += own;
            if line.is_regular {
                regular += own;
            }
        }
        leaves.cost += cost * part.records as f64;
        leaves.regular_cost += regular * part.records as f64;
    }

    /// The first admissible split in the order of preference.
    fn find_split(
        &self,
        part: &mut Part<L>,
        rows: &[Row<S>],
        scratch: &mut Scratch<L>,
    ) -> Option<Split<'a>> {
        // Two parts need at least twice the minimum.
        if part.records < 2 * self.least {
            return None;
        }
        let width = self.lines.len();
        let span = |line: usize| part.bounds.span(self.words.fields[line]);
        let open = |line: &usize| part.closed >> line & 1 == 0 && span(*line).0 < span(*line).1;
        let mut lines = [(0usize, 0f64); L];
        let mut count = 0;
        let mut add = |line: usize, score: f64| {
            lines[count] = (line, score);
            count += 1;
        };
        match self.choice {
            Choice::Order(order) => {
                order.iter().copied().filter(open).for_each(|line| add(line, 0.0))
            }
            Choice::RoundRobin => {
                let turns = (0..width).map(|i| (part.turn + i) % width);
                turns.filter(open).for_each(|line| add(line, 0.0));
            }
            Choice::Widest(weights) => {
                let score =
                    |line: usize| weights[line] * self.lines[line].cost(span(line).0, span(line).1);
                (0..width).filter(open).for_each(|line| add(line, score(line)));
                // The sort is stable: of equally costly lines the first line of the table is split.
                lines[..count].sort_by(|a, b| b.1.total_cmp(&a.1));
            }
        }
        for &(line, _) in &lines[..count] {
            let (lo, hi) = part.bounds.span(self.words.fields[line]);
            // A part inherits hopeless nodes from the part it was split from. The line need not be
            // counted again as long as the interval is split at the same node.
            let known = part.hopeless[line];
            if known != NOWHERE && self.lines[line].place(lo, hi) == Some(known) {
                continue;
            }
            match self.split_along(line, part, rows, scratch) {
                Ok(split) => return Some(split),
                Err(Refusal::Hopeless) => {
                    part.hopeless[line] = self.lines[line].place(lo, hi).unwrap_or(NOWHERE);
                }
                Err(Refusal::Here) => {}
            }
        }
        None
    }

    fn split_along(
        &self,
        line: usize,
        part: &Part<L>,
        rows: &[Row<S>],
        scratch: &mut Scratch<L>,
    ) -> Result<Split<'a>, Refusal> {
        let (lo, hi) = part.bounds.span(self.words.fields[line]);
        match self.lines[line].rule(lo, hi) {
            Rule::Whole => Err(Refusal::Here),
            // If no cut has enough records on both sides, no cut of a smaller part has. So the line
            // is hopeless.
            Rule::Anywhere => self.cut_values(line, part, rows, scratch).ok_or(Refusal::Hopeless),
            Rule::Into(slots) => self.part_slots(line, slots, part, rows, scratch),
        }
    }

    /// Whether the rows of a part are sorted by a line. They are if the table is sorted and each
    /// line before this one has only one value in the part.
    fn in_order(&self, line: usize, part: &Part<L>) -> bool {
        let single = |&field: &Field| part.bounds.span(field).0 == part.bounds.span(field).1;
        self.words.is_sorted && self.words.fields[..line].iter().all(single)
    }

    /// The most balanced cut of a line of ordered values.
    fn cut_values(
        &self,
        line: usize,
        part: &Part<L>,
        rows: &[Row<S>],
        scratch: &mut Scratch<L>,
    ) -> Option<Split<'a>> {
        let field = self.words.fields[line];
        let (lo, hi) = part.bounds.span(field);
        let width = (hi - lo) as usize + 1;
        let is_done = self.in_order(line, part);
        let (best, left) = if is_done {
            let same = |a: &Row<S>, b: &Row<S>| field.code(a) == field.code(b);
            let count = |rows: &[Row<S>]| rows.iter().map(|row| u64::from(records(row))).sum();
            let counts = rows.chunk_by(same).map(|rows| (field.code(&rows[0]), count(rows)));
            let best = cut::balanced(counts, part.records, self.least)?;
            (best, rows.partition_point(|row| field.code(row) <= best.at))
        } else if rows.len() > AT_ONCE || width <= 4 * rows.len() + 64 {
            self.count(field, Slots::Values(lo, width), rows, scratch);
            let counts = (lo..=hi).zip(&scratch.counts).map(|(code, count)| (code, count.records));
            let best = cut::balanced(counts, part.records, self.least)?;
            scratch.part_of.clear();
            scratch.part_of.extend((lo..=hi).map(|code| u32::from(code > best.at)));
            let left =
                scratch.counts[..=(best.at - lo) as usize].iter().map(|count| count.rows).sum();
            (best, left)
        } else {
            scratch.pairs.clear();
            scratch.pairs.extend(rows.iter().map(|row| (field.code(row), records(row))));
            scratch.pairs.sort_unstable();
            let same = scratch.pairs.chunk_by(|a, b| a.0 == b.0);
            let counts =
                same.map(|same| (same[0].0, same.iter().map(|pair| u64::from(pair.1)).sum()));
            let best = cut::balanced(counts, part.records, self.least)?;
            (best, scratch.pairs.partition_point(|pair| pair.0 <= best.at))
        };
        let left = Count { records: best.left, rows: left };
        let right = Count { records: part.records - left.records, rows: rows.len() - left.rows };
        scratch.lengths.clear();
        scratch.lengths.extend([left, right]);
        Some(Split { line, by: By::Value(best.at), pool: None, is_done })
    }

    /// Splits into slots. Slots with too few records are pooled. If the pool still has too few
    /// records, the smallest other slots join it.
    fn part_slots(
        &self,
        line: usize,
        slots: Slots<'a>,
        part: &Part<L>,
        rows: &[Row<S>],
        scratch: &mut Scratch<L>,
    ) -> Result<Split<'a>, Refusal> {
        self.count(self.words.fields[line], slots, rows, scratch);
        let Scratch { counts, part_of, lengths, .. } = scratch;
        // The slots other than the largest have too few records for a part, even together. In a
        // smaller part at the same node they have fewer still. So the line is hopeless.
        let greatest = counts.iter().map(|count| count.records).max().unwrap_or(0);
        if part.records - greatest < self.least {
            return Err(Refusal::Hopeless);
        }
        const POOLED: u32 = u32::MAX;
        let weak = |count: &Count| count.rows > 0 && count.records < self.least;
        let is_pooling = counts.iter().any(weak);
        let mut pool: u64 =
            counts.iter().filter(|count| weak(count)).map(|count| count.records).sum();
        if is_pooling && self.mondrian.undersized == Undersized::Block {
            return Err(Refusal::Here);
        }
        part_of.clear();
        part_of.extend(counts.iter().map(|count| if weak(count) { POOLED } else { 0 }));
        while is_pooling && pool < self.least {
            let joining =
                (0..counts.len()).filter(|&slot| counts[slot].rows > 0 && part_of[slot] != POOLED);
            let fewest =
                joining.clone().map(|slot| counts[slot].records).min().ok_or(Refusal::Here)?;
            let mut fewest = joining.filter(|&slot| counts[slot].records == fewest);
            let first = fewest.next().ok_or(Refusal::Here)?;
            let key = |slot: usize| self.lines[line].tie_key(slots, slot);
            let smallest = fewest.fold(first, |a, b| if key(b) < key(a) { b } else { a });
            pool += counts[smallest].records;
            part_of[smallest] = POOLED;
        }
        lengths.clear();
        for (part, &count) in part_of.iter_mut().zip(&*counts).filter(|(part, _)| **part != POOLED)
        {
            *part = lengths.len() as u32;
            // A slot without rows does not become a part.
            if count.rows > 0 {
                lengths.push(count);
            }
        }
        let alone = lengths.len();
        if alone == 0 || (alone == 1 && !is_pooling) {
            return Err(Refusal::Here);
        }
        if is_pooling {
            lengths.push(Count::default());
            for (part, &count) in
                part_of.iter_mut().zip(&*counts).filter(|(part, _)| **part == POOLED)
            {
                *part = alone as u32;
                lengths[alone] = lengths[alone].with(count);
            }
        }
        let is_done = self.in_order(line, part) && {
            let kept = part_of.iter().zip(&*counts).filter(|(_, count)| count.rows > 0);
            kept.map(|(&part, _)| part).is_sorted()
        };
        Ok(Split { line, by: By::Slot(slots), pool: is_pooling.then_some(alone), is_done })
    }

    /// Counts rows and records by slot.
    fn count(&self, field: Field, slots: Slots<'_>, rows: &[Row<S>], scratch: &mut Scratch<L>) {
        let count = |rows: &[Row<S>], counts: &mut Halves| match slots {
            Slots::Children(_, child_of) => {
                count_rows(rows, counts, move |row| {
                    usize::from(child_of[field.code(row) as usize])
                });
            }
            Slots::Values(first, _) => {
                count_rows(rows, counts, move |row| (field.code(row) - first) as usize)
            }
            Slots::Missing(_, last) => {
                count_rows(rows, counts, move |row| usize::from(field.code(row) == last));
            }
        };
        scratch.counts.clear();
        if rows.len() <= AT_ONCE {
            scratch.halves.clear(slots.len());
            count(rows, &mut scratch.halves);
            return scratch.counts.extend(scratch.halves.all());
        }
        let pieces = rows.par_chunks(AT_ONCE).map(|rows| {
            let mut counts = Halves::default();
            counts.clear(slots.len());
            count(rows, &mut counts);
            counts
        });
        scratch.pieces = pieces.collect();
        scratch.counts.resize(slots.len(), Count::default());
        for piece in &scratch.pieces {
            scratch.counts.iter_mut().zip(piece.all()).for_each(|(all, own)| *all = all.with(own));
        }
    }

    /// Moves the rows into `spare`, part by part, in stable order, unless they are already in
    /// place. Adds the new parts to those that are still to be split.
    fn move_rows(
        &self,
        part: &Part<L>,
        split: Split<'_>,
        rows: &[Row<S>],
        spare: &mut [Row<S>],
        scratch: &mut Scratch<L>,
    ) {
        let field = self.words.fields[split.line];
        if !split.is_done {
            let (all_parts, lo) = (std::mem::take(&mut scratch.part_of), part.bounds.span(field).0);
            let part_of = all_parts.as_slice();
            let part_at = move |slot: usize| part_of[slot] as usize;
            match split.by {
                By::Value(at) => {
                    // The pieces were counted by value, so a slot is a value minus `lo`.
                    let at_slot = |slot: usize| usize::from(slot as u32 + lo > at);
                    self.place(rows, spare, scratch, at_slot, move |row| {
                        usize::from(field.code(row) > at)
                    });
                }
                By::Slot(Slots::Children(_, child_of)) => {
                    let child = move |row: &Row<S>| usize::from(child_of[field.code(row) as usize]);
                    self.place(rows, spare, scratch, part_at, move |row| part_at(child(row)));
                }
                By::Slot(Slots::Values(first, _)) => {
                    let value = move |row: &Row<S>| (field.code(row) - first) as usize;
                    self.place(rows, spare, scratch, part_at, move |row| part_at(value(row)));
                }
                By::Slot(Slots::Missing(_, last)) => {
                    let is_last = move |row: &Row<S>| usize::from(field.code(row) == last);
                    self.place(rows, spare, scratch, part_at, move |row| part_at(is_last(row)));
                }
            }
            scratch.part_of = all_parts;
        }
        let mut rest: &[Row<S>] = if split.is_done { rows } else { spare };
        // `bounds` is empty if no rows were moved in parallel. Then the bounds are computed here.
        let mut known = std::mem::take(&mut scratch.bounds).into_iter();
        for (number, count) in scratch.lengths.iter().enumerate() {
            let own = rest.split_off(..count.rows).unwrap_or_default();
            scratch.parts.push(Part {
                bounds: known.next().unwrap_or_else(|| self.bounds(own)),
                records: count.records,
                length: count.rows,
                closed: part.closed | u32::from(split.pool == Some(number)) << split.line,
                hopeless: part.hopeless,
                turn: (split.line + 1) % self.lines.len(),
            });
        }
    }

    /// Copies the rows to the positions of their parts.
    fn place(
        &self,
        rows: &[Row<S>],
        spare: &mut [Row<S>],
        scratch: &mut Scratch<L>,
        part_at: impl Fn(usize) -> usize,
        part_of: impl Fn(&Row<S>) -> usize + Copy + Sync,
    ) {
        let Scratch { lengths, halves, next, pieces, bounds, .. } = scratch;
        // The number of rows that go to each part, from the counts by slot.
        let by_part = |counts: &[Count], own: &mut Vec<usize>| {
            own.clear();
            own.resize(lengths.len(), 0);
            counts.iter().enumerate().filter(|(_, count)| count.rows > 0).for_each(
                |(slot, count)| {
                    own[part_at(slot)] += count.rows;
                },
            );
        };
        if rows.len() <= AT_ONCE {
            if let [left, _] = lengths[..] {
                return place_two(rows, spare, left.rows, part_of);
            }
            let [front, back] = next;
            by_part(&halves.front, back);
            front.clear();
            let starts = lengths
                .iter()
                .scan(0, |next, part| Some(std::mem::replace(next, *next + part.rows)));
            front.extend(starts);
            // In each part, the rows of the second half follow those of the first half.
            back.iter_mut().zip(&*front).for_each(|(back, front)| *back += front);
            return place_many(rows, front, back, part_of, |_, at, row| spare[at] = *row);
        }
        // Within each part, the rows of a piece follow those of the piece before.
        let of_pieces: Vec<[Vec<usize>; 2]> = pieces
            .iter()
            .map(|piece| {
                let mut own = [Vec::new(), Vec::new()];
                by_part(&piece.front, &mut own[0]);
                by_part(&piece.back, &mut own[1]);
                own
            })
            .collect();
        let mut places: Vec<Vec<&mut [Row<S>]>> = of_pieces.iter().map(|_| Vec::new()).collect();
        let mut rest = spare;
        for number in 0..lengths.len() {
            for (places, [front, back]) in places.iter_mut().zip(&of_pieces) {
                places.push(rest.split_off_mut(..front[number] + back[number]).unwrap_or_default());
            }
        }
        let pieces = rows.par_chunks(AT_ONCE).zip(places).zip(of_pieces).map(
            |((rows, mut places), [mut back, _])| {
                let mut front = vec![0; places.len()];
                place_many(rows, &mut front, &mut back, part_of, |part, at, row| {
                    places[part][at] = *row
                });
                places.into_iter().map(|own| self.words.bounds(own)).collect()
            },
        );
        let none = || vec![Bounds::NONE; lengths.len()];
        *bounds = pieces.reduce(none, |a: Vec<Bounds<L>>, b| {
            a.into_iter().zip(b).map(|(a, b)| a.with(b)).collect()
        });
    }
}

/// Splits the rows into two halves; the first may be one row longer. Loops that count rows or
/// assign positions alternate between the halves, with separate counters for each. Otherwise an
/// increment would often wait for the previous increment of the same counter (store-to-load
/// forwarding).
fn halves<const S: usize>(rows: &[Row<S>]) -> (&[Row<S>], &[Row<S>]) {
    rows.split_at(rows.len().div_ceil(2))
}

/// Counts rows and records by slot.
#[inline]
fn count_rows<const S: usize>(
    rows: &[Row<S>],
    counts: &mut Halves,
    slot: impl Fn(&Row<S>) -> usize,
) {
    let add = |row: &Row<S>, counts: &mut [Count]| {
        let count = &mut counts[slot(row)];
        count.records += u64::from(records(row));
        count.rows += 1;
    };
    let (in_front, in_back) = (counts.front.as_mut_slice(), counts.back.as_mut_slice());
    let (front, back) = halves(rows);
    for (one, other) in front.iter().zip(back) {
        add(one, in_front);
        add(other, in_back);
    }
    front[back.len()..].iter().for_each(|row| add(row, in_front));
}

/// Copies rows to the positions of their parts. `next_front` and `next_back` have the next position
/// in each part for the two halves of the rows.
#[inline]
fn place_many<const S: usize>(
    rows: &[Row<S>],
    next_front: &mut [usize],
    next_back: &mut [usize],
    part_of: impl Fn(&Row<S>) -> usize,
    mut put: impl FnMut(usize, usize, &Row<S>),
) {
    let mut place = |row: &Row<S>, next: &mut [usize]| {
        let part = part_of(row);
        put(part, next[part], row);
        next[part] += 1;
    };
    let (front, back) = halves(rows);
    for (one, other) in front.iter().zip(back) {
        place(one, next_front);
        place(other, next_back);
    }
    front[back.len()..].iter().for_each(|row| place(row, next_front));
}

/// Copies rows to one of two parts. The first part has `left` rows. The loop has no branch on the
/// part, because it is unpredictable.
#[inline]
fn place_two<const S: usize>(
    rows: &[Row<S>],
    spare: &mut [Row<S>],
    left: usize,
    part_of: impl Fn(&Row<S>) -> usize,
) {
    let (mut left, mut right) = (0, left);
    for row in rows {
        let is_right = part_of(row) != 0;
        spare[if is_right { right } else { left }] = *row;
        left += usize::from(!is_right);
        right += usize::from(is_right);
    }
}
