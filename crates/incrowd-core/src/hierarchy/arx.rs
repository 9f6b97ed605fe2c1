//! ARX-style hierarchy files: one line per leaf, `leaf;level1;…;root`, no header.

use super::Taxonomy;
use super::lint::{self, Severity};
use crate::error::{Error, Result};

/// One line of a hierarchy file.
#[derive(Clone, Debug)]
pub struct Line {
    /// The line's number in the file, counted from 1.
    pub number: u64,
    /// Leaf first, root last.
    pub path: Vec<String>,
}

/// The greatest number of levels. A line with more is not part of a hierarchy.
const MOST_LEVELS: usize = 1000;

/// Splits the text into lines. The delimiter is `;`, or tab or comma if no line has a semicolon.
pub fn lines(name: &str, text: &str) -> Result<Vec<Line>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let delimiter =
        [b';', b'\t', b','].into_iter().find(|d| text.as_bytes().contains(d)).unwrap_or(b';');
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(text.as_bytes());
    let mut lines = Vec::new();
    for record in reader.records() {
        let record =
            record.map_err(|e| Error::input(format!("hierarchy `{name}` cannot be read: {e}")))?;
        let number = record.position().map_or(0, csv::Position::line);
        if record.len() > MOST_LEVELS {
            return Err(Error::input(format!(
                "hierarchy `{name}`, line {number}: more than {MOST_LEVELS} levels"
            ))
            .help("write one line per value: `value;level1;…;*`"));
        }
        lines.push(Line {
            number,
            path: record.iter().map(|cell| cell.trim().to_owned()).collect(),
        });
    }
    Ok(lines)
}

/// Parses a hierarchy; fails if the linter reports an error.
pub fn read(name: &str, text: &str) -> Result<Taxonomy> {
    let lines = lines(name, text)?;
    let findings = lint::lint(&lines);
    let errors: Vec<_> = findings.iter().filter(|f| f.severity == Severity::Error).collect();
    if let Some(first) = errors.first() {
        let more = if errors.len() > 1 {
            format!(" (and {} more)", errors.len() - 1)
        } else {
            String::new()
        };
        let place = first.line.map_or_else(String::new, |line| format!("line {line}: "));
        return Err(Error::input(format!("hierarchy `{name}`, {place}{}{more}", first.plain))
            .help(format!("`incrowd hierarchy lint {name}` lists all its errors")));
    }
    let mut paths: Vec<Vec<String>> = lines.into_iter().map(|line| line.path).collect();
    let mut seen = hashbrown::HashSet::new();
    // The linter warns of repeated identical lines; only the first is used.
    paths.retain(|path| seen.insert(path[0].clone()));
    Taxonomy::from_paths(&paths)
}

/// Writes a taxonomy as an ARX-style file, every line padded to the tree's height.
pub fn write(taxonomy: &Taxonomy) -> String {
    let mut out = csv::WriterBuilder::new().delimiter(b';').from_writer(Vec::new());
    for code in 0..taxonomy.leaves() {
        let levels = 0..=taxonomy.height();
        // The values are not a level of a tree of regular intervals, but a file begins with them.
        let value = taxonomy.grid().map(|_| taxonomy.label(taxonomy.leaf(crate::Code(code))));
        let above = levels.map(|level| taxonomy.label(taxonomy.at_level(crate::Code(code), level)));
        let path = value.into_iter().chain(above);
        out.write_record(path).expect("writing to memory does not fail");
    }
    String::from_utf8(out.into_inner().expect("writing to memory does not fail"))
        .expect("labels are text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_hierarchy_is_read_back() {
        let text = "USA;North;*\nChina;Asia;*\nCanada;North;*\n";
        let taxonomy = read("country.csv", text).unwrap();
        assert_eq!(write(&taxonomy), "USA;North;*\nCanada;North;*\nChina;Asia;*\n");
    }

    #[test]
    fn takes_commas_quotes_and_a_byte_order_mark() {
        let taxonomy =
            read("x.csv", "\u{feff}\"Inj, Sev Unk\",Injured,*\r\nNone,Fine,*\r\n").unwrap();
        assert!(taxonomy.code("Inj, Sev Unk").is_some() && taxonomy.node("Fine").is_some());
    }

    #[test]
    fn errors_name_file_and_line() {
        let error = read("x.csv", "a;A;*\nb;B;*\na;B;*\n").unwrap_err();
        assert!(error.message().contains("`x.csv`, line 3"), "{error}");
    }
}
