//! A k-join-anonymous release compared with its two originals. A matching decides whether the
//! published rows can be people of both tables and include everyone of the microdata.

use incrowd_core::number::{parse_date, parse_number};
use incrowd_core::{ColumnSpec, Folded, Progress, Result};

use super::flow::Flow;
use super::{Failure, JoinTables};
use crate::cover::{Join, SharedColumn};

/// Result of comparing a release with its originals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// Violated rules.
    pub failures: Vec<Failure>,
    /// Number of groups whose box is larger than necessary. This violates no rule but loses
    /// information.
    pub loose: u64,
}

/// Joins boxes and people.
fn join(
    tables: &JoinTables<'_>,
    people: &Folded,
    specs: &[ColumnSpec],
    missing: &str,
) -> Result<Join> {
    let on: Vec<SharedColumn<'_>> =
        (0..tables.quasi).map(|i| SharedColumn { release: i, table: i, spec: &specs[i] }).collect();
    Join::new(tables.boxes, people, &on, missing)
}

/// Decides whether the rows of the release can be people of the join (rule O2). First, every person
/// of the microdata gets a row whose box contains the person. Then the remaining rows are filled
/// with people of the external table. `people` has the quasi-identifiers of all people.
/// `microdata[row]` is the number of people of a row who are in the microdata.
pub fn explained(
    tables: &JoinTables<'_>,
    people: &Folded,
    microdata: &[u64],
    specs: &[ColumnSpec],
    missing: &str,
    progress: &dyn Progress,
) -> Result<Explained> {
    let join = join(tables, people, specs, missing)?;
    let kinds = join.vectors.len();
    let mut own = vec![0u64; kinds];
    for (row, &vector) in join.vectors.of_row.iter().enumerate() {
        own[vector as usize] += microdata[row];
    }
    // Each kind of people has two supplies: first people of the microdata, then the others.
    let others = join.vectors.records.iter().zip(&own).map(|(all, own)| all - own);
    let supply: Vec<u64> = own.iter().copied().chain(others).collect();
    let mut edges: Vec<Vec<u32>> = vec![Vec::new(); join.groups.len()];
    let mut without_microdata = join.groups.len() as u64;
    let mut loose = 0;
    join.each(progress, &mut |group, vectors| {
        loose += u64::from(is_loose(tables, group, people, &join, vectors));
        without_microdata -= u64::from(vectors.iter().any(|&vector| own[vector as usize] > 0));
        edges[group].extend(vectors.iter().copied());
        edges[group].extend(vectors.iter().map(|&vector| vector + kinds as u32));
    });
    progress.step("matching", None);
    let mut flow = Flow::new(supply, join.groups.records.clone(), &edges);
    let unpublished = flow.place(0..kinds);
    let mut failures = Vec::new();
    if unpublished > 0 {
        let message =
            format!("{unpublished} records of the microdata have no published row of their own");
        failures.push(Failure::new("O2", message));
    }
    let artificial = flow.fill();
    if artificial > 0 {
        let message = format!("{artificial} published rows are not people of either table");
        failures.push(Failure::new("O2", message));
    }
    if without_microdata > 0 {
        let message = format!("{without_microdata} boxes contain no person of the microdata");
        failures.push(Failure::new("O2", message));
    }
    Ok(Explained { failures, loose })
}

/// Returns whether a range of the box is wider than the values of the people in it (rule O4).
fn is_loose(
    tables: &JoinTables<'_>,
    group: usize,
    people: &Folded,
    join: &Join,
    vectors: &[u32],
) -> bool {
    let number = |text: &str| {
        parse_number(text).map(|n| n.as_f64()).or_else(|| parse_date(text).map(f64::from))
    };
    (0..tables.quasi).any(|column| {
        let text = tables.boxes.text(join.groups.first[group] as usize, column);
        let ends = || text.strip_prefix('[')?.strip_suffix(']')?.split_once(", ");
        let Some((Some(lo), Some(hi))) = ends().map(|(lo, hi)| (number(lo), number(hi))) else {
            return false;
        };
        let value = |&vector: &u32| number(join.value(people, column, vector));
        let least = vectors.iter().filter_map(value).fold(f64::INFINITY, f64::min);
        let most = vectors.iter().filter_map(value).fold(f64::NEG_INFINITY, f64::max);
        least > lo || most < hi
    })
}

/// The boxes that contain each person, for an audit table of people and their groups.
#[derive(Debug)]
pub struct Membership {
    /// For each row of the people, the boxes that contain it, ascending.
    pub boxes: Vec<Vec<u32>>,
    /// The box of each row of the release.
    pub of_row: Vec<u32>,
}

/// Finds the boxes that contain each row of `people`.
pub fn member_of(
    tables: &JoinTables<'_>,
    people: &Folded,
    specs: &[ColumnSpec],
    missing: &str,
    progress: &dyn Progress,
) -> Result<Membership> {
    let join = join(tables, people, specs, missing)?;
    let mut by_vector: Vec<Vec<u32>> = vec![Vec::new(); join.vectors.len()];
    join.candidates(progress, &mut |vector, groups| by_vector[vector] = groups.to_vec());
    by_vector.iter_mut().for_each(|groups| groups.sort_unstable());
    let boxes =
        join.vectors.of_row.iter().map(|&vector| by_vector[vector as usize].clone()).collect();
    Ok(Membership { boxes, of_row: join.groups.of_row.clone() })
}
