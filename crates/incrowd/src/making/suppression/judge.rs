//! Checks that a release is a possible result of the suppression step: on the bytes to be
//! published, and later by the owner of the table.

use std::collections::BTreeMap;

use incrowd_audit::eligibility::{Mechanism, check};
use incrowd_core::{Error, Folded, Result, SensitiveSpec, SensitiveValues};
use incrowd_recode::suppression::{SUPPRESSIONS, Step, Way};

use super::report::{self, SuppressionReport};
use super::{Planned, SuppressionOutcome, counted, rule_draws, sensitive};
use crate::making::checked::CheckedJob;
use crate::manifest::{SuppressionEntry, given};

/// The values of a column with their numbers of records.
type Counted = (Vec<Option<String>>, Vec<u64>);

impl SuppressionOutcome {
    /// Checks the written table, as read back, against the result of the step.
    pub(crate) fn judge(&self, job: &CheckedJob, release: &Folded) -> Result<SuppressionReport> {
        let missing = &job.job.input.missing;
        let (_, spec) = sensitive(&job.schema, &self.planned.on)?;
        let after = published(release, &self.planned.on, spec, missing)?;
        let before = (self.names.clone(), self.counts.clone());
        let mut report = compared(&self.planned, self.cut.used, &before, &after)?;
        if !report.checks.holds() {
            return Err(Error::bug(
                "the written table is not the result of the suppression step: \
                 it was not published",
            ));
        }
        report.test = self.test;
        let advice = std::mem::replace(&mut report.notes, self.notes.clone());
        report.notes.extend(advice);
        if self.again {
            report.notes.push(
                "made although the ledger may contain another release of this table; \
                 this was logged"
                    .to_owned(),
            );
        }
        Ok(report)
    }
}

/// Compares the step in a manifest with the original table. `table` has the sensitive values in
/// their published form.
pub(crate) fn compare_with_original(
    entry: &SuppressionEntry,
    table: (&Folded, usize),
    release: &Folded,
    spec: &SensitiveSpec,
    missing: &[String],
) -> Result<SuppressionReport> {
    let planned = planned(entry)?;
    let plain = SensitiveSpec { kind: spec.kind, format: spec.format, ..SensitiveSpec::default() };
    let (values, counts) = counted(table.0, table.1, &plain, missing);
    let rule = planned.step.rule;
    let mut sorted = counts.clone();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let possible = rule.feasible(&counts).is_ok();
    let used = (possible && rule_draws(&counts, rule.l)).then(|| rule.choose_way(&sorted));
    let after = published(release, &planned.on, spec, missing)?;
    let mut report = compared(&planned, used, &(values.names, counts), &after)?;
    report.test = entry.test;
    Ok(report)
}

/// Returns the step of a manifest.
fn planned(entry: &SuppressionEntry) -> Result<Planned> {
    let unknown = || Error::input("the manifest names a suppression this version does not know");
    let card = SUPPRESSIONS.iter().find(|card| card.name == entry.name).ok_or_else(unknown)?;
    let step = Step::new(&entry.name, given(&entry.params, card.params))?;
    Ok(Planned { step, on: entry.on.clone() })
}

/// Counts the published values of a release.
fn published(
    release: &Folded,
    on: &str,
    spec: &SensitiveSpec,
    missing: &[String],
) -> Result<Counted> {
    let column =
        release.column(on).ok_or_else(|| Error::bug("the sensitive column was not read back"))?;
    let plain = SensitiveSpec { kind: spec.kind, format: spec.format, ..SensitiveSpec::default() };
    let (SensitiveValues { names, .. }, counts) = counted(release, column, &plain, missing);
    Ok((names, counts))
}

fn compared(
    planned: &Planned,
    used: Option<Way>,
    before: &Counted,
    after: &Counted,
) -> Result<SuppressionReport> {
    const MISSING: &str = "\u{0}missing";
    let by_text = |counted: &Counted| -> BTreeMap<String, u64> {
        let names = counted.0.iter().map(|name| name.clone().unwrap_or_else(|| MISSING.to_owned()));
        names.zip(counted.1.iter().copied()).collect()
    };
    let (before, after) = (by_text(before), by_text(after));
    fn of(counts: &BTreeMap<String, u64>) -> BTreeMap<&str, u64> {
        counts.iter().map(|(name, n)| (name.as_str(), *n)).collect()
    }
    let (table, published) = (of(&before), of(&after));
    let rule = planned.step.rule;
    let mechanism =
        Mechanism::named(report::name_of(used.unwrap_or(rule.way)), rule.l, rule.complete_level)
            .ok_or_else(|| Error::bug("the suppression method is unknown"))?;
    let checks = check(mechanism, &table, &published);
    let left: Vec<u64> =
        table.keys().map(|value| published.get(value).copied().unwrap_or(0)).collect();
    let base: Vec<u64> = table.values().copied().collect();
    let adversary = match used {
        Some(_) if checks.holds() => {
            // The adversary knows the method that the release names, not the one that was applied.
            let known = Mechanism::named(planned.step.card.name, rule.l, rule.complete_level);
            report::guesses(known.unwrap_or(mechanism), &base, &left)
        }
        _ => Vec::new(),
    };
    let by_value = table.iter().map(|(value, all)| {
        ((*value).to_owned(), *all, published.get(value).copied().unwrap_or(0))
    });
    let most = base.iter().copied().max().unwrap_or(0);
    let mut report = SuppressionReport {
        name: planned.step.card.name,
        l: rule.l,
        on: planned.on.clone(),
        used: used.map(report::name_of),
        records: base.iter().sum(),
        values: base.len() as u64,
        violating: checks.violating,
        tied: base.iter().filter(|&&count| count == most).count() as u64,
        suppressed: base.iter().sum::<u64>().saturating_sub(published.values().sum()),
        checks,
        adversary,
        test: false,
        notes: Vec::new(),
        counts: report::Counts(by_value.collect()),
    };
    advise(planned, &mut report);
    Ok(report)
}

fn advise(planned: &Planned, report: &mut SuppressionReport) {
    let limit = planned.step.params.optional_number("posterior_limit").unwrap_or(report.target());
    let worst =
        report.adversary.iter().filter(|g| g.prior != "multinomial").map(|g| g.posterior.max());
    let worst = worst.fold(0.0, f64::max);
    if worst > limit + 1e-9 && report.used == Some(report::name_of(Way::Random)) {
        report.notes.push(format!(
            "an adversary guesses the dominant value with probability {worst:.3}, more than \
             {limit:.3}: safe-d would do better. Choose it for tables like this one, not for this \
             draw: a choice made after the draw reveals information about it"
        ));
    }
    if report.tied > 1 && report.used == Some(report::name_of(Way::Random)) {
        report.notes.push(format!(
            "{} values share the greatest count; the dominant one was drawn among them",
            report.tied
        ));
    }
    if report.used == Some(report::name_of(Way::Unsafe)) {
        report.notes.push(
            "unsafe-d is a lower bound, not a protection: do not publish this release".to_owned(),
        );
    }
}
