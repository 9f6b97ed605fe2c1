//! Renders lines of text. A line consists of pieces that all records of a group share, and of
//! varying cells between them.

use incrowd_core::GroupId;
use rayon::prelude::*;

use crate::Content;
use crate::cells::Cells;
use crate::sink::Renderer;
use crate::sink::text::Marks;
use crate::table::{StoredCell, StoredCells};

/// The number of lines whose groups are prefetched together.
const TOUCHED: usize = 64;
/// The number of groups whose text is stored in one list, as a power of two.
const TOGETHER: u32 = 9;

/// The published lines of a plan.
pub(crate) struct Lines<'a> {
    cells: &'a Cells<'a>,
    renderer: &'a Renderer,
    /// The text of a null.
    none: Vec<u8>,
    /// For each group, the text before, between and after the varying columns, including
    /// delimiters.
    groups: Vec<Pieces>,
    /// The columns that vary within a group, in the order of publication.
    varying: Vec<Varying>,
    /// The positions of the published sensitive columns among all sensitive columns.
    sensitive: Vec<usize>,
    /// Whether the last number of a record is its id.
    has_ids: bool,
}

/// A column whose cells vary within a group.
enum Varying {
    /// A sensitive column. The number at this position is the code of its value.
    Sensitive(usize, Pieces),
    /// A passthrough column at this position of the stored records, with all of its texts.
    Coded(usize, Pieces),
    /// A passthrough column whose texts are formatted cell by cell.
    Spelled(usize),
}

/// Concatenated pieces of text.
struct Pieces {
    /// The bytes of the pieces and padding, so that a fixed number of bytes can be read at any
    /// piece.
    bytes: Vec<u8>,
    /// The start of each piece, and the end of the last one.
    bounds: Vec<u32>,
}

impl Pieces {
    fn new() -> Pieces {
        Pieces { bytes: Vec::new(), bounds: vec![0] }
    }

    fn end(&mut self) {
        let end = u32::try_from(self.bytes.len());
        self.bounds.push(
            end.expect("four gigabytes hold the lines of a few groups, and the values of a column"),
        );
    }

    fn finish(mut self) -> Pieces {
        self.bytes.extend_from_slice(&[0; MIDDLE]);
        self
    }

    /// The length of a piece.
    fn length(&self, piece: usize) -> u64 {
        u64::from(self.bounds[piece + 1] - self.bounds[piece])
    }
}

impl<'a> Lines<'a> {
    pub(crate) fn new(cells: &'a Cells<'a>, renderer: &'a Renderer) -> Lines<'a> {
        let marks = renderer.marks();
        let (mut varying, mut sensitive) = (Vec::new(), Vec::new());
        for (column, (content, texts)) in cells.columns.iter().enumerate() {
            let values = || {
                let mut values = Pieces::new();
                for code in 0..texts.len() as u32 {
                    values.bytes.extend_from_slice(texts.get(code).unwrap_or(&marks.none));
                    values.end();
                }
                values.finish()
            };
            match (*content, cells.stored[column]) {
                (Content::Sensitive(s) | Content::Category(s), _) => {
                    sensitive.push(s);
                    varying.push(Varying::Sensitive(sensitive.len(), values()));
                }
                (_, Some(stored)) if texts.len() > 0 => {
                    varying.push(Varying::Coded(stored, values()));
                }
                (_, Some(stored)) => varying.push(Varying::Spelled(stored)),
                (_, None) => {}
            }
        }
        let has_ids = cells.stored.iter().any(Option::is_some);
        let groups = group_texts(cells, &marks);
        Lines { cells, renderer, none: marks.none, groups, varying, sensitive, has_ids }
    }

    /// Appends the numbers that a line needs from its row: the group, and the codes of the
    /// sensitive values.
    pub(crate) fn describe(&self, row: usize, out: &mut Vec<u32>) {
        out.push(self.cells.row(row as u32).1.0);
        let codes = self.cells.plan.dataset().sensitive_codes(row);
        out.extend(self.sensitive.iter().map(|&s| codes[s]));
    }

    /// The maximum of each of these numbers.
    pub(crate) fn highest(&self) -> Vec<u32> {
        let groups = self.cells.plan.partition().groups().saturating_sub(1) as u32;
        let columns = self.cells.plan.dataset().sensitive();
        std::iter::once(groups)
            .chain(self.sensitive.iter().map(|&s| columns[s].values.len() as u32))
            .collect()
    }

    /// The number of pieces of a group.
    fn pieces(&self) -> usize {
        1 + self.varying.len()
    }

    /// The number of numbers per record.
    fn width(&self) -> usize {
        1 + self.sensitive.len() + usize::from(self.has_ids)
    }

    /// The list that has the pieces of a group, and the index of the group's first piece in it.
    #[inline]
    fn place(&self, group: u32) -> (&Pieces, usize) {
        let first = (group & ((1 << TOGETHER) - 1)) as usize * self.pieces();
        (&self.groups[(group >> TOGETHER) as usize], first)
    }

    /// The mean length of a line over the published records, without passthrough cells.
    pub(crate) fn mean_length(&self) -> usize {
        let (plan, pieces) = (self.cells.plan, self.pieces());
        let values: Vec<(usize, &Pieces)> = self
            .varying
            .iter()
            .filter_map(|column| match column {
                Varying::Sensitive(position, values) => {
                    Some((self.sensitive[position - 1], values))
                }
                _ => None,
            })
            .collect();
        let row = |row: usize| {
            let Some(group) = plan.partition().group(row) else { return (0, 0) };
            let (own, first) = self.place(group.0);
            let records = plan.dataset().weight(row);
            let codes = plan.dataset().sensitive_codes(row);
            let values = values.iter().map(|(s, values)| values.length(codes[*s] as usize));
            let length = own.bounds[first + pieces] - own.bounds[first];
            let length = u64::from(length) + values.sum::<u64>();
            (records, records.saturating_mul(length))
        };
        let rows = (0..plan.dataset().rows()).into_par_iter().with_min_len(1 << 14);
        let (records, bytes) =
            rows.map(row).reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1.saturating_add(b.1)));
        (bytes / records.max(1)) as usize
    }

    /// Renders the lines of records, given by their numbers. The buffer `room` is reused.
    pub(crate) fn render(
        &self,
        numbers: &[u32],
        stored: Option<&StoredCells<'_>>,
        room: Vec<u8>,
    ) -> Vec<u8> {
        let (width, pieces) = (self.width(), self.pieces());
        let mut out = Text::new(room);
        let mut spelled = Vec::new();
        for block in numbers.chunks(TOUCHED * width) {
            // Groups are at random positions in memory. Reading the first bytes of all groups of a
            // block prefetches them, so that the cache misses overlap.
            let touch = |record: &[u32]| {
                let (own, first) = self.place(record[0]);
                let start = own.bounds[first] as usize;
                let next = own.bytes.get(start + 64).copied().unwrap_or(0);
                own.bytes.get(start).copied().unwrap_or(0) ^ next
            };
            let touched = block.chunks_exact(width).fold(0, |sum, record| sum ^ touch(record));
            std::hint::black_box(touched);
            for record in block.chunks_exact(width) {
                let (own, first) = self.place(record[0]);
                let bounds = &own.bounds[first..=first + pieces];
                for (piece, column) in self.varying.iter().enumerate() {
                    out.put(&own.bytes, bounds[piece], bounds[piece + 1]);
                    match column {
                        Varying::Sensitive(position, values) => {
                            out.put_piece(values, record[*position])
                        }
                        Varying::Coded(column, values) => {
                            match stored.map(|own| own.get(record[width - 1], *column)) {
                                Some(StoredCell::Code(code)) => out.put_piece(values, code),
                                _ => out.put_slice(&self.none),
                            }
                        }
                        Varying::Spelled(column) => {
                            spelled.clear();
                            match stored.and_then(|own| own.text(record[width - 1], *column)) {
                                Some(text) => self.renderer.spell(text, &mut spelled),
                                None => spelled.extend_from_slice(&self.none),
                            }
                            out.put_slice(&spelled);
                        }
                    }
                }
                out.put(&own.bytes, bounds[pieces - 1], bounds[pieces]);
            }
        }
        out.finish()
    }
}

/// The pieces of all groups.
fn group_texts(cells: &Cells<'_>, marks: &Marks) -> Vec<Pieces> {
    let varies = |column: usize| {
        let content = cells.columns[column].0;
        matches!(content, Content::Sensitive(_) | Content::Category(_) | Content::Passthrough)
    };
    let spell = |group: u32, own: &mut Pieces| {
        own.bytes.extend_from_slice(&marks.before);
        for column in 0..cells.columns.len() {
            if column > 0 {
                own.bytes.extend_from_slice(&marks.between);
            }
            if varies(column) {
                own.end();
            } else {
                let cell = cells.of_group(GroupId(group), column).unwrap_or(&marks.none);
                own.bytes.extend_from_slice(cell);
            }
        }
        own.bytes.extend_from_slice(&marks.after);
        own.end();
    };
    let groups = cells.plan.partition().groups() as u32;
    let firsts: Vec<u32> = (0..groups).step_by(1 << TOGETHER).collect();
    let together = |&first: &u32| {
        let mut own = Pieces::new();
        (first..groups.min(first + (1 << TOGETHER))).for_each(|group| spell(group, &mut own));
        own.finish()
    };
    firsts.par_iter().map(together).collect()
}

/// Texts up to these lengths are copied with a fixed length. The lengths are unpredictable, and a
/// branch costs more than copying extra bytes.
const SHORT: usize = 32;
const MIDDLE: usize = 96;

/// A text buffer. Copies of fixed length may write extra bytes after `written`; the next text
/// overwrites them.
struct Text {
    bytes: Vec<u8>,
    written: usize,
}

impl Text {
    fn new(mut room: Vec<u8>) -> Text {
        room.resize(room.capacity(), 0);
        Text { bytes: room, written: 0 }
    }

    /// Appends the bytes from `start` to `end`.
    #[inline]
    fn put(&mut self, from: &[u8], start: u32, end: u32) {
        let (start, end) = (start as usize, end as usize);
        let length = end - start;
        let done = (length <= SHORT && self.copy::<SHORT>(from, start))
            || (length <= MIDDLE && self.copy::<MIDDLE>(from, start));
        if !done {
            self.put_long(&from[start..end]);
        }
        self.written += length;
    }

    /// Appends a piece.
    #[inline]
    fn put_piece(&mut self, pieces: &Pieces, piece: u32) {
        let piece = piece as usize;
        self.put(&pieces.bytes, pieces.bounds[piece], pieces.bounds[piece + 1]);
    }

    fn put_slice(&mut self, text: &[u8]) {
        self.put_long(text);
        self.written += text.len();
    }

    /// Copies `N` bytes, if both sides have that many. Returns whether it did.
    #[inline]
    fn copy<const N: usize>(&mut self, from: &[u8], start: usize) -> bool {
        let to = self.bytes[self.written..].first_chunk_mut::<N>();
        match (from[start..].first_chunk::<N>(), to) {
            (Some(from), Some(to)) => {
                *to = *from;
                true
            }
            _ => false,
        }
    }

    fn put_long(&mut self, text: &[u8]) {
        let needed = self.written + text.len();
        if self.bytes.len() < needed {
            self.bytes.resize((2 * needed).max(1 << 12), 0);
        }
        self.bytes[self.written..needed].copy_from_slice(text);
    }

    fn finish(mut self) -> Vec<u8> {
        self.bytes.truncate(self.written);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Texts of any length, in a new buffer and in a reused buffer.
        #[test]
        fn texts_are_stored_one_after_the_other(texts in prop::collection::vec(prop_oneof!["[ab]{0,40}", "[cd]{0,300}"], 0..60), last in any::<bool>()) {
            let mut room = vec![b'x'; 100];
            for _ in 0..3 {
                let mut pieces = Pieces::new();
                for text in &texts {
                    pieces.bytes.extend_from_slice(text.as_bytes());
                    pieces.end();
                }
                // Without the padding, no bytes follow the last texts.
                let pieces = if last { pieces } else { pieces.finish() };
                let mut out = Text::new(room);
                for bounds in pieces.bounds.windows(2) {
                    out.put(&pieces.bytes, bounds[0], bounds[1]);
                }
                room = out.finish();
                prop_assert_eq!(String::from_utf8(room.clone()).unwrap(), texts.concat());
            }
        }
    }
}
