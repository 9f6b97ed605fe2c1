//! What two linked tables cost: nothing in the cells of the first, something wherever a value is asked for.

use std::path::Path;

use incrowd_audit::tally;
use incrowd_audit::utility::{Comparison, Tables};
use incrowd_core::{Error, Progress, Result};
use incrowd_engine::Engine;
use serde_json::Value as Json;

use super::verify::read;
use crate::job::Job;
use crate::measure::Measurement;
use crate::setup::{self, Setup};
use crate::utility_report::{Ask, Utility};

/// Measures both tables against the original: queries about quasi-identifiers and a sensitive value, and pairs of columns. The
/// other measures look at one column at a time, and of those nothing is generalized.
pub(crate) fn measure(
    job: &Job,
    release: &Path,
    manifest: &Json,
    ask: Option<&Ask>,
    progress: &dyn Progress,
) -> Result<Measurement> {
    ask.map_or(Ok(()), |ask| ask.fits(Tables::Linked))?;
    let mut engine = setup::open(&job.input)?;
    let setup = Setup::new(job, engine.columns())?;
    let mut spec = setup.fold_spec();
    spec.replay = false;
    let data = setup.encode(engine.fold(&spec, progress)?, &engine)?;
    let both = read(release, manifest, job, progress)?;
    let Some(withheld) = data.records().checked_sub(both.records) else {
        return Err(Error::input(format!(
            "the release has {} records, the original only {}",
            both.records,
            data.records()
        ))
        .help("is it a release of this table, read with the same `missing` and `on_missing`?"));
    };
    let mut tally = tally(&both.quasi, data.quasi(), withheld)?;
    tally.group_sizes.clone_from(&both.groups);
    let utility = match ask.filter(|ask| ask.cards(Tables::Linked).next().is_some()) {
        None => None,
        Some(ask) => {
            progress.step("comparing", None);
            let comparison = Comparison::of_linked(&data, &both.quasi, &both.linked, setup.missing_label())?;
            Some(Utility::new(&comparison, ask, Tables::Linked, progress)?)
        }
    };
    Ok(Measurement { tally, utility, owner_only: false })
}
