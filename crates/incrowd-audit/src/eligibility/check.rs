//! Checks whether a release can result from a table by the declared suppression.
//!
//! Paper: `xu2010`, Definitions 1 and 2. The check needs the original table, so it is for its
//! owner.

use std::collections::BTreeMap;

use incrowd_core::eligibility::{candidacy, eligible};

use super::mechanism::{Mechanism, Method};

/// Results of the checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Whether every published value occurs in the table at least as often.
    pub part_of_table: bool,
    /// Whether every published value has at most one record in l.
    pub eligible: bool,
    /// Whether at least l values can have been the dominant one. `None` if the table was eligible
    /// and nothing had to be suppressed.
    pub candidacy: Option<bool>,
    /// Whether an eligible table was published without suppression. `None` if it was not eligible.
    pub unchanged: Option<bool>,
    /// Whether some random draw leads from the table to these counts.
    pub reachable: bool,
    /// Number of values of the table with more than one record in l.
    pub violating: u64,
}

impl Checks {
    /// Returns whether all checks passed.
    pub fn holds(&self) -> bool {
        self.part_of_table
            && self.eligible
            && self.candidacy != Some(false)
            && self.unchanged != Some(false)
            && self.reachable
    }
}

/// Compares a release with its table. Both are given as counts of sensitive values by text.
pub fn check(
    mechanism: Mechanism,
    table: &BTreeMap<&str, u64>,
    release: &BTreeMap<&str, u64>,
) -> Checks {
    let l = mechanism.l;
    let part_of_table =
        release.iter().all(|(value, count)| table.get(value).is_some_and(|all| count <= all));
    let base: Vec<u64> = table.values().copied().filter(|&count| count > 0).collect();
    let left: Vec<u64> = table
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(value, _)| release.get(value).copied().unwrap_or(0))
        .collect();
    let (records, published) = (base.iter().sum::<u64>(), left.iter().sum::<u64>());
    let most = |counts: &[u64]| counts.iter().copied().max().unwrap_or(0);
    let was_eligible = eligible(most(&base), records, l);
    let mut sorted = left.clone();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let lth =
        usize::try_from(l).ok().and_then(|l| sorted.get(l.saturating_sub(1)).copied()).unwrap_or(0);
    let violating = base.iter().filter(|&&count| !eligible(count, records, l)).count() as u64;
    let reachable = match was_eligible {
        true => base == left,
        false if l > base.len() as u64 || !part_of_table => false,
        false => leads_to(mechanism, &base, &left),
    };
    Checks {
        part_of_table,
        eligible: eligible(most(&left), published, l),
        candidacy: (!was_eligible)
            .then(|| part_of_table && candidacy(lth, records - published, records, l)),
        unchanged: was_eligible.then_some(base == left),
        reachable,
        violating,
    }
}

/// Returns whether some random draw leads from one to the other. Counts are by label.
fn leads_to(mechanism: Mechanism, base: &[u64], left: &[u64]) -> bool {
    let mut sorted = base.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let most = sorted[0];
    let chosen = mechanism.with_chosen_method(&sorted);
    match chosen.method {
        Method::Safe => {
            let level = sorted[chosen.l as usize - 1];
            base.iter().zip(left).all(|(&before, &after)| after == before.min(level))
        }
        Method::Unsafe => {
            // The order of the table is kept: a value with more records keeps at least as many.
            let mut release = left.to_vec();
            release.sort_unstable_by(|a, b| b.cmp(a));
            let ordered = || {
                let mut pairs: Vec<(u64, u64)> =
                    base.iter().copied().zip(left.iter().copied()).collect();
                pairs.sort_unstable();
                pairs.chunk_by(|a, b| a.0 == b.0).collect::<Vec<_>>().windows(2).all(|pair| {
                    let most = pair[0].iter().map(|p| p.1).max();
                    most <= pair[1].iter().map(|p| p.1).min()
                })
            };
            chosen.releases(&sorted).contains_key(&release) && ordered()
        }
        Method::Random | Method::Cheaper => (0..base.len())
            .filter(|&i| base[i] == most)
            .any(|dominant| chosen.likelihood(base, dominant, left) > 0.0),
    }
}
