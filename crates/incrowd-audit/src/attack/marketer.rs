//! The marketer: linking as many records as possible.
//!
//! Paper: `elemam2008`, and `dankar2010` for the definition with a population: of n records in groups of f_j, the cells of
//! each group fitting F_j people of the population, linking at random is right for Σ f_j / F_j records, a share of
//! (1/n) Σ f_j / F_j. Without a population F_j = f_j, and the share is the number of groups over n.
//!
//! Where we differ: as for the journalist, F_j is never taken to be less than f_j.

use incrowd_core::{Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity, Risks};
use super::journalist::linked;
use super::prosecutor::{THRESHOLD, chances};
use super::{Adversary, Card, Need, Subject};

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "marketer",
    paper: "dankar2010",
    about: "Somebody links every record with somebody and does not mind errors. The risk is the share of records that are \
            linked rightly: groups over records, or with a population table the average over records of 1 over the people \
            their cells fit.",
    limits: "An average hides who is worst off: one person found for certain among many who are safe hardly shows.",
    subject: Subject::People,
    needs: &[],
    uses: &[Need::Population],
    needs_text: "the release; with a population table (`[judging] population`) it is joined with that",
    params: &[THRESHOLD],
    limit: Quantity::Average,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, progress: &dyn Progress) -> Result<Answer> {
    let linked = linked(adversary, progress)?;
    let measures = match linked {
        Some(_) => "chance of linking a record with the right person of the population",
        None => "chance of linking a record with the right person of the release",
    };
    let by_group = linked.map_or_else(|| chances(adversary), |linked| linked.chances.clone());
    let records = Risks::of_groups(&by_group, &adversary.release.groups.records);
    let expected = records.finding(CARD.name, None, measures, CHANCE, Alarm::Above(threshold));
    let mut finding = match &adversary.release.persons {
        None => expected.clone(),
        // A person counts once, however many records she has.
        Some(persons) => {
            persons.mean(&by_group).finding(CARD.name, None, measures, CHANCE, Alarm::Above(threshold))
        }
    };
    finding.people = adversary.release.unit();
    let expected = expected.average * expected.of as f64;
    finding.add_fact("expected_records", "records linked rightly, on average", expected);
    // An average is not about single groups: those are the prosecutor's or the journalist's.
    Ok(Answer::one(finding))
}
