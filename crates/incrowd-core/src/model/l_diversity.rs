//! l-diversity: distinct, entropy, recursive and by frequency.
//!
//! Paper: `machanavajjhala2007`, Definitions 4.1 (entropy) and 4.2 (recursive) as printed there; distinct is the reading
//! of "at least l well represented values" that only counts them. With the counts of a group's values in descending order
//! r₁ ≥ … ≥ r_m and n records:
//! - distinct: m ≥ l
//! - entropy: −Σ (rᵢ/n) ln(rᵢ/n) ≥ ln l
//! - recursive: r₁ < c · (r_l + … + r_m)
//! - frequency: r₁ · l ≤ n, the form of `xiao2006` and `xu2010`
//!
//! Where we differ: two spellings of one number are one value. Entropy is decided by logarithms with an error bound; where
//! the bound does not decide, n^n = l^n · Πrᵢ^rᵢ is tested on prime factors, and what is neither equal nor clearly
//! greater is refused.

use super::presence::Presence;
use super::running::{self, Running};
use super::watched::Watched;
use super::{self as model, BoundModel, Card, Model, Need, ON, Survives, Verdict};
use crate::card::{Param, ParamKind};
use crate::dataset::Dataset;
use crate::eligibility::eligible;
use crate::error::{Error, Result};
use crate::exact::Decimal;
use crate::group::{GroupSummary, Histogram};

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "l-diversity",
    paper: "machanavajjhala2007",
    promise: "Every group has at least l well represented values of the sensitive column: l different ones (distinct), an \
              entropy of at least ln l (entropy), a most frequent value that is less than c times the l-th and rarer ones \
              together (recursive), or none that more than one record in l has (frequency).",
    limits: "Values that differ may mean nearly the same (three stomach diseases, salaries of 3000 and 3100), and a group \
             may be far from the whole table: with distinct diversity a value may hold 99 of 100 records. It knows nothing \
             of what an adversary knows about a person beforehand. Entropy and frequency need a table that is itself \
             diverse: a value that most records share makes them unreachable, unless records are withheld first \
             (r-suppression).",
    params: &[
        Param {
            name: "l",
            kind: ParamKind::Count(1),
            default: None,
            about: "how many values, in the sense of `kind`",
        },
        Param {
            name: "kind",
            kind: ParamKind::Choice(&["distinct", "entropy", "recursive", "frequency"]),
            default: Some("distinct"),
            about: "what well represented means",
        },
        Param {
            name: "c",
            kind: ParamKind::Number(0.0, f64::MAX),
            default: Some(""),
            about: "with kind = \"recursive\": how many times the rarer values the most frequent one stays below",
        },
        ON,
    ],
    kinds: &[
        model::Kind {
            param: "kind",
            value: "distinct",
            promise: "Every group has at least {l} different values of {on}.",
            limits: "It counts values and not how often they occur: one of them may hold 99 of 100 records. Values that differ \
                     may mean nearly the same (three stomach diseases, salaries of 3000 and 3100). It knows nothing of what an \
                     adversary knows about a person beforehand.",
        },
        model::Kind {
            param: "kind",
            value: "entropy",
            promise: "In every group the entropy of {on} is at least ln {l}: its values are spread at least as evenly as {l} \
                      equally frequent ones would be.",
            limits: "A single value may still be much more frequent than the others. Values that differ may mean nearly the \
                     same, and a group may be far from the whole table. A value that most records of the table share makes it \
                     unreachable, unless records are withheld first (r-suppression).",
        },
        model::Kind {
            param: "kind",
            value: "recursive",
            promise: "In every group the most frequent value of {on} occurs less than {c} times as often as the values from \
                      the {l}th most frequent on together.",
            limits: "Values that differ may mean nearly the same, and a group may be far from the whole table. It knows nothing \
                     of what an adversary knows about a person beforehand.",
        },
        model::Kind {
            param: "kind",
            value: "frequency",
            promise: "In no group more than one record in {l} has the same value of {on}.",
            limits: "Values that differ may mean nearly the same, and a value may still become many times more likely than in \
                     the whole table. A value that most records of the table share makes it unreachable, unless records are \
                     withheld first (r-suppression).",
        },
    ],
    needs: &[Need::Sensitive],
    survives: Survives { merging: true, overlapping: false, suppressing: true },
    make: |params| {
        let kind = match (params.word("kind"), params.optional_number("c")) {
            ("recursive", Some(c)) => Kind::Recursive { c, exact: Decimal::of(c) },
            ("recursive", None) => {
                return Err(Error::job("kind = \"recursive\" needs `c`").help("a usual choice is c = 3"));
            }
            (_, Some(_)) => return Err(Error::job("`c` goes with kind = \"recursive\" only").at("c")),
            ("entropy", None) => Kind::Entropy,
            ("frequency", None) => Kind::Frequency,
            _ => Kind::Distinct,
        };
        Ok(Box::new(LDiversity { l: params.count("l"), kind, on: params.word("on").to_owned() }))
    },
};

#[derive(Clone, Copy, Debug)]
enum Kind {
    Distinct,
    Entropy,
    Recursive { c: f64, exact: Decimal },
    Frequency,
}

#[derive(Debug)]
struct LDiversity {
    l: u64,
    kind: Kind,
    on: String,
}

impl Model for LDiversity {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        let (watched, _) = Watched::find(data, &self.on)?;
        Ok(Box::new(Bound { l: self.l, kind: self.kind, watched }))
    }
}

#[derive(Debug)]
struct Bound {
    l: u64,
    kind: Kind,
    watched: Watched,
}

impl BoundModel for Bound {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        // No value has more holders than the first entry says, and no choice of records is less even than all of them.
        let (counts, size) = (self.watched.extremal(group), self.watched.size(group));
        let need = self.l as f64;
        match self.kind {
            Kind::Distinct => fewest_values(counts.len() as u64, self.l),
            Kind::Entropy => {
                let (effective, holds) = entropy(&counts, size, self.l);
                Verdict::at_least("least entropy, as a number of values,", effective, need, holds)
            }
            Kind::Frequency => {
                let most = counts.iter().copied().max().unwrap_or(0);
                let share = most as f64 / size.max(1) as f64;
                let holds = eligible(most, size, self.l);
                Verdict::at_most("greatest share of a value", share, 1.0 / need, holds)
            }
            Kind::Recursive { c, exact } => {
                let most = counts.first().copied().unwrap_or(0);
                let rarer: u64 = counts.iter().skip(self.l as usize - 1).sum();
                let have = if rarer == 0 { f64::INFINITY } else { most as f64 / rarer as f64 };
                let holds = rarer > 0 && exact.less(most.into(), rarer.into());
                Verdict::at_most("greatest ratio of the most frequent to the rarer values", have, c, holds)
            }
        }
    }

    fn looks_at(&self) -> Option<usize> {
        Some(self.watched.column)
    }

    /// Fewer than l values have an entropy of less than ln l, no l-th most frequent one, and one that more than one record in l has.
    fn presence(&self) -> Option<Presence> {
        Presence::new(&self.watched, self.l, |_| 1)
    }

    fn running(&self) -> Option<Box<dyn Running + '_>> {
        let (watched, l, values) = (&self.watched, self.l, Histogram::default());
        Some(match self.kind {
            Kind::Distinct => Box::new(running::Distinct::new(watched, l, 0)),
            Kind::Frequency => Box::new(running::Frequency::new(watched, running::Share::one_in(l))),
            Kind::Recursive { exact, .. } => {
                Box::new(running::Recursive { watched, l, c: exact, values, records: 0, counts: Vec::new() })
            }
            Kind::Entropy => {
                Box::new(running::Entropy { watched, l, values, records: 0, sum: 0.0, changes: 0 })
            }
        })
    }
}

/// At least so many different values.
pub(super) fn fewest_values(have: u64, need: u64) -> Verdict {
    Verdict::at_least("fewest different values", have as f64, need as f64, have >= need)
}

/// e to the entropy, and whether it is at least `l`.
pub(super) fn entropy(counts: &[u64], records: u64, l: u64) -> (f64, bool) {
    let n = records as f64;
    let weighted: f64 = counts.iter().map(|&c| c as f64 * (c as f64).ln()).sum();
    let total = n * n.ln();
    let effective = if records == 0 { 0.0 } else { ((total - weighted) / n).exp() };
    // Each term is good to two roundings, and their sum to one more per term.
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
        /// n^n against l^n · Πrᵢ^rᵢ in integers that have room for it.
        #[test]
        fn entropy_agrees_with_whole_numbers(counts in prop::collection::vec(1u64..6, 1..5), l in 1u64..6) {
            let n: u64 = counts.iter().sum();
            let power = |base: u64, times: u64| (0..times).fold(1u128, |p, _| p * u128::from(base));
            let product = counts.iter().map(|&c| power(c, c)).product::<u128>();
            let slow = power(n, n) >= power(l, n) * product;
            prop_assert_eq!(entropy(&counts, n, l).1, slow);
        }
    }
}
