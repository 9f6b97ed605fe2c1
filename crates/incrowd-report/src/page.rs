//! Components shared by all pages: head, style, tables and figures.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::parts;

/// The head of a page.
pub(crate) struct Head<'a> {
    pub(crate) title: String,
    /// Line above the heading.
    pub(crate) kicker: &'a str,
    pub(crate) heading: &'a str,
    /// Whether the page is only for the data owner.
    pub(crate) private: bool,
    /// Identifiers and names of the sections.
    pub(crate) sections: Vec<(&'static str, &'static str)>,
    pub(crate) version: &'a str,
}

/// Marker of pages created by incrowd. It is within the first kilobyte of the file.
pub const GENERATOR: &str = "<meta name=\"generator\" content=\"incrowd\">";

/// Renders a whole page. The content security policy allows only the style in the page, so the page
/// cannot fetch anything.
pub(crate) fn document(head: &Head<'_>, first: &Markup, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                (PreEscaped(GENERATOR))
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy"
                    content="default-src 'none'; style-src 'unsafe-inline'";
                meta name="color-scheme" content="light dark";
                @if head.private { meta name="robots" content="noindex"; }
                title { (head.title) }
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body class=[head.private.then_some("owner")] {
                a.skip href="#content" { "Skip to the content" }
                header {
                    p.kicker { (head.kicker) }
                    h1 { (head.heading) }
                    (first)
                    nav aria-label="Sections" {
                        ul {
                            @for (id, name) in &head.sections {
                                li { a href={ "#" (id) } { (name) } }
                            }
                        }
                    }
                }
                main id="content" { (body) }
                footer {
                    "Created by incrowd " (head.version)
                    ". This page is one file: it runs no script and fetches nothing."
                }
            }
        }
    };
    page.into_string()
}

/// Renders a section with its heading.
pub(crate) fn section(id: &str, name: &str, body: &Markup) -> Markup {
    html! {
        section id=(id) aria-labelledby={ (id) "-heading" } {
            h2 id={ (id) "-heading" } { (name) }
            (body)
        }
    }
}

/// A table with text columns on the left and number columns on the right.
pub(crate) struct Table<'a> {
    pub(crate) caption: &'a str,
    pub(crate) head: Vec<&'a str>,
    pub(crate) rows: Vec<Vec<String>>,
    /// Number of text columns.
    pub(crate) texts: usize,
}

impl Table<'_> {
    pub(crate) fn render(&self) -> Markup {
        parts::table(self.caption, &self.head, &self.rows, self.texts)
    }
}

/// Renders a chart followed by a table of its numbers.
pub(crate) fn figure(title: &str, about: &str, drawing: &Markup, data: &Table<'_>) -> Markup {
    html! {
        figure {
            figcaption { (title) @if !about.is_empty() { span { (about) } } }
            (drawing)
            details { summary { "The numbers" } (data.render()) }
        }
    }
}

/// Renders command lines with their descriptions.
pub(crate) fn commands(commands: &[(String, String)]) -> Markup {
    html! {
        @for (command, about) in commands { p { (about) } pre tabindex="0" { code { (command) } } }
    }
}
