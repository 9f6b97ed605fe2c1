//! Columns that are not generalized keep their types and values from one typed file to another.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray,
    Float32Array, Float64Array, Int8Array, Int64Array, LargeStringArray, RecordBatch, StringArray,
    StringViewArray, TimestampMicrosecondArray, UInt64Array,
};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field, Schema};
use incrowd_core::{ColumnSpec, Dataset, Partition, Plan, Result, RowId, Silent, Span};
use incrowd_engine::{Content, Embedded, Engine, Options, Order, Output, Places};

use crate::common::{spec, write, write_parquet};
use crate::read_back::{batches, read};

const RECORDS: i64 = 40;

fn columns() -> Vec<(&'static str, ArrayRef)> {
    let n = || 0..RECORDS;
    let some = |i: i64| i % 5 != 3;
    vec![
        ("id", Arc::new(Int64Array::from_iter_values(n()))),
        ("age", Arc::new(Int8Array::from_iter_values(n().map(|i| (i % 9) as i8)))),
        (
            "disease",
            Arc::new(StringArray::from_iter(n().map(|i| some(i).then(|| format!("d{}", i % 3))))),
        ),
        ("tiny", Arc::new(Int8Array::from_iter(n().map(|i| some(i).then_some((i - 20) as i8))))),
        (
            "huge",
            Arc::new(UInt64Array::from_iter(n().map(|i| some(i).then_some(u64::MAX - i as u64)))),
        ),
        (
            "single",
            Arc::new(Float32Array::from_iter(n().map(|i| some(i).then_some(i as f32 / 3.0)))),
        ),
        (
            "double",
            Arc::new(Float64Array::from_iter(
                n().map(|i| some(i).then_some(1e-300 / (i + 7) as f64)),
            )),
        ),
        ("flag", Arc::new(BooleanArray::from_iter(n().map(|i| some(i).then_some(i % 2 == 0))))),
        (
            "day",
            Arc::new(Date32Array::from_iter(n().map(|i| some(i).then_some(i as i32 * 400 - 3000)))),
        ),
        (
            "moment",
            Arc::new(
                TimestampMicrosecondArray::from_iter(
                    n().map(|i| some(i).then_some(i * 123_456_789_012_345)),
                )
                .with_timezone("+00:00"),
            ),
        ),
        (
            "money",
            Arc::new(
                Decimal128Array::from_iter(
                    n().map(|i| some(i).then_some(i128::from(i) * 1005 - 9)),
                )
                .with_precision_and_scale(20, 2)
                .unwrap(),
            ),
        ),
        (
            "long",
            Arc::new(LargeStringArray::from_iter(
                n().map(|i| some(i).then(|| "x\n".repeat(i as usize))),
            )),
        ),
        (
            "view",
            Arc::new(StringViewArray::from_iter(
                n().map(|i| some(i).then(|| format!("a much longer text {i}"))),
            )),
        ),
        (
            "words",
            Arc::new(
                n().map(|i| some(i).then_some(["", "a", "b"][i as usize % 3]))
                    .collect::<DictionaryArray<Int32Type>>(),
            ),
        ),
    ]
}

fn input(path: &Path, columns: &[(&'static str, ArrayRef)]) -> Arc<Schema> {
    let field =
        |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let arrays = columns.iter().map(|(_, array)| array.clone()).collect();
    write_parquet(path, schema.clone(), &[RecordBatch::try_new(schema.clone(), arrays).unwrap()]);
    schema
}

/// Publishes all records in one group. `sensitive` is folded. All other columns except the age are
/// passthrough columns.
fn publish(input: &Path, target: &Path, sensitive: &str) -> Result<()> {
    let mut engine = Embedded::open(&[input.to_owned()], &Options::default())?;
    let mut fold = spec(&["age", sensitive], &[], false);
    let passed = engine.columns().iter().filter(|name| *name != "age" && *name != sensitive);
    fold.passthrough = passed.cloned().collect();
    let data =
        Dataset::encode(engine.fold(&fold, &Silent)?, &[&ColumnSpec::default()], &[], "?").unwrap();
    let mut partition = Partition::new(1, data.rows());
    let codes = || (0..data.rows()).map(|row| incrowd_core::Code(data.quasi_codes(row)[0]));
    let span = Span { lo: codes().min().unwrap(), hi: codes().max().unwrap() };
    partition.add(&[span], (0..data.rows() as u32).map(RowId))?;
    let content = |name: &str| match name {
        "age" => Content::Quasi(0),
        name if name == sensitive => Content::Sensitive(0),
        _ => Content::Passthrough,
    };
    let columns = engine.columns().iter().map(|name| (name.clone(), content(name))).collect();
    let output =
        Output { columns, order: Order::Shuffled, missing: "?".to_owned(), ..Output::default() };
    let manifest = target.with_file_name("manifest.json");
    engine.begin(&Places { tables: vec![target.into()], manifest, ..Places::default() })?;
    engine.stage(0, &Plan::new(&data, &partition), &output, &Silent)?;
    engine.publish(b"{}")
}

/// Every record without its age, formatted, by id.
fn by_id(batches: &[RecordBatch]) -> BTreeMap<String, Vec<String>> {
    let options = FormatOptions::default().with_null("<null>");
    let mut rows = BTreeMap::new();
    for batch in batches {
        // Formatting a timestamp with a time zone requires a time zone database. Its integer value
        // is equivalent.
        let plain: Vec<ArrayRef> = batch
            .columns()
            .iter()
            .map(|column| match column.data_type() {
                DataType::Timestamp(_, Some(_)) => {
                    arrow_cast::cast(column, &DataType::Int64).unwrap()
                }
                _ => column.clone(),
            })
            .collect();
        let kept = plain.iter().enumerate().filter(|(i, _)| *i != 1);
        let formatters: Vec<_> =
            kept.map(|(_, column)| ArrayFormatter::try_new(column, &options).unwrap()).collect();
        for row in 0..batch.num_rows() {
            let cells: Vec<String> = formatters.iter().map(|f| f.value(row).to_string()).collect();
            assert!(rows.insert(cells[0].clone(), cells).is_none(), "an id is published twice");
        }
    }
    rows
}

#[test]
fn types_and_values_survive_from_parquet_to_typed_files() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in.parquet");
    let schema = input(&path, &columns());
    let original = by_id(&batches(&path));
    for sensitive in ["disease", "tiny", "double", "day", "moment", "money", "flag", "words"] {
        for target in ["out.parquet", "out.arrow"] {
            let target = dir.path().join(target);
            publish(&path, &target, sensitive).unwrap();
            let written = batches(&target);
            assert_eq!(written[0].num_columns(), schema.fields().len());
            for (field, own) in written[0].schema().fields().iter().zip(schema.fields()) {
                // An Arrow file has one dictionary per column. For a passthrough column it is
                // unknown at the start of the file.
                let spelled = target.ends_with("out.arrow")
                    && field.name() == "words"
                    && sensitive != "words";
                let own = if spelled { &DataType::Utf8 } else { own.data_type() };
                let kept = field.name() == "age" || field.data_type() == own;
                assert!(kept, "`{}` became {}", field.name(), field.data_type());
            }
            assert!(by_id(&written) == original, "{sensitive} as sensitive: other values");
        }
    }
}

/// A Parquet file has one dictionary for a column with few texts, and one per row group for many
/// long texts. Both columns contain nulls.
#[test]
fn few_and_many_texts_survive_in_parquet() {
    let dir = tempfile::tempdir().unwrap();
    let (path, target) = (dir.path().join("in.parquet"), dir.path().join("out.parquet"));
    let n = || 0..9_000i64;
    for (texts, length) in [(1, 3), (2, 0), (7, 40), (300, 9), (2_500, 300)] {
        for nulls in [false, true] {
            let text = |i: i64| {
                let nth = i * i % texts;
                (!nulls || i % 11 != 4).then(|| format!("{nth}{}", "x".repeat(length)))
            };
            let columns: Vec<(&'static str, ArrayRef)> = vec![
                ("id", Arc::new(Int64Array::from_iter_values(n()))),
                ("age", Arc::new(Int8Array::from_iter_values(n().map(|i| (i % 9) as i8)))),
                ("disease", Arc::new(StringArray::from_iter(n().map(text)))),
            ];
            input(&path, &columns);
            publish(&path, &target, "disease").unwrap();
            assert!(by_id(&batches(&target)) == by_id(&batches(&path)), "{texts} {length} {nulls}");
        }
    }
}

/// Timestamps as written by pandas, Spark and DuckDB.
#[test]
fn a_moment_in_a_named_time_zone_survives() {
    let dir = tempfile::tempdir().unwrap();
    let (path, target) = (dir.path().join("in.parquet"), dir.path().join("out.parquet"));
    let mut columns = columns();
    let moments =
        TimestampMicrosecondArray::from_iter_values((0..RECORDS).map(|i| i * 123_456_789_012_345));
    columns.push(("utc", Arc::new(moments.with_timezone("UTC"))));
    input(&path, &columns);
    publish(&path, &target, "disease").unwrap();
    let last =
        |batches: &[RecordBatch]| batches[0].schema().fields().last().unwrap().data_type().clone();
    assert_eq!(last(&batches(&target)), last(&batches(&path)));
    assert!(by_id(&batches(&target)) == by_id(&batches(&path)), "other values");
}

#[test]
fn bytes_that_are_no_text_are_not_published_as_nulls() {
    let dir = tempfile::tempdir().unwrap();
    let (path, target) = (dir.path().join("in.parquet"), dir.path().join("out.parquet"));
    let mut columns = columns();
    let blob = |i: i64| vec![0xff, i as u8];
    columns.push(("blob", Arc::new(BinaryArray::from_iter_values((0..RECORDS).map(blob)))));
    input(&path, &columns);
    match publish(&path, &target, "disease") {
        Ok(()) => assert!(by_id(&batches(&target)) == by_id(&batches(&path)), "other values"),
        Err(error) => assert!(error.message().contains("`blob`"), "{error}"),
    }
}

fn from_text(sensitive: &[&str]) -> Result<Vec<String>> {
    let dir = tempfile::tempdir().unwrap();
    let rows: String = sensitive.iter().enumerate().map(|(i, s)| format!("{i},3,{s}\n")).collect();
    let path = write(dir.path(), "in.csv", format!("id,age,salary\n{rows}").as_bytes());
    let target = dir.path().join("out.parquet");
    publish(&path, &target, "salary")?;
    let (_, mut records) = read(&target);
    records.sort_by_key(|r| r[0].as_deref().unwrap().parse::<u32>().unwrap());
    Ok(records.into_iter().map(|r| r[2].clone().unwrap()).collect())
}

#[test]
fn sensitive_numbers_of_a_text_table_become_numbers() {
    let dir = tempfile::tempdir().unwrap();
    for (salaries, expected) in
        [("1\n-2\n", DataType::Int64), ("1.5\n2\n", DataType::Float64), ("01\n2\n", DataType::Utf8)]
    {
        let rows: String = salaries.lines().map(|s| format!("7,3,{s}\n")).collect();
        let path = write(dir.path(), "in.csv", format!("id,age,salary\n{rows}").as_bytes());
        let target = dir.path().join("out.parquet");
        publish(&path, &target, "salary").unwrap();
        assert_eq!(batches(&target)[0].schema().field(2).data_type(), &expected);
    }
}

#[test]
fn sensitive_numbers_in_any_spelling_can_be_written_to_typed_files() {
    for spelling in [" 39", "39 ", "+39", "39.", ".5", "1e3"] {
        let written = from_text(&[spelling, "40"]).map_err(|e| e.message().to_owned());
        let number = |text: &str| text.trim().parse::<f64>().unwrap();
        let numbers = written.map(|texts| texts.iter().map(|t| number(t)).collect::<Vec<_>>());
        assert_eq!(numbers, Ok(vec![number(spelling), 40.0]), "{spelling:?}");
    }
}

#[test]
fn sensitive_numbers_too_long_for_their_type_are_not_rounded() {
    let long = ["12345678901234567890", "12345678901234567891"];
    assert_eq!(from_text(&long).unwrap(), long);
}

/// Dictionary columns of all text types are read as codes and give the same fold.
#[test]
fn texts_of_every_width_fold_alike() {
    let dir = tempfile::tempdir().unwrap();
    let text = |i: i64| {
        (i % 7 != 3).then(|| ["", "a", "ä long text of more than sixteen bytes"][i as usize % 3])
    };
    let n = || 0..RECORDS;
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("short", Arc::new(StringArray::from_iter(n().map(text)))),
        ("long", Arc::new(LargeStringArray::from_iter(n().map(text)))),
        ("view", Arc::new(StringViewArray::from_iter(n().map(text)))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let path = dir.path().join("texts.parquet");
    write_parquet(&path, batch.schema(), &[batch.slice(0, 25), batch.slice(25, 15)]);
    let folded = |column: &str| {
        let folded = crate::common::fold(
            std::slice::from_ref(&path),
            &Options::default(),
            &spec(&[column], &["a"], false),
        )
        .unwrap();
        let row = |r: usize| {
            (folded.columns[0].texts[folded.row(r)[0] as usize].clone(), folded.weights[r])
        };
        let mut rows: Vec<(String, u64)> = (0..folded.rows()).map(row).collect();
        rows.sort();
        (rows, folded.missing.clone())
    };
    let expected = folded("short");
    assert_eq!(expected.0.iter().map(|row| row.1).sum::<u64>(), RECORDS as u64);
    assert_eq!(folded("long"), expected);
    assert_eq!(folded("view"), expected);
}
