//! Population risk: an adversary who does not know who is in a sample.
//!
//! Papers: `benedetti1998`, `templ2008`. The table is a sample with sampling weights. The weights
//! of a group's records sum to F, the estimated number of people of the population who match its
//! cells. An adversary with a list of the population picks one of them.

use incrowd_core::{Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Finding, Quantity, Risks};
use super::prosecutor::THRESHOLD;
use super::{Adversary, Card, Need, Subject};
use crate::risk::{benedetti_franconi, in_order, weighted_risk};

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "population-risk",
    paper: "benedetti1998",
    about: "An adversary has a list of the population but does not know who is in the sample. The \
            sampling weights of a group's records sum to F, the estimated number of matching \
            people. The risk is 1 over F. Because F is an estimate, the expected value of 1 over \
            the true number is reported too, by the model of Benedetti and Franconi. The sum over \
            all records is the expected number of re-identified records.",
    limits: "Weights are correct on average, not for a single group. An adversary who knows that a \
             person is in the sample is a prosecutor. sdcMicro uses an approximation for groups of \
             three or more records; here the value is exact.",
    subject: Subject::People,
    needs: &[Need::Weights],
    uses: &[],
    needs_text: "the original table (`[judging] original`) with its column of sampling weights \
                 (`[input] weight`), or published mean weights",
    params: &[THRESHOLD],
    limit: Quantity::Worst,
    run,
};

/// Number of records and sum of sampling weights per group.
#[derive(Clone, Debug)]
pub struct WeightedGroups {
    /// The groups.
    pub groups: Vec<(u64, f64)>,
    /// Sum of the weights of all records, each counted once. The sums of overlapping groups count
    /// some people several times.
    pub people: f64,
    /// Whether the weights are not published.
    pub owner_only: bool,
}

fn run(adversary: &Adversary<'_>, threshold: f64, _: &dyn Progress) -> Result<Answer> {
    let Some(weighted) = &adversary.weighted else {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs_text)));
    };
    let groups = in_order(weighted.groups.clone());
    let all = weighted_risk(groups.iter().copied());
    let finding = |risk: &dyn Fn(u64, f64) -> f64, measures: &'static str, sum: f64| -> Finding {
        let mut risks = Risks::default();
        groups.iter().for_each(|&(records, people)| risks.add(risk(records, people), records));
        let mut finding = risks.finding(CARD.name, None, measures, CHANCE, Alarm::Above(threshold));
        finding.owner_only = weighted.owner_only;
        finding.add_fact("expected_found", "expected number of re-identified records", sum);
        finding.add_fact(
            "fewest_people",
            "people represented by the group with the smallest weight",
            all.fewest,
        );
        let about = match weighted.owner_only {
            true => "people represented by the original records with complete quasi-identifiers",
            false => "people represented by the release",
        };
        finding.add_fact("people", about, weighted.people);
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
