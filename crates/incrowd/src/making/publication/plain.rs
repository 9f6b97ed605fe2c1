//! Tables that are published unchanged: no column is generalized.

use incrowd_core::{
    Code, ColumnSpec, Dataset, Folded, FoldedColumn, Kind, Partition, Result, RowId, SensitiveSpec,
    Span,
};
use incrowd_engine::{Content, Order, Output};

use super::TableContent;
use super::anatomy::{COUNT, GROUP};
use crate::making::make::MadeTable;

/// Returns the description of a column for formats with column metadata.
fn description(name: &str) -> &'static str {
    match name {
        GROUP => "number of a group, which links the two tables",
        COUNT => "number of records of the group with the value",
        _ => "unchanged",
    }
}

/// Builds a table with the cells of `folded`. In typed formats, columns of the input keep their
/// types.
pub(super) fn plain_table(
    content: TableContent,
    folded: Folded,
    specs: &[SensitiveSpec],
    order: Order,
    missing: &str,
) -> Result<MadeTable> {
    let names: Vec<String> = folded.columns.iter().map(|column| column.name.clone()).collect();
    let columns = names.iter().cloned().enumerate().map(|(i, name)| (name, Content::Sensitive(i)));
    // The columns of the input may have any role.
    let descriptions = names.iter().map(|name| (name.clone(), description(name))).collect();
    let output = Output {
        columns: columns.collect(),
        order,
        missing: missing.to_owned(),
        descriptions,
        ..Output::default()
    };
    // A constant quasi-identifier, because a plan has at least one. It is not published.
    let alike = FoldedColumn { name: String::new(), texts: vec![String::new(), "all".to_owned()] };
    let mut whole =
        Folded { missing: vec![0; names.len() + 1], read: folded.read, ..Folded::default() };
    whole.columns.push(alike);
    for row in 0..folded.rows() {
        whole.codes.push(1);
        whole.codes.extend_from_slice(folded.row(row));
    }
    (whole.weights, whole.read) = (folded.weights, folded.read);
    whole.columns.extend(folded.columns);
    let text = ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() };
    let none = SensitiveSpec::default();
    let specs: Vec<&SensitiveSpec> =
        (0..names.len()).map(|i| specs.get(i).unwrap_or(&none)).collect();
    let data = Dataset::encode(whole, &[&text], &specs, missing).map_err(|e| e.misfit.error)?;
    let mut partition = Partition::new(1, data.rows());
    let only = Span { lo: Code(0), hi: Code(0) };
    partition.add(&[only], (0..data.rows() as u32).map(RowId))?;
    Ok(MadeTable { content, data, partition, output })
}
