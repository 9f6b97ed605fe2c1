//! What a missing cell of a published table matches.

/// What a missing cell matches when records are counted that look alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingCells {
    /// Missing cells, and nothing else: missing is a value of its own. This is what k-anonymity says.
    #[default]
    Alone,
    /// Any value. A reader who knows the value behind a missing cell can rule out records with another one, so this promises less.
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

    /// What a promise is worth that counts like this, in a sentence.
    pub fn worth(self) -> &'static str {
        match self {
            MissingCells::Alone => "holds against somebody who knows every quasi-identifier of a person",
            MissingCells::Any => {
                "holds against somebody who sees the release alone; who knows the value behind a missing cell can rule out records \
                 that show another one"
            }
        }
    }
}
