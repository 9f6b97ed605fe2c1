//! A release of several tables that belong together: one manifest names all files with their digests, and all are put in
//! place at once.

use std::path::{Path, PathBuf};

use incrowd_core::Result;
use incrowd_engine::{Pending, digest, partial_path};
use serde_json::{Value as Json, json};

use crate::manifest::{Manifest, file_name};

/// A file of a release as its manifest names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkedFile {
    /// What it holds, for example `jat`.
    pub(crate) content: &'static str,
    pub(crate) name: String,
    pub(crate) records: u64,
    pub(crate) digest: String,
}

impl LinkedFile {
    pub(crate) fn new(content: &'static str, pending: &Pending, records: u64, digest: &str) -> LinkedFile {
        LinkedFile { content, name: file_name(pending.target()), records, digest: digest.to_owned() }
    }

    fn json(&self) -> Json {
        json!({ "content": self.content, "name": self.name, "records": self.records, "digest": self.digest })
    }
}

/// The list of files for a manifest.
pub(crate) fn files_json(files: &[LinkedFile]) -> Json {
    Json::Array(files.iter().map(LinkedFile::json).collect())
}

/// Puts the files of a release in place, then its manifest, with nothing between.
pub(crate) fn publish(files: Vec<Pending>, manifest: &Manifest) -> Result<()> {
    let manifest = manifest.write()?;
    Pending::publish_all(files.into_iter().chain([manifest]))
}

/// The entry of a manifest for the file with that content.
pub(crate) fn entry<'m>(manifest: &'m Json, content: &str) -> Option<&'m Json> {
    manifest["files"].as_array()?.iter().find(|file| file["content"] == content)
}

/// Where a file of the release at `release` is: beside it, or still in its partial file if the run that made both was killed
/// between the renames.
pub(crate) fn place(release: &Path, entry: &Json) -> PathBuf {
    let path = release.with_file_name(entry["name"].as_str().unwrap_or_default());
    let stated = entry["digest"].as_str().unwrap_or_default();
    let is = |path: &Path| digest(path).is_ok_and(|own| own == stated);
    let partial = partial_path(&path);
    if !is(&path) && is(&partial) { partial } else { path }
}
