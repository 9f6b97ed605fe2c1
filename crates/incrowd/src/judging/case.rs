//! A release to be judged, completed with the data of its manifest.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use incrowd_core::model::PrivacyModel;
use incrowd_core::{Error, Fault, HierarchySpec, Progress, Result, Silent};
use incrowd_engine::{
    Location, MOST_BYTES, digest, read_manifest, read_side_file, refuse_interrupted,
};

use crate::job::reading::{Reading, open_release};
use crate::job::{OnMissing, RoleName};
use crate::judging::request::Judging;
use crate::making::checked::{need_sensitive, privacy_models};
use crate::making::publication::{self, Publication, PublishedTables, Tables};
use crate::manifest::{Manifest, find};

/// A release, its manifest and its column roles, before its cells are read.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) judging: Judging,
    pub(crate) manifest: Option<Manifest>,
    pub(crate) publication: &'static dyn Publication,
    pub(crate) reading: Reading,
    /// Whether the caller stated the models. Otherwise they come from the manifest.
    pub(crate) stated: bool,
}

impl Case {
    /// Finds the manifest and fills in the missing parts of the request.
    pub(crate) fn open(judging: &Judging) -> Result<Case> {
        if judging.release.memory.is_none() && judging.release.paths.len() != 1 {
            return Err(Error::job("exactly one release is judged at a time"));
        }
        let manifest = manifest_of(judging)?;
        let mut publication = publication::of_manifest(manifest.as_ref())?;
        if manifest.is_none() && (judging.values.is_some() || judging.external.is_some()) {
            publication = &publication::joined::Joined;
        }
        let stated = !judging.models.is_empty();
        let mut judging = match &manifest {
            Some(manifest) => with_manifest(judging, manifest)?,
            None => judging.clone(),
        };
        publication.arrange(&mut judging)?;
        let columns = judging
            .columns
            .iter()
            .any(|(_, c)| matches!(c.spec.hierarchy, Some(HierarchySpec::Columns(_))));
        if let (true, Some(original)) = (columns, judging.original.clone()) {
            let source = crate::job::reading::open_input(&original)?;
            let missing = judging.roles().missing;
            crate::job::reading::resolve_columns(&mut judging.columns, &missing, &source, &Silent)?;
        }
        let reading = Reading::of_roles(&judging.roles());
        Ok(Case { judging, manifest, publication, reading, stated })
    }

    /// Returns access to the tables of the release.
    pub(crate) fn release_tables(&self) -> PublishedTables<'_> {
        PublishedTables {
            release: &self.judging.release,
            manifest: self.manifest.as_ref(),
            values: self.judging.values.as_ref(),
            in_memory: self.judging.in_memory.as_ref(),
            missing: self.reading.missing_label(),
        }
    }

    /// Reads the tables; the sensitive columns only if `with_sensitive` is set.
    pub(crate) fn read_back(
        &self,
        with_sensitive: bool,
        progress: &dyn Progress,
    ) -> Result<Tables> {
        let examined = incrowd_engine::ExaminedColumns::default();
        self.publication.read_back(
            &self.reading,
            &self.release_tables(),
            with_sensitive,
            examined,
            progress,
        )
    }

    /// Returns the unmodified columns of a release, without those declared unlinkable.
    pub(crate) fn unmodified(&self, columns: &[String]) -> Vec<String> {
        let (quasi, unlinkable) = (self.reading.quasi_names(), self.unlinkable());
        let published = columns.iter().map(|name| name.trim());
        let published = published
            .filter(|name| !quasi.contains(name) && !unlinkable.iter().any(|own| own == name));
        published.map(str::to_owned).collect()
    }

    /// Returns the columns whose values an adversary cannot know.
    pub(crate) fn unlinkable(&self) -> Vec<String> {
        let columns =
            self.judging.columns.iter().filter(|(_, column)| column.linkable == Some(false));
        columns.map(|(name, _)| name.clone()).collect()
    }

    /// Returns whether the population was estimated by sampling weights.
    pub(crate) fn estimates(&self) -> bool {
        self.manifest.as_ref().is_some_and(|manifest| manifest.job.population.is_some())
    }

    /// Returns the models to verify.
    pub(crate) fn privacy_models(&self) -> Result<Vec<PrivacyModel>> {
        let sensitive = self.reading.sensitive_names();
        privacy_models(
            &self.judging.models,
            self.judging.population.is_some(),
            self.estimates(),
            &sensitive,
        )
    }

    /// Reads the tables as far as the models need them.
    pub(crate) fn read_for(
        &self,
        privacy_models: &[PrivacyModel],
        progress: &dyn Progress,
    ) -> Result<Tables> {
        self.read_back(need_sensitive(privacy_models), progress)
    }

    /// Returns whether records were suppressed and their number is secret.
    pub(crate) fn hides_suppression(&self) -> bool {
        self.manifest.as_ref().is_some_and(Manifest::hides_suppression)
    }

    /// Refuses a release without known quasi-identifiers. A missing release file is reported first.
    pub(crate) fn need_quasi(&self) -> Result<()> {
        if self.reading.quasi.is_empty() {
            open_release(&self.judging.release, self.manifest.as_ref())?;
            if let (None, ManifestFile::Another(file, manifest)) =
                (&self.manifest, manifest_file(&self.judging)?)
            {
                return Err(Error::input(format!(
                    "the manifest `{}` is about another table: \
                     it names `{}` and has another digest",
                    file.display(),
                    manifest.release
                ))
                .help(
                    "give the manifest of this table as `[output] manifest`, \
                     or name the quasi-identifiers with `[columns] role = \"quasi\"`",
                ));
            }
        }
        self.reading.need_quasi()
    }

    /// Refuses a release without its hierarchies. Its labels would then cover nobody: models about
    /// people would fail, and joins would find no match.
    pub(crate) fn need_hierarchies(&self) -> Result<()> {
        let Some(manifest) = &self.manifest else { return Ok(()) };
        for (name, spec) in &self.reading.quasi {
            let made_with =
                manifest.job.columns.get(name).and_then(|column| column.hierarchy.as_ref());
            if let (Some(hierarchy), None) = (made_with, &spec.hierarchy) {
                return Err(Error::job(format!(
                    "column `{name}` was generalized along a hierarchy ({hierarchy}), \
                     which is needed to read its cells"
                ))
                .help(HIERARCHY_HELP));
            }
        }
        Ok(())
    }

    /// Refuses a release that publishes group means. A mean is no range: attacks and measures would
    /// read it as a single value.
    pub(crate) fn need_ranges(&self) -> Result<()> {
        let written = self.manifest.as_ref().and_then(|manifest| manifest.job.written.as_ref());
        match written.and_then(|written| written.means.first()) {
            None => Ok(()),
            Some(name) => Err(Error::job(format!(
                "column `{name}` of the release holds group means, which are no ranges"
            ))
            .help(
                "its information loss is in the manifest; to attack or measure a release, \
                 publish ranges (numbers = \"range\" or \"low-high\")",
            )),
        }
    }

    /// Replaces an error about a sensitive column whose hierarchy is missing. The model's own
    /// message (for example that the values are not numbers) would not mention the cause.
    pub(crate) fn without_hierarchy(&self, error: Error) -> Error {
        let Some(manifest) = &self.manifest else { return error };
        let absent = self.reading.sensitive.iter().find_map(|(name, spec)| {
            let made_with = manifest.job.columns.get(name)?.hierarchy.as_ref()?;
            let about = error.fault() == Fault::Job
                && error.message().contains(&format!("column `{name}`"));
            (about && spec.hierarchy.is_none()).then_some((name, made_with))
        });
        match absent {
            None => error,
            Some((name, hierarchy)) => Error::job(format!(
                "a model about column `{name}` needs its hierarchy ({hierarchy}), \
                 without which it cannot be verified"
            ))
            .help(HIERARCHY_HELP),
        }
    }
}

/// The ways to supply a hierarchy of a release.
const HIERARCHY_HELP: &str = "give it as `[columns] hierarchy`, all of them as \
     `[input] hierarchies`, or give the job file of the release";

/// Returns the manifest of a release: the stated one, or the one next to it if it is about this
/// table.
pub(crate) fn manifest_of(judging: &Judging) -> Result<Option<Manifest>> {
    Ok(match manifest_file(judging)? {
        ManifestFile::Own(manifest) => Some(*manifest),
        ManifestFile::Another(..) | ManifestFile::Nothing => None,
    })
}

/// The file at the path of a release's manifest.
enum ManifestFile {
    /// Its manifest.
    Own(Box<Manifest>),
    /// The manifest of another table, at this path.
    Another(PathBuf, Box<Manifest>),
    Nothing,
}

fn manifest_file(judging: &Judging) -> Result<ManifestFile> {
    let own = |manifest: Manifest| ManifestFile::Own(Box::new(manifest));
    if let Some(release) = &judging.in_memory {
        return Ok(own(release.manifest.clone()));
    }
    let path = match (judging.release.paths.as_slice(), &judging.release.memory) {
        ([path], None) => Some(path),
        _ => None,
    };
    if let (Some(Location::Database(address)), None) = (path, &judging.manifest) {
        let kept = read_manifest(address)?;
        let parsed = kept.map(|bytes| Manifest::parse(&bytes)).transpose();
        let parsed = parsed
            .map_err(|e| Error::input(format!("the manifest in the database: {}", e.message())))?;
        return Ok(parsed.map_or(ManifestFile::Nothing, own));
    }
    let Some(file) = judging.manifest.clone().or_else(|| path.map(find)) else {
        return Ok(ManifestFile::Nothing);
    };
    let table = path.and_then(Location::file);
    table.into_iter().chain([file.as_path()]).try_for_each(refuse_interrupted)?;
    let bytes = match read_side_file(&file, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(e) if judging.manifest.is_none() && e.kind() == ErrorKind::NotFound => {
            return Ok(ManifestFile::Nothing);
        }
        Err(e) => {
            return Err(Error::input(format!(
                "the manifest `{}` cannot be read: {e}",
                file.display()
            )));
        }
    };
    let manifest = Manifest::parse(&bytes).map_err(|e| {
        let error = Error::input(format!("the manifest `{}`: {}", file.display(), e.message()));
        match e.advice() {
            Some(help) => error.help(help),
            None => error,
        }
    })?;
    // This path may have the manifest of another file: `people.csv` and `people.release.csv` share
    // it. A release that was renamed together with its manifest is recognized by its digest. Only
    // regular files are read for that: a pipe or a device may never end.
    let is_own = judging.manifest.is_some()
        || manifest.release.is_empty()
        || path.is_none_or(|path| {
            manifest.release == path.name()
                || (table.is_some() && file.parent() == table)
                || (table.is_some_and(Path::is_file)
                    && digest(path).is_ok_and(|digest| digest == manifest.digest))
        });
    Ok(if is_own { own(manifest) } else { ManifestFile::Another(file, Box::new(manifest)) })
}

/// Adds the roles of the manifest, if there is one and no quasi-identifiers are stated. Further
/// statements about columns can then be added.
pub(crate) fn with_roles_of_manifest(judging: &Judging) -> Result<Judging> {
    match manifest_of(judging)? {
        Some(manifest) => with_roles(judging, &manifest),
        None => Ok(judging.clone()),
    }
}

fn with_roles(judging: &Judging, manifest: &Manifest) -> Result<Judging> {
    let mut judging = judging.clone();
    // Missing values in other tables are treated as in the release, unless the caller states it.
    if manifest.job.on_missing == "keep" {
        judging.on_missing = judging.on_missing.or(Some(OnMissing::Keep));
    }
    if judging.columns.iter().any(|(_, column)| column.role == RoleName::Quasi) {
        return Ok(judging);
    }
    for (name, entry) in manifest.job.columns.iter() {
        let column = entry.column()?;
        match judging.columns.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = column,
            None => judging.columns.push((name.to_owned(), column)),
        }
    }
    Ok(judging)
}

/// Fills in roles and models from a manifest where none are stated.
fn with_manifest(judging: &Judging, manifest: &Manifest) -> Result<Judging> {
    let mut judging = with_roles(judging, manifest)?;
    // The manifest contains hierarchies that need no file. A hierarchy stated by the caller takes
    // precedence, except for regular intervals: only the manifest has their grid.
    for (name, column) in &mut judging.columns {
        let Some(entry) = manifest.job.columns.get(name) else { continue };
        match &column.spec.hierarchy {
            None => column.spec.hierarchy = entry.stated()?,
            Some(HierarchySpec::Mdr(_)) if entry.intervals.is_some() => {
                column.spec.hierarchy = entry.regular().or(column.spec.hierarchy.take());
            }
            Some(_) => {}
        }
    }
    // The manifest lists the texts that counted as missing when the release was made.
    judging.missing = judging.missing.or_else(|| manifest.job.missing.clone());
    judging.missing_cells = judging.missing_cells.or_else(|| manifest.job.missing_cells());
    if judging.models.is_empty() {
        judging.models =
            manifest.models.iter().map(|model| model.model()).collect::<Result<_>>()?;
    }
    Ok(judging)
}
