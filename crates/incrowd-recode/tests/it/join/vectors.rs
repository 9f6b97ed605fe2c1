//! Cases computed by an independent prototype.

use incrowd_core::GroupId;
use incrowd_recode::join::trim::trim;
use incrowd_recode::join::{JoinGroup, JoinOutcome, JoinRules};
use incrowd_recode::mondrian::{Dimension, Mondrian};
use serde_json::Value as Json;

use super::common::{Points, alone, costs, groups, run_direct, run_refinement};

pub(crate) fn numbers(json: &Json) -> Vec<u32> {
    json.as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as u32).collect()
}

pub(crate) fn lists(json: &Json) -> Vec<Vec<u32>> {
    json.as_array().unwrap().iter().map(numbers).collect()
}

fn cases(text: &str) -> Vec<Json> {
    let all: Json = serde_json::from_str(text).unwrap();
    all["cases"].as_array().unwrap().clone()
}

fn round_robin() -> Mondrian {
    Mondrian { dimension: Dimension::RoundRobin, ..Mondrian::default() }
}

fn expect(outcome: &JoinOutcome, points: &Points, expected: &Json, what: &str) {
    assert_eq!(groups(outcome), lists(&expected["groups"]), "{what}");
    let (ncp, dm) = costs(outcome, points);
    assert!((ncp - expected["ncp"].as_f64().unwrap()).abs() < 1e-8, "{what}: {ncp}");
    assert_eq!(dm, expected["dm"].as_u64().unwrap(), "{what}");
    let rows: usize = outcome.groups.iter().map(|group| group.rows.len()).sum();
    assert_eq!(rows as u64, expected["rows"].as_u64().unwrap(), "{what}");
}

#[test]
fn direct_and_refinement_with_mondrian() {
    let mut count = 0;
    for case in cases(incrowd_testing::fixture("kja_mondrian_random.json")) {
        let microdata = case["mt_rows"].as_u64().unwrap() as usize;
        let points = Points::new(&lists(&case["points"]), microdata, &numbers(&case["domain"]));
        let (k, mondrian) = (case["k"].as_u64().unwrap(), round_robin());
        assert_eq!(alone(&mondrian, &points, k), lists(&case["conventional"]["groups"]));
        let rules = JoinRules::new(microdata, k, &[]);
        let what = |name: &str| format!("case {} {name}", case["case"]);

        let mut outcome = run_direct(&mondrian, &points, k);
        expect(&outcome, &points, &case["direct"], &what("direct"));
        let mut sensitive = vec![Vec::new(); outcome.sensitive as usize];
        for group in &outcome.groups {
            let own = group.rows.iter().copied().filter(|&row| row < microdata as u32);
            sensitive[group.sensitive as usize].extend(own);
        }
        sensitive.iter_mut().for_each(|rows| rows.sort_unstable());
        sensitive.sort();
        assert_eq!(sensitive, lists(&case["direct_sg_mt"]), "{}", what("sensitive groups"));
        trim(&mut outcome, &points.data, &rules);
        expect(&outcome, &points, &case["direct_trim"], &what("direct, trimmed"));

        let mut outcome = run_refinement(&mondrian, &points, k);
        expect(&outcome, &points, &case["refinement"], &what("refinement"));
        assert_eq!(
            outcome.sensitive as usize,
            case["conventional"]["groups"].as_array().unwrap().len()
        );
        trim(&mut outcome, &points.data, &rules);
        expect(&outcome, &points, &case["refinement_trim"], &what("refinement, trimmed"));
        count += 1;
    }
    assert_eq!(count, 30);
}

#[test]
fn trimming() {
    let (mut count, mut trimmed) = (0, 0);
    for case in cases(incrowd_testing::fixture("kja_trim.json")) {
        let rows = lists(&case["points"]);
        let microdata = case["mt_rows"].as_u64().unwrap() as usize;
        let points = Points::new(&rows, microdata, &numbers(&case["domain"]));
        let rules = JoinRules::new(microdata, case["k"].as_u64().unwrap(), &[]);
        let whole = JoinGroup { rows: (0..rows.len() as u32).collect(), sensitive: 0 };
        let mut outcome = JoinOutcome { groups: vec![whole], sensitive: 1 };
        let perimeter = |outcome: &JoinOutcome| -> f64 {
            let partition = outcome.partition(&points.data).unwrap();
            let spans = partition.spans(GroupId(0)).iter().zip(points.data.quasi());
            spans.map(|(span, quasi)| quasi.domain.ncp(span.lo, span.hi)).sum()
        };
        assert!((perimeter(&outcome) - case["perimeter_before"].as_f64().unwrap()).abs() < 1e-8);
        trim(&mut outcome, &points.data, &rules);
        assert_eq!(outcome.groups[0].rows, numbers(&case["greedy_keep"]), "case {count}");
        assert!((perimeter(&outcome) - case["greedy_perimeter"].as_f64().unwrap()).abs() < 1e-8);
        trimmed += usize::from(outcome.groups[0].rows.len() < rows.len());
        count += 1;
    }
    assert!(count == 30 && trimmed > 20, "{count} cases, {trimmed} trimmed");
}

#[test]
fn strict_cuts() {
    let mut count = 0;
    let figures: Json =
        serde_json::from_str(incrowd_testing::fixture("kja_fig3_fig8_constraints.json")).unwrap();
    let distinct = figures["cut_rule_cases"].as_array().unwrap().iter().map(|case| {
        let values = (0..case["n"].as_u64().unwrap() as u32).collect();
        (values, case["k"].as_u64().unwrap(), case["left"].as_u64())
    });
    let tied = cases(incrowd_testing::fixture("kja_strict_cut.json"))
        .into_iter()
        .map(|case| (numbers(&case["values"]), case["k"].as_u64().unwrap(), case["left"].as_u64()));
    for (values, k, left) in distinct.chain(tied.collect::<Vec<_>>()) {
        let rows: Vec<Vec<u32>> = values.iter().map(|&value| vec![value]).collect();
        let points = Points::new(&rows, rows.len(), &[*values.iter().max().unwrap()]);
        // The first cut separates the table before any other, and later cuts are within its sides.
        let groups = alone(&round_robin(), &points, k);
        let value = |row: u32| points.data.quasi_codes(row as usize)[0];
        match left {
            None => assert_eq!(groups.len(), 1, "{values:?} {k}"),
            Some(left) => {
                let threshold = values
                    .iter()
                    .copied()
                    .filter(|v| values.iter().filter(|w| *w < v).count() as u64 == left);
                let threshold = threshold.min().unwrap();
                let sides = |group: &Vec<u32>| {
                    let below = group.iter().filter(|&&row| value(row) < threshold).count();
                    below == 0 || below == group.len()
                };
                assert!(groups.len() > 1 && groups.iter().all(sides), "{values:?} {k}");
            }
        }
        count += 1;
    }
    assert!(count > 30);
}
