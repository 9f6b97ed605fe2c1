//! What an adversary knows of how records were withheld, and how likely it makes a release.
//!
//! Paper: `xu2010`, K1: the algorithm is known, its draws are not. If the dominant value stands below the level of the
//! release, it was cut there at the outset and at no other depth. If it stands at the level, a contiguous range of depths
//! leads there, since deeper first cuts never withhold less.

use std::collections::BTreeMap;

use super::path::{End, Path, least};

/// A way of withholding records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The most frequent value goes to a random depth first.
    Random,
    /// The l most frequent values become equally frequent.
    Safe,
    /// As few records as the two conditions allow.
    Unsafe,
    /// Safe where it is expected to withhold no more, else random.
    Cheaper,
}

/// All that is public about how records were withheld.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mechanism {
    /// How.
    pub way: Way,
    /// No value is more frequent than one record in l.
    pub l: u64,
    /// Whether no level is left half cut.
    pub complete_level: bool,
}

impl Mechanism {
    /// The mechanism of that name in a job file or manifest.
    pub fn named(name: &str, l: u64, complete_level: bool) -> Option<Mechanism> {
        let way = match name {
            "r-suppression" => Way::Random,
            "safe-d" => Way::Safe,
            "unsafe-d" => Way::Unsafe,
            "cheaper" => Way::Cheaper,
            _ => return None,
        };
        Some(Mechanism {
            way,
            l,
            complete_level: complete_level && matches!(way, Way::Random | Way::Cheaper),
        })
    }

    pub(super) fn end(self, counts: &[u64], records: u64) -> End {
        let path = Path::new(counts, records, self.l);
        let end = path.end();
        if self.complete_level { end.completed(&path) } else { end }
    }

    /// How likely each count of the dominant value is together with a release whose counts are `release`, if the table's are
    /// `base`; both in descending order, labels aside.
    pub(super) fn outcomes(self, base: &[u64], release: &[u64]) -> BTreeMap<u64, f64> {
        let mut mass = BTreeMap::new();
        let chosen = self.with_chosen_way(base);
        let (records, level) = (base.iter().sum::<u64>(), release[0]);
        let mut add = |first: u64, weight: f64, end: End| {
            let reduced = reduce(base, first);
            if weight > 0.0 && left(&reduced, end) == release {
                for (count, chance) in dominant(&reduced, first, end) {
                    *mass.entry(count).or_insert(0.0) += weight * chance;
                }
            }
        };
        match chosen.way {
            Way::Safe => {
                let safe = base[chosen.l as usize - 1];
                let cuts = base.iter().map(|count| count.saturating_sub(safe)).sum();
                add(base[0], 1.0, End { cuts, level: safe, inside: 0 });
            }
            Way::Unsafe => {
                // Ranks are those of the table, in which the dominant value is the first.
                let end = chosen.end(base, records);
                if left(base, end) == release {
                    mass.insert(end.level, 1.0);
                }
            }
            Way::Random | Way::Cheaper => {
                let mut below: Vec<u64> = release.iter().copied().filter(|&count| count < level).collect();
                below.dedup();
                for first in below {
                    add(
                        first,
                        weight(base, chosen.l, first, first),
                        chosen.end(&reduce(base, first), records),
                    );
                }
                for (low, high) in
                    chosen.pieces(base, level, base.iter().sum::<u64>() - release.iter().sum::<u64>())
                {
                    let end = chosen.end(&reduce(base, low), records);
                    add(low, weight(base, chosen.l, low, high), end);
                }
            }
        }
        mass
    }

    /// Every release a table can become, labels aside, with how likely it is together with each count of the dominant value.
    /// Of an interval of more depths than `GRID` that many are looked at, evenly spaced.
    pub(super) fn releases(self, base: &[u64]) -> BTreeMap<Vec<u64>, BTreeMap<u64, f64>> {
        const GRID: u64 = 256;
        let records = base.iter().sum();
        let chosen = self.with_chosen_way(base);
        let mut all: BTreeMap<Vec<u64>, BTreeMap<u64, f64>> = BTreeMap::new();
        let mut add = |release: Vec<u64>, count: u64, chance: f64| {
            *all.entry(release).or_default().entry(count).or_insert(0.0) += chance;
        };
        match chosen.way {
            Way::Safe => {
                let level = base[chosen.l as usize - 1];
                add(base.iter().map(|&count| count.min(level)).collect(), level, 1.0);
            }
            Way::Unsafe => {
                let end = chosen.end(base, records);
                add(left(base, end), end.level, 1.0);
            }
            Way::Random | Way::Cheaper => {
                for h in 1..=chosen.l as usize {
                    let (low, high) = interval(base, h);
                    let points = (high - low + 1).min(GRID);
                    for point in 0..points {
                        let offset =
                            u128::from(high - low) * u128::from(point) / u128::from((points - 1).max(1));
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

    /// The depths from `level` on that withhold so many records, in pieces within which ranks do not change.
    pub(super) fn pieces(self, base: &[u64], level: u64, withheld: u64) -> Vec<(u64, u64)> {
        let records = base.iter().sum();
        let (lowest, _) = interval(base, self.l as usize);
        let (low, high) = (level.max(lowest), base[0]);
        if low > high {
            return Vec::new();
        }
        // Without completing levels, the deeper the first cut, the more is withheld.
        let total = |first: u64| high - first + Path::new(&reduce(base, first), records, self.l).end().cuts;
        if self.complete_level {
            // The level is completed from somewhere inside the one above, or was just reached. A dominant value first cut to
            // the level itself is not among those that leave the one above, so that is looked at by itself.
            let mut pieces = vec![(low, low)];
            pieces.retain(|_| low == level);
            let low = low.max(level + 1);
            let cost = |level: u64| base.iter().map(|count| count.saturating_sub(level)).sum::<u64>();
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
        let start = least(low, high, |first| total(first) <= withheld);
        let past = least(start, high, |first| total(first) < withheld);
        let end = if total(past) < withheld { past.checked_sub(1) } else { Some(past) };
        let Some(end) = end.filter(|&end| end >= start && total(start) == withheld) else {
            return Vec::new();
        };
        let mut pieces = Vec::new();
        let mut from = start;
        let mut others: Vec<u64> = base[1..].iter().copied().filter(|c| (start..=end).contains(c)).collect();
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

    /// How likely exactly this release is if the table is `base` and its dominant value is `dominant`: both by label.
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
        let withheld = records - release.iter().sum::<u64>();
        let level = release.iter().copied().max().unwrap_or(0);
        let own = release[dominant];
        let mut ways = Vec::new();
        if own < level {
            ways.push((own, own));
        }
        if own + 1 >= level {
            ways.extend(self.pieces(&sorted, level, withheld));
        }
        let one = |(low, high): (u64, u64)| {
            let weight = weight(&sorted, self.l, low, high);
            if weight == 0.0 {
                return 0.0;
            }
            let end = self.end(&reduce(&sorted, low), records);
            let fits = |i: usize, count: u64| {
                let goal = count.min(end.level);
                release[i] == goal || end.inside > 0 && count >= end.level && release[i] + 1 == end.level
            };
            if end.level != level || !order.iter().all(|&i| fits(i, base[i])) || !fits(dominant, low) {
                return 0.0;
            }
            if end.inside == 0 {
                return weight;
            }
            // The lowest ranked at the top lost one more; among equal counts any of them may be those.
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
            for alike in top.chunk_by(|a, b| a.0 == b.0) {
                let cut = rest.min(alike.len());
                if alike.iter().filter(|(_, lower)| *lower).count() != cut {
                    return 0.0;
                }
                chance /= binomial(alike.len(), cut);
                rest -= cut;
            }
            weight * chance
        };
        ways.into_iter().map(one).sum::<f64>() / tied
    }
}

fn binomial(of: usize, some: usize) -> f64 {
    (0..some).map(|i| (of - i) as f64 / (i + 1) as f64).product()
}

/// From which to which count the dominant value is cut if `h` is drawn.
pub(super) fn interval(base: &[u64], h: usize) -> (u64, u64) {
    (base[h.min(base.len() - 1)], base[h - 1])
}

/// The chance that the first cut is to a count from `low` to `high`.
fn weight(base: &[u64], l: u64, low: u64, high: u64) -> f64 {
    let one = |h: usize| {
        let (from, to) = interval(base, h);
        let (a, b) = (from.max(low), to.min(high));
        if a > b { 0.0 } else { (b - a + 1) as f64 / (to - from + 1) as f64 }
    };
    (1..=l as usize).map(one).sum::<f64>() / l as f64
}

/// The table with its most frequent value cut, in descending order.
pub(super) fn reduce(base: &[u64], first: u64) -> Vec<u64> {
    let mut reduced = base[1..].to_vec();
    reduced.insert(reduced.partition_point(|&count| count > first), first);
    reduced
}

/// What is left, in descending order.
fn left(counts: &[u64], end: End) -> Vec<u64> {
    let mut left: Vec<u64> = counts.iter().map(|&count| count.min(end.level)).collect();
    let top = left.partition_point(|&count| count >= end.level);
    left[top - (end.inside as usize).min(top)..top].iter_mut().for_each(|count| *count -= 1);
    left
}

/// Which count the dominant value ends with, and how likely, if it was first cut to `first`.
fn dominant(counts: &[u64], first: u64, end: End) -> Vec<(u64, f64)> {
    if first < end.level || end.inside == 0 {
        return vec![(first.min(end.level), 1.0)];
    }
    let top = counts.partition_point(|&count| count >= end.level) as u64;
    let above = counts.partition_point(|&count| count > first) as u64;
    let alike = counts.partition_point(|&count| count >= first) as u64 - above;
    let cut = (above + alike).saturating_sub(top - end.inside).min(alike);
    let lower = cut as f64 / alike as f64;
    [(end.level - 1, lower), (end.level, 1.0 - lower)].into_iter().filter(|(_, p)| *p > 0.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every table of up to 22 records with 3 to 5 values: what is found by halving is what trying every depth finds, and
    /// every release by label can come about.
    #[test]
    fn halving_finds_what_trying_every_depth_finds() {
        fn tables(left: u64, values: usize, most: u64, taken: &mut Vec<u64>, visit: &mut dyn FnMut(&[u64])) {
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
                        let mechanism = Mechanism { way: Way::Random, l, complete_level };
                        for (release, mass) in mechanism.releases(base) {
                            let found = mechanism.outcomes(base, &release);
                            let same = mass.len() == found.len()
                                && mass
                                    .iter()
                                    .zip(&found)
                                    .all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-12);
                            assert!(same, "{base:?} l={l} {complete_level} {release:?}: {mass:?} {found:?}");
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
