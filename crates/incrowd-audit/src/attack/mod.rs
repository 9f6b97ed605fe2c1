//! Attacks: what an adversary who has the release learns, per person and in the worst case.
//!
//! Each attack is one file with a [`Card`]. [`ATTACKS`] lists the cards for the command line and
//! `explain`. An attack receives an [`Adversary`] with the background knowledge, and returns
//! [`Finding`]s or the reason why it cannot run. Attacks use the published cells only, never
//! intermediate results of the program that created the release.

mod adversary;
mod confidence;
mod distinguishability;
mod eligibility;
mod equijoin;
mod finding;
mod group_values;
mod homogeneity;
mod intersection;
mod interval_disclosure;
mod journalist;
mod marketer;
mod outside;
mod overlap;
mod persons;
mod population_risk;
mod presence;
mod projections;
mod prosecutor;
mod proximity;
mod record_linkage;
mod similarity;
mod singling_out;
mod skewness;
mod trimming;

pub use adversary::{Adversary, Epsilon, External, JoinedRelease, KnownSuppression, Published};
pub use distinguishability::{Distinguished, Leakage, MODES, distinguish};
pub use finding::{Alarm, Answer, Band, Fact, Finding, Quantity, Skipped};
pub use group_values::GroupValues;
pub use persons::GroupPersons;
pub use population_risk::WeightedGroups;
pub use projections::Projected;
pub use singling_out::UnmodifiedColumns;

use incrowd_core::{Error, Param, Params, Progress, Result, Value};

/// All attacks. To add an attack, add a file with a card and one line here.
pub const ATTACKS: &[&Card] = &[
    &prosecutor::CARD,
    &journalist::CARD,
    &marketer::CARD,
    &homogeneity::CARD,
    &skewness::CARD,
    &proximity::CARD,
    &interval_disclosure::CARD,
    &record_linkage::CARD,
    &equijoin::CARD,
    &intersection::CARD,
    &similarity::CARD,
    &confidence::CARD,
    &overlap::CARD,
    &distinguishability::CARD,
    &distinguishability::CONDITIONAL,
    &presence::CARD,
    &trimming::CARD,
    &outside::CARD,
    &eligibility::CARD,
    &persons::CARD,
    &singling_out::CARD,
    &population_risk::CARD,
];

/// Attacks that run only if they are named. In most releases many people are at risk of them, and
/// no privacy model protects against them.
pub const ON_REQUEST: &[&str] = &[interval_disclosure::CARD.name];

/// Attacks that treat an aggregate, such as the mean of a group, like the value of a record.
pub const READ_MEANS: &[&str] = &[record_linkage::CARD.name];

/// Subject of an attack. If a release consists of two tables, the subject determines which of them
/// is attacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// People: who is in the release, and which record belongs to whom.
    People,
    /// Sensitive values of people whose group is known. The attack uses groups of the release and
    /// does not need to distinguish people.
    Values,
}

/// Input of an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A sensitive column.
    Sensitive,
    /// Categories of a sensitive column.
    Categories,
    /// A sensitive column of numbers.
    Numbers,
    /// A table of all people who may be in the release.
    Population,
    /// A table of people with names.
    External,
    /// A table of people: a population or an external table.
    People,
    /// Another release that contains some of the same people.
    Second,
    /// The table from which the release was created.
    Original,
    /// The number of records of that table.
    OriginalSize,
    /// A definition of outliers.
    Outliers,
    /// The two tables of a k-join-anonymous release.
    Joined,
    /// The suppression mechanism.
    Suppression,
    /// The person of each record.
    Persons,
    /// A column that is published unchanged.
    Unmodified,
    /// Sampling weights.
    Weights,
}

impl Need {
    /// Returns the keys of a request that provide this input. One of them is enough. The list is
    /// empty if only the release itself can provide it.
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            Need::Sensitive | Need::Numbers => &["sensitive"],
            Need::Categories => &["categories"],
            Need::Population => &["population"],
            Need::External => &["external"],
            Need::People => &["population", "external"],
            Need::Second => &["second"],
            Need::Original => &["original"],
            Need::OriginalSize => &["original_size", "original"],
            Need::Outliers => &["outliers"],
            Need::Joined => &[],
            Need::Suppression => &["suppression"],
            Need::Persons => &["original"],
            Need::Unmodified => &["sensitive", "passthrough"],
            Need::Weights => &["original"],
        }
    }
}

/// Description of an attack.
pub struct Card {
    /// Name on the command line and in reports.
    pub name: &'static str,
    /// Key of the paper in `docs/papers.md`.
    pub paper: &'static str,
    /// Procedure of the adversary and interpretation of the result.
    pub about: &'static str,
    /// Limits of the interpretation.
    pub limits: &'static str,
    /// Subject of the attack.
    pub subject: Subject,
    /// Required inputs besides the release.
    pub needs: &'static [Need],
    /// Optional inputs.
    pub uses: &'static [Need],
    /// Required and optional inputs in words. Keys of a request are in backticks.
    pub needs_text: &'static str,
    /// Parameters. Every attack has a `threshold` that defines who is at risk.
    pub params: &'static [Param],
    /// Quantity to which a limit applies if the limit does not name one.
    pub limit: Quantity,
    /// Runs the attack with a threshold.
    pub run: fn(&Adversary<'_>, f64, &dyn Progress) -> Result<Answer>,
}

incrowd_core::opaque_debug!(Card { name });

impl Card {
    /// Finds an attack by name.
    pub fn find(name: &str) -> Result<&'static Card> {
        let card = ATTACKS.iter().find(|card| card.name == name).copied();
        let known = ATTACKS.iter().map(|card| card.name);
        card.ok_or_else(|| {
            Error::job(format!("there is no attack `{name}`")).help_near(name, known)
        })
    }

    /// Checks a threshold for being at risk. Returns the default if none is given.
    pub fn threshold(&self, given: Option<f64>) -> Result<f64> {
        let given = given.map(|x| ("threshold".to_owned(), Value::Real(x)));
        Ok(Params::new(self.name, self.params, given)?.number("threshold"))
    }
}
