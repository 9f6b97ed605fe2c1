//! What two linked tables cost: nothing in the cells of the first, something wherever a value is asked for.

use std::path::Path;

use incrowd_audit::tally;
use incrowd_audit::utility::Comparison;
use incrowd_core::{Error, Progress, Result};
use incrowd_engine::Engine;
use serde_json::Value as Json;

use super::verify::read;
use crate::job::Job;
use crate::measure::Measurement;
use crate::setup::{self, Setup};
use crate::utility_report::{Ask, Utility};

/// What can be asked of tables that do not tell whose value is whose.
const POSSIBLE: [&str; 2] = ["query_error", "association"];

/// Measures both tables against the original: queries about quasi-identifiers and a sensitive value, and pairs of columns. The
/// other measures look at one column at a time, and of those nothing is generalized.
pub(crate) fn measure(
    job: &Job,
    release: &Path,
    manifest: &Json,
    ask: Option<&Ask>,
    progress: &dyn Progress,
) -> Result<Measurement> {
    let known = |name: &str| {
        POSSIBLE.contains(&name) || incrowd_core::metric::METRICS.iter().any(|metric| metric.name == name)
    };
    if let Some(name) = ask.and_then(|ask| ask.only.iter().find(|name| !known(name))) {
        return Err(Error::job(format!(
            "`{name}` cannot be measured of tables that are linked by groups only"
        ))
        .help(format!("measure {}, or make a release in one table", POSSIBLE.join(" and "))));
    }
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
    let wanted: Vec<String> = match ask {
        Some(ask) => POSSIBLE.iter().filter(|name| ask.wants(name)).map(|name| (*name).to_owned()).collect(),
        None => Vec::new(),
    };
    let utility = match ask.filter(|_| !wanted.is_empty()) {
        None => None,
        Some(ask) => {
            progress.step("comparing", None);
            let comparison = Comparison::of_linked(&data, &both.quasi, &both.linked, setup.missing_label())?;
            Some(Utility::new(&comparison, &Ask { only: wanted, ..ask.clone() }, progress)?)
        }
    };
    Ok(Measurement { tally, utility, owner_only: false })
}
