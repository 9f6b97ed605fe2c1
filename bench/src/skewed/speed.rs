//! The time of the suppression step.
//!
//! Three runs are compared. *With*: the whole table with the step. *Left*: the same table in which
//! the disease is missing for as many people as the step suppresses, so that they are read and then
//! dropped; the others are published with the same models without the step. The difference to the
//! first run is the time of the step and of computing the adversary's knowledge. *Without*: the
//! whole table without suppression and with a weaker model, because it satisfies no other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use incrowd::Value;
use incrowd::job::SuppressionJob;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use super::Options;
use crate::speed::make;
use crate::task::{FIVE, Steps, job};

const TASKS: [&str; 3] = ["left", "with", "without"];
const SENSITIVE: &str = "disease";

/// Measures publishing with and without the step, alternately, in separate processes.
pub(super) fn compare(options: &Options) -> Result<(), String> {
    let table = options.dir.join(format!("people-{}", options.rows));
    make(&table, options.rows)?;
    let withheld = run("with", &table)?["withheld"].as_u64().unwrap_or(0);
    let left = leave(&table, &release(&table, "with"))?;
    let mut answers: [Vec<serde_json::Value>; 3] = Default::default();
    for _ in 0..options.rounds.max(1) {
        for (task, answers) in TASKS.iter().zip(&mut answers) {
            answers.push(run(task, if *task == "left" { &left } else { &table })?);
        }
    }
    for (task, from) in TASKS.iter().zip([&left, &table, &table]) {
        std::fs::remove_file(release(from, task)).ok();
        std::fs::remove_file(release(from, task).with_extension("release.json")).ok();
    }
    let median = |answers: &[serde_json::Value], of: &dyn Fn(&serde_json::Value) -> f64| {
        let mut all: Vec<f64> = answers.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let seconds = |answer: &serde_json::Value| answer["seconds"].as_f64().unwrap_or(f64::NAN);
    let step = |answer: &serde_json::Value| {
        answer["steps"]["suppressing records"].as_f64().unwrap_or(f64::NAN)
    };
    let [left, with, without] = &answers;
    let base = median(left, &seconds);
    println!(
        "\n### Time, {} rows, mondrian, k = 10, five quasi-identifiers with hierarchies (median of {} rounds, in turns)\n",
        options.rows, options.rounds
    );
    println!("| run | records published | release, MB | seconds | ratio |\n|---|---|---|---|---|");
    let row = |what: &str, answers: &[serde_json::Value], seconds: f64| {
        let (records, bytes) =
            (&answers[0]["published"], answers[0]["bytes"].as_f64().unwrap_or(f64::NAN) / 1e6);
        println!("| {what} | {records} | {bytes:.0} | {seconds:.2} | {:.2} |", seconds / base);
    };
    row(
        "the whole table without the step, as many records dropped for a missing value; the same models",
        left,
        base,
    );
    row(
        &format!("the whole table with r-suppression:l=2, {withheld} records withheld"),
        with,
        median(with, &seconds),
    );
    println!(
        "| of that, the step itself | | | {:.2} | {:.2} |",
        median(with, &step),
        median(with, &step) / base
    );
    row(
        "the whole table, nothing withheld; 2 different values instead of no value above one in 2",
        without,
        median(without, &seconds),
    );
    println!(
        "\nWith the step against the whole table without it: {:.2}.",
        median(with, &seconds) / median(without, &seconds)
    );
    Ok(())
}

fn run(task: &str, table: &Path) -> Result<serde_json::Value, String> {
    let mut command = Command::new(std::env::current_exe().map_err(|e| e.to_string())?);
    let output =
        command.args(["skewed-task", task]).arg(table).output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())
}

fn release(table: &Path, task: &str) -> PathBuf {
    table.join(format!("skewed-{task}.csv"))
}

/// Writes a table in which each value has as many records as in the release; the value is missing
/// in the others.
fn leave(table: &Path, release: &Path) -> Result<PathBuf, String> {
    let text = |e: csv::Error| e.to_string();
    let column = |reader: &mut csv::Reader<std::fs::File>| -> Result<usize, String> {
        let header = reader.headers().map_err(text)?;
        header
            .iter()
            .position(|name| name == SENSITIVE)
            .ok_or_else(|| format!("there is no {SENSITIVE}"))
    };
    let counts = |path: &Path| -> Result<BTreeMap<String, u64>, String> {
        let mut reader = csv::Reader::from_path(path).map_err(text)?;
        let (at, mut counts) = (column(&mut reader)?, BTreeMap::new());
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(text)? {
            match counts.get_mut(&record[at]) {
                Some(count) => *count += 1,
                None => drop(counts.insert(record[at].to_owned(), 1u64)),
            }
        }
        Ok(counts)
    };
    let whole = table.join("people.csv");
    let (mut all, mut wanted) = (counts(&whole)?, counts(release)?);
    let left = PathBuf::from(format!("{}-left", table.display()));
    std::fs::create_dir_all(&left).map_err(|e| e.to_string())?;
    let mut reader = csv::Reader::from_path(&whole).map_err(text)?;
    let at = column(&mut reader)?;
    let mut writer = csv::Writer::from_path(left.join("people.csv")).map_err(text)?;
    writer.write_record(reader.headers().map_err(text)?).map_err(text)?;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(text)? {
        let (Some(all), Some(wanted)) = (all.get_mut(&record[at]), wanted.get_mut(&record[at]))
        else {
            continue;
        };
        let stays = rng.random_range(0..*all) < *wanted;
        *all -= 1;
        *wanted -= u64::from(stays);
        let cells =
            record.iter().enumerate().map(|(i, cell)| if i == at && !stays { "" } else { cell });
        writer.write_record(cells).map_err(text)?;
    }
    writer.flush().map_err(|e| e.to_string())?;
    Ok(left)
}

/// One measured run: its name, and the directory of the table.
pub(crate) fn task(args: &[String]) -> Result<(), String> {
    let [kind, dir] = args else { return Err("unknown task".to_owned()) };
    let to = release(Path::new(dir), kind);
    let mut job = job(Path::new(dir), FIVE, &to);
    let mut diversity = vec![("l", Value::Integer(2))];
    if kind != "without" {
        diversity.push(("kind", Value::Word("frequency".to_owned())));
    }
    job.add_model("l-diversity", diversity);
    if kind == "with" {
        job.suppression = Some(SuppressionJob {
            name: "r-suppression".to_owned(),
            params: vec![("l".to_owned(), Value::Integer(2))],
            seed: Some(1),
            ..SuppressionJob::default()
        });
    }
    let steps = Steps::default();
    let began = Instant::now();
    let report =
        incrowd::Anonymizer::new(&job).progress(&steps).run().map_err(|e| e.to_string())?;
    let seconds = began.elapsed().as_secs_f64();
    let bytes = std::fs::metadata(&to).map_err(|e| e.to_string())?.len();
    println!(
        "{}",
        json!({
            "seconds": seconds,
            "steps": steps.taken(),
            "withheld": report.suppression.map(|step| step.suppressed),
            "published": report.records.published,
            "bytes": bytes,
        })
    );
    Ok(())
}
