//! `incrowd report`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use incrowd::job::{Job, beside};
use incrowd::utility::Workload;
use incrowd::{Ask, Error, ReportRequest};

use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::flags::judge;
use crate::print::{Talk, say};
use crate::progress::Bar;

pub(crate) fn run(args: &ReportArgs, talk: Talk) -> Result<ExitCode, Failure> {
    let mut file = args.keys.judging(&args.release, talk)?;
    let original = judge(&mut file, &args.release, args.original.as_ref());
    let original = Some(original).filter(|input| !input.paths.is_empty());
    if args.owner.is_some() && original.is_none() {
        return Err(Error::job("the data owner's page is about the original, which is not named")
            .help("add --original people.csv, or --job with the job the release was made with")
            .into());
    }
    let output = args.output.clone().unwrap_or_else(|| beside(&args.release, "report.html"));
    refuse_overwriting(args, &file.job, &output)?;
    let workload = Workload { seed: args.seed, ..Workload::default() };
    let ask = Ask { pairs: true, workload, target: args.target.clone(), ..Ask::default() };
    let request = ReportRequest { job: file.job.clone(), original, ask };
    let pages = incrowd::report(&request, &Bar::new(talk)).map_err(|e| file.provenance.locate(e))?;
    incrowd::write_file(&output, pages.public.as_bytes())?;
    let owner = args.owner.as_ref().zip(pages.owner.as_ref());
    if let Some((path, page)) = owner {
        incrowd::write_file(path, page.as_bytes())?;
    }
    if talk.json {
        let mut answer = serde_json::json!({
            "holds": pages.holds,
            "page": output.display().to_string(),
            "bytes": pages.public.len(),
        });
        if let Some((path, page)) = owner {
            answer["private"] =
                serde_json::json!({ "page": path.display().to_string(), "bytes": page.len() });
        }
        talk.print_json(&answer);
    } else {
        say!(
            "release  {}   {}",
            args.release.display(),
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

fn refuse_overwriting(args: &ReportArgs, job: &Job, output: &Path) -> Result<(), Failure> {
    let place = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    let inputs = [Some(&args.release), args.keys.job.as_ref()].into_iter().flatten();
    let external = job.external.iter().flat_map(|external| &external.paths);
    let inputs: Vec<&PathBuf> = inputs.chain(&job.original).chain(external).collect();
    let pages = [Some(output), args.owner.as_deref()];
    for page in pages.iter().flatten() {
        if inputs.iter().any(|input| place(input) == place(page)) {
            return Err(Error::job(format!("`{}` would be overwritten by a page", page.display()))
                .help("give the page a name of its own, such as people.report.html")
                .into());
        }
    }
    if let [Some(public), Some(owner)] = pages
        && place(public) == place(owner)
    {
        return Err(Error::job("both pages would go to one file: only one of them may be published").into());
    }
    Ok(())
}
