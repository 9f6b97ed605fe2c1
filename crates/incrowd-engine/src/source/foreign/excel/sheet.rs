//! Reader for the cells of a worksheet.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use quick_xml::events::{BytesStart, Event};

use super::super::columns::{Cells, Numbers, Texts};
use super::super::{Budget, Damage, Table, date};
use super::Book;
use super::package::{Document, attribute, broken};

/// Maximum size of a worksheet in Excel.
const ROWS: u32 = 1 << 20;
const COLUMNS: u32 = 1 << 14;

/// Days from 1899-12-30 to 1970-01-01, and days from 1899-12-30 to 1904-01-01. Excel counts days
/// from 1899-12-30 or from 1904-01-01.
const EPOCH: f64 = 25_569.0;
const FROM_1904: f64 = 1_462.0;

/// The codes of shared strings longer than this are cached, so that they are not hashed for every
/// cell.
const LONG: usize = 256;

/// Cost of a cached code in bytes.
const ENTRY: usize = 32;

/// The value of a cell.
enum Value<'b> {
    Number(f64),
    Text(String),
    /// Index and text of a shared string.
    Shared(usize, &'b str),
    /// Value of a formula that failed.
    Error,
}

/// A column, up to the last record with a cell in it.
struct SheetColumn {
    cells: Cells,
    /// Cached codes of long shared strings by index.
    codes: HashMap<usize, u32>,
}

impl SheetColumn {
    /// Appends missing cells up to a record.
    fn pad(&mut self, record: usize, budget: &mut Budget) -> Result<(), Damage> {
        for _ in self.cells.len()..record {
            match &mut self.cells {
                Cells::Numbers(numbers) => numbers.push(None, budget)?,
                Cells::Text(texts) => texts.push_code(0, budget)?,
            }
        }
        Ok(())
    }

    /// Appends the cell of a record. Records must be in ascending order.
    fn put(&mut self, record: usize, value: Value<'_>, budget: &mut Budget) -> Result<(), Damage> {
        self.pad(record, budget)?;
        if self.cells.len() > record {
            return Err("a cell comes twice".into());
        }
        if let Cells::Numbers(numbers) = &mut self.cells {
            if let Value::Number(x) = value {
                return numbers.push(Some(x), budget);
            }
            // After the first cell that is not a number, the column is converted to text.
            let numbers = std::mem::replace(numbers, Numbers::new());
            self.cells = Cells::Text(numbers.spelled(budget, |x| Some(x.to_string()))?);
        }
        let Cells::Text(texts) = &mut self.cells else { return Ok(()) };
        let code = match value {
            Value::Number(x) => texts.code(&x.to_string(), budget)?,
            Value::Text(text) => texts.code(&text, budget)?,
            Value::Error => 0,
            Value::Shared(_, string) if string.len() <= LONG => texts.code(string, budget)?,
            Value::Shared(index, string) => match self.codes.get(&index) {
                Some(code) => *code,
                None => {
                    budget.take(ENTRY)?;
                    let code = texts.code(string, budget)?;
                    self.codes.insert(index, code);
                    code
                }
            },
        };
        texts.push_code(code, budget)
    }
}

/// The header and the columns read up to now.
#[derive(Default)]
struct SheetBuilder {
    names: BTreeMap<u32, String>,
    columns: BTreeMap<u32, SheetColumn>,
    /// Row of the header, and last row with a cell.
    header: Option<u32>,
    row: u32,
    records: usize,
}

impl SheetBuilder {
    /// Adds a cell that is not empty. Rows without such a cell are not records.
    fn put(
        &mut self,
        (row, column): (u32, u32),
        value: Value<'_>,
        budget: &mut Budget,
    ) -> Result<(), Damage> {
        let header = *self.header.get_or_insert(row);
        if row < self.row {
            return Err("its rows are not in order".into());
        }
        if row == header {
            self.row = row;
            let name = match value {
                Value::Number(x) => x.to_string(),
                Value::Text(text) => text,
                Value::Shared(_, text) => text.to_owned(),
                Value::Error => String::new(),
            };
            let name = name.trim();
            budget.take(name.len())?;
            let twice = self.names.insert(column, name.to_owned()).is_some();
            return if twice { Err("a cell comes twice".into()) } else { Ok(()) };
        }
        if row > self.row {
            self.row = row;
            self.records += 1;
        }
        let fresh = || SheetColumn { cells: Cells::Numbers(Numbers::new()), codes: HashMap::new() };
        self.columns.entry(column).or_insert_with(fresh).put(self.records - 1, value, budget)
    }

    /// Builds the table. Returns `None` if there is no cell.
    fn table(mut self, budget: &mut Budget) -> Result<Option<Table>, Damage> {
        let used = || self.names.keys().chain(self.columns.keys());
        let (Some(&first), Some(&last)) = (used().min(), used().max()) else { return Ok(None) };
        budget.take_columns((last - first) as usize + 1)?;
        let mut table = Table::default();
        for (place, at) in (first..=last).enumerate() {
            let name = self.names.remove(&at).filter(|name| !name.is_empty());
            let column = self.columns.remove(&at);
            let fresh = || SheetColumn { cells: Cells::Text(Texts::new()), codes: HashMap::new() };
            let mut column = column.unwrap_or_else(fresh);
            column.pad(self.records, budget)?;
            table
                .columns
                .push((name.unwrap_or_else(|| format!("column {}", place + 1)), column.cells));
        }
        Ok(Some(table))
    }
}

/// Reads a worksheet. Returns `None` if it has no cell.
pub(super) fn read(
    mut document: Document<'_>,
    book: &Book,
    budget: &mut Budget,
) -> Result<Option<Table>, Damage> {
    let mut sheet = SheetBuilder::default();
    // Position of a cell that has no reference attribute, and number of the next row.
    let (mut row, mut column, mut next) = (0, 0, 0u32);
    let mut has_cells = false;
    loop {
        let event = document.next()?;
        match event {
            Event::Eof if !has_cells => return Err("a sheet has no cells".into()),
            Event::Eof => return sheet.table(budget),
            Event::Start(tag) => match tag.local_name().as_ref() {
                "sheetData" => has_cells = true,
                "row" => {
                    column = 0;
                    row = match attribute(&tag, "r")? {
                        Some(stated) => stated
                            .parse::<u32>()
                            .ok()
                            .and_then(|row| row.checked_sub(1))
                            .ok_or_else(broken)?,
                        None => next,
                    };
                    next = row.saturating_add(1);
                }
                "c" => {
                    if let Some(place) = attribute(&tag, "r")? {
                        (row, column) = position(&place).ok_or_else(broken)?;
                    }
                    if row >= ROWS || column >= COLUMNS {
                        return Err("a cell is outside of the sheet".into());
                    }
                    let cell = Cell::of(&tag)?;
                    if let Some(value) = cell.value(&mut document, book)? {
                        sheet.put((row, column), value, budget)?;
                    }
                    column += 1;
                }
                _ => {}
            },
            _ => {}
        }
    }
}

/// Parses a cell reference such as `BC12` into a row and a column, both from 0.
fn position(name: &str) -> Option<(u32, u32)> {
    let letters = name.bytes().take_while(u8::is_ascii_alphabetic).count();
    if !(1..=3).contains(&letters) {
        return None;
    }
    let digit = |letter: u8| u32::from(letter.to_ascii_uppercase() - b'A') + 1;
    let column = name[..letters].bytes().fold(0, |sum, letter| 26 * sum + digit(letter));
    let row: u32 = name[letters..].parse().ok()?;
    Some((row.checked_sub(1)?, column - 1))
}

/// Content type of a cell.
enum Kind {
    Number,
    Shared,
    Text,
    Inline,
    Bool,
    Error,
    /// No type attribute: a number if the text can be parsed as one, otherwise a text.
    Unsaid,
}

/// Attributes of a cell.
struct Cell {
    kind: Kind,
    style: usize,
}

impl Cell {
    fn of(tag: &BytesStart<'_>) -> Result<Cell, Damage> {
        let kind = match attribute(tag, "t")?.as_deref() {
            None => Kind::Unsaid,
            Some("n") => Kind::Number,
            Some("s") => Kind::Shared,
            // A date in ISO 8601 is read as text.
            Some("str" | "d") => Kind::Text,
            Some("inlineStr" | "is") => Kind::Inline,
            Some("b") => Kind::Bool,
            Some("e") => Kind::Error,
            Some(_) => return Err("a cell is of a kind that is not known".into()),
        };
        let style = attribute(tag, "s")?.and_then(|style| style.parse().ok()).unwrap_or(0);
        Ok(Cell { kind, style })
    }

    /// Reads to the end of the cell. Returns `None` if it is empty.
    fn value<'b>(
        &self,
        document: &mut Document<'_>,
        book: &'b Book,
    ) -> Result<Option<Value<'b>>, Damage> {
        let own = document.depth();
        let mut value = None;
        while document.depth() >= own {
            let Event::Start(tag) = document.next()? else { continue };
            match tag.local_name().as_ref() {
                "is" => value = Some(Value::Text(document.string()?)),
                "v" if !matches!(self.kind, Kind::Inline) => {
                    let text = document.text()?;
                    value = self.read(&text, book)?;
                }
                // Formulas and extension elements.
                _ => document.skip()?,
            }
        }
        Ok(value.filter(|value| !matches!(value, Value::Text(text) if text.is_empty())))
    }

    fn read<'b>(&self, text: &str, book: &'b Book) -> Result<Option<Value<'b>>, Damage> {
        let plain = text.trim();
        if plain.is_empty() && !matches!(self.kind, Kind::Text) {
            return Ok(None);
        }
        let number = || plain.parse().ok().filter(|x: &f64| x.is_finite());
        Ok(Some(match self.kind {
            Kind::Shared => {
                let index = plain.parse().map_err(|_| broken())?;
                Value::Shared(index, book.string(index).ok_or_else(broken)?)
            }
            Kind::Number => self.number(number().ok_or_else(broken)?, book),
            Kind::Unsaid => match number() {
                Some(x) => self.number(x, book),
                None => Value::Text(text.to_owned()),
            },
            Kind::Bool => match plain {
                "1" | "true" | "TRUE" => Value::Text("true".to_owned()),
                "0" | "false" | "FALSE" => Value::Text("false".to_owned()),
                _ => return Err(broken()),
            },
            Kind::Error => Value::Error,
            Kind::Text | Kind::Inline => Value::Text(super::package::unescaped(text).into_owned()),
        }))
    }

    /// A number, or a date if the style of the cell is a date format.
    fn number<'b>(&self, x: f64, book: &Book) -> Value<'b> {
        if !book.dates.get(self.style).copied().unwrap_or(false) {
            return Value::Number(x);
        }
        let days = if book.from_1904 { x + FROM_1904 } else { x };
        Value::Text(date(days - EPOCH).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::position;

    #[test]
    fn cells_are_where_their_names_say() {
        assert_eq!(position("A1"), Some((0, 0)));
        assert_eq!(position("BC12"), Some((11, 54)));
        assert_eq!(position("XFD1048576"), Some((1_048_575, 16_383)));
        for odd in ["", "A", "1", "A0", "AAAA1", "A-1", "Ä1", "A99999999999"] {
            assert_eq!(position(odd), None, "{odd}");
        }
    }
}
