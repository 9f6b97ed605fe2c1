//! Comparisons before and after on the data owner's page: sample records, the contribution of
//! columns to the risk, means and quantiles.

use incrowd_audit::risk::{Grouped, without_each};
use incrowd_audit::utility::{Moments, SummaryStatistics};
use incrowd_core::number::date_of;
use incrowd_core::text::thousands;
use incrowd_report::{ColumnMoments, ColumnRisk, Sample, SampleRecord};

use super::Findings;

/// Returns sample records with published records that match them.
pub(super) fn sample(found: &Findings) -> Option<Sample> {
    let (columns, matched) = &found.kept.matched;
    let record = |own: &incrowd_audit::utility::MatchedRecord| SampleRecord {
        before: own.before.clone(),
        after: own.after.clone(),
        fitting: Some(own.matching),
    };
    (!matched.is_empty())
        .then(|| Sample { columns: columns.clone(), records: matched.iter().map(record).collect() })
}

/// Returns the contribution of each quasi-identifier to the re-identification risk.
pub(super) fn column_risks(found: &Findings) -> Vec<ColumnRisk> {
    let (release, quasi) = found.attacks.published();
    let Some(original) = &found.kept.original else { return Vec::new() };
    let names = found.case.reading.quasi_names();
    // The bounds of ranges may be separate columns. Then the two tables have different columns.
    let same = |table: &incrowd_core::Folded| {
        names
            .iter()
            .enumerate()
            .all(|(at, name)| table.columns.get(at).is_some_and(|own| own.name == *name))
    };
    if quasi != names.len() || !same(original) || !same(release) {
        return Vec::new();
    }
    let ((before, without), (after, without_after)) =
        (without_each(original, quasi), without_each(release, quasi));
    let pairs = without.into_iter().zip(without_after);
    let risk = |(name, (own, own_after)): (&&str, (Grouped, Grouped))| ColumnRisk {
        name: (*name).to_owned(),
        unique: (
            before.unique.saturating_sub(own.unique),
            after.unique.saturating_sub(own_after.unique),
        ),
        adds: (before.chance() - own.chance(), after.chance() - own_after.chance()),
    };
    names.iter().zip(pairs).map(risk).collect()
}

/// Returns moments of numeric columns before and after.
pub(super) fn moments(found: &Findings) -> Vec<ColumnMoments> {
    let utility = found.measured.as_ref().and_then(|measured| measured.utility.as_ref());
    let Some(Moments(columns)) = utility.and_then(|utility| utility.get::<Moments>()) else {
        return Vec::new();
    };
    let column = |own: &incrowd_audit::utility::ColumnMoments| {
        let dates = found
            .kept
            .marginals
            .iter()
            .any(|marginal| marginal.column == own.name && marginal.dates);
        let number = |x: f64| if dates { date_of(x.round() as i32).to_string() } else { number(x) };
        let quartiles = |d: &SummaryStatistics| d.quartiles.map(number);
        let deviation = |d: &SummaryStatistics| {
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

/// Formats a number with about four significant digits.
fn number(x: f64) -> String {
    let places =
        if x == 0.0 { 0 } else { (3 - x.abs().log10().floor() as i32).clamp(0, 6) as usize };
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
        let texts = [38.551_23, 1234.5, 0.001_234_6, -2.5, 0.0, 189_664.13].map(number);
        assert_eq!(texts, ["38.55", "1,235", "0.001235", "−2.5", "0", "189,664"]);
    }
}
