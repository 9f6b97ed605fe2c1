//! Decides which results about a release are public. Every result is one [`Fact`].
//! [`Audience::decide`] decides whether it may be printed as public, put onto a public page,
//! written into a manifest or returned outside of `private`.

/// The audience of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The result may be published.
    Everybody,
    /// The result is for the data owner only.
    Owner,
}

/// A kind of result about a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Follows from the published tables: verdicts of privacy models, group sizes, column
    /// statistics.
    ReleaseItself,
    /// The number of records of the table and of suppressed records.
    SizeOfTheTable,
    /// Information loss and comparisons of columns with the original, averaged over the table.
    MeasuredOverTheTable,
    /// Average error of queries on the original.
    QueryErrors {
        /// The number of queries that could be compared.
        answered: u64,
    },
    /// Query errors by the true selectivity. The queries follow from the seed, so an error reveals
    /// a count.
    QueryErrorsBySelectivity,
    /// The number of values or pairs of values that no longer occur.
    LostValues,
    /// Scores of single cross-validation folds of a sample.
    ScoresByFold,
    /// Diagnostics of an algorithm besides its groups: they reveal the loss of other releases.
    AlgorithmReport,
    /// The suppressed records, their number, and the adversary's inferences from it.
    SuppressionStep,
    /// The records of an external table that are in the release.
    JoinWithExternal,
    /// The result of an attack with public background knowledge.
    AttackOnRelease,
    /// The result of an attack with data that only the owner has.
    AttackWithSecrets,
    /// Single groups of the release with their cells and risks.
    ExposedGroups,
    /// Whether a release can come from its original.
    FromOriginal,
    /// Statistics of a table before anonymization.
    ProfileOfTheTable,
}

/// Errors of fewer queries than this are for the data owner only: each nearly reveals a true count.
pub const FEWEST_QUERIES: u64 = 100;

impl Audience {
    /// Returns the audience of a fact. `suppressed_in_secret`: the release lacks suppressed records
    /// and their number is secret.
    pub fn decide(fact: Fact, suppressed_in_secret: bool) -> Audience {
        let everybody = match fact {
            Fact::ReleaseItself | Fact::AttackOnRelease => true,
            // Comparisons with the original reveal the number of suppressed records.
            Fact::SizeOfTheTable | Fact::MeasuredOverTheTable => !suppressed_in_secret,
            Fact::QueryErrors { answered } => answered >= FEWEST_QUERIES && !suppressed_in_secret,
            Fact::QueryErrorsBySelectivity
            | Fact::LostValues
            | Fact::ScoresByFold
            | Fact::AlgorithmReport
            | Fact::SuppressionStep
            | Fact::JoinWithExternal
            | Fact::AttackWithSecrets
            | Fact::ExposedGroups
            | Fact::FromOriginal
            | Fact::ProfileOfTheTable => false,
        };
        if everybody { Audience::Everybody } else { Audience::Owner }
    }

    /// Whether the result may be published.
    pub fn is_everybody(self) -> bool {
        self == Audience::Everybody
    }
}
