//! Tables that another system holds and counts, such as Apache Spark.
//!
//! Only counts come here: the distinct rows of the columns that are asked for, each with the number of its records. Planning is the
//! same as for any other table. What the plan says goes back as a small table, and the system puts the records together. What was
//! written is counted there again, and judged here. Columns that are published as they are, and those that name people, never
//! leave the system.

mod counted;
mod directory;
mod elsewhere;
mod engine;
mod parts;
mod persons;
mod slots;
mod weights;

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use incrowd_core::{Error, Result};

use crate::{Order, Places};

pub(crate) use counted::fold;
pub use directory::put_directory;
pub use elsewhere::{PlannedPart, Whole};
pub use engine::RemoteEngine;
pub use parts::{Part, RemoteParts, Surveyed};
pub use persons::PersonColumn;
pub use weights::Asked;

/// A column of a plan that says how many records a row stands for.
pub const RECORDS: &str = "_incrowd_records";
/// A column of a plan with the number of the first of those records among all that are published.
pub const FIRST: &str = "_incrowd_first";
/// A column of a plan with the place of a row in sorted order.
pub const RANK: &str = "_incrowd_rank";
/// A column with the number of a look: what the plan says of a record.
pub const LOOK: &str = "_incrowd_look";
/// A column with the number of a distinct row, as the system that keeps it has numbered it.
pub const ROW: &str = "_incrowd_row";
/// The records of a distinct row, in an order that is drawn, from which on a look is theirs, counted from 1.
pub const FROM: &str = "_incrowd_from";
/// And the last of them.
pub const TO: &str = "_incrowd_to";
/// Whether all records of a row have the same look, and are published: 1 or 0.
pub const WHOLE: &str = "_incrowd_whole";

/// A column that says how many of the records that were counted name nobody.
pub const UNNAMED: &str = "_incrowd_unnamed";
/// A column with lists of integers: of each person two, the number that stands for her and how many records are hers.
pub const HELD: &str = "_incrowd_held";

/// A column with how many people the records that were counted stand for, in [millionths](incrowd_core::represented).
pub const REPRESENTED: &str = "_incrowd_represented";
/// A column that says how many of the records have no weight.
pub const UNWEIGHED: &str = "_incrowd_unweighed";

/// How a release that goes to another system is named: `spark:/data/release`.
const SCHEME: &str = "spark:";

/// Whether a release goes to another system, and not to a file or a database.
pub fn is_remote(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.starts_with(SCHEME))
}

/// The place within that system.
pub fn remote_place(path: &Path) -> &str {
    path.to_str().and_then(|text| text.strip_prefix(SCHEME)).unwrap_or_default()
}

/// Rows of a table in Arrow.
pub type Rows = (SchemaRef, Vec<RecordBatch>);

/// A table that another system holds.
pub trait Remote: Debug + Send + Sync {
    /// What messages call it.
    fn name(&self) -> &str;

    /// Its columns and their types.
    fn schema(&self) -> SchemaRef;

    /// The distinct rows of these columns in any order, a null being a value like any other. One more column, the last, has the
    /// number of records as 64-bit integers.
    fn count(&self, columns: &[String]) -> Result<Rows>;

    /// For each set of columns how many records have values there that no other record has.
    fn alone(&self, sets: &[Vec<String>]) -> Result<Vec<u64>>;

    /// Whether it is kept beside this table, where nobody else can see it, whose records it has.
    fn knows_persons(&self) -> bool {
        false
    }

    /// Counts as [`Remote::count`] does, and says whose the records are: by a column, or without one as it is kept beside the table.
    /// Two more columns come last, [`UNNAMED`] and [`HELD`]. A person has the same number in all rows; it is not her name, and
    /// nobody can tell one from the other. A row may come in several pieces.
    fn count_persons(&self, _columns: &[String], _person: Option<PersonColumn<'_>>) -> Result<Rows> {
        Err(Error::bug("this system does not count persons"))
    }

    /// For each set of columns how many persons have values there that nobody else has, and how many persons there are, where it is
    /// kept beside the table whose records it has.
    fn alone_persons(&self, _sets: &[Vec<String>]) -> Result<(Vec<u64>, u64)> {
        Err(Error::bug("this system does not count persons"))
    }

    /// Whether it is kept beside this table, where nobody else can see it, how many people its records stand for.
    fn knows_weights(&self) -> bool {
        false
    }

    /// Counts as [`Remote::count`] does, and adds up how many people the records stand for: by a column, or without one as it is kept
    /// beside the table. Two more columns come last, [`REPRESENTED`] and [`UNWEIGHED`]. A text in `missing` is no weight.
    fn count_weights(&self, _columns: &[String], _weight: Option<&str>, _missing: &[String]) -> Result<Rows> {
        Err(Error::bug("this system does not add up weights"))
    }

    /// Of some columns those in which some values, not most, occur in several records, as far as a look at some records tells. The
    /// texts in `missing` are no values.
    fn repeating(&self, columns: &[String], missing: &[String]) -> Result<Vec<String>>;

    /// A digest of what the system keeps of the table, if it is a release.
    fn digest(&self) -> Result<String>;
}

/// A table of a release as the plan says it.
#[derive(Clone, Debug)]
pub struct RemotePlan {
    /// The published columns, in order; `true` for those that come from the records.
    pub columns: Vec<(String, bool)>,
    /// What is published of records: the other columns with their types, and [`LOOK`], [`RANK`]. Without carried columns also
    /// [`RECORDS`] and [`FIRST`]; a look may then stand in several rows.
    pub looks: Rows,
    /// Which look the records of a kept row have: [`ROW`], [`FROM`], [`TO`], [`LOOK`], [`WHOLE`]. Records of which nothing is said are not
    /// published. `None` if no column is carried and nobody asks whose the records are, or how many people they stand for.
    pub slots: Option<Rows>,
    /// Whether it is kept, where nobody can see it, whose the records are: of each by itself, so that it is known of what was written.
    pub persons: bool,
    /// The same of how many people they stand for.
    pub weights: bool,
    /// The order of the records.
    pub order: Order,
    /// How many records are published.
    pub records: u64,
}

/// Where another system puts releases. Between [`begin`](RemoteStore::begin) and [`publish`](RemoteStore::publish) no reader of the
/// place sees anything.
pub trait RemoteStore: Debug {
    /// Claims the places.
    fn begin(&mut self, places: &Places) -> Result<()>;

    /// Counts as [`Remote::count`] does, keeps the rows until the release is published or discarded, and numbers them: one more
    /// column, [`ROW`], comes after the number of records. With a column that says whose the records are, [`UNNAMED`] and [`HELD`] come
    /// last, as [`Remote::count_persons`] says; with one of weights [`REPRESENTED`] and [`UNWEIGHED`].
    fn count_and_keep(&mut self, columns: &[String], asked: Asked<'_>) -> Result<Rows>;

    /// Writes a table; returns how many records it has. With slots, an error if the records of the table, or their persons, are not
    /// those that were kept.
    fn stage(&mut self, table: usize, plan: &RemotePlan) -> Result<u64>;

    /// What was written. It [knows persons](Remote::knows_persons) or [weights](Remote::knows_weights) if the plan asked for that.
    fn open(&self, table: usize) -> Result<Arc<dyn Remote>>;

    /// Puts all tables and the manifest in place.
    fn publish(&mut self, manifest: &[u8]) -> Result<()>;

    /// Gives up what was staged.
    fn discard(&mut self);

    /// The system, if it can keep the rows of a table for planning in parts.
    fn parts(&mut self) -> Option<&mut dyn RemoteParts> {
        None
    }
}

/// What cannot be done without the records themselves.
pub(crate) fn refused(name: &str) -> Error {
    Error::job(format!("this needs the records of `{name}` one by one, and only their counts leave the system that holds them"))
        .help("read the table from files or into memory, or leave out what looks at single records")
}
