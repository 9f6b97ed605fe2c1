//! Attacking a published table: what would an adversary learn?

mod anatomy;
mod joined;
mod private;
mod report;
mod skewed;
mod tables;

use std::collections::BTreeMap;
use std::path::PathBuf;

use incrowd_audit::attack::{self, ATTACKS, Card, Epsilon, External, Finding, Published, Quantity, Scene, Skipped};
use incrowd_core::model::{MODELS, Need, Promise};
use incrowd_core::outlier::Settings;
use incrowd_core::{ColumnSpec, Error, Progress, Result, Value};
use serde_json::Value as Json;

use crate::external::is_joined;
use crate::job::{Job, RoleName};
use crate::setup;
use crate::verify::{manifest_of, named, with_manifest};
use tables::{Reading, spec_of};

pub use private::Exposed;
pub use report::{AttackReport, Attacked, LimitJudged};

/// What shall be attacked, with what, and what must not be exceeded.
#[derive(Clone, Debug, Default)]
pub struct AttackRequest {
    /// The release as its input, the roles and hierarchies of its columns, and a population if there is one. Where it says
    /// nothing of columns, the manifest beside the release is asked.
    pub job: Job,
    /// A table of people with names or other details.
    pub external: Option<PathBuf>,
    /// Another release about some of the same people.
    pub second: Option<PathBuf>,
    /// The attacks to run; empty means all.
    pub only: Vec<String>,
    /// Who counts as at risk, by attack.
    pub thresholds: Vec<(String, f64)>,
    /// What must not be exceeded.
    pub limits: Vec<Limit>,
    /// How near a guess must come, by sensitive column.
    pub epsilon: Vec<(String, Epsilon)>,
    /// What an outlier is, as parameters of plain-k-anonymity; where nothing is said, the promises of the release are asked.
    /// The original table is `job.original`.
    pub outliers: Vec<(String, Value)>,
    /// How records were withheld, if the manifest does not say: a method with its parameters.
    pub suppression: Option<(String, Vec<(String, Value)>)>,
    /// How many records the table had, where the manifest does not say.
    pub original_size: Option<u64>,
    /// The table the release was made of, for an adversary who knows its counts.
    pub original: Option<PathBuf>,
}

/// A number that must not be exceeded.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The attack.
    pub attack: String,
    /// Which of its numbers; `None` is the one its card names.
    pub quantity: Option<Quantity>,
    /// The greatest value allowed.
    pub most: f64,
}

/// Runs the attacks that apply to the release.
pub fn attack(request: &AttackRequest, progress: &dyn Progress) -> Result<AttackReport> {
    let [path] = request.job.input.paths.as_slice() else {
        return Err(Error::job("attack takes exactly one release").help("incrowd attack release.csv"));
    };
    let chosen = chosen(request)?;
    let manifest = manifest_of(path, &request.job)?;
    let job = match &manifest {
        Some(manifest) => with_manifest(&request.job, manifest)?,
        None => request.job.clone(),
    };
    let (quasi, sensitive) = (named(&job, RoleName::Quasi), named(&job, RoleName::Sensitive));
    if quasi.is_empty() {
        return Err(Error::job("which columns are quasi-identifiers?")
            .help("use --quasi age,sex,zip, or --job with a job file; a manifest beside the release is read by itself"));
    }
    let joins = job.population.is_some()
        || request.external.is_some()
        || request.second.is_some()
        || !job.original.is_empty();
    if let (true, Some(manifest)) = (joins, &manifest) {
        has_hierarchies(&job, manifest)?;
    }
    let epsilon = epsilon(request, &sensitive)?;
    let reading = Reading { job: &job, progress };
    if let Some(manifest) = manifest.as_ref().filter(|manifest| is_joined(manifest)) {
        let quasi = (quasi.as_slice(), sensitive.as_slice());
        return joined::attack(request, &reading, path, manifest, quasi, epsilon, &chosen);
    }
    if let Some(manifest) = manifest.as_ref().filter(|manifest| crate::anatomy::is_anatomy(manifest)) {
        let quasi = (quasi.as_slice(), sensitive.as_slice());
        return anatomy::attack(request, &reading, path, manifest, quasi, epsilon, &chosen);
    }
    let release = reading.release(path, &quasi, &sensitive, manifest.is_some())?;
    let specs: Vec<ColumnSpec> = quasi.iter().map(|name| spec_of(&job, name)).collect();
    let population = job
        .population
        .as_ref()
        .map(|population| reading.table(&population.paths, "population", &quasi, &sensitive))
        .transpose()
        .map_err(|e| e.at("population.path"))?;
    let external = request
        .external
        .as_ref()
        .map(|path| reading.table(std::slice::from_ref(path), "external table", &quasi, &[]))
        .transpose()?;
    let second = request.second.as_ref().map(|path| reading.second(path, &quasi, &sensitive)).transpose()?;

    let settings = outlier_settings(&job, request, &sensitive)?;
    let wanted = chosen.iter().any(|(card, _)| card.needs.contains(&attack::Need::Original));
    let original = (wanted && !job.original.is_empty() && !settings.is_empty())
        .then(|| setup::original(&job, &quasi, &sensitive, progress))
        .transpose()?;

    let mut scene = Scene::new(Published::new(&release, &specs), &job.input.missing);
    scene.set_population(population.as_ref().map(|other| &other.table));
    scene.external = external.as_ref().map(|other| External { table: &other.table, further: other.further });
    scene.second = second.as_ref().map(|second| Published::new(&second.table, &second.specs));
    scene.epsilon = epsilon;
    scene.original = original.as_ref().map(|data| (data, settings.as_slice()));
    scene.kinds = sensitive.iter().map(|name| spec_of(&job, name).kind).collect();
    scene.categories = sensitive.iter().map(|name| job.column(name)?.categories.clone()).collect();
    scene.skewed = skewed::skewed(request, &job, manifest.as_ref(), &sensitive, progress)?;
    let (mut attacked, mut skipped) = (Vec::new(), Vec::new());
    for (card, threshold) in chosen {
        progress.step(card.name, None);
        let answer = (card.run)(&scene, threshold, progress)?;
        attacked.extend(answer.findings.into_iter().map(|finding| judged(request, card, finding)));
        skipped.extend(answer.skipped);
    }
    limits_were_asked(request, &attacked, &skipped)?;
    let groups = scene.release.groups.clone();
    let quasi = quasi.len();
    Ok(AttackReport { attacked, skipped, release, groups, quasi })
}

/// A limit on an attack that was not run would hold without having been looked at.
fn limits_were_asked(request: &AttackRequest, attacked: &[Attacked], skipped: &[Skipped]) -> Result<()> {
    for limit in &request.limits {
        if attacked.iter().all(|a| a.finding.attack != limit.attack) {
            let why = skipped.iter().find(|s| s.attack == limit.attack).map(|s| s.why.as_str());
            let name = &limit.attack;
            return Err(Error::job(format!("`{name}` has a limit, but it was not run"))
                .help(why.map_or_else(|| format!("add {name} to --only"), |why| format!("{name} {why}"))));
        }
    }
    Ok(())
}

/// What an outlier is: what the request says, else what the promises of the release say.
fn outlier_settings(job: &Job, request: &AttackRequest, sensitive: &[&str]) -> Result<Vec<Settings>> {
    let stated = request.outliers.iter().cloned();
    let given: Vec<(&str, Vec<(String, Value)>)> = if request.outliers.is_empty() {
        let knows = |name: &str| MODELS.iter().any(|c| c.name == name && c.needs.contains(&Need::Region));
        let models = job.models.iter().filter(|model| knows(&model.name));
        models.map(|model| (model.name.as_str(), model.params.clone())).collect()
    } else {
        vec![("plain-k-anonymity", stated.chain([("k".to_owned(), Value::Integer(1))]).collect())]
    };
    let promises = given.into_iter().map(|(name, params)| Promise::about(name, params, sensitive));
    let promises = promises.collect::<Result<Vec<_>>>()?;
    Ok(promises.iter().filter_map(|promise| promise.model.outlier_settings().cloned()).collect())
}

/// Labels of a hierarchy mean nothing without it: a join would find nobody under them.
fn has_hierarchies(job: &Job, manifest: &Json) -> Result<()> {
    for name in named(job, RoleName::Quasi) {
        let made_with = manifest["job"]["columns"][name]["hierarchy"].as_str();
        if let Some(hierarchy) = made_with.filter(|_| spec_of(job, name).hierarchy.is_none()) {
            let error = Error::job(format!("column `{name}` was generalized with a hierarchy ({hierarchy})"));
            return Err(error
                .help("use --job with the job file the release was made with, or --quasi and --hierarchy"));
        }
    }
    Ok(())
}

/// The attacks to run, each with its threshold.
fn chosen(request: &AttackRequest) -> Result<Vec<(&'static Card, f64)>> {
    for name in request.only.iter().chain(request.limits.iter().map(|limit| &limit.attack)) {
        Card::find(name)?;
    }
    for (name, _) in &request.thresholds {
        Card::find(name)?;
    }
    let mut chosen = Vec::new();
    for card in ATTACKS {
        if request.only.is_empty() || request.only.iter().any(|name| name == card.name) {
            let given = request.thresholds.iter().find(|(name, _)| name == card.name).map(|(_, x)| *x);
            chosen.push((*card, card.threshold(given)?));
        }
    }
    Ok(chosen)
}

fn epsilon(request: &AttackRequest, sensitive: &[&str]) -> Result<BTreeMap<String, Epsilon>> {
    for (name, epsilon) in &request.epsilon {
        if !sensitive.contains(&name.as_str()) {
            return Err(Error::job(format!(
                "an epsilon is given for `{name}`, which is not a sensitive column"
            ))
            .help_near(name, sensitive.iter().copied()));
        }
        let sound = match epsilon {
            Epsilon::Absolute(x) => x.is_finite() && *x >= 0.0,
            Epsilon::Relative(x) => (0.0..1.0).contains(x),
        };
        if !sound {
            return Err(Error::job(format!("the epsilon of `{name}` is not a number from 0 on"))
                .help("write an amount such as 500, or a percentage below 100 such as 5%"));
        }
    }
    Ok(request.epsilon.iter().cloned().collect())
}

fn judged(request: &AttackRequest, card: &Card, finding: Finding) -> Attacked {
    let limits = request.limits.iter().filter(|limit| limit.attack == card.name).map(|limit| {
        let quantity = limit.quantity.unwrap_or(card.limit);
        let have = finding.quantity(quantity);
        LimitJudged { quantity, most: limit.most, have, holds: have <= limit.most }
    });
    let limits = limits.collect();
    Attacked { finding, limits }
}
