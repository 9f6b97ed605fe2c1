//! Sampling weights: the number of people a record represents.
//!
//! A sampling weight is stored as an integer number of millionths, rounded down. Sums are therefore
//! exact and independent of the order of records and threads.

use crate::exact::Decimal;
use crate::number::parse_number;

/// Fixed-point scale: units per person.
pub const MILLIONTHS: u64 = 1_000_000;

/// The greatest sampling weight that is accepted.
const MOST: f64 = 1e10;

/// Parses a sampling weight and returns it in millionths. `None` if it is not a number, less than
/// 1, or greater than the number of people.
pub fn read_weight(text: &str) -> Option<u64> {
    let weight = parse_number(text.trim())?.as_f64();
    (1.0..=MOST).contains(&weight).then(|| Decimal::of(weight).share_of(MILLIONTHS))
}

/// Formats the mean sampling weight of `records` records: at most six decimals, rounded down.
pub fn mean_text(represented: u64, records: u64) -> String {
    let mean = represented / records.max(1);
    let text = format!("{}.{:06}", mean / MILLIONTHS, mean % MILLIONTHS);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_read_exactly_and_other_texts_refused() {
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
        assert_eq!(
            (mean_text(10_000_000, 4), mean_text(9_000_000, 3)),
            ("2.5".into(), "3".to_owned())
        );
        assert_eq!(mean_text(10_000_000, 3), "3.333333");
    }
}
