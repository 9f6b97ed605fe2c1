//! Samples of Adult, whose occupations are skewed only in small samples.

use std::path::Path;

use incrowd::{Embedded, Engine, FoldSpec, Options as Reading, Silent};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Options;
use super::rates::{METHODS, Rates, percent, plot, rates};

/// Returns the occupations of all complete records of Adult.
fn occupations(data: &Path) -> Result<Vec<u32>, String> {
    let path = data.join("adult_arx.csv.gz");
    if !path.exists() {
        return Err(format!(
            "skipped: no adult_arx.csv.gz in {} (set INCROWD_DATA or use --data)",
            data.display()
        ));
    }
    let mut engine = Embedded::open(&[path], &Reading::default()).map_err(|e| e.to_string())?;
    let spec = FoldSpec {
        columns: vec!["occupation".to_owned()],
        missing: vec![String::new(), "?".to_owned()],
        drop_missing: true,
        passthrough: Vec::new(),
        ..FoldSpec::default()
    };
    let folded = engine.fold(&spec, &Silent).map_err(|e| e.to_string())?;
    let mut counts: Vec<(String, u64)> = folded
        .canonical()
        .into_iter()
        .map(|(cells, n)| (cells[0].unwrap_or_default().to_owned(), n))
        .collect();
    counts.sort();
    let all = counts.iter().enumerate();
    Ok(all.flat_map(|(value, (_, n))| std::iter::repeat_n(value as u32, *n as usize)).collect())
}

fn sorted_counts(values: &[u32]) -> Vec<u64> {
    let mut counts = vec![0; values.iter().max().map_or(0, |&v| v as usize + 1)];
    values.iter().for_each(|&value| counts[value as usize] += 1);
    counts.retain(|&count| count > 0);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts
}

/// Returns the share of samples that are not eligible, and the average number of suppressed records
/// over all samples: none for eligible ones.
fn sampled(everybody: &[u32], share: f64, l: u64, samples: u32, seed: u64) -> (f64, Option<Rates>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let size = (everybody.len() as f64 * share).round() as usize;
    let mut people = everybody.to_vec();
    let (mut violating, mut sums) = (0u32, [0.0; 4]);
    for _ in 0..samples {
        let (sample, _) = people.partial_shuffle(&mut rng, size);
        if let Some(rates) = rates(&sorted_counts(sample), l) {
            violating += 1;
            sums.iter_mut().zip(rates).for_each(|(sum, rate)| *sum += rate);
        }
    }
    let mean = (violating > 0).then(|| sums.map(|sum| sum / f64::from(samples)));
    (f64::from(violating) / f64::from(samples), mean)
}

pub(super) fn samples(options: &Options) -> Result<(), String> {
    let everybody = match occupations(&options.data) {
        Ok(everybody) => everybody,
        Err(skipped) => {
            println!("\n{skipped}");
            return Ok(());
        }
    };
    let counts = sorted_counts(&everybody);
    let n = everybody.len() as u64;
    println!("\n### Adult, occupation (R6)\n\n| what | paper | ours |\n|---|---|---|");
    println!("| records | 30,162 | {n} |\n| values | 14 | {} |", counts.len());
    println!("| most frequent, % | 13.4 | {} |", percent(counts[0] as f64 / n as f64));
    let largest = (1..=counts.len() as u64).rev().find(|&l| counts[0] * l <= n).unwrap_or(0);
    println!(
        "| eligible for l = 6 | yes | {} (up to l = {largest}) |",
        if largest >= 6 { "yes" } else { "no" }
    );
    let samples = options.samples;
    println!("\n### Samples of Adult: {samples} of each kind, without replacement (R7, R8, R9)\n");
    println!(
        "Paper, samples of 0.5 % and l = 6: about 40 % violate eligibility; R-suppression withholds less than 3 %, almost as \
         little as Unsafe, Safe more than 10 %. More violations for smaller samples and larger l. \
         Ours: withheld, %, on average over all samples, of which eligible ones lose nothing.\n"
    );
    println!(
        "| sample | l | violate, % | {} |\n|---|---|---|---|---|---|---|",
        METHODS.join(" | ")
    );
    let mut lines: Vec<(String, Option<Rates>)> = Vec::new();
    let kinds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05]
        .map(|share| (share, 6))
        .into_iter()
        .chain([(0.005, 7), (0.01, 7)]);
    for (i, (share, l)) in kinds.enumerate() {
        let (violating, mean) = sampled(&everybody, share, l, samples, 100 + i as u64);
        let cells = mean.map_or_else(|| ["-"; 4].map(str::to_owned), |rates| rates.map(percent));
        println!("| {} % | {l} | {} | {} |", 100.0 * share, percent(violating), cells.join(" | "));
        if l == 6 {
            lines.push((format!("{} %", 100.0 * share), mean));
        }
    }
    let (labels, all): (Vec<String>, Vec<Option<Rates>>) = lines.into_iter().unzip();
    plot(options, "skewed-samples", "sample of Adult, l = 6", &labels, &all)?;
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let (mut tables, mut below, mut dearer) = (0u32, 0u32, 0u32);
    while tables < 10_000 {
        let values = rng.random_range(3..7);
        let mut counts: Vec<u64> = (0..values).map(|_| rng.random_range(1..30)).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        if let Some(rates) = rates(&counts, rng.random_range(2..=values)) {
            tables += 1;
            below += u32::from(rates[1] < rates[0] - 1e-12);
            dearer += u32::from(rates[1] > rates[3] + 1e-12);
        }
    }
    println!(
        "\nR10. Paper: Unsafe ≤ R-suppression always, and R-suppression well below Safe. Of {tables} random tables R-suppression \
         withholds less than Unsafe on average in {below} and more than Safe in {dearer}."
    );
    Ok(())
}
