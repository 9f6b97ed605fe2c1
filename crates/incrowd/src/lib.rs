//! Publish person-level data so that nobody in it stands out.
//!
//! A [`Job`](job::Job) names a table, the roles of its columns, promises and an algorithm. [`anonymize`] makes a release,
//! reads back what it wrote, judges every promise on those bytes, and only then puts the release in place. [`verify`]
//! judges any published table, [`attack`] says what an adversary would learn from it, [`measure`] what a release cost.
//!
//! ```
//! # fn main() -> Result<(), incrowd::Error> {
//! # let dir = std::env::temp_dir().join(format!("incrowd-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&dir).unwrap();
//! # let people = dir.join("people.csv");
//! std::fs::write(&people, "age,zip,disease\n34,02139,flu\n36,02139,cold\n51,02140,flu\n58,02141,none\n").unwrap();
//! let mut job = incrowd::job::Job::default();
//! job.input.paths = vec![people];
//! job.set_role("age", incrowd::job::RoleName::Quasi);
//! job.set_role("zip", incrowd::job::RoleName::Quasi);
//! job.set_role("disease", incrowd::job::RoleName::Sensitive);
//! job.promise("k-anonymity", [("k", incrowd::Value::Integer(2))]);
//! job.write_to(dir.join("people.release.csv"));
//! let report = incrowd::anonymize(&job, &incrowd::Silent)?;
//! assert!(report.verification.holds());
//! assert_eq!(report.verification.groups, 2);
//! # std::fs::remove_dir_all(&dir).unwrap();
//! # Ok(())
//! # }
//! ```

pub mod job;
pub mod profile;

mod anatomy;
mod attack;
mod batches;
mod compare;
mod external;
mod grid;
mod levels;
mod linked;
mod manifest;
mod measure;
mod origin;
mod outliers;
mod pipeline;
mod release;
mod report;
mod setup;
mod suppression;
mod utility_report;
mod verify;

pub use attack::{AttackReport, AttackRequest, Attacked, Exposed, Limit, LimitJudged, attack};
pub use batches::{Batch, BatchesReport, batches};
pub use compare::{
    CHOICE, ChoiceCard, CompareRequest, Comparison, Scores as ComparisonScores, Tried, compare,
};
pub use external::{JoinChecked, JoinReport, Originals};
pub use incrowd_audit::attack::{ATTACKS, Card as AttackCard, Epsilon, Finding, Quantity};
pub use incrowd_audit::{Judgement, Verification, eligibility, risk, utility};
pub use incrowd_core::{Error, Fault, Progress, Result, Silent, Value, hierarchy, metric, model};
pub use incrowd_core::{Param, ParamKind};
pub use incrowd_engine::{Embedded, Engine, FoldSpec, Options, Source, abandon_all};
pub use incrowd_recode as recode;
pub use manifest::{Manifest, default_path as manifest_path};
pub use measure::{Measurement, measure, measure_utility};
pub use origin::Origin;
pub use outliers::{OutlierProfile, outliers};
pub use pipeline::{Report, anonymize};
pub use profile::{Profile, ProfileOptions, profile};
pub use report::{Pages, ReportRequest, report};
pub use setup::{Setup, column_counts, column_values};
pub use suppression::{Guess, SuppressionReport};
pub use utility_report::{Ask, FEWEST_QUERIES, Utility};
pub use verify::{Checked, is_of_two_tables, verify, verify_joined, with_roles_of_manifest};

/// Writes a file all at once: it is either not there or complete.
pub fn write_file(path: &std::path::Path, bytes: &[u8]) -> Result<()> {
    use std::io::Write;
    let pending = incrowd_engine::Pending::create(path)?;
    let failed = |e| Error::resources(format!("cannot write `{}`: {e}", path.display()));
    pending.writer()?.write_all(bytes).map_err(failed)?;
    pending.publish()
}

/// The core crate, for those who build their own tools from its vocabulary.
pub use incrowd_core as core;
