//! Merges rows that no release can distinguish.

use std::hash::BuildHasher;

use hashbrown::HashTable;

use crate::dataset::Dataset;
use crate::domain::Domain;
use crate::index::Code;

/// A table in which rows that are never published differently are one row.
#[derive(Clone, Debug)]
pub struct Condensed {
    /// The table; each value is the first leaf of its finest cell.
    pub data: Dataset,
    /// The merged row of each row.
    pub of_row: Vec<u32>,
}

impl Dataset {
    /// Merges rows with the same finest cells under `domains`, which must have the leaves of this
    /// table's domains. With `sensitive`, only rows with equal sensitive values are merged;
    /// without, the sensitive columns are dropped. The population is dropped.
    pub fn condensed(&self, domains: &[Domain], sensitive: bool) -> Condensed {
        let finest = |domain: &Domain| -> Vec<u32> {
            (0..domain.leaves()).map(|code| domain.level_span(Code(code), 0).lo.0).collect()
        };
        let finest: Vec<Vec<u32>> = domains.iter().map(finest).collect();
        let kept = if sensitive { self.sensitive().to_vec() } else { Vec::new() };
        let sizes: Vec<u128> = domains.iter().map(|domain| u128::from(domain.leaves())).collect();
        let sizes = sizes.into_iter().chain(kept.iter().map(|column| column.values.len() as u128));
        // A mixed-radix number identifies the cells of a row. If the product of the sizes exceeds
        // 128 bits, the row number is the key and no rows are merged.
        let fits = sizes
            .clone()
            .try_fold(1u128, |product, size| product.checked_mul(size.max(1)))
            .is_some();
        let sizes: Vec<u128> = sizes.collect();
        let hasher = foldhash::fast::FixedState::default();
        let mut known: HashTable<u32> = HashTable::with_capacity(self.rows() / 2);
        let (mut keys, mut codes, mut counts) = (Vec::<u128>::new(), Vec::new(), Vec::<u64>::new());
        let mut of_row = Vec::with_capacity(self.rows());
        for row in 0..self.rows() {
            let cells = self
                .quasi_codes(row)
                .iter()
                .zip(&finest)
                .map(|(&code, finest)| finest[code as usize]);
            let rest = if sensitive { self.sensitive_codes(row) } else { &[] };
            let cells = cells.chain(rest.iter().copied());
            let key = if fits {
                cells.clone().zip(&sizes).fold(0, |key, (code, size)| key * size + u128::from(code))
            } else {
                row as u128
            };
            let hash = hasher.hash_one(key);
            let merged = match known.find(hash, |&row| keys[row as usize] == key) {
                Some(&merged) => merged,
                None => {
                    let fresh = keys.len() as u32;
                    keys.push(key);
                    codes.extend(cells);
                    counts.push(0);
                    known.insert_unique(hash, fresh, |&row| hasher.hash_one(keys[row as usize]));
                    fresh
                }
            };
            counts[merged as usize] += self.weight(row);
            of_row.push(merged);
        }
        let mut quasi = self.quasi().to_vec();
        quasi.iter_mut().zip(domains).for_each(|(quasi, domain)| quasi.domain = domain.clone());
        let data = Dataset::from_rows(quasi, kept, codes, counts).with_persons_of(self, &of_row);
        Condensed { data, of_row }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::mdr::Mdr;
    use crate::{ColumnSpec, Folded, HierarchySpec};

    #[test]
    fn rows_in_the_same_cells_are_merged() {
        let records =
            [["20", "F", "flu"], ["21", "F", "cold"], ["60", "F", "flu"], ["20", "M", "flu"]];
        let cells = records.iter().map(|record| record.iter().map(|cell| Some(*cell)).collect());
        let folded = Folded::from_records(&["age", "sex", "disease"], cells, true);
        let hierarchy = Some(HierarchySpec::Mdr(Mdr::default()));
        let (age, sex) = (ColumnSpec { hierarchy, ..ColumnSpec::default() }, ColumnSpec::default());
        let data =
            Dataset::encode(folded, &[&age, &sex], &[], "?").map_err(|e| e.misfit.error).unwrap();
        let domains: Vec<Domain> = data.quasi().iter().map(|quasi| quasi.domain.clone()).collect();
        let without = data.condensed(&domains, false);
        // Rows are sorted by their codes: 20 F, 20 M, 21 F, 60 F.
        assert_eq!(without.of_row, [0, 1, 0, 2]);
        assert_eq!((without.data.weight(0), without.data.records()), (2, 4));
        let with = data.condensed(&domains, true);
        assert_eq!(with.of_row, [0, 1, 2, 3]);
        assert_eq!(with.data.sensitive().len(), 1);
    }
}
