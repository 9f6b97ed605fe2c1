//! Time and memory against records, distinct rows, columns, k and sensitive values, each with the
//! fitted exponent.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use incrowd::Value;
use incrowd::job::{Job, RoleName};
use serde_json::{Value as Json, json};

use crate::speed::make;
use crate::task::peak_mib;

/// Quasi-identifiers of the generated census table; a prefix of the list is used.
const TWELVE: &[&str] = &[
    "age",
    "sex",
    "zip",
    "education",
    "marital_status",
    "workclass",
    "country",
    "race",
    "hours",
    "household_size",
    "occupation",
    "income",
];

/// The parameters of one run.
#[derive(Clone)]
struct Point {
    file: PathBuf,
    columns: usize,
    k: u64,
    sensitive: Option<String>,
    algorithm: &'static str,
}

/// Prints every profile, for both algorithms.
pub(crate) fn run(rows: u64, dir: &Path) -> Result<(), String> {
    let people = |rows: u64| -> Result<PathBuf, String> {
        let table = dir.join(format!("people-{rows}"));
        make(&table, rows)?;
        Ok(table.join("people.csv"))
    };
    let middle = rows.min(1_000_000);
    let file = people(middle)?;
    for algorithm in ["mondrian", "ascent"] {
        let point = Point { file: file.clone(), columns: 6, k: 10, sensitive: None, algorithm };
        let mut sizes = Vec::new();
        for rows in [10_000, 100_000, 1_000_000, 10_000_000].into_iter().filter(|n| *n <= rows) {
            sizes.push((rows, Point { file: people(rows)?, ..point.clone() }));
        }
        profile(algorithm, "records", &sizes)?;
        let mut folded = Vec::new();
        for distinct in [1_000, 10_000, 100_000, 1_000_000].into_iter().filter(|n| *n <= middle) {
            let file = dir.join(format!("repeated-{distinct}-{middle}.csv"));
            repeat(&point.file, &file, distinct, middle)?;
            folded.push((distinct, Point { file, ..point.clone() }));
        }
        profile(algorithm, &format!("different records among {middle}"), &folded)?;
        let columns: Vec<(u64, Point)> = [2, 4, 6, 8, 10, 12]
            .map(|n| (n, Point { columns: n as usize, ..point.clone() }))
            .to_vec();
        profile(algorithm, &format!("quasi-identifiers, {middle} records"), &columns)?;
        let ks: Vec<(u64, Point)> =
            [2, 5, 10, 50, 200, 1000].map(|k| (k, Point { k, ..point.clone() })).to_vec();
        profile(algorithm, &format!("k, {middle} records"), &ks)?;
        let file = dir.join(format!("sensitive-{middle}.csv"));
        sensitive(&point.file, &file)?;
        let values: Vec<(u64, Point)> = VALUES
            .map(|m| {
                (m, Point { file: file.clone(), sensitive: Some(format!("s{m}")), ..point.clone() })
            })
            .to_vec();
        profile(algorithm, &format!("sensitive values, 2-diverse, {middle} records"), &values)?;
    }
    Ok(())
}

/// The numbers of values of the generated sensitive columns.
const VALUES: [u64; 4] = [2, 10, 100, 1000];

fn profile(algorithm: &str, what: &str, points: &[(u64, Point)]) -> Result<(), String> {
    println!(
        "\n{algorithm}, by {what}\n\n| {what} | distinct rows | seconds | of it dividing | most memory, MiB |"
    );
    println!("|---|---|---|---|---|");
    let mut measured: Vec<(f64, f64, f64, f64)> = Vec::new();
    for (x, point) in points {
        let exe = std::env::current_exe().map_err(|e| e.to_string())?;
        let mut runs: Vec<Json> = Vec::new();
        for _ in 0..3 {
            let mut command = Command::new(&exe);
            command.arg("cost-task").arg(&point.file).args([
                point.columns.to_string(),
                point.k.to_string(),
                point.algorithm.to_owned(),
                point.sensitive.clone().unwrap_or_default(),
            ]);
            let output = command.output().map_err(|e| e.to_string())?;
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).into_owned());
            }
            runs.push(serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?);
            // Long runs vary little and are not repeated.
            if runs[0]["seconds"].as_f64().is_some_and(|seconds| seconds > 5.0) {
                break;
            }
        }
        let least =
            |name: &str| runs.iter().filter_map(|r| r[name].as_f64()).fold(f64::INFINITY, f64::min);
        let (seconds, divided, peak) = (least("seconds"), least("dividing"), least("peak_mib"));
        println!("| {x} | {} | {seconds:.2} | {divided:.2} | {peak:.0} |", runs[0]["distinct"]);
        measured.push((*x as f64, seconds, divided, peak));
    }
    let of = |pick: fn(&(f64, f64, f64, f64)) -> f64| {
        exponent(measured.iter().map(|m| (m.0, pick(m))).filter(|(_, y)| *y > 0.0))
    };
    println!(
        "\nfitted: seconds grow with the power {:.2}, dividing with {:.2}, memory with {:.2}",
        of(|m| m.1),
        of(|m| m.2),
        of(|m| m.3)
    );
    Ok(())
}

/// Returns the slope of the least-squares line through the logarithms.
fn exponent(points: impl Iterator<Item = (f64, f64)>) -> f64 {
    let points: Vec<(f64, f64)> = points.map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = points.len() as f64;
    let (mean_x, mean_y) =
        (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let above: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    let below: f64 = points.iter().map(|p| (p.0 - mean_x).powi(2)).sum();
    above / below
}

/// `FILE COLUMNS K ALGORITHM SENSITIVE`: runs one job, from reading to the verified file, and
/// prints its cost as JSON.
pub(crate) fn task(args: &[String]) -> Result<(), String> {
    let [file, columns, k, algorithm, sensitive] = args else {
        return Err("unknown task".to_owned());
    };
    let columns: usize = columns.parse().map_err(|_| "columns are a number")?;
    let out = std::env::temp_dir().join(format!("incrowd-cost-{}", std::process::id()));
    std::fs::create_dir_all(&out).map_err(|e| e.to_string())?;
    let mut job = Job::default();
    job.input.paths = vec![file.as_str().into()];
    for column in &TWELVE[..columns] {
        job.set_role(column, RoleName::Quasi);
        if let Some(text) = incrowd_synth::hierarchy(incrowd_synth::Table::Census, column) {
            job.column_mut(column).spec.hierarchy =
                Some(incrowd::hierarchy::HierarchySpec::Arx { name: (*column).to_owned(), text });
        }
    }
    job.add_model("k-anonymity", [("k", Value::Integer(k.parse().map_err(|_| "k is a number")?))]);
    if !sensitive.is_empty() {
        job.set_role(sensitive, RoleName::Sensitive);
        job.add_model("l-diversity", [("l", Value::Integer(2))]);
    }
    job.algorithm.name.clone_from(algorithm);
    if algorithm == "ascent" {
        job.algorithm.params.push(("effort".into(), Value::Word("fast".into())));
    }
    job.write_to(out.join("release.csv"));
    // Benchmarks replace their earlier outputs.
    job.output.iter_mut().for_each(|output| output.replace = true);
    let steps = crate::task::Steps::default();
    let began = Instant::now();
    let report = incrowd::Anonymizer::new(&job).progress(&steps).run();
    let seconds = began.elapsed().as_secs_f64();
    std::fs::remove_dir_all(&out).ok();
    let report = report.map_err(|e| e.to_string())?;
    let taken = steps.taken();
    let dividing: f64 = DIVIDING.iter().filter_map(|step| taken.get(*step)?.as_f64()).sum();
    let answer = json!({
        "seconds": seconds,
        "dividing": dividing,
        "distinct": report.distinct_rows,
        "peak_mib": peak_mib(),
    });
    println!("{answer}");
    Ok(())
}

/// The steps in which groups are made.
const DIVIDING: [&str; 4] = ["dividing", "climbing", "moving", "bounding"];

/// Writes the first `distinct` records of a table repeatedly, `rows` in total.
fn repeat(from: &Path, to: &Path, distinct: u64, rows: u64) -> Result<(), String> {
    copy(from, to, |lines, file| {
        let header = lines.next().ok_or("an empty table")??;
        writeln!(file, "{header}").map_err(|e| e.to_string())?;
        let first = lines.take(distinct as usize).collect::<Result<Vec<String>, String>>()?;
        for line in first.iter().cycle().take(rows as usize) {
            writeln!(file, "{line}").map_err(|e| e.to_string())?;
        }
        Ok(())
    })
}

/// Adds columns with 2, 10, 100 and 1,000 values, spread evenly.
fn sensitive(from: &Path, to: &Path) -> Result<(), String> {
    copy(from, to, |lines, file| {
        let header = lines.next().ok_or("an empty table")??;
        let names: Vec<String> = VALUES.iter().map(|m| format!("s{m}")).collect();
        writeln!(file, "{header},{}", names.join(",")).map_err(|e| e.to_string())?;
        for (row, line) in lines.enumerate() {
            let mixed = (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            let cells: Vec<String> = VALUES.iter().map(|m| format!("v{}", mixed % m)).collect();
            writeln!(file, "{},{}", line?, cells.join(",")).map_err(|e| e.to_string())?;
        }
        Ok(())
    })
}

type Lines<'a> = &'a mut dyn Iterator<Item = Result<String, String>>;

fn copy(
    from: &Path,
    to: &Path,
    write: impl Fn(Lines<'_>, &mut BufWriter<std::fs::File>) -> Result<(), String>,
) -> Result<(), String> {
    if to.exists() {
        return Ok(());
    }
    let text = |e: std::io::Error| e.to_string();
    let partial = to.with_extension("partial");
    let mut lines = BufReader::new(std::fs::File::open(from).map_err(text)?)
        .lines()
        .map(|line| line.map_err(text));
    let mut file = BufWriter::new(std::fs::File::create(&partial).map_err(text)?);
    write(&mut lines, &mut file)?;
    file.flush().map_err(text)?;
    std::fs::rename(partial, to).map_err(text)
}
