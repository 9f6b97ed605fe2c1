//! A column whose texts are known beforehand: each text is written once, into the dictionary page, and each record only as its
//! number there. The library would look at every text of every record again.

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::hybrid;
use super::{Codes, ZSTD_LEVEL};
use crate::cells::NO_TEXT;

/// Records per page.
const PAGE: usize = 1 << 16;
/// The longest text that statistics repeat.
const LONGEST: usize = 64;

/// The bytes of a column of a row group, and what the file says of it.
pub(super) fn encode(
    parts: &[Codes],
    column: &ColumnDescPtr,
    compression: Compression,
) -> Result<(Bytes, ColumnCloseResult)> {
    let mut chunk = TrackedWrite::new(Vec::new());
    let mut pages = Pages::new(&mut chunk)?;
    let records: usize = parts.iter().map(|part| part.codes.len()).sum();
    let Dictionary { local, used, nulls } = Dictionary::of(parts);
    let texts = parts.first().map(|part| &part.texts);
    let text = |code: &u32| texts.and_then(|texts| texts.get(*code)).unwrap_or_default();

    let mut plain = Vec::new();
    for text in used.iter().map(text) {
        plain.extend_from_slice(&(text.len() as u32).to_le_bytes());
        plain.extend_from_slice(text);
    }
    let count = used.len() as u32;
    let dictionary_at = pages.write(plain, |buf| Page::DictionaryPage {
        buf,
        num_values: count,
        encoding: Encoding::PLAIN,
        is_sorted: false,
    })?;

    let width = hybrid::width(used.len());
    let mut data_at = None;
    let (mut levels, mut numbers) = (Vec::with_capacity(PAGE), Vec::with_capacity(PAGE));
    let mut left = records;
    for &code in parts.iter().flat_map(|part| &part.codes) {
        levels.push(u32::from(code != NO_TEXT));
        if code != NO_TEXT {
            numbers.push(local[code as usize]);
        }
        left -= 1;
        if levels.len() < PAGE && left > 0 {
            continue;
        }
        let mut body = vec![0; 4];
        hybrid::encode(&levels, 1, &mut body);
        let length = body.len() as u32 - 4;
        body[..4].copy_from_slice(&length.to_le_bytes());
        body.push(width);
        hybrid::encode(&numbers, width, &mut body);
        let count = levels.len() as u32;
        let at = pages.write(body, |buf| Page::DataPage {
            buf,
            num_values: count,
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        })?;
        data_at.get_or_insert(at);
        levels.clear();
        numbers.clear();
    }
    let (compressed, uncompressed) = pages.finish()?;

    let ends = used.iter().map(text).min().zip(used.iter().map(text).max());
    let ends = ends.filter(|(least, most)| least.len().max(most.len()) <= LONGEST);
    let value = |text: &[u8]| ByteArray::from(text.to_vec());
    let (least, most) = ends.map(|(least, most)| (value(least), value(most))).unzip();
    let metadata = ColumnChunkMetaData::builder(column.clone())
        .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
        .set_compression(compression)
        .set_num_values(records as i64)
        .set_total_compressed_size(compressed)
        .set_total_uncompressed_size(uncompressed)
        .set_dictionary_page_offset(Some(dictionary_at))
        .set_data_page_offset(data_at.unwrap_or(compressed))
        .set_statistics(Statistics::new(least, most, None, Some(nulls), false))
        .build()?;
    let close = ColumnCloseResult {
        bytes_written: compressed as u64,
        rows_written: records as u64,
        metadata,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    Ok((chunk.into_inner()?.into(), close))
}

/// The texts that occur.
struct Dictionary {
    /// For each text its number among those that occur.
    local: Vec<u32>,
    /// Those that occur, in the order in which they do.
    used: Vec<u32>,
    nulls: u64,
}

impl Dictionary {
    fn of(parts: &[Codes]) -> Dictionary {
        let known = parts.first().map_or(0, |part| part.texts.len());
        let (mut local, mut used, mut nulls) = (vec![NO_TEXT; known], Vec::new(), 0);
        for &code in parts.iter().flat_map(|part| &part.codes) {
            if code == NO_TEXT {
                nulls += 1;
            } else if local[code as usize] == NO_TEXT {
                local[code as usize] = used.len() as u32;
                used.push(code);
            }
        }
        Dictionary { local, used, nulls }
    }
}

/// Pages one after the other.
struct Pages<'a> {
    writer: SerializedPageWriter<'a, Vec<u8>>,
    compressor: zstd::bulk::Compressor<'static>,
    compressed: i64,
    uncompressed: i64,
}

impl<'a> Pages<'a> {
    fn new(chunk: &'a mut TrackedWrite<Vec<u8>>) -> Result<Pages<'a>> {
        let compressor = zstd::bulk::Compressor::new(ZSTD_LEVEL).map_err(external)?;
        Ok(Pages { writer: SerializedPageWriter::new(chunk), compressor, compressed: 0, uncompressed: 0 })
    }

    /// Writes a page; tells where it starts.
    fn write(&mut self, body: Vec<u8>, page: impl FnOnce(Bytes) -> Page) -> Result<i64> {
        let packed = self.compressor.compress(&body).map_err(external)?;
        let written = self.writer.write_page(CompressedPage::new(page(packed.into()), body.len()))?;
        self.compressed += written.compressed_size as i64;
        self.uncompressed += written.uncompressed_size as i64;
        Ok(written.offset as i64)
    }

    fn finish(mut self) -> Result<(i64, i64)> {
        self.writer.close()?;
        Ok((self.compressed, self.uncompressed))
    }
}

fn external(error: std::io::Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}
