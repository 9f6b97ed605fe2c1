//! Presence: inferring who is in the microdata of a k-join-anonymous release.
//!
//! Papers: `sacharidis2010` for the release, `nergiz2007` for presence. A sensitive group s has n_s
//! sensitive values and N_s rows of boxes. Of the people who match one of its boxes, n_s are in the
//! microdata. A matching person is in the microdata with probability n_s over the number of
//! matching people. Without a table of all people that number is at least N_s, which gives an upper
//! bound of the probability.
//!
//! Where we differ: the paper has no such measure. If no sensitive values are published, each box
//! contains at least one person of the microdata, and the probability is at least 1 over the rows
//! of the group.

use incrowd_core::{Param, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Quantity, Risks, share};
use super::{Adversary, Card, Need, Subject};

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "presence",
    paper: "sacharidis2010",
    about: "An adversary asks which people who match a box of a k-join-anonymous release are in \
            the microdata. The risk is the number of sensitive values of a sensitive group over \
            the number of people who match one of its boxes. These people are counted in a \
            population table (`[judging] population`). Without one the published rows are counted, \
            which gives an upper bound.",
    limits: "Smaller boxes increase the risk: k-join-anonymity reveals more about presence than \
             k-anonymity does. A person who matches no box is certainly absent. Other knowledge of \
             the adversary is not considered.",
    subject: Subject::People,
    needs: &[Need::Joined],
    uses: &[Need::Population],
    needs_text: "a k-join-anonymous release; exact with a population table \
                 (`[judging] population`)",
    params: &[Param::number("threshold", 0.0, 1.0)
        .or("0.5")
        .about("a person whose presence is known with a greater chance counts as at risk")],
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
        let measures = "least chance that a matching person is in the microdata";
        let mut finding = risks.finding(CARD.name, None, measures, CHANCE, alarm);
        finding
            .notes
            .push("no sensitive values are published, so only a lower bound is known".to_owned());
        finding.by_group = by_group;
        return Ok(Answer::one(finding));
    };
    let population = adversary.population().filter(|p| !adversary.release.shared(p).is_empty());
    let mut matching: Vec<u64> = labels.rows.clone();
    let (mut absent, mut short) = (None, 0);
    if let Some(population) = population {
        let (join, class) = adversary.release.join(population, adversary.missing_label())?;
        let mut of_box: Vec<Vec<u32>> = vec![Vec::new(); join.groups.len()];
        for (group, &class) in class.iter().enumerate() {
            of_box[class as usize].push(labels.of_group[group]);
        }
        let mut people = vec![0u64; labels.rows.len()];
        let mut unmatched = 0;
        let mut own: Vec<u32> = Vec::new();
        join.candidates(progress, &mut |vector, boxes| {
            own.clear();
            own.extend(boxes.iter().flat_map(|&at| &of_box[at as usize]));
            own.sort_unstable();
            own.dedup();
            let records = join.vectors.records[vector];
            own.iter().for_each(|&label| people[label as usize] += records);
            unmatched += if own.is_empty() { records } else { 0 };
        });
        absent = Some(unmatched);
        // Published rows match, so a table with fewer matching people is incomplete.
        short = people.iter().zip(&labels.rows).filter(|(fit, rows)| fit < rows).count();
        matching = people.iter().zip(&labels.rows).map(|(&fit, &rows)| fit.max(rows)).collect();
    }
    let chances: Vec<f64> =
        labels.values.iter().zip(&matching).map(|(&n, &fit)| share(n, fit)).collect();
    let risks = Risks::of_groups(&chances, &labels.values);
    let measures = "chance that a matching person is in the microdata";
    let mut finding = risks.finding(CARD.name, None, measures, CHANCE, alarm);
    finding.people = "records of the microdata";
    let least = chances.iter().copied().fold(f64::INFINITY, f64::min);
    finding.add_fact(
        "least",
        "least chance of all sensitive groups",
        if least.is_finite() { least } else { 0.0 },
    );
    let certain = chances.iter().filter(|chance| **chance >= 1.0).count();
    finding.add_fact("certain", "sensitive groups in which presence is certain", certain as f64);
    if let Some(absent) = absent {
        finding.add_fact(
            "absent",
            "people of the population who match no box and are certainly absent",
            absent as f64,
        );
    } else {
        finding.notes.push(
            "without a population table the published rows are counted, so the chances are upper \
             bounds"
                .to_owned(),
        );
    }
    if short > 0 {
        finding.notes.push(format!(
            "the population table is incomplete: for {short} sensitive groups the published rows \
             are counted instead"
        ));
    }
    finding.by_group = labels.of_group.iter().map(|&label| chances[label as usize]).collect();
    Ok(Answer::one(finding))
}
