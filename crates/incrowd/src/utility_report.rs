//! What a release is still good for, and what of the answer may be told.
//!
//! What may be published is computed over the whole table or over many queries. The data owner alone sees what says
//! something about few records. Each measure says which is which; here they are only put together.

use incrowd_audit::utility::{Card, ColumnUtility, Comparison, Layout, Measured, columns};
use incrowd_core::text::Block;
use incrowd_core::{Progress, Result};
use serde_json::{Map, Value as Json, json};

pub use incrowd_audit::utility::Ask;

/// What a release is still good for. What was not asked for is absent.
#[derive(Debug)]
pub struct Utility {
    /// What became of each column.
    pub columns: Vec<ColumnUtility>,
    /// What each measure says of the table as a whole, in the order of the list.
    pub measured: Vec<(&'static Card, Box<dyn Measured>)>,
}

impl Utility {
    /// Everything that is asked for and fits what is published; nothing if there is no such thing.
    pub(crate) fn new(
        comparison: &Comparison,
        ask: &Ask,
        layout: Layout,
        progress: &dyn Progress,
    ) -> Result<Utility> {
        // The penalty of cells is a metric, and the only one that is told by column.
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

    /// The answer of a measure, as the type it made: `utility.get::<QueryError>()`.
    pub fn get<T: Measured>(&self) -> Option<&T> {
        self.measured.iter().find_map(|(_, answer)| answer.downcast())
    }

    /// Measures that say one number of the whole table.
    pub fn scores(&self) -> impl Iterator<Item = (&'static Card, f64)> {
        self.measured.iter().filter_map(|(card, answer)| Some((*card, answer.score()?)))
    }

    /// What may be published.
    pub(crate) fn public_json(&self) -> Json {
        let mut all = Map::new();
        if !self.columns.is_empty() {
            let column = |c: &ColumnUtility| (c.name.clone(), c.public_json());
            all.insert("columns".into(), Json::Object(self.columns.iter().map(column).collect()));
        }
        all.extend(self.measured.iter().map(|(card, answer)| (card.name.to_owned(), answer.public_json())));
        Json::Object(all)
    }

    /// What is for the data owner only.
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

    /// What may be published, for people.
    pub fn public_text(&self) -> Vec<Block> {
        let columns =
            if self.columns.is_empty() { Vec::new() } else { ColumnUtility::public_text(&self.columns) };
        columns.into_iter().chain(self.measured.iter().flat_map(|(_, answer)| answer.public_text())).collect()
    }

    /// What is for the data owner only, for people.
    pub fn private_text(&self) -> Vec<Block> {
        let columns = ColumnUtility::private_text(&self.columns);
        columns
            .into_iter()
            .chain(self.measured.iter().flat_map(|(_, answer)| answer.private_text()))
            .collect()
    }
}
