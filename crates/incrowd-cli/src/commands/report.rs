//! `incrowd report`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use incrowd::job::ExternalJob;
use incrowd::utility::Workload;
use incrowd::{Ask, Error};

use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::flags::Typed;
use crate::print::{Talk, say};
use crate::progress::Bar;

pub(crate) fn run(args: &ReportArgs, talk: Talk) -> Result<ExitCode, Failure> {
    let (manifest, original) = (args.manifest.as_ref(), args.original.as_ref());
    let (typed, mut judging) =
        Typed::judging(&args.release, &args.table, Some(&args.models), manifest, original)?;
    if let (Some(path), Some(id)) = (&args.external, &args.id) {
        let kept = judging.external.take().unwrap_or_default();
        judging.external = Some(ExternalJob { paths: vec![path.clone()], id: id.clone(), ..kept });
    }
    if args.owner.is_some() && judging.original.is_none() {
        return Err(Error::job("the data owner's page is about the original, which is not named")
            .help("add --original people.csv, or --job with the job the release was made with")
            .into());
    }
    let output = args.output.clone().unwrap_or_else(|| page_beside(&args.release));
    let mut claim = incrowd::Claim::of_judging(&judging);
    args.table.job.iter().for_each(|path| claim.reads(path));
    claim.writes(&output, "the page", "output")?;
    if let Some(owner) = &args.owner {
        claim.writes(owner, "the data owner's page", "owner")?;
    }
    let workload = Workload { seed: args.seed, ..Workload::default() };
    let ask = Ask { pairs: true, workload, target: args.target.clone(), ..Ask::default() };
    let pages = incrowd::report(&judging, &ask, &Bar::new(talk)).map_err(|e| typed.locate(e))?;
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

/// `people.report.html` beside `people.release.csv`.
fn page_beside(release: &Path) -> PathBuf {
    let manifest = incrowd::manifest_path(release);
    let name = manifest.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.strip_suffix(".release.json").unwrap_or(&name);
    release.with_file_name(format!("{stem}.report.html"))
}
