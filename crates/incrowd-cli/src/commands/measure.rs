//! `incrowd measure`

use std::process::ExitCode;

use crate::args::MeasureArgs;
use crate::failure::Failure;
use crate::flags::Typed;
use crate::print::{Talk, number, say, table, thousands};
use crate::progress::Bar;

pub(crate) fn run(args: &MeasureArgs, talk: Talk) -> Result<ExitCode, Failure> {
    let mut typed = Typed::new(&args.table)?;
    typed.job.input.paths = vec![args.original.clone()];
    let measured =
        incrowd::measure(&typed.job, &args.release, &Bar::new(talk)).map_err(|e| typed.locate(e))?;
    if talk.json {
        talk.print_json(&measured.to_json());
        return Ok(ExitCode::SUCCESS);
    }
    let tally = &measured.tally;
    let mut rows = vec![vec!["records".into(), thousands(tally.published)]];
    if tally.suppressed > 0 {
        rows.push(vec!["suppressed".into(), thousands(tally.suppressed)]);
    }
    for (name, value) in measured.metrics() {
        rows.push(vec![name.replace('_', " "), number(value)]);
    }
    for column in &tally.columns {
        rows.push(vec![format!("ncp of {}", column.name), number(tally.column_ncp(column))]);
    }
    say!("{}", table(rows));
    Ok(ExitCode::SUCCESS)
}
