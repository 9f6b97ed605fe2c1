//! The cost of each model in addition to k-anonymity: whole commands with `ascent`, `auto` and
//! `mondrian` on Adult.

use std::path::Path;

use crate::auto::{Place, Run, by_command, in_place};
use crate::least::NINE;

/// The k of every line.
const K: u64 = 10;

/// The number of runs of every command; the smallest processor time counts.
const TIMES: usize = 5;

/// The models in addition to k-anonymity, on occupation or age; the other eight columns are
/// quasi-identifiers.
const MODELS: &[(&str, &str)] = &[
    ("occupation", "l-diversity:l=5,kind=distinct"),
    ("occupation", "l-diversity:l=3,kind=entropy"),
    ("occupation", "l-diversity:l=3,kind=recursive,c=2"),
    ("occupation", "l-diversity:l=3,kind=frequency"),
    ("occupation", "l-diversity:l=5,kind=frequency"),
    ("occupation", "t-closeness:t=0.2,distance=equal"),
    ("occupation", "t-closeness:t=0.5,distance=equal"),
    ("occupation", "beta-likeness:beta=2,kind=basic"),
    ("occupation", "beta-likeness:beta=2,kind=enhanced"),
    ("occupation", "delta-disclosure:delta=2"),
    ("occupation", "alpha-k-anonymity:k=10,alpha=0.3"),
    ("occupation", "p-sensitive:k=10,p=3"),
    ("age", "t-closeness:t=0.2,distance=ordered"),
    ("age", "k-e-anonymity:k=5,e=20"),
];

/// Prints the table. `only` is a part of a model's name.
pub(crate) fn run(data: &Path, only: Option<&str>) -> Result<(), String> {
    in_place(data, |place| rows(&place, only))
}

fn rows(place: &Place, only: Option<&str>) -> Result<(), String> {
    println!(
        "Whole commands on Adult, 8 QIs, k = {K}; processor seconds on all cores together, the least of {TIMES} runs. Looked at: \
         rows, or kinds of rows, over all combinations of levels. Judged: groups, on the way up. Moving: comparisons of a row with a group.\n"
    );
    println!(
        "| in addition to k-anonymity | ascent | of k-anonymity alone | loss | looked at | judged | moving | mondrian, loss | auto | loss |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for on in ["occupation", "age"] {
        let quasi: Vec<&str> = NINE.iter().copied().filter(|c| *c != on).collect();
        let run = |algorithm: &str, model: Option<&str>| least(place, algorithm, &quasi, on, model);
        let alone = run("ascent", None)?;
        line(
            &format!("nothing ({on} is published)"),
            &alone,
            &alone,
            run("mondrian", None)?,
            run("auto", None)?,
        );
        let wanted =
            |(of, model): &&(&str, &str)| *of == on && only.is_none_or(|only| model.contains(only));
        for (_, model) in MODELS.iter().filter(wanted) {
            let spec = format!("{model},on={on}");
            let (mondrian, auto) = (run("mondrian", Some(&spec))?, run("auto", Some(&spec))?);
            line(&format!("{model} of {on}"), &run("ascent", Some(&spec))?, &alone, mondrian, auto);
        }
    }
    Ok(())
}

fn line(name: &str, ascent: &Run, alone: &Run, mondrian: Run, auto: Run) {
    let counted = |key: &str| count(&ascent.printed, key).map_or("-".to_owned(), |n| n.to_string());
    println!(
        "| {name} | {:.2} s | {:.1} | {:.4} | {} | {} | {} | {:.4} | {:.2} s | {:.4} |",
        ascent.processor,
        ascent.processor / alone.processor,
        ascent.loss,
        counted("rows_looked_at"),
        counted("groups_judged"),
        counted("looks_while_moving"),
        mondrian.loss,
        auto.processor,
        auto.loss
    );
}

/// Returns the smallest time of several runs.
fn least(
    place: &Place,
    algorithm: &str,
    quasi: &[&str],
    on: &str,
    model: Option<&str>,
) -> Result<Run, String> {
    let mut best = by_command(place, algorithm, quasi, K, Some((on, model)))?;
    for _ in 1..TIMES {
        let run = by_command(place, algorithm, quasi, K, Some((on, model)))?;
        if run.processor < best.processor {
            best = run;
        }
    }
    Ok(best)
}

/// Returns a number of the report.
fn count(printed: &str, key: &str) -> Option<u64> {
    let (_, after) = printed.split_once(&format!("\"{key}\":"))?;
    let digits: String = after.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}
