//! Persons: an adversary who knows several records of one person.
//!
//! Ours; no paper has it in this form. Consider a person with records in several groups. An
//! adversary who knows that these records belong to one person narrows her down to the persons that
//! all these groups have in common. They may be fewer than k. k-anonymity by persons does not
//! protect against this. The risk is measured for adversaries who know two of her records, in the
//! worst case, and for adversaries who know all of them.

use incrowd_core::{Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Finding, Quantity, Risks};
use super::prosecutor::THRESHOLD;
use super::{Adversary, Card, Need, Subject};

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "persons",
    paper: "persons-2026",
    about: "An adversary knows several records of a person and that they belong to one person. The \
            person is among the persons that all groups of these records have in common. The risk \
            is 1 over their number. It is computed for the worst two records of the person and for \
            all of them.",
    limits: "The attack needs the persons of all records, which only the data owner has. Persons \
             with all records in one group are excluded: the attack prosecutor covers them. An \
             adversary who knows the number of records of a person may learn more.",
    subject: Subject::People,
    needs: &[Need::Persons],
    uses: &[],
    needs_text: "the original table (`[judging] original`) and the column that identifies persons \
                 (`[input] person`)",
    params: &[THRESHOLD],
    limit: Quantity::Worst,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, _: &dyn Progress) -> Result<Answer> {
    let Some(persons) = &adversary.release.persons else {
        let why = adversary
            .persons_unknown
            .clone()
            .unwrap_or_else(|| format!("needs {}", CARD.needs_text));
        return Ok(Answer::skip(CARD.name, None, why));
    };
    let (mut two, mut all) = (Risks::default(), Risks::default());
    let (mut several, mut fewest_two, mut fewest_all) = (0u64, u64::MAX, u64::MAX);
    for own in persons.groups_of_persons().iter().filter(|own| own.len() > 1) {
        several += 1;
        let mut pair = u64::MAX;
        for (at, &one) in own.iter().enumerate() {
            for &other in &own[at + 1..] {
                let common = common(persons.of_group(one), persons.of_group(other)).len() as u64;
                pair = pair.min(common);
            }
        }
        let mut rest = persons.of_group(own[0]).to_vec();
        for &group in &own[1..] {
            rest = common(&rest, persons.of_group(group));
        }
        let whole = rest.len() as u64;
        two.add(1.0 / pair as f64, 1);
        all.add(1.0 / whole as f64, 1);
        (fewest_two, fewest_all) = (fewest_two.min(pair), fewest_all.min(whole));
    }
    if several == 0 {
        return Ok(Answer::skip(CARD.name, None, "no person has records in several groups"));
    }
    let finding = |risks: Risks, measures: &'static str, fewest: u64| -> Finding {
        let mut finding = risks.finding(CARD.name, None, measures, CHANCE, Alarm::Above(threshold));
        (finding.people, finding.owner_only) = ("persons", true);
        finding.add_fact(
            "several_groups",
            "persons with records in several groups",
            several as f64,
        );
        finding.add_fact(
            "fewest_common",
            "fewest persons that such groups have in common",
            fewest as f64,
        );
        finding
    };
    let findings = vec![
        finding(two, "chance of finding a person if two records are known", fewest_two),
        finding(all, "chance of finding a person if all records are known", fewest_all),
    ];
    Ok(Answer { findings, skipped: Vec::new() })
}

/// Returns the intersection of two ascending lists.
fn common(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut others = b.iter().peekable();
    let mut both = Vec::new();
    for &own in a {
        while others.next_if(|other| **other < own).is_some() {}
        if others.peek() == Some(&&own) {
            both.push(own);
        }
    }
    both
}

/// The persons of each group of a release.
#[derive(Clone, Debug, Default)]
pub struct GroupPersons {
    /// The persons of each group, ascending.
    groups: Vec<Vec<u32>>,
    /// The groups of each person, ascending.
    persons: Vec<Vec<u32>>,
}

impl GroupPersons {
    /// Creates it from the persons of each row and the group of each row.
    pub(super) fn new(rows: &[&[u32]], of_row: &[u32], groups: usize) -> GroupPersons {
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); groups];
        for (own, &group) in rows.iter().zip(of_row) {
            lists[group as usize].extend_from_slice(own);
        }
        let mut persons: Vec<Vec<u32>> = Vec::new();
        for (group, list) in lists.iter_mut().enumerate() {
            list.sort_unstable();
            list.dedup();
            for &person in list.iter() {
                if persons.len() <= person as usize {
                    persons.resize(person as usize + 1, Vec::new());
                }
                persons[person as usize].push(group as u32);
            }
        }
        GroupPersons { groups: lists, persons }
    }

    fn of_group(&self, group: u32) -> &[u32] {
        &self.groups[group as usize]
    }

    fn groups_of_persons(&self) -> &[Vec<u32>] {
        &self.persons
    }

    /// Returns the number of persons per group.
    pub(super) fn sizes(&self) -> Vec<u64> {
        self.groups.iter().map(|list| list.len() as u64).collect()
    }

    /// Returns the risks of all persons. A person has the greatest risk of her groups.
    pub(super) fn worst(&self, by_group: &[f64]) -> Risks {
        self.each(|own| own.iter().map(|&group| by_group[group as usize]).fold(0.0, f64::max))
    }

    /// Returns the risks of all persons. A person has the mean risk of her groups.
    pub(super) fn mean(&self, by_group: &[f64]) -> Risks {
        self.each(|own| {
            let risks = || own.iter().map(|&group| by_group[group as usize]);
            // Rounding can make a sum exceed the exact result: 0.2 + 0.2 + 0.2 > 0.6. The mean must
            // not exceed the maximum.
            (risks().sum::<f64>() / own.len() as f64).min(risks().fold(0.0, f64::max))
        })
    }

    fn each(&self, risk: impl Fn(&[u32]) -> f64) -> Risks {
        let mut risks = Risks::default();
        self.persons.iter().filter(|own| !own.is_empty()).for_each(|own| risks.add(risk(own), 1));
        risks
    }
}
