//! Attacks: what an adversary who has the release would learn, per person and in the worst case.
//!
//! Each attack is one file with a [`Card`]; [`ATTACKS`] lists them, and the command line and `explain` read that list. An
//! attack gets an [`Adversary`] with all that one may have, and answers with [`Finding`]s or says what it
//! would need. Attacks are about the published cells alone: nothing the making of a release believed counts.

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

pub use adversary::{Adversary, Epsilon, External, JoinedRelease, Published, Skewed};
pub use distinguishability::{Distinguished, Leakage, MODES, distinguish};
pub use finding::{Alarm, Answer, Band, Fact, Finding, Quantity, Skipped};
pub use group_values::GroupValues;
pub use persons::GroupPersons;
pub use population_risk::Weighed;
pub use projections::Projected;
pub use singling_out::AsItIs;

use incrowd_core::{Error, Param, Params, Progress, Result, Value};

/// Every attack incrowd knows. A new attack is one file and one line here.
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

/// Attacks that run only if they are named: what they find is at risk in most releases, and no model promises anything about it.
pub const ON_REQUEST: &[&str] = &[interval_disclosure::CARD.name];

/// Attacks that read a number nobody need have, such as the mean of a group, as that number.
pub const READ_MEANS: &[&str] = &[record_linkage::CARD.name];

/// Whom or what an attack is about. Where a release is two tables, that decides which one is attacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// People: who is in the release, and which record is theirs.
    People,
    /// Sensitive values: what somebody has whose group is known. It looks at groups of the release and at nothing that tells
    /// people apart.
    Values,
}

/// Something an attack needs, or can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A sensitive column.
    Sensitive,
    /// Categories of a sensitive column.
    Categories,
    /// A sensitive column of numbers.
    Numbers,
    /// Everybody who might be in the release.
    Population,
    /// People with names.
    External,
    /// A table of people, be it a population or an external table.
    People,
    /// Another release about some of the same people.
    Second,
    /// The table the release was made from.
    Original,
    /// How many records that table had.
    OriginalSize,
    /// What an outlier is.
    Outliers,
    /// Two tables of a k-join-anonymous release.
    Joined,
    /// How records were withheld.
    Suppression,
    /// Whose records the release has.
    Persons,
    /// A column that is published as it is.
    AsItIs,
    /// How many people the records stand for.
    Weights,
}

impl Need {
    /// The keys of a request that give it, any of them; none if only the release itself can have it.
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
            Need::AsItIs => &["sensitive", "passthrough"],
            Need::Weights => &["original"],
        }
    }
}

/// An attack's entry in the list.
pub struct Card {
    /// The name on the command line and in reports.
    pub name: &'static str,
    /// The paper's key in `docs/papers.md`.
    pub paper: &'static str,
    /// What the adversary does and what the answer means.
    pub about: &'static str,
    /// What the answer does not say.
    pub limits: &'static str,
    /// Whom or what it is about.
    pub subject: Subject,
    /// What it cannot do without, beside the release.
    pub needs: &'static [Need],
    /// What it makes use of if it is there.
    pub uses: &'static [Need],
    /// Both in words for people. A key of a request stands in backticks.
    pub needs_text: &'static str,
    /// What it can be told; every attack has a `threshold` that says who counts as at risk.
    pub params: &'static [Param],
    /// The quantity a stated limit is about unless it names one.
    pub limit: Quantity,
    /// Runs it. The number is the threshold.
    pub run: fn(&Adversary<'_>, f64, &dyn Progress) -> Result<Answer>,
}

impl std::fmt::Debug for Card {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Card").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Card {
    /// The attack of that name.
    pub fn find(name: &str) -> Result<&'static Card> {
        let found = ATTACKS.iter().find(|card| card.name == name).copied();
        let known = ATTACKS.iter().map(|card| card.name);
        found.ok_or_else(|| Error::job(format!("there is no attack `{name}`")).help_near(name, known))
    }

    /// Who counts as at risk: the given threshold, checked, or the default.
    pub fn threshold(&self, given: Option<f64>) -> Result<f64> {
        let given = given.map(|x| ("threshold".to_owned(), Value::Real(x)));
        Ok(Params::new(self.name, self.params, given)?.number("threshold"))
    }
}
