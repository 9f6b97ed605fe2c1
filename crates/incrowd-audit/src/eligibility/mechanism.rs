//! The suppression mechanism as the adversary knows it, and the probability of a release under it.
//!
//! Paper: `xu2010`, K1: the algorithm is known, its random draws are not. If the dominant value is
//! below the level of the release, its first cut was to exactly this count. If it is at the level,
//! a contiguous range of first cuts leads there, because deeper first cuts never suppress fewer
//! records.

use std::collections::BTreeMap;

use super::path::{End, Path, least};

/// A method of suppressing records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The most frequent value is first cut to a random count.
    Random,
    /// The l most frequent values are cut to equal counts.
    Safe,
    /// As few records as the two conditions allow are suppressed.
    Unsafe,
    /// Safe if it is expected to suppress at most as many records, else random.
    Cheaper,
}

/// The public parameters of the suppression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanism {
    /// The method.
    pub method: Method,
    /// Every value has at most one record in l.
    pub l: u64,
    /// Whether the last level is always completed.
    pub complete_level: bool,
}

impl Mechanism {
    /// Finds a mechanism by its name in a job file or manifest.
    pub fn named(name: &str, l: u64, complete_level: bool) -> Option<Mechanism> {
        let method = match name {
            "r-suppression" => Method::Random,
            "safe-d" => Method::Safe,
            "unsafe-d" => Method::Unsafe,
            "cheaper" => Method::Cheaper,
            _ => return None,
        };
        let complete_level = complete_level && matches!(method, Method::Random | Method::Cheaper);
        Some(Mechanism { method, l, complete_level })
    }

    pub(super) fn end(self, counts: &[u64], records: u64) -> End {
        let path = Path::new(counts, records, self.l);
        let end = path.end();
        if self.complete_level { end.completed(&path) } else { end }
    }

    /// Returns the probability of each count of the dominant value together with the release, if
    /// the counts of the table are `base`. `base` and `release` are in descending order, without
    /// labels.
    pub(super) fn outcomes(self, base: &[u64], release: &[u64]) -> BTreeMap<u64, f64> {
        let mut mass = BTreeMap::new();
        let chosen = self.with_chosen_method(base);
        let (records, level) = (base.iter().sum::<u64>(), release[0]);
        let mut add = |first: u64, probability: f64, end: End| {
            let reduced = reduce(base, first);
            if probability > 0.0 && left(&reduced, end) == release {
                for (count, chance) in dominant(&reduced, first, end) {
                    *mass.entry(count).or_insert(0.0) += probability * chance;
                }
            }
        };
        match chosen.method {
            Method::Safe => {
                let safe = base[chosen.l as usize - 1];
                let cuts = base.iter().map(|count| count.saturating_sub(safe)).sum();
                add(base[0], 1.0, End { cuts, level: safe, inside: 0 });
            }
            Method::Unsafe => {
                // The order of the table is kept, in which the dominant value is the first.
                let end = chosen.end(base, records);
                if left(base, end) == release {
                    mass.insert(end.level, 1.0);
                }
            }
            Method::Random | Method::Cheaper => {
                let mut below: Vec<u64> =
                    release.iter().copied().filter(|&count| count < level).collect();
                below.dedup();
                for first in below {
                    add(
                        first,
                        first_cut_chance(base, chosen.l, first, first),
                        chosen.end(&reduce(base, first), records),
                    );
                }
                for (low, high) in chosen.pieces(
                    base,
                    level,
                    base.iter().sum::<u64>() - release.iter().sum::<u64>(),
                ) {
                    let end = chosen.end(&reduce(base, low), records);
                    add(low, first_cut_chance(base, chosen.l, low, high), end);
                }
            }
        }
        mass
    }

    /// Returns every possible release of a table, without labels, with the probability of each
    /// count of the dominant value. At most `GRID` evenly spaced depths of an interval are
    /// evaluated.
    pub(super) fn releases(self, base: &[u64]) -> BTreeMap<Vec<u64>, BTreeMap<u64, f64>> {
        const GRID: u64 = 256;
        let records = base.iter().sum();
        let chosen = self.with_chosen_method(base);
        let mut all: BTreeMap<Vec<u64>, BTreeMap<u64, f64>> = BTreeMap::new();
        let mut add = |release: Vec<u64>, count: u64, chance: f64| {
            *all.entry(release).or_default().entry(count).or_insert(0.0) += chance;
        };
        match chosen.method {
            Method::Safe => {
                let level = base[chosen.l as usize - 1];
                add(base.iter().map(|&count| count.min(level)).collect(), level, 1.0);
            }
            Method::Unsafe => {
                let end = chosen.end(base, records);
                add(left(base, end), end.level, 1.0);
            }
            Method::Random | Method::Cheaper => {
                for h in 1..=chosen.l as usize {
                    let (low, high) = interval(base, h);
                    let points = (high - low + 1).min(GRID);
                    for point in 0..points {
                        let offset = u128::from(high - low) * u128::from(point)
                            / u128::from((points - 1).max(1));
                        let first = low + offset as u64;
                        let reduced = reduce(base, first);
                        let end = chosen.end(&reduced, records);
                        for (count, chance) in dominant(&reduced, first, end) {
                            add(left(&reduced, end), count, chance / (points * chosen.l) as f64);
                        }
                    }
                }
            }
        }
        all
    }

    /// Returns the first cuts to `level` or above that suppress this number of records, as ranges
    /// within which the order of the values does not change.
    pub(super) fn pieces(self, base: &[u64], level: u64, suppressed: u64) -> Vec<(u64, u64)> {
        let records = base.iter().sum();
        let (lowest, _) = interval(base, self.l as usize);
        let (low, high) = (level.max(lowest), base[0]);
        if low > high {
            return Vec::new();
        }
        // Without completing levels, the number of suppressed records decreases with `first`.
        let total =
            |first: u64| high - first + Path::new(&reduce(base, first), records, self.l).end().cuts;
        if self.complete_level {
            // The level is completed from inside the level above, or was just reached. A dominant
            // value whose first cut is to the level itself does not come from the level above, so
            // this case is separate.
            let mut pieces = vec![(low, low)];
            pieces.retain(|_| low == level);
            let low = low.max(level + 1);
            let cost =
                |level: u64| base.iter().map(|count| count.saturating_sub(level)).sum::<u64>();
            let (here, above) = (cost(level), cost(level + 1));
            if low <= high {
                let start = least(low, high, |first| total(first) <= here);
                let past = least(start, high, |first| total(first) <= above);
                let end = if total(past) <= above { past - 1 } else { past };
                if start <= end && total(start) <= here {
                    pieces.push((start, end));
                }
            }
            return pieces;
        }
        let start = least(low, high, |first| total(first) <= suppressed);
        let past = least(start, high, |first| total(first) < suppressed);
        let end = if total(past) < suppressed { past.checked_sub(1) } else { Some(past) };
        let Some(end) = end.filter(|&end| end >= start && total(start) == suppressed) else {
            return Vec::new();
        };
        let mut pieces = Vec::new();
        let mut from = start;
        let mut others: Vec<u64> =
            base[1..].iter().copied().filter(|c| (start..=end).contains(c)).collect();
        others.reverse();
        others.dedup();
        for other in others {
            if from < other {
                pieces.push((from, other - 1));
            }
            pieces.push((other, other));
            from = other + 1;
        }
        if from <= end {
            pieces.push((from, end));
        }
        pieces
    }

    /// Returns the probability of this release if the table is `base` and the dominant value is
    /// `dominant`. Counts are by label. Not for [`Method::Cheaper`].
    pub(super) fn likelihood(self, base: &[u64], dominant: usize, release: &[u64]) -> f64 {
        let mut order: Vec<usize> = (0..base.len()).filter(|&i| i != dominant).collect();
        order.sort_by(|&a, &b| base[b].cmp(&base[a]));
        let mut sorted = vec![base[dominant]];
        sorted.extend(order.iter().map(|&i| base[i]));
        if sorted.get(1).is_some_and(|&next| next > sorted[0]) {
            return 0.0;
        }
        let tied = sorted.iter().filter(|&&count| count == sorted[0]).count() as f64;
        let records: u64 = base.iter().sum();
        let suppressed = records - release.iter().sum::<u64>();
        let level = release.iter().copied().max().unwrap_or(0);
        let own = release[dominant];
        let mut ranges = Vec::new();
        if own < level {
            ranges.push((own, own));
        }
        if own + 1 >= level {
            ranges.extend(self.pieces(&sorted, level, suppressed));
        }
        let one = |(low, high): (u64, u64)| {
            let probability = first_cut_chance(&sorted, self.l, low, high);
            if probability == 0.0 {
                return 0.0;
            }
            let end = self.end(&reduce(&sorted, low), records);
            let fits = |i: usize, count: u64| {
                let goal = count.min(end.level);
                release[i] == goal
                    || end.inside > 0 && count >= end.level && release[i] + 1 == end.level
            };
            if end.level != level
                || !order.iter().all(|&i| fits(i, base[i]))
                || !fits(dominant, low)
            {
                return 0.0;
            }
            if end.inside == 0 {
                return probability;
            }
            // The values with the smallest counts at the level lost one record more. Among equal
            // counts, each choice of them is equally likely.
            let mut top: Vec<(u64, bool)> = order
                .iter()
                .map(|&i| (base[i], i))
                .chain([(low, dominant)])
                .filter(|(count, _)| *count >= end.level)
                .map(|(count, i)| (count, release[i] < end.level))
                .collect();
            top.sort_by_key(|(count, _)| *count);
            let mut rest = end.inside as usize;
            let mut chance = 1.0;
            for equal in top.chunk_by(|a, b| a.0 == b.0) {
                let cut = rest.min(equal.len());
                if equal.iter().filter(|(_, lower)| *lower).count() != cut {
                    return 0.0;
                }
                chance /= binomial(equal.len(), cut);
                rest -= cut;
            }
            probability * chance
        };
        ranges.into_iter().map(one).sum::<f64>() / tied
    }
}

fn binomial(of: usize, some: usize) -> f64 {
    (0..some).map(|i| (of - i) as f64 / (i + 1) as f64).product()
}

/// Returns the range of the first cut of the dominant value if `h` is drawn.
pub(super) fn interval(base: &[u64], h: usize) -> (u64, u64) {
    (base[h.min(base.len() - 1)], base[h - 1])
}

/// Returns the probability that the first cut is to a count from `low` to `high`.
fn first_cut_chance(base: &[u64], l: u64, low: u64, high: u64) -> f64 {
    let one = |h: usize| {
        let (from, to) = interval(base, h);
        let (a, b) = (from.max(low), to.min(high));
        if a > b { 0.0 } else { (b - a + 1) as f64 / (to - from + 1) as f64 }
    };
    (1..=l as usize).map(one).sum::<f64>() / l as f64
}

/// Returns the counts after cutting the most frequent value to `first`, in descending order.
pub(super) fn reduce(base: &[u64], first: u64) -> Vec<u64> {
    let mut reduced = base[1..].to_vec();
    reduced.insert(reduced.partition_point(|&count| count > first), first);
    reduced
}

/// Returns the remaining counts in descending order.
fn left(counts: &[u64], end: End) -> Vec<u64> {
    let mut left: Vec<u64> = counts.iter().map(|&count| count.min(end.level)).collect();
    let top = left.partition_point(|&count| count >= end.level);
    left[top - (end.inside as usize).min(top)..top].iter_mut().for_each(|count| *count -= 1);
    left
}

/// Returns the possible final counts of the dominant value with their probabilities, if it was
/// first cut to `first`.
fn dominant(counts: &[u64], first: u64, end: End) -> Vec<(u64, f64)> {
    if first < end.level || end.inside == 0 {
        return vec![(first.min(end.level), 1.0)];
    }
    let top = counts.partition_point(|&count| count >= end.level) as u64;
    let above = counts.partition_point(|&count| count > first) as u64;
    let equal = counts.partition_point(|&count| count >= first) as u64 - above;
    let cut = (above + equal).saturating_sub(top - end.inside).min(equal);
    let lower = cut as f64 / equal as f64;
    [(end.level - 1, lower), (end.level, 1.0 - lower)]
        .into_iter()
        .filter(|(_, p)| *p > 0.0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every table of up to 22 records with 3 to 5 values: bisection and a scan over every depth
    /// give equal probabilities, and every release is possible.
    #[test]
    fn bisection_finds_the_outcomes_of_every_depth() {
        fn tables(
            left: u64,
            values: usize,
            most: u64,
            taken: &mut Vec<u64>,
            visit: &mut dyn FnMut(&[u64]),
        ) {
            if values == 0 {
                if left == 0 {
                    visit(taken);
                }
                return;
            }
            for part in 1..=most.min(left) {
                taken.push(part);
                tables(left - part, values - 1, part, taken, visit);
                taken.pop();
            }
        }
        let (mut compared, mut completed) = (0, 0);
        for (records, values) in (6..=22).flat_map(|n| [(n, 3), (n, 4), (n, 5)]) {
            tables(records, values, records, &mut Vec::new(), &mut |base| {
                for l in (2..=values as u64).filter(|l| base[0] * l > records) {
                    for complete_level in [false, true] {
                        let mechanism = Mechanism { method: Method::Random, l, complete_level };
                        for (release, mass) in mechanism.releases(base) {
                            let found = mechanism.outcomes(base, &release);
                            let same = mass.len() == found.len()
                                && mass
                                    .iter()
                                    .zip(&found)
                                    .all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-12);
                            assert!(
                                same,
                                "{base:?} l={l} {complete_level} {release:?}: {mass:?} {found:?}"
                            );
                            compared += 1;
                        }
                        completed += u32::from(complete_level);
                    }
                }
            });
        }
        assert!(compared > 5_000 && completed > 1_000, "{compared} {completed}");
    }
}
