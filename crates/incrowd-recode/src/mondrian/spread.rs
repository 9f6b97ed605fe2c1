//! Moving the rows of a part to its parts, and what parts reach from and to. Large parts are moved by all threads: the first
//! divisions of a table are those where there is nothing else to do.

use rayon::prelude::*;

use super::part::{Part, SUPPRESSED, Split, Splitter};
use super::space::Unit;

/// Rows that one thread moves at a time. Parts of no more are moved by one thread.
const AT_ONCE: usize = if cfg!(test) { 5 } else { 1 << 17 };

impl Splitter<'_> {
    /// What these rows reach from and to, and how many records they have.
    pub(super) fn bounds<U: Unit>(&self, rows: &[U]) -> Part<U> {
        let chunk = |rows: &[U]| {
            let mut part = self.no_part();
            self.include(&mut part, rows);
            part
        };
        let chunks = rows.par_chunks(AT_ONCE * self.layout.stride).map(chunk);
        chunks.reduce(|| self.no_part(), Part::with)
    }

    /// Moves the rows into `spare`, part after part, each in the old order, and tells the parts what they got. `lo` is the least
    /// code on the line that is divided.
    pub(super) fn spread<U: Unit>(
        &self,
        split: &Split,
        lo: u32,
        rows: &[U],
        spare: &mut [U],
        parts: &mut [(Part<U>, usize)],
    ) {
        let piece = AT_ONCE * self.layout.stride;
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
            .map(|&(at, rows)| self.lengths(split, lo, at * AT_ONCE, rows, parts.len()))
            .collect();
        // Within each part the pieces follow one another.
        let mut places: Vec<Vec<&mut [U]>> = pieces.iter().map(|_| Vec::with_capacity(parts.len())).collect();
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
                let mut own: Vec<Part<U>> = parts.iter().map(|_| self.no_part()).collect();
                self.move_to(split, lo, at * AT_ONCE, rows, places, own.iter_mut().collect());
                own
            })
            .collect();
        for own in moved {
            parts.iter_mut().zip(own).for_each(|((part, _), own)| part.add(own));
        }
    }

    /// The part of a row, the `i`th of those that are divided; `None` if it is suppressed.
    #[inline]
    fn part_of<U: Unit>(split: &Split, lo: u32, i: usize, row: &[U]) -> Option<usize> {
        match split {
            Split::ByValue { line, parts, .. } => {
                let part = parts[(row[*line].code() - lo) as usize];
                (part != SUPPRESSED).then_some(part as usize)
            }
            Split::ByRow { left, .. } => Some(usize::from(!left[i])),
        }
    }

    /// How much of the rows goes to each of the parts; the first row is the one at `first`.
    fn lengths<U: Unit>(&self, split: &Split, lo: u32, first: usize, rows: &[U], parts: usize) -> Vec<usize> {
        let mut lengths = vec![0; parts];
        for (i, row) in rows.chunks_exact(self.layout.stride).enumerate() {
            match Self::part_of(split, lo, first + i, row) {
                Some(n) => lengths[n] += self.layout.stride,
                None => self.told(1),
            }
        }
        lengths
    }

    /// Moves rows to their places.
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

/// Copies a row. Most are of a length that takes two pieces, which may overlap: that is quicker than asking how long it is.
#[inline]
fn copy_row<U: Unit>(from: &[U], to: &mut [U]) {
    const PIECE: usize = 8;
    let pieces = from.first_chunk::<PIECE>().zip(from.last_chunk::<PIECE>());
    if let Some((front, back)) = pieces.filter(|_| from.len() <= 2 * PIECE && to.len() == from.len()) {
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
    use super::super::space::Space;
    use super::*;
    use incrowd_core::{ColumnSpec, Dataset, Folded, Silent};
    use proptest::prelude::*;

    /// Spreads the rows of a table, and does the same in the obvious way: part by part, row by row.
    fn agree<U: Unit + std::fmt::Debug>(data: &Dataset, split: impl Fn(usize) -> Split) {
        let mut space: Space<U> = Space::load(data, None, false, false).with_spare();
        let (mondrian, choice) = (Mondrian::default(), Choice::RoundRobin);
        let splitter = Splitter::new(data, &[], &mondrian, &choice, space.layout, &Silent);
        let rows: Vec<Vec<U>> = space.rows.chunks(space.layout.stride).map(<[U]>::to_vec).collect();
        let least = rows.iter().map(|row| row[1].code()).min().unwrap();
        let split = split(rows.len());
        let mut parts: Vec<(Part<U>, usize)> = (0..3).map(|_| (splitter.no_part(), 0)).collect();
        splitter.spread(&split, least, &space.rows, &mut space.spare, &mut parts);
        let mut start = 0;
        for (n, (part, length)) in parts.iter().enumerate() {
            let goes = |&(i, row): &(usize, &Vec<U>)| match &split {
                Split::ByValue { parts, .. } => parts[(row[1].code() - least) as usize] == n as u32,
                Split::ByRow { left, .. } => usize::from(!left[i]) == n,
            };
            let own: Vec<&Vec<U>> = rows.iter().enumerate().filter(goes).map(|(_, row)| row).collect();
            let moved: Vec<Vec<U>> =
                space.spare[start..start + length].chunks(space.layout.stride).map(<[U]>::to_vec).collect();
            assert_eq!(own.iter().map(|row| row.to_vec()).collect::<Vec<_>>(), moved);
            start += length;
            for line in 0..data.quasi().len().min(if own.is_empty() { 0 } else { usize::MAX }) {
                let codes = || own.iter().map(|row| row[line].code());
                assert_eq!(part.span(line), (codes().min().unwrap(), codes().max().unwrap()));
            }
            let records: u64 = own.iter().map(|row| u64::from(space.layout.weight(row))).sum();
            assert_eq!(part.records, records);
        }
    }

    proptest! {
        #[test]
        fn all_threads_move_rows_as_one_would(
            table in prop::collection::vec(prop::collection::vec(0u8..7, 13), 1..60),
            parts in prop::collection::vec(prop_oneof![0u32..3, Just(SUPPRESSED)], 7),
            left in prop::collection::vec(any::<bool>(), 60),
            width in 2usize..13,
        ) {
            let texts: Vec<Vec<String>> =
                table.iter().map(|row| row[..width].iter().map(u8::to_string).collect()).collect();
            let records = texts.iter().map(|row| row.iter().map(|text| Some(text.as_str())).collect::<Vec<_>>());
            let names: Vec<String> = (0..width).map(|n| format!("c{n}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let specs = vec![ColumnSpec::default(); width];
            let folded = Folded::from_records(&names, records, false);
            let data = Dataset::encode(folded, &specs.iter().collect::<Vec<_>>(), &[], "?").unwrap();
            let by_value = |_: usize| Split::ByValue { line: 1, parts: parts.clone(), count: 3, pool: None };
            let by_row = |rows: usize| Split::ByRow { line: 1, left: left[..rows].to_vec() };
            agree::<u16>(&data, by_value);
            agree::<u32>(&data, by_value);
            agree::<u16>(&data, by_row);
        }
    }
}
