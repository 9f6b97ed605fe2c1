//! Domain of numbers or dates.

use super::{Misfit, SplitRule};
use crate::error::Error;
use crate::folded::FoldedColumn;
use crate::hierarchy::Taxonomy;
use crate::hierarchy::intervals::{not_exact, not_numeric};
use crate::hierarchy::mdr::{self, Mdr, Unit};
use crate::index::Code;
use crate::limits::Limits;
use crate::number::{Number, date_of, parse_date, parse_number, ratio};
use crate::schema::{ColumnSpec, Kind};

/// The distinct values of a column, ascending.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Integers.
    Integers(Vec<i64>),
    /// Any numbers.
    Reals(Vec<f64>),
    /// Days since 1970-01-01.
    Dates(Vec<i32>),
}

impl Numbers {
    pub(super) fn len(&self) -> usize {
        match self {
            Numbers::Integers(v) => v.len(),
            Numbers::Reals(v) => v.len(),
            Numbers::Dates(v) => v.len(),
        }
    }

    pub(crate) fn at(&self, code: Code) -> f64 {
        match self {
            Numbers::Integers(v) => v[code.index()] as f64,
            Numbers::Reals(v) => v[code.index()],
            Numbers::Dates(v) => f64::from(v[code.index()]),
        }
    }

    fn text(&self, code: Code) -> String {
        match self {
            Numbers::Integers(v) => v[code.index()].to_string(),
            Numbers::Reals(v) => v[code.index()].to_string(),
            Numbers::Dates(v) => date_of(v[code.index()]).to_string(),
        }
    }
}

/// A domain of numbers; a missing value, if kept, is the last leaf.
#[derive(Clone)]
pub struct NumberLine {
    pub(super) numbers: Numbers,
    /// The whole range of the column: the given one, widened to contain every number of the column
    /// without bounds.
    pub(super) domain: (f64, f64),
    pub(super) missing: Option<String>,
    /// A number at a bound represents all numbers beyond it.
    pub(super) limits: Limits,
}

crate::opaque_debug!(NumberLine { leaves: |line| line.leaves() });

impl NumberLine {
    pub(super) fn build(
        column: &FoldedColumn,
        kind: Kind,
        missing: Option<&str>,
        spec: &ColumnSpec,
    ) -> Result<(NumberLine, Vec<Code>), Misfit> {
        let domain = spec.domain;
        let limits = if spec.measuring { Limits::default() } else { spec.limits };
        let texts = &column.texts[1..];
        // The range of the numbers without bounds; losses are shares of it.
        let mut range = None;
        let (numbers, mut codes) = if kind == Kind::Date {
            let dates =
                parse_all(texts, parse_date, || crate::spelling::no_date(&column.name, None))?;
            let (values, codes) = rank(&dates, i32::cmp);
            (Numbers::Dates(values), codes)
        } else {
            let numbers = parse_all(texts, parse_number, || not_numeric(&column.name))?;
            let bounded = |n: Number| match limits.label(n.as_f64()) {
                None => n,
                Some(_) => match limits.clamp(n.as_f64()) {
                    x if x.fract() == 0.0 && x.abs() < 9e15 => Number::Integer(x as i64),
                    x => Number::Real(x),
                },
            };
            let least = numbers.iter().map(|n| n.as_f64()).reduce(f64::min);
            range = least.zip(numbers.iter().map(|n| n.as_f64()).reduce(f64::max));
            // Also checked beyond a bound: for a rounded number it is undecided whether it reaches
            // the bound.
            if let Some(at) = crate::number::first_inexact(texts) {
                return Err(Misfit { error: not_exact(&column.name), code: Some(at as u32 + 1) });
            }
            let numbers: Vec<Number> = numbers.into_iter().map(bounded).collect();
            let whole: Option<Vec<i64>> = numbers
                .iter()
                .map(|n| if let Number::Integer(i) = n { Some(*i) } else { None })
                .collect();
            match whole {
                Some(integers) => {
                    let (values, codes) = rank(&integers, i64::cmp);
                    (Numbers::Integers(values), codes)
                }
                None => {
                    let reals: Vec<f64> = numbers.iter().map(|n| n.as_f64()).collect();
                    let (values, codes) = rank(&reals, f64::total_cmp);
                    (Numbers::Reals(values), codes)
                }
            }
        };
        let n = numbers.len();
        let own =
            if n == 0 { (0.0, 0.0) } else { (numbers.at(Code(0)), numbers.at(Code(n as u32 - 1))) };
        let is_outside = |x: f64, (lo, hi): (f64, f64)| !(lo..=hi).contains(&spec.limits.clamp(x));
        if let Some(range) =
            domain.filter(|&range| n > 0 && (is_outside(own.0, range) || is_outside(own.1, range)))
        {
            let error =
                Error::input(format!("column `{}` has values outside its `domain`", column.name))
                    .help("widen `domain`, or remove it to use the range of the data")
                    .at(format!("columns.{}.domain", column.name));
            let out = codes.iter().position(|&c| is_outside(numbers.at(c), range));
            return Err(Misfit { error, code: out.map(|i| i as u32 + 1) });
        }
        codes.insert(0, Code(n as u32));
        let range = range.unwrap_or(own);
        let domain = domain.map_or(range, |(lo, hi)| (lo.min(range.0), hi.max(range.1)));
        let line = NumberLine { numbers, domain, missing: missing.map(str::to_owned), limits };
        Ok((line, codes))
    }

    pub(crate) fn leaves(&self) -> u32 {
        self.numbers.len() as u32 + u32::from(self.missing.is_some())
    }

    /// Whether all values are missing.
    pub fn is_empty(&self) -> bool {
        self.numbers.len() == 0
    }

    /// The distinct values.
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// The range that counts as the whole domain.
    pub fn domain(&self) -> (f64, f64) {
        self.domain
    }

    /// The leaf of a missing value, if missing values are kept.
    pub(crate) fn missing_leaf(&self) -> Option<Code> {
        self.missing.as_ref().map(|_| Code(self.numbers.len() as u32))
    }

    pub(crate) fn is_missing(&self, code: Code) -> bool {
        code.index() >= self.numbers.len()
    }

    /// The range of numbers an interval may represent. An interval that reaches a bound extends to
    /// the end of the domain.
    pub(crate) fn ends(&self, lo: Code, hi: Code) -> (f64, f64) {
        let (lo, hi) = (self.numbers.at(lo), self.numbers.at(hi));
        let is_bottom = self.limits.bottom.is_some_and(|bottom| lo <= bottom);
        let is_top = self.limits.top.is_some_and(|top| hi >= top);
        let lo = if is_bottom { self.domain.0.min(lo) } else { lo };
        (lo, if is_top { self.domain.1.max(hi) } else { hi })
    }

    pub(super) fn ncp(&self, lo: Code, hi: Code) -> f64 {
        if self.is_missing(lo) || (lo == hi && self.limits.is_none()) {
            return 0.0;
        }
        if self.is_missing(hi) {
            return 1.0;
        }
        let (lo, hi) = self.ends(lo, hi);
        self.width(lo, hi)
    }

    pub(super) fn loss(&self, lo: Code, hi: Code) -> f64 {
        if self.is_missing(lo) {
            return 0.0;
        }
        if self.is_missing(hi) {
            return 1.0;
        }
        let step = if matches!(self.numbers, Numbers::Reals(_)) { 0.0 } else { 1.0 };
        crate::hierarchy::share(self.ends(lo, hi), self.domain, step)
    }

    /// `(hi - lo) / domain`; 0 for a constant column.
    pub(super) fn width(&self, lo: f64, hi: f64) -> f64 {
        let (min, max) = self.domain;
        if max <= min { 0.0 } else { ratio((lo, hi), (min, max), 0.0).clamp(0.0, 1.0) }
    }

    /// Missing and present values have no order, so they are separated before any other split.
    pub(super) fn split_rule(&self, lo: Code, hi: Code) -> SplitRule {
        if self.is_missing(hi) {
            SplitRule::Into(vec![(lo, Code(hi.0 - 1)), (hi, hi)])
        } else {
            SplitRule::Anywhere
        }
    }

    /// A tree of regular intervals over these numbers. `counts` holds the number of records per
    /// leaf.
    pub fn with_mdr(&self, column: &str, mdr: &Mdr, counts: &[u64]) -> crate::Result<Taxonomy> {
        let unit = match self.numbers {
            Numbers::Integers(_) => Unit::Integers,
            Numbers::Reals(_) => Unit::Reals,
            Numbers::Dates(_) => Unit::Dates,
        };
        let leaf = |i: usize| {
            let code = Code(i as u32);
            mdr::Leaf { label: self.numbers.text(code), x: self.numbers.at(code), count: counts[i] }
        };
        let leaves = (0..self.numbers.len()).map(leaf).collect();
        let tree = mdr.tree(column, leaves, unit, Some(self.domain))?;
        Ok(self
            .missing
            .as_ref()
            .map_or_else(|| tree.clone(), |label| tree.clone().with_leaf(label)))
    }

    /// The number with the bounds applied.
    pub(crate) fn within(&self, x: f64) -> f64 {
        self.limits.clamp(x)
    }

    /// The label of an interval that reaches a bound.
    fn open_label(&self, lo: Code, hi: Code) -> Option<String> {
        let top = self.limits.top.is_some_and(|top| self.numbers.at(hi) >= top);
        let bottom = self.limits.bottom.is_some_and(|bottom| self.numbers.at(lo) <= bottom);
        match (bottom, top) {
            (false, false) => None,
            (true, true) => Some("*".to_owned()),
            (false, true) => Some(format!(">={}", self.numbers.text(lo))),
            (true, false) => Some(format!("<={}", self.numbers.text(hi))),
        }
    }

    pub(super) fn label(&self, lo: Code, hi: Code) -> String {
        if self.is_missing(lo) {
            self.missing.clone().unwrap_or_default()
        } else if self.is_missing(hi) {
            "*".to_owned()
        } else if let Some(open) = self.open_label(lo, hi) {
            open
        } else if lo == hi {
            self.numbers.text(lo)
        } else {
            format!("[{}, {}]", self.numbers.text(lo), self.numbers.text(hi))
        }
    }
}

fn parse_all<T>(
    texts: &[String],
    parse: fn(&str) -> Option<T>,
    refuse: impl Fn() -> Error,
) -> Result<Vec<T>, Misfit> {
    let mut values = Vec::with_capacity(texts.len());
    for (i, text) in texts.iter().enumerate() {
        match parse(text) {
            Some(value) => values.push(value),
            None => return Err(Misfit { error: refuse(), code: Some(i as u32 + 1) }),
        }
    }
    Ok(values)
}

/// The distinct values ascending, and the index of each given value among them.
fn rank<T: Copy>(values: &[T], order: fn(&T, &T) -> std::cmp::Ordering) -> (Vec<T>, Vec<Code>) {
    let mut sorted = values.to_vec();
    sorted.sort_by(order);
    sorted.dedup_by(|a, b| order(a, b).is_eq());
    let position = |v: &T| sorted.partition_point(|s| order(s, v).is_lt());
    let codes = values.iter().map(|v| Code(position(v) as u32)).collect();
    (sorted, codes)
}

#[cfg(test)]
mod tests {
    use super::super::tests::column;
    use super::*;

    #[test]
    fn equal_numbers_share_a_leaf() {
        let (line, codes) = NumberLine::build(
            &column(&["10", "9.0", "9", "-0.0", "0"]),
            Kind::Numeric,
            None,
            &ColumnSpec::default(),
        )
        .unwrap();
        assert_eq!(line.numbers, Numbers::Reals(vec![0.0, 9.0, 10.0]));
        assert_eq!(codes[1..], [Code(2), Code(1), Code(1), Code(0), Code(0)]);
        assert_eq!(line.label(Code(0), Code(1)), "[0, 9]");
        assert_eq!(line.ncp(Code(0), Code(1)), 0.9);
    }

    #[test]
    fn missing_is_the_last_leaf_and_separated_first() {
        let (line, codes) = NumberLine::build(
            &column(&["1", "5"]),
            Kind::Numeric,
            Some("?"),
            &ColumnSpec::default(),
        )
        .unwrap();
        assert_eq!(codes[0], Code(2));
        assert_eq!(line.label(Code(0), Code(2)), "*");
        assert_eq!(line.label(Code(2), Code(2)), "?");
        assert_eq!((line.ncp(Code(0), Code(2)), line.ncp(Code(2), Code(2))), (1.0, 0.0));
        assert_eq!(
            line.split_rule(Code(0), Code(2)),
            SplitRule::Into(vec![(Code(0), Code(1)), (Code(2), Code(2))])
        );
    }

    fn bounded(domain: Option<(f64, f64)>, limits: Limits) -> ColumnSpec {
        ColumnSpec { domain, limits, ..ColumnSpec::default() }
    }

    fn line(texts: &[&str], spec: &ColumnSpec) -> Result<NumberLine, Misfit> {
        NumberLine::build(&column(texts), Kind::Numeric, None, spec).map(|(line, _)| line)
    }

    #[test]
    fn a_given_domain_must_contain_the_values() {
        assert!(line(&["1", "5"], &bounded(Some((0.0, 4.0)), Limits::default())).is_err());
        let wide = line(&["1", "5"], &bounded(Some((0.0, 10.0)), Limits::default())).unwrap();
        assert_eq!(wide.ncp(Code(0), Code(1)), 0.4);
        // Values beyond a bound may be outside.
        let top = Limits { top: Some(4.0), bottom: None };
        assert!(line(&["1", "5"], &bounded(Some((0.0, 4.0)), top)).is_ok());
    }

    #[test]
    fn the_loss_of_a_bound_is_the_range_beyond_it() {
        let top = bounded(None, Limits { top: Some(20.0), bottom: None });
        let ages = line(&["20", "30", "60"], &top).unwrap();
        assert_eq!((ages.leaves(), ages.label(Code(0), Code(0))), (1, ">=20".into()));
        assert_eq!((ages.ncp(Code(0), Code(0)), ages.loss(Code(0), Code(0))), (1.0, 1.0));
        let measured = line(&["20", "30", "60"], &top.for_measuring()).unwrap();
        assert_eq!((measured.leaves(), measured.label(Code(1), Code(1))), (3, "30".into()));
        let both = bounded(None, Limits { top: Some(50.0), bottom: Some(20.0) });
        let ages = line(&["0", "20", "30", "50", "100"], &both).unwrap();
        let cost = |lo: u32, hi: u32| ages.ncp(Code(lo), Code(hi));
        assert_eq!((cost(0, 0), cost(1, 1), cost(2, 2)), (0.2, 0.0, 0.5));
        assert_eq!((cost(0, 1), cost(1, 2), cost(0, 2)), (0.3, 0.7, 1.0));
    }

    #[test]
    fn numbers_that_would_be_rounded_are_refused() {
        let build = |texts: &[&str], limits| line(texts, &bounded(None, limits));
        let misfit = build(&["1", "12345678901234567890"], Limits::default()).unwrap_err();
        assert_eq!(misfit.code, Some(2));
        assert!(misfit.error.message().contains("more digits"));
        let top = Limits { top: Some(100.0), bottom: None };
        assert!(build(&["1", "12345678901234567890"], top).is_err());
    }

    #[test]
    fn a_text_among_numbers_is_refused_with_its_code() {
        assert_eq!(line(&["1", "nan"], &ColumnSpec::default()).unwrap_err().code, Some(2));
    }
}
