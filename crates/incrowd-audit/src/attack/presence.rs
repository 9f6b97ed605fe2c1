//! Presence: who is in the microdata behind a k-join-anonymous release?
//!
//! Papers: `sacharidis2010` for the release, `nergiz2007` for presence. A sensitive group s has n_s sensitive values and N_s
//! rows of boxes. Of the people who fit one of its boxes n_s are in the microdata, so whoever fits is in it with probability n_s
//! over their number. Without a table of everybody that number is at least N_s, which bounds the probability from above.
//!
//! Where we differ: the paper has no such figure. If no sensitive values are published, each box holds at least one person of
//! the microdata, and the probability is at least 1 over the rows of the group.

use incrowd_core::{Param, ParamKind, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity, Risks, share};
use super::{Adversary, Card, Need, Subject};

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "presence",
    paper: "sacharidis2010",
    about: "Somebody asks who of the people that fit a box of a k-join-anonymous release is in the microdata. The risk is the \
            share of those people who are: sensitive values of a sensitive group over people who fit one of its boxes, with a \
            table of everybody (`[judging] population`), else over its published rows, which is at most too high.",
    limits: "Smaller boxes raise it: k-join-anonymity tells more about presence than plain k-anonymity does. Whoever fits no box \
             is certainly absent. It says nothing about what else the adversary knows.",
    subject: Subject::People,
    needs: &[Need::Joined],
    uses: &[Need::Population],
    needs_text: "a k-join-anonymous release; a population table (`[judging] population`) makes it exact",
    params: &[Param {
        name: "threshold",
        kind: ParamKind::Number(0.0, 1.0),
        default: Some("0.5"),
        about: "whose presence is known with more than this chance counts as at risk",
    }],
    limit: Quantity::Worst,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, progress: &dyn Progress) -> Result<Answer> {
    let Some(joined) = &adversary.joined else {
        return Ok(Answer::skip(CARD.name, None, "needs a k-join-anonymous release"));
    };
    let groups = &adversary.release.groups;
    let alarm = Alarm::Above(threshold);
    let Some(labels) = joined.labels(adversary.release.table) else {
        let by_group: Vec<f64> = groups.records.iter().map(|&records| share(1, records)).collect();
        let risks = Risks::of_groups(&by_group, &groups.records);
        let measures = "least chance that a person who fits is in the microdata";
        let mut finding = risks.finding(CARD.name, None, measures, CHANCE, alarm);
        finding.notes.push("no sensitive values are published, so only a lower bound is known".to_owned());
        finding.by_group = by_group;
        return Ok(Answer::one(finding));
    };
    let population = adversary.population().filter(|p| !adversary.release.shared(p).is_empty());
    let mut fitting: Vec<u64> = labels.rows.clone();
    let (mut absent, mut short) = (None, 0);
    if let Some(population) = population {
        let (join, class) = adversary.release.join(population, adversary.missing_label())?;
        let mut of_box: Vec<Vec<u32>> = vec![Vec::new(); join.groups.len()];
        for (group, &class) in class.iter().enumerate() {
            of_box[class as usize].push(labels.of_group[group]);
        }
        let mut people = vec![0u64; labels.rows.len()];
        let mut nobody = 0;
        let mut own: Vec<u32> = Vec::new();
        join.candidates(progress, &mut |vector, boxes| {
            own.clear();
            own.extend(boxes.iter().flat_map(|&at| &of_box[at as usize]));
            own.sort_unstable();
            own.dedup();
            let records = join.vectors.records[vector];
            own.iter().for_each(|&label| people[label as usize] += records);
            nobody += if own.is_empty() { records } else { 0 };
        });
        absent = Some(nobody);
        // Published rows are people who fit, so a table with fewer of them does not hold everybody.
        short = people.iter().zip(&labels.rows).filter(|(fit, rows)| fit < rows).count();
        fitting = people.iter().zip(&labels.rows).map(|(&fit, &rows)| fit.max(rows)).collect();
    }
    let chances: Vec<f64> = labels.values.iter().zip(&fitting).map(|(&n, &fit)| share(n, fit)).collect();
    let risks = Risks::of_groups(&chances, &labels.values);
    let measures = "chance that a person who fits is in the microdata";
    let mut finding = risks.finding(CARD.name, None, measures, CHANCE, alarm);
    finding.people = "records of the microdata";
    let least = chances.iter().copied().fold(f64::INFINITY, f64::min);
    finding.add_fact(
        "least",
        "the least chance in any sensitive group",
        if least.is_finite() { least } else { 0.0 },
    );
    let certain = chances.iter().filter(|chance| **chance >= 1.0).count();
    finding.add_fact("certain", "sensitive groups in which presence is certain", certain as f64);
    if let Some(absent) = absent {
        finding.add_fact(
            "absent",
            "people of the population who fit no box and are certainly absent",
            absent as f64,
        );
    } else {
        finding.notes.push(
            "without a population table the published rows count as all who fit, so the chances are upper bounds".to_owned(),
        );
    }
    if short > 0 {
        finding.notes.push(format!(
            "the population table does not contain everyone: for {short} sensitive groups the published rows count instead"
        ));
    }
    finding.by_group = labels.of_group.iter().map(|&label| chances[label as usize]).collect();
    Ok(Answer::one(finding))
}
