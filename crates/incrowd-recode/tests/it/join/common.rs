//! Tables of points of which the first are microdata.

use incrowd_core::model::{BoundModel, PrivacyModel};
use incrowd_core::{ColumnSpec, Dataset, Folded, Kind, Silent, Value};
use incrowd_recode::Algorithm;
use incrowd_recode::join::boxes::Boxes;
use incrowd_recode::join::{JoinAlgorithm, JoinOutcome, JoinRules, direct, refinement};

/// Points, the first `microdata` of which are microdata. Each is one row, even if they are equal.
pub(crate) struct Points {
    pub(crate) data: Dataset,
    pub(crate) microdata: usize,
}

/// Returns a table in which every number from 0 to the width of the domain is a leaf.
fn all_leaves(domain: &[u32]) -> Dataset {
    let names: Vec<String> = (0..domain.len()).map(|i| format!("q{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let most = domain.iter().max().copied().unwrap_or(0);
    let texts: Vec<Vec<String>> = (0..=most)
        .map(|n| domain.iter().map(|&width| n.min(width).to_string()).collect())
        .collect();
    let records = texts.iter().map(|row| row.iter().map(|text| Some(text.as_str())).collect());
    let spec = ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() };
    Dataset::encode(
        Folded::from_records(&names, records, true),
        &vec![&spec; domain.len()],
        &[],
        "?",
    )
    .unwrap()
}

impl Points {
    pub(crate) fn new(points: &[Vec<u32>], microdata: usize, domain: &[u32]) -> Points {
        let leaves = all_leaves(domain);
        let before = leaves.rows();
        let codes = points.concat();
        let data = leaves.extended(&codes, &vec![1; points.len()]);
        // The rows that define the leaves are not points.
        Points { data: data.some_rows(before, data.rows()), microdata }
    }

    /// Returns the microdata, with the same domains.
    pub(crate) fn own(&self) -> Dataset {
        self.data.first_rows(self.microdata)
    }
}

pub(crate) fn k_anonymity(k: u64) -> PrivacyModel {
    PrivacyModel::new("k-anonymity", [("k".to_owned(), Value::Integer(k as i64))]).unwrap()
}

pub(crate) fn bound(privacy_model: &PrivacyModel, data: &Dataset) -> Vec<Box<dyn BoundModel>> {
    vec![privacy_model.model.bind(data).unwrap()]
}

/// Returns the groups of the microdata without external rows, as sorted rows.
pub(crate) fn alone(algorithm: &dyn Algorithm, points: &Points, k: u64) -> Vec<Vec<u32>> {
    let own = points.own();
    let partition = algorithm.recode(&own, &bound(&k_anonymity(k), &own), 0, &Silent).unwrap();
    let mut groups = partition.members(own.rows());
    groups.sort();
    groups
}

pub(crate) fn run_direct(algorithm: &dyn JoinAlgorithm, points: &Points, k: u64) -> JoinOutcome {
    let models = bound(&k_anonymity(k), &points.data);
    direct(algorithm, &points.data, &JoinRules::new(points.microdata, k, &models), &Silent).unwrap()
}

pub(crate) fn run_refinement<A: Algorithm + JoinAlgorithm>(
    algorithm: &A,
    points: &Points,
    k: u64,
) -> JoinOutcome {
    let own = points.own();
    let models = bound(&k_anonymity(k), &own);
    let partition = algorithm.recode(&own, &models, 0, &Silent).unwrap();
    let groups = partition.members(own.rows());
    let spans: Vec<_> = (0..partition.groups() as u32)
        .map(|g| partition.spans(incrowd_core::GroupId(g)).to_vec())
        .collect();
    let boxes = Boxes::new(&points.data, spans.iter().map(Vec::as_slice));
    let rules = JoinRules::new(points.microdata, k, &models);
    refinement(algorithm, &points.data, groups, &boxes, &rules, &Silent).unwrap()
}

/// Returns the groups as sorted rows.
pub(crate) fn groups(outcome: &JoinOutcome) -> Vec<Vec<u32>> {
    let mut groups: Vec<Vec<u32>> = outcome.groups.iter().map(|group| group.rows.clone()).collect();
    groups.sort();
    groups
}

/// Returns the sum of the perimeters over the microdata, and the sum of the squared numbers of
/// microdata.
pub(crate) fn costs(outcome: &JoinOutcome, points: &Points) -> (f64, u64) {
    let partition = outcome.partition(&points.data).unwrap();
    let rules = JoinRules::new(points.microdata, 1, &[]);
    let own = outcome.microdata(&points.data, &rules);
    let mut ncp = 0.0;
    for (group, &own) in own.iter().enumerate() {
        let spans =
            partition.spans(incrowd_core::GroupId(group as u32)).iter().zip(points.data.quasi());
        ncp +=
            own as f64 * spans.map(|(span, quasi)| quasi.domain.ncp(span.lo, span.hi)).sum::<f64>();
    }
    (ncp, own.iter().map(|n| n * n).sum())
}
