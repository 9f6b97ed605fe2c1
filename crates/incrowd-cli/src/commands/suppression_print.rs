//! What a suppression step did, for the owner of the data.

use incrowd::{Report, SuppressionReport};

use crate::print::{say, table, thousands};

pub(crate) fn print(report: &Report, step: &SuppressionReport) {
    print_step(step, report.records.suppressed - step.withheld);
}

/// What was withheld, what was checked, and what an adversary makes of it.
pub(crate) fn print_step(step: &SuppressionReport, starred: u64) {
    say!(
        "skewed   {}: {} records with {} values of {}, {}",
        step.name,
        thousands(step.records),
        thousands(step.values),
        step.on,
        match step.violating {
            0 => format!("none more frequent than one in {}", step.l),
            1 => format!("1 of them more frequent than one in {}", step.l),
            n => format!("{n} of them more frequent than one in {}", step.l),
        }
    );
    match step.used {
        None => say!("         eligible already: nothing was withheld and nothing was drawn"),
        Some(used) => {
            let share = 100.0 * step.withheld as f64 / step.records.max(1) as f64;
            let way = if used == step.name { String::new() } else { format!(" by {used}") };
            say!("         {} withheld{way}, {share:.1} % of the records", thousands(step.withheld));
        }
    }
    if starred > 0 {
        say!("         {} published as *", thousands(starred));
    }
    let word = |holds: bool| if holds { "holds" } else { "FAILS" };
    let candidacy = step.checks.candidacy.map_or("was not needed", word);
    let draw = if step.checks.reachable { "some draw leads here" } else { "NO draw leads here" };
    say!("checked  p-eligibility {}   l-candidacy {candidacy}   {draw}", word(step.checks.eligible));
    if step.checks.unchanged == Some(false) {
        say!("         the table was eligible, and yet the release is NOT all of it");
    }
    if step.adversary.is_empty() {
        if step.used.is_some() && step.checks.holds() {
            say!("         what an adversary guesses was not computed: too many values");
        }
    } else {
        say!(
            "\nWho was the dominant value? The design target is 1/{} = {:.3}; it is not guaranteed.\n",
            step.l,
            step.target()
        );
        let mut rows = vec![vec![
            "the adversary believes".to_owned(),
            "best guess is right".to_owned(),
            "on average over draws".to_owned(),
            "computed".to_owned(),
        ]];
        for guess in &step.adversary {
            let believes = match guess.prior {
                "flat" => "all count vectors alike (flat)",
                "multinomial" => "all records alike (multinomial)",
                _ => "knows the counts, not whose (shape known)",
            };
            rows.push(vec![
                believes.to_owned(),
                format!("{:.3}", guess.posterior.max()),
                guess.mean_success.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.3}")),
                match guess.exact {
                    true => "exactly".to_owned(),
                    false => format!("by sampling, ± {:.3}", guess.posterior.error),
                },
            ]);
        }
        say!("{}", table(rows));
    }
    for note in &step.notes {
        say!("note     {note}");
    }
}
