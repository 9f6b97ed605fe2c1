//! Information loss and processor time against tools from PyPI: same table, same scorer, same run.

use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

use crate::lattice::processor_seconds;
use crate::least::{FIVE, FREE};
use crate::release::Task;

/// Prints a table for every comparison. `mdav` adds the peer's microaggregation, which takes many
/// minutes.
pub(crate) fn run(data: &Path, python: Option<String>, mdav: bool) -> Result<(), String> {
    let adult = data.join("adult_arx.csv.gz");
    let Some(python) = python.filter(|_| adult.exists()) else {
        eprintln!(
            "skipped: peers need --python with anonypy, anonypyx and anjana, and adult_arx.csv.gz in INCROWD_DATA or --data"
        );
        return Ok(());
    };
    let out = std::env::temp_dir().join(format!("incrowd-peers-{}", std::process::id()));
    std::fs::create_dir_all(&out).map_err(|e| e.to_string())?;
    let trees = data.join("hierarchies");
    let free =
        Task { file: adult, quasi: FREE.to_vec(), hierarchies: None, sensitive: None, ncp: true };
    let tools: &[&str] =
        if mdav { &["anonypy", "anonypyx", "anonypyx-mdav"] } else { &["anonypy", "anonypyx"] };
    let five = Task {
        quasi: FIVE.to_vec(),
        hierarchies: Some((&trees, "adult")),
        ncp: false,
        ..free.clone()
    };
    let result = compare(&free, "NCP, free intervals and sets", tools, &python, &trees, &out)
        .and_then(|()| {
            compare(
                &five,
                "information loss, along the public hierarchies",
                &["anjana"],
                &python,
                &trees,
                &out,
            )
        });
    std::fs::remove_dir_all(&out).ok();
    result
}

fn compare(
    task: &Task<'_>,
    what: &str,
    tools: &[&str],
    python: &str,
    trees: &Path,
    out: &Path,
) -> Result<(), String> {
    println!(
        "\nAdult, 30,162 records, {} QIs: {}; {what}\n",
        task.quasi.len(),
        task.quasi.join(", ")
    );
    println!("| tool | k | loss | groups | processor seconds | of the slowest here |");
    println!("|---|---|---|---|---|---|");
    for k in [5, 10, 50] {
        let mut lines: Vec<(String, Scored, f64)> = Vec::new();
        for tool in tools {
            let file = out.join("peer.csv");
            let output = Command::new(python)
                .arg("bench/peer_release.py")
                .args([
                    tool.to_string(),
                    task.file.display().to_string(),
                    trees.display().to_string(),
                ])
                .args([task.quasi.join(","), k.to_string(), file.display().to_string()])
                .output()
                .map_err(|e| e.to_string())?;
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).into_owned());
            }
            let answer: Json = serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
            let name = format!("{tool} {}", answer["version"].as_str().unwrap_or_default());
            let seconds = answer["processor_seconds"].as_f64().unwrap_or(f64::NAN);
            lines.push((name, score(task, &file)?, seconds));
        }
        let table = task.load()?;
        let own = [
            ("mondrian", None),
            ("ascent", Some("fast")),
            ("ascent", Some("balanced")),
            ("ascent", Some("best")),
        ];
        for (algorithm, effort) in own {
            let mut params: Vec<(&str, &str)> = effort.map(|e| ("effort", e)).into_iter().collect();
            if effort.is_some() {
                params.push(("metric", task.metric()));
            }
            let spent = processor_seconds();
            task.release(out, k, algorithm, &params)?;
            let whole = processor_seconds() - spent;
            let seconds = task.divide(&table, k, algorithm, &params)?;
            let name = format!(
                "incrowd {algorithm} {} (whole job {whole:.2} s)",
                effort.unwrap_or_default()
            );
            lines.push((name, score(task, &out.join("release.csv"))?, seconds));
        }
        let slowest = lines.iter().map(|line| line.2).fold(0.0, f64::max);
        for (name, scored, seconds) in lines {
            println!(
                "| {name} | {k} | {:.4} | {} | {seconds:.3} | 1/{:.0} |",
                scored.loss,
                scored.groups,
                slowest / seconds
            );
        }
    }
    Ok(())
}

pub(crate) struct Scored {
    pub(crate) loss: f64,
    groups: u64,
}

/// Measures the loss of a release from its file.
pub(crate) fn score(task: &Task<'_>, release: &Path) -> Result<Scored, String> {
    let job = task.job()?;
    let judging = incrowd::Judging {
        release: incrowd::job::Table::file(release),
        ..incrowd::Judging::of(&job)
    };
    let measured = judging.measure(None).map_err(|e| e.to_string())?;
    let json = measured.to_json();
    let name = if task.ncp { "ncp" } else { "information_loss_per_column" };
    let loss = json["metrics"][name].as_f64().ok_or_else(|| format!("no {name} was measured"))?;
    Ok(Scored { loss, groups: json["metrics"]["groups"].as_f64().unwrap_or_default() as u64 })
}
