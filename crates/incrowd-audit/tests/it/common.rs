//! Small releases for tests.

use incrowd_audit::{Verification, verify};
use incrowd_core::model::Promise;
use incrowd_core::{Dataset, Folded, Value};

pub(crate) type Cells = Vec<Option<String>>;

pub(crate) fn folded(names: &[&str], records: &[Cells]) -> Folded {
    Folded::from_records(names, records.iter().map(|r| r.iter().map(Option::as_deref).collect()), false)
}

pub(crate) fn k_anonymity(k: u64) -> Promise {
    Promise::new("k-anonymity", [("k".to_owned(), Value::Integer(k as i64))]).unwrap()
}

/// Judges a release all of whose columns are quasi-identifiers but the last `sensitive`.
pub(crate) fn judge(names: &[&str], records: &[Cells], sensitive: usize, k: u64) -> Verification {
    let release = Dataset::of_release(folded(names, records), names.len() - sensitive, &[]).unwrap();
    verify(&release, &[k_anonymity(k)], None).unwrap()
}
