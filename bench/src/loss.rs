//! Information loss on Adult along the public hierarchies.

use std::path::Path;

use incrowd::Value;
use incrowd::job::{Job, RoleName, hierarchy_from_path};

const FIVE: &[&str] = &["age", "workclass", "race", "sex", "native-country"];
const EIGHT: &[&str] = &[
    "age",
    "workclass",
    "race",
    "sex",
    "native-country",
    "education",
    "marital-status",
    "occupation",
];
const K: [i64; 9] = [2, 5, 6, 10, 20, 50, 100, 200, 500];

/// Prints NCP, information loss, discernibility and group sizes for both sets of columns. Every
/// release is verified.
pub(crate) fn run(data: &Path) -> Result<(), String> {
    if !data.join("adult.csv.gz").exists() {
        return Err(format!(
            "skipped: no adult.csv.gz in {} (set INCROWD_DATA or use --data)",
            data.display()
        ));
    }
    let out = std::env::temp_dir().join(format!("incrowd-loss-{}", std::process::id()));
    std::fs::create_dir_all(&out).map_err(|e| e.to_string())?;
    let result = tables(data, &out);
    std::fs::remove_dir_all(&out).ok();
    result
}

fn tables(data: &Path, out: &Path) -> Result<(), String> {
    for (quasi, name) in [(FIVE, "5 QIs"), (EIGHT, "8 QIs")] {
        println!("\nAdult, {name}: {}\n", quasi.join(", "));
        println!(
            "| k | NCP (pool) | NCP (block) | information loss per column | discernibility | groups | records per group |"
        );
        println!("|---|---|---|---|---|---|---|");
        for k in K {
            let pool = release(data, out, quasi, k, "pool")?;
            let block = release(data, out, quasi, k, "block")?;
            let metric = |name: &str| pool["metrics"][name].as_f64().unwrap_or(f64::NAN);
            println!(
                "| {k} | {:.4} | {:.4} | {:.4} | {:.0} | {} | {:.1} |",
                metric("ncp"),
                block["metrics"]["ncp"].as_f64().unwrap_or(f64::NAN),
                metric("information_loss_per_column"),
                metric("discernibility"),
                pool["groups"],
                metric("average_class_size"),
            );
        }
    }
    Ok(())
}

fn release(
    data: &Path,
    out: &Path,
    quasi: &[&str],
    k: i64,
    undersized: &str,
) -> Result<serde_json::Value, String> {
    let mut job = Job::default();
    job.input.paths = vec![data.join("adult.csv.gz").into()];
    // The 45,222 complete records, independent of the quasi-identifiers: all columns with missing
    // values are read.
    for column in ["workclass", "occupation", "native-country"] {
        job.set_role(column, RoleName::Sensitive);
    }
    for column in quasi {
        job.set_role(column, RoleName::Quasi);
        if *column != "age" {
            let file = data.join(format!("hierarchies/adult_hierarchy_{column}.csv"));
            job.column_mut(column).spec.hierarchy =
                Some(hierarchy_from_path(&file).map_err(|e| e.to_string())?);
        }
    }
    job.add_model("k-anonymity", [("k", Value::Integer(k))]);
    job.algorithm.params.push(("undersized".into(), Value::Word(undersized.into())));
    job.write_to(out.join("adult.csv"));
    // Benchmarks replace their earlier outputs.
    job.output.iter_mut().for_each(|output| output.replace = true);
    let report = incrowd::Anonymizer::new(&job).run().map_err(|e| e.to_string())?;
    Ok(report.manifest.to_json())
}
