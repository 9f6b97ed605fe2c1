//! Decodes the cells of a released column into ranges of the values of another table.

use incrowd_core::cell::parse_set;
use incrowd_core::domain::{Numbers, ReadCell};
use incrowd_core::hierarchy::mdr::Unit;
use incrowd_core::number::{is_exact, looks_like_date, looks_numeric, parse_date, parse_number};
use incrowd_core::spelling::dates_of_other_table;
use incrowd_core::{
    ColumnSpec, Domain, Error, Folded, FoldedColumn, HierarchySpec, Kind, Labels, MISSING, Result,
    Taxonomy,
};

/// Position of a value that is covered only by `*`.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The values that a cell covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// All values, including missing ones.
    Everything,
    /// A range of positions, both ends included.
    Span(u32, u32),
    /// A list of positions, ascending.
    Codes(Vec<u32>),
    /// No value.
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

/// A column and its codes that occur in a row. All other texts of the dictionary are ignored: if
/// missing values are published as another text than their label, that text stays in the dictionary
/// of a release that was read back, although no row has it.
pub(super) struct UsedColumn<'a> {
    pub(super) name: &'a str,
    pub(super) texts: &'a [String],
    used: Vec<bool>,
}

impl<'a> UsedColumn<'a> {
    pub(super) fn new(table: &'a Folded, column: usize) -> UsedColumn<'a> {
        let FoldedColumn { name, texts } = &table.columns[column];
        let mut used = vec![false; texts.len()];
        for row in 0..table.rows() {
            used[table.row(row)[column] as usize] = true;
        }
        UsedColumn { name, texts, used }
    }

    /// The codes that occur, without that of missing values, and their texts.
    fn values(&self) -> impl Iterator<Item = (u32, &'a str)> {
        let texts = self.texts.iter().zip(&self.used).zip(0..).skip(MISSING as usize + 1);
        texts.filter(|((_, used), _)| **used).map(|((text, _), code)| (code, text.as_str()))
    }
}

/// A released column decoded with the values of another table.
#[derive(Clone, Debug)]
pub(super) struct DecodedColumn {
    /// The values covered by each cell, by the codes of the release.
    pub(super) reach: Vec<Reach>,
    /// Whether each cell could be decoded.
    pub(super) understood: Vec<bool>,
    /// Position of each value of the table, by the codes of the table.
    pub(super) code: Vec<u32>,
    /// The texts of the table with dates in the published format, if the column has dates.
    pub(super) dates: Option<Vec<String>>,
}

impl DecodedColumn {
    /// Decodes the cells of `release` with the values of `table`. `missing` is the text with which
    /// missing values are published.
    pub(super) fn new(
        release: &UsedColumn<'_>,
        spec: &ColumnSpec,
        table: &UsedColumn<'_>,
        missing: &str,
    ) -> Result<DecodedColumn> {
        let (kind, spec) = regular(spec, release, missing);
        let spec = &spec;
        let dates = published_dates(spec, kind, table)?;
        let values = dates.as_deref().unwrap_or(table.texts);
        let fitting = fitting(spec, kind, table, values)?;
        let empty = table.values().next().is_none();
        if fitting.is_empty() && !empty {
            let name = table.name;
            return Err(Error::input(format!(
                "no value of column `{name}` matches the cells of the release"
            ))
            .help("check that both columns have the same meaning, kind and hierarchy"));
        }
        let texts = std::iter::once(MISSING).chain(fitting.iter().copied());
        let text = |code: u32| {
            let text = &values[code as usize];
            // Two texts of one float are one number here.
            match parse_number(text) {
                Some(number) if kind == Kind::Numeric && !is_exact(text) => match spec.hierarchy {
                    None => number.as_f64().to_string(),
                    Some(_) => text.clone(),
                },
                _ => text.clone(),
            }
        };
        let texts = texts.map(text).collect();
        let column = FoldedColumn { name: table.name.to_owned(), texts };
        // A hierarchy that is derived from values needs at least one value. Without values, only
        // `*` and the missing cell cover anything.
        let plain = ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() };
        let spec =
            ColumnSpec { kind: Some(kind), domain: None, labels: Labels::Set, ..spec.clone() };
        let spec = if fitting.is_empty() { plain } else { spec };
        let (domain, places) =
            Domain::build(&column, &spec, Some(missing)).map_err(|misfit| misfit.error)?;
        let mut code = vec![NOWHERE; table.texts.len()];
        code[MISSING as usize] = places[0].0;
        fitting.iter().zip(&places[1..]).for_each(|(&text, place)| code[text as usize] = place.0);
        let (reach, understood) = (Vec::new(), Vec::new());
        let mut decoded = DecodedColumn { reach, understood, code, dates };
        for (i, text) in release.texts.iter().enumerate() {
            // A null of a typed file is a missing value, independent of its text, and so is an
            // empty cell of a text file.
            let null = || Some(Reach::Span(places[0].0, places[0].0));
            let reach = match text.as_str() {
                _ if i == MISSING as usize => null(),
                "" => read(&domain, text).or_else(null),
                _ => read(&domain, text),
            };
            decoded.understood.push(reach.is_some());
            decoded.reach.push(reach.unwrap_or(Reach::Nothing));
        }
        let is_informative = |(code, text): &(u32, &str)| {
            decoded.reach[*code as usize] != Reach::Everything && !is_missing(text, missing)
        };
        let mut informative = release.values().filter(is_informative).peekable();
        let is_understood = |(code, _): (u32, &str)| decoded.understood[code as usize];
        if informative.peek().is_some() && !informative.any(is_understood) && !empty {
            let name = release.name;
            return Err(Error::input(format!(
                "no cell of column `{name}` of the release covers a value of the other table"
            ))
            .help(
                "provide the hierarchies of the release as `[columns] hierarchy` or \
                 `[input] hierarchies`, or provide the job",
            )
            .at(format!("columns.{name}")));
        }
        Ok(decoded)
    }
}

/// Returns the kind and the specification of a column. The cells of regular intervals are read with
/// their grid if it is known, else as ranges of numbers or dates.
fn regular(spec: &ColumnSpec, release: &UsedColumn<'_>, missing: &str) -> (Kind, ColumnSpec) {
    // Only numbers have bounds. The cells do not show that if all of them are `*`.
    let inferred = || match spec.limits.is_none() {
        true => sniff(release, missing),
        false => Kind::Numeric,
    };
    let kind = || spec.kind.unwrap_or_else(inferred);
    match &spec.hierarchy {
        Some(HierarchySpec::Mdr(mdr)) => match mdr.grid() {
            Some(grid) if grid.unit == Unit::Dates => (Kind::Date, spec.clone()),
            Some(_) => (Kind::Numeric, spec.clone()),
            None => (kind(), ColumnSpec { hierarchy: None, ..spec.clone() }),
        },
        _ => (kind(), spec.clone()),
    }
}

/// Infers the kind of a column from its cells. The other table is ignored, so that a few unusual
/// values in it do not change the interpretation of the release.
pub(super) fn sniff(release: &UsedColumn<'_>, missing: &str) -> Kind {
    let mut parts: Vec<&str> = Vec::new();
    let texts = release.values().map(|(_, text)| text);
    for text in texts.filter(|text| *text != "*" && !is_missing(text, missing)) {
        match text
            .strip_prefix('[')
            .and_then(|t| t.strip_suffix(']'))
            .and_then(|t| t.split_once(", "))
        {
            Some((lo, hi)) => parts.extend([lo, hi]),
            // A bounded number, `>=90`.
            None => parts
                .push(text.strip_prefix(">=").or_else(|| text.strip_prefix("<=")).unwrap_or(text)),
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

/// Whether a cell is a missing value. `missing` is the text with which they are published.
pub(super) fn is_missing(text: &str, missing: &str) -> bool {
    text.is_empty() || text == missing
}

/// Returns the texts of a table with dates in the published format, if the column has dates.
/// Another table may have another format than the release.
fn published_dates(
    spec: &ColumnSpec,
    kind: Kind,
    table: &UsedColumn<'_>,
) -> Result<Option<Vec<String>>> {
    let has_dates = match &spec.hierarchy {
        Some(HierarchySpec::Dates(_)) => true,
        None | Some(HierarchySpec::Mdr(_)) => kind == Kind::Date,
        Some(_) => spec.kind == Some(Kind::Date),
    };
    if !has_dates {
        return Ok(None);
    }
    let (codes, texts): (Vec<u32>, Vec<&str>) = table.values().unzip();
    let dates = dates_of_other_table(table.name, &texts, spec.format)?;
    let mut texts = table.texts.to_vec();
    codes.into_iter().zip(dates).for_each(|(code, date)| texts[code as usize] = date);
    Ok(Some(texts))
}

/// Returns the codes of the values that are in the domain. A population may have values that the
/// hierarchy of a release lacks.
fn fitting(
    spec: &ColumnSpec,
    kind: Kind,
    table: &UsedColumn<'_>,
    values: &[String],
) -> Result<Vec<u32>> {
    let taxonomy: Option<Taxonomy> = match &spec.hierarchy {
        Some(h @ (HierarchySpec::Arx { .. } | HierarchySpec::Nested(_))) => {
            Some(h.build(table.name, &[])?)
        }
        _ => None,
    };
    let fits = |text: &str| match (&taxonomy, &spec.hierarchy, kind) {
        (Some(taxonomy), ..) => taxonomy.code(text).is_some(),
        (.., Kind::Numeric) if spec.is_too_long(text) => false,
        (_, Some(HierarchySpec::Mdr(_)), Kind::Numeric) => parse_number(text).is_some(),
        (_, Some(HierarchySpec::Mdr(_)), _) => {
            parse_number(text).is_none() && parse_date(text).is_some()
        }
        (_, Some(h), _) => !h.is_canonical() || h.canonical(text).is_some(),
        (.., Kind::Numeric) => parse_number(text).is_some(),
        (.., Kind::Date) => parse_date(text).is_some(),
        (.., Kind::Text) => true,
    };
    let codes = table.values().map(|(code, _)| code);
    Ok(codes.filter(|&code| fits(&values[code as usize])).collect())
}

/// Decodes a cell. Returns `None` if the domain does not contain it.
fn read(domain: &Domain, text: &str) -> Option<Reach> {
    if let Domain::Labels(line) = domain
        && text.starts_with('{')
    {
        // Members that the other table lacks cover no record of it.
        let mut codes: Vec<u32> =
            parse_set(text)?.iter().filter_map(|v| line.code(v)).map(|c| c.0).collect();
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

/// Returns the number of leading numbers that satisfy a predicate. The numbers are ascending.
fn places(numbers: &Numbers, holds: impl Fn(f64) -> bool) -> u32 {
    let count = match numbers {
        Numbers::Integers(v) => v.partition_point(|&x| holds(x as f64)),
        Numbers::Reals(v) => v.partition_point(|&x| holds(x)),
        Numbers::Dates(v) => v.partition_point(|&x| holds(f64::from(x))),
    };
    count as u32
}
