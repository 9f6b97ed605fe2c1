//! The census-like table: residence, work and health.

mod life;
mod place;
mod work;

use self::life::Life;
use self::place::Place;
use self::work::{Job, Work};
use crate::draw::Dice;
use crate::hierarchies::{
    COUNTRY, DISEASE, EDUCATION, MARITAL_STATUS, OCCUPATION, RACE, SEX, WORKCLASS,
};
use crate::line::Line;
use crate::table::{Column, Role};

/// The marker of a missing answer in a category column.
const UNKNOWN: &str = "?";

pub(crate) const COLUMNS: [Column; 14] = {
    use Role::{Identifier, Quasi, Sensitive};
    const fn column(name: &'static str, role: Role, about: &'static str) -> Column {
        Column { name, role, about }
    }
    [
        column("id", Identifier, "Number of the person, such as P00000001."),
        column(
            "age",
            Quasi,
            "Age in years, 0 to 105, slightly heaped on multiples of five and ten.",
        ),
        column("sex", Quasi, "Either female or male."),
        column(
            "zip",
            Quasi,
            "Postal code of five digits, some with a leading zero; few hold most people.",
        ),
        column("education", Quasi, "Highest level of education, or the school year of a child."),
        column("marital_status", Quasi, "One of seven states, from never married to widowed."),
        column("workclass", Quasi, "Kind of employer; `?` where the answer is missing."),
        column(
            "occupation",
            Sensitive,
            "Field of work; `?` where missing, mostly along with workclass.",
        ),
        column("country", Quasi, "Country of birth; `?` where missing."),
        column("race", Quasi, "One of five groups."),
        column("household_size", Quasi, "Persons in the household, 1 to 12."),
        column("hours", Quasi, "Hours worked per week, 0 to 99, heaped at 40."),
        column(
            "income",
            Quasi,
            "Yearly income, 0 to 2000000, heaped and with outliers; empty where missing.",
        ),
        column("disease", Sensitive, "Main diagnosis, for most people healthy."),
    ]
};

/// The distributions of the table.
pub(crate) struct Census {
    life: Life,
    place: Place,
    work: Work,
}

/// One person; categories are indices into their vocabularies.
pub(crate) struct CensusPerson<'a> {
    age: u32,
    sex: usize,
    zip: &'a str,
    education: usize,
    marital_status: usize,
    job: Job,
    country: usize,
    race: usize,
    household_size: u32,
    income: u32,
    disease: usize,
    missing: Missing,
}

/// The missing answers of a person.
struct Missing {
    workclass: bool,
    occupation: bool,
    country: bool,
    income: bool,
}

impl Census {
    pub(crate) fn new() -> Self {
        Self { life: Life::new(), place: Place::new(), work: Work::new() }
    }

    #[inline]
    pub(crate) fn draw(&self, dice: &mut Dice) -> CensusPerson<'_> {
        let (age, sex) = self.life.age_and_sex(dice);
        let education = self.life.education(dice, age);
        let marital_status = self.life.marital_status(dice, age, sex);
        let home = self.place.home(dice);
        let country = self.place.country(dice, &home, age);
        let job = self.work.job(dice, age, sex, education);
        CensusPerson {
            age,
            sex,
            zip: home.zip,
            education,
            marital_status,
            country,
            race: self.place.race(dice, &home, country),
            household_size: self.life.household_size(dice, age, marital_status),
            income: self.work.income(dice, age, sex, education, &job),
            disease: self.life.disease(dice, age),
            missing: Missing::draw(dice, age),
            job,
        }
    }
}

impl Missing {
    /// The young and the old answer less about their work than others, and children have no
    /// answers.
    #[inline]
    fn draw(dice: &mut Dice, age: u32) -> Self {
        let silent = match age {
            0..16 => 0.0,
            16..25 | 65.. => 0.032,
            _ => 0.019,
        };
        let workclass = dice.chance(silent);
        Self {
            workclass,
            occupation: workclass || dice.chance(silent / 20.0),
            country: dice.chance(0.01),
            income: dice.chance(0.005),
        }
    }
}

impl CensusPerson<'_> {
    /// Writes every field but the identifier.
    #[inline]
    pub(crate) fn write(&self, line: &mut Line<'_>) {
        let known = |text: &'static str, missing: bool| if missing { UNKNOWN } else { text };
        line.number(self.age.into());
        line.text(SEX[self.sex][0]);
        line.text(self.zip);
        line.text(EDUCATION[self.education][0]);
        line.text(MARITAL_STATUS[self.marital_status][0]);
        line.text(known(WORKCLASS[self.job.workclass][0], self.missing.workclass));
        line.text(known(OCCUPATION[self.job.occupation][0], self.missing.occupation));
        line.text(known(COUNTRY[self.country][0], self.missing.country));
        line.text(RACE[self.race][0]);
        line.number(self.household_size.into());
        line.number(self.job.hours.into());
        if self.missing.income {
            line.text("");
        } else {
            line.number(self.income.into());
        }
        line.text(DISEASE[self.disease][0]);
    }
}
