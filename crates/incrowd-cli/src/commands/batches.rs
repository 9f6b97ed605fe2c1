//! `incrowd batches`

use std::process::ExitCode;

use incrowd::{Batch, BatchTable, BatchesReport, BatchesRequest};

use crate::args::BatchesArgs;
use crate::failure::Failure;
use crate::print::{OutputMode, one_line, outln, table, thousands};
use crate::progress::Bar;

pub(crate) fn run(args: &BatchesArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let file = args.keys.making(&[], mode)?;
    let tables: Vec<BatchTable> = args.tables.iter().map(BatchTable::from).collect();
    let journals = incrowd::front_end::unauthenticated_by_batches(&tables, &args.dir);
    journals.iter().for_each(|text| mode.warn(text));
    let request = BatchesRequest::new(file.job, tables, &args.dir).same_people(args.same_people);
    let report = request.progress(&Bar::new(mode)).run().map_err(|e| file.provenance.locate(e))?;
    if mode.json {
        mode.print_json(&report.to_json());
    } else {
        print(&report, &one_line(&args.dir.display().to_string()));
    }
    let all = report.published() == report.batches.len() as u64;
    Ok(ExitCode::from(u8::from(!all)))
}

fn print(report: &BatchesReport, directory: &str) {
    let of = report.batches.len();
    outln!("may be published\n");
    outln!(
        "batches  {} of {of} published in {directory}, each with its manifest",
        report.published()
    );
    outln!("\nfor the data owner only\n");
    let share = 100.0 * report.skewed() as f64 / of.max(1) as f64;
    outln!(
        "skewed   in {} of {of} batches ({share:.0} %) some value was too frequent\n",
        report.skewed()
    );
    let joined = report.batches.iter().any(|batch| batch.with_the_last.is_some());
    let mut header = vec!["batch", "records", "published", "suppressed", "skewed"];
    if joined {
        header.extend(["at risk with previous", "worst"]);
    }
    let mut rows: Vec<Vec<String>> = vec![header.into_iter().map(str::to_owned).collect()];
    rows.extend(report.batches.iter().map(|batch| row(batch, joined)));
    outln!("{}\n", table(rows));
    let (right, skewed) = report.named;
    if skewed > 0 {
        let target = report.target.unwrap_or(0.0);
        outln!(
            "together An adversary with all releases guesses that the most frequent value of the \
             others is the dominant\n         value of a release. The guess is correct for \
             {right:.1} of {skewed} releases with suppressed records\n         ({:.2}; the design \
             target of one release is {target:.2}).",
            right / skewed as f64
        );
    }
    for batch in &report.batches {
        if let Err(error) = &batch.outcome {
            outln!("refused  {}: {}", one_line(&batch.name), one_line(error.message()));
        }
    }
}

fn row(batch: &Batch, joined: bool) -> Vec<String> {
    let dash = || "-".to_owned();
    let mut cells = vec![batch.name.clone()];
    match &batch.outcome {
        Ok(report) => {
            let suppressed = report.suppression.as_ref().map_or(0, |step| step.suppressed);
            cells.push(thousands(report.records.read - report.records.dropped_missing));
            cells.push(thousands(report.records.published));
            cells.push(thousands(suppressed));
            cells.push(if batch.skewed() == Some(true) { "yes" } else { "no" }.to_owned());
        }
        Err(_) => cells.extend([dash(), "0".to_owned(), dash(), "yes".to_owned()]),
    }
    if joined {
        let (share, worst) = batch.with_the_last.map_or_else(
            || (dash(), dash()),
            |(share, worst)| (format!("{:.1} %", 100.0 * share), format!("{worst:.3}")),
        );
        cells.extend([share, worst]);
    }
    cells
}
