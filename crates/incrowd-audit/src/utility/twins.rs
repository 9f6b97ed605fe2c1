//! Compares the measures with their definitions, record by record, with links between original and
//! released records.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::test_tables::{
    NAMES, Person, QUASI, admits, compare, domain, people, starred, untouched,
};
use super::*;
use incrowd_core::Silent;

fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

/// Returns `Σ −log₂ (p(v) / p(S))` over linked records. S contains all values for a suppressed
/// record.
fn linked_entropy(people: &[Person], column: usize) -> f64 {
    let count = |test: &dyn Fn(&String) -> bool| {
        people.iter().filter(|p| test(&p.values[column])).count() as f64
    };
    let cost = |p: &Person| {
        let own = count(&|v| *v == p.values[column]);
        let admitted = match &p.cells {
            Some(cells) => {
                let set = admits(people, column, &cells[column]);
                count(&|v| set.contains(v))
            }
            None => people.len() as f64,
        };
        -(own / admitted).log2()
    };
    people.iter().map(cost).sum()
}

/// Returns the distributions over combinations of values, of the original and of the
/// reconstruction.
fn spread(
    people: &[Person],
    columns: &[usize],
) -> (BTreeMap<Vec<String>, f64>, BTreeMap<Vec<String>, f64>) {
    let (mut original, mut release) = (BTreeMap::new(), BTreeMap::new());
    let published = people.iter().filter(|p| p.cells.is_some()).count() as f64;
    for p in people {
        let key: Vec<String> = columns.iter().map(|&c| p.values[c].clone()).collect();
        *original.entry(key).or_insert(0.0) += 1.0 / people.len() as f64;
        let Some(cells) = &p.cells else { continue };
        let mut keys: Vec<(Vec<String>, f64)> = vec![(Vec::new(), 1.0 / published)];
        for &c in columns {
            let set = admits(people, c, &cells[c]);
            let with = |(key, mass): (Vec<String>, f64)| {
                let each = mass / set.len() as f64;
                set.iter()
                    .map(|v| ([key.clone(), vec![v.clone()]].concat(), each))
                    .collect::<Vec<_>>()
            };
            keys = keys.into_iter().flat_map(with).collect();
        }
        for (key, mass) in keys {
            *release.entry(key).or_insert(0.0) += mass;
        }
    }
    (original, release)
}

fn distances(people: &[Person], columns: &[usize]) -> (f64, f64) {
    let (p, q) = spread(people, columns);
    let at =
        |map: &BTreeMap<Vec<String>, f64>, key: &Vec<String>| map.get(key).copied().unwrap_or(0.0);
    let kl = p.iter().map(|(key, p)| p * (p / at(&q, key)).ln()).sum();
    let keys: std::collections::BTreeSet<_> = p.keys().chain(q.keys()).collect();
    let tv = keys.into_iter().map(|key| (at(&p, key) - at(&q, key)).abs()).sum::<f64>() / 2.0;
    (kl, tv)
}

/// Returns Cramér's V by its definition.
fn v(table: &BTreeMap<Vec<String>, f64>) -> f64 {
    let (mut rows, mut columns) = (BTreeMap::new(), BTreeMap::new());
    for (key, mass) in table {
        *rows.entry(&key[0]).or_insert(0.0) += mass;
        *columns.entry(&key[1]).or_insert(0.0) += mass;
    }
    let least = rows.len().min(columns.len());
    let mut chi = 0.0;
    for (row, a) in &rows {
        for (column, b) in &columns {
            let have = table.get(&vec![(*row).clone(), (*column).clone()]).copied().unwrap_or(0.0);
            chi += (have - a * b) * (have - a * b) / (a * b);
        }
    }
    if least < 2 { 0.0 } else { (chi / (least - 1) as f64).sqrt() }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(300)
    })]

    #[test]
    fn entropy_without_links_equals_that_of_linked_records(people in people()) {
        let comparison = compare(&people);
        let mut sum = 0.0;
        for (c, column) in columns(&comparison).iter().enumerate() {
            let linked = linked_entropy(&people, c);
            let bits = super::non_uniform_entropy::of_line(&comparison.lines[c]).bits;
            prop_assert!(close(bits, linked), "{} {bits} {linked}", column.name);
            sum += if c < QUASI { linked } else { 0.0 };
        }
        let all = non_uniform_entropy(&comparison);
        prop_assert!(close(all.bits, sum));
        prop_assert!((0.0..=1.0 + 1e-9).contains(&all.share()), "{}", all.share());
    }

    #[test]
    fn distances_of_columns_equal_those_of_distributed_records(people in people()) {
        let columns = columns(&compare(&people));
        prop_assert_eq!(columns.len(), NAMES.len());
        for (c, column) in columns.iter().enumerate() {
            let (kl, tv) = distances(&people, &[c]);
            for (figure, expected) in [("kl_divergence", kl), ("total_variation", tv)] {
                let found = column.figure(figure).unwrap();
                prop_assert!(close(found, expected), "{} {found} {expected}", NAMES[c]);
            }
            prop_assert_eq!(column.lost_values > 0, kl.is_infinite());
            let cells: std::collections::BTreeSet<_> =
                people.iter().filter_map(|p| p.cells.as_ref()).map(|cells| &cells[c]).collect();
            prop_assert_eq!(column.cells, cells.len() as u64);
        }
    }

    #[test]
    fn pairs_equal_those_of_distributed_records(people in people()) {
        let pairs = pairs(&compare(&people));
        prop_assert_eq!(pairs.len(), NAMES.len() * (NAMES.len() - 1) / 2);
        for pair in pairs {
            let at = |name: &str| NAMES.iter().position(|n| *n == name).unwrap();
            let columns = [at(&pair.columns.0), at(&pair.columns.1)];
            let (kl, tv) = distances(&people, &columns);
            prop_assert!(close(pair.kl_divergence, kl), "{pair:?} {kl}");
            prop_assert!(close(pair.total_variation, tv), "{pair:?} {tv}");
            let (p, q) = spread(&people, &columns);
            prop_assert!(close(pair.original, v(&p)), "{pair:?} {}", v(&p));
            prop_assert!(close(pair.reconstructed, v(&q)), "{pair:?} {}", v(&q));
        }
    }

    #[test]
    fn an_unmodified_table_has_no_loss(people in people()) {
        let comparison = compare(&untouched(&people));
        for column in columns(&comparison) {
            prop_assert_eq!(column.ncp, 0.0);
            for figure in ["non_uniform_entropy", "kl_divergence", "total_variation"] {
                prop_assert_eq!(column.figure(figure), Some(0.0));
            }
            prop_assert_eq!(column.mean_width.unwrap_or(0.0), 0.0);
        }
        for pair in pairs(&comparison) {
            prop_assert_eq!(pair.original, pair.reconstructed);
            prop_assert_eq!((pair.kl_divergence, pair.total_variation), (0.0, 0.0));
        }
        let workload = Workload { queries: 50, ..Workload::default() };
        let found = query_error(&comparison, &workload, &Silent).unwrap();
        prop_assert_eq!(found.all.bounded_mean, Some(0.0));
        prop_assert_eq!(found.all.mean.unwrap_or(0.0), 0.0);
    }

    #[test]
    fn a_table_of_stars_has_maximum_loss(people in people()) {
        let people = starred(&people);
        let comparison = compare(&people);
        for (c, column) in columns(&comparison)[..QUASI].iter().enumerate() {
            let (p, _) = spread(&people, &[c]);
            let entropy: f64 = p.values().map(|p| -p * p.ln()).sum();
            // The divergence from a uniform distribution is the difference to the maximum entropy.
            let leaves = domain(&people, c).len() as f64;
            let kl = column.figure("kl_divergence").unwrap();
            prop_assert!(close(kl, leaves.ln() - entropy), "{column:?}");
            let lost = column.figure("non_uniform_entropy").unwrap();
            prop_assert!(close(lost, f64::from(u8::from(p.len() > 1))), "{column:?}");
            prop_assert_eq!(column.ncp, f64::from(u8::from(leaves > 1.0)));
        }
        for pair in pairs(&comparison).iter().filter(|p| p.columns.0 != "disease") {
            prop_assert!(pair.reconstructed.abs() < 1e-6, "{pair:?}");
        }
    }
}

/// Returns people whose age determines the disease: gout from 30.
fn by_age(count: u32, cell: impl Fn(u32) -> String) -> Vec<Person> {
    let person = |i: u32| {
        let age = 20 + (i * 7) % 25;
        let disease = if age >= 30 { "gout" } else { "flu" };
        let values = [age.to_string(), "Ayr".into(), "nurse".into(), disease.into()];
        let cells = [cell(age), "*".into(), "*".into(), disease.into()];
        Person { values, cells: Some(cells) }
    };
    (0..count).map(person).collect()
}

fn predict(people: &[Person]) -> Classification {
    let task = Task { target: Some("disease".into()), seed: 7 };
    classify(&compare(people), &task, &Silent).unwrap().unwrap()
}

#[test]
fn a_tree_learns_as_well_from_an_unmodified_table_as_from_the_original() {
    // Noise prevents perfect scores.
    let mut people = by_age(400, |age| age.to_string());
    for (i, p) in people.iter_mut().enumerate().filter(|(i, _)| i % 5 == 0) {
        p.values[3] = if i % 2 == 0 { "flu".into() } else { "gout".into() };
    }
    let c = predict(&untouched(&people));
    assert_eq!(c.from_release, c.from_originals);
    assert!(c.from_originals.accuracy > 0.85 && c.from_originals.accuracy < 1.0, "{c:?}");
    assert!(c.from_originals.auc.unwrap() > 0.85, "{c:?}");
}

#[test]
fn a_tree_learns_the_majority_from_stars() {
    let c = predict(&starred(&by_age(300, |age| age.to_string())));
    assert_eq!((c.from_release.accuracy, c.from_release.auc), (c.majority.accuracy, Some(0.5)));
    assert_eq!(c.from_release.balanced_accuracy, 0.5);
    assert_eq!(c.from_originals.accuracy, 1.0);
    assert!((c.majority.accuracy - 0.6).abs() < 0.1, "{c:?}");
}

#[test]
fn a_tree_learns_a_boundary_only_if_the_ranges_keep_it() {
    // Ranges count as their midpoints. The boundary between ranges can be learned only if all
    // ranges have the same width.
    let kept = predict(&by_age(300, |age| format!("[{}, {}]", age / 10 * 10, age / 10 * 10 + 9)));
    assert_eq!(kept.from_release.accuracy, 1.0);
    let blurred =
        predict(&by_age(300, |age| if age < 35 { "[20, 34]" } else { "[35, 44]" }.to_owned()));
    assert!(blurred.from_release.accuracy < 0.9, "{blurred:?}");
    assert!(blurred.from_release.accuracy > 0.5, "{blurred:?}");
}

#[test]
fn several_classes_are_distinguished() {
    let mut people = by_age(600, |age| age.to_string());
    for p in &mut people {
        let age: u32 = p.values[0].parse().unwrap();
        p.values[3] = ["flu", "cold", "gout"][(age as usize - 20) / 9].to_owned();
    }
    let c = predict(&untouched(&people));
    assert_eq!((c.classes, c.from_release.accuracy, c.from_release.auc), (3, 1.0, None));
}

#[test]
fn impossible_targets_are_refused() {
    let people = by_age(60, |age| age.to_string());
    let comparison = compare(&people);
    let message = |name: &str| {
        classify(&comparison, &Task { target: Some(name.into()), seed: 1 }, &Silent)
            .unwrap_err()
            .to_string()
    };
    assert!(message("age").contains("quasi-identifier"));
    assert!(message("diseese").contains("no column `diseese`"));
    let mut same = people;
    same.iter_mut().for_each(|p| p.values[3] = "flu".into());
    let comparison = compare(&untouched(&same));
    let task = Task { target: Some("disease".into()), seed: 1 };
    assert!(classify(&comparison, &task, &Silent).unwrap_err().to_string().contains("one value"));
    assert_eq!(classify(&comparison, &Task { target: None, seed: 1 }, &Silent).unwrap(), None);
}

#[test]
fn a_cell_that_covers_no_value_is_refused_without_showing_it() {
    let mut people = by_age(5, |age| age.to_string());
    people[0].cells.as_mut().unwrap()[2] = "baker".into();
    let refused = std::panic::catch_unwind(|| compare(&people)).unwrap_err();
    let text = refused.downcast_ref::<String>().unwrap();
    assert!(
        text.contains("`job`") && text.contains("covers no value") && !text.contains("baker"),
        "{text}"
    );
}
