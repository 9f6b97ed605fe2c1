//! `incrowd measure`

use std::process::ExitCode;

use incrowd::utility::Workload;
use incrowd::{Ask, Measurement};

use crate::args::{MeasureArgs, UtilityArgs};
use crate::failure::Failure;
use crate::print::{OutputMode, number, outln, print_blocks, table, thousands};
use crate::progress::Bar;

pub(crate) fn run(args: &MeasureArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let (judging, provenance) = args.keys.judging(&args.release, Some(&args.original), mode)?;
    let ask = ask(&args.utility);
    let measured =
        judging.progress(&Bar::new(mode)).measure(Some(&ask)).map_err(|e| provenance.locate(e))?;
    if mode.json {
        mode.print_json(&measured.to_json());
        return Ok(ExitCode::SUCCESS);
    }
    if measured.owner_only {
        outln!("for the data owner only: these numbers reveal how many records were suppressed\n");
    } else {
        outln!("may be published\n");
    }
    summary(&measured, &ask);
    if let Some(utility) = &measured.utility {
        print_blocks(&utility.public_text());
        let private = utility.private_text();
        if !private.is_empty() || measured.weighted.is_some() {
            outln!("\nfor the data owner only");
            print_blocks(&private);
        }
    }
    if let Some(weighted) = &measured.weighted {
        print_blocks(&weighted.to_text());
    }
    Ok(ExitCode::SUCCESS)
}

fn ask(args: &UtilityArgs) -> Ask {
    let workload = Workload {
        queries: args.queries as usize,
        seed: args.seed,
        selectivity: args.selectivity,
        dimensions: args.dimensions as usize,
    };
    Ask { only: args.only.clone(), pairs: args.pairs, workload, target: args.target.clone() }
}

fn summary(measured: &Measurement, ask: &Ask) {
    let tally = &measured.tally;
    let mut rows = vec![vec!["records".into(), thousands(tally.published)]];
    if tally.suppressed > 0 {
        rows.push(vec!["suppressed".into(), thousands(tally.suppressed)]);
    }
    for (name, value) in measured.metrics().all.iter() {
        // The sum over all columns is in --json only; the text has the mean.
        let asked = name.trim_end_matches("_per_column");
        if let Some(value) = value.filter(|_| name != "information_loss" && ask.wants(asked)) {
            rows.push(vec![name.replace('_', " "), number(value)]);
        }
    }
    let scores = measured.utility.iter().flat_map(|utility| utility.scores());
    rows.extend(scores.map(|(card, value)| vec![card.name.replace('_', " "), number(value)]));
    outln!("{}", table(rows));
}
