//! (k,e)-anonymity and (ε,m)-anonymity, on numbers with two decimals; the twins compute in
//! integers.

use proptest::prelude::*;

use super::{Row, Table, agree, count, privacy_model, word};
use incrowd_core::Value;

/// A number of hundredths as text.
fn written(hundredths: i64) -> String {
    let sign = if hundredths < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", hundredths.abs() / 100, hundredths.abs() % 100)
}

fn number(hundredths: i64) -> Value {
    Value::Real(written(hundredths).parse().unwrap())
}

/// A group of numbers, some of them near each other and some far away.
fn numbers() -> impl Strategy<Value = Vec<(usize, i64, u64)>> {
    let number = prop_oneof![
        Just(0i64),
        -300..300i64,
        (-3..4i64).prop_map(|n| n * 25),
        (0..60i64).prop_map(|n| 100_000_000 + n * 10),
    ];
    prop::collection::vec((Just(0usize), number, 1u64..3), 1..8)
}

fn table(rows: &[(usize, i64, u64)]) -> (Table, Vec<i64>) {
    let texts: Vec<Row> = rows.iter().map(|&(g, x, n)| (g, vec![written(x)], n)).collect();
    let all = rows.iter().flat_map(|&(_, x, n)| std::iter::repeat_n(x, n as usize)).collect();
    (Table::new(&texts, &[]), all)
}

proptest! {
    #[test]
    fn k_e_requires_different_numbers_that_span_e(
        rows in numbers(),
        k in 1u64..6,
        off in -1..2i64,
    ) {
        let (table, numbers) = table(&rows);
        let mut distinct = numbers.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let span = distinct[distinct.len() - 1] - distinct[0];
        let e = (span + off).max(0);
        let params = [("k", count(k)), ("e", number(e)), ("on", word("a"))];
        let verdict = table.bind("k-e-anonymity", &params).admits(&table.groups[0]);
        let holds = distinct.len() as u64 >= k && span >= e;
        let want = match verdict.what {
            "smallest range" => span as f64 / 100.0,
            _ => distinct.len() as f64,
        };
        prop_assert!((verdict.have - want).abs() <= 1e-9 * want.max(1.0));
        // A tie of decimals may be refused because of binary rounding. A violation must never be
        // admitted.
        let dyadic = distinct.iter().chain([&e]).all(|x| x % 25 == 0);
        let refused_tie = !verdict.holds && span == e && !dyadic;
        prop_assert!(verdict.holds == holds || refused_tie, "{:?} {}", verdict, holds);
    }

    #[test]
    fn epsilon_m_counts_the_neighbours_of_every_record(
        rows in numbers(),
        m in 1u64..6,
        relative in any::<bool>(),
        epsilon in prop_oneof![0..400i64, Just(0), Just(25), Just(100_000_000)],
    ) {
        let (table, numbers) = table(&rows);
        let near = |x: i64, y: i64| match relative {
            true => i128::from(x.abs_diff(y)) * 100 <= i128::from(epsilon) * i128::from(x.abs()),
            false => x.abs_diff(y) as i64 <= epsilon,
        };
        let neighbours = |x: &i64| numbers.iter().filter(|&&y| near(*x, y)).count() as u64;
        let (most, n) = (numbers.iter().map(neighbours).max().unwrap(), numbers.len() as u64);
        let kind = ("neighbourhood", word(if relative { "relative" } else { "absolute" }));
        let params = [("epsilon", number(epsilon)), ("m", count(m)), kind, ("on", word("a"))];
        let verdict = table.bind("epsilon-m-anonymity", &params).admits(&table.groups[0]);
        agree(&verdict, most as f64 / n as f64, most * m <= n);
    }
}

/// The difference of 1000000.3 and 0.3 is exactly a million in decimals, but not in binary
/// fractions.
#[test]
fn neighbourhoods_include_rounding_errors() {
    let far = 100_000_000;
    for cents in 0..100 {
        let (table, _) = table(&[(0, cents, 1), (0, far + cents, 1), (0, 2 * far + cents, 1)]);
        let params = [("epsilon", number(far)), ("m", count(1)), ("on", word("a"))];
        agree(&table.bind("epsilon-m-anonymity", &params).admits(&table.groups[0]), 1.0, true);
    }
}

#[test]
fn numbers_that_a_float_does_not_hold_are_refused_by_models_that_compute_with_them() {
    let values = ["9007199254740993", "9007199254740995"];
    let rows: Vec<Row> = values.iter().map(|value| (0, vec![(*value).to_owned()], 1)).collect();
    let table = Table::new(&rows, &[]);
    let t = ("t", Value::Real(0.5));
    for (name, params) in [
        ("k-e-anonymity", vec![("k", count(2)), ("e", count(3))]),
        ("epsilon-m-anonymity", vec![("m", count(2)), ("epsilon", count(1))]),
        ("t-closeness", vec![t.clone(), ("distance", word("ordered"))]),
    ] {
        let refused = privacy_model(name, &params).model.bind(&table.data).map(|_| ()).unwrap_err();
        assert!(refused.message().starts_with("column `a` holds a number with more digits"));
        assert_eq!(refused.key(), Some("on"), "{name}");
        assert!(refused.advice().unwrap().starts_with("round"), "{name}");
    }
    // Models that compare values for equality count both.
    let diverse = [("l", count(2)), ("kind", word("distinct"))];
    assert!(table.bind("l-diversity", &diverse).admits(&table.groups[0]).holds);
    let equal = [t, ("distance", word("equal"))];
    assert!(table.bind("t-closeness", &equal).admits(&table.groups[0]).holds);
}
