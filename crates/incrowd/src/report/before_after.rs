//! What the data owner's page puts side by side: records, what columns add to finding people, means and quantiles.

use incrowd_audit::risk::{Grouped, without_each};
use incrowd_audit::utility::{Described, Moments};
use incrowd_core::number::date_of;
use incrowd_core::text::thousands;
use incrowd_report::{ColumnMoments, ColumnRisk, Sample, SampleRecord};

use super::Findings;

/// Some records beside published ones that fit them.
pub(super) fn sample(found: &Findings) -> Option<Sample> {
    let (columns, beside) = &found.kept.beside;
    let record = |own: &incrowd_audit::utility::Beside| SampleRecord {
        before: own.before.clone(),
        after: own.after.clone(),
        fitting: Some(own.fitting),
    };
    (!beside.is_empty())
        .then(|| Sample { columns: columns.clone(), records: beside.iter().map(record).collect() })
}

/// What each quasi-identifier adds to finding people.
pub(super) fn column_risks(found: &Findings) -> Vec<ColumnRisk> {
    let (release, quasi) = found.attacks.published();
    let Some(original) = &found.kept.original else { return Vec::new() };
    let names = found.case.reading.quasi_names();
    // The ends of ranges may be columns of their own: then the two tables do not have the same columns.
    let same = |table: &incrowd_core::Folded| {
        names.iter().enumerate().all(|(at, name)| table.columns.get(at).is_some_and(|own| own.name == *name))
    };
    if quasi != names.len() || !same(original) || !same(release) {
        return Vec::new();
    }
    let ((before, without), (after, without_after)) =
        (without_each(original, quasi), without_each(release, quasi));
    let pairs = without.into_iter().zip(without_after);
    let risk = |(name, (own, own_after)): (&&str, (Grouped, Grouped))| ColumnRisk {
        name: (*name).to_owned(),
        alone: (before.alone.saturating_sub(own.alone), after.alone.saturating_sub(own_after.alone)),
        adds: (before.chance() - own.chance(), after.chance() - own_after.chance()),
    };
    names.iter().zip(pairs).map(risk).collect()
}

/// Columns of numbers before and after.
pub(super) fn moments(found: &Findings) -> Vec<ColumnMoments> {
    let utility = found.measured.as_ref().and_then(|measured| measured.utility.as_ref());
    let Some(Moments(columns)) = utility.and_then(|utility| utility.get::<Moments>()) else {
        return Vec::new();
    };
    let column = |own: &incrowd_audit::utility::ColumnMoments| {
        let dates = found.kept.marginals.iter().any(|marginal| marginal.column == own.name && marginal.dates);
        let number = |x: f64| if dates { date_of(x.round() as i32).to_string() } else { number(x) };
        let quartiles = |d: &Described| d.quartiles.map(number);
        let deviation = |d: &Described| {
            if dates { format!("{} days", self::number(d.deviation)) } else { number(d.deviation) }
        };
        ColumnMoments {
            name: own.name.clone(),
            mean: (number(own.before.mean), number(own.after.mean)),
            deviation: (deviation(&own.before), deviation(&own.after)),
            quartiles: (quartiles(&own.before), quartiles(&own.after)),
        }
    };
    columns.iter().map(column).collect()
}

/// A number in the column's own unit: about four digits are worth reading.
fn number(x: f64) -> String {
    let places = if x == 0.0 { 0 } else { (3 - x.abs().log10().floor() as i32).clamp(0, 6) as usize };
    if x.fract() == 0.0 || places == 0 {
        let sign = if x < 0.0 { "−" } else { "" };
        return format!("{sign}{}", thousands(x.abs().round() as u64));
    }
    let text = format!("{x:.places$}").replace('-', "−");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_have_about_four_digits() {
        let said = [38.551_23, 1234.5, 0.001_234_6, -2.5, 0.0, 189_664.13].map(number);
        assert_eq!(said, ["38.55", "1,235", "0.001235", "−2.5", "0", "189,664"]);
    }
}
