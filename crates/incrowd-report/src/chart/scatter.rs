//! Points by what they risk and what they cost; a line runs along those that nothing beats in both.

use plotters::prelude::*;

use super::{Anchor, Area, Drawn, INK, KINDS, MUTED, RULE, svg, write};
use crate::format::decimals;

/// One configuration.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Which of the kinds it is.
    pub(crate) kind: usize,
    /// Whether nothing beats it in everything that is kept small, shown here or not.
    pub(crate) front: bool,
    /// Whether it is the one to choose.
    pub(crate) chosen: bool,
}

/// Points of several kinds.
#[derive(Clone, Debug)]
pub(crate) struct Scatter {
    pub(crate) kinds: Vec<String>,
    pub(crate) points: Vec<Point>,
    pub(crate) across: String,
    pub(crate) upwards: String,
}

const SIZE: (u32, u32) = (720, 430);
const LEFT: i32 = 64;
const RIGHT: i32 = 700;
const TOP: i32 = 58;
const BOTTOM: i32 = 374;

/// A scale of its own: logarithmic if the numbers span more than a factor of eight.
struct Scale {
    log: bool,
    from: f64,
    to: f64,
    ends: (i32, i32),
}

impl Scale {
    fn new(values: impl Iterator<Item = f64> + Clone, ends: (i32, i32)) -> Scale {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(0.0, f64::max);
        let log = least > 0.0 && most / least > 8.0;
        let place = |x: f64| if log { x.ln() } else { x };
        let (least, most) = (place(least.min(most)), place(most));
        let air = ((most - least) * 0.08).max(if log { 0.1 } else { 0.01 * most.abs().max(0.01) });
        let from = if log { least - air } else { (least - air).max(0.0) };
        Scale { log, from, to: most + air, ends }
    }

    fn at(&self, x: f64) -> i32 {
        let x = if self.log { x.ln() } else { x };
        let share = (x - self.from) / (self.to - self.from);
        let (from, to) = self.ends;
        from + (share * f64::from(to - from)).round() as i32
    }

    /// Round numbers between the ends.
    fn ticks(&self) -> Vec<f64> {
        if self.log {
            let decades = (self.from / std::f64::consts::LN_10).floor() as i32
                ..=(self.to / std::f64::consts::LN_10).ceil() as i32;
            let all = decades.flat_map(|d| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(d)));
            return all.filter(|x| (self.from..=self.to).contains(&x.ln())).collect();
        }
        let rough = (self.to - self.from) / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= rough);
        let step = step.unwrap_or(rough);
        let first = (self.from / step).ceil() as i64;
        (first..).map(|i| i as f64 * step).take_while(|x| *x <= self.to).take(12).collect()
    }
}

fn tick(x: f64) -> String {
    let places = if x == 0.0 { 0 } else { (2 - x.abs().log10().floor() as i32).clamp(0, 6) as usize };
    let text = decimals(x, places);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

impl Scatter {
    pub(crate) fn svg(&self, title: &str, description: &str) -> String {
        svg(SIZE, title, description, |area| self.draw(area))
    }

    /// The points that no other beats on the two axes, from the left.
    fn edge(&self) -> Vec<(f64, f64)> {
        let mut points: Vec<(f64, f64)> = self.points.iter().map(|p| (p.x, p.y)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut least = f64::INFINITY;
        points.retain(|&(_, y)| {
            let better = y < least;
            least = least.min(y);
            better
        });
        points
    }

    fn draw(&self, area: &Area<'_>) -> Drawn {
        let x = Scale::new(self.points.iter().map(|p| p.x), (LEFT, RIGHT));
        let y = Scale::new(self.points.iter().map(|p| p.y), (BOTTOM, TOP));
        for value in y.ticks() {
            let at = y.at(value);
            area.draw(&PathElement::new(vec![(LEFT, at), (RIGHT, at)], RULE))?;
            write(area, &tick(value), (LEFT - 8, at), 13, MUTED, Anchor::Right)?;
        }
        for value in x.ticks() {
            let at = x.at(value);
            area.draw(&PathElement::new(vec![(at, TOP), (at, BOTTOM)], RULE))?;
            write(area, &tick(value), (at, BOTTOM + 16), 13, MUTED, Anchor::Middle)?;
        }
        // The edge of what can be had on these two axes: nothing lies below and to the left of it.
        let mut line: Vec<(i32, i32)> = Vec::new();
        for (px, py) in self.edge() {
            if let Some(&(_, before)) = line.last() {
                line.push((x.at(px), before));
            }
            line.push((x.at(px), y.at(py)));
        }
        if line.len() > 1 {
            area.draw(&PathElement::new(line, MUTED.stroke_width(1)))?;
        }
        for point in &self.points {
            mark(area, (x.at(point.x), y.at(point.y)), point)?;
        }
        if let Some(chosen) = self.points.iter().find(|p| p.chosen) {
            let at = (x.at(chosen.x), y.at(chosen.y));
            area.draw(&Circle::new(at, 12, INK.stroke_width(2)))?;
        }
        let mut left = LEFT;
        for (kind, name) in self.kinds.iter().enumerate() {
            mark(area, (left + 6, 12), &Point { x: 0.0, y: 0.0, kind, front: true, chosen: false })?;
            write(area, name, (left + 18, 12), 14, INK, Anchor::Left)?;
            left += 40 + name.chars().count() as i32 * 8;
        }
        write(area, &self.upwards, (6, 38), 13, MUTED, Anchor::Left)?;
        write(area, &self.across, ((LEFT + RIGHT) / 2, SIZE.1 as i32 - 12), 13, MUTED, Anchor::Middle)
    }
}

/// Kinds differ in shape too, so that colour is not needed to tell them apart; points off the front are hollow.
fn mark(area: &Area<'_>, (x, y): (i32, i32), point: &Point) -> Drawn {
    let colour = KINDS[point.kind % KINDS.len()];
    let style = if point.front { colour.filled() } else { colour.stroke_width(2) };
    match point.kind % 3 {
        0 => area.draw(&Circle::new((x, y), 5, style)),
        1 => area.draw(&Rectangle::new([(x - 5, y - 5), (x + 5, y + 5)], style)),
        _ => {
            let corners = vec![(x, y - 6), (x + 6, y + 5), (x - 6, y + 5), (x, y - 6)];
            if point.front {
                area.draw(&Polygon::new(corners, style))
            } else {
                area.draw(&PathElement::new(corners, style))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edge_falls_from_left_to_right() {
        let point = |(x, y): (f64, f64)| Point { x, y, kind: 0, front: false, chosen: false };
        let points =
            [(0.1, 0.9), (0.2, 0.95), (0.3, 0.4), (0.3, 0.5), (0.6, 0.4), (0.7, 0.1)].map(point).to_vec();
        let scatter =
            Scatter { kinds: vec!["a".into()], points, across: String::new(), upwards: String::new() };
        assert_eq!(scatter.edge(), [(0.1, 0.9), (0.3, 0.4), (0.7, 0.1)]);
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let scale = Scale::new([0.02, 0.5].into_iter(), (0, 100));
        assert!(scale.log);
        assert_eq!(scale.ticks(), [0.02, 0.05, 0.1, 0.2, 0.5]);
        let scale = Scale::new([0.1, 0.35].into_iter(), (0, 100));
        assert_eq!(scale.ticks().into_iter().map(tick).collect::<Vec<_>>(), ["0.1", "0.2", "0.3"]);
        assert!(Scale::new([0.0, 0.0].into_iter(), (0, 100)).at(0.0) < 100);
    }
}
