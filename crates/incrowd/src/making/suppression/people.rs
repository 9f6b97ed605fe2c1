//! Checks that every person has one record.
//!
//! Paper: `xu2010`, Section 2: each record of the table belongs to a distinct individual. A person
//! with several records would be counted several times, and a suppressed person might still be
//! published.

use incrowd_core::{Error, Progress, Result, Role};
use incrowd_engine::Source;

use crate::making::checked::CheckedJob;

/// Refuses a table whose identifiers show that a person has several records. Without identifiers
/// this cannot be detected.
pub(crate) fn one_record_each(
    job: &CheckedJob,
    table: &Source,
    progress: &dyn Progress,
) -> Result<()> {
    let names = job.schema.columns().iter().filter(|(_, role)| *role == Role::Identifier);
    let names: Vec<String> = names.map(|(name, _)| name.clone()).collect();
    if names.is_empty() {
        return Ok(());
    }
    let repeats = table.repeats(&names, &job.fold_spec(), progress)?;
    if repeats == 0 {
        return Ok(());
    }
    let (columns, records) =
        (names.join("` and `"), if repeats == 1 { "record is" } else { "records are" });
    Err(Error::input(format!(
        "{repeats} {records} of people who have another one, according to `{columns}`: \
         counts of values must be counts of people"
    ))
    .help(
        "keep one record of each person; \
         if the column does not identify people, give it the role drop",
    ))
}
