//! Attributes that depend mostly on age: education, marital status, household and health.

use crate::ages::{self, Ages, FEMALE, band};
use crate::draw::{Dice, Weighted};
use crate::hierarchies::{MARRIED, NEVER_MARRIED, PARTNER, SOME_COLLEGE, WIDOWED};

/// Education by age band, for adults.
const SCHOOLING_BANDS: [u32; 4] = [25, 40, 60, 75];
const SCHOOLING: [[f64; 17]; 5] = [
    [0.2, 0.0, 0.3, 0.4, 0.8, 1.0, 2.0, 4.0, 7.0, 34.0, 33.0, 2.5, 3.0, 11.0, 0.6, 0.1, 0.05],
    [0.3, 0.05, 0.5, 0.9, 1.2, 1.2, 1.5, 2.0, 2.5, 25.0, 19.0, 4.5, 5.5, 24.0, 9.0, 1.6, 1.3],
    [0.4, 0.05, 0.8, 1.2, 1.8, 1.5, 1.8, 2.2, 2.4, 29.0, 18.0, 5.0, 5.0, 19.0, 8.5, 1.8, 1.5],
    [0.6, 0.05, 1.1, 1.6, 3.0, 1.8, 2.4, 2.6, 2.4, 32.0, 18.0, 4.0, 4.0, 15.0, 8.5, 1.9, 1.6],
    [1.1, 0.05, 2.0, 2.6, 7.0, 3.0, 3.5, 3.2, 2.4, 35.0, 14.0, 2.5, 2.5, 10.0, 5.5, 1.5, 1.3],
];

/// The age at which the first people reach the levels after some college.
const EARLIEST: [u32; 6] = [19, 19, 20, 22, 24, 24];

/// Marital status by age band, from 16 years on.
const MARRIAGE_BANDS: [u32; 6] = [20, 25, 35, 50, 65, 80];
const MARRIAGE: [[f64; 7]; 7] = [
    [97.0, 1.6, 0.6, 0.3, 0.3, 0.15, 0.03],
    [83.0, 11.0, 3.0, 0.9, 1.1, 0.9, 0.1],
    [47.0, 40.0, 5.0, 1.3, 2.2, 4.3, 0.2],
    [22.0, 57.0, 3.0, 1.5, 3.0, 12.5, 1.0],
    [11.0, 62.0, 2.0, 1.3, 2.5, 17.0, 4.2],
    [5.0, 62.0, 0.8, 1.2, 1.3, 13.0, 16.7],
    [4.0, 45.0, 0.4, 1.5, 0.7, 6.5, 42.0],
];

/// Household size from one person on: children, adults by themselves, younger and older couples.
const HOUSEHOLDS: [[f64; 12]; 4] = [
    [0.0, 6.0, 20.0, 32.0, 22.0, 11.0, 5.0, 2.2, 1.0, 0.5, 0.2, 0.1],
    [38.0, 27.0, 15.0, 10.0, 5.0, 2.8, 1.2, 0.6, 0.3, 0.15, 0.08, 0.04],
    [0.0, 30.0, 22.0, 27.0, 12.0, 5.0, 2.2, 1.0, 0.5, 0.25, 0.1, 0.06],
    [0.0, 67.0, 17.0, 8.0, 4.0, 2.2, 1.0, 0.5, 0.2, 0.1, 0.05, 0.03],
];

/// Disease by age band.
const HEALTH_BANDS: [u32; 4] = [18, 40, 60, 75];
const HEALTH: [[f64; 13]; 5] = [
    [87.0, 4.5, 6.5, 0.1, 0.4, 0.1, 1.0, 0.15, 0.1, 0.05, 0.0, 0.05, 0.01],
    [79.0, 3.0, 4.5, 2.5, 1.4, 1.0, 6.5, 0.5, 0.5, 0.2, 0.0, 0.5, 0.4],
    [61.0, 2.2, 4.0, 11.0, 6.5, 5.0, 5.5, 1.8, 1.8, 0.6, 0.02, 0.9, 0.5],
    [42.0, 2.0, 3.5, 18.0, 11.0, 10.0, 3.5, 5.0, 4.0, 1.4, 0.6, 0.6, 0.2],
    [28.0, 2.2, 3.0, 20.0, 11.0, 13.0, 3.0, 9.5, 5.0, 2.5, 5.5, 0.4, 0.05],
];

pub(super) struct Life {
    ages: Ages,
    schooling: [Weighted; 5],
    /// By age band, then by sex.
    marriage: [[Weighted; 2]; 7],
    households: [Weighted; 4],
    health: [Weighted; 5],
}

impl Life {
    pub(super) fn new() -> Self {
        // Husbands are older and die earlier, so most of the widowed are women.
        let marriage = |weights: [f64; 7], widowed: f64| {
            let mut weights = weights;
            weights[WIDOWED] *= widowed;
            Weighted::new(weights)
        };
        Self {
            ages: Ages::up_to(105),
            schooling: SCHOOLING.map(Weighted::new),
            marriage: MARRIAGE.map(|weights| [marriage(weights, 1.5), marriage(weights, 0.45)]),
            households: HOUSEHOLDS.map(Weighted::new),
            health: HEALTH.map(Weighted::new),
        }
    }

    #[inline]
    pub(super) fn age_and_sex(&self, dice: &mut Dice) -> (u32, usize) {
        let age = self.ages.draw(dice);
        (age, ages::sex(dice, age))
    }

    #[inline]
    pub(super) fn education(&self, dice: &mut Dice, age: u32) -> usize {
        if age < 18 {
            // One pupil in seven is a year behind the others.
            let behind = u32::from(dice.chance(0.14));
            return match age.saturating_sub(behind) {
                0..3 => 0,
                3..6 => 1,
                6..10 => 2,
                10..12 => 3,
                12..14 => 4,
                14 => 5,
                15 => 6,
                16 => 7,
                _ => 8,
            };
        }
        let level = dice.pick(&self.schooling[band(age, &SCHOOLING_BANDS)]);
        let too_young = level > SOME_COLLEGE && age < EARLIEST[level - SOME_COLLEGE - 1];
        if too_young { SOME_COLLEGE } else { level }
    }

    #[inline]
    pub(super) fn marital_status(&self, dice: &mut Dice, age: u32, sex: usize) -> usize {
        if age < 16 {
            return NEVER_MARRIED;
        }
        let by_sex = &self.marriage[band(age, &MARRIAGE_BANDS)];
        dice.pick(&by_sex[usize::from(sex != FEMALE)])
    }

    #[inline]
    pub(super) fn household_size(&self, dice: &mut Dice, age: u32, marital_status: usize) -> u32 {
        let couple = matches!(marital_status, MARRIED | PARTNER);
        let kind = match age {
            0..18 => 0,
            _ if !couple => 1,
            18..55 => 2,
            _ => 3,
        };
        dice.pick(&self.households[kind]) as u32 + 1
    }

    #[inline]
    pub(super) fn disease(&self, dice: &mut Dice, age: u32) -> usize {
        dice.pick(&self.health[band(age, &HEALTH_BANDS)])
    }
}
