//! Fewer rows for algorithms that would treat some of them alike anyway.

use std::hash::BuildHasher;

use hashbrown::HashTable;

use crate::dataset::Dataset;
use crate::domain::Domain;
use crate::index::Code;

/// A table in which rows that can never be published apart are one row.
#[derive(Clone, Debug)]
pub struct Condensed {
    /// The table; a value stands for all of its finest cell.
    pub data: Dataset,
    /// The condensed row of each row.
    pub of_row: Vec<u32>,
}

impl Dataset {
    /// Puts rows together that fall into the same finest cells under `domains`, lines with the leaves of this table's. With
    /// `sensitive` their sensitive values must be alike too; without, those are left out. A population is left out.
    pub fn condensed(&self, domains: &[Domain], sensitive: bool) -> Condensed {
        let finest = |domain: &Domain| -> Vec<u32> {
            (0..domain.leaves()).map(|code| domain.level_span(Code(code), 0).lo.0).collect()
        };
        let finest: Vec<Vec<u32>> = domains.iter().map(finest).collect();
        let kept = if sensitive { self.sensitive().to_vec() } else { Vec::new() };
        let width = finest.len() + kept.len();
        let hasher = foldhash::fast::FixedState::default();
        let mut known: HashTable<u32> = HashTable::with_capacity(self.rows() / 2);
        let (mut codes, mut weights): (Vec<u32>, Vec<u64>) = (Vec::new(), Vec::new());
        let mut of_row = Vec::with_capacity(self.rows());
        let mut key = Vec::with_capacity(width);
        for row in 0..self.rows() {
            key.clear();
            key.extend(
                self.quasi_codes(row).iter().zip(&finest).map(|(&code, finest)| finest[code as usize]),
            );
            if sensitive {
                key.extend_from_slice(self.sensitive_codes(row));
            }
            let hash = hasher.hash_one(key.as_slice());
            let alike = |&row: &u32| codes[row as usize * width..][..width] == *key;
            let found = match known.find(hash, alike) {
                Some(&found) => found,
                None => {
                    let fresh = weights.len() as u32;
                    codes.extend_from_slice(&key);
                    weights.push(0);
                    let rehash = |&row: &u32| hasher.hash_one(&codes[row as usize * width..][..width]);
                    known.insert_unique(hash, fresh, rehash);
                    fresh
                }
            };
            weights[found as usize] += self.weight(row);
            of_row.push(found);
        }
        let mut quasi = self.quasi().to_vec();
        quasi.iter_mut().zip(domains).for_each(|(quasi, domain)| quasi.domain = domain.clone());
        Condensed { data: Dataset::from_rows(quasi, kept, codes, weights), of_row }
    }
}
