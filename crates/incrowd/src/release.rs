//! A release is under way until it is verified; only then can it be published.

use std::path::Path;

use incrowd_audit::{Alone, Verification};
use incrowd_core::metric::Tally;
use incrowd_core::{Error, Progress, Result};
use incrowd_engine::{Beside, Engine, Note, Seen};

use crate::as_it_is;
use crate::checked::{CheckedJob, need_sensitive};
use crate::make::{Made, Staged};
use crate::manifest::Manifest;
use crate::publication::{Asked, ReadFile, References, StagedShelf, Tables};
use crate::reading::Reading;
use crate::suppression::SuppressionReport;
use crate::weights;

/// Staged, but nobody has looked at it.
#[derive(Debug)]
pub(crate) struct Unchecked {
    staged: Vec<Staged>,
}

/// Read back and found to keep every promise.
#[derive(Clone, Debug)]
pub(crate) struct Verified {
    pub(crate) verification: Verification,
    pub(crate) on_values: Option<Verification>,
    pub(crate) tally: Tally,
    pub(crate) files: Vec<ReadFile>,
    pub(crate) suppression: Option<SuppressionReport>,
    /// Records that are not in the tables.
    pub(crate) absent: u64,
    /// Who is alone in what is published as it is, if anything is.
    pub(crate) alone: Option<Alone>,
}

/// What is staged in an engine. Dropped, it leaves nothing behind.
struct UnderWay<'e>(Option<&'e mut dyn Engine>);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if let Some(engine) = self.0.take() {
            engine.discard();
        }
    }
}

/// A release that is not yet in place.
pub(crate) struct Release<'e, State> {
    under_way: UnderWay<'e>,
    pub(crate) state: State,
}

impl<'e> Release<'e, Unchecked> {
    /// Writes what was made where nobody can see it.
    pub(crate) fn stage(
        made: &mut Made,
        engine: &'e mut dyn Engine,
        progress: &dyn Progress,
    ) -> Result<Self> {
        match made.stage(engine, progress) {
            Ok(staged) => Ok(Release { under_way: UnderWay(Some(engine)), state: Unchecked { staged } }),
            Err(error) => {
                engine.discard();
                Err(error)
            }
        }
    }

    /// What is written already.
    pub(crate) fn of_staged(engine: &'e mut dyn Engine, staged: Staged) -> Self {
        Release { under_way: UnderWay(Some(engine)), state: Unchecked { staged: vec![staged] } }
    }

    /// Reads the tables back from their bytes, groups their cells anew and judges every promise on them.
    pub(crate) fn verify(
        self,
        made: &Made,
        job: &CheckedJob,
        progress: &dyn Progress,
    ) -> Result<Release<'e, Verified>> {
        let staged = &self.state.staged;
        let Some(engine) = self.under_way.0.as_deref() else {
            return Err(Error::bug("a release without an engine"));
        };
        let shelf = StagedShelf { engine, contents: staged.iter().map(|table| table.content).collect() };
        let reading = Reading::of_schema(&made.schema, &job.job.input);
        let looked_at = need_sensitive(&job.promises) || made.withholding.is_some();
        let as_it_is = job.as_it_is();
        let cells = staged.first().map_or(0, |table| table.receipt.published) * as_it_is.len() as u64;
        let beside = Beside { columns: &as_it_is, counts_only: cells > as_it_is::MOST_CELLS };
        let mut tables = job.publication.read_back(&reading, &shelf, looked_at, beside, progress)?;
        for (file, table) in tables.files.iter().zip(staged) {
            // A header of text is read without the blanks around its names.
            if !file.columns.iter().map(|c| c.trim()).eq(table.columns.iter().map(|c| c.trim())) {
                return Err(Error::bug("a written table does not have the columns it should have"));
            }
            if file.records != table.receipt.published {
                return Err(Error::bug(format!(
                    "a written table has {} records, {} were published",
                    file.records, table.receipt.published
                )));
            }
        }
        crate::guarantee::check(&tables.people, &reading, Some(&made.domains))?;
        weights::verify(engine, job, progress)?;
        progress.step("looking who is alone", None);
        let absent = staged.first().map_or(0, |table| table.receipt.suppressed);
        let tally = || {
            if made.mean_labels.is_empty() {
                return job.publication.tally(&tables, &made.domains, absent);
            }
            // The means are what a reader sees; the ranges they stand for are what they cost.
            let people = made.with_ranges(tables.people.clone());
            let ranges = Tables { people, seen: Seen::default(), ..tables.clone() };
            job.publication.tally(&ranges, &made.domains, absent)
        };
        let (alone, tally) = rayon::join(|| as_it_is::look(&tables, job), tally);
        let (alone, tally) = (alone?, tally);
        alone.iter().try_for_each(|found| as_it_is::refuse(found, job))?;
        let tally = tally?;
        tables.seen = Seen::default();
        let files = tables.files.clone();
        let withholding = made.withholding.as_ref();
        let mut suppression = withholding.map(|step| step.judge(job, tables.with_values())).transpose()?;
        suppression.iter_mut().for_each(|step| job.publication.advise(step));
        let references =
            References { population: made.population.as_ref(), original: made.original.as_ref() };
        let missing_cells = job.job.algorithm.missing_cells;
        let asked =
            Asked { reading: &reading, promises: &job.promises, stated: false, missing_cells, references };
        progress.step("judging", None);
        let judged = job.publication.judge(tables, &asked, progress)?;
        if let Some(promise) = judged.broken() {
            return Err(job.publication.broken(job, &promise));
        }
        let (verification, on_values) = (judged.verification, judged.on_values);
        let state = Verified { verification, on_values, tally, files, suppression, absent, alone };
        Ok(Release { under_way: self.under_way, state })
    }
}

impl Release<'_, Verified> {
    /// Lets a release be noted elsewhere: what `note` answers is noted together with putting the release in place.
    pub(crate) fn note(&mut self, note: impl FnOnce(Option<&Path>) -> Result<Option<Note>>) -> Result<()> {
        let Some(engine) = self.under_way.0.as_deref_mut() else {
            return Err(Error::bug("a release without an engine"));
        };
        match note(engine.journal())? {
            Some(note) => engine.note(note),
            None => Ok(()),
        }
    }

    /// Puts the release and its manifest in place.
    pub(crate) fn publish(mut self, manifest: &Manifest) -> Result<Verified> {
        let bytes = manifest.to_bytes()?;
        let Some(engine) = self.under_way.0.as_deref_mut() else {
            return Err(Error::bug("a release without an engine"));
        };
        engine.publish(&bytes)?;
        Ok(self.state)
    }
}
