//! Reads releases with independent readers.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use arrow_array::{Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::common::Cell;

/// The header and the records of a release, in its order.
pub(crate) fn read(path: &Path) -> (Vec<String>, Vec<Vec<Cell>>) {
    let name = path.file_name().unwrap().to_str().unwrap();
    if name.ends_with(".parquet") || name.ends_with(".arrow") {
        return typed(&batches(path));
    }
    let (file, mut bytes) = (File::open(path).unwrap(), Vec::new());
    match name.rsplit_once('.').unwrap().1 {
        "gz" => flate2::read::MultiGzDecoder::new(file).read_to_end(&mut bytes),
        "zst" => zstd::stream::read::Decoder::new(file).unwrap().read_to_end(&mut bytes),
        _ => std::io::BufReader::new(file).read_to_end(&mut bytes),
    }
    .unwrap();
    let delimiter = if name.contains(".tsv") { b'\t' } else { b',' };
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(bytes.as_slice());
    let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let records = reader.records().map(|r| r.unwrap().iter().map(|c| Some(c.to_owned())).collect());
    (header, records.collect())
}

/// The batches of a typed file.
pub(crate) fn batches(path: &Path) -> Vec<RecordBatch> {
    let file = File::open(path).unwrap();
    if path.extension().unwrap() == "parquet" {
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        reader.map(Result::unwrap).collect()
    } else {
        arrow_ipc::reader::FileReader::try_new(file, None).unwrap().map(Result::unwrap).collect()
    }
}

pub(crate) fn typed(batches: &[RecordBatch]) -> (Vec<String>, Vec<Vec<Cell>>) {
    let header = batches[0].schema().fields().iter().map(|f| f.name().clone()).collect();
    let mut records = Vec::new();
    for batch in batches {
        let texts: Vec<StringArray> = batch
            .columns()
            .iter()
            .map(|c| arrow_cast::cast(c, &DataType::Utf8).unwrap())
            .map(|c| c.as_any().downcast_ref::<StringArray>().unwrap().clone())
            .collect();
        let cell = |c: &StringArray, r: usize| c.is_valid(r).then(|| c.value(r).to_owned());
        records.extend(
            (0..batch.num_rows()).map(|r| texts.iter().map(|c| cell(c, r)).collect::<Vec<_>>()),
        );
    }
    (header, records)
}

pub(crate) fn sorted(mut records: Vec<Vec<Cell>>) -> Vec<Vec<Cell>> {
    records.sort();
    records
}
