//! The distribution of a column, reduced to the size of a chart.

use incrowd_audit::utility::Marginal;
use incrowd_core::number::{date_of, parse_date, parse_number};
use incrowd_core::{Folded, MISSING};
use incrowd_report::{Shape, ShapeKind};

use super::public::role_of;

/// The maximum number of bins.
const BINS: usize = 24;
/// The maximum number of named values or cells; further ones are merged.
const NAMES: usize = 12;

/// Bins of equal width over a range of numbers.
struct Bins {
    from: f64,
    width: f64,
    count: usize,
    dates: bool,
}

impl Bins {
    /// Creates bins from the least to the greatest number. Bins of whole numbers have a whole
    /// width.
    fn new(least: f64, most: f64, whole: bool, dates: bool) -> Bins {
        if whole {
            let width = ((most - least + 1.0) / BINS as f64).ceil().max(1.0);
            let count = ((most - least + 1.0) / width).ceil() as usize;
            return Bins { from: least, width, count: count.clamp(1, BINS), dates };
        }
        let width = if most > least { (most - least) / BINS as f64 } else { 1.0 };
        Bins { from: least, width, count: if most > least { BINS } else { 1 }, dates }
    }

    fn of(&self, x: f64) -> usize {
        (((x - self.from) / self.width).floor().max(0.0) as usize).min(self.count - 1)
    }

    /// Spreads an amount evenly over an interval.
    fn spread(&self, into: &mut [f64], (lo, hi): (f64, f64), amount: f64) {
        if hi <= lo {
            into[self.of(lo)] += amount;
            return;
        }
        for (bin, sum) in into.iter_mut().enumerate() {
            let from = self.from + self.width * bin as f64;
            // The last bin is unbounded, so that rounding loses nothing.
            let to = if bin + 1 == self.count { f64::INFINITY } else { from + self.width };
            let common = (hi.min(to) - lo.max(from)).max(0.0);
            *sum += amount * common / (hi - lo);
        }
    }

    fn ends(&self) -> Vec<String> {
        let end = |i: usize| {
            let x = self.from + self.width * i as f64;
            if self.dates {
                return date_of(x as i32).to_string();
            }
            let places = (2.0 - self.width.log10().floor()).clamp(0.0, 6.0) as usize;
            let text = if x.fract() == 0.0 { format!("{x:.0}") } else { format!("{x:.places$}") };
            text.replace('-', "−")
        };
        (0..=self.count).map(end).collect()
    }
}

/// Returns whether bins have a finite width. The range of two finite numbers may overflow.
fn drawable(least: f64, most: f64) -> bool {
    (most - least + 1.0).is_finite()
}

/// Returns a column before and after.
pub(super) fn of_marginal(marginal: &Marginal) -> Shape {
    // A hierarchy may have leaves without records.
    let had = marginal.values.iter().filter(|v| v.original > 0.0 || v.release > 0.0);
    let (numbers, others): (Vec<_>, Vec<_>) = had.partition(|v| v.number.is_some());
    let (column, role) = (marginal.column.clone(), role_of(marginal.role).to_owned());
    // A single other value, such as a kept missing value, does not prevent bins.
    let values = || numbers.iter().filter_map(|v| v.number);
    let (least, most) =
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    if numbers.len() > NAMES && others.len() <= 1 && drawable(least, most) {
        let bins = Bins::new(least, most, values().all(|x| x.fract() == 0.0), marginal.dates);
        let (mut before, mut after) = (vec![0.0; bins.count], vec![0.0; bins.count]);
        for value in &numbers {
            let bin = bins.of(value.number.unwrap_or(0.0));
            before[bin] += value.original;
            after[bin] += value.release;
        }
        let note = others.first().map_or_else(String::new, |missing| {
            let (a, b) = (100.0 * missing.original, 100.0 * missing.release);
            format!("A value is missing in {a:.1} % of the original and {b:.1} % of the release.")
        });
        let kind = ShapeKind::Numbers { ends: bins.ends(), before: Some(before), after };
        return Shape { column, role, kind, note };
    }
    let mut values: Vec<(String, f64, f64)> =
        marginal.values.iter().map(|v| (v.text.clone(), v.original, v.release)).collect();
    values.retain(|(_, before, after)| *before > 0.0 || *after > 0.0);
    values.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let (labels, before, after) = most_frequent(values);
    let kind = ShapeKind::Labels { labels, before: Some(before), after };
    Shape { column, role, kind, note: String::new() }
}

/// Names the first values and merges the others.
fn most_frequent(values: Vec<(String, f64, f64)>) -> (Vec<String>, Vec<f64>, Vec<f64>) {
    let (mut labels, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
    let named = if values.len() > NAMES { NAMES - 1 } else { values.len() };
    let others = values.len() - named;
    for (i, (label, b, a)) in values.into_iter().enumerate() {
        if i == named {
            labels.push(format!("{others} others"));
        } else if i < named {
            labels.push(if label.is_empty() { "(empty)".to_owned() } else { label });
        }
        if i <= named {
            before.push(b);
            after.push(a);
        } else {
            before[named] += b;
            after[named] += a;
        }
    }
    (labels, before, after)
}

/// Returns the numeric range of a published cell.
fn interval(cell: &str, dates: bool) -> Option<(f64, f64)> {
    let number = |text: &str| match dates {
        true => parse_date(text.trim()).map(f64::from),
        false => parse_number(text.trim()).map(|n| n.as_f64()),
    };
    match cell.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(inner) => {
            let (lo, hi) = inner.split_once(',')?;
            Some((number(lo)?, number(hi)?)).filter(|(lo, hi)| lo <= hi)
        }
        None => number(cell).map(|x| (x, x)),
    }
}

/// Returns the distribution of a column of the release.
pub(super) fn of_release(release: &Folded, column: usize, role: &str) -> Shape {
    let texts = &release.columns[column].texts;
    let mut records = vec![0u64; texts.len()];
    for row in 0..release.rows() {
        records[release.row(row)[column] as usize] += release.weights[row];
    }
    let total = release.records().max(1) as f64;
    let text = |code: usize| if code == MISSING as usize { "" } else { texts[code].as_str() };
    let mut cells: Vec<(&str, f64)> = (0..texts.len())
        .filter(|&c| records[c] > 0)
        .map(|c| (text(c), records[c] as f64 / total))
        .collect();
    cells.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let name = release.columns[column].name.clone();
    let role = role.to_owned();
    let informative: Vec<&(&str, f64)> = cells.iter().filter(|(cell, _)| *cell != "*").collect();
    for dates in [false, true] {
        let read: Option<Vec<((f64, f64), f64)>> = informative
            .iter()
            .map(|(cell, share)| Some((interval(cell, dates)?, *share)))
            .collect();
        let Some(read) = read.filter(|read| read.len() > NAMES) else { continue };
        let whole = read.iter().all(|((lo, hi), _)| lo.fract() == 0.0 && hi.fract() == 0.0);
        let least = read.iter().map(|((lo, _), _)| *lo).fold(f64::INFINITY, f64::min);
        let most = read.iter().map(|((_, hi), _)| *hi).fold(f64::NEG_INFINITY, f64::max);
        if !drawable(least, most) {
            break;
        }
        let bins = Bins::new(least, most, whole, dates);
        let mut after = vec![0.0; bins.count];
        for ((lo, hi), share) in read {
            bins.spread(&mut after, (lo, if whole { hi + 1.0 } else { hi }), share);
        }
        let stars: f64 =
            cells.iter().filter(|(cell, _)| *cell == "*").map(|(_, share)| share).sum();
        let also = if stars > 0.0 {
            format!(" {:.1} % of the cells are suppressed (*).", 100.0 * stars)
        } else {
            String::new()
        };
        let note = format!("Each cell's records are spread evenly over its range.{also}");
        let kind = ShapeKind::Numbers { ends: bins.ends(), before: None, after };
        return Shape { column: name, role, kind, note };
    }
    let different = cells.len();
    let values = cells.into_iter().map(|(cell, share)| (cell.to_owned(), 0.0, share)).collect();
    let (labels, _, after) = most_frequent(values);
    let note = if different > NAMES {
        format!("{different} distinct cells; the most frequent are named.")
    } else {
        String::new()
    };
    Shape { column: name, role, kind: ShapeKind::Labels { labels, before: None, after }, note }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(cells: &[&str]) -> Folded {
        Folded::from_records(&["x"], cells.iter().map(|cell| vec![Some(*cell)]), false)
    }

    #[test]
    fn ranges_are_spread_over_the_bins_they_cover() {
        let cells: Vec<String> = (0..20).map(|i| format!("[{i}, {}]", i + 4)).collect();
        let mut cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        cells.push("*");
        let shape = of_release(&release(&cells), 0, "quasi-identifier");
        let ShapeKind::Numbers { ends, before, after } = shape.kind else { panic!("no numbers") };
        assert!(before.is_none());
        assert_eq!(ends.len(), after.len() + 1);
        // Whole numbers from 0 to 23, one bin each; the star is in no bin.
        assert_eq!((ends[0].as_str(), ends.len()), ("0", 25));
        assert!((after.iter().sum::<f64>() - 20.0 / 21.0).abs() < 1e-12);
        assert!(
            (after[0] - 1.0 / 21.0 / 5.0).abs() < 1e-12
                && (after[4] - 5.0 / 21.0 / 5.0).abs() < 1e-12
        );
        assert!(shape.note.contains('*'));
    }

    #[test]
    fn rare_cells_are_merged() {
        let cells: Vec<String> = (0..40).flat_map(|i| vec![format!("town {i}"); 40 - i]).collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let shape = of_release(&release(&cells), 0, "sensitive");
        let ShapeKind::Labels { labels, after, .. } = shape.kind else { panic!("no labels") };
        assert_eq!(
            (labels.len(), labels[0].as_str(), labels[11].as_str()),
            (12, "town 0", "29 others")
        );
        assert!((after.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
