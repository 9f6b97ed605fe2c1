//! Reads a row group of a Parquet file in batches. Dictionary-encoded columns are read as
//! [codes](super::keys). The Parquet library reads the other columns.

use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{RecordBatch, RecordBatchOptions, StringArray};
use arrow_schema::Schema;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

use super::contain::contained;
use super::keys::{self, Keys};
use super::{Damage, pages};

/// Records per batch.
const BATCH: usize = 1 << 15;

/// A decoded batch.
pub(super) struct Read {
    pub(super) batch: RecordBatch,
    /// Dictionary-encoded columns, which are not in `batch`.
    pub(super) coded: Vec<Coded>,
    pub(super) records: usize,
}

/// A column as codes and texts.
pub(super) struct Coded {
    pub(super) position: usize,
    pub(super) codes: Vec<u32>,
    pub(super) texts: StringArray,
}

impl From<RecordBatch> for Read {
    fn from(batch: RecordBatch) -> Read {
        Read { records: batch.num_rows(), coded: Vec::new(), batch }
    }
}

/// Reader of a row group.
pub(super) struct RowGroup<'a> {
    coded: Vec<(usize, Keys)>,
    others: Option<ParquetRecordBatchReader>,
    left: usize,
    /// Records per batch.
    step: usize,
    /// Lock that prevents other threads from reading another large row group at the same time.
    _alone: Option<MutexGuard<'a, ()>>,
}

impl<'a> RowGroup<'a> {
    /// Opens the columns at these positions. Positions of columns read as codes are removed from
    /// the list.
    pub(super) fn open(
        file: File,
        metadata: &ArrowReaderMetadata,
        group: usize,
        kept: &mut Vec<usize>,
        large: &'a Mutex<()>,
    ) -> Result<RowGroup<'a>, Damage> {
        let length = file.metadata()?.len();
        let file = Arc::new(file);
        let schema = metadata.parquet_schema();
        let fields = metadata.schema().fields();
        let flat = schema.num_columns() == fields.len();
        let own = metadata.metadata().row_group(group);
        let mask = ProjectionMask::roots(schema, kept.iter().copied());
        let wanted = own.columns().iter().enumerate().filter(|(leaf, _)| mask.leaf_included(*leaf));
        let mut checked = Vec::new();
        for (leaf, chunk) in wanted {
            checked.push((leaf, chunk, pages::check_pages(&file, chunk, length)?));
        }
        let unpacked: Vec<u64> = checked.iter().map(|(_, _, own)| own.unpacked).collect();
        let alone = pages::check_together(&unpacked, length)?
            .then(|| large.lock().unwrap_or_else(PoisonError::into_inner));
        let (mut coded, mut room) = (Vec::new(), Vec::new());
        for (leaf, chunk, checked) in checked {
            if flat && keys::are_read(chunk, &checked, fields[leaf].data_type()) {
                coded.push((leaf, Keys::open(file.clone(), chunk, &checked)?));
            } else {
                room.push(checked.room(&file, chunk)?);
            }
        }
        let step = pages::records_of_batch(&room, BATCH);
        let left = usize::try_from(own.num_rows()).unwrap_or(0);
        kept.retain(|position| coded.iter().all(|(own, _)| own != position));
        let mut others = None;
        if !kept.is_empty() || coded.is_empty() {
            let mask = ProjectionMask::roots(schema, kept.iter().copied());
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(
                file.try_clone()?,
                metadata.clone(),
            );
            let builder =
                builder.with_projection(mask).with_row_groups(vec![group]).with_batch_size(step);
            others = Some(contained(|| builder.build())??);
        }
        Ok(RowGroup { coded, others, left, step, _alone: alone })
    }

    fn read(&mut self) -> Result<Option<Read>, Damage> {
        let other = match &mut self.others {
            Some(others) => contained(|| others.next())?.transpose()?,
            None => None,
        };
        let few = || Damage::new("a column does not have as many values as there are records");
        let records = match (&other, &self.others) {
            (Some(batch), _) => batch.num_rows(),
            (None, Some(_)) => 0,
            (None, None) => self.left.min(self.step),
        };
        if !self.coded.is_empty() && records != self.left.min(self.step) {
            return Err(few());
        }
        if records == 0 {
            return Ok(other.map(Read::from));
        }
        self.left = self.left.saturating_sub(records);
        let mut coded = Vec::with_capacity(self.coded.len());
        for (position, keys) in &mut self.coded {
            let codes = keys.read(records)?;
            coded.push(Coded { position: *position, codes, texts: keys.texts().clone() });
        }
        let batch = match other {
            Some(batch) => batch,
            None => {
                let options = RecordBatchOptions::new().with_row_count(Some(records));
                RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &options)?
            }
        };
        Ok(Some(Read { batch, coded, records }))
    }
}

impl Iterator for RowGroup<'_> {
    type Item = Result<Read, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Options, open_part};
    use super::super::{TypedFile, file, section, text};
    use super::*;
    use crate::source::Records;
    use arrow_array::{Array, ArrayRef, Int32Array, Int64Array};
    use arrow_schema::{DataType, Field};
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
            let (part, _) = open_part(&path, &Options::default()).unwrap();
            let Some(TypedFile::Parquet(metadata)) = &part.typed else { panic!("it is Parquet") };
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
                // Columns with few distinct values are read as codes.
                let mut kept = vec![3, 4];
                let own = RowGroup::open(file(&part).unwrap(), metadata, at, &mut kept, &large).unwrap();
                prop_assert_eq!((own.coded.len(), kept.is_empty()), (2, true));
                prop_assert_eq!(own.coded[0].1.texts().data_type(), &DataType::Utf8);
            }
        }
    }
}
