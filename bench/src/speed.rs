//! Speed as ratios: reading, anonymizing, writing and verifying against reading, parsing and
//! writing the same file.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;

use incrowd_synth::{Synth, Table};
use serde_json::{Value, json};

const SEED: u64 = 42;

/// A measurement with its name.
type Task<'a> = (String, Box<dyn Fn() -> Command + 'a>);

/// Larger tables are measured with `mondrian` only, because the other algorithms take minutes.
const MANY: u64 = 20_000_000;

/// Runs every task `rounds` times, interleaved, and prints medians and their ratio to a copy by
/// Polars, or by our own reader and writer without Polars: from CSV to CSV, then with Parquet.
pub(crate) fn run(
    rows: &[u64],
    rounds: usize,
    dir: &Path,
    python: Option<String>,
    only: Option<&str>,
) -> Result<(), String> {
    if let Some(other) = only.filter(|only| !["csv", "parquet"].contains(only)) {
        return Err(format!("--only is csv or parquet, not {other}"));
    }
    let wanted = |format: &str| only.is_none_or(|only| only == format);
    std::fs::create_dir_all(dir).map_err(|e| e.to_string())?;
    if python.is_none() {
        eprintln!("skipped: peers, and Parquet (no --python with polars and duckdb)");
    }
    let mut all = Vec::new();
    for &n in rows {
        let table = dir.join(format!("people-{n}"));
        make(&table, n)?;
        let people = table.join("people.csv");
        if wanted("csv") {
            all.push(beside_copies(n, rounds, &people, python.as_deref())?);
        }
        if let Some(python) = python.as_ref().filter(|_| wanted("parquet")) {
            let typed = table.join("people.parquet");
            if !typed.exists() {
                let partial = table.join("partial.parquet");
                measure(copy_by(python, "polars", &people, &partial))?;
                std::fs::rename(partial, &typed).map_err(|e| e.to_string())?;
            }
            all.push(beside_copies(n, rounds, &typed, Some(python))?);
        }
    }
    let file = dir.join("speed.json");
    std::fs::write(&file, format!("{:#}\n", Value::Array(all))).map_err(|e| e.to_string())?;
    println!("\nall figures: {}", file.display());
    Ok(())
}

/// A program that copies a file.
fn copy_by(python: &str, peer: &str, from: &Path, to: &Path) -> Command {
    let mut command = Command::new(python);
    command.args(["bench/peers.py", peer]).args([from, to]);
    command
}

/// Measures releases of one file against copies of it.
fn beside_copies(
    n: u64,
    rounds: usize,
    people: &Path,
    python: Option<&str>,
) -> Result<Value, String> {
    let extension = people.extension().unwrap_or_default();
    let own = |args: &[&str], paths: [&Path; 2]| {
        let mut command = Command::new(std::env::current_exe().unwrap_or_default());
        command.arg("task").args(args).args(paths);
        command
    };
    let to = people.with_file_name("out").with_extension(extension);
    let to = to.as_path();
    let mut tasks: Vec<Task<'_>> = Vec::new();
    for peer in ["polars", "duckdb"] {
        tasks.extend(python.map(|python| -> Task<'_> {
            (format!("{peer}: copy"), Box::new(move || copy_by(python, peer, people, to)))
        }));
    }
    if extension == "csv" {
        tasks.push(("incrowd: copy".into(), Box::new(|| own(&["copy"], [people, to]))));
    }
    for algorithm in ["mondrian", "auto"] {
        for columns in ["5", "9"].into_iter().filter(|_| n <= MANY || algorithm == "mondrian") {
            tasks.push((
                format!("incrowd: {algorithm}, {columns} QIs, k = 10"),
                Box::new(move || own(&["anonymize", columns, algorithm], [people, to])),
            ));
        }
    }
    let mut results: Vec<Vec<Value>> = vec![Vec::new(); tasks.len()];
    for round in 0..rounds {
        for (task, result) in tasks.iter().zip(&mut results) {
            eprintln!("{n} rows of {}, round {}: {}", extension.display(), round + 1, task.0);
            result.push(measure(task.1())?);
            std::fs::remove_file(to).map_err(|e| e.to_string())?;
        }
    }
    let names: Vec<&str> = tasks.iter().map(|(name, _)| name.as_str()).collect();
    report(n, people, &names, &results)
}

pub(crate) fn make(table: &Path, rows: u64) -> Result<(), String> {
    let people = table.join("people.csv");
    if people.exists() {
        return Ok(());
    }
    std::fs::create_dir_all(table).map_err(|e| e.to_string())?;
    let partial = table.join("people.partial");
    let mut out = BufWriter::new(File::create(&partial).map_err(|e| e.to_string())?);
    Synth::new(Table::Census, rows, SEED).write_csv(&mut out).map_err(|e| e.to_string())?;
    drop(out);
    std::fs::rename(partial, people).map_err(|e| e.to_string())
}

fn measure(mut command: Command) -> Result<Value, String> {
    let output = command.output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.trim()).map_err(|e| format!("{e}: {text}"))
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn report(
    rows: u64,
    people: &Path,
    names: &[&str],
    results: &[Vec<Value>],
) -> Result<Value, String> {
    let mib = std::fs::metadata(people).map_err(|e| e.to_string())?.len() >> 20;
    let format = if people.extension().is_some_and(|e| e == "csv") { "CSV" } else { "Parquet" };
    println!("\n{rows} rows, {mib} MiB of {format} (median of {} rounds)\n", results[0].len());
    println!("| task | seconds | ratio to the first | peak MiB | where the time goes |");
    println!("|---|---|---|---|---|");
    let seconds = |i: usize| median(results[i].iter().filter_map(|r| r["seconds"].as_f64()));
    let mut tasks = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let peak = results[i].iter().filter_map(|r| r["peak_mib"].as_u64()).max();
        let steps: Vec<String> = results[i][0]["steps"].as_object().map_or(Vec::new(), |steps| {
            let share =
                |step: &String| median(results[i].iter().filter_map(|r| r["steps"][step].as_f64()));
            steps.keys().map(|step| format!("{step} {:.2}", share(step))).collect()
        });
        let ratio = seconds(i) / seconds(0);
        let peak = peak.map_or_else(|| "?".to_owned(), |p| p.to_string());
        println!("| {name} | {:.2} | {ratio:.2} | {peak} | {} |", seconds(i), steps.join(", "));
        tasks.push(
            json!({ "task": name, "seconds": seconds(i), "ratio": ratio, "runs": results[i] }),
        );
    }
    Ok(json!({ "rows": rows, "format": format, "mib": mib, "tasks": tasks }))
}
