//! `incrowd compare`

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use incrowd::{CompareRequest, Comparison, Tried};

use crate::args::CompareArgs;
use crate::failure::Failure;
use crate::print::{OutputMode, number, one_line, outln, table, thousands};
use crate::progress::Bar;

/// Whether a comparison is running. An interruption lets it print its finished results.
pub(crate) static RUNNING: AtomicBool = AtomicBool::new(false);

pub(crate) fn run(args: &CompareArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let mut file = args.keys.making(&args.inputs, mode)?;
    let sweep = file.job.compare.get_or_insert_default().clone();
    let dir = sweep.dir.unwrap_or_else(|| PathBuf::from("comparison"));
    let request = CompareRequest::new(file.job, &dir).threads(sweep.threads);
    let journals = incrowd::front_end::unauthenticated_beside([&dir.join("comparison.csv")]);
    journals.iter().for_each(|text| mode.warn(text));
    RUNNING.store(true, Ordering::SeqCst);
    let compared = request.progress(&Bar::new(mode)).run();
    RUNNING.store(false, Ordering::SeqCst);
    let compared = compared.map_err(|e| file.provenance.locate(e))?;
    if mode.json {
        mode.print_json(&compared.to_json());
    } else {
        print(&compared, &dir);
    }
    if !compared.complete() {
        let (done, asked) = (compared.results.len(), compared.asked);
        mode.note(&format!(
            "interrupted after {done} of {asked} configurations; run the same command to continue"
        ));
        // Running threads are not waited for.
        crate::end(130);
    }
    // Without a choice, no configuration gave a release.
    Ok(ExitCode::from(u8::from(compared.choice.is_none())))
}

fn print(compared: &Comparison, dir: &std::path::Path) {
    outln!("for the data owner only\n");
    let head = [
        "algorithm",
        "models",
        "found",
        "guessed",
        compared.loss,
        "groups",
        "smallest",
        "suppressed",
        "seconds",
        "",
    ];
    let mut rows = vec![head.map(|name| name.replace('_', " ")).to_vec()];
    for (i, result) in compared.results.iter().enumerate() {
        rows.push(row(result, compared.loss, compared.choice == Some(i)));
    }
    let base = compared.baseline;
    let mut nothing = vec!["(nothing)".to_owned(), "guessing only".to_owned(), number(base.found)];
    nothing.push(base.guessed.map_or_else(|| "-".into(), number));
    nothing.push(number(base.loss));
    rows.push(nothing);
    outln!("{}", aligned(rows));
    let failed: Vec<&Tried> = compared.results.iter().filter(|r| r.scores.is_err()).collect();
    if !failed.is_empty() {
        outln!("\nno release ({} of {})", failed.len(), compared.results.len());
        for result in failed.iter().take(12) {
            let why = one_line(result.scores.as_ref().err().map_or("", String::as_str));
            outln!("  {} {}: {why}", result.algorithm, one_line(&result.models));
        }
        if failed.len() > 12 {
            outln!("  and {} more, see comparison.csv", failed.len() - 12);
        }
    }
    match compared.choice.and_then(|i| compared.results.get(i)) {
        Some(chosen) => {
            outln!("\nchoice   {} with {}", chosen.algorithm, one_line(&chosen.models));
            for line in compared.why() {
                outln!(
                    "         {}",
                    super::explain::wrapped(&one_line(&line)).replace('\n', "\n         ")
                );
            }
        }
        None => outln!("\nno configuration gives a release"),
    }
    if compared.earlier > 0 {
        outln!(
            "earlier  {} of {} results are from an earlier run",
            thousands(compared.earlier as u64),
            compared.asked
        );
    }
    outln!(
        "results  {}   comparison.html, comparison.csv, comparison.json, results.jsonl",
        one_line(&dir.display().to_string())
    );
}

/// Formats one configuration. `front` marks the Pareto front, `choice` the chosen configuration.
fn row(result: &Tried, loss: &str, chosen: bool) -> Vec<String> {
    let mut row = vec![result.algorithm.clone(), result.models.clone()];
    match &result.scores {
        Ok(s) => row.extend([
            number(s.identity),
            s.attribute.map_or_else(|| "-".into(), number),
            number(s.metric(loss)),
            thousands(s.groups),
            thousands(s.smallest),
            thousands(s.suppressed),
        ]),
        Err(_) => row.extend(std::iter::repeat_n("-".to_owned(), 6)),
    }
    row.push(format!("{:.2}", result.seconds));
    row.push(
        if chosen {
            "choice"
        } else if result.front {
            "front"
        } else {
            ""
        }
        .to_owned(),
    );
    row
}

/// Formats the results with the first two columns aligned left.
fn aligned(rows: Vec<Vec<String>>) -> String {
    let wide = rows.iter().map(|row| row[1].chars().count()).max().unwrap_or(0);
    // `table` aligns all but the first column right; padding aligns the models left.
    let pad = |mut row: Vec<String>| {
        row[1] = format!("{:wide$}", row[1]);
        row
    };
    table(rows.into_iter().map(pad).collect())
}
