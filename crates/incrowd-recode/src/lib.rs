//! How a release is made.
//!
//! An algorithm takes a [`Dataset`] and bound models and answers with a
//! [`Partition`] every group of which the models admit. It never sees records, opens no file
//! and knows nothing of how its answer will be judged.
//!
//! Each algorithm is one module with a [`Card`]; [`ALGORITHMS`] lists them.

pub mod anatomy;
pub mod ascent;
pub mod auto;
pub mod expansion;
pub mod full_domain;
mod improve;
pub mod join;
pub mod least;
pub mod local_recoding;
pub mod local_suppression;
pub mod mdav;
pub mod mondrian;
pub mod optimized;
mod report;
pub mod suppression;
pub mod top_down;
pub mod ungrouped;

pub use report::{AlgorithmReport, Outcome, Reported};

use std::fmt::Debug;
use std::sync::Arc;

use incrowd_core::model::{BoundModel, Need, Promise};
use incrowd_core::{
    Dataset, Domain, Error, Param, Params, Partition, Persons, Progress, Result, Value, near_miss,
};

/// Every algorithm incrowd knows. A new algorithm is one module and one line here, whether it has a report or not.
pub const ALGORITHMS: &[&Card] = &[
    &auto::CARD,
    &mondrian::CARD,
    &local_recoding::CARD,
    &full_domain::CARD,
    &ascent::CARD,
    &optimized::CARD,
    &top_down::CARD,
    &expansion::EXPC_PLUS,
    &expansion::EXPC,
    &expansion::GNOF,
    &expansion::GOF,
    &expansion::REMOVE,
    &mdav::CARD,
    &anatomy::CARD,
];

/// An algorithm's entry in the list.
pub struct Card {
    /// The name in a job file.
    pub name: &'static str,
    /// The paper's key in `docs/papers.md`.
    pub paper: &'static str,
    /// What it does.
    pub about: &'static str,
    /// What it does not do, or does badly.
    pub limits: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// The parameters, with their values, under which the same table always gives the same groups. Empty if it does with any:
    /// then whatever is drawn follows from the parameters, or from the job's key.
    pub repeatable: &'static [(&'static str, &'static str)],
    /// Whether it decides about a region of the table without looking at the rest of it, so that a table can be planned in parts.
    pub local: bool,
    /// Makes the algorithm from checked parameters.
    pub make: fn(&Params) -> Result<Box<dyn Algorithm>>,
}

impl Debug for Card {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Card").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A way to partition a table.
pub trait Algorithm: Debug + Send + Sync {
    /// Whether it is sound only for models that survive the merging of groups: because it prunes, or because it may publish
    /// two groups with the same cells, which are one group to a reader.
    fn needs_merging(&self) -> bool;

    /// Whether the summaries it shows to models hold this.
    fn supplies(&self, need: Need) -> bool {
        need != Need::Region
    }

    /// Whether its summaries say how many people records stand for, and it does not part the records of a row.
    fn weighs(&self) -> bool {
        false
    }

    /// Partitions the table so that every model admits every group. The caller has bound the models to this very
    /// table; `Err` means it cannot be done, or not with these parameters. Rows of at most `suppressible` records may be
    /// left without a group.
    fn recode(
        &self,
        data: &Dataset,
        models: &[Box<dyn BoundModel>],
        suppressible: u64,
        progress: &dyn Progress,
    ) -> Result<Partition>;

    /// The same, with what else is known of how it was found.
    fn recode_and_report(
        &self,
        data: &Dataset,
        models: &[Box<dyn BoundModel>],
        suppressible: u64,
        progress: &dyn Progress,
    ) -> Result<Recoding> {
        let partition = self.recode(data, models, suppressible, progress)?;
        Ok(Recoding::new(partition))
    }

    /// The table as the algorithm wants it, before models are bound to it: lines may be replaced by others with the same
    /// leaves.
    fn prepare(&self, data: Dataset) -> Result<Dataset> {
        Ok(data)
    }

    /// The same idea among rows of which some are external, for k-join-anonymity; `None` if there is no such thing.
    fn join(&self) -> Option<&dyn join::JoinAlgorithm> {
        None
    }

    /// What it does if it generalizes nothing and publishes two linked tables instead; then it cannot recode.
    fn linked(&self) -> Option<&anatomy::Anatomy> {
        None
    }
}

/// What an algorithm answers.
#[derive(Clone, Debug)]
pub struct Recoding {
    /// Who stands together.
    pub partition: Partition,
    /// What else is known, if anything; for the data owner only.
    pub report: Reported,
    /// The lines the groups are published with, if not those of the table. They have the same leaves.
    pub domains: Option<Vec<Domain>>,
}

impl Recoding {
    /// The same with a report.
    #[must_use]
    pub fn reporting(self, report: impl AlgorithmReport) -> Recoding {
        Recoding { report: Some(Arc::new(report)), ..self }
    }

    /// The report as the type the algorithm made.
    pub fn report_as<T: AlgorithmReport>(&self) -> Option<&T> {
        self.report.as_deref().and_then(|report| report.downcast())
    }

    /// A partition about which nothing else is known.
    pub fn new(partition: Partition) -> Recoding {
        Recoding { partition, report: None, domains: None }
    }
}

/// How many records every group has at least, whatever else the models ask: as many persons have as many records.
pub(crate) fn fewest_records(models: &[Box<dyn BoundModel>]) -> u64 {
    models.iter().map(|model| model.fewest_records()).max().unwrap_or(1).max(1)
}

/// How many different persons every group has at least, with those behind the records, if a model asks for that.
pub(crate) fn fewest_persons<'a>(
    data: &'a Dataset,
    models: &[Box<dyn BoundModel>],
) -> Option<(&'a Persons, u64)> {
    let least = models.iter().filter_map(|model| model.least_persons()).max()?;
    data.persons().map(|persons| (&**persons, least))
}

/// Whether a model asks for more than a number of records or of persons.
pub(crate) fn asks_more(model: &dyn BoundModel) -> bool {
    model.least_records().is_none() && model.least_persons().is_none()
}

/// An algorithm as a job names it.
#[derive(Debug)]
pub struct Method {
    /// The list entry.
    pub card: &'static Card,
    /// The parameters, defaults included.
    pub params: Params,
    /// The algorithm.
    pub algorithm: Box<dyn Algorithm>,
}

/// The error for a parameter that is none of this algorithm's but of others.
fn elsewhere(card: &Card, given: &[(String, Value)]) -> Option<Error> {
    let has = |card: &Card, name: &str| card.params.iter().any(|param| param.name == name);
    let name = given.iter().map(|(name, _)| name).find(|name| !has(card, name))?;
    if near_miss(name, card.params.iter().map(|param| param.name)).is_some() {
        return None;
    }
    let known = || ALGORITHMS.iter().flat_map(|card| card.params).map(|param| param.name);
    let meant = near_miss(name, known())?;
    let others: Vec<String> =
        ALGORITHMS.iter().filter(|card| has(card, meant)).map(|card| format!("`{}`", card.name)).collect();
    let others = match others.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => return None,
    };
    let error = Error::job(format!("`{}` has no parameter `{name}`", card.name));
    Some(error.help(format!("`{meant}` is a parameter of {others}: name that algorithm")).at(name.clone()))
}

impl Method {
    /// The algorithm of that name with those parameters.
    pub fn new(name: &str, given: impl IntoIterator<Item = (String, Value)>) -> Result<Method> {
        let Some(card) = ALGORITHMS.iter().find(|card| card.name == name) else {
            let known = ALGORITHMS.iter().map(|card| card.name);
            return Err(Error::job(format!("there is no algorithm `{name}`"))
                .help_near(name, known)
                .at("name"));
        };
        let given: Vec<(String, Value)> = given.into_iter().collect();
        let params = Params::new(card.name, card.params, given.iter().cloned())
            .map_err(|error| elsewhere(card, &given).unwrap_or(error))?;
        let algorithm = (card.make)(&params)?;
        Ok(Method { card, params, algorithm })
    }

    /// Refuses models the algorithm would not be sound for on this table: where a person has records in several groups, less
    /// survives merging.
    pub fn accepts_table(&self, promises: &[Promise], data: &Dataset) -> Result<()> {
        let broken =
            |promise: &&Promise| promise.model.card().survives.merging && !promise.survives_merging(data);
        match promises.iter().find(broken) {
            Some(promise) if self.algorithm.needs_merging() => {
                let (method, model) = (self.card.name, promise.name());
                Err(Error::job(format!(
                    "`{method}` with these options cannot be used with `{model}` here: some persons have records that differ \
                     in their quasi-identifiers, so two groups that satisfy it may break it together"
                ))
                .help("`mondrian` with cut = \"strict\" never publishes two groups with the same cells")
                .at("algorithm"))
            }
            _ => Ok(()),
        }
    }

    /// Refuses models the algorithm would not be sound for.
    pub fn accepts(&self, promises: &[Promise]) -> Result<()> {
        for promise in promises {
            let card = promise.model.card();
            if let Some(need) = card.needs.iter().find(|need| !self.algorithm.supplies(**need)) {
                let (method, model) = (self.card.name, promise.name());
                let (what, help) = match need {
                    Need::Population => ("count people of a population", "use `mondrian`"),
                    _ => (
                        "look at the corners of groups",
                        "use `expc-plus`, with suppression_limit as high as you can bear",
                    ),
                };
                return Err(Error::job(format!(
                    "`{method}` cannot be used with `{model}`: it does not {what}"
                ))
                .help(help)
                .at("algorithm"));
            }
            if self.algorithm.needs_merging() && !promise.model.card().survives.merging {
                let (method, model) = (self.card.name, promise.name());
                return Err(Error::job(format!(
                    "`{method}` with these options cannot be used with `{model}`: merging two groups that satisfy it may \
                     break it"
                ))
                .help("`mondrian` with cut = \"strict\" never publishes two groups with the same cells")
                .at("algorithm"));
            }
        }
        Ok(())
    }
}
