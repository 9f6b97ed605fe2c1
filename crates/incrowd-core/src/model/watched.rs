//! The sensitive column a model is about.

use std::borrow::Cow;

use crate::dataset::{Dataset, Sensitive};
use crate::error::{Error, Result};
use crate::group::{GroupSummary, Histogram};

/// A sensitive column found in a table.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    /// Its position among the sensitive columns.
    pub(super) column: usize,
    /// For each code the first one that means the same, if any two do.
    synonyms: Option<Vec<u32>>,
    codes: usize,
}

impl Watched {
    /// Finds the column `on`; an empty name is the only one there is.
    pub(super) fn find<'d>(data: &'d Dataset, on: &str) -> Result<(Watched, &'d Sensitive)> {
        let columns = data.sensitive();
        let position = match columns {
            [_] if on.is_empty() => Some(0),
            _ => columns.iter().position(|column| column.name == on),
        };
        let Some(column) = position else {
            return Err(Error::job(format!("`{on}` is not a sensitive column of the table"))
                .help_near(on, columns.iter().map(|c| c.name.as_str()))
                .at("on"));
        };
        let sensitive = &columns[column];
        let watched = Watched { column, synonyms: sensitive.synonyms(), codes: sensitive.values.len() };
        Ok((watched, sensitive))
    }

    /// The code under which a value is counted, that of its first spelling.
    pub(super) fn counted_as(&self, code: u32) -> u32 {
        self.synonyms.as_ref().map_or(code, |first| first[code as usize])
    }

    /// The column's values in a group, one code for each value however it is spelled.
    pub(super) fn histogram<'g>(&self, group: &'g GroupSummary) -> Cow<'g, Histogram> {
        let spelled = &group.sensitive[self.column];
        match &self.synonyms {
            None => Cow::Borrowed(spelled),
            Some(first) => {
                let entries =
                    spelled.entries().iter().map(|&(code, records)| (first[code as usize], records));
                Cow::Owned(Histogram::count(self.codes, entries))
            }
        }
    }

    /// The column's values in the whole table: the count of each code, 0 where it does not occur or is another spelling.
    pub(super) fn overall(&self, data: &Dataset) -> Vec<u64> {
        let mut counts = vec![0; self.codes];
        for row in 0..data.rows() {
            let code = self.counted_as(data.sensitive_codes(row)[self.column]);
            counts[code as usize] += data.weight(row);
        }
        counts
    }
}
