//! The region that a group's published cells cover, as intervals of positions.
//!
//! The position of a number or a date is the number itself. The position of any other value is its
//! index among the leaves, from 1. A node of a hierarchy is the closed interval from its first to
//! its last leaf. A set of texts is covered by the interval from its first to its last member and
//! also lists its members.

use crate::domain::{Domain, Numbers, ReadCell};
use crate::index::Code;
use crate::partition::Span;

/// The codes that a cell covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Covers {
    /// A closed range of codes; empty if the first is greater.
    Span(u32, u32),
    /// These codes, in ascending order.
    Set(Vec<u32>),
}

/// The extent of a cell in its domain.
#[derive(Clone, PartialEq)]
pub struct Extent {
    /// The least and the greatest position.
    pub ends: (f64, f64),
    /// The codes of the table that it covers.
    pub covers: Covers,
}

crate::opaque_debug!(Extent);

// `==` is used only to compare regions, and positions in regions are never NaN.
impl Eq for Extent {}

/// The region of a group, one extent per quasi-identifier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// The extents, in the order of the quasi-identifiers.
    pub extents: Vec<Extent>,
}

impl Region {
    /// Whether the region covers a row with these codes.
    pub fn covers(&self, codes: &[u32]) -> bool {
        self.extents.iter().zip(codes).all(|(extent, &code)| extent.covers(code))
    }
}

impl Extent {
    /// Whether a code is covered.
    pub fn covers(&self, code: u32) -> bool {
        match &self.covers {
            Covers::Span(lo, hi) => (*lo..=*hi).contains(&code),
            Covers::Set(codes) => codes.binary_search(&code).is_ok(),
        }
    }

    /// The extent of `*`: the whole domain.
    pub fn whole(domain: &Domain) -> Extent {
        let last = domain.leaves().saturating_sub(1);
        let ends = match domain {
            Domain::Numbers(line) => line.domain(),
            _ => (1.0, f64::from(last + 1)),
        };
        Extent { ends, covers: Covers::Span(0, last) }
    }

    /// The extent of a group's published cell: the span of its values and, for domains that publish
    /// sets, the values themselves in ascending order.
    pub fn of_group(domain: &Domain, span: Span, values: &[Code]) -> Extent {
        let between = |lo: Code, hi: Code| Extent {
            ends: (domain.place(lo), domain.place(hi)),
            covers: Covers::Span(lo.0, hi.0),
        };
        match domain {
            Domain::Taxonomy(tree) => {
                let (lo, hi) = tree.span(tree.common(span.lo, span.hi));
                between(lo, hi)
            }
            Domain::Numbers(line) if span.lo != span.hi && line.is_missing(span.hi) => {
                Extent::whole(domain)
            }
            Domain::Labels(_) if domain.publishes_sets() => Extent {
                covers: Covers::Set(values.iter().map(|code| code.0).collect()),
                ..between(span.lo, span.hi)
            },
            Domain::Labels(_) if span.lo != span.hi => Extent::whole(domain),
            Domain::Numbers(line) if !line.is_missing(span.hi) => {
                Extent { ends: line.ends(span.lo, span.hi), ..between(span.lo, span.hi) }
            }
            _ => between(span.lo, span.hi),
        }
    }

    /// The extent of a parsed cell.
    pub fn of_cell(domain: &Domain, cell: &ReadCell) -> Extent {
        match (cell, domain) {
            (ReadCell::Between(lo, hi), Domain::Numbers(line)) => {
                let count = |below: &dyn Fn(f64) -> bool| match line.numbers() {
                    Numbers::Integers(v) => v.partition_point(|&x| below(x as f64)),
                    Numbers::Reals(v) => v.partition_point(|&x| below(x)),
                    Numbers::Dates(v) => v.partition_point(|&x| below(f64::from(x))),
                } as u32;
                let (from, to) = (count(&|x| x < *lo), count(&|x| x <= *hi));
                let covers =
                    if from < to { Covers::Span(from, to - 1) } else { Covers::Span(1, 0) };
                Extent { ends: (*lo, *hi), covers }
            }
            (ReadCell::Below(node), Domain::Taxonomy(tree)) => {
                let (lo, hi) = tree.span(*node);
                Extent {
                    ends: (domain.place(lo), domain.place(hi)),
                    covers: Covers::Span(lo.0, hi.0),
                }
            }
            (ReadCell::OneOf(codes), _) if !codes.is_empty() => {
                let mut set: Vec<u32> = codes.iter().map(|code| code.0).collect();
                set.sort_unstable();
                set.dedup();
                let ends = (domain.place(Code(set[0])), domain.place(Code(set[set.len() - 1])));
                Extent { ends, covers: Covers::Set(set) }
            }
            (ReadCell::Missing, Domain::Numbers(line)) => {
                let code = line.leaves().saturating_sub(1);
                Extent { ends: line.domain(), covers: Covers::Span(code, code) }
            }
            _ => Extent::whole(domain),
        }
    }
}

impl Domain {
    /// The position of a leaf: the number itself, otherwise its index from 1. A missing value among
    /// numbers gets the end of the range; models that measure distances refuse it.
    pub fn place(&self, code: Code) -> f64 {
        match self {
            Domain::Numbers(line) if line.is_missing(code) => line.domain().1,
            Domain::Numbers(line) => line.numbers().at(code),
            _ => f64::from(code.0 + 1),
        }
    }
}
