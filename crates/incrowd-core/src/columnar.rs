//! A table by columns: the code of every record in every column, and the dictionaries.
//!
//! A [`Folded`](crate::Folded) table suits columns with values that many records share. All columns
//! of an unknown table include names and numbers that are nearly unique; such a table has few equal
//! rows, and its profile is computed column by column.

use crate::folded::MISSING;

/// Distinct texts concatenated in one string: two allocations for any number of texts.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PackedTexts {
    text: String,
    /// The end of each text in `text`; the text of [`MISSING`] is the first and empty.
    ends: Vec<usize>,
}

impl PackedTexts {
    /// A dictionary with the missing value only, which has code [`MISSING`] and no text.
    pub fn new() -> PackedTexts {
        PackedTexts { text: String::new(), ends: vec![0] }
    }

    /// A dictionary of `codes` codes, the missing value included, without texts.
    pub fn unnamed(codes: usize) -> PackedTexts {
        PackedTexts { text: String::new(), ends: vec![0; codes.max(1)] }
    }

    /// Adds a text and returns its code.
    pub fn push(&mut self, text: &str) -> u32 {
        self.text.push_str(text);
        self.ends.push(self.text.len());
        (self.ends.len() - 1) as u32
    }

    /// The number of codes, the missing value included.
    pub fn codes(&self) -> usize {
        self.ends.len()
    }

    /// The text of a code; empty for the missing value.
    pub fn get(&self, code: u32) -> &str {
        let code = code as usize;
        let start = if code == MISSING as usize { 0 } else { self.ends[code - 1] };
        &self.text[start..self.ends[code]]
    }

    /// The texts with their codes, without the missing value.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        (1..self.ends.len() as u32).map(|code| (code, self.get(code)))
    }
}

crate::opaque_debug!(PackedTexts { codes: |texts| texts.codes() });

/// One column of a [`Columnar`] table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodedColumn {
    /// The column's name.
    pub name: String,
    /// The distinct texts by code.
    pub texts: PackedTexts,
    /// The code of every record, [`MISSING`] for a missing value. All columns list the records in
    /// the same order, which may differ from that of the table.
    pub codes: Vec<u32>,
}

impl CodedColumn {
    /// The number of records per code.
    pub fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.texts.codes()];
        self.codes.iter().for_each(|&code| counts[code as usize] += 1);
        counts
    }
}

/// A table as columns of codes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columnar {
    /// The columns.
    pub columns: Vec<CodedColumn>,
    /// The number of records.
    pub records: usize,
}

impl Columnar {
    /// Encodes records one by one, for small tables and tests. `None` is a missing value.
    pub fn from_records<'a>(
        names: &[&str],
        records: impl IntoIterator<Item = Vec<Option<&'a str>>>,
    ) -> Columnar {
        let column = |name: &&str| CodedColumn {
            name: (*name).into(),
            texts: PackedTexts::new(),
            codes: Vec::new(),
        };
        let mut table = Columnar { columns: names.iter().map(column).collect(), records: 0 };
        let mut known = vec![hashbrown::HashMap::new(); names.len()];
        for record in records {
            table.records += 1;
            for ((column, known), cell) in table.columns.iter_mut().zip(&mut known).zip(record) {
                let code = match cell {
                    None => MISSING,
                    Some(text) => *known.entry(text).or_insert_with(|| column.texts.push(text)),
                };
                column.codes.push(code);
            }
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_returned_by_code_and_not_printed() {
        let table = Columnar::from_records(
            &["a"],
            [vec![Some("x")], vec![None], vec![Some("yy")], vec![Some("x")]],
        );
        let column = &table.columns[0];
        assert_eq!(column.codes, [1, 0, 2, 1]);
        assert_eq!(column.counts(), [1, 2, 1]);
        assert_eq!(column.texts.iter().collect::<Vec<_>>(), [(1, "x"), (2, "yy")]);
        assert_eq!((column.texts.get(0), column.texts.get(2)), ("", "yy"));
        assert!(!format!("{table:?}").contains("yy"));
    }
}
