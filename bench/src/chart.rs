//! Line charts as SVG: two axes, lines with marks, a legend. They use the text colour of the page.

/// A line with its name.
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

/// A chart.
pub(crate) struct Chart {
    pub(crate) x: String,
    pub(crate) y: String,
    pub(crate) lines: Vec<Line>,
}

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 340.0;
/// The margins for labels: left, top, right, bottom.
const MARGINS: [f64; 4] = [64.0, 24.0, 16.0, 48.0];
const COLOURS: [&str; 4] = ["#1b6ca8", "#c1440e", "#4b8b3b", "#7a4ea3"];

impl Chart {
    /// Renders the chart.
    pub(crate) fn svg(&self) -> String {
        let all = || self.lines.iter().flat_map(|line| &line.points);
        let (x_lo, x_hi) = ends(all().map(|p| p.0));
        let y_hi = ends(all().map(|p| p.1)).1.max(f64::MIN_POSITIVE) * 1.08;
        let [left, top, right, bottom] = MARGINS;
        let px = |x: f64| {
            left + (x - x_lo) / (x_hi - x_lo).max(f64::MIN_POSITIVE) * (WIDTH - left - right)
        };
        let py = |y: f64| HEIGHT - bottom - y / y_hi * (HEIGHT - top - bottom);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"12\" fill=\"currentColor\">\n<title>{} by {}</title>\n",
            self.y, self.x
        );
        let mut put = |text: String| svg += &(text + "\n");
        for step in 0..=4 {
            let y = y_hi * f64::from(step) / 4.0;
            put(format!(
                "<line x1=\"{left}\" x2=\"{}\" y1=\"{1:.1}\" y2=\"{1:.1}\" stroke=\"currentColor\" opacity=\"0.2\"/>",
                WIDTH - right,
                py(y)
            ));
            put(format!(
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 6.0,
                py(y) + 4.0,
                short(y)
            ));
        }
        for step in 0..=4 {
            let x = x_lo + (x_hi - x_lo) * f64::from(step) / 4.0;
            put(format!(
                "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                px(x),
                HEIGHT - bottom + 18.0,
                short(x)
            ));
        }
        put(format!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            WIDTH / 2.0,
            HEIGHT - 10.0,
            self.x
        ));
        put(format!("<text x=\"{left}\" y=\"14\">{}</text>", self.y));
        for (i, line) in self.lines.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let path: Vec<String> =
                line.points.iter().map(|&(x, y)| format!("{:.1},{:.1}", px(x), py(y))).collect();
            put(format!(
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                path.join(" ")
            ));
            for &(x, y) in &line.points {
                put(format!(
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>",
                    px(x),
                    py(y)
                ));
            }
            put(format!(
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"{colour}\">{}</text>",
                WIDTH - right,
                14.0 + 14.0 * i as f64,
                line.name
            ));
        }
        svg + "</svg>\n"
    }
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (lo, hi) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)));
    if lo.is_finite() { (lo, hi) } else { (0.0, 1.0) }
}

/// Formats a number with three significant digits.
fn short(x: f64) -> String {
    match x.abs() {
        a if a >= 1e4 => format!("{:.0}K", x / 1e3),
        a if a >= 100.0 => format!("{x:.0}"),
        a if a >= 1.0 => format!("{x:.1}"),
        _ => format!("{x:.2}"),
    }
}
