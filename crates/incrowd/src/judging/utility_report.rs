//! The utility of a release.
//!
//! Results over the whole table or over many queries may be published. Results about few records
//! are for the data owner only. Each measure separates the two; this module combines the measures.

use incrowd_audit::utility::{Card, ColumnUtility, Comparison, Layout, Measured, columns};
use incrowd_core::text::Block;
use incrowd_core::{Progress, Result};
use serde_json::{Map, Value as Json, json};

pub use incrowd_audit::utility::UtilityRequest as Ask;

/// The utility of a release. Measures that were not requested are absent.
#[derive(Debug)]
#[non_exhaustive]
pub struct Utility {
    /// The utility of each column.
    pub columns: Vec<ColumnUtility>,
    /// The results for the whole table, in the order of the list of measures.
    pub measured: Vec<(&'static Card, Box<dyn Measured>)>,
}

impl Utility {
    /// Computes the requested measures that apply to this kind of publication.
    pub(crate) fn new(
        comparison: &Comparison,
        ask: &Ask,
        layout: Layout,
        progress: &dyn Progress,
    ) -> Result<Utility> {
        // The penalty of cells is a metric, not a measure, and the only one reported by column.
        let penalty = layout == Layout::OneTable && ask.wants("ncp");
        let by_column = penalty || ask.cards(layout).any(|card| card.of_column.is_some());
        let columns = if by_column { columns(comparison) } else { Vec::new() };
        let mut measured = Vec::new();
        for card in ask.cards(layout) {
            let Some(measure) = card.measure else { continue };
            measured.extend(measure(comparison, ask, progress)?.map(|answer| (card, answer)));
        }
        Ok(Utility { columns, measured })
    }

    /// Returns the result of a measure by its type: `utility.get::<QueryError>()`.
    pub fn get<T: Measured>(&self) -> Option<&T> {
        self.measured.iter().find_map(|(_, answer)| answer.downcast())
    }

    /// Returns the measures with a single number for the whole table.
    pub fn scores(&self) -> impl Iterator<Item = (&'static Card, f64)> {
        self.measured.iter().filter_map(|(card, answer)| Some((*card, answer.score()?)))
    }

    /// Returns the public results as JSON.
    pub(crate) fn public_json(&self) -> Json {
        let mut all = Map::new();
        if !self.columns.is_empty() {
            let column = |c: &ColumnUtility| (c.name.clone(), c.public_json());
            all.insert("columns".into(), Json::Object(self.columns.iter().map(column).collect()));
        }
        all.extend(
            self.measured.iter().map(|(card, answer)| (card.name.to_owned(), answer.public_json())),
        );
        Json::Object(all)
    }

    /// Returns the results for the data owner as JSON.
    pub(crate) fn private_json(&self) -> Json {
        let mut all = Map::new();
        if !self.columns.is_empty() {
            let lost = |c: &ColumnUtility| (c.name.clone(), json!(c.lost_values));
            all.insert("lost_values".into(), Json::Object(self.columns.iter().map(lost).collect()));
        }
        let private = self.measured.iter().filter_map(|(_, answer)| answer.private_json());
        all.extend(private.map(|(name, json)| (name.to_owned(), json)));
        Json::Object(all)
    }

    /// Returns the public results as text.
    pub fn public_text(&self) -> Vec<Block> {
        let columns = if self.columns.is_empty() {
            Vec::new()
        } else {
            ColumnUtility::public_text(&self.columns)
        };
        columns
            .into_iter()
            .chain(self.measured.iter().flat_map(|(_, answer)| answer.public_text()))
            .collect()
    }

    /// Returns the results for the data owner as text.
    pub fn private_text(&self) -> Vec<Block> {
        let columns = ColumnUtility::private_text(&self.columns);
        columns
            .into_iter()
            .chain(self.measured.iter().flat_map(|(_, answer)| answer.private_text()))
            .collect()
    }
}
