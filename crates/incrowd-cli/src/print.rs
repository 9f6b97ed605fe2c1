//! Output: results go to standard output, messages to standard error.
//!
//! Names of columns and files are untrusted input and must not control the terminal. Control
//! characters, which begin escape sequences, and characters that change the direction of text are
//! escaped, for example ESC as `\u{1b}`. This module does it for all printed text. In JSON they
//! become JSON escapes. Files are written unchanged.

use std::sync::{Mutex, MutexGuard, PoisonError};

use comfy_table::{CellAlignment, Table};
use incrowd::front_end::core::text::Block;
pub(crate) use incrowd::front_end::core::text::{groups, number, thousands};
use incrowd::job::keys::{self, Flag, Form};

/// Prints a line of the result.
macro_rules! outln {
    ($($text:tt)*) => {
        $crate::print::write_stdout(
            &$crate::print::lines(&format!("{}\n", format_args!($($text)*)))
        )
    };
}
pub(crate) use outln;

/// Returns whether a character controls the terminal instead of being shown: it begins an escape
/// sequence, moves the cursor, or changes the direction of the text around it.
fn acts(c: char) -> bool {
    let separator = matches!(c, '\u{2028}' | '\u{2029}');
    let direction = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    c.is_control() || separator || direction
}

fn escaped(text: &str, acts: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if acts(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// Escapes text of several lines for a terminal or a log.
pub(crate) fn lines(text: &str) -> String {
    escaped(text, |c| acts(c) && c != '\n' && c != '\t')
}

/// Escapes a name, a message or a cell for a terminal or a log. Line breaks are escaped too, so
/// that the text cannot imitate other lines of the output.
pub(crate) fn one_line(text: &str) -> String {
    escaped(text, acts)
}

/// Joins names in one line.
pub(crate) fn list<S: AsRef<str>>(names: &[S]) -> String {
    names.iter().map(|name| one_line(name.as_ref())).collect::<Vec<_>>().join(", ")
}

/// Replaces control characters beyond ASCII in the text of a file, without changing its length in
/// bytes, because spans into the text are counted in bytes. The renderer of snippets replaces ASCII
/// control characters itself.
pub(crate) fn same_length(text: &str) -> String {
    let shown = |c: char| if c.len_utf8() == 2 { '\u{a4}' } else { '\u{fffd}' };
    text.chars().map(|c| if acts(c) && !c.is_ascii() { shown(c) } else { c }).collect()
}

/// Prints the content of a file. It is escaped for a terminal and exact for a file or a pipe.
pub(crate) fn print_file(text: &str) {
    use std::io::IsTerminal;
    if std::io::stdout().is_terminal() { write_stdout(&lines(text)) } else { write_stdout(text) }
}

/// Writes to standard output. A closed pipe ends the process; any other failure is an error.
pub(crate) fn write_stdout(text: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            // The exit code a shell reports for SIGPIPE: 128 + 13.
            crate::end(141);
        }
        errln!("error: cannot write the result: {error}");
        crate::end(2);
    }
}

/// Prints a message on standard error. Failures to write it are ignored.
macro_rules! errln {
    ($($text:tt)*) => { $crate::print::write_stderr(&$crate::print::lines(&format!($($text)*))) };
}
pub(crate) use errln;

/// Writes an already escaped message.
pub(crate) fn write_stderr(text: &str) {
    use incrowd::front_end::engine::{StandardStream, goes_into_input};
    use std::io::Write;
    // A stream may be redirected into an input file, which a message would change. If both streams
    // are, the exit code is the only result.
    if !goes_into_input(StandardStream::Error) {
        drop(writeln!(std::io::stderr(), "{text}"));
    } else if !goes_into_input(StandardStream::Output) {
        drop(writeln!(std::io::stdout(), "{text}"));
    }
}

/// The printed warnings.
fn warnings() -> MutexGuard<'static, Vec<String>> {
    static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());
    WARNINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The global output flags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputMode {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) times: bool,
}

impl OutputMode {
    /// Prints a note, unless `--quiet` is given. A text that was a warning is not repeated.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet && !warnings().iter().any(|known| known == text) {
            errln!("note: {}", one_line(&with_flags(text)));
        }
    }

    /// Prints a warning once. `--quiet` does not hide it.
    pub(crate) fn warn(&self, text: &str) {
        let mut warnings = warnings();
        if !warnings.iter().any(|known| known == text) {
            errln!("warning: {}", one_line(&with_flags(text)));
            warnings.push(text.to_owned());
        }
    }

    /// Prints the result as JSON. Characters that control the terminal are written as JSON escapes.
    /// Apart from the line breaks of the layout they occur in strings only, so the value is the
    /// same.
    pub(crate) fn print_json(&self, value: &serde_json::Value) {
        let mut text = String::new();
        for c in format!("{value:#}\n").chars() {
            if acts(c) && c != '\n' {
                text += &format!("\\u{:04x}", u32::from(c))
            } else {
                text.push(c)
            }
        }
        write_stdout(&text);
    }
}

/// Adds the flags to the job keys in a text of the library: `[output] path` becomes
/// `[output] path` (-o). Keys of requests, which no job file has, are replaced: `[attack] second`
/// becomes --second.
pub(crate) fn with_flags(text: &str) -> String {
    let quoted = |piece: &str| {
        let request = ["[judging] ", "[attack] ", "[measure] "]
            .iter()
            .find_map(|part| piece.strip_prefix(part));
        if let Some(name) = request {
            return format!("--{}", name.replace('_', "-"));
        }
        let (title, value) = piece.split_once(" = ").unwrap_or((piece, ""));
        let fits = |flag: &&Flag| match flag.form {
            Form::Argument | Form::Param => false,
            Form::Columns(role) => value.is_empty() || value.trim_matches('"') == role,
            _ => true,
        };
        let flags = keys::titled(title).map_or(&[] as &[Flag], |key| key.flags).iter().filter(fits);
        match flags.take(2).map(Flag::name).collect::<Vec<_>>().join(", ") {
            names if names.is_empty() => format!("`{piece}`"),
            names => format!("`{piece}` ({names})"),
        }
    };
    // Every second piece is between backticks.
    let piece =
        |(i, piece): (usize, &str)| if i % 2 == 1 { quoted(piece) } else { piece.to_owned() };
    text.split('`').enumerate().map(piece).collect()
}

/// Prints the lines and tables of a report.
pub(crate) fn print_blocks(blocks: &[Block]) {
    for block in blocks {
        match block {
            Block::Line(line) => outln!("{}", one_line(line)),
            Block::Table(rows) => outln!("{}", table(rows.clone())),
        }
    }
}

/// Formats a table without borders. The first column is aligned left, the others right.
pub(crate) fn table(rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    for row in rows {
        table.add_row(row.iter().map(|cell| one_line(cell)));
    }
    for column in 1..columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        let odd = "a\u{1b}[31m\u{7}\u{9b}2J\u{202e}b\r\n\tc";
        assert_eq!(lines(odd), "a\\u{1b}[31m\\u{7}\\u{9b}2J\\u{202e}b\\r\n\tc");
        assert_eq!(one_line(odd), "a\\u{1b}[31m\\u{7}\\u{9b}2J\\u{202e}b\\r\\n\\tc");
        assert_eq!(same_length(odd).len(), odd.len());
        assert!(!same_length(odd).contains(['\u{9b}', '\u{202e}']));
        assert_eq!(one_line("Größe, 年齢, سن, 👩‍👩"), "Größe, 年齢, سن, 👩‍👩");
        assert_eq!(table(vec![vec!["a\nb".into(), "\u{1b}".into()]]).lines().count(), 1);
    }

    #[test]
    fn flags_are_added_to_keys() {
        for (text, expected) in [
            ("say `[output] path`.", "say `[output] path` (-o)."),
            (
                "`[external] id` or `[columns] kind`",
                "`[external] id` (--id) or `[columns] kind` (--kind)",
            ),
            ("`[columns] role = \"sensitive\"`", "`[columns] role = \"sensitive\"` (--sensitive)"),
            ("add `[[models]] name`", "add `[[models]] name` (-k, --model)"),
            ("give `[attack] original_size`", "give --original-size"),
            ("`[no] key` [output] path `k`", "`[no] key` [output] path `k`"),
        ] {
            assert_eq!(with_flags(text), expected);
        }
    }
}
