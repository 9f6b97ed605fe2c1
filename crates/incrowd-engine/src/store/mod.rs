//! Where a release is put together before anybody can see it, and how it appears all at once.

mod files;
mod memory;

use std::fmt::Debug;
use std::io::Write;
use std::path::{Path, PathBuf};

use arrow_schema::DataType;
use incrowd_core::Result;

use crate::pending::Note;
use crate::source::{Format, Source};

#[cfg(feature = "postgres")]
pub(crate) use files::open_pending;
pub use files::{FileStore, delimiter_of};
use incrowd_core::numerals::DecimalMark;
pub use memory::{MemoryStore, ReleasedTable};

/// The places of a release: its tables in the order in which they are staged, then its manifest. For a store that has no files
/// the last part of a path is a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// The tables.
    pub tables: Vec<PathBuf>,
    /// The manifest.
    pub manifest: PathBuf,
    /// The keys of a job that name the tables, so that errors can point at them; may be empty.
    pub keys: Vec<&'static str>,
    /// The positions of tables that are for the owner's eyes only; may be empty.
    pub private: Vec<usize>,
    /// Whether cells of public text files are written so that no spreadsheet takes them for formulas.
    pub csv_safe: bool,
    /// How text is written.
    pub dialect: Dialect,
    /// Which tables are read, as a database tells them apart; their place is never taken.
    pub reads: Vec<String>,
}

/// A column of a table about to be staged.
#[derive(Clone, Debug, PartialEq)]
pub struct TableColumn {
    /// Its name.
    pub name: String,
    /// Its type in formats that have types.
    pub data_type: DataType,
    /// Its type in the database it comes from, if it is published as it was there.
    pub sql: Option<&'static str>,
    /// What it holds, in words for everybody.
    pub says: &'static str,
}

/// How the cells of text are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dialect {
    /// What separates them, if the name of the file is not to tell.
    pub delimiter: Option<u8>,
    /// What stands before the fractions of numbers.
    pub decimal: DecimalMark,
}

/// How a cell of text is told from what separates cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Escape {
    /// By quotation marks around it; a line with the names of the columns comes first.
    #[default]
    Quotes,
    /// By backslashes in it, without names: what `COPY` of PostgreSQL reads with the least work.
    Backslashes,
    /// By their lengths before them: the binary form of `COPY`, for tables of text only.
    Lengths,
}

/// A table about to be staged.
pub struct Staging {
    /// Where its bytes go.
    pub writer: Box<dyn Write + Send>,
    /// How they are written.
    pub format: Format,
    /// What it will be called; its extension tells the delimiter of text.
    pub target: PathBuf,
    /// Whether cells of text are written so that no spreadsheet takes them for formulas.
    pub csv_safe: bool,
    /// How text is written.
    pub dialect: Dialect,
    /// How cells of text are told from what separates them.
    pub escape: Escape,
    /// Whether texts that follow from the plan are kept once and then as numbers, in a format that can.
    pub in_codes: bool,
}

impl Debug for Staging {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Staging").field("target", &self.target).finish_non_exhaustive()
    }
}

/// A store for releases. Between [`begin`](Store::begin) and [`publish`](Store::publish) nobody can see what it holds; a store
/// that is dropped in between leaves nothing behind.
pub trait Store: Debug {
    /// Claims the places, before any long work: what cannot be written is said at once.
    fn begin(&mut self, places: &Places) -> Result<()>;

    /// Starts the table at a position of the places.
    fn stage(&mut self, table: usize, columns: &[TableColumn]) -> Result<Staging>;

    /// Opens a staged table for reading, as a stranger would; its digest is computed while it is read.
    fn open(&self, table: usize) -> Result<Source>;

    /// Puts all staged tables and the manifest in place: all of them, or none.
    fn publish(&mut self, manifest: &[u8]) -> Result<()>;

    /// Where it is said what belongs to the release while it is put in place; until then, and afterwards, nothing is there. A
    /// store whose releases appear by one act has no such file.
    fn journal(&self) -> Option<&Path> {
        None
    }

    /// Adds a line to a file when the release is in place: if one happens, so does the other. A store without a journal adds it
    /// at once.
    fn note(&mut self, note: Note) -> Result<()> {
        note.add()
    }

    /// Gives up what was staged. Nothing of it is left.
    fn discard(&mut self);

    /// Whether the cells of a table are written so that no spreadsheet takes them for formulas.
    fn is_csv_safe(&self, _table: usize) -> bool {
        false
    }

    /// Where files without a name may be made while records are brought in order.
    fn spill(&self) -> &Path;
}
