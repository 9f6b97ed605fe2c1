//! Arrow IPC files. Every length and offset in a file is checked against the size of the file
//! before memory is allocated.

use std::io::{Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::{FileDecoder, FileReader};
use arrow_schema::SchemaRef;
use flatbuffers::{InvalidFlatbuffer, VerifierOptions};
use rayon::prelude::*;

use super::Damage;
use super::contain::contained;

/// `ARROW1` and two bytes of padding.
const FRONT: u64 = 8;
/// Footer length and `ARROW1`.
const BACK: u64 = 10;
/// Maximum number of records in a batch. Runs and nulls take no bytes, so the file size does not
/// bound the number of records.
const MOST_RECORDS: usize = i32::MAX as usize;
/// Accepted size of a schema without shared parts: in any file, and as a multiple of its size with
/// them. The verifier counts some bytes several times. No writer shares a name.
const APPARENT: usize = 64 << 10;
const APPARENT_TIMES: usize = 4;

/// Opens a file and projects it to the columns `kept`.
pub(super) fn open<R: Read + Seek>(
    mut from: R,
    kept: Option<Vec<usize>>,
) -> Result<FileReader<R>, Damage> {
    check(&mut from)?;
    contained(|| FileReader::try_new(from, kept))?.map_err(Damage::from)
}

/// Reads the record batch with this index.
pub(super) fn batch_at<R: Read + Seek>(
    from: R,
    position: usize,
    kept: &[usize],
) -> Result<RecordBatch, Damage> {
    let mut reader = open(from, Some(kept.to_vec()))?;
    let batch = contained(|| {
        reader.set_index(position)?;
        reader.next().unwrap_or_else(|| Ok(RecordBatch::new_empty(reader.schema())))
    })??;
    match batch.num_rows() > MOST_RECORDS {
        true => Err(Damage::new("a batch states more records than there can be")),
        false => Ok(batch),
    }
}

/// Decodes all batches of a file whose bytes are in memory. No cell is copied.
pub(super) fn batches_in(bytes: &Buffer) -> Result<(SchemaRef, Vec<RecordBatch>), Damage> {
    check(&mut Cursor::new(bytes.as_slice()))?;
    contained(|| {
        let end = bytes.len() - BACK as usize;
        let stated: [u8; BACK as usize] =
            bytes[end..].try_into().map_err(|_| Damage::new("it ends too early"))?;
        let start = end - arrow_ipc::reader::read_footer_length(stated)?;
        let footer = arrow_ipc::root_as_footer(&bytes[start..end]);
        let footer = footer.map_err(|_| Damage::new("its footer cannot be read"))?;
        let schema = footer.schema().ok_or_else(|| Damage::new("it has no columns"))?;
        let schema = Arc::new(arrow_ipc::convert::fb_to_schema(schema));
        let mut decoder = FileDecoder::new(schema.clone(), footer.version());
        let of = |block: &arrow_ipc::Block| {
            let length = block.metaDataLength() as usize + block.bodyLength() as usize;
            bytes.slice_with_length(block.offset() as usize, length)
        };
        for block in footer.dictionaries().into_iter().flatten() {
            decoder.read_dictionary(block, &of(block))?;
        }
        // The decoder checks every dictionary key against the dictionary, so the batches are
        // decoded in parallel.
        let blocks: Vec<&arrow_ipc::Block> = footer.recordBatches().into_iter().flatten().collect();
        let read = |block: &&arrow_ipc::Block| {
            Ok::<_, Damage>(contained(|| decoder.read_record_batch(block, &of(block)))??)
        };
        let batches: Result<Vec<Option<RecordBatch>>, Damage> =
            blocks.par_iter().map(read).collect();
        Ok((schema, batches?.into_iter().flatten().collect()))
    })?
}

/// Checks that the footer and all blocks are within the file.
fn check<R: Read + Seek>(from: &mut R) -> Result<(), Damage> {
    let length = from.seek(SeekFrom::End(0))?;
    let end = length.checked_sub(BACK).filter(|end| *end >= FRONT);
    let end = end.ok_or_else(|| Damage::new("it ends too early"))?;
    from.seek(SeekFrom::Start(end))?;
    let mut back = [0; BACK as usize];
    from.read_exact(&mut back)?;
    let stated = contained(|| arrow_ipc::reader::read_footer_length(back))??;
    let start = end.checked_sub(stated as u64).filter(|start| *start >= FRONT);
    let start = start.ok_or_else(|| Damage::new("its footer is longer than the file"))?;
    from.seek(SeekFrom::Start(start))?;
    let mut footer = vec![0; stated];
    from.read_exact(&mut footer)?;
    let footer = arrow_ipc::root_as_footer_with_opts(&limits(footer.len()), &footer)
        .map_err(|error| refused(&error, "its footer cannot be read"))?;
    let blocks = footer.recordBatches().into_iter().chain(footer.dictionaries()).flatten();
    for block in blocks {
        let part = |n: i64| u64::try_from(n).ok();
        let (offset, body) = (part(block.offset()), part(block.bodyLength()));
        let metadata = part(i64::from(block.metaDataLength()));
        let after = offset.zip(metadata).and_then(|(a, b)| a.checked_add(b)).zip(body);
        let after = after.and_then(|(a, b)| a.checked_add(b));
        if after.is_none_or(|after| after > start) {
            return Err(Damage::new("it states a batch that lies outside of the file"));
        }
    }
    Ok(())
}

/// Limits for the verification of a footer or a message of this size. Its fields can share a name,
/// which the library copies for each field. A small file could thereby state gigabytes.
fn limits(size: usize) -> VerifierOptions {
    let max_apparent_size = size.saturating_mul(APPARENT_TIMES).saturating_add(APPARENT);
    VerifierOptions { max_apparent_size, ..Default::default() }
}

/// Describes what the verification found. Its own message may contain a part of the file.
fn refused(error: &InvalidFlatbuffer, other: &str) -> Damage {
    match error {
        InvalidFlatbuffer::ApparentSizeTooLarge | InvalidFlatbuffer::TooManyTables => {
            Damage::new("the names of its columns need much more than a file of its size should")
        }
        _ => Damage::new(other),
    }
}

/// Checks the Arrow schema that a Parquet file may contain, as the library finds it: a message in
/// base64, with or without a prefix.
pub(super) fn check_schema(encoded: &str) -> Result<(), Damage> {
    let bytes = from_base64(encoded);
    let message = match bytes.strip_prefix(&[0xff; 4]) {
        Some(rest) if rest.len() > 4 => &rest[4..],
        _ => bytes.as_slice(),
    };
    arrow_ipc::root_as_message_with_opts(&limits(message.len()), message)
        .map_err(|error| refused(&error, "its Arrow schema cannot be read"))?;
    Ok(())
}

/// Decodes base64. The library refuses all texts for which its result would differ.
fn from_base64(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut held, mut bits) = (0u32, 0);
    for letter in text.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => break,
        };
        held = (held << 6) | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((held >> bits) as u8);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use arrow_array::{ArrayRef, Int32Array};
    use arrow_schema::{DataType, Field, Schema, TimeUnit};
    use flatbuffers::FlatBufferBuilder;

    use super::*;

    /// A footer with fields that share one name.
    fn shared(fields: usize, length: usize) -> Vec<u8> {
        let mut builder = FlatBufferBuilder::new();
        let name = builder.create_string(&"n".repeat(length));
        let null = arrow_ipc::Null::create(&mut builder, &arrow_ipc::NullArgs {});
        let args = arrow_ipc::FieldArgs {
            name: Some(name),
            nullable: true,
            type_type: arrow_ipc::Type::Null,
            type_: Some(null.as_union_value()),
            ..Default::default()
        };
        let field = arrow_ipc::Field::create(&mut builder, &args);
        let fields = builder.create_vector(&vec![field; fields]);
        let args = arrow_ipc::SchemaArgs { fields: Some(fields), ..Default::default() };
        let schema = arrow_ipc::Schema::create(&mut builder, &args);
        let blocks = builder.create_vector::<arrow_ipc::Block>(&[]);
        let args = arrow_ipc::FooterArgs {
            version: arrow_ipc::MetadataVersion::V5,
            schema: Some(schema),
            recordBatches: Some(blocks),
            ..Default::default()
        };
        let footer = arrow_ipc::Footer::create(&mut builder, &args);
        builder.finish(footer, None);
        let footer = builder.finished_data();
        let length = (footer.len() as i32).to_le_bytes();
        [&b"ARROW1\0\0"[..], footer, &length, b"ARROW1"].concat()
    }

    #[test]
    fn fields_that_share_a_long_name_are_refused() {
        let error = open(Cursor::new(shared(100, 100_000)), None).map(|_| ()).unwrap_err();
        assert!(error.why.contains("names of its columns"), "{error:?}");
        let reader = open(Cursor::new(shared(3, 10)), None).unwrap();
        assert_eq!(reader.schema().fields().len(), 3);
    }

    /// Each field has metadata, and none shares a part with another.
    fn wide() -> Schema {
        let field = |i: usize| {
            let kind = match i % 3 {
                0 => DataType::Int32,
                1 => DataType::Timestamp(TimeUnit::Second, Some("Europe/Vienna".into())),
                _ => DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true))),
            };
            let metadata = HashMap::from([("k".to_owned(), i.to_string())]);
            Field::new(format!("c{i}"), kind, i.is_multiple_of(2)).with_metadata(metadata)
        };
        Schema::new((0..20_000).map(field).collect::<Vec<_>>())
    }

    #[test]
    fn schemas_of_many_columns_are_within_the_limits() {
        check_schema(&parquet::arrow::encode_arrow_schema(&wide())).unwrap();
        let bare = |i: usize| (format!("{i}"), Arc::new(Int32Array::from(vec![1])) as ArrayRef);
        let batch = RecordBatch::try_from_iter((0..20_000).map(bare)).unwrap();
        let schema = batch.schema();
        let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &schema).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let bytes = writer.into_inner().unwrap();
        assert_eq!(open(Cursor::new(bytes), None).unwrap().schema(), schema);
    }

    #[test]
    fn an_arrow_schema_that_is_no_schema_is_refused() {
        for encoded in ["", "/////w==", "not base64"] {
            assert!(check_schema(encoded).is_err(), "{encoded}");
        }
        assert_eq!(from_base64("aW5jcm93ZA=="), b"incrowd");
    }
}
