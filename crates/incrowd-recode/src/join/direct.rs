//! Direct: groups the join of microdata and external table.
//!
//! Paper: `sacharidis2010`, section 4. Groups without microdata are not published.

use incrowd_core::{Dataset, Progress, Result};

use super::{Card, JoinAlgorithm, JoinOutcome, JoinRules};

/// The description for `explain`.
pub(super) const CARD: Card = Card {
    name: "direct",
    paper: "sacharidis2010",
    about: "Method of k-join-anonymity: the algorithm groups the people of the microdata and of \
            the external table together, and groups without microdata are left out. Sensitive \
            groups consist of neighbouring boxes until they have k records of the microdata.",
    limits: "A box may contain a single person of the microdata, so its sensitive values are \
             published for many boxes together and are less informative about each than those of \
             `refinement`. Without a sensitive column the release does not show how many rows are \
             microdata, and counts cannot be estimated.",
};

/// Groups all rows of the join.
pub fn direct(
    algorithm: &dyn JoinAlgorithm,
    data: &Dataset,
    rules: &JoinRules<'_>,
    progress: &dyn Progress,
) -> Result<JoinOutcome> {
    let rows: Vec<u32> = (0..data.rows() as u32).collect();
    progress.step("dividing", Some(rows.len() as u64));
    let mut outcome = JoinOutcome::default();
    outcome.add(&algorithm.group(data, &rows, rules, progress)?, false);
    Ok(outcome)
}
