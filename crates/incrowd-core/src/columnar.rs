//! A table column by column: every record's code in every column, and the texts the codes stand for.
//!
//! A [`Folded`](crate::Folded) table is right for columns that many records share. Whoever looks at all columns of an
//! unknown table meets names and numbers that hardly any two records share; then there is nothing to fold, and working
//! down one column at a time is what the questions need.

use crate::folded::MISSING;

/// Distinct texts one after the other in one string, so that a million of them are two allocations and not a million.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct PackedTexts {
    text: String,
    /// Where each text ends in `text`; the text of [`MISSING`] comes first and is empty.
    ends: Vec<usize>,
}

impl PackedTexts {
    /// Only the missing value, which has code [`MISSING`] and no text.
    pub fn new() -> PackedTexts {
        PackedTexts { text: String::new(), ends: vec![0] }
    }

    /// So many codes, that of the missing value included, of which nobody wants to know the texts.
    pub fn unnamed(codes: usize) -> PackedTexts {
        PackedTexts { text: String::new(), ends: vec![0; codes.max(1)] }
    }

    /// Adds a text and answers with its code.
    pub fn push(&mut self, text: &str) -> u32 {
        self.text.push_str(text);
        self.ends.push(self.text.len());
        (self.ends.len() - 1) as u32
    }

    /// How many codes there are, that of the missing value included.
    pub fn codes(&self) -> usize {
        self.ends.len()
    }

    /// The text of a code; that of the missing value is empty.
    pub fn get(&self, code: u32) -> &str {
        let code = code as usize;
        let start = if code == MISSING as usize { 0 } else { self.ends[code - 1] };
        &self.text[start..self.ends[code]]
    }

    /// The texts with their codes, the missing value left out.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        (1..self.ends.len() as u32).map(|code| (code, self.get(code)))
    }
}

// Cells must not reach logs.
impl std::fmt::Debug for PackedTexts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PackedTexts").field("codes", &self.codes()).finish_non_exhaustive()
    }
}

/// One column of a [`Columnar`] table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodedColumn {
    /// The column's name.
    pub name: String,
    /// The distinct texts by code.
    pub texts: PackedTexts,
    /// The code of every record, [`MISSING`] where the value is missing. All columns list the records in the same order,
    /// which need not be that of the table.
    pub codes: Vec<u32>,
}

impl CodedColumn {
    /// How many records have each code.
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
    /// How many records each has.
    pub records: usize,
}

impl Columnar {
    /// Encodes records one by one, for small tables and tests. `None` is a missing value.
    pub fn from_records<'a>(
        names: &[&str],
        records: impl IntoIterator<Item = Vec<Option<&'a str>>>,
    ) -> Columnar {
        let column =
            |name: &&str| CodedColumn { name: (*name).into(), texts: PackedTexts::new(), codes: Vec::new() };
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
    fn texts_are_found_by_their_codes_and_do_not_show() {
        let table =
            Columnar::from_records(&["a"], [vec![Some("x")], vec![None], vec![Some("yy")], vec![Some("x")]]);
        let column = &table.columns[0];
        assert_eq!(column.codes, [1, 0, 2, 1]);
        assert_eq!(column.counts(), [1, 2, 1]);
        assert_eq!(column.texts.iter().collect::<Vec<_>>(), [(1, "x"), (2, "yy")]);
        assert_eq!((column.texts.get(0), column.texts.get(2)), ("", "yy"));
        assert!(!format!("{table:?}").contains("yy"));
    }
}
