//! Tests of the cards: a model that is declared to survive merging or suppression does so on random
//! tables, and for every other model there is a counterexample.

use proptest::prelude::*;

use super::{Millionths, Row, Table, count, privacy_model, tables, word};
use incrowd_core::model::{Card, MODELS, Need};
use incrowd_core::{Categories, GroupSummary, SensitiveSpec, Value};

const NUMBERS: &[&str] = &["0", "1", "1.5", "4", "9"];
const DISEASES: &[&str] = &["flu", "cold", "gout"];
/// The number of people of the population, each a bit of a mask.
const PEOPLE: u32 = 8;

type Given = Vec<(&'static str, Value)>;

/// Parameters from loose to strict, including every option. Fails for a model without an entry, so
/// that new models are added here.
fn given(name: &str, pick: usize) -> Given {
    let missing = || {
        panic!(
            "`{name}` is on the list of models: give it parameters in `given_if_known` of {}",
            file!()
        )
    };
    given_if_known(name, pick).unwrap_or_else(missing)
}

fn given_if_known(name: &str, pick: usize) -> Option<Given> {
    let number = |digits: i128| Millionths(digits).value();
    let on = ("on", word("a"));
    let step = pick % 4;
    let share = number([300_000, 500_000, 667_000, 900_000][step]);
    let (few, k) = (count([1, 2, 2, 3][step]), count([1, 2, 3, 4][step]));
    let choice = |words: &[&str]| word(words[pick / 4 % words.len()]);
    Some(match name {
        "k-anonymity" | "k-map" => vec![("k", k)],
        "l-diversity" => match pick / 4 % 4 {
            2 => vec![
                ("l", few),
                ("kind", word("recursive")),
                ("c", number([700_000, 1_000_000, 2_000_000, 3_500_000][step])),
                on,
            ],
            form => {
                vec![("l", few), ("kind", word(["distinct", "entropy", "", "frequency"][form])), on]
            }
        },
        "t-closeness" => vec![("t", share), ("distance", choice(&["equal", "ordered"])), on],
        "alpha-k-anonymity" => vec![("alpha", share), ("k", few), on],
        "k-e-anonymity" => {
            vec![("k", few), ("e", number([0, 1_000_000, 1_500_000, 5_000_000][step])), on]
        }
        "epsilon-m-anonymity" => vec![
            ("epsilon", number([0, 500_000, 1_000_000, 3_000_000][step])),
            ("m", few),
            ("neighbourhood", choice(&["absolute", "relative"])),
            on,
        ],
        "beta-likeness" => vec![("beta", share), ("kind", choice(&["basic", "enhanced"])), on],
        "delta-disclosure" => vec![("delta", share), on],
        "delta-presence" => {
            vec![("delta_min", number([0, 200_000, 0, 300_000][step])), ("delta_max", share)]
        }
        "p-sensitive" => vec![("p", few), ("k", k), on],
        "p-alpha-sensitive" | "p-plus-alpha-sensitive" => {
            let mut given = vec![
                ("p", few),
                ("k", k),
                ("alpha", number([0, 500_000, 1_000_000, 2_500_000][step])),
                on,
            ];
            match pick / 4 % 3 {
                1 => {
                    given.push(("mean_weight", number([100_000, 300_000, 500_000, 800_000][step])))
                }
                2 => given.push(("max_category_share", share)),
                _ => {}
            }
            given
        }
        // Its groups have no region here, so none is admitted; the tests of outliers cover it.
        "plain-k-anonymity" => {
            vec![("k", few), ("p", share), ("d", number([0, 300_000, 500_000, 900_000][step])), on]
        }
        _ => return None,
    })
}

/// A column specification in which every value of these tests has one of three categories.
fn categorized() -> SensitiveSpec {
    let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let categories = vec![
        ("top".to_owned(), own(&["0", "flu", "100"])),
        ("mid".to_owned(), own(&["1", "1.5", "cold", "-1", "x"])),
        ("low".to_owned(), own(&["4", "9", "gout"])),
    ];
    SensitiveSpec {
        categories: Some(Categories::new(categories).unwrap()),
        ..SensitiveSpec::default()
    }
}

fn is_numeric(card: &Card) -> bool {
    card.params.iter().any(|param| ["e", "epsilon", "d"].contains(&param.name))
}

/// Whether a model admits a group whose cells cover these people.
fn admits(table: &Table, card: &Card, params: &Given, group: &GroupSummary, covered: u32) -> bool {
    let population = u64::from(covered.count_ones());
    table.bind(card.name, params).admits(&GroupSummary { population, ..group.clone() }).holds
}

/// Whether the model admits all groups of a table, and the people that no group covers.
fn admits_all(table: &Table, card: &Card, params: &Given, covered: &[u32]) -> bool {
    let groups = table.groups.iter().zip(covered);
    let outside = !covered.iter().fold(0, |all, one| all | one) & ((1 << PEOPLE) - 1);
    let empty = GroupSummary::empty(1);
    groups.clone().all(|(group, &people)| admits(table, card, params, group, people))
        && (!card.needs.contains(&Need::Population) || admits(table, card, params, &empty, outside))
}

/// Whether two groups of a table are admitted while their union is not.
fn merging_breaks(table: &Table, card: &Card, params: &Given, covered: &[u32], more: u32) -> bool {
    let admitted = |g: usize| admits(table, card, params, &table.groups[g], covered[g]);
    let count = table.groups.len();
    let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
    pairs.filter(|&(a, b)| admitted(a) && admitted(b)).any(|(a, b)| {
        let mut union = table.groups[a].clone();
        union.merge(&table.groups[b]);
        // The cells of a union cover the people of its parts, and possibly more.
        !admits(table, card, params, &union, covered[a] | covered[b] | more)
    })
}

/// Whether an admitted release is no longer admitted if its first group is suppressed.
fn suppressing_breaks(rows: &[Row], card: &Card, params: &Given, covered: &[u32]) -> bool {
    let table = Table::new(rows, &[categorized()]);
    if table.groups.len() < 2 || !admits_all(&table, card, params, covered) {
        return false;
    }
    let left: Vec<Row> =
        rows.iter().filter(|r| r.0 > 0).map(|(g, values, n)| (g - 1, values.clone(), *n)).collect();
    !admits_all(&Table::new(&left, &[categorized()]), card, params, &covered[1..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn declared_properties_hold_on_random_tables(
        numbers in tables(NUMBERS, 1),
        covered in prop::collection::vec(1u32..1 << PEOPLE, 4),
        more in 0u32..1 << PEOPLE,
        pick in 0usize..12,
    ) {
        for card in MODELS {
            // A model without an entry is reported by another test, without shrinking.
            let Some(params) = given_if_known(card.name, pick) else { continue };
            let table = Table::new(&numbers, &[categorized()]);
            let covered = &covered[..table.groups.len()];
            if card.survives.merging {
                let breaks = merging_breaks(&table, card, &params, covered, more);
                prop_assert!(!breaks, "{} {:?}", card.name, params);
            }
            if card.survives.suppressing {
                let breaks = suppressing_breaks(&numbers, card, &params, covered);
                prop_assert!(!breaks, "{} {:?}", card.name, params);
            }
        }
    }
}

fn rows(groups: &[&[&str]]) -> Vec<Row> {
    let row = |group: usize| move |value: &&str| (group, vec![(*value).to_owned()], 1);
    groups.iter().enumerate().flat_map(|(group, values)| values.iter().map(row(group))).collect()
}

/// Every property that is declared false has a counterexample, so no algorithm refuses a model
/// without need.
#[test]
fn every_undeclared_property_has_a_counterexample() {
    let declared = |survives: &dyn Fn(&Card) -> bool| {
        MODELS.iter().filter(|card| !survives(card)).map(|card| card.name).collect::<Vec<_>>()
    };
    let card = |name: &str| MODELS.iter().copied().find(|card| card.name == name).unwrap();
    let on = ("on", word("a"));

    let broken = ["epsilon-m-anonymity", "delta-presence", "plain-k-anonymity"];
    let advice = format!("add a counterexample for merging in {}", file!());
    assert_eq!(declared(&|card| card.survives.merging), broken, "{advice}");
    // In each group one record in two is near any other; in the union three of four numbers are
    // within 1 of 0.
    let near = Table::new(&rows(&[&["0", "100"], &["-1", "1"]]), &[categorized()]);
    let params = vec![("epsilon", Millionths(1_000_000).value()), ("m", count(2)), on.clone()];
    assert!(merging_breaks(&near, card("epsilon-m-anonymity"), &params, &[0, 0], 0));
    // Two records, each of one of two people: in the union both people are certainly in the table.
    let two = Table::new(&rows(&[&["x"], &["x"]]), &[categorized()]);
    let params = vec![("delta_max", Millionths(500_000).value())];
    assert!(merging_breaks(&two, card("delta-presence"), &params, &[0b11, 0b11], 0));

    let fragile = ["t-closeness", "beta-likeness", "delta-disclosure", "delta-presence"];
    let advice = format!("add a counterexample for suppression in {}", file!());
    assert_eq!(declared(&|card| card.survives.suppressing), fragile, "{advice}");
    // Flu is as frequent as cold until a group is suppressed; then the reference distribution
    // changes.
    let mixed = rows(&[
        &["flu", "flu", "cold"],
        &["flu", "flu", "cold"],
        &["flu", "cold", "cold"],
        &["flu", "cold", "cold"],
    ]);
    for (name, parameter, digits) in [
        ("t-closeness", "t", 170_000),
        ("beta-likeness", "beta", 340_000),
        ("delta-disclosure", "delta", 406_000),
    ] {
        let params = vec![(parameter, Millionths(digits).value()), on.clone()];
        assert!(suppressing_breaks(&mixed, card(name), &params, &[0; 4]), "{name}");
    }
    // People covered only by the suppressed group are certainly absent.
    let params = vec![
        ("delta_min", Millionths(100_000).value()),
        ("delta_max", Millionths(500_000).value()),
    ];
    let covered = [0b0000_1111, 0b1111_0000];
    assert!(suppressing_breaks(
        &rows(&[&["x"], &["x"]]),
        card("delta-presence"),
        &params,
        &covered
    ));
}

/// Exactly the models for numbers refuse texts.
#[test]
fn models_for_numbers_refuse_texts() {
    let table = Table::new(&rows(&[DISEASES]), &[categorized()]);
    for card in MODELS {
        let bound = privacy_model(card.name, &given(card.name, 1)).model.bind(&table.data);
        let advice = format!(
            "`is_numeric` in {} recognizes models for numbers by their parameters",
            file!()
        );
        assert_eq!(bound.is_err(), is_numeric(card), "{}: {advice}", card.name);
    }
}
