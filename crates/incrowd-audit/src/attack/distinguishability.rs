//! Distinguishability: whoever knows who is an outlier looks for the group that must hide one.
//!
//! Paper: `wang2009`, Definition 4.1 with Theorems 4.1 and 4.2. The adversary knows everybody's quasi-identifiers and who is
//! an outlier, and can tell whether a tuple would be one. For a known outlier o and a group that o fits, with h known
//! outliers who fit and l published values that make an outlier of o: if the group must hide an outlier, o is in it with
//! probability 1/h and has a certain value with probability 1/l; else the paper calls both 0.
//!
//! Three ways to conclude that a group must hide an outlier:
//! - *corner*: some value is bad at every corner, or some corner with every value;
//! - *literal*: the theorems as printed: such a value and o is distance-constrained, or such a corner that dominates o;
//! - *candidate*: the values cannot be given one by one to people who fit so that nobody is an outlier. Only this is sound.
//!
//! Where we differ: Theorem 4.1 is wrong, so the literal way proves things that are not so; boxes may overlap, so o is judged
//! in every group that fits and the worst counts; other records range over the table without o's own. That leakage is 0 where
//! nothing is proved says little, so a second finding tells what the same adversary knows of somebody who is known to have
//! taken part: the values of all groups that fit which make an outlier of o.

use std::collections::BTreeMap;

use incrowd_core::outlier::{Bits, Matrix, Outliers, Settings, Standing};
use incrowd_core::{Code, Dataset, Param, ParamKind, Progress, Region, Result};

use super::finding::{Alarm, Answer, CHANCE, Finding, Quantity, Risks};
use super::projections::{self, Projected, Projections};
use super::{Adversary, Card, Need, Subject};
use crate::original::Original;

const NEEDS: &str = "the original table (`[judging] original`) and what an outlier is: a release made under plain-k-anonymity says it in its \
                     manifest, else `[attack] outliers` (p=0.8,d=0.85)";

const THRESHOLD: Param = Param {
    name: "threshold",
    kind: ParamKind::Number(0.0, 1.0),
    default: Some("0.2"),
    about: "an outlier whose value is guessed with more than this chance counts as at risk",
};

/// The attack of the paper.
pub(super) const CARD: Card = Card {
    name: "distinguishability",
    paper: "wang2009",
    about: "Somebody knows who is an outlier and looks for a group that must hide one, because a published value would make an \
            outlier of everybody at its corners, or a corner would be one with every value. The risk of an outlier who fits is \
            1 over the number of published values that fit an outlier.",
    limits: "The paper infers from corners, which are mostly nobody: its Theorem 4.1 is wrong, so this is an upper bound of what \
             can be proved and the mode `candidate` the truth. Where nothing can be proved the paper calls the risk 0, which says \
             nothing about an adversary who knows that somebody took part: see outlier-values. The findings count outliers, so \
             they are not for publication.",
    subject: Subject::People,
    needs: &[Need::Original, Need::Outliers],
    uses: &[],
    needs_text: NEEDS,
    params: &[THRESHOLD],
    limit: Quantity::Worst,
    run: |adversary, threshold, progress| run(adversary, threshold, progress, Leak::Proved),
};

/// What the paper's definition hides.
pub(super) const CONDITIONAL: Card = Card {
    name: "outlier-values",
    paper: "wang2009",
    about: "Somebody knows that an outlier took part. The value is then one of those, in all groups that fit, that make an \
            outlier of that person; the risk is 1 over how many they are. This is the risk that the paper's \
            \"probability 0\" hides. Further figures say what is left if it is also known on which attributes, up to three \
            together, that person stands out.",
    limits: "It takes the values as equally likely. The findings count outliers, so they are not for publication. The parameter \
             outlier_diversity of plain-k-anonymity bounds it.",
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

/// What one way of concluding leaks about an outlier.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Leakage {
    /// The chance that the outlier is in the release.
    pub presence: f64,
    /// The chance of naming the outlier's value.
    pub association: f64,
}

/// What is learned about outliers with the same quasi-identifiers.
#[derive(Clone, Debug, PartialEq)]
pub struct Distinguished {
    /// A row of the original with these quasi-identifiers.
    pub row: usize,
    /// How many outliers they are.
    pub people: u64,
    /// Leakage by the modes corner, literal and candidate.
    pub leakage: [Leakage; 3],
    /// How many different values are left for somebody who is known to have taken part.
    pub values: u64,
    /// Whether some group fits.
    pub fits: bool,
    /// The same where the adversary also knows on which attributes somebody stands out.
    pub projected: Projected,
}

/// The names of the three modes.
pub const MODES: [&str; 3] = ["corner", "literal", "candidate"];

fn run(adversary: &Adversary<'_>, threshold: f64, progress: &dyn Progress, leak: Leak) -> Result<Answer> {
    let name = if leak == Leak::Proved { CARD.name } else { CONDITIONAL.name };
    let Some((data, settings)) = adversary.original.filter(|(_, settings)| !settings.is_empty()) else {
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
    let measures = "chance of naming an outlier's value, concluded from corners";
    let mut finding = risks.finding(CARD.name, Some(column), measures, CHANCE, Alarm::Above(threshold));
    finding.people = "outliers";
    finding.owner_only = true;
    let greatest = |of: &dyn Fn(&Distinguished) -> f64| found.iter().map(of).fold(0.0, f64::max);
    let names: [[(&'static str, &'static str); 3]; 3] = [
        [
            ("inferred_corner", "outliers of whom a group is inferred, mode corner"),
            ("presence_corner", "greatest chance of presence, mode corner"),
            ("association_corner", "greatest chance of naming a value, mode corner"),
        ],
        [
            ("inferred_literal", "outliers of whom a group is inferred, mode literal"),
            ("presence_literal", "greatest chance of presence, mode literal"),
            ("association_literal", "greatest chance of naming a value, mode literal"),
        ],
        [
            ("inferred_candidate", "outliers of whom a group is proved, mode candidate"),
            ("presence_candidate", "greatest chance of presence, mode candidate"),
            ("association_candidate", "greatest chance of naming a value, mode candidate"),
        ],
    ];
    for (mode, [inferred, presence, association]) in names.into_iter().enumerate() {
        let people: u64 = found.iter().filter(|o| o.leakage[mode].presence > 0.0).map(|o| o.people).sum();
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
    let measures = "chance of naming the value of an outlier who is known to have taken part";
    let mut finding =
        risks.finding(CONDITIONAL.name, Some(column), measures, CHANCE, Alarm::Above(threshold));
    finding.people = "outliers who fit a group";
    finding.owner_only = true;
    let unfit: u64 = found.iter().filter(|o| !o.fits).map(|o| o.people).sum();
    finding.add_fact("fit_no_group", "outliers who fit no group", unfit as f64);
    let fitting: Vec<(&Projected, u64)> =
        found.iter().filter(|o| o.fits).map(|o| (&o.projected, o.people)).collect();
    projections::add_facts(&mut finding, &fitting);
    finding
}

/// What a group says.
struct Seen {
    values: Bits,
    matrix: Option<Matrix>,
    plain: bool,
    proved: bool,
    outliers: u64,
}

/// Attacks every known outlier of the original, one entry for each combination of quasi-identifiers.
pub fn distinguish(
    original: &Original<'_>,
    adversary: &Adversary<'_>,
    settings: &Settings,
    progress: &dyn Progress,
) -> Result<Vec<Distinguished>> {
    let data = original.data();
    let outliers = Outliers::new(data, settings)?;
    let mut known: BTreeMap<&[u32], (usize, u64, bool, Vec<u32>)> = BTreeMap::new();
    for row in 0..data.rows() {
        let stands_out = outliers.standing(row) != Standing::Ordinary;
        let entry = known.entry(data.quasi_codes(row)).or_insert((row, 0, false, Vec::new()));
        if stands_out {
            entry.1 += data.weight(row);
            entry.2 = true;
            entry.3.push(outliers.rank(data.sensitive_codes(row)[outliers.column()]));
        }
    }
    let known: Vec<(&[u32], usize, u64, Vec<u32>)> = known
        .into_iter()
        .filter(|(_, entry)| entry.2)
        .map(|(codes, (row, people, _, own))| (codes, row, people, own))
        .collect();
    let summaries = original.summaries(adversary.release.table);
    progress.step("looking at groups", Some(summaries.len() as u64));
    let mut groups = Vec::with_capacity(summaries.len());
    let mut fitting: Vec<Vec<u32>> = vec![Vec::new(); known.len()];
    for (g, summary) in summaries.iter().enumerate() {
        progress.advance(1);
        let region = &original.regions()[g];
        let entries = summary.sensitive[outliers.column()].entries();
        let mut list: Vec<(u32, u64)> = entries.iter().map(|&(code, n)| (outliers.rank(code), n)).collect();
        list.sort_unstable();
        list.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        let values = Bits::of(outliers.values().len(), list.iter().map(|entry| entry.0));
        let mut here = 0;
        for (at, (codes, _, people, _)) in known.iter().enumerate() {
            if region.covers(codes) {
                fitting[at].push(g as u32);
                here += people;
            }
        }
        groups.push(Seen {
            matrix: outliers.matrix(region, &values),
            plain: outliers.plain(region, &values).is_ok(),
            proved: here > 0 && !outliers.assignable(region, &list),
            values,
            outliers: here,
        });
    }
    let others = Others::new(data, &outliers);
    let projections = Projections::new(data, &outliers, settings)?;
    let mut found = Vec::with_capacity(known.len());
    progress.step("attacking outliers", Some(known.len() as u64));
    for (at, (codes, row, people, own)) in known.into_iter().enumerate() {
        progress.advance(1);
        let place: Vec<f64> =
            outliers.attributes().map(|q| data.quasi()[q].domain.place(Code(codes[q]))).collect();
        let good = outliers.good_at(&place);
        let mut leakage = [Leakage::default(); 3];
        let mut left = Bits::none(outliers.values().len());
        for &g in &fitting[at] {
            let seen = &groups[g as usize];
            let bad: Vec<u32> = seen.values.ranks().filter(|&rank| !good.get(rank)).collect();
            bad.iter().for_each(|&rank| left.set(rank));
            let region = &original.regions()[g as usize];
            let corner = !seen.plain;
            let literal = match &seen.matrix {
                Some(matrix) => {
                    !matrix.bad_values.is_empty() && others.constrained(region, &place)
                        || matrix.bad_corners.iter().any(|corner| others.dominates(corner, &place))
                }
                None => corner,
            };
            for (leak, inferred) in leakage.iter_mut().zip([corner, literal, seen.proved]) {
                if inferred && !bad.is_empty() {
                    leak.presence = leak.presence.max(1.0 / seen.outliers as f64);
                    leak.association = leak.association.max(1.0 / bad.len() as f64);
                }
            }
        }
        let mut here = Bits::none(outliers.values().len());
        fitting[at].iter().for_each(|&g| here.join(&groups[g as usize].values));
        let projected = projections.left(data, codes, &own, &here.without(&good));
        let fits = !fitting[at].is_empty();
        found.push(Distinguished { row, people, leakage, values: left.count(), fits, projected });
    }
    Ok(found)
}

/// For each distance attribute the places of all records, ascending, with how many have each.
struct Others {
    attributes: Vec<usize>,
    places: Vec<Vec<(f64, u64)>>,
}

impl Others {
    fn new(data: &Dataset, outliers: &Outliers) -> Others {
        let attributes: Vec<usize> = outliers.attributes().collect();
        let places = attributes.iter().map(|&q| {
            let mut counts = vec![0u64; data.quasi()[q].domain.leaves() as usize];
            (0..data.rows()).for_each(|row| counts[data.quasi_codes(row)[q] as usize] += data.weight(row));
            let used = counts.iter().enumerate().filter(|(_, n)| **n > 0);
            let mut list: Vec<(f64, u64)> =
                used.map(|(code, &n)| (data.quasi()[q].domain.place(Code(code as u32)), n)).collect();
            list.sort_by(|a, b| a.0.total_cmp(&b.0));
            list
        });
        Others { places: places.collect(), attributes }
    }

    /// The places on an attribute of all records but one at `own`.
    fn without(&self, axis: usize, own: f64) -> impl DoubleEndedIterator<Item = f64> + '_ {
        self.places[axis].iter().filter(move |(x, n)| *x != own || *n > 1).map(|(x, _)| *x)
    }

    /// Definition 4.3: nobody else lies, on any attribute, nearer to o than to both ends of the box.
    fn constrained(&self, region: &Region, place: &[f64]) -> bool {
        (0..self.attributes.len()).all(|axis| {
            let (lo, hi) = region.extents[self.attributes[axis]].ends;
            let o = place[axis];
            !self.without(axis, o).any(|t| o + lo < 2.0 * t && 2.0 * t < o + hi)
        })
    }

    /// The condition of Theorem 4.2: on every attribute everybody else is at least as near to the corner as to o.
    fn dominates(&self, corner: &[f64], place: &[f64]) -> bool {
        (0..self.attributes.len()).all(|axis| {
            let (c, o) = (corner[axis], place[axis]);
            self.without(axis, o).all(|t| (o - t).abs() >= (c - t).abs())
        })
    }
}
