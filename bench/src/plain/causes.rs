//! Influences on the figures of series B other than the algorithm: k, the order of seeds, whether
//! equal records stay together, and the effect of residues on groups.

use std::path::Path;

use super::measure::{Ask, Run, mean, measure, measure_in_order};
use super::series::SAMPLES_B;
use super::table::{SERIES_B, adult_table};

/// Prints ExpC's means over the samples of series B, by k and by settings, and the three algorithms
/// of P1, P4 and P7.
pub(super) fn causes(text: &mut String, data: &Path, path: &Path) -> Result<(), String> {
    let table = adult_table(data, path, &SERIES_B, "occupation")?;
    put!(
        text,
        "\n### What the figures of series B depend on (means over {} samples)\n",
        SAMPLES_B.len()
    );
    put!(
        text,
        "| algorithm | rows | seeds | k | loss | average group | before residues joined | left out | residues | of these at a dead corner |"
    );
    put!(text, "|---|---|---|---|---|---|---|---|---|---|");
    for (method, rows, seeds) in [
        ("expc", "distinct", "sorted"),
        ("gnof", "distinct", "sorted"),
        ("gof", "distinct", "sorted"),
        ("expc", "distinct", "shuffled"),
        ("expc", "records", "sorted"),
    ] {
        for k in [3, 5, 8] {
            let ask = Ask { k, p: 0.8, d: 0.85, attributes: &[] };
            let mut runs: Vec<Run> = Vec::new();
            for (seed, n) in SAMPLES_B {
                let sample = if rows == "records" {
                    table.unfolded_sample(n, seed)?
                } else {
                    table.sample(n, seed)?
                };
                if seeds == "sorted" {
                    runs.push(measure(&sample, &ask, method, false)?);
                    continue;
                }
                // A drawn order differs from run to run, so several are averaged.
                for _ in 0..3 {
                    runs.push(measure_in_order(&sample, &ask, method, false, seeds)?);
                }
            }
            put!(
                text,
                "| {method} | {rows} | {seeds} | {k} | {:.3} | {:.2} | {:.2} | {:.1} % | {:.1} % | {:.0} % |",
                mean(&runs, |r| r.loss),
                mean(&runs, |r| r.group),
                mean(&runs, |r| r.grown),
                100.0 * mean(&runs, |r| r.removed),
                100.0 * mean(&runs, |r| r.residues),
                100.0 * mean(&runs, |r| r.dead_ends)
            );
        }
    }
    Ok(())
}
