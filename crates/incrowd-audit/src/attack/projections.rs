//! Adversaries who know on which attributes a person is an outlier.
//!
//! Paper: `wang2009`, named there as future work. A person may be an outlier on some attributes
//! only, e.g. a young professor by age and education. An adversary who knows these attributes, and
//! that the person is in the data, keeps only the values that make an outlier on them. All sets of
//! up to three distance attributes are considered. Each set has its own outlier structure and
//! scale. All sets of one size are skipped if the total would exceed one hundred.
//!
//! There are two adversaries. One knows one set on which the person is an outlier; the worst set of
//! each size is reported. The other knows for every set whether the person is an outlier on it.

use incrowd_core::outlier::{Bits, Outliers, Settings};
use incrowd_core::{Code, Dataset, Result};

use super::finding::Finding;

/// Maximum number of attributes in a set.
const LARGEST: usize = 3;
/// Maximum number of sets.
const SETS: usize = 100;

/// Number of possible values for adversaries who know on which attributes a person is an outlier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Projected {
    /// By the size of the set, from 1: the minimum over the sets on which the person is an outlier.
    /// `None` if there is no such set.
    pub by_size: Vec<Option<u64>>,
    /// For an adversary who knows for every set whether the person is an outlier on it. `None` if
    /// there are no sets.
    pub by_pattern: Option<u64>,
}

/// The outlier structures of all sets of attributes.
pub(super) struct Projections {
    largest: usize,
    sets: Vec<(Vec<usize>, Outliers)>,
}

impl Projections {
    /// Creates all proper subsets of the distance attributes, up to the limits.
    pub(super) fn new(
        data: &Dataset,
        outliers: &Outliers,
        settings: &Settings,
    ) -> Result<Projections> {
        let attributes: Vec<usize> = outliers.attributes().collect();
        let sensitive = &data.sensitive()[outliers.column()].name;
        let mut projections = Projections { largest: 0, sets: Vec::new() };
        for size in 1..attributes.len().min(LARGEST + 1) {
            let sets = subsets(&attributes, size);
            if projections.sets.len() + sets.len() > SETS {
                break;
            }
            for set in sets {
                let names: Vec<String> =
                    set.iter().map(|&q| data.quasi()[q].name.clone()).collect();
                let stated = |column: &String| names.contains(column) || column == sensitive;
                let bounds =
                    settings.bounds.iter().filter(|b| stated(&b.column)).cloned().collect();
                let settings = Settings { distance_attributes: names, bounds, ..settings.clone() };
                projections.sets.push((set, Outliers::new(data, &settings)?));
            }
            projections.largest = size;
        }
        Ok(projections)
    }

    /// Counts the remaining values of `bad` for people with these quasi-identifier codes, whose own
    /// values are `own`. `bad` contains the published values that make them outliers.
    pub(super) fn left(&self, data: &Dataset, codes: &[u32], own: &[u32], bad: &Bits) -> Projected {
        let mut by_size: Vec<Option<u64>> = vec![None; self.largest];
        let mut pattern: Vec<Bits> = own.iter().map(|_| bad.clone()).collect();
        let fewer =
            |known: Option<u64>, left: u64| Some(known.map_or(left, |known| known.min(left)));
        for (set, outliers) in &self.sets {
            let place: Vec<f64> =
                set.iter().map(|&q| data.quasi()[q].domain.place(Code(codes[q]))).collect();
            let good = outliers.good_at(&place);
            for (rank, left) in own.iter().zip(&mut pattern) {
                let ordinary = good.get(*rank);
                *left = if ordinary { left.and(&good) } else { left.without(&good) };
                if !ordinary {
                    let size = &mut by_size[set.len() - 1];
                    *size = fewer(*size, bad.without(&good).count());
                }
            }
        }
        let by_pattern = pattern.iter().map(Bits::count).fold(None, fewer);
        Projected { by_size, by_pattern: by_pattern.filter(|_| !self.sets.is_empty()) }
    }
}

/// Returns all subsets of a size in lexicographic order.
fn subsets(of: &[usize], size: usize) -> Vec<Vec<usize>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let with = |(at, &first): (usize, &usize)| {
        let rest = subsets(&of[at + 1..], size - 1);
        rest.into_iter().map(move |rest| [&[first], rest.as_slice()].concat())
    };
    of.iter().enumerate().flat_map(with).collect()
}

/// Key and description of a fact.
type Named = (&'static str, &'static str);

const FACTS: [[Named; 3]; LARGEST] = [
    [
        ("stand_out_on_1", "people who are outliers on a single distance attribute"),
        ("average_knowing_1", "average chance if that attribute is known too"),
        ("worst_knowing_1", "greatest chance if that attribute is known too"),
    ],
    [
        ("stand_out_on_2", "people who are outliers on two distance attributes together"),
        ("average_knowing_2", "average chance if those two are known too"),
        ("worst_knowing_2", "greatest chance if those two are known too"),
    ],
    [
        ("stand_out_on_3", "people who are outliers on three distance attributes together"),
        ("average_knowing_3", "average chance if those three are known too"),
        ("worst_knowing_3", "greatest chance if those three are known too"),
    ],
];

const PATTERN: [Named; 3] = [
    ("pattern_known", "outliers tested on every set of up to three distance attributes"),
    ("average_knowing_all", "average chance if it is known on which sets they are outliers"),
    ("worst_knowing_all", "greatest chance if it is known on which sets they are outliers"),
];

/// Adds the results for outliers who match a group. Each entry has a number of people.
pub(super) fn add_facts(finding: &mut Finding, found: &[(&Projected, u64)]) {
    let largest = found.iter().map(|(projected, _)| projected.by_size.len()).max().unwrap_or(0);
    for (size, facts) in FACTS.iter().enumerate().take(largest) {
        let left =
            found.iter().map(|(p, people)| (p.by_size.get(size).copied().flatten(), *people));
        add(finding, facts, left);
    }
    if largest > 0 {
        add(finding, &PATTERN, found.iter().map(|(p, people)| (p.by_pattern, *people)));
    }
}

fn add(finding: &mut Finding, facts: &[Named; 3], left: impl Iterator<Item = (Option<u64>, u64)>) {
    let (mut people, mut sum, mut worst) = (0u64, 0.0, 0.0_f64);
    for (values, count) in left {
        let Some(values) = values else { continue };
        let chance = if values == 0 { 0.0 } else { 1.0 / values as f64 };
        people += count;
        sum += chance * count as f64;
        worst = worst.max(chance);
    }
    finding.add_fact(facts[0].0, facts[0].1, people as f64);
    if people > 0 {
        finding.add_fact(facts[1].0, facts[1].1, sum / people as f64);
        finding.add_fact(facts[2].0, facts[2].1, worst);
    }
}
