//! The two tables as a reader has them.

use std::collections::BTreeMap;
use std::path::Path;

use incrowd_audit::Verification;
use incrowd_core::model::Promise;
use incrowd_core::{ColumnSpec, Error, Folded, FoldedColumn, Kind, Progress, Result, SensitiveSpec};
use incrowd_engine::{Embedded, Format, Options, digest};
use serde_json::Value as Json;

use super::{COUNT, GROUP};
use crate::job::{Job, RoleName};
use crate::linked;
use crate::origin;
use crate::release::{self, Asked, Beside, delimiter};
use crate::setup;
use crate::verify::{Checked, named};

/// Both tables, read back.
pub(super) struct Linked {
    /// The quasi-identifiers of the first.
    pub(super) quasi: Folded,
    /// Group and sensitive value, each as often as the second table counts it.
    pub(super) linked: Folded,
    /// The sizes of the groups.
    pub(super) groups: Vec<u64>,
    pub(super) records: u64,
    pub(super) digests: (String, String),
}

/// Reads both tables. Fails if their groups are not of the same size.
pub(super) fn read_back(
    qit: &Path,
    st: &Path,
    quasi: &[String],
    on: &str,
    progress: &dyn Progress,
) -> Result<Linked> {
    // A file under way has another name than the one that tells its delimiter.
    let separator = delimiter(Path::new(qit.to_string_lossy().trim_end_matches(".incrowd-partial")));
    let format = Some(Format::of_path(Path::new("x.csv"))?);
    let options = Options { format, delimiter: Some(separator), digest: true };
    let names: Vec<String> = quasi.iter().cloned().chain([GROUP.to_owned()]).collect();
    let (first, own, columns) = Embedded::read_release(qit, &options, &names, progress)?;
    if columns != names {
        return Err(Error::input("the first table does not have the columns the manifest names"));
    }
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    for row in 0..first.rows() {
        let group = &first.columns[quasi.len()].texts[first.row(row)[quasi.len()] as usize];
        *sizes.entry(group.clone()).or_insert(0) += first.weights[row];
    }
    let (linked, second) = read_second(st, on, separator)?;
    if sizes != second {
        return Err(Error::input(
            "the two tables do not fit each other: a group has not as many values as records",
        ));
    }
    let groups = sizes.into_values().collect();
    let digests = (own, digest(st)?);
    Ok(Linked { records: first.records(), quasi: first, linked, groups, digests })
}

/// The second table, and the sizes of its groups.
fn read_second(st: &Path, on: &str, delimiter: u8) -> Result<(Folded, BTreeMap<String, u64>)> {
    let failed = |what: String| Error::input(format!("the second table `{}` {what}", st.display()));
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .from_path(st)
        .map_err(|e| failed(format!("cannot be read: {e}")))?;
    let header = reader.headers().map_err(|e| failed(format!("cannot be read: {e}")))?;
    if header.iter().ne([GROUP, on, COUNT]) {
        return Err(failed(format!("does not have the columns {GROUP}, {on} and {COUNT}")));
    }
    let column = |name: &str| FoldedColumn { name: name.to_owned(), texts: vec![String::new()] };
    let mut table =
        Folded { columns: vec![column(GROUP), column(on)], missing: vec![0; 2], ..Folded::default() };
    let mut codes: [BTreeMap<String, u32>; 2] = Default::default();
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    for (i, record) in reader.records().enumerate() {
        let record = record.map_err(|_| failed(format!("cannot be read at record {}", i + 1)))?;
        let count = record.get(2).and_then(|n| n.parse::<u64>().ok()).filter(|n| *n > 0);
        let Some(count) = count else { return Err(failed(format!("has no count at record {}", i + 1))) };
        for (c, known) in codes.iter_mut().enumerate() {
            let text = record.get(c).unwrap_or_default();
            let next = table.columns[c].texts.len() as u32;
            let code = *known.entry(text.to_owned()).or_insert(next);
            if code == next {
                table.columns[c].texts.push(text.to_owned());
            }
            table.codes.push(code);
        }
        table.weights.push(count);
        table.read += count;
        *sizes.entry(record.get(0).unwrap_or_default().to_owned()).or_insert(0) += count;
    }
    Ok((table, sizes))
}

/// Judges promises on the groups: to a reader, the group is all that links a person with a value.
pub(super) fn judge(
    promises: &[Promise],
    linked: Folded,
    spec: &SensitiveSpec,
    missing: &str,
    progress: &dyn Progress,
) -> Result<Verification> {
    let group = ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() };
    let asked = Asked { promises, stated: false };
    release::judge(linked, &[group], std::slice::from_ref(spec), &asked, Beside::default(), missing, progress)
}

/// Whether a manifest is that of two such tables.
pub(crate) fn is_anatomy(manifest: &Json) -> bool {
    manifest["algorithm"]["name"] == "anatomy"
}

/// Both tables of a release as one: groups and the sensitive values in them.
pub(crate) fn published(path: &Path, manifest: &Json, job: &Job, progress: &dyn Progress) -> Result<Folded> {
    read(path, manifest, job, progress).map(|linked| linked.linked)
}

pub(super) fn read(path: &Path, manifest: &Json, job: &Job, progress: &dyn Progress) -> Result<Linked> {
    let quasi: Vec<String> = named(job, RoleName::Quasi).into_iter().map(str::to_owned).collect();
    let on = manifest["algorithm"]["on"].as_str().unwrap_or_default();
    let Some(entry) = linked::entry(manifest, "st") else {
        return Err(Error::input("the manifest names no second table"));
    };
    read_back(path, &linked::place(path, entry), &quasi, on, progress)
}

/// Judges two published tables against the promises of a job that was filled in from their manifest.
pub(crate) fn verify(path: &Path, manifest: &Json, job: &Job, progress: &dyn Progress) -> Result<Checked> {
    let both = read(path, manifest, job, progress)?;
    let sensitive = named(job, RoleName::Sensitive);
    let promises = setup::promises(job, &sensitive)?;
    let on = manifest["algorithm"]["on"].as_str().unwrap_or_default();
    let spec = job.column(on).map(setup::sensitive_spec).unwrap_or_default();
    let missing = job.input.missing.iter().find(|m| !m.is_empty()).map_or("", String::as_str);
    let origin = (!job.original.is_empty())
        .then(|| origin::compare_linked(job, manifest, &both.quasi, &both.linked, progress))
        .transpose()?;
    let verification = judge(&promises, both.linked, &spec, missing, progress)?;
    let stated = |content: &str| linked::entry(manifest, content).and_then(|entry| entry["digest"].as_str());
    let matches = stated("qit") == Some(&both.digests.0) && stated("st") == Some(&both.digests.1);
    Ok(Checked {
        verification,
        digest: both.digests.0,
        digest_matches: Some(matches),
        identifiers: Vec::new(),
        joined: None,
        origin,
    })
}
