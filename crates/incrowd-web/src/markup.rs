//! Markup shared by all pages, in addition to that of reports: errors, blocks, durations.

use incrowd::front_end::core::text::Block;
use incrowd::job::JobError;
pub(crate) use incrowd_report::parts::prose;
use incrowd_report::parts::table;
use maud::{Markup, html};

use crate::texts as t;

/// Formats a duration.
pub(crate) fn seconds(s: f64) -> String {
    match s {
        s if s < 1.0 => format!("{:.0} ms", 1000.0 * s),
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 90.0 => format!("{s:.0} s"),
        s => format!("{:.0} min", s / 60.0),
    }
}

/// Renders lines and tables.
pub(crate) fn blocks(blocks: &[Block]) -> Markup {
    html! {
        @for block in blocks {
            @match block {
                Block::Line(line) if line.trim().is_empty() => {}
                Block::Line(line) => { p { (capital(line.trim())) } }
                Block::Table(rows) => {
                    @if let Some((head, rows)) = rows.split_first() {
                        @let names: Vec<&str> = head.iter().map(String::as_str).collect();
                        (table(names.first().copied().unwrap_or_default(), &names, rows, 1))
                    }
                }
            }
        }
    }
}

/// Renders an error with its help text and the key of the job.
pub(crate) fn error(error: &JobError) -> Markup {
    html! {
        div.message.bad role="alert" id="error" {
            h2 { (t::NOT_POSSIBLE) }
            p { (prose(&capital(&error.to_string()))) }
            @if let Some(help) = error.error.advice() {
                p { b { (t::WHAT_WOULD_WORK) } " " (prose(help)) }
            }
            @if let Some(key) = error.error.key() { p.note { (t::IN_THE_JOB) " " code { (key) } } }
        }
    }
}

/// Turns a message into a sentence with a capital letter and a full stop.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with(['.', '?', '!', ':']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(seconds(0.25), "250 ms");
        assert_eq!(seconds(3.04), "3.0 s");
        assert_eq!(seconds(300.0), "5 min");
        assert_eq!(capital("there is no column `x`"), "There is no column `x`.");
    }
}
