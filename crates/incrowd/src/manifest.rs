//! The manifest: what a release promises, what it cost, and the digest by which it is recognized. It is public, so it holds
//! neither paths nor seeds nor anything about a single group.

use std::io::Write;
use std::path::{Path, PathBuf};

use incrowd_audit::{Judgement, Verification};
use incrowd_core::metric::{METRICS, Tally};
use incrowd_core::schema::{Kind, Labels};
use incrowd_core::{Error, HierarchySpec, Publish, Result, Role, Value};
use incrowd_engine::Pending;
use serde_json::{Map, Value as Json, json};

use crate::grid::grid_json;
use crate::job::{Job, OnMissing, Order, Suppressed};
use crate::setup::Setup;

/// How many records went where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// Read from the input.
    pub read: u64,
    /// Left out because a value was missing.
    pub dropped_missing: u64,
    /// Left out to keep a promise.
    pub suppressed: u64,
    /// Published.
    pub published: u64,
}

/// A manifest and where it goes.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// The file.
    pub path: PathBuf,
    /// The content.
    pub content: Json,
}

/// The manifest beside a release: `people.csv` and `people.release.csv` both have `people.release.json`.
pub fn default_path(release: &Path) -> PathBuf {
    let name = release.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let mut stem = name.as_str();
    for extension in [".gz", ".zst"] {
        stem = stem.strip_suffix(extension).unwrap_or(stem);
    }
    stem = stem.rsplit_once('.').map_or(stem, |(before, _)| before);
    stem = stem.strip_suffix(".release").unwrap_or(stem);
    release.with_file_name(format!("{stem}.release.json"))
}

/// The last part of a path: a manifest is public and names no directory.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl Manifest {
    pub(crate) fn new(
        job: &Job,
        setup: &Setup,
        records: Records,
        verification: &Verification,
        tally: &Tally,
        digest: &str,
    ) -> Result<Manifest> {
        let output = job.output.as_ref().ok_or_else(|| Error::bug("a release without an output"))?;
        let path = output.manifest.clone().unwrap_or_else(|| default_path(&output.path));
        let content = json!({
            "incrowd": env!("CARGO_PKG_VERSION"),
            "release": file_name(&output.path),
            "job": job_json(job, setup),
            "records": {
                "read": records.read,
                "dropped_missing": records.dropped_missing,
                "suppressed": records.suppressed,
                "published": records.published,
            },
            "groups": verification.groups,
            "models": verification.judgements.iter().map(judgement_json).collect::<Vec<_>>(),
            "metrics": metrics_json(tally),
            "algorithm": algorithm_json(setup),
            "digest": digest,
        });
        Ok(Manifest { path, content })
    }

    /// Writes the manifest beside its place.
    pub(crate) fn write(&self) -> Result<Pending> {
        let pending = Pending::create(&self.path)?;
        let mut text =
            serde_json::to_vec_pretty(&self.content).map_err(|e| Error::bug(format!("manifest: {e}")))?;
        text.push(b'\n');
        let failed = |e| Error::resources(format!("cannot write `{}`: {e}", self.path.display()));
        pending.writer()?.write_all(&text).map_err(failed)?;
        pending.sync()?;
        Ok(pending)
    }
}

fn value_json(value: &Value) -> Json {
    match value {
        Value::Integer(n) => json!(n),
        Value::Real(x) => json!(x),
        Value::Flag(b) => json!(b),
        Value::Word(w) => json!(w),
        Value::Words(ws) => json!(ws.iter().filter(|w| !w.is_empty()).collect::<Vec<_>>()),
    }
}

/// A judgement with the model's parameters beside its name.
pub(crate) fn judgement_json(judgement: &Judgement) -> Json {
    let mut object = Map::new();
    object.insert("name".into(), json!(judgement.name));
    for (name, value) in judgement.params.iter() {
        object.insert(name.into(), value_json(value));
    }
    // Neither true nor false where only categories are published and the promise is about values.
    object.insert("holds".into(), if judgement.unknown { Json::Null } else { json!(judgement.holds) });
    object.insert("margin".into(), json!(judgement.margin));
    let (what, have, need) = (judgement.measures, judgement.have, judgement.need);
    object.insert("measured".into(), json!({ "what": what, "have": have, "need": need }));
    Json::Object(object)
}

/// All metrics, plus the penalty by column.
pub(crate) fn metrics_json(tally: &Tally) -> Json {
    let mut object = Map::new();
    for metric in METRICS {
        object.insert(metric.name.into(), json!((metric.measure)(tally)));
    }
    let by_column: Map<String, Json> =
        tally.columns.iter().map(|c| (c.name.clone(), json!(tally.column_ncp(c)))).collect();
    object.insert("ncp_by_column".into(), Json::Object(by_column));
    let per_column = object["information_loss"].as_f64().unwrap_or(0.0) / tally.columns.len().max(1) as f64;
    object.insert("information_loss_per_column".into(), json!(per_column));
    Json::Object(object)
}

fn algorithm_json(setup: &Setup) -> Json {
    let mut object = Map::new();
    object.insert("name".into(), json!(setup.method.card.name));
    // A seed helps nobody but whoever wants to know who stood where.
    for (name, value) in setup.method.params.iter().filter(|(name, _)| *name != "seed") {
        object.insert(name.into(), value_json(value));
    }
    Json::Object(object)
}

fn job_json(job: &Job, setup: &Setup) -> Json {
    let columns: Map<String, Json> =
        setup.schema.published().map(|(name, role)| (name.to_owned(), role_json(role))).collect();
    let order = job.output.as_ref().map(|output| output.order).unwrap_or_default();
    let order = Order::ALL.iter().find(|(_, o)| *o == order).map(|(name, _)| *name);
    json!({
        "columns": columns,
        "on_missing": if job.input.on_missing == OnMissing::Keep { "keep" } else { "drop" },
        "suppression_limit": job.algorithm.suppression_limit,
        "suppressed": Suppressed::ALL.iter().find(|(_, s)| *s == job.algorithm.suppressed).map(|(name, _)| *name),
        "order": order,
    })
}

fn role_json(role: &Role) -> Json {
    let (name, kind, hierarchy, labels) = match role {
        Role::Quasi(spec) => ("quasi", spec.kind, spec.hierarchy.as_ref(), spec.labels),
        Role::Sensitive(spec) => ("sensitive", spec.kind, spec.hierarchy.as_ref(), Labels::Set),
        _ => ("passthrough", None, None, Labels::Set),
    };
    let mut object = Map::new();
    object.insert("role".into(), json!(name));
    if let Some(kind) = kind {
        let name = Kind::ALL.iter().find(|(_, k)| *k == kind).map(|(name, _)| *name);
        object.insert("kind".into(), json!(name));
    }
    let hierarchy = hierarchy.map(|h| match h {
        HierarchySpec::Arx { .. } => "file",
        HierarchySpec::Nested(_) => "tree",
        HierarchySpec::Mask(_) => "mask",
        HierarchySpec::Intervals(_) => "intervals",
        HierarchySpec::Dates(_) => "dates",
        HierarchySpec::Mdr(_) => "mdr",
    });
    if let Some(hierarchy) = hierarchy {
        object.insert("hierarchy".into(), json!(hierarchy));
    }
    if labels == Labels::Star {
        object.insert("labels".into(), json!("star"));
    }
    if let Role::Quasi(spec) = role {
        if let Some(HierarchySpec::Mdr(mdr)) = &spec.hierarchy
            && let Some(grid) = mdr.grid()
        {
            object.insert("mdr".into(), grid_json(grid));
        }
        if let Some(weight) = spec.weight {
            object.insert("weight".into(), json!(weight));
        }
    }
    if let Role::Sensitive(spec) = role {
        // Whoever judges the release needs the categories, and they are a list of policy, not of people.
        if let Some(categories) = &spec.categories {
            let list = categories.iter().map(|(name, values)| json!({ "name": name, "values": values }));
            object.insert("categories".into(), Json::Array(list.collect()));
        }
        let publish = Publish::ALL.iter().find(|(_, publish)| Some(*publish) == spec.publish);
        if let Some((name, _)) = publish {
            object.insert("publish_sa".into(), json!(name));
        }
    }
    Json::Object(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_lies_beside_the_release() {
        for (release, manifest) in [
            ("a/people.csv", "a/people.release.json"),
            ("people.release.csv", "people.release.json"),
            ("people.release.csv.gz", "people.release.json"),
            ("people.parquet", "people.release.json"),
        ] {
            assert_eq!(default_path(Path::new(release)), Path::new(manifest));
        }
    }
}
