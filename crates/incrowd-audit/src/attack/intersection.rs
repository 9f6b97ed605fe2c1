//! Intersection: two releases that contain some of the same people.
//!
//! Paper: `ganta2008`, the intersection attack, a composition attack. A person in both releases has
//! a sensitive value that occurs in the person's group of each release. Let V1 and V2 be the sets
//! of values in these groups. The person's value is in V1 ∩ V2, and the risk is 1 / |V1 ∩ V2|. A
//! person is at risk if one value is left although each release alone leaves several.
//!
//! Targets. With a population or an external table, every record of it is a target. V1 and V2 are
//! the values of all records whose cells match the target. A target with an empty intersection, or
//! without a matching group in a release, is not in both releases and does not count. Without such
//! a table, every record of the first release is a target. Among all groups of the second release
//! that may share a person with the target's group and contain its value, the one with the fewest
//! remaining values counts. This is the worst case. The releases do not show how many of these
//! people are in the second release.
//!
//! Where we differ: the paper counts people with one remaining value. We also report how many
//! people have one remaining value in a single release, because the intersection does not cause
//! that.

use std::borrow::Cow;

use hashbrown::HashMap;
use incrowd_core::{Folded, MISSING, Param, Progress, Result, value_key_in};

use super::finding::{Alarm, Answer, CHANCE, Finding, Quantity, Risks, share};
use super::{Adversary, Card, GroupValues, Need, Published, Subject};
use crate::cover::{Join, SharedColumn};

/// Description of the attack.
pub(super) const CARD: Card = Card {
    name: "intersection",
    paper: "ganta2008",
    about: "An adversary has two releases and knows that a person is in both. The person's \
            sensitive value occurs in the person's group of each release. The risk is 1 over the \
            number of values that occur in both groups. A person is at risk if at most 1/threshold \
            values are left although each release alone leaves more.",
    limits: "The attack considers sets of values, not their frequencies. Without a table of people \
             it reports the worst case over all pairs of groups that may share a person.",
    subject: Subject::People,
    needs: &[Need::Second, Need::Sensitive],
    uses: &[Need::Population, Need::External],
    needs_text: "a second release (`[attack] second`) that shares a sensitive column and a \
                 quasi-identifier with the first",
    params: &[Param::number("threshold", 0.0, 1.0).or("1").about(
        "a person whose value is guessed with at least this chance, but not from one release \
        alone, counts as at risk",
    )],
    limit: Quantity::Share,
    run,
};

fn run(adversary: &Adversary<'_>, threshold: f64, progress: &dyn Progress) -> Result<Answer> {
    let Some(second) = &adversary.second else {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs_text)));
    };
    let first = &adversary.release;
    let fits =
        |table: &&Folded| !first.shared(table).is_empty() && !second.shared(table).is_empty();
    let targets =
        adversary.external.map(|e| e.table).filter(fits).or(adversary.population().filter(fits));
    let common: Vec<&str> =
        first.sensitive().filter(|name| second.sensitive().any(|other| other == *name)).collect();
    let mut on: Vec<SharedColumn<'_>> =
        first.shared(second.table).into_iter().filter(|on| on.table < second.quasi.len()).collect();
    // Cells of both releases are read with the hierarchy of the release that has one.
    for on in on.iter_mut().filter(|on| on.spec.hierarchy.is_none()) {
        on.spec = &second.quasi[on.table];
    }
    if common.is_empty() || (on.is_empty() && targets.is_none()) {
        return Ok(Answer::skip(CARD.name, None, format!("needs {}", CARD.needs_text)));
    }
    let mut answer = Answer::default();
    for name in common {
        let sets = ValueSets::new(first, second, name);
        let mut found = match targets {
            Some(table) => sets.of_targets(adversary, second, table, threshold, progress)?,
            None => sets.of_records(adversary, second, &on, threshold, progress)?,
        };
        found.column = Some(name.to_owned());
        answer = answer.and(Answer::one(found));
    }
    Ok(answer)
}

/// The values of a sensitive column in each group of both releases. Codes are ascending and are
/// those of the first release.
struct ValueSets<'a> {
    ours: Vec<Vec<u32>>,
    theirs: Vec<Vec<u32>>,
    values: &'a GroupValues,
}

fn sets(values: &GroupValues) -> Vec<Vec<u32>> {
    (0..values.groups()).map(|g| values.of(g).iter().map(|&(code, _)| code).collect()).collect()
}

/// Returns the intersection of two ascending lists.
fn common<'a>(a: &'a [u32], b: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    let mut rest = b.iter().peekable();
    a.iter().copied().filter(move |code| {
        while rest.next_if(|other| *other < code).is_some() {}
        rest.peek() == Some(&code)
    })
}

/// Sums of the results over people.
#[derive(Default)]
struct Totals {
    risks: Risks,
    at_risk: u64,
    /// People whose value one release alone makes certain.
    certain: u64,
    /// People who cannot be in both releases.
    not_in_both: u64,
}

impl Totals {
    fn finding(self, threshold: f64, people: &'static str) -> Finding {
        let measures = "chance of guessing among the values in both groups";
        let mut finding =
            self.risks.finding(CARD.name, None, measures, CHANCE, Alarm::AtLeast(threshold));
        finding.people = people;
        finding.at_risk = self.at_risk;
        finding.alarm = format!(">= {threshold}, not from one release");
        finding.add_fact(
            "certain_alone",
            "people whose value one release alone makes certain",
            self.certain as f64,
        );
        finding.add_fact("not_in_both", "people who cannot be in both", self.not_in_both as f64);
        finding
    }
}

impl<'a> ValueSets<'a> {
    /// Reads a column that both releases have. A value that the first release lacks gets a new
    /// code.
    fn new(first: &'a Published<'a>, second: &Published<'a>, name: &str) -> ValueSets<'a> {
        let at = |release: &Published<'_>| release.sensitive().position(|n| n == name).unwrap_or(0);
        let (ours, theirs) = (at(first), at(second));
        let column = |release: &Published<'a>, at: usize| {
            let (table, (values, used)) = (release.table, release.named_values(at));
            (&table.columns[release.quasi.len() + at].texts, values, used, table.decimal)
        };
        let (texts, values, used, decimal) = column(first, ours);
        // The names of dates are days. A column that is read as dates in one release only is
        // compared by its texts.
        let mut known: HashMap<Cow<'_, str>, u32> = HashMap::new();
        for (i, (text, &code)) in texts.iter().zip(&first.counted[ours]).enumerate().skip(1) {
            if !used[i] {
                continue;
            }
            known.insert(value_key_in(text, decimal), code);
            if let Some(name) = &values.names[values.of_code[i] as usize] {
                known.insert(Cow::Borrowed(name), code);
            }
        }
        let (others, values, used, decimal) = column(second, theirs);
        let code = |(i, text): (usize, &String)| {
            let new = (texts.len() + i) as u32;
            if i == 0 || !used[i] {
                return if i == 0 { MISSING } else { new };
            }
            // A value without a name is missing. The releases may have other texts for it.
            let Some(name) = &values.names[values.of_code[i] as usize] else { return MISSING };
            let by_name = known.get(name.as_str());
            by_name.or_else(|| known.get(&value_key_in(text, decimal))).copied().unwrap_or(new)
        };
        let map: Vec<u32> = others.iter().enumerate().map(code).collect();
        let mut both = ValueSets {
            ours: sets(&first.values[ours]),
            theirs: sets(&second.values[theirs]),
            values: &first.values[ours],
        };
        for set in &mut both.theirs {
            set.iter_mut().for_each(|code| *code = map[*code as usize]);
            set.sort_unstable();
        }
        both
    }

    /// Uses every record of a table of original values as a target.
    fn of_targets(
        &self,
        adversary: &Adversary<'_>,
        second: &Published<'_>,
        table: &Folded,
        threshold: f64,
        progress: &dyn Progress,
    ) -> Result<Finding> {
        let (join, class) = adversary.release.join(table, adversary.missing_label())?;
        let (other, others) = second.join(table, adversary.missing_label())?;
        let open = [
            left_open(&join, &class, &self.ours, progress),
            left_open(&other, &others, &self.theirs, progress),
        ];
        let mut totals = Totals::default();
        let mut by_vector = vec![0.0_f64; join.vectors.len()];
        for row in 0..table.rows() {
            let people = table.weights[row];
            let vector = join.vectors.of_row[row] as usize;
            let (ours, theirs) =
                (open[0].of(vector), open[1].of(other.vectors.of_row[row] as usize));
            let left = common(ours, theirs).count() as u64;
            if left == 0 {
                totals.not_in_both += people;
                continue;
            }
            let chance = share(1, left);
            let single = share(1, ours.len().min(theirs.len()) as u64);
            totals.risks.add(chance, people);
            totals.certain += if single == 1.0 { people } else { 0 };
            totals.at_risk += if chance >= threshold && single < threshold { people } else { 0 };
            by_vector[vector] = by_vector[vector].max(chance);
        }
        let mut by_class = vec![0.0_f64; join.groups.len()];
        join.each(progress, &mut |group, vectors| {
            by_class[group] = vectors.iter().map(|&v| by_vector[v as usize]).fold(0.0, f64::max);
        });
        let mut finding = totals.finding(threshold, "targets in both");
        finding.notes.push("targets: the records of the table of people".to_owned());
        finding.by_group = class.iter().map(|&class| by_class[class as usize]).collect();
        Ok(finding)
    }

    /// Uses every record of the first release as a target, with the worst group of the second
    /// release.
    fn of_records(
        &self,
        adversary: &Adversary<'_>,
        second: &Published<'_>,
        on: &[SharedColumn<'_>],
        threshold: f64,
        progress: &dyn Progress,
    ) -> Result<Finding> {
        let first = &adversary.release;
        let join = Join::of_releases(first.table, second.table, on, adversary.missing_label())?;
        let (ours, theirs) =
            (members(first, &join.groups.of_row), members(second, &join.vectors.of_row));
        let mut totals = Totals::default();
        let mut by_group = vec![0.0_f64; first.groups.len()];
        let mut visited = vec![false; first.groups.len()];
        join.each(progress, &mut |class, classes| {
            for &group in &ours[class] {
                let group = group as usize;
                visited[group] = true;
                let worst = self.worst(
                    group,
                    classes.iter().flat_map(|&class| &theirs[class as usize]),
                    threshold,
                );
                for (&(_, people), worst) in self.values.of(group).iter().zip(worst) {
                    let Some(worst) = worst else {
                        totals.not_in_both += people;
                        continue;
                    };
                    totals.risks.add(share(1, worst.left), people);
                    totals.at_risk += if worst.by_both { people } else { 0 };
                    totals.certain += if worst.certain { people } else { 0 };
                    by_group[group] = by_group[group].max(share(1, worst.left));
                }
            }
        });
        let unmatched = (0..visited.len()).filter(|&group| !visited[group]);
        totals.not_in_both += unmatched.map(|group| first.groups.records[group]).sum::<u64>();
        let mut finding = totals.finding(threshold, "records");
        finding.notes.push(
            "targets: every record of the release, in the worst case; to attack people, provide \
             `[attack] external` or `[judging] population`"
                .to_owned(),
        );
        finding.by_group = by_group;
        Ok(finding)
    }

    /// For each value of a group, returns the worst result over the groups of the second release in
    /// `others` that contain the value. `None` if none of them does.
    fn worst<'b>(
        &self,
        group: usize,
        others: impl Iterator<Item = &'b u32>,
        threshold: f64,
    ) -> Vec<Option<Worst>> {
        let mine = &self.ours[group];
        let mut worst: Vec<Option<Worst>> = vec![None; mine.len()];
        for &other in others {
            let their = &self.theirs[other as usize];
            let left = common(mine, their).count() as u64;
            let single = share(1, mine.len().min(their.len()) as u64);
            let by_both = share(1, left) >= threshold && single < threshold;
            for code in common(mine, their) {
                let at = mine.partition_point(|&c| c < code);
                let entry = worst[at].get_or_insert(Worst { left, by_both: false, certain: false });
                entry.left = entry.left.min(left);
                entry.by_both |= by_both;
                entry.certain |= single == 1.0;
            }
        }
        worst
    }
}

/// The worst result for a record.
#[derive(Clone, Copy)]
struct Worst {
    /// Fewest remaining values.
    left: u64,
    /// Whether both releases together reach the threshold but neither does alone.
    by_both: bool,
    /// Whether one release alone makes the value certain.
    certain: bool,
}

/// Returns the groups of the release in each class of a join.
fn members(release: &Published<'_>, class_of_row: &[u32]) -> Vec<Vec<u32>> {
    let classes = class_of_row.iter().max().map_or(0, |&last| last as usize + 1);
    let mut members = vec![Vec::new(); classes];
    for (group, &row) in release.groups.first.iter().enumerate() {
        members[class_of_row[row as usize] as usize].push(group as u32);
    }
    members
}

/// For each vector, the values in the groups that cover it. Vectors that are covered by the same
/// groups share a set.
struct OpenValues {
    of_vector: Vec<u32>,
    sets: Vec<Vec<u32>>,
}

impl OpenValues {
    fn of(&self, vector: usize) -> &[u32] {
        &self.sets[self.of_vector[vector] as usize]
    }
}

fn left_open(
    join: &Join,
    class: &[u32],
    of_group: &[Vec<u32>],
    progress: &dyn Progress,
) -> OpenValues {
    let mut of_class: Vec<Vec<u32>> = vec![Vec::new(); join.groups.len()];
    for (group, &class) in class.iter().enumerate() {
        of_class[class as usize].extend(&of_group[group]);
    }
    let tidy = |set: &mut Vec<u32>| {
        set.sort_unstable();
        set.dedup();
    };
    of_class.iter_mut().for_each(tidy);
    let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
    let mut open = OpenValues { of_vector: vec![0; join.vectors.len()], sets: Vec::new() };
    join.candidates(progress, &mut |vector, groups| {
        let mut key = groups.to_vec();
        key.sort_unstable();
        let sets = &mut open.sets;
        open.of_vector[vector] = *known.entry_ref(key.as_slice()).or_insert_with(|| {
            let mut set: Vec<u32> =
                key.iter().flat_map(|&g| &of_class[g as usize]).copied().collect();
            tidy(&mut set);
            sets.push(set);
            sets.len() as u32 - 1
        });
    });
    open
}
