//! Columns with one dictionary for the whole file, for columns with few texts. Threads encode pages
//! independently, and each row group repeats the dictionary. The dictionary contains all texts of
//! the file in sorted order. It therefore reveals neither suppressed texts nor the order of the
//! input.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use bytes::Bytes;
use parquet::basic::Compression;
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::TrackedWrite;
use parquet::schema::types::ColumnDescPtr;

use super::coded::{self, Pages, external};
use super::{ZSTD_LEVEL, hybrid};
use crate::cells::{Dictionary, NO_TEXT, Texts};

/// Number of codes that are looked up before they are packed.
const NEAR: usize = 1 << 12;

/// Records of a column, packed and compressed.
pub(crate) struct NumberedPage {
    texts: Arc<Texts>,
    records: u32,
    nulls: u64,
    body: Vec<u8>,
    /// Size of the body before compression.
    length: usize,
}

/// Maximum size in bytes of a dictionary that is repeated in every row group.
pub(crate) const MOST_BYTES: usize = 1 << 16;

thread_local! {
    /// Compressor and page buffer of the thread.
    static OWN: RefCell<Option<(zstd::bulk::Compressor<'static>, Vec<u8>)>> = const { RefCell::new(None) };
}

/// Encodes a page.
pub(crate) fn page(
    texts: &Arc<Texts>,
    dictionary: &Dictionary,
    codes: &[u32],
) -> Result<NumberedPage> {
    OWN.with_borrow_mut(|own| {
        let (compressor, room) = match own {
            Some(own) => own,
            None => {
                own.insert((zstd::bulk::Compressor::new(ZSTD_LEVEL).map_err(external)?, Vec::new()))
            }
        };
        room.clear();
        let nulls = fill(room, texts, dictionary, codes)?;
        let body = compressor.compress(room).map_err(external)?;
        let (texts, records) = (texts.clone(), codes.len() as u32);
        Ok(NumberedPage { texts, records, nulls, body, length: room.len() })
    })
}

/// Writes the body of a page. Returns the number of nulls.
fn fill(body: &mut Vec<u8>, texts: &Texts, dictionary: &Dictionary, codes: &[u32]) -> Result<u64> {
    let has_nulls = texts.has_nulls();
    body.extend_from_slice(&[0; 4]);
    if has_nulls {
        let levels: Vec<u32> = codes.iter().map(|code| u32::from(!texts.is_null(*code))).collect();
        hybrid::encode(&levels, 1, body);
    } else {
        hybrid::repeat(1, codes.len(), 1, body);
    }
    let length = body.len() as u32 - 4;
    body[..4].copy_from_slice(&length.to_le_bytes());
    let width = hybrid::width(dictionary.values.len());
    body.push(width);
    let present: Cow<'_, [u32]> = match has_nulls {
        true => codes.iter().copied().filter(|code| !texts.is_null(*code)).collect(),
        false => codes.into(),
    };
    let mut numbers = Vec::with_capacity(NEAR);
    for near in present.chunks(NEAR) {
        numbers.clear();
        numbers.extend(near.iter().map(|code| dictionary.places[*code as usize]));
        if numbers.iter().filter(|number| **number == NO_TEXT).count() > 0 {
            return Err(ParquetError::General("a text has no number".to_owned()));
        }
        hybrid::encode(&numbers, width, body);
    }
    Ok((codes.len() - present.len()) as u64)
}

/// Encodes a column of a row group. Returns the bytes and the metadata.
pub(super) fn encode(
    parts: Vec<NumberedPage>,
    column: &ColumnDescPtr,
    compression: Compression,
) -> Result<(Bytes, ColumnCloseResult)> {
    let mut chunk = TrackedWrite::new(Vec::new());
    let mut pages = Pages::new(&mut chunk)?;
    let own = parts.first().map(|part| part.texts.clone());
    let dictionary = own.as_ref().and_then(|texts| texts.numbered());
    let texts: Vec<&[u8]> = match dictionary.map(|own| own.values.as_string_opt::<i32>()) {
        Some(Some(texts)) => texts.iter().map(|text| text.unwrap_or_default().as_bytes()).collect(),
        _ => Vec::new(),
    };
    let mut written =
        coded::Written { dictionary_at: pages.dictionary(&texts)?, ..coded::Written::default() };
    for part in parts {
        let at = pages.data(part.body.into(), part.length, part.records)?;
        written.data_at.get_or_insert(at);
        written.records += u64::from(part.records);
        written.nulls += part.nulls;
    }
    (written.compressed, written.uncompressed) = pages.finish()?;
    // The minimum and the maximum are those of the whole file. They are bounds for every row group.
    let ends = texts.first().zip(texts.last()).map(|(least, most)| (*least, *most));
    let close = written.close(column, compression, ends, false)?;
    Ok((chunk.into_inner()?.into(), close))
}
