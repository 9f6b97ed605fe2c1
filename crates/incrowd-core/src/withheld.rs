//! Records that are taken out before anything else is decided.

use crate::error::{Error, Result};
use crate::folded::Folded;

/// How many records of each row of a fold are withheld, and which row the others became. Which records of a row they are is
/// for the engine to choose, uniformly.
#[derive(Clone, Debug)]
pub struct Withheld {
    /// How many records of each row are withheld, and how many are left.
    records: Vec<(u64, u64)>,
    rows: Vec<u32>,
}

/// The place of a row of which nothing is left.
const GONE: u32 = u32::MAX;

impl Withheld {
    /// Takes `records` of each row out of a table. Rows of which nothing is left are gone from it, so that whatever is made
    /// of the table afterwards bears no trace of them.
    pub fn take(folded: Folded, records: Vec<u64>) -> Result<(Folded, Withheld)> {
        if records.len() != folded.rows() || records.iter().zip(&folded.weights).any(|(out, all)| out > all) {
            return Err(Error::bug("more records were to be withheld than there are"));
        }
        let width = folded.columns.len();
        let Folded { codes, weights, .. } = folded;
        let mut left = Folded { codes: Vec::new(), weights: Vec::new(), ..folded };
        let mut rows = Vec::with_capacity(records.len());
        for (row, (&out, &all)) in records.iter().zip(&weights).enumerate() {
            if out == all {
                rows.push(GONE);
                continue;
            }
            rows.push(left.weights.len() as u32);
            left.weights.push(all - out);
            left.codes.extend_from_slice(&codes[row * width..(row + 1) * width]);
        }
        let records = records.iter().zip(&weights).map(|(&out, &all)| (out, all - out)).collect();
        Ok((left, Withheld { records, rows }))
    }

    /// Every row of the fold of which some records are withheld and some are left, with how many.
    pub fn divided(&self) -> impl Iterator<Item = (u32, (u64, u64))> {
        let records = self.records.iter().enumerate();
        records.filter(|(_, (out, left))| *out > 0 && *left > 0).map(|(row, &records)| (row as u32, records))
    }

    /// The row that what is left of a row of the fold became; `None` if nothing is left.
    pub fn row(&self, row: usize) -> Option<u32> {
        self.rows.get(row).copied().filter(|row| *row != GONE)
    }

    /// How many records are withheld altogether.
    pub fn total(&self) -> u64 {
        self.records.iter().map(|(out, _)| out).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_which_nothing_is_left_are_gone() {
        let records = ["a", "a", "b", "c", "c", "c"].map(|text| vec![Some(text)]);
        let folded = Folded::from_records(&["x"], records, false);
        let (left, withheld) = Withheld::take(folded.clone(), vec![1, 1, 0]).unwrap();
        assert_eq!(left.canonical(), [(vec![Some("a")], 1), (vec![Some("c")], 3)]);
        assert_eq!((0..3).map(|row| withheld.row(row)).collect::<Vec<_>>(), [Some(0), None, Some(1)]);
        assert_eq!((withheld.total(), left.read), (2, 6));
        assert!(Withheld::take(folded, vec![3, 0, 0]).is_err());
    }
}
