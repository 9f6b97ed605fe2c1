//! Changes of the input that must not change the release.

use std::path::Path;

use incrowd::{Silent, anonymize};
use proptest::prelude::*;
use serde_json::Value as Json;

use crate::columns::COLUMNS;
use crate::release::{Case, alike, cases};

/// The bytes and the metrics of a release, or nothing where there can be none.
fn release(case: &Case, dir: &Path, people: &[usize]) -> Release {
    case.write(dir, people.iter().copied());
    let report = anonymize(&case.parsed(dir, "out.csv"), &Silent).ok()?;
    let metrics = report.manifest.content["metrics"].clone();
    Some((std::fs::read(dir.join("out.csv")).unwrap(), metrics))
}

type Release = Option<(Vec<u8>, Json)>;

/// Whether two releases are the same bytes; then their metrics must be the same too.
fn same(a: &Release, b: &Release) -> Result<bool, TestCaseError> {
    let (Some((a, cost)), Some((b, other))) = (a, b) else { return Ok(a.is_none() == b.is_none()) };
    prop_assert!(a != b || alike(cost, other), "the same release, but other metrics");
    Ok(a == b)
}

fn sorted() -> impl Strategy<Value = Case> {
    cases().prop_map(|case| Case { sorted: true, ..case })
}

fn permuted() -> impl Strategy<Value = (Case, Vec<usize>)> {
    sorted().prop_flat_map(|mut case| {
        // Relaxed cuts of numbers in several spellings have a test of their own.
        case.relaxed &= !case.quasi.iter().any(|&c| COLUMNS[c].name == "income");
        let people: Vec<usize> = (0..case.people.len()).collect();
        (Just(case), Just(people).prop_shuffle())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn the_order_of_the_input_leaves_no_trace_in_a_sorted_release((case, order) in permuted()) {
        let dir = tempfile::tempdir().unwrap();
        let people: Vec<usize> = (0..case.people.len()).collect();
        let (first, second) = (release(&case, dir.path(), &people), release(&case, dir.path(), &order));
        prop_assert!(same(&first, &second)?, "another order, another release");
    }

    /// A record that is dropped is not in the release, so it should have no influence on it: neither on where cuts fall nor on
    /// what counts as the whole domain when the loss is measured.
    #[test]
    fn records_dropped_for_missing_values_leave_no_trace(mut case in sorted()) {
        case.keep = false;
        // A fifth of the first quasi-identifier's values is missing.
        let first = case.quasi[0];
        case.people.iter_mut().filter(|person| person[first] < 51).for_each(|person| person[first] %= 12);
        let dir = tempfile::tempdir().unwrap();
        let all: Vec<usize> = (0..case.people.len()).collect();
        let (whole, kept) = (release(&case, dir.path(), &all), release(&case, dir.path(), &case.published()));
        prop_assert!(same(&whole, &kept)?, "dropped records have an influence on the release");
    }
}

/// `0` and `-0.0` are one number but two texts, so two distinct rows that nothing puts in order.
#[test]
fn the_order_of_the_input_leaves_no_trace_where_a_number_has_several_spellings() {
    let dir = tempfile::tempdir().unwrap();
    let job = "[input]\npath = 'in.csv'\n[output]\npath = 'out.csv'\norder = 'sorted'\n[columns]\n\
               x = { role = 'quasi', kind = 'numeric' }\n[[models]]\nname = 'k-anonymity'\nk = 2\n\
               [algorithm]\ncut = 'relaxed'\n";
    let job = incrowd::job::parse("job.toml", job, dir.path()).unwrap_or_else(|e| panic!("{e}")).job;
    let release = |table: &str| {
        std::fs::write(dir.path().join("in.csv"), table).unwrap();
        anonymize(&job, &Silent).unwrap();
        std::fs::read(dir.path().join("out.csv")).unwrap()
    };
    let first = release("x\n0\n-0.0\n-0.0\n-0.0\n5\n");
    assert!(first == release("x\n-0.0\n-0.0\n-0.0\n0\n5\n"), "another order, another release");
}
