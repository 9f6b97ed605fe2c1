//! What a publisher sees of a release while it is made: records beside what becomes of them, and how many look alike before and
//! after. All of it is for the data owner's eyes.

use std::collections::HashMap;

use incrowd_audit::risk::GroupSizes;
use incrowd_core::{Code, Dataset, Plan};

use crate::make::Made;

/// Records beside what becomes of them.
#[derive(Clone, PartialEq)]
pub struct Insight {
    /// The columns of the sample: quasi-identifiers, then sensitive ones.
    pub columns: Vec<String>,
    /// How many of them are quasi-identifiers.
    pub quasi: usize,
    /// Some records, each before and after; after is `None` if the record is suppressed.
    pub sample: Vec<(Vec<String>, Option<Vec<String>>)>,
    /// How many groups of alike records the table has, by their size.
    pub before: GroupSizes,
    /// How many the release has.
    pub after: GroupSizes,
}

// Cells must not reach logs.
impl std::fmt::Debug for Insight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Insight").field("columns", &self.columns).finish_non_exhaustive()
    }
}

/// How many records a sample has at most.
const SAMPLE: usize = 10;

impl Insight {
    /// Of a release of one table; others publish their cells apart.
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
        // Spread over the table: rows are in the order of their codes.
        let rows = data.rows();
        let chosen = (0..SAMPLE.min(rows)).map(|i| (2 * i + 1) * rows / (2 * SAMPLE.min(rows)));
        let sample = chosen.map(|row| (before(row), after(row))).collect();
        let mut of_group: Vec<u64> = vec![0; partition.groups()];
        for row in 0..rows {
            if let Some(group) = partition.group(row) {
                of_group[group.0 as usize] += data.weight(row);
            }
        }
        // Groups that are published alike are one group to a reader.
        let mut groups: HashMap<&[u32], u64> = HashMap::new();
        for (group, records) in of_group.into_iter().enumerate().filter(|(_, records)| *records > 0) {
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

/// How many records look alike, for each combination of quasi-identifiers. Rows come in the order of their codes, those of
/// quasi-identifiers first, so that mostly a walk is enough; rows that were divided stand at the end.
fn alike(data: &Dataset) -> Vec<u64> {
    let rows = data.rows();
    if (1..rows).all(|row| data.quasi_codes(row - 1) <= data.quasi_codes(row)) {
        let mut sizes: Vec<u64> = Vec::new();
        for row in 0..rows {
            match sizes.last_mut() {
                Some(size) if data.quasi_codes(row - 1) == data.quasi_codes(row) => *size += data.weight(row),
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

fn sensitive(table: &crate::make::MadeTable, row: usize) -> impl Iterator<Item = String> {
    let codes = table.data.sensitive_codes(row).iter();
    table.data.sensitive().iter().zip(codes).map(|(own, &code)| own.values[code as usize].clone())
}
