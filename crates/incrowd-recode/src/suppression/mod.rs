//! Suppression of records of a table in which a sensitive value is too frequent for an l-diverse
//! release.
//!
//! Paper: `xu2010`. Suppression runs before the algorithm. [`method`] computes the number of
//! records of each sensitive value to publish, [`records`] selects the records, and [`chance`]
//! provides the draws. The remaining records are passed to the job's algorithm.

pub mod chance;
pub mod levels;
pub mod method;
pub mod records;

use incrowd_core::{Error, Param, Params, Result, Value};

pub use chance::{Dice, Secret};
pub use method::{Cut, Rule, Way};

/// All suppression methods. A new method is one entry here.
pub const SUPPRESSIONS: &[&Card] = &[&R_SUPPRESSION, &SAFE_D, &UNSAFE_D, &CHEAPER];

/// The description of a suppression method.
#[derive(Debug)]
pub struct Card {
    /// The name in a job file.
    pub name: &'static str,
    /// The paper's key in `docs/papers.md`.
    pub paper: &'static str,
    /// A description of what the method does.
    pub about: &'static str,
    /// Known limitations.
    pub limits: &'static str,
    /// The parameters it accepts.
    pub params: &'static [Param],
    way: Way,
}

const L: Param =
    Param::count("l", 1).about("the limit: no value may be more frequent than one record in l");
const ON: Param =
    Param::column("on").optional().about("the sensitive column; optional if there is only one");
const COMPLETE_LEVEL: Param = Param::flag("complete_level").or("true").about(
    "whether values of equal rank are cut to equal counts; false is the paper's form, which \
    reveals the order of these values",
);
const FORCE: Param = Param::flag("force")
    .or("false")
    .about("must be true for a release, because this method is a lower bound, not a protection");
const PUBLISH_SIZE: Param = Param::flag("publish_size")
    .or("false")
    .about("whether the manifest contains the numbers of records read and suppressed");
const POSTERIOR_LIMIT: Param = Param::number("posterior_limit", 0.0, 1.0).optional().about(
    "the report suggests safe-d if an adversary identifies the dominant value with a higher \
    probability than this [1/l]",
);

const R_SUPPRESSION: Card = Card {
    name: "r-suppression",
    paper: "xu2010",
    about: "Suppresses records of the most frequent sensitive values, the most frequent one to a \
            random count, until no value is more frequent than one record in l and at least l \
            values can have been the dominant one. A repeated run suppresses the same records, \
            because the draws follow from a secret key.",
    limits: "The probability of identifying the dominant value is meant to be 1/l; it is a design \
             target, not a guarantee. The paper's proof treats possible releases as equally likely \
             ones. By exact enumeration more than half of the releases of small tables exceed 1/l, \
             and an adversary who knows the true counts without their labels can see which count \
             was changed. An adversary who already knows that one value is common is not stopped \
             by any such method. If exact quasi-identifiers are published, a known participant who \
             is absent was suppressed, and so has one of the frequent values. The method compares \
             counts only and does not know that two values are similar.",
    params: &[L, ON, COMPLETE_LEVEL, PUBLISH_SIZE, POSTERIOR_LIMIT],
    way: Way::Random,
};
const SAFE_D: Card = Card {
    name: "safe-d",
    paper: "xu2010",
    about: "Suppresses records until the l most frequent sensitive values are equally frequent. An \
            adversary without knowledge about the labels identifies the dominant value with a \
            probability of 1 in the number of values with the greatest count, which is at least l.",
    limits: "It usually suppresses more records than the other methods. The 1/l holds for \
             adversaries without knowledge about the labels. It does not hold for an adversary who \
             knows that flu is more common than gout. A known participant who is absent from a \
             release with exact quasi-identifiers has one of the frequent values.",
    params: &[L, ON, PUBLISH_SIZE, POSTERIOR_LIMIT],
    way: Way::Safe,
};
const UNSAFE_D: Card = Card {
    name: "unsafe-d",
    paper: "xu2010",
    about: "Suppresses the least number of records with which no value is more frequent than one \
            record in l and at least l values can have been the dominant one. It is the lower \
            bound for the other methods.",
    limits: "It is not a protection: the dominant value is always among the most frequent ones of \
             the release, often the only one. It requires force = true, and the manifest records \
             that.",
    params: &[L, ON, FORCE, PUBLISH_SIZE, POSTERIOR_LIMIT],
    way: Way::Unsafe,
};
const CHEAPER: Card = Card {
    name: "cheaper",
    paper: "xu2010",
    about: "Safe D-suppression if it is expected to suppress no more records than R-suppression, \
            else R-suppression. The choice is made before any draw, and the release does not \
            reveal it.",
    limits: "Those of r-suppression. According to the paper, R-suppression is always the cheaper \
             one. That is not so: {6, 4, 4, 4, 3} with l = 4 costs 2.125 records on average \
             against 2. For large counts the average is taken over 1,024 counts of an interval.",
    params: &[L, ON, COMPLETE_LEVEL, PUBLISH_SIZE, POSTERIOR_LIMIT],
    way: Way::Cheaper,
};

/// A suppression method with its parameters, as named in a job.
#[derive(Clone, Debug)]
pub struct Step {
    /// The method's description.
    pub card: &'static Card,
    /// The parameters, including defaults.
    pub params: Params,
    /// The checked parameters.
    pub rule: Rule,
}

impl Step {
    /// Creates the step with this name and these parameters.
    pub fn new(name: &str, given: impl IntoIterator<Item = (String, Value)>) -> Result<Step> {
        let Some(card) = SUPPRESSIONS.iter().find(|card| card.name == name) else {
            let known = SUPPRESSIONS.iter().map(|card| card.name);
            return Err(Error::job(format!("there is no suppression method `{name}`"))
                .help_near(name, known)
                .at("name"));
        };
        let params = Params::new(card.name, card.params, given)?;
        let has = |name: &str| card.params.iter().any(|param| param.name == name);
        let complete_level = has("complete_level") && params.flag("complete_level");
        let rule = Rule { way: card.way, l: params.count("l"), complete_level };
        if has("force") && !params.flag("force") {
            return Err(Error::job("`unsafe-d` is a lower bound, not a protection")
                .help("use r-suppression or safe-d; force = true makes such a release anyway")
                .at("force"));
        }
        Ok(Step { card, params, rule })
    }
}
