//! `incrowd recover`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use incrowd::{Error, Recovery};
use serde_json::json;

use crate::args::RecoverArgs;
use crate::failure::Failure;
use crate::print::{OutputMode, one_line, outln, thousands};

pub(crate) fn run(args: &RecoverArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let mut answers = Vec::new();
    let mut unauthenticated = Vec::new();
    for place in &args.places {
        let place = directory(place)?;
        let recovery = incrowd::recover(&place)?;
        if !mode.json {
            print(&place, &recovery);
        }
        answers.push(json!({
            "directory": place.display().to_string(),
            "completed": recovery.completed,
            "undone": recovery.undone,
            "removed": recovery.removed,
            "unauthenticated": recovery
                .unauthenticated
                .iter()
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>(),
            "of_others": recovery
                .of_others
                .iter()
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>(),
        }));
        unauthenticated.extend(recovery.unauthenticated);
    }
    if mode.json {
        mode.print_json(&json!({ "directories": answers }));
    }
    match incrowd::front_end::unauthenticated_text(&unauthenticated) {
        Some(text) => {
            mode.warn(&text);
            Ok(ExitCode::from(2))
        }
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Returns the path itself if it is a directory, otherwise the directory of the file. A publication
/// through a symbolic link takes place where the link leads, also if there is no file yet.
fn directory(path: &Path) -> Result<PathBuf, Failure> {
    match path.metadata() {
        Ok(known) if known.is_dir() => Ok(path.to_owned()),
        Ok(_) | Err(_) if path.is_symlink() => {
            Ok(incrowd::front_end::directory_of(incrowd::front_end::Target::decide(path)?.path()))
        }
        Ok(_) => Ok(incrowd::front_end::directory_of(path)),
        Err(e) => Err(Error::input(format!("`{}` cannot be read: {e}", path.display()))
            .help("name a directory, or a release in it")
            .into()),
    }
}

fn print(place: &Path, recovery: &Recovery) {
    let Recovery { completed, undone, removed, unauthenticated, of_others } = recovery;
    let counts = [
        (*completed, "completed", "the new release is published"),
        (*undone, "undone", "the old release is still published"),
        (*removed, "removed", "staged files of runs that ended early"),
        (unauthenticated.len() as u64, "ignored", "journals that your key does not authenticate"),
        (of_others.len() as u64, "left", "journals of other users, who can recover them"),
    ];
    let place = one_line(&place.display().to_string());
    let mut nothing = true;
    for (count, word, means) in counts.into_iter().filter(|(count, ..)| *count > 0) {
        outln!("{word:<10} {}   {means}   ({place})", thousands(count));
        nothing = false;
    }
    if nothing {
        outln!("nothing to recover   ({place})");
    }
}
