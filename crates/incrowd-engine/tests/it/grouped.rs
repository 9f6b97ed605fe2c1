//! A database table folded in the server and in this program gives the same rows and counts.

use std::collections::BTreeMap;
use std::path::PathBuf;

use incrowd_core::{Folded, MISSING, Silent};
use incrowd_engine::{FoldSpec, Options, Source};
use incrowd_testing::or_skip;
use incrowd_testing::postgres::Server;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// The rows as texts in sorted order, and the counts.
type FoldSummary = (BTreeMap<Vec<Option<String>>, u64>, u64, u64, Vec<u64>, Option<String>);

fn seen(folded: &Folded) -> FoldSummary {
    let mut rows = BTreeMap::new();
    for row in 0..folded.rows() {
        let text = |(column, &code): (usize, &u32)| {
            (code != MISSING).then(|| folded.columns[column].texts[code as usize].clone())
        };
        let cells = folded.row(row).iter().enumerate().map(text).collect();
        assert_eq!(rows.insert(cells, folded.weights[row]), None, "a row came twice");
    }
    (rows, folded.read, folded.dropped_missing, folded.missing.clone(), folded.marker.clone())
}

fn fold(server: &Server, way: &str, spec: &FoldSpec) -> Folded {
    let path = PathBuf::from(format!("{}&table=t&fold={way}", server.address()));
    Source::open(&[path], &Options::default()).unwrap().fold(spec, &Silent).unwrap()
}

#[test]
fn the_server_folds_as_we_do() {
    let server = or_skip!(Server::start("trust"));
    server.sql(
        "CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false); \
         CREATE TABLE t (a text COLLATE any_case, b numeric, c float8, d bpchar, e boolean)",
    );
    let a = prop::sample::select(vec![
        "NULL", "''", "'?'", "'x'", "'X'", "E'x\\ny'", "'\"'", "'é'", "'NA'",
    ]);
    let b = prop::sample::select(vec!["NULL", "1", "1.0", "1.00", "0.1", "'NaN'"]);
    let c = prop::sample::select(vec!["NULL", "0", "'-0'", "1e300", "'NaN'", "0.1"]);
    let d = prop::sample::select(vec!["NULL", "'x'", "'x  '", "''"]);
    let e = prop::sample::select(vec!["NULL", "true", "false"]);
    let rows = prop::collection::vec((a, b, c, d, e), 1..60);
    let columns = prop::sample::subsequence(vec!["a", "b", "c", "d", "e"], 1..=5);
    let missing =
        prop::sample::subsequence(vec!["", "?", "NA", "1.0", "false", "1", "2", "3"], 0..=8);
    let mut runner =
        TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(24) });
    runner
        .run(&(rows, columns, missing, any::<bool>()), |(rows, columns, missing, drop_missing)| {
            let values: Vec<String> =
                rows.iter().map(|(a, b, c, d, e)| format!("({a}, {b}, {c}, {d}, {e})")).collect();
            server.sql(&format!("TRUNCATE t; INSERT INTO t VALUES {}", values.join(", ")));
            let spec = FoldSpec {
                columns: columns.into_iter().map(str::to_owned).collect(),
                missing: missing.into_iter().map(str::to_owned).collect(),
                drop_missing,
                ..FoldSpec::default()
            };
            prop_assert_eq!(
                seen(&fold(&server, "server", &spec)),
                seen(&fold(&server, "client", &spec))
            );
            Ok(())
        })
        .unwrap();
}

/// The columns of a relation are found by name. A column that is checked for repetition is sent to
/// the end, although the check ends early.
#[test]
fn relations_of_one_input_may_have_their_columns_in_any_order() {
    let server = or_skip!(Server::start("trust"));
    server.sql(
        "CREATE TABLE a AS SELECT i AS id, 'zip' || i % 3 AS zip FROM generate_series(1, 300) i; \
         CREATE TABLE b AS SELECT 'zip' || i % 3 AS zip, i AS id FROM generate_series(301, 150000) i",
    );
    let paths = ["a", "b"].map(|name| PathBuf::from(format!("{}&table={name}", server.address())));
    let source = Source::open(&paths, &Options::default()).unwrap();
    for repeating in [vec![], vec!["id".to_owned()]] {
        let spec = FoldSpec { columns: vec!["zip".to_owned()], repeating, ..FoldSpec::default() };
        let folded = source.fold(&spec, &Silent).unwrap();
        let rows = seen(&folded).0;
        let expected: Vec<_> = (0..3).map(|n| (vec![Some(format!("zip{n}"))], 50_000)).collect();
        assert_eq!(rows.into_iter().collect::<Vec<_>>(), expected);
    }
}
