//! Conditions under which a table with skewed sensitive values can be published with l-diversity.
//!
//! Paper: `xu2010`, Definitions 1 and 2. A table of n records is *l-eligible* if no sensitive value
//! is more frequent than n/l. If a table is not l-eligible, some records are suppressed. The
//! published part must be l-eligible, and *l-candidacy* must hold: adding all suppressed records to
//! the l-th most frequent published value would make its frequency exceed n/l. At least l values
//! can then have been the dominant one.
//!
//! Where we differ: products of integers instead of quotients.

/// Whether a table of `records` records whose most frequent value has `most` is l-eligible. An
/// empty table is l-eligible.
pub fn eligible(most: u64, records: u64, l: u64) -> bool {
    u128::from(most) * u128::from(l) <= u128::from(records)
}

/// Whether l-candidacy holds. `lth` is the count of the l-th most frequent published value,
/// `suppressed` the number of suppressed records, `records` the number of all records.
pub fn candidacy(lth: u64, suppressed: u64, records: u64, l: u64) -> bool {
    (u128::from(lth) + u128::from(suppressed)).saturating_mul(u128::from(l)) > u128::from(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Example 3: ten, four, two, one and one records, l = 3.
    #[test]
    fn candidacy_of_example_3_holds_after_five_and_eligibility_after_six() {
        assert!(!eligible(10, 18, 3) && !eligible(5, 13, 3) && eligible(4, 12, 3));
        assert!(!candidacy(2, 4, 18, 3) && candidacy(2, 5, 18, 3));
    }

    #[test]
    fn nothing_overflows_and_the_boundary_is_exact() {
        assert!(eligible(u64::MAX / 3, u64::MAX, 3) && !eligible(u64::MAX, u64::MAX, 2));
        assert!(candidacy(u64::MAX, u64::MAX, u64::MAX, u64::MAX));
        assert!(eligible(0, 0, 5));
    }
}
