//! The skewed table: numbers that heap at zero and at round values, with long tails.

use crate::ages::{self, Ages, band};
use crate::draw::{Dice, Weighted};
use crate::hierarchies::SEX;
use crate::line::Line;
use crate::table::{Column, Role};

pub(crate) const COLUMNS: [Column; 8] = {
    use Role::{Identifier, Quasi, Sensitive};
    const fn column(name: &'static str, role: Role, about: &'static str) -> Column {
        Column { name, role, about }
    }
    [
        column("id", Identifier, "Number of the person, such as P00000001."),
        column("age", Quasi, "Age in years, 0 to 100."),
        column("income", Quasi, "Total yearly income, 0 to 1000000, often zero and mostly round."),
        column("family_size", Quasi, "Persons in the family, 1 to 15."),
        column("education_years", Quasi, "Years spent in education, 0 to 20."),
        column("rent", Quasi, "Monthly rent, zero for most and otherwise mostly round."),
        column("sex", Quasi, "Either female or male."),
        column("occupation", Sensitive, "Code of the main earner's occupation, of about 500."),
    ]
};

/// Years of education by age band, for adults.
const SCHOOLING_BANDS: [u32; 2] = [45, 70];
const SCHOOLING: [[f64; 21]; 3] = [
    [
        0.3, 0.1, 0.2, 0.3, 0.3, 0.5, 0.8, 0.7, 1.6, 1.8, 2.5, 3.0, 31.0, 6.0, 13.0, 4.0, 22.0,
        3.5, 6.5, 1.0, 1.2,
    ],
    [
        0.5, 0.2, 0.3, 0.5, 0.5, 0.7, 1.3, 1.0, 2.8, 2.2, 3.0, 3.0, 35.0, 5.0, 12.0, 3.0, 17.0,
        3.0, 6.0, 1.0, 1.3,
    ],
    [
        1.2, 0.5, 0.8, 1.1, 1.2, 1.4, 2.6, 2.0, 8.5, 3.2, 4.2, 3.2, 37.0, 3.5, 9.0, 2.0, 10.0, 2.0,
        4.0, 0.7, 0.9,
    ],
];

/// Family size from one person on: children, younger adults, older adults.
const FAMILIES: [[f64; 15]; 3] = [
    [0.6, 7.0, 20.0, 32.0, 20.0, 10.0, 5.0, 2.5, 1.2, 0.7, 0.4, 0.25, 0.15, 0.1, 0.05],
    [21.0, 25.0, 20.0, 19.0, 8.5, 3.5, 1.6, 0.8, 0.4, 0.2, 0.1, 0.06, 0.04, 0.03, 0.02],
    [33.0, 47.0, 11.0, 4.5, 2.2, 1.1, 0.6, 0.3, 0.15, 0.08, 0.05, 0.03, 0.02, 0.01, 0.01],
];

/// The main group of the occupation, the first digit of its code, by years of education: fewer
/// than twelve, twelve to fifteen, sixteen and more.
const GROUPS: [[f64; 9]; 3] = [
    [4.0, 3.0, 3.0, 8.0, 24.0, 6.0, 19.0, 15.0, 18.0],
    [11.0, 9.0, 14.0, 17.0, 20.0, 2.0, 12.0, 9.0, 6.0],
    [27.0, 38.0, 14.0, 8.0, 7.0, 0.7, 2.5, 1.5, 1.3],
];

/// The second and third digits of a code run from one to these numbers.
const SECOND: u16 = 7;
const THIRD: u16 = 8;

/// Rounding of reported incomes and rents.
const INCOME_HABITS: [(f64, u32); 3] = [(0.1, 10_000), (0.2, 5_000), (0.5, 1_000)];
const RENT_HABITS: [(f64, u32); 4] = [(0.2, 100), (0.3, 50), (0.25, 25), (0.15, 10)];

/// The distributions of the table.
pub(crate) struct Skewed {
    ages: Ages,
    schooling: [Weighted; 3],
    families: [Weighted; 3],
    groups: [Weighted; 3],
    trades: Weighted,
}

/// One person.
pub(crate) struct SkewedPerson {
    age: u32,
    income: u32,
    family_size: u32,
    education_years: u32,
    rent: u32,
    sex: usize,
    occupation: u16,
}

impl Skewed {
    pub(crate) fn new() -> Self {
        Self {
            ages: Ages::up_to(100),
            schooling: SCHOOLING.map(Weighted::new),
            families: FAMILIES.map(Weighted::new),
            groups: GROUPS.map(Weighted::new),
            trades: Weighted::zipf(SECOND * THIRD, 1.0),
        }
    }

    #[inline]
    pub(crate) fn draw(&self, dice: &mut Dice) -> SkewedPerson {
        let age = self.ages.draw(dice);
        let sex = ages::sex(dice, age);
        // A person younger than the end of the schooling is still at school.
        let schooling = dice.pick(&self.schooling[band(age, &SCHOOLING_BANDS)]) as u32;
        let education_years = schooling.min(age.saturating_sub(6));
        let income = income(dice, age, sex, education_years);
        let group = dice.pick(&self.groups[band(schooling, &[12, 16])]) as u16;
        let trade = dice.pick(&self.trades) as u16;
        SkewedPerson {
            age,
            income,
            family_size: dice.pick(&self.families[band(age, &[18, 60])]) as u32 + 1,
            education_years,
            rent: rent(dice, age, income),
            sex,
            occupation: code(group, trade),
        }
    }
}

/// Children and every fourth adult have no income, and one adult in five hundred a very high one.
#[inline]
fn income(dice: &mut Dice, age: u32, sex: usize, education_years: u32) -> u32 {
    if age < 16 || dice.chance(if age < 22 { 0.5 } else { 0.24 }) {
        return 0;
    }
    let exact = if age >= 25 && dice.chance(0.002) {
        dice.tail(150e3, 1e6)
    } else {
        let career = [0.35, 0.85, 1.15, 0.6][band(age, &[22, 35, 65])];
        let gap = if sex == ages::FEMALE { 0.8 } else { 1.0 };
        let years = f64::from(education_years);
        dice.log_normal((9_000.0 + years * years * 130.0) * career * gap, 0.75)
    };
    dice.heaped(exact.min(1e6) as u32, &INCOME_HABITS)
}

/// Most people own their home, more often with age; rent grows with income.
#[inline]
fn rent(dice: &mut Dice, age: u32, income: u32) -> u32 {
    let renting = [0.4, 0.55, 0.33, 0.22][band(age, &[18, 35, 60])];
    if !dice.chance(renting) {
        return 0;
    }
    let budget = 450.0 + f64::from(income.min(200_000)) * 0.008;
    let exact = dice.log_normal(budget, 0.45);
    dice.heaped(exact as u32, &RENT_HABITS)
}

/// The three-digit code of an occupation.
///
/// The ranks run through the third digit slowly, so every two-digit group has frequent and rare
/// codes.
fn code(group: u16, trade: u16) -> u16 {
    (group + 1) * 100 + (trade % SECOND + 1) * 10 + trade / SECOND + 1
}

/// Every occupation code, in ascending order.
pub(crate) fn occupation_codes() -> impl Iterator<Item = u16> {
    (1..=GROUPS[0].len() as u16).flat_map(|first| {
        (1..=SECOND)
            .flat_map(move |second| (1..=THIRD).map(move |third| first * 100 + second * 10 + third))
    })
}

impl SkewedPerson {
    /// Writes every field but the identifier.
    #[inline]
    pub(crate) fn write(&self, line: &mut Line<'_>) {
        line.number(self.age.into());
        line.number(self.income.into());
        line.number(self.family_size.into());
        line.number(self.education_years.into());
        line.number(self.rent.into());
        line.text(SEX[self.sex][0]);
        line.number(self.occupation.into());
    }
}
