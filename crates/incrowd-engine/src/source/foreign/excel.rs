//! Sheets of Excel files: the first row names the columns.

use std::io::Cursor;
use std::path::Path;

use calamine::{Data, Reader, Xlsx};
use incrowd_core::{Error, Result};

use super::{Cells, Table, damaged, date};

/// Days from 1899-12-30, where Excel counts from, to 1970-01-01.
const EPOCH: f64 = 25_569.0;

pub(super) fn read(bytes: Vec<u8>, sheet: Option<&str>, path: &Path) -> Result<Table> {
    let broken = |_| damaged(path, "Excel", "its parts do not fit together");
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes)).map_err(broken)?;
    let sheets = book.sheet_names();
    let name = match (sheet, sheets.as_slice()) {
        (Some(sheet), all) if all.iter().any(|name| name == sheet) => sheet.to_owned(),
        (Some(sheet), all) => {
            return Err(Error::job(format!("`{}` has no sheet `{sheet}`", path.display()))
                .help_near(sheet, all.iter().map(String::as_str))
                .at("input.sheet"));
        }
        (None, [only]) => only.clone(),
        (None, []) => return Err(damaged(path, "Excel", "it has no sheet")),
        (None, all) => {
            return Err(Error::input(format!("`{}` has {} sheets", path.display(), all.len()))
                .help(format!("say which with `[input] sheet`: {}", all.join(", ")))
                .at("input.sheet"));
        }
    };
    let range =
        book.worksheet_range(&name).map_err(|_| damaged(path, "Excel", "its parts do not fit together"))?;
    let mut rows = range.rows();
    let Some(header) = rows.next() else {
        return Err(Error::input(format!("the sheet `{name}` of `{}` is empty", path.display())));
    };
    let names = header.iter().enumerate().map(|(i, cell)| match cell.to_string().trim() {
        "" => format!("column {}", i + 1),
        name => name.to_owned(),
    });
    let mut columns: Vec<(String, Vec<&Data>)> = names.map(|name| (name, Vec::new())).collect();
    for row in rows.filter(|row| row.iter().any(|cell| !matches!(cell, Data::Empty))) {
        for ((_, cells), cell) in columns.iter_mut().zip(row) {
            cells.push(cell);
        }
    }
    let mut table = Table::default();
    for (name, cells) in columns {
        let number = |cell: &&Data| match cell {
            Data::Int(n) => Some(Some(*n as f64)),
            Data::Float(x) => Some(Some(*x)),
            Data::Empty => Some(None),
            _ => None,
        };
        let cells = match cells.iter().map(number).collect::<Option<Vec<_>>>() {
            Some(numbers) if numbers.iter().any(Option::is_some) => Cells::Numbers(numbers),
            _ => Cells::Text(cells.into_iter().map(text).collect()),
        };
        table.columns.push((name, cells));
    }
    Ok(table)
}

/// A cell as text. An error in a formula is no value.
fn text(cell: &Data) -> Option<String> {
    match cell {
        Data::Empty | Data::Error(_) => None,
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => Some(text.clone()),
        Data::DateTime(moment) => date(moment.as_f64() - EPOCH),
        Data::Bool(yes) => Some(yes.to_string()),
        Data::Int(n) => Some(n.to_string()),
        Data::Float(x) => Some(x.to_string()),
    }
}
