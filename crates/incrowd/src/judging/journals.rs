//! Warnings about journals that this user did not write. A release from another person may contain
//! some; they are never executed.

use std::path::PathBuf;

use incrowd_engine::{configuration_directory, is_database, is_remote, unauthenticated_journals};

use crate::job::Job;
use crate::judging::request::Judging;

/// Returns a warning about unauthenticated journals next to the tables that a job reads and writes.
pub fn unauthenticated_by_job(job: &Job) -> Option<String> {
    let output =
        job.output.iter().flat_map(|output| [Some(&output.path), output.manifest.as_ref()]);
    let input = job.input.paths.iter().filter(|_| job.input.memory.is_none());
    warning(input.chain(output.flatten()))
}

/// Returns a warning about unauthenticated journals next to the tables that are judged.
pub fn unauthenticated_by_judging(judging: &Judging) -> Option<String> {
    let original = judging.original.iter().flat_map(|original| &original.paths);
    let population = judging.population.iter().flat_map(|population| &population.paths);
    warning(judging.release.paths.iter().chain(&judging.manifest).chain(original).chain(population))
}

fn warning<'a>(tables: impl Iterator<Item = &'a PathBuf>) -> Option<String> {
    let files = tables.filter(|path| !is_database(path) && !is_remote(path));
    let mut journals: Vec<PathBuf> =
        files.flat_map(|path| unauthenticated_journals(path)).collect();
    journals.sort();
    journals.dedup();
    unauthenticated_text(&journals)
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
