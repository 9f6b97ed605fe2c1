//! Where data lives.
//!
//! An [`Engine`] does two things: it *folds* a table into distinct rows with multiplicities, and it *applies* a finished
//! plan to the records. Everything between happens in memory on the distinct rows and knows nothing of files. The
//! [`Embedded`] engine reads and writes CSV, Parquet and Arrow files on one machine, streaming and in parallel.
//!
//! Memory is bounded by the distinct rows, not by the records.

mod cells;
mod copy;
mod embedded;
mod emit;
mod fold;
mod holdback;
mod intern;
mod join;
mod lines;
mod order;
mod pending;
mod repeats;
mod replay;
mod rows;
mod shares;
mod sink;
mod source;
mod survey;

pub use copy::copy;
pub use embedded::Embedded;
pub use join::{External, Gathered, Identity, People, Strangers};
pub use pending::{Pending, abandon_all, partial_path};
pub use source::{Format, Options, Source, digest};

use incrowd_core::{Folded, Plan, Progress, Result};

/// What to fold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldSpec {
    /// The columns, in the order in which the folded table shall have them.
    pub columns: Vec<String>,
    /// The texts that count as missing. A null of a typed format always does.
    pub missing: Vec<String>,
    /// Whether records with a missing value in one of the columns are left out, and counted.
    pub drop_missing: bool,
    /// Whether a plan will be applied that carries further columns from the records, so that they are read again.
    pub replay: bool,
}

/// In which order records are published. Input order is never one: it would be a quasi-identifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Shuffled by a cryptographic generator whose seed nobody sees.
    #[default]
    Shuffled,
    /// Sorted by the published cells.
    Sorted,
}

impl Order {
    /// The names in a job file.
    pub const ALL: [(&'static str, Order); 2] = [("shuffled", Order::Shuffled), ("sorted", Order::Sorted)];
}

/// Where the cells of a published column come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The plan's cells for the quasi-identifier at this position.
    Quasi(usize),
    /// The sensitive column at this position, as folded.
    Sensitive(usize),
    /// The category of the sensitive column at this position.
    Category(usize),
    /// The records themselves.
    Carried,
}

/// What to write.
#[derive(Clone, Debug)]
pub struct Output {
    /// The columns with their names, in order.
    pub columns: Vec<(String, Content)>,
    /// The order of the records.
    pub order: Order,
    /// The text of a missing sensitive value in formats that have no null.
    pub missing: String,
}

/// What was written. An engine answers with an error instead if the numbers do not add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Records published.
    pub published: u64,
    /// Records left out because the plan suppresses their row.
    pub suppressed: u64,
}

/// The two operations a release needs from the place where its data lives.
pub trait Engine {
    /// The column names of the table.
    fn columns(&self) -> &[String];

    /// Folds the table: the weights add up to the records read minus those dropped.
    fn fold(&mut self, spec: &FoldSpec, progress: &dyn Progress) -> Result<Folded>;

    /// Writes the records as the plan says. The plan must be for a table encoded from the last fold, or from what is left of
    /// it if records are withheld. On success published and suppressed records add up to the weights of the
    /// plan's table.
    fn apply(
        &mut self,
        plan: &Plan<'_>,
        output: &Output,
        target: &mut Pending,
        progress: &dyn Progress,
    ) -> Result<Receipt>;

    /// Where a text occurs first in a column, in words for a message: `record 4811`.
    fn locate(&self, column: &str, text: &str) -> Result<Option<String>>;
}
