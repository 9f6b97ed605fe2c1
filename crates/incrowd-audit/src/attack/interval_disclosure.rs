//! Interval disclosure: who finds a person's record learns her numbers as narrowly as the cells show them.
//!
//! Paper: `domingo2001`, interval disclosure: a value is disclosed if it is known to lie in a narrow interval. For each column of numbers among
//! the quasi-identifiers: the chance that a guess within the published range is off by at most a tenth of a standard deviation, the number
//! lying anywhere in it alike.
//!
//! Where we differ: the deviation is that of the release as a reader sees it, so that nothing but the release is needed.

use incrowd_core::number::parse_number;
use incrowd_core::{Kind, Param, ParamKind, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity};
use super::{Adversary, Card, Subject};

/// How near a guess must come, in standard deviations.
const NEAR: f64 = 0.1;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "interval-disclosure",
    paper: "domingo2001",
    about: "Somebody finds the person's record and guesses a number among the quasi-identifiers from its range, content to be wrong by a \
            tenth of a standard deviation. The risk is the chance to be right.",
    limits: "It is about somebody who knows which record it is, but not this number: a k-anonymous release promises nothing about that. Who is \
             published with a single number is at risk with certainty, as everybody is whose cell was left as it is.",
    subject: Subject::People,
    needs: &[],
    uses: &[],
    needs_text: "the release with a quasi-identifier of numbers; runs if it is named in `[attack] only`",
    params: &[Param {
        name: "threshold",
        kind: ParamKind::Number(0.0, 1.0),
        default: Some("0.8"),
        about: "whose number is guessed with at least this chance counts as at risk",
    }],
    limit: Quantity::Share,
    run,
};

/// What a cell of numbers shows; `None` if it shows nothing.
fn range(text: &str) -> Option<(f64, f64)> {
    let number = |text: &str| parse_number(text).map(|n| n.as_f64());
    if let Some(x) = number(text) {
        return Some((x, x));
    }
    let (lo, hi) = text.strip_prefix('[')?.strip_suffix(']')?.split_once(", ")?;
    Some((number(lo)?, number(hi)?))
}

fn run(adversary: &Adversary<'_>, threshold: f64, _: &dyn Progress) -> Result<Answer> {
    let release = &adversary.release;
    let mut answer = Answer::default();
    for (q, spec) in release.quasi.iter().enumerate() {
        let column = &release.table.columns[q];
        let codes: Vec<u32> =
            release.groups.first.iter().map(|&row| release.table.row(row as usize)[q]).collect();
        let text = |code: u32| column.texts[code as usize].as_str();
        let shows = |code: u32| {
            let silent = text(code) == "*" || adversary.is_missing(code, text(code));
            if silent { None } else { range(text(code)) }
        };
        let told = |code: &u32| {
            text(*code) == "*" || adversary.is_missing(*code, text(*code)) || shows(*code).is_some()
        };
        let numeric = match spec.kind {
            Some(kind) => kind == Kind::Numeric,
            None => spec.hierarchy.is_none() || codes.iter().any(|&code| shows(code).is_some()),
        };
        if !numeric || !codes.iter().all(told) {
            continue;
        }
        let Some(deviation) = deviation(codes.iter().map(|&code| shows(code)), &release.groups.records)
        else {
            continue;
        };
        let risk = |&code: &u32| match shows(code) {
            None => 0.0,
            Some((lo, hi)) if hi > lo => (2.0 * NEAR * deviation / (hi - lo)).min(1.0),
            Some(_) => 1.0,
        };
        let by_group: Vec<f64> = codes.iter().map(risk).collect();
        let measures = "chance of guessing the number within a tenth of a deviation";
        let risks = release.risks(&by_group);
        let mut finding =
            risks.finding(CARD.name, Some(&column.name), measures, CHANCE, Alarm::AtLeast(threshold));
        finding.people = release.unit();
        finding.add_fact("deviation", "the standard deviation a reader sees", deviation);
        finding.by_group = by_group;
        answer = answer.and(Answer::one(finding));
    }
    if answer == Answer::default() {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs_text)));
    }
    Ok(answer)
}

/// The standard deviation of numbers that lie anywhere in their ranges alike; `None` if nothing is shown or nothing varies.
fn deviation(ranges: impl Iterator<Item = Option<(f64, f64)>>, records: &[u64]) -> Option<f64> {
    let shown: Vec<(f64, f64, f64)> = ranges
        .zip(records)
        .filter_map(|(range, &n)| range.map(|(lo, hi)| (lo / 2.0 + hi / 2.0, hi - lo, n as f64)))
        .collect();
    let all: f64 = shown.iter().map(|x| x.2).sum();
    let mean = shown.iter().map(|x| x.0 * x.2).sum::<f64>() / all;
    let variance = shown.iter().map(|x| ((x.0 - mean).powi(2) + x.1 * x.1 / 12.0) * x.2).sum::<f64>() / all;
    (variance > 0.0).then(|| variance.sqrt())
}
