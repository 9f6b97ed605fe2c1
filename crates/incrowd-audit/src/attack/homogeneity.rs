//! Homogeneity: a sensitive value that a whole group shares, or nearly.
//!
//! Paper: `machanavajjhala2007`, the homogeneity attack. Whoever finds the person's group guesses its most frequent value
//! and is right with probability max_v n_v / n. At 1 the value is certain, however large the group.

use incrowd_core::{Param, ParamKind, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity, Risks, share};
use super::{Adversary, Card, Need, Subject};

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "homogeneity",
    paper: "machanavajjhala2007",
    about: "Somebody finds the person's group and guesses the value most of its records have. The risk is the share of \
            records with that value; at 1 the value is known without finding the record.",
    limits: "A value that most people have anyway is guessed easily without any release; compare with skewness. GroupValues that \
             mean nearly the same count as different (see proximity for numbers).",
    subject: Subject::Values,
    needs: &[Need::Sensitive],
    uses: &[],
    needs_text: "the release with a sensitive column",
    params: &[Param {
        name: "threshold",
        kind: ParamKind::Number(0.0, 1.0),
        default: Some("0.8"),
        about: "whose value is guessed rightly with at least this chance counts as at risk",
    }],
    limit: Quantity::Share,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, _: &dyn Progress) -> Result<Answer> {
    let mut answer = Answer::default();
    let records = &adversary.release.groups.records;
    for (name, values) in adversary.release.sensitive().zip(&adversary.release.values) {
        let by_group: Vec<f64> = (0..records.len()).map(|g| share(values.most(g), records[g])).collect();
        let alike: Vec<usize> = (0..records.len()).filter(|&g| values.of(g).len() == 1).collect();
        let certain: u64 = alike.iter().map(|&g| records[g]).sum();
        let risks = Risks::of_groups(&by_group, records);
        let measures = "chance of guessing the value";
        let mut finding = risks.finding(CARD.name, Some(name), measures, CHANCE, Alarm::AtLeast(threshold));
        finding.add_fact("certain", "people whose value is certain", certain as f64);
        finding.add_fact("groups", "groups of one value", alike.len() as f64);
        finding.by_group = by_group;
        answer = answer.and(Answer::one(finding));
    }
    if answer.findings.is_empty() {
        return Ok(Answer::skip(
            CARD.name,
            None,
            "needs a sensitive column (`[columns] role = \"sensitive\"`)",
        ));
    }
    Ok(answer)
}
