//! Horizontal bar charts with one row per name and the number at the end of the row.

use maud::{Markup, html};

use super::{legend, pc};

/// Values of one kind, one per label.
#[derive(Clone, Debug)]
pub struct Series {
    /// Name of the series.
    pub name: String,
    /// The values.
    pub values: Vec<f64>,
    /// Colour class.
    pub colour: &'static str,
}

impl Series {
    /// Creates a series.
    pub fn new(name: &str, values: Vec<f64>, colour: &'static str) -> Series {
        Series { name: name.to_owned(), values, colour }
    }
}

/// A bar chart with one row per label and one bar per series in it.
#[derive(Clone, Debug)]
pub struct Rows {
    /// Description for screen readers.
    pub label: String,
    /// Names of the rows.
    pub labels: Vec<String>,
    /// Values of the rows.
    pub series: Vec<Series>,
    /// Value of a bar of full width. `None` means the greatest value.
    pub whole: Option<f64>,
    /// Formats the number at the end of a bar.
    pub show: fn(f64) -> String,
}

/// Names with more characters count as long.
const LONG: usize = 20;

/// Renders a bar of a length from 0 to 1. A positive length is always visible.
pub fn bar(length: f64, class: &str) -> Markup {
    let length = if length > 0.0 { length.clamp(0.004, 1.0) } else { 0.0 };
    html! { rect class=(class) x="0" y="0" width=(pc(length)) height="100%" rx="2" {} }
}

impl Rows {
    /// Renders the chart.
    pub fn render(&self) -> Markup {
        let all = self.series.iter().flat_map(|s| &s.values).copied().filter(|v| v.is_finite());
        let most = self.whole.unwrap_or_else(|| all.fold(0.0, f64::max)).max(f64::MIN_POSITIVE);
        let share =
            |value: f64| if value.is_finite() { (value / most).clamp(0.0, 1.0) } else { 1.0 };
        let several = self.series.len() > 1;
        let names: Vec<(&str, &str)> =
            self.series.iter().map(|s| (s.name.as_str(), s.colour)).collect();
        // Long names get a wider column, and on a telephone a line of their own.
        let long = self.labels.iter().any(|label| label.chars().count() > LONG);
        let class =
            ["rows large", if several { " twice" } else { "" }, if long { " names" } else { "" }]
                .concat();
        let of = |series: &Series, i: usize| series.values.get(i).copied().unwrap_or(0.0);
        html! {
            @if several { (legend(&names)) }
            ul class=(class) aria-label=(self.label) {
                @for (i, label) in self.labels.iter().enumerate() {
                    li {
                        span.name { (label) }
                        span.both aria-hidden="true" {
                            @for series in &self.series {
                                svg width="100%" height=(if several { 11 } else { 14 }) {
                                    @if self.whole.is_some() {
                                        rect class="fill-soft" width="100%" height="100%" rx="2" {}
                                    }
                                    (bar(share(of(series, i)), &format!("fill-{}", series.colour)))
                                }
                            }
                        }
                        span.count {
                            @for (s, series) in self.series.iter().enumerate() {
                                @if s > 0 { " → " }
                                ((self.show)(of(series, i)))
                            }
                        }
                    }
                }
            }
        }
    }
}
