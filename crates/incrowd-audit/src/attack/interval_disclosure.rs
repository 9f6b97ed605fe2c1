//! Interval disclosure: an adversary who finds a person's record learns her numbers as precisely as
//! the cells show them.
//!
//! Paper: `domingo2001`, interval disclosure: a value is disclosed if it is known to be in a narrow
//! interval. For each numeric quasi-identifier, the risk is the probability that a guess within the
//! published range is wrong by at most a tenth of a standard deviation. All numbers of the range
//! are equally likely.
//!
//! Where we differ: the standard deviation is computed from the release, so that the release is the
//! only input.

use incrowd_core::number::parse_number;
use incrowd_core::{Kind, Param, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity};
use super::{Adversary, Card, Subject};

/// Tolerance of a guess, in standard deviations.
const NEAR: f64 = 0.1;

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "interval-disclosure",
    paper: "domingo2001",
    about: "An adversary finds the person's record and guesses a numeric quasi-identifier from its \
            range, with a tolerance of a tenth of a standard deviation. The risk is the chance of \
            being right.",
    limits: "The attack assumes that the adversary knows the record but not this number. \
             k-anonymity does not protect against it. A person with an exact number in the release \
             has risk 1, like everyone whose cell was not generalized.",
    subject: Subject::People,
    needs: &[],
    uses: &[],
    needs_text: "the release with a numeric quasi-identifier; runs only if it is named in \
                 `[attack] only`",
    params: &[Param::number("threshold", 0.0, 1.0)
        .or("0.8")
        .about("a person whose number is guessed with at least this chance counts as at risk")],
    limit: Quantity::Share,
    run,
};

/// Returns the range of numbers in a cell. `None` if the cell shows no numbers.
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
        let hidden = |code: u32| text(code) == "*" || adversary.is_missing(code, text(code));
        let shows = |code: u32| if hidden(code) { None } else { range(text(code)) };
        let readable = |code: &u32| hidden(*code) || shows(*code).is_some();
        let numeric = match spec.kind {
            Some(kind) => kind == Kind::Numeric,
            None => spec.hierarchy.is_none() || codes.iter().any(|&code| shows(code).is_some()),
        };
        if !numeric || !codes.iter().all(readable) {
            continue;
        }
        let Some(deviation) =
            deviation(codes.iter().map(|&code| shows(code)), &release.groups.records)
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
        let mut finding = risks.finding(
            CARD.name,
            Some(&column.name),
            measures,
            CHANCE,
            Alarm::AtLeast(threshold),
        );
        finding.people = release.unit();
        finding.add_fact("deviation", "standard deviation computed from the release", deviation);
        finding.by_group = by_group;
        answer = answer.and(Answer::one(finding));
    }
    if answer == Answer::default() {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs_text)));
    }
    Ok(answer)
}

/// Returns the standard deviation of numbers that are distributed evenly over their ranges. Returns
/// `None` if no cell shows a number or if all numbers are equal.
fn deviation(ranges: impl Iterator<Item = Option<(f64, f64)>>, records: &[u64]) -> Option<f64> {
    let shown: Vec<(f64, f64, f64)> = ranges
        .zip(records)
        .filter_map(|(range, &n)| range.map(|(lo, hi)| (lo / 2.0 + hi / 2.0, hi - lo, n as f64)))
        .collect();
    let all: f64 = shown.iter().map(|x| x.2).sum();
    let mean = shown.iter().map(|x| x.0 * x.2).sum::<f64>() / all;
    let variance =
        shown.iter().map(|x| ((x.0 - mean).powi(2) + x.1 * x.1 / 12.0) * x.2).sum::<f64>() / all;
    (variance > 0.0).then(|| variance.sqrt())
}
