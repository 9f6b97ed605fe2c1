//! Results go to standard output, talk to standard error.

use comfy_table::{CellAlignment, Table};
use incrowd::core::text::Block;
pub(crate) use incrowd::core::text::{groups, number, thousands};
use incrowd::job::keys::{self, Flag, Form};

/// Prints a line of the result.
macro_rules! say {
    ($($text:tt)*) => { $crate::print::say_raw(&format!("{}\n", format_args!($($text)*))) };
}
pub(crate) use say;

/// Prints part of the result. Whoever closes the pipe early has seen enough; a full disk is an error.
pub(crate) fn say_raw(text: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            // As a shell reports a program that a closed pipe ended.
            std::process::exit(141);
        }
        talk!("error: cannot write the result: {error}");
        std::process::exit(2);
    }
}

/// Says something on standard error; if nobody listens there, so be it.
macro_rules! talk {
    ($($text:tt)*) => {{
        use std::io::Write;
        drop(writeln!(std::io::stderr(), $($text)*));
    }};
}
pub(crate) use talk;

/// How much to say, and in which form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputMode {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
    pub(crate) times: bool,
}

impl OutputMode {
    /// A remark for the person at the terminal.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            talk!("note: {}", with_flags(text));
        }
    }

    /// The result as JSON.
    pub(crate) fn print_json(&self, value: &serde_json::Value) {
        say!("{value:#}");
    }
}

/// A text of the library with the flags of the keys it names: `[output] path` of a job is also -o, `[attack] second` of a
/// request, which no job file has, is --second.
pub(crate) fn with_flags(text: &str) -> String {
    let quoted = |piece: &str| {
        let request =
            ["[judging] ", "[attack] ", "[measure] "].iter().find_map(|part| piece.strip_prefix(part));
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
    let told = |(i, piece): (usize, &str)| if i % 2 == 1 { quoted(piece) } else { piece.to_owned() };
    text.split('`').enumerate().map(told).collect()
}

/// Prints what was put into words elsewhere.
pub(crate) fn print_blocks(blocks: &[Block]) {
    for block in blocks {
        match block {
            Block::Line(line) => say!("{line}"),
            Block::Table(rows) => say!("{}", table(rows.clone())),
        }
    }
}

/// A table without frames: the first column left, the others right.
pub(crate) fn table(rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    for row in rows {
        table.add_row(row);
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
    fn keys_are_told_with_their_flags() {
        for (said, told) in [
            ("say `[output] path`.", "say `[output] path` (-o)."),
            ("`[external] id` or `[columns] kind`", "`[external] id` (--id) or `[columns] kind` (--kind)"),
            ("`[columns] role = \"sensitive\"`", "`[columns] role = \"sensitive\"` (--sensitive)"),
            ("add `[[models]] name`", "add `[[models]] name` (-k, --model)"),
            ("give `[attack] original_size`", "give --original-size"),
            ("`[no] key` [output] path `k`", "`[no] key` [output] path `k`"),
        ] {
            assert_eq!(with_flags(said), told);
        }
    }
}
