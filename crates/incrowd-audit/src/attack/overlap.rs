//! Overlap: where groups overlap, as local recoding lets them, a person may be in any group whose cells fit.
//!
//! Paper: `sun2008`; the measure is ours. Of each person of a table of plain values the adversary knows all groups that fit,
//! and that the value is one of theirs together. These are never fewer than those of the person's own group, since any
//! arrangement of the sensitive values within a group is a possible world; so overlap protects, and this says how much.

use incrowd_core::{Param, ParamKind, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity, Risks, share};
use super::group_values::{GroupValues, union};
use super::journalist::join_notes;
use super::{Adversary, Card, Need, Subject};

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "overlap",
    paper: "sun2008",
    about: "Somebody knows the quasi-identifiers of people and finds all groups each of them fits. The value is one of those \
            groups' values together; the risk is the share of the most frequent of them.",
    limits: "It takes all records of the fitting groups as equally likely. Whoever knows the algorithm may exclude some groups. \
             People who fit no group are not in the release.",
    subject: Subject::People,
    needs: &[Need::People, Need::Sensitive],
    uses: &[],
    needs_text: "a table of people with the quasi-identifiers (`[judging] population` or `[attack] external`), and a sensitive column",
    params: &[Param {
        name: "threshold",
        kind: ParamKind::Number(0.0, 1.0),
        default: Some("0.8"),
        about: "whose value is guessed rightly with at least this chance counts as at risk",
    }],
    limit: Quantity::Share,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, progress: &dyn Progress) -> Result<Answer> {
    let tables = [adversary.population(), adversary.external.map(|external| external.table)];
    let table = tables.into_iter().flatten().find(|table| !adversary.release.shared(table).is_empty());
    let Some(table) = table.filter(|_| adversary.release.sensitive().next().is_some()) else {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs_text)));
    };
    let (join, _) = adversary.release.join(table, adversary.missing_label())?;
    let names: Vec<&str> = adversary.release.sensitive().collect();
    let columns = (0..names.len()).map(|i| adversary.release.quasi.len() + i);
    let values: Vec<GroupValues> = columns
        .map(|column| {
            GroupValues::new(adversary.release.table, &join.groups.of_row, join.groups.len(), column)
        })
        .collect();
    let mut learned: Vec<(Risks, u64)> = names.iter().map(|_| (Risks::default(), u64::MAX)).collect();
    let (mut several, mut fitting) = (0, 0);
    join.candidates(progress, &mut |vector, groups| {
        let people = join.vectors.records[vector];
        if groups.is_empty() {
            return;
        }
        fitting += people;
        several += if groups.len() > 1 { people } else { 0 };
        for ((risks, fewest), values) in learned.iter_mut().zip(&values) {
            let all = union(values, groups);
            let records = all.iter().map(|entry| entry.1).sum();
            risks.add(share(all.iter().map(|entry| entry.1).max().unwrap_or(0), records), people);
            *fewest = (*fewest).min(all.len() as u64);
        }
    });
    let mut answer = Answer::default();
    for ((risks, fewest), name) in learned.into_iter().zip(names) {
        let measures = "chance of guessing the value";
        let mut finding = risks.finding(CARD.name, Some(name), measures, CHANCE, Alarm::AtLeast(threshold));
        finding.people = "people who fit";
        finding.add_fact("several", "people who fit more than one group", several as f64);
        if fitting > 0 {
            finding.add_fact("fewest_values", "fewest values open to anybody", fewest as f64);
        }
        finding.notes = join_notes(adversary, table, &join);
        answer = answer.and(Answer::one(finding));
    }
    Ok(answer)
}
