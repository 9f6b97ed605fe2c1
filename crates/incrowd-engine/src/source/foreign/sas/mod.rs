//! SAS data sets (.sas7bdat), plain or compressed, of 32 and 64 bit systems, in both orders of bytes, with dates and missing values.
//!
//! SAS publishes no description. This follows what is known of the layout: a header, then pages of one size. A page begins with its
//! kind and two counts; pages of metadata list their parts (*subheaders*) by place and length. Records stand in pages of their own,
//! behind the parts of a page (*mix*), or, if they are compressed, are parts themselves.
//!
//! What SAS marked as deleted is still in the file. Such files are refused: nobody who was deleted may be published.

mod parts;
mod unpack;

use encoding_rs::Encoding;

use super::bytes::Bytes;
use super::{Cells, Damage, Table, date};
use parts::{Column, Metadata, Part};

/// The first bytes of every data set.
pub(super) const MAGIC: &[u8] =
    b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xc2\xea\x81\x60\xb3\x14\x11\xcf\
\xbd\x92\x08\x00\x09\xc7\x31\x8c\x18\x1f\x10\x11";

/// Days from 1960-01-01 to 1970-01-01.
const EPOCH: f64 = 3653.0;

/// The kinds of pages, in the bits that tell them apart.
const KINDS: u16 = 0x0f00;
const DATA: u16 = 0x0100;
const MIX: u16 = 0x0200;
/// An index, or what else is no part of the table.
const OTHER: u16 = 0x9000;
const HAS_DELETED: u16 = 0x0080;

/// What the header says of the file.
struct Header {
    /// Places and lengths take eight bytes.
    wide: bool,
    big: bool,
    /// How texts are written; an error names the number of an encoding that is not known.
    encoding: Result<&'static Encoding, u8>,
    /// Stat/Transfer does not fill up to eight bytes before the records of a page.
    may_be_unaligned: bool,
}

/// A page, with its kind and counts.
struct Page<'a> {
    bytes: &'a [u8],
    kind: u16,
    /// Parts and records together.
    blocks: usize,
    parts: usize,
}

impl Header {
    /// The bytes of a place or a length.
    fn word(&self) -> usize {
        if self.wide { 8 } else { 4 }
    }

    fn at<'a>(&self, bytes: &'a [u8], from: usize) -> Result<Bytes<'a>, Damage> {
        bytes.get(from..).map(|rest| Bytes::new(rest, self.big)).ok_or_else(|| "it ends too early".into())
    }

    fn number(&self, bytes: &[u8], from: usize) -> Result<usize, Damage> {
        let mut at = self.at(bytes, from)?;
        let number = if self.wide { at.u64()? } else { u64::from(at.u32()?) };
        usize::try_from(number).map_err(|_| "its parts do not fit together".into())
    }

    /// Where the list of a page's parts begins.
    fn page_header(&self) -> usize {
        if self.wide { 40 } else { 24 }
    }

    fn page<'a>(&self, bytes: &'a [u8]) -> Result<Page<'a>, Damage> {
        let mut at = self.at(bytes, self.page_header() - 8)?;
        let (kind, blocks, parts) = (at.u16()?, usize::from(at.u16()?), usize::from(at.u16()?));
        let has_records = kind & KINDS == DATA || kind & KINDS == MIX;
        if has_records && kind & HAS_DELETED != 0 {
            return Err(
                "it still holds records that were deleted; write it anew in SAS: data t; set t; run;".into(),
            );
        }
        Ok(Page { bytes, kind, blocks, parts })
    }

    /// The text of a cell or a name.
    fn text(&self, bytes: &[u8]) -> Result<String, Damage> {
        let end = bytes.iter().rposition(|byte| !matches!(byte, 0 | b' ')).map_or(0, |last| last + 1);
        match (std::str::from_utf8(&bytes[..end]), self.encoding) {
            (Ok(text), _) if text.is_ascii() => Ok(text.to_owned()),
            (_, Ok(encoding)) => Ok(encoding.decode_without_bom_handling(&bytes[..end]).0.into_owned()),
            (_, Err(code)) => Err(format!(
                "its texts are in an encoding that is not read (SAS's number {code}); write it anew with encoding=utf8"
            )),
        }
    }
}

pub(super) fn read(bytes: &[u8]) -> Result<Table, Damage> {
    let (header, pages) = header(bytes)?;
    let pages = pages.map(|page| header.page(page)).collect::<Result<Vec<_>, _>>()?;
    let metadata = Metadata::read(&header, &pages)?;
    let columns = metadata.columns(&header)?;
    let mut records = Records::new(&header, &metadata, &columns);
    for page in &pages {
        records.page(page)?;
    }
    records.finish()
}

/// The header, and the pages behind it.
fn header(bytes: &[u8]) -> Result<(Header, std::slice::ChunksExact<'_, u8>), Damage> {
    let fixed = bytes.get(..288).ok_or("it ends too early")?;
    let header = Header {
        wide: fixed[32] == b'3',
        big: fixed[37] != 1,
        encoding: encoding(fixed[70]),
        may_be_unaligned: fixed[216..232].windows(8).any(|release| release == b"9.0000M0"),
    };
    // Some systems fill up to eight bytes before the dates in the header.
    let shift = if fixed[35] == b'3' { 4 } else { 0 };
    let mut at = header.at(fixed, 196 + shift)?;
    let (length, page) = (at.u32()? as usize, at.u32()? as usize);
    let pages = bytes.get(length..).ok_or("it ends too early")?;
    if length < fixed.len() || page < header.page_header() || page > pages.len() {
        return Err("its parts do not fit together".into());
    }
    Ok((header, pages.chunks_exact(page)))
}

/// The encoding behind SAS's number. 0 says nothing, and Windows-1252 is what SAS takes then.
fn encoding(code: u8) -> Result<&'static Encoding, u8> {
    let label = match code {
        20 => "utf-8",
        0 | 28 | 29 | 62 | 204 => "windows-1252",
        30 => "iso-8859-2",
        31 => "iso-8859-3",
        32 => "iso-8859-4",
        33 => "iso-8859-5",
        34 => "iso-8859-6",
        35 => "iso-8859-7",
        36 => "iso-8859-8",
        37 => "iso-8859-9",
        38 => "iso-8859-10",
        39 | 51 => "windows-874",
        40 => "iso-8859-15",
        49 => "ibm866",
        60 => "windows-1250",
        61 => "windows-1251",
        63 => "windows-1253",
        64 => "windows-1254",
        65 => "windows-1255",
        66 => "windows-1256",
        67 => "windows-1257",
        68 => "windows-1258",
        69 => "macintosh",
        118 | 123 => "big5",
        125 | 126 | 205 => "gb18030",
        134 => "euc-jp",
        136 | 138 => "shift_jis",
        140..=142 => "euc-kr",
        227 => "iso-8859-14",
        242 => "iso-8859-13",
        _ => return Err(code),
    };
    Encoding::for_label(label.as_bytes()).ok_or(code)
}

/// The records that were read so far, column by column.
struct Records<'a> {
    header: &'a Header,
    metadata: &'a Metadata<'a>,
    columns: &'a [Column],
    texts: Vec<Vec<Option<String>>>,
    numbers: Vec<Vec<Option<f64>>>,
    count: usize,
    /// A compressed record as it was.
    row: Vec<u8>,
}

impl<'a> Records<'a> {
    fn new(header: &'a Header, metadata: &'a Metadata<'a>, columns: &'a [Column]) -> Records<'a> {
        Records {
            header,
            metadata,
            columns,
            texts: columns.iter().map(|_| Vec::new()).collect(),
            numbers: columns.iter().map(|_| Vec::new()).collect(),
            count: 0,
            row: Vec::new(),
        }
    }

    fn page(&mut self, page: &Page<'_>) -> Result<(), Damage> {
        let begins = self.header.page_header();
        match page.kind & KINDS {
            DATA => self.rows(&page.bytes[begins..], page.blocks),
            _ if page.kind & OTHER == OTHER => Ok(()),
            kind => {
                for part in page.list(self.header)? {
                    self.packed(&part)?;
                }
                if kind != MIX {
                    return Ok(());
                }
                let end = begins + page.parts * 3 * self.header.word();
                let rest = page.bytes.get(end..).unwrap_or_default();
                let filled = self.metadata.is_filled(self.header, end, rest);
                self.rows(&rest[if filled { 4 } else { 0 }..], self.metadata.records_of_mix)
            }
        }
    }

    /// Records that lie one after another; the last page has fewer than it could.
    fn rows(&mut self, bytes: &[u8], count: usize) -> Result<(), Damage> {
        let left = self.metadata.records - self.count;
        for row in bytes.chunks_exact(self.metadata.width).take(count.min(left)) {
            self.record(row)?;
        }
        Ok(())
    }

    /// A record that is a part of its page.
    fn packed(&mut self, part: &Part<'_>) -> Result<(), Damage> {
        if !part.is_record || self.count == self.metadata.records {
            return Ok(());
        }
        if part.bytes.len() == self.metadata.width {
            return self.record(part.bytes);
        }
        let mut row = std::mem::take(&mut self.row);
        self.metadata.packing.unpack(part.bytes, self.metadata.width, &mut row)?;
        self.record(&row)?;
        self.row = row;
        Ok(())
    }

    fn record(&mut self, row: &[u8]) -> Result<(), Damage> {
        for (index, column) in self.columns.iter().enumerate() {
            let bytes = column.place.and_then(|(from, width)| row.get(from..from + width));
            let bytes = bytes.ok_or("its parts do not fit together")?;
            if column.is_text {
                let text = self.header.text(bytes)?;
                self.texts[index].push((!text.is_empty()).then_some(text));
            } else {
                self.numbers[index].push(number(bytes, self.header.big));
            }
        }
        self.count += 1;
        Ok(())
    }

    fn finish(mut self) -> Result<Table, Damage> {
        if self.count < self.metadata.records {
            return Err("it ends too early".into());
        }
        let mut table = Table::default();
        for (index, column) in self.columns.iter().enumerate() {
            let cells = if column.is_text {
                Cells::Text(std::mem::take(&mut self.texts[index]))
            } else {
                let numbers = std::mem::take(&mut self.numbers[index]);
                match per_day(&column.format) {
                    Some(per_day) => {
                        let day = |x: Option<f64>| x.and_then(|x| date(x / per_day - EPOCH));
                        Cells::Text(numbers.into_iter().map(day).collect())
                    }
                    None => Cells::Numbers(numbers),
                }
            };
            table.columns.push((column.name.clone(), cells));
        }
        Ok(table)
    }
}

/// A number of three to eight bytes: the upper ones of a double. What is no number is one of the 28 missing values.
fn number(bytes: &[u8], big: bool) -> Option<f64> {
    let mut double = [0; 8];
    let kept = bytes.len().min(8);
    match big {
        true => double[..kept].copy_from_slice(&bytes[..kept]),
        false => double[8 - kept..].copy_from_slice(&bytes[..kept]),
    }
    let x = if big { f64::from_be_bytes(double) } else { f64::from_le_bytes(double) };
    x.is_finite().then_some(x)
}

/// How much of a number of this format is a day, if it is a date.
fn per_day(format: &str) -> Option<f64> {
    const DATES: &[&str] = &[
        "DATE", "DAY", "DDMMYY", "DOWNAME", "E8601DA", "B8601DA", "JULDAY", "JULIAN", "MINGUO", "MMDDYY",
        "MMYY", "MONNAME", "MONTH", "MONYY", "NENGO", "QTR", "QTRR", "WEEKDATE", "WEEKDATX", "WEEKDAY",
        "WEEKU", "WEEKV", "WEEKW", "WORDDATE", "WORDDATX", "YEAR", "YYMM", "YYMMDD", "YYMON", "YYQ", "YYQR",
    ];
    const MOMENTS: &[&str] = &[
        "DATETIME", "DATEAMPM", "DTDATE", "DTMONYY", "DTWKDATX", "DTYEAR", "DTYYQC", "MDYAMPM", "B8601DN",
        "B8601DT", "B8601DX", "B8601DZ", "B8601LX", "E8601DN", "E8601DT", "E8601DX", "E8601DZ", "E8601LX",
    ];
    let format =
        format.trim().trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_ascii_uppercase();
    // A letter behind some of them says what stands between the numbers: blank, colon, dash, nothing, period, slash.
    let is = |name: &&str| {
        format == **name
            || (format
                .strip_prefix(*name)
                .is_some_and(|more| matches!(more, "B" | "C" | "D" | "N" | "P" | "S"))
                && (name.contains("YY") || name.starts_with("QTR")))
    };
    if DATES.iter().any(&is) {
        return Some(1.0);
    }
    // National formats: EURDFDD and its like.
    let national = format.strip_prefix("EURDF").or_else(|| format.strip_prefix("NLDAT")).is_some();
    let moment = MOMENTS.iter().any(is) || format == "EURDFDT" || format.starts_with("NLDATM");
    match (moment, national) {
        (true, _) => Some(86_400.0),
        (false, true) => Some(1.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_told_by_their_formats() {
        for date in [
            "DATE",
            "DATE9.",
            "YYMMDD10.",
            "YYMMDDD10.",
            "ddmmyyp",
            "MONYY7.",
            "E8601DA",
            "EURDFDD",
            "NLDATE",
        ] {
            assert_eq!(per_day(date), Some(1.0), "{date}");
        }
        for moment in ["DATETIME20.", "E8601DT", "DATEAMPM", "EURDFDT", "NLDATMW"] {
            assert_eq!(per_day(moment), Some(86_400.0), "{moment}");
        }
        for other in ["", "BEST12.", "TIME8.", "$CHAR", "DOLLAR", "COMMA", "DATES", "YEARLY", "Z5."] {
            assert_eq!(per_day(other), None, "{other}");
        }
    }

    #[test]
    fn short_numbers_are_the_upper_bytes_of_long_ones() {
        let double = 169.25f64;
        for kept in 3..=8 {
            assert_eq!(number(&double.to_be_bytes()[..kept], true), Some(double), "{kept}");
            assert_eq!(number(&double.to_le_bytes()[8 - kept..], false), Some(double), "{kept}");
        }
        // `.`, `._` and `.A` are no numbers of different kinds.
        for tag in [0xd1u8, 0xff, 0xfd, 0xfe] {
            assert_eq!(number(&[0xff, 0xff, tag, 0, 0, 0, 0, 0], true), None);
        }
    }
}
