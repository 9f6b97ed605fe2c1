//! The owner's preview of a release: sample records before and after, and group sizes before and
//! after. For the data owner only.

use std::collections::HashMap;

use incrowd_audit::risk::GroupSizes;
use incrowd_core::{Code, Dataset, Plan};

use crate::making::make::Made;

/// Sample records and group sizes before and after anonymization.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Insight {
    /// The columns of the sample: quasi-identifiers, then sensitive ones.
    pub columns: Vec<String>,
    /// The number of quasi-identifiers among them.
    pub quasi: usize,
    /// Sample records, each before and after; after is `None` if the record is suppressed.
    pub sample: Vec<(Vec<String>, Option<Vec<String>>)>,
    /// The number of groups in the table by size.
    pub before: GroupSizes,
    /// The number of groups in the release by size.
    pub after: GroupSizes,
}

incrowd_core::opaque_debug!(Insight { columns });

/// The maximum size of the sample.
const SAMPLE: usize = 10;

impl Insight {
    /// Creates the preview of a release in one table; `None` for other publications.
    pub(crate) fn of(made: &Made) -> Option<Insight> {
        let [table] = made.tables.as_slice() else { return None };
        let (data, partition) = (&table.data, &table.partition);
        let plan = Plan::new(data, partition);
        let quasi = data.quasi();
        let before = |row: usize| -> Vec<String> {
            let own = quasi.iter().zip(data.quasi_codes(row));
            let cells = own.map(|(quasi, &code)| quasi.domain.label(Code(code), Code(code)));
            cells.chain(sensitive(table, row)).collect()
        };
        let after = |row: usize| -> Option<Vec<String>> {
            let group = partition.group(row)?;
            let cells = (0..quasi.len()).map(|q| plan.text(group, q).to_owned());
            Some(cells.chain(sensitive(table, row)).collect())
        };
        // The sample is spread over the rows, which are sorted by their codes.
        let rows = data.rows();
        let chosen = (0..SAMPLE.min(rows)).map(|i| (2 * i + 1) * rows / (2 * SAMPLE.min(rows)));
        let sample = chosen.map(|row| (before(row), after(row))).collect();
        let mut of_group: Vec<u64> = vec![0; partition.groups()];
        for row in 0..rows {
            if let Some(group) = partition.group(row) {
                of_group[group.0 as usize] += data.weight(row);
            }
        }
        // Groups with equal published cells are one group to a reader.
        let mut groups: HashMap<&[u32], u64> = HashMap::new();
        for (group, records) in of_group.into_iter().enumerate().filter(|(_, records)| *records > 0)
        {
            *groups.entry(plan.cells(incrowd_core::GroupId(group as u32))).or_default() += records;
        }
        let columns = quasi.iter().map(|own| own.name.clone());
        Some(Insight {
            columns: columns.chain(data.sensitive().iter().map(|own| own.name.clone())).collect(),
            quasi: quasi.len(),
            sample,
            before: GroupSizes::new(alike(data)),
            after: GroupSizes::new(groups.into_values().collect()),
        })
    }
}

/// Returns the number of records of each combination of quasi-identifiers. Rows are usually sorted
/// by their codes, quasi-identifiers first, so that one pass is enough. Divided rows are at the end
/// and need a hash map.
fn alike(data: &Dataset) -> Vec<u64> {
    let rows = data.rows();
    if (1..rows).all(|row| data.quasi_codes(row - 1) <= data.quasi_codes(row)) {
        let mut sizes: Vec<u64> = Vec::new();
        for row in 0..rows {
            match sizes.last_mut() {
                Some(size) if data.quasi_codes(row - 1) == data.quasi_codes(row) => {
                    *size += data.weight(row)
                }
                _ => sizes.push(data.weight(row)),
            }
        }
        return sizes;
    }
    let mut sizes: HashMap<&[u32], u64> = HashMap::new();
    for row in 0..rows {
        *sizes.entry(data.quasi_codes(row)).or_default() += data.weight(row);
    }
    sizes.into_values().collect()
}

fn sensitive(table: &crate::making::make::MadeTable, row: usize) -> impl Iterator<Item = String> {
    let codes = table.data.sensitive_codes(row).iter();
    table.data.sensitive().iter().zip(codes).map(|(own, &code)| own.values[code as usize].clone())
}
