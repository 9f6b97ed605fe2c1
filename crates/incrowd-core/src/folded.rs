//! A table as a reader sees it: distinct rows of texts, each with the number of records that have it.

use crate::packed::PackedRows;

/// The code of a missing value in every column of a [`Folded`] table.
pub const MISSING: u32 = 0;

/// A column of a folded table.
#[derive(Clone, PartialEq)]
pub struct FoldedColumn {
    /// The column's name.
    pub name: String,
    /// The distinct texts by code; the text at [`MISSING`] is empty and stands for whatever counts as missing.
    pub texts: Vec<String>,
}

// Cells must not reach logs.
impl std::fmt::Debug for FoldedColumn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FoldedColumn")
            .field("name", &self.name)
            .field("texts", &self.texts.len())
            .finish_non_exhaustive()
    }
}

/// Whose records the rows of a folded table stand for.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct FoldedPersons {
    /// The person of each record, row by row, ascending within a row; empty unless some person has several records.
    pub codes: Vec<u32>,
    /// Whether some person has several records.
    pub repeated: bool,
    /// How many different persons were read, those included of whom no record is left.
    pub read: u64,
    /// How many different persons have the records of the rows.
    pub different: u64,
    /// How many records name no person. Each of them counts as a person of its own.
    pub unnamed: u64,
}

// Which records belong together must not reach logs.
impl std::fmt::Debug for FoldedPersons {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FoldedPersons").field("different", &self.different).finish_non_exhaustive()
    }
}

/// Distinct rows with multiplicities: what an engine makes of a table, be it microdata or a release.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folded {
    /// The columns, in the order asked for.
    pub columns: Vec<FoldedColumn>,
    /// The codes, row by row.
    pub codes: Vec<u32>,
    /// How many records have each row.
    pub weights: Vec<u64>,
    /// The rows as numbers, in place of codes and weights, if whoever folded was told that this will do. Whoever wants to look at
    /// rows calls [`Folded::unpacked`].
    pub packed: Option<PackedRows>,
    /// How many records were read, those dropped included.
    pub read: u64,
    /// How many records were left out because a value was missing.
    pub dropped_missing: u64,
    /// How many records have a missing value, by column.
    pub missing: Vec<u64>,
    /// The first of the texts that count as missing that occurs; a null is the empty text. `None` if nothing is missing.
    pub marker: Option<String>,
    /// Whose records they are, if that was asked.
    pub persons: Option<FoldedPersons>,
    /// How many people the records of each row stand for, in [millionths](crate::represented), if the table has sampling weights.
    pub represented: Option<Vec<u64>>,
    /// Columns that were glanced at in which some values, not most, occur in several records.
    pub repeating: Vec<String>,
    /// Which texts of each column have a place on its line, if the table is a part of another: also those that no row of the part
    /// has. Without this, those that a row has.
    pub lines: Option<Vec<Vec<bool>>>,
}

impl Folded {
    /// How many distinct rows there are. Of rows that are numbers some may be counted several times.
    pub fn rows(&self) -> usize {
        self.weights.len() + self.packed.as_ref().map_or(0, PackedRows::rows)
    }

    /// The codes of a row. Rows that are numbers must be [spelled out](Folded::unpacked) before.
    pub fn row(&self, row: usize) -> &[u32] {
        let width = self.columns.len();
        &self.codes[row * width..(row + 1) * width]
    }

    /// How many records the rows stand for.
    pub fn records(&self) -> u64 {
        self.weights.iter().sum::<u64>() + self.packed.as_ref().map_or(0, PackedRows::records)
    }

    /// The position of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Folds records one by one: the slow and obvious way, for small tables and as the twin of the engines. `None` is a
    /// missing value; with `drop_missing` a record that has one is left out.
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
            for ((cell, column), missing) in record.iter().zip(&mut folded.columns).zip(&mut folded.missing) {
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

    /// Rows as texts with their weights, sorted: a form in which two folds compare whatever codes they chose.
    pub fn canonical(&self) -> Vec<(Vec<Option<&str>>, u64)> {
        let mut rows: Vec<_> = (0..self.rows())
            .map(|r| {
                let cells = self.row(r).iter().zip(&self.columns);
                let texts =
                    cells.map(|(&code, c)| (code != MISSING).then(|| c.texts[code as usize].as_str()));
                (texts.collect::<Vec<_>>(), self.weights[r])
            })
            .collect();
        rows.sort();
        rows
    }
}
