//! What the figures of series B depend on beside the algorithm: k, the order of seeds, and whether records alike stay together.

use std::path::Path;

use super::measure::{Ask, Run, mean, measure_in_order};
use super::series::SAMPLES_B;
use super::table::{SERIES_B, adult_table};

/// Prints ExpC's means over the samples of series B, by k and by how it was run.
pub(super) fn causes(text: &mut String, data: &Path, path: &Path) -> Result<(), String> {
    let table = adult_table(data, path, &SERIES_B, "occupation")?;
    put!(
        text,
        "\n### What the figures of series B depend on (expc, means over {} samples)\n",
        SAMPLES_B.len()
    );
    put!(text, "| rows | seeds | k | loss | average group | left out | residues |");
    put!(text, "|---|---|---|---|---|---|---|");
    for (rows, seeds) in
        [("distinct", "sorted"), ("distinct", "shuffled"), ("records", "sorted"), ("records", "shuffled")]
    {
        for k in [3, 5, 8] {
            let ask = Ask { k, p: 0.8, d: 0.85, attributes: &[] };
            let mut runs: Vec<Run> = Vec::new();
            for (seed, n) in SAMPLES_B {
                let sample = if rows == "records" {
                    table.unfolded_sample(n, seed)?
                } else {
                    table.sample(n, seed)?
                };
                // A drawn order differs from run to run, so several are averaged.
                for _ in 0..if seeds == "shuffled" { 5 } else { 1 } {
                    runs.push(measure_in_order(&sample, &ask, "expc", false, seeds)?);
                }
            }
            put!(
                text,
                "| {rows} | {seeds} | {k} | {:.3} | {:.2} | {:.1} % | {:.1} % |",
                mean(&runs, |r| r.loss),
                mean(&runs, |r| r.group),
                100.0 * mean(&runs, |r| r.removed),
                100.0 * mean(&runs, |r| r.residues)
            );
        }
    }
    Ok(())
}
