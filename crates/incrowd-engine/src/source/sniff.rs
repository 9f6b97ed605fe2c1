//! Finding out what a file is by looking at its beginning.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use incrowd_core::number::{parse_date, parse_number};
use incrowd_core::numerals::{self, DecimalMark};
use incrowd_core::{Error, Result};

use super::{Compression, Encoding, Format, FormatCard, Part, chunks, unreadable};

/// How much of the text is looked at.
const SAMPLE: u64 = 1 << 16;
/// A first line longer than this is a missing quotation mark, not a header.
const LONGEST_HEADER: u64 = 64 << 20;
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The format by the first bytes; what nothing else claims is delimited text.
pub(super) fn format(path: &Path) -> Result<Format> {
    let mut first = Vec::new();
    let file = File::open(path).map_err(|e| unreadable(path, &e))?;
    file.take(8).read_to_end(&mut first).map_err(|e| unreadable(path, &e))?;
    if first.is_empty() {
        return Err(empty(path));
    }
    Ok(match first.as_slice() {
        [0x1f, 0x8b, ..] => Format::Csv(Compression::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Format::Csv(Compression::Zstd),
        [b'P', b'A', b'R', b'1', ..] => Format::Parquet,
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Format::Arrow,
        _ => Format::Csv(Compression::Plain),
    })
}

fn empty(path: &Path) -> Error {
    Error::input(format!("`{}` is empty", path.display()))
        .help("a table needs a header and at least one record")
}

/// How the characters of delimited text are written.
pub(super) fn encoding(part: &Part) -> Result<Encoding> {
    chunks::beginning(part, SAMPLE).map(|text| Encoding::sniff(&text))
}

/// What the first line of a text says.
pub(super) struct Header {
    pub(super) delimiter: u8,
    pub(super) names: Vec<String>,
    /// Whether it is known to name columns: below a name that is no number there are numbers only.
    pub(super) sure: bool,
    /// What stands before the fractions of numbers.
    pub(super) decimal: DecimalMark,
}

/// The delimiter and the column names of delimited text.
pub(super) fn header(part: &Part, stated: Option<u8>) -> Result<Header> {
    let file = part.path.display();
    let mut size = SAMPLE;
    let (text, delimiter) = loop {
        let text = chunks::beginning(part, size)?;
        let begins = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
        if begins.iter().all(u8::is_ascii_whitespace) {
            return Err(empty(&part.path));
        }
        if begins.contains(&0) {
            return Err(Error::input(format!("`{file}` is not text"))
                .help(format!("incrowd reads {} files", FormatCard::titles())));
        }
        if begins.contains(&b'\r') && !begins.contains(&b'\n') {
            return Err(Error::input(format!("`{file}` ends its lines with CR alone"))
                .help("convert the line ends first, for example: tr '\\r' '\\n'"));
        }
        let delimiter = stated.unwrap_or_else(|| delimiter(begins, &part.path));
        let whole = (text.len() as u64) < size;
        match chunks::header(begins, delimiter) {
            chunks::FirstLine::Ends => break (begins.to_vec(), delimiter),
            chunks::FirstLine::Open if whole => {
                return Err(Error::input(format!(
                    "the header of `{file}` opens a quoted field that is never closed"
                ))
                .help("a quotation mark may be missing in the first line"));
            }
            chunks::FirstLine::Endless if whole => break (begins.to_vec(), delimiter),
            _ if size >= LONGEST_HEADER => {
                return Err(Error::input(format!("the header of `{file}` is longer than 64 MiB"))
                    .help("a quotation mark may be missing in the first line"));
            }
            _ => size = (size * 16).min(LONGEST_HEADER),
        }
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(text.as_slice());
    let mut records = reader.byte_records().map_while(Result::ok);
    let record = records.next().unwrap_or_default();
    let mut names = Vec::with_capacity(record.len());
    for (i, name) in record.iter().enumerate() {
        let name = std::str::from_utf8(name).map_err(|_| {
            Error::input(format!("the header of `{file}` is not valid UTF-8"))
                .help("is it damaged? Else state the `[input] encoding`")
        })?;
        let name = name.trim();
        names.push(if name.is_empty() { format!("column {}", i + 1) } else { name.to_owned() });
    }
    let mut sample: Vec<csv::ByteRecord> = records.take(1000).collect();
    let cells =
        |column: usize| sample.iter().filter_map(|r| std::str::from_utf8(r.get(column)?).ok()).collect();
    let decimal = numerals::sniff((0..names.len()).map(cells), delimiter);
    sample.truncate(50);
    let sure = (0..names.len()).any(|column| names_numbers(&names[column], &sample, column));
    Ok(Header { delimiter, names, sure, decimal })
}

/// Whether a column has numbers or dates only, and a name that is neither.
fn names_numbers(name: &str, sample: &[csv::ByteRecord], column: usize) -> bool {
    let measured = |text: &str| parse_number(text).is_some() || parse_date(text).is_some();
    let cells = || sample.iter().filter_map(|record| record.get(column));
    let missing = |cell: &[u8]| matches!(cell.trim_ascii(), b"" | b"?" | b"NA");
    let told = || cells().filter(|cell| !missing(cell));
    !measured(name)
        && told().next().is_some()
        && told().all(|cell| std::str::from_utf8(cell).is_ok_and(measured))
}

/// The candidate that divides most of the first lines into as many fields as the header, and the header into most.
fn delimiter(text: &[u8], path: &Path) -> u8 {
    if path.extension().is_some_and(|ext| ext.eq_ignore_ascii_case("tsv")) {
        return b'\t';
    }
    let score = |&candidate: &u8| {
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(candidate)
            .from_reader(text);
        let mut widths: Vec<usize> =
            reader.into_byte_records().take(50).filter_map(Result::ok).map(|r| r.len()).collect();
        // The sample may end within a record.
        if widths.len() > 1 && text.len() as u64 == SAMPLE {
            widths.pop();
        }
        let header = widths.first().copied().unwrap_or(1);
        let agree = widths.iter().filter(|&&w| w == header).count();
        if header < 2 { (0, 0) } else { (agree * 100 / widths.len().max(1), header) }
    };
    // `max_by_key` keeps the last of equals; the comma should win them.
    DELIMITERS.iter().rev().copied().max_by_key(score).unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sniffs_delimiters() {
        for (text, expected) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2\n", b';'),
            ("a\tb\n1\t2\n", b'\t'),
            ("a|b\n1|2\n", b'|'),
            ("a\n1\n", b','),
            ("\"x;y\",b\n1,2\n", b','),
            ("a;b;c\nx,y;1;2\nx,y,z;3;4\n", b';'),
        ] {
            assert_eq!(delimiter(text.as_bytes(), Path::new("t.csv")), expected, "{text}");
        }
        assert_eq!(delimiter(b"a,b\tc\n", Path::new("t.tsv")), b'\t');
    }

    #[test]
    fn names_above_numbers_are_names() {
        let sure = |text: &str| {
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
            let records: Vec<csv::ByteRecord> = reader.byte_records().map_while(Result::ok).collect();
            let names: Vec<&str> = records[0].iter().map(|name| std::str::from_utf8(name).unwrap()).collect();
            (0..names.len()).any(|column| names_numbers(names[column], &records[1..], column))
        };
        assert!(sure("age,city\n31,Graz\n?,Linz\n"));
        assert!(sure("born\n2021-03-05\n"));
        // The first record of a table without a header, and tables that do not tell.
        assert!(!sure("31,Graz\n32,Linz\n"));
        assert!(!sure("name,city\nAnna,Graz\n") && !sure("age\n") && !sure("age\n?\n"));
    }
}
