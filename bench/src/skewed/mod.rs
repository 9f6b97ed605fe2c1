//! The experiments of `xu2010`: suppressed records of each method on Zipf tables and on samples of
//! Adult, next to the paper's figures; the knowledge of an adversary; and the time of the step.

mod adult;
mod adversary;
mod rates;
mod speed;
mod zipf;

use std::path::PathBuf;

pub(crate) use speed::task;

/// The parts to run.
pub(crate) struct Options {
    samples: u32,
    rows: u64,
    rounds: usize,
    dir: PathBuf,
    svg: Option<PathBuf>,
    data: PathBuf,
}

impl Options {
    pub(crate) fn new(option: impl Fn(&str) -> Option<String>) -> Result<Options, String> {
        let number = |name: &str, usual: u64| {
            option(name)
                .map_or(Ok(usual), |n| n.parse().map_err(|_| format!("{name} takes a number")))
        };
        Ok(Options {
            samples: number("--samples", 3_000)? as u32,
            rows: number("--rows", 0)?,
            rounds: number("--rounds", 3)? as usize,
            dir: option("--dir").map_or_else(|| PathBuf::from("bench/out"), PathBuf::from),
            svg: option("--svg").map(PathBuf::from),
            data: option("--data").map_or_else(incrowd_testing::data_dir, PathBuf::from),
        })
    }
}

/// Prints everything, and writes plots if there is a directory for them.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    zipf::examples();
    zipf::by_alpha(options)?;
    zipf::by_l(options)?;
    adult::samples(options)?;
    adversary::posteriors();
    adversary::again();
    if options.rows > 0 { speed::compare(options) } else { Ok(()) }
}
