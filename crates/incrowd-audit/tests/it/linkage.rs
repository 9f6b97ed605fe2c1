//! Record linkage and interval disclosure, compared with all pairs, and with planted victims.

use incrowd_audit::attack::{Adversary, Published};
use incrowd_core::{ColumnSpec, Dataset, Folded};
use proptest::prelude::*;

use crate::attack::{missing, run};

const NAMES: [&str; 2] = ["age", "city"];

fn table(records: &[[String; 2]]) -> Folded {
    let cells =
        records.iter().map(|record| record.iter().map(|cell| Some(cell.as_str())).collect());
    Folded::from_records(&NAMES, cells, true)
}

fn texts(records: &[[&str; 2]]) -> Vec<[String; 2]> {
    records.iter().map(|record| record.map(str::to_owned)).collect()
}

/// Returns the finding of an attack on a release of an original.
fn attacked(
    name: &str,
    original: &[[String; 2]],
    release: &[[String; 2]],
) -> incrowd_audit::attack::Finding {
    let specs = vec![ColumnSpec::default(); 2];
    let data = Dataset::encode(table(original), &[&specs[0], &specs[1]], &[], "?");
    let data = data.map_err(|e| e.misfit.error).unwrap();
    let (release, missing) = (table(release), missing());
    let mut adversary = Adversary::new(Published::new(&release, &specs), &missing);
    adversary.original = Some((&data, &[]));
    run(name, &adversary, None).findings.remove(0)
}

/// Returns the number of records whose cells cover a person's values.
fn candidates(person: &[String; 2], release: &[[String; 2]]) -> usize {
    let covers = |cell: &str, value: &str| {
        let range = cell.trim_matches(['[', ']']).split_once(", ").unwrap_or((cell, cell));
        let number = |text: &str| text.parse::<f64>();
        match (number(range.0), number(range.1), number(value)) {
            _ if cell == "*" => true,
            (Ok(lo), Ok(hi), Ok(x)) => (lo..=hi).contains(&x),
            _ => cell == value,
        }
    };
    release.iter().filter(|cells| (0..2).all(|q| covers(&cells[q], &person[q]))).count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn candidates_are_all_records_whose_cells_cover_a_person(
        drawn in prop::collection::vec(
            (20u32..30, 0usize..3, 0u32..3, prop::bool::ANY, prop::bool::ANY),
            2..30,
        ),
    ) {
        let cities = ["Oslo", "Pau", "Rome"];
        let original: Vec<[String; 2]> =
            drawn.iter().map(|d| [d.0.to_string(), cities[d.1].to_owned()]).collect();
        let release: Vec<[String; 2]> = drawn.iter().map(|d| {
            let age = match (d.2, d.3) {
                (0, _) => d.0.to_string(),
                (_, true) => "*".to_owned(),
                (width, _) => format!("[{}, {}]", d.0 - width, d.0 + 1),
            };
            [age, if d.4 { "*".to_owned() } else { cities[d.1].to_owned() }]
        }).collect();
        let found = attacked("record-linkage", &original, &release);
        let chances: Vec<f64> =
            original.iter().map(|p| 1.0 / candidates(p, &release) as f64).collect();
        let average = chances.iter().sum::<f64>() / chances.len() as f64;
        prop_assert!((found.average - average).abs() < 1e-9);
        prop_assert_eq!(found.worst, chances.iter().copied().fold(0.0, f64::max));
        prop_assert_eq!(found.of, original.len() as u64);
        prop_assert_eq!(found.fact("nothing_covers"), Some(0.0));
    }
}

#[test]
fn a_single_missing_city_identifies_the_victim() {
    let original = texts(&[["30", "Oslo"], ["30", "Oslo"], ["30", "Oslo"], ["30", "Pau"]]);
    // If missing cells match any value, this is a group of four. But only the last record can be
    // from Pau.
    let weak = texts(&[["30", "Oslo"], ["30", "Oslo"], ["30", "Oslo"], ["30", "*"]]);
    let found = attacked("record-linkage", &original, &weak);
    assert_eq!((found.worst, found.at_risk, found.fact("one_candidate")), (1.0, 1, Some(1.0)));
    let strong = texts(&[["30", "*"], ["30", "*"], ["30", "*"], ["30", "*"]]);
    assert_eq!(attacked("record-linkage", &original, &strong).worst, 0.25);
}

#[test]
fn means_are_linked_by_distance() {
    let original = texts(&[["20", "Pau"], ["22", "Pau"], ["40", "Pau"], ["44", "Pau"]]);
    let means = texts(&[["21", "Pau"], ["21", "Pau"], ["42", "Pau"], ["42", "Pau"]]);
    let found = attacked("record-linkage", &original, &means);
    assert_eq!((found.worst, found.fact("nothing_covers")), (0.5, Some(4.0)));
    assert!(found.owner_only && !found.notes.is_empty());
}

#[test]
fn narrow_ranges_disclose_numbers() {
    let original = texts(&[["20", "Pau"], ["30", "Pau"], ["50", "Pau"], ["60", "Pau"]]);
    let found = attacked(
        "interval-disclosure",
        &original,
        &texts(&[["20", "Pau"], ["30", "Pau"], ["[50, 60]", "Pau"], ["[50, 60]", "Pau"]]),
    );
    assert_eq!((found.worst, found.at_risk, found.column.as_deref()), (1.0, 2, Some("age")));
    let wide = attacked(
        "interval-disclosure",
        &original,
        &texts(&[
            ["[20, 30]", "Pau"],
            ["[20, 30]", "Pau"],
            ["[50, 60]", "Pau"],
            ["[50, 60]", "Pau"],
        ]),
    );
    // Midpoints 25 and 55, ranges of width 10: the variance is 225 + 100 / 12.
    assert!((wide.worst - 0.2 * (225.0f64 + 100.0 / 12.0).sqrt() / 10.0).abs() < 1e-12);
    assert_eq!(wide.at_risk, 0);
}
