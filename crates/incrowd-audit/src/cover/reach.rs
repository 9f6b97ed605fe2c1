//! What a published cell of one column covers, on the line of the values of another table.

use incrowd_core::cell::parse_set;
use incrowd_core::domain::{Numbers, ReadCell};
use incrowd_core::hierarchy::mdr::Unit;
use incrowd_core::number::{looks_like_date, looks_numeric, parse_date, parse_number};
use incrowd_core::{
    ColumnSpec, Domain, Error, FoldedColumn, HierarchySpec, Kind, Labels, MISSING, Result, Taxonomy,
};

/// A value that lies under no label but `*`.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The values a cell covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// All of them, missing ones too.
    Everything,
    /// Those from one place on the line to another, both included.
    Span(u32, u32),
    /// These, in order.
    Codes(Vec<u32>),
    /// None of them.
    Nothing,
}

impl Reach {
    pub(super) fn covers(&self, code: u32) -> bool {
        match self {
            Reach::Everything => true,
            Reach::Span(lo, hi) => (*lo..=*hi).contains(&code),
            Reach::Codes(codes) => codes.binary_search(&code).is_ok(),
            Reach::Nothing => false,
        }
    }
}

/// One column of a release, read with the values of another table.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// What each cell covers, by the release's codes.
    pub(super) reach: Vec<Reach>,
    /// Whether each cell says anything about this table's values.
    pub(super) understood: Vec<bool>,
    /// Where each value of the table lies, by the table's codes.
    pub(super) code: Vec<u32>,
}

impl Line {
    /// Reads the cells of `release` on the values of `table`. `missing` is the text under which missing values are
    /// published.
    pub(super) fn new(
        release: &FoldedColumn,
        spec: &ColumnSpec,
        table: &FoldedColumn,
        missing: &str,
    ) -> Result<Line> {
        let (kind, spec) = regular(spec, release, missing);
        let spec = &spec;
        let fitting = fitting(spec, kind, table)?;
        let empty = table.texts.len() == 1;
        if fitting.is_empty() && !empty {
            let name = &table.name;
            return Err(Error::input(format!("no value of column `{name}` fits the cells of the release"))
                .help("is it the same column, with the same kind and the same hierarchy?"));
        }
        let texts = std::iter::once(MISSING).chain(fitting.iter().copied());
        let texts = texts.map(|code| table.texts[code as usize].clone()).collect();
        let column = FoldedColumn { name: table.name.clone(), texts };
        // A hierarchy made from values needs some; without any, only `*` and the missing cell cover something.
        let plain = ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() };
        let spec = ColumnSpec { kind: Some(kind), domain: None, labels: Labels::Set, ..spec.clone() };
        let spec = if fitting.is_empty() { plain } else { spec };
        let (domain, places) = Domain::build(&column, &spec, Some(missing)).map_err(|misfit| misfit.error)?;
        let mut code = vec![NOWHERE; table.texts.len()];
        code[MISSING as usize] = places[0].0;
        fitting.iter().zip(&places[1..]).for_each(|(&text, place)| code[text as usize] = place.0);
        let mut line = Line { reach: Vec::new(), understood: Vec::new(), code };
        for (i, text) in release.texts.iter().enumerate() {
            // A null of a typed file is a missing value whatever its text.
            let lost = || Some(Reach::Span(places[0].0, places[0].0));
            let reach = if i == MISSING as usize { lost() } else { read(&domain, text) };
            line.understood.push(reach.is_some());
            line.reach.push(reach.unwrap_or(Reach::Nothing));
        }
        let tells = |i: &usize| line.reach[*i] != Reach::Everything && release.texts[*i] != missing;
        let mut telling = (1..release.texts.len()).filter(tells).peekable();
        if telling.peek().is_some() && !telling.any(|i| line.understood[i]) && !empty {
            let name = &release.name;
            return Err(Error::input(format!(
                "no cell of column `{name}` of the release covers a value of the other table"
            ))
            .help("give the hierarchies the release was made with as `[columns] hierarchy` or `[input] hierarchies`, or give the job")
            .at(format!("columns.{name}")));
        }
        Ok(line)
    }
}

/// What a column holds. The cells of regular intervals are read on their grid where that is known, else as the ranges of
/// numbers or dates they are.
fn regular(spec: &ColumnSpec, release: &FoldedColumn, missing: &str) -> (Kind, ColumnSpec) {
    let kind = || spec.kind.unwrap_or_else(|| sniff(release, missing));
    match &spec.hierarchy {
        Some(HierarchySpec::Mdr(mdr)) => match mdr.grid() {
            Some(grid) if grid.unit == Unit::Dates => (Kind::Date, spec.clone()),
            Some(_) => (Kind::Numeric, spec.clone()),
            None => (kind(), ColumnSpec { hierarchy: None, ..spec.clone() }),
        },
        _ => (kind(), spec.clone()),
    }
}

/// The kind of a column nobody stated: what its cells are made of. The other table is not asked, since a few odd values
/// in it must not change how the release is read.
pub(super) fn sniff(release: &FoldedColumn, missing: &str) -> Kind {
    let mut parts: Vec<&str> = Vec::new();
    for text in release.texts.iter().skip(1).filter(|t| *t != "*" && *t != missing) {
        match text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).and_then(|t| t.split_once(", ")) {
            Some((lo, hi)) => parts.extend([lo, hi]),
            // A bounded number, `>=90`.
            None => parts.push(text.strip_prefix(">=").or_else(|| text.strip_prefix("<=")).unwrap_or(text)),
        }
    }
    if parts.is_empty() {
        Kind::Text
    } else if parts.iter().all(|p| looks_numeric(p)) {
        Kind::Numeric
    } else if parts.iter().all(|p| looks_like_date(p)) {
        Kind::Date
    } else {
        Kind::Text
    }
}

/// The codes of the texts that can lie on the line. A population may know values that the hierarchy of a release does not.
fn fitting(spec: &ColumnSpec, kind: Kind, table: &FoldedColumn) -> Result<Vec<u32>> {
    let taxonomy: Option<Taxonomy> = match &spec.hierarchy {
        Some(h @ (HierarchySpec::Arx { .. } | HierarchySpec::Nested(_))) => Some(h.build(&table.name, &[])?),
        _ => None,
    };
    let fits = |text: &str| match (&taxonomy, &spec.hierarchy, kind) {
        (Some(taxonomy), ..) => taxonomy.code(text).is_some(),
        (_, Some(HierarchySpec::Mdr(_)), Kind::Numeric) => parse_number(text).is_some(),
        (_, Some(HierarchySpec::Mdr(_)), _) => parse_number(text).is_none() && parse_date(text).is_some(),
        (_, Some(h), _) => !h.is_canonical() || h.canonical(text).is_some(),
        (.., Kind::Numeric) => parse_number(text).is_some(),
        (.., Kind::Date) => parse_date(text).is_some(),
        (.., Kind::Text) => true,
    };
    Ok((1..table.texts.len() as u32).filter(|&code| fits(&table.texts[code as usize])).collect())
}

/// What a cell covers; `None` if it says nothing about the values of this line.
fn read(domain: &Domain, text: &str) -> Option<Reach> {
    if let Domain::Labels(line) = domain
        && text.starts_with('{')
    {
        // Members that the other table does not know cover nobody in it.
        let mut codes: Vec<u32> = parse_set(text)?.iter().filter_map(|v| line.code(v)).map(|c| c.0).collect();
        codes.sort_unstable();
        codes.dedup();
        return (!codes.is_empty()).then_some(Reach::Codes(codes));
    }
    Some(match (domain.read(text)?, domain) {
        (ReadCell::Anything, _) => Reach::Everything,
        (ReadCell::Below(node), Domain::Taxonomy(taxonomy)) => {
            let (first, last) = taxonomy.span(node);
            Reach::Span(first.0, last.0)
        }
        (ReadCell::OneOf(codes), _) => match codes.as_slice() {
            [code] => Reach::Span(code.0, code.0),
            _ => Reach::Nothing,
        },
        (ReadCell::Between(lo, hi), Domain::Numbers(line)) => {
            let numbers = line.numbers();
            let (from, to) = (places(numbers, |x| x < lo), places(numbers, |x| x <= hi));
            if from < to { Reach::Span(from, to - 1) } else { Reach::Nothing }
        }
        (ReadCell::Missing, Domain::Numbers(line)) => {
            let last = places(line.numbers(), |_| true);
            Reach::Span(last, last)
        }
        _ => Reach::Nothing,
    })
}

/// How many of the ascending numbers satisfy a predicate that holds of a beginning of them.
fn places(numbers: &Numbers, holds: impl Fn(f64) -> bool) -> u32 {
    let count = match numbers {
        Numbers::Integers(v) => v.partition_point(|&x| holds(x as f64)),
        Numbers::Reals(v) => v.partition_point(|&x| holds(x)),
        Numbers::Dates(v) => v.partition_point(|&x| holds(f64::from(x))),
    };
    count as u32
}
