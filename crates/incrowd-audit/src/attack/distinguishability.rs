//! Distinguishability: an adversary who knows the outliers looks for groups that must contain one.
//!
//! Paper: `wang2009`, Definition 4.1 with Theorems 4.1 and 4.2. The adversary knows all
//! quasi-identifiers and the set of outliers, and can test whether a tuple would be an outlier.
//! Take a known outlier o and a group that matches o. Let h be the number of known outliers that
//! match the group, and l the number of published values that make o an outlier. If the group must
//! contain an outlier, o is in it with probability 1/h and has a certain value with probability
//! 1/l. Otherwise the paper defines both as 0.
//!
//! Three modes of inferring that a group must contain an outlier:
//! - *corner*: some value is bad at every corner, or some corner is bad with every value;
//! - *literal*: the theorems as printed: such a value, and o is distance-constrained; or such a
//!   corner that dominates o;
//! - *candidate*: the values cannot be assigned one to one to matching people such that nobody is
//!   an outlier. Only this mode is sound.
//!
//! Where we differ: Theorem 4.1 is wrong, so the literal mode makes false inferences. Boxes may
//! overlap, so o is tested in every matching group and the greatest risk counts. Distances to other
//! records exclude o's own record. A leakage of 0 where nothing is proved is not informative. A
//! second finding therefore reports what the adversary learns about an outlier who is known to be
//! in the data: the values of all matching groups that make o an outlier.

use std::collections::BTreeMap;

use incrowd_core::group::merge_equal;
use incrowd_core::outlier::{Bits, Matrix, Outliers, Settings, Standing};
use incrowd_core::{Code, Dataset, Param, Progress, Region, Result};

use super::finding::{Alarm, Answer, CHANCE, Finding, Quantity, Risks};
use super::projections::{self, Projected, Projections};
use super::{Adversary, Card, Need, Subject};
use crate::original::Original;

const NEEDS: &str = "the original table (`[judging] original`) and a definition of outliers: from \
                     the manifest of a release made under plain-k-anonymity, or from \
                     `[attack] outliers` (p=0.8,d=0.85)";

const THRESHOLD: Param = Param::number("threshold", 0.0, 1.0)
    .or("0.2")
    .about("an outlier whose value is guessed with a greater chance counts as at risk");

/// The attack of the paper.
pub(super) const CARD: Card = Card {
    name: "distinguishability",
    paper: "wang2009",
    about: "An adversary knows the outliers and looks for a group that must contain one: a \
            published value would make every corner of the group's box an outlier, or a corner \
            would be an outlier with every value. The risk of a matching outlier is 1 over the \
            number of published values that make the person an outlier.",
    limits: "The paper infers from corners, which are usually not people. Its Theorem 4.1 is \
             wrong, so this is an upper bound of what can be proved; the mode `candidate` is \
             exact. If nothing can be proved, the paper defines the risk as 0. This is wrong for \
             an adversary who knows that a person is in the data: see outlier-values. The findings \
             count outliers and must not be published.",
    subject: Subject::People,
    needs: &[Need::Original, Need::Outliers],
    uses: &[],
    needs_text: NEEDS,
    params: &[THRESHOLD],
    limit: Quantity::Worst,
    run: |adversary, threshold, progress| run(adversary, threshold, progress, Leak::Proved),
};

/// The risk that the paper's definition omits.
pub(super) const CONDITIONAL: Card = Card {
    name: "outlier-values",
    paper: "wang2009",
    about: "An adversary knows that an outlier is in the data. The person's value is one of the \
            values of all matching groups that make the person an outlier. The risk is 1 over \
            their number. The paper defines this risk as 0. Additional numbers assume that the \
            adversary also knows on which attributes, up to three together, the person is an \
            outlier.",
    limits: "The values are treated as equally likely. The findings count outliers and must not be \
             published. The parameter outlier_diversity of plain-k-anonymity bounds the risk.",
    subject: Subject::People,
    needs: &[Need::Original, Need::Outliers],
    uses: &[],
    needs_text: NEEDS,
    params: &[THRESHOLD],
    limit: Quantity::Worst,
    run: |adversary, threshold, progress| run(adversary, threshold, progress, Leak::Conditional),
};

#[derive(Clone, Copy, PartialEq)]
enum Leak {
    Proved,
    Conditional,
}

/// Leakage about an outlier in one mode of inference.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Leakage {
    /// Probability that the outlier is in the release.
    pub presence: f64,
    /// Probability of guessing the outlier's value.
    pub association: f64,
}

/// Result for the outliers with one combination of quasi-identifiers.
#[derive(Clone, Debug, PartialEq)]
pub struct Distinguished {
    /// A row of the original with this combination.
    pub row: usize,
    /// Number of these outliers.
    pub people: u64,
    /// Leakage in the modes corner, literal and candidate.
    pub leakage: [Leakage; 3],
    /// Number of possible values for an outlier who is known to be in the data.
    pub values: u64,
    /// Whether a group matches.
    pub fits: bool,
    /// Number of possible values if the attributes of the outlier are known too.
    pub projected: Projected,
}

/// Names of the three modes.
pub const MODES: [&str; 3] = ["corner", "literal", "candidate"];

fn run(
    adversary: &Adversary<'_>,
    threshold: f64,
    progress: &dyn Progress,
    leak: Leak,
) -> Result<Answer> {
    let name = if leak == Leak::Proved { CARD.name } else { CONDITIONAL.name };
    let Some((data, settings)) = adversary.original.filter(|(_, settings)| !settings.is_empty())
    else {
        return Ok(Answer::skip(name, None, format!("needs {NEEDS}")));
    };
    let original = Original::read(adversary.release.table, data, progress)?;
    let mut answer = Answer::default();
    for settings in settings {
        let found = distinguish(&original, adversary, settings, progress)?;
        let column = Outliers::new(data, settings)?.column();
        let column = data.sensitive()[column].name.as_str();
        let finding = match leak {
            Leak::Proved => proved(&found, column, threshold),
            Leak::Conditional => conditional(&found, column, threshold),
        };
        answer = answer.and(Answer::one(finding));
    }
    Ok(answer)
}

fn proved(found: &[Distinguished], column: &str, threshold: f64) -> Finding {
    let mut risks = Risks::default();
    found.iter().for_each(|o| risks.add(o.leakage[0].association, o.people));
    let measures = "chance of guessing an outlier's value, inferred from corners";
    let mut finding =
        risks.finding(CARD.name, Some(column), measures, CHANCE, Alarm::Above(threshold));
    finding.people = "outliers";
    finding.owner_only = true;
    let greatest = |of: &dyn Fn(&Distinguished) -> f64| found.iter().map(of).fold(0.0, f64::max);
    let names: [[(&'static str, &'static str); 3]; 3] = [
        [
            ("inferred_corner", "outliers for whom a group is inferred, mode corner"),
            ("presence_corner", "greatest chance of presence, mode corner"),
            ("association_corner", "greatest chance of guessing a value, mode corner"),
        ],
        [
            ("inferred_literal", "outliers for whom a group is inferred, mode literal"),
            ("presence_literal", "greatest chance of presence, mode literal"),
            ("association_literal", "greatest chance of guessing a value, mode literal"),
        ],
        [
            ("inferred_candidate", "outliers for whom a group is proved, mode candidate"),
            ("presence_candidate", "greatest chance of presence, mode candidate"),
            ("association_candidate", "greatest chance of guessing a value, mode candidate"),
        ],
    ];
    for (mode, [inferred, presence, association]) in names.into_iter().enumerate() {
        let people: u64 =
            found.iter().filter(|o| o.leakage[mode].presence > 0.0).map(|o| o.people).sum();
        finding.add_fact(inferred.0, inferred.1, people as f64);
        finding.add_fact(presence.0, presence.1, greatest(&|o| o.leakage[mode].presence));
        finding.add_fact(association.0, association.1, greatest(&|o| o.leakage[mode].association));
    }
    finding
}

fn conditional(found: &[Distinguished], column: &str, threshold: f64) -> Finding {
    let chance = |values: u64| if values == 0 { 0.0 } else { 1.0 / values as f64 };
    let mut risks = Risks::default();
    found.iter().filter(|o| o.fits).for_each(|o| risks.add(chance(o.values), o.people));
    let measures = "chance of guessing the value of an outlier who is known to be in the data";
    let mut finding =
        risks.finding(CONDITIONAL.name, Some(column), measures, CHANCE, Alarm::Above(threshold));
    finding.people = "outliers who match a group";
    finding.owner_only = true;
    let unmatched: u64 = found.iter().filter(|o| !o.fits).map(|o| o.people).sum();
    finding.add_fact("fit_no_group", "outliers who match no group", unmatched as f64);
    let matching: Vec<(&Projected, u64)> =
        found.iter().filter(|o| o.fits).map(|o| (&o.projected, o.people)).collect();
    projections::add_facts(&mut finding, &matching);
    finding
}

/// A group of the release as the adversary sees it.
struct GroupView {
    /// The published values, as ranks.
    values: Bits,
    matrix: Option<Matrix>,
    /// Whether no outlier is inferred in mode corner.
    plain: bool,
    /// Whether an outlier is proved in mode candidate.
    proved: bool,
    /// Number of known outliers who match the group.
    outliers: u64,
}

/// The known outliers with one combination of quasi-identifiers.
struct KnownOutliers<'a> {
    codes: &'a [u32],
    row: usize,
    people: u64,
    /// Ranks of their sensitive values.
    own: Vec<u32>,
    /// The groups that match.
    groups: Vec<u32>,
}

/// Returns the outliers of the original by combination of quasi-identifiers.
fn known_outliers<'a>(data: &'a Dataset, outliers: &Outliers) -> Vec<KnownOutliers<'a>> {
    let mut known: BTreeMap<&[u32], KnownOutliers<'a>> = BTreeMap::new();
    for row in (0..data.rows()).filter(|&row| outliers.standing(row) != Standing::Ordinary) {
        let codes = data.quasi_codes(row);
        let entry = known.entry(codes).or_insert_with(|| KnownOutliers {
            codes,
            row,
            people: 0,
            own: Vec::new(),
            groups: Vec::new(),
        });
        entry.people += data.weight(row);
        entry.own.push(outliers.rank(data.sensitive_codes(row)[outliers.column()]));
    }
    known.into_values().collect()
}

/// Reads all groups of the release and enters them at the outliers who match them.
fn group_views(
    original: &Original<'_>,
    adversary: &Adversary<'_>,
    outliers: &Outliers,
    known: &mut [KnownOutliers<'_>],
    progress: &dyn Progress,
) -> Vec<GroupView> {
    let summaries = original.summaries(adversary.release.table);
    progress.step("examining groups", Some(summaries.len() as u64));
    let mut groups = Vec::with_capacity(summaries.len());
    for (g, summary) in summaries.iter().enumerate() {
        progress.advance(1);
        let region = &original.regions()[g];
        let entries = summary.sensitive[outliers.column()].entries();
        let mut list: Vec<(u32, u64)> =
            entries.iter().map(|&(code, n)| (outliers.rank(code), n)).collect();
        list.sort_unstable();
        merge_equal(&mut list);
        let values = Bits::of(outliers.values().len(), list.iter().map(|entry| entry.0));
        let mut matching = 0;
        for o in known.iter_mut().filter(|o| region.covers(o.codes)) {
            o.groups.push(g as u32);
            matching += o.people;
        }
        groups.push(GroupView {
            matrix: outliers.matrix(region, &values),
            plain: outliers.plain(region, &values).is_ok(),
            proved: matching > 0 && !outliers.assignable(region, &list),
            values,
            outliers: matching,
        });
    }
    groups
}

/// Attacks all outliers of the original. The result has one entry per combination of
/// quasi-identifiers.
pub fn distinguish(
    original: &Original<'_>,
    adversary: &Adversary<'_>,
    settings: &Settings,
    progress: &dyn Progress,
) -> Result<Vec<Distinguished>> {
    let data = original.data();
    let outliers = Outliers::new(data, settings)?;
    let mut known = known_outliers(data, &outliers);
    let groups = group_views(original, adversary, &outliers, &mut known, progress);
    let others = Others::new(data, &outliers);
    let projections = Projections::new(data, &outliers, settings)?;
    let mut found = Vec::with_capacity(known.len());
    progress.step("attacking outliers", Some(known.len() as u64));
    for o in known {
        progress.advance(1);
        let place: Vec<f64> =
            outliers.attributes().map(|q| data.quasi()[q].domain.place(Code(o.codes[q]))).collect();
        let good = outliers.good_at(&place);
        let mut leakage = [Leakage::default(); 3];
        // The published values of all matching groups.
        let mut published = Bits::none(outliers.values().len());
        for &g in &o.groups {
            let group = &groups[g as usize];
            published.join(&group.values);
            let bad = group.values.without(&good).count();
            let region = &original.regions()[g as usize];
            let corner = !group.plain;
            let literal = match &group.matrix {
                Some(matrix) => {
                    !matrix.bad_values.is_empty() && others.constrained(region, &place)
                        || matrix.bad_corners.iter().any(|corner| others.dominates(corner, &place))
                }
                None => corner,
            };
            for (leak, inferred) in leakage.iter_mut().zip([corner, literal, group.proved]) {
                if inferred && bad > 0 {
                    leak.presence = leak.presence.max(1.0 / group.outliers as f64);
                    leak.association = leak.association.max(1.0 / bad as f64);
                }
            }
        }
        let possible = published.without(&good);
        let projected = projections.left(data, o.codes, &o.own, &possible);
        found.push(Distinguished {
            row: o.row,
            people: o.people,
            leakage,
            values: possible.count(),
            fits: !o.groups.is_empty(),
            projected,
        });
    }
    Ok(found)
}

/// For each distance attribute, the positions of all records in ascending order, with their counts.
struct Others {
    attributes: Vec<usize>,
    places: Vec<Vec<(f64, u64)>>,
}

impl Others {
    fn new(data: &Dataset, outliers: &Outliers) -> Others {
        let attributes: Vec<usize> = outliers.attributes().collect();
        let places = attributes.iter().map(|&q| {
            let mut counts = vec![0u64; data.quasi()[q].domain.leaves() as usize];
            (0..data.rows())
                .for_each(|row| counts[data.quasi_codes(row)[q] as usize] += data.weight(row));
            let used = counts.iter().enumerate().filter(|(_, n)| **n > 0);
            let mut list: Vec<(f64, u64)> = used
                .map(|(code, &n)| (data.quasi()[q].domain.place(Code(code as u32)), n))
                .collect();
            list.sort_by(|a, b| a.0.total_cmp(&b.0));
            list
        });
        Others { places: places.collect(), attributes }
    }

    /// Returns the positions on an attribute of all records except one record at `own`.
    fn without(&self, axis: usize, own: f64) -> impl DoubleEndedIterator<Item = f64> + '_ {
        self.places[axis].iter().filter(move |(x, n)| *x != own || *n > 1).map(|(x, _)| *x)
    }

    /// Definition 4.3: on no attribute, another record is nearer to o than to both ends of the box.
    fn constrained(&self, region: &Region, place: &[f64]) -> bool {
        (0..self.attributes.len()).all(|axis| {
            let (lo, hi) = region.extents[self.attributes[axis]].ends;
            let o = place[axis];
            !self.without(axis, o).any(|t| o + lo < 2.0 * t && 2.0 * t < o + hi)
        })
    }

    /// The condition of Theorem 4.2: on every attribute, all other records are at least as near to
    /// the corner as to o.
    fn dominates(&self, corner: &[f64], place: &[f64]) -> bool {
        (0..self.attributes.len()).all(|axis| {
            let (c, o) = (corner[axis], place[axis]);
            self.without(axis, o).all(|t| (o - t).abs() >= (c - t).abs())
        })
    }
}
