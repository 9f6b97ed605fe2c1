//! What pages are put together from: tables, facts, verdicts, sentences, sample records. The pages of `incrowd serve` use the same.

use maud::{Markup, html};

use crate::data::{Sample, Sentence, Tone};
use crate::format::{short, thousands};

/// A table with a caption: so many columns from the left hold text. It scrolls in its own box.
pub fn table(caption: &str, head: &[&str], rows: &[Vec<String>], texts: usize) -> Markup {
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

/// A text in which names stand in backticks.
pub fn prose(text: &str) -> Markup {
    html! {
        @for (i, part) in text.split('`').enumerate() { @if i % 2 == 0 { (part) } @else { code { (part) } } }
    }
}

/// Facts in boxes.
pub fn facts<S: AsRef<str>>(facts: &[(S, String)]) -> Markup {
    html! { dl.facts { @for (name, value) in facts { div { dt { (name.as_ref()) } dd { (value) } } } } }
}

/// A tick, an exclamation mark or a cross, which says nothing that the words beside it do not say.
pub fn sign(tone: Tone) -> Markup {
    let path = match tone {
        Tone::Good => "M5 13l5 5L20 7",
        Tone::Amber => "M12 5v9M12 18v.6",
        Tone::Bad => "M6 6l12 12M18 6L6 18",
    };
    html! {
        svg viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2.6" stroke-linecap="round" {
            path d=(path) {}
        }
    }
}

/// A verdict with its colour, and what more there is to say.
pub fn verdict<S: AsRef<str>>(tone: Tone, words: &str, more: &[S]) -> Markup {
    let more = more.iter().map(AsRef::as_ref).filter(|line| !line.is_empty());
    html! {
        div class={ "verdict " (tone.class()) } {
            (sign(tone))
            div { (words) @for line in more { small { (line) } } }
        }
    }
}

/// What was found, in sentences, each with its colour.
pub fn sentences(sentences: &[Sentence]) -> Markup {
    html! {
        ul.sentences {
            @for sentence in sentences {
                li class=(sentence.tone.class()) { (sign(sentence.tone)) span { (sentence.text) @if !sentence.more.is_empty() { small { (sentence.more) } } } }
            }
        }
    }
}

/// Longer cells are shown shortened, and whole where somebody points.
const LONGEST: usize = 48;

/// More columns than this are not shown.
const MOST_COLUMNS: usize = 60;

/// Long cells get room, changed ones a colour.
fn look(cell: &str, changed: bool) -> Option<&'static str> {
    match (cell.chars().count() > 18, changed) {
        (true, true) => Some("long changed"),
        (true, false) => Some("long"),
        (false, true) => Some("changed"),
        (false, false) => None,
    }
}

fn whole(cell: &str) -> Option<String> {
    // A page stays small whatever a cell holds.
    (cell.chars().count() > LONGEST).then(|| short(cell, 200))
}

/// Records beside what stands for them in the release. For the data owner's eyes.
pub fn sample(title: &str, data: &Sample) -> Markup {
    let counted = data.records.iter().any(|record| record.fitting.is_some());
    html! {
        div.wide tabindex="0" role="group" aria-label=(title) {
            table.sample {
                caption.visually-hidden { (title) }
                thead {
                    tr {
                        th scope="col" { span.visually-hidden { "before / after" } }
                        @if counted { th.number scope="col" { "records it fits" } }
                        @for name in data.columns.iter().take(MOST_COLUMNS) { th scope="col" { (name) } }
                    }
                }
                @for record in &data.records {
                    tbody {
                        tr.before {
                            th scope="row" { "before" }
                            @if counted { td {} }
                            @for cell in record.before.iter().take(MOST_COLUMNS) { td title=[whole(cell)] { (short(cell, LONGEST)) } }
                        }
                        tr.after {
                            th scope="row" { "after" }
                            @if counted { td.number { (record.fitting.map_or_else(String::new, thousands)) } }
                            @match &record.after {
                                Some(after) => {
                                    @for (cell, was) in after.iter().zip(&record.before).take(MOST_COLUMNS) {
                                        td class=[look(cell, cell != was)] title=[whole(cell)] { (short(cell, LONGEST)) }
                                    }
                                }
                                None => { td colspan=(data.columns.len().min(MOST_COLUMNS)) { "left out" } }
                            }
                        }
                    }
                }
            }
        }
        @if data.columns.len() > MOST_COLUMNS { p.note { (data.columns.len() - MOST_COLUMNS) " more columns are not shown." } }
    }
}
