//! Small releases for tests.

use incrowd_audit::{Verification, verify};
use incrowd_core::model::PrivacyModel;
use incrowd_core::{Dataset, Folded, Value};
use proptest::test_runner::Config;

pub(crate) type Cells = Vec<Option<String>>;

/// Returns a configuration of property tests that writes no file of failures.
pub(crate) fn cases(cases: u32) -> Config {
    Config { failure_persistence: None, ..Config::with_cases(cases) }
}

pub(crate) fn folded(names: &[&str], records: &[Cells]) -> Folded {
    Folded::from_records(
        names,
        records.iter().map(|r| r.iter().map(Option::as_deref).collect()),
        false,
    )
}

pub(crate) fn k_anonymity(k: u64) -> PrivacyModel {
    PrivacyModel::new("k-anonymity", [("k".to_owned(), Value::Integer(k as i64))]).unwrap()
}

/// Verifies k-anonymity of a release. All columns but the last `sensitive` are quasi-identifiers.
pub(crate) fn judge(names: &[&str], records: &[Cells], sensitive: usize, k: u64) -> Verification {
    let release =
        Dataset::of_release(folded(names, records), names.len() - sensitive, &[]).unwrap();
    verify(&release, &[k_anonymity(k)], None).unwrap()
}
