//! Upright bars: how many of each kind, in the order of the kinds.

use plotters::prelude::*;

use super::{Anchor, Area, Drawn, INK, MUTED, RULE, Series, fitted, legend, points, svg, write};
use crate::format::compact;

/// Bars side by side, one of each series for every label.
#[derive(Clone, Debug)]
pub(crate) struct Bars {
    pub(crate) labels: Vec<String>,
    pub(crate) series: Vec<Series>,
    /// What the labels are.
    pub(crate) across: String,
    /// What the height is.
    pub(crate) upwards: String,
}

const WIDTH: u32 = 720;
const HEIGHT: u32 = 280;

impl Bars {
    pub(crate) fn svg(&self, title: &str, description: &str) -> String {
        svg((WIDTH, HEIGHT), title, description, |area| self.draw(area))
    }

    fn draw(&self, area: &Area<'_>) -> Drawn {
        let kinds = self.labels.len().max(1);
        let most = self.series.iter().flat_map(|s| &s.values).copied().fold(0.0, f64::max);
        let top = if most > 0.0 { most * 1.06 } else { 1.0 };
        let mut chart = ChartBuilder::on(area)
            .margin_top(40)
            .margin_right(8)
            .x_label_area_size(46)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..kinds as f64, 0.0..top)?;
        frame(&mut chart)?;
        let wide = 0.78 / self.series.len().max(1) as f64;
        for (s, series) in self.series.iter().enumerate() {
            let left = 0.11 + wide * s as f64;
            let bars = series.values.iter().enumerate().filter(|(_, value)| **value > 0.0);
            chart.draw_series(bars.map(|(i, &value)| {
                let x = i as f64 + left;
                Rectangle::new([(x, 0.0), (x + wide * 0.94, value)], series.colour.filled())
            }))?;
        }
        let names: Vec<(&str, RGBColor)> = self.series.iter().map(|s| (s.name.as_str(), s.colour)).collect();
        if names.len() > 1 {
            legend(area, &names, (56, 14))?;
        } else {
            write(area, &self.upwards, (6, 14), 13, MUTED, Anchor::Left)?;
        }
        let pixels = (WIDTH as i32 - 60) / kinds as i32;
        // Every label if there is room, else every second, third and so on.
        let longest = self.labels.iter().map(|l| l.chars().count()).max().unwrap_or(1).min(12) as i32 * 7 + 6;
        let every = (longest / pixels.max(1) + 1).max(1) as usize;
        for (i, label) in self.labels.iter().enumerate().step_by(every) {
            let (x, y) = chart.backend_coord(&(i as f64 + 0.5, 0.0));
            let label = fitted(label, pixels * every as i32 + 8);
            // The last label must not run over the edge.
            let x = x.min(WIDTH as i32 - 4 - label.chars().count() as i32 * 4);
            write(area, &label, (x, y + 14), 13, INK, Anchor::Middle)?;
        }
        let middle = (WIDTH as i32 + 52) / 2;
        write(area, &self.across, (middle, HEIGHT as i32 - 10), 13, MUTED, Anchor::Middle)
    }
}

/// Lines for the eye, numbers on the left.
pub(super) fn frame(
    chart: &mut ChartContext<
        '_,
        SVGBackend<'_>,
        Cartesian2d<plotters::coord::types::RangedCoordf64, plotters::coord::types::RangedCoordf64>,
    >,
) -> Drawn {
    chart
        .configure_mesh()
        .disable_x_mesh()
        .disable_x_axis()
        .y_labels(5)
        .y_max_light_lines(1)
        .y_label_formatter(&|value| compact(*value))
        .label_style(TextStyle::from(("sans-serif", points(13)).into_font()).color(&MUTED))
        .axis_style(TRANSPARENT)
        .bold_line_style(RULE)
        .light_line_style(TRANSPARENT)
        .draw()
}
