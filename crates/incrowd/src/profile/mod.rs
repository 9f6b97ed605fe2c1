//! Profiling answers: what is in a table, and which job fits it? It counts values and unique
//! records, and proposes roles of the columns.
//!
//! A profile is for the data owner. It contains no cells, but counts of unique records and the
//! reasons for roles describe people who are not protected yet. Only the numbers of records and
//! columns may be published.

mod classification;
mod column_facts;
mod detect;
pub(crate) mod glimpse;
mod init;
mod json;
mod levels;
mod markers;
pub(crate) mod outliers;

pub use column_facts::ValueKind;
pub use init::{Draft, InitOptions, MANY, Preset, as_quasi};
pub use markers::Marker;

use incrowd_audit::risk::population::{self, Population, Sampling};
use incrowd_audit::risk::{
    self, ColumnCounts, Dependency, GroupSizes, Search, SearchResult, WeightedRisk,
};
use incrowd_core::calendar::{DateFormat, Sniffed};
use incrowd_core::hierarchy::bands;
use incrowd_core::represented::{MILLIONTHS, read_weight};
use incrowd_core::{Columnar, Error, MISSING, Progress, Result};
use rayon::prelude::*;

use crate::job::reading::open_input;
use crate::job::{Input, RoleName};
use column_facts::ColumnFacts;

/// A request to profile a table.
///
/// ```
/// # fn main() -> Result<(), incrowd::Error> {
/// use incrowd::ProfileOptions;
/// use incrowd::job::Input;
///
/// # let dir = std::env::temp_dir().join(format!("incrowd-profile-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir).unwrap();
/// # let people = dir.join("patients.csv");
/// let table = "age,zip,disease\n34,02139,flu\n36,02139,cold\n38,02141,flu\n51,02140,flu\n\
///              55,02141,none\n58,02141,none\n61,02142,cold\n";
/// std::fs::write(&people, table).unwrap();
/// let input = Input { paths: vec![people.into()], ..Input::default() };
/// let profile = ProfileOptions::new(input).run()?;
/// assert_eq!((profile.records, profile.columns.len()), (7, 3));
/// # std::fs::remove_dir_all(&dir).unwrap();
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileOptions {
    /// The table and how to read it.
    pub input: Input,
    /// The columns to profile; all if empty.
    pub columns: Vec<String>,
    /// Roles that are already known. The detectors do not change them.
    pub roles: Vec<(String, RoleName)>,
    /// The columns on which uniqueness is measured; those proposed as quasi-identifiers if empty.
    pub quasi: Vec<String>,
    /// How the table was sampled from a population, for estimates of uniqueness in it.
    pub sampling: Option<Sampling>,
    /// The share of records that must be unique on a set of columns for the set to be reported.
    pub share: f64,
    /// The maximum size of such a set. `None`: [`DEFAULT_MAX_SET`], or less if the search would
    /// take too long.
    pub most: Option<usize>,
}

/// The default maximum size of identifying sets of columns.
pub const DEFAULT_MAX_SET: usize = 3;

/// The default share of records that must be unique on an identifying set of columns.
pub const DEFAULT_SHARE: f64 = 0.05;

/// The maximum number of cells that a search reads by default: some seconds of work.
const MOST_CELLS: u128 = 4_000_000_000;
/// The maximum number of column sets that a search counts by default. Each takes about a hundred
/// bytes.
const MOST_SETS: u128 = 1_000_000;

impl Default for ProfileOptions {
    fn default() -> Self {
        ProfileOptions {
            input: Input::default(),
            columns: Vec::new(),
            roles: Vec::new(),
            quasi: Vec::new(),
            sampling: None,
            share: DEFAULT_SHARE,
            most: None,
        }
    }
}

impl ProfileOptions {
    /// Profiles this table with default options.
    pub fn new(input: Input) -> ProfileOptions {
        ProfileOptions { input, ..ProfileOptions::default() }
    }
}

crate::work::long_work! { ProfileOptions:
    /// Profiles the table.
    fn run() -> Profile = profile;
}

/// A proposed role with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The role.
    pub role: RoleName,
    /// Whether name and values are clear evidence. If not, the proposed role is a protective one.
    pub sure: bool,
    /// The reason, as the predicate of a sentence whose subject is the column.
    pub reason: String,
}

/// The generalization proposed for a quasi-identifier without a hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generalization {
    /// Ranges of numbers, or sets of the values.
    Plain,
    /// Dates: month, quarter, year, decade.
    Dates,
    /// Masking from the right, character by character.
    MaskRight,
    /// Intervals: the values are intervals already and are merged with their neighbours.
    Bands,
    /// The known classification of this name.
    Known(&'static str),
    /// The value or `*`.
    Star,
}

/// The subject of a column, as far as presets need it.
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

/// The profile of one column.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ColumnProfile {
    /// The column's name.
    pub name: String,
    /// The type of its values.
    pub kind: ValueKind,
    /// Counts of values and records.
    pub counts: ColumnCounts,
    /// Texts that probably mean a missing value but are not listed as missing.
    pub markers: Vec<Marker>,
    /// The proposed role.
    pub proposal: Proposal,
    /// The proposed generalization, if it is a quasi-identifier.
    pub generalization: Generalization,
    /// The date format, if the job must state it.
    pub format: Option<DateFormat>,
    /// Columns that are functions of it and form the levels of its hierarchy, finest first.
    pub levels: Vec<String>,
    /// The level at which a postal code has three digits.
    postal_level: u32,
    /// The subject of the column: an age, a place or something else.
    pub about: About,
    /// The reason why its numbers are category codes, if they are.
    pub code: Option<&'static str>,
    /// Further remarks, each a sentence.
    pub remarks: Vec<String>,
    /// Whether it looks like a survey weight and every record has a weight of at least 1.
    is_weight: bool,
    /// Values that could be taken for markers of missing values in other columns.
    short_answers: Vec<String>,
}

/// The uniqueness of records on the quasi-identifiers.
#[derive(Clone, Debug, PartialEq)]
pub struct Uniqueness {
    /// The positions of the quasi-identifiers.
    pub columns: Vec<usize>,
    /// Whether the caller chose them. Otherwise the profile proposed them.
    pub given: bool,
    /// The number of groups by size.
    pub sizes: GroupSizes,
    /// For each quasi-identifier, the number of unique records without it.
    pub without: Vec<u64>,
}

/// The size classes of groups in reports. The last one has no upper bound.
pub const SIZES: [(u64, u64); 6] = [(1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, u64::MAX)];

/// The profile of a table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Profile {
    /// The number of records.
    pub records: u64,
    /// The number of columns of the table.
    pub table_columns: usize,
    /// The profiled columns, in the table's order.
    pub columns: Vec<ColumnProfile>,
    /// Minimal identifying sets of columns; columns are positions in `columns`.
    pub found: SearchResult,
    /// The share of records that had to be unique.
    pub share: f64,
    /// The maximum size of the sets that were searched.
    pub most: usize,
    /// Whether that is less than the default because the table is large.
    pub cut_short: bool,
    /// Uniqueness on the quasi-identifiers. `None` if there are none or it was not requested.
    pub uniqueness: Option<Uniqueness>,
    /// The re-identification risk on the quasi-identifiers by sampling weights, if the table has
    /// them.
    pub weighted: Option<WeightedRisk>,
    /// Estimates for the population, if requested.
    pub population: Option<Population>,
    /// The number of records that are unique on the combination of sensitive columns, which would
    /// be published unchanged.
    pub sensitive_unique: u64,
    /// The number of records with a missing value in a quasi-identifier or sensitive column.
    pub incomplete: u64,
}

fn profile(options: &ProfileOptions, progress: &dyn Progress) -> Result<Profile> {
    examine(options, true, progress)
}

/// Profiles a table; measures the uniqueness on the quasi-identifiers only if `measure` is set.
// Long, because all parts of a profile follow from the coded table that is read here once.
fn examine(options: &ProfileOptions, measure: bool, progress: &dyn Progress) -> Result<Profile> {
    if options.most == Some(0) {
        return Err(Error::job("a set of columns has at least one column"));
    }
    risk::needed(options.share, 1)?;
    let engine = open_input(&options.input)?;
    let names = if options.columns.is_empty() {
        engine.columns().to_vec()
    } else {
        options.columns.clone()
    };
    let position = |name: &String| {
        let known = names.iter().position(|n| n == name);
        let near = || names.iter().map(String::as_str);
        known.ok_or_else(|| {
            Error::job(format!("there is no column `{name}` among the profiled columns"))
                .help_column(name, near(), engine.is_named())
        })
    };
    let given: Vec<usize> = options.quasi.iter().map(position).collect::<Result<_>>()?;
    let roles = options.roles.iter().map(|(name, role)| Ok((position(name)?, *role)));
    let roles = roles.collect::<Result<Vec<(usize, RoleName)>>>()?;
    let table = engine.survey(&names, &options.input.missing, progress)?;
    if table.records == 0 {
        return Err(Error::input("the table has no records")
            .help("a table needs a header and at least one record"));
    }
    if u32::try_from(table.records).is_err() {
        return Err(Error::resources(format!("a profile counts up to {} records", u32::MAX))
            .help("profile a part of the table: name some of its files"));
    }
    progress.step("looking", Some(table.columns.len() as u64));
    let profile_one = |column| {
        let profile = column_profile(&ColumnFacts::new(column, table.records as u64));
        progress.advance(1);
        profile
    };
    let mut columns: Vec<ColumnProfile> = table.columns.par_iter().map(profile_one).collect();

    let (most, found) = search(options, &table, progress)?;
    functions(&mut columns, &found.dependencies, table.records as u64);
    if let Some(at) = options.input.weight.as_ref().map(position).transpose()? {
        let reason = "holds the sampling weights, as you stated; it is not published".into();
        columns[at].proposal = Proposal { role: RoleName::Drop, sure: true, reason };
    }
    levels::arrange(&mut columns, &found.dependencies, table.records as u64);
    for (column, role) in roles {
        columns[column].proposal = Proposal { role, sure: true, reason: "as you stated".into() };
    }

    progress.step("grouping", None);
    let proposed =
        || (0..columns.len()).filter(|&c| columns[c].proposal.role == RoleName::Quasi).collect();
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
            let represented =
                weights(&table, at, &|text| engine.locate(weight, text).ok().flatten())?;
            Some(risk::weighted_risk(risk::weighted_groups(
                &table,
                &uniqueness.columns,
                &represented,
            )))
        }
        _ => None,
    };
    let population = match (&uniqueness, options.sampling) {
        (Some(uniqueness), Some(sampling)) => {
            Some(population::estimate(&uniqueness.sizes, sampling)?)
        }
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
        cut_short: options.most.is_none() && most < DEFAULT_MAX_SET,
        uniqueness,
        weighted,
        population,
        sensitive_unique,
        incomplete,
    })
}

/// Searches for identifying sets of columns. Returns the maximum size of the sets and the result.
fn search(
    options: &ProfileOptions,
    table: &Columnar,
    progress: &dyn Progress,
) -> Result<(usize, SearchResult)> {
    let searched: Vec<usize> =
        (0..table.columns.len()).filter(|&c| table.columns[c].texts.codes() > 1).collect();
    let work = |most| risk::sets(searched.len(), most) * table.records as u128;
    let reasonable =
        |most| work(most) <= MOST_CELLS && risk::sets(searched.len(), most) <= MOST_SETS;
    let affordable = (1..=DEFAULT_MAX_SET).rev().find(|&most| reasonable(most)).unwrap_or(1);
    let most = options.most.unwrap_or(affordable);
    let request = Search { columns: searched, share: options.share, most, dependencies: true };
    Ok((most, risk::search(table, &request, progress)?))
}

/// Reads the sampling weight of each record.
fn weights(
    table: &Columnar,
    column: usize,
    locate: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<f64>> {
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
        .help(
            "a record represents at least one person, itself; \
         remove such records from the table",
        )
        .at("input.weight"));
    }
    Ok(own.codes.iter().map(|&code| by_code[code as usize].unwrap_or(1.0)).collect())
}

/// Builds the profile of one column.
fn column_profile(facts: &ColumnFacts<'_>) -> ColumnProfile {
    let finding = detect::role(facts);
    let is_weight = finding.reason.contains(detect::weight::SURVEY)
        && facts.counts.missing == 0
        && facts.markers.is_empty()
        && facts.range.is_some_and(|(low, _)| low >= 1.0);
    ColumnProfile {
        name: facts.name.to_owned(),
        kind: facts.kind,
        counts: facts.counts,
        markers: facts.markers.clone(),
        proposal: Proposal { role: finding.role, sure: finding.sure, reason: finding.reason },
        generalization: generalization(facts),
        is_weight,
        format: match &facts.dates {
            Sniffed::Written(format) => (*format == DateFormat::COMPACT).then_some(*format),
            Sniffed::Ambiguous(formats) => formats.first().copied(),
            Sniffed::NoDates => None,
        },
        levels: Vec::new(),
        // A ZIP code with a four-digit suffix has one more level.
        postal_level: 1 + u32::from(facts.values.iter().any(|value| value.contains('-'))),
        about: match () {
            () if detect::is_age(facts) && facts.kind == ValueKind::Integer => About::Age,
            () if detect::is_postal(facts) => About::PostalCode,
            () if detect::is_place(facts) && !detect::is_large_place(facts) => About::SmallPlace,
            () => About::Other,
        },
        code: detect::why_code(facts),
        remarks: remarks(facts),
        short_answers: facts
            .values
            .iter()
            .filter(|v| markers::is_word(v))
            .map(|&v| v.to_owned())
            .collect(),
    }
}

/// Returns remarks about a column.
fn remarks(facts: &ColumnFacts<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Sniffed::Ambiguous(formats) = &facts.dates {
        let ways: Vec<String> = formats.iter().map(DateFormat::to_string).collect();
        remarks
            .push(format!("LOOK: its dates can be read as {}; state which", ways.join(" or as ")));
    }
    let dates = facts.values.iter().filter(|v| detect::is_date(v)).count();
    if facts.kind == ValueKind::Text && mostly_dates(facts) {
        let others = facts.values.len() - dates;
        remarks.push(format!(
            "LOOK: most of its values are dates, but {others} are not or have another format; \
             list those that mean missing"
        ));
    }
    remarks
}

/// Returns whether at least half of the values are dates.
fn mostly_dates(facts: &ColumnFacts<'_>) -> bool {
    facts.share(detect::is_date) >= 0.5
}

/// A text column with more distinct values is not published as sets, because long sets are
/// unreadable.
const LONGEST_SET: u64 = 64;
const LONGER: u64 = LONGEST_SET + 1;

fn generalization(facts: &ColumnFacts<'_>) -> Generalization {
    let length = facts.values.first().map_or(0, |v| v.chars().count());
    let even = length >= 3 && facts.share(|v| v.chars().count() == length) >= 0.9;
    if let Some(name) = classification::recognise(facts) {
        return Generalization::Known(name);
    }
    let coded = even
        && facts
            .share(|v| v.chars().any(|c| c.is_ascii_digit()) && !v.contains(char::is_whitespace))
            >= 0.9;
    match facts.kind {
        ValueKind::Date => Generalization::Dates,
        ValueKind::Integer if coded && length >= 4 && detect::is_place(facts) => {
            Generalization::MaskRight
        }
        ValueKind::Integer if detect::why_code(facts).is_some() => match facts.counts.distinct {
            _ if coded && facts.counts.distinct > 10 => Generalization::MaskRight,
            LONGER.. => Generalization::Star,
            _ => Generalization::Plain,
        },
        ValueKind::Integer | ValueKind::Real => Generalization::Plain,
        // A masked date cannot be parsed as a date.
        ValueKind::Text if mostly_dates(facts) => Generalization::Star,
        ValueKind::Text if bands::are_bands(&facts.values) => Generalization::Bands,
        ValueKind::Text if coded && facts.counts.distinct > 10 => Generalization::MaskRight,
        ValueKind::Text if facts.counts.distinct > LONGEST_SET => Generalization::Star,
        ValueKind::Text => Generalization::Plain,
    }
}

/// Marks columns that are functions of others. If two columns determine each other, one of them
/// suffices.
fn functions(columns: &mut [ColumnProfile], dependencies: &[Dependency], records: u64) {
    let (mut same, mut follows) = (Vec::new(), Vec::new());
    for &Dependency { from, to } in dependencies {
        // With fewer than ten records per value the dependency may be coincidental.
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
        let (kept, other) =
            if sure(second) && !sure(first) { (second, first) } else { (first, second) };
        let kept_name = columns[kept].name.clone();
        let both_quasi = [kept, other].iter().all(|&c| columns[c].proposal.role == RoleName::Quasi);
        if both_quasi {
            let reason =
                format!("has the same information as `{kept_name}`; one of them is enough");
            columns[other].proposal = Proposal { role: RoleName::Drop, sure: true, reason };
        } else {
            columns[other].remarks.push(format!("has the same information as `{kept_name}`"));
        }
    }
    for (from, to) in follows {
        let (name, role) = (columns[from].name.clone(), columns[from].proposal.role);
        let given_away =
            role == RoleName::Sensitive && columns[to].proposal.role == RoleName::Quasi;
        let remark = if given_away {
            format!(
                "follows from `{name}`, which would be published unchanged and would reveal \
                 this column"
            )
        } else {
            format!("follows from `{name}`")
        };
        columns[to].remarks.push(remark);
    }
}

/// Counts records with a missing value in a quasi-identifier or sensitive column. Words that mark a
/// missing value among numbers count as missing.
fn incomplete(table: &Columnar, columns: &[ColumnProfile]) -> u64 {
    let mut lacks = vec![false; table.records];
    for (column, profile) in table.columns.iter().zip(columns) {
        if !matches!(profile.proposal.role, RoleName::Quasi | RoleName::Sensitive) {
            continue;
        }
        let words: Vec<&str> = init::missing_words(profile).collect();
        let codes =
            column.texts.iter().filter(|(_, text)| words.contains(text)).map(|(code, _)| code);
        let codes: Vec<u32> = codes.chain([MISSING]).collect();
        for (lacks, code) in lacks.iter_mut().zip(&column.codes) {
            *lacks |= codes.contains(code);
        }
    }
    lacks.into_iter().filter(|&lacks| lacks).count() as u64
}
