//! l-diversity: distinct, entropy, recursive and by frequency.
//!
//! Paper: `machanavajjhala2007`, Definitions 4.1 (entropy) and 4.2 (recursive) as printed there.
//! Distinct l-diversity interprets "at least l well represented values" as a count of values. With
//! the counts of a group's values in descending order r₁ ≥ … ≥ r_m and n records:
//! - distinct: m ≥ l
//! - entropy: −Σ (rᵢ/n) ln(rᵢ/n) ≥ ln l
//! - recursive: r₁ < c · (r_l + … + r_m)
//! - frequency: r₁ · l ≤ n, the form of `xiao2006` and `xu2010`
//!
//! Where we differ: two spellings of one number are one value. Entropy is decided by logarithms
//! with an error bound. If the bound does not decide, n^n = l^n · Πrᵢ^rᵢ is tested on prime
//! factors; a group that is neither equal nor clearly greater is refused.

use super::presence::Presence;
use super::running::{self, Running};
use super::target::TargetColumn;
use super::{self as model, BoundModel, Card, Model, Need, ON, Survives, Verdict};
use crate::card::Param;
use crate::dataset::Dataset;
use crate::eligibility::eligible;
use crate::error::{Error, Result};
use crate::exact::Decimal;
use crate::group::{GroupSummary, Histogram};

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "l-diversity",
    paper: "machanavajjhala2007",
    guarantee: "\
        Every group has at least l well represented values of the sensitive column: l different \
        values (distinct), an entropy of at least ln l (entropy), a most frequent value that is \
        less than c times the l-th and rarer ones together (recursive), or no value that more \
        than one record in l has (frequency).",
    limits: "\
        Different values may have nearly the same meaning (three stomach diseases, salaries of \
        3000 and 3100), and a group may differ much from the whole table: with distinct diversity \
        99 of 100 records may have the same value. It does not consider background knowledge \
        about a person. Entropy and frequency need a table that is itself diverse: a value that \
        most records share makes them unsatisfiable, unless records are suppressed first \
        (r-suppression).",
    params: &[
        Param::count("l", 1).about("the number of values; its meaning depends on `kind`"),
        Param::choice("kind", &["distinct", "entropy", "recursive", "frequency"])
            .or("distinct")
            .about("the meaning of well represented"),
        Param::number("c", 0.0, f64::MAX).optional().about(
            "with kind = \"recursive\": the most frequent value occurs less than c times as often \
            as the rarer ones",
        ),
        ON,
    ],
    variants: &[
        model::Variant {
            param: "kind",
            value: "distinct",
            guarantee: "Every group has at least {l} different values of {on}.",
            limits: "\
                It counts values, not their frequencies: 99 of 100 records may have the same \
                value. Different values may have nearly the same meaning (three stomach diseases, \
                salaries of 3000 and 3100). It does not consider background knowledge about a \
                person.",
        },
        model::Variant {
            param: "kind",
            value: "entropy",
            guarantee: "\
                In every group the entropy of {on} is at least ln {l}: its values are spread at \
                least as evenly as {l} equally frequent ones would be.",
            limits: "\
                A single value may still be much more frequent than the others. Different values \
                may have nearly the same meaning, and a group may differ much from the whole \
                table. A value that most records of the table share makes it unsatisfiable, \
                unless records are suppressed first (r-suppression).",
        },
        model::Variant {
            param: "kind",
            value: "recursive",
            guarantee: "\
                In every group the most frequent value of {on} occurs less than {c} times as \
                often as the values from the {l}th most frequent on together.",
            limits: "\
                Different values may have nearly the same meaning, and a group may differ much \
                from the whole table. It does not consider background knowledge about a person.",
        },
        model::Variant {
            param: "kind",
            value: "frequency",
            guarantee: "In no group does more than one record in {l} have the same value of {on}.",
            limits: "\
                Different values may have nearly the same meaning, and a value may still become \
                many times more likely than in the whole table. A value that most records of the \
                table share makes it unsatisfiable, unless records are suppressed first \
                (r-suppression).",
        },
    ],
    needs: &[Need::Sensitive],
    survives: Survives { merging: true, overlapping: false, suppressing: true },
    make: |params| {
        let kind = match (params.word("kind"), params.optional_number("c")) {
            ("recursive", Some(c)) => Diversity::Recursive { c, exact: Decimal::of(c) },
            ("recursive", None) => {
                return Err(
                    Error::job("kind = \"recursive\" needs `c`").help("a common choice is c = 3")
                );
            }
            (_, Some(_)) => {
                return Err(Error::job("`c` is used with kind = \"recursive\" only").at("c"));
            }
            ("entropy", None) => Diversity::Entropy,
            ("frequency", None) => Diversity::Frequency,
            _ => Diversity::Distinct,
        };
        Ok(Box::new(LDiversity { l: params.count("l"), kind, on: params.word("on").to_owned() }))
    },
};

#[derive(Clone, Copy, Debug)]
enum Diversity {
    Distinct,
    Entropy,
    Recursive { c: f64, exact: Decimal },
    Frequency,
}

#[derive(Debug)]
struct LDiversity {
    l: u64,
    kind: Diversity,
    on: String,
}

impl Model for LDiversity {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        let (target, _) = TargetColumn::find(data, &self.on)?;
        Ok(Box::new(BoundLDiversity { l: self.l, kind: self.kind, target }))
    }
}

#[derive(Debug)]
struct BoundLDiversity {
    l: u64,
    kind: Diversity,
    target: TargetColumn,
}

impl BoundModel for BoundLDiversity {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        // For persons with several records these counts are a worst case: no value has more holders
        // than the first, and no choice of one record per person is less even.
        let (counts, size) = (self.target.extremal(group), self.target.size(group));
        let need = self.l as f64;
        match self.kind {
            Diversity::Distinct => fewest_values(counts.len() as u64, self.l),
            Diversity::Entropy => {
                let (effective, holds) = entropy(&counts, size, self.l);
                Verdict::at_least("least entropy, as a number of values,", effective, need, holds)
            }
            Diversity::Frequency => {
                let most = counts.iter().copied().max().unwrap_or(0);
                let share = most as f64 / size.max(1) as f64;
                let holds = eligible(most, size, self.l);
                Verdict::at_most("greatest share of a value", share, 1.0 / need, holds)
            }
            Diversity::Recursive { c, exact } => {
                let most = counts.first().copied().unwrap_or(0);
                let rarer: u64 = counts.iter().skip(self.l as usize - 1).sum();
                let have = if rarer == 0 { f64::INFINITY } else { most as f64 / rarer as f64 };
                let holds = rarer > 0 && exact.less(most.into(), rarer.into());
                Verdict::at_most(
                    "greatest ratio of the most frequent to the rarer values",
                    have,
                    c,
                    holds,
                )
            }
        }
    }

    fn sensitive_column(&self) -> Option<usize> {
        Some(self.target.column)
    }

    /// With fewer than l values the entropy is less than ln l, there is no l-th most frequent
    /// value, and one value has more than one record in l.
    fn presence(&self) -> Option<Presence> {
        Presence::new(&self.target, self.l, |_| 1)
    }

    fn running(&self) -> Option<Box<dyn Running + '_>> {
        let (target, l, values) = (&self.target, self.l, Histogram::default());
        Some(match self.kind {
            Diversity::Distinct => Box::new(running::Distinct::new(target, l, 0)),
            Diversity::Frequency => {
                Box::new(running::Frequency::new(target, running::Share::one_in(l)))
            }
            Diversity::Recursive { exact, .. } => Box::new(running::Recursive {
                target,
                l,
                c: exact,
                values,
                records: 0,
                counts: Vec::new(),
            }),
            Diversity::Entropy => {
                Box::new(running::Entropy { target, l, values, records: 0, sum: 0.0, changes: 0 })
            }
        })
    }
}

/// The verdict on a least number of different values.
pub(super) fn fewest_values(have: u64, need: u64) -> Verdict {
    Verdict::at_least("fewest different values", have as f64, need as f64, have >= need)
}

/// e to the power of the entropy, and whether it is at least `l`.
pub(super) fn entropy(counts: &[u64], records: u64, l: u64) -> (f64, bool) {
    let n = records as f64;
    let weighted: f64 = counts.iter().map(|&c| c as f64 * (c as f64).ln()).sum();
    let total = n * n.ln();
    let effective = if records == 0 { 0.0 } else { ((total - weighted) / n).exp() };
    // Each term has an error of two roundings, and their sum of one more per term.
    let error = (counts.len() as f64 + 8.0) * f64::EPSILON * (total + n * (l as f64).ln() + 1.0);
    let excess = total - weighted - n * (l as f64).ln();
    if excess.abs() > error {
        (effective, excess > 0.0)
    } else if records > 0 && equal_powers(counts, records, l) {
        (l as f64, true)
    } else {
        (effective, false)
    }
}

/// Whether n^n = l^n · Πrᵢ^rᵢ, by comparing the exponent of every prime.
fn equal_powers(counts: &[u64], records: u64, l: u64) -> bool {
    let mut exponents: std::collections::BTreeMap<u64, i128> = std::collections::BTreeMap::new();
    let mut multiply = |base: u64, times: i128| {
        let (mut rest, mut prime) = (base, 2);
        while rest > 1 {
            if prime * prime > rest {
                prime = rest;
            }
            while rest % prime == 0 {
                *exponents.entry(prime).or_insert(0) += times;
                rest /= prime;
            }
            prime += 1;
        }
    };
    multiply(records, i128::from(records));
    multiply(l, -i128::from(records));
    counts.iter().for_each(|&count| multiply(count, -i128::from(count)));
    exponents.values().all(|&exponent| exponent == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equally_frequent_values_have_exactly_the_entropy_of_their_number() {
        for (l, times) in [(1, 7), (2, 5), (3, 1), (3, 1_000_003), (7, 11), (14, 45_222), (97, 3)] {
            let counts = vec![times; l as usize];
            assert_eq!(entropy(&counts, l * times, l), (l as f64, true));
            assert!(!entropy(&counts, l * times, l + 1).1);
        }
        // 1/2, 1/4, 1/8, 1/8 has entropy 7/4 bits, which is less than 4 values and more than 3.
        assert!(entropy(&[4, 2, 1, 1], 8, 3).1 && !entropy(&[4, 2, 1, 1], 8, 4).1);
    }

    proptest! {
        /// Compares n^n with l^n · Πrᵢ^rᵢ in integers that are large enough.
        #[test]
        fn entropy_agrees_with_integers(
            counts in prop::collection::vec(1u64..6, 1..5),
            l in 1u64..6,
        ) {
            let n: u64 = counts.iter().sum();
            let power = |base: u64, times: u64| (0..times).fold(1u128, |p, _| p * u128::from(base));
            let product = counts.iter().map(|&c| power(c, c)).product::<u128>();
            let slow = power(n, n) >= power(l, n) * product;
            prop_assert_eq!(entropy(&counts, n, l).1, slow);
        }
    }
}
