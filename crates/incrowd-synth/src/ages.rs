//! Distributions of age and sex.

use crate::draw::{Dice, Weighted};

pub(crate) const FEMALE: usize = 0;
pub(crate) const MALE: usize = 1;

/// The population pyramid, as `(age, weight)` points.
const PYRAMID: [(f64, f64); 12] = [
    (0.0, 1.16),
    (10.0, 1.26),
    (20.0, 1.30),
    (30.0, 1.40),
    (40.0, 1.29),
    (50.0, 1.24),
    (60.0, 1.27),
    (70.0, 0.96),
    (80.0, 0.48),
    (90.0, 0.13),
    (98.0, 0.015),
    (105.0, 0.001),
];

/// The ages of a population.
#[derive(Debug)]
pub(crate) struct Ages(Weighted);

impl Ages {
    /// Prepares ages from zero to `oldest`, which is at most 105.
    pub(crate) fn up_to(oldest: u16) -> Self {
        Self(Weighted::curve(oldest + 1, &PYRAMID))
    }

    /// Draws an age as reported: a few adults round to the nearest five or ten years.
    #[inline]
    pub(crate) fn draw(&self, dice: &mut Dice) -> u32 {
        let age = dice.pick(&self.0) as u32;
        if age < 20 { age } else { dice.heaped(age, &[(0.025, 10), (0.04, 5)]) }
    }
}

/// Draws the sex of a person of this age: women live longer.
#[inline]
pub(crate) fn sex(dice: &mut Dice, age: u32) -> usize {
    let women = 0.488 + f64::from(age.saturating_sub(50)) * 0.004;
    if dice.chance(women) { FEMALE } else { MALE }
}

/// Returns the index of the band of `age`, given the first age of every band but the first.
#[inline]
pub(crate) fn band(age: u32, starts: &[u32]) -> usize {
    starts.iter().filter(|&&start| start <= age).count()
}
