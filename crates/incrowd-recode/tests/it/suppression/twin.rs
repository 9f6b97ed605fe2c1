//! Comparison of the closed form with the paper's loop, which removes one record at a time.

use incrowd_core::eligibility::{candidacy, eligible};
use incrowd_recode::suppression::levels::{cut, safe_stop, stop};
use incrowd_recode::suppression::method::interval;
use incrowd_recode::suppression::{Rule, Way};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const CASES: u32 = 100_000;

fn lth(counts: &[u64], l: u64) -> u64 {
    let mut sorted = counts.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    sorted.get(l as usize - 1).copied().unwrap_or(0)
}

/// Whether both conditions hold for the remaining counts.
pub(crate) fn holds(left: &[u64], records: u64, l: u64) -> bool {
    let sum: u64 = left.iter().sum();
    let most = left.iter().copied().max().unwrap_or(0);
    eligible(most, sum, l) && candidacy(lth(left, l), records - sum, records, l)
}

/// D-suppression as printed. `counts` are in the order of the ranks.
pub(crate) fn slow(
    counts: &[u64],
    records: u64,
    l: u64,
    done: impl Fn(&[u64]) -> bool,
) -> Vec<u64> {
    let mut left = counts.to_vec();
    while !done(&left) {
        let most = *left.iter().max().unwrap();
        let lowest = left.iter().rposition(|&count| count == most).unwrap();
        left[lowest] -= 1;
        assert!(records > 0 && l > 0);
    }
    left
}

/// A table that is not eligible, with l at most the number of values. It is small, so that stops
/// inside a level occur.
fn table(rng: &mut ChaCha8Rng) -> Option<(Vec<u64>, u64)> {
    let values = rng.random_range(2..9usize);
    let top = *[3u64, 8, 20, 60].get(rng.random_range(0..4usize)).unwrap();
    let mut counts: Vec<u64> = (0..values).map(|_| rng.random_range(1..=top)).collect();
    if rng.random_bool(0.5) {
        counts[0] += rng.random_range(0..=2 * top);
    }
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let l = rng.random_range(2..=values as u64);
    let records = counts.iter().sum();
    (!eligible(counts[0], records, l)).then_some((counts, l))
}

#[test]
fn the_closed_form_stops_where_the_loop_over_records_does() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let (mut cases, mut inside, mut ties) = (0, 0, 0);
    while cases < CASES {
        let Some((counts, l)) = table(&mut rng) else { continue };
        let records: u64 = counts.iter().sum();
        let h = rng.random_range(1..=l);
        let (low, high) = interval(&counts, h as usize);
        let first = rng.random_range(low..=high);
        // Ranks after the first step. Equal counts are in the order of the table.
        let mut reduced = counts.clone();
        reduced[0] = first;
        reduced.sort_by(|a, b| b.cmp(a));
        let fast = stop(&reduced, records, l);
        let left = slow(&reduced, records, l, |left| holds(left, records, l));
        assert_eq!(cut(&reduced, fast), left, "{counts:?} l={l} h={h} F={first}");
        assert_eq!(fast.cuts, reduced.iter().sum::<u64>() - left.iter().sum::<u64>());
        // After completing the level both conditions still hold, and fewer records are lost than
        // there are values at the top.
        let complete = fast.completed(&reduced);
        let completed = cut(&reduced, complete);
        assert!(holds(&completed, records, l), "{counts:?} l={l} F={first}");
        assert!(complete.cuts - fast.cuts < counts.len() as u64);
        let most = completed[0];
        assert!(completed.iter().zip(&reduced).all(|(&c, &r)| c == r.min(most)));
        inside += u32::from(fast.inside > 0);
        ties += u32::from(reduced.windows(2).any(|pair| pair[0] == pair[1]));
        cases += 1;
    }
    assert!(inside > 500 && ties > 10_000, "{inside} {ties}");
}

#[test]
fn unsafe_is_the_lower_bound_and_safe_stops_at_the_count_of_the_lth_value() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let mut cases = 0;
    while cases < CASES / 10 {
        let Some((counts, l)) = table(&mut rng) else { continue };
        let records: u64 = counts.iter().sum();
        let lower = stop(&counts, records, l).cuts;
        let safe = safe_stop(&counts, l);
        let top = |left: &[u64]| left.iter().filter(|&&c| c == left[0]).count() as u64 >= l;
        let slow_safe = slow(&counts, records, l, |left| holds(left, records, l) && top(left));
        assert_eq!(cut(&counts, safe), slow_safe);
        assert!(lower <= safe.cuts);
        let rule = Rule { way: Way::Random, l, complete_level: false };
        let mut last = u64::MAX;
        for first in interval(&counts, l as usize).0..=counts[0] {
            // Never less than the lower bound, and not less for a deeper first cut.
            let suppressed = rule.suppressed(&counts, first);
            assert!(lower <= suppressed && suppressed <= last, "{counts:?} l={l} F={first}");
            last = suppressed;
        }
        assert_eq!(last, lower, "without a first cut R-suppression equals Unsafe D-suppression");
        cases += 1;
    }
}

/// Suppressing fewer records than Unsafe D-suppression always violates a condition.
#[test]
fn no_smaller_suppression_satisfies_both_conditions() {
    fn least(counts: &[u64], records: u64, l: u64) -> u64 {
        let mut best = u64::MAX;
        let mut left = counts.to_vec();
        loop {
            if holds(&left, records, l) {
                best = best.min(records - left.iter().sum::<u64>());
            }
            let Some(place) = (0..left.len()).find(|&i| left[i] > 0) else { return best };
            left[place] -= 1;
            left[..place].copy_from_slice(&counts[..place]);
        }
    }
    let mut rng = ChaCha8Rng::seed_from_u64(10);
    let mut cases = 0;
    while cases < 300 {
        let Some((counts, l)) = table(&mut rng) else { continue };
        if counts.iter().map(|c| c + 1).product::<u64>() > 20_000 {
            continue;
        }
        let records = counts.iter().sum();
        assert_eq!(stop(&counts, records, l).cuts, least(&counts, records, l), "{counts:?} l={l}");
        cases += 1;
    }
}
