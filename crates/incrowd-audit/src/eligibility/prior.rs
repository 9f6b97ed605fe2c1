//! Prior beliefs of an adversary about the counts.

/// A belief that is symmetric in the labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prior {
    /// Every assignment of counts to labels is equally likely.
    Flat,
    /// Every assignment of labels to records is equally likely.
    Multinomial,
}

impl Prior {
    /// Names in reports.
    pub const ALL: [(&'static str, Prior); 2] =
        [("flat", Prior::Flat), ("multinomial", Prior::Multinomial)];

    /// Returns the logarithm of the prior probability of counts by label, up to a constant.
    pub(super) fn of(self, counts: &[u64]) -> f64 {
        match self {
            Prior::Flat => 0.0,
            Prior::Multinomial => -counts.iter().map(|&count| ln_factorial(count)).sum::<f64>(),
        }
    }
}

/// Returns ln n!, by a sum for small n, else by Stirling's series with an error below 1e-14.
pub(super) fn ln_factorial(n: u64) -> f64 {
    if n < 32 {
        return (2..=n).map(|i| (i as f64).ln()).sum();
    }
    let x = n as f64;
    x * x.ln() - x + 0.5 * (std::f64::consts::TAU * x).ln() + 1.0 / (12.0 * x)
        - 1.0 / (360.0 * x.powi(3))
        + 1.0 / (1260.0 * x.powi(5))
}
