//! Skewness: how much a group reveals about a sensitive value beyond its overall frequency.
//!
//! Paper: `li2007`, the skewness attack. Before seeing the release, the adversary's belief in a
//! value v is the prior p_v. After finding the person's group, it is q_v, the share of v in the
//! group. The risk of the group is the greatest factor q_v / p_v. A value with q_v = 0 is ruled
//! out. The share of the prior that a group rules out is reported too.
//!
//! Where we differ: the prior is that of the whole release. If a population table has the column
//! and contains every value of the release, the prior is that of the population.

use std::borrow::Cow;

use hashbrown::HashMap;
use incrowd_core::{Folded, MISSING, Param, Progress, Result, value_key};

use super::finding::{Alarm, Answer, FACTOR, Finding, Quantity, Risks, ratio};
use super::{Adversary, Card, GroupValues, Need, Subject};

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "skewness",
    paper: "li2007",
    about: "An adversary finds the person's group and compares the frequency of each sensitive \
            value in the group with its frequency among all people. The risk is the greatest \
            factor by which the probability of a value increases.",
    limits: "A rare value always has a great factor. If one of ten people in a group has a disease \
             that one in ten thousand people has, the factor is 1,000, but the person still does \
             not have the disease with probability 0.9.",
    subject: Subject::Values,
    needs: &[Need::Sensitive],
    uses: &[Need::Population],
    needs_text: "the release with a sensitive column; the prior is taken from a population table \
                 (`[judging] population`) if it has the column",
    params: &[Param::number("threshold", 1.0, 1e12).or("2").about(
        "a person in a group that increases a value's probability by at least this factor counts \
        as at risk",
    )],
    limit: Quantity::Share,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, _: &dyn Progress) -> Result<Answer> {
    let mut answer = Answer::default();
    let release = &adversary.release;
    for (i, (name, values)) in release.sensitive().zip(&release.values).enumerate() {
        let texts = &release.table.columns[release.quasi.len() + i].texts;
        let mut prior =
            Prior { counts: values.totals(texts.len()), records: release.table.records() };
        let mut from = "the whole release";
        let mut notes = Vec::new();
        if let Some((population, column)) =
            adversary.population().and_then(|p| Some((p, p.column(name)?)))
        {
            match of_population(adversary, texts, &prior, population, column) {
                Some(better) => (prior, from) = (better, "the population"),
                None => notes.push(format!(
                    "the population table lacks a value of column {name}: the prior is that of \
                     the release"
                )),
            }
        }
        let mut finding = judge(adversary, name, values, &prior, threshold);
        notes.push(format!("the prior is that of {from}"));
        finding.notes = notes;
        answer = answer.and(Answer::one(finding));
    }
    if answer.findings.is_empty() {
        return Ok(Answer::skip(
            CARD.name,
            None,
            "needs a sensitive column (`[columns] role = \"sensitive\"`)",
        ));
    }
    Ok(answer)
}

/// Number of people per value, by the codes of the release, and the number of all people.
struct Prior {
    counts: Vec<u64>,
    records: u64,
}

/// Returns the prior of a population. `None` if the population lacks a value of the release.
fn of_population(
    adversary: &Adversary<'_>,
    texts: &[String],
    used: &Prior,
    population: &Folded,
    column: usize,
) -> Option<Prior> {
    let theirs = &population.columns[column].texts;
    let mut counts = vec![0; theirs.len()];
    for row in 0..population.rows() {
        counts[population.row(row)[column] as usize] += population.weights[row];
    }
    let mut known: HashMap<Cow<'_, str>, u64> = HashMap::new();
    for (text, count) in theirs.iter().zip(&counts).skip(1) {
        *known.entry(value_key(text)).or_insert(0) += count;
    }
    let of = |(code, text): (usize, &String)| {
        if adversary.is_missing(code as u32, text) {
            counts[MISSING as usize]
        } else {
            known.get(&value_key(text)).copied().unwrap_or(0)
        }
    };
    let counts: Vec<u64> = texts.iter().enumerate().map(of).collect();
    let all = counts.iter().zip(&used.counts).all(|(&count, &used)| count > 0 || used == 0);
    all.then(|| Prior { counts, records: population.records() })
}

fn judge(
    adversary: &Adversary<'_>,
    name: &str,
    values: &GroupValues,
    prior: &Prior,
    threshold: f64,
) -> Finding {
    let records = &adversary.release.groups.records;
    let all = u128::from(prior.records);
    let (mut by_group, mut excluded) = (Vec::with_capacity(records.len()), Risks::default());
    let (mut difference, mut with_excluded) = (0.0_f64, 0);
    for (group, &n) in records.iter().enumerate() {
        let (mut rise, mut kept) = (0.0_f64, 0);
        for &(code, count) in values.of(group) {
            let before = prior.counts[code as usize];
            kept += before;
            rise = rise.max(ratio(u128::from(count) * all, u128::from(n) * u128::from(before)));
            difference =
                difference.max(count as f64 / n as f64 - before as f64 / prior.records as f64);
        }
        let ruled_out = prior.records - kept.min(prior.records);
        with_excluded += if ruled_out > 0 { n } else { 0 };
        excluded.add(ruled_out as f64 / prior.records as f64, n);
        by_group.push(rise);
    }
    let excluded =
        excluded.finding(CARD.name, None, "", super::finding::CHANCE, Alarm::AtLeast(1.0));
    let risks = Risks::of_groups(&by_group, records);
    let measures = "factor by which a value's probability rises";
    let mut finding =
        risks.finding(CARD.name, Some(name), measures, FACTOR, Alarm::AtLeast(threshold));
    finding.add_fact(
        "greatest_difference",
        "greatest increase of a probability: posterior minus prior",
        difference,
    );
    finding.add_fact(
        "excluded_people",
        "people for whom a value is ruled out",
        with_excluded as f64,
    );
    finding.add_fact(
        "excluded_worst",
        "greatest share of the prior that a group rules out",
        excluded.worst,
    );
    finding.add_fact(
        "excluded_average",
        "average share of the prior that is ruled out",
        excluded.average,
    );
    finding.by_group = by_group;
    finding
}
