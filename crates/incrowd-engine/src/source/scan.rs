//! Parser for the fields of delimited text.
//!
//! It accepts RFC 4180 with the leniency of the `csv` crate. The tests compare it with that crate.
//! A quotation mark has a meaning only at the start of a field. Text after a closing mark belongs
//! to the field. Blank lines are not records. Records end with LF or CRLF. A field is copied only
//! if it contains an escaped mark.

use super::work::{Records, Stop};
use crate::intern::Short;

/// Reusable buffers for the fields of a chunk.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    /// Start and length of each wanted field, record by record. If the top bit of the start is set,
    /// the field is in `unescaped`.
    ranges: Vec<(u32, u32)>,
    unescaped: Vec<u8>,
    /// Slot of each column of the file, or `UNWANTED`.
    slots: Vec<u32>,
    /// Whether an empty unquoted field is a null. If so, a blank line is a record in a table with
    /// one column.
    nulls: bool,
}

const UNWANTED: u32 = u32::MAX;
const ELSEWHERE: u32 = 1 << 31;
/// Start value that marks a null.
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

    // Inlined: there are several callers, and a call per cell would take 5 % of the time to read a
    // table.
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
    /// Sets whether an empty unquoted field is a null, as in the output of `COPY`.
    pub(crate) fn with_nulls(&mut self, nulls: bool) -> &mut Fields {
        self.nulls = nulls;
        self
    }

    /// Scans a chunk of whole records. `columns` is the number of columns in the file, and `wanted`
    /// the columns to keep.
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

    fn walk(
        &mut self,
        bytes: &[u8],
        delimiter: u8,
        columns: usize,
        width: usize,
    ) -> Result<usize, Stop> {
        let mut records = 0;
        let mut column = 0;
        let mut start = 0;
        let mut marks = Marks::new(bytes, delimiter);
        loop {
            let Some(at) = marks.next() else {
                // The last record may have no line end.
                let end =
                    if bytes[start..].ends_with(b"\r") { bytes.len() - 1 } else { bytes.len() };
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
                // A quotation mark inside an unquoted field is an ordinary character.
                b'"' => {}
                _ => {
                    self.keep_bare(column, start, at - start, width, records);
                    (column, start) = (column + 1, at + 1);
                }
            }
        }
    }

    /// Stores a field without quotes.
    #[inline]
    fn keep_bare(
        &mut self,
        column: usize,
        start: usize,
        length: usize,
        width: usize,
        records: usize,
    ) {
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

    /// Parses the quoted field that starts at `start`. Returns the start of the next field, and
    /// whether a field, a record or the end of the text follows.
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
                // An escaped mark. Skip its second quotation mark.
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
        // Text after the closing mark, up to the next delimiter or line end, belongs to the field.
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

    /// Stores a field that is not a slice of the chunk. Escaped marks are replaced, and the text
    /// after the closing mark is appended.
    fn keep_unescaped(
        &mut self,
        quoted: &[u8],
        tail: &[u8],
        column: usize,
        width: usize,
        records: usize,
    ) {
        let start = self.unescaped.len();
        let mut rest = quoted;
        while let Some(at) = memchr::memchr(b'"', rest) {
            // Copy the first of the two quotation marks and skip the second.
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

/// Parses the delimiter or line end after a closing mark. Returns `None` if other text follows.
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
    // No column is kept, and the number of fields is not checked.
    matches!(fields.walk(bytes, delimiter, usize::MAX, 0), Err(Stop::OpenQuote { .. }))
}

/// Index of the record that contains the byte at `offset`. It is slow and only used for messages.
fn record_at(bytes: &[u8], delimiter: u8, offset: usize) -> usize {
    let reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(bytes);
    let starts = reader.into_byte_records().map_while(Result::ok);
    let begun =
        starts.take_while(|r| r.position().is_some_and(|p| p.byte() as usize <= offset)).count();
    begun.saturating_sub(1)
}

fn check(fields: usize, width: usize, records: usize) -> Result<(), Stop> {
    if fields == width || width == usize::MAX {
        Ok(())
    } else {
        Err(Stop::Ragged { record: records - 1, fields, width })
    }
}

/// Iterator over the positions of delimiters, line ends and quotation marks. It searches one block
/// at a time.
struct Marks<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    /// Start of the current block.
    base: usize,
    /// One bit for each mark of the current block that has not been returned.
    found: u64,
}

/// Bytes per block.
const BLOCK: usize = u64::BITS as usize;

/// Returns a mask with one bit for each byte of the block that is a mark.
#[inline]
fn marks_of(block: &[u8; BLOCK], delimiter: u8) -> u64 {
    // One result byte per input byte. Compilers vectorize this loop.
    let mut is_mark = [0u8; BLOCK];
    for (is_mark, &byte) in is_mark.iter_mut().zip(block) {
        *is_mark = u8::from((byte == delimiter) | (byte == b'\n') | (byte == b'"'));
    }
    // Pack eight bytes, each 0 or 1, into eight bits. The multiplication moves the lowest bit of
    // byte i to bit 56 + i. No two partial products use the same bit, so there is no carry.
    let (eights, _) = is_mark.as_chunks::<8>();
    let bits =
        |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
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
                // Clear the bits after the end of the text, because the padding may equal the
                // delimiter.
                marks_of(&block, self.delimiter) & !(!0 << rest.len())
            }
        };
    }

    /// Continues at `at`, which must not be before the last returned mark.
    fn jump(&mut self, at: usize) {
        match at - self.base {
            // `at` is in the current block. Clear the bits before it.
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
        // Clear the lowest set bit, which is the returned mark.
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
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(text.as_bytes());
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
        assert!(matches!(
            ours("a,b\nc\n", 2),
            Err(Stop::Ragged { record: 1, fields: 1, width: 2 })
        ));
        assert!(matches!(
            ours("a,b\nc,d,e\n", 2),
            Err(Stop::Ragged { record: 1, fields: 3, width: 2 })
        ));
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

        /// Comparison with the `csv` crate on text with many marks. A single carriage return ends a
        /// record only in that crate, and an open quote is an error only here. Neither is
        /// generated.
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
