//! What a release promises about its groups.
//!
//! A model is a recipe; bound to a table it answers one question about a group. Each model is one file with a [`Card`];
//! [`MODELS`] lists them, and the job file, the command line, `explain` and the test matrix read that list.

mod k_anonymity;

pub use k_anonymity::KAnonymity;

use std::fmt::Debug;

use crate::card::{Param, Params, Value};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::group::GroupSummary;

/// Every model incrowd knows. A new model is one file and one line here.
pub const MODELS: &[&Card] = &[&k_anonymity::CARD];

/// What a group summary must hold for a model to judge it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The number of records.
    Records,
    /// The histogram of the sensitive column the model is about.
    Sensitive,
}

/// Under which changes a promise that holds keeps holding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survives {
    /// Two admitted groups become one: then greedy splitting and pruning are sound.
    pub merging: bool,
    /// Whole groups leave the release.
    pub suppressing: bool,
}

/// A model's entry in the list.
pub struct Card {
    /// The name in a job file.
    pub name: &'static str,
    /// The paper's key in `docs/papers.md`.
    pub paper: &'static str,
    /// What it promises, in a sentence or two.
    pub promise: &'static str,
    /// What it does not protect against.
    pub limits: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// What a group summary must hold.
    pub needs: &'static [Need],
    /// Under which changes it keeps holding.
    pub survives: Survives,
    /// Makes the model from checked parameters.
    pub make: fn(&Params) -> Result<Box<dyn Model>>,
}

impl Debug for Card {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Card").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A promise, not yet bound to a table.
pub trait Model: Debug + Send + Sync {
    /// The model's entry in the list.
    fn card(&self) -> &'static Card;

    /// Binds the model to a table: whatever it must know beyond a single group is computed here, once. `Err` means that
    /// the model has no meaning for this table, for example because it is about a column the table lacks.
    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>>;
}

/// A promise about the groups of one table.
pub trait BoundModel: Debug + Send + Sync {
    /// Whether the group may be published. Depends on nothing but the parts of the summary the card names as needs.
    fn admits(&self, group: &GroupSummary) -> Verdict;

    /// If the answer depends on the number of records alone, the least number that is admitted. Algorithms use it to
    /// avoid building histograms.
    fn least_records(&self) -> Option<u64> {
        None
    }

    /// What the report calls the measured quantity, for example `smallest group`.
    fn measures(&self) -> &'static str;
}

/// Whether a group may be published.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// The quantity the model looks at.
    pub have: f64,
    /// What it would have to be, at least or at most.
    pub need: f64,
    /// The answer, decided in exact arithmetic and not by comparing the two floats.
    pub holds: bool,
    at_most: bool,
}

impl Verdict {
    /// For models that ask for at least something. `holds` is decided by the caller, exactly.
    pub fn at_least(have: f64, need: f64, holds: bool) -> Verdict {
        Verdict { have, need, holds, at_most: false }
    }

    /// For models that ask for at most something.
    pub fn at_most(have: f64, need: f64, holds: bool) -> Verdict {
        Verdict { have, need, holds, at_most: true }
    }

    /// How far on the safe side the group is; negative if it is not.
    pub fn margin(&self) -> f64 {
        if self.at_most { self.need - self.have } else { self.have - self.need }
    }
}

/// A model as a job names it: its parameters checked, so that it can be reported as it was asked for.
#[derive(Debug)]
pub struct Promise {
    /// The parameters, defaults included.
    pub params: Params,
    /// The model.
    pub model: Box<dyn Model>,
}

impl Promise {
    /// The model of that name with those parameters.
    pub fn new(name: &str, given: impl IntoIterator<Item = (String, Value)>) -> Result<Promise> {
        let Some(card) = MODELS.iter().find(|card| card.name == name) else {
            let known = MODELS.iter().map(|card| card.name);
            return Err(Error::job(format!("there is no model `{name}`")).help_near(name, known).at("name"));
        };
        let params = Params::new(card.name, card.params, given)?;
        let model = (card.make)(&params)?;
        Ok(Promise { params, model })
    }

    /// The model's name.
    pub fn name(&self) -> &'static str {
        self.model.card().name
    }

    /// Binds the model and refuses a table that could not satisfy it however it is grouped.
    pub fn bind_for_release(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        let bound = self.model.bind(data)?;
        // What survives merging holds of the whole table if it holds of any grouping.
        if self.model.card().survives.merging {
            let mut whole = GroupSummary::empty(data.sensitive().len());
            (0..data.rows()).for_each(|row| whole.add(data.weight(row), data.sensitive_codes(row)));
            let Verdict { have, need, holds, .. } = bound.admits(&whole);
            if !holds {
                let (title, what) = (self.title(), bound.measures());
                return Err(Error::unsatisfiable(format!(
                    "{title} cannot be kept: with all {} records in one group the {what} is {have}, and {need} is needed",
                    data.records()
                ))
                .help("ask for less, or bring more records"));
            }
        }
        Ok(bound)
    }

    /// The name and its parameters, `k-anonymity(k=5)`.
    pub fn title(&self) -> String {
        let params: Vec<String> = self.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{}({})", self.name(), params.join(", "))
    }
}
