//! The report of a release: what was verified, what attacks find, what it cost, as pages to look at.
//!
//! Nothing here judges or measures anything that [`verify`](crate::verify()), [`attack`](crate::attack()) or
//! [`measure_utility`](crate::measure_utility) does not. It decides which of their answers go onto which page. The public
//! page shows what follows from the release itself, what its manifest says, and measures over the whole table; whatever else
//! tells about the original goes onto the data owner's page. Where records were withheld in secret, every measure beside the
//! original would tell how many, so all of them go there too.

mod owner;
mod public;
mod settings;
mod shapes;

use std::path::{Path, PathBuf};

use incrowd_core::metric::METRICS;
use incrowd_core::{Error, Progress, Result};
use incrowd_engine::Pending;
use serde_json::{Value as Json, json};

use crate::attack::{AttackReport, AttackRequest, attack};
use crate::job::{Input, Job, RoleName};
use crate::manifest::file_name;
use crate::measure::{Kept, Measurement, measured};
use crate::utility_report::Ask;
use crate::verify::{Checked, manifest_of, named, verify, with_manifest};
use crate::write_file;

/// What a report is to be about.
#[derive(Clone, Debug, Default)]
pub struct ReportRequest {
    /// The release as its input, with the roles and hierarchies of its columns; where it says nothing of columns or models, the
    /// manifest beside the release is asked.
    pub job: Job,
    /// The table the release was made from, if it is at hand. Without it there is no page for the data owner.
    pub original: Option<Input>,
    /// Which queries are asked and which samples are drawn, and the column to predict.
    pub ask: Ask,
}

/// The pages of a release.
#[derive(Clone, Debug)]
pub struct Pages {
    /// The page that may be published.
    pub public: String,
    /// The page for the data owner's eyes, if the original was at hand.
    pub owner: Option<String>,
    /// Whether the release keeps what it promises.
    pub holds: bool,
}

/// Pairs of more columns than this are not measured for a picture that nobody could read.
const MOST_PAIRED: usize = 24;

/// Everything that was found out about a release.
pub(crate) struct Found<'a> {
    pub(crate) path: &'a Path,
    pub(crate) job: Job,
    pub(crate) manifest: Option<Json>,
    pub(crate) checked: Checked,
    pub(crate) attacks: AttackReport,
    pub(crate) measured: Option<Measurement>,
    pub(crate) kept: Kept,
    /// The original's file name.
    pub(crate) original: Option<String>,
}

impl Found<'_> {
    /// Whether what is measured beside the original would tell how many records were withheld.
    pub(crate) fn withheld_in_secret(&self) -> bool {
        let tells = |m: &Json| m["suppression"].is_object() && m["records"]["suppressed"].is_null();
        self.manifest.as_ref().is_some_and(tells)
    }

    /// What is at hand beside the release, in the words of a manifest.
    pub(crate) fn content(&self) -> Json {
        self.manifest.clone().unwrap_or_else(|| json!({}))
    }

    pub(crate) fn release(&self) -> String {
        file_name(self.path)
    }
}

/// Verifies, attacks and measures a release, and renders what that found.
pub fn report(request: &ReportRequest, progress: &dyn Progress) -> Result<Pages> {
    let [path] = request.job.input.paths.as_slice() else {
        return Err(Error::job("a report is about exactly one release").help("incrowd report release.csv"));
    };
    request.ask.check()?;
    let manifest = manifest_of(path, &request.job)?;
    let mut judged = request.job.clone();
    let anatomy = manifest.as_ref().is_some_and(crate::anatomy::is_anatomy);
    if let Some(original) = request.original.as_ref().filter(|_| !anatomy) {
        judged.original.clone_from(&original.paths);
    }
    let checked = verify(&judged, progress)?;
    let attacks = attack(&AttackRequest { job: judged.clone(), ..AttackRequest::default() }, progress)?;
    let job = match &manifest {
        Some(manifest) => with_manifest(&request.job, manifest)?,
        None => request.job.clone(),
    };
    let mut kept = Kept::default();
    let measured = match &request.original {
        // Two linked tables publish their quasi-identifiers as they are; nothing is generalized that could be measured.
        Some(_) if anatomy => None,
        Some(original) => {
            let own = Job { input: original.clone(), ..request.job.clone() };
            let columns = named(&job, RoleName::Quasi).len() + named(&job, RoleName::Sensitive).len();
            let ask = Ask { pairs: request.ask.pairs && columns <= MOST_PAIRED, ..request.ask.clone() };
            Some(measured(&own, path, Some(&ask), Some(&mut kept), progress)?)
        }
        None => None,
    };
    progress.step("drawing", None);
    let original = request.original.as_ref().and_then(|input| input.paths.first()).map(|p| file_name(p));
    let found = Found { path, job, manifest, checked, attacks, measured, kept, original };
    let public = incrowd_report::public_page(&public::public(&found));
    let owner = match &request.original {
        Some(_) => Some(incrowd_report::owner_page(&owner::owner(&found, progress)?)),
        None => None,
    };
    Ok(Pages { public, owner, holds: found.checked.holds() })
}

/// The first sentence of what a card says.
pub(crate) fn first_sentence(text: &str) -> String {
    text.find(". ").map_or(text, |end| &text[..=end]).to_owned()
}

/// What the list of metrics says of a score.
pub(crate) fn about_metric(name: &str) -> String {
    METRICS.iter().find(|card| card.name == name).map(|card| first_sentence(card.about)).unwrap_or_default()
}

/// The files of the pages a job asks for, checked before any long work: what cannot be written is said at once.
pub(crate) fn targets(job: &Job) -> Result<Vec<PathBuf>> {
    let Some(output) = &job.output else { return Ok(Vec::new()) };
    let named = [("output.report", &output.report), ("output.owner_report", &output.owner_report)];
    let manifest = output.manifest.clone().unwrap_or_else(|| crate::manifest_path(&output.path));
    let mut taken = vec![output.path.clone(), manifest];
    taken.extend(job.input.paths.iter().cloned());
    for (key, path) in named {
        let Some(path) = path else { continue };
        let place = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
        if taken.iter().any(|other| place(other) == place(path)) {
            return Err(Error::job("a page of the report would overwrite another file of the job")
                .help("give it a name of its own, such as people.report.html")
                .at(key));
        }
        drop(Pending::create(path).map_err(|e| e.at(key))?);
        taken.push(path.clone());
    }
    Ok(named.into_iter().filter_map(|(_, path)| path.clone()).collect())
}

/// Writes the pages a job asks for about the release it made.
pub(crate) fn write_pages(job: &Job, progress: &dyn Progress) -> Result<()> {
    let Some(output) = &job.output else { return Ok(()) };
    let mut judged = job.clone();
    judged.input.paths = vec![output.path.clone()];
    (judged.input.delimiter, judged.input.format) = (None, None);
    let request = ReportRequest {
        job: judged,
        original: Some(job.input.clone()),
        ask: Ask { pairs: true, ..Ask::default() },
    };
    let pages = report(&request, progress)?;
    if let Some(path) = &output.report {
        write_file(path, pages.public.as_bytes())?;
    }
    if let (Some(path), Some(owner)) = (&output.owner_report, &pages.owner) {
        write_file(path, owner.as_bytes())?;
    }
    Ok(())
}
