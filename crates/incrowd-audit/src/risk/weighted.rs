//! Re-identification risk in a sample with sampling weights.
//!
//! Papers: `benedetti1998`; `templ2008` for the estimators in the form of sdcMicro. A group has f
//! records of the sample, and their weights sum to F, the estimated number of people of the
//! population with equal values. An adversary who does not know who is in the sample finds the
//! right person with probability 1/F. F is an estimate, and 1/F is too low on average, because F
//! may be smaller. Under the model of Benedetti and Franconi, the expected value of one over the
//! true frequency is, with p = f/F, `(p^f / f) · ₂F₁(f, f; f + 1; 1 − p)`.
//!
//! Where we differ: sdcMicro computes this for f = 1 and f = 2 and uses `p / (f − (1 − p))` for f ≥
//! 3, which is slightly too high. We compute it for every f. Euler's integral with `s = p t / (1 −
//! (1 − p) t)` transforms it into `a ∫₀¹ s^(f−1) / (a + s) ds` with a = p/(1 − p). For a ≤ 1 the
//! integral follows from the one for f − 1. For a > 1 it is a series of positive terms, each at
//! most half of the previous one.

use hashbrown::HashMap;
use incrowd_core::Columnar;

/// Returns the risk of Benedetti and Franconi for a record in a group of f records, with `people`
/// people in the population.
pub fn benedetti_franconi(f: u64, people: f64) -> f64 {
    let size = f.max(1) as f64;
    if people <= size {
        return 1.0 / size;
    }
    let (p, z) = (size / people, 1.0 - size / people);
    let a = p / z;
    if a > 1.0 {
        let (mut term, mut sum, mut m) = (1.0 / size, 0.0, 0.0);
        while term > sum * 1e-18 {
            sum += term;
            m += 1.0;
            term *= z * m / (size + m);
        }
        return p * sum;
    }
    let mut integral = -p.ln();
    for n in 1..f {
        integral = 1.0 / n as f64 - a * integral;
    }
    a * integral
}

/// Risks of a sample with sampling weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightedRisk {
    /// Number of records.
    pub records: u64,
    /// Sum of the sampling weights.
    pub people: f64,
    /// The greatest 1/F, and its sum over the records: the expected number of re-identifications.
    pub by_weights: (f64, f64),
    /// The greatest risk of Benedetti and Franconi, and its sum over the records.
    pub expected: (f64, f64),
    /// The smallest sum of weights of a group.
    pub fewest: f64,
}

/// Computes the risks of groups, given by their number of records and their sum of weights.
pub fn weighted_risk(groups: impl IntoIterator<Item = (u64, f64)>) -> WeightedRisk {
    let mut risk = WeightedRisk { fewest: f64::INFINITY, ..WeightedRisk::default() };
    let groups = in_order(groups.into_iter().filter(|(records, _)| *records > 0).collect());
    for (records, people) in groups {
        let (plain, expected) = (1.0 / people, benedetti_franconi(records, people));
        risk.records += records;
        risk.people += people;
        risk.by_weights =
            (risk.by_weights.0.max(plain), risk.by_weights.1 + plain * records as f64);
        risk.expected =
            (risk.expected.0.max(expected), risk.expected.1 + expected * records as f64);
        risk.fewest = risk.fewest.min(people);
    }
    if risk.records == 0 {
        risk.fewest = 0.0;
    }
    risk
}

/// Groups records by some columns. Returns the group of each record and the number of groups.
pub(crate) fn grouped(table: &Columnar, columns: &[usize]) -> (Vec<u32>, usize) {
    let mut class: Vec<u32> = vec![0; table.records];
    let mut classes = usize::from(table.records > 0);
    for &column in columns {
        let mut known: HashMap<(u32, u32), u32> = HashMap::new();
        for (class, &code) in class.iter_mut().zip(&table.columns[column].codes) {
            let fresh = known.len() as u32;
            *class = *known.entry((*class, code)).or_insert(fresh);
        }
        classes = known.len();
    }
    (class, classes)
}

/// Groups records by some columns. Returns the number of records and the sum of weights per group.
pub fn weighted_groups(table: &Columnar, columns: &[usize], weights: &[f64]) -> Vec<(u64, f64)> {
    let (class, classes) = grouped(table, columns);
    let mut groups = vec![(0, 0.0); classes];
    for (&class, &people) in class.iter().zip(weights) {
        let (records, sum) = &mut groups[class as usize];
        (*records, *sum) = (*records + 1, *sum + people);
    }
    // The order of hash map entries must not influence the rounding of sums over the groups.
    in_order(groups)
}

/// Sorts groups, so that sums over them do not depend on the order of reading.
pub(crate) fn in_order(mut groups: Vec<(u64, f64)>) -> Vec<(u64, f64)> {
    groups.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values of the hypergeometric function by mpmath with 40 digits, and values of sdcMicro 5.8.1
    /// where it computes the same function.
    const VECTORS: [(u64, f64, f64); 18] = [
        (1, 1.5, 0.8109302162163289),
        (1, 10.0, 0.25584278811044947),
        (1, 250.0, 0.022174541838804202),
        (2, 3.0, 0.37813956756734257),
        (2, 20.0, 0.08268413465439452),
        (2, 500.0, 0.0039270098721333165),
        (3, 4.5, 0.2437208648653149),
        (3, 30.0, 0.04636842948284504),
        (3, 750.0, 0.001992261004529585),
        (5, 7.5, 0.1415501261279269),
        (5, 50.0, 0.02423500118703102),
        (5, 1250.0, 0.000998671939608574),
        (10, 15.0, 0.06880866231903793),
        (10, 100.0, 0.01097600625870451),
        (10, 2500.0, 0.000444222475684157),
        (1, 100.0, 0.046516871),
        (2, 200.0, 0.009631143),
        (3, 300.0, 0.004953221),
    ];

    #[test]
    fn risks_equal_reference_values() {
        for (f, people, risk) in VECTORS {
            let found = benedetti_franconi(f, people);
            let digits = if risk.to_string().len() > 12 { 1e-9 } else { 1e-6 };
            assert!(
                (found / risk - 1.0).abs() < digits,
                "f = {f}, F = {people}: {found}, not {risk}"
            );
        }
        // Closed forms.
        for people in [1.5, 10.0, 250.0, 1e6] {
            let odds = 1.0 / people / (1.0 - 1.0 / people);
            let one = odds * f64::ln(people);
            assert!((benedetti_franconi(1, people) / one - 1.0).abs() < 1e-12, "F = {people}");
            let two = odds * (1.0 - one);
            assert!((benedetti_franconi(2, 2.0 * people) / two - 1.0).abs() < 1e-9, "F = {people}");
        }
        assert_eq!(benedetti_franconi(4, 4.0), 0.25);
        assert_eq!(benedetti_franconi(4, 3.0), 0.25);
    }

    /// Sums the hypergeometric series term by term. It converges slowly if p is small.
    fn slow(f: u64, people: f64) -> f64 {
        let p = f as f64 / people;
        let (mut term, mut sum, mut n) = (1.0_f64, 0.0_f64, 0.0_f64);
        let (b, c) = (f as f64, f as f64 + 1.0);
        while term > sum * 1e-17 && n < 5e6 {
            sum += term;
            term *= (b + n) * (b + n) / ((c + n) * (n + 1.0)) * (1.0 - p);
            n += 1.0;
        }
        p.powi(f as i32) / f as f64 * sum
    }

    proptest! {
        #[test]
        fn risk_equals_the_hypergeometric_series(f in 1u64..40, stretch in 1.0001f64..60.0) {
            let people = f as f64 * stretch;
            let (fast, slow) = (benedetti_franconi(f, people), slow(f, people));
            let equal = (fast / slow - 1.0).abs() < 1e-9;
            prop_assert!(equal, "f = {f}, F = {people}: {fast}, not {slow}");
            // Higher than 1/F, at most 1/f, and decreasing in F.
            prop_assert!(fast > 1.0 / people && fast <= 1.0 / f as f64 * (1.0 + 1e-12));
            prop_assert!(benedetti_franconi(f, people * 1.01) < fast);
        }
    }

    #[test]
    fn global_risk_is_a_sum_over_records() {
        let risk = weighted_risk([(1, 100.0), (2, 200.0), (0, 5.0)]);
        assert_eq!((risk.records, risk.people, risk.fewest), (3, 300.0, 100.0));
        assert!((risk.by_weights.1 - (0.01 + 2.0 * 0.005)).abs() < 1e-15);
        assert!((risk.expected.1 - (0.046516871 + 2.0 * 0.009631143)).abs() < 1e-8);
        assert_eq!(weighted_risk([]), WeightedRisk::default());
        let groups: Vec<(u64, f64)> = (1..90).map(|n| (n % 7 + 1, 1.1 * n as f64)).collect();
        let sums = weighted_risk(groups.iter().copied());
        assert_eq!(
            weighted_risk(groups.iter().rev().copied()),
            sums,
            "the order of the groups changes nothing"
        );
    }
}
