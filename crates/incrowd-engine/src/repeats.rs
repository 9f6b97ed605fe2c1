//! Detects persons with several records by columns that identify people.
//!
//! Names become digests of 128 bits under a random key, so that no table of names is stored. This
//! takes sixteen bytes per record. The digests are sorted, and equal neighbours are records of one
//! person.

use std::hash::{BuildHasher, Hasher};

use foldhash::quality::RandomState;
use incrowd_core::numerals::DecimalMark;
use incrowd_core::{Progress, Result, value_key_in};
use rayon::prelude::*;

use crate::FoldSpec;
use crate::source::{Place, Records, Source, Trouble, Worker};

struct Names<'a> {
    /// The number of columns that identify people. They are read first, and the folded columns
    /// follow.
    names: usize,
    spec: &'a FoldSpec,
    states: &'a [RandomState; 2],
    mark: DecimalMark,
    seen: Vec<u128>,
}

impl Worker for Names<'_> {
    fn visit<R: Records>(&mut self, _: Place, records: &R) -> Result<(), Trouble> {
        let lacks = |text: Option<&[u8]>| {
            text.is_none_or(|text| {
                self.spec.missing.iter().any(|missing| missing.as_bytes() == text)
            })
        };
        let others = self.names..self.names + self.spec.columns.len();
        for record in 0..records.len() {
            let dropped = self.spec.drop_missing
                && others.clone().any(|slot| lacks(records.get(record, slot)));
            if dropped || (0..self.names).all(|slot| lacks(records.get(record, slot))) {
                continue;
            }
            let digest = |state: &RandomState| {
                let mut hasher = state.build_hasher();
                for slot in 0..self.names {
                    let text = records
                        .get(record, slot)
                        .filter(|text| !lacks(Some(text)))
                        .unwrap_or_default();
                    let text = String::from_utf8_lossy(text);
                    let key = value_key_in(&text, self.mark);
                    hasher.write_usize(key.len());
                    hasher.write(key.as_bytes());
                }
                u128::from(hasher.finish())
            };
            let [one, other] = self.states;
            self.seen.push(digest(one) << 64 | digest(other));
        }
        Ok(())
    }

    fn memory(&self) -> u64 {
        // The digests are copied when those of all threads are combined.
        (2 * self.seen.len() * size_of::<u128>()) as u64
    }
}

impl Source {
    /// The number of counted records of persons for whom another record was counted before. Two
    /// records have the same person if they are equal in all columns `names`. Records without any
    /// name are not counted.
    pub fn repeats(
        &self,
        names: &[String],
        spec: &FoldSpec,
        progress: &dyn Progress,
    ) -> Result<u64> {
        progress.step("looking for people with several records", Some(self.bytes()));
        let wanted = names.iter().chain(&spec.columns).map(|name| self.position(name));
        let wanted: Vec<usize> = wanted.collect::<Result<_>>()?;
        let states = [RandomState::default(), RandomState::default()];
        let mark = self.decimal().unwrap_or_default();
        let worker = || Names { names: names.len(), spec, states: &states, mark, seen: Vec::new() };
        let scan = self.scan(&wanted, worker, progress)?;
        let mut seen: Vec<u128> = scan.workers.into_iter().flat_map(|worker| worker.seen).collect();
        seen.par_sort_unstable();
        Ok(seen.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64)
    }
}
