//! Exact comparisons: decisions about people use integers or are rounded to the strict side.
//!
//! A parameter such as `0.3` is the decimal number three tenths, not the nearest binary fraction.
//! Three records of ten are therefore at most 0.3 of them.

use std::cmp::Ordering;

/// A non-negative decimal number: `digits / scale`, the scale a power of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    digits: u64,
    scale: u64,
}

/// Decimal places after this one are cut off.
const PLACES: usize = 17;

impl Decimal {
    /// The shortest decimal that parses as `x`: the number in the job file. Places after the
    /// seventeenth are cut off; too large numbers become the greatest possible one. Negative
    /// numbers and NaN become 0.
    pub fn of(x: f64) -> Decimal {
        if x.is_nan() || x <= 0.0 {
            return Decimal { digits: 0, scale: 1 };
        }
        let text = format!("{x}");
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let mut fraction = fraction.get(..PLACES).unwrap_or(fraction);
        // Drop decimal places until all digits together fit into 64 bits.
        loop {
            match format!("{whole}{fraction}").parse::<u64>() {
                Ok(digits) => return Decimal { digits, scale: 10u64.pow(fraction.len() as u32) },
                Err(_) if fraction.is_empty() => return Decimal { digits: u64::MAX, scale: 1 },
                Err(_) => fraction = &fraction[..fraction.len() - 1],
            }
        }
    }

    /// Numerator and denominator.
    pub(crate) fn as_fraction(self) -> (u64, u64) {
        (self.digits, self.scale)
    }

    /// The decimal times `whole`, rounded down.
    pub fn share_of(self, whole: u64) -> u64 {
        let share = u128::from(self.digits) * u128::from(whole) / u128::from(self.scale);
        u64::try_from(share).unwrap_or(u64::MAX)
    }

    /// Compares `part / whole` with the decimal, exactly. `whole` must not be 0.
    pub fn cmp_fraction(self, part: u128, whole: u128) -> Ordering {
        wide(part, self.scale).cmp(&wide(whole, self.digits))
    }

    /// Whether `part / whole` is at most the decimal.
    pub fn at_most(self, part: u128, whole: u128) -> bool {
        self.cmp_fraction(part, whole) != Ordering::Greater
    }

    /// Whether `part / whole` is less than the decimal.
    pub fn less(self, part: u128, whole: u128) -> bool {
        self.cmp_fraction(part, whole) == Ordering::Less
    }

    /// Whether `part / whole` is at least the decimal.
    pub fn at_least(self, part: u128, whole: u128) -> bool {
        self.cmp_fraction(part, whole) != Ordering::Less
    }
}

/// A 192-bit product: the high 128 bits and the low 64 bits.
fn wide(a: u128, b: u64) -> (u128, u64) {
    let b = u128::from(b);
    let low = (a & u128::from(u64::MAX)) * b;
    let high = (a >> 64) * b + (low >> 64);
    (high, low as u64)
}

/// A lower bound of the exact value of `x`, if `x` was computed with a few roundings and one
/// logarithm or exponential.
pub fn lower(x: f64) -> f64 {
    x - x.abs() * SLACK
}

/// An upper bound of the exact value of `x`, under the same conditions as [`lower`].
pub fn upper(x: f64) -> f64 {
    x + x.abs() * SLACK
}

/// Eight units in the last place: library logarithms have an error of about one, and the other
/// roundings add a few.
const SLACK: f64 = 8.0 * f64::EPSILON;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_decimal_is_the_number_in_the_job_file() {
        assert_eq!(Decimal::of(0.3), Decimal { digits: 3, scale: 10 });
        assert_eq!(Decimal::of(2.0), Decimal { digits: 2, scale: 1 });
        assert_eq!(Decimal::of(1e30), Decimal { digits: u64::MAX, scale: 1 });
        assert_eq!(Decimal::of(f64::INFINITY), Decimal { digits: u64::MAX, scale: 1 });
        assert_eq!(Decimal::of(1e-30), Decimal { digits: 0, scale: 100_000_000_000_000_000 });
        // The binary fraction nearest to three tenths is a little less than three tenths.
        assert!(Decimal::of(0.3).at_most(3, 10) && !Decimal::of(0.3).less(3, 10));
        assert!(!Decimal::of(0.3).at_most(300_000_001, 1_000_000_000));
    }

    #[test]
    fn shares_are_computed_from_the_decimal() {
        // As binary fractions, 0.29 · 100 is less than 29 and 0.07 · 100 is greater than 7.
        for (share, whole, part) in
            [(0.29, 100, 29), (0.07, 100, 7), (0.1, 30, 3), (0.0, 9, 0), (1.0, 9, 9), (0.3, 9, 2)]
        {
            assert_eq!(Decimal::of(share).share_of(whole), part, "{share} of {whole}");
        }
    }

    proptest! {
        #[test]
        fn fractions_are_compared_exactly(
            part in 0u64..1 << 40,
            whole in 1u64..1 << 40,
            thousandths in 0u32..100_000,
        ) {
            let decimal = Decimal::of(f64::from(thousandths) / 1000.0);
            let whole_thousandths = u128::from(thousandths) * u128::from(whole);
            let slow = (u128::from(part) * 1000).cmp(&whole_thousandths);
            prop_assert_eq!(decimal.cmp_fraction(part.into(), whole.into()), slow);
        }

        #[test]
        fn wide_products_are_right(a in 0u128..1 << 100, b in 0u64..1 << 28) {
            let (high, low) = wide(a, b);
            prop_assert_eq!((high << 64) | u128::from(low), a * u128::from(b));
        }
    }
}
