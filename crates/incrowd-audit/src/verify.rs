//! Verification: does the release keep its promises?

use incrowd_core::model::{Need, Promise, Verdict};
use incrowd_core::{ColumnSpec, Dataset, Error, Folded, GroupSummary, Params, Progress, Result};

use crate::cover::cover;
use crate::group::groups;
use crate::matching::Matching;
use crate::original::Original;

/// What verification found out about one promise.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The model's name.
    pub name: &'static str,
    /// The name with its parameters.
    pub title: String,
    /// The parameters.
    pub params: Params,
    /// Whether every group is admitted.
    pub holds: bool,
    /// What the model measures, for example `smallest group`.
    pub measures: &'static str,
    /// The measured quantity of the worst group.
    pub have: f64,
    /// What it has to be.
    pub need: f64,
    /// How far on the safe side the worst group is; negative if the promise is broken.
    pub margin: f64,
    /// How many groups are not admitted.
    pub failing: u64,
    /// Whether the promise is not known to be broken either: it is about values, and only their categories are published.
    pub unknown: bool,
}

/// What verification found out about a release.
#[derive(Clone, Debug, PartialEq)]
pub struct Verification {
    /// One judgement per promise, in their order.
    pub judgements: Vec<Judgement>,
    /// How many groups a reader sees.
    pub groups: u64,
    /// How many records the release has.
    pub records: u64,
    /// Quasi-identifiers with the number of records whose cell says nothing about any value of the population, where there
    /// are any: the population lacks such values, or the cells were not read as they were meant.
    pub unread: Vec<(String, u64)>,
    /// How many records the smallest group has; 0 if there is none.
    pub smallest_group: u64,
    /// What is known of the persons behind the records, if somebody has several.
    pub persons: Option<PersonsFound>,
}

/// The persons behind the records of a release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PersonsFound {
    /// How many there are.
    pub published: u64,
    /// How many the smallest group has.
    pub smallest_group: u64,
    /// The greatest share of a group's records that one person has.
    pub dominance: f64,
}

impl PersonsFound {
    fn of(release: &Dataset, groups: &[GroupSummary]) -> Option<PersonsFound> {
        let persons = release.persons()?;
        let own = |group: &GroupSummary| group.persons.as_ref().map_or(0, |own| persons.in_group(own));
        let share = |group: &GroupSummary| {
            let most = group.persons.as_ref().map_or(0, |own| persons.most_records(own));
            most as f64 / group.records.max(1) as f64
        };
        Some(PersonsFound {
            published: release.people(),
            smallest_group: groups.iter().map(own).min().unwrap_or(0),
            dominance: groups.iter().map(share).fold(0.0, f64::max),
        })
    }
}

impl Verification {
    /// Whether every promise is kept.
    pub fn holds(&self) -> bool {
        self.judgements.iter().all(|judgement| judgement.holds)
    }
}

/// How many people of a population the cells of a release cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct People {
    /// For each group, in the order of their first row.
    by_group: Vec<u64>,
    /// Covered by no group.
    outside: u64,
    unread: Vec<(String, u64)>,
}

impl People {
    /// Reads the cells of a release, whose first columns are the quasi-identifiers in the order of `specs`, and counts the
    /// people of `population`, a table of these columns, that they cover.
    pub fn covered(
        release: &Folded,
        specs: &[ColumnSpec],
        population: &Folded,
        missing: &str,
        progress: &dyn Progress,
    ) -> Result<People> {
        let (join, covered) = cover(release, specs, population, missing, progress)?;
        let unread = release.columns.iter().zip(&join.unread).filter(|(_, records)| **records > 0);
        Ok(People {
            by_group: covered.group_records,
            outside: covered.uncovered,
            unread: unread.map(|(column, &records)| (column.name.clone(), records)).collect(),
        })
    }
}

/// Judges every promise anew on the released cells. An empty release keeps every promise about groups, since it has none;
/// callers that expect records must look at their number. Promises about a population need to know whom the cells cover.
pub fn verify(release: &Dataset, promises: &[Promise], people: Option<&People>) -> Result<Verification> {
    verify_beside(release, promises, people, None)
}

/// The same, with the original table and the release read on its lines, for promises about outliers.
pub fn verify_beside(
    release: &Dataset,
    promises: &[Promise],
    people: Option<&People>,
    original: Option<(&Original<'_>, &Folded)>,
) -> Result<Verification> {
    let mut groups = groups(release, promises.iter().any(|p| needs(p, Need::Sensitive)));
    if let Some(people) = people {
        if people.by_group.len() != groups.len() {
            return Err(Error::bug("the population was counted for another release"));
        }
        groups.iter_mut().zip(&people.by_group).for_each(|(group, &covered)| group.population = covered);
    }
    judge_groups(release, promises, people, original, &groups)
}

/// The same for promises about numbers of records, where a missing cell matches any value: every group is judged by the records that
/// match it. What else models look at belongs to groups, and records that match one belong to many.
pub fn verify_matching(release: &Dataset, promises: &[Promise], matching: &Matching) -> Result<Verification> {
    for promise in promises {
        if promise.model.card().needs != [Need::Records] || release.persons().is_some() {
            return Err(Error::job(format!(
                "`{}` says nothing where a missing cell matches any value: records that match are no groups",
                promise.name()
            ))
            .help("missing_cells = \"any\" goes with k-anonymity of records; for the rest leave it out"));
        }
    }
    let mut groups = groups(release, false);
    if matching.by_group.len() != groups.len() {
        return Err(Error::bug("matching records were counted for another release"));
    }
    groups.iter_mut().zip(&matching.by_group).for_each(|(group, &records)| group.records = records);
    judge_groups(release, promises, None, None, &groups)
}

fn needs(promise: &Promise, need: Need) -> bool {
    promise.model.card().needs.contains(&need)
}

fn judge_groups(
    release: &Dataset,
    promises: &[Promise],
    people: Option<&People>,
    original: Option<(&Original<'_>, &Folded)>,
    groups: &[GroupSummary],
) -> Result<Verification> {
    let beside: Vec<GroupSummary> =
        original.map_or_else(Vec::new, |(original, folded)| original.summaries(folded));
    if original.is_some() && beside.len() != groups.len() {
        return Err(Error::bug("the original was read beside another release"));
    }
    let mut judgements = Vec::with_capacity(promises.len());
    for promise in promises {
        let about_outliers = needs(promise, Need::Region);
        let model = match (about_outliers, original) {
            (true, Some((original, _))) => promise.model.bind(original.data())?,
            (true, None) => return Err(needs_original(promise)),
            (false, _) => promise.model.bind(release)?,
        };
        let groups = if about_outliers { &beside } else { groups };
        let mut outside = None;
        if needs(promise, Need::Population) {
            let weighed = promise.model.weighs() && people.is_none();
            if weighed && !release.is_weighed() {
                judgements.push(by_weights_unknown(promise));
                continue;
            }
            let Some(beyond) = people.map(|people| people.outside).or(weighed.then_some(0)) else {
                return Err(Error::job(format!("`{}` needs the population table", promise.name())));
            };
            let nobody = GroupSummary::empty(release.sensitive().len());
            outside = Some(GroupSummary { population: beyond, ..nobody }).filter(|g| g.population > 0);
        }
        let mut failing = 0;
        let mut worst = None;
        for group in groups.iter().chain(&outside) {
            let verdict = model.admits(group);
            failing += u64::from(!verdict.holds);
            if worst.as_ref().is_none_or(|worst| verdict.is_worse_than(worst)) {
                worst = Some(verdict);
            }
        }
        if let Some((original, _)) = original.filter(|_| about_outliers) {
            // A table that is no release of the original promises nothing about its people.
            let strangers = original.strangers();
            let verdict = Verdict::at_most(STRANGERS, strangers as f64, 0.0, strangers == 0);
            if strangers > 0 {
                failing = failing.max(1);
                worst = Some(verdict);
            }
        }
        // Different categories have different values, so what holds of the categories holds of the values.
        let veiled = model.looks_at().is_some_and(|column| release.sensitive()[column].only_categories());
        let unknown = failing > 0 && veiled && !needs(promise, Need::Categories);
        let (name, title, params) = (promise.name(), promise.title(), promise.params.clone());
        judgements.push(Judgement {
            name,
            title,
            params,
            holds: failing == 0,
            measures: worst.map_or("", |v| v.what),
            have: worst.map_or(0.0, |v| v.have),
            need: worst.map_or(0.0, |v| v.need),
            margin: worst.map_or(f64::INFINITY, |v| v.margin()),
            failing,
            unknown,
        });
    }
    let unread = people.map_or_else(Vec::new, |people| people.unread.clone());
    Ok(Verification {
        judgements,
        groups: groups.len() as u64,
        records: release.records(),
        unread,
        smallest_group: groups.iter().map(|group| group.records).min().unwrap_or(0),
        persons: PersonsFound::of(release, groups),
    })
}

/// What is promised by weights that are not published cannot be judged on the release alone.
fn by_weights_unknown(promise: &Promise) -> Judgement {
    Judgement {
        name: promise.name(),
        title: promise.title(),
        params: promise.params.clone(),
        holds: false,
        measures: "people by weights, which the release does not have:",
        have: 0.0,
        need: 0.0,
        margin: 0.0,
        failing: 0,
        unknown: true,
    }
}

const STRANGERS: &str = "records that no record of the original can stand for";

/// What a reader of the release alone cannot tell.
fn needs_original(promise: &Promise) -> Error {
    let name = promise.name();
    Error::job(format!("`{name}` needs the original table: who is an outlier is a question about its records")).help(
        "give it as `[judging] original`; from the release alone only the number of sensitive values can be checked, with \
         l-diversity",
    )
}
