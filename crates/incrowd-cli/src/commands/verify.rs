//! `incrowd verify`

use std::process::ExitCode;

use incrowd::Checked;

use crate::args::VerifyArgs;
use crate::failure::Failure;
use crate::flags::Typed;
use crate::print::{Talk, groups, number, say, thousands};
use crate::progress::Bar;

pub(crate) fn run(args: &VerifyArgs, talk: Talk) -> Result<ExitCode, Failure> {
    let typed = Typed::verify(args)?;
    let checked = incrowd::verify(&typed.job, &Bar::new(talk)).map_err(|e| typed.locate(e))?;
    for (column, records) in &checked.verification.unread {
        talk.note(&format!(
            "column `{column}`: the cells of {} records cover nobody of the population; if that is a surprise, give the \
             kinds and hierarchies the release was made with",
            thousands(*records)
        ));
    }
    if talk.json {
        talk.print_json(&checked.to_json());
    } else {
        print(&checked, &args.release.display().to_string());
    }
    Ok(ExitCode::from(u8::from(!checked.holds())))
}

pub(crate) fn print(checked: &Checked, path: &str) {
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
}
