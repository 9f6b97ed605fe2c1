//! The table that is divided: the original, or a condensed one with fewer rows.

use incrowd_core::model::BoundModel;
use incrowd_core::{Condensed, Dataset, Domain, Partition, Result};

use crate::mondrian::RunOutcome;

/// A table with the domains of the trials or of the final run.
pub(super) struct DividedTable<'a> {
    data: &'a Dataset,
    condensed: Option<Condensed>,
    /// Whether its domains differ from the table's.
    has_other_domains: bool,
}

impl<'a> DividedTable<'a> {
    /// Creates the table with its own or other domains. If columns have regular intervals, rows
    /// that no run can separate are merged: those with equal finest cells, and with equal sensitive
    /// values if a model depends on them.
    pub(super) fn new(
        data: &'a Dataset,
        domains: Option<Vec<Domain>>,
        models: &[Box<dyn BoundModel>],
    ) -> DividedTable<'a> {
        let needs_sensitive = models.iter().any(|model| crate::exceeds_counting(&**model));
        let has_other_domains = domains.is_some();
        let domains = domains
            .unwrap_or_else(|| data.quasi().iter().map(|quasi| quasi.domain.clone()).collect());
        let is_regular =
            |domain: &Domain| matches!(domain, Domain::Taxonomy(tree) if tree.grid().is_some());
        let condense = domains.iter().any(is_regular) && data.population().is_none();
        let condensed = condense.then(|| data.condensed(&domains, needs_sensitive));
        DividedTable { data, condensed, has_other_domains }
    }

    /// Returns the rows to divide.
    pub(super) fn table(&self) -> &Dataset {
        self.condensed.as_ref().map_or(self.data, |condensed| &condensed.data)
    }

    /// Returns the groups of the original table.
    pub(super) fn partition(&self, outcome: &RunOutcome) -> Result<Partition> {
        match &self.condensed {
            Some(condensed) => outcome.expanded(self.data, condensed),
            None => outcome.partition(self.data),
        }
    }

    /// Returns the cost of the outcome if it is published with the table's own domains. `None` if a
    /// lower bound of it exceeds `most`.
    pub(super) fn published(&self, outcome: &RunOutcome, most: f64) -> Option<f64> {
        match &self.condensed {
            Some(_) if self.has_other_domains && outcome.lower_bound > most => None,
            Some(condensed) if self.has_other_domains => {
                Some(outcome.expanded_cost(self.data, condensed))
            }
            _ => Some(outcome.cost),
        }
    }
}
