//! Who may see what. Everything that is computed about a release is one of these facts, and this one function says of each
//! whether it may be printed as public, put onto a public page, written into a manifest or returned outside of `private`.

/// Who may see something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// It may be published.
    Everybody,
    /// It is for the data owner's eyes.
    Owner,
}

/// Something that is computed about a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// What follows from the published tables alone: judgements of promises, sizes of groups, columns as they stand there.
    ReleaseItself,
    /// How many records the table has, and how many were suppressed.
    SizeOfTheTable,
    /// Loss of cells and shapes of columns beside the original, averaged over the whole table.
    MeasuredOverTheTable,
    /// Errors of so many queries about the original, averaged.
    QueryErrors {
        /// How many queries had an answer to compare with.
        answered: u64,
    },
    /// Errors of queries by what they really select: the queries follow from the seed, so an error tells a count.
    QueryErrorsBySelectivity,
    /// How many values or pairs of values were lost altogether.
    LostValues,
    /// Scores of single folds of a sample.
    ScoresByFold,
    /// What an algorithm knows beside its groups: it tells what other releases would have cost.
    AlgorithmReport,
    /// Which records were withheld, how many, and what an adversary makes of it.
    SuppressionStep,
    /// Who of an external table is in the release.
    JoinWithExternal,
    /// What an attack finds with what everybody has.
    AttackOnRelease,
    /// What an attack finds with what only the owner has.
    AttackWithSecrets,
    /// Single groups of the release with their cells and risks.
    ExposedGroups,
    /// Whether a release can come from its original.
    FromOriginal,
    /// What is in a table before anything is done to it.
    ProfileOfTheTable,
}

/// Errors of fewer queries than this are for the data owner only: each tells nearly a true count.
pub const FEWEST_QUERIES: u64 = 100;

impl Audience {
    /// Who may see a fact about a release. `withheld_in_secret` is whether records were withheld from it and how many is not
    /// told.
    pub fn decide(fact: Fact, withheld_in_secret: bool) -> Audience {
        let everybody = match fact {
            Fact::ReleaseItself | Fact::AttackOnRelease => true,
            // Whatever is measured beside the original would tell how many records were withheld.
            Fact::SizeOfTheTable | Fact::MeasuredOverTheTable => !withheld_in_secret,
            Fact::QueryErrors { answered } => answered >= FEWEST_QUERIES && !withheld_in_secret,
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

    /// Whether it may be published.
    pub fn is_everybody(self) -> bool {
        self == Audience::Everybody
    }
}
