//! Arrow IPC files. Every length and offset in a file is checked against the size of the file
//! before memory is allocated.

use std::io::{Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::{FileDecoder, FileReader};
use arrow_schema::SchemaRef;
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
/// Accepted size of the texts of a schema in bytes, in any file. It is accepted in any case that
/// they are as large as the footer.
const TEXTS: usize = 16 << 20;

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
    let footer =
        arrow_ipc::root_as_footer(&footer).map_err(|_| Damage::new("its footer cannot be read"))?;
    // Many columns can refer to one text, and the library copies it for each of them.
    let schema = footer.schema();
    let fields = schema.and_then(|schema| schema.fields()).into_iter().flatten();
    let of_schema = schema.and_then(|schema| schema.custom_metadata()).into_iter().flatten();
    let of_file = footer.custom_metadata().into_iter().flatten();
    let texts = fields
        .map(|field| texts_of(&field))
        .fold(notes_of(of_schema.chain(of_file)), usize::saturating_add);
    if texts > TEXTS.max(stated) {
        return Err(Damage::new("the names of its columns are longer than its footer"));
    }
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

/// Size of the texts of a field and of the fields within it. The depth of the fields is limited,
/// because the footer was verified.
fn texts_of(field: &arrow_ipc::Field<'_>) -> usize {
    let zone = field.type_as_timestamp().and_then(|own| own.timezone());
    let notes = notes_of(field.custom_metadata().into_iter().flatten());
    let own = notes
        .saturating_add(field.name().map_or(0, str::len))
        .saturating_add(zone.map_or(0, str::len));
    let within = field.children().into_iter().flatten();
    within.map(|child| texts_of(&child)).fold(own, usize::saturating_add)
}

/// Size of the keys and values that a program added.
fn notes_of<'a>(notes: impl Iterator<Item = arrow_ipc::KeyValue<'a>>) -> usize {
    let size = |note: arrow_ipc::KeyValue<'a>| {
        note.key().map_or(0, str::len).saturating_add(note.value().map_or(0, str::len))
    };
    notes.map(size).fold(0, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::{DataType, Field, Schema, TimeUnit};

    #[test]
    fn the_texts_of_fields_within_fields_are_counted() {
        let zoned = DataType::Timestamp(TimeUnit::Second, Some("Europe/Vienna".into()));
        let within = Field::new("within", zoned, true);
        let noted = within.with_metadata([("key".to_owned(), "value".to_owned())].into());
        let around = Field::new("around", DataType::Struct(vec![noted].into()), true);
        let bytes =
            arrow_ipc::convert::IpcSchemaEncoder::new().schema_to_fb(&Schema::new(vec![around]));
        let schema = arrow_ipc::root_as_schema(bytes.finished_data()).unwrap();
        let sizes: Vec<usize> =
            schema.fields().into_iter().flatten().map(|field| texts_of(&field)).collect();
        assert_eq!(sizes, ["aroundwithinEurope/Viennakeyvalue".len()]);
    }
}
