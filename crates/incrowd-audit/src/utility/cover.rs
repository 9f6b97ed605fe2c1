//! The leaves that a published cell covers, and for numbers the interval.

use incrowd_core::domain::{Numbers, ReadCell};
use incrowd_core::{Code, Domain};

/// The leaves of a cell as maximal intervals of leaves, ascending.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cover {
    spans: Vec<(u32, u32)>,
    leaves: u32,
    /// The interval of numbers, for a numeric column.
    pub(crate) extent: Option<(f64, f64)>,
    /// Width in the units of the column, for a range of numbers or dates.
    pub(crate) width: Option<f64>,
    /// Normalized certainty penalty.
    pub(crate) ncp: f64,
}

impl Cover {
    /// Creates the cover of one leaf with its number, if it has one.
    pub(crate) fn leaf(leaf: u32, number: Option<f64>) -> Cover {
        let extent = number.map(|x| (x, x));
        Cover { spans: vec![(leaf, leaf)], leaves: 1, extent, width: number.map(|_| 0.0), ncp: 0.0 }
    }

    /// Creates the cover of all leaves of a line.
    pub(crate) fn everything(leaves: u32, extent: Option<(f64, f64)>) -> Cover {
        let width = extent.map(|(lo, hi)| hi - lo);
        let ncp = f64::from(u8::from(leaves > 1));
        Cover { spans: vec![(0, leaves.saturating_sub(1))], leaves, extent, width, ncp }
    }

    /// Creates the cover of a cell of a quasi-identifier.
    pub(crate) fn of_cell(domain: &Domain, cell: &ReadCell) -> Cover {
        let all = domain.leaves();
        let ncp = domain.cell_ncp(cell);
        let cover = match (cell, domain) {
            (ReadCell::Between(lo, hi), Domain::Numbers(line)) => {
                let numbers = line.numbers();
                let first = leading(numbers, |v| v < *lo);
                let after = leading(numbers, |v| v <= *hi);
                let span = if first < after {
                    (first as u32, after as u32 - 1)
                } else {
                    // A cell between two values of the original, such as a mean, covers the nearer
                    // of them.
                    nearest(numbers, lo / 2.0 + hi / 2.0)
                };
                let mut cover = Cover::of_spans(vec![span]);
                (cover.extent, cover.width) = (Some((*lo, *hi)), Some(hi - lo));
                cover
            }
            (ReadCell::Below(node), Domain::Taxonomy(taxonomy)) => {
                let (lo, hi) = taxonomy.span(*node);
                let mut cover = Cover::of_spans(vec![(lo.0, hi.0)]);
                cover.width =
                    taxonomy.extents().map(|e| e.of_node[node.index()]).map(|(lo, hi)| hi - lo);
                cover
            }
            (ReadCell::OneOf(codes), _) => Cover::of_codes(codes),
            (ReadCell::Missing, _) => Cover::of_spans(vec![(all - 1, all - 1)]),
            (_, Domain::Numbers(line)) => Cover::everything(all, Some(line.domain())),
            (_, Domain::Taxonomy(taxonomy)) => {
                let mut cover = Cover::everything(all, None);
                cover.width = taxonomy.extents().map(|e| e.domain.1 - e.domain.0);
                cover
            }
            _ => Cover::everything(all, None),
        };
        Cover { ncp, ..cover }
    }

    fn of_codes(codes: &[Code]) -> Cover {
        let mut codes: Vec<u32> = codes.iter().map(|code| code.0).collect();
        codes.sort_unstable();
        codes.dedup();
        let mut spans: Vec<(u32, u32)> = Vec::new();
        for code in codes {
            match spans.last_mut() {
                Some((_, last)) if *last + 1 == code => *last = code,
                _ => spans.push((code, code)),
            }
        }
        Cover::of_spans(spans)
    }

    fn of_spans(spans: Vec<(u32, u32)>) -> Cover {
        let leaves = spans.iter().map(|(lo, hi)| hi - lo + 1).sum();
        Cover { spans, leaves, extent: None, width: None, ncp: 0.0 }
    }

    /// Returns the number of leaves.
    pub(crate) fn leaves(&self) -> u32 {
        self.leaves
    }

    /// Returns the intervals, both ends included.
    pub(crate) fn spans(&self) -> &[(u32, u32)] {
        &self.spans
    }

    /// Returns the number of its leaves between two leaves, both included.
    pub(crate) fn overlap(&self, (first, last): (u32, u32)) -> u32 {
        let common = |&(lo, hi): &(u32, u32)| (hi.min(last) + 1).saturating_sub(lo.max(first));
        self.spans.iter().map(common).sum()
    }
}

/// Returns the numbers of a domain in ascending order.
pub(crate) fn values(numbers: &Numbers) -> Vec<f64> {
    match numbers {
        Numbers::Integers(v) => v.iter().map(|&n| n as f64).collect(),
        Numbers::Reals(v) => v.clone(),
        Numbers::Dates(v) => v.iter().map(|&n| f64::from(n)).collect(),
    }
}

/// Returns how many numbers at the beginning of a domain satisfy a condition that no number after
/// them satisfies. The numbers are searched in place: a copy for each cell would make reading the
/// cells of a column quadratic in its distinct values.
fn leading(numbers: &Numbers, is_before: impl Fn(f64) -> bool) -> usize {
    match numbers {
        Numbers::Integers(v) => v.partition_point(|&n| is_before(n as f64)),
        Numbers::Reals(v) => v.partition_point(|&x| is_before(x)),
        Numbers::Dates(v) => v.partition_point(|&n| is_before(f64::from(n))),
    }
}

/// Returns the number of a leaf.
fn number(numbers: &Numbers, leaf: usize) -> f64 {
    match numbers {
        Numbers::Integers(v) => v[leaf] as f64,
        Numbers::Reals(v) => v[leaf],
        Numbers::Dates(v) => f64::from(v[leaf]),
    }
}

fn nearest(numbers: &Numbers, x: f64) -> (u32, u32) {
    let all = match numbers {
        Numbers::Integers(v) => v.len(),
        Numbers::Reals(v) => v.len(),
        Numbers::Dates(v) => v.len(),
    };
    let after = leading(numbers, |v| v < x).min(all.saturating_sub(1));
    let is_nearer_before = || x - number(numbers, after - 1) <= number(numbers, after) - x;
    let nearer = if after > 0 && is_nearer_before() { after - 1 } else { after };
    (nearer as u32, nearer as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use incrowd_core::{ColumnSpec, FoldedColumn, Kind};
    use proptest::prelude::*;

    fn domain(texts: &[&str], kind: Kind) -> Domain {
        let texts = std::iter::once("").chain(texts.iter().copied()).map(str::to_owned).collect();
        let column = FoldedColumn { name: "x".into(), texts };
        let spec = ColumnSpec { kind: Some(kind), ..ColumnSpec::default() };
        Domain::build(&column, &spec, None).unwrap().0
    }

    fn cover(domain: &Domain, text: &str) -> Cover {
        Cover::of_cell(domain, &domain.read(text).unwrap())
    }

    #[test]
    fn a_range_covers_the_original_values_in_it() {
        let ages = domain(&["20", "25", "40"], Kind::Numeric);
        let range = cover(&ages, "[21, 40]");
        assert_eq!(
            (range.spans(), range.extent, range.width),
            (&[(1, 2)][..], Some((21.0, 40.0)), Some(19.0))
        );
        assert_eq!(cover(&ages, "*").leaves(), 3);
        assert_eq!(cover(&ages, "31").spans(), [(1, 1)]);
        assert_eq!(cover(&ages, "[33, 34]").spans(), [(2, 2)]);
        assert_eq!(cover(&ages, "99").spans(), [(2, 2)]);
    }

    /// The span of a range of numbers, found by looking at every number.
    fn slow(numbers: &[f64], lo: f64, hi: f64) -> (u32, u32) {
        let within = (0..numbers.len()).filter(|&at| lo <= numbers[at] && numbers[at] <= hi);
        let within: Vec<usize> = within.collect();
        if let (Some(&first), Some(&last)) = (within.first(), within.last()) {
            return (first as u32, last as u32);
        }
        let middle = lo / 2.0 + hi / 2.0;
        let distance = |at: usize| (numbers[at] - middle).abs();
        // Of two numbers at the same distance, the lower one is nearer.
        let nearer = |a: usize, b: usize| if distance(b) < distance(a) { b } else { a };
        let nearest = (0..numbers.len()).reduce(nearer).unwrap() as u32;
        (nearest, nearest)
    }

    proptest! {
        /// Numbers in halves are exact, so the distances of both ways are equal.
        #[test]
        fn a_range_covers_the_numbers_that_a_search_through_all_finds(
            halves in prop::collection::btree_set(-40i32..40, 1..30),
            is_whole in any::<bool>(),
            (lo, width) in (-100i32..100, 0i32..60),
        ) {
            let unit = if is_whole { 1.0 } else { 0.5 };
            let numbers: Vec<f64> = halves.iter().map(|&n| f64::from(n) * unit).collect();
            let texts: Vec<String> = numbers.iter().map(f64::to_string).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let domain = domain(&texts, Kind::Numeric);
            let (lo, hi) = (f64::from(lo) / 2.0, f64::from(lo + width) / 2.0);
            let cover = Cover::of_cell(&domain, &ReadCell::Between(lo, hi));
            prop_assert_eq!(cover.spans().to_vec(), vec![slow(&numbers, lo, hi)]);
            prop_assert_eq!((cover.extent, cover.width), (Some((lo, hi)), Some(hi - lo)));
        }

        #[test]
        fn a_range_of_dates_covers_the_days_in_it(
            days in prop::collection::btree_set(0u32..28, 1..15),
            (lo, width) in (0u32..28, 0u32..9),
        ) {
            let texts: Vec<String> =
                days.iter().map(|day| format!("1970-01-{:02}", day + 1)).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let domain = domain(&texts, Kind::Date);
            let numbers: Vec<f64> = days.iter().map(|&day| f64::from(day)).collect();
            let (lo, hi) = (f64::from(lo), f64::from(lo + width));
            let cover = Cover::of_cell(&domain, &ReadCell::Between(lo, hi));
            prop_assert_eq!(cover.spans().to_vec(), vec![slow(&numbers, lo, hi)]);
        }
    }

    #[test]
    fn a_set_may_have_gaps() {
        let towns = domain(&["a", "b", "c", "d"], Kind::Text);
        let set = cover(&towns, "{a, b, d}");
        assert_eq!((set.spans(), set.leaves()), (&[(0, 1), (3, 3)][..], 3));
        assert_eq!((set.overlap((1, 3)), set.overlap((2, 2)), set.overlap((0, 3))), (2, 0, 3));
    }
}
