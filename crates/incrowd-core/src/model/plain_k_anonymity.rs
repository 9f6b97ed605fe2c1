//! Plain k-anonymity: outliers hidden in the crowd.
//!
//! Paper: `wang2009`, Definition 5.1 in the form of Theorem 5.1. A group with box B and sensitive values S* is plain and
//! k-anonymous if S* has at least k different values, no value of it makes an outlier of every corner of B, and no corner of
//! B is an outlier with every value of it. Outliers are those of [`crate::outlier`], of the table before anything was left
//! out of it.
//!
//! Where we differ: bad edges are bad rows and columns of a matrix, which is the same; a group of one value is judged by the
//! rows and columns as well. Theorems 4.1, 5.1 and 6.2 of the paper are wrong (see `docs/plain-k-anonymity.md`), so there is
//! `level = "strong"`, which also asks that no outlier can be proved among the real people who fit the group,
//! `semantics = "candidate"`, which asks for that instead of corners, and `outlier_diversity`, which bounds what an
//! adversary learns who knows that an outlier took part.
//!
//! A union of two plain groups has corners that neither of them has, so the promise does not survive merging. Groups are
//! compared with the original table and not with the release, so it survives suppressing.

use super::{BoundModel, Card, Model, Need, ON, Survives, Verdict};
use crate::card::{Param, ParamKind, Params};
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::group::GroupSummary;
use crate::outlier::{Bits, Bounds, Density, Fault, Outliers, Scale, Settings};
use crate::region::Region;

/// The list entry.
pub(super) const CARD: Card = Card {
    name: "plain-k-anonymity",
    paper: "wang2009",
    promise: "Every group has at least k different sensitive values, and nothing in it shows that it hides an outlier: no \
              published value would make an outlier of everybody at a corner of the group's cells, and at no corner would \
              everybody be an outlier with any of the published values.",
    limits: "Corners are mostly nobody: a group may be plain although its outlier can be proved from the real people who fit it \
             (level = \"strong\" asks for both, semantics = \"candidate\" for the latter alone). \"Probability 0\" is \
             an artefact of the paper's definition: whoever knows that an outlier took part keeps the values that make one, and \
             they may be few (outlier_diversity bounds them; the attack `distinguishability` counts them). Not every local \
             outlier fits into a plain group, as the paper says: generalizing more can make it worse, and many records may \
             have to be left out. With outliers = \"lof\" somebody between two crowds of \
             different density is told from both, but the factor has no unit, a thought-of corner has a factor though nobody is \
             there, and alike people count as one place; nobody is then a global outlier, and p and d only trim \
             the scale. Use few distance attributes, ordered ones, and a large p. k different values do not bound the \
             share of one of them. Checking it needs the original table.",
    params: &[
        Param {
            name: "k",
            kind: ParamKind::Count(1),
            default: None,
            about: "how many different sensitive values at least",
        },
        Param {
            name: "p",
            kind: ParamKind::Number(0.0, 1.0),
            default: Some("0.8"),
            about: "an outlier is far from at least this share of all records; more than 0",
        },
        Param {
            name: "d",
            kind: ParamKind::Number(0.0, f64::MAX),
            default: Some("0.85"),
            about: "how far is far, every attribute scaled to the range 0 to 1",
        },
        Param {
            name: "distance_attributes",
            kind: ParamKind::Words,
            default: Some(""),
            about: "the quasi-identifiers on which distance is measured beside the sensitive column; all if left out",
        },
        Param {
            name: "scale",
            kind: ParamKind::Choice(&["trimmed", "original"]),
            default: Some("trimmed"),
            about: "whose range is 0 to 1: that of the records without those whose sensitive value alone stands out, or of all",
        },
        Param {
            name: "bounds",
            kind: ParamKind::Words,
            default: Some(""),
            about: "stated ranges that take the place of those found, age:0:120",
        },
        Param {
            name: "level",
            kind: ParamKind::Choice(&["paper", "strong"]),
            default: Some("paper"),
            about: "strong also asks that nobody can prove an outlier among the real people who fit a group",
        },
        Param {
            name: "semantics",
            kind: ParamKind::Choice(&["corner", "candidate"]),
            default: Some("corner"),
            about: "whether corners are asked, or the real people who fit a group",
        },
        Param {
            name: "outlier_diversity",
            kind: ParamKind::Count(1),
            default: Some("1"),
            about: "an outlier who fits a group is one with none of its values, or with at least so many",
        },
        Param {
            name: "outliers",
            kind: ParamKind::Choice(&["distance", "lof"]),
            default: Some("distance"),
            about: "how outliers are told: by p and d, or by the local outlier factor (breunig2000), about 1 in a crowd, \
                    however dense",
        },
        Param {
            name: "neighbours",
            kind: ParamKind::Count(1),
            default: Some(""),
            about: "with lof: how many distinct places make a neighbourhood; 20 if left out",
        },
        Param {
            name: "threshold",
            kind: ParamKind::Number(1.0, f64::MAX),
            default: Some(""),
            about: "with lof: from which factor on somebody is an outlier; 1.5 if left out",
        },
        ON,
    ],
    kinds: &[],
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
                scale: if params.word("scale") == "original" { Scale::Original } else { Scale::Trimmed },
                bounds: params
                    .words("bounds")
                    .iter()
                    .map(|text| Bounds::parse(text))
                    .collect::<Result<_>>()?,
                on: params.word("on").to_owned(),
                density: density(params)?,
            },
            asks: Asks {
                corners: params.word("semantics") == "corner",
                candidates: params.word("semantics") == "candidate" || params.word("level") == "strong",
                diversity: params.count("outlier_diversity"),
            },
        }))
    },
};

fn density(params: &Params) -> Result<Option<Density>> {
    let (neighbours, threshold) = (params.optional_number("neighbours"), params.optional_number("threshold"));
    if params.word("outliers") == "lof" {
        let neighbours = neighbours.map_or(20, |n| n as u64);
        return Ok(Some(Density { neighbours, threshold: threshold.unwrap_or(1.5) }));
    }
    let idle = [("neighbours", neighbours), ("threshold", threshold)].into_iter().find(|(_, n)| n.is_some());
    match idle {
        None => Ok(None),
        Some((name, _)) => {
            Err(Error::job(format!("`{name}` of `plain-k-anonymity` is about density-based outliers"))
                .help("add outliers = \"lof\", or leave it out")
                .at(name))
        }
    }
}

/// What is asked of a group beside k values.
#[derive(Clone, Copy, Debug)]
struct Asks {
    corners: bool,
    candidates: bool,
    diversity: u64,
}

#[derive(Debug)]
struct PlainKAnonymity {
    k: u64,
    settings: Settings,
    asks: Asks,
}

impl Model for PlainKAnonymity {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn bind(&self, data: &Dataset) -> Result<Box<dyn BoundModel>> {
        Ok(Box::new(Bound { k: self.k, asks: self.asks, outliers: Outliers::new(data, &self.settings)? }))
    }

    fn outlier_settings(&self) -> Option<&Settings> {
        Some(&self.settings)
    }
}

#[derive(Debug)]
struct Bound {
    k: u64,
    asks: Asks,
    outliers: Outliers,
}

impl BoundModel for Bound {
    fn admits(&self, group: &GroupSummary) -> Verdict {
        let outliers = &self.outliers;
        let entries = group.sensitive[outliers.column()].entries();
        let mut values: Vec<(u32, u64)> = entries.iter().map(|&(code, n)| (outliers.rank(code), n)).collect();
        values.sort_unstable();
        values.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        let count = values.len() as u64;
        let verdict = Verdict::at_least(LEAST_VALUES, count as f64, self.k as f64, count >= self.k);
        if !verdict.holds {
            return verdict;
        }
        // A group about whose cells nothing is known is not known to be plain.
        let Some(region) = &group.region else { return broken("groups whose cells are unknown") };
        let set = Bits::of(outliers.values().len(), values.iter().map(|entry| entry.0));
        if self.asks.corners
            && let Err(fault) = outliers.plain(region, &set)
        {
            return broken(match fault {
                Fault::Row => "groups with a value that is an outlier's at every corner",
                Fault::Column => "groups with a corner that is an outlier with every value",
                Fault::Budget => "groups with more corners than can be looked at",
            });
        }
        if self.asks.candidates && !outliers.assignable(region, &values) {
            return broken("groups in which an outlier is proved");
        }
        let least = if self.asks.diversity > 1 { outliers.least_bad_values(region, &set) } else { None };
        match least {
            Some(have) => {
                let (need, holds) = (self.asks.diversity, have >= self.asks.diversity);
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

    fn looks_at(&self) -> Option<usize> {
        Some(self.outliers.column())
    }

    fn least_values(&self) -> u64 {
        self.k
    }

    fn outliers(&self) -> Option<&Outliers> {
        Some(&self.outliers)
    }

    fn asks_corners(&self) -> bool {
        self.asks.corners
    }

    /// A corner that is bad with every value of the table is bad with every value of a group.
    fn hopeless(&self, region: &Region) -> bool {
        self.asks.corners && self.outliers.is_dead(region)
    }

    /// Global outliers are in no plain group, so the values of all others must be enough.
    fn attainable(&self, _: &GroupSummary) -> Verdict {
        let have = self.outliers.values_left();
        let what = "number of sensitive values that do not stand out by themselves";
        Verdict::at_least(what, have as f64, self.k as f64, have >= self.k)
    }
}

const LEAST_VALUES: &str = "fewest sensitive values";

fn broken(what: &'static str) -> Verdict {
    Verdict::at_most(what, 1.0, 0.0, false)
}
