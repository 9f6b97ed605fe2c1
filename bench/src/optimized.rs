//! The benefit of the order of priority and of the tree of regular intervals, and the cost of the
//! trials.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use incrowd::front_end::core::{ColumnSpec, Dataset, GroupSummary, HierarchySpec, Partition};
use incrowd::front_end::recode::optimized::TrialReport;
use incrowd::front_end::recode::{Method, Recoding};
use incrowd::hierarchy::mask;
use incrowd::hierarchy::mdr::Mdr;
use incrowd::job::hierarchy_from_path;
use incrowd::model::PrivacyModel;
use incrowd::{Embedded, Engine, FoldSpec, Options, Silent, Value};

use crate::lattice::processor_seconds;
use crate::speed::make;
use crate::task::FIVE as CENSUS;

/// The quasi-identifiers of the paper's experiment, and a column whose missing values also remove
/// records.
const FIVE: &[&str] = &["age", "workclass", "race", "sex", "native-country"];
const ALSO: &str = "occupation";

/// The certainty penalties in the specification, for these k and the six columns of its table.
const STATED: [(i64, [f64; 6]); 8] = [
    (2, [0.0274, 0.0279, 0.0032, 0.0022, 0.0095, 0.0017]),
    (5, [0.0677, 0.0467, 0.0137, 0.0078, 0.0162, 0.0060]),
    (6, [0.0704, 0.0470, 0.0164, 0.0093, 0.0182, 0.0075]),
    (10, [0.1042, 0.0574, 0.0277, 0.0209, 0.0278, 0.0153]),
    (20, [0.1554, 0.1557, 0.1138, 0.0490, 0.0622, 0.0458]),
    (50, [0.2692, 0.1748, 0.1466, 0.0881, 0.0847, 0.0688]),
    (100, [0.3025, 0.3348, 0.2949, 0.1126, 0.1038, 0.0883]),
    (500, [0.5759, 0.5819, 0.5761, 0.3128, 0.1917, 0.1592]),
];

/// A table with its numbers, and with the tree instead.
struct Tables {
    median: Dataset,
    mdr: Dataset,
}

pub(crate) fn run(rows: u64, rounds: usize, dir: &Path, data: &Path) -> Result<(), String> {
    let adult = data.join("adult.csv.gz");
    let hierarchy = |column: &str| {
        let file = data.join(format!("hierarchies/adult_hierarchy_{column}.csv"));
        hierarchy_from_path(&file).map(Some).map_err(|e| e.to_string())
    };
    let mut timed = Vec::new();
    if adult.exists() {
        let tables = Tables {
            median: load(
                &adult,
                FIVE,
                &[ALSO],
                |c| if c == "age" { Ok(None) } else { hierarchy(c) },
            )?,
            mdr: load(&adult, FIVE, &[ALSO], |c| {
                if c == "age" { Ok(Some(HierarchySpec::Mdr(Mdr::default()))) } else { hierarchy(c) }
            })?,
        };
        loss(&tables)?;
        let many = dir.join(format!("adult-{rows}.csv"));
        replicate(&adult, &many, rows)?;
        timed.push((format!("Adult, replicated to {rows}"), many, FIVE, &[ALSO][..], true));
    } else {
        eprintln!(
            "skipped: no adult.csv.gz in {} (set INCROWD_DATA or use --data)",
            data.display()
        );
    }
    let people = dir.join(format!("people-{rows}"));
    make(&people, rows)?;
    timed.push((
        format!("generated, {rows}"),
        people.join("people.csv"),
        CENSUS,
        &["disease"][..],
        false,
    ));
    println!(
        "\nseconds of division alone, the table folded and encoded: fastest of {rounds} rounds, interleaved\n"
    );
    println!(
        "| table | distinct rows | k | mondrian | optimized-mondrian | runs | ratio | mondrian, processor | optimized-mondrian, \
         processor | ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (name, file, columns, also, public) in timed {
        let table = load(&file, columns, also, |column| {
            if public {
                return if column == "age" { Ok(None) } else { hierarchy(column) };
            }
            Ok(match incrowd_synth::hierarchy(incrowd_synth::Table::Census, column) {
                Some(text) => Some(HierarchySpec::Arx { name: column.to_owned(), text }),
                None if column == "zip" => {
                    Some(HierarchySpec::Mask(mask::Mask { char: '*', from: mask::From::Right }))
                }
                None => None,
            })
        })?;
        for k in [10, 100] {
            time(&name, &table, k, rounds)?;
        }
    }
    Ok(())
}

/// Prints the table of information loss: six columns of the specification, the variant of incrowd,
/// and the deviations.
fn loss(tables: &Tables) -> Result<(), String> {
    let Tables { median, mdr } = tables;
    println!(
        "Adult, {} records, {}: normalized certainty penalty\n",
        median.records(),
        FIVE.join(", ")
    );
    println!(
        "| k | block: basic | block: optimized | block: median, same order | pool: basic | pool: optimized | pool: median, \
         same order | product | two orders | single width |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let (mut deviations, mut worse, mut orders) = (Vec::new(), Vec::new(), Vec::new());
    for (k, stated) in STATED {
        let mut row = Vec::new();
        for undersized in ["block", "pool"] {
            row.push(penalty(
                median,
                &recode(median, k, "mondrian", &[("undersized", undersized)])?.partition,
            ));
            let optimized = [("undersized", undersized), ("keep_best", "false")];
            let made = recode(mdr, k, "optimized-mondrian", &optimized)?;
            row.push(penalty(mdr, &made.partition));
            let trials = made.report_as::<TrialReport>();
            let order = trials.map(|trials| trials.order.join(",")).unwrap_or_default();
            let same = [
                ("undersized", undersized),
                ("dimension", "priority"),
                ("priority", order.as_str()),
            ];
            row.push(penalty(median, &recode(median, k, "mondrian", &same)?.partition));
            orders.push((k, undersized, order));
        }
        let product = penalty(median, &recode(median, k, "optimized-mondrian", &[])?.partition);
        let both = recode(median, k, "optimized-mondrian", &[("priority", "lex-both")])?;
        let both = penalty(median, &both.partition);
        let single = recode(mdr, k, "optimized-mondrian", &[("single_width", "true")])?;
        let merged = mdr.clone().with_domains(single.domains.unwrap_or_default());
        let single = penalty(&merged, &single.partition);
        let cells: Vec<String> = row.iter().map(|x| format!("{x:.4}")).collect();
        println!("| {k} | {} | {product:.4} | {both:.4} | {single:.4} |", cells.join(" | "));
        for (column, (have, stated)) in row.iter().zip(stated).enumerate() {
            if format!("{have:.4}") != format!("{stated:.4}") {
                deviations
                    .push(format!("k = {k}, column {}: {have:.4}, stated {stated:.4}", column + 1));
            }
        }
        let least = row.iter().copied().fold(f64::INFINITY, f64::min);
        if product > least + 1e-9 {
            worse.push(format!(
                "k = {k}: the product's {product:.6} is not the least, {least:.6} is"
            ));
        }
    }
    println!(
        "\ndeviations from the specification's 48 figures in the printed digits: {}\n",
        deviations.len()
    );
    deviations.iter().for_each(|line| println!("- {line}"));
    println!("\nrows in which the product is not the least of the seven: {}\n", worse.len());
    worse.iter().for_each(|line| println!("- {line}"));
    println!("\norders found with the tree:\n");
    orders.iter().for_each(|(k, undersized, order)| println!("- k = {k}, {undersized}: {order}"));
    Ok(())
}

fn recode(
    table: &Dataset,
    k: i64,
    name: &str,
    options: &[(&str, &str)],
) -> Result<Recoding, String> {
    let privacy_model = PrivacyModel::new("k-anonymity", [("k".to_owned(), Value::Integer(k))])
        .map_err(|e| e.to_string())?;
    let models = [privacy_model.model.bind(table).map_err(|e| e.to_string())?];
    let given = options.iter().map(|(option, word)| {
        let value = match *word {
            "true" | "false" => Value::Flag(*word == "true"),
            word if *option == "priority" && name == "mondrian" => {
                Value::Words(word.split(',').map(str::to_owned).collect())
            }
            word => Value::Word(word.to_owned()),
        };
        ((*option).to_owned(), value)
    });
    let method = Method::new(name, given).map_err(|e| e.to_string())?;
    let made = method
        .algorithm
        .recode_and_report(table, &models, 0, &Silent)
        .map_err(|e| e.to_string())?;
    let mut groups = vec![GroupSummary::empty(0); made.partition.groups()];
    for row in 0..table.rows() {
        let group = made.partition.group(row).ok_or("a record was suppressed")?;
        groups[group.index()].records += table.weight(row);
    }
    let kept = groups.iter().all(|group| models[0].admits(group).holds);
    kept.then_some(made).ok_or_else(|| "a group is too small".to_owned())
}

/// Returns the average penalty of all cells.
fn penalty(table: &Dataset, partition: &Partition) -> f64 {
    let of_group = |group: usize| -> f64 {
        let spans = partition
            .spans(incrowd::front_end::core::GroupId(group as u32))
            .iter()
            .zip(table.quasi());
        spans.map(|(span, quasi)| quasi.domain.ncp(span.lo, span.hi)).sum()
    };
    let groups: Vec<f64> = (0..partition.groups()).map(of_group).collect();
    let row = |row: usize| {
        partition.group(row).map_or(0.0, |group| groups[group.index()]) * table.weight(row) as f64
    };
    (0..table.rows()).map(row).sum::<f64>() / (table.records() as f64 * table.quasi().len() as f64)
}

fn time(name: &str, table: &Dataset, k: i64, rounds: usize) -> Result<(), String> {
    let privacy_model = PrivacyModel::new("k-anonymity", [("k".to_owned(), Value::Integer(k))])
        .map_err(|e| e.to_string())?;
    let models = [privacy_model.model.bind(table).map_err(|e| e.to_string())?];
    // Elapsed and processor seconds of both algorithms; the smallest of all rounds each.
    let mut least = [[f64::INFINITY; 2]; 2];
    for _ in 0..rounds.max(1) {
        for (i, algorithm) in ["mondrian", "optimized-mondrian"].into_iter().enumerate() {
            let method = Method::new(algorithm, []).map_err(|e| e.to_string())?;
            // The system counts processor time in hundredths of a second, so short runs are
            // repeated.
            let (began, spent, mut times) = (Instant::now(), processor_seconds(), 0u32);
            while times == 0 || began.elapsed().as_secs_f64() < 1.0 {
                method.algorithm.recode(table, &models, 0, &Silent).map_err(|e| e.to_string())?;
                times += 1;
            }
            let taken = [began.elapsed().as_secs_f64(), processor_seconds() - spent];
            least[i]
                .iter_mut()
                .zip(taken)
                .for_each(|(least, t)| *least = least.min(t / f64::from(times)));
        }
    }
    let [one, all] = least;
    let (rows, runs) = (table.rows(), table.quasi().len() + 1);
    println!(
        "| {name} | {rows} | {k} | {:.3} | {:.3} | {runs} | {:.2} | {:.3} | {:.3} | {:.2} |",
        one[0],
        all[0],
        all[0] / one[0],
        one[1],
        all[1],
        all[1] / one[1]
    );
    Ok(())
}

/// Repeats the records of a table until there are as many as requested. Only complete records are
/// used, so that it starts with the paper's 45,222 records.
fn replicate(from: &Path, to: &Path, rows: u64) -> Result<(), String> {
    if to.exists() {
        return Ok(());
    }
    let columns: Vec<String> = FIVE.iter().copied().chain([ALSO]).map(str::to_owned).collect();
    let folded = fold(from, columns.clone())?;
    std::fs::create_dir_all(to.parent().unwrap_or(Path::new("."))).map_err(|e| e.to_string())?;
    let partial = to.with_extension("partial");
    let file = std::fs::File::create(&partial).map_err(|e| e.to_string())?;
    let mut out = std::io::BufWriter::new(file);
    let mut written = 0;
    let mut line = |text: &str| writeln!(out, "{text}").map_err(|e| e.to_string());
    line(&columns.join(","))?;
    // Each round writes every record once.
    while written < rows {
        for row in 0..folded.rows() {
            let cells: Vec<&str> = folded
                .row(row)
                .iter()
                .zip(&folded.columns)
                .map(|(&code, column)| column.texts[code as usize].as_str())
                .collect();
            let copies = folded.weights[row].min(rows - written);
            (0..copies).try_for_each(|_| line(&cells.join(",")))?;
            written += copies;
        }
    }
    drop(out);
    std::fs::rename(partial, to).map_err(|e| e.to_string())
}

fn fold(path: &Path, columns: Vec<String>) -> Result<incrowd::front_end::core::Folded, String> {
    let mut engine =
        Embedded::open(&[path.to_owned()], &Options::default()).map_err(|e| e.to_string())?;
    let missing = ["", "?", "NA"].map(str::to_owned).to_vec();
    let spec = FoldSpec {
        columns,
        missing,
        drop_missing: true,
        passthrough: Vec::new(),
        ..FoldSpec::default()
    };
    engine.fold(&spec, &Silent).map_err(|e| e.to_string())
}

fn load(
    path: &Path,
    columns: &[&str],
    also: &[&str],
    hierarchy: impl Fn(&str) -> Result<Option<HierarchySpec>, String>,
) -> Result<Dataset, String> {
    let folded = fold(path, columns.iter().chain(also).map(|&c| c.to_owned()).collect())?;
    let specs = columns
        .iter()
        .map(|column| Ok(ColumnSpec { hierarchy: hierarchy(column)?, ..ColumnSpec::default() }))
        .collect::<Result<Vec<_>, String>>()?;
    Dataset::encode(folded, &specs.iter().collect::<Vec<_>>(), &[], "?")
        .map_err(|e| e.misfit.error.to_string())
}
