//! What a release cost: the original against the release.

use std::path::Path;

use incrowd_audit::tally;
use incrowd_audit::utility::{Comparison, Marginal, Tables, marginals};
use incrowd_core::metric::{METRICS, Tally};
use incrowd_core::{Error, Folded, MISSING, Progress, Result};
use incrowd_engine::{Embedded, Engine, Source};
use serde_json::Value as Json;

use crate::grid::grids_of_manifest;
use crate::job::{Job, ModelJob, RoleName};
use crate::manifest::{default_path, metrics_json};
use crate::release::delimiter;
use crate::setup::{self, Setup};
use crate::utility_report::{Ask, Utility};

/// The measures of a release.
#[derive(Debug)]
pub struct Measurement {
    /// What the measures of cell loss are computed from.
    pub tally: Tally,
    /// What the release is still good for, if that was asked.
    pub utility: Option<Utility>,
    /// Whether nothing of this may be published, because it tells how many records were withheld.
    pub owner_only: bool,
}

impl Measurement {
    /// Every metric with its name.
    pub fn metrics(&self) -> Vec<(&'static str, f64)> {
        METRICS.iter().map(|metric| (metric.name, (metric.measure)(&self.tally))).collect()
    }

    /// The answer as JSON. Everything but what stands under `private` may be published.
    pub fn to_json(&self) -> Json {
        let mut answer = serde_json::json!({
            "records": { "published": self.tally.published, "suppressed": self.tally.suppressed },
            "metrics": metrics_json(&self.tally),
        });
        if let Some(utility) = &self.utility {
            answer["utility"] = utility.public_json();
            answer["private"] = utility.private_json();
        }
        if self.owner_only {
            let private = answer.as_object_mut().and_then(|all| all.remove("private"));
            let mut all = serde_json::json!({ "private": answer });
            if let (Some(Json::Object(private)), Some(into)) = (private, all["private"].as_object_mut()) {
                into.extend(private);
            }
            return all;
        }
        answer
    }
}

/// Measures what the cells of `release` lost against the original table, `job.input`. Domains come from the original and
/// the job's hierarchies.
pub fn measure(job: &Job, release: &Path, progress: &dyn Progress) -> Result<Measurement> {
    measured(job, release, None, None, progress)
}

/// Measures what [`measure`] does, and what the release is still good for.
pub fn measure_utility(job: &Job, release: &Path, ask: &Ask, progress: &dyn Progress) -> Result<Measurement> {
    ask.check()?;
    measured(job, release, Some(ask), None, progress)
}

/// What a report also wants to know of the two tables, and only the data owner may see.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// The original as it was read: quasi-identifiers, then sensitive columns. Absent if the release has people of two tables.
    pub(crate) original: Option<Folded>,
    /// The columns before and after.
    pub(crate) marginals: Vec<Marginal>,
}

/// The same as [`measure_utility`], with what a report draws.
pub(crate) fn measured(
    job: &Job,
    release: &Path,
    ask: Option<&Ask>,
    mut kept: Option<&mut Kept>,
    progress: &dyn Progress,
) -> Result<Measurement> {
    let mut job = job.clone();
    if job.columns.is_empty() {
        roles_from_manifest(&mut job, release)?;
    }
    let manifest = std::fs::read_to_string(default_path(release)).ok();
    let manifest: Option<Json> = manifest.and_then(|text| serde_json::from_str(&text).ok());
    if job.models.is_empty() {
        // Measuring needs no promise, but a job does.
        job.models.push(ModelJob {
            name: "k-anonymity".into(),
            params: vec![("k".into(), incrowd_core::Value::Integer(1))],
        });
    }
    if let Some(manifest) = manifest.as_ref().filter(|manifest| crate::external::is_joined(manifest)) {
        return crate::external::measure(&job, release, manifest, ask, progress);
    }
    let withheld = manifest.as_ref().map(|manifest| &manifest["suppression"]).filter(|told| told.is_object());
    let owner_only = withheld.is_some_and(|told| told["publish_size"] != true);
    if let Some(manifest) = manifest.as_ref().filter(|manifest| crate::anatomy::is_anatomy(manifest)) {
        return crate::anatomy::measure(&job, release, manifest, ask, progress)
            .map(|measured| Measurement { owner_only, ..measured });
    }
    let mut engine = setup::open(&job.input)?;
    let setup = Setup::new(&job, engine.columns())?;
    let mut spec = setup.fold_spec();
    spec.replay = false;
    let target = ask.and_then(|ask| ask.target()).filter(|target| !spec.columns.iter().any(|c| c == target));
    let own = spec.columns.len();
    let drop_missing = spec.drop_missing;
    if let Some(target) = target {
        if !engine.columns().iter().any(|column| column == target) {
            let error = Error::job(format!("the original has no column `{target}` to predict"));
            return Err(error.help_near(target, engine.columns().iter().map(String::as_str)));
        }
        // A target that is missing does not take a record out of the release, so it must not take it out here.
        spec.columns.push(target.to_owned());
        spec.drop_missing = false;
    }
    let mut folded = engine.fold(&spec, progress)?;
    if target.is_some() && drop_missing {
        drop_missing_in(&mut folded, own);
    }
    if let Some(kept) = &mut kept {
        kept.original = Some(folded.clone());
    }
    let data = setup.encode(folded, &engine)?;
    let records = data.records();
    // What incrowd wrote need not be sniffed.
    let delimiter = default_path(release).exists().then(|| delimiter(release));
    let options = incrowd_engine::Options { delimiter, ..Default::default() };
    let mut names: Vec<String> = data.quasi().iter().map(|q| q.name.clone()).collect();
    if ask.is_some() {
        let published = Source::open(&[release.to_owned()], &options)?.columns().to_vec();
        let as_it_is = data.sensitive().iter().map(|column| &column.name);
        names.extend(as_it_is.filter(|name| published.contains(name)).cloned());
        if let Some(target) = target.filter(|target| !names.iter().any(|name| name == target)) {
            return Err(Error::job(format!("the release has no column `{target}` to predict")));
        }
    }
    let (back, ..) = Embedded::read_release(release, &options, &names, progress)?;
    let published = back.records();
    if published > records {
        return Err(Error::input(format!(
            "the release has {published} records, the original only {records}"
        ))
        .help("is it a release of this table, read with the same `missing` and `on_missing`?"));
    }
    let tally = tally(&back, data.quasi(), records - published)?;
    let utility = match ask {
        None => None,
        Some(ask) => {
            progress.step("comparing", None);
            let comparison = Comparison::new(&data, &back, setup.missing_label(), target)?;
            if let Some(kept) = &mut kept {
                kept.marginals = marginals(&comparison, &data);
            }
            drop((data, back));
            Some(Utility::new(&comparison, ask, Tables::One, progress)?)
        }
    };
    Ok(Measurement { tally, utility, owner_only })
}

/// Leaves out the records that have a missing value in one of the first columns.
fn drop_missing_in(folded: &mut Folded, columns: usize) {
    let width = folded.columns.len();
    let keep: Vec<bool> = (0..folded.rows()).map(|r| !folded.row(r)[..columns].contains(&MISSING)).collect();
    let before = folded.records();
    let mut row = keep.iter();
    folded.weights.retain(|_| *row.next().unwrap_or(&false));
    let mut at = 0..;
    folded.codes.retain(|_| at.next().is_some_and(|i: usize| keep[i / width]));
    folded.dropped_missing = before - folded.records();
}

fn roles_from_manifest(job: &mut Job, release: &Path) -> Result<()> {
    let text = std::fs::read_to_string(default_path(release)).unwrap_or_default();
    let manifest: Json = serde_json::from_str(&text).unwrap_or_default();
    let Some(columns) = manifest["job"]["columns"].as_object() else {
        return Err(Error::job("which columns are quasi-identifiers?")
            .help("use --quasi age,sex,zip, or --job with the job file the release was made with"));
    };
    for (name, column) in columns {
        if let Some(hierarchy) = column["hierarchy"].as_str().filter(|h| *h != "mdr") {
            return Err(Error::job(format!(
                "column `{name}` was generalized with a hierarchy ({hierarchy})"
            ))
            .help("use --job with the job file the release was made with, or --quasi and --hierarchy"));
        }
        let role = RoleName::ALL.iter().find(|(word, _)| column["role"] == *word).map(|(_, role)| *role);
        job.set_role(name, role.unwrap_or_default());
        job.column_mut(name).spec.weight = column["weight"].as_f64().filter(|weight| *weight >= 0.0);
    }
    // A tree of regular intervals is told by the manifest itself.
    grids_of_manifest(job, &manifest)
}
