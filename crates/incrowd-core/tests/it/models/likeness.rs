//! β-likeness and δ-disclosure: how much more or less likely a value is in a group than in the release.

use proptest::prelude::*;

use super::{Table, Typed, agree, close, occurrences, tables, word};

const DISEASES: &[&str] = &["flu", "cold", "gout", "HIV"];

proptest! {
    #[test]
    fn basic_likeness_bounds_the_relative_gain(rows in tables(DISEASES, 1)) {
        let table = Table::new(&rows, &[]);
        let whole = table.whole(0);
        for group in 0..table.groups.len() {
            let own = table.column(group, 0);
            // (q − p)/p = (count · N − overall · n) / (overall · n), the greatest over all values with q > p.
            let gain = |value: &&str| {
                let (c, p) = (occurrences(&own, value) as i128, occurrences(&whole, value) as i128);
                let base = p * own.len() as i128;
                ((c * whole.len() as i128 - base).max(0), base)
            };
            let (part, base) = own.iter().map(gain).max_by(|a, b| (a.0 * b.1).cmp(&(b.0 * a.1))).unwrap();
            for beta in Typed::around(part, base) {
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
                (c * whole.len() as i128 - p * own.len() as i128, p * own.len() as i128, p as f64 / whole.len() as f64)
            };
            let shares: Vec<(i128, i128, f64)> = own.iter().map(shares).collect();
            let within = |beta: Typed| {
                shares.iter().filter(|s| s.0 > 0).all(|&(gained, base, p)| {
                    beta.at_most(gained, base) && gained as f64 / base as f64 <= -p.ln()
                })
            };
            for beta in shares.iter().flat_map(|s| Typed::around(s.0.max(0), s.1)) {
                let params = [("beta", beta.value()), ("kind", word("enhanced")), ("on", word("a"))];
                let verdict = table.bind("beta-likeness", &params).admits(&table.groups[group]);
                prop_assert_eq!(verdict.holds, within(beta));
                // It reports about one of the values, with that value's own bound.
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
            // Over the values of the release, not only those of the group.
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

/// At δ = 0 nothing holds, since the bound is strict; a table of one value has no gain at all.
#[test]
fn the_ends_of_the_scale() {
    let row = |group, value: &str| (group, vec![value.to_owned()], 2);
    let constant = Table::new(&[row(0, "flu"), row(1, "flu")], &[]);
    let (zero, tiny) = (Typed(0).value(), Typed(1).value());
    let judge = |table: &Table, name: &str, params: &[(&str, incrowd_core::Value)]| {
        table.bind(name, params).admits(&table.groups[0])
    };
    agree(&judge(&constant, "delta-disclosure", &[("delta", zero.clone()), ("on", word("a"))]), 0.0, false);
    agree(&judge(&constant, "delta-disclosure", &[("delta", tiny), ("on", word("a"))]), 0.0, true);
    for kind in ["basic", "enhanced"] {
        let params = [("beta", zero.clone()), ("kind", word(kind)), ("on", word("a"))];
        agree(&judge(&constant, "beta-likeness", &params), 0.0, true);
        let apart = Table::new(&[row(0, "flu"), row(1, "cold")], &[]);
        agree(&judge(&apart, "beta-likeness", &params), 1.0, false);
    }
}
