//! What is in this table, how unique are the people in it, and which roles should its columns have?
//!
//! Everything a profile says is for the owner of the data: no cell is in it, but counts of unique records and the reasons
//! for roles describe people who have not been protected yet. Only the numbers of records and columns may be told.

mod classification;
mod detect;
mod init;
mod json;
mod levels;
mod markers;
mod seen;

pub use init::{Draft, InitOptions, MANY, Preset, as_quasi, init};
pub use markers::Marker;
pub use seen::ValueKind;

use incrowd_audit::risk::population::{self, Population, Sampling};
use incrowd_audit::risk::{self, ColumnCounts, Dependency, Found, GroupSizes, Search, WeightedRisk};
use incrowd_core::calendar::{DateFormat, Sniffed};
use incrowd_core::hierarchy::bands;
use incrowd_core::represented::{MILLIONTHS, read_weight};
use incrowd_core::{Columnar, Error, MISSING, Progress, Result};
use rayon::prelude::*;

use crate::job::{Input, RoleName};
use crate::reading::open_input;
use seen::Seen;

/// What to look at.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileOptions {
    /// The table and how to read it.
    pub input: Input,
    /// The columns to look at; all if empty.
    pub columns: Vec<String>,
    /// Roles that are known already, and not for the detectors to decide.
    pub roles: Vec<(String, RoleName)>,
    /// The columns on which uniqueness is measured; those proposed as quasi-identifiers if empty.
    pub quasi: Vec<String>,
    /// How the table was drawn from a population, if uniqueness in it is to be estimated.
    pub sampling: Option<Sampling>,
    /// The share of records that must be unique on a set of columns for it to single people out.
    pub share: f64,
    /// How many columns such a set has at most; [`USUAL_MOST`] or what can be searched in reasonable time if `None`.
    pub most: Option<usize>,
}

/// How many columns a set that singles people out has at most, unless told otherwise.
pub const USUAL_MOST: usize = 3;

/// The share of records that must be unique, unless told otherwise.
pub const USUAL_SHARE: f64 = 0.05;

/// The most cells that a search looks at without being told to: some seconds of work.
const PATIENCE: u128 = 4_000_000_000;
/// The most sets of columns that it looks at without being told to: each takes some hundred bytes.
const MOST_SETS: u128 = 1_000_000;

impl Default for ProfileOptions {
    fn default() -> Self {
        ProfileOptions {
            input: Input::default(),
            columns: Vec::new(),
            roles: Vec::new(),
            quasi: Vec::new(),
            sampling: None,
            share: USUAL_SHARE,
            most: None,
        }
    }
}

/// A role with the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The role.
    pub role: RoleName,
    /// Whether name and values speak clearly. If not, the role is one that protects.
    pub sure: bool,
    /// Why, as the rest of a sentence that begins with the column.
    pub reason: String,
}

/// How a quasi-identifier is best generalized without a hierarchy of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generalization {
    /// As ranges of numbers, or as sets of its few values.
    Plain,
    /// As dates: month, quarter, year, decade.
    Dates,
    /// Character by character from the right.
    MaskRight,
    /// As intervals that the values are already, joined with their neighbours.
    Bands,
    /// Along this known classification.
    Known(&'static str),
    /// As the value or `*`.
    Star,
}

/// What presets ask of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum About {
    /// An age in years.
    Age,
    /// A postal code.
    PostalCode,
    /// A place smaller than a state.
    SmallPlace,
    /// Anything else.
    Other,
}

/// What a profile says of one column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnProfile {
    /// The column's name.
    pub name: String,
    /// What its values are.
    pub kind: ValueKind,
    /// What was counted.
    pub counts: ColumnCounts,
    /// Texts that probably stand for a missing value but are not listed as missing.
    pub markers: Vec<Marker>,
    /// The role it should have.
    pub proposal: Proposal,
    /// How it would be generalized as a quasi-identifier.
    pub generalization: Generalization,
    /// How its dates are written, if the job has to state it.
    pub format: Option<DateFormat>,
    /// Columns that follow from it, and are the levels of its hierarchy, finest first.
    pub levels: Vec<String>,
    /// The level at which a postal code has three digits.
    postal_level: u32,
    /// Whether it is somebody's age in years, or the place of somebody.
    pub about: About,
    /// Why its numbers are names of categories, if they are.
    pub code: Option<&'static str>,
    /// What else is worth knowing, each a sentence.
    pub remarks: Vec<String>,
    /// Whether it looks like a survey weight and every record has one of at least 1.
    is_weight: bool,
    /// Those of its values that could be taken for markers of missing values elsewhere.
    short_answers: Vec<String>,
}

/// How unique the records are on the quasi-identifiers.
#[derive(Clone, Debug, PartialEq)]
pub struct Uniqueness {
    /// The positions of the quasi-identifiers.
    pub columns: Vec<usize>,
    /// Whether they were given, or are those the profile proposes.
    pub given: bool,
    /// How many groups of alike records have which size.
    pub sizes: GroupSizes,
    /// For each quasi-identifier how many records would be unique without it.
    pub without: Vec<u64>,
}

/// The bounds of group sizes that reports show; the last is open.
pub const SIZES: [(u64, u64); 6] = [(1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, u64::MAX)];

/// What a profile says.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// How many records the table has.
    pub records: u64,
    /// How many columns it has.
    pub table_columns: usize,
    /// The columns that were looked at, in the table's order.
    pub columns: Vec<ColumnProfile>,
    /// Minimal sets of columns that single people out; columns are positions in `columns`.
    pub found: Found,
    /// The share of records that had to be unique.
    pub share: f64,
    /// How many columns were searched together at most.
    pub most: usize,
    /// Whether that is fewer than usual because the table is large.
    pub cut_short: bool,
    /// Uniqueness on the quasi-identifiers; `None` if no column is one or nobody asked.
    pub uniqueness: Option<Uniqueness>,
    /// What sampling weights say of the risk of being found on the quasi-identifiers, if the table has them.
    pub weighted: Option<WeightedRisk>,
    /// What the estimators say of the population, if asked.
    pub population: Option<Population>,
    /// How many records are unique on the sensitive columns together, which would be published as they are.
    pub sensitive_unique: u64,
    /// How many records lack a value in a column that is a quasi-identifier or sensitive.
    pub incomplete: u64,
}

/// Looks at a table.
pub fn profile(options: &ProfileOptions, progress: &dyn Progress) -> Result<Profile> {
    examine(options, true, progress)
}

/// Looks at a table; how unique the records are on the quasi-identifiers only if asked.
fn examine(options: &ProfileOptions, measure: bool, progress: &dyn Progress) -> Result<Profile> {
    if options.most == Some(0) {
        return Err(Error::job("a set of columns has at least one column"));
    }
    risk::needed(options.share, 1)?;
    let engine = open_input(&options.input)?;
    let names = if options.columns.is_empty() { engine.columns().to_vec() } else { options.columns.clone() };
    let position = |name: &String| {
        let known = names.iter().position(|n| n == name);
        let near = || names.iter().map(String::as_str);
        known.ok_or_else(|| {
            Error::job(format!("there is no column `{name}` among those looked at")).help_column(
                name,
                near(),
                engine.is_named(),
            )
        })
    };
    let given: Vec<usize> = options.quasi.iter().map(position).collect::<Result<_>>()?;
    let roles = options.roles.iter().map(|(name, role)| Ok((position(name)?, *role)));
    let roles = roles.collect::<Result<Vec<(usize, RoleName)>>>()?;
    let table = engine.survey(&names, &options.input.missing, progress)?;
    if table.records == 0 {
        return Err(
            Error::input("the table has no records").help("a table needs a header and at least one record")
        );
    }
    if u32::try_from(table.records).is_err() {
        return Err(Error::resources(format!("a profile counts up to {} records", u32::MAX))
            .help("profile a part of the table: name some of its files"));
    }
    progress.step("looking", Some(table.columns.len() as u64));
    let look = |column| {
        let seen = look(&Seen::new(column, table.records as u64));
        progress.advance(1);
        seen
    };
    let mut columns: Vec<ColumnProfile> = table.columns.par_iter().map(look).collect();

    let searched: Vec<usize> = (0..columns.len()).filter(|&c| table.columns[c].texts.codes() > 1).collect();
    let work = |most| risk::sets(searched.len(), most) * table.records as u128;
    let reasonable = |most| work(most) <= PATIENCE && risk::sets(searched.len(), most) <= MOST_SETS;
    let patient = (1..=USUAL_MOST).rev().find(|&most| reasonable(most)).unwrap_or(1);
    let most = options.most.unwrap_or(patient);
    let search = Search { columns: searched, share: options.share, most, dependencies: true };
    let found = risk::search(&table, &search, progress)?;
    functions(&mut columns, &found.dependencies, table.records as u64);
    if let Some(at) = options.input.weight.as_ref().map(position).transpose()? {
        let reason = "says how many people a record stands for, as you said; it is not published".into();
        columns[at].proposal = Proposal { role: RoleName::Drop, sure: true, reason };
    }
    levels::arrange(&mut columns, &found.dependencies, table.records as u64);
    for (column, role) in roles {
        columns[column].proposal = Proposal { role, sure: true, reason: "as you said".into() };
    }

    progress.step("grouping", None);
    let proposed = || (0..columns.len()).filter(|&c| columns[c].proposal.role == RoleName::Quasi).collect();
    let quasi = if given.is_empty() { proposed() } else { given.clone() };
    let uniqueness = (measure && !quasi.is_empty()).then(|| Uniqueness {
        sizes: risk::group_sizes(&table, &quasi),
        without: risk::unique_without(&table, &quasi),
        given: !given.is_empty(),
        columns: quasi,
    });
    let weighted = match (&uniqueness, &options.input.weight) {
        (Some(uniqueness), Some(weight)) => {
            let at = position(weight)?;
            let represented = weights(&table, at, &|text| engine.locate(weight, text).ok().flatten())?;
            Some(risk::weighted_risk(risk::weighted_groups(&table, &uniqueness.columns, &represented)))
        }
        _ => None,
    };
    let population = match (&uniqueness, options.sampling) {
        (Some(uniqueness), Some(sampling)) => Some(population::estimate(&uniqueness.sizes, sampling)?),
        _ => None,
    };
    let incomplete = incomplete(&table, &columns);
    let sensitive = |c: &usize| columns[*c].proposal.role == RoleName::Sensitive;
    let sensitive: Vec<usize> = (0..columns.len()).filter(sensitive).collect();
    let sensitive_unique = risk::group_sizes(&table, &sensitive).of_size(1);
    Ok(Profile {
        records: table.records as u64,
        table_columns: engine.columns().len(),
        columns,
        found,
        share: options.share,
        most,
        cut_short: options.most.is_none() && most < USUAL_MOST,
        uniqueness,
        weighted,
        population,
        sensitive_unique,
        incomplete,
    })
}

/// How many people each record stands for.
fn weights(table: &Columnar, column: usize, locate: &dyn Fn(&str) -> Option<String>) -> Result<Vec<f64>> {
    let own = &table.columns[column];
    let read = |code: u32| match code {
        MISSING => None,
        code => read_weight(own.texts.get(code)).map(|weight| weight as f64 / MILLIONTHS as f64),
    };
    let by_code: Vec<Option<f64>> = (0..own.texts.codes() as u32).map(read).collect();
    let counts = own.counts();
    let bad = (0..by_code.len()).find(|&code| counts[code] > 0 && by_code[code].is_none());
    if let Some(code) = bad {
        let place = locate(own.texts.get(code as u32))
            .map(|place| format!(" (first at {place})"))
            .unwrap_or_default();
        return Err(Error::input(format!(
            "{} records have no weight of at least 1 in column `{}`{place}",
            counts[code], own.name
        ))
        .help("every record stands for itself and perhaps for others; leave such records out of the table")
        .at("input.weight"));
    }
    Ok(own.codes.iter().map(|&code| by_code[code as usize].unwrap_or(1.0)).collect())
}

/// Looks at one column.
fn look(seen: &Seen<'_>) -> ColumnProfile {
    let finding = detect::role(seen);
    let is_weight = finding.reason.contains(detect::weight::SURVEY)
        && seen.counts.missing == 0
        && seen.markers.is_empty()
        && seen.range.is_some_and(|(low, _)| low >= 1.0);
    ColumnProfile {
        name: seen.name.to_owned(),
        kind: seen.kind,
        counts: seen.counts,
        markers: seen.markers.clone(),
        proposal: Proposal { role: finding.role, sure: finding.sure, reason: finding.reason },
        generalization: generalization(seen),
        is_weight,
        format: match &seen.dates {
            Sniffed::Written(format) => (*format == DateFormat::COMPACT).then_some(*format),
            Sniffed::Ambiguous(formats) => formats.first().copied(),
            Sniffed::NoDates => None,
        },
        levels: Vec::new(),
        // A ZIP code with four more digits has one level more.
        postal_level: 1 + u32::from(seen.values.iter().any(|value| value.contains('-'))),
        about: match () {
            () if detect::is_age(seen) && seen.kind == ValueKind::Integer => About::Age,
            () if detect::is_postal(seen) => About::PostalCode,
            () if detect::is_place(seen) && !detect::is_large_place(seen) => About::SmallPlace,
            () => About::Other,
        },
        code: detect::why_code(seen),
        remarks: remarks(seen),
        short_answers: seen.values.iter().filter(|v| markers::is_word(v)).map(|&v| v.to_owned()).collect(),
    }
}

/// What is worth knowing of a column by itself.
fn remarks(seen: &Seen<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Sniffed::Ambiguous(formats) = &seen.dates {
        let ways: Vec<String> = formats.iter().map(DateFormat::to_string).collect();
        remarks.push(format!("LOOK: its dates can be read as {}; state which", ways.join(" or as ")));
    }
    let dates = seen.values.iter().filter(|v| detect::is_date(v)).count();
    if seen.kind == ValueKind::Text && mostly_dates(seen) {
        let others = seen.values.len() - dates;
        remarks.push(format!(
            "LOOK: most of its values are dates, {others} are not, or are written otherwise; list those that mean missing"
        ));
    }
    remarks
}

/// Whether most values are dates, though not all.
fn mostly_dates(seen: &Seen<'_>) -> bool {
    seen.share(detect::is_date) >= 0.5
}

/// More different texts than this are not published as sets: nobody reads sets that long.
const LONGEST_SET: u64 = 64;
const LONGER: u64 = LONGEST_SET + 1;

fn generalization(seen: &Seen<'_>) -> Generalization {
    let length = seen.values.first().map_or(0, |v| v.chars().count());
    let even = length >= 3 && seen.share(|v| v.chars().count() == length) >= 0.9;
    if let Some(name) = classification::recognise(seen) {
        return Generalization::Known(name);
    }
    let coded = even
        && seen.share(|v| v.chars().any(|c| c.is_ascii_digit()) && !v.contains(char::is_whitespace)) >= 0.9;
    match seen.kind {
        ValueKind::Date => Generalization::Dates,
        ValueKind::Integer if coded && length >= 4 && detect::is_place(seen) => Generalization::MaskRight,
        ValueKind::Integer if detect::why_code(seen).is_some() => match seen.counts.distinct {
            _ if coded && seen.counts.distinct > 10 => Generalization::MaskRight,
            LONGER.. => Generalization::Star,
            _ => Generalization::Plain,
        },
        ValueKind::Integer | ValueKind::Real => Generalization::Plain,
        // A date that is masked is no date any more.
        ValueKind::Text if mostly_dates(seen) => Generalization::Star,
        ValueKind::Text if bands::are_bands(&seen.values) => Generalization::Bands,
        ValueKind::Text if coded && seen.counts.distinct > 10 => Generalization::MaskRight,
        ValueKind::Text if seen.counts.distinct > LONGEST_SET => Generalization::Star,
        ValueKind::Text => Generalization::Plain,
    }
}

/// Says of columns that are functions of others that they are. Of two that say the same, one is enough.
fn functions(columns: &mut [ColumnProfile], dependencies: &[Dependency], records: u64) {
    let (mut same, mut follows) = (Vec::new(), Vec::new());
    for &Dependency { from, to } in dependencies {
        // With a handful of records per value it may well be chance.
        if columns[from].counts.distinct * 10 > records {
            continue;
        }
        let mutual = dependencies.contains(&Dependency { from: to, to: from });
        match mutual {
            true if from < to => same.push((from, to)),
            true => {}
            false => follows.push((from, to)),
        }
    }
    for (first, second) in same {
        let sure = |c: usize| columns[c].proposal.sure;
        let (kept, other) = if sure(second) && !sure(first) { (second, first) } else { (first, second) };
        let kept_name = columns[kept].name.clone();
        let both_quasi = [kept, other].iter().all(|&c| columns[c].proposal.role == RoleName::Quasi);
        if both_quasi {
            let reason = format!("says the same as `{kept_name}` in other words; one of them is enough");
            columns[other].proposal = Proposal { role: RoleName::Drop, sure: true, reason };
        } else {
            columns[other].remarks.push(format!("says the same as `{kept_name}` in other words"));
        }
    }
    for (from, to) in follows {
        let (name, role) = (columns[from].name.clone(), columns[from].proposal.role);
        let given_away = role == RoleName::Sensitive && columns[to].proposal.role == RoleName::Quasi;
        let remark = if given_away {
            format!("follows from `{name}`, which would be published as it is and so give this column away")
        } else {
            format!("follows from `{name}`")
        };
        columns[to].remarks.push(remark);
    }
}

/// Records that lack a value where it matters. Words that mark a missing value among numbers count as missing.
fn incomplete(table: &Columnar, columns: &[ColumnProfile]) -> u64 {
    let mut lacks = vec![false; table.records];
    for (column, profile) in table.columns.iter().zip(columns) {
        if !matches!(profile.proposal.role, RoleName::Quasi | RoleName::Sensitive) {
            continue;
        }
        let words: Vec<&str> = init::missing_words(profile).collect();
        let codes = column.texts.iter().filter(|(_, text)| words.contains(text)).map(|(code, _)| code);
        let codes: Vec<u32> = codes.chain([MISSING]).collect();
        for (lacks, code) in lacks.iter_mut().zip(&column.codes) {
            *lacks |= codes.contains(code);
        }
    }
    lacks.into_iter().filter(|&lacks| lacks).count() as u64
}
