//! Outside: people of the microdata who are not in the external table.
//!
//! Paper: `sacharidis2010`. Assume that the adversary has the external table that was used to
//! create the release. If a box has more rows than matching people of that table, the other rows
//! are people who are in the microdata but not in the table.
//!
//! Where we differ: the attack is ours. The paper assumes that the external table contains
//! everyone.

use incrowd_core::{Param, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity, Risks, share};
use super::{Adversary, Card, Need, Subject};

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "outside",
    paper: "sacharidis2010",
    about: "An adversary has the external table with which a k-join-anonymous release was created. \
            If a box has more rows than matching people of that table, the other rows are people \
            who are in the microdata but not in the table. The risk is their share of the box's \
            rows.",
    limits: "An external person who matches a box but was assigned to another box hides one such \
             row. With a table other than the publisher's the difference is less meaningful.",
    subject: Subject::People,
    needs: &[Need::Joined, Need::External],
    uses: &[],
    needs_text: "a k-join-anonymous release and the external table (`[attack] external`)",
    params: &[Param::number("threshold", 0.0, 1.0)
        .or("0")
        .about("a person in a box with a larger share of such rows counts as at risk")],
    limit: Quantity::Share,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, progress: &dyn Progress) -> Result<Answer> {
    if adversary.joined.is_none() {
        return Ok(Answer::skip(CARD.name, None, "needs a k-join-anonymous release"));
    }
    let Some(external) =
        adversary.external.filter(|e| !adversary.release.shared(e.table).is_empty())
    else {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs_text)));
    };
    let (join, class) = adversary.release.join(external.table, adversary.missing_label())?;
    let covered = join.covered(progress);
    let beyond: Vec<u64> = join
        .groups
        .records
        .iter()
        .zip(&covered.group_records)
        .map(|(rows, people)| rows.saturating_sub(*people))
        .collect();
    let shares: Vec<f64> =
        beyond.iter().zip(&join.groups.records).map(|(&n, &rows)| share(n, rows)).collect();
    let risks = Risks::of_groups(&shares, &join.groups.records);
    let measures =
        "share of the box's rows that are in the microdata but not in the external table";
    let mut finding = risks.finding(CARD.name, None, measures, CHANCE, Alarm::Above(threshold));
    finding.add_fact(
        "boxes",
        "boxes with more rows than external people",
        beyond.iter().filter(|n| **n > 0).count() as f64,
    );
    finding.add_fact(
        "people",
        "rows in excess of matching external people",
        beyond.iter().sum::<u64>() as f64,
    );
    finding.by_group = class.iter().map(|&class| shares[class as usize]).collect();
    Ok(Answer::one(finding))
}
