//! Dates of the proleptic Gregorian calendar, and the formats in which tables write them.

use crate::error::{Error, Result};

/// A calendar date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: i32,
    month: u8,
    day: u8,
}

impl Date {
    /// A date of the years 0 to 9999; `None` if it does not exist.
    pub fn new(year: i32, month: u8, day: u8) -> Option<Date> {
        let exists = (0..=9999).contains(&year) && (1..=12).contains(&month) && day >= 1;
        (exists && day <= days_of_month(year, month)).then_some(Date { year, month, day })
    }

    /// The year.
    pub fn year(self) -> i32 {
        self.year
    }

    /// The month, from 1.
    pub fn month(self) -> u8 {
        self.month
    }

    /// Days since 1970-01-01. Internally, years begin in March, so that the leap day is the last
    /// day of a year.
    pub fn days(self) -> i32 {
        // Days before a month, counted from March: (153 * month + 2) / 5.
        let month = (i32::from(self.month) + 9) % 12;
        let year = self.year - i32::from(self.month <= 2);
        let era = year.div_euclid(400);
        let of_era = year.rem_euclid(400);
        let of_year = (153 * month + 2) / 5 + i32::from(self.day) - 1;
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
    }

    /// The date of a number of days since 1970-01-01, clamped to the years 0 to 9999.
    pub fn of_days(days: i32) -> Date {
        let (first, last) =
            (Date { year: 0, month: 1, day: 1 }, Date { year: 9999, month: 12, day: 31 });
        let days = days.clamp(first.days(), last.days()) + 719_468;
        let of_era = days.rem_euclid(146_097);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month = (5 * of_year + 2) / 153;
        let day = (of_year - (153 * month + 2) / 5 + 1) as u8;
        let month = (if month < 10 { month + 3 } else { month - 9 }) as u8;
        let year = year_of_era + days.div_euclid(146_097) * 400 + i32::from(month <= 2);
        Date { year, month, day }
    }
}

impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

fn days_of_month(year: i32, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// The order of the parts of a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    YearMonthDay,
    DayMonthYear,
    MonthDayYear,
}

/// The format of a column's dates: `DD.MM.YYYY`, `MM/DD/YYYY`, `YYYY-MM-DD`, `DDMONYYYY`. A time of
/// day after the date, with or without a zone, is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateFormat {
    order: Order,
    /// The separator between the parts; `None` if they have fixed widths.
    mark: Option<char>,
    /// Whether the month is a name such as `Mar`.
    named: bool,
}

const MARKS: [char; 4] = ['-', '/', '.', ' '];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

impl DateFormat {
    /// The ISO format, `YYYY-MM-DD`, in which dates are published.
    pub const ISO: DateFormat =
        DateFormat { order: Order::YearMonthDay, mark: Some('-'), named: false };

    /// The ISO format without separators, `YYYYMMDD`.
    pub const COMPACT: DateFormat = DateFormat { mark: None, ..DateFormat::ISO };

    /// Parses a format such as `DD.MM.YYYY`. A pattern of a time of day after a blank or a `T` is
    /// ignored.
    pub fn parse(text: &str) -> Result<DateFormat> {
        let refuse = || {
            Error::job(format!("`{text}` is not a date format")).help(
                "write it as DD.MM.YYYY, MM/DD/YYYY, YYYY-MM-DD, YYYYMMDD or DD-MON-YYYY; times \
                 after the date need not be mentioned",
            )
        };
        let upper = text.trim().to_uppercase();
        let date = match upper.find("YYYY").map(|at| at + 4) {
            // A date that ends with its year may be followed by the pattern of a time.
            Some(end) if upper.starts_with('D') || upper.starts_with('M') => &upper[..end],
            _ => upper.split(['T', ' ']).next().unwrap_or_default(),
        };
        let mark = date.chars().find(|c| !c.is_ascii_alphabetic());
        if mark.is_some_and(|mark| !MARKS.contains(&mark)) {
            return Err(refuse());
        }
        let plain: String = date.chars().filter(|c| Some(*c) != mark).collect();
        let marks = date.chars().count() - plain.chars().count();
        let (order, named) = match plain.as_str() {
            "YYYYMMDD" => (Order::YearMonthDay, false),
            "DDMMYYYY" => (Order::DayMonthYear, false),
            "MMDDYYYY" => (Order::MonthDayYear, false),
            "DDMONYYYY" => (Order::DayMonthYear, true),
            "MONDDYYYY" => (Order::MonthDayYear, true),
            _ => return Err(refuse()),
        };
        if marks != if mark.is_some() { 2 } else { 0 } {
            return Err(refuse());
        }
        Ok(DateFormat { order, mark, named })
    }

    /// Parses a date in this format. A time of day after the date is ignored.
    pub fn read(self, text: &str) -> Option<Date> {
        let text = text.trim();
        let (date, time) = self.split(text)?;
        if !is_time(time) {
            return None;
        }
        let number = |part: &str, most: usize| {
            let digits =
                !part.is_empty() && part.len() <= most && part.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| part.parse::<u16>().ok()).flatten()
        };
        let [first, second, third] = date;
        let (year, month, day) = match self.order {
            Order::YearMonthDay => (first, second, third),
            Order::DayMonthYear => (third, second, first),
            Order::MonthDayYear => (third, first, second),
        };
        let year = number(year, 4).filter(|_| year.len() == 4)?;
        let month =
            if self.named { month_named(month)? } else { u8::try_from(number(month, 2)?).ok()? };
        Date::new(i32::from(year), month, u8::try_from(number(day.trim_end_matches(','), 2)?).ok()?)
    }

    /// Splits a text into the three parts of the date and the rest.
    fn split(self, text: &str) -> Option<([&str; 3], &str)> {
        let Some(mark) = self.mark else {
            let widths = match (self.order, self.named) {
                (Order::YearMonthDay, _) => [4, 2, 2],
                (Order::DayMonthYear, true) => [2, 3, 4],
                (Order::MonthDayYear, true) => [3, 2, 4],
                (_, false) => [2, 2, 4],
            };
            let (first, rest) = text.split_at_checked(widths[0])?;
            let (second, rest) = rest.split_at_checked(widths[1])?;
            let (third, rest) = rest.split_at_checked(widths[2])?;
            return Some(([first, second, third], rest));
        };
        let (first, rest) = text.split_once(mark)?;
        let (second, rest) = rest.split_once(mark)?;
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        Some(([first, second, &rest[..end]], &rest[end..]))
    }

    /// Detects the format of these texts, if they are dates.
    pub fn sniff<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Sniffed {
        let Some(first) = texts.clone().next() else { return Sniffed::NoDates };
        // A column has one format, so the formats that fit the first text are the only candidates.
        let mut fitting =
            Self::candidates().filter(|format| format.read(first).is_some()).collect::<Vec<_>>();
        fitting.retain(|format| texts.clone().all(|text| format.read(text).is_some()));
        match fitting[..] {
            [] => Sniffed::NoDates,
            [format] => Sniffed::Written(format),
            // Dates with dots have the day first.
            [format, ..] if format.mark == Some('.') => Sniffed::Written(format),
            [format, ..] => {
                let mut days =
                    fitting.iter().map(|f| texts.clone().map(|t| f.read(t)).collect::<Vec<_>>());
                let same = days.next().is_some_and(|one| days.all(|other| other == one));
                if same { Sniffed::Written(format) } else { Sniffed::Ambiguous(fitting) }
            }
        }
    }

    /// The formats that are detected, day first before month first. Digits without separators could
    /// be any number; they are dates only if the format is given.
    fn candidates() -> impl Iterator<Item = DateFormat> {
        use Order::{DayMonthYear, MonthDayYear, YearMonthDay};
        let orders = [(YearMonthDay, false), (DayMonthYear, false), (MonthDayYear, false)];
        let marked = orders.into_iter().flat_map(|(order, named)| {
            ['-', '/', '.'].map(|mark| DateFormat { order, mark: Some(mark), named })
        });
        let named = [DayMonthYear, MonthDayYear].into_iter().flat_map(|order| {
            [Some('-'), Some(' '), Some('/'), Some('.'), None].map(|mark| DateFormat {
                order,
                mark,
                named: true,
            })
        });
        marked.chain(named)
    }
}

impl std::fmt::Display for DateFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let month = if self.named { "MON" } else { "MM" };
        let parts = match self.order {
            Order::YearMonthDay => ["YYYY", month, "DD"],
            Order::DayMonthYear => ["DD", month, "YYYY"],
            Order::MonthDayYear => [month, "DD", "YYYY"],
        };
        write!(f, "{}", parts.join(&self.mark.map(String::from).unwrap_or_default()))
    }
}

/// The detected format of a column's dates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sniffed {
    /// Some texts are not dates.
    NoDates,
    /// All texts have this format.
    Written(DateFormat),
    /// Each of these formats fits all texts, and they disagree about the dates.
    Ambiguous(Vec<DateFormat>),
}

/// The number of a month by its English name or the first three letters of it.
fn month_named(text: &str) -> Option<u8> {
    let text = text.trim_end_matches('.').to_lowercase();
    let named = |month: &&str| **month == text || (text.len() == 3 && month.starts_with(&text));
    MONTHS.iter().position(named).map(|at| at as u8 + 1)
}

/// Whether a text is empty or a time of day with or without a zone: `T10:00:00Z`, ` 23:18`, ` 9:05
/// PM`.
fn is_time(text: &str) -> bool {
    if text.is_empty() || text == "Z" {
        return true;
    }
    let Some(text) = text.strip_prefix(['T', 't', ' ', ',']) else { return false };
    let text = text.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 6 || digits == 4 {
        return text[digits..].is_empty() || text[digits..].starts_with(['Z', '+', '-', '.']);
    }
    let (hour, rest) = text.split_at(digits);
    let minutes = rest.strip_prefix(':').and_then(|rest| rest.get(..2));
    let sixty = minutes.is_some_and(|m| m.parse::<u8>().is_ok_and(|m| m < 60));
    let hour = (1..=2).contains(&digits) && hour.parse::<u8>().is_ok_and(|hour| hour <= 24);
    hour && sixty
        && rest[3..].chars().all(|c| {
            c.is_ascii_alphanumeric()
                || [':', '.', ',', '+', '-', ' ', '[', ']', '/', '_'].contains(&c)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slow twin: day after day.
    #[test]
    fn consecutive_dates_have_consecutive_days() {
        let mut date = Date { year: 1599, month: 12, day: 31 };
        for days in date.days()..(Date { year: 2404, month: 3, day: 2 }).days() {
            assert_eq!((date.days(), Date::of_days(days)), (days, date));
            let Date { year, month, day } = date;
            date = Date::new(year, month, day + 1)
                .or_else(|| Date::new(year, month + 1, 1))
                .unwrap_or(Date { year: year + 1, month: 1, day: 1 });
        }
        assert_eq!(Date::new(1970, 1, 1).unwrap().days(), 0);
        assert_eq!(Date::of_days(i32::MAX).to_string(), "9999-12-31");
        assert_eq!(Date::new(2021, 2, 29), None);
        assert_eq!(Date::new(1900, 2, 29), None);
    }

    fn sniffed(texts: &[&str]) -> String {
        match DateFormat::sniff(texts.iter().copied()) {
            Sniffed::NoDates => "no dates".to_owned(),
            Sniffed::Written(format) => format.to_string(),
            Sniffed::Ambiguous(formats) => {
                formats.iter().map(DateFormat::to_string).collect::<Vec<_>>().join(" or ")
            }
        }
    }

    #[test]
    fn the_format_is_detected_from_the_whole_column() {
        for (texts, expected) in [
            (&["2021-03-05", "2021-03-06"][..], "YYYY-MM-DD"),
            (&["2023-03-04T10:00:00Z", "2023-03-04T10:00:00+02:00"], "YYYY-MM-DD"),
            (&["2023-03-04 10:00:00.123", "2023-03-04"], "YYYY-MM-DD"),
            (&["12.09.1972", "1.2.2003"], "DD.MM.YYYY"),
            (&["05.04.2023 23:18", "06.04.2023 0:05"], "DD.MM.YYYY"),
            (&["09/12/1972", "13/12/1972"], "DD/MM/YYYY"),
            (&["09/12/1972", "12/13/1972 9:05 PM"], "MM/DD/YYYY"),
            (&["09/12/1972", "01/02/2003"], "DD/MM/YYYY or MM/DD/YYYY"),
            (&["09/09/1972", "01/01/2003"], "DD/MM/YYYY"),
            (&["13/12/1972", "12/13/1972"], "no dates"),
            (&["5-Mar-2021", "06-MAR-2021"], "DD-MON-YYYY"),
            (&["05MAR2021"], "DDMONYYYY"),
            (&["Mar 5, 2021", "April 15, 2021"], "MON DD YYYY"),
            (&["2021/3/5"], "YYYY/MM/DD"),
            (&["20210305"], "no dates"),
            (&["1.2.3", "192.168.1.1"], "no dates"),
            (&["2021-03-05x"], "no dates"),
            (&["31.02.2021"], "no dates"),
            (&[], "no dates"),
        ] {
            assert_eq!(sniffed(texts), expected, "{texts:?}");
        }
    }

    #[test]
    fn formats_are_parsed_and_printed() {
        for (format, text, date) in [
            ("DD.MM.YYYY", "12.09.1972", "1972-09-12"),
            ("mm/dd/yyyy", "09/12/1972", "1972-09-12"),
            ("DD/MM/YYYY hh:mm", "09/12/1972 10:00", "1972-12-09"),
            ("YYYY-MM-DDThh:mm:ssZ", "1972-12-09T10:00:00Z", "1972-12-09"),
            ("YYYYMMDD", "19721209", "1972-12-09"),
            ("DDMONYYYY", "09dec1972", "1972-12-09"),
        ] {
            let format =
                DateFormat::parse(format).unwrap_or_else(|e| panic!("{format}: {}", e.message()));
            assert_eq!(format.read(text).map(|d| d.to_string()).as_deref(), Some(date), "{format}");
            assert_eq!(DateFormat::parse(&format.to_string()), Ok(format));
        }
        for bad in ["", "YYYY", "DD.MM.YY", "DD-MM/YYYY", "DD_MM_YYYY", "%d.%m.%Y"] {
            assert!(DateFormat::parse(bad).is_err(), "{bad}");
        }
    }
}
