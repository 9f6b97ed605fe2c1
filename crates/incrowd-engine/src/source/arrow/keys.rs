//! Reads dictionary-encoded columns of a Parquet file as codes. The Parquet library copies and
//! checks the codes three times and builds arrays. This reader unpacks them once. The tests compare
//! it with the library's reader.

use std::cell::RefCell;
use std::fs::File;
use std::io::Cursor;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, StringArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use zstd::bulk::Decompressor;

use super::Damage;
use super::contain::contained;
use super::pages::Checked;
use super::runs::Runs;
use crate::cells::NO_TEXT;

/// Integer columns are read here only if each value occurs at least this often on average.
const OFTEN: u64 = 16;

/// Whether a column with this target type is read here.
pub(super) fn are_read(chunk: &ColumnChunkMetaData, checked: &Checked, becomes: &DataType) -> bool {
    let Some(values) = checked.coded else { return false };
    let column = chunk.column_descr();
    let kind = match (chunk.column_type(), becomes) {
        (Type::BYTE_ARRAY, DataType::Dictionary(_, texts)) => **texts == DataType::Utf8,
        (Type::INT32, DataType::Int32) | (Type::INT64, DataType::Int64) => {
            values.saturating_mul(OFTEN) <= u64::try_from(chunk.num_values()).unwrap_or(0)
        }
        _ => false,
    };
    kind && column.max_rep_level() == 0 && column.max_def_level() <= 1
}

/// Reader for the codes of a column in a row group.
pub(super) struct Keys {
    pages: SerializedPageReader<File>,
    /// Size of the largest page, if the pages are decompressed here with Zstandard.
    packed: Option<usize>,
    /// Text of each dictionary entry.
    texts: StringArray,
    /// Whether the column may contain nulls.
    optional: bool,
    page: Option<OpenPage>,
}

/// The current data page.
struct OpenPage {
    bytes: Bytes,
    /// Definition levels: 1 for every record with a value. `None` if no record is null.
    levels: Option<Runs>,
    keys: Runs,
    /// Records not yet read.
    left: usize,
}

thread_local! {
    /// Decompression context, reused by the thread.
    static UNPACK: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

fn unfit() -> Damage {
    Damage::new("its parts do not fit together")
}

impl Keys {
    pub(super) fn open(
        file: Arc<File>,
        chunk: &ColumnChunkMetaData,
        checked: &Checked,
    ) -> Result<Keys, Damage> {
        let records = usize::try_from(chunk.num_values()).map_err(|_| unfit())?;
        let mut packed = None;
        let mut own = chunk.clone();
        if let Compression::ZSTD(_) = chunk.compression() {
            // The library would allocate a compression and a decompression context for every column
            // chunk.
            packed = Some(usize::try_from(checked.largest).map_err(|_| unfit())?);
            own = own.into_builder().set_compression(Compression::UNCOMPRESSED).build()?;
        }
        let pages = contained(|| SerializedPageReader::new(file, &own, records, None))??;
        let optional = chunk.column_descr().max_def_level() > 0;
        let mut keys =
            Keys { pages, packed, texts: StringArray::new_null(0), optional, page: None };
        let page = keys.next_page()?;
        let plain = matches!(page.encoding(), Encoding::PLAIN | Encoding::PLAIN_DICTIONARY);
        if !page.is_dictionary_page() || !plain {
            return Err(unfit());
        }
        let bytes = keys.unpacked(&page)?;
        let texts = values(&bytes, page.num_values() as usize, chunk.column_type());
        keys.texts = texts.ok_or_else(unfit)?;
        Ok(keys)
    }

    /// Text of each dictionary entry.
    pub(super) fn texts(&self) -> &StringArray {
        &self.texts
    }

    fn next_page(&mut self) -> Result<Page, Damage> {
        let page = contained(|| self.pages.get_next_page())??;
        page.ok_or_else(|| {
            Damage::new("a column does not have as many values as there are records")
        })
    }

    /// Returns the decompressed bytes of a page.
    fn unpacked(&self, page: &Page) -> Result<Bytes, Damage> {
        let (plain, packed) = match page {
            Page::DataPageV2 {
                def_levels_byte_len, rep_levels_byte_len, is_compressed, ..
            } => (
                def_levels_byte_len.checked_add(*rep_levels_byte_len).ok_or_else(unfit)?,
                *is_compressed,
            ),
            _ => (0, true),
        };
        let Some(largest) = self.packed.filter(|_| packed) else {
            return Ok(page.buffer().clone());
        };
        let (plain, packed) = page.buffer().split_at_checked(plain as usize).ok_or_else(unfit)?;
        let mut bytes = Vec::with_capacity(largest.max(plain.len()));
        bytes.extend_from_slice(plain);
        if !packed.is_empty() {
            let mut out = Cursor::new(&mut bytes);
            out.set_position(plain.len() as u64);
            UNPACK.with_borrow_mut(|unpack| -> Result<(), Damage> {
                let unpack = match unpack {
                    Some(unpack) => unpack,
                    none => none.insert(Decompressor::new()?),
                };
                unpack.decompress_to_buffer(packed, &mut out).map(drop).map_err(|_| unfit())
            })?;
        }
        Ok(bytes.into())
    }

    /// Codes of the next records, with [`NO_TEXT`] for nulls.
    pub(super) fn read(&mut self, records: usize) -> Result<Vec<u32>, Damage> {
        let mut all = vec![0; records];
        let mut rest = &mut all[..];
        while !rest.is_empty() {
            let mut page = match self.page.take().filter(|page| page.left > 0) {
                Some(page) => page,
                None => {
                    let page = self.next_page()?;
                    OpenPage::new(&page, self.unpacked(&page)?, self.optional).ok_or_else(unfit)?
                }
            };
            let (own, after) = rest.split_at_mut(page.left.min(rest.len()));
            page.fill(own, self.texts.len()).ok_or_else(unfit)?;
            rest = after;
            self.page = Some(page);
        }
        Ok(all)
    }
}

impl OpenPage {
    fn new(page: &Page, own: Bytes, optional: bool) -> Option<OpenPage> {
        if !matches!(page.encoding(), Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY) {
            return None;
        }
        let bytes: &[u8] = &own;
        // Range of the definition levels.
        let (start, end) = match page {
            Page::DictionaryPage { .. } => return None,
            Page::DataPage { .. } if !optional => (0, 0),
            Page::DataPage { .. } => {
                let length = u32::from_le_bytes(*bytes.first_chunk()?);
                (4, usize::try_from(length).ok()?.checked_add(4)?)
            }
            Page::DataPageV2 {
                def_levels_byte_len: levels, rep_levels_byte_len: before, ..
            } => (*before as usize, (*before as usize).checked_add(*levels as usize)?),
        };
        let left = page.num_values() as usize;
        let mut levels = if optional { Some(Runs::new(1, start, end, bytes)?) } else { None };
        if levels.as_mut().is_some_and(|levels| levels.is_one(bytes, left) == Some(1)) {
            levels = None;
        }
        // A page with only nulls may have no codes.
        let keys = match bytes.get(end..)?.first() {
            Some(&width) => Runs::new(u32::from(width), end + 1, bytes.len(), bytes)?,
            None => Runs::new(0, end, end, bytes)?,
        };
        Some(OpenPage { levels, keys, left, bytes: own })
    }

    /// Reads the next codes. Each must be less than `values`.
    fn fill(&mut self, out: &mut [u32], values: usize) -> Option<()> {
        let bytes: &[u8] = &self.bytes;
        self.left -= out.len();
        let mut there = out.len();
        if let Some(levels) = &mut self.levels {
            levels.fill(bytes, out)?;
            there = out.iter().filter(|level| **level == 1).count();
        }
        if there == out.len() {
            self.keys.fill(bytes, out)?;
            let all = self.keys.highest() as usize;
            let highest = || out.iter().fold(0, |highest, key| highest.max(*key));
            return (out.is_empty() || all < values || (highest() as usize) < values).then_some(());
        }
        let mut own = vec![0; there];
        self.keys.fill(bytes, &mut own)?;
        let mut own = own.into_iter();
        for level in out {
            *level = if *level == 1 {
                own.next().filter(|key| (*key as usize) < values)?
            } else {
                NO_TEXT
            };
        }
        Some(())
    }
}

/// Decodes a dictionary page and converts the values to text.
fn values(bytes: &[u8], count: usize, kind: Type) -> Option<StringArray> {
    fn spelled<const N: usize>(
        bytes: &[u8],
        count: usize,
        number: fn([u8; N]) -> i64,
    ) -> Option<StringArray> {
        use std::fmt::Write;
        let mut texts = StringBuilder::new();
        for own in bytes.as_chunks::<N>().0.get(..count)? {
            write!(texts, "{}", number(*own)).ok()?;
            texts.append_value("");
        }
        Some(texts.finish())
    }
    match kind {
        Type::INT32 => spelled(bytes, count, |own| i64::from(i32::from_le_bytes(own))),
        Type::INT64 => spelled(bytes, count, i64::from_le_bytes),
        _ => {
            let (mut rest, mut texts, mut ends) = (bytes, Vec::with_capacity(bytes.len()), vec![0]);
            for _ in 0..count {
                let (length, after) = rest.split_first_chunk::<4>()?;
                let (text, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
                texts.extend_from_slice(text);
                ends.push(i32::try_from(texts.len()).ok()?);
                rest = after;
            }
            let ends = OffsetBuffer::new(ScalarBuffer::from(ends));
            StringArray::try_new(ends, Buffer::from_vec(texts), None).ok()
        }
    }
}
