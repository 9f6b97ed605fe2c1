//! The fast search compared with counting all records for every corner, on random tables with
//! duplicates, hierarchies and several attributes; and general properties of outliers.

use incrowd_core::outlier::{Bits, Outliers, Scale, Settings, Standing};
use incrowd_core::{Code, ColumnSpec, Dataset, Folded, HierarchySpec, Kind, SensitiveSpec};
use proptest::prelude::*;

use super::region;

const TREE: &str = "a;A;*\nb;A;*\nc;B;*\nd;B;*\ne;C;*\n";

/// Two numbers, a leaf of a hierarchy, a sensitive number, and the number of records.
type Row = (u8, u8, u8, u8, u8);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec((0u8..7, 0u8..4, 0u8..5, 0u8..9, 1u8..4), 1..40)
}

fn table(rows: &[Row]) -> Dataset {
    let numeric = ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() };
    let hierarchy = Some(HierarchySpec::Arx { name: "h".into(), text: TREE.into() });
    let tree = ColumnSpec { hierarchy, ..ColumnSpec::default() };
    let cells: Vec<[String; 4]> = rows
        .iter()
        .flat_map(|&(a, b, c, s, n)| {
            let leaf = char::from(b'a' + c).to_string();
            vec![[a.to_string(), b.to_string(), leaf, (s * s).to_string()]; usize::from(n)]
        })
        .collect();
    let records = cells.iter().map(|row| row.iter().map(|c| Some(c.as_str())).collect());
    let folded = Folded::from_records(&["a", "b", "c", "s"], records, false);
    Dataset::encode(folded, &[&numeric, &numeric, &tree], &[&SensitiveSpec::default()], "?")
        .unwrap()
}

/// The definition, record by record.
struct Slow<'a> {
    data: &'a Dataset,
    settings: &'a Settings,
    attributes: Vec<usize>,
    ranges: Vec<(f64, f64)>,
    range: (f64, f64),
}

fn scaled((lo, hi): (f64, f64), x: f64) -> f64 {
    if hi > lo { (x - lo) / (hi - lo) } else { 0.0 }
}

impl<'a> Slow<'a> {
    fn new(data: &'a Dataset, settings: &'a Settings) -> Slow<'a> {
        let names: Vec<&str> = data.quasi().iter().map(|q| q.name.as_str()).collect();
        let chosen = |q: &usize| {
            settings.distance_attributes.is_empty()
                || settings.distance_attributes.iter().any(|n| n == names[*q])
        };
        let attributes: Vec<usize> = (0..names.len()).filter(chosen).collect();
        let mut slow = Slow { data, settings, attributes, ranges: Vec::new(), range: (0.0, 0.0) };
        let all: Vec<usize> = (0..data.rows()).collect();
        slow.range = spanned(all.iter().map(|&row| slow.value(row)));
        let global: Vec<bool> = all.iter().map(|&row| slow.is_global(slow.value(row))).collect();
        let kept: Vec<usize> = all
            .into_iter()
            .filter(|&row| settings.scale == Scale::Original || !global[row])
            .collect();
        slow.range = spanned(kept.iter().map(|&row| slow.value(row)));
        slow.ranges = slow
            .attributes
            .iter()
            .map(|&q| spanned(kept.iter().map(|&row| slow.place(row, q))))
            .collect();
        slow
    }

    fn value(&self, row: usize) -> f64 {
        self.data.sensitive()[0].numbers().unwrap()[self.data.sensitive_codes(row)[0] as usize]
    }

    fn place(&self, row: usize, q: usize) -> f64 {
        self.data.quasi()[q].domain.place(Code(self.data.quasi_codes(row)[q]))
    }

    fn far(&self, far: impl Fn(usize) -> bool) -> bool {
        let n = self.data.records();
        let count: u64 =
            (0..self.data.rows()).filter(|&row| far(row)).map(|row| self.data.weight(row)).sum();
        count >= (self.settings.p * n as f64 - 1e-9).ceil() as u64
    }

    fn is_global(&self, value: f64) -> bool {
        let distance =
            |row: usize| (scaled(self.range, value) - scaled(self.range, self.value(row))).powi(2);
        self.far(|row| distance(row) > self.settings.d.powi(2) + 1e-12)
    }

    /// Whether a tuple, with a position for each distance attribute, is an outlier.
    fn bad(&self, place: &[f64], value: f64) -> bool {
        let distance = |row: usize| {
            let quasi = self.attributes.iter().zip(&self.ranges).zip(place);
            let sum: f64 = quasi
                .map(|((&q, &range), &x)| {
                    (scaled(range, x) - scaled(range, self.place(row, q))).powi(2)
                })
                .sum();
            sum + (scaled(self.range, value) - scaled(self.range, self.value(row))).powi(2)
        };
        self.far(|row| distance(row) > self.settings.d.powi(2) + 1e-12)
    }
}

fn spanned(places: impl Iterator<Item = f64>) -> (f64, f64) {
    places.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)))
}

fn settings(p: u8, d: u8, attributes: u8, original: bool) -> Settings {
    let names = ["a", "b", "c"];
    let chosen = (0..3).filter(|i| attributes >> i & 1 == 1).map(|i| names[i].to_owned());
    Settings {
        p: f64::from(p) / 20.0,
        d: f64::from(d) / 10.0,
        distance_attributes: chosen.collect(),
        scale: if original { Scale::Original } else { Scale::Trimmed },
        bounds: Vec::new(),
        on: String::new(),
        density: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn outliers_and_plain_groups_are_those_of_the_definition(
        rows in rows(),
        p in 1u8..21,
        d in 0u8..16,
        attributes in 0u8..8,
        original in any::<bool>(),
        picks in prop::collection::vec(
            prop::collection::vec(any::<prop::sample::Index>(), 1..6),
            6,
        ),
    ) {
        let data = table(&rows);
        let settings = settings(p, d, attributes, original);
        let outliers = Outliers::new(&data, &settings).unwrap();
        let slow = Slow::new(&data, &settings);
        for row in 0..data.rows() {
            let place: Vec<f64> = slow.attributes.iter().map(|&q| slow.place(row, q)).collect();
            let bad = slow.bad(&place, slow.value(row));
            match outliers.standing(row) {
                Standing::Global => {}
                Standing::Local => prop_assert!(bad && !slow.is_global(slow.value(row))),
                Standing::Ordinary => prop_assert!(!bad && !slow.is_global(slow.value(row))),
            }
        }
        for pick in picks {
            let group: Vec<usize> = pick.iter().map(|index| index.index(data.rows())).collect();
            let region = region(&data, &group);
            let ranks = group.iter().map(|&row| outliers.rank(data.sensitive_codes(row)[0]));
            let set = Bits::of(outliers.values().len(), ranks);
            // Every corner with every value.
            let sides = slow.attributes.iter().map(|&q| region.extents[q].ends);
            let mut corners: Vec<Vec<f64>> = vec![Vec::new()];
            for (lo, hi) in sides {
                let both = if lo == hi { vec![lo] } else { vec![lo, hi] };
                let with = |x: f64| corners.iter().map(move |c| [&c[..], &[x]].concat());
                corners = both.iter().flat_map(|&x| with(x)).collect();
            }
            let values: Vec<u32> = set.ranks().collect();
            let is_bad = |c: &[f64], v: u32| slow.bad(c, outliers.values()[v as usize]);
            let bad: Vec<Vec<bool>> = corners
                .iter()
                .map(|c| values.iter().map(|&v| is_bad(c, v)).collect())
                .collect();
            let column = bad.iter().any(|corner| corner.iter().all(|b| *b));
            let row = (0..values.len()).any(|v| bad.iter().all(|corner| corner[v]));
            prop_assert_eq!(outliers.plain(&region, &set).is_ok(), !column && !row);
            let matrix = outliers.matrix(&region, &set).unwrap();
            prop_assert_eq!(matrix.bad_corners.is_empty(), !column);
            prop_assert_eq!(matrix.bad_values.is_empty(), !row);
            let dead = corners.iter().any(|c| outliers.values().iter().all(|&v| slow.bad(c, v)));
            prop_assert_eq!(outliers.is_dead(&region), dead);
        }
    }

    /// With a fixed scale, a good tuple stays good if p or d grows.
    #[test]
    fn looser_settings_make_no_new_outliers(rows in rows(), p in 1u8..20, d in 0u8..15) {
        let data = table(&rows);
        let local = |p: u8, d: u8| {
            let outliers = Outliers::new(&data, &settings(p, d, 0, true)).unwrap();
            let is_outlier = |row: &usize| outliers.standing(*row) != Standing::Ordinary;
            (0..data.rows()).filter(is_outlier).collect::<Vec<_>>()
        };
        let strict = local(p, d);
        for looser in [local(p + 1, d), local(p, d + 1)] {
            prop_assert!(looser.iter().all(|row| strict.contains(row)));
        }
    }
}

#[test]
fn no_record_is_an_outlier_if_all_must_be_far() {
    let data = table(&[(0, 0, 0, 0, 1), (6, 3, 4, 8, 1), (3, 1, 2, 4, 1)]);
    let outliers = Outliers::new(&data, &settings(20, 0, 0, true)).unwrap();
    assert!((0..data.rows()).all(|row| outliers.standing(row) == Standing::Ordinary));
    assert!(
        outliers.is_dead(&region(&data, &[0, 1, 2])),
        "a tuple between them would be an outlier"
    );
}

#[test]
fn a_constant_attribute_does_not_matter() {
    let data = table(&[(3, 0, 0, 1, 2), (3, 1, 0, 2, 1), (3, 2, 0, 3, 1)]);
    let with = Outliers::new(&data, &settings(10, 3, 0b011, true)).unwrap();
    let without = Outliers::new(&data, &settings(10, 3, 0b010, true)).unwrap();
    assert!((0..data.rows()).all(|row| with.standing(row) == without.standing(row)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Boxes with more non-flat sides than are enumerated: the bounds agree with all 256 corners.
    #[test]
    fn large_boxes_agree_with_their_corners(
        rows in prop::collection::vec((prop::collection::vec(0u8..3, 8), 0u8..6), 2..30),
        p in 6u8..21,
        d in 4u8..26,
        picks in prop::collection::vec(
            prop::collection::vec(any::<prop::sample::Index>(), 2..6),
            4,
        ),
    ) {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "s"];
        let cells: Vec<Vec<String>> = rows
            .iter()
            .map(|(quasi, s)| quasi.iter().chain([s]).map(u8::to_string).collect())
            .collect();
        let records = cells.iter().map(|row| row.iter().map(|c| Some(c.as_str())).collect());
        let numeric = ColumnSpec { kind: Some(Kind::Numeric), ..ColumnSpec::default() };
        let folded = Folded::from_records(&names, records, false);
        let sensitive = SensitiveSpec::default();
        let data = Dataset::encode(folded, &[&numeric; 8], &[&sensitive], "?").unwrap();
        let outliers = Outliers::new(&data, &settings(p, d, 0, true)).unwrap();
        for pick in picks {
            let group: Vec<usize> = pick.iter().map(|index| index.index(data.rows())).collect();
            let region = region(&data, &group);
            let ranks = group.iter().map(|&row| outliers.rank(data.sensitive_codes(row)[0]));
            let set = Bits::of(outliers.values().len(), ranks);
            let matrix = outliers.matrix(&region, &set).unwrap();
            let plain = matrix.bad_values.is_empty() && matrix.bad_corners.is_empty();
            prop_assert_eq!(outliers.plain(&region, &set).is_ok(), plain);
            let all = Bits::of(outliers.values().len(), 0..outliers.values().len() as u32);
            let dead = !outliers.matrix(&region, &all).unwrap().bad_corners.is_empty();
            prop_assert_eq!(outliers.is_dead(&region), dead);
        }
    }
}
