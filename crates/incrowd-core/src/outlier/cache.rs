//! What was found out about boxes and corners, kept.
//!
//! A question about a box seldom needs to know of every value whether it is good: that one of a group's values is, is often
//! plain from afar. So an answer is looked for only until the question is decided, and what was learned on the way is kept. A
//! question that it does not decide is looked at a second time, then for all values.

use std::sync::{Arc, Mutex};

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Outliers;
use super::near::{Bits, Good};

/// For each axis the two ends of a box, scaled; alike where there is only one.
pub(super) type Ends = Box<[(f64, f64)]>;

/// So many bytes of good values are kept.
const KEPT: usize = 512 << 20;

/// What is to be known about the corners of a box.
#[derive(Clone, Copy)]
pub(super) enum Asked<'a> {
    /// Of every value whether it is good.
    All,
    /// Whether any of these is good.
    Any(&'a Bits),
    /// Of each of these whether it is good.
    Each(&'a Bits),
}

impl Asked<'_> {
    /// Whether bounds of the good values answer the question.
    pub(super) fn is_decided_by(self, good: &Good) -> bool {
        match self {
            Asked::All => good.all == good.some,
            Asked::Any(values) => good.all.meets(values) || !good.some.meets(values),
            Asked::Each(values) => good.some.inside(values, &good.all),
        }
    }
}

struct Entry {
    good: Arc<Good>,
    /// Nothing more can be learned, or nothing more will.
    last: bool,
}

#[derive(Default)]
struct Kept {
    good: HashMap<Box<[u64]>, Entry, FixedState>,
    dead: HashMap<Box<[u64]>, bool, FixedState>,
    looked: u64,
}

/// What was found out already.
#[derive(Default)]
pub(super) struct Cache {
    kept: Mutex<Kept>,
}

pub(super) fn key(ends: &Ends) -> Box<[u64]> {
    // One zero has two forms.
    let bits = |x: f64| (x + 0.0).to_bits();
    ends.iter().flat_map(|&(a, b)| [bits(a), bits(b)]).collect()
}

impl Cache {
    /// Bounds of the good values that decide a question about one point; about the corners of a box they may not.
    pub(super) fn ask(&self, outliers: &Outliers, ends: &Ends, asked: Asked<'_>) -> Arc<Good> {
        let key = key(ends);
        let mut known = None;
        if let Ok(kept) = self.kept.lock()
            && let Some(entry) = kept.good.get(&key)
        {
            if entry.last || asked.is_decided_by(&entry.good) {
                return entry.good.clone();
            }
            known = Some(entry.good.clone());
        }
        let last = known.is_some() || matches!(asked, Asked::All);
        let mut good = outliers.look(ends, None, if last { Asked::All } else { asked });
        if let Some(known) = known {
            good.all.join(&known.all);
            good.some = good.some.and(&known.some);
        }
        let good = Arc::new(good);
        if let Ok(mut kept) = self.kept.lock() {
            let each = 16 * outliers.scaled.len().div_ceil(64) + 16 * ends.len() + 96;
            if kept.good.len() * each > KEPT {
                kept.good.clear();
            }
            kept.looked += 1;
            kept.good.insert(key, Entry { good: good.clone(), last });
        }
        good
    }

    /// All good values of one point.
    pub(super) fn good(&self, outliers: &Outliers, point: &Ends) -> Arc<Good> {
        self.ask(outliers, point, Asked::All)
    }

    /// Whether a box has a dead corner, found out by `look` if it is not known.
    pub(super) fn dead(&self, ends: &Ends, look: impl FnOnce() -> bool) -> bool {
        let key = key(ends);
        if let Ok(kept) = self.kept.lock()
            && let Some(&dead) = kept.dead.get(&key)
        {
            return dead;
        }
        let dead = look();
        if let Ok(mut kept) = self.kept.lock() {
            if kept.dead.len() * (16 * ends.len() + 48) > KEPT {
                kept.dead.clear();
            }
            kept.dead.insert(key, dead);
        }
        dead
    }

    /// How many boxes and corners were looked at.
    pub(super) fn looked(&self) -> u64 {
        self.kept.lock().map_or(0, |kept| kept.looked)
    }
}
