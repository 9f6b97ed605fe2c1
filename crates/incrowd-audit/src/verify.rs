//! Verification: does the release keep its promises?

use incrowd_core::model::{Need, Promise};
use incrowd_core::{Dataset, Params, Result};

use crate::group::groups;

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
}

impl Verification {
    /// Whether every promise is kept.
    pub fn holds(&self) -> bool {
        self.judgements.iter().all(|judgement| judgement.holds)
    }
}

/// Judges every promise anew on the released cells. An empty release keeps every promise about groups, since it has none;
/// callers that expect records must look at their number.
pub fn verify(release: &Dataset, promises: &[Promise]) -> Result<Verification> {
    let sensitive = promises.iter().any(|p| p.model.card().needs.contains(&Need::Sensitive));
    let groups = groups(release, sensitive);
    let mut judgements = Vec::with_capacity(promises.len());
    for promise in promises {
        let model = promise.model.bind(release)?;
        let mut judgement = Judgement {
            name: promise.name(),
            title: promise.title(),
            params: promise.params.clone(),
            holds: true,
            measures: model.measures(),
            have: 0.0,
            need: 0.0,
            margin: f64::INFINITY,
            failing: 0,
        };
        for group in &groups {
            let verdict = model.admits(group);
            judgement.failing += u64::from(!verdict.holds);
            if verdict.margin() < judgement.margin {
                (judgement.have, judgement.need, judgement.margin) =
                    (verdict.have, verdict.need, verdict.margin());
            }
        }
        judgement.holds = judgement.failing == 0;
        judgements.push(judgement);
    }
    Ok(Verification { judgements, groups: groups.len() as u64, records: release.records() })
}
