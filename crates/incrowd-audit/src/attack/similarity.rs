//! Similarity: a group with different sensitive values that all belong to one category.
//!
//! Paper: `sun2008`, the similarity attack. An adversary who finds the person's group learns the
//! category of the value, e.g. that it is a kind of cancer. The risk is the share of the group's
//! records in its most frequent category. At 1 the category is certain.
//!
//! Where we differ: the paper counts groups with a single category. We also report the probability
//! of the category in the other groups.

use incrowd_core::{Param, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity, Risks, share};
use super::{Adversary, Card, Need, Subject};

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "similarity",
    paper: "sun2008",
    about: "An adversary finds the person's group and guesses the most frequent category of \
            sensitive values. The risk is the share of records in that category. At 1 the category \
            is known, although the value is not.",
    limits: "Only the given categories are considered. A category of most people is easy to guess \
             without any release. The paper reports 3 of 28 tables as vulnerable under (2+, 2), \
             where every group has two categories by definition.",
    subject: Subject::Values,
    needs: &[Need::Sensitive, Need::Categories],
    uses: &[],
    needs_text: "the release with a sensitive column that has categories",
    params: &[Param::number("threshold", 0.0, 1.0)
        .or("1")
        .about("a person whose category is guessed with at least this chance counts as at risk")],
    limit: Quantity::Share,
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
        let by_group: Vec<f64> = by_category
            .iter()
            .zip(records)
            .map(|(counts, &n)| share(counts.iter().copied().max().unwrap_or(0), n))
            .collect();
        let risks = Risks::of_groups(&by_group, records);
        let measures = "chance of guessing the category";
        let mut finding =
            risks.finding(CARD.name, Some(name), measures, CHANCE, Alarm::AtLeast(threshold));
        let uniform = |g: &usize| by_category[*g].iter().filter(|&&n| n > 0).count() == 1;
        let groups: Vec<usize> = (0..records.len()).filter(uniform).collect();
        finding.add_fact("groups", "groups with a single category", groups.len() as f64);
        let people: u64 = groups.iter().map(|&g| records[g]).sum();
        finding.add_fact("certain", "people whose category is certain", people as f64);
        let severe: u64 =
            groups.iter().filter(|&&g| by_category[g][0] > 0).map(|&g| records[g]).sum();
        finding.add_fact(
            "most_sensitive",
            "of these, in the most sensitive category",
            severe as f64,
        );
        finding.by_group = by_group;
        answer = answer.and(Answer::one(finding));
    }
    Ok(answer)
}
