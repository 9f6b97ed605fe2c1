//! The published form of labels: a range as two columns of numbers, a set as a list, a missing
//! value as the table's own marker or as a null. Reading a table back converts these forms to
//! labels again, so that verification sees labels.

use incrowd_core::number::{Number, parse_number};
use incrowd_core::{Error, Folded, FoldedColumn, MISSING, Progress, Result};

use crate::ReadBack;
use crate::record_values::ExaminedColumns;
use crate::source::Source;
use crate::table::{Keeping, MEMORY, WrittenRecords};

/// The columns that are published in another form than their labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The label of a missing value.
    pub missing: String,
    /// The text of a missing value in formats without nulls, if it is not the label.
    pub shown: Option<String>,
    /// The generalized columns.
    pub quasi: Vec<String>,
    /// The columns whose ranges are published as two ends. The flag means that an open range
    /// excludes its end: `<16`, not `<=16`.
    pub ends: Vec<(String, bool)>,
    /// The columns whose sets are published as lists.
    pub lists: Vec<String>,
    /// The columns of which the means of groups are published. They are read back without
    /// conversion.
    pub means: Vec<String>,
}

/// The name of the column with the lower ends of ranges.
pub fn low_column(name: &str) -> String {
    format!("{name}_low")
}

/// The name of the column with the upper ends of ranges.
pub fn high_column(name: &str) -> String {
    format!("{name}_high")
}

/// The ends of a published range. `None` for a missing end, or if the cell is not a range.
pub(crate) fn ends(label: &str) -> (Option<&str>, Option<&str>) {
    let number = |text| parse_number(text).map(|_| text);
    if let Some((lo, hi)) =
        label.strip_prefix('[').and_then(|t| t.strip_suffix(']')?.split_once(", "))
    {
        return (number(lo), number(hi));
    }
    for (open, low) in [(">=", true), ("<=", false), ("<", false)] {
        if let Some(end) = label.strip_prefix(open) {
            return if low { (number(end), None) } else { (None, number(end)) };
        }
    }
    (number(label), number(label))
}

/// The label of a range with these ends.
fn label(low: Option<&str>, high: Option<&str>, strict: bool) -> String {
    // Typed formats print 20.0 for 20.
    let plain = |text: &str| match parse_number(text) {
        Some(Number::Integer(n)) => n.to_string(),
        Some(Number::Real(x)) => x.to_string(),
        None => text.to_owned(),
    };
    match (low.map(plain), high.map(plain)) {
        (None, None) => "*".to_owned(),
        (Some(low), None) => format!(">={low}"),
        (None, Some(high)) if strict => format!("<{high}"),
        (None, Some(high)) => format!("<={high}"),
        (Some(low), Some(high)) if low == high => low,
        (Some(low), Some(high)) => format!("[{low}, {high}]"),
    }
}

impl Shape {
    /// The columns of the file from which the labels of the columns `asked` are read.
    fn columns(&self, asked: &[String]) -> Vec<String> {
        let of = |name: &String| match self.ends.iter().any(|(own, _)| own == name) {
            true => vec![low_column(name), high_column(name)],
            false => vec![name.clone()],
        };
        asked.iter().flat_map(of).collect()
    }

    /// Converts the columns of a file to labels.
    fn labels(&self, asked: &[String], read: Folded) -> Result<Folded> {
        let mut at = 0;
        let mut columns = Vec::with_capacity(asked.len());
        // For each column, its code in each row.
        let mut codes: Vec<Vec<u32>> = Vec::with_capacity(asked.len());
        for name in asked {
            let own = |position: usize| (0..read.rows()).map(move |row| (row, position));
            if let Some((_, strict)) = self.ends.iter().find(|(own, _)| own == name) {
                let mut texts = Labels::default();
                let cell = |(row, position): (usize, usize)| {
                    let code = read.row(row)[position];
                    let text = read.columns[position].texts[code as usize].as_str();
                    (code != MISSING && !text.is_empty()).then_some(text)
                };
                codes.push(
                    own(at)
                        .map(|(row, low)| {
                            texts.code(label(cell((row, low)), cell((row, low + 1)), *strict))
                        })
                        .collect(),
                );
                columns.push(FoldedColumn { name: name.clone(), texts: texts.list });
                at += 2;
                continue;
            }
            let column = read.columns.get(at).ok_or_else(|| {
                Error::bug("a table was read without a column that was asked for")
            })?;
            let mut texts = Labels::of(&column.texts);
            let is_quasi = self.quasi.contains(name) && !self.means.contains(name);
            let lost = if self.lists.contains(name) { "*" } else { self.missing.as_str() };
            // An empty cell in a column of means is not a missing value. It means that the group
            // has no mean.
            let as_shown = !self.lists.contains(name) && !self.means.contains(name);
            let mut label_of = |code: u32| {
                let text = column.texts[code as usize].as_str();
                let shown = code != MISSING && self.shown.as_deref() == Some(text) && as_shown;
                match code == MISSING && is_quasi || shown {
                    true => texts.code(lost.to_owned()),
                    false => code,
                }
            };
            codes.push(own(at).map(|(row, position)| label_of(read.row(row)[position])).collect());
            columns.push(FoldedColumn { name: name.clone(), texts: texts.list });
            at += 1;
        }
        let flat =
            (0..read.rows()).flat_map(|row| codes.iter().map(move |column| column[row])).collect();
        Ok(Folded { columns, codes: flat, missing: vec![0; asked.len()], ..read })
    }
}

/// Distinct texts by code.
struct Labels {
    list: Vec<String>,
    known: hashbrown::HashMap<String, u32>,
}

impl Default for Labels {
    fn default() -> Labels {
        Labels::of(&[String::new()])
    }
}

impl Labels {
    fn of(texts: &[String]) -> Labels {
        let known = texts.iter().cloned().zip(0..).skip(1).collect();
        Labels { list: texts.to_vec(), known }
    }

    fn code(&mut self, text: String) -> u32 {
        *self.known.entry(text).or_insert_with_key(|text| {
            self.list.push(text.clone());
            self.list.len() as u32 - 1
        })
    }
}

impl Source {
    /// Reads a whole published table and converts its cells to labels.
    pub fn read_shaped(
        &self,
        columns: &[String],
        shape: &Shape,
        examined: ExaminedColumns<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack> {
        let directory = std::env::temp_dir();
        let keeping = Keeping { memory: MEMORY, directory: &directory };
        self.read_shaped_of(columns, shape, None, examined, keeping, progress)
    }

    /// Like [`Source::read_shaped`], with the per-record data that the writer of the table
    /// recorded.
    pub(crate) fn read_shaped_of(
        &self,
        columns: &[String],
        shape: &Shape,
        written: Option<WrittenRecords<'_>>,
        examined: ExaminedColumns<'_>,
        keeping: Keeping<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack> {
        let columns_read = shape.columns(columns);
        let mut read = self.read_release_of(&columns_read, written, examined, keeping, progress)?;
        let lost = |row: usize| {
            let cells = read.folded.row(row).iter().zip(columns);
            cells.into_iter().any(|(code, name)| *code == MISSING && shape.quasi.contains(name))
        };
        let other = shape.shown.is_some() || !shape.ends.is_empty() || !shape.lists.is_empty();
        if other || (!shape.quasi.is_empty() && (0..read.folded.rows()).any(lost)) {
            read.folded = shape.labels(columns, read.folded)?;
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_restored_from_its_ends() {
        for range in ["*", "20", "[20, 40]", ">=90", "[-1.5, 2.25]", "-3"] {
            let (low, high) = ends(range);
            assert_eq!(label(low, high, false), range);
        }
        assert_eq!(label(None, ends("<16").1, true), "<16");
        assert_eq!(label(None, ends("<=16").1, false), "<=16");
        assert_eq!(label(Some("20.0"), Some("40.0"), false), "[20, 40]");
        assert_eq!(ends("?"), (None, None));
    }

    #[test]
    fn cells_become_labels() {
        let names = ["age_low", "age_high", "home", "job"];
        let records = [
            vec![Some("20"), Some("40"), Some("Graz"), Some("-")],
            vec![None, None, None, Some("cook")],
            vec![Some("20"), Some("40"), Some("Graz"), None],
        ];
        let folded = Folded::from_records(&names, records, false);
        let shape = Shape {
            missing: "?".into(),
            shown: Some("-".into()),
            quasi: vec!["age".into(), "home".into()],
            ends: vec![("age".into(), false)],
            ..Shape::default()
        };
        let asked = ["age", "home", "job"].map(str::to_owned);
        assert_eq!(shape.columns(&asked), names);
        let told = shape.labels(&asked, folded).unwrap();
        let rows: Vec<Vec<Option<&str>>> =
            told.canonical().into_iter().map(|(row, _)| row).collect();
        let mut expected = [
            vec![Some("[20, 40]"), Some("Graz"), Some("?")],
            vec![Some("*"), Some("?"), Some("cook")],
            // A missing sensitive value stays missing.
            vec![Some("[20, 40]"), Some("Graz"), None],
        ];
        expected.sort();
        assert_eq!(rows, expected);
    }
}
