//! Dictionary-encoded and integer cells give the same results as texts. Releases in memory use the
//! smallest key type.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use incrowd_core::{Code, ColumnSpec, Dataset, Partition, Plan, RowId, Silent, Span};
use incrowd_engine::{
    Batches, Content, Embedded, Engine, ExaminedColumns, FoldSpec, Order, Output, Places, Source,
};
use proptest::prelude::*;

use crate::common::{difference, spec};

/// The types that a column of integers can have, texts first.
fn forms() -> Vec<DataType> {
    use DataType::*;
    let dictionary =
        |keys: DataType, values: DataType| Dictionary(Box::new(keys), Box::new(values));
    let mut forms = vec![Utf8, LargeUtf8, Utf8View, Int8, Int16, Int32, Int64];
    forms.extend([Int8, Int16, Int32, Int64, UInt8, UInt32].map(|keys| dictionary(keys, Utf8)));
    forms.extend([
        dictionary(UInt32, Utf8View),
        dictionary(Int32, LargeUtf8),
        dictionary(Int16, Int64),
    ]);
    forms
}

/// A table of two columns of the given type, in batches of `records` records.
fn table(values: &[(Option<i64>, Option<i64>)], form: &DataType, records: usize) -> Batches {
    let field = |name: &str| Field::new(name, form.clone(), true);
    let schema = Arc::new(Schema::new(vec![field("a"), field("b")]));
    let column = |numbers: Vec<Option<i64>>| -> ArrayRef {
        let numbers: ArrayRef = Arc::new(Int64Array::from(numbers));
        let texts = arrow_cast::cast(&numbers, &DataType::Utf8).unwrap();
        let from = if matches!(form, DataType::Dictionary(_, to) if **to == DataType::Int64) {
            &numbers
        } else {
            &texts
        };
        arrow_cast::cast(from, form).unwrap()
    };
    let a = column(values.iter().map(|(a, _)| *a).collect());
    let b = column(values.iter().map(|(_, b)| *b).collect());
    let whole = RecordBatch::try_new(schema.clone(), vec![a, b]).unwrap();
    let starts = (0..values.len()).step_by(records);
    let parts = starts.map(|at| whole.slice(at, records.min(values.len() - at))).collect();
    Batches::new("numbers", schema, parts).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn numbers_fold_as_their_texts_do(
        values in prop::collection::vec((
            prop::option::weighted(0.9, -3..40_i64),
            prop::option::weighted(0.9, prop_oneof![0..9_i64, 90..100_i64]),
        ), 1..120),
        records in 1..50_usize,
        drop in any::<bool>(),
    ) {
        let spec = spec(&["b", "a"], &["?", "-1", "97", ""], drop);
        let fold = |form: &DataType| {
            let table = table(&values, form, records);
            Source::of_batches(&table).unwrap().fold(&spec, &Silent).unwrap()
        };
        let twin = fold(&DataType::Utf8);
        let names = ["a".to_owned(), "b".to_owned()];
        let beside = ExaminedColumns { columns: &names[..1], counts_only: false };
        let seen = |form: &DataType| {
            let source = Source::of_batches(&table(&values, form, records)).unwrap();
            let seen = source.read_release(&names[1..], beside, &Silent).unwrap().record_values;
            let mut first: Vec<u32> = Vec::new();
            // Codes depend on the threads, so only their equality is compared.
            seen.table.columns[0].codes.iter().map(|code| {
                let known = first.iter().position(|own| own == code);
                known.unwrap_or_else(|| { first.push(*code); first.len() - 1 })
            }).collect::<Vec<usize>>()
        };
        let alike = seen(&DataType::Utf8);
        for form in forms() {
            let folded = fold(&form);
            prop_assert_eq!(difference(&folded, &twin), None, "{}", form);
            prop_assert_eq!(&folded.marker, &twin.marker, "{}", form);
            prop_assert_eq!(seen(&form), alike.clone(), "{}", form);
        }
    }
}

/// Integers that are too large for direct lookup, and more distinct integers than records per
/// batch.
#[test]
fn large_and_many_numbers_fold_as_their_texts_do() {
    let number = |n: i64| (n * 7_919) % 70_001 * if n % 5 == 0 { 40_000_000_000 } else { 1 };
    let values: Vec<(Option<i64>, Option<i64>)> =
        (0..150_000).map(|n| (Some(number(n)), (n % 11 > 0).then_some(-(n % 70_000)))).collect();
    let spec = spec(&["a", "b"], &[""], false);
    let fold = |form: &DataType, records| {
        Source::of_batches(&table(&values, form, records)).unwrap().fold(&spec, &Silent).unwrap()
    };
    let twin = fold(&DataType::Utf8, 150_000);
    let coded = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8View));
    for form in [DataType::Int64, coded] {
        for records in [150_000, 7_001] {
            assert_eq!(difference(&fold(&form, records), &twin), None, "{form} {records}");
        }
    }
}

/// A release in memory with one group per age.
fn release(ages: usize) -> (Batches, RecordBatch) {
    let column: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..ages).map(|age| age.to_string())));
    let schema = Arc::new(Schema::new(vec![Field::new("age", DataType::Utf8, true)]));
    let whole = RecordBatch::try_new(schema.clone(), vec![column]).unwrap();
    let (mut engine, store) =
        Embedded::in_memory(&Batches::new("in", schema, vec![whole]).unwrap()).unwrap();
    let (tables, manifest) = (vec!["release.arrow".into()], "release.json".into());
    engine.begin(&Places { tables, manifest, ..Places::default() }).unwrap();
    let folded = engine.fold(&spec(&["age"], &[], false), &Silent).unwrap();
    let data = Dataset::encode(folded, &[&ColumnSpec::default()], &[], "?").unwrap();
    let mut partition = Partition::new(1, data.rows());
    for row in 0..data.rows() {
        let code = Code(data.quasi_codes(row)[0]);
        partition.add(&[Span { lo: code, hi: code }], [RowId(row as u32)]).unwrap();
    }
    let columns = vec![("age".to_owned(), Content::Quasi(0))];
    let output = Output { columns, order: Order::Shuffled, ..Output::default() };
    engine.stage(0, &Plan::new(&data, &partition), &output, &Silent).unwrap();
    let back =
        engine.read_back(0, &["age".to_owned()], ExaminedColumns::default(), &Silent).unwrap();
    assert_eq!((back.folded.rows(), back.folded.read), (ages, ages as u64));
    engine.publish(b"{}").unwrap();
    let (tables, _) = store.released().unwrap();
    let (schema, plain) = tables[0].batches().unwrap();
    (tables[0].table().unwrap(), arrow_select::concat::concat_batches(&schema, &plain).unwrap())
}

#[test]
fn codes_of_texts_take_as_few_bytes_as_possible() {
    use DataType::{Int8, Int16, Int32};
    for (ages, keys) in [(1, Int8), (128, Int8), (129, Int16), (32_768, Int16), (32_769, Int32)] {
        let (held, plain) = release(ages);
        let schema = held.schema();
        let DataType::Dictionary(own, _) = schema.field(0).data_type() else {
            panic!("no dictionary")
        };
        assert_eq!(**own, keys, "{ages}");
        assert_eq!(plain.schema().field(0).data_type(), &DataType::Utf8);
        let texts = plain.column(0).as_any().downcast_ref::<StringArray>().unwrap();
        let mut read: Vec<u32> = texts.iter().map(|text| text.unwrap().parse().unwrap()).collect();
        read.sort_unstable();
        assert!(read.into_iter().eq(0..ages as u32), "{ages}");
    }
}

/// A small file can give many records one long label. Its release must not have a copy of the label
/// for each of them.
#[test]
fn a_long_text_that_is_passed_through_is_stored_once() {
    let records = 20_000;
    let label = "x".repeat(30_000);
    let field = |name: &str, form: DataType| Field::new(name, form, true);
    let coded = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let schema = Arc::new(Schema::new(vec![field("age", DataType::Utf8), field("note", coded)]));
    let ages: StringArray = (0..records).map(|n| Some((n % 5).to_string())).collect();
    let texts: ArrayRef = Arc::new(StringArray::from(vec![label.as_str()]));
    let keys = arrow_array::Int32Array::from(vec![0; records]);
    let notes = arrow_array::DictionaryArray::new(keys, texts);
    let columns: Vec<ArrayRef> = vec![Arc::new(ages), Arc::new(notes)];
    let batch = RecordBatch::try_new(schema.clone(), columns).unwrap();
    let table = Batches::new("people", schema, vec![batch]).unwrap();
    let (mut engine, store) = Embedded::in_memory(&table).unwrap();
    let (tables, manifest) = (vec!["release.arrow".into()], "release.json".into());
    engine.begin(&Places { tables, manifest, ..Places::default() }).unwrap();
    let asked = FoldSpec { passthrough: vec!["note".into()], ..spec(&["age"], &[], false) };
    let folded = engine.fold(&asked, &Silent).unwrap();
    let data = Dataset::encode(folded, &[&ColumnSpec::default()], &[], "?").unwrap();
    let mut partition = Partition::new(1, data.rows());
    let rows = (0..data.rows() as u32).map(RowId);
    partition.add(&[Span { lo: Code(0), hi: Code(4) }], rows).unwrap();
    let columns =
        vec![("age".to_owned(), Content::Quasi(0)), ("note".to_owned(), Content::Passthrough)];
    let output = Output { columns, order: Order::Shuffled, ..Output::default() };
    engine.stage(0, &Plan::new(&data, &partition), &output, &Silent).unwrap();
    engine.read_back(0, &["age".to_owned()], ExaminedColumns::default(), &Silent).unwrap();
    engine.publish(b"{}").unwrap();
    let (tables, _) = store.released().unwrap();
    assert!(tables[0].bytes().len() < 2_000_000, "{}", tables[0].bytes().len());
    let (_, batches) = tables[0].batches().unwrap();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), records);
}
