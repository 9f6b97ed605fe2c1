//! Components of the pages: tables, facts, verdicts, sentences and sample records. The pages of
//! `incrowd serve` use them too.

use maud::{Markup, html};

use crate::data::{Sample, Sentence, Tone};
use crate::format::{short, thousands};

/// Renders a table with a caption. The first `texts` columns are text, the others numbers. A wide
/// table scrolls horizontally.
pub fn table(caption: &str, head: &[&str], rows: &[Vec<String>], texts: usize) -> Markup {
    // A caption that repeats the first heading is shown to screen readers only.
    let quiet = head.first() == Some(&caption);
    let class = |i: usize| (i >= texts).then_some("number");
    html! {
        div.wide tabindex="0" role="group" aria-label=(caption) {
            table {
                caption class=[quiet.then_some("visually-hidden")] { (caption) }
                thead {
                    tr {
                        @for (i, name) in head.iter().enumerate() {
                            th scope="col" class=[class(i)] { (name) }
                        }
                    }
                }
                tbody {
                    @for row in rows {
                        tr {
                            @for (i, cell) in row.iter().enumerate() {
                                @if i == 0 {
                                    th scope="row" { (cell) }
                                } @else {
                                    td class=[class(i)] { (cell) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Renders text in which names are enclosed in backticks.
pub fn prose(text: &str) -> Markup {
    html! {
        @for (i, part) in text.split('`').enumerate() {
            @if i % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

/// Renders facts as a list of boxes.
pub fn facts<S: AsRef<str>>(facts: &[(S, String)]) -> Markup {
    html! {
        dl.facts { @for (name, value) in facts { div { dt { (name.as_ref()) } dd { (value) } } } }
    }
}

/// Renders a tick, an exclamation mark or a cross. It is decorative: the text next to it has the
/// same meaning.
pub fn sign(tone: Tone) -> Markup {
    let path = match tone {
        Tone::Good => "M5 13l5 5L20 7",
        Tone::Amber => "M12 5v9M12 18v.6",
        Tone::Bad => "M6 6l12 12M18 6L6 18",
    };
    html! {
        svg viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor"
            stroke-width="2.6" stroke-linecap="round" {
            path d=(path) {}
        }
    }
}

/// Renders a verdict in its colour, followed by further lines. Empty lines are skipped.
pub fn verdict<S: AsRef<str>>(tone: Tone, words: &str, more: &[S]) -> Markup {
    let more = more.iter().map(AsRef::as_ref).filter(|line| !line.is_empty());
    html! {
        div class={ "verdict " (tone.class()) } {
            (sign(tone))
            div { (words) @for line in more { small { (line) } } }
        }
    }
}

/// Renders findings as a list, each in its colour.
pub fn sentences(sentences: &[Sentence]) -> Markup {
    html! {
        ul.sentences {
            @for sentence in sentences {
                li class=(sentence.tone.class()) {
                    (sign(sentence.tone))
                    span {
                        (sentence.text)
                        @if !sentence.more.is_empty() { small { (sentence.more) } }
                    }
                }
            }
        }
    }
}

/// Longer cells are shortened. The tooltip shows more of the text.
const LONGEST: usize = 48;

/// Maximum number of columns shown.
const MOST_COLUMNS: usize = 60;

/// Returns the CSS class of a cell: wide for a long cell, coloured for a changed one.
fn cell_class(cell: &str, changed: bool) -> Option<&'static str> {
    match (cell.chars().count() > 18, changed) {
        (true, true) => Some("long changed"),
        (true, false) => Some("long"),
        (false, true) => Some("changed"),
        (false, false) => None,
    }
}

/// Returns the tooltip of a shortened cell. Its length is limited to keep the page small.
fn tooltip(cell: &str) -> Option<String> {
    (cell.chars().count() > LONGEST).then(|| short(cell, 200))
}

/// Renders sample records with their matching published records. Only for the data owner.
pub fn sample(title: &str, data: &Sample) -> Markup {
    let counted = data.records.iter().any(|record| record.fitting.is_some());
    html! {
        div.wide tabindex="0" role="group" aria-label=(title) {
            table.sample {
                caption.visually-hidden { (title) }
                thead {
                    tr {
                        th scope="col" { span.visually-hidden { "before / after" } }
                        @if counted { th.number scope="col" { "matching records" } }
                        @for name in data.columns.iter().take(MOST_COLUMNS) {
                            th scope="col" { (name) }
                        }
                    }
                }
                @for record in &data.records {
                    tbody {
                        tr.before {
                            th scope="row" { "before" }
                            @if counted { td {} }
                            @for cell in record.before.iter().take(MOST_COLUMNS) {
                                td title=[tooltip(cell)] { (short(cell, LONGEST)) }
                            }
                        }
                        tr.after {
                            th scope="row" { "after" }
                            @if counted {
                                td.number { (record.fitting.map_or_else(String::new, thousands)) }
                            }
                            @match &record.after {
                                Some(after) => {
                                    @for (cell, was) in
                                        after.iter().zip(&record.before).take(MOST_COLUMNS)
                                    {
                                        td class=[cell_class(cell, cell != was)]
                                            title=[tooltip(cell)] { (short(cell, LONGEST)) }
                                    }
                                }
                                None => {
                                    td colspan=(data.columns.len().min(MOST_COLUMNS)) {
                                        "suppressed"
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        @if data.columns.len() > MOST_COLUMNS {
            p.note { (data.columns.len() - MOST_COLUMNS) " more columns are not shown." }
        }
    }
}
