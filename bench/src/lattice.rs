//! The time to find the optimal levels, without reading and writing.

use std::path::Path;
use std::time::Instant;

use incrowd::front_end::core::{ColumnSpec, Dataset, HierarchySpec};
use incrowd::front_end::recode::Method;
use incrowd::front_end::recode::full_domain::SearchReport;
use incrowd::hierarchy::mask;
use incrowd::job::hierarchy_from_path;
use incrowd::model::PrivacyModel;
use incrowd::{Embedded, Engine, FoldSpec, Options, Silent, Value};

use crate::speed::make;
use crate::task::NINE;

/// The quasi-identifiers of Adult, all with a hierarchy.
const ADULT: &[&str] = &[
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
];

/// Searches Adult, if it is there, and a generated census table, and prints the fastest of `rounds`
/// rounds.
pub(crate) fn run(rows: u64, rounds: usize, dir: &Path, data: &Path) -> Result<(), String> {
    println!(
        "\n| table | k | limit | search | metric | nodes | hold | minimal | checked | seconds | processor seconds |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let adult = data.join("adult_arx.csv.gz");
    if adult.exists() {
        let spec = |column: &str| {
            let file = data.join(format!("hierarchies/adult_hierarchy_{column}.csv"));
            hierarchy_from_path(&file).map(Some).map_err(|e| e.to_string())
        };
        let table = load(&adult, ADULT, spec)?;
        for (k, limit, metric) in [
            (5, 0.05, "information-loss"),
            (5, 0.05, "discernibility"),
            (5, 0.0, "information-loss"),
        ] {
            for search in ["fast", "incognito", "exhaustive"] {
                measure("Adult", &table, k, limit, search, metric, rounds)?;
            }
        }
    } else {
        eprintln!(
            "skipped: no adult_arx.csv.gz in {} (set INCROWD_DATA or use --data)",
            data.display()
        );
    }
    let people = dir.join(format!("people-{rows}"));
    make(&people, rows)?;
    let spec = |column: &str| {
        Ok(match incrowd_synth::hierarchy(incrowd_synth::Table::Census, column) {
            Some(text) => Some(HierarchySpec::Arx { name: column.to_owned(), text }),
            None if column == "zip" => {
                Some(HierarchySpec::Mask(mask::Mask { char: '*', from: mask::From::Right }))
            }
            None => None,
        })
    };
    let table = load(&people.join("people.csv"), NINE, spec)?;
    for (k, limit) in [(10, 0.0), (10, 0.02), (10, 0.05), (5, 0.05)] {
        measure(&format!("{rows} rows"), &table, k, limit, "fast", "information-loss", rounds)?;
    }
    Ok(())
}

fn load(
    path: &Path,
    columns: &[&str],
    hierarchy: impl Fn(&str) -> Result<Option<HierarchySpec>, String>,
) -> Result<Dataset, String> {
    let mut engine =
        Embedded::open(&[path.to_owned()], &Options::default()).map_err(|e| e.to_string())?;
    let spec = FoldSpec {
        columns: columns.iter().map(|&c| c.to_owned()).collect(),
        missing: ["", "?", "NA"].map(str::to_owned).to_vec(),
        drop_missing: true,
        passthrough: Vec::new(),
        ..FoldSpec::default()
    };
    let folded = engine.fold(&spec, &Silent).map_err(|e| e.to_string())?;
    let specs = columns
        .iter()
        .map(|column| Ok(ColumnSpec { hierarchy: hierarchy(column)?, ..ColumnSpec::default() }))
        .collect::<Result<Vec<_>, String>>()?;
    Dataset::encode(folded, &specs.iter().collect::<Vec<_>>(), &[], "?")
        .map_err(|e| e.misfit.error.to_string())
}

fn measure(
    name: &str,
    table: &Dataset,
    k: i64,
    limit: f64,
    search: &str,
    metric: &str,
    rounds: usize,
) -> Result<(), String> {
    let privacy_model = PrivacyModel::new("k-anonymity", [("k".to_owned(), Value::Integer(k))])
        .map_err(|e| e.to_string())?;
    let models = [privacy_model.model.bind(table).map_err(|e| e.to_string())?];
    let word = |name: &str, word: &str| (name.to_owned(), Value::Word(word.to_owned()));
    let method = Method::new("full-domain", [word("search", search), word("metric", metric)]);
    let method = method.map_err(|e| e.to_string())?;
    let suppressible = (limit * table.records() as f64) as u64;
    let mut best: Option<(f64, f64, SearchReport)> = None;
    for _ in 0..rounds.max(1) {
        // The system counts processor time in hundredths of a second, so short searches are
        // repeated.
        let (began, spent) = (Instant::now(), processor_seconds());
        let mut times = 0u32;
        let report = loop {
            let made = method.algorithm.recode_and_report(table, &models, suppressible, &Silent);
            times += 1;
            if began.elapsed().as_secs_f64() > 1.0 {
                break made.map_err(|e| e.to_string())?.report_as::<SearchReport>().cloned();
            }
        };
        let report = report.ok_or("no search was reported")?;
        let wall = began.elapsed().as_secs_f64() / f64::from(times);
        let spent = (processor_seconds() - spent) / f64::from(times);
        if best.as_ref().is_none_or(|(_, least, _)| spent < *least) {
            best = Some((wall, spent, report));
        }
    }
    if let Some((wall, spent, r)) = best {
        let minimal = r.minimal.len();
        println!(
            "| {name} | {k} | {limit} | {search} | {metric} | {} | {} | {minimal} | {} | {wall:.3} | {spent:.3} |",
            r.nodes, r.satisfying, r.checked
        );
    }
    Ok(())
}

/// Returns the processor time of this process so far, in user and system mode; NaN if the system
/// does not report it.
pub(crate) fn processor_seconds() -> f64 {
    ticks(11)
}

/// Returns the processor time of all finished child processes.
pub(crate) fn children_seconds() -> f64 {
    ticks(13)
}

/// Returns the sum of two fields of the process statistics, in seconds.
fn ticks(first: usize) -> f64 {
    let read = || -> Option<f64> {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks =
            fields.get(first)?.parse::<f64>().ok()? + fields.get(first + 1)?.parse::<f64>().ok()?;
        Some(ticks / 100.0)
    };
    read().unwrap_or(f64::NAN)
}
