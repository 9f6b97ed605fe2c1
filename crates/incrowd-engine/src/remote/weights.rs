//! Sampling weights of counted rows. The system that holds the table sums the weights in
//! millionths.

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use incrowd_core::{Error, Result};

use super::counted::{Counted, DROPPED};
use super::persons::{integers, odd};
use super::{PersonColumn, Rows};
use crate::FoldSpec;

/// Additional data to request with counted rows.
#[derive(Clone, Copy, Debug)]
pub enum Asked<'a> {
    /// Only counts.
    Nothing,
    /// The persons of the records.
    Persons(PersonColumn<'a>),
    /// The sampling weights in the column of this name. The listed texts are missing values.
    Weights(&'a str, &'a [String]),
}

impl Asked<'_> {
    /// The additional data that a fold needs. A fold never needs both persons and weights.
    pub(crate) fn of(spec: &FoldSpec) -> Asked<'_> {
        match (PersonColumn::of(spec), &spec.weight) {
            (Some(person), _) => Asked::Persons(person),
            (None, Some(weight)) => Asked::Weights(weight, &spec.missing),
            (None, None) => Asked::Nothing,
        }
    }
}

/// For each counted row, the sum of sampling weights, and the number of records without a weight.
#[derive(Debug, Default)]
pub(super) struct RowWeights(Vec<(u64, u64)>);

impl RowWeights {
    /// Splits the last two columns off counted rows.
    pub(super) fn split((schema, batches): Rows) -> Result<(Rows, RowWeights)> {
        let width = schema.fields().len().checked_sub(2).ok_or_else(odd)?;
        let others = std::sync::Arc::new(Schema::new(schema.fields()[..width].to_vec()));
        let (mut weights, mut left) = (Vec::new(), Vec::with_capacity(batches.len()));
        let natural = |n: &i64| u64::try_from(*n).map_err(|_| odd());
        for batch in batches {
            let columns = batch.columns();
            let [represented, without] = columns.get(width..).ok_or_else(odd)? else {
                return Err(odd());
            };
            for (represented, without) in integers(represented)?.iter().zip(integers(without)?) {
                weights.push((natural(represented)?, natural(without)?));
            }
            let own = RecordBatch::try_new(others.clone(), columns[..width].to_vec());
            left.push(own.map_err(|e| Error::bug(format!("counted rows do not fit: {e}")))?);
        }
        Ok(((others, left), RowWeights(weights)))
    }

    /// The sampling weights of the rows of the fold. Each record that is not dropped must have a
    /// weight.
    pub(super) fn fold(self, counted: &Counted, spec: &FoldSpec) -> Result<Vec<u64>> {
        if counted.of_row.len() != self.0.len() {
            return Err(odd());
        }
        let mut represented = vec![0u64; counted.folded.weights.len()];
        for (&row, (own, without)) in
            counted.of_row.iter().zip(self.0).filter(|(row, _)| **row != DROPPED)
        {
            if without > 0 {
                let column = spec.weight.as_deref().unwrap_or_default();
                return Err(Error::input(format!(
                    "some records have no weight of at least 1 in column `{column}`"
                ))
                .help("remove such records: a sampling weight is at least 1")
                .at("input.weight"));
            }
            represented[row as usize] = represented[row as usize].saturating_add(own);
        }
        Ok(represented)
    }
}
