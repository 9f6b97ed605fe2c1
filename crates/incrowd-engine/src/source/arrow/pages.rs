//! Checks of Parquet files. Footer, column chunks and pages must be within the file, and their
//! stated sizes must be plausible for the size of the file. The checks precede all allocations.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page as ColumnPage, PageReader};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use super::super::MOST_COLUMNS;
use super::Damage;
use super::contain::contained;
use super::delta;
use super::thrift::{self, Compact, Unfit};

/// `PAR1` at the start; the footer length and `PAR1` at the end.
const FRONT: u64 = 4;
const BACK: u64 = 8;
/// Accepted size of a decompressed page in any file.
const PAGE: u64 = 64 << 20;
/// Accepted size of the decompressed pages of a large file, as a multiple of the file size.
const PACKED: u64 = 8;
/// In files smaller than this, row groups that need more than [`LARGE`] bytes are read one at a
/// time.
const SMALL: u64 = 16 << 20;
const LARGE: u64 = 8 << 20;
/// The texts of a dictionary no longer than this are not measured.
const SHORT: u64 = 2 << 10;
/// Accepted size of the decoded items of the lists of a row group: in any file, and as a multiple of
/// the file size. An item also takes bytes for levels, offsets and its text.
const LISTS: u64 = 256 << 20;
const LISTS_TIMES: u64 = 80;
const PER_ITEM: u64 = 24;
/// Accepted size of the texts of a record in any file.
const MOST_TEXTS: u64 = 1 << 30;
/// Approximate size of the texts of a batch in bytes.
pub(super) const BATCH_TEXT: u64 = 16 << 20;

/// Checks that the footer is within the file and that all lengths in the footer are within the
/// footer.
pub(super) fn check_footer<R: Read + Seek>(from: &mut R) -> Result<(), Damage> {
    let length = from.seek(SeekFrom::End(0))?;
    let end = length.checked_sub(BACK).filter(|end| *end >= FRONT);
    let end = end.ok_or_else(|| Damage::new("it ends too early"))?;
    from.seek(SeekFrom::Start(end))?;
    let mut back = [0; BACK as usize];
    from.read_exact(&mut back)?;
    let [a, b, c, d, magic @ ..] = back;
    match &magic {
        b"PAR1" => {}
        b"PARE" => return Err(Damage::unread("is encrypted, and incrowd has no key")),
        _ => return Err(Damage::new("it does not end as such a file does")),
    }
    let stated = u64::from(u32::from_le_bytes([a, b, c, d]));
    let start = end.checked_sub(stated).filter(|start| *start >= FRONT);
    let start = start.ok_or_else(|| Damage::new("its footer is longer than the file"))?;
    from.seek(SeekFrom::Start(start))?;
    let mut footer = vec![0; stated as usize];
    from.read_exact(&mut footer)?;
    if !thrift::is_sound(&footer, thrift::FILE_METADATA) {
        return Err(Damage::new("its footer cannot be read"));
    }
    thrift::check_schema(&footer).map_err(|unfit| match unfit {
        Unfit::Deep => Damage::new("its columns are nested too deeply, or some are missing"),
        Unfit::Wide => Damage::unread(format!("has more than {MOST_COLUMNS} columns"))
            .help("columns within columns count as well; leave out those that are not needed"),
        Unfit::LongPaths => Damage::unread("has nested columns with very long names")
            .help("shorten the names of the columns that others are nested in"),
    })
}

/// Checks the column metadata of the footer against the size of the file.
pub(super) fn check_chunks(metadata: &ParquetMetaData, length: u64) -> Result<(), Damage> {
    let mut ranges = Vec::new();
    for group in metadata.row_groups() {
        let records = group.num_rows();
        if !(0..=i64::from(i32::MAX)).contains(&records) {
            return Err(Damage::new("it states a number of records that cannot be"));
        }
        for chunk in group.columns() {
            if !matches!(
                chunk.compression(),
                Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::ZSTD(_)
            ) {
                let codec = chunk.compression().to_string();
                let codec = codec.split('(').next().unwrap_or_default();
                return Err(Damage::unread(format!("is compressed with {codec}")).help(
                    "incrowd reads Parquet compressed with Snappy or Zstandard, or not at all",
                ));
            }
            match range(chunk).filter(|(_, end)| *end <= length) {
                Some(range) => ranges.push(range),
                None => {
                    return Err(Damage::new("it states a column that lies outside of the file"));
                }
            }
            let flat = chunk.column_descr().max_rep_level() == 0;
            if chunk.num_values() < 0 || flat && chunk.num_values() != records {
                return Err(Damage::new(
                    "a column does not have as many values as there are records",
                ));
            }
        }
    }
    match overlap(ranges) {
        true => Err(Damage::new("it states columns that overlap")),
        false => Ok(()),
    }
}

/// Whether two ranges overlap. A small file could otherwise state many row groups that share one
/// large dictionary, which would be decompressed for each of them. Ranges that begin in the
/// signature of the file are left out. Nothing is decompressed there, because no page begins so,
/// and some programs state 0 for the offset of a dictionary that does not exist.
fn overlap(mut ranges: Vec<(u64, u64)>) -> bool {
    ranges.retain(|(start, end)| *start >= FRONT && start < end);
    ranges.sort_unstable();
    ranges.windows(2).any(|pair| pair[1].0 < pair[0].1)
}

/// Start and end offset of the pages of a column.
fn range(chunk: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let start = u64::try_from(start).ok()?;
    Some((start, start.checked_add(u64::try_from(chunk.compressed_size()).ok()?)?))
}

/// Values of the format for the kinds of pages. Pages of other kinds have no values.
const DATA_PAGE: i32 = 0;
const DICTIONARY_PAGE: i32 = 2;
const DATA_PAGE_V2: i32 = 3;
/// Values of the format for the encodings DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY.
const DELTA_LENGTHS: std::ops::RangeInclusive<i32> = 6..=7;
/// The size of the lengths of a text of such a page, which the library decodes at once.
const PER_LENGTH: u64 = 8;

/// Header of a page.
#[derive(Debug, Default)]
struct Page {
    kind: i32,
    unpacked: i32,
    packed: i32,
    values: i32,
    encoding: i32,
    header: u64,
}

/// Number of records per batch for which the texts fit into [`BATCH_TEXT`].
pub(super) fn records_of_batch(room: &[u64], most: usize) -> usize {
    let room: u64 = room.iter().fold(0, |sum, room| sum.saturating_add(*room));
    usize::try_from(BATCH_TEXT / room.max(1)).unwrap_or(most).clamp(1, most)
}

/// Checks the total size of the largest pages of all columns, because one page per column is
/// decompressed at a time. Returns whether other threads must not read a row group at the same
/// time.
pub(super) fn check_together(columns: &[u64], length: u64) -> Result<bool, Damage> {
    let all = columns.iter().fold(0u64, |sum, own| sum.saturating_add(*own));
    if all > PAGE.max(length.saturating_mul(PACKED)) {
        return Err(Damage::new(
            "its pages unpack to much more than a file of its size should hold",
        ));
    }
    Ok(is_large(all, length))
}

/// Accepted size of what cannot be sliced: the texts of the dictionaries of a batch, and the texts
/// of one record. `length` is the size of the file. No text of 2 GiB can be built.
pub(super) fn most_texts(length: u64) -> u64 {
    PAGE.max(length.saturating_mul(PACKED)).min(MOST_TEXTS)
}

/// Whether other threads must not convert a batch at the same time that needs this many bytes.
pub(super) fn is_large(need: u64, length: u64) -> bool {
    length < SMALL && need > LARGE
}

/// Properties of the pages of a column.
#[derive(Debug)]
pub(super) struct Checked {
    /// Size of the pages that are decompressed at the same time: the dictionary page and one data
    /// page.
    pub(super) unpacked: u64,
    /// Size of a value in the pages.
    room: u64,
    /// Whether the dictionary may contain long texts.
    long: bool,
    /// Whether a page stores the lengths of its texts as differences.
    delta: bool,
    /// The number of values in the pages.
    values: u64,
}

impl Checked {
    /// Maximum size of a record in a batch. A dictionary stores a long text once, but a batch
    /// stores it once per record. So do pages that store which prefix of the text before a text
    /// repeats. `records` is the number of records of the row group, and `length` the size of the
    /// file.
    pub(super) fn room(
        &self,
        file: &Arc<File>,
        chunk: &ColumnChunkMetaData,
        records: u64,
        length: u64,
    ) -> Result<u64, Damage> {
        let room = match self.long || self.delta {
            true => self.room.max(longest(file, chunk, self.delta)?),
            false => self.room,
        };
        if chunk.column_descr().max_rep_level() == 0 {
            return Ok(room);
        }
        let all = self.values.saturating_mul(room.saturating_add(PER_ITEM));
        if all > LISTS.max(length.saturating_mul(LISTS_TIMES)) {
            return Err(Damage::new("its lists hold much more than a file of its size should"));
        }
        Ok(all.div_ceil(records.max(1)))
    }
}

/// Checks the pages of a column. The library follows the page headers, and the footer may state
/// other encodings and another number of values. So all pages up to the end of the column are read.
pub(super) fn check_pages(
    file: &Arc<File>,
    chunk: &ColumnChunkMetaData,
    length: u64,
) -> Result<Checked, Damage> {
    let mut from = file.as_ref();
    let outside = || Damage::new("it states a page that lies outside of its column");
    let (mut at, end) = range(chunk).filter(|(_, end)| *end <= length).ok_or_else(outside)?;
    let most = PAGE.max(length.saturating_mul(PACKED));
    let texts = matches!(chunk.column_type(), Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY);
    // The library fills up missing values to the stated length, which take no bytes in a page.
    let room = if chunk.column_type() == Type::FIXED_LEN_BYTE_ARRAY {
        u64::try_from(chunk.column_descr().type_length()).unwrap_or(u64::MAX)
    } else {
        0
    };
    if room > most {
        return Err(Damage::new("it states values that are longer than any value should be"));
    }
    let mut checked = Checked { unpacked: 0, room, long: false, delta: false, values: 0 };
    let (mut dictionary, mut data) = (0u64, 0);
    let first = at;
    while at < end {
        let page = page_at(&mut from, at, end)?;
        // The library takes a dictionary anywhere, but only a first page is measured by `longest`.
        if page.kind == DICTIONARY_PAGE && at > first {
            return Err(Damage::new("a dictionary is not the first page of its column"));
        }
        let size = |stated: i32| u64::try_from(stated).map_err(|_| outside());
        let (packed, values) = (size(page.packed)?, size(page.values)?);
        let mut unpacked = size(page.unpacked)?;
        at = at
            .checked_add(page.header)
            .and_then(|at| at.checked_add(packed))
            .filter(|at| *at <= end)
            .ok_or_else(outside)?;
        let room = unpacked / values.max(1);
        if page.kind != DICTIONARY_PAGE && DELTA_LENGTHS.contains(&page.encoding) {
            checked.delta = true;
            unpacked += values * PER_LENGTH;
        }
        if unpacked > most {
            return Err(Damage::new("it states a page that is larger than any page should be"));
        }
        if page.kind == DICTIONARY_PAGE {
            if values > unpacked.saturating_mul(8) {
                return Err(Damage::new("it states more values than their bytes can hold"));
            }
            checked.long |= texts && unpacked > SHORT;
            dictionary = dictionary.max(unpacked);
        } else {
            checked.values = checked.values.saturating_add(values);
            data = data.max(unpacked);
            checked.room = checked.room.max(room);
        }
    }
    if i64::try_from(checked.values) != Ok(chunk.num_values()) {
        return Err(Damage::new("the pages of a column do not have as many values as it states"));
    }
    checked.unpacked = dictionary.saturating_add(data);
    Ok(checked)
}

/// Length of the longest text that a column stores once and repeats: in its dictionary, and in
/// pages that store common prefixes once. `delta` is whether there may be such pages.
fn longest(file: &Arc<File>, chunk: &ColumnChunkMetaData, delta: bool) -> Result<u64, Damage> {
    let descriptor = chunk.column_descr();
    let levels = [descriptor.max_rep_level(), descriptor.max_def_level()];
    let is_fixed = chunk.column_type() == Type::FIXED_LEN_BYTE_ARRAY;
    let mut longest = 0;
    let values = usize::try_from(chunk.num_values()).unwrap_or(usize::MAX);
    let mut pages = contained(|| SerializedPageReader::new(file.clone(), chunk, values, None))??;
    while let Some(page) = contained(|| pages.get_next_page())?? {
        let most = u64::from(page.num_values());
        let own = match (&page, page.encoding()) {
            (ColumnPage::DictionaryPage { .. }, _) if is_fixed => Some(0),
            (ColumnPage::DictionaryPage { buf, .. }, _) => Some(longest_plain(buf)?),
            (page, Encoding::DELTA_BYTE_ARRAY) => {
                values_of(page, levels).and_then(|values| delta::longest(values, most))
            }
            // No text is repeated, but the library decodes as many lengths as the page states.
            (page, Encoding::DELTA_LENGTH_BYTE_ARRAY) => {
                values_of(page, levels).and_then(|values| delta::lengths(values, most)).map(|_| 0)
            }
            _ => Some(0),
        };
        let own = own.ok_or_else(|| Damage::new("the lengths of its texts cannot be read"))?;
        longest = longest.max(own);
        if !delta {
            break;
        }
    }
    Ok(longest)
}

/// Length of the longest text of a dictionary.
fn longest_plain(mut rest: &[u8]) -> Result<u64, Damage> {
    let mut longest = 0;
    while let Some((length, texts)) = rest.split_first_chunk::<4>() {
        let length = u32::from_le_bytes(*length);
        longest = longest.max(u64::from(length));
        rest = texts
            .get(length as usize..)
            .ok_or_else(|| Damage::new("a dictionary ends within a text"))?;
    }
    Ok(longest)
}

/// The values of a data page, which follow the repetition and definition levels. `None` for the
/// deprecated encoding of levels without a length.
fn values_of(page: &ColumnPage, highest: [i16; 2]) -> Option<&[u8]> {
    match page {
        ColumnPage::DataPage { buf, rep_level_encoding, def_level_encoding, .. } => {
            let mut rest = buf.as_ref();
            let encodings = [rep_level_encoding, def_level_encoding];
            for (_, encoding) in highest.iter().zip(encodings).filter(|(highest, _)| **highest > 0)
            {
                if *encoding != Encoding::RLE {
                    return None;
                }
                let (length, levels) = rest.split_first_chunk::<4>()?;
                rest = levels.get(u32::from_le_bytes(*length) as usize..)?;
            }
            Some(rest)
        }
        ColumnPage::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len, .. } => {
            let levels = def_levels_byte_len.checked_add(*rep_levels_byte_len)?;
            buf.get(levels as usize..)
        }
        ColumnPage::DictionaryPage { .. } => None,
    }
}

/// Reads the page header at an offset.
fn page_at<R: Read + Seek>(from: &mut R, at: u64, end: u64) -> Result<Page, Damage> {
    // A header may contain the minimum and the maximum, which may be long.
    for window in [1 << 8, 1 << 14, 1 << 20, 1 << 26] {
        let window = end.saturating_sub(at).min(window);
        let mut bytes = Vec::new();
        from.seek(SeekFrom::Start(at))?;
        from.by_ref().take(window).read_to_end(&mut bytes)?;
        if let Some(page) = read_header(&bytes) {
            return Ok(page);
        }
        if at + window >= end {
            break;
        }
    }
    Err(Damage::new("the header of a page cannot be read"))
}

/// Reads a page header. It has another structure for each kind of page, and the library uses the
/// one of the stated kind.
fn read_header(bytes: &[u8]) -> Option<Page> {
    if !thrift::is_sound(bytes, thrift::PAGE_HEADER) {
        return None;
    }
    let mut page = Page::default();
    // The number of values and the encoding in each structure.
    let (mut first, mut second, mut dictionary) = ((0, 0), (0, 0), (0, 0));
    let mut compact = Compact::new(bytes);
    compact.structure(0, &mut |header, field, _| {
        let (own, encoding) = match field {
            5 => (&mut first, 2),
            7 => (&mut dictionary, 2),
            8 => (&mut second, 4),
            _ => {
                match field {
                    1 => page.kind = header.number_32()?,
                    2 => page.unpacked = header.number_32()?,
                    3 => page.packed = header.number_32()?,
                    _ => return Some(false),
                }
                return Some(true);
            }
        };
        header.structure(1, &mut |header, field, _| {
            match field {
                1 => own.0 = header.number_32()?,
                field if field == encoding => own.1 = header.number_32()?,
                _ => return Some(false),
            }
            Some(true)
        })?;
        Some(true)
    })?;
    (page.values, page.encoding) = match page.kind {
        DATA_PAGE => first,
        DICTIONARY_PAGE => dictionary,
        DATA_PAGE_V2 => second,
        _ => (0, 0),
    };
    page.header = compact.read() as u64;
    Some(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_a_file_do_not_overlap() {
        assert!(!overlap(Vec::new()));
        assert!(!overlap(vec![(20, 30), (4, 10), (10, 20)]));
        assert!(overlap(vec![(20, 30), (4, 10), (9, 20)]));
        assert!(overlap(vec![(4, 10), (4, 10)]));
        assert!(overlap(vec![(4, 40), (10, 20)]));
        // Columns without pages take no place.
        assert!(!overlap(vec![(4, 10), (8, 8), (8, 8)]));
        // The offset of a dictionary that does not exist.
        assert!(!overlap(vec![(0, 10), (0, 10), (4, 10)]));
    }
}
