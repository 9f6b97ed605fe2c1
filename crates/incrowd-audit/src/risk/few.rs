//! Who is alone in columns of few values: every combination of them has a place of its own, and records are counted there.

use incrowd_core::Columnar;
use rayon::prelude::*;

/// So many combinations are few.
const FEW: usize = 1 << 16;
/// Records that a thread counts at a time.
const AT_ONCE: usize = 1 << 12;

/// How many records have a combination of values that nobody shares; `None` if there are many combinations, or few records.
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
            place.iter_mut().zip(codes).for_each(|(place, &code)| *place = *place * size + code as usize);
        }
        // Whether there are more than one is all that matters, so a count may stop at its end.
        place[..end - first].iter().for_each(|&place| counts[place] = counts[place].saturating_add(1));
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
    use super::super::combinations::Parting;
    use super::super::partition::{Scratch, Stripped};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counted_like_divided(rows in prop::collection::vec((0u8..5, 0u8..4, 0u8..3), 120..400)) {
            let texts: Vec<[String; 3]> =
                rows.iter().map(|(a, b, c)| [a.to_string(), b.to_string(), c.to_string()]).collect();
            let cell = |text: &'_ String| (text != "0").then_some(text.clone());
            let cells: Vec<Vec<Option<String>>> = texts.iter().map(|row| row.iter().map(cell).collect()).collect();
            let records = cells.iter().map(|row| row.iter().map(Option::as_deref).collect());
            let table = Columnar::from_records(&["a", "b", "c"], records);
            for columns in [&[0][..], &[2, 0], &[0, 1, 2]] {
                let slow = Stripped::by(&table, columns, &mut Scratch::default()).grouping().unique;
                prop_assert_eq!(unique(&table, columns), Some(slow));
            }
        }
    }

    #[test]
    fn many_combinations_are_left_to_others() {
        let texts: Vec<String> = (0..300).map(|n| n.to_string()).collect();
        let table =
            Columnar::from_records(&["a", "b"], texts.iter().map(|text| vec![Some(text.as_str()); 2]));
        assert_eq!(unique(&table, &[0, 1]), None);
    }
}
