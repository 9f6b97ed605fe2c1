//! The prosecutor: record linkage by an adversary who knows that the person is in the release.
//!
//! Paper: `elemam2008`. The person is in a group of f records with equal cells, so a guess is right
//! with probability 1/f. If the persons of the records are known, f counts persons.

use incrowd_core::{Param, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity};
use super::{Adversary, Card, Subject};

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "prosecutor",
    paper: "elemam2008",
    about: "An adversary knows that a person is in the release, knows all quasi-identifiers of the \
            person, and guesses which of the matching records belongs to the person. The risk is 1 \
            over the size of the person's group.",
    limits: "The attack covers finding the record, not learning from it. If all records of a group \
             have one sensitive value, the adversary learns it without finding the record (see \
             homogeneity).",
    subject: Subject::People,
    needs: &[],
    uses: &[],
    needs_text: "the release",
    params: &[THRESHOLD],
    limit: Quantity::Worst,
    run,
};

/// Threshold of attacks that link a person with a record.
pub(super) const THRESHOLD: Param = Param::number("threshold", 0.0, 1.0)
    .or("0.2")
    .about("a person whose record is found with a greater chance counts as at risk");

pub(super) const MEASURES: &str = "chance of finding the person's record";

fn run(adversary: &Adversary<'_>, threshold: f64, _: &dyn Progress) -> Result<Answer> {
    let by_group = chances(adversary);
    let risks = adversary.release.risks(&by_group);
    let mut finding = risks.finding(CARD.name, None, MEASURES, CHANCE, Alarm::Above(threshold));
    finding.people = adversary.release.unit();
    let smallest = adversary.release.sizes().into_iter().min().unwrap_or(0);
    let about = match adversary.release.persons {
        None => "records of the smallest group",
        Some(_) => "persons of the smallest group",
    };
    finding.add_fact("smallest_group", about, smallest as f64);
    finding
        .notes
        .extend(adversary.persons_unknown.iter().map(|why| format!("counted in records: {why}")));
    finding.by_group = by_group;
    Ok(Answer::one(finding))
}

/// Returns the probability of finding the right record in each group.
pub(super) fn chances(adversary: &Adversary<'_>) -> Vec<f64> {
    adversary.release.sizes().into_iter().map(|size| 1.0 / size as f64).collect()
}
