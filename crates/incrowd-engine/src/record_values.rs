//! Columns of a release that are examined record by record: passthrough columns, on which a record
//! may be unique.

use incrowd_core::Columnar;

/// Columns to examine record by record while a table is folded.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExaminedColumns<'a> {
    /// The columns.
    pub columns: &'a [String],
    /// Whether only unique values are counted, and no codes are kept.
    pub counts_only: bool,
}

/// The values of such columns, as codes.
#[derive(Clone, Debug, Default)]
pub struct RecordValues {
    /// The columns with a code for each record, in the order of the table. Texts are not kept.
    /// Without codes if only counts were requested.
    pub table: Columnar,
    /// For each column the number of records with a unique value, if only counts were requested.
    pub once: Option<Vec<u64>>,
    /// The number of records that are unique on all columns together, if that was counted and there
    /// are several columns.
    pub together: Option<u64>,
    /// The number of different persons, if persons were counted and not records.
    pub people: Option<u64>,
    /// The person of each record, if it is known and a person may have several records.
    pub persons: Option<Vec<u32>>,
}
