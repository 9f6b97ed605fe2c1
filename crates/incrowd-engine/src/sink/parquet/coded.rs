//! Writer for dictionary-encoded columns. Each text is written once, into the dictionary page, and
//! each record as a code. The Parquet library would hash the text of every record again.

use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::hybrid;
use super::{Codes, ZSTD_LEVEL};
use crate::cells::NO_TEXT;

/// Records per page.
const PAGE: usize = 1 << 16;
/// Longest text in the statistics.
const LONGEST: usize = 64;

/// Encodes a column of a row group. Returns the bytes and the metadata.
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

    let mut written = Written { records: records as u64, nulls, ..Written::default() };
    written.dictionary_at = pages.dictionary(&used.iter().map(text).collect::<Vec<_>>())?;

    let width = hybrid::width(used.len());
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
        let packed = pages.compressor.compress(&body).map_err(external)?;
        let at = pages.data(packed.into(), body.len(), levels.len() as u32)?;
        written.data_at.get_or_insert(at);
        levels.clear();
        numbers.clear();
    }
    (written.compressed, written.uncompressed) = pages.finish()?;
    let ends = used.iter().map(text).min().zip(used.iter().map(text).max());
    let close = written.close(column, compression, ends, true)?;
    Ok((chunk.into_inner()?.into(), close))
}

/// Sizes and counts of an encoded column of a row group.
#[derive(Default)]
pub(super) struct Written {
    pub(super) records: u64,
    pub(super) nulls: u64,
    pub(super) dictionary_at: i64,
    pub(super) data_at: Option<i64>,
    pub(super) compressed: i64,
    pub(super) uncompressed: i64,
}

impl Written {
    /// Builds the metadata. `ends` are the least and the greatest text. `exact` states whether both
    /// occur.
    pub(super) fn close(
        self,
        column: &ColumnDescPtr,
        compression: Compression,
        ends: Option<(&[u8], &[u8])>,
        exact: bool,
    ) -> Result<ColumnCloseResult> {
        let ends = ends.filter(|(least, most)| least.len().max(most.len()) <= LONGEST);
        let value = |text: &[u8]| ByteArray::from(text.to_vec());
        let (least, most) = ends.map(|(least, most)| (value(least), value(most))).unzip();
        let statistics = ValueStatistics::new(least, most, None, Some(self.nulls), false)
            .with_min_is_exact(exact)
            .with_max_is_exact(exact);
        let metadata = ColumnChunkMetaData::builder(column.clone())
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
            .set_compression(compression)
            .set_num_values(self.records as i64)
            .set_total_compressed_size(self.compressed)
            .set_total_uncompressed_size(self.uncompressed)
            .set_dictionary_page_offset(Some(self.dictionary_at))
            .set_data_page_offset(self.data_at.unwrap_or(self.compressed))
            .set_statistics(Statistics::from(statistics))
            .build()?;
        Ok(ColumnCloseResult {
            bytes_written: self.compressed as u64,
            rows_written: self.records,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        })
    }
}

/// The dictionary of a row group, which has only the texts that occur.
struct Dictionary {
    /// For each text, its code in this dictionary, or `NO_TEXT` if it does not occur.
    local: Vec<u32>,
    /// The texts that occur, in order of first occurrence.
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

/// Sequential writer of pages.
pub(super) struct Pages<'a> {
    writer: SerializedPageWriter<'a, Vec<u8>>,
    compressor: zstd::bulk::Compressor<'static>,
    compressed: i64,
    uncompressed: i64,
}

impl<'a> Pages<'a> {
    pub(super) fn new(chunk: &'a mut TrackedWrite<Vec<u8>>) -> Result<Pages<'a>> {
        let compressor = zstd::bulk::Compressor::new(ZSTD_LEVEL).map_err(external)?;
        Ok(Pages {
            writer: SerializedPageWriter::new(chunk),
            compressor,
            compressed: 0,
            uncompressed: 0,
        })
    }

    /// Writes a dictionary page. Returns its offset.
    pub(super) fn dictionary(&mut self, texts: &[&[u8]]) -> Result<i64> {
        let mut plain = Vec::new();
        for text in texts {
            plain.extend_from_slice(&(text.len() as u32).to_le_bytes());
            plain.extend_from_slice(text);
        }
        let buf = self.compressor.compress(&plain).map_err(external)?.into();
        let num_values = texts.len() as u32;
        let page =
            Page::DictionaryPage { buf, num_values, encoding: Encoding::PLAIN, is_sorted: false };
        self.write(page, plain.len())
    }

    /// Writes a data page that is already compressed. Returns its offset.
    pub(super) fn data(&mut self, buf: Bytes, length: usize, records: u32) -> Result<i64> {
        let page = Page::DataPage {
            buf,
            num_values: records,
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        self.write(page, length)
    }

    fn write(&mut self, page: Page, length: usize) -> Result<i64> {
        let written = self.writer.write_page(CompressedPage::new(page, length))?;
        self.compressed += written.compressed_size as i64;
        self.uncompressed += written.uncompressed_size as i64;
        Ok(written.offset as i64)
    }

    pub(super) fn finish(mut self) -> Result<(i64, i64)> {
        self.writer.close()?;
        Ok((self.compressed, self.uncompressed))
    }
}

pub(super) fn external(error: std::io::Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}
