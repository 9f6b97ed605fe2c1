//! A release is a file under way until it is verified; only then can it be published.

use incrowd_audit::{Original, People, Verification, tally, verify_beside};
use incrowd_core::dataset::Quasi;
use incrowd_core::metric::Tally;
use incrowd_core::model::{Need, Promise};
use incrowd_core::{ColumnSpec, Dataset, Error, Folded, MISSING, Progress, Result, SensitiveSpec};
use incrowd_engine::{Embedded, Format, Options, Pending, Receipt};

use crate::manifest::Manifest;
use crate::setup::Setup;

/// Written, but nobody has looked at it.
#[derive(Debug)]
pub(crate) struct Unchecked;

/// Read back and found to keep every promise.
#[derive(Debug)]
pub(crate) struct Verified {
    pub(crate) verification: Verification,
    pub(crate) tally: Tally,
    pub(crate) digest: String,
}

/// A release that is not yet in place.
#[derive(Debug)]
pub(crate) struct Release<State> {
    pending: Pending,
    pub(crate) state: State,
}

impl Release<Unchecked> {
    pub(crate) fn new(pending: Pending) -> Self {
        Release { pending, state: Unchecked }
    }

    /// Reads the file back, regroups its cells and judges every promise on them.
    pub(crate) fn verify(
        self,
        columns: &[String],
        domains: &[Quasi],
        setup: &Setup,
        beside: Beside<'_>,
        receipt: Receipt,
        progress: &dyn Progress,
    ) -> Result<Release<Verified>> {
        let format = Some(Format::of_path(self.pending.target())?);
        let quasi: Vec<&str> = domains.iter().map(|q| q.name.as_str()).collect();
        let delimiter = Some(delimiter(self.pending.target()));
        let options = Options { format, delimiter, digest: true };
        let promises = &setup.promises;
        let sensitive: Vec<&str> = setup.schema.sensitive().map(|(name, _)| name).collect();
        let read = read(self.pending.path(), &options, &quasi, &sensitive, promises, progress)?;
        // A header of text is read without the blanks around its names.
        if !read.columns.iter().map(|c| c.trim()).eq(columns.iter().map(|c| c.trim())) {
            return Err(Error::bug("the written release does not have the columns it should have"));
        }
        if read.folded.records() != receipt.published {
            return Err(Error::bug(format!(
                "the written release has {} records, {} were published",
                read.folded.records(),
                receipt.published
            )));
        }
        let tally = tally(&read.folded, domains, receipt.suppressed)?;
        let quasi: Vec<ColumnSpec> = setup.schema.quasi().map(|(_, spec)| spec.clone()).collect();
        let sensitive: Vec<SensitiveSpec> = setup.schema.sensitive().map(|(_, spec)| spec.clone()).collect();
        let missing = setup.missing_label();
        let asked = Asked { promises, stated: false };
        let verification = judge(read.folded, &quasi, &sensitive, &asked, beside, missing, progress)?;
        if let Some(broken) = verification.judgements.iter().find(|judgement| !judgement.holds) {
            return Err(Error::bug(format!(
                "the release does not keep {}: it was not put in place",
                broken.title
            )));
        }
        let state = Verified { verification, tally, digest: read.digest };
        Ok(Release { pending: self.pending, state })
    }
}

impl Release<Verified> {
    /// Puts the release in place, then its manifest.
    pub(crate) fn publish(self, manifest: Manifest) -> Result<()> {
        let manifest = manifest.write()?;
        Pending::publish_all([self.pending, manifest])
    }
}

/// Judges the promises on a published table that was read back: quasi-identifiers, then the sensitive columns if a model
/// looks at them. A sensitive cell that reads `missing` is a missing value, which need not be a number nor in a hierarchy.
pub(crate) fn judge(
    mut release: Folded,
    quasi: &[ColumnSpec],
    sensitive: &[SensitiveSpec],
    asked: &Asked<'_>,
    beside: Beside<'_>,
    missing: &str,
    progress: &dyn Progress,
) -> Result<Verification> {
    let texts = beside.original.map(|_| release.clone());
    let original = match (beside.original, &texts) {
        (Some(data), Some(texts)) => Some((Original::read(texts, data, progress)?, texts)),
        _ => None,
    };
    let people =
        beside.population.map(|p| People::covered(&release, quasi, p, missing, progress)).transpose()?;
    let width = release.columns.len();
    for column in quasi.len()..width {
        let mut texts = release.columns[column].texts.iter().skip(1);
        if let Some(lost) = texts.position(|text| text == missing) {
            let cells = release.codes.iter_mut().skip(column).step_by(width);
            cells.filter(|code| **code == lost as u32 + 1).for_each(|code| *code = MISSING);
        }
    }
    let specs: Vec<&SensitiveSpec> = sensitive.iter().collect();
    let names: Vec<String> = release.columns.iter().map(|c| c.name.clone()).collect();
    let release = Dataset::of_release(release, quasi.len(), &specs)
        .map_err(|failed| failed.misfit.error.at(format!("columns.{}", names[failed.column])))?;
    if asked.stated {
        for (i, promise) in asked.promises.iter().enumerate() {
            promise.model.suits(&release).map_err(|e| e.within(&format!("models.{i}")))?;
        }
    }
    let original = original.as_ref().map(|(original, texts)| (original, *texts));
    verify_beside(&release, asked.promises, people.as_ref(), original)
}

/// What a release is judged beside, where a promise asks for it.
#[derive(Clone, Copy)]
pub(crate) struct Beside<'a> {
    /// The people the table is a sample of.
    pub(crate) population: Option<&'a Folded>,
    /// The table the release was made from.
    pub(crate) original: Option<&'a Dataset>,
}

/// Promises about a published table.
pub(crate) struct Asked<'a> {
    pub(crate) promises: &'a [Promise],
    /// Whether somebody states them of this table, and not the making or the manifest of the release.
    pub(crate) stated: bool,
}

/// The delimiter incrowd writes into a file of that name.
pub(crate) fn delimiter(path: &std::path::Path) -> u8 {
    if tabs(path) { b'\t' } else { b',' }
}

fn tabs(path: &std::path::Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    name.trim_end_matches(".gz").trim_end_matches(".zst").ends_with(".tsv")
}

/// A published table as read back.
pub(crate) struct ReadBack {
    /// Quasi-identifiers, then the sensitive columns if a model looks at them.
    pub(crate) folded: Folded,
    pub(crate) digest: String,
    pub(crate) columns: Vec<String>,
}

/// Reads a published table: texts only, nothing counts as missing.
pub(crate) fn read(
    path: &std::path::Path,
    options: &Options,
    quasi: &[&str],
    sensitive: &[&str],
    promises: &[Promise],
    progress: &dyn Progress,
) -> Result<ReadBack> {
    let looked_at = promises.iter().any(|p| p.model.card().needs.contains(&Need::Sensitive));
    let mut names: Vec<String> = quasi.iter().map(|n| (*n).to_owned()).collect();
    if looked_at {
        names.extend(sensitive.iter().map(|n| (*n).to_owned()));
    }
    let (folded, digest, columns) = Embedded::read_release(path, options, &names, progress)?;
    Ok(ReadBack { folded, digest, columns })
}
