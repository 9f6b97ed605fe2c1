//! A triangular matrix with one number per pair of columns. Larger numbers have darker cells.

use maud::{Markup, html};

/// Numbers from 0 to 1 for pairs of names. Each unordered pair is shown once.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// The names.
    pub names: Vec<String>,
    /// One value for each pair `(a, b)` with `a < b`.
    pub values: Vec<((usize, usize), f64)>,
}

/// Number of shades.
const SHADES: f64 = 10.0;

impl Matrix {
    /// Renders the lower triangle as a table. Columns are labelled with the numbers of the names. A
    /// wide table scrolls horizontally.
    pub fn render(&self, title: &str) -> Markup {
        let last = self.names.len().saturating_sub(1);
        let value = |a: usize, b: usize| {
            let value = self.values.iter().find(|(pair, _)| *pair == (a, b) && a < b);
            value.map(|(_, value)| *value)
        };
        let shade = |value: f64| (value.clamp(0.0, 1.0) * SHADES).round() as u32;
        let first = self.names.first().map_or("", String::as_str);
        html! {
            div.wide tabindex="0" role="group" aria-label=(title) {
                table.matrix {
                    caption.visually-hidden { (title) }
                    tbody {
                        @for b in 1..=last {
                            tr {
                                th scope="row" { (self.names[b]) " " span.muted { (b + 1) } }
                                @for a in 0..last {
                                    @match value(a, b) {
                                        Some(value) => {
                                            td class={ "shade" (shade(value)) } {
                                                (format!("{value:.2}"))
                                            }
                                        }
                                        None => { td {} }
                                    }
                                }
                            }
                        }
                    }
                    tfoot {
                        tr {
                            // The first name has no row, so it labels the row of numbers.
                            th scope="row" { (first) " " span.muted { "1" } }
                            @for a in 0..last { td.muted { (a + 1) } }
                        }
                    }
                }
            }
        }
    }
}
