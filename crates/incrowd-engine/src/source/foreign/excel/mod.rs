//! Reader for Excel workbooks (.xlsx). The first row that is not empty contains the column names.
//!
//! Cells are added to their columns while they are read, so empty cells use no memory before the
//! table is known to fit into the budget. Counts and dimensions in the file are not used.

mod package;
mod sheet;

use std::collections::BTreeMap;
use std::path::Path;

use hashbrown::HashMap;
use incrowd_core::Error;
use quick_xml::events::Event;

use super::{Budget, Damage, Table};
use package::{Package, attribute, broken};

/// Maximum number of sheet names in the message about the choice of a sheet, and maximum characters
/// per name.
const LISTED: usize = 20;
const SHOWN: usize = 60;

/// Cost of a list entry in addition to its texts, in bytes.
const ENTRY: usize = 96;

/// Data from the documents other than the worksheets.
#[derive(Default)]
struct Book {
    /// Names and paths of the worksheets.
    sheets: Vec<(String, String)>,
    /// Whether days are counted from 1904 instead of 1900.
    from_1904: bool,
    /// For each cell style, whether its numbers are dates.
    dates: Vec<bool>,
    /// The concatenated shared strings, and the end offset of each.
    strings: String,
    ends: Vec<usize>,
}

impl Book {
    fn string(&self, index: usize) -> Option<&str> {
        let start = if index == 0 { 0 } else { *self.ends.get(index - 1)? };
        self.strings.get(start..*self.ends.get(index)?)
    }
}

pub(super) fn read(
    bytes: &[u8],
    sheet: Option<&str>,
    path: &Path,
    budget: &mut Budget,
) -> Result<Table, Damage> {
    let mut package = Package::open(bytes)?;
    let other = |what: &str| {
        let error = Error::input(format!("`{}` is {what}", path.display()))
            .help("save it as .xlsx or .csv");
        Damage::Refused(Box::new(error))
    };
    if package.has("content.xml") && !package.has("_rels/.rels") {
        return Err(other("an OpenDocument file"));
    }
    let start = relations(&mut package, "", "", budget)?;
    let document = start.into_values().find(|(kind, _)| kind == "officeDocument");
    let (_, workbook) = document.ok_or("it has no workbook")?;
    if workbook.ends_with(".bin") {
        return Err(other("a binary Excel file (.xlsb)"));
    }
    let mut book = Book::default();
    let (folder, name) = workbook.rsplit_once('/').unwrap_or(("", &workbook));
    let related = relations(&mut package, folder, name, budget)?;
    sheets(&mut package, &workbook, &related, &mut book, budget)?;
    let (name, place) = choose(&book.sheets, sheet, path)?;
    let of_kind =
        |kind: &str| related.values().find(|(own, _)| own == kind).map(|(_, path)| path.as_str());
    if let Some(path) = of_kind("styles") {
        styles(&mut package, path, &mut book, budget)?;
    }
    if let Some(path) = of_kind("sharedStrings") {
        strings(&mut package, path, &mut book, budget)?;
    }
    let document = package.document(&place)?.ok_or("a sheet is missing")?;
    sheet::read(document, &book, budget)?.ok_or_else(|| {
        let error =
            Error::input(format!("the sheet `{}` of `{}` is empty", shown(&name), path.display()));
        Damage::Refused(Box::new(error))
    })
}

/// Relationships of a document by id: last segment of the type, and path of the target.
type Relations = BTreeMap<String, (String, String)>;

/// Reads the relationships of a document. The package itself has the empty path.
fn relations(
    package: &mut Package<'_>,
    folder: &str,
    name: &str,
    budget: &mut Budget,
) -> Result<Relations, Damage> {
    let within = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let document = package.document(&format!("{within}_rels/{name}.rels"))?;
    let mut document = document.ok_or("it has no workbook")?;
    let mut all = Relations::new();
    loop {
        match document.next()? {
            Event::Eof => return Ok(all),
            Event::Start(tag) if tag.local_name().as_ref() == "Relationship" => {
                let of = |name: &str| {
                    attribute(&tag, name).map(|value| value.unwrap_or_default().into_owned())
                };
                let (id, kind, target) = (of("Id")?, of("Type")?, of("Target")?);
                let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
                let path = resolved(folder, &target);
                budget.take(ENTRY + id.len() + kind.len() + path.len())?;
                all.insert(id, (kind, path));
            }
            _ => {}
        }
    }
}

/// Resolves a target path relative to the directory of a document.
fn resolved(folder: &str, target: &str) -> String {
    let target = target.replace('\\', "/");
    let absolute = target.starts_with('/');
    let mut parts: Vec<&str> = if absolute { Vec::new() } else { folder.split('/').collect() };
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts.join("/")
}

/// Reads the list of worksheets and the date system from the workbook.
fn sheets(
    package: &mut Package<'_>,
    path: &str,
    related: &Relations,
    book: &mut Book,
    budget: &mut Budget,
) -> Result<(), Damage> {
    let mut document = package.document(path)?.ok_or("it has no workbook")?;
    loop {
        match document.next()? {
            Event::Eof => return Ok(()),
            Event::Start(tag) if tag.local_name().as_ref() == "sheet" => {
                let (Some(name), Some(id)) = (attribute(&tag, "name")?, attribute(&tag, "id")?)
                else {
                    return Err(broken());
                };
                let (kind, path) = related.get(id.as_ref()).ok_or_else(broken)?;
                // Charts and dialogs may also be sheets.
                if kind == "worksheet" {
                    budget.take(ENTRY + name.len() + path.len())?;
                    book.sheets.push((name.into_owned(), path.clone()));
                }
            }
            Event::Start(tag) if tag.local_name().as_ref() == "workbookPr" => {
                // An extension has an element of this name without the attribute.
                if let Some(from) = attribute(&tag, "date1904")? {
                    book.from_1904 = matches!(from.as_ref(), "1" | "true");
                }
            }
            _ => {}
        }
    }
}

/// The requested worksheet, or the only one: its name and its path.
fn choose(
    all: &[(String, String)],
    asked: Option<&str>,
    path: &Path,
) -> Result<(String, String), Damage> {
    let names = || all.iter().map(|(name, _)| name.as_str());
    let error = match (asked, all) {
        (None, [only]) => return Ok(only.clone()),
        (None, []) => return Err("it has no sheet".into()),
        (Some(asked), all) => match all.iter().find(|(name, _)| name == asked) {
            Some(sheet) => return Ok(sheet.clone()),
            None => Error::job(format!("`{}` has no sheet `{asked}`", path.display()))
                .help_near(asked, names().filter(|name| shown(name) == **name).take(LISTED)),
        },
        (None, all) => {
            let mut listed: Vec<String> = names().take(LISTED).map(shown).collect();
            listed.extend((all.len() > LISTED).then(|| "…".to_owned()));
            Error::input(format!("`{}` has {} sheets", path.display(), all.len()))
                .help(format!("say which with `[input] sheet`: {}", listed.join(", ")))
        }
    };
    Err(Damage::Refused(Box::new(error.at("input.sheet"))))
}

/// Sheet name for messages: shortened, without control characters.
fn shown(name: &str) -> String {
    let plain = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut short: String = name.chars().take(SHOWN).map(plain).collect();
    if name.chars().nth(SHOWN).is_some() {
        short.push('…');
    }
    short
}

/// For each cell style, whether its numbers are dates.
fn styles(
    package: &mut Package<'_>,
    path: &str,
    book: &mut Book,
    budget: &mut Budget,
) -> Result<(), Damage> {
    let Some(mut document) = package.document(path)? else { return Ok(()) };
    let mut own: HashMap<u32, bool> = HashMap::new();
    let mut formats: Vec<u32> = Vec::new();
    // The formats of named styles use the same element name and must be ignored.
    let mut of_cells = None;
    loop {
        let depth = document.depth();
        let event = document.next()?;
        let number =
            |value: Option<std::borrow::Cow<'_, str>>| value.and_then(|value| value.parse().ok());
        match event {
            Event::Eof => break,
            Event::End(_) if of_cells == Some(depth) => of_cells = None,
            Event::Start(tag) => match tag.local_name().as_ref() {
                "cellXfs" => of_cells = Some(depth + 1),
                "numFmt" => {
                    let code = attribute(&tag, "formatCode")?.unwrap_or_default();
                    if let Some(id) = number(attribute(&tag, "numFmtId")?) {
                        budget.take(ENTRY)?;
                        own.insert(id, is_date(&code));
                    }
                }
                "xf" if of_cells.is_some() => {
                    budget.take(size_of::<u32>())?;
                    formats.push(number(attribute(&tag, "numFmtId")?).unwrap_or(0));
                }
                _ => {}
            },
            _ => {}
        }
    }
    let built_in = |id: u32| matches!(id, 14..=22 | 27..=36 | 45..=47 | 50..=58);
    book.dates =
        formats.iter().map(|id| own.get(id).copied().unwrap_or_else(|| built_in(*id))).collect();
    Ok(())
}

/// Whether a number format is a date or time format. It is if the section for positive numbers
/// contains a date or time letter.
fn is_date(format: &str) -> bool {
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        match letter.to_ascii_lowercase() {
            ';' => return false,
            // The next character is a literal, fills the cell, or is replaced by a blank of its
            // width.
            '\\' | '*' | '_' => {
                letters.next();
            }
            '"' => {
                letters.find(|c| *c == '"');
            }
            '[' => {
                let mut within = letters.by_ref().take_while(|c| *c != ']').peekable();
                // Elapsed hours, minutes or seconds. Other brackets contain a color, a condition or
                // a currency.
                if within.peek().is_some()
                    && within.all(|c| matches!(c.to_ascii_lowercase(), 'h' | 'm' | 's'))
                {
                    return true;
                }
            }
            'd' | 'm' | 'y' | 'h' | 's' => return true,
            _ => {}
        }
    }
    false
}

/// Reads the shared strings.
fn strings(
    package: &mut Package<'_>,
    path: &str,
    book: &mut Book,
    budget: &mut Budget,
) -> Result<(), Damage> {
    let Some(mut document) = package.document(path)? else { return Ok(()) };
    loop {
        match document.next()? {
            Event::Eof => return Ok(()),
            Event::Start(tag) if tag.local_name().as_ref() == "si" => {
                let string = document.string()?;
                budget.take(string.len() + size_of::<usize>())?;
                book.strings.push_str(&string);
                book.ends.push(book.strings.len());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_told_by_their_formats() {
        for date in [
            "yyyy-mm-dd",
            "DD/MM/YY",
            "[h]:mm:ss",
            "[ss]",
            "m\"M\"d\"D\";@",
            "h:mm AM/PM",
            "[$-409]d-mmm",
        ] {
            assert!(is_date(date), "{date}");
        }
        for number in [
            "General",
            "0.00",
            "\"Y: \"0.00\"m\";@",
            "#,##0\\ [$€-407]",
            "0_ ;[Red]\\-0\\ ",
            "\\Y000",
            "#,##0.0\" YMD\"",
            "0;yyyy",
            "[]0",
            "",
        ] {
            assert!(!is_date(number), "{number}");
        }
    }

    #[test]
    fn targets_are_found_from_their_folders() {
        assert_eq!(resolved("xl", "worksheets/sheet1.xml"), "xl/worksheets/sheet1.xml");
        assert_eq!(resolved("xl", "/xl/a.xml"), "xl/a.xml");
        assert_eq!(resolved("xl/worksheets", "../tables\\t.xml"), "xl/tables/t.xml");
        assert_eq!(resolved("", "../../xl/workbook.xml"), "xl/workbook.xml");
    }
}
