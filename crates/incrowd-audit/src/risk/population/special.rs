//! Special functions and root finding for the estimators.

/// Returns ln Γ(x) for x > 0, by Stirling's series after shifting x above 20 with Γ(x) = Γ(x + 1) /
/// x. There the first omitted term is below 1e-14.
pub(super) fn ln_gamma(mut x: f64) -> f64 {
    let mut moved = 0.0;
    while x < 20.0 {
        moved += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series =
        (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - moved
}

/// Returns the sum of 1 / (start + i · step) for i from 0 to count − 1, with start > 0 and step ≥
/// 0. The first terms are added directly. The rest, which varies slowly, is computed with the
/// Euler–Maclaurin formula.
pub(super) fn reciprocal_sum(start: f64, step: f64, count: u64) -> f64 {
    let direct = count.min(24);
    let head: f64 = (0..direct).map(|i| 1.0 / (start + i as f64 * step)).sum();
    if direct == count {
        return head;
    }
    let (a, b) = (start + direct as f64 * step, start + (count - 1) as f64 * step);
    let terms = (count - 1 - direct) as f64;
    let integral =
        if step * terms < 1e-8 * a { terms / a } else { (step * terms / a).ln_1p() / step };
    let slope = |x: f64| -step / (x * x);
    let third = |x: f64| -6.0 * step.powi(3) / x.powi(4);
    head + integral + 0.5 * (1.0 / a + 1.0 / b) + (slope(b) - slope(a)) / 12.0
        - (third(b) - third(a)) / 720.0
}

/// Returns a change of sign of a function between `low` and `high`, by bisection to full precision.
pub(super) fn root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let rising = f(high) > 0.0;
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if (f(middle) > 0.0) == rising { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_of_integers_equals_factorials() {
        let mut factorial: f64 = 1.0;
        for n in 1..60u32 {
            assert!(
                (ln_gamma(f64::from(n)) - factorial.ln()).abs() < 1e-12 * factorial.ln().max(1.0),
                "{n}"
            );
            factorial *= f64::from(n);
        }
        let half = std::f64::consts::PI.sqrt().ln();
        assert!((ln_gamma(0.5) - half).abs() < 1e-12);
    }

    #[test]
    fn sums_equal_direct_summation() {
        for (start, step) in
            [(0.01, 1.0), (1.0, 1.0), (0.3, 0.05), (7.0, 0.9), (2.0, 1e-12), (5.0, 0.0), (1e4, 3.0)]
        {
            for count in [0u64, 1, 23, 24, 25, 26, 1000, 54_321] {
                let sum: f64 = (0..count).map(|i| 1.0 / (start + i as f64 * step)).sum();
                let fast = reciprocal_sum(start, step, count);
                assert!((fast - sum).abs() <= 1e-8 * sum, "{start} {step} {count}: {fast} {sum}");
            }
        }
    }
}
