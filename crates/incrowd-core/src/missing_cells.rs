//! Matching of missing cells in a published table.

/// The values that a missing cell matches when equal records are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingCells {
    /// Missing cells only: missing is a value. This is the definition of k-anonymity.
    #[default]
    Alone,
    /// Any value. An adversary who knows a suppressed value can rule out records with another one,
    /// so the guarantee is weaker.
    Any,
}

impl MissingCells {
    /// The names in a job file.
    pub const ALL: [(&'static str, MissingCells); 2] =
        [("alone", MissingCells::Alone), ("any", MissingCells::Any)];

    /// The name in a job file.
    pub fn name(self) -> &'static str {
        match self {
            MissingCells::Alone => "alone",
            MissingCells::Any => "any",
        }
    }

    /// The scope of a guarantee that uses this matching, as a sentence.
    pub fn worth(self) -> &'static str {
        match self {
            MissingCells::Alone => {
                "holds against an adversary who knows every quasi-identifier of a person"
            }
            MissingCells::Any => {
                "holds against an adversary who has only the release; an adversary who knows the \
                 value of a missing cell can rule out records that show another value"
            }
        }
    }
}
