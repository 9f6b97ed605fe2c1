//! Numbers and dates in order.

use super::{Misfit, SplitRule};
use crate::error::Error;
use crate::folded::FoldedColumn;
use crate::hierarchy::Taxonomy;
use crate::hierarchy::intervals::not_numeric;
use crate::hierarchy::mdr::{self, Mdr, Unit};
use crate::index::Code;
use crate::limits::Limits;
use crate::number::{Number, date_of, parse_date, parse_number, ratio};
use crate::schema::Kind;

/// The distinct values of a column, ascending.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Whole numbers.
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

/// A line of numbers; a missing value, if kept, is the last leaf.
#[derive(Clone)]
pub struct NumberLine {
    pub(super) numbers: Numbers,
    pub(super) domain: (f64, f64),
    pub(super) missing: Option<String>,
    /// Numbers at a bound stand for all beyond it.
    pub(super) limits: Limits,
}

// Cells must not reach logs.
impl std::fmt::Debug for NumberLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NumberLine").field("leaves", &self.leaves()).finish_non_exhaustive()
    }
}

impl NumberLine {
    pub(super) fn build(
        column: &FoldedColumn,
        kind: Kind,
        missing: Option<&str>,
        domain: Option<(f64, f64)>,
        limits: Limits,
    ) -> Result<(NumberLine, Vec<Code>), Misfit> {
        let texts = &column.texts[1..];
        let (numbers, mut codes) = if kind == Kind::Date {
            let dates = parse_all(texts, parse_date, || crate::spelling::no_date(&column.name, None))?;
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
            let numbers: Vec<Number> = numbers.into_iter().map(bounded).collect();
            let whole: Option<Vec<i64>> =
                numbers.iter().map(|n| if let Number::Integer(i) = n { Some(*i) } else { None }).collect();
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
        let own = if n == 0 { (0.0, 0.0) } else { (numbers.at(Code(0)), numbers.at(Code(n as u32 - 1))) };
        if let Some((lo, hi)) = domain
            && (own.0 < lo || own.1 > hi)
        {
            let error =
                Error::input(format!("column `{}` has values outside its stated domain", column.name))
                    .help("widen `domain`, or leave it out to use the range of the data")
                    .at(format!("columns.{}.domain", column.name));
            let out = codes.iter().position(|&c| numbers.at(c) < lo || numbers.at(c) > hi);
            return Err(Misfit { error, code: out.map(|i| i as u32 + 1) });
        }
        codes.insert(0, Code(n as u32));
        let line = NumberLine {
            numbers,
            domain: domain.unwrap_or(own),
            missing: missing.map(str::to_owned),
            limits,
        };
        Ok((line, codes))
    }

    pub(crate) fn leaves(&self) -> u32 {
        self.numbers.len() as u32 + u32::from(self.missing.is_some())
    }

    /// Whether there are no values but missing ones.
    pub fn is_empty(&self) -> bool {
        self.numbers.len() == 0
    }

    /// The values themselves.
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// The range that counts as the whole domain.
    pub fn domain(&self) -> (f64, f64) {
        self.domain
    }

    /// The leaf of a missing value, if such are kept.
    pub(crate) fn missing_leaf(&self) -> Option<Code> {
        self.missing.as_ref().map(|_| Code(self.numbers.len() as u32))
    }

    pub(crate) fn is_missing(&self, code: Code) -> bool {
        code.index() >= self.numbers.len()
    }

    pub(super) fn ncp(&self, lo: Code, hi: Code) -> f64 {
        if lo == hi {
            return 0.0;
        }
        if self.is_missing(hi) {
            return 1.0;
        }
        self.width(self.numbers.at(lo), self.numbers.at(hi))
    }

    pub(super) fn loss(&self, lo: Code, hi: Code) -> f64 {
        if self.is_missing(lo) {
            return 0.0;
        }
        if self.is_missing(hi) {
            return 1.0;
        }
        let step = if matches!(self.numbers, Numbers::Reals(_)) { 0.0 } else { 1.0 };
        crate::hierarchy::share((self.numbers.at(lo), self.numbers.at(hi)), self.domain, step)
    }

    /// `(hi - lo) / domain`; 0 for a constant column.
    pub(super) fn width(&self, lo: f64, hi: f64) -> f64 {
        let (min, max) = self.domain;
        if max <= min { 0.0 } else { ratio((lo, hi), (min, max), 0.0).clamp(0.0, 1.0) }
    }

    /// Missing and present values have no order between them, so they part before anything else is divided.
    pub(super) fn split_rule(&self, lo: Code, hi: Code) -> SplitRule {
        if self.is_missing(hi) {
            SplitRule::Into(vec![(lo, Code(hi.0 - 1)), (hi, hi)])
        } else {
            SplitRule::Anywhere
        }
    }

    /// The same line under a tree of regular intervals. `counts` says how many records have each leaf.
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
        Ok(self.missing.as_ref().map_or_else(|| tree.clone(), |label| tree.clone().with_leaf(label)))
    }

    /// Which number of the line stands for another one.
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

/// The distinct values ascending, and the position of each given value among them.
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
            None,
            Limits::default(),
        )
        .unwrap();
        assert_eq!(line.numbers, Numbers::Reals(vec![0.0, 9.0, 10.0]));
        assert_eq!(codes[1..], [Code(2), Code(1), Code(1), Code(0), Code(0)]);
        assert_eq!(line.label(Code(0), Code(1)), "[0, 9]");
        assert_eq!(line.ncp(Code(0), Code(1)), 0.9);
    }

    #[test]
    fn missing_is_the_last_leaf_and_parts_first() {
        let (line, codes) =
            NumberLine::build(&column(&["1", "5"]), Kind::Numeric, Some("?"), None, Limits::default())
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

    #[test]
    fn a_stated_domain_must_hold_the_values() {
        assert!(
            NumberLine::build(&column(&["1", "5"]), Kind::Numeric, None, Some((0.0, 4.0)), Limits::default())
                .is_err()
        );
        let (line, _) = NumberLine::build(
            &column(&["1", "5"]),
            Kind::Numeric,
            None,
            Some((0.0, 10.0)),
            Limits::default(),
        )
        .unwrap();
        assert_eq!(line.ncp(Code(0), Code(1)), 0.4);
    }

    #[test]
    fn what_is_no_number_is_refused_with_its_code() {
        assert_eq!(
            NumberLine::build(&column(&["1", "nan"]), Kind::Numeric, None, None, Limits::default())
                .unwrap_err()
                .code,
            Some(2)
        );
    }
}
