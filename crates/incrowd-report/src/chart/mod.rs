//! Charts as SVG. Colours are names that the page's style sheet decides about, so that one drawing serves light, dark and
//! paper.

mod bars;
mod matrix;
mod overlay;
mod rows;
mod scatter;

pub(crate) use bars::Bars;
pub(crate) use matrix::Matrix;
pub(crate) use overlay::Overlay;
pub(crate) use rows::Rows;
pub(crate) use scatter::{Point, Scatter};

use plotters::coord::Shift;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::format::short;

/// Values of one kind, one per label.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    /// What they are.
    pub(crate) name: String,
    pub(crate) values: Vec<f64>,
    pub(crate) colour: RGBColor,
}

impl Series {
    pub(crate) fn new(name: &str, values: Vec<f64>, colour: RGBColor) -> Series {
        Series { name: name.to_owned(), values, colour }
    }
}

/// What a drawing is made on.
pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// What drawing into memory answers.
pub(crate) type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

// Colours that tell each other apart for colour-blind readers too (Okabe and Ito). They are only names here: each stands for
// a variable of the style sheet.
pub(crate) const INK: RGBColor = RGBColor(17, 17, 17);
pub(crate) const MUTED: RGBColor = RGBColor(119, 119, 119);
pub(crate) const RULE: RGBColor = RGBColor(221, 221, 221);
pub(crate) const AFTER: RGBColor = RGBColor(0, 114, 178);
pub(crate) const BEFORE: RGBColor = RGBColor(230, 159, 0);
/// For kinds of points, in their order.
pub(crate) const KINDS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];

const VARIABLES: [(RGBColor, &str); 9] = [
    (INK, "ink"),
    (MUTED, "muted"),
    (RULE, "rule"),
    (AFTER, "blue"),
    (BEFORE, "amber"),
    (KINDS[1], "vermilion"),
    (KINDS[2], "green"),
    (KINDS[3], "purple"),
    (KINDS[5], "sky"),
];

/// Draws, and gives the drawing a title and a description for those who do not see it.
pub(crate) fn svg(
    (width, height): (u32, u32),
    title: &str,
    description: &str,
    draw: impl FnOnce(&Area<'_>) -> Drawn,
) -> String {
    let mut text = String::new();
    let drawn = {
        let root = SVGBackend::with_string(&mut text, (width, height)).into_drawing_area();
        draw(&root).and_then(|()| root.present())
    };
    // Drawing into memory does not fail; if it ever does, the table below the chart still tells everything.
    if drawn.is_err() {
        return String::new();
    }
    themed(&text, (width, height), title, description)
}

fn themed(text: &str, (width, height): (u32, u32), title: &str, description: &str) -> String {
    let body = text.split_once('>').map_or("", |(_, body)| body);
    let mut body = body.replace(" font-family=\"sans-serif\"", "").replace(" opacity=\"1\"", "");
    for (RGBColor(r, g, b), name) in VARIABLES {
        let hex = format!("#{r:02X}{g:02X}{b:02X}");
        for attribute in ["fill", "stroke"] {
            let named = format!("style=\"{attribute}:var(--{name})\"");
            body = body.replace(&format!("{attribute}=\"{hex}\""), &named);
        }
    }
    // Plotters sets text in lines of its own, which a reader of the mark-up would take for blanks.
    let (title, description) = (escaped(title), escaped(description));
    format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\"><title>{title}</title>\
         <desc>{description}</desc>{}",
        body.trim_start()
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Where a text stands from its point.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Left,
    Middle,
    Right,
}

/// Plotters takes a size for the height of a line and writes a font that is smaller by this factor.
pub(crate) fn points(size: u32) -> f64 {
    f64::from(size) * 1.24
}

/// Writes a text.
pub(crate) fn write(
    area: &Area<'_>,
    text: &str,
    at: (i32, i32),
    size: u32,
    colour: RGBColor,
    anchor: Anchor,
) -> Drawn {
    let horizontal = match anchor {
        Anchor::Left => HPos::Left,
        Anchor::Middle => HPos::Center,
        Anchor::Right => HPos::Right,
    };
    let style = TextStyle::from(("sans-serif", points(size)).into_font())
        .color(&colour)
        .pos(Pos::new(horizontal, VPos::Center));
    area.draw_text(text, &style, at)
}

/// The names of the series with a swatch each, from the left. Characters are taken to be about as wide as they mostly are.
pub(crate) fn legend(area: &Area<'_>, series: &[(&str, RGBColor)], (left, top): (i32, i32)) -> Drawn {
    let mut x = left;
    for (name, colour) in series {
        area.draw(&Rectangle::new([(x, top - 5), (x + 10, top + 5)], colour.filled()))?;
        write(area, name, (x + 16, top), 14, INK, Anchor::Left)?;
        x += 36 + name.chars().count() as i32 * 7;
    }
    Ok(())
}

/// A label that fits into so many pixels.
pub(crate) fn fitted(text: &str, pixels: i32) -> String {
    short(text, (pixels / 8).max(3) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind of chart, drawn.
    fn all() -> Vec<String> {
        let series = |name: &str, colour| Series::new(name, vec![3.0, 0.0, 5.5], colour);
        let labels: Vec<String> = ["a & b", "<c>", "d"].map(str::to_owned).to_vec();
        let bars = Bars {
            labels: labels.clone(),
            series: vec![series("original", BEFORE), series("release", AFTER)],
            across: "size".into(),
            upwards: "groups".into(),
        };
        let rows = Rows {
            labels: labels.clone(),
            series: vec![series("x", AFTER)],
            whole: Some(10.0),
            show: |x| x.to_string(),
        };
        let overlay = Overlay {
            ends: ["0", "1", "2"].map(str::to_owned).to_vec(),
            before: Some(vec![0.4, 0.6]),
            after: vec![0.5, 0.5],
            names: ("original".into(), "release".into()),
        };
        let matrix = Matrix { names: labels, values: vec![((0, 1), 0.2), ((0, 2), 0.9), ((1, 2), 0.0)] };
        let point =
            |(kind, x): (usize, f64)| Point { x, y: 1.0 / x, kind, front: kind != 1, chosen: kind == 2 };
        let points = (0..7).map(|kind| point((kind, 0.1 + kind as f64))).collect();
        let kinds = (0..7).map(|kind| format!("kind {kind}")).collect();
        let scatter =
            Scatter { kinds, points, guessing: Some(0.1), across: "risk".into(), upwards: "loss".into() };
        let (title, says) = ("A <title>", "what & why");
        vec![
            bars.svg(title, says),
            rows.svg(title, says),
            overlay.svg(title, says),
            matrix.svg(title, says),
            scatter.svg(title, says),
        ]
    }

    #[test]
    fn the_style_sheet_decides_about_every_colour() {
        for svg in all() {
            assert!(svg.contains("var(--"), "{svg}");
            assert!(!svg.contains("=\"#") && !svg.contains("rgb("), "a colour of its own\n{svg}");
            assert!(!svg.contains("font-family"), "{svg}");
        }
    }

    #[test]
    fn a_drawing_says_what_it_is_and_breaks_no_page() {
        for svg in all() {
            assert!(svg.starts_with("<svg viewBox=") && svg.trim_end().ends_with("</svg>"), "{svg}");
            assert!(svg.contains("role=\"img\"") && svg.contains("<title>A &lt;title&gt;</title>"), "{svg}");
            assert!(svg.contains("<desc>what &amp; why</desc>"), "{svg}");
            assert!(!svg.contains("<c>") && !svg.contains("a & b"), "{svg}");
        }
    }

    #[test]
    fn nothing_to_draw_is_drawn_too() {
        let empty = Bars { labels: vec![], series: vec![], across: String::new(), upwards: String::new() };
        assert!(empty.svg("t", "d").contains("</svg>"));
        let rows = Rows {
            labels: vec!["x".into()],
            series: vec![Series::new("s", vec![f64::INFINITY], AFTER)],
            whole: None,
            show: |x| x.to_string(),
        };
        assert!(rows.svg("t", "d").contains("</svg>"));
    }
}
