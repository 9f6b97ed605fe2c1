//! What can be typed.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

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
    /// Write completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
}

const ANONYMIZE_EXAMPLES: &str = "\
Examples:
  incrowd anonymize people.csv --quasi age,sex,zip --sensitive disease -k 10 -o people.release.csv
  incrowd anonymize adult.csv.gz --quasi age,sex,race --hierarchies hierarchies/ -k 5 -o adult.parquet
  incrowd anonymize people.csv --quasi age,zip,born --hierarchy zip=mask --hierarchy born=dates \\
                    --hierarchy age=intervals:5 -k 10 -o people.release.csv
  incrowd anonymize job.toml
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

/// Which table, which roles, which hierarchies.
#[derive(Debug, Default, Args)]
pub(crate) struct TableArgs {
    /// The job file
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Job")]
    pub(crate) job: Option<PathBuf>,

    /// Columns that could be linked with other sources
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Columns")]
    pub(crate) quasi: Vec<String>,

    /// Columns nobody should learn about a person
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Columns")]
    pub(crate) sensitive: Vec<String>,

    /// Columns that name a person; never published
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Columns")]
    pub(crate) identifier: Vec<String>,

    /// Columns published as they are
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Columns")]
    pub(crate) passthrough: Vec<String>,

    /// Columns to leave out
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Columns")]
    pub(crate) drop: Vec<String>,

    /// What a column's values are: age=numeric, born=date or zip=text
    #[arg(long, value_name = "COLUMN=KIND", help_heading = "Columns")]
    pub(crate) kind: Vec<String>,

    /// A hierarchy: a file, `mask`, `dates`, intervals:WIDTH, or `mdr` for regular intervals made from the data
    #[arg(long, value_name = "COLUMN=HIERARCHY", help_heading = "Columns")]
    pub(crate) hierarchy: Vec<String>,

    /// A directory of hierarchy files named after their columns (age.csv, adult_hierarchy_age.csv)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, help_heading = "Columns")]
    pub(crate) hierarchies: Option<PathBuf>,

    /// How text without a hierarchy is published: country=set or country=star
    #[arg(long, value_name = "COLUMN=LABELS", help_heading = "Columns")]
    pub(crate) labels: Vec<String>,

    /// The range that counts as a numeric column's whole domain: age=0:120
    #[arg(long, value_name = "COLUMN=LOW:HIGH", help_heading = "Columns")]
    pub(crate) domain: Vec<String>,

    /// How much the loss of a quasi-identifier counts against that of the others, if not 1: age=2
    #[arg(long, value_name = "COLUMN=WEIGHT", help_heading = "Columns")]
    pub(crate) weight: Vec<String>,

    /// A category of a sensitive column's values, most sensitive first: 'disease:Top Secret=HIV,Cancer'
    #[arg(long, value_name = "COLUMN:NAME=VALUES", help_heading = "Columns")]
    pub(crate) category: Vec<String>,

    /// What is published of a sensitive column with categories: disease=value, category or both
    #[arg(long, value_name = "COLUMN=WHAT", help_heading = "Columns")]
    pub(crate) publish_sa: Vec<String>,

    /// Texts that count as missing [default: empty, ?, NA]
    #[arg(long, value_name = "TEXTS", value_delimiter = ',', help_heading = "Reading")]
    pub(crate) missing: Option<Vec<String>>,

    /// What becomes of records with a missing value: drop or keep
    #[arg(long, value_name = "WHAT", help_heading = "Reading")]
    pub(crate) on_missing: Option<String>,

    /// What becomes of columns without a role: drop or passthrough
    #[arg(long, value_name = "ROLE", help_heading = "Reading")]
    pub(crate) default_role: Option<String>,

    /// The delimiter, one character or `tab`, if it should not be sniffed
    #[arg(long, value_name = "CHAR", help_heading = "Reading")]
    pub(crate) delimiter: Option<String>,

    /// csv, parquet or arrow, if the file does not show it
    #[arg(long, value_name = "FORMAT", help_heading = "Reading")]
    pub(crate) format: Option<String>,
}

/// Which promises.
#[derive(Debug, Default, Args)]
pub(crate) struct ModelArgs {
    /// Short for --model k-anonymity:k=K
    #[arg(short, value_name = "K", help_heading = "Promises")]
    pub(crate) k: Option<i64>,

    /// A model with its parameters, NAME:PARAM=VALUE,…; may be repeated, all must hold (see `incrowd explain`)
    #[arg(long, value_name = "MODEL", help_heading = "Promises")]
    pub(crate) model: Vec<String>,

    /// The people the table is a sample of, a table with the same quasi-identifiers, for k-map and delta-presence
    #[arg(long, value_name = "TABLE", value_hint = ValueHint::FilePath, help_heading = "Promises")]
    pub(crate) population: Option<PathBuf>,
}

/// People of another table, for k-join-anonymity.
#[derive(Debug, Default, Args)]
pub(crate) struct ExternalArgs {
    /// A table of people who may stand beside those of the table: k-join-anonymity (see `incrowd explain k-join-anonymity`)
    #[arg(long, value_name = "TABLE", value_hint = ValueHint::FilePath, help_heading = "External table")]
    pub(crate) external: Option<PathBuf>,

    /// The column that names a person in both tables
    #[arg(long, value_name = "COLUMN", help_heading = "External table")]
    pub(crate) id: Option<String>,

    /// Whose quasi-identifiers count if the tables do not agree about a person: mt, pd or error
    #[arg(long, value_name = "WHOSE", help_heading = "External table")]
    pub(crate) on_conflict: Option<String>,

    /// The private audit table (id, group, source): written by anonymize, read by verify; never publish it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "External table")]
    pub(crate) audit: Option<PathBuf>,

    /// The table of sensitive values [default: beside the release, people.release.si.csv]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "External table")]
    pub(crate) si: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct AnonymizeArgs {
    /// The table (csv, csv.gz, csv.zst, parquet, arrow), several files or a pattern as one table, or a job file (.toml)
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Where the release goes; the extension tells the format
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) table: TableArgs,

    #[command(flatten)]
    pub(crate) models: ModelArgs,

    /// The algorithm
    #[arg(long, value_name = "NAME", help_heading = "Making")]
    pub(crate) algorithm: Option<String>,

    /// An option of the algorithm, for example undersized=block; may be repeated
    #[arg(long, value_name = "OPTION=VALUE", help_heading = "Making")]
    pub(crate) set: Vec<String>,

    /// The share of records that may be suppressed to keep the promises
    #[arg(long, value_name = "SHARE", help_heading = "Making")]
    pub(crate) suppression_limit: Option<f64>,

    /// What becomes of suppressed records: absent, or star (published with * in every quasi-identifier)
    #[arg(long, value_name = "WHAT", help_heading = "Making")]
    pub(crate) suppressed: Option<String>,

    /// The order of the published records: shuffled or sorted
    #[arg(long, value_name = "ORDER", help_heading = "Making")]
    pub(crate) order: Option<String>,

    /// Where the manifest goes, if not beside the release
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Making")]
    pub(crate) manifest: Option<PathBuf>,

    /// A page about the release that may be published (see `incrowd report`)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Making")]
    pub(crate) report: Option<PathBuf>,

    /// A page about the release and its original, for the data owner only
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Making")]
    pub(crate) owner_report: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) external: ExternalArgs,

    /// How both tables are grouped: direct, or refinement (the default)
    #[arg(long, value_name = "METHOD", help_heading = "External table")]
    pub(crate) method: Option<String>,

    /// Whether surplus external people are left out: off (the default), or greedy, which tells who is in the table
    #[arg(long, value_name = "WHAT", help_heading = "External table")]
    pub(crate) trim: Option<String>,

    #[command(flatten)]
    pub(crate) suppression: SuppressionArgs,
}

/// Sensitive values too frequent to be published diversely.
#[derive(Debug, Default, Args)]
pub(crate) struct SuppressionArgs {
    /// Withhold records first: r-suppression:l=6,on=disease, safe-d, unsafe-d or cheaper (see `incrowd explain`)
    #[arg(long, value_name = "METHOD", help_heading = "Skewed sensitive values")]
    pub(crate) suppression: Option<String>,

    /// The secret key the draws follow from, made if it is not there [default: in the user's configuration directory]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Skewed sensitive values")]
    pub(crate) suppression_key: Option<PathBuf>,

    /// A seed instead of the key: the release is stamped as a test
    #[arg(
        long,
        value_name = "SEED",
        help_heading = "Skewed sensitive values",
        conflicts_with = "suppression_key"
    )]
    pub(crate) suppression_seed: Option<u64>,

    /// Make a second release of a table that was released in another way, and log it
    #[arg(long, help_heading = "Skewed sensitive values")]
    pub(crate) again: bool,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The published table
    #[arg(value_name = "RELEASE", value_hint = ValueHint::FilePath)]
    pub(crate) release: PathBuf,

    #[command(flatten)]
    pub(crate) table: TableArgs,

    #[command(flatten)]
    pub(crate) models: ModelArgs,

    /// The table the release was made from: for plain-k-anonymity [default: the input of --job]; after a suppression step and
    /// for anatomy to ask whether everybody published comes from it and was withheld what had to be; and with --external to
    /// ask whether the rows of a k-join-anonymous release are people of both tables and everybody is among them
    #[arg(long, value_name = "TABLE", value_hint = ValueHint::FilePath, help_heading = "Promises")]
    pub(crate) original: Option<PathBuf>,

    /// The manifest, if not beside the release
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) manifest: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) external: ExternalArgs,
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
    pub(crate) table: TableArgs,

    #[command(flatten)]
    pub(crate) utility: UtilityArgs,

    /// The manifest, if not beside the release
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) manifest: Option<PathBuf>,

    /// The external table a k-join-anonymous release was made with
    #[arg(long, value_name = "TABLE", value_hint = ValueHint::FilePath, help_heading = "External table", requires = "id")]
    pub(crate) external: Option<PathBuf>,

    /// The column that names a person in both tables
    #[arg(long, value_name = "COLUMN", help_heading = "External table", requires = "external")]
    pub(crate) id: Option<String>,
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

    /// A table of everybody who might be in the release
    #[arg(long, value_name = "TABLE", value_hint = ValueHint::FilePath, help_heading = "The adversary")]
    pub(crate) population: Option<PathBuf>,

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
    pub(crate) table: TableArgs,

    /// The manifest, if not beside the release
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) manifest: Option<PathBuf>,
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
        /// `mask`, `mask:left`, `dates`, `intervals:WIDTH[,LEVELS[,FACTOR[,ORIGIN]]]`, `mdr`, `mdr:none`, `mdr:LOW,HIGH` or a
        /// .toml tree
        #[arg(long, value_name = "HIERARCHY")]
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
        /// The hierarchy file; with --table also `mask`, `dates`, `intervals:WIDTH` or `mdr`
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

/// Which table to look at.
#[derive(Debug, Args)]
pub(crate) struct LookArgs {
    /// The table (csv, csv.gz, csv.zst, parquet, arrow), several files or a pattern as one table
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath, required = true)]
    pub(crate) tables: Vec<PathBuf>,

    /// Texts that count as missing [default: empty, ?, NA]
    #[arg(long, value_name = "TEXTS", value_delimiter = ',', help_heading = "Reading")]
    pub(crate) missing: Option<Vec<String>>,

    /// The delimiter, one character or `tab`, if it should not be sniffed
    #[arg(long, value_name = "CHAR", help_heading = "Reading")]
    pub(crate) delimiter: Option<String>,

    /// csv, parquet or arrow, if the file does not show it
    #[arg(long, value_name = "FORMAT", help_heading = "Reading")]
    pub(crate) format: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) look: LookArgs,

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

    /// A hierarchy whose order distances are measured along, as for `anonymize`: COLUMN=FILE
    #[arg(long, value_name = "COLUMN=HIERARCHY", requires = "outliers", help_heading = "Outliers")]
    pub(crate) hierarchy: Vec<String>,

    /// A directory of hierarchy files named after their columns
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "outliers", help_heading = "Outliers")]
    pub(crate) hierarchies: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(crate) look: LookArgs,

    /// The job file
    #[arg(long, short, value_name = "FILE", default_value = "job.toml", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,

    /// How many records a group has at least
    #[arg(short, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) k: u64,

    /// Replace a job file that is there already
    #[arg(long)]
    pub(crate) force: bool,

    /// Columns that could be linked with other sources, whatever the profile thinks
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Columns")]
    pub(crate) quasi: Vec<String>,

    /// Columns nobody should learn about a person, whatever the profile thinks
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Columns")]
    pub(crate) sensitive: Vec<String>,

    /// Columns that name a person, whatever the profile thinks
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Columns")]
    pub(crate) identifier: Vec<String>,

    /// Columns published as they are, whatever the profile thinks
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Columns")]
    pub(crate) passthrough: Vec<String>,

    /// Columns to leave out, whatever the profile thinks
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', help_heading = "Columns")]
    pub(crate) drop: Vec<String>,
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
    pub(crate) table: TableArgs,

    #[command(flatten)]
    pub(crate) models: ModelArgs,

    #[command(flatten)]
    pub(crate) suppression: SuppressionArgs,
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

    #[command(flatten)]
    pub(crate) table: TableArgs,

    #[command(flatten)]
    pub(crate) models: ModelArgs,

    /// The external table a k-join-anonymous release was made with
    #[arg(long, value_name = "TABLE", value_hint = ValueHint::FilePath, help_heading = "External table", requires = "id")]
    pub(crate) external: Option<PathBuf>,

    /// The column that names a person in both tables
    #[arg(long, value_name = "COLUMN", help_heading = "External table", requires = "external")]
    pub(crate) id: Option<String>,

    /// The column to predict [default: the first sensitive column with 2 to 32 values]
    #[arg(long, value_name = "COLUMN", help_heading = "Measures")]
    pub(crate) target: Option<String>,

    /// Which queries and which sample: the same seed draws the same
    #[arg(long, value_name = "SEED", default_value_t = 1, help_heading = "Measures")]
    pub(crate) seed: u64,

    /// The manifest, if not beside the release
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) manifest: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The table (csv, csv.gz, csv.zst, parquet, arrow), several files or a pattern as one table, or a job file (.toml)
    #[arg(value_name = "TABLE", value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,

    /// Where the results go: results.jsonl, comparison.csv, comparison.json and comparison.html [default: comparison]
    #[arg(long, short, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output: Option<PathBuf>,

    /// Algorithms to try, NAME or NAME:OPTION=VALUE,…; may be repeated [default: mondrian, optimized-mondrian, top-down]
    #[arg(long, alias = "algorithm", value_name = "ALGORITHMS", help_heading = "Sweep")]
    pub(crate) algorithms: Vec<String>,

    /// Values of k to try [default: 2,5,10,20,50]
    #[arg(long, short, value_name = "NUMBERS", value_delimiter = ',', help_heading = "Sweep",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) k: Vec<u64>,

    /// Models to try, NAME or NAME:PARAM=VALUE,…; may be repeated [default: those of the job, else k-anonymity]
    #[arg(long, alias = "model", value_name = "MODELS", help_heading = "Sweep")]
    pub(crate) models: Vec<String>,

    /// Shares of the records that may be suppressed [default: that of the job, else 0]
    #[arg(long, value_name = "SHARES", value_delimiter = ',', help_heading = "Sweep")]
    pub(crate) suppression_limit: Vec<f64>,

    /// The metric that counts as the loss [default: ncp]
    #[arg(long, value_name = "METRIC", help_heading = "Sweep")]
    pub(crate) loss: Option<String>,

    /// How many configurations run at a time, each on one core [default: as many as there are cores]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, help_heading = "Sweep")]
    pub(crate) threads: usize,

    /// The people the table is a sample of, for k-map and delta-presence
    #[arg(long, value_name = "TABLE", value_hint = ValueHint::FilePath, help_heading = "Sweep")]
    pub(crate) population: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) table: TableArgs,
}
