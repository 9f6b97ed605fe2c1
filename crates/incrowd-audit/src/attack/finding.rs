//! Results of attacks.

/// The number of a finding to which a limit applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The greatest risk of a person.
    Worst,
    /// The average risk.
    Average,
    /// The share of people at risk.
    Share,
}

impl Quantity {
    /// Names on the command line.
    pub const ALL: [(&'static str, Quantity); 3] =
        [("worst", Quantity::Worst), ("average", Quantity::Average), ("share", Quantity::Share)];

    /// Describes the quantity.
    pub fn about(self) -> &'static str {
        match self {
            Quantity::Worst => "the worst risk",
            Quantity::Average => "the average risk",
            Quantity::Share => "the share of people at risk",
        }
    }
}

/// Condition for being at risk. A risk is a correctly rounded quotient, and a threshold is the
/// double nearest to the decimal number in the request. Rounding is monotonic, so a risk that
/// reaches the decimal threshold also reaches the double.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alarm {
    /// The risk is above this number.
    Above(f64),
    /// The risk is at least this number.
    AtLeast(f64),
}

impl Alarm {
    pub(super) fn is_met(self, risk: f64) -> bool {
        match self {
            Alarm::Above(threshold) => risk > threshold,
            Alarm::AtLeast(threshold) => risk >= threshold,
        }
    }
}

impl std::fmt::Display for Alarm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Alarm::Above(threshold) => write!(f, "> {threshold}"),
            Alarm::AtLeast(threshold) => write!(f, ">= {threshold}"),
        }
    }
}

/// A bin of the histogram of risks.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Name of the band, e.g. `<= 0.05`.
    pub label: &'static str,
    /// Number of people with a risk in the band.
    pub people: u64,
}

/// Upper ends and names of the bands.
type Scale = &'static [(f64, &'static str)];

/// Bands for probabilities.
pub(super) const CHANCE: Scale = &[
    (0.0, "0"),
    (0.05, "<= 0.05"),
    (0.1, "<= 0.1"),
    (0.2, "<= 0.2"),
    (1.0 / 3.0, "<= 1/3"),
    (0.5, "<= 0.5"),
    (1.0 - f64::EPSILON / 2.0, "< 1"),
    (1.0, "1"),
];

/// Bands for factors by which a probability increases.
pub(super) const FACTOR: Scale = &[
    (1.0, "<= 1"),
    (1.5, "<= 1.5"),
    (2.0, "<= 2"),
    (5.0, "<= 5"),
    (10.0, "<= 10"),
    (100.0, "<= 100"),
    (f64::INFINITY, "> 100"),
];

/// An additional number that may be published.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Key in reports.
    pub name: &'static str,
    /// Description of the number.
    pub about: &'static str,
    /// The number.
    pub value: f64,
}

/// Result of an attack on one column or on identities.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// Name of the attack.
    pub attack: &'static str,
    /// The sensitive column. `None` if the attack is about identities.
    pub column: Option<String>,
    /// Definition of the risk, e.g. `chance of naming the right record`.
    pub measures: &'static str,
    /// Name of the counted unit, e.g. `records of the release`.
    pub people: &'static str,
    /// Greatest risk of a person.
    pub worst: f64,
    /// Average risk over all people.
    pub average: f64,
    /// Number of people at risk.
    pub at_risk: u64,
    /// Number of people.
    pub of: u64,
    /// Condition for being at risk.
    pub alarm: String,
    /// Number of people per range of risk.
    pub bands: Vec<Band>,
    /// Additional numbers.
    pub facts: Vec<Fact>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// Whether the finding is only for the data owner, because its numbers reveal facts about
    /// people.
    pub owner_only: bool,
    /// Greatest risk of a person in each group of the release. Only for the data owner. Empty if
    /// the attack is not about single groups.
    pub by_group: Vec<f64>,
}

impl Finding {
    /// Returns the share of people at risk.
    pub fn share(&self) -> f64 {
        if self.of == 0 { 0.0 } else { self.at_risk as f64 / self.of as f64 }
    }

    /// Returns the number to which a limit applies.
    pub fn quantity(&self, quantity: Quantity) -> f64 {
        match quantity {
            Quantity::Worst => self.worst,
            Quantity::Average => self.average,
            Quantity::Share => self.share(),
        }
    }

    /// Returns an additional number by name.
    pub fn fact(&self, name: &str) -> Option<f64> {
        self.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value)
    }

    pub(super) fn add_fact(&mut self, name: &'static str, about: &'static str, value: f64) {
        self.facts.push(Fact { name, about, value });
    }
}

/// An attack, or one column of it, that was not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Name of the attack.
    pub attack: &'static str,
    /// The column, if the attack was run on others.
    pub column: Option<String>,
    /// The reason and the missing input.
    pub why: String,
}

/// Results of one attack.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// Findings by column.
    pub findings: Vec<Finding>,
    /// Columns, or the whole attack, that were not run.
    pub skipped: Vec<Skipped>,
}

impl Answer {
    pub(super) fn one(finding: Finding) -> Answer {
        Answer { findings: vec![finding], skipped: Vec::new() }
    }

    pub(super) fn skip(
        attack: &'static str,
        column: Option<&str>,
        why: impl Into<String>,
    ) -> Answer {
        let skipped = Skipped { attack, column: column.map(str::to_owned), why: why.into() };
        Answer { findings: Vec::new(), skipped: vec![skipped] }
    }

    pub(super) fn and(mut self, other: Answer) -> Answer {
        self.findings.extend(other.findings);
        self.skipped.extend(other.skipped);
        self
    }
}

/// Risks, each with a number of people.
#[derive(Debug, Default)]
pub(super) struct Risks {
    risks: Vec<(f64, u64)>,
}

impl Risks {
    pub(super) fn add(&mut self, risk: f64, people: u64) {
        if people > 0 {
            self.risks.push((risk, people));
        }
    }

    /// Gives all records of a group the risk of the group.
    pub(super) fn of_groups(by_group: &[f64], records: &[u64]) -> Risks {
        Risks { risks: by_group.iter().copied().zip(records.iter().copied()).collect() }
    }

    /// Computes the maximum, the average, the number of people at risk and the bands. Risks are
    /// summed in ascending order, so the rounding of the average does not depend on the order of
    /// the groups.
    pub(super) fn finding(
        mut self,
        attack: &'static str,
        column: Option<&str>,
        measures: &'static str,
        scale: Scale,
        alarm: Alarm,
    ) -> Finding {
        self.risks.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut bands: Vec<Band> =
            scale.iter().map(|&(_, label)| Band { label, people: 0 }).collect();
        let (mut sum, mut of, mut at_risk, mut worst) = (0.0, 0, 0, 0.0_f64);
        for equal in self.risks.chunk_by(|a, b| a.0 == b.0) {
            let (risk, people) = (equal[0].0, equal.iter().map(|(_, people)| people).sum::<u64>());
            let band = scale.partition_point(|&(end, _)| end < risk).min(bands.len() - 1);
            bands[band].people += people;
            sum += risk * people as f64;
            of += people;
            at_risk += if alarm.is_met(risk) { people } else { 0 };
            worst = worst.max(risk);
        }
        Finding {
            attack,
            column: column.map(str::to_owned),
            measures,
            people: "records",
            worst,
            average: if of == 0 { 0.0 } else { sum / of as f64 },
            at_risk,
            of,
            alarm: alarm.to_string(),
            bands,
            facts: Vec::new(),
            notes: Vec::new(),
            owner_only: false,
            by_group: Vec::new(),
        }
    }
}

/// Returns `part / whole`, correctly rounded. Returns 0 if `whole` is 0.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Returns `part / whole` for products that may exceed 2⁵³. Both are first divided by their
/// greatest common divisor, so that a quotient of small numbers is rounded only once.
pub(super) fn ratio(part: u128, whole: u128) -> f64 {
    let (mut a, mut b) = (part, whole);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    if whole == 0 { 0.0 } else { (part / a) as f64 / (whole / a) as f64 }
}
