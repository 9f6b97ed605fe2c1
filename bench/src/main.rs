//! Benchmarks anyone can run. Speed is a ratio to copying the same file in the same run; information loss is measured on
//! real tables. See `bench/README.md`.

mod chart;
mod lattice;
mod loss;
mod plain;
mod profile;
mod speed;
mod task;

use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
usage: incrowd-bench speed [--rows 1000000,10000000] [--rounds 3] [--dir DIR] [--python PYTHON]
       incrowd-bench loss  [--data DIR]
       incrowd-bench profile [--rows 1000000] [--rounds 3] [--dir DIR]
       incrowd-bench lattice [--rows 1000000] [--rounds 3] [--dir DIR] [--data DIR]
       incrowd-bench plain [--rows 500000] [--dir DIR] [--data DIR] [--only targets,adult,plots,growth]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| args.iter().position(|a| a == name).and_then(|i| args.get(i + 1)).cloned();
    let outcome = match args.first().map(String::as_str) {
        Some("speed") => {
            let rows = option("--rows").unwrap_or_else(|| "1000000,10000000".to_owned());
            let rows: Result<Vec<u64>, _> = rows.split(',').map(str::parse).collect();
            let rounds = option("--rounds").map_or(Ok(3), |n| n.parse());
            let dir = option("--dir").map_or_else(|| PathBuf::from("bench/out"), PathBuf::from);
            match (rows, rounds) {
                (Ok(rows), Ok(rounds)) => speed::run(&rows, rounds, &dir, option("--python")),
                _ => Err(USAGE.to_owned()),
            }
        }
        Some("loss") => loss::run(option("--data").map(PathBuf::from)),
        Some("profile") => {
            let rows = option("--rows").map_or(Ok(1_000_000), |n| n.parse());
            let rounds = option("--rounds").map_or(Ok(3), |n| n.parse());
            let dir = option("--dir").map_or_else(|| PathBuf::from("bench/out"), PathBuf::from);
            match (rows, rounds) {
                (Ok(rows), Ok(rounds)) => profile::run(rows, rounds, &dir),
                _ => Err(USAGE.to_owned()),
            }
        }
        Some("lattice") => {
            let rows = option("--rows").map_or(Ok(1_000_000), |n| n.parse());
            let rounds = option("--rounds").map_or(Ok(3), |n| n.parse());
            let dir = option("--dir").map_or_else(|| PathBuf::from("bench/out"), PathBuf::from);
            match (rows, rounds) {
                (Ok(rows), Ok(rounds)) => {
                    lattice::run(rows, rounds, &dir, option("--data").map(PathBuf::from))
                }
                _ => Err(USAGE.to_owned()),
            }
        }
        Some("plain") => {
            let rows = option("--rows").map_or(Ok(500_000), |n| n.parse());
            let dir = option("--dir").map_or_else(|| PathBuf::from("bench/out"), PathBuf::from);
            rows.map_err(|_| USAGE.to_owned()).and_then(|rows| {
                plain::run_all(option("--data").map(PathBuf::from), &dir, rows, option("--only").as_deref())
            })
        }
        // A single measurement in a process of its own, so that its peak memory is its own.
        Some("task") => task::run(&args[1..]),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
