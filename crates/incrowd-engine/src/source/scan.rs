//! Finding the fields of delimited text.
//!
//! RFC 4180 with the leniency of the `csv` crate, which is this scanner's twin in the tests: a quotation mark has a meaning
//! only at the start of a field, text after a closing mark belongs to the field, blank lines are no records. Records
//! end with LF or CRLF. Fields are not copied unless they contain an escaped mark.

use super::work::{Records, Stop};
use crate::intern::Short;

/// Reusable room for the fields of a chunk.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    /// Start and length of each wanted field, record by record; a start with the top bit set lies in `unescaped`.
    ranges: Vec<(u32, u32)>,
    unescaped: Vec<u8>,
    /// For each column of the file its slot, or `UNWANTED`.
    slots: Vec<u32>,
    /// Whether an empty field without quotes is a null; then a blank line is a record of a table with one column.
    nulls: bool,
}

const UNWANTED: u32 = u32::MAX;
const ELSEWHERE: u32 = 1 << 31;
/// The start of a field that is a null.
const NULL: u32 = u32::MAX;

/// The records of a chunk.
#[derive(Debug)]
pub(crate) struct TextBatch<'a> {
    bytes: &'a [u8],
    fields: &'a Fields,
    width: usize,
    records: usize,
}

impl Records for TextBatch<'_> {
    fn len(&self) -> usize {
        self.records
    }

    #[inline]
    fn get(&self, record: usize, slot: usize) -> Option<&[u8]> {
        let (start, length) = self.fields.ranges[record * self.width + slot];
        let (start, length) = (start as usize, length as usize);
        Some(if start & ELSEWHERE as usize == 0 {
            &self.bytes[start..start + length]
        } else {
            if start == NULL as usize {
                return None;
            }
            let start = start & !(ELSEWHERE as usize);
            &self.fields.unescaped[start..start + length]
        })
    }

    // There are several who ask; a call for every cell would be a twentieth of reading a table.
    #[inline(always)]
    fn cell(&self, record: usize, slot: usize) -> Option<(&[u8], Option<Short>)> {
        let (start, length) = self.fields.ranges[record * self.width + slot];
        if start & ELSEWHERE != 0 {
            return self.get(record, slot).map(|text| (text, Short::of(text)));
        }
        let (start, length) = (start as usize, length as usize);
        Some((&self.bytes[start..start + length], Short::at(self.bytes, start, length)))
    }
}

impl Fields {
    /// The same for text in which an empty field without quotes is, or is not, a null, as `COPY` writes it.
    pub(crate) fn with_nulls(&mut self, nulls: bool) -> &mut Fields {
        self.nulls = nulls;
        self
    }

    /// Scans a chunk of whole records; `columns` is the width of the file, `wanted` the columns to keep.
    pub(crate) fn scan<'a>(
        &'a mut self,
        bytes: &'a [u8],
        delimiter: u8,
        columns: usize,
        wanted: &[usize],
    ) -> Result<TextBatch<'a>, Stop> {
        self.slots.clear();
        self.slots.resize(columns, UNWANTED);
        for (slot, &column) in wanted.iter().enumerate() {
            self.slots[column] = slot as u32;
        }
        self.ranges.clear();
        self.unescaped.clear();
        let records = self.walk(bytes, delimiter, columns, wanted.len())?;
        if let Err(error) = std::str::from_utf8(bytes) {
            return Err(Stop::NotUtf8 { record: record_at(bytes, delimiter, error.valid_up_to()) });
        }
        Ok(TextBatch { bytes, fields: self, width: wanted.len(), records })
    }

    fn walk(&mut self, bytes: &[u8], delimiter: u8, columns: usize, width: usize) -> Result<usize, Stop> {
        let mut records = 0;
        let mut column = 0;
        let mut start = 0;
        let mut marks = Marks::new(bytes, delimiter);
        loop {
            let Some(at) = marks.next() else {
                // The last record may lack its line end.
                let end = if bytes[start..].ends_with(b"\r") { bytes.len() - 1 } else { bytes.len() };
                if column > 0 || start < end {
                    self.keep_bare(column, start, end - start, width, records);
                    records += 1;
                    check(column + 1, columns, records)?;
                }
                return Ok(records);
            };
            match bytes[at] {
                b'\n' => {
                    let end = if at > start && bytes[at - 1] == b'\r' { at - 1 } else { at };
                    if column > 0 || end > start || (self.nulls && columns == 1) {
                        self.keep_bare(column, start, end - start, width, records);
                        records += 1;
                        check(column + 1, columns, records)?;
                    }
                    (column, start) = (0, at + 1);
                }
                b'"' if at == start => {
                    let (end, next) = self.quoted(&mut marks, start, column, width, records)?;
                    match next {
                        Next::Field => (column, start) = (column + 1, end),
                        Next::Record => {
                            records += 1;
                            check(column + 1, columns, records)?;
                            (column, start) = (0, end);
                        }
                        Next::End => {
                            records += 1;
                            check(column + 1, columns, records)?;
                            return Ok(records);
                        }
                    }
                    marks.jump(start);
                }
                // A mark inside a field is text.
                b'"' => {}
                _ => {
                    self.keep_bare(column, start, at - start, width, records);
                    (column, start) = (column + 1, at + 1);
                }
            }
        }
    }

    /// Keeps a field without quotes.
    #[inline]
    fn keep_bare(&mut self, column: usize, start: usize, length: usize, width: usize, records: usize) {
        let start = if self.nulls && length == 0 { NULL as usize } else { start };
        self.keep(column, start, length, width, records);
    }

    #[inline]
    fn keep(&mut self, column: usize, start: usize, length: usize, width: usize, records: usize) {
        let Some(&slot) = self.slots.get(column) else { return };
        if slot == UNWANTED {
            return;
        }
        let base = records * width;
        if self.ranges.len() < base + width {
            self.ranges.resize(base + width, (0, 0));
        }
        self.ranges[base + slot as usize] = (start as u32, length as u32);
    }

    /// Reads the quoted field that starts at `start`; returns where the next field starts and what it begins.
    fn quoted(
        &mut self,
        marks: &mut Marks<'_>,
        start: usize,
        column: usize,
        width: usize,
        records: usize,
    ) -> Result<(usize, Next), Stop> {
        let (bytes, delimiter) = (marks.bytes, marks.delimiter);
        let from = start + 1;
        let mut simple = true;
        let close = loop {
            let Some(at) = marks.next() else { return Err(Stop::OpenQuote { record: records }) };
            match (bytes[at], bytes.get(at + 1)) {
                (b'"', Some(b'"')) => {
                    marks.next();
                    simple = false;
                }
                (b'"', _) => break at,
                _ => {}
            }
        };
        let (end, next) = after(bytes, delimiter, close + 1);
        if let Some((end, next)) = end.zip(next) {
            if simple {
                self.keep(column, from, close - from, width, records);
            } else {
                self.keep_unescaped(&bytes[from..close], &[], column, width, records);
            }
            return Ok((end, next));
        }
        // Text after the closing mark runs to the next delimiter or line end and belongs to the field.
        let tail = memchr::memchr2(delimiter, b'\n', &bytes[close + 1..]);
        let stop = tail.map_or(bytes.len(), |i| close + 1 + i);
        let (next, upto) = match bytes.get(stop) {
            None => (Next::End, stop),
            Some(b'\n') => (Next::Record, if bytes[stop - 1] == b'\r' { stop - 1 } else { stop }),
            Some(_) => (Next::Field, stop),
        };
        self.keep_unescaped(&bytes[from..close], &bytes[close + 1..upto], column, width, records);
        Ok((stop + 1, next))
    }

    /// Keeps a field that is not a slice of the chunk: its escapes undone, and what follows the closing mark appended.
    fn keep_unescaped(&mut self, quoted: &[u8], tail: &[u8], column: usize, width: usize, records: usize) {
        let start = self.unescaped.len();
        let mut rest = quoted;
        while let Some(at) = memchr::memchr(b'"', rest) {
            self.unescaped.extend_from_slice(&rest[..=at]);
            rest = &rest[(at + 2).min(rest.len())..];
        }
        self.unescaped.extend_from_slice(rest);
        self.unescaped.extend_from_slice(tail);
        let length = self.unescaped.len() - start;
        self.keep(column, start | ELSEWHERE as usize, length, width, records);
    }
}

#[derive(Clone, Copy)]
enum Next {
    Field,
    Record,
    End,
}

/// What follows a closing mark, if it is what should follow.
fn after(bytes: &[u8], delimiter: u8, at: usize) -> (Option<usize>, Option<Next>) {
    match bytes.get(at) {
        None => (Some(at), Some(Next::End)),
        Some(&b) if b == delimiter => (Some(at + 1), Some(Next::Field)),
        Some(b'\n') => (Some(at + 1), Some(Next::Record)),
        Some(b'\r') if bytes.get(at + 1) == Some(&b'\n') => (Some(at + 2), Some(Next::Record)),
        Some(b'\r') if at + 1 == bytes.len() => (Some(at + 1), Some(Next::End)),
        Some(_) => (None, None),
    }
}

/// Whether the text ends within a quoted field.
pub(super) fn ends_within_quotes(bytes: &[u8], delimiter: u8) -> bool {
    let mut fields = Fields::default();
    // Of no column is anything kept, and a ragged record is none of our business: the width is that of the walk.
    matches!(fields.walk(bytes, delimiter, usize::MAX, 0), Err(Stop::OpenQuote { .. }))
}

/// Which record the byte at `offset` belongs to. Slow, for messages only.
fn record_at(bytes: &[u8], delimiter: u8, offset: usize) -> usize {
    let reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(bytes);
    let starts = reader.into_byte_records().map_while(Result::ok);
    let begun = starts.take_while(|r| r.position().is_some_and(|p| p.byte() as usize <= offset)).count();
    begun.saturating_sub(1)
}

fn check(fields: usize, width: usize, records: usize) -> Result<(), Stop> {
    if fields == width || width == usize::MAX {
        Ok(())
    } else {
        Err(Stop::Ragged { record: records - 1, fields, width })
    }
}

/// The positions of delimiters, line ends and quotation marks, found in blocks.
struct Marks<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    /// Where the current block starts.
    base: usize,
    /// One bit for each mark of the current block not yet returned.
    found: u64,
}

/// Bytes that are looked at together.
const BLOCK: usize = u64::BITS as usize;

/// One bit for each byte of a block that is a mark.
#[inline]
fn marks_of(block: &[u8; BLOCK], delimiter: u8) -> u64 {
    // One byte for each, which compilers know how to do many at a time.
    let mut is_mark = [0u8; BLOCK];
    for (is_mark, &byte) in is_mark.iter_mut().zip(block) {
        *is_mark = u8::from((byte == delimiter) | (byte == b'\n') | (byte == b'"'));
    }
    // Then eight bytes, each 0 or 1, become eight bits: the factor moves the lowest bit of byte i to bit 56 + i, and no two
    // products share a place.
    let (eights, _) = is_mark.as_chunks::<8>();
    let bits = |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    eights.iter().enumerate().fold(0, |found, (i, eight)| found | bits(eight) << (8 * i))
}

impl<'a> Marks<'a> {
    fn new(bytes: &'a [u8], delimiter: u8) -> Self {
        let mut marks = Marks { bytes, delimiter, base: 0, found: 0 };
        marks.load();
        marks
    }

    #[inline]
    fn load(&mut self) {
        let rest = &self.bytes[self.base..];
        self.found = match rest.first_chunk::<BLOCK>() {
            Some(block) => marks_of(block, self.delimiter),
            None => {
                let mut block = [0; BLOCK];
                block[..rest.len()].copy_from_slice(rest);
                // What follows the text is no mark, whatever the delimiter is.
                marks_of(&block, self.delimiter) & !(!0 << rest.len())
            }
        };
    }

    /// Goes on at `at`, which lies not before the mark last returned.
    fn jump(&mut self, at: usize) {
        match at - self.base {
            within @ 0..BLOCK => self.found &= !0 << within,
            _ => {
                self.base = at.min(self.bytes.len());
                self.load();
            }
        }
    }

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.found == 0 {
            self.base += BLOCK;
            if self.base >= self.bytes.len() {
                self.base = self.bytes.len();
                return None;
            }
            self.load();
        }
        let at = self.base + self.found.trailing_zeros() as usize;
        self.found &= self.found - 1;
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ours(text: &str, columns: usize) -> Result<Vec<Vec<String>>, Stop> {
        let mut fields = Fields::default();
        let wanted: Vec<usize> = (0..columns).collect();
        let batch = fields.scan(text.as_bytes(), b',', columns, &wanted)?;
        let cell = |r, c| String::from_utf8(batch.get(r, c).unwrap().to_vec()).unwrap();
        Ok((0..batch.len()).map(|r| (0..columns).map(|c| cell(r, c)).collect()).collect())
    }

    fn theirs(text: &str, columns: usize) -> Option<Vec<Vec<String>>> {
        let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
        let rows: Vec<Vec<String>> =
            reader.into_records().map(|r| r.unwrap().iter().map(str::to_owned).collect()).collect();
        rows.iter().all(|row: &Vec<String>| row.len() == columns).then_some(rows)
    }

    #[test]
    fn reads_quotes_escapes_and_line_ends() {
        let text = "a,\"b, c\",\"d \"\"e\"\" f\"\r\n\n\"x\",\"\"\"\",\"line\nbreak\"\n1,2,3";
        let expected = [["a", "b, c", "d \"e\" f"], ["x", "\"", "line\nbreak"], ["1", "2", "3"]];
        assert_eq!(ours(text, 3).unwrap(), expected);
    }

    #[test]
    fn tells_ragged_records_and_open_quotes() {
        assert!(matches!(ours("a,b\nc\n", 2), Err(Stop::Ragged { record: 1, fields: 1, width: 2 })));
        assert!(matches!(ours("a,b\nc,d,e\n", 2), Err(Stop::Ragged { record: 1, fields: 3, width: 2 })));
        assert!(matches!(ours("a,\"b\n", 2), Err(Stop::OpenQuote { record: 0 })));
    }

    #[test]
    fn tells_which_record_is_not_utf8() {
        let mut fields = Fields::default();
        let stop = fields.scan(b"a,b\nc,\xff\n", b',', 2, &[0, 1]).unwrap_err();
        assert!(matches!(stop, Stop::NotUtf8 { record: 1 }));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        /// Against the csv crate, on text dense with marks. A carriage return alone ends a record there and not here,
        /// and an open quote is an error here, so neither is generated.
        #[test]
        fn agrees_with_the_csv_crate(text in "(a|b|,|\"|\n|\r\n|é| ){0,150}", columns in 1usize..4) {
            match ours(&text, columns) {
                Ok(rows) => prop_assert_eq!(Some(rows), theirs(&text, columns)),
                Err(Stop::Ragged { .. }) => prop_assert_eq!(None, theirs(&text, columns)),
                Err(Stop::OpenQuote { .. }) => {}
                Err(other) => prop_assert!(false, "{:?}", other),
            }
        }

        #[test]
        fn only_wanted_columns_are_kept(rows in prop::collection::vec(prop::collection::vec("[a-c\", ]{0,9}", 4), 1..40)) {
            let mut out = csv::Writer::from_writer(Vec::new());
            rows.iter().for_each(|row| out.write_record(row).unwrap());
            let text = out.into_inner().unwrap();
            let mut fields = Fields::default();
            let batch = fields.scan(&text, b',', 4, &[3, 1]).unwrap();
            prop_assert_eq!(batch.len(), rows.len());
            for (r, row) in rows.iter().enumerate() {
                prop_assert_eq!(batch.get(r, 0).unwrap(), row[3].as_bytes());
                prop_assert_eq!(batch.get(r, 1).unwrap(), row[1].as_bytes());
            }
        }
    }
}
