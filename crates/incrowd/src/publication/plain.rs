//! Tables that are published as they are: no column is generalized, every row says what it says.

use incrowd_core::{
    Code, ColumnSpec, Dataset, Folded, FoldedColumn, Kind, Partition, Result, RowId, SensitiveSpec, Span,
};
use incrowd_engine::{Content, Order, Output};

use super::anatomy::{COUNT, GROUP};
use crate::make::MadeTable;

/// What a column of such a table holds.
fn says(name: &str) -> &'static str {
    match name {
        GROUP => "number of a group, by which the two tables belong together",
        COUNT => "how many records of the group have the value",
        _ => "as it was",
    }
}

/// A table whose cells are those of `folded`. In formats that have types, columns of the input keep theirs.
pub(super) fn plain_table(
    content: &'static str,
    folded: Folded,
    specs: &[SensitiveSpec],
    order: Order,
    missing: &str,
) -> Result<MadeTable> {
    let names: Vec<String> = folded.columns.iter().map(|column| column.name.clone()).collect();
    let columns = names.iter().cloned().enumerate().map(|(i, name)| (name, Content::Sensitive(i)));
    // The columns of the input may be of any role.
    let says = names.iter().map(|name| (name.clone(), says(name))).collect();
    let output =
        Output { columns: columns.collect(), order, missing: missing.to_owned(), says, ..Output::default() };
    // A quasi-identifier that is alike for all, because a plan has at least one; it is not published.
    let alike = FoldedColumn { name: String::new(), texts: vec![String::new(), "all".to_owned()] };
    let mut whole = Folded { missing: vec![0; names.len() + 1], read: folded.read, ..Folded::default() };
    whole.columns.push(alike);
    for row in 0..folded.rows() {
        whole.codes.push(1);
        whole.codes.extend_from_slice(folded.row(row));
    }
    (whole.weights, whole.read) = (folded.weights, folded.read);
    whole.columns.extend(folded.columns);
    let text = ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() };
    let none = SensitiveSpec::default();
    let specs: Vec<&SensitiveSpec> = (0..names.len()).map(|i| specs.get(i).unwrap_or(&none)).collect();
    let data = Dataset::encode(whole, &[&text], &specs, missing).map_err(|e| e.misfit.error)?;
    let mut partition = Partition::new(1, data.rows());
    let only = Span { lo: Code(0), hi: Code(0) };
    partition.add(&[only], (0..data.rows() as u32).map(RowId))?;
    Ok(MadeTable { content, data, partition, output })
}
