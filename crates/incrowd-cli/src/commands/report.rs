//! `incrowd report`

use std::path::Path;
use std::process::ExitCode;

use incrowd::job::beside;
use incrowd::utility::Workload;
use incrowd::{Ask, Audience, Error};

use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::print::{OutputMode, say};
use crate::progress::Bar;

pub(crate) fn run(args: &ReportArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let (judging, provenance) = args.keys.judging(&args.release, args.original.as_ref(), mode)?;
    if args.owner.is_some() && judging.original.is_none() {
        return Err(Error::job("the data owner's page is about the original, which is not named")
            .help("add --original people.csv, or --job with the job the release was made with")
            .into());
    }
    let output = args
        .output
        .clone()
        .unwrap_or_else(|| beside(judging.release.paths.first().unwrap_or(&args.release), "report.html"));
    let mut claim = incrowd::Claim::of_judging(&judging);
    args.keys.job.iter().for_each(|path| claim.reads(path));
    let public_target = claim.writes(&output, "the page", "output")?;
    let owner_target = args.owner.as_ref().map(|path| claim.writes(path, "the data owner's page", "owner"));
    let owner_target = owner_target.transpose()?;
    let workload = Workload { seed: args.seed, ..Workload::default() };
    let ask = Ask { pairs: true, workload, target: args.target.clone(), ..Ask::default() };
    let pages = incrowd::report(&judging, &ask, &Bar::new(mode)).map_err(|e| provenance.locate(e))?;
    incrowd::write_file(&public_target, pages.public.as_bytes(), Audience::Everybody)?;
    let owner = args.owner.as_ref().zip(pages.owner.as_ref());
    if let (Some(target), Some((_, page))) = (&owner_target, owner) {
        incrowd::write_file(target, page.as_bytes(), Audience::Owner)?;
    }
    if mode.json {
        let mut answer = serde_json::json!({
            "holds": pages.holds,
            "page": output.display().to_string(),
            "bytes": pages.public.len(),
        });
        if let Some((path, page)) = owner {
            answer["private"] =
                serde_json::json!({ "page": path.display().to_string(), "bytes": page.len() });
        }
        mode.print_json(&answer);
    } else {
        say!(
            "release  {}   {}",
            crate::flags::release_of(&judging),
            if pages.holds { "keeps its promises" } else { "does NOT keep its promises" }
        );
        print(Some(&output), owner.map(|(path, _)| path.as_path()));
    }
    Ok(ExitCode::from(u8::from(!pages.holds)))
}

/// Says where the pages are and who may see them.
pub(crate) fn print(public: Option<&Path>, owner: Option<&Path>) {
    if let Some(path) = public {
        say!("report   {}   may be published", path.display());
    }
    if let Some(path) = owner {
        say!("owner    {}   for the data owner only", path.display());
    }
}
