//! Integers that are category codes: `1` for female, `36` for New York. A range of codes is
//! meaningless.

use std::sync::LazyLock;

use incrowd_core::lists::Lists;

use super::ColumnFacts;
use crate::profile::ValueKind;

/// Words of quantities take precedence.
static NAMES: LazyLock<Lists> = LazyLock::new(|| Lists::parse(include_str!("code.txt")));

/// The maximum number of distinct values of a column with few values.
const FEW: u64 = 12;

/// Returns the reason why the integers of a column are category codes; `None` if they are not.
pub(crate) fn why_code(column: &ColumnFacts<'_>) -> Option<&'static str> {
    let (low, high) = column.range.filter(|_| column.kind == ValueKind::Integer)?;
    if low < 0.0 || column.counts.distinct > 2000 {
        return None;
    }
    let quantity = column.named(NAMES.list("words of quantities"))
        || column.name_has(&["number", "count", "income", "education"]);
    let named = column.named(NAMES.list("words")) || column.name_has(NAMES.list("parts"));
    if quantity && !column.named(&["id", "code", "cd", "cat", "fips"]) {
        return None;
    }
    if named {
        return Some("its numbers are codes by its name");
    }
    let distinct = column.counts.distinct;
    if distinct <= 2 {
        return Some("it has two values only");
    }
    // The frequencies of a quantity rise and fall about once. Those of codes fluctuate.
    let erratic = |bound: f64| column.roughness.is_some_and(|r| r > bound);
    let gaps = high - low + 1.0 - distinct as f64;
    if distinct <= FEW && high <= 99.0 && (gaps > 0.0 || erratic(1.3)) && erratic(1.1) {
        return Some("it has few values, and their frequencies follow no order");
    }
    let length = column.values.first().map_or(0, |v| v.len());
    let even = (3..=6).contains(&length) && column.values.iter().all(|v| v.len() == length);
    let year = low >= 1850.0 && high <= 2150.0;
    (even
        && !year
        && distinct > FEW
        && gaps > distinct as f64
        && erratic(4.0)
        && column.variety() < 0.2)
        .then_some("its numbers have equal lengths and gaps, and their frequencies follow no order")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::column_facts::tests::with_column;

    fn coded(name: &str, cells: &[(&str, usize)]) -> bool {
        let cells: Vec<&str> =
            cells.iter().flat_map(|(cell, n)| std::iter::repeat_n(*cell, *n)).collect();
        with_column(name, &cells, |facts| why_code(facts).is_some())
    }

    #[test]
    fn names_distinguish_codes_from_quantities() {
        let three = [("1", 5), ("2", 9), ("3", 4)];
        for name in [
            "SEX",
            "RAC1P",
            "MSP",
            "ST",
            "state_fips",
            "admission_source_id",
            "HOUSING_TYPE",
            "INDP_CAT",
            "Gender",
        ] {
            assert!(coded(name, &three), "{name}");
        }
        for name in [
            "age",
            "num_procedures",
            "NOC",
            "NPF",
            "time_in_hospital",
            "PINCP_DECILE",
            "hours",
            "EDU",
            "x",
        ] {
            assert!(!coded(name, &three), "{name}");
        }
    }

    #[test]
    fn values_distinguish_codes_if_names_do_not() {
        assert!(coded("q7", &[("0", 5), ("1", 9)]));
        assert!(coded("q7", &[("1", 50), ("2", 3), ("5", 40), ("7", 2), ("9", 30)]));
        assert!(!coded("q7", &[("0", 50), ("1", 30), ("2", 20), ("3", 10), ("4", 5)]));
        assert!(!coded("q7", &[("1950", 2), ("1960", 3), ("1999", 2)]));
    }
}
