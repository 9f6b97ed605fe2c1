//! All texts of the pages, in one place, so that they can be translated. Descriptions of models,
//! algorithms, attacks and keys come from their cards.

use incrowd::job::RoleName;
use incrowd_report::percent;

use crate::pages::Step;
use crate::steps::File;
use crate::tasks::Kind;

pub(crate) const LANGUAGE: &str = "en";

// The frame.
pub(crate) const SKIP: &str = "Skip to the content";
pub(crate) const STEPS: &str = "Steps";
pub(crate) const FOOTER: &str = "These pages are on this machine only and load nothing from other \
    hosts. They show people who are not protected yet and are for the data owner only. Ctrl-C in \
    the terminal stops the server.";
pub(crate) const GONE: &str = "The server does not answer.";
pub(crate) const GONE_MORE: &str = "Start it again with incrowd serve. Written files still exist.";
pub(crate) const STRANGER: &str = "The address in the terminal works once. To connect again, open \
    the file open.html, whose path is shown below the address.";
pub(crate) const WRONG_HOST: &str = "Open the address in the terminal.\n";
pub(crate) const FAILED: &str = "incrowd failed";
pub(crate) const FAILED_MORE: &str = "This is a bug in incrowd. The terminal shows its location. \
    The server is still running, and its tables are still open.";
pub(crate) const WRONG_ORIGIN: &str = "The request does not come from a page of this server.\n";
pub(crate) const NOTHING: &str = "Page not found";
pub(crate) const NOTHING_MORE: &str =
    "Tables and jobs are kept until the server stops. It may have been restarted.";
pub(crate) const TO_THE_START: &str = "Start page";
pub(crate) const BACK: &str = "Back";
pub(crate) const ON: &str = "Next:";
pub(crate) const SAVE: &str = "Save";
pub(crate) const YES: &str = "yes";
pub(crate) const NO: &str = "no";
pub(crate) const OF: &str = "of";
pub(crate) const NUMBERS: &str = "Numbers";
pub(crate) const BEFORE: &str = "before";
pub(crate) const AFTER: &str = "after";

// Errors and tasks.
pub(crate) const NOT_POSSIBLE: &str = "This is not possible";
pub(crate) const WHAT_WOULD_WORK: &str = "Help:";
pub(crate) const IN_THE_JOB: &str = "Key in the job file:";
pub(crate) const STOP: &str = "Stop";
pub(crate) const STOPPED: &str = "The task was stopped.";
pub(crate) const START_AGAIN: &str = "Start again";

pub(crate) fn working(kind: Kind) -> &'static str {
    match kind {
        Kind::Inspect => "Reading the table.",
        Kind::Uniqueness => "Searching for unique records.",
        Kind::Quick => "Making a quick release.",
        Kind::Release => "Making the release.",
        Kind::Alternatives => "Trying other values of k.",
        Kind::Check => "Attacking and measuring the release.",
        Kind::Compare => "Comparing algorithms.",
        Kind::Publish => "Making, verifying and writing the release.",
    }
}

pub(crate) fn step(step: Step) -> &'static str {
    match step {
        Step::Table => "Table",
        Step::Hierarchies => "Hierarchies",
        Step::Models => "Privacy models",
        Step::Release => "Release",
        Step::Check => "Check",
        Step::Publish => "Publish",
    }
}

pub(crate) fn heading(step: Step) -> &'static str {
    match step {
        Step::Table => "What is in this table?",
        Step::Hierarchies => "How should values be generalized?",
        Step::Models => "Which privacy models must hold?",
        Step::Release => "What would be published?",
        Step::Check => "What could an adversary learn?",
        Step::Publish => "Publish",
    }
}

pub(crate) fn lead(step: Step) -> &'static str {
    match step {
        Step::Table => {
            "Check the role of each column and correct it where needed. Roles marked UNCERTAIN \
             need your decision."
        }
        Step::Hierarchies => {
            "Values of quasi-identifiers are generalized until each group is large enough."
        }
        Step::Models => {
            "All models must hold, otherwise nothing is published. They are verified on the bytes \
             of the release."
        }
        Step::Release => "Change k and see the information loss. Nothing is written yet.",
        Step::Check => {
            "The release is attacked with methods from the literature, and its utility is measured."
        }
        Step::Publish => {
            "The release is made again, read back from its file, verified, and only then published."
        }
    }
}

// Open.
pub(crate) const OPEN: &str = "Open a table";
pub(crate) const OPEN_HEADING: &str = "Publish data about people so that nobody in it stands out";
pub(crate) const OPEN_LEAD: &str =
    "Open a table with one record per line. It stays on this machine.";
pub(crate) const OPEN_IT: &str = "Open";
pub(crate) const OPEN_ALREADY: &str = "Open tables";
pub(crate) const BY_PATH: &str = "A file on this machine";
pub(crate) const PATH: &str = "Path";
pub(crate) const PATH_EXAMPLE: &str = "/home/me/people.csv";
pub(crate) const PATH_ABOUT: &str =
    "CSV (also compressed), Parquet, Arrow or Excel. The file is read in place, not copied.";
pub(crate) const BY_UPLOAD: &str = "Upload a file";
pub(crate) const FILE: &str = "Drop a file here, or choose one";
pub(crate) const BY_DEMO: &str = "Synthetic people";
pub(crate) const OPEN_DEMO: &str = "Open the demo";
pub(crate) const TOO_LARGE_HELP: &str = "open it by its path instead";

pub(crate) fn file_about(most: u64) -> String {
    format!(
        "The file stays in a private directory until the server stops. At most {}.",
        size_of(most)
    )
}

pub(crate) fn too_large(most: u64) -> String {
    format!("the file is larger than {}", size_of(most))
}

fn size_of(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 30 => format!("{} GiB", b >> 30),
        b if b >= 1 << 20 => format!("{} MiB", b >> 20),
        b => format!("{b} bytes"),
    }
}

pub(crate) fn demo_about(people: &str) -> String {
    format!("A synthetic table of {people} people with age, place, work and illness.")
}

// Table.
pub(crate) const RECORDS: &str = "records";
pub(crate) const COLUMNS: &str = "columns";
pub(crate) const QUASI: &str = "quasi-identifiers";
pub(crate) const SENSITIVE: &str = "sensitive columns";
pub(crate) const ROLE: &str = "Role";
pub(crate) const ROLES: &str = "Meaning of the roles";
pub(crate) const UNCERTAIN: &str = "UNCERTAIN";
pub(crate) const HARDLY_ALIKE: &str = "Almost every record has a different value.";
pub(crate) const OTHER_VALUES: &str = "other values";
pub(crate) const UNIQUENESS: &str = "Unique records";
pub(crate) const UNIQUENESS_ABOUT: &str =
    "An adversary who knows these values of a person finds the record and reads its other values.";
pub(crate) const WITHOUT: &str = "Which columns make records unique";
pub(crate) const WITHOUT_ABOUT: &str =
    "The share of the unique records that would not be unique without the column.";
pub(crate) const NO_QUASI: &str =
    "No column is a quasi-identifier. Give that role to columns that others can know of a person.";
pub(crate) const SETS: &str = "Small sets of columns on which records are unique";
pub(crate) const UNIQUE: &str = "unique records";
pub(crate) const SHARE: &str = "share";

pub(crate) fn role(role: RoleName) -> &'static str {
    match role {
        RoleName::Identifier => "Identifier",
        RoleName::Quasi => "Quasi-identifier",
        RoleName::Sensitive => "Sensitive",
        RoleName::Passthrough => "Published unchanged",
        RoleName::Drop => "Not published",
    }
}

pub(crate) fn role_about(role: RoleName) -> &'static str {
    match role {
        RoleName::Identifier => "Identifies a person, such as a name or a number. Never published.",
        RoleName::Quasi => {
            "Others can know it of a person, such as age or place. Generalized until each group is \
             large enough."
        }
        RoleName::Sensitive => {
            "Others must not learn it about a person, such as an illness. Published unchanged and \
             protected by privacy models."
        }
        RoleName::Passthrough => "Published unchanged and not protected.",
        RoleName::Drop => "Not published.",
    }
}

pub(crate) fn proposed(role: &str) -> String {
    format!("Proposed: {role}.")
}

pub(crate) fn values(distinct: u64, missing: u64) -> String {
    let thousands = incrowd::front_end::core::text::thousands;
    let values = if distinct == 1 {
        "1 value".to_owned()
    } else {
        format!("{} values", thousands(distinct))
    };
    if missing > 0 { format!("{values}, {} missing", thousands(missing)) } else { values }
}

pub(crate) fn glimpse_label(name: &str, distinct: u64) -> String {
    format!("Frequencies of the {distinct} values of {name}")
}

pub(crate) fn unique(unique: &str, records: &str, share: &str) -> String {
    format!("{unique} of {records} records ({share}) are unique on the quasi-identifiers.")
}

// Hierarchies.
pub(crate) const OUTLINE: &str = "All labels";
pub(crate) const WAYS: &str = "Method";
pub(crate) const USE: &str = "Use this";
pub(crate) const WAY_PLAIN: &str = "No hierarchy: ranges of numbers, sets of values";
pub(crate) const WAY_INTERVALS: &str = "Intervals, each level twice as wide";
pub(crate) const WIDTH: &str = "Width";
pub(crate) const LEVELS: &str = "Levels";
pub(crate) const WAY_CUTS: &str = "Intervals cut at these numbers";
pub(crate) const CUTS: &str = "Cuts, such as 18, 30, 65";
pub(crate) const WAY_MASK: &str = "Masked from the right: 02139, 0213*, 021**";
pub(crate) const WAY_MASK_LEFT: &str = "Masked from the left: 02139, *2139, **139";
pub(crate) const WAY_DATES: &str = "Dates: day, month, quarter, year, decade";
pub(crate) const WAY_BANDS: &str =
    "Values that are already intervals, merged with their neighbours";
pub(crate) const WAY_AGES: &str = "Ages: five years, ten years, stages of life";
pub(crate) const WAY_MDR: &str = "Regular intervals that follow from the range of the column";
pub(crate) const WAY_TREE: &str = "A custom hierarchy";
pub(crate) const LINES: &str = "One line per value, from fine to coarse";
pub(crate) const LINES_ABOUT: &str = "write one line per value, from fine to coarse: \
    value;level 1;level 2;*. All lines have the same number of levels and end with the same label";
pub(crate) const LINES_FILE: &str = "Or read the lines from a file";
pub(crate) const LIMITS_OF_COLUMN: &str = "Limits and importance of this column";

pub(crate) fn tree(values: u32, levels: usize) -> String {
    format!("{values} values, {levels} levels above them. The most general level is at the top.")
}

pub(crate) fn plain_about(numbers: bool) -> &'static str {
    match numbers {
        true => {
            "No hierarchy: a group is published with the range of its numbers, such as [20, 40]."
        }
        false => {
            "No hierarchy: a group is published with the set of its values, such as {Mexico, Peru}."
        }
    }
}

pub(crate) fn icicle_label(column: &str, values: u32, levels: usize) -> String {
    format!("The hierarchy of {column}: {levels} levels, {values} values")
}

pub(crate) fn levels_hidden(levels: usize) -> String {
    match levels {
        1 => "The finest level has too many nodes to be drawn.".to_owned(),
        n => format!("The {n} finest levels have too many nodes to be drawn."),
    }
}

pub(crate) fn and_more(n: usize) -> String {
    format!("and {n} more")
}

// Privacy models.
pub(crate) const NO_MODEL: &str = "There is no privacy model yet. Add one below.";
pub(crate) const WHO_COUNTS: &str = "Records, persons and missing values";
pub(crate) const HOW_MADE: &str = "How the release is made";
pub(crate) const OPTIONS_OF: &str = "Options of";
pub(crate) const ADD_HEADING: &str = "Add a privacy model";
pub(crate) const ADD_ABOUT: &str =
    "k-anonymity hides identities. The other models limit what can be learned about a person.";
pub(crate) const ADD: &str = "Add";
pub(crate) const REMOVE: &str = "Remove";
pub(crate) const LIMITS: &str = "Limits of the guarantee";
pub(crate) const NEEDS_POPULATION: &str =
    "Needs sampling weights, or a population table, which only a job file can set.";
pub(crate) const NOT_SET: &str = "Not set";
pub(crate) const NO_COLUMN: &str = "No column";
pub(crate) const K_SLIDER: &str = "k, from 2 to 100";

pub(crate) fn default_value(default: &str) -> String {
    format!("Default ({default})")
}

pub(crate) fn k_about(k: u64) -> String {
    format!("An adversary who looks for a person finds at least {k} records that could match.")
}

// Release.
pub(crate) const TO_MODELS: &str = "Privacy models";
pub(crate) const MAKE: &str = "Make the release";
pub(crate) const QUICK: &str = "Preview.";
pub(crate) const QUICK_ABOUT: &str = "Made by a fast algorithm. The algorithm with the smallest \
    loss is still running; this page will show its result.";
pub(crate) const PUBLISHED: &str = "records published";
pub(crate) const NOT_PUBLISHED: &str = "not published";
pub(crate) const GROUPS: &str = "groups";
pub(crate) const SMALLEST: &str = "smallest group";
pub(crate) const LOST: &str = "information loss";
pub(crate) const UNIQUE_BEFORE: &str = "unique before";
pub(crate) const HOLDS: &str = "holds, verified on the bytes.";
pub(crate) const SIZES: &str = "Group sizes";
pub(crate) const SIZES_ABOUT: &str =
    "Share of the records by the number of records with equal quasi-identifiers.";
pub(crate) const LOSS: &str = "Loss by column";
pub(crate) const LOSS_ABOUT: &str =
    "0 % if every value is published unchanged, 100 % if all cells are suppressed (NCP).";
pub(crate) const SAMPLE: &str = "Some records, before and after";
pub(crate) const SAMPLE_ABOUT: &str =
    "Not part of the release. The release is shuffled and does not show which record was which.";
pub(crate) const ALTERNATIVES: &str = "Other values of k";
pub(crate) const ALTERNATIVES_ABOUT: &str =
    "All made by a fast algorithm, so that they can be compared.";
pub(crate) const TAKE: &str = "Use";
pub(crate) const CHOSEN: &str = "chosen";
pub(crate) const COMPARE: &str = "Other algorithms";
pub(crate) const COMPARE_ABOUT: &str =
    "Tries several algorithms and values of k, and shows the risk and loss of each.";
pub(crate) const COMPARE_START: &str = "Compare";
pub(crate) const FRONTIER: &str = "Risk against loss";
pub(crate) const FRONTIER_ABOUT: &str =
    "Filled marks have the smallest loss for their risk. Click a mark to use it.";
pub(crate) const FRONTIER_LABEL: &str =
    "Configurations by highest re-identification risk and information loss; each is a link";
pub(crate) const FRONTIER_ACROSS: &str = "highest re-identification risk";
pub(crate) const ALGORITHM: &str = "algorithm";
pub(crate) const MODELS: &str = "models";
pub(crate) const TIME: &str = "time";

pub(crate) fn verdict_more(algorithm: &str, seconds: &str, quick: bool) -> String {
    let quick = if quick { " This is the preview." } else { "" };
    format!("Made by {algorithm} and verified in {seconds}.{quick}")
}

pub(crate) fn size(low: u64, high: u64) -> String {
    match (low, high) {
        (1, 1) => "unique".to_owned(),
        (low, u64::MAX) => format!("{low} or more"),
        (low, high) => format!("{low} to {high}"),
    }
}

/// Formats a probability as a fraction: 0.1 is "1/10".
pub(crate) fn one_in(chance: f64) -> String {
    if chance > 0.0 { format!("1/{:.0}", 1.0 / chance) } else { "0".to_owned() }
}

pub(crate) fn configuration(algorithm: &str, models: &str, loss: f64, smallest: u64) -> String {
    format!("{algorithm}, {models}: loss {}, smallest group {smallest}", percent(loss))
}

// Check.
pub(crate) const ATTACKS_FAIL: &str = "No attack succeeds.";
pub(crate) const ATTACKS_SUCCEED: &str = "The guarantees hold, but an attack succeeds.";
pub(crate) const ATTACKS: &str = "Attacks";
pub(crate) const ATTACKS_ABOUT: &str =
    "The adversary has the release and knows the quasi-identifiers of the people in it.";
pub(crate) const RISKS: &str = "Risk of each attack";
pub(crate) const ATTACK: &str = "attack";
pub(crate) const WORST: &str = "worst";
pub(crate) const AVERAGE: &str = "average";
pub(crate) const AT_RISK: &str = "at risk";
pub(crate) const AT_RISK_IF: &str = "at risk if";
pub(crate) const WHAT_ATTACKS_ARE: &str = "Description of the attacks";
pub(crate) const NOT_RUN: &str = "Attacks that did not run";
pub(crate) const UTILITY: &str = "Utility";
pub(crate) const UTILITY_ABOUT: &str = "Measured against the original.";
pub(crate) const OWNER_ONLY: &str = "For the data owner only";

// Publish.
pub(crate) const WRITE: &str = "Output";
pub(crate) const FOLDER: &str = "Folder";
pub(crate) const FOLDER_ABOUT: &str = "On this machine. It is created if it does not exist.";
pub(crate) const FILE_NAME: &str = "File";
pub(crate) const FILE_NAME_ABOUT: &str = "The extension determines the format: .csv, .csv.gz, \
    .parquet, .arrow. The manifest is written into the same folder.";
pub(crate) const PUBLIC_PAGE: &str = "Write a report that may be published";
pub(crate) const OWNER_PAGE: &str =
    "Write a report for the data owner only, which compares with the original";
pub(crate) const HOW_WRITTEN: &str = "Output options";
pub(crate) const WRITE_NOW: &str = "Publish";
pub(crate) const WRITTEN: &str = "Published. The written file was verified.";
pub(crate) const CHECK_AGAIN: &str = "To verify it again:";
pub(crate) const JOB: &str = "The job file";
pub(crate) const JOB_ABOUT: &str = "It contains all settings and makes the same release again:";
pub(crate) const DOWNLOAD_JOB: &str = "Save the job file";
pub(crate) const SHOW_JOB: &str = "Show the job file";
pub(crate) const UPLOAD_JOB: &str = "The job file expects the table in its directory.";

pub(crate) fn file(file: File) -> &'static str {
    match file {
        File::Release => "the release",
        File::Manifest => "the manifest, published with the release",
        File::Public => "the report that may be published",
        File::Owner => "the report for the data owner only: do not publish it",
        File::Job => "the job file",
        File::Table => "the synthetic table",
    }
}
