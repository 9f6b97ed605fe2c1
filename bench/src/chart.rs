//! Line charts as SVG, without a library: a few series over a few labels.

use std::fmt::Write as _;

/// A line of a chart.
pub(crate) struct Series<'a> {
    pub(crate) name: &'a str,
    pub(crate) values: Vec<f64>,
}

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 300.0;
const MARGIN: f64 = 56.0;
const COLOURS: [&str; 4] = ["#1b6ca8", "#c8553d", "#588157", "#6d597a"];

/// The chart as a file.
pub(crate) fn chart(x: &str, y: &str, labels: &[&str], series: &[Series<'_>]) -> String {
    let most = series.iter().flat_map(|s| &s.values).copied().fold(f64::MIN_POSITIVE, f64::max);
    let across = |i: usize| MARGIN + (WIDTH - 2.0 * MARGIN) * i as f64 / (labels.len().max(2) - 1) as f64;
    let up = |value: f64| HEIGHT - MARGIN - (HEIGHT - 2.0 * MARGIN) * value / most;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    for step in 0..=4 {
        let value = most * f64::from(step) / 4.0;
        let at = up(value);
        let _ = writeln!(
            svg,
            "<line x1=\"{MARGIN}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - MARGIN,
            MARGIN - 6.0,
            at + 4.0,
            short(value)
        );
    }
    for (i, label) in labels.iter().enumerate() {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
            across(i),
            HEIGHT - MARGIN + 16.0
        );
    }
    for (n, line) in series.iter().enumerate() {
        let colour = COLOURS[n % COLOURS.len()];
        let points: Vec<String> =
            line.values.iter().enumerate().map(|(i, &v)| format!("{:.1},{:.1}", across(i), up(v))).collect();
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\
             <text x=\"{}\" y=\"{}\" fill=\"{colour}\">{}</text>",
            points.join(" "),
            MARGIN + 8.0 + 140.0 * n as f64,
            MARGIN - 24.0,
            line.name
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{x}</text>\
         <text x=\"14\" y=\"{}\" transform=\"rotate(-90 14 {})\" text-anchor=\"middle\">{y}</text>\n</svg>",
        WIDTH / 2.0,
        HEIGHT - 12.0,
        HEIGHT / 2.0,
        HEIGHT / 2.0
    );
    svg
}

/// A number that fits beside an axis.
fn short(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{:.1}M", v / 1e6),
        v if v >= 1e4 => format!("{:.0}K", v / 1e3),
        v if v >= 10.0 => format!("{v:.0}"),
        v => format!("{v:.1}"),
    }
}
