//! Eligibility: which sensitive value was so frequent that records of it had to be withheld?
//!
//! Paper: `xu2010`, Section 1.2. Whoever has the release, the size of the table and the algorithm asks of each published value
//! how likely it was the dominant one. Everybody in the table is then known to have it with more than one chance in l.
//!
//! Where we differ: the paper bounds the answer by 1/l; here it is computed, see [`crate::eligibility`].

use incrowd_core::{Param, ParamKind, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity, Risks};
use super::{Adversary, Card, Need, Subject};
use crate::eligibility::{Posterior, Prior, posterior, shape_known};

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "eligibility",
    paper: "xu2010",
    about: "Some value was too frequent, so records of it were withheld. Somebody who knows how that is done and how many \
            records the table had asks which value it was. The risk of a value is the chance that it was the dominant one, \
            believing all count vectors equally likely beforehand.",
    limits: "The paper proves 1/l by taking possible releases for equally likely ones; the chance is often higher. It is computed \
             exactly for small tables and sampled beyond, with the standard error told. Somebody to whom labels are not alike, \
             because flu is commoner than gout, knows more than any of this. That a value was dominant tells of \
             each person only that it is likelier.",
    subject: Subject::Values,
    needs: &[Need::Sensitive, Need::Suppression, Need::OriginalSize],
    uses: &[],
    needs_text: "a release whose manifest names a suppression, or `[attack] suppression`, and the size of the table: `[attack] original_size`, or \
                 `[judging] original` with the table itself",
    params: &[Param {
        name: "threshold",
        kind: ParamKind::Number(0.0, 1.0),
        default: Some("0.5"),
        about: "values that were the dominant one with at least this chance count as at risk",
    }],
    limit: Quantity::Worst,
    run,
};

/// The sampled adversary starts from this seed.
const SEED: u64 = 1;

fn run(adversary: &Adversary<'_>, threshold: f64, progress: &dyn Progress) -> Result<Answer> {
    let Some(skewed) = &adversary.skewed else {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs_text)));
    };
    let release = &adversary.release;
    let Some(column) = release.sensitive().position(|name| name == skewed.on) else {
        return Ok(Answer::skip(
            CARD.name,
            None,
            "the suppression is about a column that is not sensitive here",
        ));
    };
    let name = skewed.on.as_str();
    let skip = |why: String| Ok(Answer::skip(CARD.name, Some(name), why));
    let texts = &release.table.columns[release.quasi.len() + column].texts;
    let counts: Vec<u64> =
        release.values[column].totals(texts.len()).into_iter().filter(|&count| count > 0).collect();
    let (published, l) = (counts.iter().sum::<u64>(), skewed.mechanism.l);
    let Some(records) = skewed.records else {
        return skip(
            "needs the size of the table (`[attack] original_size`, or `[judging] original`)".to_owned(),
        );
    };
    if records < published {
        return skip(format!("a table of {records} records cannot have this release of {published}"));
    }
    let measures = "chance of having been the dominant value";
    let mut risks = Risks::default();
    if records == published {
        counts.iter().for_each(|_| risks.add(0.0, 1));
        let mut finding = risks.finding(CARD.name, Some(name), measures, CHANCE, Alarm::AtLeast(threshold));
        finding.people = "values";
        finding.owner_only = !skewed.size_is_public;
        finding.notes.push(format!("nothing was withheld: no value has more than one record in {l}"));
        return Ok(Answer::one(finding));
    }
    progress.step("eligibility", None);
    let Some((flat, exact)) = posterior(skewed.mechanism, Prior::Flat, &counts, records, SEED) else {
        return skip(
            "no table leads to this release by that suppression, or it has too many values".to_owned(),
        );
    };
    for &(_, values, risk) in &flat.by_count {
        (0..values).for_each(|_| risks.add(risk, 1));
    }
    let mut finding = risks.finding(CARD.name, Some(name), measures, CHANCE, Alarm::AtLeast(threshold));
    finding.people = "values";
    finding.owner_only = !skewed.size_is_public || skewed.shape.is_some();
    finding.add_fact("design_target", "what the method aims at, 1/l; not guaranteed", 1.0 / l as f64);
    finding.add_fact("flat", "best guess is right, all count vectors alike beforehand", flat.max());
    if let Some((other, _)) = posterior(skewed.mechanism, Prior::Multinomial, &counts, records, SEED) {
        finding.add_fact("multinomial", "best guess is right, all records alike beforehand", other.max());
    }
    let known = skewed.shape.as_ref().and_then(|base| shape_known(skewed.mechanism, base, &counts));
    if let Some(known) = known.as_ref().map(Posterior::max) {
        finding.add_fact(
            "shape_known",
            "best guess is right, knowing the counts but not whose they are",
            known,
        );
    }
    let how = match exact {
        true => "enumerated exactly".to_owned(),
        false => format!("sampled with a fixed seed; their standard error is {:.4} at most", flat.error),
    };
    finding.notes.push(format!("the table had {records} records; posteriors were {how}"));
    Ok(Answer::one(finding))
}
