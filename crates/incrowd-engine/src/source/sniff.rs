//! Finding out what a file is by looking at its beginning.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use incrowd_core::{Error, Result};

use super::{Compression, Encoding, Format, FormatCard, Part, chunks, unreadable};

/// How much of the text is looked at.
const SAMPLE: u64 = 1 << 16;
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

/// The delimiter and the column names of delimited text.
pub(super) fn header(part: &Part, stated: Option<u8>) -> Result<(u8, Vec<String>)> {
    let text = chunks::beginning(part, SAMPLE)?;
    let file = part.path.display();
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(empty(&part.path));
    }
    if text.contains(&0) {
        return Err(Error::input(format!("`{file}` is not text"))
            .help(format!("incrowd reads {} files", FormatCard::titles())));
    }
    if text.contains(&b'\r') && !text.contains(&b'\n') {
        return Err(Error::input(format!("`{file}` ends its lines with CR alone"))
            .help("convert the line ends first, for example: tr '\\r' '\\n'"));
    }
    let delimiter = stated.unwrap_or_else(|| delimiter(text, &part.path));
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text);
    let record = reader.byte_records().next().and_then(Result::ok).unwrap_or_default();
    let mut names = Vec::with_capacity(record.len());
    for (i, name) in record.iter().enumerate() {
        let name = std::str::from_utf8(name).map_err(|_| {
            Error::input(format!("the header of `{file}` is not valid UTF-8"))
                .help("is it damaged? Else state the `[input] encoding`")
        })?;
        let name = name.trim();
        names.push(if name.is_empty() { format!("column {}", i + 1) } else { name.to_owned() });
    }
    Ok((delimiter, names))
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
}
