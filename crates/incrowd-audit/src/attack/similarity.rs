//! Similarity: a group whose sensitive values differ and yet all fall into one category.
//!
//! Paper: `sun2008`, the similarity attack. Whoever finds the person's group learns the category of the value: that it is
//! some cancer, that it is something severe. The risk is the share of the group's records in its most frequent category; at
//! 1 the category is certain.
//!
//! Where we differ: the paper counts groups of one category; we also say how likely the category is in the others.

use incrowd_core::{Param, ParamKind, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity, Risks, share};
use super::{Adversary, Card, Need, Subject};

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "similarity",
    paper: "sun2008",
    about: "Somebody finds the person's group and guesses the category most of its values fall into. The risk is the share of \
            records in that category; at 1 the category is known though the value is not.",
    limits: "It knows only the categories it is given. A category most people are in anyway is guessed without any release. In \
             the paper, 3 of 28 tables are said to be vulnerable under (2+, 2), where every group has two categories by \
             definition.",
    subject: Subject::Values,
    needs: &[Need::Sensitive, Need::Categories],
    uses: &[],
    needs_text: "the release with a sensitive column that has categories",
    params: &[Param {
        name: "threshold",
        kind: ParamKind::Number(0.0, 1.0),
        default: Some("1"),
        about: "whose category is guessed rightly with at least this chance counts as at risk",
    }],
    limit: Quantity::Share,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, _: &dyn Progress) -> Result<Answer> {
    let mut answer = Answer::default();
    let records = &adversary.release.groups.records;
    for (column, name) in adversary.release.sensitive().enumerate() {
        let Some(by_category) = adversary.by_category(column) else {
            answer =
                answer.and(Answer::skip(CARD.name, Some(name), "needs categories of the column's values"));
            continue;
        };
        let by_group: Vec<f64> = by_category
            .iter()
            .zip(records)
            .map(|(counts, &n)| share(counts.iter().copied().max().unwrap_or(0), n))
            .collect();
        let risks = Risks::of_groups(&by_group, records);
        let measures = "chance of guessing the category";
        let mut finding = risks.finding(CARD.name, Some(name), measures, CHANCE, Alarm::AtLeast(threshold));
        let alike = |g: &usize| by_category[*g].iter().filter(|&&n| n > 0).count() == 1;
        let groups: Vec<usize> = (0..records.len()).filter(alike).collect();
        finding.add_fact("groups", "groups of one category", groups.len() as f64);
        let people: u64 = groups.iter().map(|&g| records[g]).sum();
        finding.add_fact("certain", "people whose category is certain", people as f64);
        let severe: u64 = groups.iter().filter(|&&g| by_category[g][0] > 0).map(|&g| records[g]).sum();
        finding.add_fact("most_sensitive", "of these, in the most sensitive category", severe as f64);
        finding.by_group = by_group;
        answer = answer.and(Answer::one(finding));
    }
    Ok(answer)
}
