//! Whether some person has several records, as far as the columns that name people tell.
//!
//! Names become digests of 128 bits under a key that is drawn for the occasion, so that no table of names is kept: sixteen
//! bytes per record, sorted, and equal neighbours are one person's.

use std::hash::{BuildHasher, Hasher};

use foldhash::quality::RandomState;
use incrowd_core::{Progress, Result};
use rayon::prelude::*;

use crate::FoldSpec;
use crate::source::{Place, Records, Source, Trouble, Worker};

struct Names<'a> {
    /// The first columns read are the names, the others those of the fold.
    names: usize,
    spec: &'a FoldSpec,
    states: &'a [RandomState; 2],
    seen: Vec<u128>,
}

impl Worker for Names<'_> {
    fn visit<R: Records>(&mut self, _: Place, records: &R) -> Result<(), Trouble> {
        let lacks = |text: Option<&[u8]>| {
            text.is_none_or(|text| self.spec.missing.iter().any(|missing| missing.as_bytes() == text))
        };
        let others = self.names..self.names + self.spec.columns.len();
        for record in 0..records.len() {
            let dropped =
                self.spec.drop_missing && others.clone().any(|slot| lacks(records.get(record, slot)));
            if dropped || (0..self.names).all(|slot| lacks(records.get(record, slot))) {
                continue;
            }
            let digest = |state: &RandomState| {
                let mut hasher = state.build_hasher();
                for slot in 0..self.names {
                    let text =
                        records.get(record, slot).filter(|text| !lacks(Some(text))).unwrap_or_default();
                    hasher.write_usize(text.len());
                    hasher.write(text);
                }
                u128::from(hasher.finish())
            };
            let [one, other] = self.states;
            self.seen.push(digest(one) << 64 | digest(other));
        }
        Ok(())
    }
}

impl Source {
    /// How many of the records that a fold would count are of people of whom another one was counted: alike in all columns
    /// `names`. Records without any name are nobody's.
    pub fn repeats(&self, names: &[String], spec: &FoldSpec, progress: &dyn Progress) -> Result<u64> {
        progress.step("looking for people with several records", Some(self.bytes()));
        let wanted = names.iter().chain(&spec.columns).map(|name| self.position(name));
        let wanted: Vec<usize> = wanted.collect::<Result<_>>()?;
        let states = [RandomState::default(), RandomState::default()];
        let worker = || Names { names: names.len(), spec, states: &states, seen: Vec::new() };
        let scan = self.scan(&wanted, worker, progress, || {})?;
        let mut seen: Vec<u128> = scan.workers.into_iter().flat_map(|worker| worker.seen).collect();
        seen.par_sort_unstable();
        Ok(seen.windows(2).filter(|pair| pair[0] == pair[1]).count() as u64)
    }
}
