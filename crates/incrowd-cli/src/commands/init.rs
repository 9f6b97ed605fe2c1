//! `incrowd init`

use std::process::ExitCode;

use incrowd::Error;
use incrowd::job::RoleName;
use incrowd::profile::{InitOptions, Profile};
use serde_json::json;

use crate::args::InitArgs;
use crate::failure::Failure;
use crate::print::{OutputMode, list, one_line, outln};
use crate::progress::Bar;

pub(crate) fn run(args: &InitArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let file = args.output.display().to_string();
    // Checked before the table is read, which may take long.
    if args.output.exists() && !args.force {
        return Err(Error::job(format!("`{file}` already exists"))
            .help("choose another file with -o, or replace it with --force")
            .into());
    }
    incrowd::front_end::Target::decide(&args.output)?;
    let job = args.keys.making(&args.tables, mode)?.job;
    incrowd::front_end::unauthenticated_beside([&args.output])
        .iter()
        .for_each(|text| mode.warn(text));
    let mut claim = incrowd::front_end::Claim::of_job(&job);
    let target = claim.writes(&args.output, "the job file", "output")?;
    let input = job.input;
    let roles = job.columns.into_iter().map(|(name, column)| (name, column.role)).collect();
    let options =
        InitOptions { input, roles, k: args.k, job: args.output.clone(), preset: args.preset };
    if args.output.exists() {
        mode.note(&format!("`{file}` is replaced"));
    }
    let draft = options.progress(&Bar::new(mode)).run()?;
    incrowd::front_end::write_file(&target, draft.text.as_bytes(), incrowd::Audience::Everybody)?;
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
    outln!("{:<11} {}", "job", one_line(&file));
    for (role, names) in columns {
        outln!("{role:<11} {}", list(&names));
    }
    let doubts = unsure(&draft.profile);
    if !doubts.is_empty() {
        mode.note(&format!(
            "uncertain roles: {}; comments in the file explain why",
            doubts.join(", ")
        ));
    }
    let quasi = draft.profile.columns.iter().filter(|c| c.proposal.role == RoleName::Quasi).count();
    if quasi > incrowd::profile::MANY {
        mode.note(&format!(
            "{quasi} quasi-identifiers are many: keep those that an adversary can know, and give \
             the others a role with --sensitive or --drop"
        ));
    }
    mode.note(&format!(
        "read the file, then: incrowd anonymize {file}   (writes {})",
        draft.release
    ));
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
