//! Verification of any published table.

use incrowd_audit::joined::Failure;
use incrowd_audit::{Decision, Judgement, Verification};
use incrowd_core::model::{Need, PrivacyModel};
use incrowd_core::{Error, MissingCells, Progress, Result};
use serde_json::{Value as Json, json};

use crate::job::RoleName;
use crate::judging::case::Case;
use crate::judging::from_original::FromOriginal;
use crate::judging::release_persons::{self, ReleasePersons};
use crate::judging::request::Judging;
use crate::making::checked::{about_outliers, need_population};
use crate::making::publication::{Asked, References, TableContent};
use crate::manifest::{Manifest, MissingCellsEntry, ModelEntry, SigningKey};

/// The result of verifying a published table.
#[derive(Debug)]
#[non_exhaustive]
pub struct Checked {
    /// The kind of publication.
    pub publication: String,
    /// Whether the persons of the records are known, if models count persons. If not, the
    /// judgements are not about persons.
    pub persons: ReleasePersons,
    /// The judgements of all models.
    pub verification: Verification,
    /// The judgements on the groups of sensitive values, if these have groups of their own.
    pub on_values: Option<Verification>,
    /// The name of the publication's rules that were checked, if it has any.
    pub rules: Option<&'static str>,
    /// The violated rules of the publication.
    pub failures: Vec<Failure>,
    /// The files that were read.
    pub files: Vec<CheckedFile>,
    /// The digest of the first table's bytes.
    pub digest: String,
    /// Whether the digests of all files match the manifest; `None` without a manifest.
    pub digest_matches: Option<bool>,
    /// Whether the manifest matches its own digest; `None` without a manifest or without a digest
    /// in it.
    pub manifest_as_made: Option<bool>,
    /// Whether there is a manifest without a digest of its own, so that changes to it cannot be
    /// detected.
    pub manifest_unsealed: bool,
    /// Whether the manifest is signed with the given key; `None` if no key was given.
    pub signed: Option<bool>,
    /// The values that a missing cell matches.
    pub missing_cells: MissingCells,
    /// Identifiers of the job that are columns of the table nevertheless.
    pub identifiers: Vec<String>,
    /// The comparison with the original, if it was requested.
    pub from_original: Option<FromOriginal>,
}

/// Marks a judgement on records as unknown if models count persons but the persons are unknown.
/// Only one conclusion is valid: fewer than k records are fewer than k persons.
fn unknown_by_persons(privacy_model: &PrivacyModel, judgement: &mut Judgement) {
    if privacy_model.model.card().needs != [Need::Records] || judgement.holds {
        (judgement.holds, judgement.unknown) = (false, true);
    }
}

/// A file of a release.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckedFile {
    /// Its content.
    pub content: TableContent,
    /// The digest of its bytes.
    pub digest: String,
    /// Whether the digest matches the manifest; `None` if the manifest does not name the file.
    pub matches: Option<bool>,
}

impl Checked {
    /// Returns whether every model holds, no identifier is published and the table matches its
    /// manifest: the worst of these decisions. Every output of a verdict uses this one.
    pub fn decision(&self) -> Decision {
        let privacy_models =
            Decision::worst(self.verification.judgements.iter().map(Judgement::decision));
        let on_values = self.on_values.iter().flat_map(|v| &v.judgements).map(Judgement::decision);
        let others = [
            self.failures.is_empty(),
            self.digest_matches != Some(false),
            self.manifest_as_made != Some(false),
            self.signed != Some(false),
            self.identifiers.is_empty(),
            self.from_original.as_ref().is_none_or(FromOriginal::holds),
        ];
        Decision::worst(on_values.chain([privacy_models]).chain(others.map(Decision::of)))
    }

    /// Returns whether every model holds, without the other checks.
    pub fn guarantees(&self) -> Decision {
        let on_values = self.on_values.iter().flat_map(|v| &v.judgements);
        Decision::worst(
            self.verification.judgements.iter().chain(on_values).map(Judgement::decision),
        )
    }

    /// Returns whether all of that holds.
    pub fn holds(&self) -> bool {
        self.decision().holds()
    }

    /// Returns whether the file of the sensitive values matches the manifest, if there is such a
    /// file.
    pub fn values_match(&self) -> Option<bool> {
        self.files.get(1).and_then(|file| file.matches)
    }

    /// Returns the result as JSON: public results at the top, results for the data owner under
    /// `private`.
    pub fn to_json(&self) -> Json {
        let mut answer = json!({
            "holds": self.decision().answer(),
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
        match (&self.persons, &self.verification.persons) {
            (ReleasePersons::NotRequested, _) => {}
            (ReleasePersons::Unknown(why), _) => answer["persons_unknown"] = json!(why),
            (ReleasePersons::Known, found) => {
                answer["unit"] = json!("persons");
                let smallest = found.map_or(self.verification.smallest_group, |f| f.smallest_group);
                answer["smallest_group"] = json!(smallest);
            }
        }
        if let Some(verification) = &self.on_values {
            let (groups, models) = (verification.groups, ModelEntry::all(verification));
            let values_match = self.values_match();
            answer["sensitive_groups"] =
                json!({ "groups": groups, "models": models, "digest_matches": values_match });
        }
        if self.rules.is_some() {
            let rule = |f: &Failure| json!({ "rule": f.rule, "says": f.message });
            answer["failures"] = self.failures.iter().map(rule).collect();
        }
        if let Some(found) = &self.from_original {
            found.add_to(&mut answer["private"]);
        }
        answer
    }
}

/// Verifies a release: the stated models, or those of its manifest.
pub(crate) fn verify(judging: &Judging, progress: &dyn Progress) -> Result<Checked> {
    let case = Case::open(judging)?;
    judge(&case, judging, progress).map_err(|error| case.without_hierarchy(error))
}

// The steps share the tables read first, so that they stay in one function.
fn judge(case: &Case, judging: &Judging, progress: &dyn Progress) -> Result<Checked> {
    let manifest = case.manifest.as_ref();
    let manifest_as_made = manifest.and_then(Manifest::is_as_made);
    let key = judging.check.as_deref().map(SigningKey::read).transpose()?;
    let signed = key.map(|key| manifest.is_some_and(|manifest| manifest.is_signed(&key)));
    case.need_quasi()?;
    let privacy_models = case.privacy_models()?;
    let outliers = about_outliers(&privacy_models);
    let is_suppressed =
        case.manifest.as_ref().is_some_and(|manifest| manifest.suppression.is_some());
    if outliers || is_suppressed && judging.original.is_some() || need_population(&privacy_models) {
        case.need_hierarchies()?;
    }
    let mut tables = case.read_for(&privacy_models, progress)?;
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
    let digest_matches = case.manifest.as_ref().map(|manifest| {
        manifest.digest == digest && files.iter().all(|file| file.matches != Some(false))
    });
    let population = case.judging.population.as_ref().filter(|_| need_population(&privacy_models));
    let population = population.map(|p| case.reading.fold_population(p, progress)).transpose()?;
    // Without the original, binding a model about outliers fails with the reason.
    let original = case.judging.original.as_ref().filter(|_| outliers);
    let original = original.map(|original| {
        case.reading.encode_original(case.reading.fold_original(original, progress)?)
    });
    let original = original.transpose()?;
    let from_original = case.publication.compare_with_original(case, &tables, progress)?;
    let references = References { population: population.as_ref(), original: original.as_ref() };
    let missing_cells = case.judging.missing_cells.unwrap_or_default();
    let asked = Asked {
        reading: &case.reading,
        privacy_models: &privacy_models,
        stated: case.stated,
        missing_cells,
        references,
    };
    let means = crate::making::means::verify(case, &tables.people, progress)?;
    let persons = release_persons::find(case, &mut tables.people, progress)?;
    let mut judged = case.publication.judge(tables, &asked, progress)?;
    if let Some(failures) = means {
        judged.rules.get_or_insert(crate::making::means::RULE);
        judged.failures.extend(failures);
    }
    if let ReleasePersons::Unknown(_) = persons {
        let judgements = privacy_models.iter().zip(&mut judged.verification.judgements);
        judgements
            .for_each(|(privacy_model, judgement)| unknown_by_persons(privacy_model, judgement));
    }
    Ok(Checked {
        publication: case.publication.name().to_owned(),
        persons,
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
        missing_cells,
        identifiers,
        from_original,
    })
}
