//! Cost against the number of records.

use std::path::Path;

use incrowd::front_end::core::{ColumnSpec, HierarchySpec, SensitiveSpec};

use super::measure::{Ask, bind, measure};
use super::table::{Table, make_table};
use crate::chart::{Chart, Line};

/// With distances over all eight attributes nearly every row is a distinct point, and the search
/// for outliers grows faster than linearly; larger tables are skipped.
const EIGHT_MOST: u64 = 20_000;

const EIGHT: [&str; 8] =
    ["age", "sex", "education", "marital", "race", "workclass", "country", "occupation"];

/// Measures the cost against the number of records of a generated table of eight quasi-identifiers.
pub(super) fn growth(text: &mut String, dir: &Path, most: u64) -> Result<(), String> {
    put!(text, "\n### Generated census-like records, eight quasi-identifiers, expc-plus, k = 15\n");
    put!(
        text,
        "| distance attributes | records | distinct rows | points | outliers | left out | forced | loss per column | average group | boxes and corners | processor seconds | cost per record, the first line being 1 |"
    );
    put!(text, "|---|---|---|---|---|---|---|---|---|---|---|---|");
    let (mut loss, mut size, mut time) = (Vec::new(), Vec::new(), Vec::new());
    let few: &[&str] = &["age", "education", "occupation"];
    // Settings with outliers: with few distance attributes, p = 0.8 and d = 0.85 give none.
    for (name, attributes, p, d, limit) in [
        ("age, education, occupation (p = 0.9, d = 0.5)", few, 0.9, 0.5, most),
        ("all eight (p = 0.8, d = 0.85)", &[] as &[&str], 0.8, 0.85, most.min(EIGHT_MOST)),
    ] {
        let mut first = None;
        let (mut own_loss, mut own_size, mut own_time) = (Vec::new(), Vec::new(), Vec::new());
        for n in
            [10_000, 20_000, 50_000, 100_000, 200_000, 500_000].into_iter().filter(|&n| n <= limit)
        {
            let path = make_table(dir, incrowd_synth::Table::Salaries, n)?;
            let spec = |column: &&str| ColumnSpec {
                hierarchy: incrowd_synth::hierarchy(incrowd_synth::Table::Salaries, column)
                    .map(|text| HierarchySpec::Arx { name: (*column).to_owned(), text }),
                ..ColumnSpec::default()
            };
            let columns: Vec<&str> = EIGHT.iter().copied().chain(["salary_class"]).collect();
            let table = Table::load(
                &path,
                &columns,
                EIGHT.iter().map(spec).collect(),
                SensitiveSpec::default(),
            )?;
            let data = table.sample(u64::MAX, 1)?;
            let ask = Ask { k: 15, p, d, attributes };
            let points = bind(&data, &ask)?.outliers().map_or(0, |o| o.points());
            let r = match measure(&data, &ask, "expc-plus", false) {
                Ok(run) => run,
                Err(why) => {
                    put!(
                        text,
                        "| {name} | {n} | {} | {points} | {why} | | | | | | | |",
                        data.rows()
                    );
                    continue;
                }
            };
            let share = |x: u64| 100.0 * x as f64 / data.records() as f64;
            let (outliers, forced) =
                r.forced.map_or((0, 0), |f| (f.outliers.global + f.outliers.local, f.removals()));
            let first = *first.get_or_insert(r.seconds / n as f64);
            put!(
                text,
                "| {name} | {n} | {} | {points} | {:.1} % | {:.1} % | {:.1} % | {:.4} | {:.1} | {:.0} | {:.1} | {:.2} |",
                data.rows(),
                share(outliers),
                100.0 * r.removed,
                share(forced),
                r.per_column,
                r.group,
                r.looked,
                r.seconds,
                r.seconds / n as f64 / first
            );
            eprintln!("{name}, {n} records: {:.1} s", r.seconds);
            own_loss.push((n as f64, r.per_column));
            own_size.push((n as f64, r.group));
            own_time.push((n as f64, r.seconds));
        }
        let line = |points| Line { name: name.to_owned(), points };
        loss.push(line(own_loss));
        size.push(line(own_size));
        time.push(line(own_time));
    }
    for (file, y, lines) in [
        ("loss", "loss per column", loss),
        ("group", "average group", size),
        ("seconds", "processor seconds", time),
    ] {
        let svg = Chart { x: "records".to_owned(), y: y.to_owned(), lines }.svg();
        std::fs::write(dir.join(format!("plain-{file}-n.svg")), svg).map_err(|e| e.to_string())?;
    }
    Ok(())
}
