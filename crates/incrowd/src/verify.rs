//! Judging any published table.

use incrowd_audit::joined::Failure;
use incrowd_audit::{Judgement, Verification};
use incrowd_core::model::{Need, Promise};
use incrowd_core::{Error, MissingCells, Progress, Result};
use serde_json::{Value as Json, json};

use crate::behind::{self, Behind};
use crate::case::Case;
use crate::checked::{about_outliers, need_population};
use crate::from_original::FromOriginal;
use crate::job::RoleName;
use crate::judging::Judging;
use crate::manifest::{Manifest, MissingCellsEntry, ModelEntry, SigningKey};
use crate::publication::{Asked, References};

/// What was found out about a published table.
#[derive(Debug)]
pub struct Checked {
    /// What kind of publication it is.
    pub publication: String,
    /// Whether it is known whose records they are, if promises count persons. If not, what is said is not about them.
    pub behind: Behind,
    /// The judgements.
    pub verification: Verification,
    /// The promises judged once more on the groups of sensitive values, where those have groups of their own.
    pub on_values: Option<Verification>,
    /// The rules of the publication that were checked, if it has any.
    pub rules: Option<&'static str>,
    /// Rules of the publication that are broken, in words.
    pub failures: Vec<Failure>,
    /// The files that were read.
    pub files: Vec<CheckedFile>,
    /// The digest of the first table's bytes.
    pub digest: String,
    /// Whether the manifest beside it has the same digests of all files; `None` without a manifest.
    pub digest_matches: Option<bool>,
    /// Whether the manifest says what it said when it was made; `None` without a manifest, or if it does not state its digest.
    pub manifest_as_made: Option<bool>,
    /// Whether there is a manifest that does not state its digest, so that changes to it do not show.
    pub manifest_unsealed: bool,
    /// Whether the manifest is signed with the key that was given; `None` if none was.
    pub signed: Option<bool>,
    /// Whether promises are about a population that was estimated by weights, which the release does not have.
    pub estimated: bool,
    /// What a missing cell was taken to match.
    pub missing_cells: MissingCells,
    /// Identifiers the job names that are nevertheless columns of the table.
    pub identifiers: Vec<String>,
    /// What was found out beside the table the release was made from, if that was asked.
    pub from_original: Option<FromOriginal>,
}

/// What is judged on records says little about persons: fewer than k records are fewer than k persons, and that is all.
fn unknown_by_persons(promise: &Promise, judgement: &mut Judgement) {
    if promise.model.card().needs != [Need::Records] || judgement.holds {
        (judgement.holds, judgement.unknown) = (false, true);
    }
}

/// A file of a release.
#[derive(Clone, Debug)]
pub struct CheckedFile {
    /// What it holds.
    pub content: &'static str,
    /// The digest of its bytes.
    pub digest: String,
    /// Whether that is the one in the manifest; `None` if the manifest does not name it.
    pub matches: Option<bool>,
}

impl Checked {
    /// Whether every promise holds, no identifier is published and the table is the one its manifest describes.
    pub fn holds(&self) -> bool {
        let on_values = self.on_values.as_ref();
        // What counts persons was judged when the release was made; nothing of it is known to be broken.
        let by_persons = (matches!(self.behind, Behind::Unknown(_)) || self.estimated)
            && self.digest_matches == Some(true);
        self.verification.judgements.iter().all(|j| j.holds || by_persons && j.unknown)
            && on_values.is_none_or(|v| v.judgements.iter().all(|j| j.holds || j.unknown))
            && self.failures.is_empty()
            && self.digest_matches != Some(false)
            && self.manifest_as_made != Some(false)
            && self.signed != Some(false)
            && self.identifiers.is_empty()
            && self.from_original.as_ref().is_none_or(FromOriginal::holds)
    }

    /// Whether the file of the sensitive values is the one in the manifest, if there is such a file.
    pub fn values_match(&self) -> Option<bool> {
        self.files.get(1).and_then(|file| file.matches)
    }

    /// The answer as JSON: what may be published at the top, what is for the owner of the data under `private`.
    pub fn to_json(&self) -> Json {
        let mut answer = json!({
            "holds": self.holds(),
            "publication": self.publication,
            "records": self.verification.records,
            "groups": self.verification.groups,
            "models": ModelEntry::all(&self.verification),
            "digest": self.digest,
            "digest_matches": self.digest_matches,
            "manifest_as_made": self.manifest_as_made,
            "published_identifiers": self.identifiers,
        });
        if self.missing_cells != MissingCells::default() {
            answer["missing_cells"] = MissingCellsEntry::of(self.missing_cells).to_json();
        }
        if let Some(signed) = self.signed {
            answer["signed"] = json!(signed);
        }
        match (&self.behind, &self.verification.persons) {
            (Behind::NotAsked, _) => {}
            (Behind::Unknown(why), _) => answer["persons_unknown"] = json!(why),
            (Behind::Known, found) => {
                answer["unit"] = json!("persons");
                let smallest = found.map_or(self.verification.smallest_group, |f| f.smallest_group);
                answer["smallest_group"] = json!(smallest);
            }
        }
        if let Some(verification) = &self.on_values {
            let (groups, models) = (verification.groups, ModelEntry::all(verification));
            answer["sensitive_groups"] =
                json!({ "groups": groups, "models": models, "digest_matches": self.values_match() });
        }
        if self.rules.is_some() {
            let rule = |f: &Failure| json!({ "rule": f.rule, "says": f.says });
            answer["failures"] = self.failures.iter().map(rule).collect();
        }
        if let Some(found) = &self.from_original {
            found.add_to(&mut answer["private"]);
        }
        answer
    }
}

/// Judges a release against the promises that are stated, or those of its manifest.
pub fn verify(judging: &Judging, progress: &dyn Progress) -> Result<Checked> {
    let case = Case::open(judging)?;
    judge(&case, judging, progress).map_err(|error| case.without_hierarchy(error))
}

fn judge(case: &Case, judging: &Judging, progress: &dyn Progress) -> Result<Checked> {
    let manifest = case.manifest.as_ref();
    let manifest_as_made = manifest.and_then(Manifest::is_as_made);
    let key = judging.check.as_deref().map(SigningKey::read).transpose()?;
    let signed = key.map(|key| manifest.is_some_and(|manifest| manifest.is_signed(&key)));
    case.need_quasi()?;
    let promises = case.promises()?;
    let outliers = about_outliers(&promises);
    let withheld = case.manifest.as_ref().is_some_and(|manifest| manifest.suppression.is_some());
    if outliers || withheld && judging.original.is_some() || need_population(&promises) {
        case.need_hierarchies()?;
    }
    let mut tables = case.read_for(&promises, progress)?;
    if tables.people.records() == 0 {
        return Err(Error::input("the table has no records"));
    }
    let roles = case.judging.roles();
    let columns = &tables.files[0].columns;
    let identifiers = roles.named(RoleName::Identifier).into_iter().map(str::to_owned);
    let identifiers = identifiers.filter(|name| columns.contains(name)).collect();
    let files: Vec<CheckedFile> = tables
        .files
        .iter()
        .map(|file| {
            let stated = case.manifest.as_ref().and_then(|manifest| manifest.file(file.content));
            let matches = stated.map(|stated| stated.digest == file.digest);
            CheckedFile { content: file.content, digest: file.digest.clone(), matches }
        })
        .collect();
    let digest = tables.digest().to_owned();
    let digest_matches = case
        .manifest
        .as_ref()
        .map(|manifest| manifest.digest == digest && files.iter().all(|file| file.matches != Some(false)));
    let population = case.judging.population.as_ref().filter(|_| need_population(&promises));
    let population = population.map(|p| case.reading.fold_population(p, progress)).transpose()?;
    // Without the original a promise about outliers is refused further down, with the reason.
    let original = case.judging.original.as_ref().filter(|_| outliers);
    let original = original
        .map(|original| case.reading.encode_original(case.reading.fold_original(original, progress)?));
    let original = original.transpose()?;
    let from_original = case.publication.compare_with_original(case, &tables, progress)?;
    let references = References { population: population.as_ref(), original: original.as_ref() };
    let missing_cells = case.judging.missing_cells.unwrap_or_default();
    let asked =
        Asked { reading: &case.reading, promises: &promises, stated: case.stated, missing_cells, references };
    let behind = behind::find(case, &mut tables.people, progress)?;
    let mut judged = case.publication.judge(tables, &asked, progress)?;
    if let Behind::Unknown(_) = behind {
        let judgements = promises.iter().zip(&mut judged.verification.judgements);
        judgements.for_each(|(promise, judgement)| unknown_by_persons(promise, judgement));
    }
    Ok(Checked {
        publication: case.publication.name().to_owned(),
        behind,
        verification: judged.verification,
        on_values: judged.on_values,
        rules: judged.rules,
        failures: judged.failures,
        files,
        digest,
        digest_matches,
        manifest_as_made,
        manifest_unsealed: case.manifest.is_some() && manifest_as_made.is_none(),
        signed,
        estimated: case.estimates() && judging.population.is_none(),
        missing_cells,
        identifiers,
        from_original,
    })
}
