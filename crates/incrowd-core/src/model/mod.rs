//! Privacy models.
//!
//! A model is defined by its name and parameters. Bound to a table, it decides whether a group may
//! be published. Each model is one file with a [`Card`]. [`MODELS`] lists all cards; the job file,
//! the command line, `explain` and the test matrix read that list.

mod alpha_k_anonymity;
mod beta_likeness;
mod delta_disclosure;
mod delta_presence;
mod epsilon_m_anonymity;
mod k_anonymity;
mod k_e_anonymity;
mod k_map;
mod l_diversity;
mod p_alpha_sensitive;
mod p_plus_alpha_sensitive;
mod p_sensitive;
mod plain_k_anonymity;
mod presence;
mod running;
mod spread;
mod t_closeness;
mod target;
mod unit;
mod variant;

pub use k_anonymity::KAnonymity;
pub use presence::Presence;
pub use running::Running;
pub use variant::Variant;

use std::fmt::Debug;

use crate::card::{Param, ParamKind, Params, Value};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::group::GroupSummary;
use crate::outlier::{Outliers, Settings};
use crate::region::Region;

/// Defines the list of models, and for each model the function that states it.
macro_rules! models {
    ($($model:ident($($param:ident: $type:ty),*)),* $(,)?) => {
        /// All privacy models.
        pub const MODELS: &[&Card] = &[$(&$model::CARD),*];

        $(
            /// States the model of this name. All other parameters have their defaults;
            /// [`Stated::with`] sets them.
            pub fn $model($($param: $type),*) -> Stated {
                Stated::new(&$model::CARD)$(.with(stringify!($param), $param))*
            }
        )*

        /// Every model, stated with 1 for each required parameter.
        #[cfg(test)]
        fn stated_with_ones() -> Vec<(&'static Card, Stated)> {
            vec![$((&$model::CARD, $model($(<$type>::from(1u8)),*))),*]
        }
    };
}

// A new model is one file and one line here, with its required parameters in the order of its card.
models! {
    k_anonymity(k: u32),
    l_diversity(l: u32),
    t_closeness(t: f64),
    alpha_k_anonymity(alpha: f64, k: u32),
    k_e_anonymity(k: u32, e: f64),
    epsilon_m_anonymity(epsilon: f64, m: u32),
    beta_likeness(beta: f64),
    delta_disclosure(delta: f64),
    k_map(k: u32),
    delta_presence(delta_max: f64),
    p_sensitive(p: u32, k: u32),
    p_alpha_sensitive(p: u32, alpha: f64, k: u32),
    p_plus_alpha_sensitive(p: u32, alpha: f64, k: u32),
    plain_k_anonymity(k: u32),
}

/// A model with the parameters that a program states.
///
/// ```
/// use incrowd_core::model::{PrivacyModel, l_diversity};
///
/// let stated = l_diversity(3).on("disease").with("kind", "entropy");
/// let privacy_model = PrivacyModel::new(stated.card.name, stated.params).unwrap();
/// assert_eq!(privacy_model.title(), "l-diversity(kind=entropy, l=3, on=disease)");
/// ```
#[derive(Clone, Debug)]
pub struct Stated {
    /// The model.
    pub card: &'static Card,
    /// The stated parameters. They are checked when a [`PrivacyModel`] is made of them.
    pub params: Vec<(String, Value)>,
}

impl Stated {
    /// States a model of the list [`MODELS`] without parameters.
    pub fn new(card: &'static Card) -> Stated {
        Stated { card, params: Vec::new() }
    }

    /// Sets the sensitive column that the model is about; not needed if there is only one.
    #[must_use]
    pub fn on(self, column: &str) -> Stated {
        self.with(ON.name, column)
    }

    /// Sets a parameter.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Stated {
        self.params.retain(|(known, _)| known != name);
        self.params.push((name.to_owned(), value.into()));
        self
    }
}

/// The parameter of every model that protects a sensitive column.
const ON: Param = Param::column("on")
    .optional()
    .about("the sensitive column it is about; not needed if there is only one");

/// Data that a model needs in a group summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The number of records.
    Records,
    /// The histogram of the sensitive column the model is about.
    Sensitive,
    /// Only the categories of that column's values. They are published by default.
    Categories,
    /// The number of people of a population that the group's cells cover.
    Population,
    /// The region that the group's cells cover in the domains of the original table. Such a model
    /// is bound to the original table even when a release is judged.
    Region,
}

/// Changes of a release under which a guarantee still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survives {
    /// Two admitted groups are merged. If this holds, a table that is not admitted as one group has
    /// no admitted grouping, and a lattice search may prune.
    pub merging: bool,
    /// Two admitted groups are merged and a person may have records in both. Few guarantees other
    /// than numbers of persons survive that: each of two persons may have v in one group and w in
    /// the other, and both values in the union.
    pub overlapping: bool,
    /// Whole groups are suppressed. Models that compare a group with the whole release do not
    /// survive that.
    pub suppressing: bool,
}

/// A model's entry in the list.
pub struct Card {
    /// The name in a job file.
    pub name: &'static str,
    /// The paper's key in `docs/papers.md`.
    pub paper: &'static str,
    /// The guarantee, in one or two sentences.
    pub guarantee: &'static str,
    /// The attacks it does not protect against.
    pub limits: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// The guarantees by value of the parameter that chooses between several definitions; empty if
    /// there is only one definition.
    pub variants: &'static [Variant],
    /// The data it needs in a group summary.
    pub needs: &'static [Need],
    /// The changes under which the guarantee still holds.
    pub survives: Survives,
    /// Creates the model from checked parameters.
    pub make: fn(&Params) -> Result<Box<dyn Model>>,
}

crate::opaque_debug!(Card { name });

/// A privacy model with parameters, not yet bound to a table.
pub trait Model: Debug + Send + Sync {
    /// The model's entry in the list.
    fn card(&self) -> &'static Card;

    /// Refuses a table for which the model is meaningless. Called for the original table, not for a
    /// release: suppression may have removed every record of a value.
    fn suits(&self, _: &Dataset) -> Result<()> {
        Ok(())
    }

    /// Binds the model to a table. Statistics of the whole table are computed here, once. `Err`
    /// means that the model is undefined for this table, for example because the table lacks its
    /// column.
    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>>;

    /// Whether the model can use sampling weights if there is no population table.
    fn weighs(&self) -> bool {
        false
    }

    /// The definition of an outlier, if the model has one.
    fn outlier_settings(&self) -> Option<&Settings> {
        None
    }
}

/// A privacy model bound to a table.
pub trait BoundModel: Debug + Send + Sync {
    /// Decides whether the group may be published. Reads only the parts of the summary that the
    /// card lists as needs.
    fn admits(&self, group: &GroupSummary) -> Verdict;

    /// The least number of records that is admitted, if the verdict depends on that number only.
    /// Algorithms use it to avoid building histograms.
    fn least_records(&self) -> Option<u64> {
        None
    }

    /// A lower bound: groups with fewer records are never admitted; 1 if no bound is known.
    /// Algorithms do not judge smaller groups.
    fn fewest_records(&self) -> u64 {
        self.least_records().or(self.least_persons()).unwrap_or(1)
    }

    /// The least number of different persons that is admitted, if the verdict depends on that
    /// number only. Never set together with [`least_records`](BoundModel::least_records).
    fn least_persons(&self) -> Option<u64> {
        None
    }

    /// The distance of a group from being admitted, most important component first; zeros if it is
    /// admitted. Used by algorithms that move single records.
    fn missing(&self, group: &GroupSummary) -> [f64; 2] {
        let verdict = self.admits(group);
        [if verdict.holds { 0.0 } else { verdict.margin().abs().max(f64::MIN_POSITIVE) }, 0.0]
    }

    /// The index of the sensitive column whose histogram is read.
    fn sensitive_column(&self) -> Option<usize> {
        None
    }

    /// An empty group for adding and removing single records, with the verdicts of
    /// [`BoundModel::admits`]. `None` if the model has no incremental form.
    fn running(&self) -> Option<Box<dyn Running + '_>> {
        None
    }

    /// The values of its sensitive column that a group must contain, whatever their counts; `None`
    /// if no such condition is known.
    fn presence(&self) -> Option<Presence> {
        None
    }

    /// The least number of different values of its sensitive column in an admitted group; 1 if no
    /// bound is known.
    fn least_values(&self) -> u64 {
        1
    }

    /// The outliers of the bound table, for algorithms that treat them separately.
    fn outliers(&self) -> Option<&Outliers> {
        None
    }

    /// Whether corners are checked: an outlier that fits into no box without a dead corner must be
    /// suppressed.
    fn checks_corners(&self) -> bool {
        false
    }

    /// Whether a group whose cells cover this region is never admitted, whatever its records.
    fn hopeless(&self, _: &Region) -> bool {
        false
    }

    /// A necessary condition on the whole table: if it fails, no grouping is admitted. For models
    /// that survive merging it is the model itself; other models override it.
    fn attainable(&self, whole: &GroupSummary) -> Verdict {
        self.admits(whole)
    }
}

/// The verdict of a model on a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// The measured quantity, for example `smallest group`: a name that fits the worst of all
    /// groups.
    pub what: &'static str,
    /// The measured value.
    pub have: f64,
    /// The threshold, a minimum or a maximum.
    pub need: f64,
    /// The decision, made in exact arithmetic and not by comparing the two floats.
    pub holds: bool,
    at_most: bool,
}

impl Verdict {
    /// A verdict with a minimum. `holds` is decided exactly by the caller.
    pub fn at_least(what: &'static str, have: f64, need: f64, holds: bool) -> Verdict {
        Verdict { what, have, need, holds, at_most: false }
    }

    /// A verdict with a maximum.
    pub fn at_most(what: &'static str, have: f64, need: f64, holds: bool) -> Verdict {
        Verdict { what, have, need, holds, at_most: true }
    }

    /// Combines two conditions; returns the worse verdict.
    #[must_use]
    pub fn and(self, other: Verdict) -> Verdict {
        if other.is_worse_than(&self) { other } else { self }
    }

    /// The distance from the threshold; negative if the condition fails.
    pub fn margin(&self) -> f64 {
        if self.at_most { self.need - self.have } else { self.have - self.need }
    }

    /// Whether this verdict is reported instead of the other: failures first, then the smaller
    /// relative margin. Ties are broken by the other fields, so the result does not depend on the
    /// order of the groups, which follows the order of the records.
    pub fn is_worse_than(&self, other: &Verdict) -> bool {
        let margin = |v: &Verdict| v.margin() / if v.need == 0.0 { 1.0 } else { v.need.abs() };
        let order = self.holds.cmp(&other.holds).then(margin(self).total_cmp(&margin(other)));
        let order = order.then(self.what.cmp(other.what)).then(other.need.total_cmp(&self.need));
        order.then(other.have.total_cmp(&self.have)).is_lt()
    }
}

/// A privacy model with its checked parameters.
#[derive(Debug)]
pub struct PrivacyModel {
    /// The parameters, defaults included.
    pub params: Params,
    /// The model.
    pub model: Box<dyn Model>,
}

impl PrivacyModel {
    /// Creates the model with this name and these parameters.
    pub fn new(
        name: &str,
        given: impl IntoIterator<Item = (String, Value)>,
    ) -> Result<PrivacyModel> {
        let Some(card) = MODELS.iter().find(|card| card.name == name) else {
            let known = MODELS.iter().map(|card| card.name);
            return Err(Error::job(format!("there is no model `{name}`"))
                .help_near(name, known)
                .at("name"));
        };
        let params = Params::new(card.name, card.params, given)?;
        let model = (card.make)(&params)?;
        Ok(PrivacyModel { params, model })
    }

    /// Creates a model for a table with these sensitive columns. The model's column must be one of
    /// them; it is filled in if there is only one.
    pub fn about(
        name: &str,
        given: impl IntoIterator<Item = (String, Value)>,
        sensitive: &[&str],
    ) -> Result<PrivacyModel> {
        let mut given: Vec<(String, Value)> = given.into_iter().collect();
        let card = MODELS.iter().find(|card| card.name == name);
        let columns =
            card.into_iter().flat_map(|card| card.params).filter(|p| p.kind == ParamKind::Column);
        for param in columns {
            let stated = given.iter().position(|(name, _)| name == param.name);
            match (stated.map(|at| &given[at].1), sensitive) {
                (Some(Value::Word(word)), _) if !word.is_empty() => {
                    if !sensitive.contains(&word.as_str()) {
                        let error = Error::job(format!(
                            "`{name}` is about `{word}`, which is not a sensitive column"
                        ));
                        return Err(error
                            .help_near(word, sensitive.iter().copied())
                            .at(param.name));
                    }
                }
                (Some(other), _) if !matches!(other, Value::Word(_)) => {}
                (_, []) => {
                    return Err(Error::job(format!(
                        "`{name}` needs a sensitive column, and there is none"
                    ))
                    .help("name one with `[columns] role = \"sensitive\"`"));
                }
                (_, [only]) => {
                    given.retain(|(name, _)| name != param.name);
                    given.push((param.name.to_owned(), Value::Word((*only).to_owned())));
                }
                (_, several) => {
                    return Err(Error::job(format!("which sensitive column is `{name}` about?"))
                        .help(format!("add `{}`, one of: {}", param.name, several.join(", "))));
                }
            }
        }
        PrivacyModel::new(name, given)
    }

    /// The model's name.
    pub fn name(&self) -> &'static str {
        self.model.card().name
    }

    /// Whether the union of two admitted groups of this table is admitted. If a person has records
    /// in several groups, fewer models survive merging.
    pub fn survives_merging(&self, data: &Dataset) -> bool {
        let survives = self.model.card().survives;
        let overlapping = data.persons().is_some_and(|persons| !persons.nested());
        survives.merging && (survives.overlapping || !overlapping)
    }

    /// Binds the model. Refuses a table of which no grouping is admitted.
    pub fn bind_for_release(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        self.model.suits(data)?;
        let bound = self.model.bind(data)?;
        // The number of records decides: no need to read the rows.
        let enough = bound.least_records().is_some_and(|least| data.records() >= least);
        if enough && data.persons().is_none() && data.population().is_none() {
            return Ok(bound);
        }
        let whole = data.whole();
        let Verdict { what, have, need, holds, .. } = bound.attainable(&whole);
        let overlapping = self.model.card().survives.merging && !self.survives_merging(data);
        if !holds && !overlapping {
            let (all, unit) = match data.persons() {
                None => (data.records(), "records"),
                Some(persons) => (persons.different(), "persons"),
            };
            let (title, have, need) = (self.title(), short(have), short(need));
            return Err(Error::unsatisfiable(format!(
                "{title} cannot be satisfied: with all {all} {unit} in one group the {what} is \
                 {have}, and {need} is needed"
            ))
            .help(format!("choose weaker parameters, or provide more {unit}")));
        }
        if let Some(population) =
            data.population().filter(|_| self.model.card().needs.contains(&Need::Population))
        {
            let everybody: Vec<u32> = (0..population.rows() as u32).collect();
            let uncovered = population.people(&everybody) - whole.population;
            let outside = GroupSummary {
                population: uncovered,
                ..GroupSummary::empty(data.sensitive().len())
            };
            let Verdict { what, have, need, holds, .. } = bound.admits(&outside);
            if !holds {
                let (title, have, need) = (self.title(), short(have), short(need));
                return Err(Error::unsatisfiable(format!(
                    "{title} cannot be satisfied: {uncovered} people of the population have \
                     values that no record's cells would cover; for them the {what} is {have}, \
                     and {need} is needed"
                ))
                .help(
                    "remove people from the population who cannot be in the table, or choose \
                     weaker parameters",
                ));
            }
        }
        Ok(bound)
    }

    /// The name and its parameters, `k-anonymity(k=5)`.
    pub fn title(&self) -> String {
        let stated = self.params.iter().map(|(name, value)| (name, value.to_string()));
        let params: Vec<String> = stated
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        format!("{}({})", self.name(), params.join(", "))
    }
}

/// The index of the sensitive column `on`; an empty name stands for the only one.
pub(crate) fn find_sensitive(data: &Dataset, on: &str) -> Result<usize> {
    target::TargetColumn::find(data, on).map(|(target, _)| target.column)
}

/// Formats a number for a message: an integer, or up to six decimals.
fn short(x: f64) -> String {
    if x.fract() == 0.0 {
        format!("{x}")
    } else {
        format!("{x:.6}").trim_end_matches('0').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_is_stated_by_its_required_parameters() {
        for (card, stated) in stated_with_ones() {
            let required = card.params.iter().filter(|param| param.default.is_none());
            let names: Vec<&str> = required.map(|param| param.name).collect();
            assert!(stated.params.iter().map(|(name, _)| name).eq(&names), "{}", card.name);
            let privacy_model = PrivacyModel::new(stated.card.name, stated.params);
            assert_eq!(
                privacy_model.unwrap_or_else(|e| panic!("{}: {e}", card.name)).name(),
                card.name
            );
        }
    }
}
