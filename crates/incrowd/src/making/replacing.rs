//! Checks which files an output may overwrite. A release overwrites only an unmodified release of
//! incrowd, unless the caller allows more: a table whose digest is in the manifest stored with it.

use std::io::Read;
use std::path::{Path, PathBuf};

use incrowd_core::audience::Audience;
use incrowd_core::{Error, Result};
use incrowd_engine::{Existing, Location, Occupied, Options, Places, Source, Target};

use crate::judging::journals::unauthenticated_text;
use crate::making::publication::TablePlace;
use crate::manifest::Manifest;

/// The help of errors about existing files.
const HELP: &str = "use another path, or overwrite the existing file with `[output] replace`";

/// Parses a manifest; `None` if it does not match its own digest.
fn manifest(bytes: Option<&Vec<u8>>) -> Option<Manifest> {
    let manifest = Manifest::parse(bytes?).ok()?;
    (manifest.is_as_made() != Some(false)).then_some(manifest)
}

/// Returns whether a manifest contains a digest.
fn states(manifest: &Manifest, digest: &str) -> bool {
    manifest.digest == digest || manifest.files.iter().any(|file| file.digest == digest)
}

/// Refuses to overwrite anything but an unmodified release. Returns notes about journals that were
/// not executed and, if the caller allows it, about the overwritten files.
pub(crate) fn check(
    occupied: &Occupied,
    places: &Places,
    tables: &[TablePlace],
) -> Result<Vec<String>> {
    let known = manifest(occupied.manifest.as_ref());
    let changed = known.is_none()
        && occupied.manifest.as_ref().is_some_and(|bytes| Manifest::parse(bytes).is_ok());
    let mut notes: Vec<String> =
        unauthenticated_text(&occupied.unauthenticated).into_iter().collect();
    for existing in &occupied.existing {
        let why = match existing.table {
            Some(at) if changed && tables[at].public => {
                Some("has a manifest that was changed after it was made")
            }
            Some(at) => table(existing, known.as_ref(), &tables[at]),
            None => manifest_file(occupied, places),
        };
        let (Some(why), shown) = (why, &existing.shown) else { continue };
        let key = existing.table.and_then(|at| places.keys.get(at)).copied();
        let key = match existing.table {
            Some(_)
                if key == Some("output.path")
                    && matches!(places.tables[0], Location::Database(_)) =>
            {
                "output.table"
            }
            Some(_) => key.unwrap_or("output.path"),
            None => "output.manifest",
        };
        if !places.replace {
            return Err(Error::job(format!("the release would replace {shown}, which {why}"))
                .help(HELP)
                .at(key));
        }
        notes.push(format!("the release replaced {shown}, which {why}"));
    }
    Ok(notes)
}

/// Returns the reason why an existing table is not an unmodified release.
fn table(
    existing: &Existing,
    known: Option<&Manifest>,
    place: &TablePlace,
) -> Option<&'static str> {
    match (known, &existing.digest) {
        _ if !place.public => {
            (!is_private_table(place)).then_some("does not have the columns of such a table")
        }
        (None, _) => Some("is not a release of incrowd: no manifest is stored with it"),
        (Some(manifest), Some(digest)) if states(manifest, digest) => None,
        (Some(manifest), _) => {
            let name = place.path.name();
            let named =
                manifest.release == name || manifest.files.iter().any(|file| file.name == name);
            Some(match named {
                true => "was changed after it was released",
                false => "is not a release of incrowd: its manifest is about another table",
            })
        }
    }
}

/// Returns whether the file at the path of a private table has the columns of one. Reads only its
/// first line or its footer.
fn is_private_table(place: &TablePlace) -> bool {
    let source = Source::open([&place.path], &Options::default());
    source.is_ok_and(|source| source.columns().iter().eq(place.columns))
}

/// Returns the reason why the file at the path of the manifest must not be overwritten: it is not a
/// manifest, or it is that of another existing release.
fn manifest_file(occupied: &Occupied, places: &Places) -> Option<&'static str> {
    let Some(manifest) = manifest(occupied.manifest_file.as_ref()) else {
        return Some("is not a manifest of incrowd, or was changed after it was made");
    };
    let first = occupied.existing.iter().find(|existing| existing.table == Some(0));
    let digest = first.and_then(|first| first.digest.as_deref());
    let same = places.tables.first().is_some_and(|path| path.name() == manifest.release)
        || digest.is_some_and(|digest| states(&manifest, digest));
    let other = places.manifest.with_file_name(&manifest.release);
    (!same && other.exists()).then_some(
        "is the manifest of another release \
         (`[output] manifest` names another one for this release)",
    )
}

/// The mark by which a file of incrowd that is not a release is recognized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A report page: it names its generator.
    Page,
    /// A text with this prefix.
    Begins(&'static str),
    /// There is no mark.
    None,
}

/// The number of bytes that are searched for the mark.
const HEAD: u64 = 1024;

/// Refuses to overwrite a file that incrowd did not make. If the caller allows it, returns a note
/// about the overwritten file.
pub fn check_file(path: &Path, mark: Mark, replace: bool) -> Result<Option<String>> {
    if !path.exists() {
        return Ok(None);
    }
    let shown = path.display();
    let mut head = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    let text = String::from_utf8_lossy(&head);
    let ours = match mark {
        Mark::Page => text.contains(incrowd_report::GENERATOR),
        Mark::Begins(with) => text.starts_with(with),
        Mark::None => false,
    };
    match ours && read.is_ok() {
        true => Ok(None),
        false if replace => {
            Ok(Some(format!("`{shown}`, which was not made by incrowd, is replaced")))
        }
        false => {
            Err(Error::job(format!("`{shown}` exists and was not made by incrowd")).help(HELP))
        }
    }
}

/// Writes a file atomically: it is either absent or complete. Only its owner can read it, unless it
/// is for everybody.
pub fn write_file(target: &Target, bytes: &[u8], readers: Audience) -> Result<()> {
    use std::io::Write;
    let mut pending = incrowd_engine::Pending::at(target)?;
    if !readers.is_everybody() {
        pending = pending.private();
    }
    let failed = |e| incrowd_engine::write_failed(pending.target(), &e);
    pending.writer()?.write_all(bytes).map_err(failed)?;
    pending.publish()
}

/// Returns the directory of a file.
pub fn directory_of(path: &Path) -> PathBuf {
    path.parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .map_or_else(|| ".".into(), Into::into)
}
