//! Minimal sets of columns that single people out.
//!
//! A set of columns *singles out* if at least a given share of the records is unique on it. A
//! superset of such a set has at least as many unique records, so only minimal sets are reported.
//! The search proceeds level by level, from single columns upwards (`huhtala1999` uses the same
//! lattice). It skips the supersets of the sets that it has found.
//!
//! Sets that cannot reach the share are not counted. There are at most as many unique records as
//! groups, and at most `groups(X without c) · values(c)` groups by X. Both numbers are known from
//! the level below. Pairs are always counted if dependencies are requested: if a pair has as many
//! groups as one of its columns, the other column is a function of it.
//!
//! All sets that differ only in their last column are counted from one partition. A thread that
//! proceeds to the next such partition reuses the partitions of the common prefix. Columns are
//! ordered by their number of values, descending, so that few records remain in groups.

use incrowd_core::{CodedColumn, Columnar, Error, Progress, Result};
use rayon::prelude::*;

use super::partition::{Grouping, Stripped};
use super::persons::{ByPerson, Owners};
use super::{dense, uniqueness};

/// A partition of the records that is refined by one column after another.
pub(super) trait Partition: Sized + Send {
    /// Buffers that are reused between passes.
    type Scratch: Default + Send;
    /// Data about the records other than their codes.
    type Unit: Copy + Sync;

    /// Returns the partition with all records in one group.
    fn whole(records: usize, unit: Self::Unit) -> Self;

    /// Counts the groups after refining by one more column, without creating them.
    fn grouping_with(
        &self,
        table: &Columnar,
        column: usize,
        scratch: &mut Self::Scratch,
    ) -> Grouping;

    /// Refines the partition by one more column.
    fn divide(&self, table: &Columnar, column: usize, scratch: &mut Self::Scratch) -> Self;

    /// Returns the numbers of groups and unique records.
    fn grouping(&self) -> Grouping;
}

/// Memory of a thread's partitions per record, and the limit for all threads, in bytes.
const PER_WALK: usize = 4 * size_of::<u32>();
const MOST_WALKED: usize = 256 << 20;

/// The path of a thread through the lattice: the partitions by the first column, by the first two
/// columns, and so on.
struct Walk<P: Partition> {
    unit: P::Unit,
    scratch: P::Scratch,
    path: Vec<(usize, P)>,
    /// The partition with all records in one group, created once.
    whole: Option<P>,
}

impl<P: Partition> Walk<P> {
    fn new(unit: P::Unit) -> Walk<P> {
        Walk { unit, scratch: P::Scratch::default(), path: Vec::new(), whole: None }
    }

    /// Computes the partition by a set and puts it at the end of the path. The partitions of the
    /// prefix that the path shares with the set are reused.
    fn go(&mut self, table: &Columnar, set: &[usize]) {
        let common =
            self.path.iter().zip(set).take_while(|((known, _), column)| known == *column).count();
        self.path.truncate(common);
        for &column in &set[common..] {
            let finer = match self.path.last() {
                Some((_, partition)) => partition.divide(table, column, &mut self.scratch),
                None => {
                    let whole =
                        self.whole.get_or_insert_with(|| P::whole(table.records, self.unit));
                    whole.divide(table, column, &mut self.scratch)
                }
            };
            self.path.push((column, finer));
        }
    }

    /// Counts the groups of the current set with one more column.
    fn with(&mut self, table: &Columnar, column: usize) -> Grouping {
        match self.path.last() {
            Some((_, partition)) => partition.grouping_with(table, column, &mut self.scratch),
            None => {
                let whole = self.whole.get_or_insert_with(|| P::whole(table.records, self.unit));
                whole.grouping_with(table, column, &mut self.scratch)
            }
        }
    }
}

/// Parameters of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Positions of the columns that are searched.
    pub columns: Vec<usize>,
    /// Share of records that must be unique, from 0 (at least one record) to 1 (all records: the
    /// set is a key).
    pub share: f64,
    /// Maximum number of columns in a set.
    pub most: usize,
    /// Whether to report columns that are functions of others. This requires counting every pair.
    pub dependencies: bool,
}

/// A minimal set of columns that singles people out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combination {
    /// Positions of its columns, ascending.
    pub columns: Vec<usize>,
    /// Number of unique records on it.
    pub unique: u64,
}

/// A column whose values are determined by another column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The determining column.
    pub from: usize,
    /// The determined column.
    pub to: usize,
}

/// Result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// The minimal sets, by number of columns, then by unique records (descending), then by
    /// position.
    pub combinations: Vec<Combination>,
    /// Columns that are functions of another column. Constant columns and columns that single out
    /// by themselves are excluded.
    pub dependencies: Vec<Dependency>,
    /// Number of sets that were counted.
    pub counted: u64,
    /// Number of records that must be unique on a reported set.
    pub needed: u64,
}

/// Returns the number of records in a share, rounded up, at least 1.
pub fn needed(share: f64, records: u64) -> Result<u64> {
    if !(0.0..=1.0).contains(&share) {
        return Err(Error::job("the share of unique records must be between 0 and 1"));
    }
    // The product may be rounded up. The tolerance makes sure that no set is missed because of it.
    let mut least = (share * records as f64).floor() as u64;
    while (least as f64) < share * records as f64 * (1.0 - 1e-12) {
        least += 1;
    }
    Ok(least.clamp(1, records.max(1)))
}

/// Returns the number of sets of at most `most` of `columns` columns.
pub fn sets(columns: usize, most: usize) -> u128 {
    let mut sum = 0;
    let mut of_size = 1;
    for size in 1..=most.min(columns) {
        of_size = of_size * (columns - size + 1) as u128 / size as u128;
        sum += of_size;
    }
    sum
}

/// Searches a table for minimal sets that single out records. The progress counts sets.
pub fn search(table: &Columnar, search: &Search, progress: &dyn Progress) -> Result<SearchResult> {
    let single = |&column: &usize| Single::of(&table.columns[column]);
    let singles: Vec<Single> = by_values(table, &search.columns).par_iter().map(single).collect();
    search_by::<Stripped>(table, (), table.records as u64, Some(&singles), search, progress)
}

/// Counts of one column.
struct Single {
    grouping: Grouping,
    /// Group sizes, each with the number of values that have this many records.
    sizes: Vec<(u64, u64)>,
}

impl Single {
    fn of(column: &CodedColumn) -> Single {
        let mut counts: Vec<u64> = column.counts().into_iter().filter(|&n| n > 0).collect();
        counts.sort_unstable();
        let sizes: Vec<(u64, u64)> =
            counts.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect();
        let unique = sizes.first().filter(|(size, _)| *size == 1).map_or(0, |(_, values)| *values);
        Single { grouping: Grouping { unique, groups: counts.len() as u64 }, sizes }
    }

    /// Returns an upper bound of the records that are unique on this column and another together.
    /// The records of a value may all differ in the other column if it has enough values. Otherwise
    /// at least one value of the other column is shared.
    fn unique_with(&self, other: &Single) -> u64 {
        let values = other.grouping.groups;
        let most = |size: u64| if size <= values { size } else { values - 1 };
        self.sizes.iter().map(|&(size, times)| most(size) * times).sum()
    }
}

/// Returns the distinct columns, those with most values first.
fn by_values(table: &Columnar, columns: &[usize]) -> Vec<usize> {
    let mut order = uniqueness::by_values(table, columns);
    order.dedup();
    order
}

/// Like [`search`], for tables in which a person may have several records. `of` is the person of
/// each record. A set singles out if the share of unique persons is large enough. Dependencies are
/// not reported.
pub fn search_persons(
    table: &Columnar,
    of: &[u32],
    search: &Search,
    progress: &dyn Progress,
) -> Result<SearchResult> {
    let persons = of.iter().max().map_or(0, |&most| most as usize + 1);
    let mut known = vec![false; persons];
    of.iter().for_each(|&person| known[person as usize] = true);
    let people = known.iter().filter(|known| **known).count() as u64;
    let search = Search { dependencies: false, ..search.clone() };
    let owners = Owners { of_record: of, persons };
    search_by::<ByPerson<'_>>(table, owners, people, None, &search, progress)
}

/// Counts the records that are unique on these columns, or the unique persons if `of` is the person
/// of each record.
pub fn unique_on(table: &Columnar, of: Option<&[u32]>, columns: &[usize]) -> u64 {
    fn by<P: Partition>(table: &Columnar, unit: P::Unit, columns: &[usize]) -> u64 {
        let mut walk = Walk::<P>::new(unit);
        let Some((last, before)) = columns.split_last() else {
            return P::whole(table.records, unit).grouping().unique;
        };
        walk.go(table, before);
        walk.with(table, *last).unique
    }
    let sorted = uniqueness::by_values(table, columns);
    match of {
        None => dense::unique(table, &sorted).unwrap_or_else(|| match sorted[..] {
            [one] => {
                table.columns[one].counts().into_iter().filter(|&records| records == 1).count()
                    as u64
            }
            _ => by::<Stripped>(table, (), &sorted),
        }),
        Some(of) => {
            let persons = of.iter().max().map_or(0, |&most| most as usize + 1);
            by::<ByPerson<'_>>(table, Owners { of_record: of, persons }, &sorted)
        }
    }
}

/// Searches the lattice of sets level by level. `singles` contains the counts of the columns, where
/// they are known without a partition.
fn search_by<P: Partition>(
    table: &Columnar,
    unit: P::Unit,
    people: u64,
    singles: Option<&[Single]>,
    search: &Search,
    progress: &dyn Progress,
) -> Result<SearchResult> {
    let mut found =
        SearchResult { needed: needed(search.share, people)?, ..SearchResult::default() };
    let order = by_values(table, &search.columns);
    // During the search, columns are indices into `order`.
    let columns: Vec<usize> = (0..order.len()).collect();
    // The sets of the level below that do not single out, in lexicographic order, with their
    // numbers of groups.
    let mut below: Vec<(Vec<usize>, u64)> = vec![(Vec::new(), u64::from(table.records > 0))];
    let mut values = vec![0u64; order.len()];
    for size in 1..=search.most.min(columns.len()) {
        let candidates = candidates(&below, &columns);
        progress.step(
            &format!("sets of {size}"),
            Some(candidates.iter().map(|(_, last)| last.len() as u64).sum()),
        );
        let count = |walk: &mut Walk<P>, (prefix, lasts): &(Vec<usize>, Vec<usize>)| {
            let positions: Vec<usize> = prefix.iter().map(|&c| order[c]).collect();
            let mut counted: Vec<(Vec<usize>, Option<Grouping>)> = Vec::with_capacity(lasts.len());
            for &last in lasts {
                let set: Vec<usize> = prefix.iter().copied().chain([last]).collect();
                let always_counted = if search.dependencies { 2 } else { 1 };
                let may = size <= always_counted
                    || reaches(&set, &below, &values, found.needed)
                        && pair_reaches(&set, singles, found.needed);
                let grouping = match (singles, size) {
                    (Some(singles), 1) => Some(singles[last].grouping),
                    _ => may.then(|| {
                        walk.go(table, &positions);
                        walk.with(table, order[last])
                    }),
                };
                counted.push((set, grouping));
            }
            progress.advance(lasts.len() as u64);
            counted
        };
        // Every thread has its own partitions. The number of threads is limited if they are large.
        let walks = (MOST_WALKED / (table.records * PER_WALK).max(1)).max(1);
        let piece = candidates.len().div_ceil(walks).max(1);
        let pieces = candidates.par_iter().with_min_len(piece);
        let counted: Vec<_> = pieces.map_init(|| Walk::new(unit), count).flatten_iter().collect();
        let mut left = Vec::new();
        for (set, grouping) in counted {
            found.counted += u64::from(grouping.is_some());
            match grouping {
                Some(Grouping { unique, .. }) if unique >= found.needed => {
                    found.combinations.push(Combination { columns: set, unique });
                }
                Some(Grouping { groups, .. }) => {
                    match set[..] {
                        [only] => values[only] = groups,
                        [a, b] if search.dependencies => {
                            found.dependencies.extend(dependencies(a, b, &values, groups))
                        }
                        _ => {}
                    }
                    left.push((set, groups));
                }
                // The bound replaces the number of groups that was not counted.
                None => {
                    let most = bound(&set, &below, &values);
                    left.push((set, most));
                }
            }
        }
        below = left;
    }
    in_table_order(&mut found, &order);
    Ok(found)
}

/// Replaces indices into `order` by positions in the table and sorts the results.
fn in_table_order(found: &mut SearchResult, order: &[usize]) {
    for set in &mut found.combinations {
        set.columns.iter_mut().for_each(|column| *column = order[*column]);
        set.columns.sort_unstable();
    }
    for dependency in &mut found.dependencies {
        *dependency = Dependency { from: order[dependency.from], to: order[dependency.to] };
    }
    found.dependencies.sort_unstable_by_key(|d| (d.from, d.to));
    found.combinations.sort_by(|a, b| {
        let key = |c: &Combination| (c.columns.len(), u64::MAX - c.unique);
        key(a).cmp(&key(b)).then_with(|| a.columns.cmp(&b.columns))
    });
}

fn groups_of(set: &[usize], below: &[(Vec<usize>, u64)]) -> Option<u64> {
    below.binary_search_by(|(known, _)| known.as_slice().cmp(set)).ok().map(|at| below[at].1)
}

/// Returns an upper bound of the number of groups by a set.
fn bound(set: &[usize], below: &[(Vec<usize>, u64)], values: &[u64]) -> u64 {
    let without = |i: usize| {
        let rest: Vec<usize> = set.iter().copied().filter(|&c| c != set[i]).collect();
        groups_of(&rest, below)
            .map_or(u64::MAX, |groups| groups.saturating_mul(values[set[i]].max(1)))
    };
    (0..set.len()).map(without).min().unwrap_or(u64::MAX)
}

fn reaches(set: &[usize], below: &[(Vec<usize>, u64)], values: &[u64], needed: u64) -> bool {
    bound(set, below, values) >= needed
}

/// Returns whether a pair of columns may single out enough records, by the counts of its columns.
/// Returns true for other sets.
fn pair_reaches(set: &[usize], singles: Option<&[Single]>, needed: u64) -> bool {
    match (set, singles) {
        (&[a, b], Some(all)) => {
            all[a].unique_with(&all[b]).min(all[b].unique_with(&all[a])) >= needed
        }
        _ => true,
    }
}

/// Returns the sets of the next level whose subsets are all in `below`, grouped by prefix.
fn candidates(below: &[(Vec<usize>, u64)], columns: &[usize]) -> Vec<(Vec<usize>, Vec<usize>)> {
    let complete = |prefix: &[usize], last: usize| {
        (0..prefix.len()).all(|left_out| {
            let rest = prefix.iter().enumerate().filter(|(i, _)| *i != left_out).map(|(_, &c)| c);
            let rest: Vec<usize> = rest.chain([last]).collect();
            groups_of(&rest, below).is_some()
        })
    };
    let lasts = |prefix: &Vec<usize>| {
        let after = columns.iter().copied().filter(|c| prefix.last().is_none_or(|last| c > last));
        after.filter(|&last| complete(prefix, last)).collect::<Vec<usize>>()
    };
    let all = below.iter().map(|(prefix, _)| (prefix.clone(), lasts(prefix)));
    all.filter(|(_, lasts)| !lasts.is_empty()).collect()
}

/// Returns the dependencies between two columns. If both together have as many groups as one of
/// them, the other is a function of it.
fn dependencies(a: usize, b: usize, values: &[u64], groups: u64) -> Vec<Dependency> {
    let (of_a, of_b) = (values[a], values[b]);
    if of_a < 2 || of_b < 2 {
        return Vec::new();
    }
    let follows = [(a, b, of_a), (b, a, of_b)].into_iter().filter(|&(.., n)| n == groups);
    follows.map(|(from, to, _)| Dependency { from, to }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::risk::tests::{brute_force, table};
    use incrowd_core::Silent;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// Tests every subset of the columns.
    fn twin(rows: &[[u8; 5]], share: f64, most: usize) -> Vec<Combination> {
        let least = |unique: u64| unique >= 1 && unique as f64 >= share * rows.len() as f64;
        let set = |bits: u32| (0..5).filter(|c| bits & (1 << c) != 0).collect::<Vec<usize>>();
        let singles = |bits: u32| least(brute_force(rows, &set(bits)).unique);
        let minimal = |bits: u32| {
            (0..5).all(|c| bits & (1 << c) == 0 || bits == (1 << c) || !singles(bits & !(1 << c)))
        };
        let sized = |bits: &u32| bits.count_ones() as usize <= most;
        let found = (1u32..32).filter(sized).filter(|&bits| singles(bits) && minimal(bits));
        found
            .map(|bits| Combination {
                columns: set(bits),
                unique: brute_force(rows, &set(bits)).unique,
            })
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn search_finds_the_sets_of_brute_force(
            rows in prop::collection::vec(
                (0u8..2, 0u8..3, 0u8..4, 0u8..6, 0u8..9)
                    .prop_map(|(a, b, c, d, e)| [a, b, c, d, e]),
                1..60,
            ),
            share in prop::sample::select(vec![0.0, 0.05, 0.5, 1.0]),
            most in 1usize..=5,
        ) {
            let dependencies = most % 2 == 0;
            let request = Search { columns: (0..5).collect(), share, most, dependencies };
            let mut found = search(&table(&rows), &request, &Silent).unwrap().combinations;
            let mut expected = twin(&rows, share, most);
            found.sort_by(|a, b| a.columns.cmp(&b.columns));
            expected.sort_by(|a, b| a.columns.cmp(&b.columns));
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn search_by_persons_finds_the_sets_of_brute_force(
            rows in prop::collection::vec(
                (
                    (0u8..2, 0u8..3, 0u8..4, 0u8..6, 0u8..9)
                        .prop_map(|(a, b, c, d, e)| [a, b, c, d, e]),
                    0u32..20,
                ),
                1..60,
            ),
            share in prop::sample::select(vec![0.0, 0.05, 0.5, 1.0]),
            most in 1usize..=5,
        ) {
            let persons: Vec<u32> = rows.iter().map(|(_, person)| *person).collect();
            let rows: Vec<[u8; 5]> = rows.iter().map(|(row, _)| *row).collect();
            let set = |bits: u32| (0..5).filter(|c| bits & (1 << c) != 0).collect::<Vec<usize>>();
            let unique = |bits: u32| {
                let mut holders: BTreeMap<Vec<u8>, BTreeSet<u32>> = BTreeMap::new();
                for (row, &person) in rows.iter().zip(&persons) {
                    let values = set(bits).iter().map(|&c| row[c]).collect();
                    holders.entry(values).or_default().insert(person);
                }
                let single = holders.values().filter(|persons| persons.len() == 1).flatten();
                single.collect::<BTreeSet<_>>().len() as u64
            };
            let people = persons.iter().collect::<BTreeSet<_>>().len() as f64;
            let singles = |bits: u32| unique(bits) >= 1 && unique(bits) as f64 >= share * people;
            let minimal = |bits: u32| {
                (0..5).all(|c| {
                    bits & (1 << c) == 0 || bits == (1 << c) || !singles(bits & !(1 << c))
                })
            };
            let sized = (1u32..32).filter(|bits| bits.count_ones() as usize <= most);
            let mut expected: Vec<Combination> = sized
                .filter(|&bits| singles(bits) && minimal(bits))
                .map(|bits| Combination { columns: set(bits), unique: unique(bits) })
                .collect();
            let request = Search { columns: (0..5).collect(), share, most, dependencies: false };
            let result = search_persons(&table(&rows), &persons, &request, &Silent).unwrap();
            let mut found = result.combinations;
            found.sort_by(|a, b| a.columns.cmp(&b.columns));
            expected.sort_by(|a, b| a.columns.cmp(&b.columns));
            prop_assert_eq!(found, expected);
            for bits in [1u32, 6, 21, 31] {
                let (table, set) = (table(&rows), set(bits));
                prop_assert_eq!(unique_on(&table, Some(&persons), &set), unique(bits));
                prop_assert_eq!(unique_on(&table, None, &set), brute_force(&rows, &set).unique);
            }
        }

        #[test]
        fn the_bound_of_a_pair_is_never_too_low(
            rows in prop::collection::vec(prop::array::uniform2(0u8..8), 1..60),
        ) {
            let table = table(&rows);
            let (a, b) = (Single::of(&table.columns[0]), Single::of(&table.columns[1]));
            let unique = brute_force(&rows, &[0, 1]).unique;
            prop_assert!(a.unique_with(&b) >= unique && b.unique_with(&a) >= unique);
            prop_assert_eq!(a.grouping, brute_force(&rows, &[0]));
            prop_assert_eq!(b.grouping, brute_force(&rows, &[1]));
        }

        #[test]
        fn dependencies_are_found(
            rows in prop::collection::vec(prop::array::uniform3(0u8..3), 12..60),
        ) {
            // The last column is a function of the first.
            let rows: Vec<[u8; 4]> =
                rows.iter().map(|r| [r[0], r[1], r[2], u8::from(r[0] > 1)]).collect();
            let request =
                Search { columns: (0..4).collect(), share: 1.0, most: 2, dependencies: true };
            let found = search(&table(&rows), &request, &Silent).unwrap().dependencies;
            for from in 0..4 {
                for to in (0..4).filter(|&to| to != from) {
                    let groups = |set: &[usize]| brute_force(&rows, set).groups;
                    let expected = groups(&[from]) > 1
                        && groups(&[to]) > 1
                        && groups(&[from, to]) == groups(&[from]);
                    prop_assert_eq!(found.contains(&Dependency { from, to }), expected);
                }
            }
        }
    }

    #[test]
    fn shares_become_numbers_of_records() {
        for (share, records, expected) in [
            (0.0, 100, 1),
            (0.05, 100, 5),
            (0.05, 101, 6),
            (1.0, 7, 7),
            (0.1, 30, 3),
            (0.3, 10, 3),
            (0.0, 0, 1),
        ] {
            assert_eq!(needed(share, records).unwrap(), expected, "{share} of {records}");
        }
        assert!(
            needed(-0.1, 5).is_err() && needed(1.1, 5).is_err() && needed(f64::NAN, 5).is_err()
        );
        assert_eq!((sets(12, 3), sets(3, 9), sets(0, 2)), (298, 7, 0));
    }
}
