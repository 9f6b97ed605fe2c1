//! `incrowd init`

use std::process::ExitCode;

use incrowd::Error;
use incrowd::job::RoleName;
use incrowd::profile::{InitOptions, Profile, init};
use serde_json::json;

use crate::args::InitArgs;
use crate::failure::Failure;
use crate::print::{OutputMode, say};
use crate::progress::Bar;

pub(crate) fn run(args: &InitArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let file = args.output.display().to_string();
    // Said before any reading: a long look at a table that ends with a refusal would be unkind.
    if args.output.exists() && !args.force {
        return Err(Error::job(format!("`{file}` is there already"))
            .help("choose another file with -o, or replace it with --force")
            .into());
    }
    let target = incrowd::Target::decide(&args.output)?;
    let job = args.keys.making(&args.tables, mode)?.job;
    let input = job.input;
    let same = |path: &std::path::PathBuf| matches!((path.canonicalize(), args.output.canonicalize()), (Ok(a), Ok(b)) if a == b);
    if input.paths.iter().any(same) {
        return Err(Error::job("the job file would overwrite the table").into());
    }
    let roles = job.columns.into_iter().map(|(name, column)| (name, column.role)).collect();
    let options = InitOptions { input, roles, k: args.k, job: args.output.clone(), preset: args.preset };
    let draft = init(&options, &Bar::new(mode))?;
    incrowd::write_file(&target, draft.text.as_bytes(), incrowd::Audience::Everybody)?;
    let columns = by_role(&draft.profile);
    if mode.json {
        let names: serde_json::Map<String, serde_json::Value> =
            columns.iter().map(|(role, names)| ((*role).to_owned(), json!(names))).collect();
        mode.print_json(&json!({
            "job": file,
            "records": draft.profile.records,
            "private": { "columns": names, "unsure": unsure(&draft.profile) },
        }));
        return Ok(ExitCode::SUCCESS);
    }
    say!("{:<11} {file}", "job");
    for (role, names) in columns {
        say!("{role:<11} {}", names.join(", "));
    }
    let doubts = unsure(&draft.profile);
    if !doubts.is_empty() {
        mode.note(&format!("unsure of {}: the file says why", doubts.join(", ")));
    }
    let quasi = draft.profile.columns.iter().filter(|c| c.proposal.role == RoleName::Quasi).count();
    if quasi > incrowd::profile::MANY {
        mode.note(&format!(
            "{quasi} quasi-identifiers are many: keep those that somebody else can know of a person, and say with --sensitive or \
             --drop what the others are"
        ));
    }
    mode.note(&format!("read the file, then: incrowd anonymize {file}   (writes {})", draft.release));
    Ok(ExitCode::SUCCESS)
}

fn by_role(profile: &Profile) -> Vec<(&'static str, Vec<&str>)> {
    let with = |role: RoleName| {
        let columns = profile.columns.iter().filter(move |c| c.proposal.role == role);
        columns.map(|c| c.name.as_str()).collect::<Vec<_>>()
    };
    let all = RoleName::ALL.iter().map(|(name, role)| (*name, with(*role)));
    all.filter(|(_, names)| !names.is_empty()).collect()
}

fn unsure(profile: &Profile) -> Vec<&str> {
    profile.columns.iter().filter(|c| !c.proposal.sure).map(|c| c.name.as_str()).collect()
}
