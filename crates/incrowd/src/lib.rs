//! Anonymizes person-level data and verifies the result.
//!
//! A [`Job`] names a table, the roles of its columns, privacy models and an algorithm.
//! [`anonymize`] makes a release, reads the staged bytes back, verifies every model on them, and
//! only then publishes the release. [`anonymize_in_memory`] does the same for Arrow record batches.
//! A [`Judging`] names a published release: [`verify`] verifies its models, [`attack`] measures
//! what an adversary can infer from it, [`measure`] its information loss, and [`report`] makes
//! pages of all results.
//!
//! From a file:
//!
//! ```
//! # fn main() -> Result<(), incrowd::Error> {
//! # let dir = std::env::temp_dir().join(format!("incrowd-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&dir).unwrap();
//! # let people = dir.join("people.csv");
//! # let release = dir.join("people.release.csv");
//! let table = "age,zip,disease\n34,02139,flu\n36,02139,cold\n51,02140,flu\n58,02141,none\n";
//! std::fs::write(&people, table).unwrap();
//! let job = incrowd::Job::of_file(&people)
//!     .quasi(["age", "zip"])
//!     .sensitive(["disease"])
//!     .k(2)
//!     .output(&release);
//! let report = incrowd::anonymize(&job, &incrowd::Silent)?;
//! assert!(report.manifest.metrics.ncp() < 0.5);
//! let checked = incrowd::verify(&incrowd::Judging::new(&release), &incrowd::Silent)?;
//! assert!(checked.holds());
//! # std::fs::remove_dir_all(&dir).unwrap();
//! # Ok(())
//! # }
//! ```
//!
//! From Arrow record batches to Arrow record batches:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::sync::Arc;
//! use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
//!
//! let age: ArrayRef = Arc::new(Int64Array::from(vec![34, 36, 51, 58]));
//! let disease: ArrayRef = Arc::new(StringArray::from(vec!["flu", "cold", "flu", "none"]));
//! let people = RecordBatch::try_from_iter([("age", age), ("disease", disease)])?;
//! let table = incrowd::Batches::new("people", people.schema(), vec![people])?;
//! let job = incrowd::Job::of_batches(table).quasi(["age"]).sensitive(["disease"]).k(2);
//! let released = incrowd::anonymize_in_memory(&job, &incrowd::Silent)?;
//! let (_, batches) = released.tables[0].batches()?;
//! assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 4);
//! # Ok(())
//! # }
//! ```

pub mod explain;
pub mod job;
pub mod manifest;
pub mod profile;
pub mod sentences;
pub mod work;

mod attack;
mod batches;
mod case;
mod cells;
mod checked;
mod claim;
mod compare;
mod from_original;
mod glimpse;
mod guarantee;
mod in_parts;
mod insight;
mod journals;
mod judging;
mod make;
mod means;
mod measure;
mod open_table;
mod outliers;
mod pipeline;
mod publication;
mod reading;
mod release;
mod release_persons;
mod replacing;
mod report;
mod summary;
mod suppression;
mod unmodified;
mod utility_report;
mod verify;
mod weights;

pub use attack::{AttackReport, AttackRequest, Attacked, Exposed, Limit, LimitJudged, attack};
pub use batches::{Batch, BatchTable, BatchesReport, batches};
pub use case::with_roles_of_manifest;
pub use checked::CheckedJob;
pub use claim::Claim;
pub use compare::{
    Baseline, CHOICE, ChoiceCard, CompareRequest, Comparison, Scores as ComparisonScores, Tried,
    compare,
};
pub use from_original::FromOriginal;
pub use glimpse::{Glimpse, glimpse};
pub use in_parts::plan_part;
pub use incrowd_audit::attack::{ATTACKS, Card as AttackCard, Epsilon, Finding, Quantity};
pub use incrowd_audit::{
    Decision, Judgement, UniqueOn, UniqueRecords, Verification, eligibility, risk, utility,
};
pub use incrowd_core::audience::{Audience, FEWEST_QUERIES, Fact};
pub use incrowd_core::{Error, Fault, Progress, Result, Silent, Value, hierarchy, metric, model};
pub use incrowd_core::{Param, ParamKind};
pub use incrowd_engine as engine;
pub use incrowd_engine::{
    Batches, Embedded, Engine, FORMATS, FoldSpec, MOST_BYTES, Options, Recovery, ReleasedTable,
    Source, StandardStream, Target, abandon_all, is_database, is_remote, locate, read_side_text,
    recover, remote_place, use_stream,
};
pub use incrowd_recode as recode;
pub use insight::Insight;
pub use job::Job;
pub use journals::{unauthenticated_by_job, unauthenticated_by_judging, unauthenticated_text};
pub use judging::{Judging, MemoryRelease};
pub use make::{Made, Material, Records, make};
pub use manifest::{Manifest, default_path as manifest_path};
pub use measure::{Measurement, measure};
pub use open_table::OpenTable;
pub use outliers::{OutlierProfile, outliers};
pub use pipeline::{Released, Report, anonymize, anonymize_in_memory, anonymize_with};
pub use profile::{Profile, ProfileOptions, profile};
pub use publication::joined::JoinReport;
pub use reading::{column_counts, column_values, read_columns, spelled};
pub use release_persons::ReleasePersons;
pub use replacing::{Mark, check_file};
pub use report::{Pages, report};
pub use summary::missing_cells_text;
pub use suppression::{Guess, SuppressionReport};
pub use utility_report::{Ask, Utility};
pub use verify::{Checked, CheckedFile, verify};
pub use weights::WeightedUtility;

/// Writes a file atomically: it is either absent or complete. Only its owner can read it, unless it
/// is for everybody.
pub fn write_file(target: &Target, bytes: &[u8], readers: Audience) -> Result<()> {
    use std::io::Write;
    let mut pending = incrowd_engine::Pending::at(target)?;
    if !readers.is_everybody() {
        pending = pending.private();
    }
    let failed = |e| incrowd_engine::write_failed(pending.target(), &e);
    pending.writer()?.write_all(bytes).map_err(failed)?;
    pending.publish()
}

/// Returns the directory of a file.
pub fn directory_of(path: &std::path::Path) -> std::path::PathBuf {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .map_or_else(|| ".".into(), Into::into)
}

/// The core crate, for programs that use its types directly.
pub use incrowd_core as core;
