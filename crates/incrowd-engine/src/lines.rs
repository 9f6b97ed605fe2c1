//! Lines of text from what a whole group shares.

use incrowd_core::GroupId;

use crate::Content;
use crate::cells::{Cells, published};
use crate::sink::text::Marks;

/// Lines whose groups are touched before they are written.
const TOUCHED: usize = 64;

/// Published lines of text, put together from what is the same for a whole group and the sensitive values between.
pub(crate) struct Lines<'a> {
    cells: &'a Cells<'a>,
    /// For each group the text before, between and after the sensitive columns, delimiters included.
    segments: Vec<u8>,
    /// Where each segment ends.
    ends: Vec<u64>,
    /// The published positions of the sensitive columns, and their positions among the sensitive ones.
    sensitive: Vec<(usize, usize)>,
    /// A cell that is not there.
    none: Vec<u8>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(cells: &'a Cells<'a>, marks: Marks) -> Lines<'a> {
        let (segments, ends, sensitive) = (Vec::new(), Vec::new(), Vec::new());
        let mut lines = Lines { cells, segments, ends, sensitive, none: marks.none };
        for (column, (content, _)) in cells.columns.iter().enumerate() {
            if let Content::Sensitive(s) | Content::Category(s) = *content {
                lines.sensitive.push((column, s));
            }
        }
        for group in 0..cells.plan.partition().groups() {
            lines.segments.extend_from_slice(&marks.before);
            for (column, (content, _)) in cells.columns.iter().enumerate() {
                if column > 0 {
                    lines.segments.extend_from_slice(&marks.between);
                }
                if let Content::Sensitive(_) | Content::Category(_) = content {
                    lines.ends.push(lines.segments.len() as u64);
                } else {
                    let cell = cells.cell((0, GroupId(group as u32)), column).unwrap_or(&lines.none);
                    lines.segments.extend_from_slice(cell);
                }
            }
            lines.segments.extend_from_slice(&marks.after);
            lines.ends.push(lines.segments.len() as u64);
        }
        lines
    }

    /// What must be known of a row to write its line.
    pub(crate) fn look(&self, row: usize, out: &mut Vec<u32>) {
        out.push(self.cells.row(row as u32).1.0);
        let codes = self.cells.plan.dataset().sensitive_codes(row);
        out.extend(self.sensitive.iter().map(|&(_, s)| codes[s]));
    }

    /// How many numbers a look has, which is also how many segments a group has.
    pub(crate) fn width(&self) -> usize {
        1 + self.sensitive.len()
    }

    /// How long a line is, about: the mean over the published records of what is the same for a group, and 16 bytes for each
    /// sensitive value.
    pub(crate) fn mean_length(&self) -> usize {
        let (mut records, mut bytes) = (0, 0);
        for (row, &n) in published(self.cells.plan).iter().enumerate().filter(|(_, n)| **n > 0) {
            let first = self.cells.row(row as u32).1.index() * self.width();
            let length = self.ends[first + self.width() - 1] as usize - self.start(first);
            (records, bytes) = (records + n, bytes + n * length as u64);
        }
        (bytes / records.max(1)) as usize + 16 * self.sensitive.len()
    }

    fn start(&self, segment: usize) -> usize {
        if segment == 0 { 0 } else { self.ends[segment - 1] as usize }
    }

    pub(crate) fn render(&self, looks: &[u32]) -> Vec<u8> {
        let width = self.width();
        let records = looks.len() / width;
        let groups = self.cells.plan.partition().groups().max(1);
        let mut out =
            Vec::with_capacity(records * (self.segments.len() / groups + 16 * self.sensitive.len() + 8));
        for block in looks.chunks(TOUCHED * width) {
            // Groups lie anywhere in memory. Touching those of a block first lets the processor wait for all at once.
            let touch = |look: &[u32]| {
                let start = self.start(look[0] as usize * width);
                let next = self.segments.get(start + 64).copied().unwrap_or(0);
                self.segments.get(start).copied().unwrap_or(0) ^ next
            };
            std::hint::black_box(block.chunks_exact(width).fold(0, |sum, look| sum ^ touch(look)));
            for look in block.chunks_exact(width) {
                let mut segment = look[0] as usize * width;
                let mut start = self.start(segment);
                for (&(column, _), &code) in self.sensitive.iter().zip(&look[1..]) {
                    let end = self.ends[segment] as usize;
                    out.extend_from_slice(&self.segments[start..end]);
                    out.extend_from_slice(self.cells.columns[column].1.get(code).unwrap_or(&self.none));
                    start = end;
                    segment += 1;
                }
                out.extend_from_slice(&self.segments[start..self.ends[segment] as usize]);
            }
        }
        out
    }
}
