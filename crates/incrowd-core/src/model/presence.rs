//! Which values a group must have to be admitted, whatever their counts.
//!
//! Every value has a weight, and the values of a group must weigh so much together: l different ones for l-diversity, all for
//! δ-disclosure, those of a share 1 − t of all records for t-closeness. Records that leave take values with them and bring none,
//! so what a group lacks every part of it lacks too. Algorithms that try many groups need not judge those.

use super::watched::Watched;

/// So many values are told apart; of more, several share a bit.
const BITS: usize = 64;

/// What the values of a group must weigh together.
#[derive(Clone, Debug)]
pub struct Presence {
    /// The bit of each code.
    bits: Vec<u64>,
    /// What the values of each bit weigh together.
    weights: Vec<u64>,
    least: u64,
}

impl Presence {
    /// A group is admitted only if its values weigh at least `least`. Nothing where persons are counted: one of them may have
    /// several values.
    pub(super) fn new(watched: &Watched, least: u64, weight: impl Fn(u32) -> u64) -> Option<Presence> {
        if watched.unit.persons().is_some() {
            return None;
        }
        let codes = watched.codes() as u32;
        let (mut bits, mut weights) = (vec![0; codes as usize], vec![0u64; BITS]);
        let firsts = (0..codes).filter(|&code| watched.counted_as(code) == code);
        for (rank, code) in firsts.enumerate() {
            bits[code as usize] = 1 << (rank % BITS);
            weights[rank % BITS] = weights[rank % BITS].saturating_add(weight(code));
        }
        for code in 0..codes {
            bits[code as usize] = bits[watched.counted_as(code) as usize];
        }
        Some(Presence { bits, weights, least })
    }

    /// The bit of a code. The bits of a group's records are joined by `or`.
    #[inline]
    pub fn bit(&self, code: u32) -> u64 {
        self.bits[code as usize]
    }

    /// Whether a group with these bits may be admitted; no part of a group is of which this is false.
    pub fn suffices(&self, mut bits: u64) -> bool {
        let mut weight = 0u64;
        while bits != 0 && weight < self.least {
            weight = weight.saturating_add(self.weights[bits.trailing_zeros() as usize]);
            bits &= bits - 1;
        }
        weight >= self.least
    }
}
