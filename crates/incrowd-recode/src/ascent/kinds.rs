//! Rows that are alike in all that matters above some levels of one half of the columns, counted together.

use super::halves::Classes;

/// Rows are looked through for those that left when so much of them is left.
const STALE: f64 = 0.6;

/// No kind.
const NONE: u32 = u32::MAX;

/// What is known of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// What it has in the first half of the columns.
    pub(super) first: u32,
    /// What it has in the second half.
    pub(super) second: u32,
    /// How many records have it.
    pub(super) weight: u32,
    /// The sensitive value.
    pub(super) code: u16,
}

/// Rows of one class of the first half that have the same in the second half, and the same sensitive value.
#[derive(Clone, Copy, Debug)]
struct Kind {
    second: u32,
    /// How many records are left.
    weight: u32,
    code: u16,
}

/// The rows at one combination of levels of the first half.
#[derive(Debug)]
pub(super) struct Kinds {
    /// Class by class.
    kinds: Vec<Kind>,
    /// Where the kinds of each class begin, and where the last ones end.
    kinds_from: Vec<usize>,
    /// Class by class, in order.
    rows: Vec<u32>,
    rows_from: Vec<usize>,
    /// By row; [`NONE`] if its class is too small or lacks values.
    of_row: Vec<u32>,
    /// How many records of each class are left.
    records: Vec<u64>,
    /// How many of the rows are left.
    left: usize,
    /// How many of the rows that left were taken away.
    noticed: usize,
}

impl Kinds {
    /// Of the rows that are left after so many are gone. The second half has so many patterns, and the sensitive column so many
    /// values.
    pub(super) fn new(
        facts: &[Facts],
        classes: &Classes,
        (rest, gone): (&[u32], usize),
        (patterns, values): (usize, usize),
    ) -> Kinds {
        let class_of = |row: u32| classes.of_pattern[facts[row as usize].first as usize] as usize;
        let count = classes.count as usize;
        // The last place is for rows whose class does not count.
        let mut ends = vec![0; count + 2];
        rest.iter().for_each(|&row| ends[class_of(row) + 1] += 1);
        (0..=count).for_each(|class| ends[class + 1] += ends[class]);
        let rows_from: Vec<usize> = ends[..=count].to_vec();
        let mut rows = vec![0; rows_from[count]];
        for &row in rest {
            let class = class_of(row);
            if class < count {
                rows[ends[class]] = row;
                ends[class] += 1;
            }
        }
        let (mut of_row, mut records) = (vec![NONE; facts.len()], vec![0; count]);
        let (mut kinds, mut kinds_from): (Vec<Kind>, Vec<usize>) = (Vec::new(), vec![0]);
        // By pattern and value, one more than the kind; what is not of this class is of one before it.
        let mut known = vec![0u32; patterns * values];
        for class in 0..count {
            let begin = kinds.len() as u32;
            for &row in &rows[rows_from[class]..rows_from[class + 1]] {
                let Facts { second, weight, code, .. } = facts[row as usize];
                let kind = &mut known[second as usize * values + usize::from(code)];
                if *kind <= begin {
                    kinds.push(Kind { second, weight: 0, code });
                    *kind = kinds.len() as u32;
                }
                kinds[*kind as usize - 1].weight += weight;
                records[class] += u64::from(weight);
                of_row[row as usize] = *kind - 1;
            }
            kinds_from.push(kinds.len());
        }
        let left = rows.len();
        Kinds { kinds, kinds_from, rows, rows_from, of_row, records, left, noticed: gone }
    }

    /// How many of the rows that left, which are so many, were not taken away yet.
    pub(super) fn unnoticed(&self, gone: usize) -> usize {
        gone - self.noticed
    }

    /// Takes away the rows that left, which are all that ever did.
    pub(super) fn notice(&mut self, facts: &[Facts], classes: &Classes, gone: &[u32], there: &[bool]) {
        for &row in &gone[self.noticed..] {
            let kind = self.of_row[row as usize];
            if kind != NONE {
                let Facts { first, weight, .. } = facts[row as usize];
                self.kinds[kind as usize].weight -= weight;
                self.records[classes.of_pattern[first as usize] as usize] -= u64::from(weight);
                self.left -= 1;
            }
        }
        self.noticed = gone.len();
        if (self.left as f64) < STALE * self.rows.len() as f64 {
            self.condense(there);
        }
    }

    /// Forgets kinds and rows that are not there any more.
    fn condense(&mut self, there: &[bool]) {
        let (mut to, mut kept) = (0, 0);
        let mut renamed = vec![NONE; self.kinds.len()];
        for class in 0..self.records.len() {
            let kinds = self.kinds_from[class]..self.kinds_from[class + 1];
            self.kinds_from[class] = kept;
            for at in kinds.filter(|_| self.records[class] > 0) {
                if self.kinds[at].weight > 0 {
                    (self.kinds[kept], renamed[at]) = (self.kinds[at], kept as u32);
                    kept += 1;
                }
            }
            // What is next was not renamed yet.
            let rows = self.rows_from[class]..self.rows_from[class + 1];
            self.rows_from[class] = to;
            for at in rows.filter(|_| self.records[class] > 0) {
                let row = self.rows[at];
                if there[row as usize] {
                    let kind = &mut self.of_row[row as usize];
                    (self.rows[to], *kind) = (row, renamed[*kind as usize]);
                    to += 1;
                }
            }
        }
        self.kinds.truncate(kept);
        self.rows.truncate(to);
        let last = self.records.len();
        (self.kinds_from[last], self.rows_from[last]) = (kept, to);
    }

    /// How many records of each class are left.
    pub(super) fn records(&self) -> &[u64] {
        &self.records
    }

    /// The rows of a class, in order; some may have left.
    pub(super) fn rows(&self, class: u32) -> &[u32] {
        &self.rows[self.rows_from[class as usize]..self.rows_from[class as usize + 1]]
    }
}

/// Counts the kinds of a class of the first half by classes of the second.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// By class and sensitive value; zeros otherwise.
    counts: Vec<u64>,
    /// By class; zeros otherwise.
    records: Vec<u64>,
    /// The classes that occur.
    classes: Vec<u32>,
    /// How many sensitive values there are.
    values: usize,
}

impl Table {
    /// Counts the kinds of a class; how many there are.
    pub(super) fn count(&mut self, kinds: &Kinds, class: u32, second: &Classes, values: usize) -> u64 {
        self.forget();
        let classes = second.count as usize + 1;
        self.counts.resize(self.counts.len().max(classes * values), 0);
        self.records.resize(self.records.len().max(classes), 0);
        self.values = values;
        let of_class = &kinds.kinds[kinds.kinds_from[class as usize]..kinds.kinds_from[class as usize + 1]];
        for kind in of_class.iter().filter(|kind| kind.weight > 0) {
            let class = second.of_pattern[kind.second as usize];
            let (at, weight) = (class as usize, u64::from(kind.weight));
            if self.records[at] == 0 {
                self.classes.push(class);
            }
            self.records[at] += weight;
            self.counts[at * values + usize::from(kind.code)] += weight;
        }
        of_class.len() as u64
    }

    fn forget(&mut self) {
        for class in self.classes.drain(..) {
            let at = class as usize;
            self.records[at] = 0;
            self.counts[at * self.values..(at + 1) * self.values].fill(0);
        }
    }

    /// The classes of the second half that occur.
    pub(super) fn classes(&self) -> impl Iterator<Item = u32> {
        self.classes.iter().copied()
    }

    /// How many records a class has.
    pub(super) fn records(&self, class: u32) -> u64 {
        self.records[class as usize]
    }

    /// How often each sensitive value occurs in a class.
    pub(super) fn counts(&self, class: u32) -> &[u64] {
        &self.counts[class as usize * self.values..][..self.values]
    }
}
