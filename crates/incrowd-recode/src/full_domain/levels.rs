//! The levels of a column as tables: the class of each value at each level, and the class that
//! contains a class at a higher level.
//!
//! Only values that occur have classes. People of a population whose value belongs to no class of a
//! level have extra classes there, which no record has. At a higher level they may belong to a
//! class of records.

use std::collections::BTreeMap;

use incrowd_core::{Code, Dataset, Error, Result};

/// The levels of one column. The index after the last level means that the column is ignored.
#[derive(Debug)]
pub(super) struct ClassLevels {
    /// The first leaf of each class, by level.
    first: Vec<Vec<Code>>,
    /// The number of records of each class, by level.
    records: Vec<Vec<u64>>,
    /// The class of each leaf at level 0.
    leaves: Vec<u32>,
    /// The class of each row of the population at level 0. Empty if there is no population.
    people: Vec<u32>,
    /// `up[a][b - a]` maps each class at level `a` to its class at level `b`.
    up: Vec<Vec<Vec<u32>>>,
}

impl ClassLevels {
    /// Computes the levels of a quasi-identifier.
    pub(super) fn new(data: &Dataset, column: usize) -> Result<ClassLevels> {
        let quasi = &data.quasi()[column];
        let domain = &quasi.domain;
        let mut counts = vec![0u64; domain.leaves() as usize];
        for row in 0..data.rows() {
            counts[data.quasi_codes(row)[column] as usize] += data.weight(row);
        }
        let used: Vec<Code> =
            (0..domain.leaves()).map(Code).filter(|code| counts[code.index()] > 0).collect();
        let levels = domain.levels();
        let mut first: Vec<Vec<Code>> = Vec::with_capacity(levels);
        let mut records = Vec::with_capacity(levels);
        // The class of each value that occurs, by level.
        let mut classes: Vec<Vec<u32>> = Vec::with_capacity(levels);
        for level in 0..levels {
            // Leaves are in tree order, so those of a class are adjacent.
            let (mut own, mut sums, mut of): (Vec<Code>, Vec<u64>, Vec<u32>) = Default::default();
            for &code in &used {
                let lo = domain.level_span(code, level).lo;
                if own.last() != Some(&lo) {
                    own.push(lo);
                    sums.push(0);
                }
                sums[own.len() - 1] += counts[code.index()];
                of.push(own.len() as u32 - 1);
            }
            let mut labels: Vec<String> =
                own.iter().map(|&code| domain.level_label(code, level)).collect();
            labels.sort_unstable();
            if labels.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(Error::input(format!(
                    "two nodes on level {level} of the hierarchy of column `{}` have the same \
                     label, so a reader could not distinguish them",
                    quasi.name
                ))
                .help("give them different labels, or put them under one node"));
            }
            first.push(own);
            records.push(sums);
            classes.push(of);
        }

        // At level 0 a class is a single value, or a cell of several values if the column's lowest
        // published level is above the values.
        let mut leaves = vec![0; counts.len()];
        used.iter().zip(&classes[0]).for_each(|(code, &class)| leaves[code.index()] = class);

        let (people, unmatched) = population_classes(data, column, &first);

        let table = |a: usize, b: usize| -> Vec<u32> {
            let mut table = vec![0; first[a].len() + unmatched.len()];
            if b == levels {
                return table;
            }
            classes[a].iter().zip(&classes[b]).for_each(|(&from, &to)| table[from as usize] = to);
            for (index, path) in unmatched.iter().enumerate() {
                let own = (first[b].len() + index) as u32;
                table[first[a].len() + index] = path[b].unwrap_or(own);
            }
            table
        };
        let up = (0..levels).map(|a| (a..=levels).map(|b| table(a, b)).collect()).collect();
        Ok(ClassLevels { first, records, leaves, people, up })
    }

    /// Returns the number of levels. As a level, this number means that the column is ignored.
    pub(super) fn levels(&self) -> usize {
        self.first.len()
    }

    /// Returns the number of classes at a level, including those without records.
    pub(super) fn classes(&self, level: usize) -> usize {
        self.up.get(level).map_or(1, |tables| tables[0].len())
    }

    /// Returns the first leaf of a class.
    pub(super) fn first(&self, level: usize, class: u32) -> Code {
        self.first[level][class as usize]
    }

    /// Returns the first leaf of each class of a level that has records.
    pub(super) fn firsts(&self, level: usize) -> &[Code] {
        &self.first[level]
    }

    /// Returns the number of records of each class of a level.
    pub(super) fn records(&self, level: usize) -> &[u64] {
        &self.records[level]
    }

    /// Returns the class of a leaf at level 0.
    pub(super) fn leaf(&self, code: u32) -> u32 {
        self.leaves[code as usize]
    }

    /// Returns the class of a row of the population at level 0.
    pub(super) fn person(&self, row: usize) -> u32 {
        self.people[row]
    }

    /// Returns a table that maps each class at level `from` to its class at level `to`.
    pub(super) fn up(&self, from: usize, to: usize) -> &[u32] {
        &self.up[from][to - from]
    }
}

/// Returns the class of each row of the population at level 0, and the classes of the extra ones at
/// all levels. People without a class at level 0 share an extra class if they agree at all levels.
fn population_classes(
    data: &Dataset,
    column: usize,
    first: &[Vec<Code>],
) -> (Vec<u32>, Vec<Vec<Option<u32>>>) {
    let mut people = Vec::new();
    let mut unmatched: Vec<Vec<Option<u32>>> = Vec::new();
    let mut known: BTreeMap<Vec<Option<u32>>, u32> = BTreeMap::new();
    let Some(population) = data.population() else { return (people, unmatched) };
    let domain = &data.quasi()[column].domain;
    for row in 0..population.rows() as u32 {
        let class = |level: usize| {
            let leaf = population.first_leaf(row, column, domain, level)?;
            first[level].binary_search(&leaf).ok().map(|class| class as u32)
        };
        let path: Vec<Option<u32>> = (0..first.len()).map(class).collect();
        people.push(path[0].unwrap_or_else(|| {
            let next = known.len() as u32;
            let index = *known.entry(path).or_insert_with_key(|path| {
                unmatched.push(path.clone());
                next
            });
            first[0].len() as u32 + index
        }));
    }
    (people, unmatched)
}
