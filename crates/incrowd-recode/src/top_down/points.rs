//! Distinct combinations of quasi-identifiers with their rows, in canonical order.

use incrowd_core::Dataset;

/// Points in the order of their codes.
#[derive(Debug)]
pub(super) struct Points {
    pub(super) width: usize,
    codes: Vec<u32>,
    /// The number of records of each point.
    pub(super) records: Vec<u64>,
    /// The number of these records that count as loss: the microdata, or all.
    pub(super) own: Vec<u64>,
    rows: Vec<u32>,
    ends: Vec<u32>,
}

impl Points {
    pub(super) fn new(data: &Dataset, rows: &[u32], is_own: &dyn Fn(u32) -> bool) -> Points {
        let width = data.quasi().len();
        let codes_of = |row: &u32| data.quasi_codes(*row as usize);
        let mut rows = rows.to_vec();
        // Row numbers depend on the order in which threads read the table, so they only order the
        // rows of one point.
        rows.sort_unstable_by(|a, b| codes_of(a).cmp(codes_of(b)).then(a.cmp(b)));
        let (codes, records, own) = (Vec::new(), Vec::new(), Vec::new());
        let mut points = Points { width, codes, records, own, rows: Vec::new(), ends: Vec::new() };
        let mut end = 0;
        for alike in rows.chunk_by(|a, b| codes_of(a) == codes_of(b)) {
            let count = |row: &u32| data.weight(*row as usize);
            points.codes.extend_from_slice(codes_of(&alike[0]));
            points.records.push(alike.iter().map(count).sum());
            points.own.push(alike.iter().filter(|row| is_own(**row)).map(count).sum());
            end += alike.len() as u32;
            points.ends.push(end);
        }
        points.rows = rows;
        points
    }

    /// Creates one point for each of these, equal or not. The first `own` count as loss.
    #[cfg(test)]
    pub(super) fn of_codes(codes: &[Vec<u32>], own: usize) -> Points {
        let count = codes.len() as u32;
        Points {
            width: codes[0].len(),
            codes: codes.concat(),
            records: vec![1; codes.len()],
            own: (0..codes.len()).map(|i| u64::from(i < own)).collect(),
            rows: (0..count).collect(),
            ends: (1..=count).collect(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    #[inline]
    pub(super) fn codes(&self, point: u32) -> &[u32] {
        &self.codes[point as usize * self.width..][..self.width]
    }

    pub(super) fn rows(&self, point: u32) -> &[u32] {
        let start = if point == 0 { 0 } else { self.ends[point as usize - 1] };
        &self.rows[start as usize..self.ends[point as usize] as usize]
    }
}
