//! Judging a k-join-anonymous release that somebody published.

use std::path::{Path, PathBuf};

use incrowd_audit::Verification;
use incrowd_audit::joined::Failure;
use incrowd_core::{Error, Kind, Progress, Result, SensitiveSpec};
use incrowd_engine::Options;
use serde_json::{Value as Json, json};

use super::check::{Tables, judge};
use super::origin::{self, Originals};
use crate::job::{Job, RoleName};
use crate::linked;
use crate::manifest::judgement_json;
use crate::release::delimiter;
use crate::setup;
use crate::verify::{Checked, named, with_manifest};

/// What was found out about the two tables of a k-join-anonymous release.
#[derive(Clone, Debug)]
pub struct JoinChecked {
    /// Rules that are broken, in words.
    pub failures: Vec<Failure>,
    /// The promises, judged on the sensitive groups, if sensitive values are published.
    pub sensitive: Option<Verification>,
    /// Whether the second table has the digest of the manifest; `None` without a manifest or a second table.
    pub sensitive_digest_matches: Option<bool>,
    /// Whether the originals were asked.
    pub with_originals: bool,
    /// Boxes that are larger than the people in them need, if the originals were asked.
    pub loose: u64,
    /// What the originals are like.
    pub warnings: Vec<String>,
}

impl JoinChecked {
    pub(crate) fn holds(&self) -> bool {
        self.failures.is_empty()
            && self.sensitive_digest_matches != Some(false)
            && self.sensitive.as_ref().is_none_or(|v| v.judgements.iter().all(|j| j.holds || j.unknown))
    }

    /// What may be published of it, and what is for the data owner.
    pub(crate) fn add_to(&self, answer: &mut Json) {
        answer["publication"] = json!("k-join-anonymity");
        if let Some(verification) = &self.sensitive {
            let models: Vec<Json> = verification.judgements.iter().map(judgement_json).collect();
            let groups = verification.groups;
            answer["sensitive_groups"] = json!({ "groups": groups, "models": models, "digest_matches": self.sensitive_digest_matches });
        }
        let rule = |f: &Failure| json!({ "rule": f.rule, "says": f.says });
        let (origin, own): (Vec<&Failure>, Vec<&Failure>) =
            self.failures.iter().partition(|f| f.rule.starts_with('O'));
        answer["failures"] = json!(own.into_iter().map(rule).collect::<Vec<_>>());
        if self.with_originals {
            answer["private"] = json!({
                "failures": origin.into_iter().map(rule).collect::<Vec<_>>(),
                "loose_boxes": self.loose,
                "warnings": self.warnings,
            });
        }
    }
}

/// Whether a manifest is that of a k-join-anonymous release.
pub(crate) fn is_joined(manifest: &Json) -> bool {
    manifest["publication"] == "k-join-anonymity"
}

/// Judges the release at `path`. Without a manifest the second table is `sensitive`, or there is none. With `made` the job's
/// external table and that microdata are asked too.
pub(crate) fn verify(
    job: &Job,
    path: &Path,
    manifest: Option<&Json>,
    sensitive: Option<&Path>,
    made: Option<&Originals>,
    progress: &dyn Progress,
) -> Result<Checked> {
    let job = match manifest {
        Some(manifest) => with_manifest(job, manifest)?,
        None => job.clone(),
    };
    let (mut quasi, mut private) = (named(&job, RoleName::Quasi), named(&job, RoleName::Sensitive));
    if let Some(made) = made {
        // Beside the originals columns are in their order, whatever the order they were named in.
        let input = crate::job::Input { paths: vec![made.microdata.clone()], ..job.input.clone() };
        let columns = incrowd_engine::Engine::columns(&setup::open(&input)?).to_vec();
        let place = |name: &&str| columns.iter().position(|column| column == name);
        quasi.sort_by_key(place);
        private.sort_by_key(place);
    }
    if quasi.is_empty() {
        return Err(Error::job("which columns are quasi-identifiers?")
            .help("use --quasi age,sex,zip, or --job with a job file; a manifest beside the table is read by itself"));
    }
    let entry = manifest.and_then(|manifest| linked::entry(manifest, "si"));
    let place: Option<PathBuf> =
        sensitive.map(Path::to_owned).or(entry.map(|entry| linked::place(path, entry)));
    let promises = setup::promises(&job, &private)?;
    let columns: Vec<String> = published_columns(&job, &private);
    let options = |path: &Path| -> Result<Options> {
        let mut options = setup::options(&job.input)?;
        if manifest.is_some() && options.delimiter.is_none() {
            options.delimiter = Some(delimiter(path));
        }
        Ok(options)
    };
    let own = options(path)?;
    let values = place.as_ref().map(|place| Ok::<_, Error>((place, options(place)?))).transpose()?;
    let values = values.as_ref().map(|(place, options)| (place.as_path(), options, columns.as_slice()));
    let tables = Tables::read((path, &own), &quasi, values, progress)?;
    let specs: Vec<SensitiveSpec> =
        private.iter().map(|name| job.column(name).map(setup::sensitive_spec).unwrap_or_default()).collect();
    let kind = |name: &&str| {
        let spec = &job.column(name)?.spec;
        spec.kind.filter(|kind| spec.hierarchy.is_none() && *kind != Kind::Text)
    };
    let kinds: Vec<Option<Kind>> = quasi.iter().map(kind).collect();
    let missing = job.input.missing.iter().find(|m| !m.is_empty()).map_or("", String::as_str);
    let judged = judge(&tables, &promises, &specs, &kinds, missing)?;
    let identifiers: Vec<String> = named(&job, RoleName::Identifier)
        .into_iter()
        .filter(|n| tables.columns.iter().any(|c| c == n))
        .map(str::to_owned)
        .collect();
    let mut joined = JoinChecked {
        failures: judged.failures,
        sensitive: judged.sensitive,
        sensitive_digest_matches: None,
        with_originals: made.is_some(),
        loose: 0,
        warnings: Vec::new(),
    };
    let stated = entry.and_then(|entry| entry["digest"].as_str());
    if let (Some(stated), Some((_, digest, _))) = (stated, &tables.sensitive) {
        joined.sensitive_digest_matches = Some(stated == digest);
    }
    if let Some(made) = made {
        let Some(rules) = &job.external else {
            return Err(Error::job("which external table was the release made with?")
                .help("name it with --external people.csv and --id, or give the job with --job"));
        };
        let mut job = job.clone();
        job.input.paths = vec![made.microdata.clone()];
        let found = origin::check(&job, rules, &tables, made.audit.as_deref(), progress)?;
        joined.failures.extend(found.failures);
        joined.loose = found.loose;
        joined.warnings = found.warnings;
    }
    let stated = manifest.and_then(|m| m["digest"].as_str());
    let digest_matches = stated.map(|stated| stated == tables.digest);
    let verification = judged.verification;
    let joined = Some(joined);
    Ok(Checked { verification, digest: tables.digest, digest_matches, identifiers, joined, origin: None })
}

/// The columns of the table of sensitive values beside the label.
fn published_columns(job: &Job, private: &[&str]) -> Vec<String> {
    use crate::job::Publish;
    let mut columns = Vec::new();
    for name in private {
        columns.push((*name).to_owned());
        let column = job.column(name);
        if column.is_some_and(|c| c.categories.is_some() && c.publish == Some(Publish::Both)) {
            columns.push(setup::category_column(name));
        }
    }
    columns
}
