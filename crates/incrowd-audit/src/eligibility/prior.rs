//! What an adversary believes of the counts before the release.

/// A belief that treats all labels alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prior {
    /// Every assignment of counts to labels is equally likely.
    Flat,
    /// Every assignment of labels to records is equally likely.
    Multinomial,
}

impl Prior {
    /// The names in reports.
    pub const ALL: [(&'static str, Prior); 2] = [("flat", Prior::Flat), ("multinomial", Prior::Multinomial)];

    /// The logarithm of how likely these counts are by label, up to a constant.
    pub(super) fn of(self, counts: &[u64]) -> f64 {
        match self {
            Prior::Flat => 0.0,
            Prior::Multinomial => -counts.iter().map(|&count| ln_factorial(count)).sum::<f64>(),
        }
    }
}

/// ln n!: added up where that is short, else Stirling's series, whose error is then below 1e-14.
pub(super) fn ln_factorial(n: u64) -> f64 {
    if n < 32 {
        return (2..=n).map(|i| (i as f64).ln()).sum();
    }
    let x = n as f64;
    x * x.ln() - x + 0.5 * (std::f64::consts::TAU * x).ln() + 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3))
        + 1.0 / (1260.0 * x.powi(5))
}
