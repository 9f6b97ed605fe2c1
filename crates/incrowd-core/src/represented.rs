//! How many people records stand for, where a table is a sample with weights.
//!
//! A weight is kept as a whole number of millionths, what is smaller cut off, so that sums are exact and depend neither on the order
//! of the records nor on threads.

use crate::exact::Decimal;
use crate::number::parse_number;

/// So many units are one person.
pub const MILLIONTHS: u64 = 1_000_000;

/// No record stands for more people than this.
const MOST: f64 = 1e10;

/// A sampling weight in millionths; `None` if it is no number of at least 1, or more than there are people.
pub fn read_weight(text: &str) -> Option<u64> {
    let weight = parse_number(text.trim())?.as_f64();
    (1.0..=MOST).contains(&weight).then(|| Decimal::of(weight).share_of(MILLIONTHS))
}

/// A mean of so many records as it is published: at most six decimals, the last one cut off.
pub fn mean_text(represented: u64, records: u64) -> String {
    let mean = represented / records.max(1);
    let text = format!("{}.{:06}", mean / MILLIONTHS, mean % MILLIONTHS);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_exactly_and_nonsense_is_not() {
        for (text, micro) in [
            ("1", 1_000_000),
            ("102.1", 102_100_000),
            (" 3.3333333 ", 3_333_333),
            ("1e3", 1_000_000_000),
            ("28523", 28_523_000_000),
        ] {
            assert_eq!(read_weight(text), Some(micro), "{text}");
        }
        for text in ["", "0", "0.999", "-5", "many", "NaN", "inf", "1e11"] {
            assert_eq!(read_weight(text), None, "{text}");
        }
        assert_eq!((mean_text(10_000_000, 4), mean_text(9_000_000, 3)), ("2.5".into(), "3".to_owned()));
        assert_eq!(mean_text(10_000_000, 3), "3.333333");
    }
}
