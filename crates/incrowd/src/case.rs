//! A release to be judged, with what its manifest says filled in.

use incrowd_core::model::Promise;
use incrowd_core::{Error, Fault, HierarchySpec, Progress, Result, Silent};
use incrowd_engine::{Beside, is_database, read_manifest, recover_beside};

use crate::checked::{need_sensitive, promises};
use crate::job::RoleName;
use crate::judging::Judging;
use crate::manifest::{Manifest, file_name, find};
use crate::publication::{self, Publication, PublishedShelf, Tables};
use crate::reading::{Reading, open_release};

/// What is known of a release before its cells are read.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) judging: Judging,
    pub(crate) manifest: Option<Manifest>,
    pub(crate) publication: &'static dyn Publication,
    pub(crate) reading: Reading,
    /// Whether somebody states the promises of this table, and not its manifest.
    pub(crate) stated: bool,
}

impl Case {
    /// Finds the manifest and fills in what it says.
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
        let columns =
            judging.columns.iter().any(|(_, c)| matches!(c.spec.hierarchy, Some(HierarchySpec::Columns(_))));
        if let (true, Some(original)) = (columns, judging.original.clone()) {
            let source = crate::reading::open_input(&original)?;
            crate::reading::resolve_columns(&mut judging.columns, &original.missing, &source, &Silent)?;
        }
        let reading = Reading::of_roles(&judging.roles());
        Ok(Case { judging, manifest, publication, reading, stated })
    }

    /// The tables of the release.
    pub(crate) fn shelf(&self) -> PublishedShelf<'_> {
        PublishedShelf {
            release: &self.judging.release,
            manifest: self.manifest.as_ref(),
            values: self.judging.values.as_ref(),
            held: self.judging.held.as_ref(),
            missing: self.reading.missing_label(),
        }
    }

    /// Reads the tables, the sensitive columns only if they are looked at.
    pub(crate) fn read_back(&self, with_sensitive: bool, progress: &dyn Progress) -> Result<Tables> {
        self.publication.read_back(&self.reading, &self.shelf(), with_sensitive, Beside::default(), progress)
    }

    /// Those columns of a release that are published as they are, and of which nobody says that others cannot know them.
    pub(crate) fn as_it_is(&self, columns: &[String]) -> Vec<String> {
        let (quasi, unlinkable) = (self.reading.quasi_names(), self.unlinkable());
        let published = columns.iter().map(|name| name.trim());
        let published =
            published.filter(|name| !quasi.contains(name) && !unlinkable.iter().any(|own| own == name));
        published.map(str::to_owned).collect()
    }

    /// Columns whose values nobody else can know.
    pub(crate) fn unlinkable(&self) -> Vec<String> {
        let columns = self.judging.columns.iter().filter(|(_, column)| column.linkable == Some(false));
        columns.map(|(name, _)| name.clone()).collect()
    }

    /// Whether the population was estimated by weights.
    pub(crate) fn estimates(&self) -> bool {
        self.manifest.as_ref().is_some_and(|manifest| manifest.job.population.is_some())
    }

    /// What is promised of the release.
    pub(crate) fn promises(&self) -> Result<Vec<Promise>> {
        let sensitive = self.reading.sensitive_names();
        promises(&self.judging.models, self.judging.population.is_some(), self.estimates(), &sensitive)
    }

    /// Reads the tables as far as promises look at them.
    pub(crate) fn read_for(&self, promises: &[Promise], progress: &dyn Progress) -> Result<Tables> {
        self.read_back(need_sensitive(promises), progress)
    }

    /// Whether records were withheld and how many is not told.
    pub(crate) fn withheld_in_secret(&self) -> bool {
        self.manifest.as_ref().is_some_and(Manifest::withheld_in_secret)
    }

    /// Refuses a release of which nobody says which columns matter. One that is not there is told first.
    pub(crate) fn need_quasi(&self) -> Result<()> {
        if self.reading.quasi.is_empty() {
            open_release(&self.judging.release, self.manifest.as_ref())?;
        }
        self.reading.need_quasi()
    }

    /// Without the hierarchies a release was made with, its labels would cover nobody: a promise about people would seem
    /// broken, and a join would find nobody.
    pub(crate) fn need_hierarchies(&self) -> Result<()> {
        let Some(manifest) = &self.manifest else { return Ok(()) };
        for (name, spec) in &self.reading.quasi {
            let made_with = manifest.job.columns.get(name).and_then(|column| column.hierarchy.as_ref());
            if let (Some(hierarchy), None) = (made_with, &spec.hierarchy) {
                return Err(Error::job(format!(
                    "column `{name}` was generalized along a hierarchy ({hierarchy}), without which its cells cannot be read"
                ))
                .help("give it as `[columns] hierarchy`, all of them as `[input] hierarchies`, or give the job file it was made with"));
            }
        }
        Ok(())
    }

    /// Means tell no ranges: whoever looks for people in ranges, or measures ranges, would read them as single values.
    pub(crate) fn need_ranges(&self) -> Result<()> {
        let written = self.manifest.as_ref().and_then(|manifest| manifest.job.written.as_ref());
        match written.and_then(|written| written.means.first()) {
            None => Ok(()),
            Some(name) => Err(Error::job(format!(
                "column `{name}` of the release holds means of groups, which tell no ranges"
            ))
            .help("what the release cost is in its manifest; to attack or measure it, make it with ranges or their ends")),
        }
    }

    /// A promise along a hierarchy of a sensitive column cannot be judged without it. What the model says then (that the values
    /// are no numbers, say) is about the table it sees, not about what is missing.
    pub(crate) fn without_hierarchy(&self, error: Error) -> Error {
        let Some(manifest) = &self.manifest else { return error };
        let absent = self.reading.sensitive.iter().find_map(|(name, spec)| {
            let made_with = manifest.job.columns.get(name)?.hierarchy.as_ref()?;
            let about = error.fault() == Fault::Job && error.message().contains(&format!("column `{name}`"));
            (about && spec.hierarchy.is_none()).then_some((name, made_with))
        });
        match absent {
            None => error,
            Some((name, hierarchy)) => Error::job(format!(
                "a promise about column `{name}` is kept along a hierarchy ({hierarchy}), without which it cannot be judged"
            ))
            .help("give it as `[columns] hierarchy`, all of them as `[input] hierarchies`, or give the job file it was made with"),
        }
    }
}

/// The manifest of a release: the one stated, or the one beside it if it is about this very table.
pub(crate) fn manifest_of(judging: &Judging) -> Result<Option<Manifest>> {
    if let Some(held) = &judging.held {
        return Ok(Some(held.manifest.clone()));
    }
    let path = match (judging.release.paths.as_slice(), &judging.release.memory) {
        ([path], None) => Some(path.as_path()),
        _ => None,
    };
    if let (Some(path), None) = (path.filter(|path| is_database(path)), &judging.manifest) {
        let kept = read_manifest(path)?;
        let parsed = kept.map(|bytes| Manifest::parse(&bytes)).transpose();
        return parsed.map_err(|e| Error::input(format!("the manifest in the database: {}", e.message())));
    }
    let Some(file) = judging.manifest.clone().or_else(|| path.map(find)) else { return Ok(None) };
    for part in path.into_iter().filter(|path| !is_database(path)).chain([file.as_path()]) {
        recover_beside(part)?;
    }
    let bytes = match std::fs::read(&file) {
        Ok(bytes) => bytes,
        Err(_) if judging.manifest.is_none() => return Ok(None),
        Err(e) => return Err(Error::input(format!("the manifest `{}` cannot be read: {e}", file.display()))),
    };
    let manifest = Manifest::parse(&bytes).map_err(|e| {
        let error = Error::input(format!("the manifest `{}`: {}", file.display(), e.message()));
        match e.advice() {
            Some(help) => error.help(help),
            None => error,
        }
    })?;
    // A manifest that lies here for another file, such as the release of this very table, says nothing about this one.
    let about_another =
        path.is_some_and(|path| !manifest.release.is_empty() && manifest.release != file_name(path));
    Ok((judging.manifest.is_some() || !about_another).then_some(manifest))
}

/// The same with the roles the manifest names, if none are stated and there is a manifest: what else is said of columns can
/// then be said on top of that.
pub fn with_roles_of_manifest(judging: &Judging) -> Result<Judging> {
    match manifest_of(judging)? {
        Some(manifest) => with_roles(judging, &manifest),
        None => Ok(judging.clone()),
    }
}

fn with_roles(judging: &Judging, manifest: &Manifest) -> Result<Judging> {
    let mut judging = judging.clone();
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
    // People of a population who lack a value count as the records of the release do.
    if manifest.job.on_missing == "keep" {
        judging.on_missing = Some(crate::job::OnMissing::Keep);
    }
    Ok(judging)
}

/// Fills in roles and models from a manifest where nothing is stated.
fn with_manifest(judging: &Judging, manifest: &Manifest) -> Result<Judging> {
    let mut judging = with_roles(judging, manifest)?;
    // A tree of regular intervals is told by the manifest itself, where nobody states another hierarchy.
    for (name, column) in &mut judging.columns {
        let regular = manifest.job.columns.get(name).and_then(|entry| entry.regular());
        if regular.is_some() && matches!(column.spec.hierarchy, None | Some(HierarchySpec::Mdr(_))) {
            column.spec.hierarchy = regular;
        }
    }
    judging.missing_cells = judging.missing_cells.or_else(|| manifest.job.missing_cells());
    if judging.models.is_empty() {
        judging.models = manifest.models.iter().map(|model| model.promise()).collect::<Result<_>>()?;
    }
    Ok(judging)
}
