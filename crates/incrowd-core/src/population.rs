//! A population: the people a release could be about, placed on the lines of the sample's quasi-identifiers.
//!
//! A person of the population may have a value no record of the sample has. Such a value lies between two leaves, below a
//! node without being one of its leaves, or nowhere at all; what counts is which published cells would cover it.

use hashbrown::HashMap;

use crate::dataset::{EncodeError, Quasi};
use crate::domain::{Domain, Misfit, NumberLine};
use crate::folded::{Folded, FoldedColumn, MISSING};
use crate::index::{Code, NodeId};
use crate::number::{parse_date, parse_number};
use crate::partition::Span;
use crate::schema::ColumnSpec;

/// Where a value lies on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// On a leaf.
    Leaf(Code),
    /// After this leaf and before the next.
    After(Code),
    /// Below this node, on none of its leaves.
    Below(NodeId),
    /// Nowhere: only `*` covers it.
    Outside,
}

/// People by the place of each quasi-identifier.
#[derive(Clone)]
pub struct Population {
    width: usize,
    places: Vec<Place>,
    weights: Vec<u64>,
}

// Cells must not reach logs.
impl std::fmt::Debug for Population {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Population").field("rows", &self.weights.len()).finish_non_exhaustive()
    }
}

/// What a cell says, so that people can be tested against it.
#[derive(Clone, Debug)]
pub struct PublishedCell<'a> {
    domain: &'a Domain,
    says: Says<'a>,
}

#[derive(Clone, Debug)]
enum Says<'a> {
    Anything,
    Leaves(Span),
    Under(NodeId),
    Set(&'a [Code]),
}

impl<'a> PublishedCell<'a> {
    /// The cell under which a group is published on a line: its span, and for lines that publish sets its values, ascending.
    pub fn new(domain: &'a Domain, span: Span, values: &'a [Code]) -> PublishedCell<'a> {
        let says = match domain {
            Domain::Taxonomy(tree) => match tree.common(span.lo, span.hi) {
                node if node == tree.root() && tree.leaves() > 1 => Says::Anything,
                node => Says::Under(node),
            },
            _ if domain.publishes_sets() => Says::Set(values),
            Domain::Labels(_) if span.lo != span.hi => Says::Anything,
            Domain::Numbers(line) if span.lo != span.hi && line.is_missing(span.hi) => Says::Anything,
            _ => Says::Leaves(span),
        };
        PublishedCell { domain, says }
    }

    /// The cell under which a leaf is published where the whole column is at one level.
    pub fn at_level(domain: &'a Domain, code: Code, level: usize) -> PublishedCell<'a> {
        let says = match domain {
            Domain::Taxonomy(tree) => match tree.at_level(code, level) {
                node if node == tree.root() && tree.leaves() > 1 => Says::Anything,
                node => Says::Under(node),
            },
            _ if level > 0 => Says::Anything,
            _ => Says::Leaves(Span { lo: code, hi: code }),
        };
        PublishedCell { domain, says }
    }

    fn covers(&self, place: Place) -> bool {
        match (&self.says, place) {
            (Says::Anything, _) => true,
            (Says::Leaves(span), Place::Leaf(code)) => (span.lo..=span.hi).contains(&code),
            (Says::Leaves(span), Place::After(code)) => span.lo <= code && code < span.hi,
            (Says::Set(codes), Place::Leaf(code)) => codes.binary_search(&code).is_ok(),
            (Says::Under(node), Place::Leaf(code)) => match self.domain {
                Domain::Taxonomy(tree) => {
                    let (first, last) = tree.span(*node);
                    (first..=last).contains(&code)
                }
                _ => false,
            },
            (Says::Under(node), Place::Below(lowest)) => match self.domain {
                Domain::Taxonomy(tree) => {
                    std::iter::successors(Some(lowest), |&n| tree.parent(n)).any(|above| above == *node)
                }
                _ => false,
            },
            _ => false,
        }
    }
}

impl Population {
    /// Places a folded table, whose columns are the quasi-identifiers in their order, on their lines. `missing` is the text
    /// under which missing values are published. Fails if a value is not what its column is said to hold.
    pub fn place(
        folded: &Folded,
        quasi: &[Quasi],
        specs: &[&ColumnSpec],
        missing: &str,
    ) -> Result<Population, EncodeError> {
        let mut maps: Vec<Vec<Place>> = Vec::with_capacity(quasi.len());
        for (i, (column, line)) in folded.columns.iter().zip(quasi).enumerate() {
            let placed = places(column, &line.domain, specs[i], missing);
            maps.push(placed.map_err(|misfit| EncodeError { column: i, misfit })?);
        }
        let width = quasi.len();
        let rows = folded.codes.chunks_exact(folded.columns.len().max(1));
        let places =
            rows.flat_map(|row| row.iter().zip(&maps).map(|(&code, map)| map[code as usize])).collect();
        Ok(Population { width, places, weights: folded.weights.clone() })
    }

    /// How many distinct rows there are.
    pub fn rows(&self) -> usize {
        self.weights.len()
    }

    /// How many people have a row.
    pub fn weight(&self, row: u32) -> u64 {
        self.weights[row as usize]
    }

    /// Those of `rows` that the cells cover on every line.
    pub fn covered(&self, cells: &[PublishedCell<'_>], rows: impl Iterator<Item = u32>) -> Vec<u32> {
        let covered = |row: &u32| {
            let places = &self.places[*row as usize * self.width..][..self.width];
            cells.iter().zip(places).all(|(cell, &place)| cell.covers(place))
        };
        rows.filter(covered).collect()
    }

    /// The first leaf of the cell that covers a person's value where the whole column is at one level; `None` if no cell of
    /// that level does.
    pub fn first_leaf(&self, row: u32, quasi: usize, domain: &Domain, level: usize) -> Option<Code> {
        let place = self.places[row as usize * self.width + quasi];
        let leaf = match (domain, place) {
            (_, Place::Leaf(code)) => Some(code),
            (Domain::Taxonomy(tree), Place::Below(lowest)) => {
                // A level's cells lie so many steps below the root, or are leaves: only the ancestor that is one of them
                // covers what is below `lowest` and on no leaf.
                let steps = tree.height().saturating_sub(level);
                // The cell of outliers stands directly below the root and for itself on every level.
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

    /// How many people these rows stand for.
    pub fn people(&self, rows: &[u32]) -> u64 {
        rows.iter().map(|&row| self.weight(row)).sum()
    }
}

/// The place of every code of a population's column.
fn places(
    column: &FoldedColumn,
    domain: &Domain,
    spec: &ColumnSpec,
    missing: &str,
) -> Result<Vec<Place>, Misfit> {
    match domain {
        Domain::Numbers(line) => {
            let read = |text: &str| match line.numbers() {
                crate::domain::Numbers::Dates(_) => parse_date(text).map(f64::from),
                _ => parse_number(text).map(|n| n.as_f64()),
            };
            let place = |(code, text): (usize, &String)| match code as u32 {
                MISSING => Ok(line.missing_leaf().map_or(Place::Outside, Place::Leaf)),
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
            let place = |text: &String| tree.cell_of(text).map_or(Place::Outside, Place::Below);
            let known = |text: &String| crate::hierarchy::mdr::leaf(text).and_then(|leaf| tree.code(&leaf));
            let place = |text: &String| known(text).map_or_else(|| place(text), Place::Leaf);
            let mut places: Vec<Place> = column.texts.iter().map(place).collect();
            places[MISSING as usize] = tree.code(missing).map_or(Place::Outside, Place::Leaf);
            Ok(places)
        }
        Domain::Taxonomy(tree) => {
            // A hierarchy of rules, such as a mask, reaches values the sample does not have; one that lists its values
            // does not.
            let values: Vec<&str> = column.texts.iter().skip(1).map(String::as_str).collect();
            let own =
                spec.hierarchy.as_ref().and_then(|h| spec.taxonomy(h, &column.name, &values, None).ok());
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

/// The place of a number on a line of numbers.
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

/// The first of `0..count` for which the predicate, true at first and then false, is false.
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

    /// Columns of the three kinds, a mask among the hierarchies.
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
        /// Every group of sample rows, published with its cells: a person counts if the cell, read as text on the
        /// population's own domain, covers the person's value.
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
                            prop_assert_eq!(covers, found == Some(first), "column {} level {}", q, level);
                        }
                    }
                }
            }
            // One group of all sample rows.
            for q in 0..4 {
                let mut codes: Vec<Code> = (0..data.rows()).map(|r| Code(data.quasi_codes(r)[q])).collect();
                codes.sort_unstable();
                codes.dedup();
                let span = Span { lo: codes[0], hi: codes[codes.len() - 1] };
                let domain = &data.quasi()[q].domain;
                let label = if domain.publishes_sets() { domain.set_label(&codes) } else { domain.label(span.lo, span.hi) };
                let cell = PublishedCell::new(domain, span, &codes);
                // Where a label is no cell of the population's domain it covers nobody there, unless it lists values.
                let (own, own_codes) = Domain::build(&folded.columns[q], specs[q], Some("?")).unwrap();
                for row in 0..folded.rows() {
                    let code = own_codes[folded.row(row)[q] as usize];
                    let text = if folded.row(row)[q] == MISSING { "?" } else { &folded.columns[q].texts[folded.row(row)[q] as usize] };
                    let read = match own.read(&label) {
                        Some(read) => own.covers(&read, code),
                        None => crate::cell::parse_set(&label).is_some_and(|set| set.iter().any(|v| v == text)),
                    };
                    let place = population.places[row * 4 + q];
                    prop_assert_eq!(cell.covers(place), read, "column {} label {} value {}", q, label, text);
                }
            }
        }
    }
}
