//! Some records of the original, each beside a published record that fits it. For the data owner's eyes only.
//!
//! A release does not say which record was which, and nothing here finds out: a published record fits if each of its cells covers the
//! value. Of those that fit the closest is shown, with the number of all of them.

use incrowd_core::{Code, Dataset};

use super::comparison::{CellGroup, Comparison, Line, Part, sensitive_texts};

/// A record and what stands for it in the release.
#[derive(Clone, PartialEq)]
pub struct Beside {
    /// Its values, column by column.
    pub before: Vec<String>,
    /// The cells of the closest published record that fits, if any does.
    pub after: Option<Vec<String>>,
    /// How many published records fit.
    pub fitting: u64,
}

// Cells must not reach logs.
impl std::fmt::Debug for Beside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Beside").field("fitting", &self.fitting).finish_non_exhaustive()
    }
}

/// The names of the columns, and so many records spread over the table: rows are in the order of their codes.
pub fn beside(comparison: &Comparison, data: &Dataset, most: usize) -> (Vec<String>, Vec<Beside>) {
    let columns = comparison.lines.iter().map(|line| line.name.clone()).collect();
    let (rows, most) = (data.rows(), most.min(data.rows()));
    let chosen = (0..most).map(|i| (2 * i + 1) * rows / (2 * most));
    (columns, chosen.map(|row| of_row(comparison, data, row)).collect())
}

fn of_row(comparison: &Comparison, data: &Dataset, row: usize) -> Beside {
    let (quasi, rest) = comparison.lines.split_at(comparison.quasi);
    let leaf = |column: usize| comparison.leaves[column][row];
    let covered = |(column, line): (usize, &Line)| -> Vec<bool> {
        let within = |&(lo, hi): &(u32, u32)| (lo..=hi).contains(&leaf(column));
        line.covers.iter().map(|cover| cover.spans().iter().any(within)).collect()
    };
    let covered: Vec<Vec<bool>> = comparison.lines.iter().enumerate().map(covered).collect();
    let fits =
        |group: &&CellGroup| group.cells.iter().zip(&covered).all(|(&cell, covers)| covers[cell as usize]);
    let loss = |group: &CellGroup| -> f64 {
        group.cells.iter().zip(quasi).map(|(&cell, line)| line.covers[cell as usize].ncp).sum()
    };
    // The share of the other columns that have the record's own value: the closest record has most of them.
    let own = |cells: &[u32]| {
        let same = cells.iter().zip(&covered[comparison.quasi..]);
        same.filter(|(cell, covers)| covers[**cell as usize]).count()
    };
    let mut closest: Option<(&CellGroup, &[u32], usize, f64)> = None;
    let mut fitting = 0;
    for group in comparison.groups.iter().filter(fits) {
        fitting += group.records;
        let Some((cells, same)) =
            group.rest.iter().map(|(cells, _)| (cells.as_slice(), own(cells))).max_by_key(|x| x.1)
        else {
            continue;
        };
        let loss = loss(group);
        if closest.is_none_or(|(_, _, most, least)| same > most || same == most && loss < least) {
            closest = Some((group, cells, same, loss));
        }
    }
    let text = |(cell, line): (&u32, &Line)| line.texts[*cell as usize].clone();
    let after = closest.map(|(group, cells, ..)| {
        group.cells.iter().zip(quasi).map(text).chain(cells.iter().zip(rest).map(text)).collect()
    });
    let value = |(column, line): (usize, &Line)| {
        let leaf = leaf(column);
        match line.part {
            Part::Quasi => data.quasi()[column].domain.label(Code(leaf), Code(leaf)),
            _ => {
                let own = data.sensitive().iter().find(|own| own.name == line.name);
                own.and_then(|own| sensitive_texts(own).into_iter().nth(leaf as usize)).unwrap_or_default()
            }
        }
    };
    Beside { before: comparison.lines.iter().enumerate().map(value).collect(), after, fitting }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::small::{NAMES, QUASI, admits, compare_with, people};
    use super::*;

    proptest! {
        /// The twin reads the texts of the cells and looks at every published record.
        #[test]
        fn a_record_stands_beside_one_that_fits_it(people in people()) {
            let (comparison, data) = compare_with(&people);
            let (columns, found) = beside(&comparison, &data, 50);
            prop_assert_eq!(columns, NAMES);
            prop_assert_eq!(found.len(), data.rows().min(50));
            let fits = |cells: &[String], values: &[String]| {
                (0..QUASI).all(|column| admits(&people, column, &cells[column]).contains(&values[column]))
            };
            for record in &found {
                let published = people.iter().filter_map(|p| p.cells.as_ref());
                let fitting: Vec<_> = published.filter(|cells| fits(&cells[..], &record.before)).collect();
                prop_assert_eq!(record.fitting, fitting.len() as u64);
                prop_assert_eq!(record.after.is_some(), !fitting.is_empty());
                if let Some(after) = &record.after {
                    prop_assert!(fitting.iter().any(|cells| cells[..] == after[..]), "it is one that was published");
                    // Where a record with the very value was published, that is shown.
                    let same = fitting.iter().any(|cells| cells[QUASI] == record.before[QUASI]);
                    prop_assert_eq!(after[QUASI] == record.before[QUASI], same);
                }
            }
        }
    }
}
