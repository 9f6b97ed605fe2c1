//! Overlap: with local recoding groups may overlap, and a person may be in any matching group.
//!
//! Paper: `sun2008`; the measure is ours. For each person of a table of original values, the
//! adversary knows all matching groups, and that the person's value is one of their values. These
//! are at least the values of the person's own group, because any assignment of the sensitive
//! values within a group is possible. Overlap therefore protects, and this attack measures how
//! much.

use incrowd_core::{Param, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity, Risks, share};
use super::group_values::union;
use super::journalist::join_notes;
use super::{Adversary, Card, Need, Subject};

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "overlap",
    paper: "sun2008",
    about: "An adversary knows the quasi-identifiers of people and finds all matching groups of \
            each person. The person's value is one of the values of these groups. The risk is the \
            share of the most frequent one.",
    limits: "All records of the matching groups are treated as equally likely. An adversary who \
             knows the algorithm may exclude some groups. People who match no group are not in the \
             release.",
    subject: Subject::People,
    needs: &[Need::People, Need::Sensitive],
    uses: &[],
    needs_text: "a table of people with the quasi-identifiers (`[judging] population` or \
                 `[attack] external`), and a sensitive column",
    params: &[Param::number("threshold", 0.0, 1.0)
        .or("0.8")
        .about("a person whose value is guessed with at least this chance counts as at risk")],
    limit: Quantity::Share,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, progress: &dyn Progress) -> Result<Answer> {
    let tables = [adversary.population(), adversary.external.map(|external| external.table)];
    let table =
        tables.into_iter().flatten().find(|table| !adversary.release.shared(table).is_empty());
    let Some(table) = table.filter(|_| adversary.release.sensitive().next().is_some()) else {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs_text)));
    };
    let (join, _) = adversary.release.join(table, adversary.missing_label())?;
    let names: Vec<&str> = adversary.release.sensitive().collect();
    let values = adversary.release.values_within(&join.groups.of_row, join.groups.len());
    let mut by_column: Vec<(Risks, u64)> =
        names.iter().map(|_| (Risks::default(), u64::MAX)).collect();
    let (mut several, mut matching) = (0, 0);
    join.candidates(progress, &mut |vector, groups| {
        let people = join.vectors.records[vector];
        if groups.is_empty() {
            return;
        }
        matching += people;
        several += if groups.len() > 1 { people } else { 0 };
        for ((risks, fewest), values) in by_column.iter_mut().zip(&values) {
            let all = union(values, groups);
            let records = all.iter().map(|entry| entry.1).sum();
            risks.add(share(all.iter().map(|entry| entry.1).max().unwrap_or(0), records), people);
            *fewest = (*fewest).min(all.len() as u64);
        }
    });
    let mut answer = Answer::default();
    for ((risks, fewest), name) in by_column.into_iter().zip(names) {
        let measures = "chance of guessing the value";
        let mut finding =
            risks.finding(CARD.name, Some(name), measures, CHANCE, Alarm::AtLeast(threshold));
        finding.people = "matching people";
        finding.add_fact("several", "people who match more than one group", several as f64);
        if matching > 0 {
            finding.add_fact("fewest_values", "fewest possible values of a person", fewest as f64);
        }
        finding.notes = join_notes(adversary, table, &join);
        answer = answer.and(Answer::one(finding));
    }
    Ok(answer)
}
