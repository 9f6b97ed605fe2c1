//! Tables that another system, such as Apache Spark, stores and counts.
//!
//! This process receives only counts: the distinct rows of the requested columns, each with its
//! number of records. Planning works as for any other table. The plan is sent back as a small
//! table, and the other system writes the records. The other system counts the written records
//! again, and this process verifies the counts. Passthrough columns and person columns never leave
//! the other system.

mod counted;
mod directory;
mod engine;
mod parts;
mod persons;
mod slots;
mod weights;
mod workers;

use std::fmt::Debug;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use incrowd_core::{Error, Result};

use crate::{Order, Places};

pub(crate) use counted::fold;
pub use directory::put_directory;
pub use engine::RemoteEngine;
pub use parts::{Part, RemoteParts, Surveyed};
pub use persons::PersonColumn;
pub use weights::Asked;
pub use workers::{PlannedPart, Whole};

/// Plan column: the number of records that a row describes.
pub const RECORDS: &str = "_incrowd_records";
/// Plan column: the index of the first of those records among all published records.
pub const FIRST: &str = "_incrowd_first";
/// Plan column: the position of a row in sorted order.
pub const RANK: &str = "_incrowd_rank";
/// Column with the index of a *output row*: one distinct combination of published cells.
pub const OUTPUT_ROW: &str = "_incrowd_output_row";
/// Column with the index of a distinct row, assigned by the system that keeps the row.
pub const ROW: &str = "_incrowd_row";
/// The first record of a distinct row that gets an output row. The records of a row are in random order
/// and are counted from 1.
pub const FROM: &str = "_incrowd_from";
/// The last record of a distinct row that gets an output row, inclusive.
pub const TO: &str = "_incrowd_to";
/// Whether all records of a row have the same output row and are published: 1 or 0.
pub const WHOLE: &str = "_incrowd_whole";

/// Column with the number of counted records that have no person.
pub const UNNAMED: &str = "_incrowd_unnamed";
/// Column with lists of integers. Each person has two entries: the person's number and the number
/// of the person's records.
pub const HELD: &str = "_incrowd_held";

/// Column with the sum of the sampling weights of the counted records, in
/// [millionths](incrowd_core::represented).
pub const REPRESENTED: &str = "_incrowd_represented";
/// Column with the number of records without a sampling weight.
pub const UNWEIGHED: &str = "_incrowd_unweighed";

/// Rows of a table in Arrow.
pub type Rows = (SchemaRef, Vec<RecordBatch>);

/// A table that another system stores.
pub trait Remote: Debug + Send + Sync {
    /// The name of the table in messages.
    fn name(&self) -> &str;

    /// The columns of the table and their types.
    fn schema(&self) -> SchemaRef;

    /// The distinct rows of these columns, in any order. A null is an ordinary value. The last
    /// column is added and has the number of records as 64-bit integers.
    fn count(&self, columns: &[String]) -> Result<Rows>;

    /// For each set of columns, the number of records whose values there are unique.
    fn unique_records(&self, sets: &[Vec<String>]) -> Result<Vec<u64>>;

    /// Whether the system privately stores the persons of this table's records.
    fn knows_persons(&self) -> bool {
        false
    }

    /// Counts like [`Remote::count`] and adds the persons of the records. The persons come from a
    /// column, or without one from the system's private data. Two columns are added at the end:
    /// [`UNNAMED`] and [`HELD`]. A person has the same number in all rows. The number does not
    /// reveal the person's name. A row may be split into several rows of the result.
    fn count_persons(
        &self,
        _columns: &[String],
        _person: Option<PersonColumn<'_>>,
    ) -> Result<Rows> {
        Err(Error::bug("this system does not count persons"))
    }

    /// For each set of columns, the number of persons with values that no other person has, and the
    /// number of all persons. Requires that the system [stores persons](Remote::knows_persons).
    fn unique_persons(&self, _sets: &[Vec<String>]) -> Result<(Vec<u64>, u64)> {
        Err(Error::bug("this system does not count persons"))
    }

    /// Whether the system privately stores the sampling weights of this table's records.
    fn knows_weights(&self) -> bool {
        false
    }

    /// Counts like [`Remote::count`] and sums the sampling weights of the records. The weights come
    /// from a column, or without one from the system's private data. Two columns are added at the
    /// end: [`REPRESENTED`] and [`UNWEIGHED`]. A text in `missing` is not a weight.
    fn count_weights(
        &self,
        _columns: &[String],
        _weight: Option<&str>,
        _missing: &[String],
    ) -> Result<Rows> {
        Err(Error::bug("this system does not add up weights"))
    }

    /// The columns in which some values, but not most, occur in several records. The system
    /// examines a sample of the records. The texts in `missing` are ignored.
    fn repeating(&self, columns: &[String], missing: &[String]) -> Result<Vec<String>>;

    /// A digest of the system's data of the table, if the table is a release.
    fn digest(&self) -> Result<String>;
}

/// The plan of one table of a release, for another system.
#[derive(Clone, Debug)]
pub struct RemotePlan {
    /// The published columns, in order. `true` means that the cells come from the records.
    pub columns: Vec<(String, bool)>,
    /// The output rows: the other published columns with their types, and [`OUTPUT_ROW`] and [`RANK`]. Without
    /// passthrough columns also [`RECORDS`] and [`FIRST`]; an output row may then occur in several rows.
    pub output_rows: Rows,
    /// Assigns output rows to the records of each kept row: [`ROW`], [`FROM`], [`TO`], [`OUTPUT_ROW`],
    /// [`WHOLE`]. A record without an output row is not published. `None` if there are no passthrough
    /// columns, persons or sampling weights.
    pub slots: Option<Rows>,
    /// Whether the system must privately store the person of each written record, so that the
    /// written table can be verified.
    pub persons: bool,
    /// Whether the system must privately store the sampling weight of each written record.
    pub weights: bool,
    /// The order of the records.
    pub order: Order,
    /// The number of published records.
    pub records: u64,
}

/// A place for releases in another system. Between [`begin`](RemoteStore::begin) and
/// [`publish`](RemoteStore::publish) readers of the place see no change.
pub trait RemoteStore: Debug {
    /// Claims the places of a release.
    fn begin(&mut self, places: &Places) -> Result<()>;

    /// Counts like [`Remote::count`], keeps the rows until the release is published or discarded,
    /// and numbers them. The column [`ROW`] is added after the number of records. If `asked` has a
    /// person column, [`UNNAMED`] and [`HELD`] follow, as in [`Remote::count_persons`]. If it has a
    /// column of weights, [`REPRESENTED`] and [`UNWEIGHED`] follow.
    fn count_and_keep(&mut self, columns: &[String], asked: Asked<'_>) -> Result<Rows>;

    /// Writes a table and returns its number of records. With slots, it is an error if the table's
    /// records or persons differ from those that were kept.
    fn stage(&mut self, table: usize, plan: &RemotePlan) -> Result<u64>;

    /// Opens a written table. It [has persons](Remote::knows_persons) or
    /// [weights](Remote::knows_weights) if the plan requested them.
    fn open(&self, table: usize) -> Result<Arc<dyn Remote>>;

    /// Publishes all tables and the manifest.
    fn publish(&mut self, manifest: &[u8]) -> Result<()>;

    /// Discards all staged tables.
    fn discard(&mut self);

    /// The interface for planning in parts, if the system can keep the rows of a table.
    fn parts(&mut self) -> Option<&mut dyn RemoteParts> {
        None
    }
}

/// Refuses to compare the people of single records.
pub(crate) fn refuse_people(remote: &dyn Remote, spec: &crate::FoldSpec) -> Result<()> {
    if spec.people.is_empty() { Ok(()) } else { Err(refused(remote.name())) }
}

/// The error for an operation that needs single records.
pub(crate) fn refused(name: &str) -> Error {
    Error::job(format!("this needs the records of `{name}` one by one, and only their counts leave the system that holds them"))
        .help("read the table from files or into memory, or leave out what looks at single records")
}
