//! Scales of axes: positions and ticks.

/// Returns the distance of grid lines: a round number with at most six multiples up to `most`.
pub(super) fn round_step(most: f64) -> f64 {
    let least = 10f64.powf((most / 5.0).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|n| n * least)
        .find(|step| most / step <= 6.0)
        .unwrap_or(least)
}

/// A linear scale, or a logarithmic one if the numbers span more than a factor of eight.
pub(super) struct Scale {
    log: bool,
    from: f64,
    to: f64,
}

impl Scale {
    pub(super) fn new(values: impl Iterator<Item = f64> + Clone) -> Scale {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(0.0, f64::max);
        let log = least > 0.0 && most / least > 8.0;
        let place = |x: f64| if log { x.ln() } else { x };
        let (least, most) = (place(least.min(most)), place(most));
        let padding =
            ((most - least) * 0.08).max(if log { 0.1 } else { 0.01 * most.abs().max(0.01) });
        let from = if log { least - padding } else { (least - padding).max(0.0) };
        Scale { log, from, to: most + padding }
    }

    /// Returns the position of a number: 0 at the start of the axis, 1 at its end.
    pub(super) fn at(&self, x: f64) -> f64 {
        let x = if self.log { x.ln() } else { x };
        (x - self.from) / (self.to - self.from)
    }

    /// Returns round numbers within the range of the axis.
    pub(super) fn ticks(&self) -> Vec<f64> {
        if self.log {
            let decades = (self.from / std::f64::consts::LN_10).floor() as i32
                ..=(self.to / std::f64::consts::LN_10).ceil() as i32;
            let all = |steps: &'static [f64]| -> Vec<f64> {
                let all =
                    decades.clone().flat_map(|d| steps.iter().map(move |m| m * 10f64.powi(d)));
                all.filter(|x| (self.from..=self.to).contains(&x.ln())).collect()
            };
            // A telephone has space for six labels.
            let fine = all(&[1.0, 2.0, 5.0]);
            return if fine.len() <= 6 { fine } else { all(&[1.0]) };
        }
        let step = round_step(self.to - self.from);
        let first = (self.from / step).ceil() as i64;
        (first..).map(|i| i as f64 * step).take_while(|x| *x <= self.to).take(12).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grid_lines_are_round_numbers() {
        for (most, step) in [(0.541, 0.1), (0.09, 0.02), (1.0, 0.2), (0.31, 0.1)] {
            let round = round_step(most);
            assert!((round - step).abs() < 1e-9, "{most}: {round}");
        }
    }

    #[test]
    fn ticks_are_round_and_within_the_axis() {
        let scale = Scale::new([0.02, 0.5].into_iter());
        assert!(scale.log);
        let near = |ticks: Vec<f64>, round: &[f64]| {
            assert_eq!(ticks.len(), round.len(), "{ticks:?}");
            assert!(ticks.iter().zip(round).all(|(a, b)| (a - b).abs() < 1e-9), "{ticks:?}");
        };
        near(scale.ticks(), &[0.02, 0.05, 0.1, 0.2, 0.5]);
        near(Scale::new([0.1, 0.35].into_iter()).ticks(), &[0.1, 0.15, 0.2, 0.25, 0.3, 0.35]);
        assert!(Scale::new([1e-6, 1.0].into_iter()).ticks().len() <= 7);
        assert!(Scale::new([0.0, 0.0].into_iter()).at(0.0) < 1.0);
    }
}
