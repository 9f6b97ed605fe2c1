//! Eligibility: inferring which sensitive value was so frequent that its records were suppressed.
//!
//! Paper: `xu2010`, Section 1.2. The adversary has the release, the size of the table and the
//! algorithm, and computes for each published value the probability that it was the dominant one. A
//! random person of the table has the dominant value with probability greater than 1/l.
//!
//! Where we differ: the paper bounds the answer by 1/l; here it is computed, see
//! [`crate::eligibility`].

use incrowd_core::{Param, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Finding, Quantity, Risks};
use super::{Adversary, Card, KnownSuppression, Need, Subject};
use crate::eligibility::{Posterior, Prior, posterior, shape_known};

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "eligibility",
    paper: "xu2010",
    about: "A value was too frequent, so records with it were suppressed. An adversary who knows \
            the algorithm and the number of records of the table infers which value it was. The \
            risk of a value is the probability that it was the dominant one, if all count vectors \
            are equally likely a priori.",
    limits: "The paper proves 1/l under the assumption that all possible releases are equally \
             likely; the probability is often higher. It is computed exactly for small tables and \
             sampled for larger ones, with the standard error reported. An adversary who knows \
             that some values are more common, e.g. flu than gout, learns more. A dominant value \
             is only more likely for each person, not certain.",
    subject: Subject::Values,
    needs: &[Need::Sensitive, Need::Suppression, Need::OriginalSize],
    uses: &[],
    needs_text: "a release whose manifest names a suppression, or `[attack] suppression`, and the \
                 size of the table: `[attack] original_size`, or `[judging] original` with the \
                 table itself",
    params: &[Param::number("threshold", 0.0, 1.0)
        .or("0.5")
        .about("a value that was dominant with at least this probability counts as at risk")],
    limit: Quantity::Worst,
    run,
};

/// Seed of the sampling.
const SEED: u64 = 1;

fn run(adversary: &Adversary<'_>, threshold: f64, progress: &dyn Progress) -> Result<Answer> {
    let Some(known) = &adversary.suppression else {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs_text)));
    };
    let release = &adversary.release;
    let Some(column) = release.sensitive().position(|name| name == known.on) else {
        return Ok(Answer::skip(
            CARD.name,
            None,
            "the column of the suppression is not a sensitive column of this release",
        ));
    };
    let name = known.on.as_str();
    let skip = |why: String| Ok(Answer::skip(CARD.name, Some(name), why));
    let texts = &release.table.columns[release.quasi.len() + column].texts;
    let counts: Vec<u64> =
        release.values[column].totals(texts.len()).into_iter().filter(|&count| count > 0).collect();
    let (published, l) = (counts.iter().sum::<u64>(), known.mechanism.l);
    let Some(records) = known.records else {
        return skip(
            "needs the size of the table (`[attack] original_size`, or `[judging] original`)"
                .to_owned(),
        );
    };
    if records < published {
        return skip(format!(
            "a table of {records} records cannot have a release of {published} records"
        ));
    }
    let measures = "chance of having been the dominant value";
    let mut risks = Risks::default();
    if records == published {
        counts.iter().for_each(|_| risks.add(0.0, 1));
        let mut finding =
            risks.finding(CARD.name, Some(name), measures, CHANCE, Alarm::AtLeast(threshold));
        finding.people = "values";
        finding.owner_only = !known.size_is_public;
        finding
            .notes
            .push(format!("nothing was suppressed: no value has more than one record in {l}"));
        return Ok(Answer::one(finding));
    }
    progress.step("eligibility", None);
    let Some((flat, exact)) = posterior(known.mechanism, Prior::Flat, &counts, records, SEED)
    else {
        return skip(
            "no table leads to this release by that suppression, or the release has too many values"
                .to_owned(),
        );
    };
    for &(_, values, risk) in &flat.by_count {
        (0..values).for_each(|_| risks.add(risk, 1));
    }
    let mut finding =
        risks.finding(CARD.name, Some(name), measures, CHANCE, Alarm::AtLeast(threshold));
    finding.people = "values";
    finding.owner_only = !known.size_is_public || known.shape.is_some();
    add_guesses(&mut finding, known, &counts, records, &flat);
    let how = match exact {
        true => "enumerated exactly".to_owned(),
        false => {
            format!("sampled with a fixed seed; the standard error is at most {:.4}", flat.error)
        }
    };
    finding.notes.push(format!("the table had {records} records; posteriors were {how}"));
    Ok(Answer::one(finding))
}

/// Adds the success probability of the best guess for each kind of prior knowledge.
fn add_guesses(
    finding: &mut Finding,
    known: &KnownSuppression,
    counts: &[u64],
    records: u64,
    flat: &Posterior,
) {
    finding.add_fact(
        "design_target",
        "design target of the method, 1/l; not guaranteed",
        1.0 / known.mechanism.l as f64,
    );
    finding.add_fact("flat", "best guess if all count vectors are equally likely", flat.max());
    if let Some((other, _)) = posterior(known.mechanism, Prior::Multinomial, counts, records, SEED)
    {
        finding.add_fact(
            "multinomial",
            "best guess if all assignments of values to records are equally likely",
            other.max(),
        );
    }
    let posterior =
        known.shape.as_ref().and_then(|base| shape_known(known.mechanism, base, counts));
    if let Some(best) = posterior.as_ref().map(Posterior::max) {
        finding.add_fact(
            "shape_known",
            "best guess if the counts are known, but not to which values they belong",
            best,
        );
    }
}
