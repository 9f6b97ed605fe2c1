//! Bar charts of the columns of a table, counted in one pass, for the data owner only.

use incrowd_core::number::parse_number;
use incrowd_core::{CodedColumn, MISSING, Progress, Result};
use rayon::prelude::*;

use crate::job::Input;
use crate::job::reading::open_input;

/// The bar chart of a column.
#[derive(Clone, PartialEq)]
pub struct Glimpse {
    /// The column's name.
    pub name: String,
    /// The number of records.
    pub records: u64,
    /// The number of missing values.
    pub missing: u64,
    /// The number of distinct values.
    pub distinct: u64,
    /// Whether the bars are ranges of numbers in ascending order. Otherwise they are the most
    /// frequent values.
    pub numbers: bool,
    /// Labels and counts of the bars.
    pub bars: Vec<(String, u64)>,
    /// The number of records with values that have no bar.
    pub others: u64,
}

incrowd_core::opaque_debug!(Glimpse { name });

/// The maximum number of values with a bar.
const MOST: usize = 6;
/// The number of bars for ranges of numbers.
const BINS: usize = 16;

/// Counts the bars of all columns of a table.
pub(crate) fn glimpse(input: &Input, progress: &dyn Progress) -> Result<Vec<Glimpse>> {
    let source = open_input(input)?;
    let table = source.survey(source.columns(), &input.missing, progress)?;
    Ok(table.columns.par_iter().map(|column| of_column(column, table.records as u64)).collect())
}

fn of_column(column: &CodedColumn, records: u64) -> Glimpse {
    let counts = column.counts();
    let present = || column.texts.iter().filter(|(code, _)| counts[*code as usize] > 0);
    let mut glimpse = Glimpse {
        name: column.name.clone(),
        records,
        missing: counts[MISSING as usize],
        distinct: present().count() as u64,
        numbers: false,
        bars: Vec::new(),
        others: 0,
    };
    let numbers: Option<Vec<(f64, u64)>> = present()
        .map(|(code, text)| Some((parse_number(text)?.as_f64(), counts[code as usize])))
        .collect();
    match numbers {
        Some(numbers) if glimpse.distinct > 12 => {
            glimpse.numbers = true;
            glimpse.bars = bins(&numbers);
        }
        _ => {
            let mut values: Vec<(&str, u64)> =
                present().map(|(code, text)| (text, counts[code as usize])).collect();
            values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
            // A column with nearly unique values has no bars.
            if 2 * glimpse.distinct <= records {
                glimpse.bars =
                    values.iter().take(MOST).map(|(text, n)| ((*text).to_owned(), *n)).collect();
            }
            glimpse.others = values.iter().skip(glimpse.bars.len()).map(|(_, n)| n).sum();
        }
    }
    glimpse
}

fn bins(numbers: &[(f64, u64)]) -> Vec<(String, u64)> {
    let ends = |(low, high): (f64, f64), (x, _): &(f64, u64)| (low.min(*x), high.max(*x));
    let (low, high) = numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), ends);
    let width = (high - low) / BINS as f64;
    if !(width.is_finite() && width > 0.0) {
        return Vec::new();
    }
    let mut counts = [0u64; BINS];
    for (x, n) in numbers {
        counts[(((x - low) / width) as usize).min(BINS - 1)] += n;
    }
    let end = |i: usize| rounded(low + width * i as f64, width);
    counts.iter().enumerate().map(|(i, n)| (format!("{} – {}", end(i), end(i + 1)), *n)).collect()
}

/// Rounds to the number of decimals that distinguishes neighbouring bounds.
fn rounded(x: f64, step: f64) -> String {
    let decimals = if step >= 1.0 { 0 } else { (-step.log10()).ceil().min(9.0) as usize };
    format!("{x:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use incrowd_core::Columnar;

    #[test]
    fn every_record_is_in_a_bar_missing_or_counted_as_other() {
        let ages: Vec<String> = (0..200).map(|i| (i % 50).to_string()).collect();
        let table = Columnar::from_records(
            &["age", "sex", "name"],
            ages.iter().enumerate().map(|(i, age)| {
                let sex = if i % 3 == 0 { None } else { Some(if i % 2 == 0 { "f" } else { "m" }) };
                vec![
                    Some(age.as_str()),
                    sex,
                    Some(Box::leak(format!("n{i}").into_boxed_str()) as &str),
                ]
            }),
        );
        for column in &table.columns {
            let glimpse = of_column(column, 200);
            let bars = glimpse.bars.iter().map(|(_, n)| n).sum::<u64>();
            assert_eq!(bars + glimpse.missing + glimpse.others, 200, "{}", glimpse.name);
        }
        let [age, sex, name] = [0, 1, 2].map(|i| of_column(&table.columns[i], 200));
        assert!(age.numbers && age.bars.len() == BINS);
        assert_eq!(sex.bars.len(), 2);
        assert!(name.bars.is_empty(), "names are not shown");
    }
}
