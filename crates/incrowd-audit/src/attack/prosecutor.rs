//! The prosecutor: record linkage by somebody who knows that the person is in the release.
//!
//! Paper: `elemam2008`. The person stands in a group of f alike records, so a guess which of them is the person's is right
//! with probability 1/f. Where it is known whose records they are, f counts persons.

use incrowd_core::{Param, ParamKind, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity};
use super::{Adversary, Card, Subject};

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "prosecutor",
    paper: "elemam2008",
    about: "Somebody knows that a person is in the release, knows all their quasi-identifiers, and guesses which of the \
            records that fit is theirs. The risk is 1 over the size of the person's group.",
    limits: "It is about finding the record, not about what is learned from it: where all records of a group have one \
             sensitive value, finding the record is not even needed (see homogeneity).",
    subject: Subject::People,
    needs: &[],
    uses: &[],
    needs_text: "the release",
    params: &[THRESHOLD],
    limit: Quantity::Worst,
    run,
};

/// Who counts as at risk of being linked.
pub(super) const THRESHOLD: Param = Param {
    name: "threshold",
    kind: ParamKind::Number(0.0, 1.0),
    default: Some("0.2"),
    about: "whoever is found with a chance above this counts as at risk",
};

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
    finding.notes.extend(adversary.persons_unknown.iter().map(|why| format!("records are counted: {why}")));
    finding.by_group = by_group;
    Ok(Answer::one(finding))
}

/// The chance in each group of the release.
pub(super) fn chances(adversary: &Adversary<'_>) -> Vec<f64> {
    adversary.release.sizes().into_iter().map(|size| 1.0 / size as f64).collect()
}
