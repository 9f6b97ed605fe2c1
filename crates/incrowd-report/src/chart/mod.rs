//! Charts that fill the width they have: places are shares of it, texts keep their size, names stand in lists that wrap. Colours come from
//! classes of the style sheet, so that one drawing serves light, dark and paper. No chart has a style of its own, which the pages of
//! `incrowd serve` forbid.

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

/// Classes of colours that tell each other apart for colour-blind readers too (Okabe and Ito).
pub const AFTER: &str = "blue";
/// For what was there before.
pub const BEFORE: &str = "amber";
/// For kinds of points, in their order.
pub(crate) const KINDS: [&str; 6] = ["blue", "vermilion", "green", "purple", "amber", "sky"];

/// A share of the width.
pub fn pc(share: f64) -> String {
    format!("{:.3}%", 100.0 * share)
}

/// The names of series, each with a swatch of its colour. They wrap.
pub fn legend(series: &[(&str, &str)]) -> Markup {
    html! {
        ul.legend aria-hidden="true" {
            @for (name, colour) in series { li { span class={ "mark fill-" (colour) } {} (name) } }
        }
    }
}

/// How wide the numbers on the left of a plot are.
const UP: u32 = 56;

/// What stands on the left of a plot: numbers at heights in pixels.
fn ticks_up(height: u32, ticks: &[(f64, String)]) -> Markup {
    html! {
        svg.up width=(UP) height=(height) aria-hidden="true" {
            @for (y, text) in ticks { text class="tick" x=(UP - 8) y=(format!("{:.1}", y + 4.5)) text-anchor="end" { (text) } }
        }
    }
}

/// A drawing that takes all the width beside the numbers on its left, with a title and a description for those who do not see it.
fn plot(about: (&str, &str), height: u32, ticks: &[(f64, String)], links: bool, drawn: &Markup) -> Markup {
    let lines = html! {
        @for (y, _) in ticks { line class="line-rule" x1="0" x2="100%" y1=(format!("{y:.1}")) y2=(format!("{y:.1}")) {} }
    };
    let (title, says) = about;
    html! {
        div.plot {
            (ticks_up(height, ticks))
            @if links {
                svg.area width="100%" height=(height) role="group" aria-label=(title) { (lines) (drawn) }
            } @else {
                svg.area width="100%" height=(height) role="img" { title { (title) } desc { (says) } (lines) (drawn) }
            }
        }
    }
}

/// Texts below a plot: each at a share of the width, the first and the last within it.
fn ticks_across(y: u32, ticks: &[(f64, String)]) -> Markup {
    html! {
        @for (share, text) in ticks {
            @let anchor = if *share < 0.08 { "start" } else if *share > 0.92 { "end" } else { "middle" };
            text class="tick" x=(pc(*share)) y=(y) text-anchor=(anchor) { (text) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind of chart, drawn.
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
        let matrix =
            Matrix { names: labels.clone(), values: vec![((0, 1), 0.2), ((0, 2), 0.9), ((1, 2), 0.0)] };
        let point = |(kind, x): (usize, f64)| Point {
            x,
            y: 1.0 / x,
            kind,
            front: kind != 1,
            chosen: kind == 2,
            says: "a & b <c>".into(),
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
    fn the_style_sheet_decides_about_every_colour() {
        for drawn in all() {
            assert!(drawn.contains("class="), "{drawn}");
            for own in ["=\"#", "rgb(", "style=", "font-family", "<script"] {
                assert!(!drawn.contains(own), "{own}\n{drawn}");
            }
        }
    }

    #[test]
    fn a_drawing_says_what_it_is_and_breaks_no_page() {
        for drawn in all() {
            assert!(drawn.contains("A &lt;title&gt;"), "{drawn}");
            assert!(!drawn.contains("<c>") && !drawn.contains("a & b"), "{drawn}");
        }
        for drawn in &all()[2..] {
            assert!(drawn.contains("role=\"img\"><title>A &lt;title&gt;</title><desc>what &amp; why</desc>"));
        }
    }

    #[test]
    fn no_drawing_shrinks_its_texts() {
        // What has a view box is stretched, and then holds no text.
        for drawn in all() {
            for stretched in drawn.split("viewBox").skip(1) {
                let inner = stretched.split("</svg>").next().unwrap();
                assert!(!inner.contains("<text"), "{inner}");
            }
        }
    }

    #[test]
    fn nothing_to_draw_is_drawn_too() {
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
