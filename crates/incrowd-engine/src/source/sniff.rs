//! Detects the format, encoding and header of a file from its beginning.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use incrowd_core::number::{parse_date, parse_number};
use incrowd_core::numerals::{self, DecimalMark};
use incrowd_core::{Error, Result};

use super::{Compression, Encoding, Format, FormatCard, Part, check_width, chunks, unreadable};

/// Bytes of text in the sample.
const SAMPLE: u64 = 1 << 16;
/// Longest accepted header. A longer first line indicates a missing quotation mark.
const LONGEST_HEADER: u64 = 16 << 20;
/// Bytes of the sample used to detect the delimiter. Parsing a one-byte field takes eight bytes of
/// memory.
const SCORED: usize = 1 << 20;
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Detects the format from the first bytes. The default is delimited text.
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

/// Detects the character encoding of delimited text.
pub(super) fn encoding(part: &Part) -> Result<Encoding> {
    chunks::beginning(part, SAMPLE).map(|text| Encoding::sniff(&text))
}

/// Result of reading the first line of a text.
pub(super) struct Header {
    pub(super) delimiter: u8,
    pub(super) names: Vec<String>,
    /// Whether the line is certainly a header. It is if a column has only numbers or dates, and its
    /// name is neither.
    pub(super) sure: bool,
    /// Decimal mark of the numbers.
    pub(super) decimal: DecimalMark,
}

/// Detects the delimiter and reads the column names of delimited text.
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
        let delimiter =
            stated.unwrap_or_else(|| delimiter(&begins[..begins.len().min(SCORED)], &part.path));
        let whole = (text.len() as u64) < size;
        match chunks::header(begins, delimiter) {
            chunks::FirstLine::Ends => {
                let end = chunks::header_end(begins, delimiter).unwrap_or(begins.len());
                // Delimiters within quotes are counted as well, but a name with sixteen of them on
                // average is not plausible.
                check_width(
                    &part.path,
                    memchr::memchr_iter(delimiter, &begins[..end]).count() / 16,
                )?;
                break (begins.to_vec(), delimiter);
            }
            chunks::FirstLine::Open if whole => {
                return Err(Error::input(format!(
                    "the header of `{file}` opens a quoted field that is never closed"
                ))
                .help("a quotation mark may be missing in the first line"));
            }
            chunks::FirstLine::Endless if whole => break (begins.to_vec(), delimiter),
            _ if size >= LONGEST_HEADER => {
                return Err(Error::input(format!(
                    "the header of `{file}` is longer than {} MiB",
                    LONGEST_HEADER >> 20
                ))
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
    check_width(&part.path, record.len())?;
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
    let cells = |column: usize| {
        sample.iter().filter_map(|r| std::str::from_utf8(r.get(column)?).ok()).collect()
    };
    let decimal = numerals::sniff((0..names.len()).map(cells), delimiter);
    sample.truncate(50);
    let sure = (0..names.len()).any(|column| names_numbers(&names[column], &sample, column));
    Ok(Header { delimiter, names, sure, decimal })
}

/// Whether the values of a column are only numbers or dates and its name is neither.
fn names_numbers(name: &str, sample: &[csv::ByteRecord], column: usize) -> bool {
    let measured = |text: &str| parse_number(text).is_some() || parse_date(text).is_some();
    let cells = || sample.iter().filter_map(|record| record.get(column));
    let missing = |cell: &[u8]| matches!(cell.trim_ascii(), b"" | b"?" | b"NA");
    let stated = || cells().filter(|cell| !missing(cell));
    !measured(name)
        && stated().next().is_some()
        && stated().all(|cell| std::str::from_utf8(cell).is_ok_and(measured))
}

/// The candidate for which most of the first lines have as many fields as the header. Ties are
/// decided by the number of fields in the header.
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
    // `max_by_key` returns the last maximum. The comma comes last in the reversed list and wins
    // ties.
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
            let mut reader =
                csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
            let records: Vec<csv::ByteRecord> =
                reader.byte_records().map_while(Result::ok).collect();
            let names: Vec<&str> =
                records[0].iter().map(|name| std::str::from_utf8(name).unwrap()).collect();
            (0..names.len()).any(|column| names_numbers(names[column], &records[1..], column))
        };
        assert!(sure("age,city\n31,Graz\n?,Linz\n"));
        assert!(sure("born\n2021-03-05\n"));
        // The first record of a table without a header, and tables that do not allow a decision.
        assert!(!sure("31,Graz\n32,Linz\n"));
        assert!(!sure("name,city\nAnna,Graz\n") && !sure("age\n") && !sure("age\n?\n"));
    }
}
