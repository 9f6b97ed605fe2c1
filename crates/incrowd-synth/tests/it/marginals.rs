//! Statistical properties of the tables: shares, skew, heaping, outliers and dependence.
//!
//! With 100,000 rows a share has a standard error of at most 0.16 percent, so the tolerances
//! below hold for practically any seed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use incrowd_synth::{Synth, Table};

static CENSUS: LazyLock<Rows> = LazyLock::new(|| Rows::new(Table::Census));
static SKEWED: LazyLock<Rows> = LazyLock::new(|| Rows::new(Table::Skewed));

struct Rows {
    table: Table,
    records: Vec<Vec<String>>,
}

impl Rows {
    fn new(table: Table) -> Self {
        Self { table, records: Synth::new(table, 100_000, 21).records().collect() }
    }

    fn index(&self, column: &str) -> usize {
        let found = self.table.columns().iter().position(|known| known.name == column);
        found.expect("the test names a column of the table")
    }

    fn texts(&self, column: &str) -> Vec<&str> {
        let index = self.index(column);
        self.records.iter().map(|record| record[index].as_str()).collect()
    }

    /// The numbers of a column, without missing values.
    fn numbers(&self, column: &str) -> Vec<u32> {
        let present = self.texts(column).into_iter().filter(|text| !text.is_empty());
        present.map(|text| text.parse().expect("numeric columns hold numbers")).collect()
    }

    /// The sizes of the groups of rows that agree in all of `columns`, largest first.
    fn groups(&self, columns: &[&str], rows: usize) -> Vec<usize> {
        let indices: Vec<usize> = columns.iter().map(|column| self.index(column)).collect();
        let mut groups = BTreeMap::new();
        for record in &self.records[..rows] {
            let key: Vec<&str> = indices.iter().map(|&index| record[index].as_str()).collect();
            *groups.entry(key).or_insert(0) += 1;
        }
        let mut sizes: Vec<usize> = groups.into_values().collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes
    }
}

fn share<T>(values: &[T], test: impl Fn(&T) -> bool) -> f64 {
    values.iter().filter(|value| test(value)).count() as f64 / values.len() as f64
}

/// The share of `test` among the values whose age is in `ages`.
fn share_at(
    rows: &Rows,
    column: &str,
    ages: RangeInclusive<u32>,
    test: impl Fn(&str) -> bool,
) -> f64 {
    let values: Vec<&str> = rows
        .numbers("age")
        .into_iter()
        .zip(rows.texts(column))
        .filter_map(|(age, value)| ages.contains(&age).then_some(value))
        .collect();
    share(&values, |value| test(value))
}

#[track_caller]
fn near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual} is not {expected} ± {tolerance}");
}

#[track_caller]
fn within(values: &[u32], range: RangeInclusive<u32>) {
    assert!(values.iter().all(|value| range.contains(value)), "outside {range:?}");
}

#[test]
fn numbers_stay_in_their_ranges() {
    within(&CENSUS.numbers("age"), 0..=105);
    within(&CENSUS.numbers("household_size"), 1..=12);
    within(&CENSUS.numbers("hours"), 0..=99);
    within(&CENSUS.numbers("income"), 0..=2_000_000);
    within(&SKEWED.numbers("age"), 0..=100);
    within(&SKEWED.numbers("income"), 0..=1_000_000);
    within(&SKEWED.numbers("family_size"), 1..=15);
    within(&SKEWED.numbers("education_years"), 0..=20);
    within(&SKEWED.numbers("rent"), 0..=20_000);
}

#[test]
fn identifiers_are_unique() {
    for rows in [&CENSUS, &SKEWED] {
        let ids: BTreeSet<&str> = rows.texts("id").into_iter().collect();
        assert_eq!(ids.len(), rows.records.len());
        assert!(ids.contains("P00000001") && ids.contains("P00100000"));
    }
}

#[test]
fn missing_values_are_as_announced() {
    let (workclass, occupation) = (CENSUS.texts("workclass"), CENSUS.texts("occupation"));
    near(share(&workclass, |&value| value == "?"), 0.019, 0.003);
    near(share(&occupation, |&value| value == "?"), 0.020, 0.003);
    let both = workclass.iter().zip(&occupation);
    assert!(both.clone().all(|(&class, &work)| class != "?" || work == "?"));
    assert!(both.clone().any(|(&class, &work)| class != "?" && work == "?"));
    near(share(&CENSUS.texts("country"), |&value| value == "?"), 0.01, 0.002);
    near(share(&CENSUS.texts("income"), |value| value.is_empty()), 0.005, 0.0015);
    for name in
        ["id", "age", "sex", "zip", "education", "marital_status", "race", "hours", "disease"]
    {
        assert!(CENSUS.texts(name).iter().all(|value| !matches!(*value, "" | "?")), "{name}");
    }
    assert!(SKEWED.records.iter().flatten().all(|value| !value.is_empty() && value != "?"));
}

#[test]
fn incomes_are_zero_heaped_and_run_far_out() {
    for (rows, zeros, thousands, rich) in
        [(&CENSUS, 0.355, 0.61, 1_000_000), (&SKEWED, 0.415, 0.80, 500_000)]
    {
        let incomes = rows.numbers("income");
        near(share(&incomes, |&income| income == 0), zeros, 0.02);
        let mut earned: Vec<u32> = incomes.into_iter().filter(|&income| income > 0).collect();
        near(share(&earned, |&income| income % 1000 == 0), thousands, 0.02);
        earned.sort_unstable();
        near(f64::from(earned[earned.len() / 2]), 26_000.0, 3_000.0);
        let outliers = share(&earned, |&income| income > rich);
        assert!(outliers > 0.0 && outliers < 0.002, "{outliers}");
    }
}

#[test]
fn other_numbers_are_heaped() {
    let hours = CENSUS.numbers("hours");
    near(share(&hours, |&hours| hours == 0), 0.53, 0.03);
    near(share(&hours, |&hours| hours == 40), 0.22, 0.02);
    let adults: Vec<u32> =
        CENSUS.numbers("age").into_iter().filter(|age| (25..75).contains(age)).collect();
    // Without heaping a tenth of these ages would end in zero and a fifth in zero or five.
    near(share(&adults, |age| age % 10 == 0), 0.135, 0.01);
    near(share(&adults, |age| age % 5 == 0), 0.255, 0.015);
    let rents = SKEWED.numbers("rent");
    near(share(&rents, |&rent| rent == 0), 0.63, 0.02);
    let paid: Vec<u32> = rents.into_iter().filter(|&rent| rent > 0).collect();
    assert!(share(&paid, |rent| rent % 50 == 0) > 0.5);
}

#[test]
fn few_zips_hold_most_people() {
    let sizes = CENSUS.groups(&["zip"], 100_000);
    assert_eq!(sizes.len(), 900);
    // Zipf's law gives the first nine and the first ninety of the ranks these shares.
    near(sizes[..9].iter().sum::<usize>() as f64 / 1e5, 0.155, 0.01);
    near(sizes[..90].iter().sum::<usize>() as f64 / 1e5, 0.53, 0.02);
    let zips = CENSUS.texts("zip");
    assert!(
        zips.iter().all(|zip| zip.len() == 5 && zip.bytes().all(|digit| digit.is_ascii_digit()))
    );
    assert!(share(&zips, |zip| zip.starts_with('0')) > 0.05);
}

#[test]
fn few_occupation_codes_hold_most_people() {
    let sizes = SKEWED.groups(&["occupation"], 100_000);
    assert_eq!(sizes.len(), 504);
    assert!(sizes[0] < 4_000 && sizes[..50].iter().sum::<usize>() > 40_000);
}

#[test]
fn age_decides_on_marriage_work_and_health() {
    assert_eq!(
        share_at(&CENSUS, "marital_status", 0..=15, |status| status == "never married"),
        1.0
    );
    near(share_at(&CENSUS, "marital_status", 16..=24, |status| status == "married"), 0.07, 0.03);
    near(share_at(&CENSUS, "marital_status", 35..=64, |status| status == "married"), 0.59, 0.03);
    assert!(share_at(&CENSUS, "marital_status", 80..=105, |status| status == "widowed") > 0.35);
    assert_eq!(share_at(&CENSUS, "occupation", 0..=15, |work| work == "none"), 1.0);
    assert_eq!(share_at(&CENSUS, "education", 0..=17, |level| level == "bachelor"), 0.0);
    near(share_at(&CENSUS, "education", 25..=39, |level| level == "bachelor"), 0.24, 0.02);
    near(share(&CENSUS.texts("disease"), |&disease| disease == "healthy"), 0.66, 0.02);
    assert!(share_at(&CENSUS, "disease", 0..=39, |disease| disease == "healthy") > 0.75);
    assert!(share_at(&CENSUS, "disease", 75..=105, |disease| disease == "healthy") < 0.35);
}

#[test]
fn region_decides_on_the_country_of_birth() {
    let born = |country: &str, digits: &[char]| {
        let zips = CENSUS.texts("zip");
        let residents =
            zips.iter().zip(CENSUS.texts("country")).filter(|(zip, _)| zip.starts_with(digits));
        let countries: Vec<&str> = residents.map(|(_, country)| country).collect();
        share(&countries, |&value| value == country)
    };
    near(share(&CENSUS.texts("country"), |&country| country == "United States"), 0.888, 0.01);
    assert!(born("Mexico", &['8', '9']) > 3.0 * born("Mexico", &['0', '1']));
    assert!(
        born("Dominican Republic", &['0', '1']) > 10.0 * born("Dominican Republic", &['8', '9'])
    );
}

#[test]
fn most_people_are_unique() {
    let columns = ["age", "sex", "zip", "education", "marital_status", "country"];
    let groups = CENSUS.groups(&columns, 10_000);
    assert!(groups.iter().filter(|&&size| size == 1).count() > 8_000);
    let columns = ["age", "income", "family_size", "education_years", "rent", "sex"];
    let groups = SKEWED.groups(&columns, 10_000);
    assert!(groups.iter().filter(|&&size| size == 1).count() > 6_000);
}

/// The domains of the census extract that the table imitates.
#[test]
fn salaries_have_the_stated_domains() {
    let rows = Rows::new(Table::Salaries);
    let distinct = |column: &str| rows.texts(column).into_iter().collect::<BTreeSet<_>>().len();
    let columns = [
        "age",
        "sex",
        "education",
        "marital",
        "race",
        "workclass",
        "country",
        "occupation",
        "salary_class",
    ];
    assert_eq!(columns.map(distinct), [78, 2, 17, 6, 9, 10, 83, 50, 50]);
    within(&rows.numbers("age"), 17..=94);
    within(&rows.numbers("salary_class"), 1..=50);
    // Few young people earn like old ones.
    let high =
        |ages| share_at(&rows, "salary_class", ages, |class| class.parse::<u32>().unwrap() >= 30);
    assert!(high(17..=20) < 0.01 && high(45..=60) > 0.1, "{} {}", high(17..=20), high(45..=60));
}
