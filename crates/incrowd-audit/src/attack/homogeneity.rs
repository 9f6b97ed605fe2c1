//! Homogeneity: a sensitive value that all or most records of a group share.
//!
//! Paper: `machanavajjhala2007`, the homogeneity attack. An adversary who finds the person's group
//! guesses its most frequent value and is right with probability max_v n_v / n. At 1 the value is
//! certain, regardless of the size of the group.

use incrowd_core::{Param, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity, Risks, share};
use super::{Adversary, Card, Need, Subject};

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "homogeneity",
    paper: "machanavajjhala2007",
    about: "An adversary finds the person's group and guesses the most frequent sensitive value. \
            The risk is the share of records with that value. At 1 the value is known without \
            finding the record.",
    limits: "A value that most people have is easy to guess without any release; compare with \
             skewness. Values with almost the same meaning count as different (for numbers see \
             proximity).",
    subject: Subject::Values,
    needs: &[Need::Sensitive],
    uses: &[],
    needs_text: "the release with a sensitive column",
    params: &[Param::number("threshold", 0.0, 1.0)
        .or("0.8")
        .about("a person whose value is guessed with at least this chance counts as at risk")],
    limit: Quantity::Share,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, _: &dyn Progress) -> Result<Answer> {
    let mut answer = Answer::default();
    let records = &adversary.release.groups.records;
    for (name, values) in adversary.release.sensitive().zip(&adversary.release.values) {
        let by_group: Vec<f64> =
            (0..records.len()).map(|g| share(values.most(g), records[g])).collect();
        let uniform: Vec<usize> = (0..records.len()).filter(|&g| values.of(g).len() == 1).collect();
        let certain: u64 = uniform.iter().map(|&g| records[g]).sum();
        let risks = Risks::of_groups(&by_group, records);
        let measures = "chance of guessing the value";
        let mut finding =
            risks.finding(CARD.name, Some(name), measures, CHANCE, Alarm::AtLeast(threshold));
        finding.add_fact("certain", "people whose value is certain", certain as f64);
        finding.add_fact("groups", "groups with a single value", uniform.len() as f64);
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
