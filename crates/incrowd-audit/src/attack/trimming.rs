//! Trimming: a face of a box that was kept although it could have been trimmed.
//!
//! Papers: `wong2007` for the argument from minimality, `sacharidis2010` for trimming. In a group
//! of more than k rows, a face with external people only would have been trimmed. A face that was
//! kept therefore contains a person of the microdata. If a single person is on it, this person is
//! in the microdata.
//!
//! Where we differ: the attack is ours. It is exact if boxes do not overlap. Otherwise it is an
//! upper bound, because the adversary cannot always tell to which group a person belongs.

use incrowd_core::number::{parse_date, parse_number};
use incrowd_core::{Folded, Param, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity, Risks};
use super::{Adversary, Card, Need, Subject};
use crate::cover::Join;

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "trimming",
    paper: "sacharidis2010",
    about: "An adversary has a table of all people and knows that surplus external people were \
            trimmed from a k-join-anonymous release. A face of a box that could have been trimmed \
            but was kept must contain a person of the microdata. A single person on it is exposed.",
    limits: "Exact if boxes do not overlap (mondrian with strict cuts), else an upper bound. \
             Columns with a hierarchy have no faces and are excluded. A release made with \
             trim = \"off\" is not vulnerable.",
    subject: Subject::People,
    needs: &[Need::Joined, Need::Population],
    uses: &[],
    needs_text: "a k-join-anonymous release made with trim = \"greedy\", and a population table \
                 (`[judging] population`)",
    params: &[Param::number("threshold", 0.0, 1.0)
        .or("0.5")
        .about("the risk is 0 or 1; a person with a greater risk counts as at risk")],
    limit: Quantity::Share,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, progress: &dyn Progress) -> Result<Answer> {
    let Some(joined) = &adversary.joined else {
        return Ok(Answer::skip(CARD.name, None, "needs a k-join-anonymous release"));
    };
    if joined.trimmed == Some(false) {
        return Ok(Answer::skip(CARD.name, None, "does not apply: the release was not trimmed"));
    }
    let Some(population) =
        adversary.population().filter(|p| !adversary.release.shared(p).is_empty())
    else {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs_text)));
    };
    let (join, class) = adversary.release.join(population, adversary.missing_label())?;
    let (exposed, hit) = exposed(adversary, population, joined.k, (&join, &class), progress);
    let found = exposed.iter().filter(|exposed| **exposed).count() as u64;
    let of = joined
        .microdata()
        .unwrap_or_else(|| adversary.release.groups.records.iter().sum())
        .max(found);
    let mut risks = Risks::default();
    risks.add(1.0, found);
    risks.add(0.0, of - found);
    let measures = "certainty that the person is in the microdata";
    let mut finding = risks.finding(CARD.name, None, measures, CHANCE, Alarm::Above(threshold));
    finding.people = "records of the microdata";
    finding.add_fact("exposed", "people who are certainly in the microdata", found as f64);
    finding.add_fact(
        "groups_hit",
        "boxes that expose a person",
        hit.iter().filter(|hit| **hit).count() as f64,
    );
    finding.by_group =
        class.iter().map(|&class| f64::from(u8::from(hit[class as usize]))).collect();
    Ok(Answer::one(finding))
}

fn number(text: &str) -> Option<f64> {
    parse_number(text).map(|n| n.as_f64()).or_else(|| parse_date(text).map(f64::from))
}

/// Returns the ends of a range. `None` if the cell is not a range with two different ends.
fn ends(text: &str) -> Option<(f64, f64)> {
    let (lo, hi) = text.strip_prefix('[')?.strip_suffix(']')?.split_once(", ")?;
    number(lo).zip(number(hi)).filter(|(lo, hi)| lo < hi)
}

/// Returns the vectors of the population that are exposed, and the boxes that expose one.
fn exposed(
    adversary: &Adversary<'_>,
    population: &Folded,
    k: u64,
    (join, class): (&Join, &[u32]),
    progress: &dyn Progress,
) -> (Vec<bool>, Vec<bool>) {
    let shared = adversary.release.shared(population);
    // Groups have equal boxes if they differ in their sensitive group only. The adversary uses the
    // largest of them.
    let mut rows = vec![(0u64, 0u32); join.groups.len()];
    for (group, &class) in class.iter().enumerate() {
        let records = adversary.release.groups.records[group];
        let entry = &mut rows[class as usize];
        *entry = if records > entry.0 {
            (records, adversary.release.groups.first[group])
        } else {
            *entry
        };
    }
    let mut exposed = vec![false; join.vectors.len()];
    let mut hit = vec![false; join.groups.len()];
    join.each(progress, &mut |at, vectors| {
        let (records, row) = rows[at];
        if records <= k {
            return;
        }
        let ranges = shared.iter().enumerate().filter(|(_, on)| on.spec.hierarchy.is_none());
        for (column, on) in ranges {
            let cell = adversary.release.table.row(row as usize)[on.release];
            let text = &adversary.release.table.columns[on.release].texts[cell as usize];
            let Some((lo, hi)) = ends(text) else { continue };
            for end in [lo, hi] {
                let on_face = vectors
                    .iter()
                    .filter(|&&vector| number(join.value(population, column, vector)) == Some(end));
                let mut people = 0;
                let mut last = None;
                for &vector in on_face {
                    people += join.vectors.records[vector as usize];
                    last = Some(vector);
                }
                if let (1, Some(vector)) = (people, last) {
                    exposed[vector as usize] = true;
                    hit[at] = true;
                }
            }
        }
    });
    (exposed, hit)
}
