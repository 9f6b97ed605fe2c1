//! What a release promises about its groups.
//!
//! A model is a recipe; bound to a table it answers one question about a group. Each model is one file with a [`Card`];
//! [`MODELS`] lists them, and the job file, the command line, `explain` and the test matrix read that list.

mod alpha_k_anonymity;
mod beta_likeness;
mod delta_disclosure;
mod delta_presence;
mod epsilon_m_anonymity;
mod k_anonymity;
mod k_e_anonymity;
mod k_map;
mod kinds;
mod l_diversity;
mod p_alpha_sensitive;
mod p_plus_alpha_sensitive;
mod p_sensitive;
mod plain_k_anonymity;
mod presence;
mod running;
mod spread;
mod t_closeness;
mod unit;
mod watched;

pub use k_anonymity::KAnonymity;
pub use kinds::Kind;
pub use presence::Presence;
pub use running::Running;

use std::fmt::Debug;

use crate::card::{Param, ParamKind, Params, Value};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::group::GroupSummary;
use crate::outlier::{Outliers, Settings};
use crate::region::Region;

/// Every model incrowd knows. A new model is one file and one line here.
pub const MODELS: &[&Card] = &[
    &k_anonymity::CARD,
    &l_diversity::CARD,
    &t_closeness::CARD,
    &alpha_k_anonymity::CARD,
    &k_e_anonymity::CARD,
    &epsilon_m_anonymity::CARD,
    &beta_likeness::CARD,
    &delta_disclosure::CARD,
    &k_map::CARD,
    &delta_presence::CARD,
    &p_sensitive::CARD,
    &p_alpha_sensitive::CARD,
    &p_plus_alpha_sensitive::CARD,
    &plain_k_anonymity::CARD,
];

/// The parameter of every model about a sensitive column.
const ON: Param = Param {
    name: "on",
    kind: ParamKind::Column,
    default: Some(""),
    about: "the sensitive column it is about; not needed if there is only one",
};

/// What a group summary must hold for a model to judge it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The number of records.
    Records,
    /// The histogram of the sensitive column the model is about.
    Sensitive,
    /// Only the categories of that column's values: they are what is published unless the job says otherwise.
    Categories,
    /// How many people of a population the group's cells cover.
    Population,
    /// The region the group's cells cover on the lines of the original table, which the model is bound to even where a
    /// release is judged.
    Region,
}

/// Under which changes a promise that holds keeps holding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survives {
    /// Two admitted groups become one: then what the whole table breaks no grouping can keep, and a lattice search may
    /// prune.
    pub merging: bool,
    /// The same where a person may have records in both groups. Nearly nothing but numbers of persons survives that: each of
    /// two persons may have v in one group and w in the other, and both have both in the union.
    pub overlapping: bool,
    /// Whole groups leave the release. Models that compare a group with the whole release do not survive that.
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
    /// What it promises by a parameter that chooses between several meanings; none if there is only one.
    pub kinds: &'static [Kind],
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

    /// Refuses a table the promise cannot be meant for. Asked of what somebody states a promise about, and not of a release
    /// made under it: suppression may have taken every record of a value.
    fn suits(&self, _: &Dataset) -> Result<()> {
        Ok(())
    }

    /// Binds the model to a table: whatever it must know beyond a single group is computed here, once. `Err` means that
    /// the model has no meaning for this table, for example because it is about a column the table lacks.
    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>>;

    /// Whether it can be judged by how many people records stand for, where the table has sampling weights and there is no
    /// population table.
    fn weighs(&self) -> bool {
        false
    }

    /// What the model calls an outlier, if it knows the word.
    fn outlier_settings(&self) -> Option<&Settings> {
        None
    }
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

    /// No group with fewer records is ever admitted, whatever its values; 1 if nothing is known. Algorithms need not judge smaller
    /// groups.
    fn fewest_records(&self) -> u64 {
        self.least_records().or(self.least_persons()).unwrap_or(1)
    }

    /// If the answer depends on the number of different persons alone, the least number that is admitted. Never there beside
    /// [`least_records`](BoundModel::least_records).
    fn least_persons(&self) -> Option<u64> {
        None
    }

    /// How much a group lacks, what matters most first; zeros if it is admitted. Algorithms that move records one by one
    /// choose by it.
    fn missing(&self, group: &GroupSummary) -> [f64; 2] {
        let verdict = self.admits(group);
        [if verdict.holds { 0.0 } else { verdict.margin().abs().max(f64::MIN_POSITIVE) }, 0.0]
    }

    /// The sensitive column whose histogram is looked at, by its position in the table.
    fn looks_at(&self) -> Option<usize> {
        None
    }

    /// An empty group for counting records as they come and go; nothing if the model judges from scratch. What it answers is
    /// what [`BoundModel::admits`] would.
    fn running(&self) -> Option<Box<dyn Running + '_>> {
        None
    }

    /// Which values of the column it looks at a group must have, whatever their counts; nothing if nothing is known.
    fn presence(&self) -> Option<Presence> {
        None
    }

    /// How many different values of the column it looks at a group has at least; 1 if nothing is known.
    fn least_values(&self) -> u64 {
        1
    }

    /// The outliers of the table it is bound to, if it knows any. Algorithms that treat outliers apart ask for them.
    fn outliers(&self) -> Option<&Outliers> {
        None
    }

    /// Whether outliers must hide from corners, so that who fits into no box without a dead corner must leave.
    fn asks_corners(&self) -> bool {
        false
    }

    /// Whether no group whose cells cover this region is ever admitted, whatever its records.
    fn hopeless(&self, _: &Region) -> bool {
        false
    }

    /// A condition on the whole table without which no grouping of it is admitted. For models that survive merging that is
    /// the model itself; others say what they can.
    fn attainable(&self, whole: &GroupSummary) -> Verdict {
        self.admits(whole)
    }
}

/// Whether a group may be published.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// What is measured, for example `smallest group`: a name that fits the worst of all groups.
    pub what: &'static str,
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
    pub fn at_least(what: &'static str, have: f64, need: f64, holds: bool) -> Verdict {
        Verdict { what, have, need, holds, at_most: false }
    }

    /// For models that ask for at most something.
    pub fn at_most(what: &'static str, have: f64, need: f64, holds: bool) -> Verdict {
        Verdict { what, have, need, holds, at_most: true }
    }

    /// Both must hold; the answer is about the one that is worse.
    #[must_use]
    pub fn and(self, other: Verdict) -> Verdict {
        if other.is_worse_than(&self) { other } else { self }
    }

    /// How far on the safe side the group is; negative if it is not.
    pub fn margin(&self) -> f64 {
        if self.at_most { self.need - self.have } else { self.have - self.need }
    }

    /// Whether this is what to report rather than the other: what fails before what holds, then what has less room in
    /// proportion to what is needed. Ties are decided by what is measured, so that the order of groups, which is that of the
    /// records, decides nothing.
    pub fn is_worse_than(&self, other: &Verdict) -> bool {
        let room = |v: &Verdict| v.margin() / if v.need == 0.0 { 1.0 } else { v.need.abs() };
        let order = self.holds.cmp(&other.holds).then(room(self).total_cmp(&room(other)));
        let order = order.then(self.what.cmp(other.what)).then(other.need.total_cmp(&self.need));
        order.then(other.have.total_cmp(&self.have)).is_lt()
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

    /// The same for a table with these sensitive columns: what the promise is about must be one of them, and is filled in
    /// if there is only one.
    pub fn about(
        name: &str,
        given: impl IntoIterator<Item = (String, Value)>,
        sensitive: &[&str],
    ) -> Result<Promise> {
        let mut given: Vec<(String, Value)> = given.into_iter().collect();
        let card = MODELS.iter().find(|card| card.name == name);
        let columns = card.into_iter().flat_map(|card| card.params).filter(|p| p.kind == ParamKind::Column);
        for param in columns {
            let stated = given.iter().position(|(name, _)| name == param.name);
            match (stated.map(|at| &given[at].1), sensitive) {
                (Some(Value::Word(word)), _) if !word.is_empty() => {
                    if !sensitive.contains(&word.as_str()) {
                        let error = Error::job(format!(
                            "`{name}` is about `{word}`, which is not a sensitive column"
                        ));
                        return Err(error.help_near(word, sensitive.iter().copied()).at(param.name));
                    }
                }
                (Some(other), _) if !matches!(other, Value::Word(_)) => {}
                (_, []) => {
                    return Err(Error::job(format!("`{name}` needs a sensitive column, and there is none"))
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
        Promise::new(name, given)
    }

    /// The model's name.
    pub fn name(&self) -> &'static str {
        self.model.card().name
    }

    /// Whether the union of two groups of this table that satisfy the model does: where a person has records in several
    /// groups, less survives merging than one thinks.
    pub fn survives_merging(&self, data: &Dataset) -> bool {
        let survives = self.model.card().survives;
        let overlapping = data.persons().is_some_and(|persons| !persons.nested());
        survives.merging && (survives.overlapping || !overlapping)
    }

    /// Binds the model and refuses a table that could not satisfy it however it is grouped.
    pub fn bind_for_release(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        self.model.suits(data)?;
        let bound = self.model.bind(data)?;
        // Where the number of records decides, the rows need not be looked at.
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
                "{title} cannot be kept: with all {all} {unit} in one group the {what} is {have}, and {need} is needed"
            ))
            .help(format!("ask for less, or bring more {unit}")));
        }
        if let Some(population) =
            data.population().filter(|_| self.model.card().needs.contains(&Need::Population))
        {
            let everybody: Vec<u32> = (0..population.rows() as u32).collect();
            let uncovered = population.people(&everybody) - whole.population;
            let outside =
                GroupSummary { population: uncovered, ..GroupSummary::empty(data.sensitive().len()) };
            let Verdict { what, have, need, holds, .. } = bound.admits(&outside);
            if !holds {
                let (title, have, need) = (self.title(), short(have), short(need));
                return Err(Error::unsatisfiable(format!(
                    "{title} cannot be kept: {uncovered} people of the population have values that no record's cells would \
                     cover; for them the {what} is {have}, and {need} is needed"
                ))
                .help("leave people out of the population who cannot be in the table, or ask for less"));
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

/// The position of the sensitive column `on`; an empty name is the only one there is.
pub(crate) fn find_sensitive(data: &Dataset, on: &str) -> Result<usize> {
    watched::Watched::find(data, on).map(|(watched, _)| watched.column)
}

/// A number for a message: whole, or with six decimals.
fn short(x: f64) -> String {
    if x.fract() == 0.0 { format!("{x}") } else { format!("{x:.6}").trim_end_matches('0').to_owned() }
}
