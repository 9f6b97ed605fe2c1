//! Anonymizes person-level data and verifies the result.
//!
//! A [`Job`] names a table, the roles of its columns, privacy models and an algorithm.
//! An [`Anonymizer`] makes a release, reads the staged bytes back, verifies every model on them,
//! and only then publishes the release. A [`Judging`] names a published release:
//! [`Judging::verify`] verifies its models, [`Judging::attack`] measures what an adversary can
//! infer from it, [`Judging::measure`] its information loss, and [`Judging::report`] makes pages of
//! all results. [`ProfileOptions`], [`CompareRequest`] and [`BatchesRequest`] are further requests.
//! Each has a method `progress` for a receiver of progress reports, which can also stop the work.
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

// Errors, progress, and values of parameters.
pub use incrowd_core::{Error, Fault, Param, ParamKind, Progress, Result, Silent, Value};

// Which table is released, and how?
pub use incrowd_core::{hierarchy, metric, model};
pub use incrowd_engine::{Batches, FORMATS, Location};
pub use job::Job;

// Making a release.
pub use incrowd_engine::{Recovery, ReleasedTable, recover};
pub use making::anonymizer::Anonymizer;
pub use making::make::Records;
pub use making::open_table::OpenTable;
pub use making::pipeline::{Released, Report};
pub use making::publication::TableContent;
pub use making::publication::joined::JoinReport;
pub use making::suppression::{Guess, SuppressionReport};
pub use making::weights::WeightedUtility;
pub use manifest::{Manifest, default_path as manifest_path};
pub use reporting::insight::Insight;

// Judging a release.
pub use incrowd_audit::attack::{ATTACKS, Card as AttackCard, Epsilon, Finding, Quantity};
pub use incrowd_audit::{
    Decision, Judgement, UniqueOn, UniqueRecords, Verification, eligibility, risk, utility,
};
pub use incrowd_core::audience::{Audience, FEWEST_QUERIES, Fact};
pub use judging::attack::{AttackReport, AttackRequest, Attacked, Exposed, Limit, LimitJudged};
pub use judging::builder::{JudgingBuilder, JudgingFile, Setting};
pub use judging::from_original::FromOriginal;
pub use judging::measure::Measurement;
pub use judging::release_persons::ReleasePersons;
pub use judging::request::{Judging, MemoryRelease};
pub use judging::utility_report::{Ask, Utility};
pub use judging::verify::{Checked, CheckedFile};
pub use reporting::report::Pages;
pub use reporting::{explain, sentences};

// Profiling a table, comparing configurations, and publishing several tables.
pub use compare::{
    Baseline, CHOICE, ChoiceCard, CompareRequest, Comparison, Scores as ComparisonScores, Tried,
};
pub use profile::glimpse::Glimpse;
pub use profile::outliers::{OutlierProfile, OutlierRequest};
pub use profile::{Profile, ProfileOptions};
pub use series::batches::{Batch, BatchTable, BatchesReport, BatchesRequest};

// Using another engine.
pub use incrowd_engine::{Embedded, Engine, FoldSpec, Options, Source};

/// Parts of the library that only our own front ends use: the command line, the web app, the Python
/// package and the benchmarks. They may change in any version.
#[doc(hidden)]
pub mod front_end {
    pub use incrowd_core as core;
    pub use incrowd_engine as engine;
    pub use incrowd_engine::{
        MOST_BYTES, StandardStream, Target, abandon_all, read_side_text, use_stream,
    };
    pub use incrowd_recode as recode;

    pub use crate::job::reading::spelled;
    pub use crate::judging::journals::{
        unauthenticated_beside, unauthenticated_by_attack, unauthenticated_by_batches,
        unauthenticated_by_job, unauthenticated_text,
    };
    pub use crate::making::checked::CheckedJob;
    pub use crate::making::claim::Claim;
    pub use crate::making::in_parts::plan_part;
    pub use crate::making::replacing::{Mark, check_file, directory_of, write_file};
    pub use crate::reporting::summary::missing_cells_text;
}
