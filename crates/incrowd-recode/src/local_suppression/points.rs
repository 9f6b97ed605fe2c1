//! Distinct combinations of published values, and hashes of subsets of their columns.

use incrowd_core::{Code, Dataset};

/// A set of columns, as bits.
pub(super) type Columns = u64;

/// Iterates over the columns of a set.
pub(super) fn columns_of(columns: Columns, width: usize) -> impl Iterator<Item = usize> {
    (0..width).filter(move |column| columns >> column & 1 == 1)
}

/// Distinct combinations of values with their records and rows.
#[derive(Debug)]
pub(super) struct Points {
    pub(super) width: usize,
    /// The summand of each value in a hash, point by point.
    parts: Vec<u64>,
    pub(super) records: Vec<u64>,
    /// The rows of each point.
    pub(super) rows: Vec<Vec<u32>>,
}

impl Points {
    /// Creates the points by the labels of single leaves: leaves with equal labels are one value.
    pub(super) fn new(data: &Dataset) -> Points {
        let width = data.quasi().len();
        let value = |q: usize| {
            let domain = &data.quasi()[q].domain;
            let mut first: Vec<u32> = (0..domain.leaves()).collect();
            let labels: Vec<String> =
                (0..domain.leaves()).map(|code| domain.label(Code(code), Code(code))).collect();
            // Leaves with equal labels are adjacent.
            for code in 1..labels.len() {
                if labels[code] == labels[code - 1] {
                    first[code] = first[code - 1];
                }
            }
            first
        };
        let values: Vec<Vec<u32>> = (0..width).map(value).collect();
        let key = |row: u32| -> Vec<u32> {
            data.quasi_codes(row as usize)
                .iter()
                .zip(&values)
                .map(|(&code, own)| own[code as usize])
                .collect()
        };
        let mut rows: Vec<(Vec<u32>, u32)> =
            (0..data.rows() as u32).map(|row| (key(row), row)).collect();
        rows.sort_unstable();
        let mut points = Points { width, parts: Vec::new(), records: Vec::new(), rows: Vec::new() };
        for alike in rows.chunk_by(|a, b| a.0 == b.0) {
            points.push(&alike[0].0, alike.iter().map(|row| data.weight(row.1 as usize)).sum());
            points.rows.push(alike.iter().map(|row| row.1).collect());
        }
        points
    }

    fn push(&mut self, values: &[u32], records: u64) {
        self.parts.extend(values.iter().enumerate().map(|(column, &value)| hash(column, value)));
        self.records.push(records);
    }

    /// Creates points with these values and records, without a table.
    #[cfg(test)]
    pub(super) fn of(width: usize, points: &[(Vec<u32>, u64)]) -> Points {
        let mut all = Points { width, parts: Vec::new(), records: Vec::new(), rows: Vec::new() };
        points.iter().for_each(|(values, records)| all.push(values, *records));
        all
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns a hash of a point's values except those of some columns. It is a sum of random
    /// words. Two points that differ in a compared column have equal hashes with a probability of
    /// 2^-64. The written release is verified anyway.
    #[inline]
    pub(super) fn key(&self, point: u32, without: Columns) -> u64 {
        let parts = &self.parts[point as usize * self.width..(point as usize + 1) * self.width];
        let counted = parts.iter().enumerate().filter(|(column, _)| without >> column & 1 == 0);
        counted.fold(0, |sum, (_, part)| sum.wrapping_add(*part))
    }
}

/// Returns a random-looking word for a value of a column.
fn hash(column: usize, value: u32) -> u64 {
    let mut x = (column as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for word in [u64::from(value) + 1, 0x2545_F491_4F6C_DD1D] {
        x ^= word.wrapping_mul(0xD6E8_FEB8_6659_FD93);
        x = (x ^ (x >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        x = (x ^ (x >> 29)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^= x >> 31;
    }
    x
}
