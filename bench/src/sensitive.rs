//! The experiment of `sun2008` on Adult: the number of minimal tables of each model, how many of
//! them the similarity attack reaches, and the smallest loss; next to the figures of the paper.

use std::collections::BTreeMap;
use std::path::Path;

use incrowd::front_end::core::{
    Categories, Code, ColumnSpec, Dataset, Domain, Folded, HierarchySpec, SensitiveSpec, Span,
};
use incrowd::front_end::recode::Method;
use incrowd::front_end::recode::full_domain::SearchReport;
use incrowd::job::hierarchy_from_path;
use incrowd::model::PrivacyModel;
use incrowd::{Embedded, Engine, FoldSpec, Options, Silent, Value};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The quasi-identifiers, in the order of the paper's Table 9.
const SEVEN: [&str; 7] =
    ["age", "workclass", "education", "native-country", "marital-status", "race", "sex"];
/// The paper counts three levels of race; the public hierarchy has two.
const RACE: &str = "White;White;*\nAsian-Pac-Islander;Non-White;*\nAmer-Indian-Eskimo;Non-White;*\nOther;Non-White;*\nBlack;Non-White;*\n";
/// Eight health conditions in four categories, most sensitive first, as in the paper's Table 4.
const CONDITIONS: [(&str, [&str; 2]); 4] = [
    ("Top Secret", ["HIV", "Cancer"]),
    ("Secret", ["Phthisis", "Hepatitis"]),
    ("Less Secret", ["Heart Disease", "Asthma"]),
    ("Non Secret", ["Flu", "Indigestion"]),
];
/// Model, the paper's figures, and its parameters with p = 2, k = 4, alpha = 2.
const MODELS: [(&str, &str, bool); 3] = [
    ("p-sensitive", "21 / 13", false),
    ("p-alpha-sensitive", "30 / 7", true),
    ("p-plus-alpha-sensitive", "28 / 3", true),
];

/// The generation of the health condition, which Adult does not have.
#[derive(Clone, Copy)]
enum Conditions {
    /// At random, each equally likely.
    Uniform,
    /// By the decade of age and the sex, except for three in a hundred.
    Correlated,
}

/// Prints the table for both kinds of generated conditions and `seeds` seeds each.
pub(crate) fn run(seeds: u64, data: &Path) -> Result<(), String> {
    println!(
        "| records | race levels | condition | seed | model | nodes | hold | minimal / vulnerable | paper | people exposed at worst | \
         least distortion | local recoding |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for file in ["adult.csv.gz", "adult_arx.csv.gz"] {
        let path = data.join(file);
        if !path.exists() {
            return Err(format!(
                "skipped: no {file} in {} (set INCROWD_DATA or use --data)",
                data.display()
            ));
        }
        let table = fold(&path)?;
        for race in [2, 3] {
            for (conditions, name) in
                [(Conditions::Uniform, "uniform"), (Conditions::Correlated, "correlated")]
            {
                for seed in 1..=seeds {
                    let table = encode(&with_conditions(&table, conditions, seed), data, race)?;
                    for (model, paper, _) in MODELS {
                        let found = search(&table, model)?;
                        println!(
                            "| {} | {race} | {name} | {seed} | {model} | {} | {paper} | {} |",
                            table.records(),
                            found[0],
                            found[1],
                        );
                    }
                }
            }
        }
    }
    Ok(())
}

fn fold(path: &Path) -> Result<Folded, String> {
    let mut engine =
        Embedded::open(&[path.to_owned()], &Options::default()).map_err(|e| e.to_string())?;
    let spec = FoldSpec {
        // People without an occupation are omitted too, as in the paper: 45,222 remain.
        columns: SEVEN.iter().chain(&["occupation"]).map(|&column| column.to_owned()).collect(),
        missing: ["", "?", "NA"].map(str::to_owned).to_vec(),
        drop_missing: true,
        passthrough: Vec::new(),
        ..FoldSpec::default()
    };
    engine.fold(&spec, &Silent).map_err(|e| e.to_string())
}

/// Returns the seven columns with a health condition for every record. Equal seeds give equal
/// tables.
fn with_conditions(table: &Folded, conditions: Conditions, seed: u64) -> Folded {
    let mut people: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
    for (row, n) in table.weights.iter().enumerate() {
        let cells = table.columns.iter().zip(table.row(row)).take(SEVEN.len());
        let cells = cells.map(|(column, &code)| column.texts[code as usize].as_str()).collect();
        *people.entry(cells).or_default() += n;
    }
    let mut draw = ChaCha8Rng::seed_from_u64(seed);
    let values: Vec<&str> = CONDITIONS.iter().flat_map(|(_, values)| *values).collect();
    let mut records = Vec::new();
    for (cells, n) in people {
        let decade = cells[0].parse().unwrap_or(0) / 10;
        let told = (decade * 2 + usize::from(cells[6] == "Male")) % values.len();
        for _ in 0..n {
            let condition = match conditions {
                Conditions::Correlated if draw.random_range(0..100) < 97 => told,
                _ => draw.random_range(0..values.len()),
            };
            records.push(cells.iter().copied().chain([values[condition]]).map(Some).collect());
        }
    }
    let names: Vec<&str> = SEVEN.iter().copied().chain(["health condition"]).collect();
    Folded::from_records(&names, records, true)
}

fn encode(folded: &Folded, data: &Path, race: usize) -> Result<Dataset, String> {
    let spec = |column: &str| -> Result<ColumnSpec, String> {
        let file = data.join(format!("hierarchies/adult_hierarchy_{column}.csv"));
        let hierarchy = match column {
            "race" if race == 3 => {
                HierarchySpec::Arx { name: column.to_owned(), text: RACE.to_owned() }
            }
            _ => hierarchy_from_path(&file).map_err(|e| e.to_string())?,
        };
        Ok(ColumnSpec { hierarchy: Some(hierarchy), ..ColumnSpec::default() })
    };
    let specs = SEVEN.iter().map(|column| spec(column)).collect::<Result<Vec<_>, _>>()?;
    let list =
        CONDITIONS.map(|(name, values)| (name.to_owned(), values.map(str::to_owned).to_vec()));
    let categories = Some(Categories::new(list.to_vec()).map_err(|e| e.to_string())?);
    let sensitive = SensitiveSpec { categories, ..SensitiveSpec::default() };
    Dataset::encode(folded.clone(), &specs.iter().collect::<Vec<_>>(), &[&sensitive], "?")
        .map_err(|e| e.misfit.error.to_string())
}

/// Returns the cells of a row of the table, before and after those of the paper.
fn search(table: &Dataset, model: &str) -> Result<[String; 2], String> {
    let mut params = vec![("p", Value::Integer(2)), ("k", Value::Integer(4))];
    if MODELS.iter().any(|(name, _, weighted)| *name == model && *weighted) {
        params.push(("alpha", Value::Integer(2)));
    }
    let privacy_model =
        PrivacyModel::new(model, params.into_iter().map(|(name, value)| (name.to_owned(), value)));
    let models = [privacy_model.and_then(|p| p.model.bind(table)).map_err(|e| e.to_string())?];
    let full_domain = Method::new("full-domain", []).map_err(|e| e.to_string())?;
    let made = full_domain.algorithm.recode_and_report(table, &models, 0, &Silent);
    let made = made.map_err(|e| e.to_string())?;
    let report: &SearchReport = made.report_as().ok_or("no search was reported")?;
    let exposed: Vec<u64> =
        report.minimal.iter().map(|node| similar(table, &node.levels)).collect();
    let vulnerable = exposed.iter().filter(|people| **people > 0).count();
    let local = Method::new("local-recoding", []).map_err(|e| e.to_string())?;
    let local = local.algorithm.recode(table, &models, 0, &Silent).map_err(|e| e.to_string())?;
    let table = table.clone().divided(local.divided());
    let mut steps = 0;
    for row in 0..table.rows() {
        let spans = local.group(row).map(|group| local.spans(group));
        for (q, span) in spans.into_iter().flatten().enumerate() {
            let quasi = &table.quasi()[q];
            steps +=
                table.weight(row) * height(&quasi.domain, Code(table.quasi_codes(row)[q]), *span);
        }
    }
    let all: u64 = table.quasi().iter().map(|quasi| quasi.leaf_depth).sum();
    Ok([
        format!(
            "{} | {} | {} / {vulnerable}",
            report.nodes,
            report.satisfying,
            report.minimal.len()
        ),
        format!(
            "{} | {:.4} | {:.4}",
            exposed.iter().max().copied().unwrap_or(0),
            report.best.value,
            steps as f64 / all as f64
        ),
    ])
}

/// Returns the level at which the value is published with this span.
fn height(domain: &Domain, code: Code, span: Span) -> u64 {
    let levels = domain.levels();
    let at =
        (0..levels).find(|&level| domain.level_span(code, level) == span).unwrap_or(levels - 1);
    (domain.level_depth(code, 0) - domain.level_depth(code, at)) as u64
}

/// Returns the number of people in groups of one category at these levels, counted again.
fn similar(table: &Dataset, levels: &[u32]) -> u64 {
    let mut groups: BTreeMap<Vec<String>, (u64, [bool; 4])> = BTreeMap::new();
    let labels: Vec<Vec<String>> = table
        .quasi()
        .iter()
        .zip(levels)
        .map(|(quasi, &level)| {
            (0..quasi.domain.leaves())
                .map(|c| quasi.domain.level_label(Code(c), level as usize))
                .collect()
        })
        .collect();
    let sensitive = &table.sensitive()[0];
    let category = |code: u32| {
        let value = &sensitive.values[code as usize];
        CONDITIONS.iter().position(|(_, values)| values.contains(&value.as_str())).unwrap_or(0)
    };
    for row in 0..table.rows() {
        let cells = table
            .quasi_codes(row)
            .iter()
            .zip(&labels)
            .map(|(&c, labels)| labels[c as usize].clone());
        let group = groups.entry(cells.collect()).or_default();
        group.0 += table.weight(row);
        group.1[category(table.sensitive_codes(row)[0])] = true;
    }
    let alike = groups.values().filter(|(_, seen)| seen.iter().filter(|s| **s).count() == 1);
    alike.map(|(people, _)| people).sum()
}
