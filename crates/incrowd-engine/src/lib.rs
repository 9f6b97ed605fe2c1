//! Where data lives.
//!
//! An [`Engine`] *folds* a table into distinct rows with multiplicities and *stages* the tables of a release as finished plans
//! say, where nobody can see them. They are read back from their bytes, and then published all at once or discarded.
//! Everything between happens in memory on the distinct rows and knows nothing of files. The [`Embedded`] engine takes tables
//! from files (CSV, Parquet, Arrow) or from memory and puts releases into files or into memory, streaming and in parallel.
//!
//! Memory is bounded by the distinct rows, not by the records.

mod beside;
mod cells;
mod codes;
mod copy;
mod database;
mod embedded;
mod emit;
mod fold;
mod formula;
mod glance;
mod group_cells;
mod intern;
mod join;
mod lines;
mod looks;
mod order;
mod past;
mod pending;
mod private_stream;
mod remote;
mod repeats;
mod replay;
mod rows;
mod shape;
mod shares;
mod sink;
mod source;
mod store;
mod survey;
mod withheld_draw;

pub use beside::{Beside, Seen};
pub use copy::copy;
pub use database::{
    MANIFESTS, PostgresStore, beside_table, check_address, is_database, locate, read_manifest, same_database,
    table_of, with_table,
};
pub use embedded::Embedded;
pub use formula::{is_formula, read_formulas};
pub use join::{External, Gathered, Identity, People, Strangers};
pub use pending::{Note, Pending, Target, Writer, abandon_all, recover, recover_beside, write_failed};
pub use remote::{
    Asked, FIRST, FROM, HELD, LOOK, Part, PersonColumn, PlannedPart, RANK, RECORDS, REPRESENTED, ROW, Remote,
    RemoteEngine, RemoteParts, RemotePlan, RemoteStore, Rows, Surveyed, TO, UNNAMED, UNWEIGHED, WHOLE, Whole,
    is_remote, put_directory, remote_place,
};
pub use shape::{Shape, high_column, low_column};
pub use source::{
    Batches, Compression, Encoding, FORMATS, Format, FormatCard, Options, Source, digest, digest_of,
    digest_of_each,
};
pub use store::{
    Dialect, Escape, FileStore, MemoryStore, Places, ReleasedTable, Staging, Store, TableColumn, delimiter_of,
};

use std::path::Path;

use incrowd_core::{Domain, Error, Folded, Plan, Progress, Result};

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
    /// The column that says whose record it is, if that is asked. A missing value there leaves no record out: each such record
    /// is a person of its own.
    pub person: Option<String>,
    /// The column that says how many people a record stands for, if that is asked. Each record that is not left out must have a
    /// number of at least 1 there.
    pub weight: Option<String>,
    /// Other columns, of which it is told whether values repeat, going by the first records that each thread sees.
    pub glance: Vec<String>,
    /// Whether rows may come as [numbers](incrowd_core::packed), each as often as it likes.
    pub packed: bool,
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
    /// The lower ends of those cells, which are ranges of numbers.
    Low(usize),
    /// The upper ends.
    High(usize),
    /// The mean of the group's numbers.
    Mean(usize),
    /// The same cells, which are sets, as lists in formats that have them.
    List(usize),
    /// The sensitive column at this position, as folded.
    Sensitive(usize),
    /// The category of the sensitive column at this position.
    Category(usize),
    /// The records themselves.
    Carried,
    /// What all records of a group have in common: the texts are those of [`Output::by_group`].
    OfGroup,
}

impl Content {
    /// What a column holds, in words for everybody.
    fn says(self, plan: &Plan<'_>) -> &'static str {
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
            Content::Carried => "passed through, as it was",
            Content::OfGroup => "made for the release: the same for all records of a group",
        }
    }
}

/// What to write.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// The columns with their names, in order.
    pub columns: Vec<(String, Content)>,
    /// The order of the records.
    pub order: Order,
    /// The text of a missing sensitive value in formats that have no null.
    pub missing: String,
    /// A number for each group, as text, where a column asks for it.
    pub by_group: Vec<String>,
    /// What is shown in another way than its label.
    pub shape: Shape,
    /// What some columns hold, in words for everybody, where that does not follow from where their cells come from.
    pub says: Vec<(String, &'static str)>,
}

/// What a database sent of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// How many records, or how many distinct rows if it grouped them.
    pub rows: u64,
    /// Whether it grouped them.
    pub grouped: bool,
}

/// What was written. An engine answers with an error instead if the numbers do not add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Records published.
    pub published: u64,
    /// Records left out because the plan suppresses their row.
    pub suppressed: u64,
}

/// A published table as somebody reads it who has nothing else.
#[derive(Clone, Debug, Default)]
pub struct ReadBack {
    /// The columns asked for: texts only, nothing counts as missing.
    pub folded: Folded,
    /// What was seen of the columns looked at record by record.
    pub seen: Seen,
    /// The digest of the table's bytes.
    pub digest: String,
    /// All columns it has.
    pub columns: Vec<String>,
}

/// What a release needs from the place where its data lives.
pub trait Engine {
    /// The column names of the table.
    fn columns(&self) -> &[String];

    /// Folds the table: the weights add up to the records read minus those dropped.
    fn fold(&mut self, spec: &FoldSpec, progress: &dyn Progress) -> Result<Folded>;

    /// What a database sent for the last fold, if the table lies in one.
    fn sent(&self) -> Option<Sent> {
        None
    }

    /// The records one by one, for what looks at people and not at rows.
    fn source(&self) -> &Source;

    /// Where a text occurs first in a column, in words for a message: `record 4811`.
    fn locate(&self, column: &str, text: &str) -> Result<Option<String>>;

    /// Claims the places of a release, before any long work: what cannot be written is said at once.
    fn begin(&mut self, places: &Places) -> Result<()>;

    /// Writes a table of the release where nobody can see it. If columns are carried, the plan must be for a table encoded
    /// from the last fold, or from what is left of it if records are withheld. On success published and suppressed records
    /// add up to the weights of the plan's table.
    fn stage(
        &mut self,
        table: usize,
        plan: &Plan<'_>,
        output: &Output,
        progress: &dyn Progress,
    ) -> Result<Receipt>;

    /// Reads a staged table back from its bytes. If the table it was made of says whose records they are, and somebody has
    /// several, so does the answer, and if it says how many people records stand for, too: whoever staged it kept the persons in the order of the records, where nobody can see them.
    /// Columns `beside` are looked at record by record in the same pass.
    fn read_back(
        &self,
        table: usize,
        columns: &[String],
        beside: Beside<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack>;

    /// Looks at a table that may have more distinct rows than planning should hold. `None` if it is folded as a whole; otherwise
    /// it is to be [divided](Engine::divide), and each part [folded](Engine::fold_part), planned and staged, one after the other.
    fn survey(&mut self, _: &FoldSpec, _: &dyn Progress) -> Result<Option<Surveyed>> {
        Ok(None)
    }

    /// Cuts a surveyed table into parts with at least `least` records each. `leaves` has for each quasi-identifier the leaf of each
    /// code, `sizes` how many leaves its line has. Returns how many parts there are, and how many records are in them.
    fn divide(&mut self, _: &[Vec<u32>], _: &[u32], _least: u64, _: &dyn Progress) -> Result<(usize, u64)> {
        Err(Error::bug("this engine does not part tables"))
    }

    /// Folds a part. What is staged next is its plan.
    fn fold_part(&mut self, _: usize) -> Result<Folded> {
        Err(Error::bug("this engine does not part tables"))
    }

    /// Whether the system that holds the table plans parts itself.
    fn plans_elsewhere(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Has all parts but the first planned by that system, side by side. `marker` is what stands for a missing value in the whole
    /// table.
    fn plan_elsewhere(&mut self, _marker: Option<&str>) -> Result<()> {
        Err(Error::bug("this engine does not part tables"))
    }

    /// Takes the plan of such a part, which is then neither folded nor staged here. Returns what else was said of it.
    fn take_planned(&mut self, _: usize) -> Result<String> {
        Err(Error::bug("this engine does not part tables"))
    }

    /// Writes the plans of all parts as one table where nobody can see it.
    fn write_parts(&mut self) -> Result<Receipt> {
        Err(Error::bug("this engine does not part tables"))
    }

    /// Puts all staged tables and the manifest in place: all of them, or none.
    fn publish(&mut self, manifest: &[u8]) -> Result<()>;

    /// Where it is said what belongs to the release while it is put in place; until then, and afterwards, nothing is there. `None`
    /// if a release appears by one act.
    fn journal(&self) -> Option<&Path> {
        None
    }

    /// Adds a line to a file when the release is in place: if one happens, so does the other. Without a journal it is added at
    /// once.
    fn note(&mut self, note: Note) -> Result<()> {
        note.add()
    }

    /// Gives up what was staged. Nothing of it is left.
    fn discard(&mut self);
}
