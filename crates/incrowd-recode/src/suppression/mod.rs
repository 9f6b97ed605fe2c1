//! Withholding records of a table in which some sensitive value is too frequent to be published diversely.
//!
//! Paper: `xu2010`. The step comes before any algorithm: [`method`] decides how many records of each sensitive value are
//! published, [`records`] which ones, [`chance`] is where the draws come from. What is left goes to whatever algorithm the
//! job names.

pub mod chance;
pub mod levels;
pub mod method;
pub mod records;

use incrowd_core::{Error, Param, ParamKind, Params, Result, Value};

pub use chance::{Dice, Secret};
pub use method::{Cut, Rule, Way};

/// Every way to withhold records. A new one is one entry here.
pub const SUPPRESSIONS: &[&Card] = &[&R_SUPPRESSION, &SAFE_D, &UNSAFE_D, &CHEAPER];

/// An entry in the list.
#[derive(Debug)]
pub struct Card {
    /// The name in a job file.
    pub name: &'static str,
    /// The paper's key in `docs/papers.md`.
    pub paper: &'static str,
    /// What it does.
    pub about: &'static str,
    /// What it does not do.
    pub limits: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    way: Way,
}

const L: Param = Param {
    name: "l",
    kind: ParamKind::Count(1),
    default: None,
    about: "no value shall be more frequent than one record in l",
};
const ON: Param = Param {
    name: "on",
    kind: ParamKind::Column,
    default: Some(""),
    about: "the sensitive column; may be left out if there is one only",
};
const COMPLETE_LEVEL: Param = Param {
    name: "complete_level",
    kind: ParamKind::Flag,
    default: Some("true"),
    about: "whether values of equal rank are cut alike; false is the form of the paper, which shows who ranks above",
};
const FORCE: Param = Param {
    name: "force",
    kind: ParamKind::Flag,
    default: Some("false"),
    about: "must be true for a release, because this is a lower bound and not a protection",
};
const PUBLISH_SIZE: Param = Param {
    name: "publish_size",
    kind: ParamKind::Flag,
    default: Some("false"),
    about: "whether the manifest tells how many records were read and withheld",
};
const POSTERIOR_LIMIT: Param = Param {
    name: "posterior_limit",
    kind: ParamKind::Number(0.0, 1.0),
    default: Some(""),
    about: "the report suggests safe-d if an adversary names the dominant value with more than this chance [1/l]",
};

const R_SUPPRESSION: Card = Card {
    name: "r-suppression",
    paper: "xu2010",
    about: "Withholds records of the most frequent sensitive values, the most frequent one to a random depth, until no value \
            is more frequent than one record in l and at least l values can have been the dominant one. A repeat withholds \
            the same records, because the draws follow from a secret key.",
    limits: "The chance of naming the dominant value is meant to be 1/l; it is a design target, not a guarantee. The paper's \
             proof takes possible releases for equally likely ones. By exact enumeration more than half of the releases of \
             small tables exceed 1/l, and whoever knows the true counts without their labels sees which one is off. Whoever \
             knows beforehand that one value is common is not held up by any such method. Where exact quasi-identifiers are \
             published, a known participant who is absent was withheld, and so has one of the frequent values. It counts \
             values and does not see that two of them are alike.",
    params: &[L, ON, COMPLETE_LEVEL, PUBLISH_SIZE, POSTERIOR_LIMIT],
    way: Way::Random,
};
const SAFE_D: Card = Card {
    name: "safe-d",
    paper: "xu2010",
    about: "Withholds records until the l most frequent sensitive values are equally frequent. An adversary to whom all \
            labels are alike names the dominant one with a chance of 1 in as many values as stand at the top, which are at \
            least l.",
    limits: "It withholds more than the other methods, mostly. The 1/l is about adversaries to whom labels are alike: whoever \
             knows that flu is commoner than gout is not held up. A known participant who is absent from a release with exact \
             quasi-identifiers has one of the frequent values.",
    params: &[L, ON, PUBLISH_SIZE, POSTERIOR_LIMIT],
    way: Way::Safe,
};
const UNSAFE_D: Card = Card {
    name: "unsafe-d",
    paper: "xu2010",
    about: "Withholds as few records as any method must that leaves no value more frequent than one record in l and at least l \
            candidates for the dominant one. It is the lower bound the others are measured by.",
    limits: "It is not a protection: the dominant value is always among the most frequent ones of the release, often the only \
             one. It is refused unless force = true, and the manifest then says so.",
    params: &[L, ON, FORCE, PUBLISH_SIZE, POSTERIOR_LIMIT],
    way: Way::Unsafe,
};
const CHEAPER: Card = Card {
    name: "cheaper",
    paper: "xu2010",
    about: "Safe D-suppression where it is expected to withhold no more than R-suppression, else R-suppression. Which of them \
            is decided before anything is drawn, and the release does not tell.",
    limits: "Those of r-suppression. The paper takes R-suppression for the cheaper one always; it is not: {6, 4, 4, 4, 3} with \
             l = 4 costs 2.125 records on average against 2. For large counts the average is taken over 1,024 depths of an \
             interval.",
    params: &[L, ON, COMPLETE_LEVEL, PUBLISH_SIZE, POSTERIOR_LIMIT],
    way: Way::Cheaper,
};

/// A suppression step as a job names it.
#[derive(Clone, Debug)]
pub struct Step {
    /// The list entry.
    pub card: &'static Card,
    /// The parameters, defaults included.
    pub params: Params,
    /// What is done to the counts.
    pub rule: Rule,
}

impl Step {
    /// The step of that name with those parameters.
    pub fn new(name: &str, given: impl IntoIterator<Item = (String, Value)>) -> Result<Step> {
        let Some(card) = SUPPRESSIONS.iter().find(|card| card.name == name) else {
            let known = SUPPRESSIONS.iter().map(|card| card.name);
            return Err(Error::job(format!("there is no suppression `{name}`"))
                .help_near(name, known)
                .at("name"));
        };
        let params = Params::new(card.name, card.params, given)?;
        let has = |name: &str| card.params.iter().any(|param| param.name == name);
        let complete_level = has("complete_level") && params.flag("complete_level");
        let rule = Rule { way: card.way, l: params.count("l"), complete_level };
        if has("force") && !params.flag("force") {
            return Err(Error::job("`unsafe-d` is a lower bound, not a protection")
                .help("use r-suppression or safe-d; force = true makes such a release all the same, and it says what it is")
                .at("force"));
        }
        Ok(Step { card, params, rule })
    }
}
