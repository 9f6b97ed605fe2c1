//! Direct: group the join of microdata and external table as it is.
//!
//! Paper: `sacharidis2010`, section 4. Groups without microdata are given up.

use incrowd_core::{Dataset, Progress, Result};

use super::{Card, JoinAlgorithm, JoinOutcome, JoinRules};

/// The entry for `explain`.
pub(super) const CARD: Card = Card {
    name: "direct",
    paper: "sacharidis2010",
    about: "Method of k-join-anonymity: the algorithm groups everybody, people of the microdata and of the external table \
            alike, and groups without microdata are left out. Sensitive groups are made of neighbouring boxes until they \
            have k records of the microdata.",
    limits: "A box may hold a single person of the microdata, so its sensitive values are published for many boxes together \
             and say less about each than those of `refinement`. Without a sensitive column nothing published tells how \
             many rows are microdata, and counts cannot be estimated.",
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
