//! Bars that lie: one line for each name, the number at its end.

use plotters::prelude::*;

use super::{Anchor, Area, Drawn, INK, MUTED, RULE, Series, fitted, legend, svg, write};

/// One line for each label, a bar for each series on it.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    pub(crate) labels: Vec<String>,
    pub(crate) series: Vec<Series>,
    /// The value at which a bar takes the whole width; the greatest if not given.
    pub(crate) whole: Option<f64>,
    /// How a number is written at the end of its bar.
    pub(crate) show: fn(f64) -> String,
}

const WIDTH: i32 = 720;
const NUMBERS: i32 = 74;
const TOP: i32 = 30;

impl Rows {
    /// How much room the names take: what the longest needs, but not more than leaves the bars some.
    fn room_for_labels(&self) -> i32 {
        let longest = self.labels.iter().map(|label| label.chars().count()).max().unwrap_or(0) as i32;
        (longest * 8 + 18).clamp(120, 400)
    }

    fn line(&self) -> i32 {
        if self.series.len() > 1 { 15 * self.series.len() as i32 + 10 } else { 26 }
    }

    pub(crate) fn svg(&self, title: &str, description: &str) -> String {
        let top = if self.series.len() > 1 { TOP } else { 4 };
        let height = top + self.line() * self.labels.len() as i32 + 4;
        svg((WIDTH as u32, height as u32), title, description, |area| self.draw(area, top))
    }

    fn draw(&self, area: &Area<'_>, top: i32) -> Drawn {
        let left = self.room_for_labels();
        let all = self.series.iter().flat_map(|s| &s.values).copied().filter(|v| v.is_finite());
        let most = self.whole.unwrap_or_else(|| all.fold(0.0, f64::max)).max(f64::MIN_POSITIVE);
        let room = f64::from(WIDTH - left - NUMBERS);
        if self.series.len() > 1 {
            let names: Vec<(&str, RGBColor)> =
                self.series.iter().map(|s| (s.name.as_str(), s.colour)).collect();
            legend(area, &names, (left, 12))?;
        }
        let thick = if self.series.len() > 1 { 12 } else { 16 };
        for (i, label) in self.labels.iter().enumerate() {
            let y = top + self.line() * i as i32;
            let middle = y + self.line() / 2;
            write(area, &fitted(label, left - 14), (left - 10, middle), 14, INK, Anchor::Right)?;
            let bars = self.series.len() as i32 * (thick + 2) - 2;
            for (s, series) in self.series.iter().enumerate() {
                let value = series.values.get(i).copied().unwrap_or(0.0);
                let from = middle - bars / 2 + s as i32 * (thick + 2);
                let share = if value.is_finite() { (value / most).clamp(0.0, 1.0) } else { 1.0 };
                let to = left + (room * share).round() as i32;
                let rail = [(left, from + thick / 2), (WIDTH - NUMBERS, from + thick / 2)];
                // A rail shows where the bar would end if it took everything.
                if self.whole.is_some() {
                    area.draw(&PathElement::new(rail.to_vec(), RULE))?;
                }
                if value > 0.0 {
                    let end = (to.max(left + 1), from + thick);
                    area.draw(&Rectangle::new([(left, from), end], series.colour.filled()))?;
                }
                let number = (self.show)(value);
                write(area, &number, (WIDTH - 2, from + thick / 2), 13, MUTED, Anchor::Right)?;
            }
        }
        Ok(())
    }
}
