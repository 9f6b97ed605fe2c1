//! What algorithms see: codes and multiplicities, never records.

use crate::domain::{Domain, Misfit};
use crate::error::Result;
use crate::folded::{Folded, MISSING};
use crate::index::Code;
use crate::schema::{ColumnSpec, Labels};

/// A quasi-identifier with its line of leaves.
#[derive(Clone, Debug)]
pub struct Quasi {
    /// The column's name.
    pub name: String,
    /// Its line.
    pub domain: Domain,
}

/// A sensitive column with its values in alphabetical order.
#[derive(Clone, Debug)]
pub struct Sensitive {
    /// The column's name.
    pub name: String,
    /// The distinct values by code. A missing value, if kept, is the empty text.
    pub values: Vec<String>,
}

/// Distinct rows of quasi-identifier and sensitive codes with multiplicities. Rows are those of the [`Folded`] table
/// it was made from, in the same order.
#[derive(Clone, Debug)]
pub struct Dataset {
    quasi: Vec<Quasi>,
    sensitive: Vec<Sensitive>,
    codes: Vec<u32>,
    weights: Vec<u64>,
    records: u64,
}

/// A column that could not be encoded.
#[derive(Clone, Debug)]
pub struct EncodeError {
    /// The column's position in the folded table.
    pub column: usize,
    /// What did not fit.
    pub misfit: Misfit,
}

impl Dataset {
    /// Encodes a folded table whose columns are the quasi-identifiers, in the order of `quasi`, followed by the
    /// sensitive columns. `missing` is the text under which kept missing values are published.
    pub fn encode(folded: Folded, quasi: &[&ColumnSpec], missing: &str) -> Result<Dataset, EncodeError> {
        let width = folded.columns.len();
        let mut used_missing = vec![false; width];
        for row in folded.codes.chunks_exact(width.max(1)) {
            for (used, &code) in used_missing.iter_mut().zip(row) {
                *used |= code == MISSING;
            }
        }
        let mut lines = Vec::new();
        let mut sensitive = Vec::new();
        let mut maps: Vec<Vec<Code>> = Vec::with_capacity(width);
        for (i, column) in folded.columns.iter().enumerate() {
            if let Some(spec) = quasi.get(i) {
                let kept = used_missing[i].then_some(missing);
                let built = Domain::build(column, spec, kept);
                let (domain, map) = built.map_err(|misfit| EncodeError { column: i, misfit })?;
                lines.push(Quasi { name: column.name.clone(), domain });
                maps.push(map);
            } else {
                let mut order: Vec<usize> = (usize::from(!used_missing[i])..column.texts.len()).collect();
                order.sort_by(|&a, &b| column.texts[a].cmp(&column.texts[b]));
                let mut map = vec![Code(0); column.texts.len()];
                for (code, &text) in order.iter().enumerate() {
                    map[text] = Code(code as u32);
                }
                let values = order.iter().map(|&text| column.texts[text].clone()).collect();
                sensitive.push(Sensitive { name: column.name.clone(), values });
                maps.push(map);
            }
        }
        let records = folded.records();
        let mut codes = folded.codes;
        for row in codes.chunks_exact_mut(width.max(1)) {
            for (code, map) in row.iter_mut().zip(&maps) {
                *code = map[*code as usize].0;
            }
        }
        Ok(Dataset { quasi: lines, sensitive, codes, weights: folded.weights, records })
    }

    /// A release as its reader has it: every quasi-identifier is plain text. The first `quasi` columns are
    /// quasi-identifiers, the others sensitive.
    pub fn of_release(folded: Folded, quasi: usize) -> Dataset {
        let text =
            ColumnSpec { kind: Some(crate::Kind::Text), labels: Labels::Star, ..ColumnSpec::default() };
        let specs = vec![&text; quasi];
        match Dataset::encode(folded, &specs, "") {
            Ok(dataset) => dataset,
            Err(error) => unreachable!("plain text always fits: {:?}", error.misfit.error),
        }
    }

    /// The quasi-identifiers.
    pub fn quasi(&self) -> &[Quasi] {
        &self.quasi
    }

    /// The sensitive columns.
    pub fn sensitive(&self) -> &[Sensitive] {
        &self.sensitive
    }

    /// The quasi-identifiers alone; the rows are given up.
    pub fn into_quasi(self) -> Vec<Quasi> {
        self.quasi
    }

    /// How many distinct rows there are.
    pub fn rows(&self) -> usize {
        self.weights.len()
    }

    /// How many records the rows stand for.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// How many records have a row.
    pub fn weight(&self, row: usize) -> u64 {
        self.weights[row]
    }

    /// The quasi-identifier codes of a row.
    pub fn quasi_codes(&self, row: usize) -> &[u32] {
        let width = self.quasi.len() + self.sensitive.len();
        &self.codes[row * width..row * width + self.quasi.len()]
    }

    /// The sensitive codes of a row.
    pub fn sensitive_codes(&self, row: usize) -> &[u32] {
        let width = self.quasi.len() + self.sensitive.len();
        &self.codes[row * width + self.quasi.len()..(row + 1) * width]
    }
}
