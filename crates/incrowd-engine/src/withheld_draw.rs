//! Which records of a row are withheld when the records are read again: drawn at random, so that the order of the input does
//! not decide.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashMap;
use incrowd_core::{Plan, Withheld};
use rand::RngExt;
use rand_chacha::ChaCha20Rng;

/// What becomes of a record.
pub(crate) enum Fate {
    /// It is withheld.
    Withheld,
    /// It is left, in this row of what is left of the fold.
    Row(u32),
    /// More records have its row than were counted.
    Unknown,
}

/// Rows of which some records are withheld.
pub(crate) struct WithheldDraw<'a> {
    withheld: Option<&'a Withheld>,
    /// For rows of which some records are withheld and some are not: how many are still to be withheld and to be let through.
    divided: HashMap<u32, Mutex<(u64, u64)>>,
    seen: AtomicU64,
}

impl<'a> WithheldDraw<'a> {
    pub(crate) fn new(plan: &Plan<'a>) -> WithheldDraw<'a> {
        let withheld = plan.withheld();
        let divided = withheld.iter().flat_map(|withheld| withheld.divided());
        let divided = divided.map(|(row, left)| (row, Mutex::new(left))).collect();
        WithheldDraw { withheld, divided, seen: AtomicU64::new(0) }
    }

    /// Gives everything back, for a reading that starts again.
    pub(crate) fn reset(&self) {
        self.seen.store(0, Ordering::Relaxed);
        for (row, left) in self.withheld.iter().flat_map(|withheld| withheld.divided()) {
            if let Some(own) = self.divided.get(&row) {
                *own.lock().expect("no worker is left") = left;
            }
        }
    }

    /// What becomes of a record of a row of the fold.
    pub(crate) fn draw(&self, row: u32, rng: &mut ChaCha20Rng) -> Fate {
        let Some(withheld) = self.withheld else { return Fate::Row(row) };
        let Some(place) = withheld.row(row as usize) else {
            self.seen.fetch_add(1, Ordering::Relaxed);
            return Fate::Withheld;
        };
        let Some(left) = self.divided.get(&row) else { return Fate::Row(place) };
        let mut left = left.lock().expect("no worker panics while it holds a row");
        let (out, through) = *left;
        if out + through == 0 {
            return Fate::Unknown;
        }
        if rng.random_range(0..out + through) < out {
            left.0 -= 1;
            self.seen.fetch_add(1, Ordering::Relaxed);
            return Fate::Withheld;
        }
        left.1 -= 1;
        Fate::Row(place)
    }

    /// Whether as many records were withheld as should be.
    pub(crate) fn complete(&self) -> bool {
        self.seen.load(Ordering::Relaxed) == self.withheld.map_or(0, Withheld::total)
    }
}
