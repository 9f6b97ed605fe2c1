//! Results go to standard output, talk to standard error.

use comfy_table::{CellAlignment, Table};

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

/// 1234567 as 1,234,567.
pub(crate) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number of groups.
pub(crate) fn groups(n: u64) -> String {
    if n == 1 { "1 group".to_owned() } else { format!("{} groups", thousands(n)) }
}

/// A number with four decimals, whole if it is.
pub(crate) fn number(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e15 {
        let sign = if x < 0.0 { "-" } else { "" };
        format!("{sign}{}", thousands(x.abs() as u64))
    } else {
        format!("{x:.4}")
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
    fn numbers_are_readable() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(12), "12");
        assert_eq!(number(0.18349), "0.1835");
        assert_eq!(number(45222.0), "45,222");
    }
}
