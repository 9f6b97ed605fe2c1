//! Records that are suppressed before anonymization.

use crate::error::{Error, Result};
use crate::folded::Folded;

/// The number of suppressed records of each row of a fold, and the new row of the others. The
/// engine chooses the suppressed records of a row uniformly at random.
#[derive(Clone, Debug)]
pub struct SuppressedRows {
    /// Per row: the number of suppressed records and of remaining records.
    records: Vec<(u64, u64)>,
    rows: Vec<u32>,
}

/// Marks a row without remaining records.
const REMOVED: u32 = u32::MAX;

impl SuppressedRows {
    /// Removes `records` of each row from a table. Rows without remaining records are removed, so
    /// nothing computed from the table depends on them.
    pub fn take(folded: Folded, records: Vec<u64>) -> Result<(Folded, SuppressedRows)> {
        if records.len() != folded.rows()
            || records.iter().zip(&folded.weights).any(|(out, all)| out > all)
        {
            return Err(Error::bug("more records were to be suppressed than the row has"));
        }
        let width = folded.columns.len();
        let Folded { codes, weights, .. } = folded;
        let mut left = Folded { codes: Vec::new(), weights: Vec::new(), ..folded };
        let mut rows = Vec::with_capacity(records.len());
        for (row, (&out, &all)) in records.iter().zip(&weights).enumerate() {
            if out == all {
                rows.push(REMOVED);
                continue;
            }
            rows.push(left.weights.len() as u32);
            left.weights.push(all - out);
            left.codes.extend_from_slice(&codes[row * width..(row + 1) * width]);
        }
        let records = records.iter().zip(&weights).map(|(&out, &all)| (out, all - out)).collect();
        Ok((left, SuppressedRows { records, rows }))
    }

    /// The rows of which some but not all records are suppressed, with the number of suppressed and
    /// remaining records.
    pub fn divided(&self) -> impl Iterator<Item = (u32, (u64, u64))> {
        let records = self.records.iter().enumerate();
        records
            .filter(|(_, (out, left))| *out > 0 && *left > 0)
            .map(|(row, &records)| (row as u32, records))
    }

    /// The new row of a row of the fold; `None` if no records remain.
    pub fn row(&self, row: usize) -> Option<u32> {
        self.rows.get(row).copied().filter(|row| *row != REMOVED)
    }

    /// The total number of suppressed records.
    pub fn total(&self) -> u64 {
        self.records.iter().map(|(out, _)| out).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_remaining_records_are_removed() {
        let records = ["a", "a", "b", "c", "c", "c"].map(|text| vec![Some(text)]);
        let folded = Folded::from_records(&["x"], records, false);
        let (left, suppressed) = SuppressedRows::take(folded.clone(), vec![1, 1, 0]).unwrap();
        assert_eq!(left.canonical(), [(vec![Some("a")], 1), (vec![Some("c")], 3)]);
        assert_eq!(
            (0..3).map(|row| suppressed.row(row)).collect::<Vec<_>>(),
            [Some(0), None, Some(1)]
        );
        assert_eq!((suppressed.total(), left.read), (2, 6));
        assert!(SuppressedRows::take(folded, vec![3, 0, 0]).is_err());
    }
}
