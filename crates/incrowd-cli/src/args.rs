//! What can be typed. Flags that are keys of a job come from [`Keys`]; what else a command takes is declared here.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;
use incrowd::job::keys::Command as On;

use crate::flags::Keys;

/// Publish person-level data so that nobody in it stands out
#[derive(Debug, Parser)]
#[command(
    name = "incrowd",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done and verified, 1 the promise does not hold or cannot be kept, 2 could not do it.\n\
                  Start with:  incrowd demo"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Print the result as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Print nothing but the result
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,

    /// Say on standard error how long each step took
    #[arg(long, global = true)]
    pub(crate) times: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a release, verify it on its own bytes, and only then put it in place
    #[command(after_long_help = ANONYMIZE_EXAMPLES)]
    Anonymize(Box<AnonymizeArgs>),
    /// Check any published table against models
    #[command(after_long_help = VERIFY_EXAMPLES)]
    Verify(VerifyArgs),
    /// Say what a release cost: original against release
    #[command(after_long_help = MEASURE_EXAMPLES)]
    Measure(MeasureArgs),
    /// Attack a release: what would an adversary learn about whom?
    #[command(after_long_help = ATTACK_EXAMPLES)]
    Attack(AttackArgs),
    /// Build, check and show hierarchies
    Hierarchy(HierarchyArgs),
    /// Explain a model, an algorithm, a metric or an attack: its paper and its limits
    Explain(ExplainArgs),
    /// A tour on made-up people: makes a table, anonymizes it, verifies it
    Demo(DemoArgs),
    /// Say what is in a table, how unique its people are, and which roles its columns should have
    #[command(after_long_help = PROFILE_EXAMPLES)]
    Profile(ProfileArgs),
    /// Write a job file for a table, with the reasons as comments; it runs as it is
    #[command(after_long_help = INIT_EXAMPLES)]
    Init(InitArgs),
    /// Publish a sequence of batches, each under the same rules, and say what they tell together
    #[command(after_long_help = BATCHES_EXAMPLES)]
    Batches(BatchesArgs),
    /// Write a page to look at: what a release promises, keeps, risks and costs
    #[command(after_long_help = REPORT_EXAMPLES)]
    Report(ReportArgs),
    /// Sweep algorithms, models and parameters over a table: what would each risk and cost?
    #[command(after_long_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Go the whole way in a browser, on this machine only
    #[command(after_long_help = SERVE_EXAMPLES)]
    Serve(ServeArgs),
    /// Write completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

const SERVE_EXAMPLES: &str = "\
Examples:
  incrowd serve                       (opens the browser)
  incrowd serve people.csv
  incrowd serve --no-open --port 8080

It listens on 127.0.0.1 only. The address has a token, without which nobody gets in. What is uploaded lies in a private
directory until the server stops, with Ctrl-C or with its terminal.";

const ANONYMIZE_EXAMPLES: &str = "\
Examples:
  incrowd anonymize people.csv --quasi age,sex,zip --sensitive disease -k 10 -o people.release.csv
  incrowd anonymize adult.csv.gz --quasi age,sex,race --hierarchies hierarchies/ -k 5 -o adult.parquet
  incrowd anonymize people.csv --quasi age,zip,born --hierarchy zip=mask --hierarchy born=dates \\
                    --hierarchy age=intervals:5 -k 10 -o people.release.csv
  incrowd anonymize job.toml
  incrowd anonymize job.toml --dry-run
  duckdb -csv -c 'from people' | incrowd anonymize - --quasi age,zip -k 10 -o - > people.release.csv
  incrowd anonymize patients.csv --quasi age,zip --sensitive disease -k 10 --external voters.csv --id ssn \\
                    -o patients.release.csv

A job file says the same and more; flags override it:
  [input]
  path = \"people.csv\"
  [output]
  path = \"people.release.csv\"
  [columns]
  name    = \"identifier\"
  age     = { role = \"quasi\", kind = \"numeric\" }
  zip     = { role = \"quasi\", hierarchy = { mask = {} } }
  disease = \"sensitive\"
  [[models]]
  name = \"k-anonymity\"
  k = 10";

const VERIFY_EXAMPLES: &str = "\
Examples:
  incrowd verify people.release.csv                          (asks the manifest beside it)
  incrowd verify anything.csv --quasi age,sex,zip -k 10
  incrowd verify people.release.csv --job job.toml
  incrowd verify people.release.csv --original people.csv    (for promises about outliers)
  incrowd verify patients.release.csv --original patients.csv --external voters.csv --id ssn";

const MEASURE_EXAMPLES: &str = "\
Examples:
  incrowd measure people.csv people.release.csv --job job.toml
  incrowd measure people.csv people.release.csv --quasi age,zip --hierarchy zip=mask
  incrowd measure people.csv people.release.csv --job job.toml --pairs --target income
  incrowd measure people.csv people.release.csv --job job.toml --only query_error --queries 5000 --selectivity 0.01";

const ATTACK_EXAMPLES: &str = "\
Examples:
  incrowd attack people.release.csv                          (asks the manifest beside it)
  incrowd attack people.release.csv --limit prosecutor=0.1 --limit homogeneity=0
  incrowd attack people.release.csv --job job.toml --population everybody.csv --external voters.csv
  incrowd attack anything.csv --quasi age,sex,zip --sensitive income --epsilon income=5% --details risks.csv

A limit is about the worst risk (prosecutor, journalist), the average (marketer) or the share of people at risk (the
others). Add .worst, .average or .share to choose: --limit homogeneity.worst=0.9";

const PROFILE_EXAMPLES: &str = "\
Examples:
  incrowd profile people.csv
  incrowd profile people.csv --quasi age,sex,zip --sampling-fraction 0.1
  incrowd profile people.csv --share 0 --max-columns 2       (sets that single out at least one record)
  incrowd profile people.csv --share 1                       (sets that are keys)
  incrowd profile people.csv --quasi age,education --outliers on=income,p=0.9,d=0.85

Everything it says but the number of records and columns is for the owner of the data.";

const INIT_EXAMPLES: &str = "\
Examples:
  incrowd init people.csv
  incrowd init people.csv -o people.toml -k 10 --sensitive disease
  incrowd anonymize people.toml";

const BATCHES_EXAMPLES: &str = "\
Examples:
  incrowd batches day-*.csv --job job.toml --dir releases
  incrowd batches week-1.csv week-2.csv --quasi age,zip --sensitive disease --suppression r-suppression:l=6 --dir releases

The exit code is 1 if a batch could not be published.";

const REPORT_EXAMPLES: &str = "\
Examples:
  incrowd report people.release.csv -o report.html           (asks the manifest beside it)
  incrowd report people.release.csv --original people.csv -o report.html --owner owner.html
  incrowd report people.release.csv --job job.toml -o report.html --owner owner.html
  incrowd anonymize job.toml --report report.html --owner-report owner.html

The page may be published. What tells about the original goes onto the owner's page, which may not. The exit code is 1 if
the release does not keep what it promises.";

const COMPARE_EXAMPLES: &str = "\
Examples:
  incrowd compare people.csv --quasi age,sex,zip --sensitive disease -o comparison
  incrowd compare people.csv --quasi age,zip --sensitive disease --algorithms mondrian,top-down --k 2,5,10 \\
                  --models k-anonymity,l-diversity:l=2 -o comparison
  incrowd compare job.toml                                   (what its [compare] says)

A model that does not know k stands beside k-anonymity. l-diversity:l=2|3 tries both; l-diversity:l=2+t-closeness:t=0.3 asks
for both. What is finished is kept: the same command goes on where it was stopped. All results are for the data owner only.";

#[derive(Debug, Args)]
pub(crate) struct AnonymizeArgs {
    /// The table (csv, csv.gz, csv.zst, parquet, arrow), several files, a pattern or a directory as one table, `-` for standard
    /// input, or a job file (.toml)
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Say what would happen and what it would cost; nothing is written
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Tell everything: the cost of every column, intervals, the whole report of the algorithm
    #[arg(long)]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) keys: Keys<{ On::Anonymize as usize }>,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The published table
    #[arg(value_name = "RELEASE", value_hint = ValueHint::FilePath)]
    pub(crate) release: PathBuf,

    /// The table the release was made from: for plain-k-anonymity [default: the input of --job]; after a suppression step and
    /// for anatomy to ask whether everybody published comes from it and was withheld what had to be; and with --external to
    /// ask whether the rows of a k-join-anonymous release are people of both tables and everybody is among them
    #[arg(long, value_name = "TABLE", value_hint = ValueHint::FilePath, help_heading = "Promises")]
    pub(crate) original: Option<PathBuf>,

    /// The key that the manifest must be signed with (`anonymize --sign`): without such a signature the check fails
    #[arg(long, value_name = "KEYFILE", value_hint = ValueHint::FilePath, help_heading = "Promises")]
    pub(crate) check: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) keys: Keys<{ On::Verify as usize }>,
}

#[derive(Debug, Args)]
pub(crate) struct MeasureArgs {
    /// The original table
    #[arg(value_name = "ORIGINAL", value_hint = ValueHint::FilePath)]
    pub(crate) original: PathBuf,

    /// The release
    #[arg(value_name = "RELEASE", value_hint = ValueHint::FilePath)]
    pub(crate) release: PathBuf,

    #[command(flatten)]
    pub(crate) utility: UtilityArgs,

    #[command(flatten)]
    pub(crate) keys: Keys<{ On::Measure as usize }>,
}

/// What to measure, and with which queries and which target.
#[derive(Debug, Args)]
pub(crate) struct UtilityArgs {
    /// Only these measures (see `incrowd explain`)
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Measures")]
    pub(crate) only: Vec<String>,

    /// Measure every pair of columns too
    #[arg(long, help_heading = "Measures")]
    pub(crate) pairs: bool,

    /// How many random count queries to ask
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Measures",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) queries: u32,

    /// Which queries and which sample: the same seed draws the same
    #[arg(long, value_name = "SEED", default_value_t = 1, help_heading = "Measures")]
    pub(crate) seed: u64,

    /// The share of the records a query selects if they lie evenly
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, help_heading = "Measures")]
    pub(crate) selectivity: f64,

    /// How many quasi-identifiers a query has ranges on
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "Measures",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) dimensions: u32,

    /// The column to predict [default: the first sensitive column with 2 to 32 values]
    #[arg(long, value_name = "COLUMN", help_heading = "Measures")]
    pub(crate) target: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AttackArgs {
    /// The published table
    #[arg(value_name = "RELEASE", value_hint = ValueHint::FilePath)]
    pub(crate) release: PathBuf,

    /// Show every attack and everything it found, not only what matters most
    #[arg(long)]
    pub(crate) all: bool,

    /// A table of people with names or other details
    #[arg(long, value_name = "TABLE", value_hint = ValueHint::FilePath, help_heading = "The adversary")]
    pub(crate) external: Option<PathBuf>,

    /// Another release about some of the same people
    #[arg(long, value_name = "RELEASE", value_hint = ValueHint::FilePath, help_heading = "The adversary")]
    pub(crate) second: Option<PathBuf>,

    /// The table the release was made from, for attacks on outliers [default: the input of --job], and for an adversary who
    /// knows the counts of its sensitive values but not whose they are
    #[arg(long, value_name = "TABLE", value_hint = ValueHint::FilePath, help_heading = "The adversary")]
    pub(crate) original: Option<PathBuf>,

    /// What an outlier is, in the parameters of plain-k-anonymity: p=0.8,d=0.85 [default: as the manifest says]
    #[arg(long, value_name = "PARAMETERS", help_heading = "The adversary")]
    pub(crate) outliers: Option<String>,

    /// How near a guess of a number must come: income=500, or income=5% of the guess; may be repeated
    #[arg(long, value_name = "COLUMN=AMOUNT", help_heading = "The adversary")]
    pub(crate) epsilon: Vec<String>,

    /// How records were withheld, if the manifest does not say: r-suppression:l=6,on=disease
    #[arg(long, value_name = "METHOD", help_heading = "The adversary")]
    pub(crate) suppression: Option<String>,

    /// How many records the table had before some were withheld
    #[arg(long, value_name = "N", help_heading = "The adversary", conflicts_with = "original")]
    pub(crate) original_size: Option<u64>,

    /// The attacks to run [default: all that apply]
    #[arg(long, value_name = "ATTACKS", value_delimiter = ',', help_heading = "Judging")]
    pub(crate) only: Vec<String>,

    /// Who counts as at risk: homogeneity=0.8; may be repeated (see `incrowd explain homogeneity`)
    #[arg(long, value_name = "ATTACK=VALUE", help_heading = "Judging")]
    pub(crate) threshold: Vec<String>,

    /// What must not be exceeded, else the exit code is 1: prosecutor=0.1; may be repeated
    #[arg(long, value_name = "ATTACK=VALUE", help_heading = "Judging")]
    pub(crate) limit: Vec<String>,

    /// Write every released row with its risks to a CSV file and show the most exposed groups: not for publication
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) details: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) keys: Keys<{ On::Attack as usize }>,
}

#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct HierarchyArgs {
    #[command(subcommand)]
    pub(crate) command: HierarchyCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HierarchyCommand {
    /// Write the hierarchy of a column as an ARX-style file: one line per value, `value;level1;…;*`
    Build {
        /// The table
        #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath)]
        table: PathBuf,
        /// The column
        column: String,
        #[arg(long, value_name = "HIERARCHY", help = incrowd::job::SHORT_HIERARCHIES)]
        kind: String,
        /// The file [default: standard output]
        #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
        output: Option<PathBuf>,
    },
    /// Check a hierarchy file: every finding names its line; exit code 1 if there is an error
    Lint {
        /// The hierarchy file
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// A table whose values the hierarchy must cover
        #[arg(long, value_name = "TABLE", value_hint = ValueHint::FilePath, requires = "column")]
        table: Option<PathBuf>,
        /// The column of the table
        #[arg(long, value_name = "COLUMN", requires = "table")]
        column: Option<String>,
    },
    /// Show a hierarchy as a tree
    Show {
        /// The hierarchy file; with --table also what `hierarchy build --kind` takes
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// A table whose values the hierarchy is made of
        #[arg(long, value_name = "TABLE", value_hint = ValueHint::FilePath, requires = "column")]
        table: Option<PathBuf>,
        /// The column of the table
        #[arg(long, value_name = "COLUMN", requires = "table")]
        column: Option<String>,
        /// How many levels below the root to show
        #[arg(long, value_name = "LEVELS", default_value_t = 3)]
        depth: usize,
        /// How many children of a node to show
        #[arg(long, value_name = "N", default_value_t = 12)]
        most: usize,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A model, algorithm, metric or attack; without it, all are listed
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// A table to open at once
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath)]
    pub(crate) table: Option<PathBuf>,

    /// The port; 0 is any that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,

    /// Do not open the browser, only say the address
    #[arg(long)]
    pub(crate) no_open: bool,

    /// The largest file that may be uploaded, in MiB
    #[arg(long, value_name = "MIB", default_value_t = incrowd_web::USUAL_MOST_BYTES >> 20, value_parser = clap::value_parser!(u64).range(1..1 << 40))]
    pub(crate) max_upload: u64,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// How many people to make up
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rows: u64,

    /// Which people: the same seed makes the same table
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,

    /// How many records a group has at least
    #[arg(short, default_value_t = 10, value_parser = clap::value_parser!(i64).range(1..))]
    pub(crate) k: i64,

    /// Which table: census, skewed or salaries
    #[arg(long, default_value = "census")]
    pub(crate) table: String,

    /// Where the files go
    #[arg(long, value_name = "DIR", default_value = "incrowd-demo", value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,

    /// Only make the table, its hierarchies and the job file
    #[arg(long)]
    pub(crate) data_only: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    /// The table (csv, csv.gz, csv.zst, parquet, arrow), several files or a pattern as one table
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath, required = true)]
    pub(crate) tables: Vec<PathBuf>,

    /// Show every column and every set, not only what matters most
    #[arg(long)]
    pub(crate) all: bool,

    /// The quasi-identifiers on which uniqueness is measured [default: those the profile proposes]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) quasi: Vec<String>,

    /// Look at these columns only
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,

    /// The share of records that must be unique on a set of columns: 0 is at least one record, 1 is all of them
    #[arg(long, value_name = "SHARE", default_value_t = incrowd::profile::USUAL_SHARE)]
    pub(crate) share: f64,

    /// How many columns such a set has at most [default: 3, fewer for very large tables]
    #[arg(long, value_name = "N")]
    pub(crate) max_columns: Option<usize>,

    /// How many people the population has that the table is a sample of
    #[arg(long, value_name = "N", conflicts_with = "sampling_fraction", help_heading = "Population")]
    pub(crate) population_size: Option<u64>,

    /// Which share of the population the table is
    #[arg(long, value_name = "F", help_heading = "Population")]
    pub(crate) sampling_fraction: Option<f64>,

    /// Count the outliers too, in the parameters of plain-k-anonymity: on=income,p=0.8,d=0.85
    #[arg(long, value_name = "PARAMETERS", help_heading = "Outliers")]
    pub(crate) outliers: Option<String>,

    #[command(flatten)]
    pub(crate) keys: Keys<{ On::Profile as usize }>,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The table (csv, csv.gz, csv.zst, parquet, arrow), several files or a pattern as one table
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath, required = true)]
    pub(crate) tables: Vec<PathBuf>,

    /// The job file
    #[arg(long, short, value_name = "FILE", default_value = "job.toml", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,

    /// How many records a group has at least
    #[arg(short, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) k: u64,

    /// A rule of the field to follow: hipaa (ages over 89 are one, dates are years, three-digit postal codes, no place smaller
    /// than a state), public-use (the same with ages from 85 on)
    #[arg(long, value_name = "RULE", value_parser = preset)]
    pub(crate) preset: Option<incrowd::profile::Preset>,

    /// Replace a job file that is there already
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) keys: Keys<{ On::Init as usize }>,
}

/// A preset by its name.
fn preset(word: &str) -> Result<incrowd::profile::Preset, String> {
    let known = incrowd::profile::Preset::ALL;
    let found = known.iter().find(|(name, _)| *name == word).map(|(_, preset)| *preset);
    found.ok_or_else(|| format!("it takes {}", known.map(|(name, _)| name).join(" or ")))
}

#[derive(Debug, Args)]
pub(crate) struct BatchesArgs {
    /// The batches, one table each, in their order
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath, required = true)]
    pub(crate) tables: Vec<PathBuf>,

    /// Where the releases go
    #[arg(long, value_name = "DIR", default_value = "releases", value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,

    /// Also join each release with the one before it, as if people were in both
    #[arg(long)]
    pub(crate) same_people: bool,

    #[command(flatten)]
    pub(crate) keys: Keys<{ On::Batches as usize }>,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// The published table
    #[arg(value_name = "RELEASE", value_hint = ValueHint::FilePath)]
    pub(crate) release: PathBuf,

    /// Where the page goes that may be published [default: beside the release, people.report.html]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Where the page goes that is for the data owner only; it needs the original
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) owner: Option<PathBuf>,

    /// The table the release was made from, to say what it cost [default: the input of --job]
    #[arg(long, value_name = "TABLE", value_hint = ValueHint::FilePath)]
    pub(crate) original: Option<PathBuf>,

    /// The column to predict [default: the first sensitive column with 2 to 32 values]
    #[arg(long, value_name = "COLUMN", help_heading = "Measures")]
    pub(crate) target: Option<String>,

    /// Which queries and which sample: the same seed draws the same
    #[arg(long, value_name = "SEED", default_value_t = 1, help_heading = "Measures")]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) keys: Keys<{ On::Report as usize }>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The table (csv, csv.gz, csv.zst, parquet, arrow), several files or a pattern as one table, or a job file (.toml)
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) keys: Keys<{ On::Compare as usize }>,
}
