//! The vocabularies of the categorical columns, and their hierarchies.
//!
//! The generator takes its values from these paths, so every value has a path.

use std::fmt::Write;

use crate::table::Table;
use crate::{salaries, skewed};

/// Sex, indexed by [`crate::ages::FEMALE`] and [`crate::ages::MALE`].
pub(crate) const SEX: [[&str; 1]; 2] = [["female"], ["male"]];

pub(crate) const EDUCATION: [[&str; 3]; 17] = [
    ["none", "primary or less", "without diploma"],
    ["preschool", "primary or less", "without diploma"],
    ["grades 1-4", "primary or less", "without diploma"],
    ["grades 5-6", "primary or less", "without diploma"],
    ["grades 7-8", "lower secondary", "without diploma"],
    ["grade 9", "lower secondary", "without diploma"],
    ["grade 10", "upper secondary", "without diploma"],
    ["grade 11", "upper secondary", "without diploma"],
    ["grade 12", "upper secondary", "without diploma"],
    ["high school diploma", "secondary diploma", "with diploma"],
    ["some college", "short college", "with diploma"],
    ["vocational associate", "short college", "with diploma"],
    ["academic associate", "short college", "with diploma"],
    ["bachelor", "bachelor degree", "with degree"],
    ["master", "graduate degree", "with degree"],
    ["professional school", "graduate degree", "with degree"],
    ["doctorate", "graduate degree", "with degree"],
];
pub(crate) const SOME_COLLEGE: usize = 10;
pub(crate) const BACHELOR: usize = 13;

pub(crate) const MARITAL_STATUS: [[&str; 3]; 7] = [
    ["never married", "never married", "never had a spouse"],
    ["married", "couple", "has or had a spouse"],
    ["registered partner", "couple", "has or had a spouse"],
    ["spouse absent", "living apart", "has or had a spouse"],
    ["separated", "living apart", "has or had a spouse"],
    ["divorced", "formerly married", "has or had a spouse"],
    ["widowed", "formerly married", "has or had a spouse"],
];
pub(crate) const NEVER_MARRIED: usize = 0;
pub(crate) const MARRIED: usize = 1;
pub(crate) const PARTNER: usize = 2;
pub(crate) const WIDOWED: usize = 6;

pub(crate) const WORKCLASS: [[&str; 3]; 8] = [
    ["private company", "private sector", "paid work"],
    ["federal government", "public sector", "paid work"],
    ["state government", "public sector", "paid work"],
    ["local government", "public sector", "paid work"],
    ["self-employed", "own business", "paid work"],
    ["company owner", "own business", "paid work"],
    ["family worker", "unpaid", "no paid work"],
    ["not working", "not working", "no paid work"],
];
pub(crate) const FEDERAL: usize = 1;
pub(crate) const SELF_EMPLOYED: usize = 4;
pub(crate) const COMPANY_OWNER: usize = 5;
pub(crate) const FAMILY_WORKER: usize = 6;
pub(crate) const NOT_WORKING: usize = 7;

pub(crate) const OCCUPATION: [[&str; 3]; 16] = [
    ["management", "leading and academic", "desk"],
    ["science and engineering", "leading and academic", "desk"],
    ["teaching", "leading and academic", "desk"],
    ["health care", "leading and academic", "desk"],
    ["technician", "office and trade", "desk"],
    ["office clerk", "office and trade", "desk"],
    ["sales", "office and trade", "desk"],
    ["personal service", "services", "field"],
    ["security", "services", "field"],
    ["cleaning", "services", "field"],
    ["craft and repair", "manual", "field"],
    ["machine operation", "manual", "field"],
    ["transport", "manual", "field"],
    ["farming and fishing", "manual", "field"],
    ["armed forces", "services", "field"],
    ["none", "none", "none"],
];
pub(crate) const FARMING: usize = 13;
pub(crate) const ARMED_FORCES: usize = 14;
pub(crate) const NO_OCCUPATION: usize = 15;

pub(crate) const COUNTRY: [[&str; 3]; 41] = [
    ["United States", "Northern America", "Americas"],
    ["Canada", "Northern America", "Americas"],
    ["Mexico", "Central America", "Americas"],
    ["Guatemala", "Central America", "Americas"],
    ["El Salvador", "Central America", "Americas"],
    ["Honduras", "Central America", "Americas"],
    ["Nicaragua", "Central America", "Americas"],
    ["Cuba", "Caribbean", "Americas"],
    ["Dominican Republic", "Caribbean", "Americas"],
    ["Haiti", "Caribbean", "Americas"],
    ["Jamaica", "Caribbean", "Americas"],
    ["Trinidad and Tobago", "Caribbean", "Americas"],
    ["Colombia", "South America", "Americas"],
    ["Ecuador", "South America", "Americas"],
    ["Peru", "South America", "Americas"],
    ["Brazil", "South America", "Americas"],
    ["United Kingdom", "Western Europe", "Europe"],
    ["Ireland", "Western Europe", "Europe"],
    ["France", "Western Europe", "Europe"],
    ["Germany", "Western Europe", "Europe"],
    ["Italy", "Southern Europe", "Europe"],
    ["Portugal", "Southern Europe", "Europe"],
    ["Greece", "Southern Europe", "Europe"],
    ["Poland", "Eastern Europe", "Europe"],
    ["Ukraine", "Eastern Europe", "Europe"],
    ["Russia", "Eastern Europe", "Europe"],
    ["Romania", "Eastern Europe", "Europe"],
    ["China", "Eastern Asia", "Asia"],
    ["Taiwan", "Eastern Asia", "Asia"],
    ["Japan", "Eastern Asia", "Asia"],
    ["South Korea", "Eastern Asia", "Asia"],
    ["Philippines", "South-Eastern Asia", "Asia"],
    ["Vietnam", "South-Eastern Asia", "Asia"],
    ["Thailand", "South-Eastern Asia", "Asia"],
    ["Laos", "South-Eastern Asia", "Asia"],
    ["India", "Southern Asia", "Asia"],
    ["Pakistan", "Southern Asia", "Asia"],
    ["Iran", "Southern Asia", "Asia"],
    ["Nigeria", "Sub-Saharan Africa", "Africa"],
    ["Ethiopia", "Sub-Saharan Africa", "Africa"],
    ["Egypt", "Northern Africa", "Africa"],
];
/// The country of birth of most people.
pub(crate) const HOME: usize = 0;

pub(crate) const RACE: [[&str; 2]; 5] = [
    ["white", "white"],
    ["black", "black"],
    ["asian", "other groups"],
    ["indigenous", "other groups"],
    ["other", "other groups"],
];

pub(crate) const DISEASE: [[&str; 3]; 13] = [
    ["healthy", "healthy", "healthy"],
    ["influenza", "infection", "ill"],
    ["asthma", "lungs", "ill"],
    ["hypertension", "circulation", "ill"],
    ["diabetes", "metabolism", "ill"],
    ["arthritis", "joints", "ill"],
    ["depression", "mind", "ill"],
    ["heart disease", "circulation", "ill"],
    ["cancer", "tumor", "ill"],
    ["kidney disease", "metabolism", "ill"],
    ["dementia", "mind", "ill"],
    ["hepatitis", "infection", "ill"],
    ["HIV infection", "infection", "ill"],
];

/// Returns the generalization hierarchy of a categorical column.
///
/// The text has one line `value;level 1;...;*` for every value that the generator can write,
/// without a header and without the marker for missing values. Numeric columns, identifiers and
/// postal codes have no hierarchy. Columns of other tables have none either.
pub fn hierarchy(table: Table, column: &str) -> Option<String> {
    match (table, column) {
        (_, "sex") => Some(lines(&SEX)),
        (Table::Census, "education") => Some(lines(&EDUCATION)),
        (Table::Census, "marital_status") => Some(lines(&MARITAL_STATUS)),
        (Table::Census, "workclass") => Some(lines(&WORKCLASS)),
        (Table::Census, "occupation") => Some(lines(&OCCUPATION)),
        (Table::Census, "country") => Some(lines(&COUNTRY)),
        (Table::Census, "race") => Some(lines(&RACE)),
        (Table::Census, "disease") => Some(lines(&DISEASE)),
        (Table::Skewed, "occupation") => Some(codes()),
        (Table::Salaries, "education") => Some(lines(&EDUCATION)),
        (Table::Salaries, column) => neighbours(column),
        _ => None,
    }
}

fn lines<const LEVELS: usize>(paths: &[[&str; LEVELS]]) -> String {
    paths.iter().map(|path| path.join(";") + ";*\n").collect()
}

/// Occupation codes generalize by dropping their last digits.
fn codes() -> String {
    let mut text = String::new();
    for code in skewed::occupation_codes() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{code};{}x;{}xx;*", code / 10, code / 100);
    }
    text
}

/// Codes of the salaries table generalize to groups of neighbours.
fn neighbours(column: &str) -> Option<String> {
    let (_, letter, count, size) = *salaries::CODED.iter().find(|(name, ..)| *name == column)?;
    let line = |code: u16| {
        let from = code / size * size;
        let to = (from + size).min(count) - 1;
        let (code, from, to) = (
            salaries::coded(letter, code),
            salaries::coded(letter, from),
            salaries::coded(letter, to),
        );
        format!("{code};{from}-{to};*\n")
    };
    Some((0..count).map(line).collect())
}
