//! Random tables: requirements of all outcomes, and comparisons.

use incrowd_core::GroupId;
use incrowd_recode::Algorithm;
use incrowd_recode::join::trim::trim;
use incrowd_recode::join::{JoinAlgorithm, JoinOutcome, JoinRules};
use incrowd_recode::mondrian::{Cut, Dimension, Mondrian};
use incrowd_recode::top_down::{MergeSearch, TopDown};
use proptest::prelude::*;

use super::common::{Points, alone, bound, groups, k_anonymity, run_direct, run_refinement};

/// Every group has k records and a person of the microdata. Every person of the microdata is in one
/// group. Every sensitive group has k records of the microdata.
fn check_requirements(outcome: &JoinOutcome, points: &Points, k: u64) {
    let mut groups_of_row = vec![0; points.data.rows()];
    let mut sensitive = vec![0; outcome.sensitive as usize];
    for group in &outcome.groups {
        assert!(group.rows.len() as u64 >= k);
        let own = group.rows.iter().filter(|&&row| (row as usize) < points.microdata).count();
        assert!(own > 0);
        sensitive[group.sensitive as usize] += own as u64;
        group.rows.iter().for_each(|&row| groups_of_row[row as usize] += 1);
    }
    assert!(groups_of_row[..points.microdata].iter().all(|&n| n == 1));
    assert!(groups_of_row[points.microdata..].iter().all(|&n| n <= 1));
    assert!(sensitive.iter().all(|&n| n >= k));
}

fn check_inside_the_conventional_boxes(
    outcome: &JoinOutcome,
    algorithm: &dyn Algorithm,
    points: &Points,
    k: u64,
) {
    let own = points.own();
    let before =
        algorithm.recode(&own, &bound(&k_anonymity(k), &own), 0, &incrowd_core::Silent).unwrap();
    let after = outcome.partition(&points.data).unwrap();
    for (group, rows) in outcome.groups.iter().enumerate() {
        let first = rows.rows.iter().find(|&&row| (row as usize) < points.microdata).unwrap();
        let outer = before.spans(before.group(*first as usize).unwrap());
        let inner = after.spans(GroupId(group as u32));
        assert!(inner.iter().zip(outer).all(|(a, b)| b.lo <= a.lo && a.hi <= b.hi));
    }
}

fn check<A: Algorithm + JoinAlgorithm>(algorithm: &A, points: &Points, k: u64) {
    let rules = JoinRules::new(points.microdata, k, &[]);
    let mut outcome = run_direct(algorithm, points, k);
    check_requirements(&outcome, points, k);
    trim(&mut outcome, &points.data, &rules);
    check_requirements(&outcome, points, k);
    let mut outcome = run_refinement(algorithm, points, k);
    check_requirements(&outcome, points, k);
    check_inside_the_conventional_boxes(&outcome, algorithm, points, k);
    trim(&mut outcome, &points.data, &rules);
    check_requirements(&outcome, points, k);
}

fn algorithms() -> (Vec<Mondrian>, Vec<TopDown>) {
    let mondrian = |cut, dimension| Mondrian { cut, dimension, ..Mondrian::default() };
    let strict = [Dimension::RoundRobin, Dimension::Widest]
        .map(|dimension| mondrian(Cut::Strict, dimension));
    let relaxed = mondrian(Cut::Relaxed, Dimension::RoundRobin);
    let top_down =
        [MergeSearch::Near, MergeSearch::All].map(|merge_search| TopDown { merge_search, seed: 5 });
    (strict.into_iter().chain([relaxed]).collect(), top_down.to_vec())
}

proptest! {
    #[test]
    fn every_variant_satisfies_the_requirements(
        rows in prop::collection::vec((0u32..9, 0u32..7, 0u32..5), 8..60),
        microdata in 4usize..30,
        k in 1u64..5,
    ) {
        let rows: Vec<Vec<u32>> = rows.into_iter().map(|(a, b, c)| vec![a, b, c]).collect();
        let points = Points::new(&rows, microdata.min(rows.len()), &[9, 7, 5]);
        let (mondrians, top_downs) = algorithms();
        mondrians.iter().for_each(|algorithm| check(algorithm, &points, k));
        top_downs.iter().for_each(|algorithm| check(algorithm, &points, k));
    }

    #[test]
    fn without_external_people_nothing_changes(
        rows in prop::collection::vec((0u32..9, 0u32..7), 6..60), k in 1u64..6,
    ) {
        let rows: Vec<Vec<u32>> = rows.into_iter().map(|(a, b)| vec![a, b]).collect();
        let points = Points::new(&rows, rows.len(), &[9, 7]);
        for dimension in [Dimension::RoundRobin, Dimension::Widest] {
            let mondrian = Mondrian { dimension, ..Mondrian::default() };
            let expected = alone(&mondrian, &points, k);
            prop_assert_eq!(&groups(&run_direct(&mondrian, &points, k)), &expected);
            prop_assert_eq!(&groups(&run_refinement(&mondrian, &points, k)), &expected);
        }
        let top_down = TopDown::default();
        prop_assert_eq!(groups(&run_direct(&top_down, &points, k)), alone(&top_down, &points, k));
    }

    #[test]
    fn the_tree_finds_the_same_box_as_a_scan(
        boxes in prop::collection::vec(((0u32..9, 0u32..9), (0u32..9, 0u32..9)), 1..40),
        points in prop::collection::vec((0u32..9, 0u32..9), 1..30),
    ) {
        use incrowd_core::{Code, Span};
        use incrowd_recode::join::boxes::Boxes;
        let leaves = Points::new(&[vec![0, 0]], 1, &[9, 9]);
        let span = |(a, b): (u32, u32)| Span { lo: Code(a.min(b)), hi: Code(a.max(b)) };
        let spans: Vec<[Span; 2]> = boxes.into_iter().map(|(x, y)| [span(x), span(y)]).collect();
        let tree = Boxes::new(&leaves.data, spans.iter().map(|s| s.as_slice()));
        for (x, y) in points {
            let holds = |s: &[Span; 2]| {
                s.iter().zip([x, y]).all(|(s, code)| (s.lo.0..=s.hi.0).contains(&code))
            };
            // All domains have the same width, so perimeters can be compared as integers.
            let size = |s: &[Span; 2]| s.iter().map(|s| s.hi.0 - s.lo.0).sum::<u32>();
            let holding = (0..spans.len()).filter(|&i| holds(&spans[i]));
            let slow = holding.min_by_key(|&i| (size(&spans[i]), i));
            let fast = tree.smallest(&[x, y]).map(|i| i as usize);
            // Sums of fractions may differ by rounding if sums of integers are equal, so only sizes
            // are compared.
            prop_assert_eq!(fast.map(|i| size(&spans[i])), slow.map(|i| size(&spans[i])));
            prop_assert!(fast.is_none_or(|i| holds(&spans[i])));
        }
    }
}
