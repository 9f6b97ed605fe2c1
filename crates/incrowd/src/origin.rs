//! A release beside the table it was made from, for the owner of both: does everybody in it come from there, and was withheld
//! what the manifest says?
//!
//! The first question is row by row: published records are matched with records of the original, each of which can stand for
//! one at most. So nobody appears twice, and nobody is made up. The second is about the counts of the sensitive values.

use incrowd_audit::{Original, linked_origin};
use incrowd_core::{Error, Folded, Progress, Result};
use incrowd_engine::{Embedded, Options};
use serde_json::{Value as Json, json};

use crate::job::{Job, RoleName};
use crate::setup;
use crate::suppression::{SuppressionReport, beside};
use crate::verify::named;

/// What was found out about a release beside its original. For the owner of the data only.
#[derive(Debug)]
pub struct Origin {
    /// How many published records no record of the original can stand for.
    pub strangers: u64,
    /// How many groups of two linked tables have values that nobody's records of the original have together with the
    /// quasi-identifiers of the group; none where the tables are not linked.
    pub misfits: u64,
    /// What the suppression step did, if the manifest tells of one.
    pub suppression: Option<SuppressionReport>,
}

impl Origin {
    /// Whether the release can be one of this table, made as its manifest says.
    pub fn holds(&self) -> bool {
        let made = self.suppression.as_ref().is_none_or(|step| step.checks.holds());
        self.strangers == 0 && self.misfits == 0 && made
    }

    pub(crate) fn to_json(&self) -> Json {
        json!({
            "holds": self.holds(),
            "records_not_of_the_original": self.strangers,
            "groups_not_of_the_original": self.misfits,
            "suppression": self.suppression.as_ref().map(SuppressionReport::to_json),
        })
    }
}

/// The columns both tables are compared in, the original as a reader sees it, and what the manifest says was withheld.
struct Both<'a> {
    job: &'a Job,
    quasi: Vec<&'a str>,
    sensitive: Vec<&'a str>,
    missing: &'a str,
    original: Folded,
    told: Option<&'a Json>,
}

impl<'a> Both<'a> {
    fn read(job: &'a Job, manifest: &'a Json, progress: &dyn Progress) -> Result<Both<'a>> {
        let (quasi, sensitive) = (named(job, RoleName::Quasi), named(job, RoleName::Sensitive));
        let missing = job.input.missing.iter().find(|m| !m.is_empty()).map_or("", String::as_str);
        let original = setup::original_folded(job, &quasi, &sensitive, progress)?;
        let told = Some(&manifest["suppression"]).filter(|told| told.is_object());
        Ok(Both { job, quasi, sensitive, missing, original, told })
    }

    /// Compares the counts of the sensitive values.
    fn suppression(&self, release: &Folded) -> Result<Option<SuppressionReport>> {
        let Some(told) = self.told else { return Ok(None) };
        let on = told["on"].as_str().unwrap_or_default();
        let position = self.sensitive.iter().position(|name| *name == on);
        let position = position.ok_or_else(|| {
            Error::input(format!("the suppression is about `{on}`, which is not a sensitive column"))
        })?;
        let spec = self.job.column(on).map(setup::sensitive_spec).unwrap_or_default();
        let table = (&self.original, self.quasi.len() + position);
        beside(told, table, release, &spec, self.missing).map(Some)
    }
}

/// Compares a release in one table with the originals the job names.
pub(crate) fn compare(
    job: &Job,
    manifest: &Json,
    path: &std::path::Path,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Origin> {
    let both = Both::read(job, manifest, progress)?;
    let names: Vec<String> = both.quasi.iter().chain(&both.sensitive).map(|n| (*n).to_owned()).collect();
    let (release, ..) = Embedded::read_release(path, options, &names, progress)?;
    let suppression = both.suppression(&release)?;
    let data = setup::encode_original(job, both.original, &both.quasi, &both.sensitive)?;
    let strangers = Original::read(&release, &data, progress)?.strangers();
    Ok(Origin { strangers, misfits: 0, suppression })
}

/// Compares two linked tables with the originals the job names: `first` has the quasi-identifiers and the group, `second` the
/// group and the sensitive value, each as often as it is counted.
pub(crate) fn compare_linked(
    job: &Job,
    manifest: &Json,
    first: &Folded,
    second: &Folded,
    progress: &dyn Progress,
) -> Result<Origin> {
    let both = Both::read(job, manifest, progress)?;
    let suppression = both.suppression(second)?;
    progress.step("matching with the original", None);
    let strangers = linked_origin::strangers(&both.original, first, second, both.missing);
    Ok(Origin { strangers: strangers.records, misfits: strangers.groups, suppression })
}
