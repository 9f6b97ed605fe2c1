//! The arguments of every command. Flags that are keys of a job come from [`Keys`]. All other
//! arguments are declared here.

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
    after_help = "\
Exit codes: 0 success, 1 a guarantee does not hold or cannot be reached, 2 error.
Start with:  incrowd demo"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Print the result as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Print only the result
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,

    /// Print the duration of each step on standard error
    #[arg(long, global = true)]
    pub(crate) times: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a release, verify the written file, and publish it only if the guarantees hold
    #[command(after_long_help = ANONYMIZE_EXAMPLES)]
    Anonymize(Box<AnonymizeArgs>),
    /// Check a published table against privacy models
    #[command(after_long_help = VERIFY_EXAMPLES)]
    Verify(VerifyArgs),
    /// Measure the information loss: compare a release with the original
    #[command(after_long_help = MEASURE_EXAMPLES)]
    Measure(MeasureArgs),
    /// Attack a release: measure how much an adversary learns about people
    #[command(after_long_help = ATTACK_EXAMPLES)]
    Attack(AttackArgs),
    /// Build, check and show hierarchies
    Hierarchy(HierarchyArgs),
    /// Explain a model, an algorithm, a metric or an attack: its paper and its limits
    Explain(ExplainArgs),
    /// Create a synthetic table, anonymize it and verify the release
    Demo(DemoArgs),
    /// Describe a table: its columns, how many records are unique, proposed roles
    #[command(after_long_help = PROFILE_EXAMPLES)]
    Profile(ProfileArgs),
    /// Write a job file for a table, with comments that explain each choice
    #[command(after_long_help = INIT_EXAMPLES)]
    Init(InitArgs),
    /// Publish a sequence of batches with one job, and measure what they reveal together
    #[command(after_long_help = BATCHES_EXAMPLES)]
    Batches(BatchesArgs),
    /// Write an HTML report of a release: guarantees, verification, risks and information loss
    #[command(after_long_help = REPORT_EXAMPLES)]
    Report(ReportArgs),
    /// Complete or undo interrupted publications in these directories
    Recover(RecoverArgs),
    /// Compare algorithms, models and parameters on a table by risk and information loss
    #[command(after_long_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Start the browser interface, on this machine only
    #[command(after_long_help = SERVE_EXAMPLES)]
    Serve(ServeArgs),
    /// Print the completion script of a shell
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

The server listens on 127.0.0.1 only and refuses requests without the token in the address.
Uploaded files stay in a private directory until the server stops (Ctrl-C, or when its terminal
closes).";

const ANONYMIZE_EXAMPLES: &str = "\
Examples:
  incrowd anonymize people.csv --quasi age,sex,zip --sensitive disease -k 10 -o people.release.csv
  incrowd anonymize adult.csv.gz --quasi age,sex,race --hierarchies hierarchies/ -k 5 \\
                    -o adult.parquet
  incrowd anonymize people.csv --quasi age,zip,born --hierarchy zip=mask --hierarchy born=dates \\
                    --hierarchy age=intervals:5 -k 10 -o people.release.csv
  incrowd anonymize job.toml
  incrowd anonymize job.toml --dry-run
  duckdb -csv -c 'from people' | incrowd anonymize - --quasi age,zip -k 10 -o - > release.csv
  incrowd anonymize patients.csv --quasi age,zip --sensitive disease -k 10 \\
                    --external voters.csv --id ssn -o patients.release.csv

A job file can contain all of these settings and more. Flags override the job file:
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
  incrowd verify people.release.csv                          (uses the manifest next to it)
  incrowd verify anything.csv --quasi age,sex,zip -k 10
  incrowd verify people.release.csv --job job.toml
  incrowd verify people.release.csv --original people.csv    (for plain-k-anonymity)
  incrowd verify patients.release.csv --original patients.csv --external voters.csv --id ssn";

const MEASURE_EXAMPLES: &str = "\
Examples:
  incrowd measure people.csv people.release.csv --job job.toml
  incrowd measure people.csv people.release.csv --quasi age,zip --hierarchy zip=mask
  incrowd measure people.csv people.release.csv --job job.toml --pairs --target income
  incrowd measure people.csv people.release.csv --job job.toml --only query_error \\
                  --queries 5000 --selectivity 0.01";

const ATTACK_EXAMPLES: &str = "\
Examples:
  incrowd attack people.release.csv                          (uses the manifest next to it)
  incrowd attack people.release.csv --limit prosecutor=0.1 --limit homogeneity=0
  incrowd attack people.release.csv --job job.toml --population everybody.csv \\
                 --external voters.csv
  incrowd attack anything.csv --quasi age,sex,zip --sensitive income --epsilon income=5% \\
                 --details risks.csv

A limit applies to the worst risk (prosecutor, journalist), the average risk (marketer) or the
share of people at risk (all other attacks). Add .worst, .average or .share to choose:
--limit homogeneity.worst=0.9";

const PROFILE_EXAMPLES: &str = "\
Examples:
  incrowd profile people.csv
  incrowd profile people.csv --quasi age,sex,zip --sampling-fraction 0.1
  incrowd profile people.csv --share 0 --max-columns 2       (sets with a unique record)
  incrowd profile people.csv --share 1                       (sets that are keys)
  incrowd profile people.csv --quasi age,education --outliers on=income,p=0.9,d=0.85

Only the numbers of records and columns may be published. The rest is for the data owner only.";

const INIT_EXAMPLES: &str = "\
Examples:
  incrowd init people.csv
  incrowd init people.csv -o people.toml -k 10 --sensitive disease
  incrowd anonymize people.toml";

const BATCHES_EXAMPLES: &str = "\
Examples:
  incrowd batches day-*.csv --job job.toml --dir releases
  incrowd batches week-1.csv week-2.csv --quasi age,zip --sensitive disease \\
                  --suppression r-suppression:l=6 --dir releases

The exit code is 1 if a batch could not be published.";

const REPORT_EXAMPLES: &str = "\
Examples:
  incrowd report people.release.csv -o report.html           (uses the manifest next to it)
  incrowd report people.release.csv --original people.csv -o report.html --owner owner.html
  incrowd report people.release.csv --job job.toml -o report.html --owner owner.html
  incrowd anonymize job.toml --report report.html --owner-report owner.html

The public page may be published. Statements about the original are only on the owner's page,
which must not be published. The exit code is 1 if a guarantee does not hold.";

const COMPARE_EXAMPLES: &str = "\
Examples:
  incrowd compare people.csv --quasi age,sex,zip --sensitive disease -o comparison
  incrowd compare people.csv --quasi age,zip --sensitive disease \\
                  --algorithms mondrian,top-down --k 2,5,10 \\
                  --models k-anonymity,l-diversity:l=2 -o comparison
  incrowd compare job.toml                                   (uses its [compare] section)

A model without a parameter k is combined with k-anonymity. l-diversity:l=2|3 tries both values.
l-diversity:l=2+t-closeness:t=0.3 requires both models. Finished results are kept: run the same
command again to continue. All results are for the data owner only.";

#[derive(Debug, Args)]
pub(crate) struct AnonymizeArgs {
    /// The table (csv, csv.gz, csv.zst, parquet, arrow), several files, a pattern or a directory as
    /// one table, `-` for standard input, or a job file (.toml)
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Run everything in memory and print the report; write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Print all details: the loss of every column, intervals, the full report of the algorithm
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

    /// The table the release was made from [default: the input of --job]. plain-k-anonymity needs
    /// it. For anatomy and after a suppression step it is checked that every published record
    /// comes from it. With --external it is checked that the rows of a k-join-anonymous release
    /// contain the people of both tables
    #[arg(
        long,
        value_name = "TABLE",
        value_hint = ValueHint::FilePath,
        help_heading = "Privacy models"
    )]
    pub(crate) original: Option<PathBuf>,

    /// The key the manifest must be signed with (`anonymize --sign`). The check fails without a
    /// valid signature
    #[arg(
        long,
        value_name = "KEYFILE",
        value_hint = ValueHint::FilePath,
        help_heading = "Privacy models"
    )]
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

/// The measures to compute, the query workload and the target column.
#[derive(Debug, Args)]
pub(crate) struct UtilityArgs {
    /// Only these measures (see `incrowd explain`)
    #[arg(long, value_name = "NAMES", value_delimiter = ',', help_heading = "Measures")]
    pub(crate) only: Vec<String>,

    /// Also measure every pair of columns
    #[arg(long, help_heading = "Measures")]
    pub(crate) pairs: bool,

    /// The number of random count queries
    #[arg(long, value_name = "N", default_value_t = 1000, help_heading = "Measures",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) queries: u32,

    /// The seed of the queries and the sample; equal seeds give equal results
    #[arg(long, value_name = "SEED", default_value_t = 1, help_heading = "Measures")]
    pub(crate) seed: u64,

    /// The share of the records a query selects if the values are evenly distributed
    #[arg(long, value_name = "SHARE", default_value_t = 0.05, help_heading = "Measures")]
    pub(crate) selectivity: f64,

    /// The number of quasi-identifiers a query has ranges on
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

    /// Show every attack with all its results, not only the most important ones
    #[arg(long)]
    pub(crate) all: bool,

    /// A table of people with names or other details
    #[arg(long, value_name = "TABLE", value_hint = ValueHint::FilePath, help_heading = "Adversary")]
    pub(crate) external: Option<PathBuf>,

    /// Another release about some of the same people
    #[arg(
        long,
        value_name = "RELEASE",
        value_hint = ValueHint::FilePath,
        help_heading = "Adversary"
    )]
    pub(crate) second: Option<PathBuf>,

    /// The table the release was made from [default: the input of --job], for attacks on outliers
    /// and for an adversary who knows how often each sensitive value occurs in it
    #[arg(long, value_name = "TABLE", value_hint = ValueHint::FilePath, help_heading = "Adversary")]
    pub(crate) original: Option<PathBuf>,

    /// The definition of an outlier, as parameters of plain-k-anonymity: p=0.8,d=0.85 [default:
    /// from the manifest]
    #[arg(long, value_name = "PARAMETERS", help_heading = "Adversary")]
    pub(crate) outliers: Option<String>,

    /// How close a guess of a number must be to count as correct: income=500, or income=5% of the
    /// guess; may be repeated
    #[arg(long, value_name = "COLUMN=AMOUNT", help_heading = "Adversary")]
    pub(crate) epsilon: Vec<String>,

    /// The suppression step, if it is not in the manifest: r-suppression:l=6,on=disease
    #[arg(long, value_name = "METHOD", help_heading = "Adversary")]
    pub(crate) suppression: Option<String>,

    /// The number of records before the suppression step
    #[arg(long, value_name = "N", help_heading = "Adversary", conflicts_with = "original")]
    pub(crate) original_size: Option<u64>,

    /// The attacks to run [default: all that apply]
    #[arg(long, value_name = "ATTACKS", value_delimiter = ',', help_heading = "Judging")]
    pub(crate) only: Vec<String>,

    /// The risk from which a person counts as at risk: homogeneity=0.8; may be repeated (see
    /// `incrowd explain homogeneity`)
    #[arg(long, value_name = "ATTACK=VALUE", help_heading = "Judging")]
    pub(crate) threshold: Vec<String>,

    /// A limit on the risk; the exit code is 1 if it is exceeded: prosecutor=0.1; may be repeated
    #[arg(long, value_name = "ATTACK=VALUE", help_heading = "Judging")]
    pub(crate) limit: Vec<String>,

    /// Write every released row with its risks to a CSV file and print the groups with the highest
    /// risk; both must not be published
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) details: Option<PathBuf>,

    /// Replace the file of --details if it exists
    #[arg(long)]
    pub(crate) replace: bool,

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
        /// Replace the file if it exists
        #[arg(long)]
        replace: bool,
    },
    /// Check a hierarchy file; every finding names its line, and an error gives exit code 1
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
        /// The hierarchy file; with --table also a value of `hierarchy build --kind`
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// A table with the values to build the hierarchy from
        #[arg(long, value_name = "TABLE", value_hint = ValueHint::FilePath, requires = "column")]
        table: Option<PathBuf>,
        /// The column of the table
        #[arg(long, value_name = "COLUMN", requires = "table")]
        column: Option<String>,
        /// The number of levels below the root to show
        #[arg(long, value_name = "LEVELS", default_value_t = 3)]
        depth: usize,
        /// The number of children of a node to show
        #[arg(long, value_name = "N", default_value_t = 12)]
        most: usize,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// A model, algorithm, metric or attack [default: list all of them]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RecoverArgs {
    /// Directories, or releases in them
    #[arg(value_name = "DIRECTORY", default_value = ".", value_hint = ValueHint::DirPath)]
    pub(crate) places: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The table to open
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath)]
    pub(crate) table: Option<PathBuf>,

    /// The port; 0 selects a free port
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,

    /// Print the address only, do not open the browser
    #[arg(long)]
    pub(crate) no_open: bool,

    /// The largest file that may be uploaded, in MiB
    #[arg(long, value_name = "MIB", default_value_t = incrowd_web::DEFAULT_MAX_UPLOAD >> 20,
          value_parser = clap::value_parser!(u64).range(1..1 << 40))]
    pub(crate) max_upload: u64,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The number of synthetic people
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) rows: u64,

    /// The seed; equal seeds give equal tables
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,

    /// The smallest number of records in a group
    #[arg(short, default_value_t = 10, value_parser = clap::value_parser!(i64).range(1..))]
    pub(crate) k: i64,

    /// The table to create: census, skewed or salaries
    #[arg(long, default_value = "census")]
    pub(crate) table: String,

    /// The directory of the files
    #[arg(
        long,
        value_name = "DIR",
        default_value = "incrowd-demo",
        value_hint = ValueHint::DirPath
    )]
    pub(crate) dir: PathBuf,

    /// Create only the table, its hierarchies and the job file
    #[arg(long)]
    pub(crate) data_only: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    /// The table (csv, csv.gz, csv.zst, parquet, arrow), several files or a pattern as one table
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath, required = true)]
    pub(crate) tables: Vec<PathBuf>,

    /// Show every column and every set, not only the most important ones
    #[arg(long)]
    pub(crate) all: bool,

    /// The quasi-identifiers on which uniqueness is measured [default: those the profile proposes]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) quasi: Vec<String>,

    /// Profile only these columns
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) columns: Vec<String>,

    /// The share of records that must be unique on a set of columns: 0 means at least one record, 1
    /// means all records
    #[arg(long, value_name = "SHARE", default_value_t = incrowd::profile::DEFAULT_SHARE)]
    pub(crate) share: f64,

    /// The largest number of columns in a set [default: 3, fewer for very large tables]
    #[arg(long, value_name = "N")]
    pub(crate) max_columns: Option<usize>,

    /// The number of people in the population the table is a sample of
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "sampling_fraction",
        help_heading = "Population"
    )]
    pub(crate) population_size: Option<u64>,

    /// The share of the population that is in the table
    #[arg(long, value_name = "F", help_heading = "Population")]
    pub(crate) sampling_fraction: Option<f64>,

    /// Also count outliers; takes parameters of plain-k-anonymity: on=income,p=0.8,d=0.85
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
    #[arg(
        long,
        short,
        value_name = "FILE",
        default_value = "job.toml",
        value_hint = ValueHint::FilePath
    )]
    pub(crate) output: PathBuf,

    /// The smallest number of records in a group
    #[arg(short, value_name = "K", default_value_t = 5,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) k: u64,

    /// A published rule to follow: hipaa (ages over 89 form one value, dates become years, postal
    /// codes have three digits, no place is smaller than a state) or public-use (like hipaa, but
    /// ages from 85 on form one value)
    #[arg(long, value_name = "RULE", value_parser = preset)]
    pub(crate) preset: Option<incrowd::profile::Preset>,

    /// Replace the job file if it exists
    #[arg(long, alias = "replace")]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) keys: Keys<{ On::Init as usize }>,
}

/// Returns the preset with the given name.
fn preset(name: &str) -> Result<incrowd::profile::Preset, String> {
    let known = incrowd::profile::Preset::ALL;
    let preset = known.iter().find(|(known, _)| *known == name).map(|(_, preset)| *preset);
    preset.ok_or_else(|| format!("expected {}", known.map(|(name, _)| name).join(" or ")))
}

#[derive(Debug, Args)]
pub(crate) struct BatchesArgs {
    /// The batches in order, one table each
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath, required = true)]
    pub(crate) tables: Vec<PathBuf>,

    /// The directory of the releases
    #[arg(long, value_name = "DIR", default_value = "releases", value_hint = ValueHint::DirPath)]
    pub(crate) dir: PathBuf,

    /// Also join each release with the previous one, as if people were in both
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

    /// The page that may be published [default: next to the release, people.report.html]
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// The page for the data owner only; it needs the original
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) owner: Option<PathBuf>,

    /// Replace existing files that are not reports of incrowd
    #[arg(long)]
    pub(crate) replace: bool,

    /// The table the release was made from, to measure the loss [default: the input of --job]
    #[arg(long, value_name = "TABLE", value_hint = ValueHint::FilePath)]
    pub(crate) original: Option<PathBuf>,

    /// The column to predict [default: the first sensitive column with 2 to 32 values]
    #[arg(long, value_name = "COLUMN", help_heading = "Measures")]
    pub(crate) target: Option<String>,

    /// The seed of the queries and the sample; equal seeds give equal results
    #[arg(long, value_name = "SEED", default_value_t = 1, help_heading = "Measures")]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) keys: Keys<{ On::Report as usize }>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The table (csv, csv.gz, csv.zst, parquet, arrow), several files or a pattern as one table,
    /// or a job file (.toml)
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) keys: Keys<{ On::Compare as usize }>,
}
