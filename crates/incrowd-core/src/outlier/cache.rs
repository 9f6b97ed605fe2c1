//! A cache of results about boxes and corners.
//!
//! A query about a box rarely needs the status of every value: often a bound already shows that one
//! of a group's values is good. The first evaluation therefore stops as soon as the query is
//! decided, and its bounds are stored. A later query that these bounds do not decide is evaluated
//! completely, for all values.

use std::sync::{Arc, Mutex};

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Outliers;
use super::near::{Bits, Good};

/// The two scaled ends of a box on each axis; equal if the box is flat there.
pub(super) type Ends = Box<[(f64, f64)]>;

/// Maximum size of each part of the cache, in bytes.
const KEPT: usize = 512 << 20;

/// A query about the corners of a box.
#[derive(Clone, Copy)]
pub(super) enum Query<'a> {
    /// Which values are good.
    All,
    /// Whether any of these values is good.
    Any(&'a Bits),
    /// Which of these values are good.
    Each(&'a Bits),
}

impl Query<'_> {
    /// Whether bounds of the good values decide the query.
    pub(super) fn is_decided_by(self, good: &Good) -> bool {
        match self {
            Query::All => good.all == good.some,
            Query::Any(values) => good.all.meets(values) || !good.some.meets(values),
            Query::Each(values) => good.some.inside(values, &good.all),
        }
    }
}

struct Entry {
    good: Arc<Good>,
    /// Whether the entry is final: it is exact, or a better evaluation is not possible.
    is_final: bool,
}

#[derive(Default)]
struct Entries {
    good: HashMap<Box<[u64]>, Entry, FixedState>,
    dead: HashMap<Box<[u64]>, bool, FixedState>,
    evaluations: u64,
}

/// The results known so far.
#[derive(Default)]
pub(super) struct Cache {
    entries: Mutex<Entries>,
}

pub(super) fn key(ends: &Ends) -> Box<[u64]> {
    // Adding 0.0 turns -0.0 into 0.0, so that both have one key.
    let bits = |x: f64| (x + 0.0).to_bits();
    ends.iter().flat_map(|&(a, b)| [bits(a), bits(b)]).collect()
}

impl Cache {
    /// Returns bounds of the good values. They decide the query if the box is a point; otherwise
    /// they may not.
    pub(super) fn ask(&self, outliers: &Outliers, ends: &Ends, query: Query<'_>) -> Arc<Good> {
        let key = key(ends);
        let mut known = None;
        if let Ok(entries) = self.entries.lock()
            && let Some(entry) = entries.good.get(&key)
        {
            if entry.is_final || query.is_decided_by(&entry.good) {
                return entry.good.clone();
            }
            known = Some(entry.good.clone());
        }
        let is_final = known.is_some() || matches!(query, Query::All);
        let mut good = outliers.evaluate(ends, None, if is_final { Query::All } else { query });
        if let Some(known) = known {
            good.all.join(&known.all);
            good.some = good.some.and(&known.some);
        }
        let good = Arc::new(good);
        if let Ok(mut entries) = self.entries.lock() {
            let each = 16 * outliers.scaled.len().div_ceil(64) + 16 * ends.len() + 96;
            if entries.good.len() * each > KEPT {
                entries.good.clear();
            }
            entries.evaluations += 1;
            entries.good.insert(key, Entry { good: good.clone(), is_final });
        }
        good
    }

    /// All good values of one point.
    pub(super) fn good(&self, outliers: &Outliers, point: &Ends) -> Arc<Good> {
        self.ask(outliers, point, Query::All)
    }

    /// Whether a box has a dead corner; `evaluate` is called if the result is not cached.
    pub(super) fn dead(&self, ends: &Ends, evaluate: impl FnOnce() -> bool) -> bool {
        let key = key(ends);
        if let Ok(entries) = self.entries.lock()
            && let Some(&dead) = entries.dead.get(&key)
        {
            return dead;
        }
        let dead = evaluate();
        if let Ok(mut entries) = self.entries.lock() {
            if entries.dead.len() * (16 * ends.len() + 48) > KEPT {
                entries.dead.clear();
            }
            entries.dead.insert(key, dead);
        }
        dead
    }

    /// The number of evaluations so far.
    pub(super) fn evaluations(&self) -> u64 {
        self.entries.lock().map_or(0, |entries| entries.evaluations)
    }
}
