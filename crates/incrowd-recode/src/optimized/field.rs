//! The rows that are divided: those of the table, or fewer that stand for them.

use incrowd_core::model::BoundModel;
use incrowd_core::{Condensed, Dataset, Domain, Partition, Result};

use crate::mondrian::Outcome;

/// A table as it is tried or divided.
pub(super) struct Field<'a> {
    data: &'a Dataset,
    condensed: Option<Condensed>,
    /// Whether its lines are other than the table's.
    sketched: bool,
}

impl<'a> Field<'a> {
    /// The table on its own lines or on others. Where columns are in regular intervals, rows that no run could part are put
    /// together: those in the same finest cells, and alike in sensitive values if a model looks at them.
    pub(super) fn new(
        data: &'a Dataset,
        lines: Option<Vec<Domain>>,
        models: &[Box<dyn BoundModel>],
    ) -> Field<'a> {
        let looked_at = models.iter().any(|model| crate::asks_more(&**model));
        let sketched = lines.is_some();
        let lines = lines.unwrap_or_else(|| data.quasi().iter().map(|quasi| quasi.domain.clone()).collect());
        let gridded = |line: &Domain| matches!(line, Domain::Taxonomy(tree) if tree.grid().is_some());
        let fewer = lines.iter().any(gridded) && data.population().is_none();
        let condensed = fewer.then(|| data.condensed(&lines, looked_at));
        Field { data, condensed, sketched }
    }

    /// The rows.
    pub(super) fn table(&self) -> &Dataset {
        self.condensed.as_ref().map_or(self.data, |condensed| &condensed.data)
    }

    /// The groups of the table itself.
    pub(super) fn partition(&self, outcome: &Outcome) -> Result<Partition> {
        match &self.condensed {
            Some(condensed) => outcome.expanded(self.data, condensed),
            None => outcome.partition(self.data),
        }
    }

    /// What the outcome costs when it is published on the table's own lines, unless that is more than `most` anyway.
    pub(super) fn published(&self, outcome: &Outcome, most: f64) -> Option<f64> {
        match &self.condensed {
            Some(_) if self.sketched && outcome.at_least > most => None,
            Some(condensed) if self.sketched => Some(outcome.expanded_cost(self.data, condensed)),
            _ => Some(outcome.cost),
        }
    }
}
