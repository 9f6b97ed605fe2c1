//! Counts the records that match a record while cells become missing or are restored. A missing
//! cell matches any value.
//!
//! Two records match if they agree in every column in which neither has a missing cell. Records
//! with the same set of missing columns are hashed by the columns that remain in a comparison with
//! a record. A query is then one lookup for each set of missing columns in use. Only points with
//! fewer than k records ever have missing cells. The others are counted once.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::points::{Columns, Points};

type Map<K, V> = HashMap<K, V, FixedState>;

/// Points that agree in the compared columns.
#[derive(Debug, Default)]
struct MatchingPoints {
    records: u64,
    points: Vec<u32>,
}

/// Points with the same missing columns. `by_union` is indexed by the columns that are not
/// compared.
#[derive(Debug)]
struct Pattern {
    missing: Columns,
    points: u64,
    by_union: Map<Columns, Map<u64, MatchingPoints>>,
}

/// The rare points with their missing columns, and the number of records that match each.
#[derive(Debug)]
pub(super) struct Matches<'p> {
    pub(super) points: &'p Points,
    /// Points with fewer records are rare.
    least: u64,
    pub(super) rare: Vec<u32>,
    missing: Vec<Columns>,
    matching: Vec<u64>,
    patterns: Vec<Pattern>,
    common: Map<Columns, Map<u64, u64>>,
    /// The number of hash lookups.
    pub(super) lookups: u64,
}

impl<'p> Matches<'p> {
    /// Creates the counts for these missing columns. `missing` is by point, 0 for those that are
    /// not rare.
    pub(super) fn new(points: &'p Points, least: u64, missing: Vec<Columns>) -> Matches<'p> {
        let rare = (0..points.len() as u32)
            .filter(|&point| points.records[point as usize] < least)
            .collect();
        let mut matches = Matches {
            points,
            least,
            rare,
            missing,
            matching: vec![0; points.len()],
            patterns: Vec::new(),
            common: Map::default(),
            lookups: 0,
        };
        for at in 0..matches.rare.len() {
            let missing = matches.missing[matches.rare[at] as usize];
            let pattern = matches.pattern(missing);
            matches.patterns[pattern].points += 1;
        }
        for at in 0..matches.rare.len() {
            let point = matches.rare[at];
            matches.matching[point as usize] =
                matches.count(point, matches.missing[point as usize]);
        }
        matches
    }

    pub(super) fn missing(&self, point: u32) -> Columns {
        self.missing[point as usize]
    }

    fn pattern(&mut self, missing: Columns) -> usize {
        if let Some(known) = self.patterns.iter().position(|pattern| pattern.missing == missing) {
            return known;
        }
        self.patterns.push(Pattern { missing, points: 0, by_union: Map::default() });
        self.patterns.len() - 1
    }

    /// Returns the points of a pattern that a point would match if its columns `missing` were
    /// missing.
    fn alike(&mut self, pattern: usize, point: u32, missing: Columns) -> Option<&MatchingPoints> {
        let (points, of_point, rare) = (self.points, &self.missing, &self.rare);
        let pattern = &mut self.patterns[pattern];
        let union = missing | pattern.missing;
        let fill = || {
            let mut map: Map<u64, MatchingPoints> = Map::default();
            for &other in rare.iter().filter(|&&other| of_point[other as usize] == pattern.missing)
            {
                let alike = map.entry(points.key(other, union)).or_default();
                alike.records += points.records[other as usize];
                alike.points.push(other);
            }
            map
        };
        self.lookups += 1;
        pattern.by_union.entry(union).or_insert_with(fill).get(&points.key(point, union))
    }

    /// Returns the number of records that a point would match, including itself, if its columns
    /// `missing` were missing.
    pub(super) fn count(&mut self, point: u32, missing: Columns) -> u64 {
        let (points, least) = (self.points, self.least);
        let common = self.common.entry(missing).or_insert_with(|| {
            let mut map: Map<u64, u64> = Map::default();
            for other in
                (0..points.len() as u32).filter(|&other| points.records[other as usize] >= least)
            {
                *map.entry(points.key(other, missing)).or_default() +=
                    points.records[other as usize];
            }
            map
        });
        let mut records = common.get(&points.key(point, missing)).copied().unwrap_or(0);
        for pattern in 0..self.patterns.len() {
            if self.patterns[pattern].points > 0 {
                records += self.alike(pattern, point, missing).map_or(0, |alike| alike.records);
            }
        }
        records
    }

    /// Returns the rare points, except itself, that a point would match if its columns `missing`
    /// were missing, ascending.
    fn matched(&mut self, point: u32, missing: Columns) -> Vec<u32> {
        let mut matched = Vec::new();
        for pattern in 0..self.patterns.len() {
            if self.patterns[pattern].points > 0
                && let Some(alike) = self.alike(pattern, point, missing)
            {
                matched.extend(alike.points.iter().copied().filter(|&other| other != point));
            }
        }
        matched.sort_unstable();
        matched
    }

    /// Sets the missing columns of a point, if it then matches enough records and all others still
    /// do. Returns whether it did.
    pub(super) fn change(&mut self, point: u32, missing: Columns) -> bool {
        let count = self.count(point, missing);
        if count < self.least {
            return false;
        }
        let (before, after) =
            (self.matched(point, self.missing[point as usize]), self.matched(point, missing));
        let own = self.points.records[point as usize];
        let only = |these: &[u32], others: &[u32]| -> Vec<u32> {
            these.iter().copied().filter(|point| others.binary_search(point).is_err()).collect()
        };
        let lost = only(&before, &after);
        if lost.iter().any(|&other| self.matching[other as usize] < self.least + own) {
            return false;
        }
        lost.iter().for_each(|&other| self.matching[other as usize] -= own);
        only(&after, &before).iter().for_each(|&other| self.matching[other as usize] += own);
        self.matching[point as usize] = count;
        self.put(point, missing);
        true
    }

    fn put(&mut self, point: u32, missing: Columns) {
        let old = std::mem::replace(&mut self.missing[point as usize], missing);
        let (points, own) = (self.points, self.points.records[point as usize]);
        let (leaves, comes) = (self.pattern(old), self.pattern(missing));
        let pattern = &mut self.patterns[leaves];
        pattern.points -= 1;
        for (&union, map) in &mut pattern.by_union {
            if let Some(alike) = map.get_mut(&points.key(point, union)) {
                alike.records -= own;
                alike.points.retain(|&other| other != point);
            }
        }
        let pattern = &mut self.patterns[comes];
        pattern.points += 1;
        for (&union, map) in &mut pattern.by_union {
            let alike = map.entry(points.key(point, union)).or_default();
            alike.records += own;
            alike.points.push(point);
        }
    }
}
