//! `incrowd anonymize`

use std::process::ExitCode;

use incrowd::Report;

use crate::args::AnonymizeArgs;
use crate::failure::Failure;
use crate::print::{OutputMode, print_blocks, say};
use crate::progress::Bar;

pub(crate) fn run(args: &AnonymizeArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let file = args.keys.making(&args.inputs, mode)?;
    warn_of_hierarchies(&file.job, mode);
    let report = incrowd::anonymize(&file.job, &Bar::new(mode)).map_err(|e| file.provenance.locate(e))?;
    if !report.dropped_columns.is_empty() {
        let columns = report.dropped_columns.join(", ");
        mode.note(&format!("not published, because they have no role: {columns}"));
    }
    report.warnings.iter().for_each(|warning| mode.note(warning));
    if mode.json {
        mode.print_json(&report.to_json());
    } else {
        print(&report);
    }
    if let Some(output) = file.job.output.as_ref().filter(|_| !mode.json) {
        super::report::print(output.report.as_deref(), output.owner_report.as_deref());
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
pub(crate) fn print(report: &Report) {
    let private = report.owner_text();
    if private.is_empty() {
        return print_blocks(&report.public_text());
    }
    say!("may be published\n");
    print_blocks(&report.public_text());
    say!("\nfor the data owner only\n");
    print_blocks(&private);
}
