//! Columns of rare types, in every role and every format: the result is a release or an error about
//! the input, never a bug.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, ListBuilder};
use arrow_array::{ArrayRef, Date32Array, Decimal128Array, Int64Array, RecordBatch, UInt64Array};
use incrowd::job::{Job, RoleName};
use incrowd::{Anonymizer, Batches, Fault};

fn table() -> Batches {
    let n = || 0..12i64;
    let mut lists = ListBuilder::new(Int32Builder::new());
    n().for_each(|i| lists.append_value((0..i % 3).map(|j| Some((j * i) as i32))));
    let scaled = |scale| {
        let values = Decimal128Array::from_iter_values(n().map(|i| i128::from(i % 4)));
        Arc::new(values.with_precision_and_scale(9, scale).unwrap()) as ArrayRef
    };
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("age", Arc::new(Int64Array::from_iter_values(n()))),
        ("list", Arc::new(lists.finish())),
        ("rounded", scaled(-2)),
        ("money", scaled(2)),
        ("day", Arc::new(Date32Array::from_iter_values(n().map(|i| i as i32 * 10_000_000)))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    Batches::new("odd", batch.schema(), vec![batch]).unwrap()
}

#[test]
fn odd_types_are_published_or_refused() {
    let dir = tempfile::tempdir().unwrap();
    for output in ["text.csv", "arrow.arrow", "parquet.parquet"] {
        for column in ["list", "rounded", "money", "day"] {
            for role in ["quasi", "sensitive", "passthrough"] {
                let job = Job::of_batches(table()).output(dir.path().join(output)).k(3);
                let job = match role {
                    "quasi" => job.quasi(["age", column]),
                    "sensitive" => job.quasi(["age"]).sensitive([column]),
                    _ => job
                        .quasi(["age"])
                        .with_role([column], RoleName::Passthrough)
                        .unlinkable([column]),
                };
                match Anonymizer::new(&job).run() {
                    Ok(_) => assert_ne!(column, "day", "some of its days are in no calendar"),
                    Err(error) => {
                        assert_ne!(
                            error.fault(),
                            Fault::Bug,
                            "{column} as {role} in {output}: {error}"
                        );
                        let says = if column == "day" { "cannot have" } else { "Parquet" };
                        assert!(
                            error.message().contains(says),
                            "{column} as {role} in {output}: {error}"
                        );
                    }
                }
            }
        }
    }
}

/// 2^53 + 1 is not a float: as floats, the first number would become another one.
#[test]
fn integers_beyond_floats_are_published_exactly() {
    const NUMBERS: [i64; 2] = [9_007_199_254_740_993, 9_007_199_254_740_994];
    let n = || (0..8).map(|i| NUMBERS[i % 2]);
    let decimals = Decimal128Array::from_iter_values(n().map(i128::from));
    let columns: [(&str, ArrayRef); 3] = [
        ("int64", Arc::new(Int64Array::from_iter_values(n()))),
        ("uint64", Arc::new(UInt64Array::from_iter_values(n().map(|x| x as u64)))),
        ("decimal128", Arc::new(decimals.with_precision_and_scale(20, 0).unwrap())),
    ];
    let dir = tempfile::tempdir().unwrap();
    for (name, array) in columns {
        let batch = RecordBatch::try_from_iter([(name, array)]).unwrap();
        for (k, ncp) in [(4, 0.0), (8, 1.0)] {
            let table = Batches::new("odd", batch.schema(), vec![batch.clone()]).unwrap();
            let out = dir.path().join(format!("{name}{k}.csv"));
            let report = Anonymizer::new(Job::of_batches(table).output(&out).quasi([name]).k(k))
                .run()
                .unwrap_or_else(|e| panic!("{name} {k}: {e}"));
            assert_eq!(report.manifest.to_json()["metrics"]["ncp"], ncp, "{name} {k}");
            let text = std::fs::read_to_string(&out).unwrap();
            let mut cells: Vec<&str> = text.lines().skip(1).collect();
            cells.sort_unstable();
            let exact: Vec<String> = NUMBERS.iter().flat_map(|x| vec![x.to_string(); 4]).collect();
            assert_eq!(cells.len(), 8, "{name} {k}");
            assert_eq!(cells == exact, k == 4, "{name} {k}: {cells:?}");
        }
    }
}
