//! The journalist: record linkage by an adversary who has a list of the population.
//!
//! Paper: `elemam2008`. The cells of a group of the release cover F records of the population, so a
//! person picked among them is the right one with probability 1/F.
//!
//! Where we differ: groups of a release may overlap, so F counts the population records covered by
//! the cells of each group, instead of generalizing the population. If the list contains fewer
//! matching people than the group has records, it is incomplete. The records then prove that there
//! are at least f people, and the risk is 1/max(f, F).

use incrowd_core::{Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity};
use super::prosecutor::{MEASURES, THRESHOLD};
use super::{Adversary, Card, Need, Subject};

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "journalist",
    paper: "elemam2008",
    about: "An adversary has a list of the whole population and wants to re-identify any person. \
            The risk of a record is 1 over the number of people in the population who match its \
            cells.",
    limits: "The result depends on the population table. If people are missing in it, the true \
             risk may be lower. If it contains people who cannot be in the data, the true risk may \
             be higher. An adversary who knows that a person is in the data is a prosecutor.",
    subject: Subject::People,
    needs: &[Need::Population],
    uses: &[],
    needs_text: "a population table (`[judging] population`) with at least one of the \
                 quasi-identifiers",
    params: &[THRESHOLD],
    limit: Quantity::Worst,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, progress: &dyn Progress) -> Result<Answer> {
    let Some(join) = population_join(adversary, progress)? else {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs_text)));
    };
    let groups = &adversary.release.groups;
    let risks = adversary.release.risks(&join.chances);
    let mut finding = risks.finding(CARD.name, None, MEASURES, CHANCE, Alarm::Above(threshold));
    finding.people = adversary.release.unit();
    let smallest = join.matching.iter().min().copied().unwrap_or(0);
    finding.add_fact(
        "fewest_fitting",
        "people of the population who match the most specific cells",
        smallest as f64,
    );
    finding.add_fact(
        "uncovered",
        "records of the population that match no group",
        join.uncovered as f64,
    );
    let sizes = adversary.release.sizes();
    let short = join.matching.iter().zip(&sizes).zip(&groups.records);
    let short: u64 =
        short.filter(|((matching, size), _)| matching < size).map(|(_, records)| records).sum();
    finding.add_fact(
        "short",
        "records in groups that match fewer people than they have records",
        short as f64,
    );
    if short > 0 {
        finding.notes.push(format!(
            "the population table is incomplete: {short} records are in groups that match fewer \
             people than they have records; for them the size of the group is used"
        ));
    }
    finding.notes.extend(join.notes.clone());
    finding.by_group.clone_from(&join.chances);
    Ok(Answer::one(finding))
}

/// Result of joining the release with the population.
#[derive(Clone, Debug)]
pub(super) struct PopulationJoin {
    /// Number of matching people of the population per group.
    pub(super) matching: Vec<u64>,
    /// Probability of finding the right person per group.
    pub(super) chances: Vec<f64>,
    /// Number of people who match no group.
    pub(super) uncovered: u64,
    /// Notes about the join.
    pub(super) notes: Vec<String>,
}

/// Joins the release with the population, once per adversary. Returns `None` if there is no
/// population or if it shares no column with the release.
pub(super) fn population_join<'a>(
    adversary: &'a Adversary<'_>,
    progress: &dyn Progress,
) -> Result<Option<&'a PopulationJoin>> {
    if adversary.population_join.get().is_none() {
        let join = join(adversary, progress)?;
        return Ok(adversary.population_join.get_or_init(|| join).as_ref());
    }
    Ok(adversary.population_join.get().and_then(Option::as_ref))
}

fn join(adversary: &Adversary<'_>, progress: &dyn Progress) -> Result<Option<PopulationJoin>> {
    let Some(population) =
        adversary.population().filter(|p| !adversary.release.shared(p).is_empty())
    else {
        return Ok(None);
    };
    let (join, class) = adversary.release.join(population, adversary.missing_label())?;
    let covered = join.covered(progress);
    let matching: Vec<u64> =
        class.iter().map(|&class| covered.group_records[class as usize]).collect();
    let sizes = adversary.release.sizes();
    let chances = matching.iter().zip(sizes).map(|(&f, n)| 1.0 / f.max(n) as f64).collect();
    let notes = join_notes(adversary, population, &join);
    Ok(Some(PopulationJoin { matching, chances, uncovered: covered.uncovered, notes }))
}

/// Returns notes about columns and values that a join with another table could not use.
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
        notes.push(format!(
            "the other table has no column {}: the join uses the other columns",
            absent.join(", ")
        ));
    }
    for (i, on) in shared.iter().enumerate() {
        let (unread, foreign) = (join.unread[i], join.foreign[i]);
        if unread > 0 {
            notes.push(format!(
                "column {}: the cells of {unread} released records match no value of the other \
                 table; if the column was generalized with a hierarchy, provide the hierarchy",
                name(on.release)
            ));
        }
        if foreign > 0 {
            notes.push(format!(
                "column {}: {foreign} records of the other table have a value that is covered \
                 only by `*`",
                name(on.release)
            ));
        }
    }
    notes
}
