//! Parquet files: footer, column chunks and pages must lie within the file and be no larger than it allows, before anything is
//! allocated for them.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use parquet::basic::{Compression, Type};
use parquet::column::page::PageReader;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use super::Damage;
use super::contain::contained;
use super::thrift::{self, Compact};

/// `PAR1` in front, the length of the footer and `PAR1` at the end.
const FRONT: u64 = 4;
const BACK: u64 = 8;
/// A page of any file may be as large as this, unpacked.
const PAGE: u64 = 64 << 20;
/// The pages of a large file may be this many times as large as the file.
const PACKED: u64 = 8;
/// A dictionary no longer than this needs no closer look.
const SHORT: u64 = 2 << 10;
/// The text of a batch takes about so much.
const BATCH_TEXT: u64 = 64 << 20;

/// The footer of a file must be within it, and all lengths in the footer within the footer.
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

/// What the footer says of the columns must fit the file.
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
                return Err(Damage::unread(format!("is compressed with {codec}"))
                    .help("incrowd reads Parquet compressed with Snappy or Zstandard, or not at all"));
            }
            if range(chunk).is_none_or(|(_, end)| end > length) {
                return Err(Damage::new("it states a column that lies outside of the file"));
            }
            let flat = chunk.column_descr().max_rep_level() == 0;
            if chunk.num_values() < 0 || flat && chunk.num_values() != records {
                return Err(Damage::new("a column does not have as many values as there are records"));
            }
        }
    }
    Ok(())
}

/// Where the pages of a column begin and end.
fn range(chunk: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let start = u64::try_from(start).ok()?;
    Some((start, start.checked_add(u64::try_from(chunk.compressed_size()).ok()?)?))
}

/// What a page says of itself.
#[derive(Debug, Default)]
struct Page {
    dictionary: bool,
    /// Whether it has numbers of values that are kept once, and levels in runs.
    coded: bool,
    levels: bool,
    unpacked: i64,
    packed: i64,
    values: i64,
    header: u64,
}

/// The two names of numbers of values that are kept once, and that of levels in runs.
const CODED: [i64; 2] = [2, 8];
const RUNS: i64 = 3;

/// How many records a batch may have so that its texts do not take too much room.
pub(super) fn records_of_batch(room: &[u64], most: usize) -> usize {
    let room: u64 = room.iter().fold(0, |sum, room| sum.saturating_add(*room));
    usize::try_from(BATCH_TEXT / room.max(1)).unwrap_or(most).clamp(1, most)
}

/// What is known of the pages of a column.
#[derive(Debug)]
pub(super) struct Checked {
    /// How many values there are, if each of them is kept once and all pages have numbers of them.
    pub(super) coded: Option<u64>,
    /// How large the largest page says it is.
    pub(super) largest: u64,
    /// How much room a value takes in the pages.
    room: u64,
    /// Whether there are values that are kept once and may be long.
    long: bool,
}

impl Checked {
    /// How much room a record may take in a batch: a dictionary holds a long text once, a batch once for every record.
    pub(super) fn room(&self, file: &Arc<File>, chunk: &ColumnChunkMetaData) -> Result<u64, Damage> {
        Ok(if self.long { self.room.max(longest(file, chunk)?) } else { self.room })
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
    let (mut values, mut room, mut largest, mut long) = (0, 0, 0, false);
    // The values that are kept once must come first.
    let (mut coded, mut first) = (None, true);
    while values < chunk.num_values() {
        let page = page_at(&mut from, at, end)?;
        let size = |stated: i64| u64::try_from(stated).ok();
        let (packed, unpacked) = size(page.packed).zip(size(page.unpacked)).ok_or_else(outside)?;
        at = at.checked_add(page.header).and_then(|at| at.checked_add(packed)).ok_or_else(outside)?;
        if at > end || page.values < 0 {
            return Err(outside());
        }
        if unpacked > most {
            return Err(Damage::new("it states a page that is larger than any page should be"));
        }
        largest = largest.max(unpacked);
        coded = match page.dictionary {
            true => Some(page.values as u64).filter(|_| first),
            false => coded.filter(|_| page.coded && page.levels),
        };
        first = false;
        if page.dictionary {
            if page.values as u64 > unpacked.saturating_mul(8) {
                return Err(Damage::new("it states more values than their bytes can hold"));
            }
            long |= texts && unpacked > SHORT;
        } else {
            values += page.values;
            room = room.max(unpacked / page.values.max(1) as u64);
        }
    }
    Ok(Checked { coded, largest, room, long })
}

/// How long the longest text of a column's dictionary is.
fn longest(file: &Arc<File>, chunk: &ColumnChunkMetaData) -> Result<u64, Damage> {
    let values = usize::try_from(chunk.num_values()).unwrap_or(usize::MAX);
    let page = contained(|| SerializedPageReader::new(file.clone(), chunk, values, None)?.get_next_page())??;
    let Some(page) = page else { return Ok(0) };
    let (mut rest, mut longest) = (page.buffer().as_ref(), 0);
    if chunk.column_type() == Type::FIXED_LEN_BYTE_ARRAY {
        return Ok(u64::try_from(chunk.column_descr().type_length()).unwrap_or(0));
    }
    while let Some((length, texts)) = rest.split_first_chunk::<4>() {
        let length = u32::from_le_bytes(*length);
        longest = longest.max(u64::from(length));
        rest = texts.get(length as usize..).ok_or_else(|| Damage::new("a dictionary ends within a text"))?;
    }
    Ok(longest)
}

/// Reads the header of the page at a place.
fn page_at<R: Read + Seek>(from: &mut R, at: u64, end: u64) -> Result<Page, Damage> {
    // A header may hold the least and the greatest value, and these may be long.
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
            (of @ (5 | 7 | 8), 12) => header.structure(1, &mut |own, field, kind| {
                match (of, field, kind) {
                    (_, 1, 5) => page.values = own.number()?,
                    (5, 2, 5) => page.coded = CODED.contains(&own.number()?),
                    (5, 3, 5) => page.levels = own.number()? == RUNS,
                    (8, 4, 5) => (page.coded, page.levels) = (CODED.contains(&own.number()?), true),
                    _ => return Some(false),
                }
                Some(true)
            })?,
            _ => return Some(false),
        }
        Some(true)
    })?;
    page.header = compact.read() as u64;
    Some(page)
}
