//! Counts unique records on columns with few values. Every combination of values has its own
//! counter in a dense array.

use incrowd_core::Columnar;
use rayon::prelude::*;

/// Maximum number of combinations.
const FEW: usize = 1 << 16;
/// Number of records that a thread counts at a time.
const AT_ONCE: usize = 1 << 12;

/// Returns the number of unique records. Returns `None` if there are more combinations than
/// [`FEW`], or more than records.
pub(super) fn unique(table: &Columnar, columns: &[usize]) -> Option<u64> {
    let sizes = columns.iter().map(|&column| table.columns[column].texts.codes().max(1));
    let places = sizes.clone().try_fold(1usize, |all, size| all.checked_mul(size))?;
    if places > FEW || places > table.records {
        return None;
    }
    let sizes: Vec<usize> = sizes.collect();
    let none = || vec![0u32; places];
    let count = |mut counts: Vec<u32>, first: usize| {
        let end = table.records.min(first + AT_ONCE);
        let mut place = [0usize; AT_ONCE];
        for (&column, &size) in columns.iter().zip(&sizes) {
            let codes = &table.columns[column].codes[first..end];
            place
                .iter_mut()
                .zip(codes)
                .for_each(|(place, &code)| *place = *place * size + code as usize);
        }
        // Only counts of 1 matter, so a count may saturate.
        place[..end - first]
            .iter()
            .for_each(|&place| counts[place] = counts[place].saturating_add(1));
        counts
    };
    let add = |mut all: Vec<u32>, more: Vec<u32>| {
        all.iter_mut().zip(more).for_each(|(sum, n)| *sum = sum.saturating_add(n));
        all
    };
    let firsts: Vec<usize> = (0..table.records).step_by(AT_ONCE).collect();
    let counts = firsts.into_par_iter().fold(none, count).reduce(none, add);
    Some(counts.into_iter().filter(|&records| records == 1).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::super::combinations::Partition;
    use super::super::partition::{CodeMarks, Stripped};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_equal_those_of_partitions(
            rows in prop::collection::vec((0u8..5, 0u8..4, 0u8..3), 120..400),
        ) {
            let cell = |value: u8| (value != 0).then(|| value.to_string());
            let cells: Vec<Vec<Option<String>>> =
                rows.iter().map(|&(a, b, c)| [a, b, c].map(cell).to_vec()).collect();
            let records = cells.iter().map(|row| row.iter().map(Option::as_deref).collect());
            let table = Columnar::from_records(&["a", "b", "c"], records);
            for columns in [&[0][..], &[2, 0], &[0, 1, 2]] {
                let partition = Stripped::by(&table, columns, &mut CodeMarks::default());
                let slow = partition.grouping().unique;
                prop_assert_eq!(unique(&table, columns), Some(slow));
            }
        }
    }

    #[test]
    fn too_many_combinations_are_not_counted() {
        let texts: Vec<String> = (0..300).map(|n| n.to_string()).collect();
        let table = Columnar::from_records(
            &["a", "b"],
            texts.iter().map(|text| vec![Some(text.as_str()); 2]),
        );
        assert_eq!(unique(&table, &[0, 1]), None);
    }
}
