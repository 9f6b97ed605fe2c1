//! Normalizes dates. Tables write dates in many formats; after reading they are written
//! `2021-03-05`.

use crate::calendar::{DateFormat, Sniffed};
use crate::domain::Misfit;
use crate::error::Error;
use crate::folded::FoldedColumn;
use crate::hierarchy::HierarchySpec;
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

/// The error about a value that is not a date.
pub(crate) fn no_date(name: &str, format: Option<DateFormat>) -> Error {
    let written = match format {
        Some(format) => format!("the dates of this column have the format {format}"),
        None => "all dates of a column must have one format: 2021-03-05 or 05.03.2021 or 3/5/2021"
            .to_owned(),
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
}
