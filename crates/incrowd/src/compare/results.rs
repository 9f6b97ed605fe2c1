//! The results of a comparison: a log with one line per finished configuration, and tables in CSV
//! and JSON.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use incrowd_core::{Error, HierarchySpec, Result};
use serde_json::{Map, Value as Json, json};

use super::choose::{Axes, Baseline, RULE, choose, front};
use super::page;
use super::sweep::Plan;
use super::trial::Done;
use crate::job::Job;
use crate::making::claim::Claim;
use crate::making::replacing::write_file;
use crate::making::replacing::{Mark, check_file};
use crate::reporting::sentences;
use incrowd_core::audience::Audience;
use incrowd_engine::{Location, Target};

/// The properties of the release that a configuration would make.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Scores {
    /// The number of groups.
    pub groups: u64,
    /// The number of records in the smallest group.
    pub smallest: u64,
    /// The number of records published with their cells.
    pub published: u64,
    /// The number of suppressed records.
    pub suppressed: u64,
    /// The greatest re-identification risk: 1 over the smallest group.
    pub identity: f64,
    /// The average probability that the sensitive value of an identified person is guessed, if
    /// there is a sensitive column.
    pub attribute: Option<f64>,
    /// Every metric.
    pub metrics: Vec<(String, f64)>,
}

impl Scores {
    /// Returns a metric by its name.
    pub fn metric(&self, name: &str) -> f64 {
        self.metrics.iter().find(|(known, _)| known == name).map_or(0.0, |(_, value)| *value)
    }
}

/// The result of one configuration.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Tried {
    /// The algorithm with its options.
    pub algorithm: String,
    /// The models with their parameters.
    pub models: String,
    /// The scores, or the reason why there is no such release.
    pub scores: std::result::Result<Scores, String>,
    /// The seconds it took.
    pub seconds: f64,
    /// Whether it is on the Pareto front.
    pub front: bool,
}

/// The result of a sweep, for the data owner only.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// The table's file name.
    pub table: String,
    /// The number of records without missing values.
    pub records: u64,
    /// The number of requested configurations.
    pub asked: usize,
    /// The number of results from an earlier run.
    pub earlier: usize,
    /// The finished configurations, in the requested order.
    pub results: Vec<Tried>,
    /// The index of the chosen result.
    pub choice: Option<usize>,
    /// The metric on the axis of loss.
    pub loss: &'static str,
    /// The risks and the loss without a release.
    pub baseline: Baseline,
    /// The number of configurations that ran at the same time.
    pub threads: usize,
}

impl Comparison {
    pub(super) fn new(
        job: &Job,
        records: u64,
        plans: &[Plan],
        done: BTreeMap<usize, Done>,
        (loss, baseline): (&'static str, Baseline),
        threads: usize,
        earlier: usize,
    ) -> Comparison {
        let result = |(i, (scores, seconds)): (usize, Done)| Tried {
            algorithm: plans[i].algorithm.clone(),
            models: plans[i].models.clone(),
            scores,
            seconds,
            front: false,
        };
        let mut results: Vec<Tried> = done.into_iter().map(result).collect();
        let axes: Vec<Option<Axes>> = results
            .iter()
            .map(|r| r.scores.as_ref().ok().map(|s| axes(s, loss, &baseline)))
            .collect();
        let on = front(&axes);
        let choice = choose(&axes, &on);
        results.iter_mut().zip(on).for_each(|(result, on)| result.front = on);
        let table = job.input.paths.first().map(Location::name).unwrap_or_default();
        Comparison {
            table,
            records,
            asked: plans.len(),
            earlier,
            results,
            choice,
            loss,
            baseline,
            threads,
        }
    }

    /// Returns whether every configuration has a result.
    pub fn complete(&self) -> bool {
        self.results.len() == self.asked
    }

    /// Returns the reasons for the choice, in sentences.
    pub fn why(&self) -> Vec<String> {
        let Some(chosen) = self.choice.and_then(|i| self.results.get(i)) else { return Vec::new() };
        let Ok(scores) = &chosen.scores else { return Vec::new() };
        let Baseline { found, guessed, loss } = self.baseline;
        let compared = |name: &str, own: f64, what: &str, other: f64| {
            format!("{name} {} ({what} {})", short(own), short(other))
        };
        let mut parts = vec![
            compared(
                &self.loss.replace('_', " "),
                scores.metric(self.loss),
                "publishing nothing:",
                loss,
            ),
            compared("worst risk of being found", scores.identity, "guessing:", found),
        ];
        if let Some(chance) = scores.attribute {
            let guessing = guessed.unwrap_or(0.0);
            parts.push(compared("average chance of being guessed", chance, "guessing:", guessing));
        }
        let on = self.results.iter().filter(|r| r.front).count();
        vec![
            format!("{}.", parts.join(", ")),
            format!("{on} configurations are on the front. {RULE}"),
        ]
    }

    /// Returns the meaning of the choice in sentences.
    pub fn sentences(&self) -> Vec<incrowd_report::Sentence> {
        let chosen = self.choice.and_then(|i| self.results.get(i));
        let Some(Ok(scores)) = chosen.map(|chosen| &chosen.scores) else { return Vec::new() };
        let mut all = vec![sentences::narrowed(scores.smallest, false, false)];
        if let (Some(average), Some(without)) = (scores.attribute, self.baseline.guessed) {
            all.push(sentences::guessing(average, without));
        }
        all.push(sentences::lost(scores.metric("ncp")));
        all
    }

    /// Returns the result as JSON; all of it but the counts is under `private`.
    pub fn to_json(&self) -> Json {
        let result = |r: &Tried| {
            let mut line = result_json(&r.algorithm, &r.models, &(r.scores.clone(), r.seconds));
            line["front"] = json!(r.front);
            line
        };
        let chosen = self.choice.map(|i| {
            json!({
                "algorithm": self.results[i].algorithm,
                "models": self.results[i].models,
                "why": self.why(),
            })
        });
        json!({
            "incrowd": env!("CARGO_PKG_VERSION"),
            "configurations": self.asked,
            "finished": self.results.len(),
            "private": {
                "records": self.records,
                "loss": self.loss,
                "baseline": {
                    "found": self.baseline.found,
                    "guessed": self.baseline.guessed,
                    "loss": self.baseline.loss,
                },
                "at_a_time": self.threads,
                "rule": RULE,
                "choice": chosen,
                "results": self.results.iter().map(result).collect::<Vec<_>>(),
            },
        })
    }

    fn csv(&self) -> Vec<u8> {
        let mut out = csv::Writer::from_writer(Vec::new());
        let metrics: Vec<&str> =
            incrowd_core::metric::METRICS.iter().map(|card| card.name).collect();
        let head = ["algorithm", "models", "identity_risk", "attribute_risk"];
        let tail =
            ["smallest_group", "published", "suppressed", "seconds", "front", "chosen", "failed"];
        // Writing to memory cannot fail.
        drop(out.write_record(head.iter().chain(&metrics).chain(&tail)));
        for (i, r) in self.results.iter().enumerate() {
            let mut line = vec![r.algorithm.clone(), r.models.clone()];
            let scores = r.scores.as_ref().ok();
            let of = |value: Option<String>| value.unwrap_or_default();
            line.push(of(scores.map(|s| s.identity.to_string())));
            line.push(of(scores.and_then(|s| s.attribute).map(|x| x.to_string())));
            line.extend(metrics.iter().map(|name| of(scores.map(|s| s.metric(name).to_string()))));
            line.push(of(scores.map(|s| s.smallest.to_string())));
            line.push(of(scores.map(|s| s.published.to_string())));
            line.push(of(scores.map(|s| s.suppressed.to_string())));
            line.push(format!("{:.4}", r.seconds));
            line.extend([r.front.to_string(), (self.choice == Some(i)).to_string()]);
            line.push(r.scores.as_ref().err().cloned().unwrap_or_default());
            drop(out.write_record(&line));
        }
        out.into_inner().unwrap_or_default()
    }

    /// Writes `comparison.csv`, `comparison.json` and `comparison.html` into a directory.
    pub(super) fn write(&self, dir: &Path) -> Result<()> {
        let mut json = serde_json::to_vec_pretty(&self.to_json()).unwrap_or_default();
        json.push(b'\n');
        let page = incrowd_report::comparison_page(&page::page(self)).into_bytes();
        for ((name, _), bytes) in FILES.iter().zip([&self.csv(), &json, &page]) {
            write_file(&Target::decide(&dir.join(name))?, bytes, Audience::Owner)?;
        }
        Ok(())
    }
}

/// The files of a comparison in addition to its log, for the data owner only, and the marks by
/// which they are recognized.
const FILES: [(&str, Mark); 3] = [
    ("comparison.csv", Mark::Begins("algorithm,models,identity_risk,attribute_risk,")),
    ("comparison.json", Mark::Begins("{\n  \"incrowd\": ")),
    ("comparison.html", Mark::Page),
];
/// The beginning of a line of the log.
const LOG: Mark = Mark::Begins("{\"key\":");

/// Refuses to overwrite a file that a comparison did not write. An empty file is overwritten.
fn check_own(path: &Path, mark: Mark) -> Result<()> {
    if std::fs::metadata(path).is_ok_and(|found| found.len() == 0) {
        return Ok(());
    }
    check_file(path, mark, false).map(drop).map_err(|e| {
        Error::job(e.message().to_owned())
            .help("name another directory, or move the file away")
            .at("compare.dir")
    })
}

fn short(x: f64) -> String {
    match x {
        _ if x.fract() == 0.0 && x.abs() < 1e15 => format!("{x:.0}"),
        _ if x.abs() < 0.001 => format!("{x:.6}"),
        _ => format!("{x:.3}"),
    }
}

fn axes(scores: &Scores, loss: &str, baseline: &Baseline) -> Axes {
    baseline.axes(scores.identity, scores.attribute, scores.metric(loss))
}

fn result_json(algorithm: &str, models: &str, (scores, seconds): &Done) -> Json {
    let mut line = json!({ "algorithm": algorithm, "models": models, "seconds": seconds });
    match scores {
        Err(why) => line["failed"] = json!(why),
        Ok(s) => {
            line["groups"] = json!(s.groups);
            line["smallest_group"] = json!(s.smallest);
            line["published"] = json!(s.published);
            line["suppressed"] = json!(s.suppressed);
            line["identity_risk"] = json!(s.identity);
            line["attribute_risk"] = json!(s.attribute);
            let metrics: Map<String, Json> =
                s.metrics.iter().map(|(n, v)| (n.clone(), json!(v))).collect();
            line["metrics"] = Json::Object(metrics);
        }
    }
    line
}

fn of_json(line: &Json) -> Option<Done> {
    let seconds = line["seconds"].as_f64()?;
    if let Some(why) = line["failed"].as_str() {
        return Some((Err(why.to_owned()), seconds));
    }
    let metrics = line["metrics"].as_object()?.iter();
    let scores = Scores {
        groups: line["groups"].as_u64()?,
        smallest: line["smallest_group"].as_u64()?,
        published: line["published"].as_u64()?,
        suppressed: line["suppressed"].as_u64()?,
        identity: line["identity_risk"].as_f64()?,
        attribute: line["attribute_risk"].as_f64(),
        metrics: metrics
            .map(|(name, value)| Some((name.clone(), value.as_f64()?)))
            .collect::<Option<_>>()?,
    };
    Some((Ok(scores), seconds))
}

/// The file to which every finished configuration is appended. A line that was cut off by a kill is
/// skipped.
pub(super) struct Log {
    path: PathBuf,
    plans: Vec<(String, String, String)>,
    results: BTreeMap<usize, Done>,
}

impl Log {
    /// Reads the results of an earlier run. The key of a configuration is a digest of the table, of
    /// its settings in the job, of the version and of the configuration itself.
    pub(super) fn open(dir: &Path, job: &Job, plans: &[Plan], files: &[Location]) -> Result<Log> {
        let failed = |e: std::io::Error| {
            Error::resources(format!("cannot write into `{}`: {e}", dir.display()))
        };
        std::fs::create_dir_all(dir).map_err(failed)?;
        let mut table = blake3::Hasher::new();
        for file in files {
            table.update(incrowd_engine::digest(file)?.as_bytes());
        }
        for path in job.population.iter().flat_map(|people| &people.paths) {
            let name = path.to_string();
            table.update(incrowd_engine::digest(path).unwrap_or(name).as_bytes());
        }
        table.update(env!("CARGO_PKG_VERSION").as_bytes());
        table.update(format!("{:?}", job.input).as_bytes());
        for (name, column) in &job.columns {
            table.update(format!("{name} {:?} {:?}", column.role, column.spec.kind).as_bytes());
            table.update(format!("{:?} {:?}", column.spec.labels, column.spec.domain).as_bytes());
            table.update(format!("{:?} {:?}", column.spec.weight, column.publish).as_bytes());
            table.update(format!("{:?}", column.categories).as_bytes());
            match &column.spec.hierarchy {
                Some(HierarchySpec::Arx { text, .. }) => table.update(text.as_bytes()),
                other => table.update(format!("{other:?}").as_bytes()),
            };
        }
        let key = |plan: &Plan| {
            let mut own = table.clone();
            own.update(format!("\u{0}{}\u{0}{}", plan.algorithm, plan.models).as_bytes());
            own.update(format!("{:?}", plan.job.algorithm).as_bytes());
            own.finalize().to_hex()[..32].to_owned()
        };
        let plans: Vec<(String, String, String)> =
            plans.iter().map(|p| (key(p), p.algorithm.clone(), p.models.clone())).collect();
        let mut claim = Claim::of_job(job);
        for (name, mark) in FILES {
            let path = dir.join(name);
            claim.writes(&path, "a file of the comparison", "compare.dir")?;
            check_own(&path, mark)?;
        }
        let log = dir.join("results.jsonl");
        let target = claim.writes(&log, "the log of the comparison", "compare.dir")?;
        check_own(&log, LOG)?;
        let path = target.path().to_owned();
        // Results of an earlier run that cannot be read are computed again.
        let text = incrowd_engine::read_side_text(&path, incrowd_engine::MOST_HIERARCHY_BYTES)
            .unwrap_or_default();
        let mut results = BTreeMap::new();
        for line in text.lines().filter_map(|line| serde_json::from_str::<Json>(line).ok()) {
            let known = plans.iter().position(|(key, ..)| line["key"] == key.as_str());
            if let (Some(i), Some(done)) = (known, of_json(&line)) {
                results.insert(i, done);
            }
        }
        Ok(Log { path, plans, results })
    }

    pub(super) fn has(&self, i: usize) -> bool {
        self.results.contains_key(&i)
    }

    /// Adds a result, first to the file.
    pub(super) fn add(&mut self, i: usize, done: Done) -> Result<()> {
        let (key, algorithm, models) = &self.plans[i];
        let mut line = json!({ "key": key });
        if let (Json::Object(line), Json::Object(rest)) =
            (&mut line, result_json(algorithm, models, &done))
        {
            line.extend(rest);
        }
        let failed = |e| Error::resources(format!("cannot write `{}`: {e}", self.path.display()));
        let mut options = OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&self.path).map_err(failed)?;
        // A single write, so that two runs do not mix their lines. It begins a new line even if the
        // last one was cut off.
        let text = if ends_open(&self.path) { format!("\n{line}\n") } else { format!("{line}\n") };
        file.write_all(text.as_bytes()).map_err(failed)?;
        self.results.insert(i, done);
        Ok(())
    }

    pub(super) fn into_results(self) -> BTreeMap<usize, Done> {
        self.results
    }
}

/// Returns whether the last line of a file is incomplete.
fn ends_open(path: &Path) -> bool {
    use std::io::{Read, Seek, SeekFrom};
    let last = || -> std::io::Result<u8> {
        let mut file = std::fs::File::open(path)?;
        file.seek(SeekFrom::End(-1))?;
        let mut byte = [0];
        file.read_exact(&mut byte)?;
        Ok(byte[0])
    };
    last().is_ok_and(|byte| byte != b'\n')
}
