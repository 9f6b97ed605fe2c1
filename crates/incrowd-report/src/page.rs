//! What all pages share: head, style, tables and figures.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::parts;

/// What a page says of itself at the top.
pub(crate) struct Head<'a> {
    pub(crate) title: String,
    /// The line above the title.
    pub(crate) kicker: &'a str,
    pub(crate) heading: &'a str,
    /// Whether only the data owner may see it.
    pub(crate) private: bool,
    /// The sections by identifier and name.
    pub(crate) sections: Vec<(&'static str, &'static str)>,
    pub(crate) version: &'a str,
}

/// A whole page. The policy forbids everything but the style in the page, so nothing can be fetched even by mistake.
pub(crate) fn document(head: &Head<'_>, first: &Markup, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
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
                        ul { @for (id, name) in &head.sections { li { a href={ "#" (id) } { (name) } } } }
                    }
                }
                main id="content" { (body) }
                footer { "Made by incrowd " (head.version) ". This page is one file: it runs no script and fetches nothing." }
            }
        }
    };
    page.into_string()
}

/// A section with its heading.
pub(crate) fn section(id: &str, name: &str, body: &Markup) -> Markup {
    html! { section id=(id) aria-labelledby={ (id) "-heading" } { h2 id={ (id) "-heading" } { (name) } (body) } }
}

/// A table: names on the left, numbers on the right.
pub(crate) struct Table<'a> {
    pub(crate) caption: &'a str,
    pub(crate) head: Vec<&'a str>,
    pub(crate) rows: Vec<Vec<String>>,
    /// How many columns from the left hold text.
    pub(crate) texts: usize,
}

impl Table<'_> {
    pub(crate) fn render(&self) -> Markup {
        parts::table(self.caption, &self.head, &self.rows, self.texts)
    }
}

/// A chart with its numbers behind it.
pub(crate) fn figure(title: &str, about: &str, drawing: &Markup, data: &Table<'_>) -> Markup {
    html! {
        figure {
            figcaption { (title) @if !about.is_empty() { span { (about) } } }
            (drawing)
            details { summary { "The numbers" } (data.render()) }
        }
    }
}

/// Command lines with what they do.
pub(crate) fn commands(commands: &[(String, String)]) -> Markup {
    html! { @for (command, about) in commands { p { (about) } pre tabindex="0" { code { (command) } } } }
}
