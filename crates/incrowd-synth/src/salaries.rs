//! The salaries table: eight quasi-identifiers with the domains of a well known census extract, and
//! a salary class.
//!
//! Most people are similar, as in a census: one country, one race and one class of work have the
//! majority, and salaries depend on age, education and occupation. One person in two hundred has a
//! salary that is unusual for the age and education.

use crate::ages::{self, Ages};
use crate::draw::{Dice, Weighted};
use crate::hierarchies::{EDUCATION, SEX};
use crate::line::Line;
use crate::table::{Column, Role};

pub(crate) const COLUMNS: [Column; 10] = {
    use Role::{Identifier, Quasi, Sensitive};
    const fn column(name: &'static str, role: Role, about: &'static str) -> Column {
        Column { name, role, about }
    }
    [
        column("id", Identifier, "Number of the person, such as P00000001."),
        column("age", Quasi, "Age in years, 17 to 94."),
        column("sex", Quasi, "Either female or male."),
        column("education", Quasi, "Highest attainment, one of 17."),
        column("marital", Quasi, "Marital status, one of 6."),
        column("race", Quasi, "One of 9."),
        column("workclass", Quasi, "One of 10."),
        column("country", Quasi, "Country of birth, one of 83."),
        column("occupation", Quasi, "One of 50, the lower the better paid."),
        column("salary_class", Sensitive, "Class of yearly salary, 1 to 50."),
    ]
};

/// The coded columns: letter, how many codes, and how many neighbours share a group.
pub(crate) const CODED: [(&str, char, u16, u16); 5] = [
    ("marital", 'm', 6, 2),
    ("race", 'r', 9, 3),
    ("workclass", 'w', 10, 3),
    ("country", 'c', 83, 10),
    ("occupation", 'o', 50, 5),
];

const YOUNGEST: u32 = 17;
const OLDEST: u32 = 94;
const CLASSES: f64 = 50.0;

/// Attainment of adults, from none to a doctorate.
const ATTAINED: [f64; 17] =
    [0.3, 0.2, 0.6, 1.0, 2.0, 1.6, 2.8, 3.6, 1.3, 32.0, 22.0, 4.2, 3.3, 16.5, 5.4, 1.7, 1.5];

/// The distributions of the table.
pub(crate) struct Salaries {
    ages: Ages,
    attained: Weighted,
    /// For each coded column the codes after the first.
    others: [Weighted; 5],
}

/// One person.
pub(crate) struct SalaryPerson {
    age: u32,
    sex: usize,
    education: usize,
    coded: [usize; 5],
    salary_class: u32,
}

impl Salaries {
    pub(crate) fn new() -> Self {
        Self {
            ages: Ages::up_to(OLDEST as u16),
            attained: Weighted::new(ATTAINED),
            others: CODED.map(|(_, _, count, _)| Weighted::zipf(count, 1.0)),
        }
    }

    #[inline]
    pub(crate) fn draw(&self, dice: &mut Dice) -> SalaryPerson {
        let mut age = self.ages.draw(dice);
        while age < YOUNGEST {
            age = self.ages.draw(dice);
        }
        // Rounded ages must stay in the domain.
        let age = age.min(OLDEST);
        let sex = ages::sex(dice, age);
        let education = dice.pick(&self.attained);
        // Marital status depends on age; in the other columns most people have the first code.
        let single = if age < 26 { 0.85 } else { 0.15 };
        let first = [if dice.chance(single) { 1.0 } else { 0.0 }, 0.86, 0.74, 0.9, 0.0];
        let mut coded = [0; 5];
        for (i, code) in coded.iter_mut().enumerate() {
            *code = if dice.chance(first[i]) { 0 } else { dice.pick(&self.others[i]) };
        }
        // Better educated people have better paid occupations.
        let occupations = f64::from(CODED[4].2);
        let rank = 0.75 - 0.035 * education as f64 + 0.2 * dice.bell();
        coded[4] = (rank.clamp(0.0, 0.999) * occupations) as usize;
        let salary_class = class(dice, age, sex, education, coded[4]);
        SalaryPerson { age, sex, education, coded, salary_class }
    }
}

/// Returns the class of a salary: it rises with age until mid-life, and with education and
/// occupation; rarely it is uniform.
#[inline]
fn class(dice: &mut Dice, age: u32, sex: usize, education: usize, occupation: usize) -> u32 {
    if dice.chance(0.005) {
        return dice.between(1, CLASSES as u32);
    }
    let career = f64::from(age.min(52) - YOUNGEST) / 35.0;
    let skill = education as f64 / 16.0 + (50.0 - occupation as f64) / 50.0;
    let gap = if sex == ages::FEMALE { 0.9 } else { 1.0 };
    let level = (6.0 + 14.0 * career + 9.0 * skill) * gap + 4.0 * dice.bell();
    (level.clamp(1.0, CLASSES)) as u32
}

impl SalaryPerson {
    /// Writes every field but the identifier.
    #[inline]
    pub(crate) fn write(&self, line: &mut Line<'_>) {
        line.number(self.age.into());
        line.text(SEX[self.sex][0]);
        line.text(EDUCATION[self.education][0]);
        for (code, (_, letter, _, _)) in self.coded.iter().zip(CODED) {
            line.text(&coded(letter, *code as u16));
        }
        line.number(self.salary_class.into());
    }
}

/// Returns the text of a code.
pub(crate) fn coded(letter: char, code: u16) -> String {
    format!("{letter}{:02}", code + 1)
}
