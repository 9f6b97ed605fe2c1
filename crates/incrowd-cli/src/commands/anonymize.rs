//! `incrowd anonymize`

use std::process::ExitCode;

use incrowd::job::JobFile;
use incrowd::{Error, Location, Report};

use crate::args::AnonymizeArgs;
use crate::failure::Failure;
use crate::print::{OutputMode, outln, print_blocks};
use crate::progress::Bar;
use crate::streams::Outgoing;

pub(crate) fn run(args: &AnonymizeArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let mut file = args.keys.making(&args.inputs, mode)?;
    warn_of_hierarchies(&file.job, mode);
    if args.dry_run {
        return dry_run(&file, args.all, mode);
    }
    let outgoing = Outgoing::of(&mut file.job).map_err(|e| file.provenance.locate(e))?;
    if outgoing.is_some() && mode.json {
        return Err(Error::job("standard output cannot contain both the release and the report")
            .help("remove --json, or write the release to a file")
            .into());
    }
    let report = incrowd::Anonymizer::new(&file.job)
        .progress(&Bar::new(mode))
        .run()
        .map_err(|e| file.provenance.locate(e))?;
    if !report.dropped_columns.is_empty() {
        let columns = report.dropped_columns.join(", ");
        mode.note(&format!("not published, because they have no role: {columns}"));
    }
    report.warnings.iter().for_each(|warning| mode.note(warning));
    if let Some(outgoing) = outgoing {
        if !outgoing.manifest {
            mode.note("no manifest is written; name a file with --manifest FILE");
        }
        mode.note(&report.verdict());
        outgoing.send()?;
        return Ok(ExitCode::SUCCESS);
    }
    if mode.json {
        mode.print_json(&report.to_json());
    } else {
        print(&report, args.all);
    }
    if let Some(output) = file.job.output.as_ref().filter(|_| !mode.json) {
        super::report::print(output.report.as_deref(), output.owner_report.as_deref());
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the job in memory and prints its report. Nothing is written.
fn dry_run(file: &JobFile, all: bool, mode: OutputMode) -> Result<ExitCode, Failure> {
    let mut job = file.job.clone();
    if job.suppression.is_some() {
        return Err(Error::job("a dry run cannot contain a suppression step, which is random")
            .help("remove --dry-run, or compare without the step")
            .into());
    }
    // The path of a release in memory only determines its format.
    let output = job.output.get_or_insert_with(Default::default);
    if output.path == Location::default() {
        output.path = "release.csv".into();
    }
    (output.report, output.owner_report, output.sign) = (None, None, None);
    let started = std::time::Instant::now();
    let released = incrowd::Anonymizer::new(&job)
        .progress(&Bar::new(mode))
        .run_in_memory()
        .map_err(|e| file.provenance.locate(e))?;
    let report = released.report;
    report.warnings.iter().for_each(|warning| mode.note(warning));
    if mode.json {
        mode.print_json(&report.to_json());
    } else {
        print(&report, all);
        outln!("\ndry run  nothing was written; it took {:.1} s", started.elapsed().as_secs_f64());
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the first linter warning of every hierarchy file.
pub(crate) fn warn_of_hierarchies(job: &incrowd::job::Job, mode: OutputMode) {
    use incrowd::hierarchy::{arx, lint};
    for (column, spec) in &job.columns {
        let Some(incrowd::front_end::core::HierarchySpec::Arx { name, text }) =
            &spec.spec.hierarchy
        else {
            continue;
        };
        let Ok(lines) = arx::lines(name, text) else { continue };
        let warnings: Vec<_> = lint::lint(&lines)
            .into_iter()
            .filter(|f| f.severity == lint::Severity::Warning)
            .collect();
        if let Some(first) = warnings.first() {
            let more = match warnings.len() {
                1 => String::new(),
                n => format!(" (and {} more; incrowd hierarchy lint {name})", n - 1),
            };
            mode.note(&format!("hierarchy of `{column}`, {first}{more}"));
        }
    }
}

/// Prints the report: first the part that may be published, then the part for the data owner.
pub(crate) fn print(report: &Report, all: bool) {
    let (public, private) = match all {
        true => (report.public_text(), report.owner_text()),
        false => (report.public_summary(), report.owner_summary()),
    };
    if private.is_empty() {
        return print_blocks(&public);
    }
    outln!("may be published\n");
    print_blocks(&public);
    outln!("\nfor the data owner only\n");
    print_blocks(&private);
}
