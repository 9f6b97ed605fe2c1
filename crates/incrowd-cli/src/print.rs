//! Results go to standard output, talk to standard error.

use comfy_table::{CellAlignment, Table};
use incrowd::core::text::Block;
pub(crate) use incrowd::core::text::{groups, number, thousands};

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
            talk!("note: {text}");
        }
    }

    /// The result as JSON.
    pub(crate) fn print_json(&self, value: &serde_json::Value) {
        say!("{value:#}");
    }
}

/// A text of the library with flags in the place of keys: `population` is given as --population here.
pub(crate) fn with_flags(text: &str) -> String {
    let cards = incrowd::ATTACKS.iter().flat_map(|card| card.needs.iter().chain(card.uses));
    let mut keys: Vec<&str> = cards.flat_map(|need| need.keys()).copied().collect();
    keys.sort_unstable();
    keys.dedup();
    keys.iter().fold(text.to_owned(), |text, key| {
        text.replace(&format!("`{key}`"), &format!("--{}", key.replace('_', "-")))
    })
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
