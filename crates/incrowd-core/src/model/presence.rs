//! Values that a group must contain to be admitted, whatever their counts.
//!
//! Every value has a weight, and the weights of a group's values must reach a minimum: l different
//! values for l-diversity, all values for δ-disclosure, values of a share 1 − t of all records for
//! t-closeness. Removing records never adds values. If a group does not reach the minimum, no part
//! of it does, and algorithms skip such groups.

use super::target::TargetColumn;

/// Number of bits; if there are more values, several share a bit.
const BITS: usize = 64;

/// A minimum on the total weight of a group's values.
#[derive(Clone, Debug)]
pub struct Presence {
    /// The bit of each code.
    bits: Vec<u64>,
    /// The total weight of the values of each bit.
    weights: Vec<u64>,
    least: u64,
}

impl Presence {
    /// A group is admitted only if the weights of its values sum to at least `least`. `None` if
    /// persons are counted: a person may have several values.
    pub(super) fn new(
        target: &TargetColumn,
        least: u64,
        weight: impl Fn(u32) -> u64,
    ) -> Option<Presence> {
        if target.unit.persons().is_some() {
            return None;
        }
        let codes = target.codes() as u32;
        let (mut bits, mut weights) = (vec![0; codes as usize], vec![0u64; BITS]);
        let firsts = (0..codes).filter(|&code| target.counted_as(code) == code);
        for (rank, code) in firsts.enumerate() {
            bits[code as usize] = 1 << (rank % BITS);
            weights[rank % BITS] = weights[rank % BITS].saturating_add(weight(code));
        }
        for code in 0..codes {
            bits[code as usize] = bits[target.counted_as(code) as usize];
        }
        Some(Presence { bits, weights, least })
    }

    /// The bit of a code. The bits of a group are the bitwise or of the bits of its records.
    #[inline]
    pub fn bit(&self, code: u32) -> u64 {
        self.bits[code as usize]
    }

    /// Whether a group with these bits may be admitted. If not, no part of the group is admitted.
    /// Values that share a bit are all counted, so this is a necessary condition.
    pub fn suffices(&self, mut bits: u64) -> bool {
        let mut weight = 0u64;
        while bits != 0 && weight < self.least {
            weight = weight.saturating_add(self.weights[bits.trailing_zeros() as usize]);
            bits &= bits - 1; // clears the lowest set bit
        }
        weight >= self.least
    }
}
