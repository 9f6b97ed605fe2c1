//! A distribution over numbers: the original as a hill, the release as a line over it.

use plotters::prelude::*;

use super::bars::frame;
use super::{AFTER, Anchor, Area, BEFORE, Drawn, INK, legend, svg, write};

/// Shares of records in bins of equal width.
#[derive(Clone, Debug)]
pub(crate) struct Overlay {
    /// The ends of the bins, one more than bins.
    pub(crate) ends: Vec<String>,
    /// Shares of the original, if they may be seen.
    pub(crate) before: Option<Vec<f64>>,
    /// Shares of the release.
    pub(crate) after: Vec<f64>,
    pub(crate) names: (String, String),
}

const WIDTH: u32 = 720;
const HEIGHT: u32 = 230;

impl Overlay {
    pub(crate) fn svg(&self, title: &str, description: &str) -> String {
        svg((WIDTH, HEIGHT), title, description, |area| self.draw(area))
    }

    fn draw(&self, area: &Area<'_>) -> Drawn {
        let bins = self.after.len().max(1);
        let all = self.after.iter().chain(self.before.iter().flatten());
        let most = all.copied().fold(0.0, f64::max) * 100.0;
        let top = if most > 0.0 { most * 1.08 } else { 1.0 };
        let mut chart = ChartBuilder::on(area)
            .margin_top(36)
            .margin_right(16)
            .x_label_area_size(28)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..bins as f64, 0.0..top)?;
        frame(&mut chart)?;
        if let Some(before) = &self.before {
            chart.draw_series(boxes(before, BEFORE))?;
            chart.draw_series([PathElement::new(steps(&self.after), AFTER.stroke_width(3))])?;
            legend(area, &[(&self.names.0, BEFORE), (&self.names.1, AFTER)], (56, 12))?;
        } else {
            chart.draw_series(boxes(&self.after, AFTER))?;
            legend(area, &[(&self.names.1, AFTER)], (56, 12))?;
        }
        write(area, "%", (34, 12), 13, INK, Anchor::Left)?;
        let every = bins.div_ceil(8);
        for (i, end) in self.ends.iter().enumerate().step_by(every) {
            let (x, y) = chart.backend_coord(&(i as f64, 0.0));
            write(area, end, (x, y + 14), 13, INK, Anchor::Middle)?;
        }
        Ok(())
    }
}

fn boxes(shares: &[f64], colour: RGBColor) -> Vec<Rectangle<(f64, f64)>> {
    let bars = shares.iter().enumerate().filter(|(_, share)| **share > 0.0);
    bars.map(|(i, share)| {
        let x = i as f64;
        Rectangle::new([(x + 0.02, 0.0), (x + 0.98, share * 100.0)], colour.filled())
    })
    .collect()
}

fn steps(shares: &[f64]) -> Vec<(f64, f64)> {
    let mut line = vec![(0.0, 0.0)];
    for (i, share) in shares.iter().enumerate() {
        line.push((i as f64, share * 100.0));
        line.push((i as f64 + 1.0, share * 100.0));
    }
    line.push((shares.len() as f64, 0.0));
    line
}
