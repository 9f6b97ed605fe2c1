//! Warnings about journals that this user did not write. A release from another person may contain
//! some; they are never executed.

use std::path::{Path, PathBuf};

use incrowd_engine::{
    Location, configuration_directory, keep_messages_out, unauthenticated_journals,
};

use crate::job::{Input, Job};
use crate::judging::attack::AttackRequest;
use crate::judging::request::Judging;
use crate::making::suppression;
use crate::series::batches::BatchTable;

/// Returns a warning about unauthenticated journals next to the tables, pages and ledgers that a
/// job reads and writes.
pub fn unauthenticated_by_job(job: &Job) -> Option<String> {
    let mut tables = paths(&job.input);
    tables.extend(job.population.iter().flat_map(|population| &population.paths));
    let mut files: Vec<PathBuf> = Vec::new();
    if let Some(external) = &job.external {
        tables.extend(external.paths.iter().filter(|_| external.memory.is_none()));
        tables.extend(&external.sensitive);
        files.extend(external.audit.clone());
    }
    if let Some(output) = &job.output {
        tables.push(&output.path);
        files.extend(output.manifest.clone());
        files.extend(output.report.clone());
        files.extend(output.owner_report.clone());
    }
    files.extend(job.suppression.iter().flat_map(suppression::private_files));
    let tables = tables.into_iter().filter_map(Location::file);
    unauthenticated_beside(tables.chain(files.iter().map(PathBuf::as_path)))
}

/// Returns a warning about unauthenticated journals next to the tables that are judged.
pub(crate) fn unauthenticated_by_judging(judging: &Judging) -> Option<String> {
    unauthenticated_beside(judged(judging))
}

/// Returns a warning about unauthenticated journals next to the other tables of an attack.
pub fn unauthenticated_by_attack(request: &AttackRequest) -> Option<String> {
    let external = request.external.iter().flat_map(|external| &external.paths);
    let external = external.filter_map(Location::file);
    unauthenticated_beside(external.chain(request.second.iter().flat_map(judged)))
}

/// Returns a warning about unauthenticated journals next to the tables of a sequence and next to
/// their releases in `directory`.
pub fn unauthenticated_by_batches(tables: &[BatchTable], directory: &Path) -> Option<String> {
    let releases: Vec<PathBuf> = tables.iter().map(|table| table.release(directory)).collect();
    let tables = tables.iter().flat_map(BatchTable::paths).filter_map(Location::file);
    unauthenticated_beside(tables.chain(releases.iter().map(PathBuf::as_path)))
}

/// Returns a warning about unauthenticated journals next to files. A path may also be a pattern or
/// a directory. The warning is not written into one of the files, if a stream goes there.
pub fn unauthenticated_beside(files: impl IntoIterator<Item: AsRef<Path>>) -> Option<String> {
    let mut journals: Vec<PathBuf> = Vec::new();
    for file in files {
        keep_messages_out(file.as_ref());
        journals.extend(unauthenticated_journals(file.as_ref()));
    }
    journals.sort();
    journals.dedup();
    unauthenticated_text(&journals)
}

/// The paths of a table that is not in memory.
fn paths(input: &Input) -> Vec<&Location> {
    input.paths.iter().filter(|_| input.memory.is_none()).collect()
}

fn judged(judging: &Judging) -> Vec<&Path> {
    let mut tables: Vec<&Location> = judging.release.paths.iter().collect();
    tables.extend(&judging.values);
    tables.extend(judging.original.iter().flat_map(paths));
    tables.extend(judging.population.iter().flat_map(|population| &population.paths));
    let external = judging.external.as_ref();
    let given = external.filter(|external| external.memory.is_none());
    tables.extend(given.into_iter().flat_map(|external| &external.paths));
    let audit = external.and_then(|external| external.audit.as_deref());
    let tables = tables.into_iter().filter_map(Location::file);
    tables.chain(judging.manifest.as_deref()).chain(audit).collect()
}

/// Returns a warning about journals that were not executed because this user's key does not
/// authenticate them.
pub fn unauthenticated_text(journals: &[PathBuf]) -> Option<String> {
    // Control characters are escaped: the file name may imitate a message.
    let spelled =
        |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    let first: String = journals.first()?.display().to_string().chars().map(spelled).collect();
    let more = match journals.len() - 1 {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let key = configuration_directory()
        .map(|directory| format!(" The key is `{}`.", directory.join("journal.key").display()))
        .unwrap_or_default();
    Some(format!(
        "`{first}`{more}: a journal that your key does not authenticate. It was not executed. \
         Files from another person should contain none: remove it. If a run of yours was killed \
         here while it published, check the release with `incrowd verify` and make it again.{key}"
    ))
}
