//! Small tables for tests.

use incrowd_core::hierarchy::nested::Tree;
use incrowd_core::model::{BoundModel, PrivacyModel};
use incrowd_core::{ColumnSpec, Dataset, Folded, HierarchySpec, Value};

/// Encodes records. The first columns are quasi-identifiers with these specs, the others are
/// sensitive.
pub(crate) fn table(names: &[&str], records: &[Vec<String>], specs: &[ColumnSpec]) -> Dataset {
    let cells =
        records.iter().map(|record| record.iter().map(|cell| Some(cell.as_str())).collect());
    let folded = Folded::from_records(names, cells, true);
    let specs: Vec<&ColumnSpec> = specs.iter().collect();
    Dataset::encode(folded, &specs, &[], "?")
        .map_err(|e| e.misfit.error)
        .expect("test tables fit their domains")
}

/// Returns the row of each record in the table made of them, found by its texts.
pub(crate) fn rows_of(data: &Dataset, names: &[&str], records: &[Vec<String>]) -> Vec<usize> {
    let cells =
        records.iter().map(|record| record.iter().map(|cell| Some(cell.as_str())).collect());
    let folded = Folded::from_records(names, cells, true);
    let code = |column: usize, text: &str| {
        folded.columns[column].texts.iter().rposition(|t| t == text).unwrap() as u32
    };
    let key = |record: &Vec<String>| {
        record.iter().enumerate().map(|(i, t)| code(i, t)).collect::<Vec<_>>()
    };
    let of_fold = |r: &Vec<String>| (0..folded.rows()).find(|&i| folded.row(i) == key(r)).unwrap();
    records.iter().map(|r| data.row_of_fold(of_fold(r) as u32).unwrap().index()).collect()
}

pub(crate) fn tree(toml: &str) -> ColumnSpec {
    let tree = Tree::parse("tree", toml).expect("test trees are well formed");
    ColumnSpec { hierarchy: Some(HierarchySpec::Nested(tree)), ..ColumnSpec::default() }
}

pub(crate) fn k_anonymity(k: u64, data: &Dataset) -> Vec<Box<dyn BoundModel>> {
    let privacy_model =
        PrivacyModel::new("k-anonymity", [("k".to_owned(), Value::Integer(k as i64))]).unwrap();
    vec![privacy_model.model.bind(data).unwrap()]
}
