//! The states of a release: staged, verified, published. Only a verified release can be published.

use std::path::Path;

use incrowd_audit::{UniqueRecords, Verification};
use incrowd_core::metric::Tally;
use incrowd_core::{Error, Progress, Result};
use incrowd_engine::{Engine, ExaminedColumns, Note, RecordValues};

use crate::job::reading::Reading;
use crate::judging::unmodified;
use crate::making::checked::{CheckedJob, need_sensitive};
use crate::making::make::{Made, Staged};
use crate::making::publication::{Asked, ReadFile, StagedTables, Tables};
use crate::making::suppression::SuppressionReport;
use crate::making::weights;
use crate::manifest::Manifest;

/// The state of a staged release that is not verified.
#[derive(Debug)]
pub(crate) struct Unchecked {
    staged: Vec<Staged>,
}

/// The state of a verified release: its bytes were read back, and every model holds.
#[derive(Clone, Debug)]
pub(crate) struct Verified {
    pub(crate) verification: Verification,
    pub(crate) on_values: Option<Verification>,
    pub(crate) tally: Tally,
    pub(crate) files: Vec<ReadFile>,
    pub(crate) suppression: Option<SuppressionReport>,
    /// The number of records that are not in the tables.
    pub(crate) absent: u64,
    /// Unique records on unmodified columns, if there are such columns.
    pub(crate) unique_records: Option<UniqueRecords>,
}

/// An engine with staged tables. They are discarded on drop.
struct StagedIn<'e>(Option<&'e mut dyn Engine>);

impl Drop for StagedIn<'_> {
    fn drop(&mut self) {
        if let Some(engine) = self.0.take() {
            engine.discard();
        }
    }
}

/// A release that is not published yet.
pub(crate) struct Release<'e, State> {
    staged_in: StagedIn<'e>,
    pub(crate) state: State,
}

impl<'e> Release<'e, Unchecked> {
    /// Stages the tables.
    pub(crate) fn stage(
        made: &mut Made,
        engine: &'e mut dyn Engine,
        progress: &dyn Progress,
    ) -> Result<Self> {
        match made.stage(engine, progress) {
            Ok(staged) => {
                Ok(Release { staged_in: StagedIn(Some(engine)), state: Unchecked { staged } })
            }
            Err(error) => {
                engine.discard();
                Err(error)
            }
        }
    }

    /// Creates a release from a staged table.
    pub(crate) fn of_staged(engine: &'e mut dyn Engine, staged: Staged) -> Self {
        Release { staged_in: StagedIn(Some(engine)), state: Unchecked { staged: vec![staged] } }
    }

    /// Reads the tables back from their bytes, groups their cells and verifies every model on them.
    // Long, because every step needs the tables that are read back once.
    pub(crate) fn verify(
        self,
        made: &Made,
        job: &CheckedJob,
        progress: &dyn Progress,
    ) -> Result<Release<'e, Verified>> {
        let staged = &self.state.staged;
        let Some(engine) = self.staged_in.0.as_deref() else {
            return Err(Error::bug("a release without an engine"));
        };
        let tables =
            StagedTables { engine, contents: staged.iter().map(|table| table.content).collect() };
        let reading = Reading::of_schema(&made.schema, &job.job.input);
        let with_sensitive = need_sensitive(&job.privacy_models) || made.suppression.is_some();
        let unmodified = job.unmodified();
        let cells =
            staged.first().map_or(0, |table| table.receipt.published) * unmodified.len() as u64;
        let examined =
            ExaminedColumns { columns: &unmodified, counts_only: cells > unmodified::MOST_CELLS };
        let mut tables =
            job.publication.read_back(&reading, &tables, with_sensitive, examined, progress)?;
        for (file, table) in tables.files.iter().zip(staged) {
            // Readers of text trim the names of a header.
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
        crate::judging::guarantee::check(&tables.people, &reading, Some(&made.domains))?;
        weights::verify(engine, job, progress)?;
        progress.step("counting unique records", None);
        let absent = staged.first().map_or(0, |table| table.receipt.suppressed);
        let tally = || {
            let Some(means) = &made.generalized.means else {
                return job.publication.tally(&tables, &made.domains, absent);
            };
            // A reader groups records by their means. The loss is that of the ranges of the groups.
            let group_sizes = means.check(&tables.people, &made.domains)?;
            let ranges = Tables {
                people: means.ranges(&made.domains),
                quasi: tables.quasi,
                ..Tables::default()
            };
            let tally = job.publication.tally(&ranges, &made.domains, absent)?;
            Ok(Tally { group_sizes, ..tally })
        };
        let (unique_records, tally) = rayon::join(|| unmodified::count(&tables, job), tally);
        let (unique_records, tally) = (unique_records?, tally);
        unique_records.iter().try_for_each(|found| unmodified::refuse(found, job))?;
        let tally = tally?;
        tables.record_values = RecordValues::default();
        let files = tables.files.clone();
        let step = made.suppression.as_ref();
        let mut suppression = step.map(|step| step.judge(job, tables.with_values())).transpose()?;
        suppression.iter_mut().for_each(|step| job.publication.advise(step));
        let references = made.generalized.references();
        let missing_cells = job.job.algorithm.missing_cells;
        let asked = Asked {
            reading: &reading,
            privacy_models: &job.privacy_models,
            stated: false,
            missing_cells,
            references,
        };
        progress.step("judging", None);
        let judged = job.publication.judge(tables, &asked, progress)?;
        if let Some(privacy_model) = judged.broken() {
            // Groups with different ranges may have equal means. If persons have several records,
            // the union of such groups need not satisfy what each group satisfies.
            let repeated = made.input.persons.as_ref().is_some_and(|persons| persons.repeated);
            if made.generalized.means.is_some() && repeated {
                return Err(Error::unsatisfiable(format!(
                    "groups with equal means do not keep {privacy_model} together: \
                     nothing was published"
                ))
                .help("publish ranges or their ends: numbers = \"range\" or \"low-high\"")
                .at("output.numbers"));
            }
            return Err(job.publication.broken(job, &privacy_model));
        }
        let (verification, on_values) = (judged.verification, judged.on_values);
        let state =
            Verified { verification, on_values, tally, files, suppression, absent, unique_records };
        Ok(Release { staged_in: self.staged_in, state })
    }
}

impl Release<'_, Verified> {
    /// Adds a note to another file, in one step with the publication of the release.
    pub(crate) fn note(
        &mut self,
        note: impl FnOnce(Option<&Path>) -> Result<Option<Note>>,
    ) -> Result<()> {
        let Some(engine) = self.staged_in.0.as_deref_mut() else {
            return Err(Error::bug("a release without an engine"));
        };
        match note(engine.journal())? {
            Some(note) => engine.note(note),
            None => Ok(()),
        }
    }

    /// Publishes the release and its manifest.
    pub(crate) fn publish(mut self, manifest: &Manifest) -> Result<Verified> {
        let bytes = manifest.to_bytes()?;
        let Some(engine) = self.staged_in.0.as_deref_mut() else {
            return Err(Error::bug("a release without an engine"));
        };
        engine.publish(&bytes)?;
        Ok(self.state)
    }
}
