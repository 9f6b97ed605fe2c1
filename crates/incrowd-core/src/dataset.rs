//! What algorithms see: codes and multiplicities, never records.

use crate::domain::{Domain, Misfit};
use crate::error::Result;
use crate::folded::{Folded, FoldedColumn, MISSING};
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
#[derive(Clone)]
pub struct Sensitive {
    /// The column's name.
    pub name: String,
    /// The distinct values by code; the text of a missing value is empty.
    pub values: Vec<String>,
    /// The code of a missing value, if such are kept.
    pub missing: Option<u32>,
}

// Cells must not reach logs.
impl std::fmt::Debug for Sensitive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sensitive")
            .field("name", &self.name)
            .field("values", &self.values.len())
            .finish_non_exhaustive()
    }
}

/// Distinct rows of quasi-identifier and sensitive codes with multiplicities. Rows are those of the [`Folded`] table
/// it was made from, in the same order.
#[derive(Clone)]
pub struct Dataset {
    quasi: Vec<Quasi>,
    sensitive: Vec<Sensitive>,
    codes: Vec<u32>,
    weights: Vec<u64>,
    records: u64,
}

// Cells must not reach logs.
impl std::fmt::Debug for Dataset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dataset")
            .field("quasi", &self.quasi)
            .field("sensitive", &self.sensitive)
            .field("rows", &self.weights.len())
            .field("records", &self.records)
            .finish_non_exhaustive()
    }
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
        // A text that occurs only in records left out for a missing value must leave no trace in any domain.
        let mut used: Vec<Vec<bool>> = folded.columns.iter().map(|c| vec![false; c.texts.len()]).collect();
        for row in folded.codes.chunks_exact(width.max(1)) {
            used.iter_mut().zip(row).for_each(|(used, &code)| used[code as usize] = true);
        }
        let mut lines = Vec::new();
        let mut sensitive = Vec::new();
        let mut maps: Vec<Vec<Code>> = Vec::with_capacity(width);
        for (i, column) in folded.columns.iter().enumerate() {
            let has_missing = used[i][MISSING as usize];
            let mut map = vec![Code(0); column.texts.len()];
            if let Some(spec) = quasi.get(i) {
                used[i][MISSING as usize] = true;
                let old: Vec<u32> =
                    (0..column.texts.len() as u32).filter(|&code| used[i][code as usize]).collect();
                let texts = old.iter().map(|&code| column.texts[code as usize].clone()).collect();
                let kept = FoldedColumn { name: column.name.clone(), texts };
                let built = Domain::build(&kept, spec, has_missing.then_some(missing));
                let (domain, codes) = built.map_err(|mut misfit| {
                    misfit.code = misfit.code.map(|code| old[code as usize]);
                    EncodeError { column: i, misfit }
                })?;
                old.iter().zip(codes).for_each(|(&old, code)| map[old as usize] = code);
                lines.push(Quasi { name: column.name.clone(), domain });
            } else {
                let mut order: Vec<usize> = (0..column.texts.len()).filter(|&code| used[i][code]).collect();
                order.sort_by(|&a, &b| column.texts[a].cmp(&column.texts[b]));
                order.iter().enumerate().for_each(|(code, &text)| map[text] = Code(code as u32));
                let values = order.iter().map(|&text| column.texts[text].clone()).collect();
                let missing = has_missing.then(|| map[MISSING as usize].0);
                sensitive.push(Sensitive { name: column.name.clone(), values, missing });
            }
            maps.push(map);
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
        // A null is not an empty text: it gets a label no cell can have.
        match Dataset::encode(folded, &specs, "\u{0}") {
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
