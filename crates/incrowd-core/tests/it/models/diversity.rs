//! l-diversity, p-sensitive k-anonymity and (α,k)-anonymity.

use proptest::prelude::*;

use super::{Millionths, Table, agree, count, counts, occurrences, tables, word};
use incrowd_core::Value;

const DISEASES: &[&str] = &["flu", "cold", "gout", "none", "HIV"];

fn power(base: u64, times: u64) -> u128 {
    (0..times).fold(1, |p, _| p * u128::from(base))
}

proptest! {
    #[test]
    fn distinct_diversity_counts_different_values(rows in tables(DISEASES, 2), l in 1u64..7) {
        let table = Table::new(&rows, &[]);
        for (column, name) in ["a", "b"].iter().enumerate() {
            let model = table.bind("l-diversity", &[("l", count(l)), ("on", word(name))]);
            for group in 0..table.groups.len() {
                let values = counts(&table.column(group, column)).len() as u64;
                agree(&model.admits(&table.groups[group]), values as f64, values >= l);
            }
        }
    }

    #[test]
    fn entropy_diversity_is_the_entropy_of_the_records(rows in tables(DISEASES, 1), l in 1u64..7) {
        let table = Table::new(&rows, &[]);
        let params = [("l", count(l)), ("kind", word("entropy")), ("on", word("a"))];
        let model = table.bind("l-diversity", &params);
        for group in 0..table.groups.len() {
            let column = table.column(group, 0);
            let n = column.len() as u64;
            // Every record contributes the logarithm of its value's share.
            let term = |v: &&str| -(occurrences(&column, v) as f64 / n as f64).ln();
            let entropy: f64 = column.iter().map(term).sum::<f64>() / n as f64;
            // exp(H) ≥ l in integers: n^n ≥ l^n · Π r^r.
            if n <= 14 {
                let product: u128 = counts(&column).iter().map(|&r| power(r, r)).product();
                let holds = power(n, n) >= power(l, n) * product;
                agree(&model.admits(&table.groups[group]), entropy.exp(), holds);
            } else {
                super::close(model.admits(&table.groups[group]).have, entropy.exp());
            }
        }
    }

    #[test]
    fn recursive_diversity_compares_the_most_frequent_value_with_the_rarer_ones(
        rows in tables(DISEASES, 1),
        l in 1u64..6,
    ) {
        let table = Table::new(&rows, &[]);
        for group in 0..table.groups.len() {
            let r = counts(&table.column(group, 0));
            let rarer: i128 = r.iter().skip(l as usize - 1).sum::<u64>().into();
            let most = i128::from(r[0]);
            let around = match rarer {
                0 => vec![Millionths(9_000_000_000)],
                _ => Millionths::around(most, rarer),
            };
            for c in around {
                let kind = ("kind", word("recursive"));
                let params = [("l", count(l)), kind, ("c", c.value()), ("on", word("a"))];
                let model = table.bind("l-diversity", &params);
                let have = if rarer == 0 { f64::INFINITY } else { most as f64 / rarer as f64 };
                let holds = rarer > 0 && c.cmp_fraction(most, rarer).is_lt();
                agree(&model.admits(&table.groups[group]), have, holds);
            }
        }
    }

    #[test]
    fn diversity_by_frequency_admits_one_record_in_l_per_value(
        rows in tables(DISEASES, 1),
        l in 1u64..6,
    ) {
        let table = Table::new(&rows, &[]);
        let params = [("l", count(l)), ("kind", word("frequency")), ("on", word("a"))];
        let model = table.bind("l-diversity", &params);
        for group in 0..table.groups.len() {
            let column = table.column(group, 0);
            let (most, records) = (counts(&column)[0], column.len() as u64);
            let share = most as f64 / records as f64;
            agree(&model.admits(&table.groups[group]), share, most * l <= records);
        }
    }

    #[test]
    fn p_sensitive_requires_values_and_records(
        rows in tables(DISEASES, 1),
        p in 1u64..6,
        k in 1u64..9,
    ) {
        let table = Table::new(&rows, &[]);
        let params = [("p", count(p)), ("k", count(k)), ("on", word("a"))];
        let model = table.bind("p-sensitive", &params);
        for group in 0..table.groups.len() {
            let column = table.column(group, 0);
            let (values, records) = (counts(&column).len() as u64, column.len() as u64);
            let verdict = model.admits(&table.groups[group]);
            let want = if verdict.what == "smallest group" { records } else { values };
            agree(&verdict, want as f64, values >= p && records >= k);
        }
    }

    #[test]
    fn alpha_k_bounds_the_share_of_the_protected_values(
        rows in tables(DISEASES, 1),
        k in 1u64..9,
        named in prop::sample::subsequence(DISEASES.to_vec(), 0..3),
    ) {
        let table = Table::new(&rows, &[]);
        let whole = table.whole(0);
        prop_assume!(named.iter().all(|value| whole.contains(value)));
        for group in 0..table.groups.len() {
            let column = table.column(group, 0);
            let n = column.len() as i128;
            let about = |value: &&&str| named.is_empty() || named.contains(value);
            let most = column.iter().filter(about).map(|v| occurrences(&column, v)).max();
            let most = most.unwrap_or(0);
            let around = Millionths::around(most.into(), n).into_iter();
            for alpha in around.filter(|alpha| alpha.0 <= 1_000_000) {
                let values = Value::Words(named.iter().map(|v| (*v).to_owned()).collect());
                let (alpha_param, k_param) = (("alpha", alpha.value()), ("k", count(k)));
                let params = [alpha_param, k_param, ("values", values), ("on", word("a"))];
                let model = table.bind("alpha-k-anonymity", &params);
                let verdict = model.admits(&table.groups[group]);
                let holds = n >= i128::from(k) && alpha.at_most(most.into(), n);
                let want = match verdict.what {
                    "smallest group" => n as f64,
                    _ => most as f64 / n as f64,
                };
                agree(&verdict, want, holds);
            }
        }
    }
}

/// `1` and `1.0` are one value, whichever of the spellings the parameters contain.
#[test]
fn two_spellings_of_a_number_are_one_value() {
    let row = |value: &str, n| (0, vec![value.to_owned()], n);
    let table = Table::new(&[row("1", 2), row("1.0", 2), row("2", 1)], &[]);
    let group = &table.groups[0];
    agree(
        &table.bind("l-diversity", &[("l", count(3)), ("on", word("a"))]).admits(group),
        2.0,
        false,
    );
    for named in ["1", "1.0"] {
        let values = Value::Words(vec![named.to_owned()]);
        let params =
            [("alpha", Value::Real(0.5)), ("k", count(1)), ("values", values), ("on", word("a"))];
        agree(&table.bind("alpha-k-anonymity", &params).admits(group), 0.8, false);
    }
}
