//! The journalist: record linkage by somebody who has a list of the population.
//!
//! Paper: `elemam2008`. The cells of a group of the release are covered by F records of the population, so whoever picks one
//! of those people for a record is right with probability 1/F.
//!
//! Where we differ: groups of a release may overlap, so F is counted by looking which population records each group's cells
//! cover, not by generalizing the population. A list that covers fewer people than the group has records does not contain
//! everyone; the records themselves then show that there are at least f people, and the risk is 1/max(f, F).

use incrowd_core::{Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity};
use super::prosecutor::{MEASURES, THRESHOLD};
use super::{Adversary, Card, Need, Subject};

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "journalist",
    paper: "elemam2008",
    about: "Somebody has a list of the whole population and wants to show that anybody at all can be found. The risk of a \
            record is 1 over the number of people in the population whom its cells fit.",
    limits: "It is only as good as the population table. If that does not contain everyone, the true risk may be lower; if it \
             contains people who cannot be meant, higher. Whoever knows that a person took part is a prosecutor.",
    subject: Subject::People,
    needs: &[Need::Population],
    uses: &[],
    needs_text: "a population table (`[judging] population`) with at least one of the quasi-identifiers",
    params: &[THRESHOLD],
    limit: Quantity::Worst,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, progress: &dyn Progress) -> Result<Answer> {
    let Some(linked) = linked(adversary, progress)? else {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs_text)));
    };
    let groups = &adversary.release.groups;
    let risks = adversary.release.risks(&linked.chances);
    let mut finding = risks.finding(CARD.name, None, MEASURES, CHANCE, Alarm::Above(threshold));
    finding.people = adversary.release.unit();
    let smallest = linked.fitting.iter().min().copied().unwrap_or(0);
    finding.add_fact(
        "fewest_fitting",
        "people of the population whom the least general cells fit",
        smallest as f64,
    );
    finding.add_fact("uncovered", "records of the population that fit no group", linked.uncovered as f64);
    let sizes = adversary.release.sizes();
    let short = linked.fitting.iter().zip(&sizes).zip(&groups.records);
    let short: u64 = short.filter(|((fitting, size), _)| fitting < size).map(|(_, records)| records).sum();
    finding.add_fact("short", "records in groups that fit fewer people than they have records", short as f64);
    if short > 0 {
        finding.notes.push(format!(
            "the population table does not contain everyone: {short} records are in groups whose cells fit fewer of its \
             people than the group has records; there the size of the group counts"
        ));
    }
    finding.notes.extend(linked.notes.clone());
    finding.by_group.clone_from(&linked.chances);
    Ok(Answer::one(finding))
}

/// The release against the population.
#[derive(Clone, Debug)]
pub(super) struct Linked {
    /// For each group how many people of the population it fits.
    pub(super) fitting: Vec<u64>,
    /// For each group the chance of finding the right person.
    pub(super) chances: Vec<f64>,
    /// How many people fit no group.
    pub(super) uncovered: u64,
    /// What a reader should know about the join.
    pub(super) notes: Vec<String>,
}

/// `None` if there is no population, or if it shares no column with the release.
pub(super) fn linked<'a>(
    adversary: &'a Adversary<'_>,
    progress: &dyn Progress,
) -> Result<Option<&'a Linked>> {
    if adversary.linked.get().is_none() {
        let linked = link(adversary, progress)?;
        return Ok(adversary.linked.get_or_init(|| linked).as_ref());
    }
    Ok(adversary.linked.get().and_then(Option::as_ref))
}

fn link(adversary: &Adversary<'_>, progress: &dyn Progress) -> Result<Option<Linked>> {
    let Some(population) = adversary.population().filter(|p| !adversary.release.shared(p).is_empty()) else {
        return Ok(None);
    };
    let (join, class) = adversary.release.join(population, adversary.missing_label())?;
    let covered = join.covered(progress);
    let fitting: Vec<u64> = class.iter().map(|&class| covered.group_records[class as usize]).collect();
    let sizes = adversary.release.sizes();
    let chances = fitting.iter().zip(sizes).map(|(&f, n)| 1.0 / f.max(n) as f64).collect();
    let notes = join_notes(adversary, population, &join);
    Ok(Some(Linked { fitting, chances, uncovered: covered.uncovered, notes }))
}

/// What a join with another table could not use.
pub(super) fn join_notes(
    adversary: &Adversary<'_>,
    other: &incrowd_core::Folded,
    join: &crate::cover::Join,
) -> Vec<String> {
    let shared = adversary.release.shared(other);
    let name = |i: usize| adversary.release.table.columns[i].name.as_str();
    let mut notes = Vec::new();
    let absent: Vec<&str> = (0..adversary.release.quasi.len())
        .filter(|&i| shared.iter().all(|on| on.release != i))
        .map(name)
        .collect();
    if !absent.is_empty() {
        notes.push(format!("the other table has no {}: joined on the rest", absent.join(", ")));
    }
    for (i, on) in shared.iter().enumerate() {
        let (unread, strange) = (join.unread[i], join.strange[i]);
        if unread > 0 {
            notes.push(format!(
                "column {}: the cells of {unread} released records fit no value of the other table; if it was \
                 generalized with a hierarchy, give it",
                name(on.release)
            ));
        }
        if strange > 0 {
            notes.push(format!(
                "column {}: {strange} records of the other table have a value that only `*` covers",
                name(on.release)
            ));
        }
    }
    notes
}
