//! Reads a row group of a Parquet file in batches, after its stated sizes were checked.

use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

use super::contain::contained;
use super::{Damage, pages};

/// Records per batch.
const BATCH: usize = 1 << 15;

/// Reader of a row group.
pub(super) struct RowGroup<'a> {
    batches: ParquetRecordBatchReader,
    /// Lock that prevents other threads from reading another large row group at the same time.
    _alone: Option<MutexGuard<'a, ()>>,
}

impl<'a> RowGroup<'a> {
    /// Opens the columns at these positions.
    pub(super) fn open(
        file: File,
        metadata: &ArrowReaderMetadata,
        group: usize,
        kept: &[usize],
        large: &'a Mutex<()>,
    ) -> Result<RowGroup<'a>, Damage> {
        let length = file.metadata()?.len();
        let file = Arc::new(file);
        let own = metadata.metadata().row_group(group);
        let mask = ProjectionMask::roots(metadata.parquet_schema(), kept.iter().copied());
        let wanted = own.columns().iter().enumerate().filter(|(leaf, _)| mask.leaf_included(*leaf));
        let mut checked = Vec::new();
        for (_, chunk) in wanted {
            checked.push((chunk, pages::check_pages(&file, chunk, length)?));
        }
        let unpacked: Vec<u64> = checked.iter().map(|(_, own)| own.unpacked).collect();
        let alone = pages::check_together(&unpacked, length)?
            .then(|| large.lock().unwrap_or_else(PoisonError::into_inner));
        let records = u64::try_from(own.num_rows()).unwrap_or(0);
        let room = checked.into_iter().map(|(chunk, own)| own.room(&file, chunk, records, length));
        let step = pages::records_of_batch(&room.collect::<Result<Vec<_>, _>>()?, BATCH);
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(file.try_clone()?, metadata.clone());
        let builder =
            builder.with_projection(mask).with_row_groups(vec![group]).with_batch_size(step);
        Ok(RowGroup { batches: contained(|| builder.build())??, _alone: alone })
    }
}

impl Iterator for RowGroup<'_> {
    type Item = Result<RecordBatch, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        match contained(|| self.batches.next()) {
            Ok(batch) => batch.map(|batch| batch.map_err(Damage::from)),
            Err(panicked) => Some(Err(panicked.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Options, open_file};
    use super::super::{TypedFile, section, text};
    use super::*;
    use crate::source::Records;
    use arrow_array::{Array, ArrayRef, Int32Array, Int64Array, StringArray};
    use arrow_schema::{Field, Schema};
    use parquet::basic::Compression;
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use proptest::prelude::*;

    fn write(
        path: &std::path::Path,
        numbers: &[Option<i64>],
        nullable: bool,
        properties: WriterProperties,
    ) {
        let word = |n: &Option<i64>| {
            n.map(|n| if n % 5 == 0 { String::new() } else { format!("wörd {n}") })
        };
        let texts: StringArray = numbers.iter().map(word).collect();
        let few: StringArray =
            numbers.iter().map(|n| n.map(|n| if n < 0 { "f" } else { "m" })).collect();
        let nothing: StringArray = numbers.iter().map(|_| None::<&str>).collect();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(numbers.to_vec())),
            Arc::new(texts),
            Arc::new(Int32Array::from_iter(numbers.iter().map(|n| n.map(|n| n as i32 % 3)))),
            Arc::new(few),
            Arc::new(nothing),
        ];
        let nulls = |at: usize| nullable || at == 4;
        let field = |(at, array): (usize, &ArrayRef)| {
            Field::new(format!("c{at}"), array.data_type().clone(), nulls(at))
        };
        let schema =
            Arc::new(Schema::new(columns.iter().enumerate().map(field).collect::<Vec<_>>()));
        let batch = RecordBatch::try_new(schema.clone(), columns).unwrap();
        let to = File::create(path).unwrap();
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(to, schema, Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        /// Pages of all encodings. If a dictionary grows too large, the writer continues with plain
        /// pages.
        #[test]
        fn columns_are_what_the_library_reads(
            numbers in prop::collection::vec(prop::option::weighted(0.8, prop_oneof![-3..3_i64, -300..300_i64]), 1..700),
            all in any::<bool>(),
            (version, packed) in (any::<bool>(), 0..3_usize),
            (page, dictionary, group) in (1usize..400, prop_oneof![Just(1usize << 20), 60..4000_usize], 1usize..900),
            wanted in prop::collection::vec(0usize..5, 1..7),
        ) {
            let numbers: Vec<Option<i64>> = if all { numbers.iter().map(|n| n.or(Some(0))).collect() } else { numbers };
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("t.parquet");
            let properties = WriterProperties::builder()
                .set_writer_version(if version { WriterVersion::PARQUET_1_0 } else { WriterVersion::PARQUET_2_0 })
                .set_compression([Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(Default::default())][packed])
                .set_data_page_row_count_limit(page)
                .set_write_batch_size(page)
                .set_dictionary_page_size_limit(dictionary)
                .set_max_row_group_row_count(Some(group));
            write(&path, &numbers, !all, properties.build());
            let (part, _) = open_file(&path, &Options::default()).unwrap();
            assert!(matches!(part.typed(), Some(TypedFile::Parquet(_))), "it is Parquet");
            let plain = ArrowReaderMetadata::load(&File::open(&path).unwrap(), Default::default()).unwrap();
            for at in 0..plain.metadata().num_row_groups() {
                let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(File::open(&path).unwrap(), plain.clone());
                let twin: Vec<RecordBatch> =
                    builder.with_row_groups(vec![at]).build().unwrap().map(Result::unwrap).collect();
                let cells = |column: usize| -> Vec<Option<String>> {
                    let texts = |batch: &RecordBatch| text::text(batch.column(column)).unwrap();
                    twin.iter().flat_map(|b| texts(b).iter().map(|t| t.map(str::to_owned)).collect::<Vec<_>>()).collect()
                };
                let mut found: Vec<Vec<Option<String>>> = vec![Vec::new(); wanted.len()];
                let large = Mutex::new(());
                for batch in section(&part, at, &wanted, &large).unwrap() {
                    let batch = batch.unwrap();
                    for record in 0..batch.len() {
                        for (slot, found) in found.iter_mut().enumerate() {
                            let text = batch.get(record, slot);
                            found.push(text.map(|text| String::from_utf8(text.to_vec()).unwrap()));
                        }
                    }
                }
                for (slot, &column) in wanted.iter().enumerate() {
                    prop_assert_eq!(&found[slot], &cells(column), "column {}", column);
                }
            }
        }
    }
}
