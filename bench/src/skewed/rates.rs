//! Suppressed shares of each method, as a row of a table or a point of a plot.

use incrowd::front_end::recode::suppression::levels::{safe_stop, stop};
use incrowd::front_end::recode::suppression::{Rule, Way};

use super::Options;
use crate::chart::{Chart, Line};

/// Suppressed shares: unsafe, R-suppression as in the paper, R-suppression with complete levels,
/// safe.
pub(super) type Rates = [f64; 4];
pub(super) const METHODS: [&str; 4] =
    ["unsafe-d", "r-suppression (paper)", "r-suppression", "safe-d"];

/// Returns `None` if the counts, in descending order, are l-eligible.
pub(super) fn rates(counts: &[u64], l: u64) -> Option<Rates> {
    let n: u64 = counts.iter().sum();
    if counts[0] * l <= n || l > counts.len() as u64 {
        return None;
    }
    let r = |complete_level| Rule { way: Way::Random, l, complete_level }.expected(counts);
    let all = [stop(counts, n, l).cuts as f64, r(false), r(true), safe_stop(counts, l).cuts as f64];
    Some(all.map(|withheld| withheld / n as f64))
}

pub(super) fn percent(x: f64) -> String {
    format!("{:.1}", 100.0 * x)
}

pub(super) fn row(label: &str, rates: Option<Rates>) {
    match rates {
        Some(rates) => println!("| {label} | {} |", rates.map(percent).join(" | ")),
        None => println!("| {label} | eligible | eligible | eligible | eligible |"),
    }
}

pub(super) fn header(first: &str) {
    println!("| {first} | {} |\n|---|---|---|---|---|", METHODS.join(" | "));
}

pub(super) fn plot(
    options: &Options,
    name: &str,
    x: &str,
    labels: &[String],
    all: &[Option<Rates>],
) -> Result<(), String> {
    let Some(directory) = &options.svg else { return Ok(()) };
    std::fs::create_dir_all(directory).map_err(|e| e.to_string())?;
    let line = |i: usize, name: &str| {
        let at = |(label, rates): (&String, &Option<Rates>)| {
            let x = label.trim_end_matches([' ', '%']).parse().ok()?;
            Some((x, rates.map_or(0.0, |rates| 100.0 * rates[i])))
        };
        Line { name: name.to_owned(), points: labels.iter().zip(all).filter_map(at).collect() }
    };
    let lines = vec![line(0, "unsafe-d"), line(2, "r-suppression"), line(3, "safe-d")];
    let chart = Chart { x: x.to_owned(), y: "withheld, %".to_owned(), lines };
    let file = directory.join(format!("{name}.svg"));
    std::fs::write(&file, chart.svg()).map_err(|e| e.to_string())?;
    println!("\nplot: {}", file.display());
    Ok(())
}
