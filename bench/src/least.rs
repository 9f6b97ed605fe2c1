//! Smallest losses: ascent against `mondrian`, against published results of other tools, and
//! against a bound.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use incrowd::Value;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::release::Task;
use crate::task::peak_mib;

/// All columns of ARX's example table.
pub(crate) const NINE: &[&str] = &[
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
pub(crate) const FIVE: &[&str] = &["sex", "age", "race", "native-country", "workclass"];
/// The columns of the comparison without hierarchies.
pub(crate) const FREE: &[&str] = &[
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
];

const ACS: &[&str] = &[
    "sex",
    "age",
    "race",
    "hispanic_origin",
    "citizenship",
    "nativity",
    "marital",
    "family_size",
    "children",
    "education_level",
    "economic_region",
];
const DIABETES: &[&str] = &[
    "race",
    "gender",
    "age",
    "admission_type_id",
    "discharge_disposition_id",
    "admission_source_id",
    "time_in_hospital",
    "payer_code",
    "medical_specialty",
];
const NIST: &[&str] = &[
    "PUMA",
    "AGEP",
    "SEX",
    "MSP",
    "HISP",
    "RAC1P",
    "NOC",
    "NPF",
    "HOUSING_TYPE",
    "OWN_RENT",
    "EDU",
];
const FARS: &[&str] =
    &["iage", "irace", "ideathmon", "ideathday", "isex", "ihispanic", "istatenum"];

/// Prints a row of the table: the bound, results of others, and our losses with the processor time
/// of dividing.
fn line(task: &Task<'_>, name: &str, k: i64, other: &str, out: &Path) -> Result<(), String> {
    let table = task.load()?;
    let mut cells = format!("| {name} | {k} | {:.4} | {other} |", task.bound(&table, k)?);
    let efforts =
        ["fast", "balanced", "best"].map(|e| vec![("effort", e), ("metric", task.metric())]);
    let mondrian = ("mondrian", Vec::new());
    for (algorithm, params) in
        std::iter::once(mondrian).chain(efforts.map(|params| ("ascent", params)))
    {
        let loss = task.release(out, k, algorithm, &params)?;
        let seconds = task.divide(&table, k, algorithm, &params)?;
        cells += &format!(" {loss:.4} ({seconds:.2} s) |");
    }
    println!("{cells}");
    Ok(())
}

fn head(other: &str) {
    println!(
        "\n| table | k | no release loses less than | {other} | mondrian | ascent, fast | balanced | best |"
    );
    println!("|---|---|---|---|---|---|---|---|");
}

/// Prints losses and processor time. Every release is written and verified, and its loss is
/// measured from its bytes.
pub(crate) fn run(data: &Path, dir: &Path, only: Option<&str>, rows: u64) -> Result<(), String> {
    let adult = data.join("adult_arx.csv.gz");
    if !adult.exists() {
        return Err(format!(
            "skipped: no adult_arx.csv.gz in {} (set INCROWD_DATA or use --data)",
            data.display()
        ));
    }
    let wants = |part: &str| only.is_none_or(|only| only.split(',').any(|p| p == part));
    let out = std::env::temp_dir().join(format!("incrowd-least-{}", std::process::id()));
    std::fs::create_dir_all(&out).map_err(|e| e.to_string())?;
    let eight: Vec<&str> = NINE.iter().copied().filter(|&c| c != "occupation").collect();
    let trees = data.join("hierarchies");
    let task = Task {
        file: adult.clone(),
        quasi: NINE.to_vec(),
        hierarchies: Some((&trees, "adult")),
        sensitive: None,
        ncp: false,
    };
    let parts = || -> Result<(), String> {
        if wants("adult") {
            head("ARX, local recoding");
            let arx = [
                (NINE.to_vec(), ["0.0589 (5.4 s)", "0.0820 (6.2 s)", "0.1535 (13.8 s)"]),
                (eight.clone(), ["0.0332 (1.2 s)", "0.0479 (1.8 s)", "0.1001 (2.9 s)"]),
                (FIVE.to_vec(), ["0.0097 (0.12 s)", "0.0158 (0.09 s)", "0.0364 (0.18 s)"]),
            ];
            for (quasi, others) in arx {
                let task = Task { quasi: quasi.clone(), ..task.clone() };
                for (k, other) in [5, 10, 50].into_iter().zip(others) {
                    line(&task, &format!("Adult, {} QIs", quasi.len()), k, other, &out)?;
                }
            }
        }
        if wants("models") {
            head("ARX, local recoding");
            let diverse = vec![("l", Value::Integer(5)), ("kind", Value::Word("distinct".into()))];
            let close = vec![("t", Value::Real(0.2)), ("distance", Value::Word("equal".into()))];
            for (name, model, params, other) in [
                ("5 different occupations", "l-diversity", diverse, "0.0543"),
                ("t-closeness 0.2 of occupation", "t-closeness", close, "0.4425 (75 s)"),
            ] {
                let sensitive = Some(("occupation", model, params));
                let task = Task { quasi: eight.clone(), sensitive, ..task.clone() };
                line(&task, &format!("Adult, 8 QIs, {name}"), 5, other, &out)?;
            }
        }
        if wants("free") {
            head("mosaicrown, Mondrian");
            let task = Task { quasi: FREE.to_vec(), hierarchies: None, ncp: true, ..task.clone() };
            for (k, other) in [(5, "0.039"), (10, "0.063"), (50, "0.159")] {
                line(&task, "Adult, 8 QIs without hierarchies, NCP", k, other, &out)?;
            }
        }
        if wants("tables") {
            head("-");
            for (name, file, quasi, fars) in [
                ("ACS 2018", "acs2018_gov_employees.csv.gz", ACS, false),
                ("diabetes 130-US", "diabetes_130us.csv.gz", DIABETES, false),
                ("NIST ACS", "nist_acs_national2019.csv.gz", NIST, false),
                ("FARS", "fars_subset.csv.gz", FARS, true),
            ] {
                let hierarchies = fars.then_some((trees.as_path(), "fars"));
                let task = Task {
                    file: data.join(file),
                    quasi: quasi.to_vec(),
                    hierarchies,
                    ncp: !fars,
                    ..task.clone()
                };
                for k in [5, 10, 50] {
                    line(&task, &format!("{name}, {} QIs", quasi.len()), k, "-", &out)?;
                }
            }
        }
        if wants("large") {
            let file = dir.join(format!("adult-perturbed-{rows}.csv"));
            perturb(&adult, &file, rows)?;
            println!(
                "\n| {rows} rows of perturbed Adult, 9 QIs, k = 5 | loss | seconds | most memory |"
            );
            println!("|---|---|---|---|");
            println!("| ARX, local recoding (1,000,000 rows) | 0.0182 | 60 | 2.1 GB |");
            for effort in ["fast", "balanced"] {
                let exe = std::env::current_exe().map_err(|e| e.to_string())?;
                let output = std::process::Command::new(exe)
                    .arg("least-task")
                    .args([&file, &trees, &out])
                    .arg(effort)
                    .output()
                    .map_err(|e| e.to_string())?;
                if !output.status.success() {
                    return Err(String::from_utf8_lossy(&output.stderr).into_owned());
                }
                print!("{}", String::from_utf8_lossy(&output.stdout));
            }
        }
        Ok(())
    };
    let result = parts();
    std::fs::remove_dir_all(&out).ok();
    result
}

/// `FILE HIERARCHIES OUT EFFORT`: one row of the table of the large file, from reading to the
/// verified release.
pub(crate) fn task(args: &[String]) -> Result<(), String> {
    let [file, trees, out, effort] = args else { return Err("unknown task".to_owned()) };
    let task = Task {
        file: file.into(),
        quasi: NINE.to_vec(),
        hierarchies: Some((Path::new(trees), "adult")),
        sensitive: None,
        ncp: false,
    };
    let began = Instant::now();
    let loss = task.release(Path::new(out), 5, "ascent", &[("effort", effort)])?;
    println!(
        "| ascent, {effort}, from reading to the verified file | {loss:.4} | {:.1} | {} MiB |",
        began.elapsed().as_secs_f64(),
        peak_mib().unwrap_or_default()
    );
    Ok(())
}

/// Writes rows of the table, drawn with replacement, with each cell redrawn from its column with
/// probability 0.3.
fn perturb(table: &Path, to: &Path, rows: u64) -> Result<(), String> {
    if to.exists() {
        return Ok(());
    }
    let text = |e: std::io::Error| e.to_string();
    let from = flate2::read::GzDecoder::new(std::fs::File::open(table).map_err(text)?);
    let mut lines = BufReader::new(from).lines();
    let header = lines.next().ok_or("an empty table")?.map_err(text)?;
    let records: Vec<Vec<String>> = lines
        .map(|line| line.map(|line| line.split(',').map(str::to_owned).collect()).map_err(text))
        .collect::<Result<_, String>>()?;
    let mut chance = ChaCha8Rng::seed_from_u64(10);
    std::fs::create_dir_all(to.parent().unwrap_or(Path::new("."))).map_err(text)?;
    let mut file = BufWriter::new(std::fs::File::create(to).map_err(text)?);
    writeln!(file, "{header}").map_err(text)?;
    for row in 0..rows as usize {
        let record = &records[row % records.len()];
        let cells = (0..record.len()).map(|column| {
            let redrawn = chance.random_bool(0.3);
            if redrawn {
                &records[chance.random_range(0..records.len())][column]
            } else {
                &record[column]
            }
        });
        writeln!(file, "{}", cells.map(String::as_str).collect::<Vec<_>>().join(","))
            .map_err(text)?;
    }
    file.flush().map_err(text)
}
