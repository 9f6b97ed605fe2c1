//! Ascent: comparison with an exact solver on small tables, and properties on all tables.

mod exact;

use crate::mondrian::common::{k_anonymity, table, tree};
use incrowd_core::model::{BoundModel, PrivacyModel};
use incrowd_core::{
    Code, ColumnSpec, Dataset, GroupId, GroupSummary, Kind, Labels, Partition, Silent, Value,
};
use incrowd_recode::Algorithm;
use incrowd_recode::ascent::{Ascent, Effort, Metric};
use incrowd_recode::auto::{Auto, AutoReport};
use incrowd_recode::least::least_loss;
use incrowd_recode::mondrian::Mondrian;
use proptest::prelude::*;

use crate::possible::possible;

const NAMES: [&str; 5] = ["age", "city", "job", "team", "disease"];

fn specs() -> [ColumnSpec; 4] {
    [
        ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() },
        tree(
            "north = ['oslo', 'bergen']\n\
             south = { west = ['nice', 'pau'], east = ['rome'] }\n\
             moon = ['moon']",
        ),
        ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() },
        ColumnSpec { kind: Some(Kind::Text), labels: Labels::Star, ..ColumnSpec::default() },
    ]
}

fn records(most: usize) -> impl Strategy<Value = Vec<Vec<String>>> {
    let age = (0u32..12).prop_map(|age| (20 + age * age / 3).to_string());
    let city = prop::sample::select(vec!["oslo", "bergen", "nice", "pau", "rome", "moon"])
        .prop_map(str::to_owned);
    let job = prop::sample::select(vec!["a", "b", "c"]).prop_map(str::to_owned);
    let team = prop::sample::select(vec!["x", "y"]).prop_map(str::to_owned);
    let disease = prop::sample::select(vec!["flu", "cold", "gout"]).prop_map(str::to_owned);
    let record = (age, city, job, team, disease).prop_map(|(a, c, j, t, d)| vec![a, c, j, t, d]);
    prop::collection::vec(record, 1..most)
}

/// Returns the mean loss of a cell, computed from the published labels.
pub(crate) fn loss(data: &Dataset, groups: &[Vec<usize>], metric: Metric) -> f64 {
    let mut sum = 0.0;
    for rows in groups {
        let records: u64 = rows.iter().map(|&row| data.weight(row)).sum();
        for (q, quasi) in data.quasi().iter().enumerate() {
            let mut codes: Vec<Code> =
                rows.iter().map(|&row| Code(data.quasi_codes(row)[q])).collect();
            codes.sort_unstable();
            codes.dedup();
            let domain = &quasi.domain;
            let label = if domain.publishes_sets() {
                domain.set_label(&codes)
            } else {
                domain.label(codes[0], codes[codes.len() - 1])
            };
            let cell = domain.read(&label).unwrap();
            let price = if metric == Metric::Ncp {
                domain.cell_ncp(&cell)
            } else {
                domain.cell_loss(&cell)
            };
            sum += records as f64 * price;
        }
    }
    sum / (data.records() * data.quasi().len() as u64) as f64
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

fn models(data: &Dataset, which: usize, k: u64) -> Vec<Box<dyn BoundModel>> {
    let privacy_model = |name: &str, params: &[(&str, Value)]| {
        let params = params.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        PrivacyModel::new(name, params.collect::<Vec<_>>()).unwrap().model.bind(data).unwrap()
    };
    match which {
        0 => k_anonymity(k, data),
        1 => vec![privacy_model(
            "p-sensitive",
            &[("p", Value::Integer(2)), ("k", Value::Integer(k as i64))],
        )],
        2 => vec![privacy_model("t-closeness", &[("t", Value::Real(0.3))])],
        _ => vec![
            privacy_model("k-anonymity", &[("k", Value::Integer(k as i64))]),
            privacy_model(
                "l-diversity",
                &[("l", Value::Integer(2)), ("kind", Value::Word("entropy".into()))],
            ),
        ],
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_group_satisfies_the_models_and_more_effort_never_increases_the_loss(
        records in records(60),
        which in 0usize..4,
        k in 1u64..6,
        ncp in any::<bool>(),
        share in prop_oneof![Just(0.0), 0.0..0.3],
    ) {
        let data = table(&NAMES, &records, &specs());
        let models = models(&data, which, k);
        let metric = if ncp { Metric::Ncp } else { Metric::InformationLoss };
        let limit = (share * data.records() as f64) as u64;
        let is_possible = models.iter().all(|model| model.admits(&data.whole()).holds);
        let mut last = f64::INFINITY;
        for effort in [Effort::Fast, Effort::Balanced, Effort::Best] {
            let ascent = Ascent { effort, metric, seconds: None };
            let made = ascent.recode(&data, &models, limit, &Silent);
            if !is_possible {
                let made = possible(made, "ascent")?;
                prop_assert!(made.is_none() || limit > 0);
                continue;
            }
            let partition = made.unwrap();
            let groups = members(&data, &partition);
            let published: u64 = groups.iter().flatten().map(|&row| data.weight(row)).sum();
            prop_assert!(data.records() - published <= limit);
            for (group, rows) in groups.iter().enumerate() {
                let mut summary = GroupSummary::empty(1);
                for &row in rows {
                    summary.add(data.weight(row), data.sensitive_codes(row));
                }
                prop_assert!(models.iter().all(|model| model.admits(&summary).holds));
                for (q, span) in partition.spans(GroupId(group as u32)).iter().enumerate() {
                    let codes: Vec<u32> =
                        rows.iter().map(|&row| data.quasi_codes(row)[q]).collect();
                    prop_assert_eq!(Some(span.lo.0), codes.iter().copied().min());
                    prop_assert_eq!(Some(span.hi.0), codes.iter().copied().max());
                }
            }
            if limit == 0 {
                let now = loss(&data, &groups, metric);
                prop_assert!(now <= last + 1e-6, "{} after {}", now, last);
                last = now;
            }
        }
    }

    #[test]
    fn auto_never_loses_more_than_mondrian_and_is_deterministic(
        records in records(80),
        which in 0usize..4,
        k in 1u64..6,
        ncp in any::<bool>(),
        share in prop_oneof![Just(0.0), 0.0..0.3],
    ) {
        let data = table(&NAMES, &records, &specs());
        let models = models(&data, which, k);
        let metric = if ncp { Metric::Ncp } else { Metric::InformationLoss };
        let limit = (share * data.records() as f64) as u64;
        let made = Auto::least(metric).recode_and_report(&data, &models, limit, &Silent);
        let mondrian = Mondrian::default().recode(&data, &models, limit, &Silent);
        let (made, mondrian) = (possible(made, "auto")?, possible(mondrian, "mondrian")?);
        prop_assert_eq!(made.is_some(), mondrian.is_some());
        let is_possible = models.iter().all(|model| model.admits(&data.whole()).holds);
        prop_assert!(made.is_some() || !is_possible);
        let (Some(made), Some(mondrian)) = (made, mondrian) else { return Ok(()) };
        let groups = members(&data, &made.partition);
        let published = |groups: &[Vec<usize>]| {
            groups.iter().flatten().map(|&row| data.weight(row)).sum::<u64>()
        };
        prop_assert!(data.records() - published(&groups) <= limit);
        for (group, rows) in groups.iter().enumerate() {
            let mut summary = GroupSummary::empty(1);
            rows.iter().for_each(|&row| summary.add(data.weight(row), data.sensitive_codes(row)));
            prop_assert!(models.iter().all(|model| model.admits(&summary).holds));
            for (q, span) in made.partition.spans(GroupId(group as u32)).iter().enumerate() {
                let codes: Vec<u32> = rows.iter().map(|&row| data.quasi_codes(row)[q]).collect();
                prop_assert_eq!(Some(span.lo.0), codes.iter().copied().min());
                prop_assert_eq!(Some(span.hi.0), codes.iter().copied().max());
            }
        }
        // A suppressed record has the full loss in every cell.
        let whole = |groups: &[Vec<usize>]| {
            let suppressed = data.records() - published(groups);
            loss(&data, groups, metric) + suppressed as f64 / data.records() as f64
        };
        let (have, most) = (whole(&groups), whole(&members(&data, &mondrian)));
        prop_assert!(have <= most + 1e-6, "{} {}", have, most);
        let report = made.report_as::<AutoReport>().unwrap();
        prop_assert!((report.loss - have).abs() < 1e-5, "{} {}", report.loss, have);

        // The result depends neither on the order of the records nor on the number of threads.
        let mut reversed = records.clone();
        reversed.reverse();
        let again = table(&NAMES, &reversed, &specs());
        let models = self::models(&again, which, k);
        let single = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let auto = Auto::least(metric);
        let other = single.install(|| auto.recode(&again, &models, limit, &Silent)).unwrap();
        prop_assert_eq!(members(&again, &other), groups);
    }

    #[test]
    fn the_bound_is_below_the_optimum_and_the_optimum_below_the_result(
        records in records(10), k in 1u64..5, ncp in any::<bool>(),
    ) {
        let data = table(&NAMES, &records, &specs());
        prop_assume!(data.records() >= k);
        let metric = if ncp { Metric::Ncp } else { Metric::InformationLoss };
        let models = k_anonymity(k, &data);
        let optimum = exact::least_loss(&data, k, metric);
        let ascent = Ascent { effort: Effort::Best, metric, seconds: None };
        let bound = least_loss(&data, &models, metric, &Silent).unwrap();
        prop_assert!(bound <= optimum + 1e-9, "{} {}", bound, optimum);
        let groups = members(&data, &ascent.recode(&data, &models, 0, &Silent).unwrap());
        let reached = loss(&data, &groups, metric);
        prop_assert!(reached >= optimum - 1e-9, "{} {}", reached, optimum);
    }

    /// The exact solver prunes; the enumeration of all partitions does not.
    #[test]
    fn the_exact_solver_agrees_with_brute_force(records in records(8), k in 1u64..4) {
        let data = table(&NAMES, &records, &specs());
        prop_assume!(data.records() >= k);
        let all = exact::brute_force(&data, k, Metric::InformationLoss);
        prop_assert!((exact::least_loss(&data, k, Metric::InformationLoss) - all).abs() < 1e-9);
    }
}

/// The distance from the optimum over many small tables, as a measurement.
#[test]
fn losses_of_small_tables_are_near_the_optimum() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut optimum, mut ascent, mut auto, mut mondrian) = (0.0, 0.0, 0.0, 0.0);
    for _ in 0..150 {
        let records = records(11).new_tree(&mut runner).unwrap().current();
        let data = table(&NAMES, &records, &specs());
        if data.records() < 6 {
            continue;
        }
        let models = k_anonymity(2, &data);
        let of = |partition: &Partition| {
            loss(&data, &members(&data, partition), Metric::InformationLoss)
        };
        let best = Ascent { effort: Effort::Best, metric: Metric::InformationLoss, seconds: None };
        optimum += exact::least_loss(&data, 2, Metric::InformationLoss);
        ascent += of(&best.recode(&data, &models, 0, &Silent).unwrap());
        auto += of(&Auto::default().recode(&data, &models, 0, &Silent).unwrap());
        mondrian += of(&Mondrian::default().recode(&data, &models, 0, &Silent).unwrap());
    }
    let [ascent, auto, mondrian] = [ascent, auto, mondrian].map(|loss: f64| loss / optimum);
    println!(
        "mean loss relative to the optimum: ascent {ascent:.3}, auto {auto:.3}, \
         mondrian {mondrian:.3}"
    );
    assert!(ascent >= 1.0 && ascent < mondrian, "{ascent} {mondrian}");
    assert!((1.0..1.25).contains(&auto), "{auto}");
}
