//! Stores: a release is staged invisibly and then published atomically.

mod files;
mod memory;

use std::fmt::Debug;
use std::io::Write;
use std::path::{Path, PathBuf};

use arrow_schema::DataType;
use incrowd_core::Result;

use crate::location::Location;
use crate::pending::Note;
use crate::source::{Format, Source};

pub use files::{FileStore, delimiter_of};
#[cfg(feature = "postgres")]
pub(crate) use files::{existing_file, open_pending, read_manifest_file};
use incrowd_core::numerals::DecimalMark;
pub use memory::{MemoryStore, ReleasedTable};

/// Targets of a release: its tables in the order of staging, and its manifest. For a store without
/// files, the last segment of a path is the name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Targets of the tables.
    pub tables: Vec<Location>,
    /// Target of the manifest.
    pub manifest: PathBuf,
    /// Job keys of the tables, for error messages. May be empty.
    pub keys: Vec<&'static str>,
    /// Indices of tables that only the data owner may read. May be empty.
    pub private: Vec<usize>,
    /// Whether cells of public text files are written so that spreadsheets do not interpret them as
    /// formulas.
    pub csv_safe: bool,
    /// Format of text files.
    pub dialect: Dialect,
    /// Database identifiers of the input tables. A release never replaces them.
    pub reads: Vec<String>,
    /// Whether the release may replace data that are not a release of incrowd.
    pub replace: bool,
}

/// Existing contents of the targets before the publication.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Occupied {
    /// The existing tables and the existing manifest file.
    pub existing: Vec<Existing>,
    /// The manifest that the store has for a release at these targets.
    pub manifest: Option<Vec<u8>>,
    /// Contents of the manifest file, for stores that also store manifests elsewhere. For other
    /// stores, these are the contents of `manifest`.
    pub manifest_file: Option<Vec<u8>>,
    /// Journals beside the targets that this user's key does not authenticate. They were neither
    /// executed nor removed.
    pub unauthenticated: Vec<PathBuf>,
}

/// An object that a release would replace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Existing {
    /// Index of the table in [`Places::tables`]. `None` for the manifest file.
    pub table: Option<usize>,
    /// Description for messages, such as ``the file `people.csv` ``.
    pub shown: String,
    /// Digest as a manifest would state it. Computed only if there is a manifest to compare it
    /// with.
    pub digest: Option<String>,
}

/// A column of a table to be staged.
#[derive(Clone, Debug, PartialEq)]
pub struct TableColumn {
    /// Name of the column.
    pub name: String,
    /// Type in formats with types.
    pub data_type: DataType,
    /// Type in the source database, if the column is published unchanged.
    pub sql: Option<&'static str>,
    /// Description of the contents for all readers.
    pub description: &'static str,
}

/// Format of text cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dialect {
    /// The delimiter. If `None`, the file name determines it.
    pub delimiter: Option<u8>,
    /// Decimal mark of numbers.
    pub decimal: DecimalMark,
}

/// Method that distinguishes the text of cells from separators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Escape {
    /// Quotation marks around cells. The first line contains the column names.
    #[default]
    Quotes,
    /// Backslashes before special characters, without column names. `COPY` of PostgreSQL parses it
    /// fastest.
    Backslashes,
    /// Length prefixes: the binary format of `COPY`, for tables with text columns only.
    Lengths,
}

/// A table to be staged.
pub struct Staging {
    /// Destination of the bytes.
    pub writer: Box<dyn Write + Send>,
    /// File format.
    pub format: Format,
    /// Name after the publication. For text, its extension determines the delimiter.
    pub target: PathBuf,
    /// Whether text cells are written so that spreadsheets do not interpret them as formulas.
    pub csv_safe: bool,
    /// Format of text.
    pub dialect: Dialect,
    /// Escaping of text cells.
    pub escape: Escape,
    /// Whether columns that are determined by the plan are dictionary-encoded, if the format
    /// supports it.
    pub in_codes: bool,
}

incrowd_core::opaque_debug!(Staging { target });

/// A store for releases. Between [`begin`](Store::begin) and [`publish`](Store::publish) its
/// contents are invisible. A store that is dropped before the publication leaves no data.
pub trait Store: Debug {
    /// Claims the targets before long computations, so that write errors are reported early.
    fn begin(&mut self, places: &Places) -> Result<()>;

    /// The current contents of the claimed targets. No other process changes them until the release
    /// is published or discarded, or until publishing fails.
    fn occupied(&self) -> Result<Occupied> {
        Ok(Occupied::default())
    }

    /// Starts to stage the table with this index.
    fn stage(&mut self, table: usize, columns: &[TableColumn]) -> Result<Staging>;

    /// Opens a staged table for reading, in the same way as a published one. A digest is computed
    /// during reading.
    fn open(&self, table: usize) -> Result<Source>;

    /// Publishes all staged tables and the manifest atomically.
    fn publish(&mut self, manifest: &[u8]) -> Result<()>;

    /// Path of the journal. It exists only during the publication, and lists the objects of the
    /// release. A store with atomic publication has no journal.
    fn journal(&self) -> Option<&Path> {
        None
    }

    /// Appends a line to a file when the release is published. Both happen or neither does. A store
    /// without a journal appends it at once.
    fn note(&mut self, note: Note) -> Result<()> {
        note.add()
    }

    /// Deletes all staged data.
    fn discard(&mut self);

    /// Whether text cells of a table are written so that spreadsheets do not interpret them as
    /// formulas.
    fn is_csv_safe(&self, _table: usize) -> bool {
        false
    }

    /// Directory for unnamed temporary files, which are used for sorting records.
    fn spill(&self) -> &Path;
}
