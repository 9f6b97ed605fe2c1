//! Sampling weights: the number of people that a record represents.
//!
//! Weights are not published. They estimate the population for `k-map` without a population table,
//! for the re-identification risk if the adversary does not know who is in the sample, and for
//! weighted counts and means. On request the mean weight of each group is published.

use std::borrow::Cow;
use std::collections::BTreeMap;

use incrowd_audit::attack::WeightedGroups;
use incrowd_audit::cover;
use incrowd_core::number::parse_number;
use incrowd_core::represented::{MILLIONTHS, mean_text};
use incrowd_core::text::{Block, number};
use incrowd_core::{Dataset, Error, Folded, Partition, Plan, Progress, Result, plan};
use incrowd_engine::{Content, Engine, ExaminedColumns, FoldSpec};
use serde_json::{Value as Json, json};

use crate::job::reading::{Reading, open_input};
use crate::job::{ColumnJob, Input, Job, PublishWeight, RoleName};
use crate::judging::case::Case;
use crate::making::checked::CheckedJob;
use crate::making::publication::one_table::as_missing;
use crate::making::publication::{ReleaseTables, TableContent};

/// The role of published mean weights in a manifest.
pub(crate) const ROLE: &str = "weight";

/// The manifest's text for an estimated population.
pub(crate) const ESTIMATED: &str = "estimated by weights";

/// Removes the weight column from the release. Any other role would publish it.
pub(crate) fn check(job: &mut Job, columns: &[String]) -> Result<()> {
    let publish =
        job.output.as_ref().is_some_and(|output| output.publish_weight == PublishWeight::GroupMean);
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
        return refuse(
            "`[input] person`: a weight belongs to a record, and a person may have several",
        );
    }
    if job.suppression.is_some() {
        return refuse("`[suppression]`: suppressed records would be missing from the estimate");
    }
    if job.external.is_some() {
        return refuse("`[external]`: the population is known there");
    }
    match job.columns.iter_mut().find(|(name, _)| *name == weight) {
        Some((_, column)) if matches!(column.role, RoleName::Identifier | RoleName::Drop) => {
            column.role = RoleName::Drop;
        }
        Some(_) => {
            return Err(Error::job(format!(
                "`{weight}` holds the sampling weights, which are not published unchanged"
            ))
            .help(
                "give it no role; \
                 `[output] publish_weight = \"group-mean\"` publishes the mean of each group",
            )
            .at(format!("columns.{weight}")));
        }
        None => {
            job.columns.push((weight, ColumnJob { role: RoleName::Drop, ..ColumnJob::default() }))
        }
    }
    Ok(())
}

impl CheckedJob {
    /// Returns the column of mean weights, if they are published.
    pub(crate) fn published_weight(&self) -> Option<&str> {
        let output = self.job.output.as_ref();
        let asked = output.is_some_and(|output| output.publish_weight == PublishWeight::GroupMean);
        self.job.input.weight.as_deref().filter(|_| asked)
    }

    /// Returns whether the population is estimated by weights.
    pub(crate) fn estimates(&self) -> bool {
        let asked = self.privacy_models.iter().any(|privacy_model| privacy_model.model.weighs());
        asked && self.job.input.weight.is_some() && self.job.population.is_none()
    }

    /// Removes the weights from the table unless the release depends on them.
    pub(crate) fn weighed(&self, data: Dataset) -> Dataset {
        match self.estimates() || self.published_weight().is_some() {
            true => data,
            false => data.without_sampling_weights(),
        }
    }

    /// Refuses an algorithm that does not add up weights, if weights are needed.
    pub(crate) fn check_estimates(&self) -> Result<()> {
        if self.estimates() && !self.method.algorithm.weighs() {
            let method = self.method.card.name;
            return Err(Error::job(format!(
                "`{method}` does not add up weights, and the population is estimated by them"
            ))
            .help(
                "use `mondrian`, `ascent` or `top-down`, \
                 or name a population table as `[population] path`",
            )
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

/// Returns the mean weight of each group. Groups with equal published cells are merged. `columns`
/// are the published columns: groups with different ranges may have equal means.
pub(crate) fn means(
    data: &Dataset,
    partition: &Partition,
    columns: &[(String, Content)],
) -> Vec<String> {
    let plan = Plan::new(data, partition);
    let is_mean =
        |q: usize| columns.iter().any(|(_, own)| matches!(own, Content::Mean(at) if *at == q));
    let published_means: Vec<Option<Vec<Option<f64>>>> =
        (0..data.quasi().len()).map(|q| is_mean(q).then(|| plan.means(q))).collect();
    let mut sums: Vec<(u64, u64)> = vec![(0, 0); partition.groups()];
    for row in 0..data.rows() {
        if let Some(group) = partition.group(row) {
            let own = &mut sums[group.0 as usize];
            *own = (own.0.saturating_add(data.represented(row)), own.1 + data.weight(row));
        }
    }
    let cells = |group: usize| -> Vec<Cow<'_, str>> {
        let cell = |(q, means): (usize, &Option<Vec<Option<f64>>>)| match means {
            Some(means) => Cow::Owned(means[group].map(plan::mean_text).unwrap_or_default()),
            None => Cow::Borrowed(plan.text(incrowd_core::GroupId(group as u32), q)),
        };
        published_means.iter().enumerate().map(cell).collect()
    };
    let mut alike: BTreeMap<Vec<Cow<'_, str>>, (u64, u64)> = BTreeMap::new();
    for (group, own) in sums.iter().enumerate() {
        let sum = alike.entry(cells(group)).or_default();
        *sum = (sum.0.saturating_add(own.0), sum.1 + own.1);
    }
    (0..sums.len())
        .map(|group| alike[&cells(group)])
        .map(|(sum, records)| mean_text(sum, records))
        .collect()
}

/// Returns the published column of mean weights.
pub(crate) fn column(job: &CheckedJob) -> Option<(String, Content)> {
    job.published_weight().map(|name| (name.to_owned(), Content::OfGroup))
}

/// Reads the published means back and verifies that every published group has one mean, which is
/// that of its records.
pub(crate) fn verify(engine: &dyn Engine, job: &CheckedJob, progress: &dyn Progress) -> Result<()> {
    let Some(name) = job.published_weight() else { return Ok(()) };
    let quasi = job.schema.quasi().map(|(name, _)| name.to_owned());
    let names: Vec<String> = quasi.chain([name.to_owned()]).collect();
    let back = engine.read_back(0, &names, ExaminedColumns::default(), progress)?.folded;
    let wrong = || {
        Error::bug("a published mean weight is not the mean of its group: nothing was published")
    };
    let represented = back.represented.as_ref().ok_or_else(wrong)?;
    for (sum, records, texts) in by_group(&back, represented, names.len() - 1).into_values() {
        let [text] = texts.as_slice() else { return Err(wrong()) };
        let (published, mean) =
            (parse_number(text).map_or(f64::NAN, |n| n.as_f64()), sum as f64 / records as f64);
        let mean = mean / MILLIONTHS as f64;
        // `NaN` compares false, so a text that is not a number is refused.
        let near = (published - mean).abs() <= 1.1e-6 + mean * 1e-12;
        if !near {
            return Err(wrong());
        }
    }
    Ok(())
}

/// Returns for each group of a release the sum of its weights, its number of records, and the
/// distinct texts of its last column.
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

/// Returns the column of published mean weights, by the manifest.
fn published(case: &Case) -> Option<String> {
    let columns = case.manifest.as_ref()?.job.columns.iter();
    columns.into_iter().find(|(_, entry)| entry.role == ROLE).map(|(name, _)| name.to_owned())
}

/// Folds the original over some columns, with the sampling weights of its rows.
fn fold_weights(
    reading: &Reading,
    original: &Input,
    names: Vec<String>,
    progress: &dyn Progress,
) -> Result<Folded> {
    let source = open_input(original)?;
    let absent = names.iter().chain(&original.weight).find(|name| !source.columns().contains(name));
    if let Some(absent) = absent {
        return Err(source.help_column(
            Error::input(format!("the original table has no column `{absent}`")),
            absent,
        ));
    }
    let spec = FoldSpec { weight: original.weight.clone(), ..reading.fold_spec(names) };
    source.fold(&spec, progress)
}

/// Returns the number of people that the groups of a release represent: by the weights of the
/// original if available, otherwise by the published means.
pub(crate) fn weighed(
    case: &Case,
    release: &Folded,
    progress: &dyn Progress,
) -> Result<Option<WeightedGroups>> {
    let quasi: Vec<String> = case.reading.quasi_names().into_iter().map(str::to_owned).collect();
    if let Some(original) =
        case.judging.original.as_ref().filter(|original| original.weight.is_some())
    {
        case.need_hierarchies()?;
        let mut people = fold_weights(&case.reading, original, quasi, progress)?;
        people.weights = people.represented.take().unwrap_or_default();
        // Whole millionths add up to the same sum in any order.
        let all: u128 = people.weights.iter().map(|&n| u128::from(n)).sum();
        let specs = case.reading.quasi_specs();
        let (join, covered) =
            cover(release, &specs, &people, case.reading.missing_label(), progress)?;
        let groups = join.groups.records.iter().zip(&covered.group_records);
        let groups = groups.map(|(&records, &people)| {
            (records, (people as f64 / MILLIONTHS as f64).max(records as f64))
        });
        return Ok(Some(WeightedGroups {
            groups: groups.collect(),
            people: all as f64 / MILLIONTHS as f64,
            owner_only: true,
        }));
    }
    let Some(name) = published(case) else { return Ok(None) };
    let names: Vec<String> = quasi.iter().cloned().chain([name]).collect();
    let back = case.release_tables().read(TableContent::Release, &names, progress)?.folded;
    let group = |(_, records, texts): (u64, u64, Vec<&str>)| {
        let mean = texts.first().and_then(|text| parse_number(text)).map_or(1.0, |n| n.as_f64());
        (records, mean * records as f64)
    };
    let groups: Vec<(u64, f64)> =
        by_group(&back, &[], quasi.len()).into_values().map(group).collect();
    let people = groups.iter().map(|group| group.1).sum();
    Ok(Some(WeightedGroups { groups, people, owner_only: false }))
}

/// Weighted counts and means in the original and in the release.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct WeightedUtility {
    /// The number of people that the original represents, and the release by its published means,
    /// or by its records if there are none.
    pub people: (f64, f64),
    /// Whether the release contains mean weights.
    pub published: bool,
    /// The weighted mean of each numeric unmodified column, in the original and in the release.
    pub means: Vec<(String, f64, f64)>,
    /// The distance between the weighted value distributions of each other unmodified column, from
    /// 0 to 1.
    pub shares: Vec<(String, f64)>,
}

/// Returns the total weight of each value of a column.
fn of_values(
    table: &Folded,
    column: usize,
    weight: &dyn Fn(usize) -> f64,
) -> BTreeMap<String, f64> {
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

/// Computes weighted counts and means, if the original has weights and the release is one table.
pub(crate) fn utility(case: &Case, progress: &dyn Progress) -> Result<Option<WeightedUtility>> {
    let original = case.judging.original.as_ref().filter(|original| original.weight.is_some());
    let Some(original) = original.filter(|_| case.publication.has_whole_records()) else {
        return Ok(None);
    };
    let release_columns = case.release_tables().columns(TableContent::Release)?;
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
    let mut after = case.release_tables().read(TableContent::Release, &names, progress)?.folded;
    as_missing(&mut after, 0, &case.reading.missing);
    let theirs = |row: usize| {
        let text = weight.as_ref().map(|_| {
            &after.columns[sensitive.len()].texts[after.row(row)[sensitive.len()] as usize]
        });
        let mean = text.and_then(|text| parse_number(text)).map_or(1.0, |n| n.as_f64());
        mean * after.weights[row] as f64
    };
    let mut found = WeightedUtility {
        people: ((0..before.rows()).map(own).sum(), (0..after.rows()).map(theirs).sum()),
        published: weight.is_some(),
        ..WeightedUtility::default()
    };
    let total =
        |values: &BTreeMap<String, f64>| values.values().sum::<f64>().max(f64::MIN_POSITIVE);
    for (i, name) in sensitive.iter().enumerate() {
        let (one, other) = (of_values(&before, first + i, &own), of_values(&after, i, &theirs));
        match (mean(&one), mean(&other)) {
            (Some(a), Some(b)) => found.means.push((name.clone(), a, b)),
            _ => {
                let keys: std::collections::BTreeSet<&String> =
                    one.keys().chain(other.keys()).collect();
                let share = |of: &BTreeMap<String, f64>, key: &str| {
                    of.get(key).copied().unwrap_or(0.0) / total(of)
                };
                let apart: f64 =
                    keys.into_iter().map(|key| (share(&one, key) - share(&other, key)).abs()).sum();
                found.shares.push((name.clone(), apart / 2.0));
            }
        }
    }
    Ok(Some(found))
}

impl WeightedUtility {
    /// Returns the results for the data owner as JSON.
    pub fn to_json(&self) -> Json {
        json!({
            "people": { "original": self.people.0, "release": self.people.1 },
            "weights_published": self.published,
            "means": self.means.iter()
                .map(|(name, a, b)| json!({ "column": name, "original": a, "release": b }))
                .collect::<Vec<_>>(),
            "shares_apart": self.shares.iter()
                .map(|(name, d)| json!({ "column": name, "distance": d }))
                .collect::<Vec<_>>(),
        })
    }

    /// Returns the results as text.
    pub fn to_text(&self) -> Vec<Block> {
        let how = if self.published {
            "mean weights are published"
        } else {
            "no weights are published, every record counts as one"
        };
        let mut lines = vec![
            Block::line(""),
            Block::line("with sampling weights, in the original and in the release"),
            Block::line(format!(
                " people      {:.1} and {:.1} ({how})",
                self.people.0, self.people.1
            )),
        ];
        for (name, a, b) in &self.means {
            lines.push(Block::line(format!(" mean of {name}   {} and {}", number(*a), number(*b))));
        }
        for (name, apart) in &self.shares {
            lines.push(Block::line(format!(
                " distance between shares of {name}: {} (0 to 1)",
                number(*apart)
            )));
        }
        lines
    }
}
