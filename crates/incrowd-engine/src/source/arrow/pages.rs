//! Checks of Parquet files. Footer, column chunks and pages must be within the file, and their
//! stated sizes must be plausible for the size of the file. The checks precede all allocations.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page as ColumnPage, PageReader};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use super::Damage;
use super::contain::contained;
use super::delta;
use super::thrift::{self, Compact};

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
    match thrift::is_sound(&footer) {
        true => Ok(()),
        false => Err(Damage::new("its footer cannot be read")),
    }
}

/// Checks the column metadata of the footer against the size of the file.
pub(super) fn check_chunks(metadata: &ParquetMetaData, length: u64) -> Result<(), Damage> {
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
            if range(chunk).is_none_or(|(_, end)| end > length) {
                return Err(Damage::new("it states a column that lies outside of the file"));
            }
            let flat = chunk.column_descr().max_rep_level() == 0;
            if chunk.num_values() < 0 || flat && chunk.num_values() != records {
                return Err(Damage::new(
                    "a column does not have as many values as there are records",
                ));
            }
        }
    }
    Ok(())
}

/// Start and end offset of the pages of a column.
fn range(chunk: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let start = u64::try_from(start).ok()?;
    Some((start, start.checked_add(u64::try_from(chunk.compressed_size()).ok()?)?))
}

/// Header of a page.
#[derive(Debug, Default)]
struct Page {
    dictionary: bool,
    unpacked: i64,
    packed: i64,
    values: i64,
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
    Ok(length < SMALL && all > LARGE)
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
        let repeats_prefixes = chunk.encodings().any(|own| own == Encoding::DELTA_BYTE_ARRAY);
        let room = match self.long || repeats_prefixes {
            true => self.room.max(longest(file, chunk)?),
            false => self.room,
        };
        if chunk.column_descr().max_rep_level() == 0 {
            return Ok(room);
        }
        let items = u64::try_from(chunk.num_values()).unwrap_or(0);
        let all = items.saturating_mul(room.saturating_add(PER_ITEM));
        if all > LISTS.max(length.saturating_mul(LISTS_TIMES)) {
            return Err(Damage::new("its lists hold much more than a file of its size should"));
        }
        Ok(all.div_ceil(records.max(1)))
    }
}

/// Checks the pages of a column.
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
    let (mut values, mut room, mut long) = (0, 0, false);
    let (mut dictionary, mut data) = (0u64, 0);
    while values < chunk.num_values() {
        let page = page_at(&mut from, at, end)?;
        let size = |stated: i64| u64::try_from(stated).ok();
        let (packed, unpacked) = size(page.packed).zip(size(page.unpacked)).ok_or_else(outside)?;
        at = at
            .checked_add(page.header)
            .and_then(|at| at.checked_add(packed))
            .ok_or_else(outside)?;
        if at > end || page.values < 0 {
            return Err(outside());
        }
        if unpacked > most {
            return Err(Damage::new("it states a page that is larger than any page should be"));
        }
        if page.dictionary {
            if page.values as u64 > unpacked.saturating_mul(8) {
                return Err(Damage::new("it states more values than their bytes can hold"));
            }
            long |= texts && unpacked > SHORT;
            dictionary = dictionary.max(unpacked);
        } else {
            values += page.values;
            data = data.max(unpacked);
            room = room.max(unpacked / page.values.max(1) as u64);
        }
    }
    Ok(Checked { unpacked: dictionary.saturating_add(data), room, long })
}

/// Length of the longest text that a column stores once and repeats: in its dictionary, and in
/// pages that store common prefixes once.
fn longest(file: &Arc<File>, chunk: &ColumnChunkMetaData) -> Result<u64, Damage> {
    if chunk.column_type() == Type::FIXED_LEN_BYTE_ARRAY {
        return Ok(u64::try_from(chunk.column_descr().type_length()).unwrap_or(0));
    }
    let values = usize::try_from(chunk.num_values()).unwrap_or(usize::MAX);
    let mut pages = contained(|| SerializedPageReader::new(file.clone(), chunk, values, None))??;
    let repeats_prefixes = chunk.encodings().any(|own| own == Encoding::DELTA_BYTE_ARRAY);
    let mut longest = 0;
    while let Some(page) = contained(|| pages.get_next_page())?? {
        longest = longest.max(match &page {
            ColumnPage::DictionaryPage { buf, .. } => longest_plain(buf)?,
            page if page.encoding() == Encoding::DELTA_BYTE_ARRAY => {
                let descriptor = chunk.column_descr();
                let levels = [descriptor.max_rep_level(), descriptor.max_def_level()];
                let texts = values_of(page, levels).and_then(delta::longest);
                texts.ok_or_else(|| Damage::new("a page ends within its lengths"))?
            }
            _ => 0,
        });
        if !repeats_prefixes {
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

/// The values of a data page, which follow the repetition and definition levels.
fn values_of(page: &ColumnPage, highest: [i16; 2]) -> Option<&[u8]> {
    match page {
        ColumnPage::DataPage { buf, .. } => {
            let mut rest = buf.as_ref();
            for _ in highest.into_iter().filter(|highest| *highest > 0) {
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

fn read_header(bytes: &[u8]) -> Option<Page> {
    let mut page = Page::default();
    let mut compact = Compact::new(bytes);
    compact.structure(0, &mut |header, field, kind| {
        match (field, kind) {
            (1, 5) => page.dictionary = header.number()? == 2,
            (2, 5) => page.unpacked = header.number()?,
            (3, 5) => page.packed = header.number()?,
            (5 | 7 | 8, 12) => header.structure(1, &mut |own, field, kind| {
                let is_count = (field, kind) == (1, 5);
                if is_count {
                    page.values = own.number()?;
                }
                Some(is_count)
            })?,
            _ => return Some(false),
        }
        Some(true)
    })?;
    page.header = compact.read() as u64;
    Some(page)
}
