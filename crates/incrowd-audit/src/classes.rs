//! Equivalence classes of the rows of a folded table with respect to some columns.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use incrowd_core::Folded;

/// The distinct combinations of values in some columns, in the order of their first rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// The class of each row.
    pub of_row: Vec<u32>,
    /// The first row of each class.
    pub first: Vec<u32>,
    /// Number of records per class.
    pub records: Vec<u64>,
}

impl Classes {
    /// Groups the rows of `table` by the given columns.
    pub fn new(table: &Folded, columns: &[usize]) -> Classes {
        let state = FixedState::default();
        let hash = |row: u32| {
            let mut hasher = state.build_hasher();
            let codes = table.row(row as usize);
            columns.iter().for_each(|&column| hasher.write_u32(codes[column]));
            hasher.finish()
        };
        let equal = |a: u32, b: u32| {
            let (a, b) = (table.row(a as usize), table.row(b as usize));
            columns.iter().all(|&column| a[column] == b[column])
        };
        let mut known: HashTable<u32> = HashTable::new();
        let mut classes = Classes::default();
        for row in 0..table.rows() as u32 {
            let known_class =
                known.find(hash(row), |&class| equal(classes.first[class as usize], row)).copied();
            let class = known_class.unwrap_or_else(|| {
                let class = classes.first.len() as u32;
                classes.first.push(row);
                classes.records.push(0);
                let first = &classes.first;
                known.insert_unique(hash(row), class, |&class| hash(first[class as usize]));
                class
            });
            classes.of_row.push(class);
            classes.records[class as usize] += table.weights[row as usize];
        }
        classes
    }

    /// Returns the number of classes.
    pub fn len(&self) -> usize {
        self.first.len()
    }

    /// Returns whether the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }
}
