//! Equijoin: people with names, joined with the release.
//!
//! Paper: `sweeney2002`, linking with an external table. The release and the external table are joined on the
//! quasi-identifiers both have. The candidates of a person are the records of all groups whose cells fit; a guess which is
//! theirs is right with probability 1 over their number, and a guess of a sensitive value with the share of the candidates
//! that have it. A person without candidates is not in the release, and has risk 0.
//!
//! Where we differ: cells are read for what they cover, so a person may fit several groups. All candidates count alike.

use incrowd_core::{Param, ParamKind, Progress, Result};

use super::finding::{Alarm, Answer, CHANCE, Finding, Quantity, Risks, share};
use super::journalist::join_notes;
use super::values::union;
use super::{Card, Scene, Values};
use crate::cover::Join;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "equijoin",
    paper: "sweeney2002",
    about: "Somebody has a table of people with names or other details and joins it with the release on the columns both \
            have. For each person: how many records could be theirs, and how surely a sensitive value is guessed from them.",
    limits: "It takes the people for participants: the chance is that of somebody who is in the release. Whoever fits no \
             group is safe, and whoever is not in the release may be taken for somebody who is.",
    needs: "an external table (--external) with at least one of the quasi-identifiers",
    params: &[Param {
        name: "threshold",
        kind: ParamKind::Number(0.0, 1.0),
        default: Some("0.8"),
        about: "whose record or value is guessed rightly with at least this chance counts as at risk",
    }],
    limit: Quantity::Share,
    run,
};

fn run(scene: &Scene<'_>, threshold: f64, progress: &dyn Progress) -> Result<Answer> {
    let shared = |table| !scene.release.shared(table).is_empty();
    let Some(external) = scene.external.filter(|external| shared(external.table)) else {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs)));
    };
    let (join, class) = scene.release.join(external.table, scene.missing_label())?;
    let alarm = Alarm::AtLeast(threshold);
    let identity = Identity::new(&join, progress);
    let mut finding = identity.finding(&join, alarm);
    finding.add_fact(
        "further_columns",
        "external columns that attach to released records",
        external.further as f64,
    );
    finding.notes = join_notes(scene, external.table, &join);
    finding.by_group = spread(&identity.by_class, &class);
    let mut answer = Answer::one(finding);
    for (i, name) in scene.release.sensitive().enumerate() {
        let column = scene.release.quasi.len() + i;
        let values = Values::new(scene.release.table, &join.groups.of_row, join.groups.len(), column);
        answer = answer.and(Answer::one(learned(&join, &values, name, &class, alarm, progress)));
    }
    Ok(answer)
}

/// The risk of each group of the release from that of the groups of the join.
fn spread(by_class: &[f64], class: &[u32]) -> Vec<f64> {
    class.iter().map(|&class| by_class[class as usize]).collect()
}

/// Whose record is found.
struct Identity {
    /// For each external vector the number of groups and of records that fit.
    groups: Vec<u64>,
    candidates: Vec<u64>,
    /// For each group of the join the people who fit it.
    people: Vec<u64>,
    /// For each group of the join the greatest chance that somebody's record is found in it.
    by_class: Vec<f64>,
}

impl Identity {
    fn new(join: &Join, progress: &dyn Progress) -> Identity {
        let covered = join.covered(progress);
        let mut by_class = vec![0.0_f64; join.groups.len()];
        join.each(progress, &mut |group, vectors| {
            let fewest = vectors.iter().map(|&v| covered.vector_records[v as usize]).min();
            by_class[group] = fewest.map_or(0.0, |fewest| share(1, fewest));
        });
        let (groups, candidates) = (covered.vector_groups, covered.vector_records);
        Identity { groups, candidates, people: covered.group_records, by_class }
    }

    fn finding(&self, join: &Join, alarm: Alarm) -> Finding {
        let mut risks = Risks::default();
        let (mut one_record, mut one_group, mut nobody) = (0, 0, 0);
        for (vector, &people) in join.vectors.records.iter().enumerate() {
            risks.add(share(1, self.candidates[vector]), people);
            one_record += if self.candidates[vector] == 1 { people } else { 0 };
            one_group += if self.groups[vector] == 1 { people } else { 0 };
            nobody += if self.groups[vector] == 0 { people } else { 0 };
        }
        let of_one: u64 =
            self.people.iter().zip(&join.groups.records).filter(|(p, _)| **p == 1).map(|(_, n)| n).sum();
        let mut finding =
            risks.finding(CARD.name, None, "chance of finding the person's record", CHANCE, alarm);
        finding.people = "external people";
        finding.add_fact("one_record", "people who fit exactly one record", one_record as f64);
        finding.add_fact("one_group", "people who fit exactly one group", one_group as f64);
        finding.add_fact("unmatched", "people who fit no group", nobody as f64);
        finding.add_fact(
            "records_of_one_person",
            "released records that fit exactly one person",
            of_one as f64,
        );
        finding
    }
}

/// What is learned about a sensitive column.
fn learned(
    join: &Join,
    values: &Values,
    name: &str,
    class: &[u32],
    alarm: Alarm,
    progress: &dyn Progress,
) -> Finding {
    let mut risks = Risks::default();
    let mut by_class = vec![0.0_f64; join.groups.len()];
    let mut certain = 0;
    join.candidates(progress, &mut |vector, groups| {
        let all = union(values, groups);
        let records: u64 = all.iter().map(|(_, n)| n).sum();
        let risk = share(all.iter().map(|&(_, n)| n).max().unwrap_or(0), records);
        let people = join.vectors.records[vector];
        risks.add(risk, people);
        certain += if all.len() == 1 { people } else { 0 };
        groups.iter().for_each(|&g| by_class[g as usize] = by_class[g as usize].max(risk));
    });
    let mut finding = risks.finding(CARD.name, Some(name), "chance of guessing the value", CHANCE, alarm);
    finding.people = "external people";
    finding.add_fact("certain", "people whose value is certain", certain as f64);
    finding.by_group = spread(&by_class, class);
    finding
}
