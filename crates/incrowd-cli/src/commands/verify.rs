//! `incrowd verify`

use std::process::ExitCode;

use incrowd::job::Job;
use incrowd::{Checked, JoinChecked, Origin, Originals};

use super::suppression_print;
use crate::args::VerifyArgs;
use crate::failure::Failure;
use crate::flags::judge;
use crate::print::{Talk, groups, number, say, thousands};
use crate::progress::Bar;

pub(crate) fn run(args: &VerifyArgs, talk: Talk) -> Result<ExitCode, Failure> {
    let mut file = args.keys.judging(&args.release, talk)?;
    judge(&mut file, &args.release, args.original.as_ref());
    let checked = judged(args, &mut file.job, talk).map_err(|e| file.provenance.locate(e))?;
    for (column, records) in &checked.verification.unread {
        talk.note(&format!(
            "column `{column}`: the cells of {} records cover nobody of the population; if that is a surprise, give the \
             kinds and hierarchies the release was made with",
            thousands(*records)
        ));
    }
    for warning in checked.joined.iter().flat_map(|joined| &joined.warnings) {
        talk.note(warning);
    }
    if talk.json {
        talk.print_json(&checked.to_json());
    } else {
        print(&checked, &args.release.display().to_string());
    }
    Ok(ExitCode::from(u8::from(!checked.holds())))
}

/// Asks the library: a release of two tables if the flags speak of one, or if its manifest does.
fn judged(args: &VerifyArgs, job: &mut Job, talk: Talk) -> incrowd::Result<Checked> {
    let bar = Bar::new(talk);
    let values = job.external.as_ref().and_then(|external| external.sensitive.clone());
    let values = values.filter(|_| args.keys.has("[external] values"));
    job.external = job.external.take().filter(|external| !external.paths.is_empty());
    let speaks = job.external.is_some() || values.is_some();
    if !speaks && (args.original.is_none() || !incrowd::is_of_two_tables(job)?) {
        return incrowd::verify(job, &bar);
    }
    let audit = job.external.as_ref().and_then(|external| external.audit.clone());
    let originals = args.original.clone().map(|microdata| Originals { microdata, audit });
    incrowd::verify_joined(job, values.as_deref(), originals.as_ref(), &bar)
}

fn print_joined(joined: &JoinChecked) {
    if let Some(verification) = &joined.sensitive {
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
    for failure in &joined.failures {
        say!("rule     {}   FAILS   {}", failure.rule, failure.says);
    }
    if joined.failures.is_empty() {
        let with =
            if joined.with_originals { "P1 to P5, and O1 to O3 with the originals" } else { "P1 to P5" };
        say!("rules    {with}   hold");
    }
    if joined.loose > 0 {
        say!("note     {} boxes are larger than the people in them need (O4)", thousands(joined.loose));
    }
    match joined.sensitive_digest_matches {
        Some(true) => say!("digest   of the sensitive values matches the manifest"),
        Some(false) => say!("digest   of the sensitive values DIFFERS from the manifest"),
        None => {}
    }
}

fn print_origin(origin: &Origin) {
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
        suppression_print::print_step(step, 0);
    }
}

pub(crate) fn print(checked: &Checked, path: &str) {
    if checked.origin.is_some() {
        say!("may be published\n");
    }
    let verification = &checked.verification;
    say!("table    {path}   {} records in {}", thousands(verification.records), groups(verification.groups));
    for judgement in &verification.judgements {
        let (title, what, have) = (&judgement.title, judgement.measures, number(judgement.have));
        if judgement.holds {
            say!("verify   {title}   holds   {what} {have}");
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
    if let Some(joined) = &checked.joined {
        print_joined(joined);
    }
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
    if let Some(origin) = &checked.origin {
        print_origin(origin);
    }
}
