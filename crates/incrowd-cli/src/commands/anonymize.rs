//! `incrowd anonymize`

use std::process::ExitCode;

use incrowd::job::JobFile;
use incrowd::{Error, Report};

use crate::args::AnonymizeArgs;
use crate::failure::Failure;
use crate::print::{OutputMode, print_blocks, say};
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
        return Err(Error::job("standard output cannot have both the release and the report")
            .help("leave --json out, or name a file for the release")
            .into());
    }
    let report = incrowd::anonymize(&file.job, &Bar::new(mode)).map_err(|e| file.provenance.locate(e))?;
    if !report.dropped_columns.is_empty() {
        let columns = report.dropped_columns.join(", ");
        mode.note(&format!("not published, because they have no role: {columns}"));
    }
    report.warnings.iter().for_each(|warning| mode.note(warning));
    if let Some(outgoing) = outgoing {
        if !outgoing.manifest {
            mode.note("no manifest is kept; name one with --manifest FILE");
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

/// What would happen: the whole way, in memory, with nothing written.
fn dry_run(file: &JobFile, all: bool, mode: OutputMode) -> Result<ExitCode, Failure> {
    let mut job = file.job.clone();
    if job.suppression.is_some() {
        return Err(Error::job("a dry run draws nothing, and a suppression step does")
            .help("leave --dry-run out, or compare without the step")
            .into());
    }
    // A release in memory has its name only.
    let output = job.output.get_or_insert_with(Default::default);
    (output.report, output.owner_report, output.sign) = (None, None, None);
    let started = std::time::Instant::now();
    let released =
        incrowd::anonymize_in_memory(&job, &Bar::new(mode)).map_err(|e| file.provenance.locate(e))?;
    let report = released.report;
    report.warnings.iter().for_each(|warning| mode.note(warning));
    if mode.json {
        mode.print_json(&report.to_json());
    } else {
        print(&report, all);
        say!("\ndry run  nothing was written; it took {:.1} s", started.elapsed().as_secs_f64());
    }
    Ok(ExitCode::SUCCESS)
}

/// What the linter says of the hierarchy files, in one line each.
pub(crate) fn warn_of_hierarchies(job: &incrowd::job::Job, mode: OutputMode) {
    use incrowd::hierarchy::{arx, lint};
    for (column, spec) in &job.columns {
        let Some(incrowd::core::HierarchySpec::Arx { name, text }) = &spec.spec.hierarchy else { continue };
        let Ok(lines) = arx::lines(name, text) else { continue };
        let warnings: Vec<_> =
            lint::lint(&lines).into_iter().filter(|f| f.severity == lint::Severity::Warning).collect();
        if let Some(first) = warnings.first() {
            let more = match warnings.len() {
                1 => String::new(),
                n => format!(" (and {} more; incrowd hierarchy lint {name})", n - 1),
            };
            mode.note(&format!("hierarchy of `{column}`, {first}{more}"));
        }
    }
}

/// The report as text: what may be published apart from what may not.
pub(crate) fn print(report: &Report, all: bool) {
    let (public, private) = match all {
        true => (report.public_text(), report.owner_text()),
        false => (report.public_summary(), report.owner_summary()),
    };
    if private.is_empty() {
        return print_blocks(&public);
    }
    say!("may be published\n");
    print_blocks(&public);
    say!("\nfor the data owner only\n");
    print_blocks(&private);
}
