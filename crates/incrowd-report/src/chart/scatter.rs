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
    /// Where guessing without a release stands, if it is in the picture.
    pub(crate) guessing: Option<f64>,
    pub(crate) across: String,
    pub(crate) upwards: String,
}

const WIDTH: u32 = 720;
const LEFT: i32 = 64;
const RIGHT: i32 = 700;
/// How high the picture is without the legend.
const HEIGHT: i32 = 316;
/// A line of the legend.
const LINE: i32 = 20;
/// A name in the legend longer than this is cut.
const LONGEST: usize = 72;

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
        let height = self.top() + HEIGHT + 56;
        svg((WIDTH, height as u32), title, description, |area| self.draw(area))
    }

    /// The places of the names of the kinds, as many in a line as fit.
    fn legend(&self) -> Vec<((i32, i32), String)> {
        let (mut left, mut line) = (LEFT, 0);
        let mut places = Vec::new();
        for name in &self.kinds {
            let mut name = name.clone();
            if name.chars().count() > LONGEST {
                name = name.chars().take(LONGEST - 1).chain(['…']).collect();
            }
            let width = 40 + name.chars().count() as i32 * 8;
            if left > LEFT && left + width - 22 > RIGHT {
                (left, line) = (LEFT, line + 1);
            }
            places.push(((left, 12 + line * LINE), name));
            left += width;
        }
        places
    }

    /// Where the picture begins below the legend.
    fn top(&self) -> i32 {
        self.legend().last().map_or(12, |((_, y), _)| *y) + 46
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
        let top = self.top();
        let bottom = top + HEIGHT;
        let x = Scale::new(self.points.iter().map(|p| p.x), (LEFT, RIGHT));
        let y = Scale::new(self.points.iter().map(|p| p.y), (bottom, top));
        for value in y.ticks() {
            let at = y.at(value);
            area.draw(&PathElement::new(vec![(LEFT, at), (RIGHT, at)], RULE))?;
            write(area, &tick(value), (LEFT - 8, at), 13, MUTED, Anchor::Right)?;
        }
        for value in x.ticks() {
            let at = x.at(value);
            area.draw(&PathElement::new(vec![(at, top), (at, bottom)], RULE))?;
            write(area, &tick(value), (at, bottom + 16), 13, MUTED, Anchor::Middle)?;
        }
        if let Some(at) = self.guessing.map(|g| x.at(g)).filter(|at| (LEFT..=RIGHT).contains(at)) {
            for from in (top..bottom).step_by(8) {
                area.draw(&PathElement::new(vec![(at, from), (at, from + 4)], MUTED.stroke_width(2)))?;
            }
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
        for (kind, ((left, line), name)) in self.legend().into_iter().enumerate() {
            mark(area, (left + 6, line), &Point { x: 0.0, y: 0.0, kind, front: true, chosen: false })?;
            write(area, &name, (left + 18, line), 14, INK, Anchor::Left)?;
        }
        write(area, &self.upwards, (6, top - 20), 13, MUTED, Anchor::Left)?;
        write(area, &self.across, ((LEFT + RIGHT) / 2, bottom + 44), 13, MUTED, Anchor::Middle)
    }
}

/// The corners of the shapes around a point; the first shape is a circle.
const SHAPES: [&[(i32, i32)]; 7] = [
    &[],
    &[(-5, -5), (5, -5), (5, 5), (-5, 5)],
    &[(0, -6), (6, 5), (-6, 5)],
    &[(0, -7), (7, 0), (0, 7), (-7, 0)],
    &[(0, 6), (6, -5), (-6, -5)],
    &[(-6, -6), (6, -6), (-6, 6), (6, 6)],
    &[(0, -8), (2, -2), (8, 0), (2, 2), (0, 8), (-2, 2), (-8, 0), (-2, -2)],
];

/// The colour and the shape of a kind. No two of the first 42 have both in common; further ones also have a number.
fn look(kind: usize) -> (usize, usize, usize) {
    let (colour, round) = (kind % KINDS.len(), kind / KINDS.len());
    (colour, (colour + round) % SHAPES.len(), round / SHAPES.len())
}

/// Kinds differ in shape too, so that a few need no colour to be told apart; points off the front are hollow.
fn mark(area: &Area<'_>, (x, y): (i32, i32), point: &Point) -> Drawn {
    let (colour, shape, number) = look(point.kind);
    let style = if point.front { KINDS[colour].filled() } else { KINDS[colour].stroke_width(2) };
    let corners = SHAPES[shape].iter().map(|(dx, dy)| (x + dx, y + dy));
    match point.front {
        _ if shape == 0 => area.draw(&Circle::new((x, y), 5, style))?,
        true => area.draw(&Polygon::new(corners.collect::<Vec<_>>(), style))?,
        false => {
            let around = corners.clone().chain(corners.take(1)).collect::<Vec<_>>();
            area.draw(&PathElement::new(around, style))?;
        }
    }
    if number > 0 {
        write(area, &number.to_string(), (x + 8, y - 7), 10, INK, Anchor::Left)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edge_falls_from_left_to_right() {
        let point = |(x, y): (f64, f64)| Point { x, y, kind: 0, front: false, chosen: false };
        let points =
            [(0.1, 0.9), (0.2, 0.95), (0.3, 0.4), (0.3, 0.5), (0.6, 0.4), (0.7, 0.1)].map(point).to_vec();
        let scatter = Scatter {
            kinds: vec!["a".into()],
            points,
            guessing: None,
            across: String::new(),
            upwards: String::new(),
        };
        assert_eq!(scatter.edge(), [(0.1, 0.9), (0.3, 0.4), (0.7, 0.1)]);
    }

    #[test]
    fn no_two_kinds_look_alike_and_every_name_is_within_the_picture() {
        let looks: std::collections::BTreeSet<_> = (0..500).map(look).collect();
        assert_eq!(looks.len(), 500);
        let kinds: Vec<String> =
            (0..60).map(|i| format!("algorithm(option={})", "x".repeat(3 * i))).collect();
        let (across, upwards) = (String::new(), String::new());
        let scatter = Scatter { kinds, points: Vec::new(), guessing: None, across, upwards };
        let places = scatter.legend();
        assert_eq!(places.len(), 60);
        for (i, ((left, line), name)) in places.iter().enumerate() {
            let end = left + 18 + name.chars().count() as i32 * 8;
            assert!(end <= RIGHT && *line < scatter.top(), "{name}");
            let apart = |((other, y), _): &((i32, i32), String)| y != line || end < *other;
            assert!(places[i + 1..].iter().all(apart), "{name}");
        }
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
