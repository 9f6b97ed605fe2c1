//! A table read by an engine: distinct rows of texts with their record counts.

use crate::numerals::DecimalMark;
use crate::packed::PackedRows;
use crate::value_key::Spellings;

/// The code of a missing value in every column of a [`Folded`] table.
pub const MISSING: u32 = 0;

/// A column of a folded table.
#[derive(Clone, PartialEq)]
pub struct FoldedColumn {
    /// The column's name.
    pub name: String,
    /// The distinct texts by code. The text at [`MISSING`] is empty and represents all missing
    /// values.
    pub texts: Vec<String>,
}

crate::opaque_debug!(FoldedColumn { name, texts: |column| column.texts.len() });

/// The persons of the records of a folded table.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct FoldedPersons {
    /// The person of each record, row by row, ascending within a row; empty unless a person has
    /// several records.
    pub codes: Vec<u32>,
    /// Whether a person has several records.
    pub repeated: bool,
    /// The number of different persons read, including persons whose records were all dropped.
    pub read: u64,
    /// The number of different persons of the rows.
    pub different: u64,
    /// The number of records without a person. Each of them counts as a different person.
    pub unnamed: u64,
    /// The number of persons with several spellings, if known.
    pub spellings: Spellings,
}

crate::opaque_debug!(FoldedPersons { different });

/// Distinct rows with their record counts, read by an engine from microdata or a release.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folded {
    /// The columns, in the requested order.
    pub columns: Vec<FoldedColumn>,
    /// The codes, row by row.
    pub codes: Vec<u32>,
    /// The number of records of each row.
    pub weights: Vec<u64>,
    /// Bit-packed rows in place of `codes` and `weights`, if the caller accepts them. Rows may
    /// repeat. [`Folded::unpacked`] converts them.
    pub packed: Option<PackedRows>,
    /// The number of records read, including dropped ones.
    pub read: u64,
    /// The number of records dropped because of a missing value.
    pub dropped_missing: u64,
    /// The number of records with a missing value, by column.
    pub missing: Vec<u64>,
    /// The first missing-value text in the order of the configuration that occurs; a null is the
    /// empty text. `None` if no value is missing.
    pub marker: Option<String>,
    /// The persons of the records, if requested.
    pub persons: Option<FoldedPersons>,
    /// Sum of the sampling weights of each row's records, in [millionths](crate::represented), if
    /// the table has them.
    pub represented: Option<Vec<u64>>,
    /// Additional profiled columns in which some values, but not most, occur in several records.
    pub repeating: Vec<String>,
    /// The number of records of people for whom another record was counted before, if the fold was
    /// asked to count them. Records without any identifier are not counted.
    pub repeated: u64,
    /// If the table is a part of another one: the texts of each column that belong to its domain,
    /// including texts of no row of the part. Without it, the domain has the texts of the rows.
    pub lines: Option<Vec<Vec<bool>>>,
    /// The decimal mark of numbers in columns that also hold other texts. In columns of numbers it
    /// is always a point.
    pub decimal: DecimalMark,
}

impl Folded {
    /// The number of distinct rows. Repeated bit-packed rows are counted repeatedly.
    pub fn rows(&self) -> usize {
        self.weights.len() + self.packed.as_ref().map_or(0, PackedRows::rows)
    }

    /// The codes of a row. Bit-packed rows must be [unpacked](Folded::unpacked) before.
    pub fn row(&self, row: usize) -> &[u32] {
        let width = self.columns.len();
        &self.codes[row * width..(row + 1) * width]
    }

    /// The text of a cell; empty if it is missing.
    pub fn text(&self, row: usize, column: usize) -> &str {
        &self.columns[column].texts[self.row(row)[column] as usize]
    }

    /// The number of records.
    pub fn records(&self) -> u64 {
        self.weights.iter().sum::<u64>() + self.packed.as_ref().map_or(0, PackedRows::records)
    }

    /// The index of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Folds records one by one. Simple and slow: for small tables and as the twin of the engines.
    /// `None` is a missing value; with `drop_missing`, records with a missing value are dropped.
    pub fn from_records<'a>(
        names: &[&str],
        records: impl IntoIterator<Item = Vec<Option<&'a str>>>,
        drop_missing: bool,
    ) -> Folded {
        let mut folded = Folded {
            columns: names
                .iter()
                .map(|name| FoldedColumn { name: (*name).to_owned(), texts: vec![String::new()] })
                .collect(),
            missing: vec![0; names.len()],
            ..Folded::default()
        };
        for record in records {
            folded.read += 1;
            let mut row = Vec::with_capacity(names.len());
            for ((cell, column), missing) in
                record.iter().zip(&mut folded.columns).zip(&mut folded.missing)
            {
                let Some(text) = cell else {
                    *missing += 1;
                    row.push(MISSING);
                    continue;
                };
                let known = column.texts.iter().skip(1).position(|t| t == text).map(|i| i + 1);
                let code = known.unwrap_or_else(|| {
                    column.texts.push((*text).to_owned());
                    column.texts.len() - 1
                });
                row.push(code as u32);
            }
            if drop_missing && row.contains(&MISSING) {
                folded.dropped_missing += 1;
                continue;
            }
            match (0..folded.rows()).find(|&r| folded.row(r) == row) {
                Some(r) => folded.weights[r] += 1,
                None => {
                    folded.codes.extend(row);
                    folded.weights.push(1);
                }
            }
        }
        folded
    }

    /// The rows as sorted texts with their record counts: equal for two folds of one table,
    /// whatever their codes.
    pub fn canonical(&self) -> Vec<(Vec<Option<&str>>, u64)> {
        let mut rows: Vec<_> = (0..self.rows())
            .map(|r| {
                let cells = self.row(r).iter().zip(&self.columns);
                let texts = cells
                    .map(|(&code, c)| (code != MISSING).then(|| c.texts[code as usize].as_str()));
                (texts.collect::<Vec<_>>(), self.weights[r])
            })
            .collect();
        rows.sort();
        rows
    }
}
