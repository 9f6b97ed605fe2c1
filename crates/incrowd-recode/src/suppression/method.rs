//! Computes the count to which each sensitive value is cut.
//!
//! Paper: `xu2010`. Safe D-suppression cuts every value to the count of the l-th. Unsafe
//! D-suppression stops as soon as the two conditions hold; it is the lower bound of every method.
//! R-suppression first cuts the most frequent value to a random count: h is drawn from 1..l, and
//! the count is drawn from the range between the h-th and the (h+1)-th greatest count, both
//! included. Then it ranks the remaining counts again and continues like Unsafe D-suppression.
//!
//! Differences from the paper: if there are exactly l values, there is no (l+1)-th, and the l-th is
//! used instead. Equal counts are ranked at random. With `complete_level`, if some of the values at
//! the top lose one more record, all of them do, because the others would otherwise be known to
//! rank above. `cheaper` uses Safe D-suppression if it is expected to suppress no more records;
//! this is decided before any draw.

use incrowd_core::eligibility::eligible;
use incrowd_core::{Error, Result};

use super::chance::Dice;
use super::levels::{Stop, cut, safe_stop, stop};

/// A method to suppress records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// R-suppression.
    Random,
    /// Safe D-suppression.
    Safe,
    /// Unsafe D-suppression, the lower bound.
    Unsafe,
    /// Safe D-suppression if it is expected to suppress no more records, else R-suppression.
    Cheaper,
}

/// A suppression method with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The method.
    pub way: Way,
    /// The limit: no value may be more frequent than one record in l.
    pub l: u64,
    /// Whether all values at the top of a level are cut if some of them are.
    pub complete_level: bool,
}

/// The result of suppression. All fields except `kept` are determined before any draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The remaining count of each value, in the order of the input.
    pub kept: Vec<u64>,
    /// The method that was used. `None` if the table was eligible already.
    pub used: Option<Way>,
    /// The number of values that were more frequent than one record in l.
    pub violating: usize,
    /// The number of values with the greatest count.
    pub tied: usize,
}

impl Rule {
    /// Cuts the counts, all of which must be positive. Draws h, the count, then the order of equal
    /// counts. An eligible table is not changed, and nothing is drawn.
    pub fn cut(&self, counts: &[u64], dice: &mut dyn FnMut() -> Dice) -> Result<Cut> {
        let records: u64 = counts.iter().sum();
        let Some(&most) = counts.iter().max() else {
            return Err(Error::input("the table has no records"));
        };
        let violating = counts.iter().filter(|&&count| !eligible(count, records, self.l)).count();
        let tied = counts.iter().filter(|&&count| count == most).count();
        if violating == 0 {
            return Ok(Cut { kept: counts.to_vec(), used: None, violating, tied });
        }
        self.feasible(counts)?;
        let values = counts.len();
        let mut sorted = counts.to_vec();
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        let used = self.choose_way(&sorted);
        let mut kept = vec![0; values];
        if used == Way::Safe {
            let level = safe_stop(&sorted, self.l).level;
            kept.iter_mut().zip(counts).for_each(|(kept, &count)| *kept = count.min(level));
            return Ok(Cut { kept, used: Some(used), violating, tied });
        }
        let mut dice = dice();
        let mut first = None;
        if used == Way::Random {
            let h = 1 + dice.below(self.l);
            let (low, high) = interval(&sorted, h as usize);
            first = Some(low + dice.below(high - low + 1));
        }
        // Ranks of the original counts; the first is the dominant value.
        let mut order = ranked(counts, &mut dice);
        let mut counts = counts.to_vec();
        if let Some(first) = first {
            counts[order[0]] = first;
            order = ranked(&counts, &mut dice);
        }
        let by_rank: Vec<u64> = order.iter().map(|&value| counts[value]).collect();
        let end = self.end(&by_rank, records);
        for (value, count) in order.into_iter().zip(cut(&by_rank, end)) {
            kept[value] = count;
        }
        Ok(Cut { kept, used: Some(used), violating, tied })
    }

    /// Returns the method for a table that is not eligible and has at least l values. The counts
    /// must be in descending order. The choice does not depend on any draw.
    pub fn choose_way(&self, sorted: &[u64]) -> Way {
        match self.way {
            Way::Cheaper
                if self.expected(sorted) + 1e-9 >= safe_stop(sorted, self.l).cuts as f64 =>
            {
                Way::Safe
            }
            Way::Cheaper => Way::Random,
            way => way,
        }
    }

    /// Returns an error if no subset of the table is l-diverse: it is not eligible and has fewer
    /// than l values.
    pub fn feasible(&self, counts: &[u64]) -> Result<()> {
        let (records, most) = (counts.iter().sum(), counts.iter().copied().max().unwrap_or(0));
        if eligible(most, records, self.l) {
            return Ok(());
        }
        let values = counts.len();
        if self.l > values as u64 {
            let what = if values == 1 { "1 value".to_owned() } else { format!("{values} values") };
            return Err(Error::unsatisfiable(format!(
                "infeasible: the sensitive column has {what}, fewer than l = {}",
                self.l
            ))
            .help("use a smaller l; no subset of this table is l-diverse")
            .at("l"));
        }
        Ok(())
    }

    fn end(&self, by_rank: &[u64], records: u64) -> Stop {
        let end = stop(by_rank, records, self.l);
        if self.complete_level && self.way != Way::Unsafe { end.completed(by_rank) } else { end }
    }

    /// Returns the number of records that R-suppression suppresses if it first cuts the most
    /// frequent value to `first`. `sorted` are the counts in descending order.
    pub fn suppressed(&self, sorted: &[u64], first: u64) -> u64 {
        let records = sorted.iter().sum();
        let mut reduced = sorted[1..].to_vec();
        let place = reduced.partition_point(|&count| count > first);
        reduced.insert(place, first);
        sorted[0] - first + self.end(&reduced, records).cuts
    }

    /// Returns the expected number of records that R-suppression suppresses. For an interval of
    /// more than [`GRID`] counts, the mean is approximated by the trapezoidal rule on evenly spaced
    /// counts.
    pub fn expected(&self, sorted: &[u64]) -> f64 {
        let mean = |h: u64| {
            let (low, high) = interval(sorted, h as usize);
            let width = high - low;
            if width < GRID {
                let sum: u128 =
                    (low..=high).map(|first| u128::from(self.suppressed(sorted, first))).sum();
                return sum as f64 / (width + 1) as f64;
            }
            let point =
                |i: u64| low + (u128::from(width) * u128::from(i) / u128::from(GRID)) as u64;
            let factor = |i: u64| if i == 0 || i == GRID { 0.5 } else { 1.0 };
            (0..=GRID).map(|i| factor(i) * self.suppressed(sorted, point(i)) as f64).sum::<f64>()
                / GRID as f64
        };
        (1..=self.l).map(mean).sum::<f64>() / self.l as f64
    }
}

/// The number of steps into which a large interval of counts is divided.
pub const GRID: u64 = 1024;

/// Returns the range of counts to which the most frequent value is cut if `h` is drawn.
pub fn interval(sorted: &[u64], h: usize) -> (u64, u64) {
    (sorted[h.min(sorted.len() - 1)], sorted[h - 1])
}

/// Returns the values in descending order of their counts, equal counts in random order.
fn ranked(counts: &[u64], dice: &mut Dice) -> Vec<usize> {
    let mut order = dice.order(counts.len());
    order.sort_by_key(|&value| std::cmp::Reverse(counts[value]));
    order
}
