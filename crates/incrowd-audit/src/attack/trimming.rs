//! Trimming: a face that was kept though it could have been given up.
//!
//! Papers: `wong2007` for the argument from minimality, `sacharidis2010` for trimming. In a group of more than k rows a face
//! whose people are all external would have been trimmed. One that was not holds somebody of the microdata; if a single person
//! stands on it, it is that person.
//!
//! Where we differ: ours. Exact where boxes do not overlap; an upper bound where they do, because then the adversary cannot
//! always tell in which group a person stands.

use incrowd_core::number::{parse_date, parse_number};
use incrowd_core::{Param, ParamKind, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity, Risks};
use super::{Adversary, Card, Need, Subject};

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "trimming",
    paper: "sacharidis2010",
    about: "Somebody has a table of everybody and knows that surplus external people were trimmed from a k-join-anonymous \
            release. A face of a box that could have been given up but was not must hold somebody of the microdata: a \
            single person on it is exposed.",
    limits: "Exact where boxes do not overlap (mondrian with strict cuts), an upper bound where they do. Columns with a \
             hierarchy have no faces and are left out. A release made with trim = \"off\" exposes nobody that way.",
    subject: Subject::People,
    needs: &[Need::Joined, Need::Population],
    uses: &[],
    needs_text: "a k-join-anonymous release made with trim = \"greedy\", and a table of everybody (`[judging] population`)",
    params: &[Param {
        name: "threshold",
        kind: ParamKind::Number(0.0, 1.0),
        default: Some("0.5"),
        about: "the risk is 0 or 1; whoever has more than this counts as at risk",
    }],
    limit: Quantity::Share,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, progress: &dyn Progress) -> Result<Answer> {
    let Some(joined) = &adversary.joined else {
        return Ok(Answer::skip(CARD.name, None, "needs a k-join-anonymous release"));
    };
    if joined.trimmed == Some(false) {
        return Ok(Answer::skip(CARD.name, None, "has nothing to say: the release was not trimmed"));
    }
    let Some(population) = adversary.population().filter(|p| !adversary.release.shared(p).is_empty()) else {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs_text)));
    };
    let (join, class) = adversary.release.join(population, adversary.missing_label())?;
    let number =
        |text: &str| parse_number(text).map(|n| n.as_f64()).or_else(|| parse_date(text).map(f64::from));
    let ends = |text: &str| {
        let range = || text.strip_prefix('[')?.strip_suffix(']')?.split_once(", ");
        let (lo, hi) = range()?;
        number(lo).zip(number(hi)).filter(|(lo, hi)| lo < hi)
    };
    let shared = adversary.release.shared(population);
    // A box is that of several groups if these differ in their sensitive group only; the adversary looks at the largest.
    let mut rows = vec![(0u64, 0u32); join.groups.len()];
    for (group, &class) in class.iter().enumerate() {
        let records = adversary.release.groups.records[group];
        let entry = &mut rows[class as usize];
        *entry = if records > entry.0 { (records, adversary.release.groups.first[group]) } else { *entry };
    }
    let mut exposed = vec![false; join.vectors.len()];
    let mut hit = vec![false; join.groups.len()];
    join.each(progress, &mut |at, vectors| {
        let (records, row) = rows[at];
        if records <= joined.k {
            return;
        }
        for on in shared.iter().filter(|on| on.spec.hierarchy.is_none()) {
            let cell = adversary.release.table.row(row as usize)[on.release];
            let text = &adversary.release.table.columns[on.release].texts[cell as usize];
            let Some((lo, hi)) = ends(text) else { continue };
            for end in [lo, hi] {
                let on_face = vectors.iter().filter(|&&vector| {
                    let first = join.vectors.first[vector as usize] as usize;
                    let value = &population.columns[on.table].texts[population.row(first)[on.table] as usize];
                    number(value) == Some(end)
                });
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
    let found = exposed.iter().filter(|exposed| **exposed).count() as u64;
    let of = joined.microdata().unwrap_or_else(|| adversary.release.groups.records.iter().sum()).max(found);
    let mut risks = Risks::default();
    risks.add(1.0, found);
    risks.add(0.0, of - found);
    let measures = "certainty that the person is in the microdata";
    let mut finding = risks.finding(CARD.name, None, measures, CHANCE, Alarm::Above(threshold));
    finding.people = "records of the microdata";
    finding.add_fact("exposed", "people who are certainly in the microdata", found as f64);
    finding.add_fact(
        "groups_hit",
        "boxes that expose somebody",
        hit.iter().filter(|hit| **hit).count() as f64,
    );
    finding.by_group = class.iter().map(|&class| f64::from(u8::from(hit[class as usize]))).collect();
    Ok(Answer::one(finding))
}
