//! Confidence: the probability that a person's value is in the most sensitive category.
//!
//! Paper: `sun2008`; the measure is ours. The models of the paper bound the number of values or
//! categories of a group and their total weight, but not the probability of the most sensitive
//! category. The risk is the share of that category in the person's group.

use incrowd_core::{Param, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity, Risks, share};
use super::{Adversary, Card, Need, Subject};

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "confidence",
    paper: "sun2008",
    about: "An adversary finds the person's group. The risk is the share of the most sensitive \
            category in the group: the chance that the person's value is in it.",
    limits: "The job defines the order of the categories. Certainty that a person is not in the \
             most sensitive category does not count as harm.",
    subject: Subject::Values,
    needs: &[Need::Sensitive, Need::Categories],
    uses: &[],
    needs_text: "the release with a sensitive column that has categories",
    params: &[Param::number("threshold", 0.0, 1.0)
        .or("0.5")
        .about("a person in the most sensitive category with a greater chance counts as at risk")],
    limit: Quantity::Worst,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, _: &dyn Progress) -> Result<Answer> {
    let mut answer = Answer::default();
    let records = &adversary.release.groups.records;
    for (column, name) in adversary.release.sensitive().enumerate() {
        let Some(by_category) = adversary.by_category(column) else {
            answer = answer.and(Answer::skip(
                CARD.name,
                Some(name),
                "needs categories of the column's values",
            ));
            continue;
        };
        let by_group: Vec<f64> =
            by_category.iter().zip(records).map(|(counts, &n)| share(counts[0], n)).collect();
        let risks = Risks::of_groups(&by_group, records);
        let measures = "chance of the most sensitive category";
        let mut finding =
            risks.finding(CARD.name, Some(name), measures, CHANCE, Alarm::Above(threshold));
        let values = &adversary.release.values[column];
        let of_value =
            (0..records.len()).map(|g| share(values.most(g), records[g])).fold(0.0, f64::max);
        let most = |counts: &Vec<u64>| counts.iter().copied().max().unwrap_or(0);
        let of_category =
            by_category.iter().zip(records).map(|(counts, &n)| share(most(counts), n));
        finding.add_fact("value", "greatest chance of any value", of_value);
        finding.add_fact(
            "category",
            "greatest chance of any category",
            of_category.fold(0.0, f64::max),
        );
        finding.by_group = by_group;
        answer = answer.and(Answer::one(finding));
    }
    Ok(answer)
}
