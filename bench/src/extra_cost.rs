//! The cost of counting persons instead of records, and of the search for unique records in
//! unmodified columns.
//!
//! Both are measured as alternating pairs of runs, with the processor time of all threads and the
//! elapsed time, which depends on other work on the machine.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use incrowd::job::{Job, RoleName};

use crate::speed::make;
use crate::task::FIVE;

/// Returns the processor time of all threads so far, in seconds, if the system reports it.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> =
        stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |at: usize| fields.get(at).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

/// Returns the smallest elapsed and processor time of two jobs, run alternately.
fn pair(jobs: [&Job; 2], rounds: usize) -> Result<[(f64, f64); 2], String> {
    let mut best = [(f64::INFINITY, f64::INFINITY); 2];
    for _ in 0..rounds.max(1) {
        for (job, best) in jobs.iter().zip(&mut best) {
            let (began, before) = (Instant::now(), processor());
            incrowd::Anonymizer::new(*job).run().map_err(|e| e.to_string())?;
            let taken = (began.elapsed().as_secs_f64(), processor() - before);
            *best = (best.0.min(taken.0), best.1.min(taken.1));
        }
    }
    Ok(best)
}

fn print(what: &str, names: [&str; 2], [one, other]: [(f64, f64); 2]) {
    println!("\n{what} (fastest of the rounds)\n");
    println!("| | seconds | processor seconds |");
    println!("|---|---|---|");
    for (name, (wall, cpu)) in names.iter().zip([one, other]) {
        println!("| {name} | {wall:.2} | {cpu:.2} |");
    }
    println!("| ratio | {:.2} | {:.2} |", one.0 / other.0, one.1 / other.1);
}

/// Writes a table with further columns, computed by `more` from the number of a record.
fn widened(
    from: &Path,
    to: &Path,
    names: &str,
    more: &dyn Fn(u64) -> String,
) -> Result<(), String> {
    if to.exists() {
        return Ok(());
    }
    let read = std::fs::File::open(from).map_err(|e| e.to_string())?;
    let mut out = BufWriter::new(std::fs::File::create(to).map_err(|e| e.to_string())?);
    for (n, line) in BufReader::new(read).lines().enumerate() {
        let line = line.map_err(|e| e.to_string())?;
        let end = if n == 0 { names.to_owned() } else { more(n as u64 - 1) };
        writeln!(out, "{line},{end}").map_err(|e| e.to_string())?;
    }
    out.flush().map_err(|e| e.to_string())
}

/// Returns a pseudorandom number below `below`.
fn drawn(n: u64, salt: u64, below: u64) -> u64 {
    let mixed = (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        ^ salt.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb) % below
}

/// Measures records of 0.3 times as many persons, with and without persons, mondrian and ascent.
pub(crate) fn persons(rows: u64, rounds: usize, dir: &Path) -> Result<(), String> {
    let place = dir.join(format!("people-{rows}"));
    make(&place, rows)?;
    let table = place.join("visits.csv");
    let people = (rows * 3 / 10).max(1);
    widened(&place.join("people.csv"), &table, "patient", &|n| {
        format!("p{}", drawn(n, 1, people))
    })?;
    for algorithm in ["mondrian", "ascent"] {
        let mut job = Job::of_file(&table)
            .quasi(FIVE.iter().copied())
            .sensitive(["disease"])
            .with_role(["patient"], RoleName::Identifier)
            .k(10)
            .output(place.join("visits.release.csv"));
        job.algorithm.name = algorithm.to_owned();
        let mut by_person = job.clone();
        by_person.input.person = Some("patient".to_owned());
        let what =
            format!("{rows} records of about {people} persons, {algorithm}, k = 10, CSV to CSV");
        print(&what, ["persons", "records"], pair([&by_person, &job], rounds)?);
    }
    Ok(())
}

/// Measures twenty published columns: six quasi-identifiers, two sensitive, twelve passthrough.
pub(crate) fn alone(rows: u64, rounds: usize, dir: &Path) -> Result<(), String> {
    let place = dir.join(format!("people-{rows}"));
    make(&place, rows)?;
    let table = place.join("wide.csv");
    let values = [3, 10, 50, 200, 1000, 20_000, 300_000];
    let names: Vec<String> = (0..values.len()).map(|i| format!("m{i}")).collect();
    let cells = |n: u64| {
        let cell = |(i, &below): (usize, &u64)| drawn(n, i as u64 + 2, below).to_string();
        values.iter().enumerate().map(cell).collect::<Vec<_>>().join(",")
    };
    widened(&place.join("people.csv"), &table, &names.join(","), &cells)?;
    let passed = ["marital_status", "workclass", "occupation", "household_size", "hours"];
    let passed: Vec<&str> = passed.into_iter().chain(names.iter().map(String::as_str)).collect();
    let sensitive = ["disease", "income"];
    let mut job = Job::of_file(&table)
        .quasi(["age", "sex", "zip", "education", "race", "country"])
        .sensitive(sensitive)
        .with_role(passed.iter().copied(), RoleName::Passthrough)
        .k(10)
        .output(place.join("wide.release.csv"));
    job.algorithm.name = "mondrian".to_owned();
    let unasked = job.clone().unlinkable(sensitive.into_iter().chain(passed));
    let what = format!("{rows} records, 20 published columns, mondrian, k = 10, CSV to CSV");
    print(&what, ["asked who is alone", "not asked"], pair([&job, &unasked], rounds)?);
    Ok(())
}
