//! Sample records of the original with a matching published record. Only for the data owner.
//!
//! A release does not contain which record belongs to whom, and this module does not infer it. A
//! published record matches if each of its cells covers the original value. The result contains the
//! closest matching record and the number of all matching records.

use incrowd_core::{Code, Dataset};

use super::comparison::{CellGroup, ColumnRole, Comparison, Line, sensitive_texts};

/// A record of the original with a matching published record.
#[derive(Clone, PartialEq)]
pub struct MatchedRecord {
    /// Its values by column.
    pub before: Vec<String>,
    /// The cells of the closest matching record. `None` if no record matches.
    pub after: Option<Vec<String>>,
    /// Number of matching records.
    pub matching: u64,
}

incrowd_core::opaque_debug!(MatchedRecord { matching });

/// Returns the names of the columns and at most `most` records at even distances in the table,
/// whose rows are sorted by their codes.
pub fn matched_records(
    comparison: &Comparison,
    data: &Dataset,
    most: usize,
) -> (Vec<String>, Vec<MatchedRecord>) {
    let columns = comparison.lines.iter().map(|line| line.name.clone()).collect();
    let (rows, most) = (data.rows(), most.min(data.rows()));
    let chosen = (0..most).map(|i| (2 * i + 1) * rows / (2 * most));
    (columns, chosen.map(|row| of_row(comparison, data, row)).collect())
}

fn of_row(comparison: &Comparison, data: &Dataset, row: usize) -> MatchedRecord {
    let (quasi, rest) = comparison.lines.split_at(comparison.quasi);
    let leaf = |column: usize| comparison.leaves[column][row];
    let covered = |(column, line): (usize, &Line)| -> Vec<bool> {
        let within = |&(lo, hi): &(u32, u32)| (lo..=hi).contains(&leaf(column));
        line.covers.iter().map(|cover| cover.spans().iter().any(within)).collect()
    };
    let covered: Vec<Vec<bool>> = comparison.lines.iter().enumerate().map(covered).collect();
    let fits = |group: &&CellGroup| {
        group.cells.iter().zip(&covered).all(|(&cell, covers)| covers[cell as usize])
    };
    let loss = |group: &CellGroup| -> f64 {
        group.cells.iter().zip(quasi).map(|(&cell, line)| line.covers[cell as usize].ncp).sum()
    };
    // The number of other columns with the record's own value. The closest record has most of them.
    let own = |cells: &[u32]| {
        let same = cells.iter().zip(&covered[comparison.quasi..]);
        same.filter(|(cell, covers)| covers[**cell as usize]).count()
    };
    let mut closest: Option<(&CellGroup, &[u32], usize, f64)> = None;
    let mut matching = 0;
    for group in comparison.groups.iter().filter(fits) {
        matching += group.records;
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
        match line.role {
            ColumnRole::Quasi => data.quasi()[column].domain.label(Code(leaf), Code(leaf)),
            _ => {
                let own = data.sensitive().iter().find(|own| own.name == line.name);
                own.and_then(|own| sensitive_texts(own).into_iter().nth(leaf as usize))
                    .unwrap_or_default()
            }
        }
    };
    let before = comparison.lines.iter().enumerate().map(value).collect();
    MatchedRecord { before, after, matching }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::test_tables::{NAMES, QUASI, admits, compare_with, people};
    use super::*;

    proptest! {
        /// The twin parses the texts of the cells and compares every published record.
        #[test]
        fn matched_records_cover_the_original(people in people()) {
            let (comparison, data) = compare_with(&people);
            let (columns, found) = matched_records(&comparison, &data, 50);
            prop_assert_eq!(columns, NAMES);
            prop_assert_eq!(found.len(), data.rows().min(50));
            let matches = |cells: &[String], values: &[String]| {
                (0..QUASI)
                    .all(|column| admits(&people, column, &cells[column]).contains(&values[column]))
            };
            for record in &found {
                let published = people.iter().filter_map(|p| p.cells.as_ref());
                let matching: Vec<_> =
                    published.filter(|cells| matches(&cells[..], &record.before)).collect();
                prop_assert_eq!(record.matching, matching.len() as u64);
                prop_assert_eq!(record.after.is_some(), !matching.is_empty());
                if let Some(after) = &record.after {
                    prop_assert!(matching.iter().any(|cells| cells[..] == after[..]));
                    // A record with an equal sensitive value is preferred.
                    let same = matching.iter().any(|cells| cells[QUASI] == record.before[QUASI]);
                    prop_assert_eq!(after[QUASI] == record.before[QUASI], same);
                }
            }
        }
    }
}
