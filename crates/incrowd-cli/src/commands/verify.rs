//! `incrowd verify`

use std::process::ExitCode;

use incrowd::front_end::core::MissingCells;
use incrowd::{Checked, Decision, FromOriginal, ReleasePersons};

use crate::args::VerifyArgs;
use crate::failure::Failure;
use crate::print::{OutputMode, groups, number, one_line, outln, print_blocks, thousands};
use crate::progress::Bar;

pub(crate) fn run(args: &VerifyArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let (mut judging, provenance) =
        args.keys.judging(&args.release, args.original.as_ref(), mode)?;
    judging.check = args.check.clone();
    let checked = judging.progress(&Bar::new(mode)).verify().map_err(|e| provenance.locate(e))?;
    for (column, records) in &checked.verification.unread {
        mode.note(&format!(
            "column `{column}`: the cells of {} records cover no person of the population; if that \
             is unexpected, give the kinds and hierarchies the release was made with",
            thousands(*records)
        ));
    }
    if let ReleasePersons::Unknown(why) = &checked.persons {
        mode.note(why);
    }
    for warning in checked.from_original.iter().flat_map(|found| &found.warnings) {
        mode.note(warning);
    }
    if checked.manifest_unsealed {
        mode.note("the manifest does not contain its own digest: changes to it cannot be detected");
    }
    if mode.json {
        mode.print_json(&checked.to_json());
    } else {
        print(&checked, &crate::flags::release_of(&judging));
    }
    Ok(ExitCode::from(u8::from(!checked.holds())))
}

/// Prints the results that only some publications have: sensitive groups, rules, further tables.
fn print_rules(checked: &Checked) {
    if let Some(verification) = &checked.on_values {
        for judgement in &verification.judgements {
            let (title, what, have) =
                (one_line(&judgement.title), judgement.measures, number(judgement.have));
            let verdict = match judgement.decision() {
                Decision::Holds => "holds",
                Decision::Undecided => "UNKNOWN",
                Decision::Fails => "FAILS",
            };
            outln!(
                "sensitive {title}   {verdict}   {what} {have} in {} sensitive groups",
                thousands(verification.groups)
            );
        }
    }
    let found = checked.from_original.as_ref();
    let failures = || checked.failures.iter().chain(found.iter().flat_map(|found| &found.failures));
    for failure in failures() {
        outln!("rule     {}   FAILS   {}", failure.rule, one_line(&failure.message));
    }
    if let (Some(rules), None) = (checked.rules, failures().next()) {
        let with = found
            .and_then(|found| found.rules)
            .map(|rules| format!(", and {rules} with the originals"));
        outln!("rules    {rules}{}   hold", with.unwrap_or_default());
    }
    if let Some(loose) = found.and_then(|found| found.loose).filter(|loose| *loose > 0) {
        outln!("note     {} boxes are larger than the people in them need (O4)", thousands(loose));
    }
    match checked.values_match() {
        Some(true) => outln!("digest   of the sensitive values matches the manifest"),
        Some(false) => outln!("digest   of the sensitive values DIFFERS from the manifest"),
        None => {}
    }
}

fn print_origin(origin: &FromOriginal) {
    outln!("\nfor the data owner only\n");
    match origin.strangers {
        0 => outln!("original every published record comes from it, no two from the same record"),
        n => outln!(
            "original FAILS   {} published records do not come from it, or use a record twice",
            thousands(n)
        ),
    }
    if origin.misfits > 0 {
        outln!(
            "original FAILS   the values of {} are not those of its people",
            groups(origin.misfits)
        );
    }
    if let Some(step) = &origin.suppression {
        outln!("");
        print_blocks(&step.to_text(0));
    }
}

pub(crate) fn print(checked: &Checked, path: &str) {
    let records = checked.from_original.as_ref().filter(|found| found.rules.is_none());
    if records.is_some() {
        outln!("may be published\n");
    }
    let verification = &checked.verification;
    outln!(
        "table    {}   {} records in {}",
        one_line(path),
        thousands(verification.records),
        groups(verification.groups)
    );
    for judgement in &verification.judgements {
        let (title, what, have) =
            (one_line(&judgement.title), judgement.measures, number(judgement.have));
        match judgement.decision() {
            Decision::Holds => outln!("verify   {title}   holds   {what} {have}"),
            Decision::Undecided if matches!(checked.persons, ReleasePersons::Unknown(_)) => outln!(
                "verify   {title}   UNKNOWN   the {what} is {have} in records; persons were \
                 counted only when the release was made"
            ),
            // No group was checked: the release does not have the sampling weights that the
            // population is estimated from.
            Decision::Undecided if judgement.failing == 0 => outln!(
                "verify   {title}   UNKNOWN   the population is estimated from sampling weights, \
                 which the release does not contain"
            ),
            Decision::Undecided => outln!(
                "verify   {title}   UNKNOWN   only categories are published; their {what} is {have}"
            ),
            Decision::Fails => outln!(
                "verify   {title}   FAILS   {what} {have}, needs {}; {} of {} groups fail",
                number(judgement.need),
                thousands(judgement.failing),
                thousands(verification.groups)
            ),
        }
    }
    if checked.missing_cells != MissingCells::default() {
        let (name, worth) = (checked.missing_cells.name(), checked.missing_cells.worth());
        outln!("         {}", incrowd::front_end::missing_cells_text(name, worth));
    }
    if let (ReleasePersons::Known, Some(found)) = (&checked.persons, &verification.persons) {
        let (published, smallest) = (thousands(found.published), thousands(found.smallest_group));
        outln!("persons  {published} persons; the smallest group has {smallest}");
    }
    print_rules(checked);
    for column in &checked.identifiers {
        outln!("verify   identifier `{}`   FAILS   it is published", one_line(column));
    }
    match checked.digest_matches {
        Some(true) => outln!("digest   matches the manifest"),
        Some(false) => {
            outln!(
                "digest   DIFFERS from the manifest: the table was changed after it was released"
            )
        }
        None => {}
    }
    if checked.manifest_as_made == Some(false) {
        outln!(
            "manifest DIFFERS from its own digest: it was changed after it was written, and its \
             models may be too"
        );
    }
    match checked.signed {
        Some(true) => outln!("signed   by the key, including the digests of the release"),
        Some(false) => outln!("signed   FAILS   the manifest has no valid signature of this key"),
        None => {}
    }
    if checked.decision() == Decision::Undecided {
        outln!(
            "verdict  UNDECIDED: no guarantee fails, but not every guarantee can be checked on \
             this table alone"
        );
    }
    if let Some(found) = records {
        print_origin(found);
    }
}
