//! Proximity: a number that needs to be known only approximately.
//!
//! Paper: `li2008`, the proximity attack. The values of a group may all be different but close
//! together. The risk of a group is the greatest share of its values in an interval of width 2ε. An
//! adversary who guesses the middle of the interval is right within ±ε with that probability. With
//! a relative ε, the interval around a guess c is from c − ε|c| to c + ε|c|.
//!
//! Where we differ: the paper bounds the neighbours of each value. A guess need not be a value, so
//! we consider all intervals. The ends belong to the interval.

use incrowd_core::number::{is_quantity, parse_number};
use incrowd_core::{Kind, Param, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity, Risks, share};
use super::{Adversary, Card, Epsilon, Need, Subject};

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "proximity",
    paper: "li2008",
    about: "An adversary finds the person's group and guesses a number with a tolerance of \
            epsilon. The risk is the greatest share of the group's values within epsilon of one \
            guess.",
    limits: "The appropriate epsilon depends on the application. Without `[attack] epsilon` it is \
             a twentieth of the range between the first and the last decile. Codes that look like \
             numbers are treated as numbers.",
    subject: Subject::Values,
    needs: &[Need::Sensitive, Need::Numbers],
    uses: &[],
    needs_text: "the release with a numeric sensitive column",
    params: &[Param::number("threshold", 0.0, 1.0).or("0.8").about(
        "a person whose value is guessed within epsilon with at least this chance counts as at \
        risk",
    )],
    limit: Quantity::Share,
    run,
};

/// The default epsilon is this share of the range between the first and the last decile.
const NEAR: f64 = 0.05;

fn run(adversary: &Adversary<'_>, threshold: f64, _: &dyn Progress) -> Result<Answer> {
    let mut answer = Answer::default();
    let release = &adversary.release;
    let records = &release.groups.records;
    for (i, (name, values)) in release.sensitive().zip(&release.values).enumerate() {
        let texts = &release.table.columns[release.quasi.len() + i].texts;
        let totals = values.totals(texts.len());
        let Some(numbers) = numbers(adversary, i, texts, &totals) else {
            answer = answer.and(Answer::skip(
                CARD.name,
                Some(name),
                "needs numbers: a value is not a number",
            ));
            continue;
        };
        let epsilon =
            adversary.epsilon.get(name).copied().unwrap_or_else(|| default(&numbers, &totals));
        let mut by_group = Vec::with_capacity(records.len());
        for (group, &n) in records.iter().enumerate() {
            let mut line: Vec<(f64, u64)> = values
                .of(group)
                .iter()
                .filter_map(|&(code, count)| numbers[code as usize].map(|x| (x, count)))
                .collect();
            line.sort_by(|a, b| a.0.total_cmp(&b.0));
            by_group.push(share(densest(&line, epsilon), n));
        }
        let risks = Risks::of_groups(&by_group, records);
        let measures = "chance of guessing the number within epsilon";
        let mut finding =
            risks.finding(CARD.name, Some(name), measures, CHANCE, Alarm::AtLeast(threshold));
        let known: u64 =
            by_group.iter().zip(records).filter(|(risk, _)| **risk >= 1.0).map(|(_, n)| n).sum();
        finding.add_fact("certain", "people whose number is certain within epsilon", known as f64);
        match epsilon {
            Epsilon::Absolute(width) => finding.add_fact("epsilon", "tolerance of a guess", width),
            Epsilon::Relative(part) => {
                finding.add_fact("relative_epsilon", "tolerance of a guess, relative to it", part);
            }
        }
        finding.by_group = by_group;
        answer = answer.and(Answer::one(finding));
    }
    if answer == Answer::default() {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs_text)));
    }
    Ok(answer)
}

/// Returns the number of each code, `None` for missing values. Returns `None` for a column that is
/// not numeric.
fn numbers(
    adversary: &Adversary<'_>,
    column: usize,
    texts: &[String],
    totals: &[u64],
) -> Option<Vec<Option<f64>>> {
    let stated = adversary.kinds[column];
    let numeric = |text: &str| match stated {
        Some(Kind::Numeric) => parse_number(text).is_some(),
        Some(_) => false,
        None => is_quantity(text),
    };
    let present =
        |code: usize| totals[code] > 0 && !adversary.is_missing(code as u32, &texts[code]);
    let codes: Vec<usize> = (0..texts.len()).filter(|&code| present(code)).collect();
    if codes.is_empty() || !codes.iter().all(|&code| numeric(&texts[code])) {
        return None;
    }
    let mut numbers = vec![None; texts.len()];
    codes
        .into_iter()
        .for_each(|code| numbers[code] = parse_number(&texts[code]).map(|n| n.as_f64()));
    Some(numbers)
}

/// Returns the default epsilon: a twentieth of the range between the first and the last decile, or
/// of the whole range if the deciles are equal.
fn default(numbers: &[Option<f64>], totals: &[u64]) -> Epsilon {
    let mut line: Vec<(f64, u64)> =
        numbers.iter().zip(totals).filter_map(|(x, &count)| x.map(|x| (x, count))).collect();
    line.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: u64 = line.iter().map(|(_, count)| count).sum();
    // The least value with at least `tenths` tenths of the records at or below it.
    let decile = |tenths: u64| {
        let mut below = 0;
        let reached = line.iter().find(|(_, count)| {
            below += count;
            u128::from(below) * 10 >= u128::from(all) * u128::from(tenths)
        });
        reached.map_or(0.0, |(x, _)| *x)
    };
    let inner = decile(9) - decile(1);
    let outer = line.last().map_or(0.0, |(x, _)| *x) - line.first().map_or(0.0, |(x, _)| *x);
    Epsilon::Absolute(NEAR * if inner > 0.0 { inner } else { outer })
}

/// Returns the greatest number of records within epsilon of one guess. The numbers are ascending,
/// so a window with two moving ends visits all maximal intervals.
fn densest(line: &[(f64, u64)], epsilon: Epsilon) -> u64 {
    let (mut best, mut sum, mut from) = (0, 0, 0);
    for &(x, count) in line {
        sum += count;
        while !together(line[from].0, x, epsilon) {
            sum -= line[from].1;
            from += 1;
        }
        best = best.max(sum);
    }
    best
}

/// Returns whether one guess is within epsilon of both numbers. Rounding errors count in favour of
/// the adversary.
fn together(low: f64, high: f64, epsilon: Epsilon) -> bool {
    let slack = 4.0 * f64::EPSILON * low.abs().max(high.abs());
    match epsilon {
        Epsilon::Absolute(width) => high - low <= 2.0 * width + slack,
        Epsilon::Relative(part) => {
            // A guess c is near x if |x - c| <= part * |c|. Numbers of different signs are never
            // near the same guess.
            let (small, large) = if low >= 0.0 { (low, high) } else { (-high, -low) };
            low == high || (small >= 0.0 && large * (1.0 - part) <= small * (1.0 + part) + slack)
        }
    }
}
