//! What all pages share: tables, facts, errors, numbers as people read them.

use incrowd::core::text::Block;
use incrowd::job::JobError;
use maud::{Markup, html};

use crate::texts as t;

/// A share as a percentage with one decimal.
pub(crate) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent > 0.0 && percent < 0.05 {
        return "< 0.1 %".to_owned();
    }
    let text = format!("{percent:.1}");
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

/// A share of people in words that are easy to hold: `6 in 10`.
pub(crate) fn in_ten(share: f64) -> String {
    match share {
        x if x >= 0.995 => t::EVERYBODY.to_owned(),
        x if x >= 0.095 => format!("{} in 10", (10.0 * x).round()),
        x if x >= 0.0095 => format!("{} in 100", (100.0 * x).round()),
        x if x > 0.0 => t::HARDLY_ANYBODY.to_owned(),
        _ => t::NOBODY.to_owned(),
    }
}

/// Seconds as people say them.
pub(crate) fn seconds(s: f64) -> String {
    match s {
        s if s < 1.0 => format!("{:.0} ms", 1000.0 * s),
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 90.0 => format!("{s:.0} s"),
        s => format!("{:.0} min", s / 60.0),
    }
}

/// At most so many characters; what is cut off shows as an ellipsis.
pub(crate) fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Facts in boxes.
pub(crate) fn facts(facts: &[(&str, String)]) -> Markup {
    html! { dl.facts { @for (name, value) in facts { div { dt { (name) } dd { (value) } } } } }
}

/// A table with a caption: so many columns from the left hold text.
pub(crate) fn table(caption: &str, head: &[&str], rows: &[Vec<String>], texts: usize) -> Markup {
    // A caption that is only the first heading again is for those who do not see the table.
    let quiet = head.first() == Some(&caption);
    let class = |i: usize| (i >= texts).then_some("number");
    html! {
        div.wide tabindex="0" role="group" aria-label=(caption) {
            table {
                caption class=[quiet.then_some("visually-hidden")] { (caption) }
                thead { tr { @for (i, name) in head.iter().enumerate() { th scope="col" class=[class(i)] { (name) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (i, cell) in row.iter().enumerate() {
                                @if i == 0 { th scope="row" { (cell) } } @else { td class=[class(i)] { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Lines and tables.
pub(crate) fn blocks(blocks: &[Block]) -> Markup {
    html! {
        @for block in blocks {
            @match block {
                Block::Line(line) if line.trim().is_empty() => {}
                Block::Line(line) => { p { (capital(line.trim())) } }
                Block::Table(rows) => {
                    @if let Some((head, rows)) = rows.split_first() {
                        (table(head.first().map_or("", |name| name.as_str()), &head.iter().map(String::as_str).collect::<Vec<_>>(), rows, 1))
                    }
                }
            }
        }
    }
}

/// What is wrong, what would work, and where.
pub(crate) fn error(error: &JobError) -> Markup {
    html! {
        div.message.bad role="alert" id="error" {
            h2 { (t::NOT_POSSIBLE) }
            p { (prose(&capital(&error.to_string()))) }
            @if let Some(help) = error.error.advice() { p { b { (t::WHAT_WOULD_WORK) } " " (prose(help)) } }
            @if let Some(key) = error.error.key() { p.note { (t::IN_THE_JOB) " " code { (key) } } }
        }
    }
}

/// A sentence begins with a capital letter.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with(['.', '?', '!', ':']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// A text in which names stand in backticks.
pub(crate) fn prose(text: &str) -> Markup {
    html! {
        @for (i, part) in text.split('`').enumerate() { @if i % 2 == 0 { (part) } @else { code { (part) } } }
    }
}

/// A verdict with its colour.
pub(crate) fn verdict(class: &str, words: &str, more: &str) -> Markup {
    let path = match class {
        "good" => "M5 13l5 5L20 7",
        "amber" => "M12 5v9M12 18v.6",
        _ => "M6 6l12 12M18 6L6 18",
    };
    html! {
        div class={ "verdict " (class) } {
            svg viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2.6" stroke-linecap="round" {
                path d=(path) {}
            }
            div { (words) @if !more.is_empty() { small { (more) } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(percent(0.5), "50 %");
        assert_eq!(percent(0.12345), "12.3 %");
        assert_eq!(percent(0.0001), "< 0.1 %");
        assert_eq!(in_ten(0.61), "6 in 10");
        assert_eq!(in_ten(0.03), "3 in 100");
        assert_eq!(in_ten(1.0), t::EVERYBODY);
        assert_eq!(seconds(0.25), "250 ms");
        assert_eq!(seconds(3.04), "3.0 s");
        assert_eq!(seconds(300.0), "5 min");
        assert_eq!(capital("there is no column `x`"), "There is no column `x`.");
        assert_eq!(short("abcdef", 4), "abc…");
    }
}
