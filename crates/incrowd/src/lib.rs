//! Anonymizes person-level data and verifies the result.
//!
//! A [`Job`] names a table, the roles of its columns, privacy models and an algorithm.
//! An [`Anonymizer`] makes a release, reads the staged bytes back, verifies every model on them,
//! and only then publishes the release. A [`Judging`] names a published release:
//! [`Judging::verify`] verifies its models, [`Judging::attack`] measures what an adversary can
//! infer from it, [`Judging::measure`] its information loss, and [`Judging::report`] makes pages of
//! all results. Both report their progress on request. The functions [`anonymize`], [`verify`],
//! [`attack`], [`measure`] and [`report`] do the same in one call.
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
//! let report = incrowd::Anonymizer::new(job).run()?;
//! assert!(report.manifest.metrics.ncp() < 0.5);
//! let checked = incrowd::Judging::new(&release).verify()?;
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
//! let released = incrowd::Anonymizer::new(job).run_in_memory()?;
//! let (_, batches) = released.tables[0].batches()?;
//! assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 4);
//! # Ok(())
//! # }
//! ```

pub mod job;
pub mod manifest;
pub mod profile;
pub mod work;

mod compare;
mod judging;
mod making;
mod reporting;
mod series;

pub use compare::{
    Baseline, CHOICE, ChoiceCard, CompareRequest, Comparison, Scores as ComparisonScores, Tried,
    compare,
};
pub use incrowd_audit::attack::{ATTACKS, Card as AttackCard, Epsilon, Finding, Quantity};
pub use incrowd_audit::{
    Decision, Judgement, UniqueOn, UniqueRecords, Verification, eligibility, risk, utility,
};
pub use incrowd_core::audience::{Audience, FEWEST_QUERIES, Fact};
pub use incrowd_core::{Error, Fault, Progress, Result, Silent, Value, hierarchy, metric, model};
pub use incrowd_core::{Param, ParamKind};
pub use incrowd_engine as engine;
pub use incrowd_engine::{
    Batches, Embedded, Engine, FORMATS, FoldSpec, Location, MOST_BYTES, Options, Recovery,
    ReleasedTable, Source, StandardStream, Target, abandon_all, read_side_text, recover,
    use_stream,
};
pub use incrowd_recode as recode;
pub use job::Job;
pub use job::reading::{column_counts, column_values, read_columns, spelled};
pub use judging::attack::{
    AttackReport, AttackRequest, Attacked, Exposed, Limit, LimitJudged, attack,
};
pub use judging::builder::{JudgingBuilder, JudgingFile, Setting};
pub use judging::from_original::FromOriginal;
pub use judging::journals::{
    unauthenticated_beside, unauthenticated_by_attack, unauthenticated_by_batches,
    unauthenticated_by_job, unauthenticated_text,
};
pub use judging::judge::Judge;
pub use judging::measure::{Measurement, measure};
pub use judging::release_persons::ReleasePersons;
pub use judging::request::{Judging, MemoryRelease};
pub use judging::utility_report::{Ask, Utility};
pub use judging::verify::{Checked, CheckedFile, verify};
pub use making::anonymizer::{Anonymizer, anonymize, anonymize_in_memory, anonymize_with};
pub use making::checked::CheckedJob;
pub use making::claim::Claim;
pub use making::in_parts::plan_part;
pub use making::make::{Made, Material, Records, make};
pub use making::open_table::OpenTable;
pub use making::pipeline::{Released, Report};
pub use making::publication::TableContent;
pub use making::publication::joined::JoinReport;
pub use making::replacing::{Mark, check_file};
pub use making::suppression::{Guess, SuppressionReport};
pub use making::weights::WeightedUtility;
pub use manifest::{Manifest, default_path as manifest_path};
pub use profile::glimpse::{Glimpse, glimpse};
pub use profile::outliers::{OutlierProfile, outliers};
pub use profile::{Profile, ProfileOptions, profile};
pub use reporting::insight::Insight;
pub use reporting::report::{Pages, report};
pub use reporting::summary::missing_cells_text;
pub use reporting::{explain, sentences};
pub use series::batches::{Batch, BatchTable, BatchesReport, batches};

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
