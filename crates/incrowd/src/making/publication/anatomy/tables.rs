//! Construction of the two tables.

use std::collections::BTreeMap;

use incrowd_core::{Error, Folded, FoldedColumn, MISSING, Result, SensitiveSpec};
use incrowd_engine::Order;
use incrowd_recode::anatomy::Groups;
use incrowd_recode::suppression::Secret;

use super::super::plain::plain_table;
use super::{COUNT, GROUP, TableContent};
use crate::job::reading::as_published;
use crate::making::checked::CheckedJob;
use crate::making::make::MadeTable;
use crate::making::suppression::counted;

/// Returns the specification of the sensitive column and its position in the fold.
pub(super) fn sensitive_column(job: &CheckedJob) -> Result<(&SensitiveSpec, usize)> {
    let found = job.schema.sensitive().next();
    let (_, spec) = found.ok_or_else(|| Error::bug("the sensitive column is gone"))?;
    Ok((spec, job.schema.quasi().count()))
}

fn texts(folded: &Folded, row: usize) -> impl Iterator<Item = (bool, &str)> {
    let cells = folded.row(row).iter().zip(&folded.columns);
    cells.map(|(&code, column)| (code != MISSING, column.texts[code as usize].as_str()))
}

/// Returns the rows in the order of their texts, and the row of each record by sensitive value.
pub(super) fn buckets(
    folded: &Folded,
    column: usize,
    spec: &SensitiveSpec,
) -> (Vec<u32>, Vec<Vec<u32>>) {
    let mut order: Vec<u32> = (0..folded.rows() as u32).collect();
    order.sort_by(|&a, &b| texts(folded, a as usize).cmp(texts(folded, b as usize)));
    let (values, counts) = counted(folded, column, spec, &spec.missing);
    let mut buckets: Vec<Vec<u32>> =
        counts.iter().map(|&count| Vec::with_capacity(count as usize)).collect();
    for &row in &order {
        let value = values.of_code[folded.row(row as usize)[column] as usize] as usize;
        (0..folded.weights[row as usize]).for_each(|_| buckets[value].push(row));
    }
    (order, buckets)
}

/// Returns a digest of all published content, independent of the order of the records. Another
/// table gets other groups.
pub(super) fn content(folded: &Folded, order: &[u32], secret: &Secret) -> [u8; 32] {
    let mut parts: Vec<Vec<u8>> = Vec::with_capacity(order.len());
    for &row in order {
        let mut part = folded.weights[row as usize].to_le_bytes().to_vec();
        for (present, text) in texts(folded, row as usize) {
            part.push(u8::from(present));
            part.extend_from_slice(&(text.len() as u64).to_le_bytes());
            part.extend_from_slice(text.as_bytes());
        }
        parts.push(part);
    }
    secret.digest(parts.iter().map(Vec::as_slice))
}

/// Returns a column of whole numbers; the code of a number n is n + 1.
fn numbers(name: &str, up_to: u64) -> FoldedColumn {
    let texts = std::iter::once(String::new()).chain((0..=up_to).map(|n| n.to_string())).collect();
    FoldedColumn { name: name.to_owned(), texts }
}

/// Builds the first table: the unmodified quasi-identifiers and the group number.
pub(super) fn first(
    folded: &Folded,
    groups: &Groups,
    column: usize,
    missing: &str,
) -> Result<MadeTable> {
    let mut rows: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for &(row, group) in &groups.records {
        *rows.entry((row, group)).or_insert(0) += 1;
    }
    let mut columns = folded.columns.clone();
    columns.remove(column);
    columns.push(numbers(GROUP, u64::from(groups.groups)));
    let mut table = Folded { missing: vec![0; columns.len()], columns, ..Folded::default() };
    for ((row, group), records) in rows {
        let cells = folded.row(row as usize).iter().enumerate().filter(|(i, _)| *i != column);
        table.codes.extend(cells.map(|(_, &code)| code));
        table.codes.push(group + 1);
        table.weights.push(records);
    }
    table.read = table.records();
    // Sorted, so that the same key gives the same bytes.
    plain_table(TableContent::QuasiIdentifiers, table, &[], Order::Sorted, missing)
}

/// Builds the second table: the frequency of each value in each group.
pub(super) fn second(
    folded: &Folded,
    groups: &Groups,
    spec: &SensitiveSpec,
    column: usize,
    missing: &str,
) -> Result<MadeTable> {
    let mut shown = folded.columns[column].clone();
    as_published(&mut shown, spec);
    // Two codes may have the same text, for example if categories are published.
    let mut code_of: BTreeMap<&str, u32> = BTreeMap::new();
    for (code, text) in shown.texts.iter().enumerate().skip(1) {
        code_of.entry(text).or_insert(code as u32);
    }
    let mut counts: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for &(row, group) in &groups.records {
        let code = folded.row(row as usize)[column];
        let code =
            if code == MISSING { code } else { code_of[shown.texts[code as usize].as_str()] };
        *counts.entry((group, code)).or_insert(0) += 1;
    }
    let most = counts.values().copied().max().unwrap_or(0);
    drop(code_of);
    let columns = vec![numbers(GROUP, u64::from(groups.groups)), shown, numbers(COUNT, most)];
    let mut table = Folded { missing: vec![0; 3], columns, ..Folded::default() };
    for ((group, code), count) in counts {
        table.codes.extend([group + 1, code, count as u32 + 1]);
        table.weights.push(1);
    }
    table.read = table.records();
    plain_table(TableContent::SensitiveCounts, table, &[], Order::Sorted, missing)
}
