//! `incrowd report`

use std::path::Path;
use std::process::ExitCode;

use incrowd::utility::Workload;
use incrowd::{Ask, Audience, Decision, Error, Location};

use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::print::{OutputMode, one_line, outln};
use crate::progress::Bar;

pub(crate) fn run(args: &ReportArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let (judging, provenance) = args.keys.judging(&args.release, args.original.as_ref(), mode)?;
    if args.owner.is_some() && judging.original.is_none() {
        return Err(Error::job("the data owner's page needs the original table")
            .help("add --original people.csv, or --job with the job file of the release")
            .into());
    }
    let release = Location::from(&args.release);
    let release = judging.release.paths.first().unwrap_or(&release);
    let output = args.output.clone().unwrap_or_else(|| release.next_to("report.html"));
    let mut claim = incrowd::front_end::Claim::of_judging(&judging);
    args.keys.job.iter().for_each(|path| claim.reads(path));
    let public_target = claim.writes(&output, "the page", "output")?;
    let owner_target =
        args.owner.as_ref().map(|path| claim.writes(path, "the data owner's page", "owner"));
    let owner_target = owner_target.transpose()?;
    for path in std::iter::once(&output).chain(&args.owner) {
        let mark = incrowd::front_end::Mark::Page;
        let note = incrowd::front_end::check_file(path, mark, args.replace)?;
        note.iter().for_each(|note| mode.note(note));
    }
    incrowd::front_end::unauthenticated_beside(std::iter::once(&output).chain(&args.owner))
        .iter()
        .for_each(|text| mode.warn(text));
    let workload = Workload { seed: args.seed, ..Workload::default() };
    let ask = Ask { pairs: true, workload, target: args.target.clone(), ..Ask::default() };
    let pages = judging.progress(&Bar::new(mode)).report(&ask).map_err(|e| provenance.locate(e))?;
    incrowd::front_end::write_file(&public_target, pages.public.as_bytes(), Audience::Everybody)?;
    let owner = args.owner.as_ref().zip(pages.owner.as_ref());
    if let (Some(target), Some((_, page))) = (&owner_target, owner) {
        incrowd::front_end::write_file(target, page.as_bytes(), Audience::Owner)?;
    }
    if mode.json {
        let mut answer = serde_json::json!({
            "holds": pages.decision.answer(),
            "page": output.display().to_string(),
            "bytes": pages.public.len(),
        });
        if let Some((path, page)) = owner {
            answer["private"] =
                serde_json::json!({ "page": path.display().to_string(), "bytes": page.len() });
        }
        mode.print_json(&answer);
    } else {
        outln!(
            "release  {}   {}",
            one_line(&crate::flags::release_of(&judging)),
            match pages.decision {
                Decision::Holds => "all guarantees hold",
                Decision::Undecided => "UNDECIDED whether all guarantees hold",
                Decision::Fails if pages.guarantees == Decision::Fails => "a guarantee FAILS",
                Decision::Fails => "a check FAILS",
            }
        );
        print(Some(&output), owner.map(|(path, _)| path.as_path()));
    }
    Ok(ExitCode::from(u8::from(!pages.decision.holds())))
}

/// Prints the paths of the pages and who may see them.
pub(crate) fn print(public: Option<&Path>, owner: Option<&Path>) {
    if let Some(path) = public {
        outln!("report   {}   may be published", one_line(&path.display().to_string()));
    }
    if let Some(path) = owner {
        outln!("owner    {}   for the data owner only", one_line(&path.display().to_string()));
    }
}
