//! The working copy of the table: one flat array of rows that is divided by moving rows, so that every pass over a part
//! reads memory in order.

use incrowd_core::Dataset;

/// Rows of `codes…, weight, row id, sensitive codes…`.
#[derive(Debug)]
pub(super) struct Space {
    pub(super) rows: Vec<u32>,
    /// Room for moving rows; as long as `rows`.
    pub(super) spare: Vec<u32>,
    stride: usize,
}

impl Space {
    /// Copies the table. With `sensitive` the rows carry their sensitive codes, with `sorted` they are put in canonical
    /// order, which matters where ties are divided.
    pub(super) fn load(data: &Dataset, sensitive: bool, sorted: bool) -> Space {
        let quasi = data.quasi().len();
        let stride = quasi + 2 + if sensitive { data.sensitive().len() } else { 0 };
        let mut rows = Vec::with_capacity(data.rows() * stride);
        let mut order: Vec<u32> = (0..data.rows() as u32).collect();
        if sorted {
            let key = |&row: &u32| (data.quasi_codes(row as usize), data.sensitive_codes(row as usize));
            order.sort_by(|a, b| key(a).cmp(&key(b)));
        }
        for row in order {
            let row = row as usize;
            // Nothing is lost by capping: a row of four billion records satisfies what any part of it would.
            let weight = u32::try_from(data.weight(row)).unwrap_or(u32::MAX);
            rows.extend_from_slice(data.quasi_codes(row));
            rows.extend([weight, row as u32]);
            if sensitive {
                rows.extend_from_slice(data.sensitive_codes(row));
            }
        }
        let spare = vec![0; rows.len()];
        Space { rows, spare, stride }
    }

    pub(super) fn stride(&self) -> usize {
        self.stride
    }
}
