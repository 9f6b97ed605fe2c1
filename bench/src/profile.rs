//! The time of profiling a large table, by step.

use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use incrowd::risk::population::Sampling;
use incrowd::{ProfileOptions, Progress};

use crate::speed::make;

/// The twelve columns of the census table without its id and its disease.
const TWELVE: &[&str] = &[
    "age",
    "sex",
    "zip",
    "education",
    "marital_status",
    "workclass",
    "occupation",
    "country",
    "race",
    "household_size",
    "hours",
    "income",
];

/// Records the start of each step.
#[derive(Default)]
struct Steps(Mutex<Vec<(String, Instant)>>);

impl Progress for Steps {
    fn step(&self, name: &str, _: Option<u64>) {
        if let Ok(mut steps) = self.0.lock() {
            steps.push((name.to_owned(), Instant::now()));
        }
    }

    fn advance(&self, _: u64) {}
}

/// Profiles a generated census table of twelve columns, `rounds` times each with sets of up to
/// three and four columns, and prints the fastest round by part.
pub(crate) fn run(rows: u64, rounds: usize, dir: &Path) -> Result<(), String> {
    let table = dir.join(format!("people-{rows}"));
    make(&table, rows)?;
    println!("\n{rows} rows, {} columns (fastest of {rounds} rounds, seconds)\n", TWELVE.len());
    println!("| sets of up to | minimal sets found | sets counted | all | by part |");
    println!("|---|---|---|---|---|");
    for most in [3, 4] {
        let mut options = ProfileOptions {
            columns: TWELVE.iter().map(|&c| c.to_owned()).collect(),
            sampling: Some(Sampling::Fraction(0.01)),
            most: Some(most),
            ..ProfileOptions::default()
        };
        options.input.paths = vec![table.join("people.csv").into()];
        let mut best: Option<(f64, String)> = None;
        for _ in 0..rounds.max(1) {
            let steps = Steps::default();
            let began = Instant::now();
            let profile = options.progress(&steps).run().map_err(|e| e.to_string())?;
            let ended = Instant::now();
            let steps = steps.0.into_inner().unwrap_or_default();
            let ends = steps.iter().skip(1).map(|(_, at)| *at).chain([ended]);
            let parts: Vec<String> = steps
                .iter()
                .zip(ends)
                .map(|((name, at), end)| format!("{name} {:.2}", (end - *at).as_secs_f64()))
                .collect();
            let (sets, counted) = (profile.found.combinations.len(), profile.found.counted);
            let all = (ended - began).as_secs_f64();
            let line = format!("| {most} | {sets} | {counted} | {all:.2} | {} |", parts.join(", "));
            if best.as_ref().is_none_or(|(fastest, _)| all < *fastest) {
                best = Some((all, line));
            }
        }
        if let Some((_, line)) = best {
            println!("{line}");
        }
    }
    Ok(())
}
