//! Lines of text from what a whole group shares.

use incrowd_core::GroupId;
use rayon::prelude::*;

use crate::Content;
use crate::cells::Cells;
use crate::sink::text::Marks;

/// Lines whose groups are touched before they are written.
const TOUCHED: usize = 64;
/// Groups whose text lies together, as a power of two.
const TOGETHER: u32 = 9;

/// Published lines of text, put together from what is the same for a whole group and the sensitive values between.
pub(crate) struct Lines<'a> {
    cells: &'a Cells<'a>,
    /// For each group the text before, between and after the sensitive columns, delimiters included.
    groups: Vec<Pieces>,
    /// The positions of the sensitive columns among the sensitive ones, in the order in which they are published.
    sensitive: Vec<usize>,
    /// Their values.
    values: Vec<Pieces>,
}

/// Pieces of text one after another.
struct Pieces {
    /// More follows than belongs to the last piece, so that every piece can be read together with what is behind it.
    bytes: Vec<u8>,
    /// Where each piece begins, and where the last one ends.
    bounds: Vec<u32>,
}

impl Pieces {
    fn new() -> Pieces {
        Pieces { bytes: Vec::new(), bounds: vec![0] }
    }

    fn end(&mut self) {
        let end = u32::try_from(self.bytes.len());
        self.bounds
            .push(end.expect("four gigabytes hold the lines of a few groups, and the values of a column"));
    }

    fn finish(mut self) -> Pieces {
        self.bytes.extend_from_slice(&[0; MIDDLE]);
        self
    }
}

impl<'a> Lines<'a> {
    pub(crate) fn new(cells: &'a Cells<'a>, marks: &Marks) -> Lines<'a> {
        let is_sensitive =
            |content: &Content| matches!(content, Content::Sensitive(_) | Content::Category(_));
        let mut lines = Lines { cells, groups: Vec::new(), sensitive: Vec::new(), values: Vec::new() };
        for (content, texts) in &cells.columns {
            if let Content::Sensitive(s) | Content::Category(s) = *content {
                lines.sensitive.push(s);
                let mut values = Pieces::new();
                for code in 0..texts.len() as u32 {
                    values.bytes.extend_from_slice(texts.get(code).unwrap_or(&marks.none));
                    values.end();
                }
                lines.values.push(values.finish());
            }
        }
        let spell = |group: u32, own: &mut Pieces| {
            own.bytes.extend_from_slice(&marks.before);
            for (column, (content, _)) in cells.columns.iter().enumerate() {
                if column > 0 {
                    own.bytes.extend_from_slice(&marks.between);
                }
                if is_sensitive(content) {
                    own.end();
                } else {
                    let cell = cells.cell((0, GroupId(group)), column).unwrap_or(&marks.none);
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
        lines.groups = firsts.par_iter().map(together).collect();
        lines
    }

    /// What must be known of a row to write its line.
    pub(crate) fn look(&self, row: usize, out: &mut Vec<u32>) {
        out.push(self.cells.row(row as u32).1.0);
        let codes = self.cells.plan.dataset().sensitive_codes(row);
        out.extend(self.sensitive.iter().map(|&s| codes[s]));
    }

    /// The highest that each number of a look may be.
    pub(crate) fn highest(&self) -> Vec<u32> {
        let groups = self.cells.plan.partition().groups().saturating_sub(1) as u32;
        let columns = self.cells.plan.dataset().sensitive();
        std::iter::once(groups)
            .chain(self.sensitive.iter().map(|&s| columns[s].values.len() as u32))
            .collect()
    }

    /// How many numbers a look has, which is also how many pieces a group has.
    pub(crate) fn width(&self) -> usize {
        1 + self.sensitive.len()
    }

    /// Where the pieces of a group are: with which others, and which is the first.
    #[inline]
    fn place(&self, group: u32) -> (&Pieces, usize) {
        let first = (group & ((1 << TOGETHER) - 1)) as usize * self.width();
        (&self.groups[(group >> TOGETHER) as usize], first)
    }

    /// How long a line is, about: the mean over the published records of what is the same for a group, and 16 bytes for each
    /// sensitive value.
    pub(crate) fn mean_length(&self) -> usize {
        let (plan, width) = (self.cells.plan, self.width());
        let row = |row: usize| {
            let Some(group) = plan.partition().group(row) else { return (0, 0) };
            let (own, first) = self.place(group.0);
            let records = plan.dataset().weight(row);
            (records, records * u64::from(own.bounds[first + width] - own.bounds[first]))
        };
        let rows = (0..plan.dataset().rows()).into_par_iter().with_min_len(1 << 14);
        let (records, bytes) = rows.map(row).reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        (bytes / records.max(1)) as usize + 16 * self.sensitive.len()
    }

    /// The lines of records. What lies in `room` is written over.
    pub(crate) fn render(&self, looks: &[u32], room: Vec<u8>) -> Vec<u8> {
        let width = self.width();
        let mut out = Text::new(room);
        for block in looks.chunks(TOUCHED * width) {
            // Groups lie anywhere in memory. Touching those of a block first lets the processor wait for all at once.
            let touch = |look: &[u32]| {
                let (own, first) = self.place(look[0]);
                let start = own.bounds[first] as usize;
                let next = own.bytes.get(start + 64).copied().unwrap_or(0);
                own.bytes.get(start).copied().unwrap_or(0) ^ next
            };
            std::hint::black_box(block.chunks_exact(width).fold(0, |sum, look| sum ^ touch(look)));
            for look in block.chunks_exact(width) {
                let (own, first) = self.place(look[0]);
                let bounds = &own.bounds[first..=first + width];
                for (piece, (values, &code)) in self.values.iter().zip(&look[1..]).enumerate() {
                    out.put(&own.bytes, bounds[piece], bounds[piece + 1]);
                    let code = code as usize;
                    out.put(&values.bytes, values.bounds[code], values.bounds[code + 1]);
                }
                out.put(&own.bytes, bounds[width - 1], bounds[width]);
            }
        }
        out.finish()
    }
}

/// A text of so many bytes at most is copied as if it had so many: how long texts are follows no pattern, and asking costs more
/// than copying.
const SHORT: usize = 32;
const MIDDLE: usize = 96;

/// Text under way. There is room behind what is written; what gets there with a text that is shorter is written over.
struct Text {
    bytes: Vec<u8>,
    written: usize,
}

impl Text {
    fn new(mut room: Vec<u8>) -> Text {
        room.resize(room.capacity(), 0);
        Text { bytes: room, written: 0 }
    }

    /// Adds a part of other bytes.
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

    /// Copies so many bytes, if they are there and there is room.
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
        /// Texts of any length, in new room and in room that was written before.
        #[test]
        fn texts_follow_each_other(texts in prop::collection::vec(prop_oneof!["[ab]{0,40}", "[cd]{0,300}"], 0..60), last in any::<bool>()) {
            let mut room = vec![b'x'; 100];
            for _ in 0..3 {
                let mut pieces = Pieces::new();
                for text in &texts {
                    pieces.bytes.extend_from_slice(text.as_bytes());
                    pieces.end();
                }
                // Without the padding the last texts have nothing behind them.
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
