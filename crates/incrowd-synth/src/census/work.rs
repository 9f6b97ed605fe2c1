//! Work and income.

use crate::ages::{FEMALE, band};
use crate::draw::{Dice, Weighted};
use crate::hierarchies::{
    ARMED_FORCES, BACHELOR, COMPANY_OWNER, FAMILY_WORKER, FARMING, FEDERAL, NO_OCCUPATION,
    NOT_WORKING, SELF_EMPLOYED,
};

/// The share of workers by age band, from 16 years on.
const WORKING_BANDS: [u32; 5] = [20, 25, 55, 65, 75];
const WORKING: [f64; 6] = [0.33, 0.68, 0.83, 0.65, 0.26, 0.07];

/// The factor on the share of workers, by tier of education.
const EMPLOYABLE: [f64; 4] = [0.80, 0.97, 1.07, 1.10];

/// The kind of employer of those who work, by tier of education.
const EMPLOYERS: [[f64; 7]; 4] = [
    [80.0, 1.0, 2.0, 3.0, 11.0, 2.0, 1.0],
    [74.0, 3.0, 4.0, 6.0, 9.0, 3.5, 0.4],
    [68.0, 4.0, 6.0, 9.0, 7.0, 5.5, 0.2],
    [55.0, 5.0, 10.0, 14.0, 8.0, 8.0, 0.1],
];

/// Occupation by tier of education; soldiers are drawn from the federal employees instead.
const OCCUPATIONS: [[f64; 14]; 4] = [
    [3.0, 0.3, 0.5, 2.0, 1.0, 7.0, 9.0, 18.0, 2.0, 15.0, 17.0, 13.0, 9.0, 4.5],
    [9.0, 2.0, 2.0, 7.0, 5.0, 18.0, 14.0, 11.0, 4.0, 4.0, 12.0, 6.0, 6.0, 2.0],
    [22.0, 14.0, 10.0, 8.0, 5.0, 12.0, 14.0, 4.0, 3.0, 0.8, 3.0, 1.2, 1.5, 1.0],
    [21.0, 20.0, 22.0, 20.0, 3.0, 4.0, 4.0, 1.0, 0.8, 0.2, 0.8, 0.3, 0.3, 0.5],
];

/// The factor on the weight of an occupation for women.
const WOMEN: [f64; 14] = [0.75, 0.4, 2.2, 3.0, 0.6, 2.6, 1.0, 1.6, 0.3, 1.7, 0.08, 0.5, 0.2, 0.35];

/// The median yearly pay for a full week, by level of education.
const PAY: [f64; 17] = [
    19e3, 19e3, 20e3, 21e3, 22.5e3, 23e3, 24e3, 25e3, 27e3, 34e3, 37e3, 41e3, 42e3, 60e3, 74e3,
    105e3, 96e3,
];

/// The factor on the pay by age band.
const CAREER_BANDS: [u32; 5] = [20, 25, 35, 55, 65];
const CAREER: [f64; 6] = [0.5, 0.66, 0.9, 1.12, 1.06, 0.8];

/// Rounding of reported incomes.
const INCOME_HABITS: [(f64, u32); 4] = [(0.08, 10_000), (0.17, 5_000), (0.35, 1_000), (0.12, 100)];

pub(super) struct Work {
    employers: [Weighted; 4],
    /// By tier of education, then by sex.
    occupations: [[Weighted; 2]; 4],
}

/// The work of a person.
pub(super) struct Job {
    pub(super) workclass: usize,
    pub(super) occupation: usize,
    pub(super) hours: u32,
}

impl Work {
    pub(super) fn new() -> Self {
        let women =
            |weights: [f64; 14]| Weighted::new(weights.into_iter().zip(WOMEN).map(|(w, f)| w * f));
        Self {
            employers: EMPLOYERS.map(Weighted::new),
            occupations: OCCUPATIONS.map(|weights| [women(weights), Weighted::new(weights)]),
        }
    }

    #[inline]
    pub(super) fn job(&self, dice: &mut Dice, age: u32, sex: usize, education: usize) -> Job {
        let tier = tier(education);
        let share =
            if age < 16 { 0.0 } else { WORKING[band(age, &WORKING_BANDS)] * EMPLOYABLE[tier] };
        if !dice.chance(if sex == FEMALE { share * 0.92 } else { share }) {
            return Job { workclass: NOT_WORKING, occupation: NO_OCCUPATION, hours: 0 };
        }
        let workclass = dice.pick(&self.employers[tier]);
        let occupation = match workclass {
            FEDERAL if age < 55 && dice.chance(0.25) => ARMED_FORCES,
            SELF_EMPLOYED if dice.chance(0.1) => FARMING,
            FAMILY_WORKER if dice.chance(0.5) => FARMING,
            _ => dice.pick(&self.occupations[tier][usize::from(sex != FEMALE)]),
        };
        Job { workclass, occupation, hours: hours(dice, age, sex, workclass) }
    }

    #[inline]
    pub(super) fn income(
        &self,
        dice: &mut Dice,
        age: u32,
        sex: usize,
        education: usize,
        job: &Job,
    ) -> u32 {
        let exact = match (job.workclass, age) {
            (_, 0..15) | (FAMILY_WORKER, _) => return 0,
            (NOT_WORKING, 65..) if dice.chance(0.93) => {
                dice.log_normal(11_000.0 + PAY[education] * 0.18, 0.5)
            }
            (NOT_WORKING, 18..65) if dice.chance(0.3) => dice.log_normal(7_000.0, 0.8),
            (NOT_WORKING, _) => return 0,
            _ => {
                let owner = job.workclass == COMPANY_OWNER;
                // One in a thousand is rich, and among those who own a company one in fifty.
                if dice.chance(if owner { 0.02 } else { 0.001 }) {
                    dice.tail(250e3, 2e6)
                } else {
                    let week = f64::from(job.hours) / 40.0;
                    let career = CAREER[band(age, &CAREER_BANDS)];
                    let gap = if sex == FEMALE { 0.85 } else { 1.0 };
                    dice.log_normal(
                        PAY[education] * career * week * gap,
                        if owner { 0.8 } else { 0.5 },
                    )
                }
            }
        };
        dice.heaped(exact.min(2e6) as u32, &INCOME_HABITS)
    }
}

/// The tier of an education: without diploma, with diploma, bachelor, graduate.
#[inline]
fn tier(education: usize) -> usize {
    match education {
        0..=8 => 0,
        9..BACHELOR => 1,
        BACHELOR => 2,
        _ => 3,
    }
}

/// Draws the weekly hours of a working person.
#[inline]
fn hours(dice: &mut Dice, age: u32, sex: usize, workclass: usize) -> u32 {
    let own_business = matches!(workclass, SELF_EMPLOYED | COMPANY_OWNER);
    let part_time = match age {
        0..22 | 65.. => 0.55,
        _ if sex == FEMALE => 0.26,
        _ => 0.11,
    };
    if dice.chance(part_time) {
        let exact = dice.between(5, 34);
        return dice.heaped(exact, &[(0.2, 10), (0.55, 5)]);
    }
    if dice.chance(if own_business { 0.28 } else { 0.56 }) {
        return 40;
    }
    if dice.chance(0.01) {
        return dice.between(70, 99);
    }
    let center = if own_business { 49.0 } else { 44.0 };
    let exact = (center + dice.bell() * 7.0).clamp(35.0, 80.0) as u32;
    dice.heaped(exact, &[(0.15, 10), (0.5, 5)])
}
