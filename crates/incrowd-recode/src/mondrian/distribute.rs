//! Distributes the rows of a part to its children and computes the bounds of the children. All
//! threads work on one large part, because the first divisions of a table leave no other parallel
//! work.

use rayon::prelude::*;

use super::part::{Part, SUPPRESSED, Split, Splitter};
use super::space::Unit;

/// The number of rows per task. Parts with no more rows are distributed by one thread.
const CHUNK_ROWS: usize = if cfg!(test) { 5 } else { 1 << 17 };

impl Splitter<'_> {
    /// Computes the bounds and the number of records of these rows.
    pub(super) fn bounds<U: Unit>(&self, rows: &[U]) -> Part<U> {
        let chunk = |rows: &[U]| {
            let mut part = self.empty_part();
            self.include(&mut part, rows);
            part
        };
        let chunks = rows.par_chunks(CHUNK_ROWS * self.layout.stride).map(chunk);
        chunks.reduce(|| self.empty_part(), Part::with)
    }

    /// Copies the rows to `spare`, child after child, each in the old order, and updates the bounds
    /// and lengths of the children. `lo` is the least code in the dimension that is divided.
    pub(super) fn distribute<U: Unit>(
        &self,
        split: &Split,
        lo: u32,
        rows: &[U],
        spare: &mut [U],
        parts: &mut [(Part<U>, usize)],
    ) {
        let piece = CHUNK_ROWS * self.layout.stride;
        if rows.len() <= piece {
            let lengths = self.lengths(split, lo, 0, rows, parts.len());
            let mut places = Vec::with_capacity(parts.len());
            let mut rest = spare;
            for (part, length) in parts.iter_mut().zip(lengths) {
                part.1 = length;
                places.push(rest.split_off_mut(..length).unwrap_or_default());
            }
            return self.move_to(
                split,
                lo,
                0,
                rows,
                places,
                parts.iter_mut().map(|(part, _)| part).collect(),
            );
        }
        let pieces: Vec<(usize, &[U])> = rows.chunks(piece).enumerate().collect();
        let lengths: Vec<Vec<usize>> = pieces
            .par_iter()
            .map(|&(at, rows)| self.lengths(split, lo, at * CHUNK_ROWS, rows, parts.len()))
            .collect();
        // Within each child, the chunks keep their order.
        let mut places: Vec<Vec<&mut [U]>> =
            pieces.iter().map(|_| Vec::with_capacity(parts.len())).collect();
        let mut rest = spare;
        for (n, (_, length)) in parts.iter_mut().enumerate() {
            for (places, lengths) in places.iter_mut().zip(&lengths) {
                *length += lengths[n];
                places.push(rest.split_off_mut(..lengths[n]).unwrap_or_default());
            }
        }
        let moved: Vec<Vec<Part<U>>> = pieces
            .into_par_iter()
            .zip(places)
            .map(|((at, rows), places)| {
                let mut own: Vec<Part<U>> = parts.iter().map(|_| self.empty_part()).collect();
                self.move_to(split, lo, at * CHUNK_ROWS, rows, places, own.iter_mut().collect());
                own
            })
            .collect();
        for own in moved {
            parts.iter_mut().zip(own).for_each(|((part, _), own)| part.add(own));
        }
    }

    /// Returns the child of the `i`th row, or `None` if the row is suppressed.
    #[inline]
    fn part_of<U: Unit>(split: &Split, lo: u32, i: usize, row: &[U]) -> Option<usize> {
        match split {
            Split::ByValue { dim, parts, .. } => {
                let part = parts[(row[*dim].code() - lo) as usize];
                (part != SUPPRESSED).then_some(part as usize)
            }
            Split::ByRow { left, .. } => Some(usize::from(!left[i])),
        }
    }

    /// Returns the total length of the rows of each child. `first` is the index of the first row.
    fn lengths<U: Unit>(
        &self,
        split: &Split,
        lo: u32,
        first: usize,
        rows: &[U],
        parts: usize,
    ) -> Vec<usize> {
        let mut lengths = vec![0; parts];
        for (i, row) in rows.chunks_exact(self.layout.stride).enumerate() {
            match Self::part_of(split, lo, first + i, row) {
                Some(n) => lengths[n] += self.layout.stride,
                None => self.advance(1),
            }
        }
        lengths
    }

    /// Copies rows to their destinations.
    fn move_to<U: Unit>(
        &self,
        split: &Split,
        lo: u32,
        first: usize,
        rows: &[U],
        mut places: Vec<&mut [U]>,
        mut parts: Vec<&mut Part<U>>,
    ) {
        let mut filled = vec![0; places.len()];
        for (i, row) in rows.chunks_exact(self.layout.stride).enumerate() {
            let Some(n) = Self::part_of(split, lo, first + i, row) else { continue };
            copy_row(row, &mut places[n][filled[n]..][..self.layout.stride]);
            filled[n] += self.layout.stride;
        }
        parts.iter_mut().zip(places).for_each(|(part, own)| self.include(part, own));
    }
}

/// Copies a row. Most rows have 8 to 16 units and are copied as two overlapping chunks of constant
/// size, which is faster than a copy of variable size.
#[inline]
fn copy_row<U: Unit>(from: &[U], to: &mut [U]) {
    const PIECE: usize = 8;
    let pieces = from.first_chunk::<PIECE>().zip(from.last_chunk::<PIECE>());
    if let Some((front, back)) =
        pieces.filter(|_| from.len() <= 2 * PIECE && to.len() == from.len())
    {
        if let Some(place) = to.first_chunk_mut::<PIECE>() {
            *place = *front;
        }
        if let Some(place) = to.last_chunk_mut::<PIECE>() {
            *place = *back;
        }
    } else {
        to.copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Mondrian;
    use super::super::runs::Choice;
    use super::super::space::WorkingRows;
    use super::*;
    use incrowd_core::{ColumnSpec, Dataset, Folded, Silent};
    use proptest::prelude::*;

    /// Distributes the rows of a table and compares the result with a simple implementation.
    fn agree<U: Unit + std::fmt::Debug>(data: &Dataset, split: impl Fn(usize) -> Split) {
        let mut space: WorkingRows<U> = WorkingRows::load(data, None, false, false).with_spare();
        let (mondrian, choice) = (Mondrian::default(), Choice::RoundRobin);
        let splitter = Splitter::new(data, &[], &mondrian, &choice, space.layout, &Silent);
        let rows: Vec<Vec<U>> = space.rows.chunks(space.layout.stride).map(<[U]>::to_vec).collect();
        let least = rows.iter().map(|row| row[1].code()).min().unwrap();
        let split = split(rows.len());
        let mut parts: Vec<(Part<U>, usize)> = (0..3).map(|_| (splitter.empty_part(), 0)).collect();
        splitter.distribute(&split, least, &space.rows, &mut space.spare, &mut parts);
        let mut start = 0;
        for (n, (part, length)) in parts.iter().enumerate() {
            let goes = |&(i, row): &(usize, &Vec<U>)| match &split {
                Split::ByValue { parts, .. } => parts[(row[1].code() - least) as usize] == n as u32,
                Split::ByRow { left, .. } => usize::from(!left[i]) == n,
            };
            let own: Vec<&Vec<U>> =
                rows.iter().enumerate().filter(goes).map(|(_, row)| row).collect();
            let moved: Vec<Vec<U>> = space.spare[start..start + length]
                .chunks(space.layout.stride)
                .map(<[U]>::to_vec)
                .collect();
            assert_eq!(own.iter().map(|row| row.to_vec()).collect::<Vec<_>>(), moved);
            start += length;
            for dim in 0..data.quasi().len().min(if own.is_empty() { 0 } else { usize::MAX }) {
                let codes = || own.iter().map(|row| row[dim].code());
                assert_eq!(part.span(dim), (codes().min().unwrap(), codes().max().unwrap()));
            }
            let records: u64 = own.iter().map(|row| u64::from(space.layout.count(row))).sum();
            assert_eq!(part.records, records);
        }
    }

    proptest! {
        #[test]
        fn parallel_distribution_equals_a_simple_one(
            table in prop::collection::vec(prop::collection::vec(0u8..7, 13), 1..60),
            parts in prop::collection::vec(prop_oneof![0u32..3, Just(SUPPRESSED)], 7),
            left in prop::collection::vec(any::<bool>(), 60),
            width in 2usize..13,
        ) {
            let texts: Vec<Vec<String>> =
                table.iter().map(|row| row[..width].iter().map(u8::to_string).collect()).collect();
            let records = texts.iter().map(|r| r.iter().map(|t| Some(t.as_str())).collect());
            let names: Vec<String> = (0..width).map(|n| format!("c{n}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let specs = vec![ColumnSpec::default(); width];
            let folded = Folded::from_records(&names, records, false);
            let specs: Vec<&ColumnSpec> = specs.iter().collect();
            let data = Dataset::encode(folded, &specs, &[], "?").unwrap();
            let by_value =
                |_: usize| Split::ByValue { dim: 1, parts: parts.clone(), count: 3, pool: None };
            let by_row = |rows: usize| Split::ByRow { dim: 1, left: left[..rows].to_vec() };
            agree::<u16>(&data, by_value);
            agree::<u32>(&data, by_value);
            agree::<u16>(&data, by_row);
        }
    }
}
