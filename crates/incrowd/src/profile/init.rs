//! From a profile to a job file that runs as it is, with the reasons as comments.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use incrowd_core::{Error, Progress, Result};

use super::detect::key::SEVERAL;
use super::json::role_name;
use super::{About, ColumnProfile, Generalization, Profile, ProfileOptions, ValueKind, examine};
use crate::job::{self, Input, RoleName};

/// What a job file is made from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InitOptions {
    /// The table and how to read it.
    pub input: Input,
    /// Roles that are known already.
    pub roles: Vec<(String, RoleName)>,
    /// How many records a group shall have at least.
    pub k: u64,
    /// Where the job file will lie: paths in it are relative to that place.
    pub job: PathBuf,
    /// A rule of the field that the job shall follow.
    pub preset: Option<Preset>,
}

/// A rule of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// The Safe Harbor method of the US health privacy rule, as far as columns can tell.
    Hipaa,
    /// What statistical offices mostly do for files that anybody may download.
    PublicUse,
}

impl Preset {
    /// The names on a command line.
    pub const ALL: [(&'static str, Preset); 2] =
        [("hipaa", Preset::Hipaa), ("public-use", Preset::PublicUse)];

    /// The age from which on all are one.
    fn top_age(self) -> u32 {
        match self {
            Preset::Hipaa => 90,
            Preset::PublicUse => 85,
        }
    }

    /// What the job file says of it.
    fn about(self) -> &'static str {
        match self {
            Preset::Hipaa => {
                "# Preset hipaa, after the Safe Harbor list: ages over 89 are one, dates are years, postal codes have three digits,\n\
                 # places smaller than a state are not published. CHECK two things that columns do not tell: three-digit ZIP areas of\n\
                 # 20,000 people or fewer must become 000 before, and no other column may hold what the list names (device and\n\
                 # record numbers, photographs, free text)."
            }
            Preset::PublicUse => {
                "# Preset public-use: ages from 85 on are one, dates are years, postal codes have three digits, places smaller than a\n\
                 # state are not published. CHECK that the areas that are left have 100,000 people or more."
            }
        }
    }
}

/// A job file that has not been written yet.
#[derive(Debug)]
pub struct Draft {
    /// The text of the file.
    pub text: String,
    /// Where the release of the job will go, as the file spells it.
    pub release: String,
    /// What it was made from.
    pub profile: Profile,
}

/// Beyond this share of records a missing value is kept as a value of its own rather than dropped with its record.
const MOST_DROPPED: f64 = 0.01;

/// Looks at a table and drafts a job file for it.
pub fn init(options: &InitOptions, progress: &dyn Progress) -> Result<Draft> {
    if options.k == 0 {
        return Err(Error::job("k must be at least 1"));
    }
    // The job needs roles, not sets of columns: pairs show which columns are functions of others, and that is enough.
    let asked = ProfileOptions {
        input: options.input.clone(),
        roles: options.roles.clone(),
        most: Some(2),
        ..ProfileOptions::default()
    };
    let profile = examine(&asked, false, progress)?;
    if !profile.columns.iter().any(|c| c.proposal.role == RoleName::Quasi) {
        return Err(Error::job("no column of this table looks like a quasi-identifier")
            .help("name those that could be linked with other sources with `[columns] role = \"quasi\"`"));
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

/// Words that stand for a missing value where numbers or dates are expected. Without listing them as missing such a column
/// would be text.
pub(super) fn missing_words(column: &ColumnProfile) -> impl Iterator<Item = &str> {
    let numbers = column.kind != ValueKind::Text;
    let words = column.markers.iter().filter(|m| incrowd_core::number::parse_number(&m.text).is_none());
    words.filter(move |_| numbers).map(|marker| marker.text.as_str())
}

/// `people.csv.gz` becomes `people.release.csv`; whatever the format, it stays what it is.
fn release_name(input: &Input) -> String {
    if let Some(address) = input.paths.first().filter(|path| incrowd_engine::is_database(path)) {
        return format!("{}.release.csv", crate::manifest::stem(address));
    }
    let first = input.paths.first().map(|p| p.file_name().unwrap_or_default().to_string_lossy().into_owned());
    let name = first.unwrap_or_default().replace(['*', '?', '[', ']'], "");
    let name = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "csv"));
    let known = incrowd_engine::Format::of_path(Path::new(name)).is_ok();
    let extension = if known { extension.to_lowercase() } else { "csv".to_owned() };
    let stem = if stem.is_empty() { "table" } else { stem };
    format!("{stem}.release.{extension}")
}

/// A path as the job file has to spell it to mean the same file from where the job file lies.
fn path_from(job: &Path, path: &Path) -> Result<String> {
    let beside = job.parent().is_none_or(|parent| parent.as_os_str().is_empty());
    let path = if beside || path.is_absolute() || incrowd_engine::is_database(path) {
        path.to_owned()
    } else {
        std::path::absolute(path).map_err(|e| Error::resources(format!("where are we? {e}")))?
    };
    path.to_str().map(str::to_owned).ok_or_else(|| Error::job("the path of the table is not UTF-8"))
}

/// A TOML string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A key, quoted if it must be.
fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { name.to_owned() } else { quoted(name) }
}

/// What is written behind a column's name.
fn spec(column: &ColumnProfile, as_text: bool, preset: Option<Preset>) -> String {
    let role = column.proposal.role;
    if role != RoleName::Quasi {
        return quoted(role_name(role));
    }
    if let Some(preset) = preset {
        match (column.about, column.generalization) {
            (About::Age, _) if !as_text => {
                return format!("{{ role = \"quasi\", kind = \"numeric\", top = {} }}", preset.top_age());
            }
            (About::PostalCode, Generalization::Known("postal")) => {
                return format!(
                    "{{ role = \"quasi\", hierarchy = \"postal\", min_level = {} }}",
                    column.postal_level
                );
            }
            (_, Generalization::Dates) => {
                let format =
                    column.format.map(|format| format!(", format = \"{format}\"")).unwrap_or_default();
                return format!("{{ role = \"quasi\", hierarchy = \"dates\", min_level = 3{format} }}");
            }
            (About::SmallPlace | About::PostalCode, _) => return quoted("drop"),
            _ => {}
        }
    }
    if !column.levels.is_empty() {
        let names: Vec<String> = column.levels.iter().map(|name| quoted(name)).collect();
        return format!("{{ role = \"quasi\", hierarchy = {{ columns = [{}] }} }}", names.join(", "));
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

/// What a job file says behind the name of a column that is made a quasi-identifier.
pub fn as_quasi(column: &ColumnProfile) -> String {
    let mut own = column.clone();
    own.proposal.role = RoleName::Quasi;
    spec(&own, false, None)
}

/// Control characters in names would end a comment.
fn comment(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A word that is missing in one column and an answer in another cannot be listed: the list is for the whole table.
fn is_answer(profile: &Profile, word: &str) -> bool {
    let texts = profile.columns.iter().filter(|c| c.kind == ValueKind::Text);
    texts.into_iter().any(|c| c.holds_word(word))
}

impl ColumnProfile {
    /// Whether a short word such as `N` is one of the answers of this column.
    fn holds_word(&self, word: &str) -> bool {
        self.short_answers.iter().any(|answer| answer == word)
    }
}

/// The column that says whose record it is: the one that is stated, or of the identifiers of persons with several records the
/// one with fewest values.
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

/// The column of sampling weights: the one that is stated, or the only one that looks like it and has a sound weight in every record.
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

/// From so many quasi-identifiers on hardly anything but `*` is left of a release.
pub const MANY: usize = 12;

/// The sensitive column about which a promise costs least and says most: the one whose most frequent value is the least frequent,
/// if it has values enough to differ and few enough to repeat.
fn best_suited(profile: &Profile) -> Option<(&ColumnProfile, String)> {
    let sensitive = || profile.columns.iter().filter(|c| c.proposal.role == RoleName::Sensitive);
    let present = |column: &ColumnProfile| profile.records.saturating_sub(column.counts.missing).max(1);
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
        "{which}: no value has more than {:.0} % of the records, so that groups can differ.",
        (100.0 * share(best)).ceil()
    );
    Some((best, why))
}

fn render(options: &InitOptions, profile: &Profile, release: &str) -> Result<String> {
    let mut words: Vec<String> = Vec::new();
    let mut kept_as_text: Vec<&str> = Vec::new();
    for column in &profile.columns {
        for word in missing_words(column) {
            if is_answer(profile, word) {
                kept_as_text.push(&column.name);
            } else if !words.iter().any(|w| w == word) && !options.input.missing.iter().any(|w| w == word) {
                words.push(word.to_owned());
            }
        }
    }
    words.sort();
    let mut out = String::new();
    let _ = writeln!(
        out,
        "# Drafted by `incrowd init` from {} records. Read the reasons, change what is wrong, then:\n\
         #   incrowd anonymize {}\n",
        profile.records,
        comment(&options.job.file_name().unwrap_or_default().to_string_lossy())
    );
    let paths = options.input.paths.iter().map(|p| path_from(&options.job, p).map(|p| quoted(&p)));
    let paths = paths.collect::<Result<Vec<_>>>()?;
    let _ = writeln!(out, "[input]");
    match paths.as_slice() {
        // A table in memory has no path yet.
        [] => writeln!(out, "path = \"table.csv\""),
        [path] => writeln!(out, "path = {path}"),
        paths => writeln!(out, "path = [{}]", paths.join(", ")),
    }
    .ok();
    if let Some(delimiter) = options.input.delimiter {
        let text = if delimiter == b'\t' { "tab".to_owned() } else { char::from(delimiter).to_string() };
        let _ = writeln!(out, "delimiter = {}", quoted(&text));
    }
    if let Some(format) = &options.input.format {
        let _ = writeln!(out, "format = {}", quoted(format));
    }
    if let Some(sheet) = &options.input.sheet {
        let _ = writeln!(out, "sheet = {}", quoted(sheet));
    }
    if let Some(decimal) = options.input.decimal {
        let _ = writeln!(out, "decimal = {}", quoted(job::word(&job::DecimalMark::ALL, decimal)));
    }
    if let Some(encoding) = options.input.encoding {
        let _ = writeln!(out, "encoding = {}", quoted(job::word(&job::Encoding::ALL, encoding)));
    }
    let person = person(options, profile);
    if let Some(person) = person {
        let _ = writeln!(
            out,
            "person = {}   # whose record it is: promises count persons, not records",
            quoted(person)
        );
    }
    if let Some(weight) = weight(options, profile).filter(|_| person.is_none()) {
        let _ = writeln!(
            out,
            "weight = {}   # how many people a record stands for; publish_weight = \"group-mean\" in [output] publishes means of groups",
            quoted(weight)
        );
    }
    let missing: Vec<String> = options.input.missing.iter().chain(&words).map(|w| quoted(w)).collect();
    let added = match words.len() {
        0 => String::new(),
        _ => format!(
            "   # {} found among numbers or dates",
            words.iter().map(|w| quoted(w)).collect::<Vec<_>>().join(", ")
        ),
    };
    let _ = writeln!(out, "missing = [{}]{}", missing.join(", "), comment(&added));
    let lost = profile.share_of(profile.incomplete);
    let (word, why) = match profile.incomplete {
        0 => ("drop", "no record lacks a value that matters".to_owned()),
        n if lost > MOST_DROPPED => (
            "keep",
            format!(
                "a missing value is a value of its own; \"drop\" would lose {n} records ({:.1} %)",
                100.0 * lost
            ),
        ),
        n => (
            "drop",
            format!("loses {n} records ({:.2} %); \"keep\" makes missing a value of its own", 100.0 * lost),
        ),
    };
    let _ = writeln!(out, "on_missing = \"{word}\"   # {why}\n");
    let _ = writeln!(out, "[output]\npath = {}\n", quoted(release));
    if profile.sensitive_unique > 0 {
        let share = 100.0 * profile.share_of(profile.sensitive_unique);
        let _ = writeln!(
            out,
            "# {} records ({share:.1} %) are unique on the sensitive columns together: whoever knows those values of a person\n\
             # finds them in the release. Publish fewer of these columns, or give some of them the role quasi.\n",
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
            "# {quasi} columns are quasi-identifiers. With so many, hardly anything but `*` is left of a release. Keep those that\n\
             # somebody else can know of a person; give the others role = \"sensitive\" or \"drop\". `incrowd profile` says which\n\
             # of them make people unique.\n"
        );
    }
    let _ = writeln!(
        out,
        "# identifier, drop: not published. quasi: generalized until nobody stands out.\n\
         # sensitive: published as it is. passthrough: published as it is and protected by nothing.\n[columns]"
    );
    for column in &profile.columns {
        let unsure = if column.proposal.sure { "" } else { "UNSURE: " };
        let _ = writeln!(out, "# {unsure}{}", comment(&column.proposal.reason));
        if let Some(why) = column.code.filter(|_| column.proposal.role == RoleName::Quasi) {
            let _ = writeln!(out, "#   categories, not quantities: {why}");
        }
        for marker in &column.markers {
            let text =
                format!("`{}` probably stands for a missing value ({} records)", marker.text, marker.records);
            let _ = writeln!(out, "#   {}", comment(&text));
        }
        for remark in &column.remarks {
            let _ = writeln!(out, "#   {}", comment(remark));
        }
        let as_text = kept_as_text.contains(&column.name.as_str());
        let _ = writeln!(out, "{} = {}", key(&column.name), spec(column, as_text, options.preset));
    }
    let _ = writeln!(
        out,
        "\n# Whoever looks for a person in the release finds at least {0} {1} that could be theirs.\n\
         [[models]]\nname = \"k-anonymity\"\nk = {0}",
        options.k,
        if person.is_some() { "people, in records" } else { "records" },
    );
    let sensitive = profile.columns.iter().any(|c| c.proposal.role == RoleName::Sensitive);
    match best_suited(profile) {
        Some((column, why)) => {
            let _ = writeln!(
                out,
                "\n# And those records do not all say the same of them. {}\n\
                 # Remove the marks to promise that, too.\n\
                 # [[models]]\n# name = \"l-diversity\"\n# l = 2\n# on = {}",
                comment(&why),
                comment(&quoted(&column.name))
            );
        }
        None if sensitive => {
            let _ = writeln!(
                out,
                "\n# Nearly all records say the same in each sensitive column, so no group can be promised to differ much: a\n\
                 # model such as l-diversity would cost a lot and protect few."
            );
        }
        None => {
            let _ = writeln!(
                out,
                "\n# No column looks sensitive. If one is, give it role = \"sensitive\" and promise that the records of a\n\
                 # group do not all say the same:\n\
                 # [[models]]\n# name = \"l-diversity\"\n# l = 2\n# on = \"the sensitive column\""
            );
        }
    }
    Ok(out)
}
