//! Did this release come from this table in the way it is said to?
//!
//! Paper: `xu2010`, Definitions 1 and 2. For the owner of the table, who has both.

use std::collections::BTreeMap;

use incrowd_core::eligibility::{candidacy, eligible};

use super::mechanism::{Mechanism, Way};

/// What the checker found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Whether every published value is one of the table, at most as often.
    pub part_of_table: bool,
    /// Whether no published value is more frequent than one record in l.
    pub eligible: bool,
    /// Whether at least l values can have been the dominant one; `None` if the table was eligible, and nothing had to go.
    pub candidacy: Option<bool>,
    /// Whether an eligible table was left as it is.
    pub unchanged: Option<bool>,
    /// Whether some draw leads from the table to exactly these counts.
    pub reachable: bool,
    /// How many values of the table have more than one record in l.
    pub violating: u64,
}

impl Checks {
    /// Whether everything is as it should be.
    pub fn holds(&self) -> bool {
        self.part_of_table
            && self.eligible
            && self.candidacy != Some(false)
            && self.unchanged != Some(false)
            && self.reachable
    }
}

/// Checks a release against its table: the counts of the sensitive values of both, by text.
pub fn check(mechanism: Mechanism, table: &BTreeMap<&str, u64>, release: &BTreeMap<&str, u64>) -> Checks {
    let l = mechanism.l;
    let part_of_table = release.iter().all(|(value, count)| table.get(value).is_some_and(|all| count <= all));
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
    let lth = usize::try_from(l).ok().and_then(|l| sorted.get(l.saturating_sub(1)).copied()).unwrap_or(0);
    let violating = base.iter().filter(|&&count| !eligible(count, records, l)).count() as u64;
    let reachable = match was_eligible {
        true => base == left,
        false if l > base.len() as u64 || !part_of_table => false,
        false => leads_to(mechanism, &base, &left),
    };
    Checks {
        part_of_table,
        eligible: eligible(most(&left), published, l),
        candidacy: (!was_eligible).then(|| part_of_table && candidacy(lth, records - published, records, l)),
        unchanged: was_eligible.then_some(base == left),
        reachable,
        violating,
    }
}

/// Whether some draw leads from one to the other, labels and all.
fn leads_to(mechanism: Mechanism, base: &[u64], left: &[u64]) -> bool {
    let mut sorted = base.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let most = sorted[0];
    let chosen = mechanism.with_chosen_way(&sorted);
    match chosen.way {
        Way::Safe => {
            let level = sorted[chosen.l as usize - 1];
            base.iter().zip(left).all(|(&before, &after)| after == before.min(level))
        }
        Way::Unsafe => {
            // Ranks are those of the table: whoever had more has no less.
            let mut release = left.to_vec();
            release.sort_unstable_by(|a, b| b.cmp(a));
            let ordered = || {
                let mut pairs: Vec<(u64, u64)> = base.iter().copied().zip(left.iter().copied()).collect();
                pairs.sort_unstable();
                pairs.chunk_by(|a, b| a.0 == b.0).collect::<Vec<_>>().windows(2).all(|pair| {
                    let most = pair[0].iter().map(|p| p.1).max();
                    most <= pair[1].iter().map(|p| p.1).min()
                })
            };
            chosen.releases(&sorted).contains_key(&release) && ordered()
        }
        Way::Random | Way::Cheaper => (0..base.len())
            .filter(|&i| base[i] == most)
            .any(|dominant| chosen.likelihood(base, dominant, left) > 0.0),
    }
}
