//! Density-based outliers: four numbers computed by hand, equal records, and the definition on
//! random tables.

use std::collections::BTreeMap;

use incrowd_core::outlier::{Bits, Density, Outliers, Scale, Settings, Standing};
use incrowd_core::{Code, ColumnSpec, Dataset, Folded, Kind, SensitiveSpec};
use proptest::prelude::*;

use super::region;

fn table(rows: &[(i32, i32, i32)]) -> Dataset {
    let cells: Vec<[String; 3]> =
        rows.iter().map(|(a, b, s)| [a, b, s].map(i32::to_string)).collect();
    let records = cells.iter().map(|row| row.iter().map(|c| Some(c.as_str())).collect());
    let numeric = ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() };
    let folded = Folded::from_records(&["a", "b", "s"], records, false);
    Dataset::encode(folded, &[&numeric, &numeric], &[&SensitiveSpec::default()], "?").unwrap()
}

fn outliers(data: &Dataset, neighbours: u64, threshold: f64) -> Outliers {
    let settings = Settings {
        p: 1.0,
        d: 1.0,
        distance_attributes: Vec::new(),
        scale: Scale::Original,
        bounds: Vec::new(),
        on: String::new(),
        density: Some(Density { neighbours, threshold }),
    };
    Outliers::new(data, &settings).unwrap()
}

fn row_of(data: &Dataset, value: &str) -> usize {
    let code = data.sensitive()[0].values.iter().position(|text| text == value).unwrap() as u32;
    (0..data.rows()).find(|&row| data.sensitive_codes(row)[0] == code).unwrap()
}

/// Two neighbours each. The distances to the second neighbour are 2, 1, 2 and 9, the densities 2/3,
/// 1/2, 2/3 and 2/17. A factor is the mean density of the neighbours divided by the own density.
/// Scaling does not change it.
#[test]
fn four_numbers_have_the_factors_computed_by_hand() {
    let data = table(&[(7, 7, 0), (7, 7, 1), (7, 7, 2), (7, 7, 10)]);
    let outliers = outliers(&data, 2, 1.5);
    let dense = (1.0 / 2.0 + 2.0 / 3.0) / 2.0;
    for (value, factor) in [
        ("0", dense / (2.0 / 3.0)),
        ("1", (2.0 / 3.0) / 0.5),
        ("2", dense / (2.0 / 3.0)),
        ("10", dense * 8.5),
    ] {
        let row = row_of(&data, value);
        assert!((outliers.row_factor(row).unwrap() - factor).abs() < 1e-9, "{value}");
        assert_eq!(outliers.standing(row) == Standing::Local, value == "10");
    }
    assert_eq!((outliers.counts().global, outliers.counts().local), (0, 1));
}

/// A factor equal to the threshold makes an outlier.
#[test]
fn a_factor_at_the_threshold_makes_an_outlier() {
    let data = table(&[(7, 7, 0), (7, 7, 1), (7, 7, 2), (7, 7, 10)]);
    let standing = |threshold| outliers(&data, 2, threshold).standing(row_of(&data, "1"));
    assert_eq!((standing(4.0 / 3.0), standing(1.34)), (Standing::Local, Standing::Ordinary));
}

/// Next to a thousand equal records, densities are finite, and the equal records are not outliers.
#[test]
fn equal_records_do_not_make_densities_infinite() {
    let mut rows = vec![(0, 0, 0); 1000];
    rows.extend([(1, 0, 0), (0, 1, 0), (1, 1, 0), (2, 1, 1), (1, 2, 1), (9, 9, 9)]);
    let data = table(&rows);
    let outliers = outliers(&data, 3, 1.5);
    let factors: Vec<f64> = (0..data.rows()).map(|row| outliers.row_factor(row).unwrap()).collect();
    assert!(factors.iter().all(|factor| factor.is_finite() && *factor > 0.0));
    let repeated = (0..data.rows()).find(|&row| data.weight(row) == 1000).unwrap();
    assert_eq!(outliers.standing(repeated), Standing::Ordinary);
    assert_eq!(outliers.standing(row_of(&data, "9")), Standing::Local);
}

/// The definition, place by place.
struct Slow {
    places: BTreeMap<[i32; 3], f64>,
    ranges: [(f64, f64); 3],
    neighbours: usize,
}

impl Slow {
    fn distance(&self, a: [i32; 3], b: [i32; 3]) -> f64 {
        let scaled = |i: usize, x: i32| {
            let (lo, hi) = self.ranges[i];
            if hi > lo { (f64::from(x) - lo) / (hi - lo) } else { 0.0 }
        };
        (0..3).map(|i| (scaled(i, a[i]) - scaled(i, b[i])).powi(2)).sum::<f64>().sqrt()
    }

    fn around(&self, x: [i32; 3]) -> (f64, Vec<([i32; 3], f64)>) {
        let mut others: Vec<f64> =
            self.places.keys().map(|&y| self.distance(x, y)).filter(|d| *d > 0.0).collect();
        others.sort_by(f64::total_cmp);
        let reach = others.get(self.neighbours - 1).or(others.last()).copied().unwrap_or(0.0);
        let mut own = 1.0;
        let near = self.places.iter().filter(|(y, _)| self.distance(x, **y) <= reach + 1e-9);
        let near = near.map(|(&y, &n)| {
            let less = if self.distance(x, y) == 0.0 { std::mem::take(&mut own) } else { 0.0 };
            (y, n - less)
        });
        (reach, near.collect())
    }

    fn density(&self, x: [i32; 3]) -> f64 {
        let (_, near) = self.around(x);
        let reach: f64 =
            near.iter().map(|&(y, n)| n * self.around(y).0.max(self.distance(x, y))).sum();
        let records: f64 = near.iter().map(|entry| entry.1).sum();
        if reach > 0.0 { records / reach } else { 1.0 }
    }

    fn factor(&self, x: [i32; 3]) -> f64 {
        let (_, near) = self.around(x);
        let records: f64 = near.iter().map(|entry| entry.1).sum();
        let sum: f64 =
            near.iter().map(|&(y, n)| if n > 0.0 { n * self.density(y) } else { 0.0 }).sum();
        if records > 0.0 { sum / records / self.density(x) } else { 1.0 }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn factors_corners_and_plain_groups_are_those_of_the_definition(
        rows in prop::collection::vec((0i32..7, 0i32..4, 0i32..6, 1usize..4), 2..25),
        neighbours in 1usize..6,
        threshold in 10u8..25,
        asked in (0i32..7, 0i32..4),
        picks in prop::collection::vec(
            prop::collection::vec(any::<prop::sample::Index>(), 1..5),
            3,
        ),
    ) {
        let records: Vec<(i32, i32, i32)> =
            rows.iter().flat_map(|&(a, b, s, n)| vec![(a, b, s); n]).collect();
        let data = table(&records);
        // Not a round number, so that rounding errors of a sum do not decide.
        let threshold = f64::from(threshold) / 10.0 + 0.012_345;
        let outliers = outliers(&data, neighbours as u64, threshold);
        let mut places = BTreeMap::new();
        records.iter().for_each(|&(a, b, s)| *places.entry([a, b, s]).or_insert(0.0) += 1.0);
        let range = |i: usize| {
            let all = || places.keys().map(|place: &[i32; 3]| f64::from(place[i]));
            (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max))
        };
        let ranges = [range(0), range(1), range(2)];
        let slow = Slow { places, ranges, neighbours };
        let values = outliers.values().to_vec();
        for row in 0..data.rows() {
            let codes = data.quasi_codes(row);
            let place = |q: usize| data.quasi()[q].domain.place(Code(codes[q])) as i32;
            let s = values[outliers.rank(data.sensitive_codes(row)[0]) as usize] as i32;
            let factor = slow.factor([place(0), place(1), s]);
            prop_assert!((outliers.row_factor(row).unwrap() - factor).abs() < 1e-7);
            prop_assert_eq!(outliers.standing(row) == Standing::Local, factor >= threshold);
        }
        let good = outliers.good_at(&[f64::from(asked.0), f64::from(asked.1)]);
        for (rank, &value) in values.iter().enumerate() {
            let factor = slow.factor([asked.0, asked.1, value as i32]);
            prop_assert_eq!(good.get(rank as u32), factor < threshold);
        }
        for pick in picks {
            let group: Vec<usize> = pick.iter().map(|index| index.index(data.rows())).collect();
            let region = region(&data, &group);
            let ranks = group.iter().map(|&row| outliers.rank(data.sensitive_codes(row)[0]));
            let set = Bits::of(values.len(), ranks);
            let matrix = outliers.matrix(&region, &set).unwrap();
            let plain = matrix.bad_values.is_empty() && matrix.bad_corners.is_empty();
            prop_assert_eq!(outliers.plain(&region, &set).is_ok(), plain);
        }
    }
}
