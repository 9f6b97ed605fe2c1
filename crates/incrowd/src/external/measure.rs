//! What a k-join-anonymous release cost, and how well it answers counts.

use std::path::Path;

use incrowd_audit::tally;
use incrowd_audit::utility::{Comparison, Tables};
use incrowd_core::{ColumnSpec, Error, Progress, Result};
use incrowd_engine::{Engine, Options};
use serde_json::Value as Json;

use super::check::Tables;
use super::join::{Joined, identity, open};
use crate::job::{Job, RoleName};
use crate::linked;
use crate::measure::Measurement;
use crate::release::delimiter;
use crate::setup::{self, Setup};
use crate::utility_report::{Ask, Utility};

/// Measures the boxes on lines that hold the values of both tables, and asks them the queries of the workload.
pub(crate) fn measure(
    job: &Job,
    release: &Path,
    manifest: &Json,
    ask: Option<&Ask>,
    progress: &dyn Progress,
) -> Result<Measurement> {
    let Some(rules) = &job.external else {
        return Err(Error::job(
            "the release was made with an external table, whose values belong to the domains",
        )
        .help("name it with --external people.csv and --id, or give the job with --job"));
    };
    let mut job = job.clone();
    let engine = setup::open(&job.input)?;
    if job.column(&rules.id).is_none() {
        job.set_role(&rules.id, RoleName::Identifier);
    }
    let setup = Setup::new(&job, engine.columns())?;
    let identity = identity(&job, rules, &setup, false);
    let specs: Vec<&ColumnSpec> = setup.schema.quasi().map(|(_, spec)| spec).collect();
    let external = open(rules, &identity)?;
    let joined =
        Joined::read(&engine, external, rules, &identity, &specs, false, &std::env::temp_dir(), progress)?;
    let data = joined.encode(&setup)?.data;
    let options = |path: &Path| Options { delimiter: Some(delimiter(path)), ..Options::default() };
    let quasi: Vec<&str> = data.quasi().iter().map(|q| q.name.as_str()).collect();
    let place = linked::entry(manifest, "si").map(|entry| linked::place(release, entry));
    let own = options(release);
    let values = place.as_ref().map(|place| (place, options(place)));
    let values = values.as_ref().map(|(place, options)| (place.as_path(), options, [].as_slice()));
    let tables = Tables::read((release, &own), &quasi, values, progress)?;
    let tally = tally(&tables.boxes, data.quasi(), 0)?;
    let asked = ask.filter(|ask| ask.cards(Tables::Joined).next().is_some());
    let utility = match (asked, &tables.sensitive) {
        (None, _) => None,
        (Some(ask), Some((sensitive, ..))) => {
            let comparison = Comparison::of_boxes(&data, &tables.boxes, sensitive, setup.missing_label())?;
            Some(Utility::new(&comparison, ask, Tables::Joined, progress)?)
        }
        (Some(ask), None) if ask.only.is_empty() => None,
        (Some(_), None) => {
            return Err(Error::job(
                "counts cannot be estimated: nothing published says how many rows of a group are of the table",
            )
            .help("publish a sensitive column, so that its table tells"));
        }
    };
    Ok(Measurement { tally, utility, owner_only: false })
}
