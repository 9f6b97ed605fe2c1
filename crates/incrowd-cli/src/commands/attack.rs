//! `incrowd attack`

use std::process::ExitCode;

use incrowd::{
    AttackReport, AttackRequest, Attacked, Audience, Epsilon, Error, Finding, Limit, Quantity,
    Result,
};

use incrowd::job::Table;

use crate::args::AttackArgs;
use crate::failure::Failure;
use crate::flags;
use crate::print::{OutputMode, groups, number, one_line, outln, table, thousands, with_flags};
use crate::progress::Bar;

pub(crate) fn run(args: &AttackArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let (judging, provenance) = args.keys.judging(&args.release, args.original.as_ref(), mode)?;
    let second = args.second.clone().map(incrowd::Judging::new);
    let details =
        args.details.as_ref().map(|path| -> incrowd::Result<incrowd::front_end::Target> {
            let mut claim = incrowd::front_end::Claim::of_judging(&judging);
            second.iter().for_each(|second| claim.judges(second));
            let others = [&args.external, &args.keys.job];
            others.into_iter().flatten().for_each(|path| claim.reads(path));
            let target = claim.writes(path, "the details", "details")?;
            let mark = incrowd::front_end::Mark::None;
            let note = incrowd::front_end::check_file(path, mark, args.replace)?;
            note.iter().for_each(|note| mode.note(note));
            Ok(target)
        });
    let details = details.transpose()?;
    let request = AttackRequest {
        external: args.external.clone().map(Table::file),
        second,
        only: args.only.clone(),
        thresholds: thresholds(&args.threshold)?,
        limits: args.limit.iter().map(|text| limit(text)).collect::<Result<_>>()?,
        epsilon: args.epsilon.iter().map(|text| epsilon(text)).collect::<Result<_>>()?,
        outliers: args
            .outliers
            .as_ref()
            .map_or_else(|| Ok(Vec::new()), |text| flags::outlier_params(text))?,
        suppression: args.suppression.as_deref().map(flags::suppression).transpose()?,
        original_size: args.original_size,
        counts_known: args.original.is_some(),
    };
    incrowd::front_end::unauthenticated_by_attack(&request).iter().for_each(|text| mode.warn(text));
    incrowd::front_end::unauthenticated_beside(&args.details)
        .iter()
        .for_each(|text| mode.warn(text));
    let report =
        judging.progress(&Bar::new(mode)).attack(&request).map_err(|e| provenance.locate(e))?;
    if let Some(target) = &details {
        incrowd::front_end::write_file(target, &report.details(), Audience::Owner)?;
    }
    if mode.json {
        mode.print_json(&report.to_json());
    } else {
        print(&report, &crate::flags::release_of(&judging), args.all);
        if let Some(path) = &args.details {
            print_private(&report, &path.display().to_string());
        }
    }
    Ok(ExitCode::from(u8::from(!report.holds())))
}

fn thresholds(given: &[String]) -> Result<Vec<(String, f64)>> {
    let read = |text: &String| {
        let pair = text
            .split_once('=')
            .and_then(|(name, x)| Some((name.to_owned(), x.trim().parse().ok()?)));
        pair.ok_or_else(|| {
            Error::job(format!("--threshold {text}: write --threshold homogeneity=0.8"))
        })
    };
    given.iter().map(read).collect()
}

/// Reads `prosecutor=0.1` or `prosecutor.average=0.05`.
fn limit(text: &str) -> Result<Limit> {
    let malformed = || {
        Error::job(format!(
            "--limit {text}: write --limit prosecutor=0.1, or --limit prosecutor.average=0.05"
        ))
    };
    let (name, most) = text.split_once('=').ok_or_else(malformed)?;
    let most: f64 = most.trim().parse().ok().filter(|x: &f64| *x >= 0.0).ok_or_else(malformed)?;
    let (attack, quantity) = match name.split_once('.') {
        None => (name, None),
        Some((attack, word)) => match Quantity::ALL.iter().find(|(known, _)| *known == word) {
            Some((_, quantity)) => (attack, Some(*quantity)),
            None => {
                return Err(Error::job(format!("--limit {text}: there is no number `{word}`"))
                    .help_near(word, Quantity::ALL.iter().map(|(known, _)| *known)));
            }
        },
    };
    Ok(Limit { attack: attack.to_owned(), quantity, most })
}

/// Reads `income=500` or `income=5%`.
fn epsilon(text: &str) -> Result<(String, Epsilon)> {
    let read = text.split_once('=').and_then(|(column, word)| {
        let epsilon = match word.trim().strip_suffix('%') {
            Some(percent) => Epsilon::Relative(percent.trim().parse::<f64>().ok()? / 100.0),
            None => Epsilon::Absolute(word.trim().parse().ok()?),
        };
        Some((column.to_owned(), epsilon))
    });
    read.ok_or_else(|| {
        Error::job(format!("--epsilon {text}: write --epsilon income=500 or --epsilon income=5%"))
    })
}

/// The number of attacks shown per section without `--all`.
const SHOWN: usize = 5;

fn print(report: &AttackReport, path: &str, all: bool) {
    outln!(
        "table    {}   {} records in {}",
        one_line(path),
        thousands(report.records()),
        groups(report.groups())
    );
    outln!("\nmay be published\n");
    let public: Vec<&Attacked> = report.of(false).collect();
    if public.is_empty() && !report.attacked.is_empty() {
        outln!(" nothing: the results of these attacks depend on unpublished data");
    }
    let mut lines = section(&public, all);
    lines.extend(not_run(report, all));
    lines.extend(limits(&public));
    block(&lines);
    let private: Vec<&Attacked> = report.of(true).collect();
    if !private.is_empty() {
        outln!("\nfor the data owner only: these results depend on unpublished data\n");
        let mut lines = section(&private, all);
        lines.extend(limits(&private));
        block(&lines);
    }
    outln!("\nverdict  {}", verdict(report));
    let hidden = |private| report.of(private).count() > SHOWN;
    if !all && (hidden(true) || hidden(false) || report.skipped.len() > SHOWN) {
        outln!("         --all shows every attack with all its results");
    }
}

/// Prints lines after a blank line, if there are any.
fn block(lines: &[String]) {
    if !lines.is_empty() {
        outln!("\n{}", lines.join("\n"));
    }
}

/// Returns the attacks that did not run with the reasons, or only their number if they are many.
fn not_run(report: &AttackReport, all: bool) -> Vec<String> {
    let skipped = &report.skipped;
    if !all && skipped.len() > SHOWN {
        return vec![format!("not run  {} attacks: --all shows the reasons", skipped.len())];
    }
    let mut lines = Vec::new();
    for skipped in skipped {
        let column = skipped.column.as_ref().map(|c| format!(" of {c}")).unwrap_or_default();
        let line = format!("not run  {}{column}: {}", skipped.attack, with_flags(&skipped.why));
        lines.push(one_line(&line));
    }
    lines
}

/// Returns the summary line.
fn verdict(report: &AttackReport) -> String {
    let ran = match report.attacked.len() {
        0 => return "no attack ran".to_owned(),
        1 => "1 attack ran".to_owned(),
        n => format!("{n} attacks ran"),
    };
    let exceeded = report
        .attacked
        .iter()
        .flat_map(|attacked| &attacked.limits)
        .filter(|limit| !limit.holds)
        .count();
    let limits = match exceeded {
        0 => String::new(),
        1 => "1 limit is exceeded; ".to_owned(),
        n => format!("{n} limits are exceeded; "),
    };
    let worst = report
        .attacked
        .iter()
        .map(|attacked| &attacked.finding)
        .max_by(|a, b| a.share().total_cmp(&b.share()));
    match worst.filter(|finding| finding.at_risk > 0) {
        None => format!("{limits}{ran}; no person is at risk"),
        Some(finding) => format!(
            "{limits}{ran}; the largest share is at risk from {}: {} of {} {} ({:.1} %)",
            title(finding),
            thousands(finding.at_risk),
            thousands(finding.of),
            finding.people,
            100.0 * finding.share()
        ),
    }
}

fn limits(attacked: &[&Attacked]) -> Vec<String> {
    let mut lines = Vec::new();
    for attacked in attacked {
        for limit in &attacked.limits {
            let (what, have, most) =
                (limit.quantity.about(), number(limit.have), number(limit.most));
            let holds = if limit.holds { "holds   " } else { "EXCEEDED" };
            let title = title(&attacked.finding);
            lines.push(format!("limit    {title}   {holds}   {what} is {have}, at most {most}"));
        }
    }
    lines
}

/// Prints the findings of one section and returns its notes. Without `all`, it prints the [`SHOWN`]
/// attacks with the largest share of people at risk, in the order in which they ran.
fn section(attacked: &[&Attacked], all: bool) -> Vec<String> {
    if attacked.is_empty() {
        return Vec::new();
    }
    let mut places: Vec<usize> = (0..attacked.len()).collect();
    places.sort_by(|&a, &b| {
        let share = |at: usize| attacked[at].finding.share();
        share(b).total_cmp(&share(a)).then(a.cmp(&b))
    });
    places.truncate(if all { attacked.len() } else { SHOWN });
    places.sort_unstable();
    let few = attacked.len() <= SHOWN;
    let attacked: &[&Attacked] = &places.into_iter().map(|at| attacked[at]).collect::<Vec<_>>();
    outln!("{}\n", findings(attacked));
    for line in legend(attacked) {
        outln!("{line}");
    }
    if !all && !few {
        return Vec::new();
    }
    outln!("\npeople by risk");
    bands(attacked).into_iter().for_each(|text| outln!("\n{text}"));
    let facts: Vec<Vec<String>> = attacked.iter().flat_map(|a| facts(&a.finding)).collect();
    if !facts.is_empty() {
        outln!("\n{}", table(facts));
    }
    let mut notes = Vec::new();
    for attacked in attacked {
        for note in &attacked.finding.notes {
            let note = one_line(&with_flags(note));
            notes.push(format!("note     {}: {note}", title(&attacked.finding)));
        }
    }
    notes
}

fn title(finding: &Finding) -> String {
    match &finding.column {
        Some(column) => format!("{} of {}", finding.attack, one_line(column)),
        None => finding.attack.to_owned(),
    }
}

fn findings(attacked: &[&Attacked]) -> String {
    let header = ["attack", "worst", "average", "at risk", "of", "share", "if risk"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for attacked in attacked {
        let finding = &attacked.finding;
        rows.push(vec![
            title(finding),
            number(finding.worst),
            number(finding.average),
            thousands(finding.at_risk),
            format!("{} {}", thousands(finding.of), finding.people),
            format!("{:.1} %", 100.0 * finding.share()),
            finding.alarm.clone(),
        ]);
    }
    table(rows)
}

/// Returns the definition of each attack's risk.
fn legend(attacked: &[&Attacked]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for attacked in attacked {
        let line =
            format!(" {:<14} risk is the {}", attacked.finding.attack, attacked.finding.measures);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Returns the number of people per risk band, one table for each set of bands.
fn bands(attacked: &[&Attacked]) -> Vec<String> {
    let labels =
        |finding: &Finding| finding.bands.iter().map(|band| band.label).collect::<Vec<_>>();
    let mut tables: Vec<(Vec<&str>, Vec<Vec<String>>)> = Vec::new();
    for finding in attacked.iter().map(|attacked| &attacked.finding) {
        let mut row = vec![title(finding)];
        row.extend(finding.bands.iter().map(|band| thousands(band.people)));
        match tables.iter_mut().find(|(known, _)| *known == labels(finding)) {
            Some((_, rows)) => rows.push(row),
            None => tables.push((labels(finding), vec![row])),
        }
    }
    let with_header = |(labels, rows): (Vec<&str>, Vec<Vec<String>>)| {
        let header = std::iter::once("risk").chain(labels).map(str::to_owned).collect();
        table(std::iter::once(header).chain(rows).collect())
    };
    tables.into_iter().map(with_header).collect()
}

fn facts(finding: &Finding) -> Vec<Vec<String>> {
    finding
        .facts
        .iter()
        .map(|fact| vec![format!("{}: {}", title(finding), fact.about), number(fact.value)])
        .collect()
}

fn print_private(report: &AttackReport, path: &str) {
    outln!("\nfor the data owner only\n");
    for attacked in &report.attacked {
        let exposed = report.exposed(&attacked.finding);
        if exposed.is_empty() {
            continue;
        }
        outln!("most exposed to {}", title(&attacked.finding));
        for group in exposed {
            let cells: Vec<String> = group
                .cells
                .iter()
                .map(|(name, cell)| one_line(&format!("{name} {cell}")))
                .collect();
            outln!(
                "  {:>8}  {:>7} records   {}",
                number(group.risk),
                thousands(group.records),
                cells.join(", ")
            );
        }
    }
    outln!("\ndetails  {}   every released row with its risks", one_line(path));
}
