//! The experiments of `wang2009`: the loss of hiding outliers, by algorithm, and its growth.
//!
//! One command runs everything: series A and B on the Adult table as an independent prototype ran
//! them, a census-like generated table of eight quasi-identifiers, a Markdown table "paper /
//! prototype / here" and SVG plots.

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

use std::path::Path;

use causes::causes;
use full::full;
use growth::growth;
use plots::plots;
use series::{series_a, series_b};
use targets::targets;

/// A section: its name, whether it needs the Adult table, and the function that writes it.
type Chapter<'a> = (&'a str, bool, &'a dyn Fn(&mut String) -> Result<(), String>);

/// Regenerates all tables and plots, and writes them to `dir` as well as to standard output.
pub(crate) fn run_all(
    data: &Path,
    dir: &Path,
    most: u64,
    only: Option<&str>,
) -> Result<(), String> {
    let wants = |part: &str| only.is_none_or(|only| only.split(',').any(|name| name == part));
    std::fs::create_dir_all(dir).map_err(|e| e.to_string())?;
    let adult = data.join("adult_arx.csv.gz");
    let parts: [Chapter<'_>; 5] = [
        ("targets", true, &|text| {
            let (runs_b, runs_a) = (series_b(data, &adult)?, series_a(data, &adult)?);
            targets(text, &runs_b, &runs_a, data, &adult)
        }),
        ("causes", true, &|text| causes(text, data, &adult)),
        ("adult", true, &|text| full(text, data, &adult)),
        ("plots", true, &|_| plots(data, &adult, dir)),
        ("growth", false, &|text| growth(text, dir, most)),
    ];
    let mut all = String::new();
    for (name, on_adult, part) in parts.into_iter().filter(|part| wants(part.0)) {
        if on_adult && !adult.exists() {
            eprintln!(
                "skipped {name}: no adult_arx.csv.gz in {} (set INCROWD_DATA or use --data)",
                data.display()
            );
            continue;
        }
        // Each section is printed and stored at once, because some take long.
        let mut text = String::new();
        part(&mut text)?;
        println!("{text}");
        all += &text;
        std::fs::write(dir.join("plain.md"), &all).map_err(|e| e.to_string())?;
    }
    Ok(())
}
