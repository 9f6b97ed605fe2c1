//! Comparisons that decide about people: in integers, or rounded against the publisher.
//!
//! A parameter such as `0.3` is taken as the decimal that was written, three tenths, not as the binary fraction nearest
//! to it: three records of ten are then no more than 0.3 of them.

use std::cmp::Ordering;

/// A non-negative decimal as it was written: `digits / scale`, the scale a power of ten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    digits: u64,
    scale: u64,
}

/// Beyond this many places after the point a parameter is cut off.
const PLACES: usize = 17;

impl Decimal {
    /// The shortest decimal that reads as `x`, which is what somebody typed. Places beyond the seventeenth are cut off;
    /// what is too large to matter becomes as large as possible. Negative numbers and not-a-number become 0.
    pub fn of(x: f64) -> Decimal {
        if x.is_nan() || x <= 0.0 {
            return Decimal { digits: 0, scale: 1 };
        }
        let text = format!("{x}");
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let mut fraction = fraction.get(..PLACES).unwrap_or(fraction);
        // Few places if the whole part is long: all digits together must fit 64 bits.
        loop {
            match format!("{whole}{fraction}").parse::<u64>() {
                Ok(digits) => return Decimal { digits, scale: 10u64.pow(fraction.len() as u32) },
                Err(_) if fraction.is_empty() => return Decimal { digits: u64::MAX, scale: 1 },
                Err(_) => fraction = &fraction[..fraction.len() - 1],
            }
        }
    }

    /// The digits and what they are divided by.
    pub(crate) fn as_fraction(self) -> (u64, u64) {
        (self.digits, self.scale)
    }

    /// The decimal times `whole`, rounded down.
    pub fn share_of(self, whole: u64) -> u64 {
        let share = u128::from(self.digits) * u128::from(whole) / u128::from(self.scale);
        u64::try_from(share).unwrap_or(u64::MAX)
    }

    /// How `part / whole` compares to the decimal, exactly. `whole` must not be 0.
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

/// A product of 192 bits, high part first.
fn wide(a: u128, b: u64) -> (u128, u64) {
    let b = u128::from(b);
    let low = (a & u128::from(u64::MAX)) * b;
    let high = (a >> 64) * b + (low >> 64);
    (high, low as u64)
}

/// A bound on `x` that is on the safe side below, for results of a few roundings and one logarithm or exponential.
pub fn lower(x: f64) -> f64 {
    x - x.abs() * SLACK
}

/// A bound on `x` that is on the safe side above.
pub fn upper(x: f64) -> f64 {
    x + x.abs() * SLACK
}

/// Eight units in the last place: library logarithms are good to one, the roundings around them add a few.
const SLACK: f64 = 8.0 * f64::EPSILON;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_decimal_is_what_was_typed() {
        assert_eq!(Decimal::of(0.3), Decimal { digits: 3, scale: 10 });
        assert_eq!(Decimal::of(2.0), Decimal { digits: 2, scale: 1 });
        assert_eq!(Decimal::of(1e30), Decimal { digits: u64::MAX, scale: 1 });
        assert_eq!(Decimal::of(f64::INFINITY), Decimal { digits: u64::MAX, scale: 1 });
        assert_eq!(Decimal::of(1e-30), Decimal { digits: 0, scale: 100_000_000_000_000_000 });
        // Three tenths as a binary fraction is a little less than three tenths.
        assert!(Decimal::of(0.3).at_most(3, 10) && !Decimal::of(0.3).less(3, 10));
        assert!(!Decimal::of(0.3).at_most(300_000_001, 1_000_000_000));
    }

    #[test]
    fn a_share_is_that_of_the_decimal() {
        // 0.29 · 100 and 0.07 · 100 miss 29 and 7 as binary fractions, on either side.
        for (share, whole, part) in
            [(0.29, 100, 29), (0.07, 100, 7), (0.1, 30, 3), (0.0, 9, 0), (1.0, 9, 9), (0.3, 9, 2)]
        {
            assert_eq!(Decimal::of(share).share_of(whole), part, "{share} of {whole}");
        }
    }

    proptest! {
        #[test]
        fn fractions_compare_as_in_school(part in 0u64..1 << 40, whole in 1u64..1 << 40, typed in 0u32..100_000) {
            let decimal = Decimal::of(f64::from(typed) / 1000.0);
            let slow = (u128::from(part) * 1000).cmp(&(u128::from(typed) * u128::from(whole)));
            prop_assert_eq!(decimal.cmp_fraction(part.into(), whole.into()), slow);
        }

        #[test]
        fn wide_products_are_right(a in 0u128..1 << 100, b in 0u64..1 << 28) {
            let (high, low) = wide(a, b);
            prop_assert_eq!((high << 64) | u128::from(low), a * u128::from(b));
        }
    }
}
