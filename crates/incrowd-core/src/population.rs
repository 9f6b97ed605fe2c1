//! The population: the people a release could be about, positioned in the domains of the sample's
//! quasi-identifiers.
//!
//! A person of the population may have a value that no record of the sample has. Such a value is
//! between two leaves, below a node without being one of its leaves, or outside the domain. This
//! position determines which published cells cover the value.

use hashbrown::HashMap;

use crate::dataset::{Dataset, EncodeError, Quasi};
use crate::domain::{Domain, Misfit, NumberLine};
use crate::folded::{Folded, FoldedColumn, MISSING};
use crate::index::{Code, NodeId};
use crate::number::{parse_date, parse_number};
use crate::partition::Span;
use crate::schema::ColumnSpec;

/// The position of a value in a domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// A leaf.
    Leaf(Code),
    /// Between this leaf and the next.
    After(Code),
    /// Below this node, but none of its leaves.
    Below(NodeId),
    /// Outside the domain: only `*` covers it.
    Outside,
}

/// The people of the population by the positions of their quasi-identifiers.
#[derive(Clone)]
pub struct Population {
    width: usize,
    places: Vec<Place>,
    counts: Vec<u64>,
}

crate::opaque_debug!(Population { rows: |population| population.counts.len() });

/// The meaning of a published cell: decides which positions it covers.
#[derive(Clone, Debug)]
pub struct PublishedCell<'a> {
    domain: &'a Domain,
    coverage: Coverage<'a>,
}

#[derive(Clone, Debug)]
enum Coverage<'a> {
    Anything,
    Leaves(Span),
    Under(NodeId),
    Set(&'a [Code]),
}

impl<'a> PublishedCell<'a> {
    /// The published cell of a group: its span and, for domains that publish sets, its values in
    /// ascending order.
    pub fn new(domain: &'a Domain, span: Span, values: &'a [Code]) -> PublishedCell<'a> {
        let coverage = match domain {
            Domain::Taxonomy(tree) => match tree.common(span.lo, span.hi) {
                node if node == tree.root() && tree.leaves() > 1 => Coverage::Anything,
                node => Coverage::Under(node),
            },
            _ if domain.publishes_sets() => Coverage::Set(values),
            Domain::Labels(_) if span.lo != span.hi => Coverage::Anything,
            Domain::Numbers(line) if span.lo != span.hi && line.is_missing(span.hi) => {
                Coverage::Anything
            }
            _ => Coverage::Leaves(span),
        };
        PublishedCell { domain, coverage }
    }

    /// The published cell of a leaf if the whole column is published at one level.
    pub fn at_level(domain: &'a Domain, code: Code, level: usize) -> PublishedCell<'a> {
        let coverage = match domain {
            Domain::Taxonomy(tree) => match tree.at_level(code, level) {
                node if node == tree.root() && tree.leaves() > 1 => Coverage::Anything,
                node => Coverage::Under(node),
            },
            _ if level > 0 => Coverage::Anything,
            _ => Coverage::Leaves(Span { lo: code, hi: code }),
        };
        PublishedCell { domain, coverage }
    }

    fn covers(&self, place: Place) -> bool {
        match (&self.coverage, place) {
            (Coverage::Anything, _) => true,
            (Coverage::Leaves(span), Place::Leaf(code)) => (span.lo..=span.hi).contains(&code),
            (Coverage::Leaves(span), Place::After(code)) => span.lo <= code && code < span.hi,
            (Coverage::Set(codes), Place::Leaf(code)) => codes.binary_search(&code).is_ok(),
            (Coverage::Under(node), Place::Leaf(code)) => match self.domain {
                Domain::Taxonomy(tree) => {
                    let (first, last) = tree.span(*node);
                    (first..=last).contains(&code)
                }
                _ => false,
            },
            (Coverage::Under(node), Place::Below(lowest)) => match self.domain {
                Domain::Taxonomy(tree) => std::iter::successors(Some(lowest), |&n| tree.parent(n))
                    .any(|above| above == *node),
                _ => false,
            },
            _ => false,
        }
    }
}

impl Population {
    /// Positions a folded table in the domains. Its columns are the quasi-identifiers in order.
    /// `missing` is the text that is published for missing values. Fails if a value does not fit
    /// its column.
    pub fn place(
        folded: &Folded,
        quasi: &[Quasi],
        specs: &[&ColumnSpec],
        missing: &str,
    ) -> Result<Population, EncodeError> {
        let mut maps: Vec<Vec<Place>> = Vec::with_capacity(quasi.len());
        for (i, (column, quasi)) in folded.columns.iter().zip(quasi).enumerate() {
            let placed = places(column, &quasi.domain, specs[i], missing);
            maps.push(placed.map_err(|misfit| EncodeError { column: i, misfit })?);
        }
        let width = quasi.len();
        let rows = folded.codes.chunks_exact(folded.columns.len().max(1));
        let places = rows
            .flat_map(|row| row.iter().zip(&maps).map(|(&code, map)| map[code as usize]))
            .collect();
        Ok(Population { width, places, counts: folded.weights.clone() })
    }

    /// The number of distinct rows.
    pub fn rows(&self) -> usize {
        self.counts.len()
    }

    /// The number of people of a row.
    pub fn weight(&self, row: u32) -> u64 {
        self.counts[row as usize]
    }

    /// Returns those of `rows` whose every value is covered by the cell of its column.
    pub fn covered(
        &self,
        cells: &[PublishedCell<'_>],
        rows: impl Iterator<Item = u32>,
    ) -> Vec<u32> {
        let covered = |row: &u32| {
            let places = &self.places[*row as usize * self.width..][..self.width];
            cells.iter().zip(places).all(|(cell, &place)| cell.covers(place))
        };
        rows.filter(covered).collect()
    }

    /// Returns those of `people` whose every value is covered by the cells of a group of these rows
    /// of `data`, published with these spans.
    pub fn covered_by(
        &self,
        data: &Dataset,
        spans: &[Span],
        rows: impl Iterator<Item = u32> + Clone,
        people: impl Iterator<Item = u32>,
    ) -> Vec<u32> {
        let values = |(q, quasi): (usize, &Quasi)| {
            let mut codes: Vec<Code> = Vec::new();
            if quasi.domain.publishes_sets() {
                codes.extend(rows.clone().map(|row| Code(data.quasi_codes(row as usize)[q])));
                codes.sort_unstable();
                codes.dedup();
            }
            codes
        };
        let values: Vec<Vec<Code>> = data.quasi().iter().enumerate().map(values).collect();
        let cells = data.quasi().iter().zip(spans).zip(&values);
        let cells: Vec<PublishedCell<'_>> = cells
            .map(|((quasi, &span), values)| PublishedCell::new(&quasi.domain, span, values))
            .collect();
        self.covered(&cells, people)
    }

    /// The first leaf of the cell that covers a person's value if the whole column is published at
    /// one level; `None` if no cell of that level covers it.
    pub fn first_leaf(
        &self,
        row: u32,
        quasi: usize,
        domain: &Domain,
        level: usize,
    ) -> Option<Code> {
        let place = self.places[row as usize * self.width + quasi];
        let leaf = match (domain, place) {
            (_, Place::Leaf(code)) => Some(code),
            (Domain::Taxonomy(tree), Place::Below(lowest)) => {
                // A cell of this level is `steps` below the root, or a leaf. A value below `lowest`
                // that is not a leaf is covered only by an ancestor that is such a cell.
                let steps = tree.height().saturating_sub(level);
                // The cell of outliers is a child of the root and the same on every level.
                let cell = tree.grid().is_some() && tree.children(lowest).is_empty();
                (cell || steps <= tree.depth(lowest)).then(|| tree.span(lowest).0)
            }
            _ => None,
        };
        match leaf {
            Some(code) => Some(domain.level_span(code, level).lo),
            None if level + 1 == domain.levels() => {
                let anything = !matches!(domain, Domain::Taxonomy(tree) if tree.leaves() == 1);
                anything.then_some(Code(0))
            }
            None => None,
        }
    }

    /// The number of people of these rows.
    pub fn people(&self, rows: &[u32]) -> u64 {
        rows.iter().map(|&row| self.weight(row)).sum()
    }
}

/// The position of every code of a population's column.
fn places(
    column: &FoldedColumn,
    domain: &Domain,
    spec: &ColumnSpec,
    missing: &str,
) -> Result<Vec<Place>, Misfit> {
    match domain {
        Domain::Numbers(line) => {
            let is_date = matches!(line.numbers(), crate::domain::Numbers::Dates(_));
            let read = |text: &str| match is_date {
                true => parse_date(text).map(f64::from),
                false => parse_number(text).map(|n| n.as_f64()),
            };
            let place = |(code, text): (usize, &String)| match code as u32 {
                MISSING => Ok(line.missing_leaf().map_or(Place::Outside, Place::Leaf)),
                _ if !is_date && spec.is_too_long(text) => Ok(Place::Outside),
                code => read(text).map(|x| between(line, line.within(x))).ok_or_else(|| Misfit {
                    error: crate::hierarchy::intervals::not_numeric(&column.name),
                    code: Some(code),
                }),
            };
            column.texts.iter().enumerate().map(place).collect()
        }
        Domain::Labels(line) => {
            let place = |text: &String| line.code(text).map_or(Place::Outside, Place::Leaf);
            let mut places: Vec<Place> = column.texts.iter().map(place).collect();
            places[MISSING as usize] = line.code(missing).map_or(Place::Outside, Place::Leaf);
            Ok(places)
        }
        Domain::Taxonomy(tree) if tree.grid().is_some() => {
            let cell = |text: &String| tree.cell_of(text).filter(|_| !spec.is_too_long(text));
            let place = |text: &String| cell(text).map_or(Place::Outside, Place::Below);
            let known =
                |text: &String| crate::hierarchy::mdr::leaf(text).and_then(|leaf| tree.code(&leaf));
            let place = |text: &String| known(text).map_or_else(|| place(text), Place::Leaf);
            let mut places: Vec<Place> = column.texts.iter().map(place).collect();
            places[MISSING as usize] = tree.code(missing).map_or(Place::Outside, Place::Leaf);
            Ok(places)
        }
        Domain::Taxonomy(tree) => {
            // A hierarchy of rules, for example a mask, also contains values that are not in the
            // sample. A hierarchy that lists its values does not.
            let values = column.texts.iter().skip(1).filter(|text| !spec.is_too_long(text));
            let values: Vec<&str> = values.map(String::as_str).collect();
            let own = spec
                .hierarchy
                .as_ref()
                .and_then(|h| spec.taxonomy(h, &column.name, &values, None).ok());
            let mut known: HashMap<&str, NodeId> = HashMap::new();
            let canonical = |text: &str| spec.hierarchy.as_ref().and_then(|h| spec.leaf(h, text));
            let mut place = |text: &'_ str| {
                let canonical = canonical(text);
                let text = canonical.as_deref().unwrap_or(text);
                if let Some(code) = tree.code(text) {
                    return Place::Leaf(code);
                }
                let Some(own) = own.as_ref() else { return Place::Outside };
                let Some(code) = own.code(text) else { return Place::Outside };
                let above = std::iter::successors(own.parent(own.leaf(code)), |&n| own.parent(n));
                let mut labels = above.map(|n| own.label(n));
                let found = labels.find_map(|label| {
                    if let Some(&node) = known.get(label) {
                        return Some(node);
                    }
                    let node = tree.node(label).filter(|&n| !tree.children(n).is_empty())?;
                    known.insert(label, node);
                    Some(node)
                });
                found.map_or(Place::Outside, Place::Below)
            };
            let mut places: Vec<Place> = column.texts.iter().map(|text| place(text)).collect();
            places[MISSING as usize] = tree.code(missing).map_or(Place::Outside, Place::Leaf);
            Ok(places)
        }
    }
}

/// The position of a number in a domain of numbers.
fn between(line: &NumberLine, x: f64) -> Place {
    let numbers = line.numbers();
    let count = line.missing_leaf().map_or(line.leaves(), |missing| missing.0);
    let below = partition_point(count, |code| numbers.at(Code(code)) < x);
    if below < count && numbers.at(Code(below)) == x {
        Place::Leaf(Code(below))
    } else if below == 0 || below == count {
        Place::Outside
    } else {
        Place::After(Code(below - 1))
    }
}

/// The first of `0..count` for which the predicate is false. The predicate must be true up to some
/// point and false from there on.
fn partition_point(count: u32, holds: impl Fn(u32) -> bool) -> u32 {
    let (mut lo, mut hi) = (0, count);
    while lo < hi {
        let middle = lo + (hi - lo) / 2;
        if holds(middle) { lo = middle + 1 } else { hi = middle }
    }
    lo
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::mask::{From, Mask};
    use crate::schema::{Kind, Labels};
    use crate::{Dataset, HierarchySpec};
    use proptest::prelude::*;

    /// Columns of all types; one has a mask as its hierarchy.
    fn specs() -> [ColumnSpec; 4] {
        let text = ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() };
        [
            ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() },
            ColumnSpec {
                hierarchy: Some(HierarchySpec::Mask(Mask { char: '*', from: From::Right })),
                ..ColumnSpec::default()
            },
            text.clone(),
            ColumnSpec { labels: Labels::Star, ..text },
        ]
    }

    fn fold(rows: &[(u8, u8, u8, u8)]) -> Folded {
        let cell = |n: u8| (n > 0).then(|| format!("{:02}", n * 3));
        let cells: Vec<[Option<String>; 4]> =
            rows.iter().map(|r| [cell(r.0), cell(r.1), cell(r.2), cell(r.3)]).collect();
        let records = cells.iter().map(|r| r.iter().map(|c| c.as_deref()).collect());
        Folded::from_records(&["a", "b", "c", "d"], records, false)
    }

    proptest! {
        /// For every group of sample rows and its published cells: a person is counted if and only
        /// if the cell, parsed in the population's own domain, covers the person's value.
        #[test]
        fn places_agree_with_reading_the_published_cells(
            sample in prop::collection::vec((0u8..9, 1u8..9, 0u8..9, 0u8..9), 1..6),
            people in prop::collection::vec((0u8..9, 1u8..9, 0u8..9, 0u8..9), 1..12),
        ) {
            let specs = specs();
            let specs: Vec<&ColumnSpec> = specs.iter().collect();
            let data = Dataset::encode(fold(&sample), &specs, &[], "?").unwrap();
            let folded = fold(&people);
            let population = Population::place(&folded, data.quasi(), &specs, "?").unwrap();
            for level in 0..3 {
                for q in (0..4).filter(|&q| level < data.quasi()[q].domain.levels()) {
                    let domain = &data.quasi()[q].domain;
                    for row in 0..population.rows() as u32 {
                        let found = population.first_leaf(row, q, domain, level);
                        let place = population.places[row as usize * 4 + q];
                        for code in (0..domain.leaves()).map(Code) {
                            let covers = PublishedCell::at_level(domain, code, level).covers(place);
                            let first = domain.level_span(code, level).lo;
                            let same = found == Some(first);
                            prop_assert_eq!(covers, same, "column {} level {}", q, level);
                        }
                    }
                }
            }
            // One group of all sample rows.
            for q in 0..4 {
                let codes = (0..data.rows()).map(|r| Code(data.quasi_codes(r)[q]));
                let mut codes: Vec<Code> = codes.collect();
                codes.sort_unstable();
                codes.dedup();
                let span = Span { lo: codes[0], hi: codes[codes.len() - 1] };
                let domain = &data.quasi()[q].domain;
                let label = match domain.publishes_sets() {
                    true => domain.set_label(&codes),
                    false => domain.label(span.lo, span.hi),
                };
                let cell = PublishedCell::new(domain, span, &codes);
                // A label that is not a cell of the population's domain covers no one, unless it
                // lists values.
                let built = Domain::build(&folded.columns[q], specs[q], Some("?"));
                let (own, own_codes) = built.unwrap();
                for row in 0..folded.rows() {
                    let code = own_codes[folded.row(row)[q] as usize];
                    let old = folded.row(row)[q];
                    let known = &folded.columns[q].texts[old as usize];
                    let text = if old == MISSING { "?" } else { known };
                    let read = match own.read(&label) {
                        Some(read) => own.covers(&read, code),
                        None => crate::cell::parse_set(&label)
                            .is_some_and(|set| set.iter().any(|v| v == text)),
                    };
                    let covers = cell.covers(population.places[row * 4 + q]);
                    prop_assert_eq!(covers, read, "column {} label {} value {}", q, label, text);
                }
            }
        }
    }
}
