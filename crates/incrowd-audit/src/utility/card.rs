//! Descriptions of measures, requests and results.
//!
//! A measure decides which parts of its result may be published and which are only for the data
//! owner. Callers keep this distinction.

use std::any::Any;
use std::fmt::Debug;

use incrowd_core::metric::METRICS;
use incrowd_core::text::Block;
use incrowd_core::{Better, Error, Progress, Result};
use serde_json::Value as Json;

use super::columns::ColumnView;
use super::comparison::Comparison;
use super::query::Workload;
use super::{UTILITIES, classification};

/// Description of a measure.
pub struct Card {
    /// Name in reports and in `only`. It is also the JSON key of the public result.
    pub name: &'static str,
    /// Key of the paper in `docs/papers.md`.
    pub paper: &'static str,
    /// Measured quantity and interpretation of the result.
    pub about: &'static str,
    /// Limits of the interpretation.
    pub limits: &'static str,
    /// Which end of the scale is better.
    pub better: Better,
    /// Whether it is measured if the request names no measures.
    pub by_default: bool,
    /// Layouts of releases that it supports.
    pub fits: &'static [Layout],
    /// Whether it treats an aggregate, such as the mean of a group, like the value of a record.
    pub reads_means: bool,
    /// The figure for a single column, if there is one.
    pub of_column: Option<ColumnFigure>,
    /// Measures the whole table, if it can. The function returns `None` if there is nothing to
    /// measure.
    pub measure: Option<Measure>,
}

/// Measures a whole table.
pub type Measure =
    fn(&Comparison, &UtilityRequest, &dyn Progress) -> Result<Option<Box<dyn Measured>>>;

incrowd_core::opaque_debug!(Card { name });

impl Card {
    /// Finds a measure by name.
    pub fn find(name: &str) -> Option<&'static Card> {
        UTILITIES.iter().copied().find(|card| card.name == name)
    }
}

/// Layout of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One table with all columns.
    OneTable,
    /// A table of boxes, which also contains people of an external table, and a table of sensitive
    /// values.
    Joined,
    /// Quasi-identifiers and sensitive values in two tables that are linked only by groups.
    Linked,
}

/// A figure of one column. Its key is the name of the measure.
pub struct ColumnFigure {
    /// Heading in a table.
    pub heading: &'static str,
    pub(super) of: fn(&ColumnView<'_>) -> f64,
}

/// Result of a measure for the whole table.
pub trait Measured: Any + Debug + Send + Sync {
    /// Returns a single number that summarizes the result, if there is one. It may be published.
    fn score(&self) -> Option<f64> {
        None
    }

    /// Returns the public part as JSON.
    fn public_json(&self) -> Json;

    /// Returns the part for the data owner as JSON, with its key.
    fn private_json(&self) -> Option<(&'static str, Json)> {
        None
    }

    /// Returns the public part as text.
    fn public_text(&self) -> Vec<Block> {
        Vec::new()
    }

    /// Returns the part for the data owner as text.
    fn private_text(&self) -> Vec<Block> {
        Vec::new()
    }
}

impl dyn Measured {
    /// Returns the result as its concrete type.
    pub fn downcast<T: Measured>(&self) -> Option<&T> {
        let any: &dyn Any = self;
        any.downcast_ref()
    }
}

/// Request for utility measures.
#[derive(Clone, Debug, Default)]
pub struct UtilityRequest {
    /// Names of measures. An empty list means the default measures.
    pub only: Vec<String>,
    /// Whether to include measures that are not default: pairs of columns.
    pub pairs: bool,
    /// The counting queries.
    pub workload: Workload,
    /// The column to predict. `None` selects a sensitive column.
    pub target: Option<String>,
}

impl UtilityRequest {
    /// Returns an error for unknown names of measures.
    pub fn check(&self) -> Result<()> {
        let known = || METRICS.iter().map(|m| m.name).chain(UTILITIES.iter().map(|u| u.name));
        match self.only.iter().find(|name| !known().any(|k| k == name.as_str())) {
            Some(name) => {
                Err(Error::job(format!("there is no measure called `{name}`"))
                    .help_near(name, known()))
            }
            None => Ok(()),
        }
    }

    /// Returns an error for measures that do not support the layout of the release.
    pub fn fits(&self, layout: Layout) -> Result<()> {
        let unsupported =
            |name: &&String| Card::find(name).is_some_and(|card| !card.fits.contains(&layout));
        let Some(name) = self.only.iter().find(unsupported) else { return Ok(()) };
        let what = match layout {
            Layout::OneTable => "one table",
            Layout::Joined => "tables that contain people of two tables",
            Layout::Linked => "tables that are linked only by groups",
        };
        let supported = UTILITIES.iter().filter(|card| card.fits.contains(&layout));
        let supported: Vec<&str> = supported.map(|card| card.name).collect();
        Err(Error::job(format!("`{name}` cannot be measured on {what}")).help(format!(
            "measure {}, or create a release with one table",
            supported.join(" and ")
        )))
    }

    /// Returns whether a measure or a metric is requested.
    pub fn wants(&self, name: &str) -> bool {
        if self.only.iter().any(|only| only == name) {
            return true;
        }
        match Card::find(name).is_none_or(|card| card.by_default) {
            true => self.only.is_empty(),
            false => self.pairs,
        }
    }

    /// Returns whether all requested measures treat means of groups like values.
    pub fn reads_means(&self) -> bool {
        let reads = |name: &String| Card::find(name).is_some_and(|card| card.reads_means);
        !self.only.is_empty() && self.only.iter().all(reads)
    }

    /// Returns the requested measures that support the layout.
    pub fn cards(&self, layout: Layout) -> impl Iterator<Item = &'static Card> {
        UTILITIES
            .iter()
            .copied()
            .filter(move |card| card.fits.contains(&layout) && self.wants(card.name))
    }

    /// Returns the column to predict, if it is named and prediction is requested.
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref().filter(|_| self.wants(classification::CARD.name))
    }
}
