//! Somebody who knows several records of one person.
//!
//! Ours; no paper has it in this form. A person with records in several groups is, to whoever knows that these records are hers,
//! among the persons whom all of those groups have in common, and these may be fewer than k. k-anonymity by persons promises
//! nothing against that, so it is measured: for adversaries who know two of her records, the worst two, and for those who know
//! all of them.

use incrowd_core::{Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Finding, Quantity, Risks};
use super::prosecutor::THRESHOLD;
use super::{Adversary, Card, Need, Subject};

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "persons",
    paper: "persons-2026",
    about: "Somebody knows several records of a person and that they are hers. She is among the persons whom all groups of \
            these records have in common; the risk is 1 over their number. It is asked for the worst two of her records, and \
            for all of them.",
    limits: "It needs to know whose records are in which group, which only the data owner can. Persons whose records are all in \
             one group are left out: for them the prosecutor says it. Whoever knows how many records a person has may know more.",
    subject: Subject::People,
    needs: &[Need::Persons],
    uses: &[],
    needs_text: "the table the release was made from (`[judging] original`) and the column that tells persons apart \
                 (`[input] person`)",
    params: &[THRESHOLD],
    limit: Quantity::Worst,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, _: &dyn Progress) -> Result<Answer> {
    let Some(persons) = &adversary.release.persons else {
        let why = adversary.persons_unknown.clone().unwrap_or_else(|| format!("needs {}", CARD.needs_text));
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
        return Ok(Answer::skip(CARD.name, None, "nobody has records in several groups"));
    }
    let finding = |risks: Risks, measures: &'static str, fewest: u64| -> Finding {
        let mut finding = risks.finding(CARD.name, None, measures, CHANCE, Alarm::Above(threshold));
        (finding.people, finding.owner_only) = ("persons", true);
        finding.add_fact("several_groups", "persons with records in several groups", several as f64);
        finding.add_fact("fewest_common", "fewest persons whom such groups have in common", fewest as f64);
        finding
    };
    let findings = vec![
        finding(two, "chance of finding a person two of whose records are known", fewest_two),
        finding(all, "chance of finding a person all of whose records are known", fewest_all),
    ];
    Ok(Answer { findings, skipped: Vec::new() })
}

/// What two ascending lists have in common.
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

/// Which persons have records in which groups of a release.
#[derive(Clone, Debug, Default)]
pub struct GroupPersons {
    /// The persons of each group, ascending.
    groups: Vec<Vec<u32>>,
    /// The groups of each person, ascending.
    persons: Vec<Vec<u32>>,
}

impl GroupPersons {
    /// From the persons of each row's records, and the group of each row.
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

    /// How many persons each group has.
    pub(super) fn sizes(&self) -> Vec<u64> {
        self.groups.iter().map(|list| list.len() as u64).collect()
    }

    /// The risk of everybody whose group decides it: of each person that of the worst of her groups.
    pub(super) fn worst(&self, by_group: &[f64]) -> Risks {
        self.each(|own| own.iter().map(|&group| by_group[group as usize]).fold(0.0, f64::max))
    }

    /// The same on average over each person's groups.
    pub(super) fn mean(&self, by_group: &[f64]) -> Risks {
        self.each(|own| own.iter().map(|&group| by_group[group as usize]).sum::<f64>() / own.len() as f64)
    }

    fn each(&self, risk: impl Fn(&[u32]) -> f64) -> Risks {
        let mut risks = Risks::default();
        self.persons.iter().filter(|own| !own.is_empty()).for_each(|own| risks.add(risk(own), 1));
        risks
    }
}
