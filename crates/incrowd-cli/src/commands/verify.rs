//! `incrowd verify`

use std::process::ExitCode;

use incrowd::core::MissingCells;
use incrowd::{Behind, Checked, FromOriginal};

use crate::args::VerifyArgs;
use crate::failure::Failure;
use crate::print::{OutputMode, groups, number, print_blocks, say, thousands};
use crate::progress::Bar;

pub(crate) fn run(args: &VerifyArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let (mut judging, provenance) = args.keys.judging(&args.release, args.original.as_ref(), mode)?;
    judging.check = args.check.clone();
    let checked = incrowd::verify(&judging, &Bar::new(mode)).map_err(|e| provenance.locate(e))?;
    for (column, records) in &checked.verification.unread {
        mode.note(&format!(
            "column `{column}`: the cells of {} records cover nobody of the population; if that is a surprise, give the \
             kinds and hierarchies the release was made with",
            thousands(*records)
        ));
    }
    if let Behind::Unknown(why) = &checked.behind {
        mode.note(why);
    }
    for warning in checked.from_original.iter().flat_map(|found| &found.warnings) {
        mode.note(warning);
    }
    if checked.manifest_unsealed {
        mode.note("the manifest does not state its own digest: whether it was changed cannot be told");
    }
    if mode.json {
        mode.print_json(&checked.to_json());
    } else {
        print(&checked, &crate::flags::release_of(&judging));
    }
    Ok(ExitCode::from(u8::from(!checked.holds())))
}

/// What else is to be said of a publication with rules of its own or of several tables.
fn print_rules(checked: &Checked) {
    if let Some(verification) = &checked.on_values {
        for judgement in &verification.judgements {
            let (title, what, have) = (&judgement.title, judgement.measures, number(judgement.have));
            let verdict = match judgement {
                j if j.holds => "holds",
                j if j.unknown => "UNKNOWN",
                _ => "FAILS",
            };
            say!(
                "sensitive {title}   {verdict}   {what} {have} in {} sensitive groups",
                thousands(verification.groups)
            );
        }
    }
    let found = checked.from_original.as_ref();
    let failures = || checked.failures.iter().chain(found.iter().flat_map(|found| &found.failures));
    for failure in failures() {
        say!("rule     {}   FAILS   {}", failure.rule, failure.says);
    }
    if let (Some(rules), None) = (checked.rules, failures().next()) {
        let with =
            found.and_then(|found| found.rules).map(|rules| format!(", and {rules} with the originals"));
        say!("rules    {rules}{}   hold", with.unwrap_or_default());
    }
    if let Some(loose) = found.and_then(|found| found.loose).filter(|loose| *loose > 0) {
        say!("note     {} boxes are larger than the people in them need (O4)", thousands(loose));
    }
    match checked.values_match() {
        Some(true) => say!("digest   of the sensitive values matches the manifest"),
        Some(false) => say!("digest   of the sensitive values DIFFERS from the manifest"),
        None => {}
    }
}

fn print_origin(origin: &FromOriginal) {
    say!("\nfor the data owner only\n");
    match origin.strangers {
        0 => say!("original every published record comes from it, no two from the same record"),
        n => say!(
            "original FAILS   {} published records do not come from it, or come from it twice",
            thousands(n)
        ),
    }
    if origin.misfits > 0 {
        say!("original FAILS   the values of {} are not those of its people", groups(origin.misfits));
    }
    if let Some(step) = &origin.suppression {
        say!("");
        print_blocks(&step.to_text(0));
    }
}

pub(crate) fn print(checked: &Checked, path: &str) {
    let records = checked.from_original.as_ref().filter(|found| found.rules.is_none());
    if records.is_some() {
        say!("may be published\n");
    }
    let verification = &checked.verification;
    say!("table    {path}   {} records in {}", thousands(verification.records), groups(verification.groups));
    for judgement in &verification.judgements {
        let (title, what, have) = (&judgement.title, judgement.measures, number(judgement.have));
        if judgement.holds {
            say!("verify   {title}   holds   {what} {have}");
        } else if judgement.unknown && matches!(checked.behind, Behind::Unknown(_)) {
            say!(
                "verify   {title}   UNKNOWN   in records the {what} is {have}; in persons it was judged when it was made"
            );
        } else if judgement.unknown {
            say!("verify   {title}   UNKNOWN   only categories are published; of these the {what} is {have}");
        } else {
            say!(
                "verify   {title}   FAILS   {what} {have}, needs {}; {} of {} groups fail",
                number(judgement.need),
                thousands(judgement.failing),
                thousands(verification.groups)
            );
        }
    }
    if checked.missing_cells != MissingCells::default() {
        let (name, worth) = (checked.missing_cells.name(), checked.missing_cells.worth());
        say!("         {}", incrowd::missing_cells_text(name, worth));
    }
    if let (Behind::Known, Some(found)) = (&checked.behind, &verification.persons) {
        let (published, smallest) = (thousands(found.published), thousands(found.smallest_group));
        say!("persons  {published} persons; the smallest group has {smallest}");
    }
    print_rules(checked);
    for column in &checked.identifiers {
        say!("verify   identifier `{column}`   FAILS   it is published");
    }
    match checked.digest_matches {
        Some(true) => say!("digest   matches the manifest"),
        Some(false) => {
            say!("digest   DIFFERS from the manifest: the table was changed after it was released")
        }
        None => {}
    }
    if checked.manifest_as_made == Some(false) {
        say!(
            "manifest DIFFERS from its own digest: it was changed after it was made, and so may be what it promises"
        );
    }
    match checked.signed {
        Some(true) => say!("signed   by the key, and so are the digests of the release"),
        Some(false) => say!("signed   FAILS   the manifest is not signed by this key as it is now"),
        None => {}
    }
    if let Some(found) = records {
        print_origin(found);
    }
}
