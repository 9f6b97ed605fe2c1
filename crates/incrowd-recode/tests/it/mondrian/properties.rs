//! Properties of all partitions, on random tables.

use super::common::{k_anonymity, table, tree};
use incrowd_core::model::{BoundModel, Verdict};
use incrowd_core::{Code, ColumnSpec, Dataset, GroupSummary, Kind, Partition, Plan, Silent};
use incrowd_recode::Algorithm;
use incrowd_recode::mondrian::{Cut, Dimension, Mondrian, Undersized};
use proptest::prelude::*;

const NAMES: [&str; 4] = ["age", "country", "city", "disease"];

fn specs() -> [ColumnSpec; 3] {
    [
        ColumnSpec::default(),
        tree("A = [\"a\", \"b\", \"c\"]\nB = [\"d\", \"e\"]\nC = [\"f\"]"),
        ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() },
    ]
}

fn records() -> impl Strategy<Value = Vec<Vec<String>>> {
    let record =
        (0u32..12, 0usize..6, 0usize..4, 0usize..3).prop_map(|(age, country, city, disease)| {
            vec![
                age.to_string(),
                ["a", "b", "c", "d", "e", "f"][country].to_owned(),
                ["p", "q", "r", "s"][city].to_owned(),
                ["flu", "cold", "none"][disease].to_owned(),
            ]
        });
    prop::collection::vec(record, 6..60)
}

fn mondrian() -> impl Strategy<Value = Mondrian> {
    let dimension = prop_oneof![
        Just(Dimension::Widest),
        Just(Dimension::RoundRobin),
        Just(Dimension::Priority(vec!["country".into(), "age".into()])),
    ];
    let cut = prop_oneof![Just(Cut::Strict), Just(Cut::Relaxed)];
    let undersized = prop_oneof![Just(Undersized::Pool), Just(Undersized::Block)];
    (cut, undersized, dimension).prop_map(|(cut, undersized, dimension)| Mondrian {
        cut,
        undersized,
        dimension,
    })
}

/// A model that depends on the sensitive values.
#[derive(Debug)]
struct TwoDiseases;

impl BoundModel for TwoDiseases {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        let distinct = group.sensitive[0].entries().len();
        Verdict::at_least("fewest values", distinct as f64, 2.0, distinct >= 2)
    }

    fn sensitive_column(&self) -> Option<usize> {
        Some(0)
    }
}

fn summaries(data: &Dataset, partition: &Partition) -> Vec<GroupSummary> {
    let mut groups = vec![GroupSummary::empty(1); partition.groups()];
    for row in 0..data.rows() {
        let group = partition.group(row).expect("Mondrian suppresses nothing");
        groups[group.index()].add(data.weight(row), data.sensitive_codes(row));
    }
    groups
}

fn check_cells(data: &Dataset, partition: &Partition) -> Result<(), TestCaseError> {
    let plan = Plan::new(data, partition);
    for row in 0..data.rows() {
        let group = partition.group(row).unwrap();
        for (q, quasi) in data.quasi().iter().enumerate() {
            let code = Code(data.quasi_codes(row)[q]);
            let span = partition.spans(group)[q];
            prop_assert!(span.lo <= code && code <= span.hi);
            let cell = quasi.domain.read(plan.text(group, q)).expect("published cells can be read");
            prop_assert!(quasi.domain.covers(&cell, code));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_group_is_admitted_and_every_cell_covers_its_value(
        records in records(), mondrian in mondrian(), k in 1u64..7,
    ) {
        let data = table(&NAMES, &records, &specs());
        let models = k_anonymity(k.min(data.records()), &data);
        let partition = mondrian.recode(&data, &models, 0, &Silent).unwrap();
        let groups = summaries(&data, &partition);
        prop_assert_eq!(groups.iter().map(|g| g.records).sum::<u64>(), records.len() as u64);
        for group in &groups {
            prop_assert!(models[0].admits(group).holds);
        }
        check_cells(&data, &partition)?;
    }

    #[test]
    fn models_of_sensitive_values_are_satisfied(
        records in records(),
        mondrian in mondrian(),
        k in 1u64..5,
    ) {
        let data = table(&NAMES, &records, &specs());
        prop_assume!(data.sensitive()[0].values.len() >= 2);
        let mut models = k_anonymity(k.min(data.records()), &data);
        models.push(Box::new(TwoDiseases));
        let partition = mondrian.recode(&data, &models, 0, &Silent).unwrap();
        let groups = summaries(&data, &partition);
        prop_assert_eq!(groups.iter().map(|g| g.records).sum::<u64>(), records.len() as u64);
        for group in &groups {
            prop_assert!(models.iter().all(|model| model.admits(group).holds));
        }
        check_cells(&data, &partition)?;
    }

    /// The limit is never exceeded, the published groups satisfy the models, and suppression never
    /// costs more than it saves.
    #[test]
    fn suppression_stays_within_the_limit_and_pays(
        records in records(),
        mondrian in mondrian(),
        k in 1u64..6,
        limit in 0u64..12,
        diverse in any::<bool>(),
    ) {
        let data = table(&NAMES, &records, &specs());
        prop_assume!(data.sensitive()[0].values.len() >= 2);
        let mut models = k_anonymity(k.min(data.records()), &data);
        if diverse {
            models.push(Box::new(TwoDiseases));
        }
        let cost = |limit: u64| {
            let partition = mondrian.recode(&data, &models, limit, &Silent).unwrap();
            let (mut cost, mut suppressed) = (0.0, 0);
            for row in 0..data.rows() {
                let Some(group) = partition.group(row) else {
                    suppressed += data.weight(row);
                    cost += data.weight(row) as f64 * data.quasi().len() as f64;
                    continue;
                };
                let spans = partition.spans(group).iter().zip(data.quasi());
                let cells: f64 =
                    spans.map(|(span, quasi)| quasi.domain.ncp(span.lo, span.hi)).sum();
                cost += data.weight(row) as f64 * cells;
            }
            let mut groups = vec![GroupSummary::empty(1); partition.groups()];
            for row in 0..data.rows() {
                if let Some(group) = partition.group(row) {
                    groups[group.index()].add(data.weight(row), data.sensitive_codes(row));
                }
            }
            let admitted = |group| models.iter().all(|model| model.admits(group).holds);
            let kept = groups.iter().all(admitted);
            (cost, suppressed, kept)
        };
        let (with, suppressed, kept) = cost(limit);
        prop_assert!(kept && suppressed <= limit);
        prop_assert!(with <= cost(0).0 + 1e-9);
    }

    #[test]
    fn strict_groups_do_not_share_quasi_identifier_vectors(records in records(), k in 1u64..5) {
        let data = table(&NAMES, &records, &specs());
        let models = k_anonymity(k.min(data.records()), &data);
        let partition = Mondrian::default().recode(&data, &models, 0, &Silent).unwrap();
        for a in 0..data.rows() {
            for b in 0..a {
                if data.quasi_codes(a) == data.quasi_codes(b) {
                    prop_assert_eq!(partition.group(a), partition.group(b));
                }
            }
        }
    }

    /// No group remains that a single cut of a number could divide.
    #[test]
    fn no_group_is_left_that_a_numeric_cut_could_divide(records in records(), k in 1u64..5) {
        let data = table(&NAMES, &records, &specs());
        let k = k.min(data.records());
        let models = k_anonymity(k, &data);
        let partition = Mondrian::default().recode(&data, &models, 0, &Silent).unwrap();
        for group in 0..partition.groups() {
            let is_member = |&r: &usize| partition.group(r).unwrap().index() == group;
            let members: Vec<usize> = (0..data.rows()).filter(is_member).collect();
            for cut in 0..12 {
                let side = |left: bool| -> u64 {
                    let is_here = |&&r: &&usize| (data.quasi_codes(r)[0] <= cut) == left;
                    members.iter().filter(is_here).map(|&r| data.weight(r)).sum()
                };
                prop_assert!(side(true) < k || side(false) < k);
            }
        }
    }
}
