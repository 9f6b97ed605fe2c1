//! The marketer: linking as many records as possible.
//!
//! Paper: `elemam2008`, and `dankar2010` for the definition with a population. The release has n
//! records in groups of f_j records, and the cells of group j match F_j people of the population.
//! Linking at random is right for Σ f_j / F_j records on average, a share of (1/n) Σ f_j / F_j.
//! Without a population F_j = f_j, and the share is the number of groups over n.
//!
//! Where we differ: as for the journalist, F_j is at least f_j.

use incrowd_core::{Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity, Risks};
use super::journalist::population_join;
use super::prosecutor::{THRESHOLD, chances};
use super::{Adversary, Card, Need, Subject};

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "marketer",
    paper: "dankar2010",
    about: "An adversary links every record with a person and accepts errors. The risk is the \
            share of records that are linked correctly: the number of groups over the number of \
            records. With a population table it is the average over records of 1 over the number \
            of people who match their cells.",
    limits: "An average hides the worst case: one person who is certainly found among many \
             protected people changes it very little.",
    subject: Subject::People,
    needs: &[],
    uses: &[Need::Population],
    needs_text: "the release; uses a population table (`[judging] population`) if there is one",
    params: &[THRESHOLD],
    limit: Quantity::Average,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, progress: &dyn Progress) -> Result<Answer> {
    let join = population_join(adversary, progress)?;
    let measures = match join {
        Some(_) => "chance of linking a record with the right person of the population",
        None => "chance of linking a record with the right person of the release",
    };
    let by_group = join.map_or_else(|| chances(adversary), |join| join.chances.clone());
    let records = Risks::of_groups(&by_group, &adversary.release.groups.records);
    let expected = records.finding(CARD.name, None, measures, CHANCE, Alarm::Above(threshold));
    let mut finding = match &adversary.release.persons {
        None => expected.clone(),
        // A person counts once, independent of the number of her records.
        Some(persons) => persons.mean(&by_group).finding(
            CARD.name,
            None,
            measures,
            CHANCE,
            Alarm::Above(threshold),
        ),
    };
    finding.people = adversary.release.unit();
    let expected = expected.average * expected.of as f64;
    finding.add_fact("expected_records", "correctly linked records, on average", expected);
    // The average is not about single groups. The attacks prosecutor and journalist report those.
    Ok(Answer::one(finding))
}
