//! Sampling weights: how many people records stand for.
//!
//! Weights are not published. They estimate the population: for `k-map` without a population table, for the risk of being found by
//! somebody who does not know who is in the sample, and for what counts and means are worth. Published is, on request, the mean of
//! each group.

use std::collections::BTreeMap;

use incrowd_audit::attack::Weighed;
use incrowd_audit::cover;
use incrowd_core::number::parse_number;
use incrowd_core::represented::{MILLIONTHS, mean_text};
use incrowd_core::text::{Block, number};
use incrowd_core::{Dataset, Error, Folded, Partition, Plan, Progress, Result};
use incrowd_engine::{Beside, Content, Engine, FoldSpec};
use serde_json::{Value as Json, json};

use crate::case::Case;
use crate::checked::CheckedJob;
use crate::job::{ColumnJob, Input, Job, PublishWeight, RoleName};
use crate::publication::Shelf;
use crate::reading::{Reading, open_input};

/// The role of published mean weights in a manifest.
pub(crate) const ROLE: &str = "weight";

/// What a manifest says of a population that is estimated.
pub(crate) const ESTIMATED: &str = "estimated by weights";

/// Leaves the weight out of the release; any other role would publish it.
pub(crate) fn check(job: &mut Job, columns: &[String]) -> Result<()> {
    let publish = job.output.as_ref().is_some_and(|output| output.publish_weight == PublishWeight::GroupMean);
    let Some(weight) = job.input.weight.clone() else {
        return match publish {
            false => Ok(()),
            true => Err(Error::job("there is no weight to publish")
                .help("name its column as `[input] weight`")
                .at("output.publish_weight")),
        };
    };
    if !columns.contains(&weight) {
        return Err(Error::job(format!("the table has no column `{weight}`"))
            .help_near(&weight, columns.iter().map(String::as_str))
            .at("input.weight"));
    }
    let refuse = |what: &str| {
        Err(Error::job(format!("weights cannot be used with {what}"))
            .help("leave `[input] weight` out")
            .at("input.weight"))
    };
    if job.input.person.is_some() {
        return refuse("`[input] person`: a weight is that of a record, and a person may have several");
    }
    if job.suppression.is_some() {
        return refuse("`[suppression]`: whoever is withheld would be missing from the estimate");
    }
    if job.external.is_some() {
        return refuse("`[external]`: who is in the population is known there");
    }
    match job.columns.iter_mut().find(|(name, _)| *name == weight) {
        Some((_, column)) if matches!(column.role, RoleName::Identifier | RoleName::Drop) => {
            column.role = RoleName::Drop;
        }
        Some(_) => {
            return Err(Error::job(format!("`{weight}` says how many people a record stands for, and is not published as it is"))
                .help("give it no role; `[output] publish_weight = \"group-mean\"` publishes the mean of each group")
                .at(format!("columns.{weight}")));
        }
        None => job.columns.push((weight, ColumnJob { role: RoleName::Drop, ..ColumnJob::default() })),
    }
    Ok(())
}

impl CheckedJob {
    /// The column of mean weights, if they are published.
    pub(crate) fn published_weight(&self) -> Option<&str> {
        let output = self.job.output.as_ref();
        let asked = output.is_some_and(|output| output.publish_weight == PublishWeight::GroupMean);
        self.job.input.weight.as_deref().filter(|_| asked)
    }

    /// Whether the population is estimated by weights.
    pub(crate) fn estimates(&self) -> bool {
        let asked = self.promises.iter().any(|promise| promise.model.weighs());
        asked && self.job.input.weight.is_some() && self.job.population.is_none()
    }

    /// The table with what its records stand for, if the release depends on it.
    pub(crate) fn weighed(&self, data: Dataset) -> Dataset {
        match self.estimates() || self.published_weight().is_some() {
            true => data,
            false => data.unweighed(),
        }
    }

    /// Refuses an algorithm that does not add up weights.
    pub(crate) fn check_estimates(&self) -> Result<()> {
        if self.estimates() && !self.method.algorithm.weighs() {
            let method = self.method.card.name;
            return Err(Error::job(format!(
                "`{method}` does not add up weights, and the population is estimated by them"
            ))
            .help("use `mondrian`, `ascent` or `top-down`, or name a population table as `[population] path`")
            .at("algorithm"));
        }
        if self.published_weight().is_some() && !self.method.algorithm.weighs() {
            let method = self.method.card.name;
            return Err(Error::job(format!(
                "`{method}` does not add up weights, so their means cannot be published"
            ))
            .help("use `mondrian`, `ascent` or `top-down`")
            .at("output.publish_weight"));
        }
        Ok(())
    }
}

/// The mean weight of each group; groups that read the same are one.
pub(crate) fn means(data: &Dataset, partition: &Partition) -> Vec<String> {
    let plan = Plan::new(data, partition);
    let mut sums: Vec<(u64, u64)> = vec![(0, 0); partition.groups()];
    for row in 0..data.rows() {
        if let Some(group) = partition.group(row) {
            let own = &mut sums[group.0 as usize];
            *own = (own.0.saturating_add(data.represented(row)), own.1 + data.weight(row));
        }
    }
    let look = |group: usize| -> Vec<&str> {
        let group = incrowd_core::GroupId(group as u32);
        (0..data.quasi().len()).map(|q| plan.text(group, q)).collect()
    };
    let mut alike: BTreeMap<Vec<&str>, (u64, u64)> = BTreeMap::new();
    for (group, own) in sums.iter().enumerate() {
        let sum = alike.entry(look(group)).or_default();
        *sum = (sum.0.saturating_add(own.0), sum.1 + own.1);
    }
    (0..sums.len()).map(|group| alike[&look(group)]).map(|(sum, records)| mean_text(sum, records)).collect()
}

/// The published column of mean weights.
pub(crate) fn column(job: &CheckedJob) -> Option<(String, Content)> {
    job.published_weight().map(|name| (name.to_owned(), Content::OfGroup))
}

/// Reads the published means back: in every group that a reader sees there is one, and it is the mean of what its records stand for.
pub(crate) fn verify(engine: &dyn Engine, job: &CheckedJob, progress: &dyn Progress) -> Result<()> {
    let Some(name) = job.published_weight() else { return Ok(()) };
    let quasi = job.schema.quasi().map(|(name, _)| name.to_owned());
    let names: Vec<String> = quasi.chain([name.to_owned()]).collect();
    let back = engine.read_back(0, &names, Beside::default(), progress)?.folded;
    let wrong =
        || Error::bug("a published mean weight is not the mean of its group: nothing was put in place");
    let represented = back.represented.as_ref().ok_or_else(wrong)?;
    for (sum, records, told) in by_group(&back, represented, names.len() - 1).into_values() {
        let [told] = told.as_slice() else { return Err(wrong()) };
        let (told, mean) = (parse_number(told).map_or(f64::NAN, |n| n.as_f64()), sum as f64 / records as f64);
        let mean = mean / MILLIONTHS as f64;
        // What is no number is near nothing.
        let near = (told - mean).abs() <= 1.1e-6 + mean * 1e-12;
        if !near {
            return Err(wrong());
        }
    }
    Ok(())
}

/// For each group of a release its weights, its records, and the different texts of its last column.
fn by_group<'a>(
    back: &'a Folded,
    represented: &[u64],
    quasi: usize,
) -> BTreeMap<&'a [u32], (u64, u64, Vec<&'a str>)> {
    let mut groups: BTreeMap<&[u32], (u64, u64, Vec<&str>)> = BTreeMap::new();
    for row in 0..back.rows() {
        let codes = back.row(row);
        let own = groups.entry(&codes[..quasi]).or_default();
        own.0 = own.0.saturating_add(represented.get(row).copied().unwrap_or(0));
        own.1 += back.weights[row];
        let text = back.columns[quasi].texts[codes[quasi] as usize].as_str();
        if !own.2.contains(&text) {
            own.2.push(text);
        }
    }
    groups
}

/// Published mean weights of a release, by its manifest.
fn published(case: &Case) -> Option<String> {
    let columns = case.manifest.as_ref()?.job.columns.iter();
    columns.into_iter().find(|(_, entry)| entry.role == ROLE).map(|(name, _)| name.to_owned())
}

/// The original folded over some columns, with what its records stand for in the place of their number.
fn fold_weights(
    reading: &Reading,
    original: &Input,
    names: Vec<String>,
    progress: &dyn Progress,
) -> Result<Folded> {
    let source = open_input(original)?;
    let absent = names.iter().chain(&original.weight).find(|name| !source.columns().contains(name));
    if let Some(absent) = absent {
        return Err(
            source.help_column(Error::input(format!("the original table has no column `{absent}`")), absent)
        );
    }
    let spec = FoldSpec { weight: original.weight.clone(), ..reading.fold_spec(names) };
    source.fold(&spec, progress)
}

/// How many people the groups of a release stand for: by the weights of the original if those are at hand, else by the means that
/// are published.
pub(crate) fn weighed(case: &Case, release: &Folded, progress: &dyn Progress) -> Result<Option<Weighed>> {
    let quasi: Vec<String> = case.reading.quasi_names().into_iter().map(str::to_owned).collect();
    if let Some(original) = case.judging.original.as_ref().filter(|original| original.weight.is_some()) {
        case.need_hierarchies()?;
        let mut people = fold_weights(&case.reading, original, quasi, progress)?;
        people.weights = people.represented.take().unwrap_or_default();
        let specs = case.reading.quasi_specs();
        let (join, covered) = cover(release, &specs, &people, case.reading.missing_label(), progress)?;
        let groups = join.groups.records.iter().zip(&covered.group_records);
        let groups = groups
            .map(|(&records, &people)| (records, (people as f64 / MILLIONTHS as f64).max(records as f64)));
        return Ok(Some(Weighed { groups: groups.collect(), owner_only: true }));
    }
    let Some(name) = published(case) else { return Ok(None) };
    let names: Vec<String> = quasi.iter().cloned().chain([name]).collect();
    let back = case.shelf().read("release", &names, progress)?.folded;
    let group = |(_, records, told): (u64, u64, Vec<&str>)| {
        let mean = told.first().and_then(|text| parse_number(text)).map_or(1.0, |n| n.as_f64());
        (records, mean * records as f64)
    };
    let groups = by_group(&back, &[], quasi.len()).into_values().map(group).collect();
    Ok(Some(Weighed { groups, owner_only: false }))
}

/// Counts and means with weights, in the original and in the release.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightedUtility {
    /// How many people the original stands for, and the release by its published means, or by its records if there are none.
    pub people: (f64, f64),
    /// Whether the release tells mean weights.
    pub published: bool,
    /// For each column of numbers that is published as it is: its mean with weights, before and after.
    pub means: Vec<(String, f64, f64)>,
    /// For each other such column: how far the shares of its values with weights lie apart, from 0 to 1.
    pub shares: Vec<(String, f64)>,
}

/// The weight of each value of a column, over the rows of a table.
fn of_values(table: &Folded, column: usize, weight: &dyn Fn(usize) -> f64) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for row in 0..table.rows() {
        let text = table.columns[column].texts[table.row(row)[column] as usize].clone();
        *sums.entry(text).or_insert(0.0) += weight(row);
    }
    sums
}

fn mean(values: &BTreeMap<String, f64>) -> Option<f64> {
    let mut sums = (0.0, 0.0);
    for (text, weight) in values {
        let value = parse_number(text)?.as_f64();
        sums = (sums.0 + value * weight, sums.1 + weight);
    }
    (sums.1 > 0.0).then(|| sums.0 / sums.1)
}

/// Measures counts and means with weights, if the original has them and the release is one table.
pub(crate) fn utility(case: &Case, progress: &dyn Progress) -> Result<Option<WeightedUtility>> {
    let original = case.judging.original.as_ref().filter(|original| original.weight.is_some());
    let Some(original) = original.filter(|_| case.publication.name() == "one table") else { return Ok(None) };
    let release_columns = case.shelf().columns("release")?;
    let sensitive: Vec<String> = case
        .reading
        .sensitive_names()
        .into_iter()
        .map(str::to_owned)
        .filter(|c| release_columns.contains(c))
        .collect();
    let quasi: Vec<String> = case.reading.quasi_names().into_iter().map(str::to_owned).collect();
    let (all, first) = (quasi.iter().chain(&sensitive).cloned().collect::<Vec<_>>(), quasi.len());
    let before = fold_weights(&case.reading, original, all, progress)?;
    let represented = before.represented.clone().unwrap_or_default();
    let own = |row: usize| represented[row] as f64 / MILLIONTHS as f64;
    let weight = published(case);
    let names: Vec<String> = sensitive.iter().cloned().chain(weight.clone()).collect();
    let after = case.shelf().read("release", &names, progress)?.folded;
    let theirs = |row: usize| {
        let told = weight
            .as_ref()
            .map(|_| &after.columns[sensitive.len()].texts[after.row(row)[sensitive.len()] as usize]);
        let mean = told.and_then(|text| parse_number(text)).map_or(1.0, |n| n.as_f64());
        mean * after.weights[row] as f64
    };
    let mut found = WeightedUtility {
        people: ((0..before.rows()).map(own).sum(), (0..after.rows()).map(theirs).sum()),
        published: weight.is_some(),
        ..WeightedUtility::default()
    };
    let total = |values: &BTreeMap<String, f64>| values.values().sum::<f64>().max(f64::MIN_POSITIVE);
    for (i, name) in sensitive.iter().enumerate() {
        let (one, other) = (of_values(&before, first + i, &own), of_values(&after, i, &theirs));
        match (mean(&one), mean(&other)) {
            (Some(a), Some(b)) => found.means.push((name.clone(), a, b)),
            _ => {
                let keys: std::collections::BTreeSet<&String> = one.keys().chain(other.keys()).collect();
                let share =
                    |of: &BTreeMap<String, f64>, key: &str| of.get(key).copied().unwrap_or(0.0) / total(of);
                let apart: f64 =
                    keys.into_iter().map(|key| (share(&one, key) - share(&other, key)).abs()).sum();
                found.shares.push((name.clone(), apart / 2.0));
            }
        }
    }
    Ok(Some(found))
}

impl WeightedUtility {
    /// For the data owner.
    pub fn to_json(&self) -> Json {
        json!({
            "people": { "original": self.people.0, "release": self.people.1 },
            "weights_published": self.published,
            "means": self.means.iter().map(|(name, a, b)| json!({ "column": name, "original": a, "release": b })).collect::<Vec<_>>(),
            "shares_apart": self.shares.iter().map(|(name, d)| json!({ "column": name, "distance": d })).collect::<Vec<_>>(),
        })
    }

    /// The same in words.
    pub fn to_text(&self) -> Vec<Block> {
        let how = if self.published {
            "mean weights are published"
        } else {
            "no weights are published, every record counts as one"
        };
        let mut said = vec![
            Block::line(""),
            Block::line("with sampling weights, in the original and in the release"),
            Block::line(format!(" people      {:.1} and {:.1} ({how})", self.people.0, self.people.1)),
        ];
        for (name, a, b) in &self.means {
            said.push(Block::line(format!(" mean of {name}   {} and {}", number(*a), number(*b))));
        }
        for (name, apart) in &self.shares {
            said.push(Block::line(format!(" shares of {name} lie {} apart (0 to 1)", number(*apart))));
        }
        said
    }
}
