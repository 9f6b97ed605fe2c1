//! How many records match a record, a missing cell matching any value, while cells come and go.
//!
//! Two records match if they agree in every column in which neither has a missing cell. Records with the same missing columns are
//! hashed by the columns that count beside a record with others; a question is then one look for each set of missing columns in
//! use. Only points with fewer than k records ever have missing cells; the others are counted once.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::points::{Columns, Points};

type Map<K, V> = HashMap<K, V, FixedState>;

/// Points with the same values where it counts.
#[derive(Debug, Default)]
struct Alike {
    records: u64,
    points: Vec<u32>,
}

/// Points with the same missing columns, by all columns that do not count.
#[derive(Debug)]
struct Pattern {
    missing: Columns,
    points: u64,
    by_union: Map<Columns, Map<u64, Alike>>,
}

/// Scarce points with their missing columns, and how many records match each.
#[derive(Debug)]
pub(super) struct Matches<'p> {
    pub(super) points: &'p Points,
    /// Points with fewer records are scarce.
    least: u64,
    pub(super) scarce: Vec<u32>,
    missing: Vec<Columns>,
    matching: Vec<u64>,
    patterns: Vec<Pattern>,
    plenty: Map<Columns, Map<u64, u64>>,
    /// How many looks at a hash it took.
    pub(super) looks: u64,
}

impl<'p> Matches<'p> {
    /// Scarce points with these missing columns; `missing` is by point, 0 for those that are not scarce.
    pub(super) fn new(points: &'p Points, least: u64, missing: Vec<Columns>) -> Matches<'p> {
        let scarce =
            (0..points.len() as u32).filter(|&point| points.records[point as usize] < least).collect();
        let mut matches = Matches {
            points,
            least,
            scarce,
            missing,
            matching: vec![0; points.len()],
            patterns: Vec::new(),
            plenty: Map::default(),
            looks: 0,
        };
        for at in 0..matches.scarce.len() {
            let missing = matches.missing[matches.scarce[at] as usize];
            let pattern = matches.pattern(missing);
            matches.patterns[pattern].points += 1;
        }
        for at in 0..matches.scarce.len() {
            let point = matches.scarce[at];
            matches.matching[point as usize] = matches.count(point, matches.missing[point as usize]);
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

    /// The points of a pattern that a point would match if these columns of it were missing.
    fn alike(&mut self, pattern: usize, point: u32, missing: Columns) -> Option<&Alike> {
        let (points, of_point, scarce) = (self.points, &self.missing, &self.scarce);
        let pattern = &mut self.patterns[pattern];
        let union = missing | pattern.missing;
        let fill = || {
            let mut map: Map<u64, Alike> = Map::default();
            for &other in scarce.iter().filter(|&&other| of_point[other as usize] == pattern.missing) {
                let alike = map.entry(points.key(other, union)).or_default();
                alike.records += points.records[other as usize];
                alike.points.push(other);
            }
            map
        };
        self.looks += 1;
        pattern.by_union.entry(union).or_insert_with(fill).get(&points.key(point, union))
    }

    /// How many records a point would match, itself included, if these columns of it were missing.
    pub(super) fn count(&mut self, point: u32, missing: Columns) -> u64 {
        let (points, least) = (self.points, self.least);
        let plenty = self.plenty.entry(missing).or_insert_with(|| {
            let mut map: Map<u64, u64> = Map::default();
            for other in (0..points.len() as u32).filter(|&other| points.records[other as usize] >= least) {
                *map.entry(points.key(other, missing)).or_default() += points.records[other as usize];
            }
            map
        });
        let mut records = plenty.get(&points.key(point, missing)).copied().unwrap_or(0);
        for pattern in 0..self.patterns.len() {
            if self.patterns[pattern].points > 0 {
                records += self.alike(pattern, point, missing).map_or(0, |alike| alike.records);
            }
        }
        records
    }

    /// The scarce points, itself left out, that a point would match if these columns of it were missing; ascending.
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

    /// Lets these columns of a point be missing and no others, if it then matches enough records and so do all others still.
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
