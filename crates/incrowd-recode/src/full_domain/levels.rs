//! A column's levels as tables: which class a value belongs to at each level, and which class a class becomes further up.
//!
//! Only values that occur have classes. People of a population whose value lies on no class of a level keep a class of
//! their own there, so that they can still find one further up; no record ever has it.

use std::collections::BTreeMap;

use incrowd_core::{Code, Dataset, Error, Result};

/// The levels of one column, and beyond the last one that of not looking at the column at all.
#[derive(Debug)]
pub(super) struct ClassLevels {
    /// The first leaf of each class, by level.
    first: Vec<Vec<Code>>,
    /// How many records each class has, by level.
    records: Vec<Vec<u64>>,
    /// The class of each leaf at level 0.
    leaves: Vec<u32>,
    /// The class at level 0 of each of the population's rows; empty if there is no population.
    people: Vec<u32>,
    /// `up[a][b - a]` says which class at level `b` a class at level `a` becomes.
    up: Vec<Vec<Vec<u32>>>,
}

impl ClassLevels {
    /// The levels of a quasi-identifier.
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
            // Leaves stand in tree order, so those of a class stand together.
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
            let mut labels: Vec<String> = own.iter().map(|&code| domain.level_label(code, level)).collect();
            labels.sort_unstable();
            if labels.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(Error::input(format!(
                    "two nodes on level {level} of the hierarchy of column `{}` have the same label, so a reader could not \
                     tell them apart",
                    quasi.name
                ))
                .help("give them different labels, or put them under one node"));
            }
            first.push(own);
            records.push(sums);
            classes.push(of);
        }

        // On level 0 a class is a value, or a cell of several where no value is published as itself.
        let mut leaves = vec![0; counts.len()];
        used.iter().zip(&classes[0]).for_each(|(code, &class)| leaves[code.index()] = class);

        // People by the classes they have at each level; alike people share a class where they have none.
        let mut people = Vec::new();
        let mut strangers: Vec<Vec<Option<u32>>> = Vec::new();
        if let Some(population) = data.population() {
            let mut known: BTreeMap<Vec<Option<u32>>, u32> = BTreeMap::new();
            for row in 0..population.rows() as u32 {
                let class = |level: usize| {
                    let leaf = population.first_leaf(row, column, domain, level)?;
                    first[level].binary_search(&leaf).ok().map(|class| class as u32)
                };
                let path: Vec<Option<u32>> = (0..levels).map(class).collect();
                people.push(path[0].unwrap_or_else(|| {
                    let next = known.len() as u32;
                    let stranger = *known.entry(path).or_insert_with_key(|path| {
                        strangers.push(path.clone());
                        next
                    });
                    first[0].len() as u32 + stranger
                }));
            }
        }

        let table = |a: usize, b: usize| -> Vec<u32> {
            let mut table = vec![0; first[a].len() + strangers.len()];
            if b == levels {
                return table;
            }
            classes[a].iter().zip(&classes[b]).for_each(|(&from, &to)| table[from as usize] = to);
            for (stranger, path) in strangers.iter().enumerate() {
                let own = (first[b].len() + stranger) as u32;
                table[first[a].len() + stranger] = path[b].unwrap_or(own);
            }
            table
        };
        let up = (0..levels).map(|a| (a..=levels).map(|b| table(a, b)).collect()).collect();
        Ok(ClassLevels { first, records, leaves, people, up })
    }

    /// How many levels the column has; the number itself stands for not looking at the column.
    pub(super) fn levels(&self) -> usize {
        self.first.len()
    }

    /// How many classes there may be at a level, those of people without records included.
    pub(super) fn classes(&self, level: usize) -> usize {
        self.up.get(level).map_or(1, |tables| tables[0].len())
    }

    /// The first leaf of a class.
    pub(super) fn first(&self, level: usize, class: u32) -> Code {
        self.first[level][class as usize]
    }

    /// The first leaf of each class of a level that has records.
    pub(super) fn firsts(&self, level: usize) -> &[Code] {
        &self.first[level]
    }

    /// How many records each class of a level has.
    pub(super) fn records(&self, level: usize) -> &[u64] {
        &self.records[level]
    }

    /// The class of a leaf at level 0.
    pub(super) fn leaf(&self, code: u32) -> u32 {
        self.leaves[code as usize]
    }

    /// The class of a row of the population at level 0.
    pub(super) fn person(&self, row: usize) -> u32 {
        self.people[row]
    }

    /// Which class at the second level each class at the first becomes.
    pub(super) fn up(&self, from: usize, to: usize) -> &[u32] {
        &self.up[from][to - from]
    }
}
