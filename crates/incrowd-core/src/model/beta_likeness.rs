//! β-likeness, basic and enhanced.
//!
//! Paper: `cao2012`, Definitions 2 (basic) and 3 (enhanced) as printed there. With p the share of a
//! value in the whole release and q its share in a group, for every value with q > p: (q − p)/p ≤
//! β, and for enhanced β-likeness (q − p)/p ≤ min(β, −ln p).
//!
//! Where we differ: basic likeness is decided in integers; the logarithm is rounded to the strict
//! side.

use super::presence::Presence;
use super::running::{IncrementalShares, Range, Ranges, Running, Shares, first_true};
use super::target::TargetColumn;
use super::{BoundModel, Card, Model, Need, ON, Survives, Variant, Verdict};
use crate::card::Param;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::exact::{Decimal, lower, upper};
use crate::group::GroupSummary;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "beta-likeness",
    paper: "cao2012",
    guarantee: "\
        In every group the share of each sensitive value exceeds its share in the whole release \
        by at most beta times that share, so no rare value becomes much more likely; enhanced \
        likeness also limits the gain of frequent values.",
    limits: "\
        It bounds gains, not losses: a value may be absent from a group. Values with nearly the \
        same meaning are bounded separately. The reference is the release itself, which is the \
        adversary's prior only if nothing better is known. With large beta, basic likeness lets \
        frequent values become certain.",
    params: &[
        Param::number("beta", 0.0, f64::MAX)
            .about("the greatest relative gain of a value: 1 lets its share double"),
        Param::choice("kind", &["enhanced", "basic"]).or("enhanced").about(
            "whether the gain is also limited by the value's own information, -ln of its share",
        ),
        ON,
    ],
    variants: &[
        Variant {
            param: "kind",
            value: "enhanced",
            guarantee: "\
                In every group the share of each value of {on} exceeds its share in the whole \
                release by at most {beta} times that share, so no rare value becomes much more \
                likely; the gain of frequent values is also limited by -ln of their share.",
            limits: "\
                It bounds gains, not losses: a value may be absent from a group. Values with \
                nearly the same meaning are bounded separately. The reference is the release \
                itself, which is the adversary's prior only if nothing better is known.",
        },
        Variant {
            param: "kind",
            value: "basic",
            guarantee: "\
                In every group the share of each value of {on} exceeds its share in the whole \
                release by at most {beta} times that share, so no rare value becomes much more \
                likely.",
            limits: "\
                It bounds gains, not losses: a value may be absent from a group. Values with \
                nearly the same meaning are bounded separately. The reference is the release \
                itself, which is the adversary's prior only if nothing better is known. With \
                large beta it lets frequent values become certain.",
        },
    ],
    needs: &[Need::Sensitive],
    survives: Survives { merging: true, overlapping: false, suppressing: false },
    make: |params| {
        Ok(Box::new(BetaLikeness {
            beta: params.number("beta"),
            enhanced: params.word("kind") == "enhanced",
            on: params.word("on").to_owned(),
        }))
    },
};

#[derive(Debug)]
struct BetaLikeness {
    beta: f64,
    enhanced: bool,
    on: String,
}

impl Model for BetaLikeness {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        let (target, _) = TargetColumn::find(data, &self.on)?;
        let overall = target.overall(data);
        let (beta, exact) = (self.beta, Decimal::of(self.beta));
        let (records, ranges) = (data.people(), Ranges::new(overall.len()));
        Ok(Box::new(BoundBetaLikeness {
            beta,
            exact,
            enhanced: self.enhanced,
            overall,
            records,
            target,
            ranges,
        }))
    }
}

/// Maximum number of evaluated shares when the smallest possible group size is computed.
const MOST_JUDGED: u64 = 1 << 14;

#[derive(Debug)]
struct BoundBetaLikeness {
    beta: f64,
    exact: Decimal,
    enhanced: bool,
    overall: Vec<u64>,
    records: u64,
    target: TargetColumn,
    ranges: Ranges,
}

impl BoundBetaLikeness {
    fn judge(&self, code: u32, in_group: u64, group: u64) -> Verdict {
        let overall = self.overall[code as usize];
        // (q − p)/p = gained / base, in integers.
        let base = u128::from(overall) * u128::from(group);
        let gained = (u128::from(in_group) * u128::from(self.records)).saturating_sub(base);
        let gain = gained as f64 / base.max(1) as f64;
        let cap = (self.records as f64 / overall.max(1) as f64).ln();
        let within_cap = !self.enhanced || gained == 0 || upper(gain) <= lower(cap);
        let within_beta = base > 0 && self.exact.at_most(gained, base);
        let need = if self.enhanced { self.beta.min(cap) } else { self.beta };
        Verdict::at_most("greatest relative gain of a value", gain, need, within_beta && within_cap)
    }
}

impl BoundModel for BoundBetaLikeness {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        let (histogram, size) = (self.target.holders(group), self.target.size(group));
        let judged = histogram.entries().iter().map(|&(code, n)| self.judge(code, n, size));
        let nothing = Verdict::at_most("greatest relative gain of a value", 0.0, self.beta, true);
        judged.reduce(Verdict::and).unwrap_or(nothing)
    }

    fn sensitive_column(&self) -> Option<usize> {
        Some(self.target.column)
    }

    /// The smallest n for which the greatest admitted counts of all values sum to at least n.
    fn fewest_records(&self) -> u64 {
        let present =
            || (0..self.overall.len() as u32).filter(|&code| self.overall[code as usize] > 0);
        let tries = MOST_JUDGED / present().count().max(1) as u64;
        let most =
            |code: u32, n: u64| first_true(1, n + 1, |count| !self.allows(code, count, n)) - 1;
        let fits = |n: &u64| present().map(|code| most(code, *n)).sum::<u64>() >= *n;
        (1..=tries).find(fits).unwrap_or(tries + 1)
    }

    /// No value has more than 1 + β times its overall share, so the overall shares of a group's
    /// values sum to at least 1/(1 + β).
    fn presence(&self) -> Option<Presence> {
        let all = self.records;
        let least = first_true(1, all, |part| self.exact.at_most((all - part).into(), part.into()));
        Presence::new(&self.target, least, |code| self.overall[code as usize])
    }

    fn running(&self) -> Option<Box<dyn Running + '_>> {
        Some(Box::new(IncrementalShares::new(&self.target, 0, self)))
    }
}

/// The share of a value falls with the size of the group, so a count is admitted from some number
/// of records on.
impl Shares for BoundBetaLikeness {
    fn allows(&self, code: u32, count: u64, records: u64) -> bool {
        self.judge(code, count, records).holds
    }

    fn range(&self, code: u32, count: u64) -> Range {
        let least = || first_true(count, self.records + 1, |n| self.allows(code, count, n));
        self.ranges.get(code, count, || (least(), u64::MAX))
    }
}
