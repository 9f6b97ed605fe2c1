//! Minimal sets of columns that single people out.
//!
//! A set of columns *singles out* if at least a given share of the records is unique on it. A superset of such a set
//! singles out at least as many, so only minimal sets tell something. They are searched level by level, from single
//! columns upwards (`huhtala1999` walks the same lattice): a set is looked at only if none of its subsets was found.
//!
//! Sets that cannot reach the share are not counted at all. There are at most as many unique records as groups, and at
//! most `groups(X without c) · values(c)` groups by X; both numbers are known from the level below. Pairs are always
//! counted, because a pair that has as many groups as one of its columns shows that the other is a function of it.
//!
//! All sets that share all but their last column are counted from the same partition, and a thread that goes from one such
//! partition to the next keeps what they have in common. The columns are walked in order of their number of values, most
//! first: then few records are left to divide.

use incrowd_core::{CodedColumn, Columnar, Error, Progress, Result};
use rayon::prelude::*;

use super::few;
use super::partition::{Grouping, Stripped};
use super::persons::{ByPerson, Of};

/// Groups of records that are divided by one column after another.
pub(super) trait Parting: Sized + Send {
    /// What is kept between passes.
    type Scratch: Default + Send;
    /// What must be known of the records beside their codes.
    type Unit: Copy + Sync;

    /// All records in one group.
    fn whole(records: usize, unit: Self::Unit) -> Self;

    /// What one more column would give, without dividing.
    fn grouping_with(&self, table: &Columnar, column: usize, scratch: &mut Self::Scratch) -> Grouping;

    /// The groups with one more column.
    fn divide(&self, table: &Columnar, column: usize, scratch: &mut Self::Scratch) -> Self;

    /// Who stands alone, and the groups there are.
    fn grouping(&self) -> Grouping;
}

/// A thread's way through the lattice: the partitions by the first column, by the first two, and so on.
struct Walk<P: Parting> {
    unit: P::Unit,
    scratch: P::Scratch,
    way: Vec<(usize, P)>,
    /// All records in one group, made once.
    whole: Option<P>,
}

impl<P: Parting> Walk<P> {
    fn new(unit: P::Unit) -> Walk<P> {
        Walk { unit, scratch: P::Scratch::default(), way: Vec::new(), whole: None }
    }

    /// Goes to a set and leaves the partition by it on top; what the last set had in common with it is not made again.
    fn go(&mut self, table: &Columnar, set: &[usize]) {
        let common = self.way.iter().zip(set).take_while(|((known, _), column)| known == *column).count();
        self.way.truncate(common);
        for &column in &set[common..] {
            let finer = match self.way.last() {
                Some((_, partition)) => partition.divide(table, column, &mut self.scratch),
                None => {
                    let whole = self.whole.get_or_insert_with(|| P::whole(table.records, self.unit));
                    whole.divide(table, column, &mut self.scratch)
                }
            };
            self.way.push((column, finer));
        }
    }

    /// What the set that was gone to gives with one more column.
    fn with(&mut self, table: &Columnar, column: usize) -> Grouping {
        match self.way.last() {
            Some((_, partition)) => partition.grouping_with(table, column, &mut self.scratch),
            None => {
                let whole = self.whole.get_or_insert_with(|| P::whole(table.records, self.unit));
                whole.grouping_with(table, column, &mut self.scratch)
            }
        }
    }
}

/// What to look for.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// The positions of the columns that may take part.
    pub columns: Vec<usize>,
    /// The share of records that must be unique, from 0 (at least one record) to 1 (all: the set is a key).
    pub share: f64,
    /// How many columns a set has at most.
    pub most: usize,
    /// Whether columns that are functions of others are told too; that costs looking at every pair.
    pub dependencies: bool,
}

/// A minimal set of columns that singles out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combination {
    /// The positions of its columns, ascending.
    pub columns: Vec<usize>,
    /// How many records are unique on it.
    pub unique: u64,
}

/// A column whose value follows from another column's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The column that decides.
    pub from: usize,
    /// The column that follows.
    pub to: usize,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The minimal sets: fewer columns first, then more unique records, then the order of the columns.
    pub combinations: Vec<Combination>,
    /// Columns that are functions of another, neither of them constant and neither singling out by itself.
    pub dependencies: Vec<Dependency>,
    /// How many sets were counted.
    pub counted: u64,
    /// How many records must be unique on a set for it to be found.
    pub needed: u64,
}

/// How many unique records make at least that share, and at least one.
pub fn needed(share: f64, records: u64) -> Result<u64> {
    if !(0.0..=1.0).contains(&share) {
        return Err(Error::job("the share of records that are singled out lies between 0 and 1"));
    }
    // The product is rounded; the step down and up makes sure that no set is missed for that.
    let mut least = (share * records as f64).floor() as u64;
    while (least as f64) < share * records as f64 * (1.0 - 1e-12) {
        least += 1;
    }
    Ok(least.clamp(1, records.max(1)))
}

/// How many sets of at most `most` of `columns` columns there are.
pub fn sets(columns: usize, most: usize) -> u128 {
    let mut sum = 0;
    let mut of_size = 1;
    for size in 1..=most.min(columns) {
        of_size = of_size * (columns - size + 1) as u128 / size as u128;
        sum += of_size;
    }
    sum
}

/// Searches a table. The progress counts sets.
pub fn search(table: &Columnar, search: &Search, progress: &dyn Progress) -> Result<Found> {
    let single = |&column: &usize| Single::of(&table.columns[column]);
    let singles: Vec<Single> = by_values(table, &search.columns).par_iter().map(single).collect();
    search_by::<Stripped>(table, (), table.records as u64, Some(&singles), search, progress)
}

/// What counting says of one column.
struct Single {
    grouping: Grouping,
    /// So many records, and how many values have so many.
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

    /// At most so many records are alone in this column and another together: those of a value can each have one of the other's
    /// values to themselves if there are enough of those; else at least one of these is shared.
    fn alone_with(&self, other: &Single) -> u64 {
        let values = other.grouping.groups;
        let most = |size: u64| if size <= values { size } else { values - 1 };
        self.sizes.iter().map(|&(size, times)| most(size) * times).sum()
    }
}

/// The columns, those with most values first: then few records are left to divide.
fn by_values(table: &Columnar, columns: &[usize]) -> Vec<usize> {
    let mut order = columns.to_vec();
    order.sort_unstable();
    order.dedup();
    order.sort_by_key(|&c| std::cmp::Reverse(table.columns[c].texts.codes()));
    order
}

/// The same where a person may have several records: `of` says whose each record is, by numbers below `persons`, and a set
/// singles out if that share of the persons who have records is alone on it. No dependencies are told.
pub fn search_persons(
    table: &Columnar,
    of: &[u32],
    search: &Search,
    progress: &dyn Progress,
) -> Result<Found> {
    let persons = of.iter().max().map_or(0, |&most| most as usize + 1);
    let mut known = vec![false; persons];
    of.iter().for_each(|&person| known[person as usize] = true);
    let different = known.iter().filter(|known| **known).count() as u64;
    let search = Search { dependencies: false, ..search.clone() };
    search_by::<ByPerson<'_>>(table, Of { record: of, persons }, different, None, &search, progress)
}

/// Who is alone on these columns together, be it records or, if it is said whose each record is, persons.
pub fn alone_on(table: &Columnar, of: Option<&[u32]>, columns: &[usize]) -> u64 {
    fn by<P: Parting>(table: &Columnar, unit: P::Unit, columns: &[usize]) -> u64 {
        let mut walk = Walk::<P>::new(unit);
        let Some((last, before)) = columns.split_last() else {
            return P::whole(table.records, unit).grouping().unique;
        };
        walk.go(table, before);
        walk.with(table, *last).unique
    }
    let mut sorted = columns.to_vec();
    sorted.sort_by_key(|&c| (std::cmp::Reverse(table.columns[c].texts.codes()), c));
    match of {
        None => few::unique(table, &sorted).unwrap_or_else(|| match sorted[..] {
            [one] => table.columns[one].counts().into_iter().filter(|&records| records == 1).count() as u64,
            _ => by::<Stripped>(table, (), &sorted),
        }),
        Some(of) => {
            let persons = of.iter().max().map_or(0, |&most| most as usize + 1);
            by::<ByPerson<'_>>(table, Of { record: of, persons }, &sorted)
        }
    }
}

fn search_by<P: Parting>(
    table: &Columnar,
    unit: P::Unit,
    people: u64,
    singles: Option<&[Single]>,
    search: &Search,
    progress: &dyn Progress,
) -> Result<Found> {
    let mut found = Found { needed: needed(search.share, people)?, ..Found::default() };
    let order = by_values(table, &search.columns);
    // From here to the end of the walk a column is known by its place in `order`.
    let columns: Vec<usize> = (0..order.len()).collect();
    // The sets of the level below that were not found, in order, with the groups they make.
    let mut below: Vec<(Vec<usize>, u64)> = vec![(Vec::new(), u64::from(table.records > 0))];
    let mut values = vec![0u64; order.len()];
    for size in 1..=search.most.min(columns.len()) {
        let candidates = candidates(&below, &columns);
        progress.step(
            &format!("sets of {size}"),
            Some(candidates.iter().map(|(_, last)| last.len() as u64).sum()),
        );
        let count = |walk: &mut Walk<P>, (prefix, lasts): &(Vec<usize>, Vec<usize>)| {
            let named: Vec<usize> = prefix.iter().map(|&c| order[c]).collect();
            let mut counted: Vec<(Vec<usize>, Option<Grouping>)> = Vec::with_capacity(lasts.len());
            for &last in lasts {
                let set: Vec<usize> = prefix.iter().copied().chain([last]).collect();
                let looked_at = if search.dependencies { 2 } else { 1 };
                let may = size <= looked_at
                    || reaches(&set, &below, &values, found.needed)
                        && pair_reaches(&set, singles, found.needed);
                let grouping = match (singles, size) {
                    (Some(singles), 1) => Some(singles[last].grouping),
                    _ => may.then(|| {
                        walk.go(table, &named);
                        walk.with(table, order[last])
                    }),
                };
                counted.push((set, grouping));
            }
            progress.advance(lasts.len() as u64);
            counted
        };
        let counted: Vec<_> =
            candidates.par_iter().map_init(|| Walk::new(unit), count).flatten_iter().collect();
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
                // The bound stands in for the number of groups that was not counted.
                None => {
                    let most = bound(&set, &below, &values);
                    left.push((set, most));
                }
            }
        }
        below = left;
    }
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
    Ok(found)
}

fn groups_of(set: &[usize], below: &[(Vec<usize>, u64)]) -> Option<u64> {
    below.binary_search_by(|(known, _)| known.as_slice().cmp(set)).ok().map(|at| below[at].1)
}

/// At most so many groups a set makes.
fn bound(set: &[usize], below: &[(Vec<usize>, u64)], values: &[u64]) -> u64 {
    let without = |i: usize| {
        let rest: Vec<usize> = set.iter().copied().filter(|&c| c != set[i]).collect();
        groups_of(&rest, below).map_or(u64::MAX, |groups| groups.saturating_mul(values[set[i]].max(1)))
    };
    (0..set.len()).map(without).min().unwrap_or(u64::MAX)
}

fn reaches(set: &[usize], below: &[(Vec<usize>, u64)], values: &[u64], needed: u64) -> bool {
    bound(set, below, values) >= needed
}

/// Whether two columns together may single out so many, by what is known of each of them; of other sets nothing is said.
fn pair_reaches(set: &[usize], singles: Option<&[Single]>, needed: u64) -> bool {
    match (set, singles) {
        (&[a, b], Some(all)) => all[a].alone_with(&all[b]).min(all[b].alone_with(&all[a])) >= needed,
        _ => true,
    }
}

/// The sets of the next level, all of whose subsets are in `below`, by their first columns.
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

/// If two columns together make as many groups as one of them, the other is a function of it.
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

    /// Every subset of the columns, looked at one by one.
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
            .map(|bits| Combination { columns: set(bits), unique: brute_force(rows, &set(bits)).unique })
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn the_search_finds_what_brute_force_finds(
            rows in prop::collection::vec(
                (0u8..2, 0u8..3, 0u8..4, 0u8..6, 0u8..9).prop_map(|(a, b, c, d, e)| [a, b, c, d, e]), 1..60),
            share in prop::sample::select(vec![0.0, 0.05, 0.5, 1.0]),
            most in 1usize..=5,
        ) {
            let asked = Search { columns: (0..5).collect(), share, most, dependencies: most % 2 == 0 };
            let mut found = search(&table(&rows), &asked, &Silent).unwrap().combinations;
            let mut expected = twin(&rows, share, most);
            found.sort_by(|a, b| a.columns.cmp(&b.columns));
            expected.sort_by(|a, b| a.columns.cmp(&b.columns));
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn the_search_by_persons_finds_what_brute_force_finds(
            rows in prop::collection::vec(
                ((0u8..2, 0u8..3, 0u8..4, 0u8..6, 0u8..9).prop_map(|(a, b, c, d, e)| [a, b, c, d, e]), 0u32..20), 1..60),
            share in prop::sample::select(vec![0.0, 0.05, 0.5, 1.0]),
            most in 1usize..=5,
        ) {
            let persons: Vec<u32> = rows.iter().map(|(_, person)| *person).collect();
            let rows: Vec<[u8; 5]> = rows.iter().map(|(row, _)| *row).collect();
            let set = |bits: u32| (0..5).filter(|c| bits & (1 << c) != 0).collect::<Vec<usize>>();
            let alone = |bits: u32| {
                let mut holders: BTreeMap<Vec<u8>, BTreeSet<u32>> = BTreeMap::new();
                for (row, &person) in rows.iter().zip(&persons) {
                    holders.entry(set(bits).iter().map(|&c| row[c]).collect()).or_default().insert(person);
                }
                holders.values().filter(|who| who.len() == 1).flatten().collect::<BTreeSet<_>>().len() as u64
            };
            let different = persons.iter().collect::<BTreeSet<_>>().len() as f64;
            let singles = |bits: u32| alone(bits) >= 1 && alone(bits) as f64 >= share * different;
            let minimal = |bits: u32| (0..5).all(|c| bits & (1 << c) == 0 || bits == (1 << c) || !singles(bits & !(1 << c)));
            let sized = (1u32..32).filter(|bits| bits.count_ones() as usize <= most);
            let mut expected: Vec<Combination> = sized
                .filter(|&bits| singles(bits) && minimal(bits))
                .map(|bits| Combination { columns: set(bits), unique: alone(bits) })
                .collect();
            let asked = Search { columns: (0..5).collect(), share, most, dependencies: false };
            let mut found = search_persons(&table(&rows), &persons, &asked, &Silent).unwrap().combinations;
            found.sort_by(|a, b| a.columns.cmp(&b.columns));
            expected.sort_by(|a, b| a.columns.cmp(&b.columns));
            prop_assert_eq!(found, expected);
            for bits in [1u32, 6, 21, 31] {
                prop_assert_eq!(alone_on(&table(&rows), Some(&persons), &set(bits)), alone(bits));
                prop_assert_eq!(alone_on(&table(&rows), None, &set(bits)), brute_force(&rows, &set(bits)).unique);
            }
        }

        #[test]
        fn what_counting_says_of_pairs_is_never_too_little(rows in prop::collection::vec(prop::array::uniform2(0u8..8), 1..60)) {
            let table = table(&rows);
            let (a, b) = (Single::of(&table.columns[0]), Single::of(&table.columns[1]));
            let alone = brute_force(&rows, &[0, 1]).unique;
            prop_assert!(a.alone_with(&b) >= alone && b.alone_with(&a) >= alone);
            prop_assert_eq!((a.grouping, b.grouping), (brute_force(&rows, &[0]), brute_force(&rows, &[1])));
        }

        #[test]
        fn functions_are_found(rows in prop::collection::vec(prop::array::uniform3(0u8..3), 12..60)) {
            // The last column is a function of the first.
            let rows: Vec<[u8; 4]> = rows.iter().map(|r| [r[0], r[1], r[2], u8::from(r[0] > 1)]).collect();
            let asked = Search { columns: (0..4).collect(), share: 1.0, most: 2, dependencies: true };
            let found = search(&table(&rows), &asked, &Silent).unwrap().dependencies;
            for from in 0..4 {
                for to in (0..4).filter(|&to| to != from) {
                    let groups = |set: &[usize]| brute_force(&rows, set).groups;
                    let expected = groups(&[from]) > 1 && groups(&[to]) > 1 && groups(&[from, to]) == groups(&[from]);
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
        assert!(needed(-0.1, 5).is_err() && needed(1.1, 5).is_err() && needed(f64::NAN, 5).is_err());
        assert_eq!((sets(12, 3), sets(3, 9), sets(0, 2)), (298, 7, 0));
    }
}
