//! Every text that pages show, in one place, so that others can translate them. What models, algorithms, attacks and keys are is
//! said by their cards and is the same everywhere.

use incrowd::job::RoleName;
use incrowd_report::percent;

use crate::pages::Step;
use crate::steps::File;
use crate::tasks::Kind;

pub(crate) const LANGUAGE: &str = "en";

// The frame.
pub(crate) const SKIP: &str = "Skip to the content";
pub(crate) const STEPS: &str = "Steps";
pub(crate) const FOOTER: &str = "These pages are on this machine only and fetch nothing. They show people who are not protected yet: \
    they are for the owner of the data. The server stops with Ctrl-C in its terminal.";
pub(crate) const GONE: &str = "The server does not answer.";
pub(crate) const GONE_MORE: &str = "Start it again with incrowd serve and open the address it shows. Files that were written are \
    still there.";
pub(crate) const GO_ON: &str = "Go on";
pub(crate) const STRANGER: &str =
    "Open the address that the terminal shows. It has a token, without which nobody gets in.";
pub(crate) const WRONG_HOST: &str = "Open the address that the terminal shows.\n";
pub(crate) const WRONG_ORIGIN: &str = "This did not come from a page of this server.\n";
pub(crate) const NOTHING: &str = "There is nothing here";
pub(crate) const NOTHING_MORE: &str =
    "The server may have been started anew since: tables and jobs are kept as long as it runs.";
pub(crate) const TO_THE_START: &str = "To the start";
pub(crate) const BACK: &str = "Back";
pub(crate) const ON: &str = "Next:";
pub(crate) const SAVE: &str = "Save";
pub(crate) const YES: &str = "yes";
pub(crate) const NO: &str = "no";
pub(crate) const OF: &str = "of";
pub(crate) const NUMBERS: &str = "The numbers";
pub(crate) const BEFORE: &str = "before";
pub(crate) const AFTER: &str = "after";

// Errors and work.
pub(crate) const NOT_POSSIBLE: &str = "That does not work";
pub(crate) const WHAT_WOULD_WORK: &str = "What would work:";
pub(crate) const IN_THE_JOB: &str = "In the job it is";
pub(crate) const STOP: &str = "Stop";
pub(crate) const STOPPED: &str = "This was stopped.";
pub(crate) const START_AGAIN: &str = "Start again";

pub(crate) fn working(kind: Kind) -> &'static str {
    match kind {
        Kind::Look => "Looking at the table.",
        Kind::Single => "Searching for what singles people out.",
        Kind::Quick => "Making a quick release.",
        Kind::Release => "Making the release.",
        Kind::Alternatives => "Trying other values of k.",
        Kind::Check => "Attacking and measuring the release.",
        Kind::Compare => "Comparing ways to make it.",
        Kind::Publish => "Making, checking and writing the release.",
    }
}

pub(crate) fn step(step: Step) -> &'static str {
    match step {
        Step::Table => "Table",
        Step::Hierarchies => "Hierarchies",
        Step::Promises => "Promises",
        Step::Release => "Release",
        Step::Check => "Check",
        Step::Publish => "Publish",
    }
}

pub(crate) fn heading(step: Step) -> &'static str {
    match step {
        Step::Table => "What is in this table?",
        Step::Hierarchies => "What may a value be called instead?",
        Step::Promises => "What do you promise?",
        Step::Release => "What would be published?",
        Step::Check => "What could somebody learn from it?",
        Step::Publish => "Write it down",
    }
}

pub(crate) fn lead(step: Step) -> &'static str {
    match step {
        Step::Table => {
            "Look at the role of each column, and change what is wrong. Where it says UNSURE, you know better."
        }
        Step::Hierarchies => {
            "Values of quasi-identifiers are made coarser until nobody stands out. Here is how."
        }
        Step::Promises => {
            "All promises must hold, or nothing is published. They are checked on the bytes of the release."
        }
        Step::Release => "Move k and see what it costs. Nothing is written yet.",
        Step::Check => {
            "The release is attacked as the literature attacks such tables, and asked what it is still good for."
        }
        Step::Publish => {
            "The release is made once more, read back from its file, checked, and only then put in its place."
        }
    }
}

// Open.
pub(crate) const OPEN: &str = "Open a table";
pub(crate) const OPEN_HEADING: &str = "Publish data about people so that nobody in it stands out";
pub(crate) const OPEN_LEAD: &str = "Open a table with one record per line. It stays on this machine.";
pub(crate) const OPEN_IT: &str = "Open";
pub(crate) const OPEN_ALREADY: &str = "Open already";
pub(crate) const BY_PATH: &str = "A file on this machine";
pub(crate) const PATH: &str = "Path";
pub(crate) const PATH_EXAMPLE: &str = "/home/me/people.csv";
pub(crate) const PATH_ABOUT: &str =
    "CSV, also compressed, Parquet, Arrow, Excel. It is read where it is; nothing is copied.";
pub(crate) const BY_UPLOAD: &str = "A file from the browser";
pub(crate) const FILE: &str = "Drop a file here, or choose one";
pub(crate) const BY_DEMO: &str = "People who do not exist";
pub(crate) const OPEN_DEMO: &str = "Open the demo";
pub(crate) const TOO_LARGE_HELP: &str = "open it by its path, which copies nothing";

pub(crate) fn file_about(most: u64) -> String {
    format!("It is kept in a private directory until the server stops. At most {}.", size_of(most))
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
    format!("{people} people with age, place, work and illness, made up. Look around without risk.")
}

// Table.
pub(crate) const RECORDS: &str = "records";
pub(crate) const COLUMNS: &str = "columns";
pub(crate) const QUASI: &str = "quasi-identifiers";
pub(crate) const SENSITIVE: &str = "sensitive columns";
pub(crate) const ROLE: &str = "Role";
pub(crate) const ROLES: &str = "What the roles mean";
pub(crate) const UNSURE: &str = "UNSURE";
pub(crate) const HARDLY_ALIKE: &str = "Hardly two records have the same value.";
pub(crate) const OTHER_VALUES: &str = "other values";
pub(crate) const SINGLED: &str = "What singles people out";
pub(crate) const SINGLED_ABOUT: &str =
    "Whoever knows these values of a person finds the record, and reads the rest of it.";
pub(crate) const WITHOUT: &str = "Which column makes them stand out";
pub(crate) const WITHOUT_ABOUT: &str = "So many of those who are alone would not be without the column.";
pub(crate) const NO_QUASI: &str =
    "No column is a quasi-identifier. Give that role to those that others can know of a person.";
pub(crate) const SETS: &str = "Small sets of columns that single people out";
pub(crate) const ALONE: &str = "records alone";
pub(crate) const SHARE: &str = "share";

pub(crate) fn role(role: RoleName) -> &'static str {
    match role {
        RoleName::Identifier => "Identifier",
        RoleName::Quasi => "Quasi-identifier",
        RoleName::Sensitive => "Sensitive",
        RoleName::Passthrough => "Published as it is",
        RoleName::Drop => "Left out",
    }
}

pub(crate) fn role_about(role: RoleName) -> &'static str {
    match role {
        RoleName::Identifier => "Names a person, such as a name or a number. Never published.",
        RoleName::Quasi => {
            "Others can know it of a person, such as age or place. Made coarser until nobody stands out."
        }
        RoleName::Sensitive => {
            "Nobody should learn it about a person, such as an illness. Published as it is, protected by promises."
        }
        RoleName::Passthrough => "Published as it is, and protected by nothing.",
        RoleName::Drop => "Not published.",
    }
}

pub(crate) fn proposed(role: &str) -> String {
    format!("Proposed was: {role}.")
}

pub(crate) fn values(distinct: u64, missing: u64) -> String {
    let thousands = incrowd::core::text::thousands;
    let values = if distinct == 1 { "1 value".to_owned() } else { format!("{} values", thousands(distinct)) };
    if missing > 0 { format!("{values}, {} missing", thousands(missing)) } else { values }
}

pub(crate) fn glimpse_label(name: &str, distinct: u64) -> String {
    format!("How often the values of {name} occur, {distinct} in all")
}

pub(crate) fn alone(alone: &str, records: &str, share: &str) -> String {
    format!("{alone} of {records} records ({share}) are the only one with their quasi-identifiers.")
}

// Hierarchies.
pub(crate) const OUTLINE: &str = "All names";
pub(crate) const WAYS: &str = "How it is made coarser";
pub(crate) const USE: &str = "Use this";
pub(crate) const WAY_PLAIN: &str = "As the records lie: ranges of numbers, sets of values";
pub(crate) const WAY_INTERVALS: &str = "Intervals, each level twice as wide";
pub(crate) const WIDTH: &str = "Width";
pub(crate) const LEVELS: &str = "Levels";
pub(crate) const WAY_CUTS: &str = "Intervals cut at these numbers";
pub(crate) const CUTS: &str = "Cuts, such as 18, 30, 65";
pub(crate) const WAY_MASK: &str = "Masked from the right: 02139, 0213*, 021**";
pub(crate) const WAY_MASK_LEFT: &str = "Masked from the left: 02139, *2139, **139";
pub(crate) const WAY_DATES: &str = "Dates: day, month, quarter, year, decade";
pub(crate) const WAY_BANDS: &str = "Values that are intervals already, joined with their neighbours";
pub(crate) const WAY_AGES: &str = "Ages: five years, ten years, stages of life";
pub(crate) const WAY_MDR: &str = "Regular intervals that follow from the range of the column";
pub(crate) const WAY_TREE: &str = "A tree of your own";
pub(crate) const LINES: &str = "One line per value, from fine to coarse";
pub(crate) const LINES_ABOUT: &str =
    "write one line per value, value;coarser;coarser still;*, all with as many parts, the last one the same";
pub(crate) const LINES_FILE: &str = "Or take the lines from a file";
pub(crate) const LIMITS_OF_COLUMN: &str = "Limits and weight of this column";

pub(crate) fn tree(values: u32, levels: usize) -> String {
    format!("{values} values, {levels} levels above them. Widest above, the values themselves below.")
}

pub(crate) fn plain_about(numbers: bool) -> &'static str {
    match numbers {
        true => {
            "No hierarchy: a group is published with the range of its numbers, such as [20, 40], cut where the records lie."
        }
        false => "No hierarchy: a group is published with the set of its values, such as {Mexico, Peru}.",
    }
}

pub(crate) fn icicle_label(column: &str, values: u32, levels: usize) -> String {
    format!("The hierarchy of {column}: {levels} levels from everything down to {values} values")
}

pub(crate) fn levels_hidden(levels: usize) -> String {
    match levels {
        1 => "The finest level has too many parts to be drawn.".to_owned(),
        n => format!("The {n} finest levels have too many parts to be drawn."),
    }
}

pub(crate) fn and_more(n: usize) -> String {
    format!("and {n} more")
}

// Promises.
pub(crate) const NO_PROMISE: &str = "Nothing is promised yet. Add a promise below.";
pub(crate) const WHO_COUNTS: &str = "Records, persons and what is missing";
pub(crate) const HOW_MADE: &str = "How the release is made";
pub(crate) const OPTIONS_OF: &str = "Options of";
pub(crate) const ADD_HEADING: &str = "Add a promise";
pub(crate) const ADD_ABOUT: &str =
    "k-anonymity hides who is who. The others are about what can be learned all the same.";
pub(crate) const ADD: &str = "Add";
pub(crate) const REMOVE: &str = "Remove";
pub(crate) const NOT_PROMISED: &str = "What it does not promise";
pub(crate) const NEEDS_POPULATION: &str =
    "Needs sampling weights, or a population table, which only a job file can name.";
pub(crate) const NOT_SAID: &str = "not said";
pub(crate) const NO_COLUMN: &str = "no column";
pub(crate) const K_SLIDER: &str = "k, from 2 to 100";

pub(crate) fn usual(default: &str) -> String {
    format!("as usual: {default}")
}

pub(crate) fn k_says(k: u64) -> String {
    format!("Whoever looks for a person finds at least {k} records that could be theirs.")
}

// Release.
pub(crate) const TO_PROMISES: &str = "Go to the promises";
pub(crate) const MAKE: &str = "Make it";
pub(crate) const QUICK: &str = "A quick look.";
pub(crate) const QUICK_ABOUT: &str =
    "Made by a fast algorithm. The one that loses least is still at work; this page follows it.";
pub(crate) const PUBLISHED: &str = "records published";
pub(crate) const NOT_PUBLISHED: &str = "left out";
pub(crate) const GROUPS: &str = "groups";
pub(crate) const SMALLEST: &str = "smallest group";
pub(crate) const LOST: &str = "information lost";
pub(crate) const ALONE_BEFORE: &str = "alone before";
pub(crate) const HOLDS: &str = "holds, checked on the bytes.";
pub(crate) const SIZES: &str = "How many look alike";
pub(crate) const SIZES_ABOUT: &str =
    "Share of the records by how many records look like them in every quasi-identifier.";
pub(crate) const LOSS: &str = "What each column lost";
pub(crate) const LOSS_ABOUT: &str =
    "0 % if every value is published as it is, 100 % if the cells say nothing (NCP).";
pub(crate) const SAMPLE: &str = "Some records, before and after";
pub(crate) const SAMPLE_ABOUT: &str =
    "Only you see this. The release is shuffled, and says nowhere which record was which.";
pub(crate) const ALTERNATIVES: &str = "What if k were another?";
pub(crate) const ALTERNATIVES_ABOUT: &str = "All made quickly, so that they compare.";
pub(crate) const TAKE: &str = "Take";
pub(crate) const CHOSEN: &str = "chosen";
pub(crate) const COMPARE: &str = "Other ways to make it";
pub(crate) const COMPARE_ABOUT: &str =
    "Tries several algorithms and values of k, and draws what each risks and costs.";
pub(crate) const COMPARE_START: &str = "Compare";
pub(crate) const FRONTIER: &str = "Risk against loss";
pub(crate) const FRONTIER_ABOUT: &str = "Filled marks are the best for their risk. Choose one to take it.";
pub(crate) const FRONTIER_LABEL: &str =
    "Configurations by worst risk of being found and information lost; each is a link";
pub(crate) const FRONTIER_ACROSS: &str = "worst chance of being found";
pub(crate) const ALGORITHM: &str = "algorithm";
pub(crate) const PROMISE: &str = "promise";
pub(crate) const TIME: &str = "time";

pub(crate) fn verdict_more(algorithm: &str, seconds: &str, quick: bool) -> String {
    let quick = if quick { " This is the quick look." } else { "" };
    format!("Made by {algorithm} and checked in {seconds}.{quick}")
}

pub(crate) fn size(low: u64, high: u64) -> String {
    match (low, high) {
        (1, 1) => "alone".to_owned(),
        (low, u64::MAX) => format!("{low} or more"),
        (low, high) => format!("{low} to {high}"),
    }
}

/// A chance as one in so many.
pub(crate) fn one_in(chance: f64) -> String {
    if chance > 0.0 { format!("1/{:.0}", 1.0 / chance) } else { "0".to_owned() }
}

pub(crate) fn configuration(algorithm: &str, models: &str, loss: f64, smallest: u64) -> String {
    format!("{algorithm}, {models}: {} lost, smallest group {smallest}", percent(loss))
}

// Check.
pub(crate) const ATTACKS_FAIL: &str = "No attack that ran gets far.";
pub(crate) const ATTACKS_SUCCEED: &str = "The promises hold, and yet something can be learned.";
pub(crate) const ATTACKS: &str = "Attacks";
pub(crate) const ATTACKS_ABOUT: &str =
    "By somebody who has the release and knows the quasi-identifiers of the people in it.";
pub(crate) const RISKS: &str = "Risk of each attack";
pub(crate) const ATTACK: &str = "attack";
pub(crate) const WORST: &str = "worst";
pub(crate) const AVERAGE: &str = "average";
pub(crate) const AT_RISK: &str = "at risk";
pub(crate) const AT_RISK_IF: &str = "at risk if";
pub(crate) const WHAT_ATTACKS_ARE: &str = "What each attack is";
pub(crate) const NOT_RUN: &str = "Attacks that did not run, and why";
pub(crate) const UTILITY: &str = "What it is still good for";
pub(crate) const UTILITY_ABOUT: &str = "Measured beside the original.";
pub(crate) const OWNER_ONLY: &str = "For the data owner only";

// Publish.
pub(crate) const WRITE: &str = "Where it goes";
pub(crate) const FOLDER: &str = "Folder";
pub(crate) const FOLDER_ABOUT: &str = "On this machine. Made if it is not there.";
pub(crate) const FILE_NAME: &str = "File";
pub(crate) const FILE_NAME_ABOUT: &str =
    "The ending tells the format: .csv, .csv.gz, .parquet, .arrow. The manifest lies beside it.";
pub(crate) const PUBLIC_PAGE: &str = "A page about it that may be published";
pub(crate) const OWNER_PAGE: &str = "A page for you alone, with the original beside it";
pub(crate) const HOW_WRITTEN: &str = "How it is written";
pub(crate) const WRITE_NOW: &str = "Make, check and write";
pub(crate) const WRITTEN: &str = "Written, read back and checked.";
pub(crate) const CHECK_AGAIN: &str = "Anybody can check it again:";
pub(crate) const JOB: &str = "The job file";
pub(crate) const JOB_ABOUT: &str = "All that was chosen here. It gives the same release again:";
pub(crate) const DOWNLOAD_JOB: &str = "Save the job file";
pub(crate) const SHOW_JOB: &str = "Show the job file";
pub(crate) const UPLOAD_JOB: &str = "The job file expects your table beside it.";

pub(crate) fn file(file: File) -> &'static str {
    match file {
        File::Release => "the release",
        File::Manifest => "its manifest, which belongs to it",
        File::Public => "the page that may be published",
        File::Owner => "the page for you alone: do not publish it",
        File::Job => "the job file",
        File::Table => "the made-up people it was made from",
    }
}
