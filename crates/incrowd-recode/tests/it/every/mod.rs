//! Requirements of all algorithms of the list, on random tables.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::mondrian::common::{table, tree};
use crate::possible::possible;
use incrowd_core::model::{BoundModel, Need, PrivacyModel};
use incrowd_core::{
    ColumnSpec, Dataset, GroupId, GroupSummary, Kind, Param, ParamKind, Partition, Plan, Silent,
    Value,
};
use incrowd_recode::{ALGORITHMS, AlgorithmReport, Card, Method, Outcome, Recoding};
use proptest::prelude::*;

const NAMES: [&str; 4] = ["age", "city", "job", "disease"];

fn specs() -> [ColumnSpec; 3] {
    [
        ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() },
        tree("north = ['oslo', 'bergen']\nsouth = { west = ['nice', 'pau'], east = ['rome'] }"),
        ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() },
    ]
}

fn records() -> impl Strategy<Value = Vec<Vec<String>>> {
    let age = (0u32..9).prop_map(|age| (20 + age * age).to_string());
    let city =
        prop::sample::select(vec!["oslo", "bergen", "nice", "pau", "rome"]).prop_map(str::to_owned);
    let job = prop::sample::select(vec!["a", "b", "c"]).prop_map(str::to_owned);
    let disease = prop::sample::select(vec!["1", "2", "30"]).prop_map(str::to_owned);
    let record = (age, city, job, disease).prop_map(|(a, c, j, d)| vec![a, c, j, d]);
    prop::collection::vec(record, 1..40)
}

/// Returns a moderate value of a parameter without a default.
fn moderate(param: &Param) -> Value {
    match param.kind {
        ParamKind::Count(least) => Value::Integer(least.max(2) as i64),
        ParamKind::Number(lo, hi) => Value::Real((lo + 1.0).min((lo + hi) / 2.0)),
        ParamKind::Choice(words) => Value::Word(words[0].to_owned()),
        ParamKind::Column => Value::Word("disease".to_owned()),
        ParamKind::Words => Value::Words(vec!["age".to_owned()]),
        ParamKind::Flag => Value::Flag(true),
    }
}

/// Returns the algorithm with its default parameters. `None` if it publishes two linked tables,
/// which have no groups of cells.
fn method(card: &Card) -> Option<Method> {
    let required = card.params.iter().filter(|param| param.default.is_none());
    let method =
        Method::new(card.name, required.map(|param| (param.name.to_owned(), moderate(param))))
            .unwrap();
    method.algorithm.linked().is_none().then_some(method)
}

/// Returns a model of sizes, one of values and one of outliers, if the algorithm supports them.
fn privacy_models(method: &Method, k: i64) -> Vec<PrivacyModel> {
    let number = |name: &str, n: i64| (name.to_owned(), Value::Integer(n));
    let on = || ("on".to_owned(), Value::Word("disease".to_owned()));
    let near = ("distance_attributes".to_owned(), Value::Words(vec!["age".to_owned()]));
    let all = [
        PrivacyModel::new("k-anonymity", [number("k", k)]),
        PrivacyModel::new("l-diversity", [number("l", 2), on()]),
        PrivacyModel::new("plain-k-anonymity", [number("k", k), near, on()]),
    ];
    let taken =
        |privacy_model: &PrivacyModel| method.accepts(std::slice::from_ref(privacy_model)).is_ok();
    all.into_iter().map(Result::unwrap).filter(taken).collect()
}

fn members(data: &Dataset, partition: &Partition) -> Vec<Vec<usize>> {
    let mut groups = vec![Vec::new(); partition.groups()];
    for row in 0..data.rows() {
        if let Some(GroupId(group)) = partition.group(row) {
            groups[group as usize].push(row);
        }
    }
    groups
}

/// Every model admits every group, and the spans and cells of a group cover its rows.
fn check(
    data: &Dataset,
    made: &Recoding,
    models: &[&dyn BoundModel],
    name: &str,
) -> Result<(), TestCaseError> {
    let data = &data.clone().divided(made.partition.divided());
    let data = &match &made.domains {
        Some(domains) => data.clone().with_domains(domains.clone()),
        None => data.clone(),
    };
    let plan = Plan::new(data, &made.partition);
    for (group, rows) in members(data, &made.partition).iter().enumerate() {
        let group = GroupId(group as u32);
        let mut summary = GroupSummary::empty(1);
        rows.iter().for_each(|&row| summary.add(data.weight(row), data.sensitive_codes(row)));
        prop_assert!(summary.records > 0, "{name} made an empty group");
        prop_assert!(
            models.iter().all(|m| m.admits(&summary).holds),
            "{name} made a group that a model does not admit"
        );
        for (q, quasi) in data.quasi().iter().enumerate() {
            let cell = quasi.domain.read(plan.text(group, q)).expect("published cells can be read");
            for &row in rows {
                let code = incrowd_core::Code(data.quasi_codes(row)[q]);
                let span = made.partition.spans(group)[q];
                let covers = span.lo <= code && code <= span.hi;
                prop_assert!(covers, "{name}: a span does not cover a row");
                let covers = quasi.domain.covers(&cell, code);
                prop_assert!(covers, "{name}: a cell does not cover a value");
            }
        }
    }
    Ok(())
}

/// A report has a valid key, and content in both forms.
fn check_report(
    report: &dyn AlgorithmReport,
    data: &Dataset,
    name: &str,
) -> Result<(), TestCaseError> {
    let plain = |c: char| c.is_ascii_lowercase() || c == '_';
    prop_assert!(report.name().chars().all(plain), "{name}: `{}` is not a key", report.name());
    prop_assert!(
        report.to_json().as_object().is_some_and(|all| !all.is_empty()),
        "{name} has an empty report"
    );
    let outcome = Outcome { records: data.records(), suppressed: 0 };
    prop_assert!(!report.to_text(outcome).is_empty(), "{name} has a report without text");
    Ok(())
}

#[test]
fn every_algorithm_satisfies_the_models() {
    // By algorithm: the cases in which the models could be bound, and those with a release.
    let outcomes: RefCell<BTreeMap<&str, (u32, u32)>> = RefCell::default();
    proptest!(ProptestConfig::with_cases(60), |(
        records in records(),
        k in 1i64..5,
        share in 0u64..3,
    )| {
        for method in ALGORITHMS.iter().filter_map(|card| method(card)) {
            let card = method.card;
            let data = method.algorithm.prepare(table(&NAMES, &records, &specs())).unwrap();
            let privacy_models = privacy_models(&method, k);
            prop_assert!(!privacy_models.is_empty(), "{} accepts no model", card.name);
            let bound = privacy_models.iter().map(|p| p.bind_for_release(&data)).collect();
            // If a model cannot be bound, no algorithm can satisfy it.
            let Some(bound) = possible::<Vec<_>>(bound, card.name)? else { continue };
            outcomes.borrow_mut().entry(card.name).or_default().0 += 1;
            let suppressible = share * data.records() / 4;
            let made = method.algorithm.recode_and_report(&data, &bound, suppressible, &Silent);
            let Some(made) = possible(made, card.name)? else {
                // Bound models without outliers admit one group of all records.
                let about_outliers = method.algorithm.supplies(Need::Region);
                prop_assert!(about_outliers, "{} published nothing", card.name);
                continue;
            };
            outcomes.borrow_mut().entry(card.name).or_default().1 += 1;
            // plain-k-anonymity also depends on the corners of groups, which other tests cover.
            let checked = privacy_models.iter().zip(&bound);
            let checked = checked.filter(|(p, _)| p.name() != "plain-k-anonymity");
            let checked: Vec<&dyn BoundModel> = checked.map(|(_, bound)| &**bound).collect();
            check(&data, &made, &checked, card.name)?;
            if let Some(report) = &made.report {
                check_report(&**report, &data, card.name)?;
            }
        }
    });
    for method in ALGORITHMS.iter().filter_map(|card| method(card)) {
        let name = method.card.name;
        let (bound, made) = outcomes.borrow().get(name).copied().unwrap_or_default();
        assert!(bound >= 20 && made * 2 > bound, "{name}: {made} releases of {bound}");
    }
}
