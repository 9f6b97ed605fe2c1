//! The experiments of `wang2009`: what hiding outliers costs, by algorithm, and how that grows.
//!
//! One command makes everything: series A and B on the Adult table as an independent prototype ran them, a census-like
//! generated table of eight quasi-identifiers, a Markdown table "paper / prototype / here" and SVG plots.

/// Writes a line; writing into a string does not fail.
macro_rules! put {
    ($text:expr, $($line:tt)*) => {{
        use std::fmt::Write as _;
        let _ = writeln!($text, $($line)*);
    }};
}

mod causes;
mod full;
mod growth;
mod measure;
mod plots;
mod series;
mod table;
mod targets;

use std::path::{Path, PathBuf};

use causes::causes;
use full::full;
use growth::growth;
use plots::plots;
use series::{series_a, series_b};
use targets::targets;

/// Regenerates all tables and plots, and writes them to `out` as well as to standard output.
pub(crate) fn run_all(
    data: Option<PathBuf>,
    dir: &Path,
    most: u64,
    only: Option<&str>,
) -> Result<(), String> {
    let wants = |part: &str| only.is_none_or(|only| only.split(',').any(|name| name == part));
    let data = data.or_else(|| std::env::var_os("INCROWD_DATA").map(PathBuf::from));
    let data = data.unwrap_or_else(|| PathBuf::from("../shared/data"));
    std::fs::create_dir_all(dir).map_err(|e| e.to_string())?;
    let mut text = String::new();
    let adult = data.join("adult_arx.csv.gz");
    if adult.exists() {
        if wants("targets") {
            let (runs_b, runs_a) = (series_b(&data, &adult)?, series_a(&data, &adult)?);
            targets(&mut text, &runs_b, &runs_a, &data, &adult)?;
        }
        if wants("causes") {
            causes(&mut text, &data, &adult)?;
        }
        if wants("adult") {
            full(&mut text, &data, &adult)?;
        }
        if wants("plots") {
            plots(&data, &adult, dir)?;
        }
    } else {
        eprintln!("skipped: no adult_arx.csv.gz in {} (set INCROWD_DATA or use --data)", data.display());
    }
    if wants("growth") {
        growth(&mut text, dir, most)?;
    }
    println!("{text}");
    std::fs::write(dir.join("plain.md"), &text).map_err(|e| e.to_string())
}
