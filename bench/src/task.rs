//! One measurement.

use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use incrowd::job::{Job, RoleName};
use incrowd::{Progress, Silent, Value};
use serde_json::json;

/// Five quasi-identifiers, and nine.
pub(crate) const FIVE: &[&str] = &["age", "sex", "zip", "education", "marital_status"];
pub(crate) const NINE: &[&str] =
    &["age", "sex", "zip", "education", "marital_status", "workclass", "country", "race", "hours"];

/// Records the start of each step.
#[derive(Default)]
pub(crate) struct Steps(Mutex<Vec<(String, Instant)>>);

impl Steps {
    /// Returns the seconds of each step, the last one until now.
    pub(crate) fn taken(self) -> serde_json::Map<String, serde_json::Value> {
        let steps = self.0.into_inner().unwrap_or_default();
        let ends = steps.iter().skip(1).map(|(_, at)| *at).chain([Instant::now()]);
        let taken = steps.iter().zip(ends);
        taken.map(|((name, at), end)| (name.clone(), json!((end - *at).as_secs_f64()))).collect()
    }
}

impl Progress for Steps {
    fn step(&self, name: &str, _: Option<u64>) {
        if let Ok(mut steps) = self.0.lock() {
            steps.push((name.to_owned(), Instant::now()));
        }
    }

    fn advance(&self, _: u64) {}
}

/// `copy IN OUT` or `anonymize 5|9 ALGORITHM TABLE OUT`; prints the cost as JSON.
pub(crate) fn run(args: &[String]) -> Result<(), String> {
    let began = Instant::now();
    let steps = Steps::default();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["copy", from, to] => {
            incrowd_engine::copy(from.as_ref(), to.as_ref(), &Default::default(), &Silent)
                .map_err(|e| e.to_string())?;
        }
        ["anonymize", columns, algorithm, from, to] => {
            let quasi = if *columns == "5" { FIVE } else { NINE };
            let mut job = job(Path::new(from), quasi, Path::new(to));
            (*algorithm).clone_into(&mut job.algorithm.name);
            let report =
                incrowd::Anonymizer::new(&job).progress(&steps).run().map_err(|e| e.to_string())?;
            assert!(report.verification.holds(), "a release is put in place only if it holds");
        }
        _ => return Err("unknown task".to_owned()),
    }
    let seconds = began.elapsed().as_secs_f64();
    println!("{}", json!({ "seconds": seconds, "peak_mib": peak_mib(), "steps": steps.taken() }));
    Ok(())
}

/// The census table with k = 10: sensitive disease, masked zip, and the hierarchies of the
/// generator.
pub(crate) fn job(from: &Path, quasi: &[&str], to: &Path) -> Job {
    let mut job = Job::default();
    job.input.paths = vec![from.into()];
    for column in quasi {
        let spec = &mut job.column_mut(column).spec;
        spec.hierarchy = match incrowd_synth::hierarchy(incrowd_synth::Table::Census, column) {
            Some(text) => {
                Some(incrowd::hierarchy::HierarchySpec::Arx { name: (*column).to_owned(), text })
            }
            None if *column == "zip" => {
                Some(incrowd::hierarchy::HierarchySpec::Mask(incrowd::hierarchy::mask::Mask {
                    char: '*',
                    from: incrowd::hierarchy::mask::From::Right,
                }))
            }
            None => None,
        };
        job.set_role(column, RoleName::Quasi);
    }
    job.set_role("disease", RoleName::Sensitive);
    job.add_model("k-anonymity", [("k", Value::Integer(10))]);
    job.write_to(to);
    // Benchmarks replace their earlier outputs.
    job.output.iter_mut().for_each(|output| output.replace = true);
    job
}

/// Returns the peak memory of this process, if the system reports it.
pub(crate) fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib / 1024)
}
