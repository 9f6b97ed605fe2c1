//! `incrowd profile`

use std::process::ExitCode;

use incrowd::job::{Input, Job, JobBuilder, RoleName};
use incrowd::profile::{Profile, SIZES, Uniqueness};
use incrowd::risk::WeightedRisk;
use incrowd::risk::population::{ESTIMATORS, Population, Sampling};
use incrowd::{Error, OutlierProfile, ProfileOptions};

use crate::args::ProfileArgs;
use crate::failure::Failure;
use crate::print::{OutputMode, list, number, one_line, outln, table, thousands};
use crate::progress::Bar;

/// The number of lines of a list that the text shows without `--all`. JSON has all of them.
const SHOWN: usize = 5;
/// A table with at most this many columns is shown completely.
const FEW: usize = 12;
/// The keys that control how the table is read.
const READING: [&str; 9] =
    ["missing", "delimiter", "format", "encoding", "decimal", "sheet", "table", "query", "weight"];

pub(crate) fn run(args: &ProfileArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let sampling = match (args.population_size, args.sampling_fraction) {
        (Some(size), _) => Some(Sampling::PopulationSize(size)),
        (None, fraction) => fraction.map(Sampling::Fraction),
    };
    if args.outliers.is_none()
        && (args.keys.has("[columns] hierarchy") || args.keys.has("[input] hierarchies"))
    {
        return Err(Error::job("hierarchies are used only for the distances between outliers")
            .help("add --outliers on=income")
            .into());
    }
    let mut builder = JobBuilder::default();
    builder.tables(&args.tables)?;
    let job = args.keys.on(builder, |key| READING.contains(&key.name))?.finish()?.job;
    incrowd::front_end::unauthenticated_by_job(&job).iter().for_each(|text| mode.warn(text));
    let input = job.input;
    let options = ProfileOptions {
        input: input.clone(),
        columns: args.columns.clone(),
        roles: Vec::new(),
        quasi: args.quasi.clone(),
        sampling,
        share: args.share,
        most: args.max_columns,
    };
    let profile = options.progress(&Bar::new(mode)).run()?;
    let outliers = args
        .outliers
        .as_ref()
        .map(|text| outliers(args, input, &profile, text, mode))
        .transpose()?;
    if mode.json {
        let mut json = profile.to_json();
        if let Some(outliers) = &outliers {
            json["private"]["outliers"] = outliers.to_json();
        }
        mode.print_json(&json);
    } else {
        print(&profile, args.all);
        if let Some(outliers) = &outliers {
            print_outliers(outliers);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Counts outliers on the quasi-identifiers that uniqueness was measured on.
fn outliers(
    args: &ProfileArgs,
    profiled: Input,
    profile: &Profile,
    text: &str,
    mode: OutputMode,
) -> Result<OutlierProfile, Failure> {
    let params = crate::flags::outlier_params(text)?;
    let on = params.iter().find(|(name, _)| name == "on").map(|(_, value)| value.to_string());
    let names = |role: RoleName| -> Vec<String> {
        profile.columns.iter().filter(|c| c.proposal.role == role).map(|c| c.name.clone()).collect()
    };
    let sensitive = on.clone().map_or_else(|| names(RoleName::Sensitive), |on| vec![on]);
    let quasi = profile.uniqueness.as_ref().map_or_else(Vec::new, |u| {
        u.columns
            .iter()
            .map(|&c| profile.columns[c].name.clone())
            .filter(|name| !sensitive.contains(name))
            .collect()
    });
    let mut job = Job { input: profiled, ..Job::default() };
    quasi.iter().for_each(|name: &String| job.set_role(name, RoleName::Quasi));
    sensitive.iter().for_each(|name| job.set_role(name, RoleName::Sensitive));
    let job = args.keys.on(JobBuilder::of(job), |key| !READING.contains(&key.name))?.finish()?.job;
    Ok(incrowd::OutlierRequest::new(job, params).progress(&Bar::new(mode)).run()?)
}

fn print_outliers(outliers: &OutlierProfile) {
    let forced = &outliers.forced;
    let what = match outliers.density {
        Some(lof) => {
            format!(
                "local outlier factor of {} or more among {} points",
                lof.threshold, lof.neighbours
            )
        }
        None => {
            format!("distance to {} of the records above {}", percent(outliers.p), outliers.d)
        }
    };
    let column = one_line(&outliers.column);
    outln!("\noutliers by {column} and {} ({what})", list(&outliers.attributes));
    outln!(
        " {} records: {}",
        thousands(outliers.records),
        incrowd::front_end::recode::expansion::forced_in_words(forced)
    );
    outln!(
        " at least {} would have to be suppressed in a plain-k-anonymous release{}",
        thousands(forced.removals()),
        if forced.all_decided { "" } else { " (a bound: not every outlier was decided)" }
    );
}

/// Formats a share of all records.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        0.0 => "0 %".to_owned(),
        100.0 => "100 %".to_owned(),
        p if p < 0.01 => "<0.01 %".to_owned(),
        p if p < 1.0 => format!("{p:.2} %"),
        // Must not be rounded to 100 %.
        p if p > 99.9 => ">99.9 %".to_owned(),
        p => format!("{p:.1} %"),
    }
}

fn print(profile: &Profile, all: bool) {
    outln!("may be published");
    outln!("  {} records, {} columns\n", thousands(profile.records), profile.table_columns);
    outln!("for the data owner only: the following describes people who are not protected yet");
    let (every, all) = (all, all || profile.columns.len() <= FEW);
    if all {
        columns(profile);
    }
    roles(profile, all);
    sets(
        profile,
        if every {
            usize::MAX
        } else if all {
            4 * SHOWN
        } else {
            SHOWN
        },
    );
    match &profile.uniqueness {
        Some(uniqueness) => unique(profile, uniqueness, all),
        None => outln!(
            "\nno column looks like a quasi-identifier; give some with --quasi to measure \
             uniqueness"
        ),
    }
    if let Some(risk) = &profile.weighted {
        weighted(risk, profile.records);
    }
    match &profile.population {
        Some(population) => estimates(population),
        None => outln!(
            "\npopulation: give --sampling-fraction or --population-size to estimate uniqueness in \
             the population"
        ),
    }
    outln!("\nverdict  {}", verdict(profile));
    if !all {
        outln!("         --all shows every column and every set");
    }
}

/// Returns the summary line.
fn verdict(profile: &Profile) -> String {
    let unsure = profile.columns.iter().filter(|column| !column.proposal.sure).count();
    let review = match unsure {
        0 => String::new(),
        1 => "; review the uncertain role of 1 column".to_owned(),
        n => format!("; review the uncertain roles of {n} columns"),
    };
    let Some(uniqueness) = &profile.uniqueness else {
        return format!(
            "no quasi-identifier was found, so uniqueness could not be measured{review}"
        );
    };
    let share = profile.share_of(uniqueness.sizes.of_size(1));
    let on = match uniqueness.columns.len() {
        1 => "1 quasi-identifier".to_owned(),
        n => format!("{n} quasi-identifiers"),
    };
    let with = uniqueness
        .columns
        .iter()
        .zip(&uniqueness.without)
        .min_by_key(|(column, unique)| (**unique, **column));
    let most =
        with.filter(|_| uniqueness.columns.len() > 1 && share > 0.0).map(|(column, unique)| {
            let left = percent(profile.share_of(*unique));
            format!(
                "; without `{}`, which contributes most, {left} would be unique",
                profile.columns[*column].name
            )
        });
    format!(
        "{} of the records are unique on {on}{}{review}",
        percent(share),
        most.unwrap_or_default()
    )
}

fn columns(profile: &Profile) {
    let head = ["column", "kind", "distinct", "missing", "unique", "most frequent"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for column in &profile.columns {
        let counts = &column.counts;
        rows.push(vec![
            column.name.clone(),
            column.kind.name().to_owned(),
            thousands(counts.distinct),
            percent(profile.share_of(counts.missing)),
            percent(profile.share_of(counts.unique)),
            percent(profile.share_of(counts.largest)),
        ]);
    }
    outln!("\ncolumns (shares are of all records; unique: the value occurs once)");
    outln!("{}", table(rows));
}

/// Maximum width of the names in the list of roles. One long name does not widen the list for all,
/// and a width above 65,535 would be a panic.
const WIDEST: usize = 60;

fn roles(profile: &Profile, all: bool) {
    outln!("\nproposed roles (? is uncertain; then the safer role is proposed)");
    let widest =
        profile.columns.iter().map(|c| one_line(&c.name).chars().count()).max().unwrap_or(0);
    let widest = widest.min(WIDEST);
    if !all {
        for (word, role) in incrowd::job::RoleName::ALL {
            let of =
                |c: &&incrowd::profile::ColumnProfile| c.proposal.role == role && c.proposal.sure;
            let names: Vec<&str> =
                profile.columns.iter().filter(of).map(|c| c.name.as_str()).collect();
            if !names.is_empty() {
                outln!(" {word:<11} {:>3}  {}", names.len(), list(&names));
            }
        }
    }
    // Of many columns only those that need a review.
    let mut listed = 0;
    for column in profile
        .columns
        .iter()
        .filter(|column| all || !column.proposal.sure || !column.markers.is_empty())
    {
        listed += 1;
        if !all && listed > 2 * SHOWN {
            continue;
        }
        let proposal = &column.proposal;
        let role = incrowd::job::RoleName::ALL
            .iter()
            .find(|(_, r)| *r == proposal.role)
            .map_or("", |(n, _)| n);
        let mark = if proposal.sure { ' ' } else { '?' };
        outln!(
            " {:<widest$}  {role:<10} {mark} {}",
            one_line(&column.name),
            one_line(&proposal.reason)
        );
        for marker in &column.markers {
            let records = thousands(marker.records);
            outln!(
                " {:<widest$}               `{}` is probably a missing value ({records} records)",
                "",
                one_line(&marker.text)
            );
        }
        for remark in &column.remarks {
            outln!(" {:<widest$}               {}", "", one_line(remark));
        }
    }
    if !all && listed > 2 * SHOWN {
        outln!(" and {} more that are uncertain", listed - 2 * SHOWN);
    }
    if profile.sensitive_unique > 0 {
        let share = percent(profile.share_of(profile.sensitive_unique));
        outln!(
            "\n {} records ({share}) are unique on the sensitive columns together, which would be \
             published unchanged:",
            thousands(profile.sensitive_unique)
        );
        outln!(
            " an adversary who knows these values of a person finds the record; publish fewer of \
             these columns, or give some the role quasi"
        );
    }
    if profile.incomplete > 0 {
        let share = percent(profile.share_of(profile.incomplete));
        outln!(
            "\n {} records ({share}) lack a value in a quasi-identifier or sensitive column",
            thousands(profile.incomplete)
        );
    }
}

fn sets(profile: &Profile, shown: usize) {
    let found = &profile.found;
    let what = match found.needed {
        1 => "at least one record".to_owned(),
        n if n == profile.records => "every record".to_owned(),
        n => format!("at least {} of the records ({})", percent(profile.share), thousands(n)),
    };
    let columns =
        if profile.most == 1 { "1 column".to_owned() } else { format!("{} columns", profile.most) };
    outln!("\nsmallest sets of columns on which {what} are unique (up to {columns})");
    if found.combinations.is_empty() {
        outln!(" none");
    }
    let mut rows = Vec::new();
    for set in found.combinations.iter().take(shown) {
        let names: Vec<&str> =
            set.columns.iter().map(|&c| profile.columns[c].name.as_str()).collect();
        rows.push(vec![names.join(" + "), percent(profile.share_of(set.unique))]);
    }
    if !rows.is_empty() {
        outln!("{}", table(rows));
    }
    if found.combinations.len() > shown {
        outln!(
            " and {} more sets (--all lists them)",
            thousands((found.combinations.len() - shown) as u64)
        );
    }
    if profile.cut_short {
        outln!(" larger sets were not searched because the table is large; use --max-columns");
    }
}

fn unique(profile: &Profile, uniqueness: &Uniqueness, all: bool) {
    let sizes = &uniqueness.sizes;
    let names: Vec<&str> =
        uniqueness.columns.iter().map(|&c| profile.columns[c].name.as_str()).collect();
    let which = if uniqueness.given { "given" } else { "proposed" };
    outln!("\nuniqueness on the {which} quasi-identifiers: {}", list(&names));
    let share = profile.share_of(sizes.of_size(1));
    outln!(
        " {} of {} records are unique ({})\n",
        thousands(sizes.of_size(1)),
        thousands(profile.records),
        percent(share)
    );
    let mut rows = vec![["group size", "groups", "records", ""].map(str::to_owned).to_vec()];
    for (low, high) in SIZES {
        let (groups, records) = sizes.between(low, high);
        let name = match (low, high) {
            (low, u64::MAX) => format!("{low}+"),
            (low, high) if low == high => low.to_string(),
            (low, high) => format!("{low}–{high}"),
        };
        rows.push(vec![
            name,
            thousands(groups),
            thousands(records),
            percent(profile.share_of(records)),
        ]);
    }
    outln!("{}", table(rows));
    if uniqueness.columns.len() > 1 {
        let mut without: Vec<(usize, u64)> =
            uniqueness.columns.iter().copied().zip(uniqueness.without.iter().copied()).collect();
        without.sort_by_key(|&(column, unique)| (unique, column));
        let mut rows = vec![vec!["without".to_owned(), "unique".to_owned(), "fewer".to_owned()]];
        let shown = if all { without.len() } else { SHOWN };
        for (column, unique) in without.into_iter().take(shown) {
            let left = profile.share_of(unique);
            let points = format!("{:.1} points", 100.0 * (share - left));
            rows.push(vec![profile.columns[column].name.clone(), percent(left), points]);
        }
        outln!(
            "\ncontribution of each column: the share of unique records without it\n{}",
            table(rows)
        );
    }
}

fn weighted(risk: &WeightedRisk, records: u64) {
    outln!(
        "\nrisk by sampling weights: {} records represent {:.0} people, the smallest group {:.1}",
        thousands(records),
        risk.people,
        risk.fewest
    );
    let head = ["", "worst", "expected to be found"].map(str::to_owned).to_vec();
    let row = |name: &str, (worst, sum): (f64, f64)| {
        vec![name.to_owned(), number(worst), format!("{sum:.2} records")]
    };
    outln!(
        "{}",
        table(vec![
            head,
            row("1/F, F the sum of weights", risk.by_weights),
            row("Benedetti and Franconi", risk.expected),
        ])
    );
}

fn estimates(population: &Population) {
    outln!(
        "\nestimated uniqueness in the population of {} people (sampling fraction {:.4})",
        thousands(population.size),
        population.fraction
    );
    let widest = ESTIMATORS.iter().map(|e| e.name.len()).max().unwrap_or(0);
    for estimate in &population.estimates {
        let chosen = population.chosen.is_some_and(|(name, _)| name == estimate.name);
        let mark = if chosen { "   <- chosen by the rule of Dankar et al. 2012" } else { "" };
        match estimate.uniques {
            Ok(uniques) => outln!(
                " {:<widest$}  {:>9}  about {} people{mark}",
                estimate.name,
                percent(uniques / population.size as f64),
                thousands(uniques.round() as u64)
            ),
            Err(why) => outln!(" {:<widest$}  {:>9}  {why}", estimate.name, "-"),
        }
    }
}
