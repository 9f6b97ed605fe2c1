//! Calendar dates: day → month → quarter → year → decade.

use super::{Extents, Taxonomy};
use crate::calendar::Date;
use crate::error::{Error, Result};
use crate::number::{date_of, parse_date};

/// A step of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// `2021-03`
    Month,
    /// `2021-Q1`
    Quarter,
    /// `2021`
    Year,
    /// `2020s`
    Decade,
}

impl Step {
    /// All steps, finest first, with their names in a job file.
    pub const ALL: [(&'static str, Step); 4] = [
        ("month", Step::Month),
        ("quarter", Step::Quarter),
        ("year", Step::Year),
        ("decade", Step::Decade),
    ];

    fn label(self, date: Date) -> String {
        match self {
            Step::Month => format!("{:04}-{:02}", date.year(), date.month()),
            Step::Quarter => format!("{:04}-Q{}", date.year(), (date.month() - 1) / 3 + 1),
            Step::Year => format!("{:04}", date.year()),
            Step::Decade => format!("{}s", date.year().div_euclid(10) * 10),
        }
    }

    /// First and last day of the step with this label, in days since 1970-01-01.
    pub fn extent_of(label: &str) -> Option<(f64, f64)> {
        let number = |text: &str| {
            text.parse::<i32>().ok().filter(|_| text.bytes().all(|b| b.is_ascii_digit()))
        };
        let (step, year, month) = match (label.strip_suffix('s'), label.split_once('-')) {
            (Some(decade), None) => (Step::Decade, number(decade)?, 1),
            (None, None) => (Step::Year, number(label)?, 1),
            (None, Some((year, rest))) => match rest.strip_prefix('Q') {
                Some(quarter) => {
                    (Step::Quarter, number(year)?, (number(quarter)?.clamp(1, 4) - 1) * 3 + 1)
                }
                None => (Step::Month, number(year)?, number(rest)?),
            },
            _ => return None,
        };
        let date = Date::new(year, u8::try_from(month).ok()?, 1)?;
        (step.label(date) == label).then(|| step.extent(date))
    }

    /// First and last day of the step that contains `date`, in days since 1970-01-01.
    fn extent(self, date: Date) -> (f64, f64) {
        let (first_month, months) = match self {
            Step::Month => (date.month(), 1),
            Step::Quarter => ((date.month() - 1) / 3 * 3 + 1, 3),
            Step::Year => (1, 12),
            Step::Decade => (1, 120),
        };
        let year = if self == Step::Decade { date.year().div_euclid(10) * 10 } else { date.year() };
        let first = Date::new(year, first_month, 1).unwrap_or(date);
        let next = i32::from(first_month) - 1 + months;
        let after = Date::new(year + next / 12, (next % 12) as u8 + 1, 1);
        // There is no date after the last year.
        let last = after.map_or(Date::of_days(i32::MAX).days(), |after| after.days() - 1);
        (f64::from(first.days()), f64::from(last))
    }
}

/// The steps of a column, finest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Dates {
    steps: Vec<Step>,
}

impl Dates {
    /// Checks that the steps ascend and that there is at least one.
    pub fn new(steps: Vec<Step>) -> Result<Dates> {
        if steps.is_empty() || steps.windows(2).any(|w| w[0] >= w[1]) {
            return Err(Error::job(
                "date levels must ascend: some of month, quarter, year, decade",
            ));
        }
        Ok(Dates { steps })
    }

    /// Month, quarter, year and decade.
    pub fn all() -> Dates {
        Dates { steps: Step::ALL.map(|(_, step)| step).to_vec() }
    }

    /// The steps, finest first.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Builds the tree over the dates in `values`.
    pub fn build(&self, column: &str, values: &[&str]) -> Result<Taxonomy> {
        let mut leaves = Vec::with_capacity(values.len());
        for value in values {
            let day = parse_date(value).ok_or_else(|| crate::spelling::no_date(column, None))?;
            leaves.push(day);
        }
        leaves.sort_unstable();
        leaves.dedup();
        let (Some(first), Some(last)) = (leaves.first(), leaves.last()) else {
            return Err(Error::input(format!("column `{column}` has no dates")));
        };
        let domain = (f64::from(*first), f64::from(*last));
        let mut paths = Vec::with_capacity(leaves.len());
        let mut extents = hashbrown::HashMap::new();
        for &day in &leaves {
            let date = date_of(day);
            let mut path = vec![date.to_string()];
            extents.insert(date.to_string(), (f64::from(day), f64::from(day)));
            for step in &self.steps {
                let (lo, hi) = step.extent(date);
                extents.insert(step.label(date), (lo.max(domain.0), hi.min(domain.1)));
                path.push(step.label(date));
            }
            path.push("*".to_owned());
            paths.push(path);
        }
        let taxonomy = Taxonomy::from_paths(&paths)?;
        let of_node = (0..taxonomy.node_count())
            .map(|i| {
                extents.get(taxonomy.label(crate::NodeId(i as u32))).copied().unwrap_or(domain)
            })
            .collect();
        Ok(taxonomy.with_extents(Extents { of_node, domain, integers: true }))
    }
}

/// The canonical label of a date and its day number.
pub(crate) fn leaf(text: &str) -> Option<(String, i32)> {
    parse_date(text).map(|day| (date_of(day).to_string(), day))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_a_first_and_last_day() {
        let days = |label: &str| {
            Step::extent_of(label).map(|(first, last)| {
                [first, last].map(|day| Date::of_days(day as i32)).map(|d| (d.year(), d.month()))
            })
        };
        assert_eq!(days("2021-03"), Some([(2021, 3), (2021, 3)]));
        assert_eq!(days("2021-Q4"), Some([(2021, 10), (2021, 12)]));
        assert_eq!(days("2021"), Some([(2021, 1), (2021, 12)]));
        assert_eq!(days("2020s"), Some([(2020, 1), (2029, 12)]));
        for none in [
            "2021-13",
            "2021-Q5",
            "2021-3",
            "21",
            "2021s",
            "+2021",
            "2021-03-04",
            "",
            "*",
            "{2021, 2022}",
        ] {
            assert_eq!(days(none), None, "{none}");
        }
    }

    #[test]
    fn days_are_generalized_to_decades() {
        let t = Dates::all();
        let t = t.build(
            "born",
            &["2021-03-05", "2021-03-31", "2021-02-01", "2021-12-24", "2029-01-01", "1999-01-01"],
        );
        let t = t.unwrap();
        let common = |a, b| t.label(t.common(t.code(a).unwrap(), t.code(b).unwrap())).to_owned();
        assert_eq!(common("2021-03-05", "2021-03-31"), "2021-03");
        assert_eq!(common("2021-02-01", "2021-03-31"), "2021-Q1");
        assert_eq!(common("2021-02-01", "2021-12-24"), "2021");
        assert_eq!(common("2021-02-01", "2029-01-01"), "2020s");
        assert_eq!(common("1999-01-01", "2029-01-01"), "*");
    }

    #[test]
    fn loss_is_measured_in_days() {
        let t = Dates::new(vec![Step::Month])
            .unwrap()
            .build("d", &["2021-01-01", "2021-01-31", "2021-12-31"])
            .unwrap();
        let january = t.node("2021-01").unwrap();
        assert_eq!(t.ncp(january), 30.0 / 364.0);
        assert!(Dates::new(vec![Step::Year, Step::Month]).is_err());
    }
}
