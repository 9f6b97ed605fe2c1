//! Input data of the pages.

/// Rating of a finding. The order is from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// No problem was found.
    Good,
    /// The guarantees hold, but an adversary can still learn something.
    Amber,
    /// A guarantee does not hold, or this cannot be decided.
    Bad,
}

impl Tone {
    /// Returns the CSS class of the rating.
    pub fn class(self) -> &'static str {
        match self {
            Tone::Good => "good",
            Tone::Amber => "amber",
            Tone::Bad => "bad",
        }
    }
}

/// A finding in one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// The sentence.
    pub text: String,
    /// Comparison with guessing without the release. Empty if there is none.
    pub more: String,
    /// Rating of the finding.
    pub tone: Tone,
}

/// A record of the original and a matching record of the release.
#[derive(Clone)]
pub struct SampleRecord {
    /// Cells in the original.
    pub before: Vec<String>,
    /// Cells of the closest matching published record. `None` if no record matches.
    pub after: Option<Vec<String>>,
    /// Number of matching published records, if it was counted.
    pub fitting: Option<u64>,
}

/// Sample records before and after. Only for the data owner.
#[derive(Clone, Default)]
pub struct Sample {
    /// Column names.
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

/// Contribution of a quasi-identifier to the risk of re-identification. Each pair holds the number
/// for the original and the number for the release.
#[derive(Clone, Debug)]
pub struct ColumnRisk {
    /// Name of the column.
    pub name: String,
    /// Records that are unique on all quasi-identifiers but not without this column.
    pub unique: (u64, u64),
    /// Increase of the average re-identification risk caused by the column.
    pub adds: (f64, f64),
}

/// Formatted statistics of a numeric column. Each pair holds original and release.
#[derive(Clone, Debug)]
pub struct ColumnMoments {
    /// Name of the column.
    pub name: String,
    /// The mean.
    pub mean: (String, String),
    /// The standard deviation.
    pub deviation: (String, String),
    /// The lower quartile, the median and the upper quartile.
    pub quartiles: ([String; 3], [String; 3]),
}

/// Result of checking a guarantee or a whole release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// Every group meets the requirement.
    Holds,
    /// At least one group does not.
    Fails,
    /// The published cells do not determine the result.
    #[default]
    Undecided,
}

/// A privacy model and the result of checking it on the published bytes.
#[derive(Clone, Debug)]
pub struct Guarantee {
    /// The model with its parameters.
    pub title: String,
    /// Guarantee of the model.
    pub statement: String,
    /// Limits of the guarantee.
    pub limits: String,
    /// The result of the check.
    pub outcome: Outcome,
    /// Name of the measured quantity.
    pub measures: String,
    /// Value of the worst group.
    pub have: f64,
    /// Required value.
    pub need: f64,
    /// Distance between the value and the requirement. Positive if the requirement is met.
    pub margin: f64,
}

/// Groups of similar size.
#[derive(Clone, Debug)]
pub struct SizeBin {
    /// Range of sizes, e.g. `8–15`.
    pub label: String,
    /// Number of groups.
    pub groups: u64,
    /// Number of records in these groups.
    pub records: u64,
}

/// Result of an attack.
#[derive(Clone, Debug)]
pub struct Attack {
    /// Name of the attack, with its column if it has one.
    pub title: String,
    /// Definition of the risk.
    pub measures: String,
    /// Greatest risk of a person.
    pub worst: f64,
    /// The average risk.
    pub average: f64,
    /// Number of people at risk.
    pub at_risk: u64,
    /// Number of people.
    pub of: u64,
    /// Name of the counted unit: "records" or "persons".
    pub people: String,
    /// Condition for being at risk.
    pub alarm: String,
    /// Number of people per range of risk.
    pub bands: Vec<(String, u64)>,
    /// Notes for the reader.
    pub notes: Vec<String>,
}

/// Unique records on columns that are published unchanged.
#[derive(Clone, Debug)]
pub struct UniqueOn {
    /// The column or the combination of columns.
    pub columns: String,
    /// Number of unique records or persons.
    pub unique: u64,
    /// Number of all records or persons.
    pub of: u64,
    /// Name of the counted unit: "records" or "persons".
    pub people: String,
}

/// A score of the whole release.
#[derive(Clone, Debug)]
pub struct Score {
    /// Name of the score.
    pub name: String,
    /// Value of the score.
    pub value: f64,
    /// Explanation of the score.
    pub about: String,
}

/// Information loss of a column.
#[derive(Clone, Debug)]
pub struct ColumnCost {
    /// Name of the column.
    pub name: String,
    /// Role of the column.
    pub role: String,
    /// Average NCP of its cells, from 0 to 1.
    pub ncp: f64,
    /// Measures that need the original table. `None` without it.
    pub loss: Option<Loss>,
}

/// Differences between a released column and its original.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// Number of distinct published cells.
    pub cells: u64,
    /// Share of the non-uniform entropy that was lost.
    pub entropy: f64,
    /// Kullback-Leibler divergence in nats.
    pub kl_divergence: f64,
    /// Total variation distance, from 0 to 1.
    pub total_variation: f64,
}

/// Association of two columns.
#[derive(Clone, Debug)]
pub struct Association {
    /// The two columns.
    pub columns: (String, String),
    /// Cramér's V in the original.
    pub original: f64,
    /// Cramér's V estimated from the release.
    pub release: f64,
}

/// Accuracy of random counting queries.
#[derive(Clone, Debug)]
pub struct Queries {
    /// Description of the queries.
    pub asked: String,
    /// Median and mean relative error. `None` if too few queries select a record.
    pub errors: Option<(f64, f64)>,
}

/// Accuracy of predicting a column.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// Description of the experiment.
    pub about: String,
    /// Name of the training data, with accuracy, balanced accuracy and macro F1.
    pub scores: Vec<(String, [f64; 3])>,
}

/// The distribution of a column.
#[derive(Clone)]
pub struct Shape {
    /// Name of the column.
    pub column: String,
    /// Role of the column.
    pub role: String,
    /// The distribution.
    pub kind: ShapeKind,
    /// Note for the reader.
    pub note: String,
}

/// Shares of the records by bin or by label. `before` is `None` where the original must not be
/// shown.
#[derive(Clone)]
pub enum ShapeKind {
    /// A histogram with bins of equal width.
    Numbers {
        /// Boundaries of the bins: one more than there are bins.
        ends: Vec<String>,
        /// Shares in the original.
        before: Option<Vec<f64>>,
        /// Shares in the release.
        after: Vec<f64>,
    },
    /// Values or cells, the most frequent first.
    Labels {
        /// The values or cells.
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

/// Information loss of a release.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    /// Scores of the whole release.
    pub scores: Vec<Score>,
    /// Loss per column.
    pub columns: Vec<ColumnCost>,
    /// Associations of pairs of columns.
    pub associations: Vec<Association>,
    /// Accuracy of counting queries.
    pub queries: Option<Queries>,
    /// Accuracy of predictions.
    pub prediction: Option<Prediction>,
}

/// Data of the page that may be published. It contains only facts that follow from the release and
/// its manifest, and measures over the whole table.
#[derive(Clone, Debug, Default)]
pub struct Public {
    /// File name of the release.
    pub release: String,
    /// Version of incrowd that created the page.
    pub version: String,
    /// Holds if all guarantees hold, the digest matches and no identifier is published.
    pub outcome: Outcome,
    /// Findings that may be published.
    pub sentences: Vec<Sentence>,
    /// Whether columns published unchanged single people out.
    pub singles_out: bool,
    /// Restriction on the adversaries covered by the guarantees, if there is one.
    pub caution: Option<String>,
    /// Problems other than violated guarantees.
    pub faults: Vec<String>,
    /// Why the release must not be published, if it is marked as a test.
    pub stamp: Option<String>,
    /// Number of records in the release.
    pub records: u64,
    /// Number of groups in the release.
    pub groups: u64,
    /// The guarantees.
    pub guarantees: Vec<Guarantee>,
    /// Numbers of records from the manifest: read, suppressed and so on.
    pub counts: Vec<(String, u64)>,
    /// Descriptions of the suppression.
    pub suppressed: Vec<String>,
    /// The groups by size.
    pub sizes: Vec<SizeBin>,
    /// Results of the attacks.
    pub attacks: Vec<Attack>,
    /// Attacks that were not run, with the reason.
    pub not_run: Vec<(String, String)>,
    /// Information loss.
    pub cost: Cost,
    /// Distributions of the published columns.
    pub shapes: Vec<Shape>,
    /// Omitted content, with the reasons.
    pub left_out: Vec<String>,
    /// Settings of the run that created the release.
    pub settings: Vec<(String, String)>,
    /// Digest of the release file.
    pub digest: String,
    /// Whether the digest equals the one in the manifest. `None` without a manifest.
    pub digest_matches: Option<bool>,
    /// Commands for checking the release, each with a description.
    pub commands: Vec<(String, String)>,
}

/// A risk in the original and in the release.
#[derive(Clone, Debug)]
pub struct Risk {
    /// Name of the attack, with its column if it has one.
    pub title: String,
    /// Definition of the risk.
    pub measures: String,
    /// Condition for being at risk.
    pub alarm: String,
    /// Ranges of risk with the share of records before and after.
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

/// Queries of similar selectivity.
#[derive(Clone, Debug)]
pub struct QueryClass {
    /// Range of selectivity.
    pub label: String,
    /// Number of queries.
    pub queries: u64,
    /// Number of queries with a true count above 0.
    pub answered: u64,
    /// Median relative error.
    pub median: Option<f64>,
    /// Mean relative error.
    pub mean: Option<f64>,
}

/// Accuracy of prediction in one fold of the cross-validation.
#[derive(Clone, Copy, Debug)]
pub struct Fold {
    /// Trained on the release.
    pub release: f64,
    /// Trained on the original.
    pub originals: f64,
}

/// Data of the page for the data owner.
#[derive(Clone, Debug, Default)]
pub struct Owner {
    /// File name of the release.
    pub release: String,
    /// Version of incrowd that created the page.
    pub version: String,
    /// Holds if all guarantees hold, the digest matches and no identifier is published.
    pub outcome: Outcome,
    /// Findings, including attacks and errors.
    pub sentences: Vec<Sentence>,
    /// Sample records. `None` if records of the release cannot be matched with originals.
    pub sample: Option<Sample>,
    /// Contribution of each quasi-identifier to the risk of re-identification.
    pub column_risks: Vec<ColumnRisk>,
    /// Statistics of numeric columns.
    pub moments: Vec<ColumnMoments>,
    /// Whether columns published unchanged single people out.
    pub singles_out: bool,
    /// Unique records on these columns.
    pub unique_on: Vec<UniqueOn>,
    /// Number of records in the original and in the release.
    pub records: (u64, u64),
    /// Number of groups with equal quasi-identifiers in the original and in the release.
    pub groups: (u64, u64),
    /// Number of unique records in the original and in the release.
    pub unique: (u64, u64),
    /// Risks before and after.
    pub risks: Vec<Risk>,
    /// Attack results that must not be published.
    pub attacks: Vec<Attack>,
    /// The most exposed groups.
    pub exposed: Vec<Exposed>,
    /// Distributions before and after.
    pub shapes: Vec<Shape>,
    /// Information loss, where it must not be published.
    pub cost: Option<Cost>,
    /// Numbers of records: read, suppressed and so on.
    pub counts: Vec<(String, u64)>,
    /// Records with a missing value per column.
    pub missing: Vec<(String, u64)>,
    /// Values that no published cell contains, per column.
    pub lost: Vec<(String, u64)>,
    /// Errors of counting queries by selectivity.
    pub queries: Vec<QueryClass>,
    /// Accuracy by fold.
    pub folds: Vec<Fold>,
    /// Omitted content, with the reasons.
    pub left_out: Vec<String>,
    /// Commands for creating the page again, each with a description.
    pub commands: Vec<(String, String)>,
}
