//! Damages sound inputs and has them read, for a number of executions or for some time.
//!
//! `cargo run --release -p incrowd-fuzz -- --minutes 60` runs all readers for an hour. What is found is written to a file, with
//! the seed that finds it again: `--target csv --seed 4711 --executions 1`.

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

/// Whatever takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

struct Asked {
    executions: u64,
    minutes: Option<f64>,
    seed: u64,
    target: Option<String>,
    findings: PathBuf,
}

fn asked() -> Result<Asked, String> {
    let mut asked = Asked {
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
            "--executions" => asked.executions = value.parse().map_err(|_| wrong(()))?,
            "--minutes" => asked.minutes = Some(value.parse().map_err(|_| wrong(()))?),
            "--seed" => asked.seed = value.parse().map_err(|_| wrong(()))?,
            "--target" => asked.target = Some(value),
            "--findings" => asked.findings = PathBuf::from(value),
            _ => {
                return Err(format!(
                    "{word} is not known: --executions, --minutes, --seed, --target, --findings"
                ));
            }
        }
    }
    Ok(asked)
}

/// What is under way: what it is called, and since when.
static UNDER_WAY: Mutex<Option<(String, Instant)>> = Mutex::new(None);

fn watch() {
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            if let Ok(under_way) = UNDER_WAY.lock()
                && let Some((what, since)) = under_way.as_ref()
                && since.elapsed() > PATIENCE
            {
                eprintln!("{what} hangs");
                std::process::exit(1);
            }
        }
    });
}

/// Damages and reads once; `Some` says what does not hold.
fn once(target: &Target, seed: u64, dir: &Path, findings: &Path) -> Option<String> {
    let mut dice = Dice::new(seed);
    let mut bytes = target.corpus[dice.below(target.corpus.len())].clone();
    let other = target.corpus[dice.below(target.corpus.len())].clone();
    mutate(&mut bytes, &other, &mut dice);
    let what = format!("{} with --seed {seed}", target.name);
    *UNDER_WAY.lock().ok()? = Some((what.clone(), Instant::now()));
    let place = dir.join("place");
    std::fs::create_dir_all(&place).ok()?;
    let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(&place, &bytes)));
    *UNDER_WAY.lock().ok()? = None;
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
    let asked = match asked() {
        Ok(asked) => asked,
        Err(wrong) => {
            eprintln!("error: {wrong}");
            return ExitCode::from(2);
        }
    };
    let dir = tempfile::tempdir().expect("a directory for what is read");
    let mut targets = targets::all(dir.path());
    targets.retain(|target| asked.target.as_ref().is_none_or(|name| name == target.name));
    if targets.is_empty() {
        eprintln!("error: there is no such target");
        return ExitCode::from(2);
    }
    watch();
    let (start, mut seed) = (Instant::now(), asked.seed);
    let mut executions = vec![0u64; targets.len()];
    let mut found = Vec::new();
    let over = |seed: u64| match asked.minutes {
        Some(minutes) => start.elapsed().as_secs_f64() > minutes * 60.0,
        None => seed - asked.seed >= asked.executions,
    };
    while !over(seed) && found.len() < 20 {
        for (target, executions) in targets.iter().zip(&mut executions) {
            *executions += 1;
            if let Some(broken) = once(target, seed, dir.path(), &asked.findings) {
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
        asked.seed,
        start.elapsed().as_secs_f64()
    );
    if found.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
