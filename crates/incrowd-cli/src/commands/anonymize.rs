//! `incrowd anonymize`

use std::process::ExitCode;

use incrowd::Report;

use crate::args::AnonymizeArgs;
use crate::failure::Failure;
use crate::print::{OutputMode, groups, number, print_blocks, say, thousands};
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
        let path = file.job.output.as_ref().map(|output| output.path.display().to_string());
        let found = report.algorithm_report.is_some();
        let private = found || report.joined.is_some() || report.suppression.is_some();
        if private {
            say!("may be published\n");
        }
        print(&report, &path.unwrap_or_default());
        if private {
            say!("\nfor the data owner only\n");
        }
        if let Some(algorithm) = &report.algorithm_report {
            print_blocks(&algorithm.to_text(report.outcome()));
        }
        if found && report.suppression.is_some() {
            say!("");
        }
        if let Some(joined) = &report.joined {
            super::join_print::print_private(&report, joined);
        }
        if let Some(suppression) = &report.suppression {
            super::suppression_print::print(&report, suppression);
        }
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

/// The report as text.
pub(crate) fn print(report: &Report, path: &str) {
    let records = report.records;
    if report.joined.is_some() {
        let (rows, groups) = (thousands(report.verification.records), groups(report.verification.groups));
        say!("release  {path}   {rows} people of both tables in {groups}");
        super::join_print::print_public(report);
    } else {
        // Where records are withheld, how many were read is not for everybody.
        let read = report.manifest.records.read;
        let of = read.map_or_else(String::new, |read| format!("of {} ", thousands(read)));
        let groups = groups(report.verification.groups);
        say!("release  {path}   {} {of}records in {groups}", thousands(records.published));
    }
    if let Some(about) = &report.manifest.test {
        say!("         TEST, not for publication: {about}");
    }
    if records.dropped_missing > 0 {
        let columns: Vec<String> =
            report.missing.iter().map(|(c, n)| format!("{c} {}", thousands(*n))).collect();
        say!(
            "         {} dropped for a missing value ({}); on_missing = \"keep\" keeps them",
            thousands(records.dropped_missing),
            columns.join(", ")
        );
    }
    if records.suppressed > 0 && report.suppression.is_none() {
        let job = &report.manifest.job;
        let way = if job.suppressed == "star" { ", published as *" } else { "" };
        let limit = job.suppression_limit;
        say!("         {} suppressed{way} (limit {limit} of the records)", thousands(records.suppressed));
    }
    let width = report.verification.judgements.iter().map(|j| j.title.len()).max().unwrap_or(0);
    for (i, judgement) in report.verification.judgements.iter().enumerate() {
        say!(
            "{}   {:width$}   holds   {} {}",
            if i == 0 { "verify" } else { "      " },
            judgement.title,
            judgement.measures,
            number(judgement.have)
        );
    }
    let metric = |name: &str| report.manifest.metrics.get(name).unwrap_or(0.0);
    say!(
        "cost     NCP {:.4}   information loss {:.4} per column   average group {:.1}",
        metric("ncp"),
        metric("information_loss_per_column"),
        metric("average_class_size")
    );
    if report.tally.columns.iter().any(|column| column.weight != 1.0) {
        say!("         NCP {:.4} with the weights of the job", metric("weighted_ncp"));
    }
    let columns =
        report.tally.columns.iter().map(|c| format!("{} {:.3}", c.name, report.tally.column_ncp(c)));
    say!("         {}", columns.collect::<Vec<_>>().join("   "));
    if let Some(levels) = &report.manifest.algorithm.levels {
        let levels = levels.iter().map(|(column, level)| format!("{column} {level}"));
        say!("levels   {}", levels.collect::<Vec<_>>().join("   "));
    }
    for (name, column) in report.manifest.job.columns.iter() {
        if let Some(intervals) = &column.intervals {
            say!("intervals {}", intervals.describe(name));
        }
    }
    say!("manifest {}", report.manifest_path.display());
}
