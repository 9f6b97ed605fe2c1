//! Each column by itself, value by value: how often in the original, and how often as a reader of the release takes it.
//!
//! This is what a picture of a column is drawn from. It holds values of the original with their shares, so it is for the data
//! owner's eyes only.

use incrowd_core::{Code, Dataset, Domain, domain::Numbers, number::parse_number};

use super::comparison::{Comparison, Part, sensitive_texts};
use super::distribution::{original, reconstructed};

/// A value of a column.
#[derive(Clone, PartialEq)]
pub struct Value {
    /// Its text.
    pub text: String,
    /// Its number, or its day since 1970-01-01, if it has one.
    pub number: Option<f64>,
    /// The share of the original's records that have it.
    pub original: f64,
    /// The share a reader of the release takes to have it.
    pub release: f64,
}

/// The values of a column in their order.
#[derive(Clone, PartialEq)]
pub struct Marginal {
    /// The column.
    pub column: String,
    /// What it is.
    pub part: Part,
    /// Whether its numbers are days.
    pub dates: bool,
    /// The values.
    pub values: Vec<Value>,
}

// Cells must not reach logs.
impl std::fmt::Debug for Marginal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Marginal { column, part, values, .. } = self;
        f.debug_struct("Marginal")
            .field("column", column)
            .field("part", part)
            .field("values", &values.len())
            .finish_non_exhaustive()
    }
}

/// Every column that is compared. `data` is the original the comparison was made with.
pub fn marginals(comparison: &Comparison, data: &Dataset) -> Vec<Marginal> {
    let marginal = |line: &super::comparison::Line| {
        let quasi = data.quasi().iter().find(|q| line.part == Part::Quasi && q.name == line.name);
        let sensitive = data.sensitive().iter().find(|s| s.name == line.name);
        let texts: Vec<String> = match (quasi, sensitive) {
            (Some(quasi), _) => {
                (0..line.leaves).map(|leaf| quasi.domain.label(Code(leaf), Code(leaf))).collect()
            }
            (None, Some(sensitive)) => sensitive_texts(sensitive),
            (None, None) => return None,
        };
        let dates = quasi.is_some_and(
            |q| matches!(&q.domain, Domain::Numbers(line) if matches!(line.numbers(), Numbers::Dates(_))),
        );
        // The leaves of a hierarchy may be numbers too.
        let number = |leaf: usize, text: &str| match &line.numbers {
            Some(numbers) => numbers.get(leaf).copied(),
            None => parse_number(text).map(|n| n.as_f64()),
        };
        let shares = original(line).into_iter().zip(reconstructed(line));
        let values = texts.into_iter().zip(shares).enumerate().map(|(leaf, (text, (original, release)))| {
            Value { number: number(leaf, &text), text, original, release }
        });
        Some(Marginal { column: line.name.clone(), part: line.part, dates, values: values.collect() })
    };
    comparison.lines.iter().filter_map(marginal).collect()
}
