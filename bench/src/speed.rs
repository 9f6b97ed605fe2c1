//! Speed as ratios: read, anonymize, write and verify against reading, parsing and writing the same file.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;

use incrowd_synth::{Synth, Table};
use serde_json::{Value, json};

const SEED: u64 = 42;

/// Runs every task `rounds` times, interleaved, and prints medians and their ratio to the copy.
pub(crate) fn run(rows: &[u64], rounds: usize, dir: &Path, python: Option<String>) -> Result<(), String> {
    std::fs::create_dir_all(dir).map_err(|e| e.to_string())?;
    let mut all = Vec::new();
    for &n in rows {
        let table = dir.join(format!("people-{n}"));
        make(&table, n)?;
        let people = table.join("people.csv");
        let out = |name: &str| table.join(name).display().to_string();
        let own = |args: &[&str]| {
            let mut command = Command::new(std::env::current_exe().unwrap_or_default());
            command.arg("task").args(args);
            command
        };
        let dir_text = table.display().to_string();
        let people_text = people.display().to_string();
        let mut tasks: Vec<(String, Box<dyn Fn() -> Command + '_>)> =
            vec![("incrowd: copy".into(), Box::new(|| own(&["copy", &people_text, &out("copy.csv")])))];
        for algorithm in ["mondrian", "auto"] {
            for columns in ["5", "9"] {
                let (own, dir, to) = (&own, &dir_text, out("release.csv"));
                tasks.push((
                    format!("incrowd: {algorithm}, {columns} QIs, k = 10"),
                    Box::new(move || own(&["anonymize", columns, algorithm, dir, &to])),
                ));
            }
        }
        if let Some(python) = &python {
            for peer in ["polars", "duckdb"] {
                let to = out("peer.csv");
                let people = people_text.clone();
                tasks.push((
                    format!("{peer}: copy"),
                    Box::new(move || {
                        let mut command = Command::new(python);
                        command.args(["bench/peers.py", peer, &people, &to]);
                        command
                    }),
                ));
            }
        } else {
            eprintln!("skipped: peers (no --python with polars and duckdb)");
        }
        let mut results: Vec<Vec<Value>> = vec![Vec::new(); tasks.len()];
        for round in 0..rounds {
            for (task, result) in tasks.iter().zip(&mut results) {
                eprintln!("{n} rows, round {}: {}", round + 1, task.0);
                result.push(measure(task.1())?);
            }
        }
        let names: Vec<&str> = tasks.iter().map(|(name, _)| name.as_str()).collect();
        all.push(report(n, &people, &names, &results)?);
        for file in ["copy.csv", "release.csv", "peer.csv"] {
            std::fs::remove_file(table.join(file)).ok();
        }
    }
    let file = dir.join("speed.json");
    std::fs::write(&file, format!("{:#}\n", Value::Array(all))).map_err(|e| e.to_string())?;
    println!("\nall figures: {}", file.display());
    Ok(())
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

fn report(rows: u64, people: &Path, names: &[&str], results: &[Vec<Value>]) -> Result<Value, String> {
    let mib = std::fs::metadata(people).map_err(|e| e.to_string())?.len() >> 20;
    println!("\n{rows} rows, {mib} MiB of CSV (median of {} rounds)\n", results[0].len());
    println!("| task | seconds | ratio to our copy | peak MiB | where the time goes |");
    println!("|---|---|---|---|---|");
    let seconds = |i: usize| median(results[i].iter().filter_map(|r| r["seconds"].as_f64()));
    let mut tasks = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let peak = results[i].iter().filter_map(|r| r["peak_mib"].as_u64()).max();
        let steps: Vec<String> = results[i][0]["steps"].as_object().map_or(Vec::new(), |steps| {
            let share = |step: &String| median(results[i].iter().filter_map(|r| r["steps"][step].as_f64()));
            steps.keys().map(|step| format!("{step} {:.2}", share(step))).collect()
        });
        let ratio = seconds(i) / seconds(0);
        let peak = peak.map_or_else(|| "?".to_owned(), |p| p.to_string());
        println!("| {name} | {:.2} | {ratio:.2} | {peak} | {} |", seconds(i), steps.join(", "));
        tasks.push(json!({ "task": name, "seconds": seconds(i), "ratio": ratio, "runs": results[i] }));
    }
    Ok(json!({ "rows": rows, "mib": mib, "tasks": tasks }))
}
