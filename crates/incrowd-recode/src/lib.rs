//! Anonymization algorithms.
//!
//! An algorithm takes a [`Dataset`] and bound models. It returns a [`Partition`] in which every
//! model admits every group. Algorithms read rows of codes, not records. They open no files and do
//! not depend on the verification of releases.
//!
//! Each algorithm is one module with a [`Card`]; [`ALGORITHMS`] lists them.

pub mod alike;
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

use incrowd_core::model::{BoundModel, Need, PrivacyModel};
use incrowd_core::{
    Dataset, Domain, Error, Param, Params, Partition, Persons, Progress, Result, Value, near_miss,
};

/// All algorithms. A new algorithm is one module and one line here, with or without a report.
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

/// The description of an algorithm.
pub struct Card {
    /// The name in a job file.
    pub name: &'static str,
    /// The paper's key in `docs/papers.md`.
    pub paper: &'static str,
    /// A description of what the algorithm does.
    pub about: &'static str,
    /// Known limitations.
    pub limits: &'static str,
    /// The parameters it accepts.
    pub params: &'static [Param],
    /// The parameter values with which equal tables give equal groups. Empty if that is the case
    /// with all values: any random draws then follow from the parameters or from the job's key.
    pub repeatable: &'static [(&'static str, &'static str)],
    /// Whether the decision about a region of the table does not depend on the rest of the table.
    /// The regions of a table can then be planned separately.
    pub local: bool,
    /// Creates the algorithm from checked parameters.
    pub make: fn(&Params) -> Result<Box<dyn Algorithm>>,
}

incrowd_core::opaque_debug!(Card { name });

/// What an algorithm has to partition.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The table.
    pub data: &'a Dataset,
    /// The models, bound to the table.
    pub models: &'a [Box<dyn BoundModel>],
    /// The number of records that may be left without a group, in whole rows.
    pub suppressible: u64,
    /// Receives the progress.
    pub progress: &'a dyn Progress,
}

incrowd_core::opaque_debug!(Task<'_> { data, models, suppressible });

/// A method that partitions a table into groups.
pub trait Algorithm: Debug + Send + Sync {
    /// Returns whether the algorithm is sound only for models that survive the merging of groups:
    /// because it prunes, or because it may publish two groups with equal cells, which a reader of
    /// the release sees as one group.
    fn needs_merging(&self) -> bool;

    /// Returns whether the summaries passed to the models contain this.
    fn supplies(&self, need: Need) -> bool {
        need != Need::Region
    }

    /// Returns whether the summaries contain the sum of sampling weights. The algorithm then keeps
    /// all records of a row in one group.
    fn weighs(&self) -> bool {
        false
    }

    /// Partitions the table so that every model admits every group. The result contains the
    /// algorithm's report, if it has one.
    ///
    /// Returns an error if no such partition exists or if the algorithm cannot find one with its
    /// parameters.
    fn solve(&self, task: Task<'_>) -> Result<Recoding>;

    /// Solves the task of partitioning this table.
    fn recode_and_report(
        &self,
        data: &Dataset,
        models: &[Box<dyn BoundModel>],
        suppressible: u64,
        progress: &dyn Progress,
    ) -> Result<Recoding> {
        self.solve(Task { data, models, suppressible, progress })
    }

    /// Partitions the table like [`recode_and_report`](Algorithm::recode_and_report), without the
    /// report.
    fn recode(
        &self,
        data: &Dataset,
        models: &[Box<dyn BoundModel>],
        suppressible: u64,
        progress: &dyn Progress,
    ) -> Result<Partition> {
        Ok(self.recode_and_report(data, models, suppressible, progress)?.partition)
    }

    /// Transforms the table before models are bound to it. Domains may be replaced by others that
    /// have the same leaves.
    fn prepare(&self, data: Dataset) -> Result<Dataset> {
        Ok(data)
    }

    /// Returns whether [`prepare`](Algorithm::prepare) replaces the domains of numbers without a
    /// hierarchy by regular intervals. Bounds of a column do not apply to such intervals.
    fn makes_intervals(&self) -> bool {
        false
    }

    /// Returns the variant of this algorithm for k-join-anonymity, in which some rows are external,
    /// if there is one.
    fn join(&self) -> Option<&dyn join::JoinAlgorithm> {
        None
    }

    /// Returns the parameters of Anatomy if this algorithm publishes two linked tables instead of
    /// generalized cells. Such an algorithm cannot recode.
    fn linked(&self) -> Option<&anatomy::Anatomy> {
        None
    }
}

/// The result of an algorithm.
#[derive(Clone, Debug)]
pub struct Recoding {
    /// The groups.
    pub partition: Partition,
    /// The algorithm's report, if it has one; for the data owner only.
    pub report: Reported,
    /// The domains in which the groups are published, if they differ from the table's. They have
    /// the same leaves.
    pub domains: Option<Vec<Domain>>,
}

impl Recoding {
    /// Sets the report.
    #[must_use]
    pub fn reporting(self, report: impl AlgorithmReport) -> Recoding {
        Recoding { report: Some(Arc::new(report)), ..self }
    }

    /// Returns the report if it has type `T`.
    pub fn report_as<T: AlgorithmReport>(&self) -> Option<&T> {
        self.report.as_deref().and_then(|report| report.downcast())
    }

    /// Creates a result without a report.
    pub fn new(partition: Partition) -> Recoding {
        Recoding { partition, report: None, domains: None }
    }
}

/// Returns the least number of records that the models require of a group. A model that requires n
/// persons requires at least n records.
pub(crate) fn fewest_records(models: &[Box<dyn BoundModel>]) -> u64 {
    models.iter().map(|model| model.fewest_records()).max().unwrap_or(1).max(1)
}

/// Returns the least number of distinct persons that the models require of a group, with the person
/// of each record. `None` if no model counts persons.
pub(crate) fn fewest_persons<'a>(
    data: &'a Dataset,
    models: &[Box<dyn BoundModel>],
) -> Option<(&'a Persons, u64)> {
    let least = models.iter().filter_map(|model| model.least_persons()).max()?;
    data.persons().map(|persons| (&**persons, least))
}

/// Returns whether a model requires more than a number of records or persons.
pub(crate) fn exceeds_counting(model: &dyn BoundModel) -> bool {
    model.least_records().is_none() && model.least_persons().is_none()
}

/// An algorithm with its parameters, as named in a job.
#[derive(Debug)]
pub struct Method {
    /// The algorithm's description.
    pub card: &'static Card,
    /// The parameters, including defaults.
    pub params: Params,
    /// The algorithm.
    pub algorithm: Box<dyn Algorithm>,
}

/// Returns an error that names the algorithms that do have a parameter `card` does not have.
fn foreign_parameter(card: &Card, given: &[(String, Value)]) -> Option<Error> {
    let has = |card: &Card, name: &str| card.params.iter().any(|param| param.name == name);
    let name = given.iter().map(|(name, _)| name).find(|name| !has(card, name))?;
    if near_miss(name, card.params.iter().map(|param| param.name)).is_some() {
        return None;
    }
    let known = || ALGORITHMS.iter().flat_map(|card| card.params).map(|param| param.name);
    let meant = near_miss(name, known())?;
    let others: Vec<String> = ALGORITHMS
        .iter()
        .filter(|card| has(card, meant))
        .map(|card| format!("`{}`", card.name))
        .collect();
    let others = match others.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => return None,
    };
    let error = Error::job(format!("`{}` has no parameter `{name}`", card.name));
    Some(
        error
            .help(format!("`{meant}` is a parameter of {others}: choose that algorithm"))
            .at(name.clone()),
    )
}

/// Advice for models that do not survive the merging of groups.
const STRICT_CUT: &str =
    "`mondrian` with cut = \"strict\" never publishes two groups with the same cells";
impl Method {
    /// Creates the algorithm with this name and these parameters.
    pub fn new(name: &str, given: impl IntoIterator<Item = (String, Value)>) -> Result<Method> {
        let Some(card) = ALGORITHMS.iter().find(|card| card.name == name) else {
            let known = ALGORITHMS.iter().map(|card| card.name);
            return Err(Error::job(format!("there is no algorithm `{name}`"))
                .help_near(name, known)
                .at("name"));
        };
        let given: Vec<(String, Value)> = given.into_iter().collect();
        let params = Params::new(card.name, card.params, given.iter().cloned())
            .map_err(|error| foreign_parameter(card, &given).unwrap_or(error))?;
        let algorithm = (card.make)(&params)?;
        Ok(Method { card, params, algorithm })
    }

    /// Returns an error if the algorithm is not sound for one of the models on this table. If a
    /// person has records in several groups, fewer models survive the merging of groups.
    pub fn accepts_table(&self, privacy_models: &[PrivacyModel], data: &Dataset) -> Result<()> {
        let broken = |privacy_model: &&PrivacyModel| {
            privacy_model.model.card().survives.merging && !privacy_model.survives_merging(data)
        };
        match privacy_models.iter().find(broken) {
            Some(privacy_model) if self.algorithm.needs_merging() => {
                let (method, model) = (self.card.name, privacy_model.name());
                Err(Error::job(format!(
                    "`{method}` with these options cannot be used with `{model}` here: some \
                     persons have records that differ in their quasi-identifiers, so merging two \
                     groups that satisfy the model may violate it"
                ))
                .help(STRICT_CUT)
                .at("algorithm"))
            }
            _ => Ok(()),
        }
    }

    /// Returns an error if the algorithm is not sound for one of the models.
    pub fn accepts(&self, privacy_models: &[PrivacyModel]) -> Result<()> {
        for privacy_model in privacy_models {
            let card = privacy_model.model.card();
            if let Some(need) = card.needs.iter().find(|need| !self.algorithm.supplies(**need)) {
                let (method, model) = (self.card.name, privacy_model.name());
                let (what, help) = match need {
                    Need::Population => ("count people of a population", "use `mondrian`"),
                    _ => (
                        "compute the extents of groups",
                        "use `expc-plus` with a high suppression_limit",
                    ),
                };
                return Err(Error::job(format!(
                    "`{method}` cannot be used with `{model}`: it does not {what}"
                ))
                .help(help)
                .at("algorithm"));
            }
            if self.algorithm.needs_merging() && !privacy_model.model.card().survives.merging {
                let (method, model) = (self.card.name, privacy_model.name());
                return Err(Error::job(format!(
                    "`{method}` with these options cannot be used with `{model}`: merging two \
                     groups that satisfy the model may violate it"
                ))
                .help(STRICT_CUT)
                .at("algorithm"));
            }
        }
        Ok(())
    }
}
