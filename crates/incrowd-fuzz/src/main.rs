//! Damages valid inputs and reads them, for a number of executions or for some time.
//!
//! `cargo run --release -p incrowd-fuzz -- --minutes 60` tests all readers for an hour. Findings
//! are written to files with the seed that reproduces them: `--target csv --seed 4711 --executions
//! 1`.

mod corpora;
mod mutate;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use mutate::{Dice, mutate};
use targets::Target;

/// The time limit of one execution.
const TIME_LIMIT: Duration = Duration::from_secs(60);

struct Options {
    executions: u64,
    minutes: Option<f64>,
    seed: u64,
    target: Option<String>,
    findings: PathBuf,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        executions: 1000,
        minutes: None,
        seed: 0,
        target: None,
        findings: PathBuf::from("fuzz-findings"),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} needs a value"))?;
        let wrong = |_| format!("{word} {value} is no number");
        match word.as_str() {
            "--executions" => options.executions = value.parse().map_err(|_| wrong(()))?,
            "--minutes" => options.minutes = Some(value.parse().map_err(|_| wrong(()))?),
            "--seed" => options.seed = value.parse().map_err(|_| wrong(()))?,
            "--target" => options.target = Some(value),
            "--findings" => options.findings = PathBuf::from(value),
            _ => {
                return Err(format!(
                    "{word} is not known: --executions, --minutes, --seed, --target, --findings"
                ));
            }
        }
    }
    Ok(options)
}

/// The running execution: its name and its start.
static RUNNING: Mutex<Option<(String, Instant)>> = Mutex::new(None);

fn watch() {
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            if let Ok(under_way) = RUNNING.lock()
                && let Some((what, since)) = under_way.as_ref()
                && since.elapsed() > TIME_LIMIT
            {
                eprintln!("{what} hangs");
                std::process::exit(1);
            }
        }
    });
}

/// Damages and reads one input. Returns the violated property, if any.
fn once(target: &Target, seed: u64, dir: &Path, findings: &Path) -> Option<String> {
    let mut dice = Dice::new(seed);
    let mut bytes = target.corpus[dice.below(target.corpus.len())].clone();
    let other = target.corpus[dice.below(target.corpus.len())].clone();
    mutate(&mut bytes, &other, &mut dice);
    let what = format!("{} with --seed {seed}", target.name);
    *RUNNING.lock().ok()? = Some((what.clone(), Instant::now()));
    let place = dir.join("place");
    std::fs::create_dir_all(&place).ok()?;
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(&place, &bytes)));
    *RUNNING.lock().ok()? = None;
    drop(std::fs::remove_dir_all(&place));
    let broken = match outcome {
        Ok(Ok(())) => return None,
        Ok(Err(broken)) => broken,
        Err(_) => "a panic".to_owned(),
    };
    drop(std::fs::create_dir_all(findings));
    drop(std::fs::write(findings.join(format!("{}-{seed}", target.name)), &bytes));
    Some(format!("{what}: {broken}"))
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(wrong) => {
            eprintln!("error: {wrong}");
            return ExitCode::from(2);
        }
    };
    let dir = tempfile::tempdir().expect("a directory for what is read");
    let mut targets = targets::all(dir.path());
    targets.retain(|target| options.target.as_ref().is_none_or(|name| name == target.name));
    if targets.is_empty() {
        eprintln!("error: there is no such target");
        return ExitCode::from(2);
    }
    watch();
    let (start, mut seed) = (Instant::now(), options.seed);
    let mut executions = vec![0u64; targets.len()];
    let mut found = Vec::new();
    let over = |seed: u64| match options.minutes {
        Some(minutes) => start.elapsed().as_secs_f64() > minutes * 60.0,
        None => seed - options.seed >= options.executions,
    };
    while !over(seed) && found.len() < 20 {
        for (target, executions) in targets.iter().zip(&mut executions) {
            *executions += 1;
            if let Some(broken) = once(target, seed, dir.path(), &options.findings) {
                eprintln!("{broken}");
                found.push(broken);
            }
        }
        seed += 1;
    }
    for (target, executions) in targets.iter().zip(&executions) {
        println!("{:10} {executions} executions", target.name);
    }
    println!(
        "{} findings, seeds {} to {seed}, {:.0} s",
        found.len(),
        options.seed,
        start.elapsed().as_secs_f64()
    );
    if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
