//! What a release cost: the original against the release.

use std::path::Path;

use incrowd_audit::tally;
use incrowd_core::metric::{METRICS, Tally};
use incrowd_core::{Error, Progress, Result};
use incrowd_engine::Engine;
use serde_json::Value as Json;

use crate::job::{Job, ModelJob, RoleName};
use crate::manifest::{default_path, metrics_json};
use crate::release::{delimiter, read};
use crate::setup::{self, Setup};

/// The measures of a release.
#[derive(Debug)]
pub struct Measurement {
    /// What they are computed from.
    pub tally: Tally,
}

impl Measurement {
    /// Every metric with its name.
    pub fn metrics(&self) -> Vec<(&'static str, f64)> {
        METRICS.iter().map(|metric| (metric.name, (metric.measure)(&self.tally))).collect()
    }

    /// The answer as JSON.
    pub fn to_json(&self) -> Json {
        serde_json::json!({
            "records": { "published": self.tally.published, "suppressed": self.tally.suppressed },
            "metrics": metrics_json(&self.tally),
        })
    }
}

/// Measures `release` against the original table, `job.input`. Domains come from the original and the job's hierarchies.
pub fn measure(job: &Job, release: &Path, progress: &dyn Progress) -> Result<Measurement> {
    let mut job = job.clone();
    if job.columns.is_empty() {
        roles_from_manifest(&mut job, release)?;
    }
    if job.models.is_empty() {
        // Measuring needs no promise, but a job does.
        job.models.push(ModelJob {
            name: "k-anonymity".into(),
            params: vec![("k".into(), incrowd_core::Value::Integer(1))],
        });
    }
    let mut engine = setup::open(&job.input)?;
    let setup = Setup::new(&job, engine.columns())?;
    let mut spec = setup.fold_spec();
    spec.replay = false;
    let data = setup.encode(engine.fold(&spec, progress)?, &engine)?;
    let records = data.records();
    let domains = data.into_quasi();
    let quasi: Vec<&str> = domains.iter().map(|q| q.name.as_str()).collect();
    // What incrowd wrote need not be sniffed.
    let delimiter = default_path(release).exists().then(|| delimiter(release));
    let options = incrowd_engine::Options { delimiter, ..Default::default() };
    let back = read(release, &options, &quasi, &[], &[], progress)?;
    let published = back.folded.records();
    if published > records {
        return Err(Error::input(format!(
            "the release has {published} records, the original only {records}"
        ))
        .help("is it a release of this table, read with the same `missing` and `on_missing`?"));
    }
    Ok(Measurement { tally: tally(&back.folded, &domains, records - published)? })
}

fn roles_from_manifest(job: &mut Job, release: &Path) -> Result<()> {
    let text = std::fs::read_to_string(default_path(release)).unwrap_or_default();
    let manifest: Json = serde_json::from_str(&text).unwrap_or_default();
    let Some(columns) = manifest["job"]["columns"].as_object() else {
        return Err(Error::job("which columns are quasi-identifiers?")
            .help("use --quasi age,sex,zip, or --job with the job file the release was made with"));
    };
    for (name, column) in columns {
        if let Some(hierarchy) = column["hierarchy"].as_str() {
            return Err(Error::job(format!(
                "column `{name}` was generalized with a hierarchy ({hierarchy})"
            ))
            .help("use --job with the job file the release was made with, or --quasi and --hierarchy"));
        }
        let role = RoleName::ALL.iter().find(|(word, _)| column["role"] == *word).map(|(_, role)| *role);
        job.set_role(name, role.unwrap_or_default());
    }
    Ok(())
}
