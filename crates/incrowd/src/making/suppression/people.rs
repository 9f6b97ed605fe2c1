//! Checks that every person has one record.
//!
//! Paper: `xu2010`, Section 2: each record of the table belongs to a distinct individual. A person
//! with several records would be counted several times, and a suppressed person might still be
//! published.

use incrowd_core::{Error, Folded, Progress, Result};
use incrowd_engine::{Engine, FoldSpec};

use crate::making::checked::CheckedJob;

/// Folds the table. Refuses it if its identifiers show that a person has several records. Without
/// identifiers this cannot be detected.
pub(crate) fn fold_people(
    job: &CheckedJob,
    engine: &mut dyn Engine,
    progress: &dyn Progress,
) -> Result<Folded> {
    let names = job.identifiers();
    let spec = FoldSpec { people: names.clone(), ..job.fold_spec() };
    let folded = engine.fold(&spec, progress)?;
    let repeats = folded.repeated;
    if repeats == 0 {
        return Ok(folded);
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
