//! A histogram of numbers: the original as bars, the release as a line over them.

use maud::{Markup, html};

use super::scale::round_step;
use super::{AFTER, BEFORE, legend, plot, ticks_across};
use crate::format::compact;

/// Shares of records in bins of equal width.
#[derive(Clone, Debug)]
pub struct Overlay {
    /// Boundaries of the bins: one more than there are bins.
    pub ends: Vec<String>,
    /// Shares of the original, if they may be shown.
    pub before: Option<Vec<f64>>,
    /// Shares of the release.
    pub after: Vec<f64>,
}

const HEIGHT: f64 = 150.0;
const TOP: f64 = 10.0;

impl Overlay {
    /// Renders the chart. `about` is its title and its description for screen readers.
    pub fn render(&self, about: (&str, &str)) -> Markup {
        let bins = self.after.len().max(1);
        let all = self.after.iter().chain(self.before.iter().flatten());
        let most = all.copied().fold(0.0, f64::max) * 100.0;
        let most = if most > 0.0 { most * 1.04 } else { 1.0 };
        let step = round_step(most);
        let at = |percent: f64| TOP + HEIGHT * (1.0 - percent / most);
        let ticks: Vec<(f64, String)> = (0..)
            .map(|i| f64::from(i) * step)
            .take_while(|p| *p <= most)
            .map(|p| (at(p), format!("{} %", compact(p))))
            .collect();
        // Four labels fit on a telephone, even if they are dates.
        let places = [0, 1, 2, 3].map(|i| i * bins / 3);
        let mut labels: Vec<(f64, String)> = Vec::new();
        for at in places {
            let share = at as f64 / bins as f64;
            if let Some(end) =
                self.ends.get(at).filter(|_| labels.last().is_none_or(|(last, _)| *last < share))
            {
                labels.push((share, end.clone()));
            }
        }
        let boxes = |shares: &[f64], class: &str| {
            html! {
                @for (i, share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
                    @let height = 100.0 * share / most * 100.0;
                    rect class=(class) x=(format!("{:.2}", i as f64 + 0.03)) width="0.94"
                        y=(format!("{:.2}", 100.0 - height)) height=(format!("{height:.2}")) {}
                }
            }
        };
        let names = [("original", BEFORE), ("release", AFTER)];
        let drawn = html! {
            // This element is stretched to the available width, so it contains no text.
            svg x="0" y=(TOP) width="100%" height=(HEIGHT) viewBox={ "0 0 " (bins) " 100" }
                preserveAspectRatio="none" {
                @match &self.before {
                    Some(before) => {
                        (boxes(before, "fill-amber"))
                        path class="step-blue" d=(steps(&self.after, most))
                            vector-effect="non-scaling-stroke" {}
                    }
                    None => { (boxes(&self.after, "fill-blue")) }
                }
            }
            (ticks_across((TOP + HEIGHT) as u32 + 18, &labels))
        };
        html! {
            (legend(if self.before.is_some() { &names } else { &names[1..] }))
            (plot(about, (TOP + HEIGHT) as u32 + 26, &ticks, false, &drawn))
        }
    }
}

fn steps(shares: &[f64], most: f64) -> String {
    let mut line = "M0 100".to_owned();
    for (i, share) in shares.iter().enumerate() {
        line += &format!("V{:.2}H{}", 100.0 - 100.0 * share / most * 100.0, i + 1);
    }
    line + "V100"
}
