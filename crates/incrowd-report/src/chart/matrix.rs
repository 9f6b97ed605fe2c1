//! A number for every pair of columns: the stronger, the darker.

use maud::{Markup, html};

/// Numbers from 0 to 1 for pairs of names; only one of each pair is shown.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// The names.
    pub names: Vec<String>,
    /// For each pair `(a, b)` with `a < b`.
    pub values: Vec<((usize, usize), f64)>,
}

/// How many shades there are.
const SHADES: f64 = 10.0;

impl Matrix {
    /// A table, which scrolls in its own box where it has no room: a lower triangle, whose columns are told by the numbers of the names.
    pub fn render(&self, title: &str) -> Markup {
        let last = self.names.len().saturating_sub(1);
        let value = |a: usize, b: usize| {
            self.values.iter().find(|(pair, _)| *pair == (a, b)).map(|(_, value)| *value)
        };
        html! {
            div.wide tabindex="0" role="group" aria-label=(title) {
                table.matrix {
                    caption.visually-hidden { (title) }
                    tbody {
                        @for b in 1..=last {
                            tr {
                                th scope="row" { (self.names[b]) " " span.muted { (b + 1) } }
                                @for a in 0..last {
                                    @match value(a, b).filter(|_| a < b) {
                                        Some(value) => { td class={ "shade" ((value.clamp(0.0, 1.0) * SHADES).round() as u32) } { (format!("{value:.2}")) } }
                                        None => { td {} }
                                    }
                                }
                            }
                        }
                    }
                    tfoot {
                        tr {
                            // The first name has no row of its own, so it is told below its column.
                            th scope="row" { (self.names.first().map_or("", String::as_str)) " " span.muted { "1" } }
                            @for a in 0..last { td.muted { (a + 1) } }
                        }
                    }
                }
            }
        }
    }
}
