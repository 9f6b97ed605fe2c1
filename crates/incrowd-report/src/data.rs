//! What the pages are made of.

/// How good it is what a sentence says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// As it should be.
    Good,
    /// Promises hold, and yet something can be learned.
    Amber,
    /// Not as promised.
    Bad,
}

impl Tone {
    /// The class of its colour.
    pub fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Amber => "amber",
            Tone::Bad => "bad",
        }
    }
}

/// Something that was found, in plain words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// The words.
    pub text: String,
    /// How much that is, beside what everybody could guess; empty if there is nothing to say.
    pub more: String,
    /// How good that is.
    pub tone: Tone,
}

/// A record beside a published one.
#[derive(Clone)]
pub struct SampleRecord {
    /// Its cells in the original.
    pub before: Vec<String>,
    /// The cells of a published record that fits it; absent if none does.
    pub after: Option<Vec<String>>,
    /// How many published records fit it, if they were counted.
    pub fitting: Option<u64>,
}

/// Some records before and after. For the data owner's eyes.
#[derive(Clone, Default)]
pub struct Sample {
    /// The columns.
    pub columns: Vec<String>,
    /// The records.
    pub records: Vec<SampleRecord>,
}

// Cells must not reach logs.
impl std::fmt::Debug for SampleRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SampleRecord").field("fitting", &self.fitting).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sample").field("columns", &self.columns).finish_non_exhaustive()
    }
}

/// What a quasi-identifier adds to finding people, in the original and in the release.
#[derive(Clone, Debug)]
pub struct ColumnRisk {
    /// The column.
    pub name: String,
    /// How many records are like no other because of it: alone with it, and not without it.
    pub alone: (u64, u64),
    /// By how much it raises the average chance of being found.
    pub adds: (f64, f64),
}

/// A column of numbers before and after, as it is printed.
#[derive(Clone, Debug)]
pub struct ColumnMoments {
    /// The column.
    pub name: String,
    /// The mean.
    pub mean: (String, String),
    /// The standard deviation.
    pub deviation: (String, String),
    /// The quartiles, the median in the middle.
    pub quartiles: ([String; 3], [String; 3]),
}

/// How a promise was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every group keeps it.
    Holds,
    /// Some group breaks it.
    Fails,
    /// The published cells do not tell.
    Unknown,
}

/// A promise as it was judged on the published bytes.
#[derive(Clone, Debug)]
pub struct Promise {
    /// The model with its parameters.
    pub title: String,
    /// What it promises.
    pub promise: String,
    /// What it does not promise.
    pub limits: String,
    /// How it was judged.
    pub outcome: Outcome,
    /// What is measured.
    pub measures: String,
    /// What the worst group has.
    pub have: f64,
    /// What it has to have.
    pub need: f64,
    /// How far on the safe side that is.
    pub margin: f64,
}

/// Groups of like size.
#[derive(Clone, Debug)]
pub struct SizeBin {
    /// The sizes, `8–15`.
    pub label: String,
    /// How many groups.
    pub groups: u64,
    /// How many records they have together.
    pub records: u64,
}

/// What an attack found.
#[derive(Clone, Debug)]
pub struct Attack {
    /// The attack, with its column if it has one.
    pub title: String,
    /// What the risk is.
    pub measures: String,
    /// The greatest risk of anybody.
    pub worst: f64,
    /// The average risk.
    pub average: f64,
    /// How many people are at risk.
    pub at_risk: u64,
    /// Of how many.
    pub of: u64,
    /// Who they are.
    pub people: String,
    /// Who counts as at risk.
    pub alarm: String,
    /// How many people have which risk.
    pub bands: Vec<(String, u64)>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// Who is alone in columns that are published as they are.
#[derive(Clone, Debug)]
pub struct AloneIn {
    /// The column, or the columns together.
    pub columns: String,
    /// How many are alone with their value.
    pub alone: u64,
    /// Of how many.
    pub of: u64,
    /// Who they are.
    pub people: String,
}

/// A score of the whole release.
#[derive(Clone, Debug)]
pub struct Score {
    /// Its name.
    pub name: String,
    /// The number.
    pub value: f64,
    /// How to read it.
    pub about: String,
}

/// What became of a column.
#[derive(Clone, Debug)]
pub struct ColumnCost {
    /// Its name.
    pub name: String,
    /// What it is to the release.
    pub role: String,
    /// Average penalty of its cells, from 0 to 1.
    pub ncp: f64,
    /// What was measured beside the original, if there was one: non-uniform entropy, divergence, distance.
    pub beside: Option<Loss>,
}

/// How far a column is from its original.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// How many different cells are published.
    pub cells: u64,
    /// Share of the entropy that was lost.
    pub entropy: f64,
    /// Divergence in nats.
    pub kl_divergence: f64,
    /// Distance of the distributions, from 0 to 1.
    pub total_variation: f64,
}

/// How strongly two columns belong together.
#[derive(Clone, Debug)]
pub struct Association {
    /// The two columns.
    pub columns: (String, String),
    /// Cramér's V in the original.
    pub original: f64,
    /// Cramér's V a reader of the release reconstructs.
    pub release: f64,
}

/// How well random counts are answered.
#[derive(Clone, Debug)]
pub struct Queries {
    /// What was asked, in a sentence.
    pub asked: String,
    /// Median and mean relative error, if they may be told.
    pub errors: Option<(f64, f64)>,
}

/// How well a column can be predicted.
#[derive(Clone, Debug)]
pub struct Learned {
    /// What was done, in a sentence.
    pub about: String,
    /// Learned from what, and with which accuracy, balanced accuracy and macro F1.
    pub scores: Vec<(String, [f64; 3])>,
}

/// The distribution of a column.
#[derive(Clone)]
pub struct Shape {
    /// The column.
    pub column: String,
    /// What it is to the release.
    pub role: String,
    /// The distribution.
    pub kind: ShapeKind,
    /// What a reader should know.
    pub note: String,
}

/// Shares of the records, by bin or by label. The original's are absent where they are not to be seen.
#[derive(Clone)]
pub enum ShapeKind {
    /// Bins of equal width.
    Numbers {
        /// The ends of the bins, one more than bins.
        ends: Vec<String>,
        /// Shares in the original.
        before: Option<Vec<f64>>,
        /// Shares in the release.
        after: Vec<f64>,
    },
    /// Values or cells, the most frequent first.
    Labels {
        /// Their names.
        labels: Vec<String>,
        /// Shares in the original.
        before: Option<Vec<f64>>,
        /// Shares in the release.
        after: Vec<f64>,
    },
}

// Cells must not reach logs.
impl std::fmt::Debug for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shape").field("column", &self.column).finish_non_exhaustive()
    }
}

/// What a release cost.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    /// Scores of the whole release.
    pub scores: Vec<Score>,
    /// What became of each column.
    pub columns: Vec<ColumnCost>,
    /// Pairs of columns.
    pub associations: Vec<Association>,
    /// Random counts.
    pub queries: Option<Queries>,
    /// Prediction.
    pub learned: Option<Learned>,
}

/// Everything on the page that may be published. All of it follows from the release itself, from its manifest, or is a
/// measure over the whole table.
#[derive(Clone, Debug, Default)]
pub struct Public {
    /// The release's file name.
    pub release: String,
    /// The version of incrowd that made the page.
    pub version: String,
    /// Whether everything holds: all promises, the digest, and no identifier is published.
    pub holds: bool,
    /// What may be told of it in plain words.
    pub sentences: Vec<Sentence>,
    /// Whether columns that are published as they are single people out.
    pub singles_out: bool,
    /// Against whom the promises hold, if not against everybody who knows the quasi-identifiers.
    pub caution: Option<String>,
    /// What is wrong beside broken promises.
    pub faults: Vec<String>,
    /// Why it is not for publication, if it is stamped so.
    pub stamp: Option<String>,
    /// How many records the release has.
    pub records: u64,
    /// How many groups a reader sees.
    pub groups: u64,
    /// The promises.
    pub promises: Vec<Promise>,
    /// How many records went where, as far as the manifest tells.
    pub counts: Vec<(String, u64)>,
    /// What was suppressed and how, in sentences.
    pub suppressed: Vec<String>,
    /// The groups by size.
    pub sizes: Vec<SizeBin>,
    /// What attacks found.
    pub attacks: Vec<Attack>,
    /// Attacks that were not run, and why.
    pub not_run: Vec<(String, String)>,
    /// What the release cost.
    pub cost: Cost,
    /// The published distributions.
    pub shapes: Vec<Shape>,
    /// What the page leaves out, and why.
    pub left_out: Vec<String>,
    /// How the release was made.
    pub settings: Vec<(String, String)>,
    /// The digest of its bytes.
    pub digest: String,
    /// Whether the manifest has the same, if there is one.
    pub digest_matches: Option<bool>,
    /// What to type to check it, each with what it does.
    pub commands: Vec<(String, String)>,
}

/// A risk in the original and in the release.
#[derive(Clone, Debug)]
pub struct Risk {
    /// The attack, with its column if it has one.
    pub title: String,
    /// What the risk is.
    pub measures: String,
    /// Who counts as at risk.
    pub alarm: String,
    /// Bands with the share of records before and after.
    pub bands: Vec<(String, f64, f64)>,
    /// The greatest risk before and after.
    pub worst: (f64, f64),
    /// The average risk before and after.
    pub average: (f64, f64),
    /// The share of people at risk before and after.
    pub share: (f64, f64),
}

/// Groups of the release that are exposed to an attack.
#[derive(Clone)]
pub struct Exposed {
    /// The attack, with its column if it has one.
    pub title: String,
    /// Risk, records and cells of each group.
    pub groups: Vec<(f64, u64, String)>,
}

// Cells must not reach logs.
impl std::fmt::Debug for Exposed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exposed").field("title", &self.title).finish_non_exhaustive()
    }
}

/// Queries that select about as much.
#[derive(Clone, Debug)]
pub struct QueryClass {
    /// What they select.
    pub label: String,
    /// How many queries.
    pub queries: u64,
    /// How many have a count above 0.
    pub answered: u64,
    /// Median relative error.
    pub median: Option<f64>,
    /// Mean relative error.
    pub mean: Option<f64>,
}

/// Accuracy in one fold.
#[derive(Clone, Copy, Debug)]
pub struct Fold {
    /// Learned from the release.
    pub release: f64,
    /// Learned from originals.
    pub originals: f64,
}

/// Everything on the page for the data owner's eyes.
#[derive(Clone, Debug, Default)]
pub struct Owner {
    /// The release's file name.
    pub release: String,
    /// The version of incrowd that made the page.
    pub version: String,
    /// Whether everything holds.
    pub holds: bool,
    /// What was found in plain words, attacks and errors included.
    pub sentences: Vec<Sentence>,
    /// Some records before and after, if records of the release can be put beside them.
    pub sample: Option<Sample>,
    /// What each quasi-identifier adds to finding people.
    pub column_risks: Vec<ColumnRisk>,
    /// Columns of numbers.
    pub moments: Vec<ColumnMoments>,
    /// Whether columns that are published as they are single people out.
    pub singles_out: bool,
    /// Who is alone in which of them.
    pub alone: Vec<AloneIn>,
    /// How many records the original has and how many the release has.
    pub records: (u64, u64),
    /// How many groups of alike quasi-identifiers the original has and how many the release has.
    pub groups: (u64, u64),
    /// How many records of the original nobody else looks like, and how many of the release.
    pub unique: (u64, u64),
    /// Risks before and after.
    pub risks: Vec<Risk>,
    /// Findings that are for the data owner only.
    pub attacks: Vec<Attack>,
    /// The most exposed groups.
    pub exposed: Vec<Exposed>,
    /// Distributions before and after.
    pub shapes: Vec<Shape>,
    /// What the release cost, where it may not be published.
    pub cost: Option<Cost>,
    /// How many records went where.
    pub counts: Vec<(String, u64)>,
    /// Records with a missing value, by column.
    pub missing: Vec<(String, u64)>,
    /// Values that are in no cell any more, by column.
    pub lost: Vec<(String, u64)>,
    /// Errors of queries by what they select.
    pub queries: Vec<QueryClass>,
    /// Accuracy by fold.
    pub folds: Vec<Fold>,
    /// What the page leaves out, and why.
    pub left_out: Vec<String>,
    /// What to type to get it again, each with what it does.
    pub commands: Vec<(String, String)>,
}
