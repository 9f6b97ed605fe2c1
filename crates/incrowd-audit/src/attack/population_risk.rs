//! Somebody who does not know who is in a sample.
//!
//! Papers: `benedetti1998`, `templ2008`. The table is a sample with weights, and the weights of a group's records add up to F, the
//! estimated number of people of the population whom its cells fit. Whoever has a list of the population picks one of them.

use incrowd_core::{Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Finding, Quantity, Risks};
use super::prosecutor::THRESHOLD;
use super::{Adversary, Card, Need, Subject};
use crate::risk::{benedetti_franconi, in_order, weighted_risk};

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "population-risk",
    paper: "benedetti1998",
    about: "Somebody has a list of the population but does not know who is in the sample. The weights of a group's records add up to \
            the estimated number F of people who are like them. The risk is 1 over F; and, because F is an estimate, what one over \
            the true number is expected to be by the model of Benedetti and Franconi. The sum over all records is how many of them \
            are expected to be found.",
    limits: "Weights say what is so on average, not for a single group. Whoever knows that a person took part is a prosecutor. \
             sdcMicro uses an approximation from three records on; this is computed exactly.",
    subject: Subject::People,
    needs: &[Need::Weights],
    uses: &[],
    needs_text: "the table the release was made from (`[judging] original`) and its column of weights (`[input] weight`), or \
                 published mean weights",
    params: &[THRESHOLD],
    limit: Quantity::Worst,
    run,
};

/// How many records each group has, and how many people they stand for.
#[derive(Clone, Debug)]
pub struct Weighed {
    /// The groups.
    pub groups: Vec<(u64, f64)>,
    /// Whether the weights are not published.
    pub owner_only: bool,
}

fn run(adversary: &Adversary<'_>, threshold: f64, _: &dyn Progress) -> Result<Answer> {
    let Some(weighed) = &adversary.weighed else {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs_text)));
    };
    let groups = in_order(weighed.groups.clone());
    let all = weighted_risk(groups.iter().copied());
    let finding = |risk: &dyn Fn(u64, f64) -> f64, measures: &'static str, sum: f64| -> Finding {
        let mut risks = Risks::default();
        groups.iter().for_each(|&(records, people)| risks.add(risk(records, people), records));
        let mut finding = risks.finding(CARD.name, None, measures, CHANCE, Alarm::Above(threshold));
        finding.owner_only = weighed.owner_only;
        finding.add_fact("expected_found", "records expected to be found, all together", sum);
        finding.add_fact("fewest_people", "people the group with the smallest weight stands for", all.fewest);
        finding.add_fact("people", "people the release stands for", all.people);
        finding
    };
    let findings = vec![
        finding(
            &|_, people| 1.0 / people,
            "chance of finding the person by the weights, 1/F",
            all.by_weights.1,
        ),
        finding(
            &benedetti_franconi,
            "chance of finding the person by Benedetti and Franconi",
            all.expected.1,
        ),
    ];
    Ok(Answer { findings, skipped: Vec::new() })
}
