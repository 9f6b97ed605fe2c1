//! A measure's entry in the list, what it may be asked, and what it answers.
//!
//! A measure says of its own answer what may be published and what is the data owner's. Whoever collects measures passes that on
//! and decides nothing.

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

/// A measure's entry in the list.
pub struct Card {
    /// The name in reports and in `only`; what may be published stands in JSON under it.
    pub name: &'static str,
    /// The paper's key in `docs/papers.md`.
    pub paper: &'static str,
    /// What it measures and how to read it.
    pub about: &'static str,
    /// What it does not say.
    pub limits: &'static str,
    /// Which end of the scale is the good one.
    pub better: Better,
    /// Whether it is measured unless others are named.
    pub usual: bool,
    /// What it can be measured of.
    pub fits: &'static [Layout],
    /// Whether it reads a number that no record need have, such as the mean of a group, as that number.
    pub reads_means: bool,
    /// What it says of a single column, if it does.
    pub of_column: Option<ColumnFigure>,
    /// Measures the table as a whole, if it does. `None` means that there is nothing to measure.
    pub measure: Option<Measure>,
}

/// How a measure looks at a table as a whole.
pub type Measure = fn(&Comparison, &Ask, &dyn Progress) -> Result<Option<Box<dyn Measured>>>;

impl Debug for Card {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Card").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Card {
    /// The measure of that name.
    pub fn find(name: &str) -> Option<&'static Card> {
        UTILITIES.iter().copied().find(|card| card.name == name)
    }
}

/// What kind of publication is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One table with all columns.
    OneTable,
    /// A table of boxes with people of another table among those of this one, and a table of sensitive values.
    Joined,
    /// Quasi-identifiers and sensitive values in two tables that are linked by groups only.
    Linked,
}

/// A figure of one column. It stands among the others of the column, under the measure's name.
pub struct ColumnFigure {
    /// What stands above it in a table for people.
    pub heading: &'static str,
    pub(super) of: fn(&ColumnView<'_>) -> f64,
}

/// What a measure answers about the table as a whole.
pub trait Measured: Any + Debug + Send + Sync {
    /// The one number that stands for all of it, if there is one; it may be published.
    fn score(&self) -> Option<f64> {
        None
    }

    /// What may be published.
    fn public_json(&self) -> Json;

    /// What is for the data owner only, and its key.
    fn private_json(&self) -> Option<(&'static str, Json)> {
        None
    }

    /// What may be published, for people.
    fn public_text(&self) -> Vec<Block> {
        Vec::new()
    }

    /// What is for the data owner only, for people.
    fn private_text(&self) -> Vec<Block> {
        Vec::new()
    }
}

impl dyn Measured {
    /// The answer as the type its measure made.
    pub fn downcast<T: Measured>(&self) -> Option<&T> {
        let any: &dyn Any = self;
        any.downcast_ref()
    }
}

/// What to measure beyond the loss of cells.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// Names of measures; none means all that are usual.
    pub only: Vec<String>,
    /// Whether to measure what is not usual too: pairs of columns.
    pub pairs: bool,
    /// The queries to ask.
    pub workload: Workload,
    /// The column to predict; none takes a sensitive one.
    pub target: Option<String>,
}

impl Ask {
    /// Refuses names that no measure has.
    pub fn check(&self) -> Result<()> {
        let known = || METRICS.iter().map(|m| m.name).chain(UTILITIES.iter().map(|u| u.name));
        match self.only.iter().find(|name| !known().any(|k| k == name.as_str())) {
            Some(name) => {
                Err(Error::job(format!("there is no measure called `{name}`")).help_near(name, known()))
            }
            None => Ok(()),
        }
    }

    /// Refuses measures that do not fit what is published.
    pub fn fits(&self, layout: Layout) -> Result<()> {
        let unfit = |name: &&String| Card::find(name).is_some_and(|card| !card.fits.contains(&layout));
        let Some(name) = self.only.iter().find(unfit) else { return Ok(()) };
        let what = match layout {
            Layout::OneTable => "one table",
            Layout::Joined => "tables with people of two tables",
            Layout::Linked => "tables that are linked by groups only",
        };
        let fitting = UTILITIES.iter().filter(|card| card.fits.contains(&layout));
        let fitting: Vec<&str> = fitting.map(|card| card.name).collect();
        Err(Error::job(format!("`{name}` cannot be measured of {what}"))
            .help(format!("measure {}, or make a release in one table", fitting.join(" and "))))
    }

    /// Whether a measure or a metric is asked for.
    pub fn wants(&self, name: &str) -> bool {
        if self.only.iter().any(|only| only == name) {
            return true;
        }
        match Card::find(name).is_none_or(|card| card.usual) {
            true => self.only.is_empty(),
            false => self.pairs,
        }
    }

    /// Whether all that is asked for reads means of groups as the numbers they are.
    pub fn reads_means(&self) -> bool {
        let reads = |name: &String| Card::find(name).is_some_and(|card| card.reads_means);
        !self.only.is_empty() && self.only.iter().all(reads)
    }

    /// The measures asked for that fit what is published.
    pub fn cards(&self, layout: Layout) -> impl Iterator<Item = &'static Card> {
        UTILITIES.iter().copied().filter(move |card| card.fits.contains(&layout) && self.wants(card.name))
    }

    /// The column to predict, if it is named and will be predicted.
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref().filter(|_| self.wants(classification::CARD.name))
    }
}
