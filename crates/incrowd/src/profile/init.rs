//! Drafts a job file from a profile. The draft can be run and contains the reasons as comments.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use incrowd_core::{Error, Progress, Result};

use super::detect::key::SEVERAL;
use super::json::role_name;
use super::{About, ColumnProfile, Generalization, Profile, ProfileOptions, ValueKind, examine};
use crate::job::{self, Input, Location, RoleName, toml_key, toml_string};

/// A request to draft a job file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InitOptions {
    /// The table and how to read it.
    pub input: Input,
    /// Roles that are already known.
    pub roles: Vec<(String, RoleName)>,
    /// The minimum number of records per group.
    pub k: u64,
    /// The path of the job file. Paths in it are relative to its directory.
    pub job: PathBuf,
    /// A rule of the field that the job follows.
    pub preset: Option<Preset>,
}

impl InitOptions {
    /// Drafts a job file for this table with groups of at least `k` records.
    pub fn new(input: Input, k: u64) -> InitOptions {
        InitOptions { input, k, ..InitOptions::default() }
    }
}

crate::work::long_work! { InitOptions:
    /// Profiles the table and drafts a job file for it.
    fn run() -> Draft = init;
}

/// A rule of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// The Safe Harbor method of the US health privacy rule, as far as columns can tell.
    Hipaa,
    /// Common practice of statistical offices for public-use files.
    PublicUse,
}

impl Preset {
    /// The names on a command line.
    pub const ALL: [(&'static str, Preset); 2] =
        [("hipaa", Preset::Hipaa), ("public-use", Preset::PublicUse)];

    /// Returns the age from which all ages are published as one value.
    fn top_age(self) -> u32 {
        match self {
            Preset::Hipaa => 90,
            Preset::PublicUse => 85,
        }
    }

    /// Returns the comment about the preset in the job file.
    fn about(self) -> &'static str {
        match self {
            Preset::Hipaa => {
                "# Preset hipaa, after the Safe Harbor list: ages over 89 are one value, dates\n\
                 # are years, postal codes have three digits, places smaller than a state are\n\
                 # not published. CHECK two things that incrowd cannot check: three-digit ZIP\n\
                 # areas of 20,000 people or fewer must be replaced by 000 first, and no other\n\
                 # column may contain items of the list (device and record numbers,\n\
                 # photographs, free text)."
            }
            Preset::PublicUse => {
                "# Preset public-use: ages from 85 on are one value, dates are years, postal\n\
                 # codes have three digits, places smaller than a state are not published.\n\
                 # CHECK that the remaining areas have 100,000 people or more."
            }
        }
    }
}

/// A job file that has not been written yet.
#[derive(Debug)]
#[non_exhaustive]
pub struct Draft {
    /// The text of the file.
    pub text: String,
    /// The path of the release, as written in the file.
    pub release: String,
    /// The profile from which the draft was made.
    pub profile: Profile,
}

/// If more than this share of records is incomplete, missing values are kept as a value of their
/// own instead of dropping the records.
const MOST_DROPPED: f64 = 0.01;

fn init(options: &InitOptions, progress: &dyn Progress) -> Result<Draft> {
    if options.k == 0 {
        return Err(Error::job("k must be at least 1"));
    }
    // The draft needs roles, not identifying sets of columns. Pairs suffice to find which columns
    // are functions of others.
    let asked = ProfileOptions {
        input: options.input.clone(),
        roles: options.roles.clone(),
        most: Some(2),
        ..ProfileOptions::default()
    };
    let profile = examine(&asked, false, progress)?;
    if !profile.columns.iter().any(|c| c.proposal.role == RoleName::Quasi) {
        return Err(Error::job("no column of this table looks like a quasi-identifier").help(
            "name those that could be linked with other sources with `[columns] role = \"quasi\"`",
        ));
    }
    if profile.records < options.k {
        return Err(Error::job(format!(
            "no release of {} records can have groups of {}",
            profile.records, options.k
        ))
        .help("choose a smaller k"));
    }
    let release = release_name(&options.input);
    let text = render(options, &profile, &release)?;
    let base = options.job.parent().unwrap_or(Path::new(""));
    if let Err(error) = job::parse(&options.job.display().to_string(), &text, base) {
        return Err(Error::bug(format!("the job file that was drafted cannot be read: {error}")));
    }
    Ok(Draft { text, release, profile })
}

/// Returns words that mark a missing value in a column of numbers or dates. Unless they are listed
/// as missing, such a column would be read as text.
pub(super) fn missing_words(column: &ColumnProfile) -> impl Iterator<Item = &str> {
    let numbers = column.kind != ValueKind::Text;
    let words =
        column.markers.iter().filter(|m| incrowd_core::number::parse_number(&m.text).is_none());
    words.filter(move |_| numbers).map(|marker| marker.text.as_str())
}

/// Derives the name of the release: `people.csv.gz` becomes `people.release.csv`. The format is
/// kept if it is known.
fn release_name(input: &Input) -> String {
    let first = input.paths.first();
    if let Some(table @ Location::Database(_)) = first {
        return format!("{}.release.csv", table.stem());
    }
    let name = first.map(Location::name).unwrap_or_default().replace(['*', '?', '[', ']'], "");
    let name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "csv"));
    let known = incrowd_engine::Format::of_path(Path::new(name)).is_ok();
    let extension = if known { extension.to_lowercase() } else { "csv".to_owned() };
    let stem = if stem.is_empty() { "table" } else { stem };
    format!("{stem}.release.{extension}")
}

/// Returns the path of an input file as the job file must spell it, relative to its directory.
fn path_from(job: &Path, location: &Location) -> Result<String> {
    let beside = job.parent().is_none_or(|parent| parent.as_os_str().is_empty());
    let path = match location.file() {
        Some(path) if !beside => std::path::absolute(path)
            .map_err(|e| Error::resources(format!("the working directory is unknown: {e}")))?,
        _ => location.into(),
    };
    path.to_str().map(str::to_owned).ok_or_else(|| Error::job("the path of the table is not UTF-8"))
}

/// Returns the TOML value of a column's entry.
fn spec(column: &ColumnProfile, as_text: bool, preset: Option<Preset>) -> String {
    let role = column.proposal.role;
    if role != RoleName::Quasi {
        return toml_string(role_name(role));
    }
    if let Some(preset) = preset {
        match (column.about, column.generalization) {
            (About::Age, _) if !as_text => {
                return format!(
                    "{{ role = \"quasi\", kind = \"numeric\", top = {} }}",
                    preset.top_age()
                );
            }
            (About::PostalCode, Generalization::Known("postal")) => {
                return format!(
                    "{{ role = \"quasi\", hierarchy = \"postal\", min_level = {} }}",
                    column.postal_level
                );
            }
            (_, Generalization::Dates) => {
                let format = column
                    .format
                    .map(|format| format!(", format = \"{format}\""))
                    .unwrap_or_default();
                return format!(
                    "{{ role = \"quasi\", hierarchy = \"dates\", min_level = 3{format} }}"
                );
            }
            (About::SmallPlace | About::PostalCode, _) => return toml_string("drop"),
            _ => {}
        }
    }
    if !column.levels.is_empty() {
        let names: Vec<String> = column.levels.iter().map(|name| toml_string(name)).collect();
        return format!(
            "{{ role = \"quasi\", hierarchy = {{ columns = [{}] }} }}",
            names.join(", ")
        );
    }
    let how = match column.generalization {
        _ if as_text => ", kind = \"text\", labels = \"star\"",
        Generalization::Plain if column.code.is_some() => ", kind = \"text\"",
        Generalization::Plain if column.kind.is_number() => ", kind = \"numeric\"",
        Generalization::Plain => "",
        Generalization::Dates => ", hierarchy = \"dates\"",
        Generalization::Bands => ", hierarchy = \"bands\"",
        Generalization::Known(name) => &format!(", hierarchy = \"{name}\""),
        Generalization::MaskRight => ", hierarchy = { mask = { char = \"*\", from = \"right\" } }",
        Generalization::Star => ", kind = \"text\", labels = \"star\"",
    };
    let format = column.format.map(|format| format!(", format = \"{format}\"")).unwrap_or_default();
    format!("{{ role = \"quasi\"{how}{format} }}")
}

/// Returns the TOML value of a column's entry if the column is made a quasi-identifier.
pub fn as_quasi(column: &ColumnProfile) -> String {
    let mut own = column.clone();
    own.proposal.role = RoleName::Quasi;
    spec(&own, false, None)
}

/// Replaces control characters, which would end a comment.
fn comment(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Returns whether a word is a regular value in a text column. Such a word cannot be listed as
/// missing, because the list applies to the whole table.
fn is_answer(profile: &Profile, word: &str) -> bool {
    let texts = profile.columns.iter().filter(|c| c.kind == ValueKind::Text);
    texts.into_iter().any(|c| c.holds_word(word))
}

impl ColumnProfile {
    /// Returns whether a short word such as `N` is a value of this column.
    fn holds_word(&self, word: &str) -> bool {
        self.short_answers.iter().any(|answer| answer == word)
    }
}

/// Returns the column that identifies persons: the given one, or the identifier with the fewest
/// values among those that occur in several records.
fn person<'a>(options: &'a InitOptions, profile: &'a Profile) -> Option<&'a str> {
    if options.input.person.is_some() {
        return options.input.person.as_deref();
    }
    let several = |column: &&ColumnProfile| {
        column.proposal.role == RoleName::Identifier && column.proposal.reason.contains(SEVERAL)
    };
    let fewest = profile.columns.iter().filter(several).min_by_key(|column| column.counts.distinct);
    fewest.map(|column| column.name.as_str())
}

/// Returns the column of sampling weights: the given one, or the only one that looks like weights
/// and has a valid weight in every record.
fn weight<'a>(options: &'a InitOptions, profile: &'a Profile) -> Option<&'a str> {
    if options.input.weight.is_some() {
        return options.input.weight.as_deref();
    }
    let sound = |column: &&ColumnProfile| column.is_weight;
    let mut weights = profile.columns.iter().filter(sound);
    match (weights.next(), weights.next()) {
        (Some(only), None) => Some(&only.name),
        _ => None,
    }
}

/// With more quasi-identifiers than this, nearly all cells of a release become `*`.
pub const MANY: usize = 12;

/// Returns the sensitive column for which l-diversity costs least: the one whose most frequent
/// value is the least frequent, provided that it has at least two values and few unique ones.
fn best_suited(profile: &Profile) -> Option<(&ColumnProfile, String)> {
    let sensitive = || profile.columns.iter().filter(|c| c.proposal.role == RoleName::Sensitive);
    let present =
        |column: &ColumnProfile| profile.records.saturating_sub(column.counts.missing).max(1);
    let suits = |column: &&ColumnProfile| {
        let counts = &column.counts;
        counts.distinct >= 2
            && 10 * counts.largest <= 9 * present(column)
            && 10 * counts.unique <= present(column)
    };
    let share = |column: &ColumnProfile| column.counts.largest as f64 / present(column) as f64;
    let best = sensitive().filter(suits).min_by(|a, b| share(a).total_cmp(&share(b)))?;
    let which = match sensitive().count() {
        1 => format!("`{}` suits", best.name),
        n => format!("Of {n} sensitive columns `{}` suits best", best.name),
    };
    let why = format!(
        "{which}: no value has more than {:.0} % of the records, so groups can be diverse.",
        (100.0 * share(best)).ceil()
    );
    Some((best, why))
}

/// Collects the words to add to the list of missing values, and the columns that must be read as
/// text because one of these words is a regular value elsewhere.
fn added_missing<'a>(options: &InitOptions, profile: &'a Profile) -> (Vec<String>, Vec<&'a str>) {
    let mut words: Vec<String> = Vec::new();
    let mut kept_as_text: Vec<&str> = Vec::new();
    for column in &profile.columns {
        for word in missing_words(column) {
            if is_answer(profile, word) {
                kept_as_text.push(&column.name);
            } else if !words.iter().any(|w| w == word)
                && !options.input.missing.iter().any(|w| w == word)
            {
                words.push(word.to_owned());
            }
        }
    }
    words.sort();
    (words, kept_as_text)
}

// Writing to a `String` cannot fail, so the results of `writeln!` are ignored below.
fn render(options: &InitOptions, profile: &Profile, release: &str) -> Result<String> {
    let (words, kept_as_text) = added_missing(options, profile);
    let person = person(options, profile);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "# Drafted by `incrowd init` from {} records. Read the reasons, correct the roles, then:\n\
         #   incrowd anonymize {}\n",
        profile.records,
        comment(&options.job.file_name().unwrap_or_default().to_string_lossy())
    );
    render_input(&mut out, options, profile, &words)?;
    let _ = writeln!(out, "[output]\npath = {}\n", toml_string(release));
    render_columns(&mut out, options, profile, &kept_as_text);
    render_models(&mut out, options.k, profile, person.is_some());
    Ok(out)
}

/// Writes the section `[input]`. `words` are added to the texts that count as missing.
fn render_input(
    out: &mut String,
    options: &InitOptions,
    profile: &Profile,
    words: &[String],
) -> Result<()> {
    let input = &options.input;
    let paths = input.paths.iter().map(|p| path_from(&options.job, p).map(|p| toml_string(&p)));
    let paths = paths.collect::<Result<Vec<_>>>()?;
    let path = match paths.as_slice() {
        // A table in memory has no path yet.
        [] => "\"table.csv\"".to_owned(),
        [path] => path.clone(),
        paths => format!("[{}]", paths.join(", ")),
    };
    let _ = writeln!(out, "[input]\npath = {path}");
    let delimiter = input.delimiter.map(|delimiter| match delimiter {
        b'\t' => "tab".to_owned(),
        delimiter => char::from(delimiter).to_string(),
    });
    let optional = [
        ("delimiter", delimiter),
        ("format", input.format.clone()),
        ("sheet", input.sheet.clone()),
        ("decimal", input.decimal.map(|mark| job::word(&job::DecimalMark::ALL, mark).to_owned())),
        ("encoding", input.encoding.map(|own| job::word(&job::Encoding::ALL, own).to_owned())),
    ];
    for (key, value) in optional {
        if let Some(value) = value {
            let _ = writeln!(out, "{key} = {}", toml_string(&value));
        }
    }
    let person = person(options, profile);
    if let Some(person) = person {
        let _ = writeln!(
            out,
            "person = {}   # identifies the person of a record: models count persons, not records",
            toml_string(person)
        );
    }
    if let Some(weight) = weight(options, profile).filter(|_| person.is_none()) {
        let _ = writeln!(
            out,
            "weight = {}   # sampling weights: people that a record represents; \
             publish_weight = \"group-mean\" in [output] publishes group means",
            toml_string(weight)
        );
    }
    let missing: Vec<String> = input.missing.iter().chain(words).map(|w| toml_string(w)).collect();
    let added = match words.len() {
        0 => String::new(),
        _ => format!(
            "   # {} found among numbers or dates",
            words.iter().map(|w| toml_string(w)).collect::<Vec<_>>().join(", ")
        ),
    };
    let _ = writeln!(out, "missing = [{}]{}", missing.join(", "), comment(&added));
    let lost = profile.share_of(profile.incomplete);
    let percent = 100.0 * lost;
    let (word, why) = match profile.incomplete {
        0 => ("drop", "no record lacks a quasi-identifier or sensitive value".to_owned()),
        n if lost > MOST_DROPPED => (
            "keep",
            format!(
                "a missing value is a value of its own; \
                 \"drop\" would lose {n} records ({percent:.1} %)"
            ),
        ),
        n => (
            "drop",
            format!(
                "loses {n} records ({percent:.2} %); \"keep\" makes missing a value of its own"
            ),
        ),
    };
    let _ = writeln!(out, "on_missing = \"{word}\"   # {why}\n");
    Ok(())
}

/// Writes the section `[columns]`, after warnings about the columns as a whole.
fn render_columns(
    out: &mut String,
    options: &InitOptions,
    profile: &Profile,
    kept_as_text: &[&str],
) {
    if profile.sensitive_unique > 0 {
        let share = 100.0 * profile.share_of(profile.sensitive_unique);
        let _ = writeln!(
            out,
            "# {} records ({share:.1} %) are unique on the combination of sensitive columns: an\n\
             # adversary who knows those values of a person finds the person in the release.\n\
             # Publish fewer of these columns, or give some of them the role quasi.\n",
            profile.sensitive_unique
        );
    }
    if let Some(preset) = options.preset {
        let _ = writeln!(out, "{}\n", preset.about());
    }
    let quasi = profile.columns.iter().filter(|c| c.proposal.role == RoleName::Quasi).count();
    if quasi > MANY {
        let _ = writeln!(
            out,
            "# {quasi} columns are quasi-identifiers. With that many, nearly all cells of a\n\
             # release become `*`. Keep the columns that an adversary can know of a person;\n\
             # give the others role = \"sensitive\" or \"drop\". `incrowd profile` lists the\n\
             # columns that make people unique.\n"
        );
    }
    let _ = writeln!(
        out,
        "# identifier, drop: not published. quasi: generalized until the models hold.\n\
         # sensitive: published unchanged. passthrough: published unchanged, not protected.\n\
         [columns]"
    );
    for column in &profile.columns {
        let unsure = if column.proposal.sure { "" } else { "UNSURE: " };
        let _ = writeln!(out, "# {unsure}{}", comment(&column.proposal.reason));
        if let Some(why) = column.code.filter(|_| column.proposal.role == RoleName::Quasi) {
            let _ = writeln!(out, "#   categories, not quantities: {why}");
        }
        for marker in &column.markers {
            let text = format!(
                "`{}` probably means a missing value ({} records)",
                marker.text, marker.records
            );
            let _ = writeln!(out, "#   {}", comment(&text));
        }
        for remark in &column.remarks {
            let _ = writeln!(out, "#   {}", comment(remark));
        }
        let as_text = kept_as_text.contains(&column.name.as_str());
        let _ =
            writeln!(out, "{} = {}", toml_key(&column.name), spec(column, as_text, options.preset));
    }
}

/// Writes `[[models]]`: k-anonymity, and l-diversity as a comment.
fn render_models(out: &mut String, k: u64, profile: &Profile, by_persons: bool) {
    let unit = if by_persons { "persons" } else { "records" };
    let _ = writeln!(
        out,
        "\n# The quasi-identifiers of a person match at least {k} {unit} of the release.\n\
         [[models]]\nname = \"k-anonymity\"\nk = {k}",
    );
    let sensitive = profile.columns.iter().any(|c| c.proposal.role == RoleName::Sensitive);
    match best_suited(profile) {
        Some((column, why)) => {
            let _ = writeln!(
                out,
                "\n# And these have at least 2 different sensitive values. {}\n\
                 # Uncomment the model to require that, too.\n\
                 # [[models]]\n# name = \"l-diversity\"\n# l = 2\n# on = {}",
                comment(&why),
                comment(&toml_string(&column.name))
            );
        }
        None if sensitive => {
            let _ = writeln!(
                out,
                "\n# In each sensitive column nearly all records have the same value, so groups\n\
                 # cannot be diverse: a model such as l-diversity would cost a lot and protect\n\
                 # few people."
            );
        }
        None => {
            let _ = writeln!(
                out,
                "\n# No column looks sensitive. If one is, give it role = \"sensitive\" and\n\
                 # require that the records of a group have at least 2 different values of it:\n\
                 # [[models]]\n# name = \"l-diversity\"\n# l = 2\n# on = \"the sensitive column\""
            );
        }
    }
}
