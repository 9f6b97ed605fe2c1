//! β-likeness and δ-disclosure: the share of a value in a group compared with that in the release.

use proptest::prelude::*;

use super::{Millionths, Table, agree, close, occurrences, tables, word};

const DISEASES: &[&str] = &["flu", "cold", "gout", "HIV"];

proptest! {
    #[test]
    fn basic_likeness_bounds_the_relative_gain(rows in tables(DISEASES, 1)) {
        let table = Table::new(&rows, &[]);
        let whole = table.whole(0);
        for group in 0..table.groups.len() {
            let own = table.column(group, 0);
            // (q − p)/p = (count · N − overall · n) / (overall · n); the greatest over all values
            // with q > p.
            let gain = |value: &&str| {
                let (c, p) = (occurrences(&own, value) as i128, occurrences(&whole, value) as i128);
                let base = p * own.len() as i128;
                ((c * whole.len() as i128 - base).max(0), base)
            };
            let order = |a: &(i128, i128), b: &(i128, i128)| (a.0 * b.1).cmp(&(b.0 * a.1));
            let (part, base) = own.iter().map(gain).max_by(order).unwrap();
            for beta in Millionths::around(part, base) {
                let params = [("beta", beta.value()), ("kind", word("basic")), ("on", word("a"))];
                let verdict = table.bind("beta-likeness", &params).admits(&table.groups[group]);
                agree(&verdict, part as f64 / base as f64, beta.at_most(part, base));
            }
        }
    }

    #[test]
    fn enhanced_likeness_also_bounds_the_gain_by_the_information(rows in tables(DISEASES, 1)) {
        let table = Table::new(&rows, &[]);
        let whole = table.whole(0);
        for group in 0..table.groups.len() {
            let own = table.column(group, 0);
            let shares = |value: &&str| {
                let (c, p) = (occurrences(&own, value) as i128, occurrences(&whole, value) as i128);
                let (n, all) = (own.len() as i128, whole.len() as i128);
                (c * all - p * n, p * n, p as f64 / all as f64)
            };
            let shares: Vec<(i128, i128, f64)> = own.iter().map(shares).collect();
            let within = |beta: Millionths| {
                shares.iter().filter(|s| s.0 > 0).all(|&(gained, base, p)| {
                    beta.at_most(gained, base) && gained as f64 / base as f64 <= -p.ln()
                })
            };
            for beta in shares.iter().flat_map(|s| Millionths::around(s.0.max(0), s.1)) {
                let kind = ("kind", word("enhanced"));
                let params = [("beta", beta.value()), kind, ("on", word("a"))];
                let verdict = table.bind("beta-likeness", &params).admits(&table.groups[group]);
                prop_assert_eq!(verdict.holds, within(beta));
                // The verdict reports one of the values, with the bound of that value.
                let is_of = |&&(gained, base, p): &&(i128, i128, f64)| {
                    (verdict.have - gained.max(0) as f64 / base as f64).abs() < 1e-12
                        && (verdict.need - beta.float().min(-p.ln())).abs() < 1e-12
                };
                prop_assert!(shares.iter().any(|s| is_of(&s)), "{:?}", verdict);
            }
        }
    }

    #[test]
    fn delta_disclosure_bounds_the_logarithm_both_ways(rows in tables(DISEASES, 1)) {
        let table = Table::new(&rows, &[]);
        let whole = table.whole(0);
        for group in 0..table.groups.len() {
            let own = table.column(group, 0);
            let change = |value: &&str| {
                let q = occurrences(&own, value) as f64 / own.len() as f64;
                let p = occurrences(&whole, value) as f64 / whole.len() as f64;
                (q / p).ln().abs()
            };
            // Over all values of the release, not only those of the group.
            let worst = whole.iter().map(change).fold(0.0, f64::max);
            let steps = [-1e-9, 1e-9].map(|step| worst + step);
            let around = if worst.is_infinite() { [1e9, f64::MAX] } else { steps };
            for delta in around.into_iter().filter(|delta| *delta >= 0.0) {
                let params = [("delta", incrowd_core::Value::Real(delta)), ("on", word("a"))];
                let verdict = table.bind("delta-disclosure", &params).admits(&table.groups[group]);
                close(verdict.have, worst);
                prop_assert_eq!(verdict.holds, worst < delta);
            }
        }
    }
}

/// For δ = 0 nothing is admitted, because the bound is strict. A table with one value has no gain.
#[test]
fn extreme_parameters_are_judged_exactly() {
    let row = |group, value: &str| (group, vec![value.to_owned()], 2);
    let constant = Table::new(&[row(0, "flu"), row(1, "flu")], &[]);
    let (zero, tiny) = (Millionths(0).value(), Millionths(1).value());
    let judge = |table: &Table, name: &str, params: &[(&str, incrowd_core::Value)]| {
        table.bind(name, params).admits(&table.groups[0])
    };
    agree(
        &judge(&constant, "delta-disclosure", &[("delta", zero.clone()), ("on", word("a"))]),
        0.0,
        false,
    );
    agree(&judge(&constant, "delta-disclosure", &[("delta", tiny), ("on", word("a"))]), 0.0, true);
    for kind in ["basic", "enhanced"] {
        let params = [("beta", zero.clone()), ("kind", word(kind)), ("on", word("a"))];
        agree(&judge(&constant, "beta-likeness", &params), 0.0, true);
        let apart = Table::new(&[row(0, "flu"), row(1, "cold")], &[]);
        agree(&judge(&apart, "beta-likeness", &params), 1.0, false);
    }
}
