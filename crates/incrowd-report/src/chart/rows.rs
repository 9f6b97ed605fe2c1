//! Bars that lie: one line for each name, the number at its end.

use maud::{Markup, html};

use super::{legend, pc};

/// Values of one kind, one per label.
#[derive(Clone, Debug)]
pub struct Series {
    /// What they are.
    pub name: String,
    /// The values.
    pub values: Vec<f64>,
    /// The class of the colour.
    pub colour: &'static str,
}

impl Series {
    /// Values with what they are and their colour.
    pub fn new(name: &str, values: Vec<f64>, colour: &'static str) -> Series {
        Series { name: name.to_owned(), values, colour }
    }
}

/// One line for each label, a bar for each series on it.
#[derive(Clone, Debug)]
pub struct Rows {
    /// What is shown, for those who do not see it.
    pub label: String,
    /// The names.
    pub labels: Vec<String>,
    /// What each has.
    pub series: Vec<Series>,
    /// The value at which a bar takes the whole width; the greatest if not given.
    pub whole: Option<f64>,
    /// How a number is written at the end of its bar.
    pub show: fn(f64) -> String,
}

/// Longer names are long.
const LONG: usize = 20;

/// A bar from the left, of a length from 0 to 1.
pub fn bar(length: f64, class: &str) -> Markup {
    let length = if length > 0.0 { length.clamp(0.004, 1.0) } else { 0.0 };
    html! { rect class=(class) x="0" y="0" width=(pc(length)) height="100%" rx="2" {} }
}

impl Rows {
    /// The chart.
    pub fn render(&self) -> Markup {
        let all = self.series.iter().flat_map(|s| &s.values).copied().filter(|v| v.is_finite());
        let most = self.whole.unwrap_or_else(|| all.fold(0.0, f64::max)).max(f64::MIN_POSITIVE);
        let share = |value: f64| if value.is_finite() { (value / most).clamp(0.0, 1.0) } else { 1.0 };
        let several = self.series.len() > 1;
        let names: Vec<(&str, &str)> = self.series.iter().map(|s| (s.name.as_str(), s.colour)).collect();
        // Long names get room, and on a telephone a line of their own.
        let long = self.labels.iter().any(|label| label.chars().count() > LONG);
        let class =
            ["rows large", if several { " twice" } else { "" }, if long { " names" } else { "" }].concat();
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
                                    @if self.whole.is_some() { rect class="fill-soft" width="100%" height="100%" rx="2" {} }
                                    (bar(share(of(series, i)), &format!("fill-{}", series.colour)))
                                }
                            }
                        }
                        span.count {
                            @for (s, series) in self.series.iter().enumerate() { @if s > 0 { " → " } ((self.show)(of(series, i))) }
                        }
                    }
                }
            }
        }
    }
}
