//! Equijoin: a table of people with names, joined with the release.
//!
//! Paper: `sweeney2002`, linking with an external table. The release and the external table are
//! joined on their shared quasi-identifiers. The candidates of a person are the records of all
//! groups whose cells match. A guess of the person's record is right with probability 1 over their
//! number. A guess of a sensitive value is right with the share of the candidates that have it. A
//! person without candidates is not in the release and has risk 0.
//!
//! Where we differ: the join uses the values that a cell covers, so a person may match several
//! groups. All candidates are equally likely.

use incrowd_core::{Param, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Finding, Quantity, Risks, share};
use super::group_values::union;
use super::journalist::join_notes;
use super::{Adversary, Card, GroupValues, Need, Subject};
use crate::cover::Join;

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "equijoin",
    paper: "sweeney2002",
    about: "An adversary has a table of people with names or other details and joins it with the \
            release on the shared columns. The risk of a person is the chance of guessing the \
            person's record, or a sensitive value, among the matching records.",
    limits: "The attack assumes that the people are in the release. A person who matches no group \
             has no risk. A person who is not in the release may be mistaken for one who is.",
    subject: Subject::People,
    needs: &[Need::External],
    uses: &[],
    needs_text: "an external table (`[attack] external`) with at least one of the \
                 quasi-identifiers",
    params: &[Param::number("threshold", 0.0, 1.0).or("0.8").about(
        "a person whose record or value is guessed with at least this chance counts as at risk",
    )],
    limit: Quantity::Share,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, progress: &dyn Progress) -> Result<Answer> {
    let shared = |table| !adversary.release.shared(table).is_empty();
    let Some(external) = adversary.external.filter(|external| shared(external.table)) else {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs_text)));
    };
    let (join, class) = adversary.release.join(external.table, adversary.missing_label())?;
    let names: Vec<&str> = adversary.release.sensitive().collect();
    let values = adversary.release.values_within(&join.groups.of_row, join.groups.len());
    let mut identity = IdentityRisk { people: vec![0; join.groups.len()], ..Default::default() };
    identity.by_class = vec![0.0; join.groups.len()];
    let mut attributes: Vec<AttributeRisk> =
        values.iter().map(|_| AttributeRisk::new(join.groups.len())).collect();
    join.candidates(progress, &mut |vector, groups| {
        let people = join.vectors.records[vector];
        identity.add(&join, groups, people);
        attributes
            .iter_mut()
            .zip(&values)
            .for_each(|(attribute, values)| attribute.add(values, groups, people));
    });
    let alarm = Alarm::AtLeast(threshold);
    let mut finding = identity.finding(&join, &class, alarm);
    finding.add_fact(
        "further_columns",
        "external columns that the join adds to released records",
        external.further as f64,
    );
    finding.notes = join_notes(adversary, external.table, &join);
    let mut answer = Answer::one(finding);
    for (attribute, name) in attributes.into_iter().zip(names) {
        answer = answer.and(Answer::one(attribute.finding(name, &class, alarm)));
    }
    Ok(answer)
}

/// Returns the risk of each group of the release from the risks of the groups of the join.
fn spread(by_class: &[f64], class: &[u32]) -> Vec<f64> {
    class.iter().map(|&class| by_class[class as usize]).collect()
}

/// Raises the risks of these groups to at least `risk`.
fn raise(by_class: &mut [f64], groups: &[u32], risk: f64) {
    groups.iter().for_each(|&group| by_class[group as usize] = by_class[group as usize].max(risk));
}

/// Risk of finding the records of people.
#[derive(Default)]
struct IdentityRisk {
    risks: Risks,
    one_record: u64,
    one_group: u64,
    unmatched: u64,
    /// Number of matching people per group of the join.
    people: Vec<u64>,
    /// Greatest probability of finding a person's record, per group of the join.
    by_class: Vec<f64>,
}

impl IdentityRisk {
    fn add(&mut self, join: &Join, groups: &[u32], people: u64) {
        let candidates = groups.iter().map(|&group| join.groups.records[group as usize]).sum();
        let risk = share(1, candidates);
        self.risks.add(risk, people);
        self.one_record += if candidates == 1 { people } else { 0 };
        self.one_group += if groups.len() == 1 { people } else { 0 };
        self.unmatched += if groups.is_empty() { people } else { 0 };
        groups.iter().for_each(|&group| self.people[group as usize] += people);
        raise(&mut self.by_class, groups, risk);
    }

    fn finding(self, join: &Join, class: &[u32], alarm: Alarm) -> Finding {
        let of_one =
            self.people.iter().zip(&join.groups.records).filter(|(people, _)| **people == 1);
        let of_one: u64 = of_one.map(|(_, records)| records).sum();
        let measures = "chance of finding the person's record";
        let mut finding = self.risks.finding(CARD.name, None, measures, CHANCE, alarm);
        finding.people = "external people";
        let one_record = self.one_record as f64;
        finding.add_fact("one_record", "people who match exactly one record", one_record);
        finding.add_fact("one_group", "people who match exactly one group", self.one_group as f64);
        finding.add_fact("unmatched", "people who match no group", self.unmatched as f64);
        finding.add_fact(
            "records_of_one_person",
            "released records that match exactly one person",
            of_one as f64,
        );
        finding.by_group = spread(&self.by_class, class);
        finding
    }
}

/// Risk of guessing the values of a sensitive column.
struct AttributeRisk {
    risks: Risks,
    certain: u64,
    by_class: Vec<f64>,
}

impl AttributeRisk {
    fn new(classes: usize) -> AttributeRisk {
        AttributeRisk { risks: Risks::default(), certain: 0, by_class: vec![0.0; classes] }
    }

    fn add(&mut self, values: &GroupValues, groups: &[u32], people: u64) {
        let all = union(values, groups);
        let records: u64 = all.iter().map(|(_, n)| n).sum();
        let risk = share(all.iter().map(|&(_, n)| n).max().unwrap_or(0), records);
        self.risks.add(risk, people);
        self.certain += if all.len() == 1 { people } else { 0 };
        raise(&mut self.by_class, groups, risk);
    }

    fn finding(self, name: &str, class: &[u32], alarm: Alarm) -> Finding {
        let measures = "chance of guessing the value";
        let mut finding = self.risks.finding(CARD.name, Some(name), measures, CHANCE, alarm);
        finding.people = "external people";
        finding.add_fact("certain", "people whose value is certain", self.certain as f64);
        finding.by_group = spread(&self.by_class, class);
        finding
    }
}
