//! The report pages of a release: verification, attacks and information loss.
//!
//! This module does not judge or measure anything itself; the methods of [`Judging`] do. It decides
//! which of their results are on which page. The public page contains results derived from the
//! release itself, the content of its manifest, and measures over the whole table. All other results
//! about the original are on the data owner's page. If the number of suppressed records is secret,
//! every measure against the original would reveal it, so all of these are there too.

mod before_after;
mod owner;
mod public;
mod settings;
mod shapes;

use std::path::PathBuf;

use incrowd_audit::Decision;
use incrowd_core::audience::{Audience, Fact};
use incrowd_core::metric::METRICS;
use incrowd_core::{Error, Progress, Result};
use incrowd_engine::{Location, Pending, Target};
use incrowd_report::Outcome;

use crate::job::Job;
use crate::judging::attack::{AttackReport, AttackRequest, attack_case};
use crate::judging::case::Case;
use crate::judging::measure::{Kept, Measurement, measured};
use crate::judging::request::Judging;
use crate::judging::utility_report::Ask;
use crate::judging::verify::{Checked, verify};
use crate::making::replacing::write_file;
use crate::manifest::Manifest;

/// The pages of a release.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Pages {
    /// The page that may be published.
    pub public: String,
    /// The page for the data owner, if the original was given.
    pub owner: Option<String>,
    /// Whether all models of the release hold and all other checks pass.
    pub decision: Decision,
    /// Whether all models of the release hold.
    pub guarantees: Decision,
}

/// With more columns than this, pairs are not measured: the chart would be unreadable.
const MOST_PAIRED: usize = 24;

/// All results about a release.
pub(crate) struct Findings {
    pub(crate) case: Case,
    pub(crate) checked: Checked,
    pub(crate) attacks: AttackReport,
    pub(crate) measured: Option<Measurement>,
    pub(crate) kept: Kept,
    /// The original's name.
    pub(crate) original: Option<String>,
}

impl Findings {
    pub(crate) fn manifest(&self) -> Option<&Manifest> {
        self.case.manifest.as_ref()
    }

    /// Returns whether a fact may be on the public page.
    pub(crate) fn may_be_public(&self, fact: Fact) -> bool {
        Audience::decide(fact, self.case.hides_suppression()).is_everybody()
    }

    pub(crate) fn release(&self) -> String {
        let release = &self.case.judging.release;
        let memory = release.memory.as_ref().map(|batches| batches.name().to_owned());
        memory.or_else(|| release.paths.first().map(Location::name)).unwrap_or_default()
    }
}

/// Verifies, attacks and measures a release, and renders the results. Without the original there is
/// no page for the data owner.
pub(crate) fn report(judging: &Judging, ask: &Ask, progress: &dyn Progress) -> Result<Pages> {
    ask.check()?;
    let checked = verify(judging, progress)?;
    let case = Case::open(judging)?;
    let attacks = attack_case(&case, &AttackRequest::default(), progress)?;
    let mut kept = Kept::default();
    let measured = match &case.judging.original {
        Some(_) => {
            let columns = case.reading.quasi.len() + case.reading.sensitive.len();
            let ask = Ask { pairs: ask.pairs && columns <= MOST_PAIRED, ..ask.clone() };
            Some(measured(&case, Some(&ask), Some(&mut kept), progress)?)
        }
        None => None,
    };
    progress.step("drawing", None);
    let original = case.judging.original.as_ref().and_then(|input| input.name());
    let findings = Findings { case, checked, attacks, measured, kept, original };
    let public = incrowd_report::public_page(&public::public(&findings));
    let owner = match &findings.case.judging.original {
        Some(_) => Some(incrowd_report::owner_page(&owner::owner(&findings, progress)?)),
        None => None,
    };
    let checked = &findings.checked;
    Ok(Pages { public, owner, decision: checked.decision(), guarantees: checked.guarantees() })
}

/// Converts a decision to its form on pages.
pub(crate) fn outcome(decision: Decision) -> Outcome {
    match decision {
        Decision::Holds => Outcome::Holds,
        Decision::Undecided => Outcome::Undecided,
        Decision::Fails => Outcome::Fails,
    }
}

/// Returns the first sentence of a card's text.
pub(crate) fn first_sentence(text: &str) -> String {
    text.find(". ").map_or(text, |end| &text[..=end]).to_owned()
}

/// Returns the description of a metric.
pub(crate) fn about_metric(name: &str) -> String {
    METRICS
        .iter()
        .find(|card| card.name == name)
        .map(|card| first_sentence(card.about))
        .unwrap_or_default()
}

/// The paths of the pages of a job.
#[derive(Debug, Default)]
pub(crate) struct Targets {
    public: Option<Target>,
    owner: Option<Target>,
}

/// Checks that the pages of a job can be written, before any long work.
pub(crate) fn targets(job: &Job) -> Result<Targets> {
    let target = |path: &Option<PathBuf>, key: &str| {
        let decided = path.as_ref().map(|path| {
            let target = Target::decide(path)?;
            drop(Pending::at(&target)?);
            Ok(target)
        });
        decided.transpose().map_err(|e: Error| e.at(key))
    };
    let Some(output) = &job.output else { return Ok(Targets::default()) };
    Ok(Targets {
        public: target(&output.report, "output.report")?,
        owner: target(&output.owner_report, "output.owner_report")?,
    })
}

/// Writes the pages of a job about the release it made.
pub(crate) fn write_pages(job: &Job, targets: &Targets, progress: &dyn Progress) -> Result<()> {
    if targets.public.is_none() && targets.owner.is_none() {
        return Ok(());
    }
    let mut judging = Judging::of(job);
    // The models are taken from the manifest, which also contains those derived from the job.
    judging.models.clear();
    let pages = report(&judging, &Ask { pairs: true, ..Ask::default() }, progress)?;
    if let Some(target) = &targets.public {
        write_file(target, pages.public.as_bytes(), Audience::Everybody)?;
    }
    if let (Some(target), Some(owner)) = (&targets.owner, &pages.owner) {
        write_file(target, owner.as_bytes(), Audience::Owner)?;
    }
    Ok(())
}
