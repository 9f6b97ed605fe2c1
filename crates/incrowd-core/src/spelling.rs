//! Normalizes dates. Tables write dates in many formats; after reading they are written
//! `2021-03-05`.

use crate::calendar::{Date, DateFormat, Sniffed};
use crate::domain::Misfit;
use crate::error::{Error, Result};
use crate::folded::FoldedColumn;
use crate::hierarchy::HierarchySpec;
use crate::number::parse_date;
use crate::schema::{ColumnSpec, Kind};

/// Writes the dates of a quasi-identifier in the published format. Leaves a column without dates
/// unchanged. Two texts may become equal.
pub fn unify(column: &mut FoldedColumn, spec: &ColumnSpec) -> Result<(), Misfit> {
    let Some(format) =
        dates_of(&column.name, spec, column.texts.iter().skip(1).map(String::as_str))?
    else {
        return Ok(());
    };
    for (code, text) in column.texts.iter_mut().enumerate().skip(1) {
        match format.read(text) {
            Some(date) => *text = date.to_string(),
            None => {
                return Err(Misfit {
                    error: no_date(&column.name, Some(format)),
                    code: Some(code as u32),
                });
            }
        }
    }
    Ok(())
}

/// The values of a column of another table, for example a population, with its dates in the
/// published format; `format` is the format that the job states. A release has such dates in this
/// column, so single values that are not dates are allowed. They stay unchanged and match no date.
/// But a date that cannot be read must not match nothing silently: dates in several formats are
/// refused. Dates in the published format are read in every column.
pub fn dates_of_other_table(
    name: &str,
    texts: &[&str],
    format: Option<DateFormat>,
) -> Result<Vec<String>> {
    let read = |text: &str| {
        let stated = format.and_then(|format| format.read(text));
        stated.or_else(|| parse_date(text).map(Date::of_days))
    };
    let is_date = |text: &&str| DateFormat::sniff(std::iter::once(*text)) != Sniffed::NoDates;
    let others: Vec<&str> =
        texts.iter().copied().filter(|text| read(text).is_none()).filter(is_date).collect();
    let other = match (others.is_empty(), format) {
        (true, _) => None,
        (false, Some(format)) => return Err(no_date(name, Some(format))),
        (false, None) => match DateFormat::sniff(others.iter().copied()) {
            Sniffed::Written(format) => Some(format),
            Sniffed::Ambiguous(formats) => return Err(ambiguous(name, &formats)),
            Sniffed::NoDates => {
                return Err(Error::input(format!("column `{name}` has dates in several formats"))
                    .help(ONE_FORMAT));
            }
        },
    };
    let published = |text: &&str| {
        let date = read(text).or_else(|| other.and_then(|format| format.read(text)));
        date.map_or_else(|| (*text).to_owned(), |date| date.to_string())
    };
    Ok(texts.iter().map(published).collect())
}

/// The format of a column's dates, if its values are dates and are to be parsed as such.
fn dates_of<'a>(
    name: &str,
    spec: &ColumnSpec,
    texts: impl Iterator<Item = &'a str> + Clone,
) -> Result<Option<DateFormat>, Misfit> {
    let calendar = matches!(spec.hierarchy, Some(HierarchySpec::Dates(_)));
    let stated = calendar || spec.kind == Some(Kind::Date);
    let open = spec.kind.is_none() && matches!(spec.hierarchy, None | Some(HierarchySpec::Mdr(_)));
    match spec.format {
        Some(format) if stated || open => return Ok(Some(format)),
        _ if !stated && !open => return Ok(None),
        _ => {}
    }
    match DateFormat::sniff(texts) {
        Sniffed::Written(format) => Ok(Some(format)),
        // Texts that are not dates are refused later, if dates are required.
        Sniffed::NoDates => Ok(None),
        Sniffed::Ambiguous(formats) => Err(ambiguous(name, &formats).into()),
    }
}

/// The error about dates that can be read in more than one format.
pub(crate) fn ambiguous(name: &str, formats: &[DateFormat]) -> Error {
    let ways: Vec<String> = formats.iter().map(|format| format!("format = \"{format}\"")).collect();
    Error::input(format!(
        "column `{name}` holds dates, and it is ambiguous whether the day or the month comes first"
    ))
    .help(format!("set {}", ways.join(" or ")))
    .at(format!("columns.{name}.format"))
}

const ONE_FORMAT: &str =
    "all dates of a column must have one format: 2021-03-05 or 05.03.2021 or 3/5/2021";

/// The error about a value that is not a date.
pub(crate) fn no_date(name: &str, format: Option<DateFormat>) -> Error {
    let written = match format {
        Some(format) => format!("the dates of this column have the format {format}"),
        None => ONE_FORMAT.to_owned(),
    };
    Error::input(format!("column `{name}` holds a value that is not a date"))
        .help(format!("{written}; list texts that mean a missing value in [input] missing"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::dates::Dates;

    fn unified(texts: &[&str], spec: &ColumnSpec) -> Result<Vec<String>, Misfit> {
        let texts = std::iter::once("").chain(texts.iter().copied()).map(str::to_owned).collect();
        let mut column = FoldedColumn { name: "born".into(), texts };
        unify(&mut column, spec)?;
        Ok(column.texts[1..].to_vec())
    }

    #[test]
    fn dates_are_normalized_unless_the_column_is_text() {
        let plain = ColumnSpec::default();
        assert_eq!(
            unified(&["12.09.1972", "1.2.2003"], &plain).unwrap(),
            ["1972-09-12", "2003-02-01"]
        );
        assert_eq!(unified(&["2023-03-04T10:00:00Z"], &plain).unwrap(), ["2023-03-04"]);
        let text = ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() };
        assert_eq!(unified(&["12.09.1972"], &text).unwrap(), ["12.09.1972"]);
        assert_eq!(unified(&["flu", "12.09.1972"], &plain).unwrap(), ["flu", "12.09.1972"]);
    }

    #[test]
    fn ambiguous_dates_need_a_format() {
        let plain = ColumnSpec::default();
        let refused = unified(&["09/12/1972", "01/02/2003"], &plain).unwrap_err().error;
        assert_eq!(
            refused.advice(),
            Some("set format = \"DD/MM/YYYY\" or format = \"MM/DD/YYYY\"")
        );
        assert!(!refused.message().contains("1972"));
        let stated = |format| ColumnSpec {
            format: Some(DateFormat::parse(format).unwrap()),
            ..ColumnSpec::default()
        };
        assert_eq!(unified(&["09/12/1972"], &stated("MM/DD/YYYY")).unwrap(), ["1972-09-12"]);
        assert_eq!(unified(&["09/12/1972"], &stated("DD/MM/YYYY")).unwrap(), ["1972-12-09"]);
        let misfit = unified(&["09/12/1972", "13/13/1972"], &stated("DD/MM/YYYY")).unwrap_err();
        assert_eq!(misfit.code, Some(2));
        let dates = ColumnSpec {
            hierarchy: Some(HierarchySpec::Dates(Dates::all())),
            ..ColumnSpec::default()
        };
        assert_eq!(unified(&["13/12/1972"], &dates).unwrap(), ["1972-12-13"]);
    }

    #[test]
    fn dates_of_another_table_are_normalized_and_other_values_are_kept() {
        let read = |texts: &[&str], format: Option<&str>| {
            dates_of_other_table("born", texts, format.map(|f| DateFormat::parse(f).unwrap()))
        };
        let both = ["2021-03-05", "2021-03-06"];
        for texts in [["05.03.2021", "06.03.2021"], ["05.03.2021", "2021-03-06T10:00:00Z"]] {
            assert_eq!(read(&texts, None).unwrap(), both);
            assert_eq!(read(&texts, Some("DD.MM.YYYY")).unwrap(), both);
        }
        assert_eq!(read(&["n/k", "05.03.2021", "7"], None).unwrap(), ["n/k", "2021-03-05", "7"]);
        assert_eq!(read(&["03/05/2021"], Some("MM/DD/YYYY")).unwrap(), ["2021-03-05"]);
        assert!(read(&[], None).unwrap().is_empty());
    }

    #[test]
    fn dates_of_another_table_in_several_formats_are_refused() {
        let refused = |texts: &[&str], format: Option<&str>| {
            let format = format.map(|format| DateFormat::parse(format).unwrap());
            let error = dates_of_other_table("born", texts, format).unwrap_err();
            assert!(error.message().contains("`born`") && !error.message().contains("2021"));
            error.advice().unwrap().to_owned()
        };
        assert!(refused(&["13.03.2021", "3/14/2021"], None).contains("one format"));
        assert!(refused(&["03/05/2021"], None).contains("DD/MM/YYYY"));
        assert!(refused(&["13.03.2021"], Some("MM/DD/YYYY")).contains("MM/DD/YYYY"));
    }
}
