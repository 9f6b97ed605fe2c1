//! Writer for delimited text, uncompressed or compressed.

use std::io::{self, Write};
use std::path::PathBuf;

use incrowd_core::Result;

use super::Bytes;
use crate::pending::write_failed;
use crate::source::Compression;
use crate::store::Escape;

/// Writes a field and quotes it if necessary. An empty field of a table with one column is quoted,
/// because a blank line is not a record.
pub(super) fn escape(text: &[u8], delimiter: u8, lone: bool, out: &mut Vec<u8>) {
    let special = |&b: &u8| b == delimiter || matches!(b, b'"' | b'\n' | b'\r');
    if !(text.iter().any(special) || (lone && text.is_empty())) {
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    for &b in text {
        if b == b'"' {
            out.push(b'"');
        }
        out.push(b);
    }
    out.push(b'"');
}

/// Writes a field with special characters escaped by backslashes. The delimiter is a tab.
pub(super) fn escape_by_backslashes(text: &[u8], out: &mut Vec<u8>) {
    for &b in text {
        match b {
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            other => out.push(other),
        }
    }
}

/// Writes a field with a length prefix. An empty field is written as a null, except in a table with
/// one column: a record with only a null would be lost.
pub(super) fn with_length(text: &[u8], lone: bool, out: &mut Vec<u8>) {
    if text.is_empty() && !lone {
        out.extend_from_slice(&NULL);
        return;
    }
    out.extend_from_slice(&(text.len() as u32).to_be_bytes());
    out.extend_from_slice(text);
}

/// Header of the binary format of `COPY`: signature, no flags, no extension.
pub(super) const BINARY_BEGINS: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// Trailer of the binary format: a field count of -1.
pub(super) const BINARY_ENDS: &[u8] = &[0xff; 2];
/// Length prefix of a null.
const NULL: [u8; 4] = [0xff; 4];

/// Separators around the cells of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) before: Vec<u8>,
    pub(crate) between: Vec<u8>,
    pub(crate) after: Vec<u8>,
    /// Text of a missing cell.
    pub(crate) none: Vec<u8>,
}

impl Marks {
    pub(super) fn new(columns: usize, delimiter: u8, escape: Escape) -> Marks {
        match escape {
            Escape::Quotes | Escape::Backslashes => Marks {
                before: Vec::new(),
                between: vec![delimiter],
                after: vec![b'\n'],
                none: Vec::new(),
            },
            Escape::Lengths => {
                let mut none = Vec::new();
                with_length(b"", columns == 1, &mut none);
                let before = (columns as u16).to_be_bytes().to_vec();
                Marks { before, between: Vec::new(), after: Vec::new(), none }
            }
        }
    }
}

enum Encoder {
    Plain(Bytes),
    Gzip(flate2::write::GzEncoder<Bytes>),
    Zstd(zstd::stream::write::Encoder<'static, Bytes>),
}

/// Writer of a text file.
pub(crate) struct TextSink {
    encoder: Encoder,
    target: PathBuf,
    /// Bytes after the last record.
    last: &'static [u8],
}

impl TextSink {
    pub(super) fn create(
        file: Bytes,
        target: PathBuf,
        compression: Compression,
        header: &[u8],
        last: &'static [u8],
    ) -> Result<TextSink> {
        let encoder = match compression {
            Compression::Plain => Encoder::Plain(file),
            Compression::Gzip => {
                Encoder::Gzip(flate2::write::GzEncoder::new(file, flate2::Compression::default()))
            }
            Compression::Zstd => {
                let encoder = zstd::stream::write::Encoder::new(file, 3)
                    .map_err(|e| write_failed(&target, &e))?;
                Encoder::Zstd(encoder)
            }
        };
        let mut sink = TextSink { encoder, target, last };
        sink.write(header)?;
        Ok(sink)
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let writer: &mut dyn Write = match &mut self.encoder {
            Encoder::Plain(file) => file,
            Encoder::Gzip(encoder) => encoder,
            Encoder::Zstd(encoder) => encoder,
        };
        writer.write_all(bytes).map_err(|e| write_failed(&self.target, &e))
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.write(self.last)?;
        let finished: io::Result<Bytes> = match self.encoder {
            Encoder::Plain(file) => Ok(file),
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Zstd(encoder) => encoder.finish(),
        };
        finished.and_then(|mut file| file.flush()).map_err(|e| write_failed(&self.target, &e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Decodes a line as `COPY` does: escapes are replaced by their characters.
    fn copied(line: &str) -> Vec<String> {
        let mut cells = vec![String::new()];
        let mut chars = line.chars();
        while let Some(char) = chars.next() {
            let (escaped, last) = (char == '\\', cells.len() - 1);
            match if escaped { chars.next().unwrap() } else { char } {
                '\t' if !escaped => cells.push(String::new()),
                't' if escaped => cells[last].push('\t'),
                'n' if escaped => cells[last].push('\n'),
                'r' if escaped => cells[last].push('\r'),
                other => cells[last].push(other),
            }
        }
        cells
    }

    proptest! {
        #[test]
        fn backslashes_keep_cells_apart(
            rows in prop::collection::vec(prop::collection::vec("[a,\"\n\r\t\\\\.Ntrné]{0,6}", 2), 1..5),
        ) {
            let mut out = Vec::new();
            for row in &rows {
                escape_by_backslashes(row[0].as_bytes(), &mut out);
                out.push(b'\t');
                escape_by_backslashes(row[1].as_bytes(), &mut out);
                out.push(b'\n');
            }
            let text = String::from_utf8(out).unwrap();
            prop_assert!(!text.contains('\r'));
            let back: Vec<Vec<String>> =
                text.strip_suffix('\n').unwrap().split('\n').map(copied).collect();
            // The line `\.` would end the table.
            prop_assert!(text.split('\n').all(|line| line != "\\."));
            prop_assert_eq!(back, rows);
        }

        #[test]
        fn lengths_keep_cells_apart(
            rows in prop::collection::vec(prop::collection::vec(prop::option::of("[a,\"\n\r\t\\\\é]{0,6}"), 1..4), 1..5),
        ) {
            let columns = rows[0].len();
            let marks = Marks::new(columns, b'\t', Escape::Lengths);
            let mut out = Vec::new();
            for row in rows.iter().filter(|row| row.len() == columns) {
                out.extend_from_slice(&marks.before);
                for (i, cell) in row.iter().enumerate() {
                    if i > 0 { out.extend_from_slice(&marks.between); }
                    match cell {
                        Some(cell) => with_length(cell.as_bytes(), columns == 1, &mut out),
                        None => out.extend_from_slice(&marks.none),
                    }
                }
                out.extend_from_slice(&marks.after);
            }
            let mut rest = out.as_slice();
            let mut take = |n: usize| { let (own, more) = rest.split_at(n); rest = more; own };
            for row in rows.iter().filter(|row| row.len() == columns) {
                prop_assert_eq!(take(2), (columns as u16).to_be_bytes());
                for cell in row {
                    let length = i32::from_be_bytes(take(4).try_into().unwrap());
                    let expected = cell.as_deref().unwrap_or_default();
                    // In a table with several columns, an empty cell is a null.
                    prop_assert_eq!(length == -1, expected.is_empty() && columns > 1);
                    prop_assert_eq!(take(length.max(0) as usize), expected.as_bytes());
                }
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn the_csv_crate_reads_written_records(
            rows in prop::collection::vec(prop::collection::vec("[a,\"\n\r é]{0,6}", 2), 1..5),
        ) {
            let mut out = Vec::new();
            for row in &rows {
                for (i, cell) in row.iter().enumerate() {
                    if i > 0 { out.push(b','); }
                    escape(cell.as_bytes(), b',', false, &mut out);
                }
                out.push(b'\n');
            }
            let reader = csv::ReaderBuilder::new().has_headers(false).from_reader(out.as_slice());
            let texts = |record: csv::StringRecord| record.iter().map(str::to_owned).collect();
            let back: Vec<Vec<String>> =
                reader.into_records().map(|record| texts(record.unwrap())).collect();
            prop_assert_eq!(back, rows);
        }
    }
}
