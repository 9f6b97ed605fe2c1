//! Judging any published table.

use std::path::Path;

use incrowd_audit::Verification;
use incrowd_core::model::{Need, Promise};
use incrowd_core::{Categories, ColumnSpec, Error, Kind, Progress, Publish, Result};
use incrowd_engine::{digest, partial_path};
use serde_json::Value as Json;

use crate::external::{self, JoinChecked, Originals, is_joined};
use crate::grid::grids_of_manifest;
use crate::job::{Job, OnMissing, RoleName};
use crate::manifest::{default_path, file_name, judgement_json};
use crate::origin::{self, Origin};
use crate::release::{Asked, Beside, delimiter, judge, read};
use crate::setup;

/// What was found out about a published table.
#[derive(Debug)]
pub struct Checked {
    /// The judgements.
    pub verification: Verification,
    /// The digest of the table's bytes.
    pub digest: String,
    /// Whether the manifest beside it has the same digest; `None` without a manifest.
    pub digest_matches: Option<bool>,
    /// Identifiers the job names that are nevertheless columns of the table.
    pub identifiers: Vec<String>,
    /// What was found out about the second table and the originals, if the release is k-join-anonymous.
    pub joined: Option<JoinChecked>,
    /// What was found out beside the table the release was made from, if records were withheld or its tables are linked by
    /// groups only, and the job names that table.
    pub origin: Option<Origin>,
}

impl Checked {
    /// Whether every promise holds, no identifier is published and the table is the one its manifest describes.
    pub fn holds(&self) -> bool {
        let own =
            self.verification.holds() && self.digest_matches != Some(false) && self.identifiers.is_empty();
        own && self.joined.as_ref().is_none_or(JoinChecked::holds)
            && self.origin.as_ref().is_none_or(Origin::holds)
    }

    /// The answer as JSON.
    pub fn to_json(&self) -> Json {
        let mut answer = serde_json::json!({
            "holds": self.holds(),
            "records": self.verification.records,
            "groups": self.verification.groups,
            "models": self.verification.judgements.iter().map(judgement_json).collect::<Vec<_>>(),
            "digest": self.digest,
            "digest_matches": self.digest_matches,
            "published_identifiers": self.identifiers,
        });
        if let Some(joined) = &self.joined {
            joined.add_to(&mut answer);
        }
        if let Some(origin) = &self.origin {
            answer["private"]["original"] = origin.to_json();
        }
        answer
    }
}

/// Judges the table of `job.input` against the job's promises and quasi-identifiers. Where the job says nothing of columns or
/// models, the manifest beside the table is asked.
pub fn verify(job: &Job, progress: &dyn Progress) -> Result<Checked> {
    let [path] = job.input.paths.as_slice() else {
        return Err(Error::job("verify takes exactly one table").help("incrowd verify release.csv"));
    };
    let manifest = manifest_of(path, job)?;
    if let Some(manifest) = manifest.as_ref().filter(|manifest| is_joined(manifest)) {
        return external::verify(job, path, Some(manifest), None, None, progress);
    }
    let stated = !job.models.is_empty();
    let job = match &manifest {
        Some(manifest) => with_manifest(job, manifest)?,
        None => job.clone(),
    };
    let quasi: Vec<&str> = named(&job, RoleName::Quasi);
    if quasi.is_empty() {
        return Err(Error::job("which columns are quasi-identifiers?")
            .help("use --quasi age,sex,zip, or --job with a job file; a manifest beside the table is read by itself"));
    }
    if let Some(manifest) = manifest.as_ref().filter(|manifest| crate::anatomy::is_anatomy(manifest)) {
        return crate::anatomy::verify(path, manifest, &job, progress);
    }
    let sensitive = named(&job, RoleName::Sensitive);
    let promises: Vec<Promise> = setup::promises(&job, &sensitive)?;
    let outliers = setup::about_outliers(&promises);
    let told = manifest.as_ref().filter(|m| m["suppression"].is_object() && !job.original.is_empty());
    if outliers || told.is_some() || promises.iter().any(|p| p.model.card().needs.contains(&Need::Population))
    {
        needs_hierarchies(&job, &quasi, manifest.as_ref())?;
    }
    let mut options = setup::options(&job.input)?;
    if manifest.is_some() && options.delimiter.is_none() {
        // What incrowd wrote need not be sniffed.
        options.delimiter = Some(delimiter(path));
    }
    let back = read(path, &options, &quasi, &sensitive, &promises, progress)?;
    if back.folded.records() == 0 {
        return Err(Error::input("the table has no records"));
    }
    let identifiers: Vec<String> = named(&job, RoleName::Identifier)
        .into_iter()
        .filter(|n| back.columns.iter().any(|c| c == n))
        .map(str::to_owned)
        .collect();
    let population = setup::population(&job, &quasi, &promises, progress)?;
    // Without the original a promise about outliers is refused further down, with the reason.
    let original = (outliers && !job.original.is_empty())
        .then(|| setup::original(&job, &quasi, &sensitive, progress))
        .transpose()?;
    let specs = |names: &[&str]| -> Vec<ColumnSpec> {
        names.iter().map(|name| job.column(name).map(|c| c.spec.clone()).unwrap_or_default()).collect()
    };
    let missing = job.input.missing.iter().find(|m| !m.is_empty()).map_or("", String::as_str);
    let sensitive: Vec<_> = sensitive
        .iter()
        .map(|name| job.column(name).map(setup::sensitive_spec).unwrap_or_default())
        .collect();
    let asked = Asked { promises: &promises, stated };
    let beside = Beside { population: population.as_ref(), original: original.as_ref() };
    let verification = judge(back.folded, &specs(&quasi), &sensitive, &asked, beside, missing, progress)?;
    let stated = manifest.as_ref().and_then(|m| m["digest"].as_str());
    let digest_matches = stated.map(|stated| stated == back.digest);
    let origin = told.map(|told| origin::compare(&job, told, path, &options, progress)).transpose()?;
    Ok(Checked { verification, digest_matches, digest: back.digest, identifiers, joined: None, origin })
}

/// Whether the manifest of the release says that it was made with an external table.
pub fn is_of_two_tables(job: &Job) -> Result<bool> {
    let [path] = job.input.paths.as_slice() else { return Ok(false) };
    Ok(manifest_of(path, job)?.is_some_and(|manifest| is_joined(&manifest)))
}

/// Judges a k-join-anonymous release: the table of boxes is `job.input`, that of sensitive values the one its manifest names or
/// `sensitive`. With the originals, whose external table the job names, it also asks whether the rows are people of both
/// tables and everybody of the microdata is among them.
pub fn verify_joined(
    job: &Job,
    sensitive: Option<&Path>,
    originals: Option<&Originals>,
    progress: &dyn Progress,
) -> Result<Checked> {
    let [path] = job.input.paths.as_slice() else {
        return Err(Error::job("verify takes exactly one table").help("incrowd verify release.csv"));
    };
    let manifest = manifest_of(path, job)?;
    external::verify(job, path, manifest.as_ref(), sensitive, originals, progress)
}

/// The job with the roles the manifest of its table names, if the job has no quasi-identifiers of its own and there is a
/// manifest: what else is said of columns can then be said on top of that.
pub fn with_roles_of_manifest(job: &Job) -> Result<Job> {
    let [path] = job.input.paths.as_slice() else { return Ok(job.clone()) };
    let mut roles = job.clone();
    if let Some(manifest) = manifest_of(path, job)? {
        roles_of_manifest(&mut roles, &manifest)?;
    }
    Ok(roles)
}

/// Without the hierarchies a release was made with, its labels would cover nobody, and a promise about people would seem
/// broken.
fn needs_hierarchies(job: &Job, quasi: &[&str], manifest: Option<&Json>) -> Result<()> {
    let made = |name: &str| manifest.is_some_and(|m| m["job"]["columns"][name]["hierarchy"].is_string());
    let given = |name: &str| job.column(name).is_some_and(|column| column.spec.hierarchy.is_some());
    match quasi.iter().find(|name| made(name) && !given(name)) {
        None => Ok(()),
        Some(name) => Err(Error::job(format!(
            "column `{name}` was generalized along a hierarchy, without which its cells cannot be read"
        ))
        .help(format!(
            "give it with --hierarchy {name}=FILE, or all of them with --hierarchies DIRECTORY or --job"
        ))),
    }
}

pub(crate) fn named(job: &Job, role: RoleName) -> Vec<&str> {
    job.columns.iter().filter(|(_, column)| column.role == role).map(|(name, _)| name.as_str()).collect()
}

pub(crate) fn manifest_of(path: &Path, job: &Job) -> Result<Option<Json>> {
    let stated = job.output.as_ref().and_then(|output| output.manifest.clone());
    let file = stated.clone().unwrap_or_else(|| default_path(path));
    if let Some(json) = interrupted(path, &file) {
        return Ok(Some(json));
    }
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(_) if stated.is_none() => return Ok(None),
        Err(e) => return Err(Error::input(format!("the manifest `{}` cannot be read: {e}", file.display()))),
    };
    let json: Json = serde_json::from_str(&text)
        .map_err(|e| Error::input(format!("the manifest `{}` is not JSON: {e}", file.display())))?;
    // A manifest that lies here for another file, such as the release of this very table, says nothing about this one.
    let about_another = json["release"].as_str().is_some_and(|name| name != file_name(path));
    Ok((stated.is_some() || !about_another).then_some(json))
}

/// The manifest of a run that was killed between its two renames: complete, and of this very table, but not yet in place.
fn interrupted(path: &Path, manifest: &Path) -> Option<Json> {
    let text = std::fs::read_to_string(partial_path(manifest)).ok()?;
    let json: Json = serde_json::from_str(&text).ok()?;
    let own = json["digest"].as_str().is_some_and(|stated| digest(path).is_ok_and(|digest| digest == stated));
    own.then_some(json)
}

/// The categories of a column as a manifest has them.
fn categories_of(column: &Json) -> Result<Option<Categories>> {
    let Some(list) = column["categories"].as_array() else { return Ok(None) };
    let text = |json: &Json| json.as_str().unwrap_or_default().to_owned();
    let values = |json: &Json| json.as_array().map_or_else(Vec::new, |v| v.iter().map(text).collect());
    let list = list.iter().map(|c| (text(&c["name"]), values(&c["values"]))).collect();
    Categories::new(list).map(Some)
}

fn roles_of_manifest(job: &mut Job, manifest: &Json) -> Result<()> {
    if !named(job, RoleName::Quasi).is_empty() {
        return Ok(());
    }
    for (name, column) in manifest["job"]["columns"].as_object().into_iter().flatten() {
        let role = RoleName::ALL.iter().find(|(word, _)| column["role"] == *word).map(|(_, role)| *role);
        job.set_role(name, role.unwrap_or_default());
        let kind = Kind::ALL.iter().find(|(word, _)| column["kind"] == *word).map(|(_, kind)| *kind);
        let publish = Publish::ALL.iter().find(|(word, _)| column["publish_sa"] == *word);
        let own = job.column_mut(name);
        own.spec.kind = kind;
        own.categories = categories_of(column)?;
        own.publish = publish.map(|(_, publish)| *publish);
    }
    // People of a population who lack a value count as the records of the release do.
    if manifest["job"]["on_missing"] == "keep" {
        job.input.on_missing = OnMissing::Keep;
    }
    Ok(())
}

/// Fills in roles and models from a manifest where the job has none.
pub(crate) fn with_manifest(job: &Job, manifest: &Json) -> Result<Job> {
    let mut job = job.clone();
    roles_of_manifest(&mut job, manifest)?;
    grids_of_manifest(&mut job, manifest)?;
    if job.models.is_empty()
        && let Some(models) = manifest["models"].as_array()
    {
        for model in models {
            let name = model["name"].as_str().unwrap_or_default();
            let Some(card) = incrowd_core::model::MODELS.iter().find(|card| card.name == name) else {
                return Err(Error::input(format!(
                    "the manifest names a model `{name}` this version does not know"
                )));
            };
            let given = card.params.iter().filter_map(|p| model.get(p.name).map(|value| (p, value)));
            let word = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let params = given.map(|(p, value)| match value.as_array() {
                Some(words) => (p.name, incrowd_core::Value::Words(words.iter().map(word).collect())),
                None => (p.name, incrowd_core::Value::from_word(&word(value), p.kind)),
            });
            job.promise(card.name, params.collect::<Vec<_>>());
        }
    }
    Ok(job)
}
