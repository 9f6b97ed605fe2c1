//! A scatter plot of risk and loss. A line connects the points that no other point beats in both.

use maud::{Markup, html};

use super::scale::Scale;
use super::{mark, pc, plot, ticks_across};

/// A configuration in the plot.
#[derive(Clone, Debug)]
pub struct Point {
    /// Risk.
    pub x: f64,
    /// Information loss.
    pub y: f64,
    /// Index of its kind.
    pub kind: usize,
    /// Whether it is on the Pareto front of all measures, including those that are not shown.
    pub front: bool,
    /// Whether it is the recommended configuration.
    pub chosen: bool,
    /// Tooltip and label for screen readers.
    pub tooltip: String,
    /// Link target, if any.
    pub link: Option<String>,
}

/// Formats a number.
pub type Show = fn(f64) -> String;

/// Points of several kinds.
#[derive(Clone, Debug)]
pub struct Scatter {
    /// The names of the kinds.
    pub kinds: Vec<String>,
    /// The points.
    pub points: Vec<Point>,
    /// Risk of guessing without a release. It is drawn if it is within the axis.
    pub guessing: Option<f64>,
    /// Label of the horizontal axis.
    pub across: String,
    /// Label of the vertical axis.
    pub upwards: String,
    /// Formatters of the horizontal and the vertical axis.
    pub show: (Show, Show),
}

const TOP: f64 = 14.0;
const HEIGHT: f64 = 300.0;

impl Scatter {
    /// Returns the points that no other point beats on the two axes, from left to right.
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

    /// Renders the chart. `about` is its title and its description for screen readers.
    pub fn render(&self, about: (&str, &str)) -> Markup {
        let x = Scale::new(self.points.iter().map(|p| p.x));
        let y = Scale::new(self.points.iter().map(|p| p.y));
        let height = |value: f64| TOP + HEIGHT * (1.0 - y.at(value));
        let ticks: Vec<(f64, String)> =
            y.ticks().into_iter().map(|v| (height(v), (self.show.1)(v))).collect();
        let across: Vec<(f64, String)> =
            x.ticks().into_iter().map(|v| (x.at(v), (self.show.0)(v))).collect();
        // The Pareto front on these two axes: no point is below and to the left of it.
        let mut line = String::new();
        for (px, py) in self.edge() {
            let (px, py) = (1000.0 * x.at(px), 1000.0 * (1.0 - y.at(py)));
            line += &if line.is_empty() {
                format!("M{px:.1} {py:.1}")
            } else {
                format!("H{px:.1}V{py:.1}")
            };
        }
        let links = self.points.iter().any(|point| point.link.is_some());
        let guessing = self.guessing.map(|x0| x.at(x0)).filter(|share| (0.0..=1.0).contains(share));
        let drawn = html! {
            @if let Some(x) = guessing {
                @let x = pc(x);
                line class="line-guess" x1=(x) x2=(x) y1=(TOP) y2=(TOP + HEIGHT) {}
            }
            svg x="0" y=(TOP) width="100%" height=(HEIGHT) viewBox="0 0 1000 1000"
                preserveAspectRatio="none" {
                path class="line-edge" d=(line) vector-effect="non-scaling-stroke" {}
            }
            @for point in &self.points {
                svg x=(pc(x.at(point.x))) y=(format!("{:.1}", height(point.y))) overflow="visible" {
                    @if point.chosen { circle class="line-ink" r="12" {} }
                    @match &point.link {
                        Some(href) => {
                            a href=(href) aria-label=(point.tooltip) {
                                circle class="target" r="14" {}
                                (mark(point.kind, point.front))
                                title { (point.tooltip) }
                            }
                        }
                        None => { g { (mark(point.kind, point.front)) title { (point.tooltip) } } }
                    }
                }
            }
            (ticks_across((TOP + HEIGHT) as u32 + 20, &across))
        };
        html! {
            (self.legend())
            p.upwards { (self.upwards) }
            (plot(about, (TOP + HEIGHT) as u32 + 28, &ticks, links, &drawn))
            p.across { (self.across) }
        }
    }

    /// Renders the kinds that have points, each with its mark.
    fn legend(&self) -> Markup {
        let present = |kind: usize| self.points.iter().any(|point| point.kind == kind);
        let kinds = self.kinds.iter().enumerate().filter(|(kind, _)| present(*kind));
        html! {
            ul.legend {
                @for (kind, name) in kinds {
                    li {
                        svg width="22" height="22" viewBox="-11 -11 22 22" aria-hidden="true" {
                            (mark(kind, true))
                        }
                        span { (name) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edge_falls_from_left_to_right() {
        let point = |(x, y): (f64, f64)| Point {
            x,
            y,
            kind: 0,
            front: false,
            chosen: false,
            tooltip: String::new(),
            link: None,
        };
        let points = [(0.1, 0.9), (0.2, 0.95), (0.3, 0.4), (0.3, 0.5), (0.6, 0.4), (0.7, 0.1)]
            .map(point)
            .to_vec();
        let scatter = Scatter {
            kinds: vec!["a".into()],
            points,
            guessing: None,
            across: String::new(),
            upwards: String::new(),
            show: (|x| x.to_string(), |x| x.to_string()),
        };
        assert_eq!(scatter.edge(), [(0.1, 0.9), (0.3, 0.4), (0.7, 0.1)]);
    }
}
