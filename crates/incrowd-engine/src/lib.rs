//! Engines: reading tables and writing releases.
//!
//! An [`Engine`] *folds* a table into distinct rows with counts. It *stages* the tables of a
//! release according to finished plans: staged tables are written but not visible. The staged
//! tables are read back from their bytes, and are then published together or discarded. All steps
//! between fold and staging work in memory on the distinct rows and do not access files. The
//! [`Embedded`] engine reads tables from files (CSV, Parquet, Arrow) or from memory and writes
//! releases to files or to memory. It uses all threads. The cells of records that a release needs
//! are in memory up to a limit and in an unnamed file beyond it. While rows are counted, a few
//! numbers per record are in memory.

mod cells;
mod copy;
mod database;
mod embedded;
mod emit;
mod file_id;
mod formula;
mod group_cells;
mod intern;
mod join;
mod lines;
mod location;
mod order;
mod packing;
mod pending;
mod record_values;
mod remote;
mod shape;
mod side_file;
mod sink;
mod source;
mod store;
mod survey;
mod table;
mod written_numbers;

pub use copy::copy;
pub use database::{Address, MANIFESTS, PostgresStore, read_manifest};
pub use embedded::Embedded;
pub use file_id::{
    FileId, StandardStream, goes_into_input, keep_messages_out, refuse_own_output, use_stream,
};
pub use formula::{harmless, is_formula, read_formulas};
pub use join::{External, Gathered, Identity, People, Strangers};
pub use location::Location;
pub use pending::{
    Note, Pending, Recovery, Target, Writer, abandon_all, configuration_directory, read_ledger,
    recover, refuse_interrupted, unauthenticated_journals, whole_lines, write_failed,
};
pub use record_values::{ExaminedColumns, RecordValues};
pub use remote::{
    Asked, FIRST, FROM, HELD, OUTPUT_ROW, Part, PersonColumn, PlannedPart, RANK, RECORDS,
    REPRESENTED, ROW, Remote, RemoteEngine, RemoteParts, RemotePlan, RemoteStore, Rows, Surveyed,
    TO, UNNAMED, UNWEIGHED, WHOLE, Whole, put_directory,
};
pub use shape::{Shape, high_column, low_column};
pub use side_file::{
    MOST_BYTES, MOST_HIERARCHY_BYTES, MOST_TOML_BYTES, read_side_file, read_side_text,
};
pub use source::{
    Batches, Compression, Encoding, FORMATS, Format, FormatCard, Options, Source,
    check_table_format, digest, digest_of, digest_of_each,
};
pub use store::{
    Dialect, Escape, Existing, FileStore, MemoryStore, Occupied, Places, ReleasedTable, Staging,
    Store, TableColumn, delimiter_of,
};

use std::path::Path;

use incrowd_core::{Domain, Folded, Plan, Progress, Result};

/// Settings of a fold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldSpec {
    /// The columns to fold, in the order of the folded table.
    pub columns: Vec<String>,
    /// Texts that mean a missing value. A null in a typed format is always missing.
    pub missing: Vec<String>,
    /// Whether records with a missing value in one of the columns are dropped. The fold counts
    /// them.
    pub drop_missing: bool,
    /// Passthrough columns. Their cells are kept for each record because they are published
    /// unchanged.
    pub passthrough: Vec<String>,
    /// The column that identifies the person of a record, if there is one. A record with a missing
    /// value there is kept and counts as a separate person.
    pub person: Option<String>,
    /// The column with sampling weights, if there is one. Each record that is not dropped must have
    /// a number of at least 1 there.
    pub weight: Option<String>,
    /// Other columns to check for repeated values. The check uses the first records that each
    /// thread reads.
    pub repeating: Vec<String>,
    /// Columns that identify people together. The fold counts the records of people who have
    /// another record.
    pub people: Vec<String>,
    /// Whether the fold may return [bit-packed rows](incrowd_core::packed). Packed rows may repeat.
    pub packed: bool,
}

/// The order of published records. Input order is never used, because a record's position could
/// identify it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Shuffled by a cryptographic generator with a secret seed.
    #[default]
    Shuffled,
    /// Sorted by the published cells.
    Sorted,
}

impl Order {
    /// The names in a job file, with their values.
    pub const ALL: [(&'static str, Order); 2] =
        [("shuffled", Order::Shuffled), ("sorted", Order::Sorted)];
}

/// The source of the cells of a published column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// The plan's cells for the quasi-identifier at this position.
    Quasi(usize),
    /// The lower ends of the cells of that quasi-identifier, which are numeric ranges.
    Low(usize),
    /// The upper ends of the cells of that quasi-identifier, which are numeric ranges.
    High(usize),
    /// The mean of the group's values of that quasi-identifier.
    Mean(usize),
    /// The cells of that quasi-identifier, which are sets, as lists in formats that have lists.
    List(usize),
    /// The sensitive column at this position, as folded.
    Sensitive(usize),
    /// The category of the sensitive column at this position.
    Category(usize),
    /// The cells of a passthrough column, as read.
    Passthrough,
    /// A value that all records of a group share. The texts are in [`Output::by_group`].
    OfGroup,
}

impl Content {
    /// A description of the column's content for end users.
    fn description(self, plan: &Plan<'_>) -> &'static str {
        match self {
            Content::Quasi(q) => match plan.dataset().quasi()[q].domain {
                Domain::Numbers(_) => "quasi-identifier, generalized: ranges",
                Domain::Taxonomy(_) => "quasi-identifier, generalized: nodes of a hierarchy",
                Domain::Labels(_) => "quasi-identifier, generalized: sets of values",
            },
            Content::Low(_) => "quasi-identifier, generalized: lower ends of ranges",
            Content::High(_) => "quasi-identifier, generalized: upper ends of ranges",
            Content::Mean(_) => "quasi-identifier, generalized: means of groups",
            Content::List(_) => "quasi-identifier, generalized: sets of values",
            Content::Sensitive(_) => "sensitive, as it was",
            Content::Category(_) => "sensitive, generalized: categories",
            Content::Passthrough => "passed through, as it was",
            Content::OfGroup => "made for the release: the same for all records of a group",
        }
    }
}

/// Settings of a table to write.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// The columns with their names, in order.
    pub columns: Vec<(String, Content)>,
    /// The order of the records.
    pub order: Order,
    /// The text of a missing sensitive value in formats that have no null.
    pub missing: String,
    /// One text per group, for columns with [`Content::OfGroup`].
    pub by_group: Vec<String>,
    /// Columns that are published in another form than their labels.
    pub shape: Shape,
    /// Descriptions of columns for end users, where the description does not follow from the
    /// column's [`Content`].
    pub descriptions: Vec<(String, &'static str)>,
}

/// The amount of data that a database sent for a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// The number of records sent, or of distinct rows if the database grouped them.
    pub rows: u64,
    /// Whether the database grouped the records.
    pub grouped: bool,
}

/// The result of writing a table. An engine returns an error instead if the numbers do not add up
/// to the records of the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Records published.
    pub published: u64,
    /// Records left out because the plan suppresses their row.
    pub suppressed: u64,
}

/// A published table, read from its bytes only.
#[derive(Clone, Debug, Default)]
pub struct ReadBack {
    /// The requested columns as texts. No text is treated as missing.
    pub folded: Folded,
    /// Per-record data of the columns that were examined record by record.
    pub record_values: RecordValues,
    /// The digest of the table's bytes.
    pub digest: String,
    /// The names of all columns of the table.
    pub columns: Vec<String>,
}

/// The operations that a release needs from the system that holds its data.
pub trait Engine {
    /// The column names of the table.
    fn columns(&self) -> &[String];

    /// Folds the table. The counts sum to the records read minus the records dropped.
    fn fold(&mut self, spec: &FoldSpec, progress: &dyn Progress) -> Result<Folded>;

    /// The amount of data that a database sent for the last fold, if the table is in a database.
    fn sent(&self) -> Option<Sent> {
        None
    }

    /// The source of the table, for code that needs single records and not only distinct rows.
    fn source(&self) -> &Source;

    /// The first occurrence of a text in a column, as a phrase for a message: `record 4811`.
    fn locate(&self, column: &str, text: &str) -> Result<Option<String>>;

    /// Claims the places of a release before any long work, so that an unwritable place is reported
    /// at once.
    fn begin(&mut self, places: &Places) -> Result<()>;

    /// The current content of the claimed places. An engine that itself refuses to replace other
    /// content than releases returns the default.
    fn occupied(&self) -> Result<Occupied> {
        Ok(Occupied::default())
    }

    /// Writes a table of the release without making it visible. If columns are passed through, the
    /// plan must be for a table encoded from the last fold, or from the remaining rows of that fold
    /// if records are suppressed before planning. On success, published and suppressed records sum
    /// to the counts of the plan's table.
    fn stage(
        &mut self,
        table: usize,
        plan: &Plan<'_>,
        output: &Output,
        progress: &dyn Progress,
    ) -> Result<Receipt>;

    /// Reads a staged table back from its bytes. The result has persons if the source table has a
    /// person column and a person has several records. It has sampling weights if the source table
    /// has them. Both come from numbers that staging stored in the order of the published
    /// records. The columns `examined` are examined record by record in the same pass.
    fn read_back(
        &self,
        table: usize,
        columns: &[String],
        examined: ExaminedColumns<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack>;

    /// This engine as one that plans tables in parts, if it can.
    fn partitioned(&mut self) -> Option<&mut dyn PartitionedEngine> {
        None
    }

    /// Publishes all staged tables and the manifest: all of them, or none.
    fn publish(&mut self, manifest: &[u8]) -> Result<()>;

    /// The path of the journal, which lists the files of the release while they are published. The
    /// file exists only during publication. `None` if a release is published by a single atomic
    /// operation.
    fn journal(&self) -> Option<&Path> {
        None
    }

    /// Adds a line to a file when the release is published: both happen, or neither. An engine
    /// without a journal adds the line at once.
    fn note(&mut self, note: Note) -> Result<()> {
        note.add()
    }

    /// Discards all staged files.
    fn discard(&mut self);
}

/// Planning in parts, for tables of another system with more distinct rows than planning should
/// keep in memory. The caller [divides](PartitionedEngine::divide) a table, and
/// [folds](PartitionedEngine::fold_part), plans and stages one part after the other.
pub trait PartitionedEngine: Engine {
    /// Returns `None` if the table has so few distinct rows that it is folded as a whole.
    fn survey(&mut self, spec: &FoldSpec, progress: &dyn Progress) -> Result<Option<Surveyed>>;

    /// Cuts a surveyed table into parts with at least `least` records each. `leaves` has for each
    /// quasi-identifier the leaf of each code. `sizes` has the number of leaves of each
    /// quasi-identifier. Returns the number of parts and the number of records in them.
    fn divide(
        &mut self,
        leaves: &[Vec<u32>],
        sizes: &[u32],
        least: u64,
        progress: &dyn Progress,
    ) -> Result<(usize, u64)>;

    /// Folds a part. The next call of [`Engine::stage`] must pass the plan of this part.
    fn fold_part(&mut self, part: usize) -> Result<Folded>;

    /// Whether the system that holds the table can plan parts on its workers.
    fn has_workers(&mut self) -> Result<bool>;

    /// Starts planning all parts except the first on the workers, in parallel. `marker` is the text
    /// that marks a missing value in the whole table.
    fn plan_on_workers(&mut self, marker: Option<&str>) -> Result<()>;

    /// Takes the plan of a part that a worker planned. This engine neither folds nor stages that
    /// part. Returns additional information about the plan.
    fn take_planned(&mut self, part: usize) -> Result<String>;

    /// Writes the plans of all parts as one table, which is not visible yet.
    fn write_parts(&mut self) -> Result<Receipt>;
}
