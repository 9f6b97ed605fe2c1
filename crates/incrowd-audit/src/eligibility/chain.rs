//! The adversary for larger tables: a Markov chain over the tables that could have led to the release.
//!
//! Paper: `xu2010`, Section 4; the chain is ours. Only values at the level of the release, or one below it where a level was
//! left half cut, can have lost records, and the dominant one. So a table is a label for the dominant value and the withheld
//! records distributed over those. Metropolis and Hastings: records move from one value to another, or the role of the
//! dominant value moves with what it lost; a state is weighed by how likely the table is and how likely it makes the release.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::mechanism::{Mechanism, Way};
use super::posterior::Posterior;
use super::prior::Prior;

/// The posterior for a release whose counts are `release`, of a table of `records`, by so many steps of a chain, of which the
/// first quarter is not counted. The same seed takes the same steps. `None` if no table is found that leads there.
pub fn sampled(
    mechanism: Mechanism,
    prior: Prior,
    release: &[u64],
    records: u64,
    steps: u32,
    seed: u64,
) -> Option<Posterior> {
    let mut release = release.to_vec();
    release.sort_unstable_by(|a, b| b.cmp(a));
    let level = *release.first()?;
    let withheld = records.checked_sub(release.iter().sum())?;
    if matches!(mechanism.way, Way::Safe | Way::Unsafe) {
        // The dominant value is at the top, and which of them is a matter of labels.
        return Posterior::of_mass(&release, &BTreeMap::from([(level, 1.0)]));
    }
    // What `cheaper` does is not asked of every table on the way: the chain is that of its random part.
    let mechanism = Mechanism { way: Way::Random, ..mechanism };
    let lowest = if mechanism.complete_level { level } else { level.saturating_sub(1) };
    let movable = release.iter().filter(|&&count| count >= lowest).count();
    let mut state = State { lost: vec![0; release.len()], dominant: 0 };
    state.lost[0] = withheld;
    let weigh = |state: &State| {
        let base: Vec<u64> = release.iter().zip(&state.lost).map(|(left, lost)| left + lost).collect();
        if incrowd_core::eligibility::eligible(base[state.dominant], records, mechanism.l) {
            return f64::NEG_INFINITY;
        }
        let likely = mechanism.likelihood(&base, state.dominant, &release);
        if likely > 0.0 { likely.ln() + prior.of(&base) } else { f64::NEG_INFINITY }
    };
    let mut weight = weigh(&state);
    if weight == f64::NEG_INFINITY {
        return None;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut seen: BTreeMap<u64, f64> = BTreeMap::new();
    let scales = 64 - withheld.leading_zeros();
    for step in 0..steps {
        let mut next = state.clone();
        let favour = if rng.random_bool(0.5) {
            next.move_records(movable, scales, &mut rng)
        } else {
            next.move_role(movable, &mut rng)
        };
        if let Some(favour) = favour {
            let there = weigh(&next);
            if (there - weight + favour).exp() > rng.random::<f64>() {
                (state, weight) = (next, there);
            }
        }
        if step >= steps / 4 {
            *seen.entry(release[state.dominant]).or_insert(0.0) += 1.0;
        }
    }
    Posterior::of_mass(&release, &seen)
}

/// A table, by what each value lost.
#[derive(Clone)]
struct State {
    lost: Vec<u64>,
    dominant: usize,
}

impl State {
    /// Some records that one value lost were another's. Answers with the logarithm of how much likelier the way back is.
    fn move_records(&mut self, movable: usize, scales: u32, rng: &mut ChaCha8Rng) -> Option<f64> {
        let extra = usize::from(self.dominant >= movable);
        let pick = |i: usize| if i < movable { i } else { self.dominant };
        let (from, to) =
            (pick(rng.random_range(0..movable + extra)), pick(rng.random_range(0..movable + extra)));
        let scale = rng.random_range(0..scales.max(1));
        let records = rng.random_range(1..=1u64 << scale);
        if from == to || self.lost[from] < records {
            return None;
        }
        self.lost[from] -= records;
        self.lost[to] += records;
        Some(0.0)
    }

    /// Another value is the dominant one.
    fn move_role(&mut self, movable: usize, rng: &mut ChaCha8Rng) -> Option<f64> {
        let other = rng.random_range(0..self.lost.len());
        let (own, theirs) = (self.lost[self.dominant], self.lost[other]);
        match (self.dominant < movable, other < movable) {
            _ if other == self.dominant => return None,
            (true, true) | (false, false) => self.lost.swap(self.dominant, other),
            // A value below the level loses records only as the dominant one. What it takes over is drawn, and the way back
            // draws nothing.
            (true, false) => {
                let taken = rng.random_range(0..=own);
                (self.lost[self.dominant], self.lost[other]) = (own - taken, taken);
                self.dominant = other;
                return Some(((own + 1) as f64).ln());
            }
            (false, true) => {
                (self.lost[self.dominant], self.lost[other]) = (0, own + theirs);
                self.dominant = other;
                return Some(-((own + theirs + 1) as f64).ln());
            }
        }
        self.dominant = other;
        Some(0.0)
    }
}
