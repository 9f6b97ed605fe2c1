//! Charts as SVG and HTML. A chart fills the available width: positions are percentages of the
//! width, texts have a fixed size, and legends wrap. Colours are classes of the style sheet, so one
//! drawing serves light mode, dark mode and print. Charts have no inline styles, because the
//! content security policy of `incrowd serve` forbids them.

mod marks;
mod matrix;
mod overlay;
mod rows;
mod scale;
mod scatter;

pub use marks::mark;
pub use matrix::Matrix;
pub use overlay::Overlay;
pub use rows::{Rows, Series, bar};
pub use scatter::{Point, Scatter, Show};

use maud::{Markup, html};

/// Colour class of the release. The palette is distinguishable for colour-blind readers (Okabe and
/// Ito).
pub const AFTER: &str = "blue";
/// Colour class of the original.
pub const BEFORE: &str = "amber";
/// Colour classes of kinds of points, in order.
pub(crate) const KINDS: [&str; 6] = ["blue", "vermilion", "green", "purple", "amber", "sky"];

/// Formats a share of the width as a percentage.
pub fn pc(share: f64) -> String {
    format!("{:.3}%", 100.0 * share)
}

/// Renders the names of series with their colours.
pub fn legend(series: &[(&str, &str)]) -> Markup {
    html! {
        ul.legend aria-hidden="true" {
            @for (name, colour) in series { li { span class={ "mark fill-" (colour) } {} (name) } }
        }
    }
}

/// Width of the labels to the left of a plot, in pixels.
const UP: u32 = 56;

/// Renders the labels of the vertical axis. Positions are in pixels.
fn ticks_up(height: u32, ticks: &[(f64, String)]) -> Markup {
    html! {
        svg.up width=(UP) height=(height) aria-hidden="true" {
            @for (y, text) in ticks {
                text class="tick" x=(UP - 8) y=(format!("{:.1}", y + 4.5)) text-anchor="end" {
                    (text)
                }
            }
        }
    }
}

/// Renders a plot with a vertical axis. `about` is its title and its description for screen
/// readers. A plot with links is a group, because an element with `role="img"` hides its content
/// from screen readers.
fn plot(
    about: (&str, &str),
    height: u32,
    ticks: &[(f64, String)],
    links: bool,
    drawn: &Markup,
) -> Markup {
    let lines = html! {
        @for (y, _) in ticks {
            @let y = format!("{y:.1}");
            line class="line-rule" x1="0" x2="100%" y1=(y) y2=(y) {}
        }
    };
    let (title, description) = about;
    html! {
        div.plot {
            (ticks_up(height, ticks))
            @if links {
                svg.area width="100%" height=(height) role="group" aria-label=(title) {
                    (lines) (drawn)
                }
            } @else {
                svg.area width="100%" height=(height) role="img" {
                    title { (title) } desc { (description) } (lines) (drawn)
                }
            }
        }
    }
}

/// Renders the labels of the horizontal axis. Positions are shares of the width. Labels near the
/// ends are aligned inwards.
fn ticks_across(y: u32, ticks: &[(f64, String)]) -> Markup {
    html! {
        @for (share, text) in ticks {
            @let anchor = match *share {
                x if x < 0.08 => "start",
                x if x > 0.92 => "end",
                _ => "middle",
            };
            text class="tick" x=(pc(*share)) y=(y) text-anchor=(anchor) { (text) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders one chart of every kind.
    fn all() -> Vec<String> {
        let series = |name: &str, colour| Series::new(name, vec![3.0, 0.0, 5.5], colour);
        let labels: Vec<String> = ["a & b", "<c>", "d"].map(str::to_owned).to_vec();
        let rows = Rows {
            label: "A <title>".into(),
            labels: labels.clone(),
            series: vec![series("original", BEFORE), series("release", AFTER)],
            whole: Some(10.0),
            show: |x| x.to_string(),
        };
        let overlay = Overlay {
            ends: ["0", "<c>", "2"].map(str::to_owned).to_vec(),
            before: Some(vec![0.4, 0.6]),
            after: vec![0.5, 0.5],
        };
        let matrix = Matrix {
            names: labels.clone(),
            values: vec![((0, 1), 0.2), ((0, 2), 0.9), ((1, 2), 0.0)],
        };
        let point = |(kind, x): (usize, f64)| Point {
            x,
            y: 1.0 / x,
            kind,
            front: kind != 1,
            chosen: kind == 2,
            tooltip: "a & b <c>".into(),
            link: None,
        };
        let points = (0..7).map(|kind| point((kind, 0.1 + kind as f64))).collect();
        let scatter = Scatter {
            kinds: labels,
            points,
            guessing: Some(0.1),
            across: "risk".into(),
            upwards: "loss".into(),
            show: (|x| x.to_string(), |x| x.to_string()),
        };
        let about = ("A <title>", "what & why");
        vec![
            rows.render().into_string(),
            matrix.render(about.0).into_string(),
            overlay.render(about).into_string(),
            scatter.render(about).into_string(),
        ]
    }

    #[test]
    fn colours_come_from_the_style_sheet() {
        for drawn in all() {
            assert!(drawn.contains("class="), "{drawn}");
            for own in ["=\"#", "rgb(", "style=", "font-family", "<script"] {
                assert!(!drawn.contains(own), "{own}\n{drawn}");
            }
        }
    }

    #[test]
    fn charts_have_a_title_and_escape_their_texts() {
        for drawn in all() {
            assert!(drawn.contains("A &lt;title&gt;"), "{drawn}");
            assert!(!drawn.contains("<c>") && !drawn.contains("a & b"), "{drawn}");
        }
        for drawn in &all()[2..] {
            assert!(drawn.contains(
                "role=\"img\"><title>A &lt;title&gt;</title><desc>what &amp; why</desc>"
            ));
        }
    }

    #[test]
    fn charts_do_not_scale_text() {
        // An element with a view box is stretched and must not contain text.
        for drawn in all() {
            for stretched in drawn.split("viewBox").skip(1) {
                let inner = stretched.split("</svg>").next().unwrap();
                assert!(!inner.contains("<text"), "{inner}");
            }
        }
    }

    #[test]
    fn empty_charts_are_rendered() {
        let rows = Rows {
            label: String::new(),
            labels: vec!["x".into()],
            series: vec![Series::new("s", vec![f64::INFINITY], AFTER)],
            whole: None,
            show: |x| x.to_string(),
        };
        assert!(rows.render().into_string().contains("</ul>"));
        let none = Overlay { ends: vec![], before: None, after: vec![] };
        assert!(none.render(("t", "d")).into_string().contains("</svg>"));
    }
}
