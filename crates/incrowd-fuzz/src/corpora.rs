//! Sound inputs to begin with. We make them all; none has anything about anybody.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::Int16Type;
use arrow_array::{
    ArrayRef, Date32Array, Decimal128Array, DictionaryArray, Float64Array, Int32Array, NullArray,
    RecordBatch, StringArray, StringViewArray, TimestampMillisecondArray,
};
use arrow_schema::{Field, Schema};
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

/// In every cell; no message may hold it.
pub(crate) const CANARY: &str = "Zaunkoenig";

pub(crate) fn tables() -> Vec<Vec<u8>> {
    let mut plain = "age,city,born,disease\n".to_owned();
    for i in 0..12 {
        plain +=
            &format!("{},{CANARY} {},19{}-03-0{},{CANARY}{}\n", 20 + i * 3, i % 4, 50 + i, 1 + i % 9, i % 3);
    }
    let quoted = plain.replace(',', "\",\"").replace('\n', "\"\r\n\"");
    let quoted = format!("\"{}", quoted.trim_end_matches('"'));
    let semicolons = plain.replace(',', ";").replace("20;", "?;");
    vec![plain.into_bytes(), quoted.into_bytes(), semicolons.into_bytes()]
}

fn batch(part: usize) -> RecordBatch {
    let n = || 0..5i32;
    let word = |i: i32| format!("{CANARY} {}", i % 3);
    let words: Vec<Option<String>> = n().map(|i| (i != 2).then(|| word(i))).collect();
    let texts = || words.iter().map(Option::as_deref);
    let mut lists = ListBuilder::new(StringBuilder::new());
    n().for_each(|i| lists.append_value((0..i % 3).map(|j| Some(word(j)))));
    let money = Decimal128Array::from_iter_values(n().map(i128::from)).with_precision_and_scale(9, 2);
    let columns: Vec<(&str, ArrayRef)> = match part {
        0 => vec![
            ("number", Arc::new(Int32Array::from_iter(n().map(|i| (i != 1).then_some(i))))),
            ("text", Arc::new(StringArray::from_iter(texts()))),
            ("word", Arc::new(texts().collect::<DictionaryArray<Int16Type>>())),
            ("real", Arc::new(Float64Array::from_iter_values(n().map(|i| f64::from(i) / 3.0)))),
        ],
        _ => vec![
            ("view", Arc::new(StringViewArray::from_iter(texts()))),
            ("day", Arc::new(Date32Array::from_iter_values(n().map(|i| i * 400)))),
            (
                "moment",
                Arc::new(TimestampMillisecondArray::from_iter_values(
                    n().map(|i| i64::from(i) * 123_456_789),
                )),
            ),
            ("money", Arc::new(money.expect("two places of nine"))),
            ("list", Arc::new(lists.finish())),
            ("nothing", Arc::new(NullArray::new(5))),
        ],
    };
    let field = |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, array)| array).collect())
        .expect("columns fit")
}

pub(crate) fn arrow_files() -> Vec<Vec<u8>> {
    let file = |part| {
        let batch = batch(part);
        let mut writer = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &batch.schema()).expect("memory");
        writer.write(&batch).expect("memory");
        writer.write(&batch.slice(1, 3)).expect("memory");
        writer.finish().expect("memory");
        writer.into_inner().expect("memory")
    };
    vec![file(0), file(1)]
}

pub(crate) fn parquet_files() -> Vec<Vec<u8>> {
    let file = |part, compression| {
        let batch = batch(part);
        let properties = WriterProperties::builder().set_compression(compression).build();
        let mut bytes = Vec::new();
        let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties))
            .expect("memory");
        writer.write(&batch).expect("memory");
        writer.close().expect("memory");
        bytes
    };
    let zstd = Compression::ZSTD(Default::default());
    vec![file(0, Compression::UNCOMPRESSED), file(0, zstd), file(1, Compression::SNAPPY)]
}

pub(crate) fn hierarchies() -> Vec<Vec<u8>> {
    let line = |i: usize| format!("{CANARY} {i};{CANARY} group {};*\n", i / 2);
    let lines: String = (0..6).map(line).collect();
    let tree = format!(
        "[West]\n\"{CANARY} group\" = [\"{CANARY} 1\", \"{CANARY} 2\"]\n[East]\nb = [\"{CANARY} 3\", 4]\n"
    );
    vec![lines.replace(';', ",").into_bytes(), lines.into_bytes(), tree.into_bytes()]
}

pub(crate) fn jobs() -> Vec<Vec<u8>> {
    let job = r#"[input]
path = "t.csv"
missing = ["", "?"]

[output]
path = "out.csv"

[columns]
age = { role = "quasi", kind = "numeric", domain = [0, 120] }
city = { role = "quasi", hierarchy = { tree = { West = ["a", "b"], East = ["c"] } } }
zip = { role = "quasi", hierarchy = { mask = { char = "*", from = "right" } } }
born = { role = "quasi", hierarchy = { intervals = { width = 5, levels = 3 } } }
disease = { role = "sensitive", categories = { "Top" = ["x"], "Low" = ["y"] } }

[[models]]
name = "k-anonymity"
k = 3

[[models]]
name = "t-closeness"
t = 0.25
on = "disease"

[algorithm]
name = "mondrian"
suppression_limit = 0.05
"#;
    let mut corpus = tables();
    corpus.truncate(1);
    corpus.insert(0, job.as_bytes().to_vec());
    corpus
}
