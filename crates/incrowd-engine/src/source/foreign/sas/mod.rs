//! SAS data sets (.sas7bdat): uncompressed or compressed, 32-bit or 64-bit, little-endian or
//! big-endian, with dates and missing values.
//!
//! SAS does not publish a specification. This reader follows the known layout: a header, then pages
//! of equal size. A page starts with its type and two counts. Metadata pages list their
//! *subheaders* by offset and length. Records are on separate pages, or after the subheaders of a
//! page (*mix*). Compressed records are subheaders themselves.
//!
//! Records that SAS marked as deleted are still in the file. Files with deleted records are
//! rejected, because deleted records must not be published.

mod parts;
mod unpack;

use encoding_rs::Encoding;

use super::bytes::Bytes;
use super::columns::{Cells, Numbers, Texts};
use super::{Budget, Damage, Table};
use parts::{Metadata, SasColumn, Subheader};

/// Signature of a data set.
pub(super) const MAGIC: &[u8] =
    b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xc2\xea\x81\x60\xb3\x14\x11\xcf\
\xbd\x92\x08\x00\x09\xc7\x31\x8c\x18\x1f\x10\x11";

/// Days from 1960-01-01 to 1970-01-01.
const EPOCH: f64 = 3653.0;

/// Page types, and the mask for them.
const KINDS: u16 = 0x0f00;
const DATA: u16 = 0x0100;
const MIX: u16 = 0x0200;
/// Type of pages without table data, such as an index.
const OTHER: u16 = 0x9000;
const HAS_DELETED: u16 = 0x0080;

/// Contents of the file header.
struct Header {
    /// Whether offsets and lengths take eight bytes (64-bit file).
    wide: bool,
    big: bool,
    /// Encoding of texts, or the code of an unknown encoding.
    encoding: Result<&'static Encoding, u8>,
    /// Whether the padding before the records may be missing. Stat/Transfer omits it.
    may_be_unaligned: bool,
}

/// A page with its type and counts.
struct Page<'a> {
    bytes: &'a [u8],
    kind: u16,
    /// Number of subheaders and records.
    blocks: usize,
    parts: usize,
}

impl Header {
    /// Size of an offset or a length in bytes.
    fn word(&self) -> usize {
        if self.wide { 8 } else { 4 }
    }

    fn at<'a>(&self, bytes: &'a [u8], from: usize) -> Result<Bytes<'a>, Damage> {
        bytes
            .get(from..)
            .map(|rest| Bytes::new(rest, self.big))
            .ok_or_else(|| "it ends too early".into())
    }

    fn number(&self, bytes: &[u8], from: usize) -> Result<usize, Damage> {
        let mut at = self.at(bytes, from)?;
        let number = if self.wide { at.u64()? } else { u64::from(at.u32()?) };
        usize::try_from(number).map_err(|_| "its parts do not fit together".into())
    }

    /// Offset of the list of subheaders in a page.
    fn page_header(&self) -> usize {
        if self.wide { 40 } else { 24 }
    }

    fn page<'a>(&self, bytes: &'a [u8]) -> Result<Page<'a>, Damage> {
        let mut at = self.at(bytes, self.page_header() - 8)?;
        let (kind, blocks, parts) = (at.u16()?, usize::from(at.u16()?), usize::from(at.u16()?));
        let has_records = kind & KINDS == DATA || kind & KINDS == MIX;
        if has_records && kind & HAS_DELETED != 0 {
            return Err(
                "it still holds records that were deleted; save it again in SAS: data t; set t; run;".into(),
            );
        }
        Ok(Page { bytes, kind, blocks, parts })
    }

    /// Decodes the text of a cell or a name.
    fn text(&self, bytes: &[u8]) -> Result<String, Damage> {
        let end =
            bytes.iter().rposition(|byte| !matches!(byte, 0 | b' ')).map_or(0, |last| last + 1);
        match (std::str::from_utf8(&bytes[..end]), self.encoding) {
            (Ok(text), _) if text.is_ascii() => Ok(text.to_owned()),
            (_, Ok(encoding)) => Ok(encoding.decode_without_bom_handling(&bytes[..end]).0.into_owned()),
            (_, Err(code)) => Err(format!(
                "its texts are in an encoding that is not read (SAS's number {code}); save it again with encoding=utf8"
            )
            .into()),
        }
    }
}

pub(super) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Table, Damage> {
    let (header, pages) = header(bytes)?;
    let pages = pages.map(|page| header.page(page)).collect::<Result<Vec<_>, _>>()?;
    let metadata = Metadata::read(&header, &pages)?;
    budget.take_columns(metadata.columns)?;
    let columns = metadata.columns(&header)?;
    let mut records = Records::new(&header, &metadata, &columns, budget);
    for page in &pages {
        records.page(page)?;
    }
    records.finish()
}

/// Parses the header. Returns it with the pages that follow.
fn header(bytes: &[u8]) -> Result<(Header, std::slice::ChunksExact<'_, u8>), Damage> {
    let fixed = bytes.get(..288).ok_or("it ends too early")?;
    let header = Header {
        wide: fixed[32] == b'3',
        big: fixed[37] != 1,
        encoding: encoding(fixed[70]),
        may_be_unaligned: fixed[216..232].windows(8).any(|release| release == b"9.0000M0"),
    };
    // Some systems write four padding bytes before the dates in the header.
    let shift = if fixed[35] == b'3' { 4 } else { 0 };
    let mut at = header.at(fixed, 196 + shift)?;
    let (length, page) = (at.u32()? as usize, at.u32()? as usize);
    let pages = bytes.get(length..).ok_or("it ends too early")?;
    if length < fixed.len() || page < header.page_header() || page > pages.len() {
        return Err("its parts do not fit together".into());
    }
    Ok((header, pages.chunks_exact(page)))
}

/// Maps an encoding code of SAS to an encoding. Code 0 means unspecified, for which SAS uses
/// Windows-1252.
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

/// The records read up to now, by column.
struct Records<'a> {
    header: &'a Header,
    metadata: &'a Metadata<'a>,
    columns: &'a [SasColumn],
    cells: Vec<Cells>,
    count: usize,
    /// Buffer for a decompressed record.
    row: Vec<u8>,
    budget: &'a mut Budget,
}

impl<'a> Records<'a> {
    fn new(
        header: &'a Header,
        metadata: &'a Metadata<'a>,
        columns: &'a [SasColumn],
        budget: &'a mut Budget,
    ) -> Records<'a> {
        let fresh = |column: &SasColumn| match column.is_text {
            true => Cells::Text(Texts::new()),
            false => Cells::Numbers(Numbers::new()),
        };
        let cells = columns.iter().map(fresh).collect();
        Records { header, metadata, columns, cells, count: 0, row: Vec::new(), budget }
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

    /// Reads contiguous records. The last page may have fewer records than it has space for.
    fn rows(&mut self, bytes: &[u8], count: usize) -> Result<(), Damage> {
        let left = self.metadata.records - self.count;
        for row in bytes.chunks_exact(self.metadata.width).take(count.min(left)) {
            self.record(row)?;
        }
        Ok(())
    }

    /// Reads a record that is stored as a subheader.
    fn packed(&mut self, part: &Subheader<'_>) -> Result<(), Damage> {
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
        for (column, cells) in self.columns.iter().zip(&mut self.cells) {
            let bytes = column.place.and_then(|(from, width)| row.get(from..from + width));
            let bytes = bytes.ok_or("its parts do not fit together")?;
            match cells {
                Cells::Text(texts) => texts.push(Some(&self.header.text(bytes)?), self.budget)?,
                Cells::Numbers(numbers) => {
                    numbers.push(number(bytes, self.header.big), self.budget)?
                }
            }
        }
        self.count += 1;
        Ok(())
    }

    fn finish(self) -> Result<Table, Damage> {
        if self.count < self.metadata.records {
            return Err("it ends too early".into());
        }
        let mut table = Table::default();
        for (column, cells) in self.columns.iter().zip(self.cells) {
            let cells = match (cells, per_day(&column.format)) {
                (Cells::Numbers(numbers), Some(per_day)) => {
                    numbers.dates(self.budget, |x| x / per_day - EPOCH)?
                }
                (cells, _) => cells,
            };
            table.columns.push((column.name.clone(), cells));
        }
        Ok(table)
    }
}

/// Decodes a number of three to eight bytes, which are the upper bytes of a double. NaN encodes one
/// of the 28 missing values.
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

/// Units per day of a date or datetime format. Returns `None` for other formats.
fn per_day(format: &str) -> Option<f64> {
    const DATES: &[&str] = &[
        "DATE", "DAY", "DDMMYY", "DOWNAME", "E8601DA", "B8601DA", "JULDAY", "JULIAN", "MINGUO",
        "MMDDYY", "MMYY", "MONNAME", "MONTH", "MONYY", "NENGO", "QTR", "QTRR", "WEEKDATE",
        "WEEKDATX", "WEEKDAY", "WEEKU", "WEEKV", "WEEKW", "WORDDATE", "WORDDATX", "YEAR", "YYMM",
        "YYMMDD", "YYMON", "YYQ", "YYQR",
    ];
    const MOMENTS: &[&str] = &[
        "DATETIME", "DATEAMPM", "DTDATE", "DTMONYY", "DTWKDATX", "DTYEAR", "DTYYQC", "MDYAMPM",
        "B8601DN", "B8601DT", "B8601DX", "B8601DZ", "B8601LX", "E8601DN", "E8601DT", "E8601DX",
        "E8601DZ", "E8601LX",
    ];
    let format = format
        .trim()
        .trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
        .to_ascii_uppercase();
    // Some formats have a suffix for the separator: blank, colon, dash, none, period or slash.
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
    // Formats with a national language, such as EURDFDD.
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
        for other in ["", "BEST12.", "TIME8.", "$CHAR", "DOLLAR", "COMMA", "DATES", "YEARLY", "Z5."]
        {
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
        // `.`, `._` and `.A` are different NaN values.
        for tag in [0xd1u8, 0xff, 0xfd, 0xfe] {
            assert_eq!(number(&[0xff, 0xff, tag, 0, 0, 0, 0, 0], true), None);
        }
    }
}
