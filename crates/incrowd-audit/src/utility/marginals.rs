//! The distribution of each column by value, in the original and in the reconstruction from the
//! release.
//!
//! Charts of columns are drawn from it. It contains values of the original with their shares, so it
//! is only for the data owner.

use incrowd_core::{Code, Dataset, Domain, domain::Numbers, number::parse_number};

use super::comparison::{ColumnRole, Comparison, sensitive_texts};
use super::distribution::{original, reconstructed};

/// A value of a column.
#[derive(Clone, PartialEq)]
pub struct Value {
    /// Text of the value.
    pub text: String,
    /// The number, or the day since 1970-01-01 for a date.
    pub number: Option<f64>,
    /// Share of the original's records.
    pub original: f64,
    /// Share in the reconstruction.
    pub release: f64,
}

/// The values of a column in order.
#[derive(Clone, PartialEq)]
pub struct Marginal {
    /// Name of the column.
    pub column: String,
    /// Role of the column.
    pub role: ColumnRole,
    /// Whether its numbers are days.
    pub dates: bool,
    /// The values.
    pub values: Vec<Value>,
}

incrowd_core::opaque_debug!(Marginal { column, role, values: |marginal| marginal.values.len() });

/// Returns the distributions of all compared columns. `data` is the original of the comparison.
pub fn marginals(comparison: &Comparison, data: &Dataset) -> Vec<Marginal> {
    let marginal = |line: &super::comparison::Line| {
        let is_quasi = line.role == ColumnRole::Quasi;
        let quasi = data.quasi().iter().find(|q| is_quasi && q.name == line.name);
        let sensitive = data.sensitive().iter().find(|s| s.name == line.name);
        let texts: Vec<String> = match (quasi, sensitive) {
            (Some(quasi), _) => {
                (0..line.leaves).map(|leaf| quasi.domain.label(Code(leaf), Code(leaf))).collect()
            }
            (None, Some(sensitive)) => sensitive_texts(sensitive),
            (None, None) => return None,
        };
        let dates = quasi.is_some_and(|q| match &q.domain {
            Domain::Numbers(line) => matches!(line.numbers(), Numbers::Dates(_)),
            _ => false,
        });
        // The leaves of a hierarchy may be numbers too.
        let number = |leaf: usize, text: &str| match &line.numbers {
            Some(numbers) => numbers.get(leaf).copied(),
            None => parse_number(text).map(|n| n.as_f64()),
        };
        let shares = original(line).into_iter().zip(reconstructed(line));
        let values =
            texts.into_iter().zip(shares).enumerate().map(|(leaf, (text, (original, release)))| {
                Value { number: number(leaf, &text), text, original, release }
            });
        Some(Marginal {
            column: line.name.clone(),
            role: line.role,
            dates,
            values: values.collect(),
        })
    };
    comparison.lines.iter().filter_map(marginal).collect()
}
