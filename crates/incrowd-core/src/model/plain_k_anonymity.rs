//! Plain k-anonymity: groups that do not reveal outliers.
//!
//! Paper: `wang2009`, Definition 5.1 in the form of Theorem 5.1. A group with box B and sensitive
//! values S* is plain and k-anonymous if S* has at least k different values, no value of it makes
//! an outlier of every corner of B, and no corner of B is an outlier with every value of it.
//! Outliers are those of [`crate::outlier`], in the table before suppression.
//!
//! Where we differ: bad edges are bad rows and columns of a matrix, which is equivalent; a group of
//! one value is also judged by the rows and columns. Theorems 4.1, 5.1 and 6.2 of the paper are
//! wrong (see `docs/plain-k-anonymity.md`). Therefore `level = "strong"` also requires that no
//! outlier can be proved among the real people who fit the group, `semantics = "candidate"`
//! requires that instead of the condition on corners, and `outlier_diversity` bounds what an
//! adversary learns who knows that an outlier took part.
//!
//! A union of two plain groups has corners that neither of them has, so the model does not survive
//! merging. Groups are compared with the original table and not with the release, so it survives
//! suppression.

use super::{BoundModel, Card, Model, Need, ON, Survives, Verdict};
use crate::card::{Param, Params};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::group::{GroupSummary, merge_equal};
use crate::outlier::{Bits, Bounds, Density, Fault, Outliers, Scale, Settings};
use crate::region::Region;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "plain-k-anonymity",
    paper: "wang2009",
    guarantee: "\
        Every group has at least k different sensitive values, and nothing in it shows that it \
        contains an outlier: no published value makes an outlier of everybody at the corners of \
        the group's cells, and at no corner would everybody be an outlier with any of the \
        published values.",
    limits: "\
        Corners are mostly hypothetical people: a group may be plain although an outlier can be \
        proved from the real people who fit it (level = \"strong\" requires both, semantics = \
        \"candidate\" the latter only). \"Probability 0\" is an artefact of the paper's \
        definition: an adversary who knows that an outlier took part considers only the values \
        that make one, and they may be few (outlier_diversity bounds them; the attack \
        `distinguishability` counts them). Contrary to the paper, not every local outlier fits \
        into a plain group: generalizing more can make it worse, and many records may have to be \
        suppressed. With outliers = \"lof\" a record between two clusters of different density is \
        distinguished from both, but the factor has no unit, a hypothetical corner has a factor \
        although no record is there, and equal records count as one place; no record is then a \
        global outlier, and p and d only trim the scale. Use few distance attributes, ordered \
        ones, and a large p. k different values do not bound the share of one of them. \
        Verification needs the original table.",
    params: &[
        Param::count("k", 1).about("the least number of different sensitive values"),
        Param::number("p", 0.0, 1.0)
            .or("0.8")
            .about("an outlier is far from at least this share of all records; more than 0"),
        Param::number("d", 0.0, f64::MAX).or("0.85").about(
            "the greatest distance that is not far, with every attribute scaled to the range 0 to \
            1",
        ),
        Param::words("distance_attributes").optional().about(
            "the quasi-identifiers on which distance is measured, besides the sensitive column; \
            all if not set",
        ),
        Param::choice("scale", &["trimmed", "original"]).or("trimmed").about(
            "the records whose range is scaled to 0 to 1: those that are not outliers by their \
            sensitive value alone, or all",
        ),
        Param::words("bounds")
            .optional()
            .about("ranges that replace those of the data, for example age:0:120"),
        Param::choice("level", &["paper", "strong"]).or("paper").about(
            "strong also requires that no outlier can be proved among the real people who fit a \
            group",
        ),
        Param::choice("semantics", &["corner", "candidate"])
            .or("corner")
            .about("whether corners are checked, or the real people who fit a group"),
        Param::count("outlier_diversity", 1).or("1").about(
            "the least number of a group's values that make an outlier of an outlier who fits the \
            group, if any does",
        ),
        Param::choice("outliers", &["distance", "lof"]).or("distance").about(
            "the definition of outliers: by p and d, or by the local outlier factor \
            (breunig2000), which is about 1 inside a cluster of any density",
        ),
        Param::count("neighbours", 1)
            .optional()
            .about("with lof: the number of distinct places in a neighbourhood; 20 if not set"),
        Param::number("threshold", 1.0, f64::MAX)
            .optional()
            .about("with lof: the least factor of an outlier; 1.5 if not set"),
        ON,
    ],
    variants: &[],
    needs: &[Need::Sensitive, Need::Region],
    survives: Survives { merging: false, overlapping: false, suppressing: true },
    make: |params| {
        if params.number("p") <= 0.0 {
            return Err(Error::job("`p` of `plain-k-anonymity` is a share above 0").at("p"));
        }
        Ok(Box::new(PlainKAnonymity {
            k: params.count("k"),
            settings: Settings {
                p: params.number("p"),
                d: params.number("d"),
                distance_attributes: params.words("distance_attributes"),
                scale: if params.word("scale") == "original" {
                    Scale::Original
                } else {
                    Scale::Trimmed
                },
                bounds: params
                    .words("bounds")
                    .iter()
                    .map(|text| Bounds::parse(text))
                    .collect::<Result<_>>()?,
                on: params.word("on").to_owned(),
                density: density(params)?,
            },
            conditions: Conditions {
                corners: params.word("semantics") == "corner",
                candidates: params.word("semantics") == "candidate"
                    || params.word("level") == "strong",
                diversity: params.count("outlier_diversity"),
            },
        }))
    },
};

fn density(params: &Params) -> Result<Option<Density>> {
    let (neighbours, threshold) =
        (params.optional_number("neighbours"), params.optional_number("threshold"));
    if params.word("outliers") == "lof" {
        let neighbours = neighbours.map_or(20, |n| n as u64);
        return Ok(Some(Density { neighbours, threshold: threshold.unwrap_or(1.5) }));
    }
    let unused = [("neighbours", neighbours), ("threshold", threshold)]
        .into_iter()
        .find(|(_, n)| n.is_some());
    match unused {
        None => Ok(None),
        Some((name, _)) => Err(Error::job(format!(
            "`{name}` of `plain-k-anonymity` applies to density-based outliers only"
        ))
        .help("add outliers = \"lof\", or remove it")
        .at(name)),
    }
}

/// The conditions on a group besides k different values.
#[derive(Clone, Copy, Debug)]
struct Conditions {
    corners: bool,
    candidates: bool,
    diversity: u64,
}

#[derive(Debug)]
struct PlainKAnonymity {
    k: u64,
    settings: Settings,
    conditions: Conditions,
}

impl Model for PlainKAnonymity {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        Ok(Box::new(BoundPlainKAnonymity {
            k: self.k,
            conditions: self.conditions,
            outliers: Outliers::new(data, &self.settings)?,
        }))
    }

    fn outlier_settings(&self) -> Option<&Settings> {
        Some(&self.settings)
    }
}

#[derive(Debug)]
struct BoundPlainKAnonymity {
    k: u64,
    conditions: Conditions,
    outliers: Outliers,
}

impl BoundModel for BoundPlainKAnonymity {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        let outliers = &self.outliers;
        let entries = group.sensitive[outliers.column()].entries();
        let mut values: Vec<(u32, u64)> =
            entries.iter().map(|&(code, n)| (outliers.rank(code), n)).collect();
        values.sort_unstable();
        merge_equal(&mut values);
        let count = values.len() as u64;
        let verdict = Verdict::at_least(LEAST_VALUES, count as f64, self.k as f64, count >= self.k);
        if !verdict.holds {
            return verdict;
        }
        // Without the group's cells it cannot be checked, so it is not admitted.
        let Some(region) = &group.region else { return broken("groups whose cells are unknown") };
        let set = Bits::of(outliers.values().len(), values.iter().map(|entry| entry.0));
        if self.conditions.corners
            && let Err(fault) = outliers.plain(region, &set)
        {
            return broken(match fault {
                Fault::Row => "groups with a value that makes an outlier at every corner",
                Fault::Column => "groups with a corner that is an outlier with every value",
                Fault::Budget => "groups with more corners than can be checked",
            });
        }
        if self.conditions.candidates && !outliers.assignable(region, &values) {
            return broken("groups in which an outlier is proved");
        }
        let least = if self.conditions.diversity > 1 {
            outliers.least_bad_values(region, &set)
        } else {
            None
        };
        match least {
            Some(have) => {
                let (need, holds) = (self.conditions.diversity, have >= self.conditions.diversity);
                verdict.and(Verdict::at_least(
                    "fewest values that make an outlier",
                    have as f64,
                    need as f64,
                    holds,
                ))
            }
            None => verdict,
        }
    }

    fn sensitive_column(&self) -> Option<usize> {
        Some(self.outliers.column())
    }

    fn least_values(&self) -> u64 {
        self.k
    }

    fn outliers(&self) -> Option<&Outliers> {
        Some(&self.outliers)
    }

    fn checks_corners(&self) -> bool {
        self.conditions.corners
    }

    /// A corner that is bad with every value of the table is bad with every value of a group.
    fn hopeless(&self, region: &Region) -> bool {
        self.conditions.corners && self.outliers.is_dead(region)
    }

    /// Global outliers are in no plain group, so the other values must be sufficient.
    fn attainable(&self, _: &GroupSummary) -> Verdict {
        let have = self.outliers.values_left();
        let what = "number of sensitive values that are not global outliers";
        Verdict::at_least(what, have as f64, self.k as f64, have >= self.k)
    }
}

const LEAST_VALUES: &str = "fewest sensitive values";

fn broken(what: &'static str) -> Verdict {
    Verdict::at_most(what, 1.0, 0.0, false)
}
