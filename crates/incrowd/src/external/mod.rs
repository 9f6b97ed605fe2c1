//! k-join-anonymity from a job: the table and an external one become two published tables that belong together.

mod audit_table;
mod check;
mod join;
mod measure;
mod origin;
mod pipeline;
mod publish;
mod report;
mod verify;

pub(crate) use measure::measure;
pub use origin::Originals;
pub(crate) use pipeline::anonymize;
pub use report::JoinReport;
pub use verify::JoinChecked;
pub(crate) use verify::{is_joined, verify};

/// The column that says which sensitive group a row is of.
pub(crate) const SENSITIVE_GROUP: &str = "SG";
