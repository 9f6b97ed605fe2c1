//! Refinement: groups the microdata, then divides each group together with the external people in
//! its box.
//!
//! Paper: `sacharidis2010`, section 4. Every published box is inside the box of a group of the
//! microdata, and all boxes of that group share its sensitive values. So the sensitive values
//! reveal no more than the k-anonymous table would.
//!
//! Differences from the paper: an external person in several boxes is assigned to the one with the
//! least perimeter, the first of several.

use incrowd_core::{Dataset, Progress, Result};
use rayon::prelude::*;

use super::boxes::Boxes;
use super::{Card, Grouping, JoinAlgorithm, JoinOutcome, JoinRules};

/// The description for `explain`.
pub(super) const CARD: Card = Card {
    name: "refinement",
    paper: "sacharidis2010",
    about: "Method of k-join-anonymity: the algorithm groups the microdata alone, then each group \
            again together with the people of the external table in its box. Sensitive values stay \
            with the groups of the first round, so they reveal what plain k-anonymity would \
            reveal. Only external people inside boxes matter, so the external table may be far \
            larger than memory.",
    limits: "It requires at least k records of microdata. The first round does not know the \
             external table, and the second cannot correct its cuts.",
};

/// Divides the groups of the microdata. Rows of `data` from `microdata` on are external. Those in
/// no box are left out.
pub fn refinement(
    algorithm: &dyn JoinAlgorithm,
    data: &Dataset,
    groups: Vec<Vec<u32>>,
    boxes: &Boxes,
    rules: &JoinRules<'_>,
    progress: &dyn Progress,
) -> Result<JoinOutcome> {
    let mut groups = groups;
    let external: Vec<u32> =
        (0..data.rows() as u32).filter(|&row| !rules.is_microdata(row)).collect();
    let places: Vec<Option<u32>> =
        external.par_iter().map(|&row| boxes.smallest(data.quasi_codes(row as usize))).collect();
    for (row, place) in external.into_iter().zip(places) {
        if let Some(place) = place {
            groups[place as usize].push(row);
        }
    }
    progress.step("refining", Some(groups.iter().map(|rows| rows.len() as u64).sum()));
    // Within a group of the microdata all boxes belong to one sensitive group, with any models.
    let rules = JoinRules { models: &[], watched: Vec::new(), ..*rules };
    let refine = |rows: &Vec<u32>| algorithm.group(data, rows, &rules, progress);
    let refined = groups.par_iter().map(refine).collect::<Result<Vec<Grouping>>>()?;
    let mut outcome = JoinOutcome::default();
    refined.iter().for_each(|grouping| outcome.add(grouping, true));
    Ok(outcome)
}
