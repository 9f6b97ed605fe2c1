//! What an attack found out.

/// Which number of a finding a limit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The risk of the person who is worst off.
    Worst,
    /// The average risk.
    Average,
    /// The share of people at risk.
    Share,
}

impl Quantity {
    /// The names on the command line.
    pub const ALL: [(&'static str, Quantity); 3] =
        [("worst", Quantity::Worst), ("average", Quantity::Average), ("share", Quantity::Share)];

    /// The quantity in words.
    pub fn about(self) -> &'static str {
        match self {
            Quantity::Worst => "the worst risk",
            Quantity::Average => "the average risk",
            Quantity::Share => "the share of people at risk",
        }
    }
}

/// Who counts as at risk. A risk is a correctly rounded quotient and a threshold the double next to what was typed, so
/// nobody who reaches the threshold as typed is missed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alarm {
    /// Whose risk is above this.
    Above(f64),
    /// Whose risk is at least this.
    AtLeast(f64),
}

impl Alarm {
    pub(super) fn rings(self, risk: f64) -> bool {
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

/// A band of the histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Its name, `<= 0.05`.
    pub label: &'static str,
    /// How many people have a risk in it.
    pub people: u64,
}

/// The upper ends of the bands, each with its name.
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

/// Bands for factors by which a probability rises.
pub(super) const FACTOR: Scale = &[
    (1.0, "<= 1"),
    (1.5, "<= 1.5"),
    (2.0, "<= 2"),
    (5.0, "<= 5"),
    (10.0, "<= 10"),
    (100.0, "<= 100"),
    (f64::INFINITY, "> 100"),
];

/// A further number that may be published.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Its key in reports.
    pub name: &'static str,
    /// What it counts or measures.
    pub about: &'static str,
    /// The number.
    pub value: f64,
}

/// What an attack found out about one column, or about identities.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The attack's name.
    pub attack: &'static str,
    /// The sensitive column; `None` if the attack is about identities.
    pub column: Option<String>,
    /// What the risk is, for example `chance of naming the right record`.
    pub measures: &'static str,
    /// Who the people are, for example `records of the release`.
    pub people: &'static str,
    /// The greatest risk of anybody.
    pub worst: f64,
    /// The average risk over people.
    pub average: f64,
    /// How many people are at risk.
    pub at_risk: u64,
    /// Of how many.
    pub of: u64,
    /// Who counts as at risk, in words.
    pub alarm: String,
    /// How many people have which risk.
    pub bands: Vec<Band>,
    /// Further numbers.
    pub facts: Vec<Fact>,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// For the data owner only: the worst risk of anybody in each group of the release. Empty if the attack is not about
    /// single groups.
    pub by_group: Vec<f64>,
    /// Whether all of it is for the data owner only, because it follows from what is not published.
    pub owner_only: bool,
}

impl Finding {
    /// The share of people at risk.
    pub fn share(&self) -> f64 {
        if self.of == 0 { 0.0 } else { self.at_risk as f64 / self.of as f64 }
    }

    /// One of the numbers a limit can be about.
    pub fn quantity(&self, quantity: Quantity) -> f64 {
        match quantity {
            Quantity::Worst => self.worst,
            Quantity::Average => self.average,
            Quantity::Share => self.share(),
        }
    }

    /// A further number by its name.
    pub fn fact(&self, name: &str) -> Option<f64> {
        self.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value)
    }

    pub(super) fn add_fact(&mut self, name: &'static str, about: &'static str, value: f64) {
        self.facts.push(Fact { name, about, value });
    }
}

/// An attack, or one column of it, that says nothing here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The attack's name.
    pub attack: &'static str,
    /// The column, if only that was left out.
    pub column: Option<String>,
    /// Why, and what it would need.
    pub why: String,
}

/// What an attack answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// What it found out.
    pub findings: Vec<Finding>,
    /// What it could not be asked.
    pub skipped: Vec<Skipped>,
}

impl Answer {
    pub(super) fn one(finding: Finding) -> Answer {
        Answer { findings: vec![finding], skipped: Vec::new() }
    }

    pub(super) fn skip(attack: &'static str, column: Option<&str>, why: impl Into<String>) -> Answer {
        let skipped = Skipped { attack, column: column.map(str::to_owned), why: why.into() };
        Answer { findings: Vec::new(), skipped: vec![skipped] }
    }

    pub(super) fn and(mut self, other: Answer) -> Answer {
        self.findings.extend(other.findings);
        self.skipped.extend(other.skipped);
        self
    }
}

/// Risks with the number of people who have each.
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

    /// The risk of everybody in each group of a release.
    pub(super) fn of_groups(by_group: &[f64], records: &[u64]) -> Risks {
        Risks { risks: by_group.iter().copied().zip(records.iter().copied()).collect() }
    }

    /// Worst, average, people at risk and bands. Risks are added in their order, so that the last digit of the average does
    /// not depend on the order of groups.
    pub(super) fn finding(
        mut self,
        attack: &'static str,
        column: Option<&str>,
        measures: &'static str,
        scale: Scale,
        alarm: Alarm,
    ) -> Finding {
        self.risks.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut bands: Vec<Band> = scale.iter().map(|&(_, label)| Band { label, people: 0 }).collect();
        let (mut sum, mut of, mut at_risk, mut worst) = (0.0, 0, 0, 0.0_f64);
        for alike in self.risks.chunk_by(|a, b| a.0 == b.0) {
            let (risk, people) = (alike[0].0, alike.iter().map(|(_, people)| people).sum::<u64>());
            let band = scale.partition_point(|&(end, _)| end < risk).min(bands.len() - 1);
            bands[band].people += people;
            sum += risk * people as f64;
            of += people;
            at_risk += if alarm.rings(risk) { people } else { 0 };
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
            by_group: Vec::new(),
            owner_only: false,
        }
    }
}

/// `part / whole`, correctly rounded; 0 of nothing is 0.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// `part / whole` of products, which are first divided by what they have in common so that a quotient which is a simple
/// number comes out as that number.
pub(super) fn ratio(part: u128, whole: u128) -> f64 {
    let (mut a, mut b) = (part, whole);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    if whole == 0 { 0.0 } else { (part / a) as f64 / (whole / a) as f64 }
}
