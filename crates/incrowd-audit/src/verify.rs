//! Verification: checks privacy models on a release.

use incrowd_core::model::{Need, PrivacyModel, Verdict};
use incrowd_core::{ColumnSpec, Dataset, Error, Folded, GroupSummary, Params, Progress, Result};

use crate::cover::cover;
use crate::group::groups;
use crate::matching::Matching;
use crate::original::Original;

/// Result of a check. The order is from best to worst, so the maximum of several is the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// The check passed.
    Holds,
    /// The published cells do not determine the result.
    Undecided,
    /// The check failed.
    Fails,
}

impl Decision {
    /// Creates the decision of a check that always has a result.
    pub fn of(holds: bool) -> Decision {
        if holds { Decision::Holds } else { Decision::Fails }
    }

    /// Returns the worst decision. Without any check it is undecided.
    pub fn worst(all: impl IntoIterator<Item = Decision>) -> Decision {
        all.into_iter().max().unwrap_or(Decision::Undecided)
    }

    /// Returns whether the check passed.
    pub fn holds(self) -> bool {
        self == Decision::Holds
    }

    /// Returns `None` if the check is undecided.
    pub fn answer(self) -> Option<bool> {
        match self {
            Decision::Holds => Some(true),
            Decision::Undecided => None,
            Decision::Fails => Some(false),
        }
    }
}

/// Result of verifying one privacy model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Judgement {
    /// Name of the model.
    pub name: &'static str,
    /// The name with its parameters.
    pub title: String,
    /// The parameters.
    pub params: Params,
    /// Whether every group satisfies the model.
    pub holds: bool,
    /// Name of the measured quantity, e.g. `smallest group`.
    pub measures: &'static str,
    /// Measured value of the worst group.
    pub have: f64,
    /// Required value.
    pub need: f64,
    /// Distance of the worst group from the requirement. Negative if the model is violated.
    pub margin: f64,
    /// Number of groups that violate the model.
    pub failing: u64,
    /// Whether a violation is uncertain: the model is about values, and only their categories are
    /// published.
    pub unknown: bool,
}

/// Result of verifying a release.
#[derive(Clone, Debug, PartialEq)]
pub struct Verification {
    /// One judgement per privacy model, in order.
    pub judgements: Vec<Judgement>,
    /// Number of groups.
    pub groups: u64,
    /// Number of records.
    pub records: u64,
    /// Quasi-identifiers with the number of records whose cell covers no value of the population,
    /// if there are any. Either the population lacks such values, or the cells were interpreted
    /// wrongly.
    pub unread: Vec<(String, u64)>,
    /// Size of the smallest group in records, 0 if there are no groups.
    pub smallest_group: u64,
    /// Results about persons, if a person may have several records.
    pub persons: Option<PersonsFound>,
}

/// Persons of the records of a release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PersonsFound {
    /// Number of persons.
    pub published: u64,
    /// Number of persons in the smallest group.
    pub smallest_group: u64,
    /// Greatest share of a group's records that belong to one person.
    pub dominance: f64,
}

impl PersonsFound {
    fn of(release: &Dataset, groups: &[GroupSummary]) -> Option<PersonsFound> {
        let persons = release.persons()?;
        let own =
            |group: &GroupSummary| group.persons.as_ref().map_or(0, |own| persons.in_group(own));
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

impl Judgement {
    /// Returns the result of the check.
    pub fn decision(&self) -> Decision {
        match (self.holds, self.unknown) {
            (true, _) => Decision::Holds,
            (false, true) => Decision::Undecided,
            (false, false) => Decision::Fails,
        }
    }
}

impl Verification {
    /// Returns whether the release satisfies every privacy model.
    pub fn holds(&self) -> bool {
        self.judgements.iter().all(|judgement| judgement.holds)
    }
}

/// Number of people of a population who are covered by the cells of a release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct People {
    /// Number per group, in the order of their first rows.
    by_group: Vec<u64>,
    /// Number of people who are covered by no group.
    outside: u64,
    unread: Vec<(String, u64)>,
}

impl People {
    /// Counts the people of `population` who are covered by the cells of a release. The first
    /// columns of the release are the quasi-identifiers in the order of `specs`. `population` has
    /// these columns.
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

/// Verifies privacy models on the released cells. An empty release has no groups and satisfies
/// every model about groups, so callers that expect records must check their number. Models about a
/// population need `people`.
pub fn verify(
    release: &Dataset,
    privacy_models: &[PrivacyModel],
    people: Option<&People>,
) -> Result<Verification> {
    verify_with_original(release, privacy_models, people, None)
}

/// Like [`verify`], with the original table for models about outliers. `original` contains the
/// original and the folded release.
pub fn verify_with_original(
    release: &Dataset,
    privacy_models: &[PrivacyModel],
    people: Option<&People>,
    original: Option<(&Original<'_>, &Folded)>,
) -> Result<Verification> {
    let mut groups = groups(release, privacy_models.iter().any(|p| needs(p, Need::Sensitive)));
    if let Some(people) = people {
        if people.by_group.len() != groups.len() {
            return Err(Error::bug("the population was counted for another release"));
        }
        groups
            .iter_mut()
            .zip(&people.by_group)
            .for_each(|(group, &covered)| group.population = covered);
    }
    judge_groups(release, privacy_models, people, original, &groups)
}

/// Verifies models about numbers of records if a missing cell matches any value. The size of a
/// group is then the number of records that match it. A record may match many groups, so other
/// quantities of a group are not defined.
pub fn verify_matching(
    release: &Dataset,
    privacy_models: &[PrivacyModel],
    matching: &Matching,
) -> Result<Verification> {
    for privacy_model in privacy_models {
        if privacy_model.model.card().needs != [Need::Records] || release.persons().is_some() {
            return Err(Error::job(format!(
                "`{}` cannot be verified if missing cells match any value: matching records do \
                 not form groups",
                privacy_model.name()
            ))
            .help(
                "use missing_cells = \"any\" only with k-anonymity of records; for other models \
                 omit it",
            ));
        }
    }
    let mut groups = groups(release, false);
    if matching.by_group.len() != groups.len() {
        return Err(Error::bug("matching records were counted for another release"));
    }
    groups.iter_mut().zip(&matching.by_group).for_each(|(group, &records)| group.records = records);
    judge_groups(release, privacy_models, None, None, &groups)
}

fn needs(privacy_model: &PrivacyModel, need: Need) -> bool {
    privacy_model.model.card().needs.contains(&need)
}

fn judge_groups(
    release: &Dataset,
    privacy_models: &[PrivacyModel],
    people: Option<&People>,
    original: Option<(&Original<'_>, &Folded)>,
    groups: &[GroupSummary],
) -> Result<Verification> {
    let summaries: Vec<GroupSummary> =
        original.map_or_else(Vec::new, |(original, folded)| original.summaries(folded));
    if original.is_some() && summaries.len() != groups.len() {
        return Err(Error::bug("the original was read with another release"));
    }
    let original = original.map(|(original, _)| (original, summaries.as_slice()));
    let judgements = privacy_models
        .iter()
        .map(|privacy_model| judge(release, privacy_model, people, original, groups))
        .collect::<Result<_>>()?;
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

/// Checks one privacy model on all groups. `original` contains the original table and the groups
/// with the codes of the original.
fn judge(
    release: &Dataset,
    privacy_model: &PrivacyModel,
    people: Option<&People>,
    original: Option<(&Original<'_>, &[GroupSummary])>,
    groups: &[GroupSummary],
) -> Result<Judgement> {
    let original = original.filter(|_| needs(privacy_model, Need::Region));
    let (model, groups) = match original {
        Some((original, summaries)) => (privacy_model.model.bind(original.data())?, summaries),
        None if needs(privacy_model, Need::Region) => return Err(needs_original(privacy_model)),
        None => (privacy_model.model.bind(release)?, groups),
    };
    // People of the population outside all groups are checked like a group without records.
    let mut outside = None;
    if needs(privacy_model, Need::Population) {
        let weighted = privacy_model.model.weighs() && people.is_none();
        if weighted && !release.has_sampling_weights() {
            return Ok(without_weights(privacy_model));
        }
        let Some(beyond) = people.map(|people| people.outside).or(weighted.then_some(0)) else {
            return Err(Error::job(format!(
                "`{}` needs the population table",
                privacy_model.name()
            )));
        };
        let empty = GroupSummary::empty(release.sensitive().len());
        outside = Some(GroupSummary { population: beyond, ..empty }).filter(|g| g.population > 0);
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
    // A table with records that cannot come from the original does not protect its people.
    let unmatched = original.map_or(0, |(original, _)| original.unmatched_records());
    if unmatched > 0 {
        failing = failing.max(1);
        worst = Some(Verdict::at_most(UNMATCHED, unmatched as f64, 0.0, false));
    }
    // Values in different categories are different. If the model holds for the categories, it holds
    // for the values. If it fails for the categories, the values may still satisfy it.
    let only_categories = model
        .sensitive_column()
        .is_some_and(|column| release.sensitive()[column].only_categories());
    Ok(Judgement {
        name: privacy_model.name(),
        title: privacy_model.title(),
        params: privacy_model.params.clone(),
        holds: failing == 0,
        measures: worst.map_or("", |v| v.what),
        have: worst.map_or(0.0, |v| v.have),
        need: worst.map_or(0.0, |v| v.need),
        margin: worst.map_or(f64::INFINITY, |v| v.margin()),
        failing,
        unknown: failing > 0 && only_categories && !needs(privacy_model, Need::Categories),
    })
}

/// Returns the undecided result of a model that needs sampling weights which are not published.
fn without_weights(privacy_model: &PrivacyModel) -> Judgement {
    Judgement {
        name: privacy_model.name(),
        title: privacy_model.title(),
        params: privacy_model.params.clone(),
        holds: false,
        measures: "people by sampling weights, which the release does not contain:",
        have: 0.0,
        need: 0.0,
        margin: 0.0,
        failing: 0,
        unknown: true,
    }
}

const UNMATCHED: &str = "records without a matching record of the original";

/// Returns the error for a model about outliers without the original table.
fn needs_original(privacy_model: &PrivacyModel) -> Error {
    let name = privacy_model.name();
    Error::job(format!(
        "`{name}` needs the original table, because outliers are defined by its records"
    ))
    .help(
        "provide it as `[judging] original`; on the release alone only the number of sensitive \
         values can be checked, with l-diversity",
    )
}
