//! Reading tables: one or more files of one format are read in parallel as one table.

mod arrow;
mod batches;
mod chunks;
mod directory;
mod encoding;
mod foreign;
mod scan;
mod sniff;
pub(crate) mod table_format;
mod work;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_schema::DataType;
use incrowd_core::numerals::{self, DecimalMark};
use incrowd_core::{Error, Result, Silent};

use crate::database::{self, Address, Relation};
use crate::file_id::{self, FileId, FileVersion};
use crate::location::Location;
use crate::record_values::ExaminedColumns;
use crate::remote::Remote;

pub use batches::Batches;
pub use encoding::Encoding;
pub use table_format::check_table_format;
pub(crate) use work::{CodedCells, Place, Records, Scan, Trouble, WholeCells, Worker, too_large};

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Delimited text, plain or compressed.
    Csv(Compression),
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC files, also known as Feather.
    Arrow,
}

/// Compression of delimited text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Uncompressed.
    Plain,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

/// Description of a file format.
#[derive(Clone, Copy, Debug)]
pub struct FormatCard {
    /// The name in a job file.
    pub name: &'static str,
    /// Name in messages and documentation.
    pub title: &'static str,
    /// File name extensions of the format.
    pub extensions: &'static [&'static str],
    /// Whether `.gz` and `.zst` may follow the extension.
    pub compressed: bool,
    /// Constructor of the format. Formats without compression are only constructed with
    /// [`Compression::Plain`].
    pub format: fn(Compression) -> Format,
}

/// All file formats. File names, job keys, the proposals of `init`, messages and tests use this
/// list.
pub const FORMATS: &[FormatCard] = &[
    FormatCard {
        name: "csv",
        title: "CSV",
        extensions: &["csv", "tsv", "txt"],
        compressed: true,
        format: Format::Csv,
    },
    FormatCard {
        name: "parquet",
        title: "Parquet",
        extensions: &["parquet", "pq"],
        compressed: false,
        format: |_| Format::Parquet,
    },
    FormatCard {
        name: "arrow",
        title: "Arrow",
        extensions: &["arrow", "feather", "ipc"],
        compressed: false,
        format: |_| Format::Arrow,
    },
];

impl FormatCard {
    /// The formats as a list in English, such as `CSV, Parquet and Arrow`.
    pub(crate) fn titles() -> String {
        let titles: Vec<&str> = FORMATS.iter().map(|card| card.title).collect();
        let (last, first) = titles.split_last().expect("the list is not empty");
        format!("{} and {last}", first.join(", "))
    }
}

impl Format {
    /// The format for a file name. The error lists the accepted extensions.
    pub fn of_path(path: &Path) -> Result<Format> {
        let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
        let (stem, compression) = match name.rsplit_once('.') {
            Some((stem, "gz")) => (stem, Compression::Gzip),
            Some((stem, "zst")) => (stem, Compression::Zstd),
            _ => (name.as_str(), Compression::Plain),
        };
        let extension = stem.rsplit_once('.').map_or("", |(_, extension)| extension);
        let asked = |card: &&FormatCard| {
            card.extensions.contains(&extension)
                && (card.compressed || compression == Compression::Plain)
        };
        FORMATS.iter().find(asked).map(|card| (card.format)(compression)).ok_or_else(|| {
            let known = FORMATS.iter().map(|card| {
                let compressed =
                    if card.compressed { " (each also with .gz or .zst, as .csv.gz)" } else { "" };
                format!(".{}{compressed}", card.extensions.join(", ."))
            });
            Error::job(format!("cannot tell the format of `{}` from its name", path.display()))
                .help(format!("use {}", known.collect::<Vec<_>>().join(", ")))
        })
    }

    /// The uncompressed format with this name in a job file.
    pub fn named(name: &str) -> Option<Format> {
        FORMATS.iter().find(|card| card.name == name).map(|card| (card.format)(Compression::Plain))
    }
}

/// Settings of the reader. A setting that is `None` is detected from the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The format, if it cannot be detected from the files.
    pub format: Option<Format>,
    /// The delimiter of delimited text.
    pub delimiter: Option<u8>,
    /// The character encoding of delimited text.
    pub encoding: Option<Encoding>,
    /// The decimal mark of delimited text.
    pub decimal: Option<DecimalMark>,
    /// The sheet to read from an Excel file with several sheets.
    pub sheet: Option<String>,
    /// Whether to compute a digest of the files' bytes during reading.
    pub digest: bool,
}

/// A column of a source.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// The type, for formats with types.
    pub(crate) data_type: Option<DataType>,
    /// The SQL type, for a column of a database.
    pub(crate) sql: Option<&'static str>,
}

/// What holds the records of a part of a table.
#[derive(Clone, Debug)]
enum TableKind {
    /// A file of delimited text.
    Text(Compression),
    /// A Parquet or Arrow file, or a table in memory.
    Typed(arrow::TypedFile),
    /// A relation of a database, which sends text.
    Database(Arc<Relation>),
    /// A table of a system that counts its records itself. They cannot be read here.
    Remote(Arc<dyn Remote>),
}

/// One file, one relation of a database, or one table in memory.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    path: PathBuf,
    kind: TableKind,
    bytes: u64,
    delimiter: u8,
    encoding: Encoding,
    /// Decimal mark of numbers in text.
    decimal: Option<DecimalMark>,
    /// Position in this file of each column of the table.
    positions: Vec<usize>,
    /// Number of columns in the file.
    width: usize,
    /// Whether the first line is certainly a header. A typed file always has names. The first line
    /// of a text file may be a record.
    named: bool,
    /// Columns from the names of the directories. They follow the columns of the file.
    constants: Vec<directory::Constant>,
    /// The version of the file whose columns were read. `None` if the part is not a file.
    version: Option<FileVersion>,
}

impl Part {
    fn new(path: &Path, kind: TableKind, bytes: u64) -> Part {
        Part {
            path: path.to_owned(),
            kind,
            bytes,
            delimiter: b',',
            encoding: Encoding::Utf8,
            decimal: None,
            positions: Vec::new(),
            width: 0,
            named: true,
            constants: Vec::new(),
            version: None,
        }
    }

    /// Opens the file. It is an error if the file was replaced or changed since its columns were
    /// read, because the positions of the columns would be those of another table.
    fn open_file(&self) -> Result<File> {
        let failed = |e: std::io::Error| unreadable(&self.path, &e);
        let file = File::open(&self.path).map_err(failed)?;
        let version = FileVersion::of(&file.metadata().map_err(failed)?);
        if self.version.is_some_and(|own| own != version) {
            return Err(Error::input(format!(
                "`{}` changed while it was read",
                self.path.display()
            ))
            .help("run the command again when no other program writes to the file"));
        }
        Ok(file)
    }

    /// Sets the number of columns, all of which belong to the table.
    fn with_columns(self, width: usize) -> Part {
        Part { positions: (0..width).collect(), width, ..self }
    }

    /// The metadata of a typed file, or the batches in memory.
    fn typed(&self) -> Option<&arrow::TypedFile> {
        match &self.kind {
            TableKind::Typed(typed) => Some(typed),
            _ => None,
        }
    }

    fn relation(&self) -> Option<&Arc<Relation>> {
        match &self.kind {
            TableKind::Database(relation) => Some(relation),
            _ => None,
        }
    }

    /// Whether the part is a file.
    fn is_file(&self) -> bool {
        self.version.is_some()
    }
}

/// Memory limit in bytes for the records of a scan, and limit as a multiple of the file size. The
/// larger limit applies.
const ALLOWANCE: u64 = 800 << 20;
const ALLOWANCE_TIMES: u64 = 80;
/// The share of the limit that the distinct sets of values of a release may take: one part in this
/// many. They are copied when the release is written, read back and judged.
const LABELS: u64 = 8;
/// For tables smaller than this, the size of the caches has no effect on the time.
const SMALL: u64 = 16 << 20;
/// Maximum number of cached texts of a small table, summed over all threads.
const REMEMBERED: usize = 1 << 19;

/// A table in one or more files, in a database or in memory.
#[derive(Debug)]
pub struct Source {
    parts: Vec<Part>,
    names: Vec<String>,
    columns: Vec<Column>,
    digest: bool,
    /// Whether the memory limit is lifted. It is for tables passed in memory and for files that
    /// this program wrote.
    is_trusted: bool,
}

impl Source {
    /// Opens files as one table. A path may be a glob pattern or a directory. All files must have
    /// the same columns, in any order.
    pub fn open(
        locations: impl IntoIterator<Item: Into<Location>>,
        options: &Options,
    ) -> Result<Source> {
        let locations: Vec<Location> = locations.into_iter().map(Into::into).collect();
        let mut parts: Vec<Part> = Vec::new();
        let mut columns: Vec<Column> = Vec::new();
        for found in expand(&locations)? {
            let (mut part, mut own) = open_part(&found.location, options)?;
            for constant in found.constants {
                // Some writers also store the partition column in the file.
                if !own.iter().any(|column| column.name == constant.0) {
                    part.positions.push(own.len());
                    own.push(Column { name: constant.0.clone(), data_type: None, sql: None });
                    part.constants.push(constant);
                }
            }
            check_names(&part.path, &own)?;
            if parts.is_empty() {
                columns = own;
            } else {
                let places: hashbrown::HashMap<&str, usize> =
                    own.iter().enumerate().map(|(i, c)| (c.name.as_str(), i)).collect();
                let position = |column: &Column| places.get(column.name.as_str()).copied();
                let positions: Option<Vec<usize>> = columns.iter().map(position).collect();
                match positions.filter(|p| p.len() == own.len()) {
                    Some(positions) => {
                        for (column, &position) in columns.iter_mut().zip(&positions) {
                            if column.data_type != own[position].data_type {
                                column.data_type = None;
                            }
                        }
                        part.positions = positions;
                    }
                    None => {
                        let (this, first) = (part.path.display(), parts[0].path.display());
                        return Err(Error::input(format!(
                            "`{this}` does not have the same columns as `{first}`"
                        ))
                        .help("files read as one table must agree in their column names"));
                    }
                }
            }
            parts.push(part);
        }
        let names = columns.iter().map(|c| c.name.clone()).collect();
        Ok(Source { parts, names, columns, digest: options.digest, is_trusted: false })
    }

    /// Lifts the memory limit, because this program wrote the files.
    pub(crate) fn of_our_own(self) -> Source {
        Source { is_trusted: true, ..self }
    }

    /// The files that paths and patterns match.
    pub fn matching(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let files: Vec<_> = paths.iter().cloned().map(Location::File).collect();
        Ok(expand(&files)?
            .iter()
            .filter_map(|found| found.location.file())
            .map(Path::to_owned)
            .collect())
    }

    /// Opens a table in memory. No cell is copied.
    pub fn of_batches(batches: &Batches) -> Result<Source> {
        let name = Path::new(batches.name());
        let schema = batches.schema();
        check_name_lengths(name, schema.fields().iter().map(|field| field.name().as_str()))?;
        let columns = arrow::columns(&schema);
        check_names(name, &columns)?;
        let kind = match batches.held_by() {
            Some(remote) => TableKind::Remote(remote.clone()),
            None => TableKind::Typed(arrow::TypedFile::Batches(batches.clone())),
        };
        let part = Part::new(name, kind, batches.bytes()).with_columns(columns.len());
        Ok(Source::of_part(part, columns, false))
    }

    /// Opens an Arrow file whose bytes are in memory.
    pub(crate) fn of_bytes(name: &str, bytes: &arrow_buffer::Buffer) -> Result<Source> {
        let (typed, columns) = arrow::open_bytes(name, bytes)?;
        let kind = TableKind::Typed(typed);
        let part = Part::new(Path::new(name), kind, bytes.len() as u64);
        Ok(Source::of_part(part.with_columns(columns.len()), columns, true))
    }

    /// Opens a relation of a database with the given column names. It is read as text, and a digest
    /// of the text is computed.
    #[cfg(feature = "postgres")]
    pub(crate) fn of_relation(
        address: &Address,
        relation: Arc<Relation>,
        columns: Vec<String>,
    ) -> Source {
        let column = |name| Column { name, data_type: None, sql: None };
        let columns: Vec<Column> = columns.into_iter().map(column).collect();
        Source::of_part(database_part(address, relation, columns.len()), columns, true)
    }

    /// The relation, if the source is exactly one relation of a database and no digest requires a
    /// full read.
    pub(crate) fn relation(&self) -> Option<&Relation> {
        match self.parts.as_slice() {
            [part] if !self.digest => part.relation().map(Arc::as_ref),
            _ => None,
        }
    }

    /// Whether records are in a database.
    pub fn is_in_database(&self) -> bool {
        self.parts.iter().any(|part| part.relation().is_some())
    }

    /// Identifiers of the database tables in the source. Equal tables have equal identifiers.
    pub(crate) fn identities(&self) -> Vec<String> {
        let relations = self.parts.iter().filter_map(Part::relation);
        relations.flat_map(|relation| relation.identities().to_vec()).collect()
    }

    /// Decodes the batches of an Arrow file whose bytes are in memory.
    pub(crate) fn batches_in(name: &str, bytes: &arrow_buffer::Buffer) -> Result<Batches> {
        let source = Source::of_bytes(name, bytes)?;
        match source.parts.into_iter().next().map(|part| part.kind) {
            Some(TableKind::Typed(arrow::TypedFile::Bytes { batches, .. })) => Ok(batches),
            _ => Err(Error::bug("a table in memory has no batches")),
        }
    }

    fn of_part(part: Part, columns: Vec<Column>, digest: bool) -> Source {
        let names = columns.iter().map(|c| c.name.clone()).collect();
        Source { parts: vec![part], names, columns, digest, is_trusted: true }
    }

    /// The system that stores the table, if it is a remote one.
    pub(crate) fn remote(&self) -> Option<&Arc<dyn crate::remote::Remote>> {
        match self.parts.as_slice() {
            [Part { kind: TableKind::Remote(remote), .. }] => Some(remote),
            _ => None,
        }
    }

    /// The column names.
    pub fn columns(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn column(&self, position: usize) -> &Column {
        &self.columns[position]
    }

    /// The files, after expansion of patterns. Empty for a table in memory or in a database.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.parts.iter().filter(|part| part.is_file()).map(|part| part.path.as_path())
    }

    /// Memory limit in bytes for the records of a scan, as estimated by [`Worker::memory`]. The
    /// size of plain text bounds its memory use. Compressed and typed files can expand a
    /// thousandfold. Their limit is therefore a multiple of their size that valid files do not
    /// exceed. A file below 10 MiB uses less than 1 GiB, including all data derived from its
    /// records.
    pub(crate) fn allowance(&self) -> u64 {
        match self.is_trusted || self.is_plain() {
            true => u64::MAX,
            false => ALLOWANCE.max(self.bytes().saturating_mul(ALLOWANCE_TIMES)),
        }
    }

    /// Memory limit in bytes for the distinct sets of values that a release of this table publishes.
    /// The sets of a plain text take less than the text, because each value of a set is that of
    /// another record. Long texts that a small file stores once can be in many sets.
    pub fn most_labels(&self) -> u64 {
        let allowance = self.allowance();
        let is_limited = self.remote().is_none() && allowance < u64::MAX;
        if is_limited { allowance / LABELS } else { u64::MAX }
    }

    /// Whether the texts of all records are at most as large as the source. This holds for plain
    /// text and for databases.
    pub(crate) fn is_plain(&self) -> bool {
        let is_plain = |part: &Part| {
            matches!(part.kind, TableKind::Database(_) | TableKind::Text(Compression::Plain))
        };
        self.parts.iter().all(is_plain)
    }

    /// Maximum number of texts in all caches of one worker. A cached text takes up to 200 bytes per
    /// thread. Without a limit, a small file could fill the memory of a machine with many
    /// processors.
    pub(crate) fn remembered(&self) -> usize {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        match self.bytes() < SMALL {
            true => REMEMBERED / threads,
            false => usize::MAX,
        }
    }

    /// Size of the files in bytes.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// The delimiter, if the table is text.
    pub fn delimiter(&self) -> Option<u8> {
        self.parts
            .iter()
            .find(|part| matches!(part.kind, TableKind::Text(_) | TableKind::Database(_)))
            .map(|part| part.delimiter)
    }

    /// The decimal mark of the numbers, if the table is text. If any file has a decimal comma, it
    /// applies to all files.
    pub fn decimal(&self) -> Option<DecimalMark> {
        let of_part =
            |mark| self.parts.iter().find(|part| part.decimal == Some(mark)).map(|_| mark);
        of_part(DecimalMark::Comma).or_else(|| of_part(DecimalMark::Point))
    }

    /// Rewrites the numbers of a text column with a decimal point.
    pub(crate) fn spell_numbers(&self, texts: &mut [String]) {
        if let Some(mark) = self.decimal() {
            numerals::read(texts, mark);
        }
    }

    /// The position of a column.
    pub fn position(&self, name: &str) -> Result<usize> {
        self.names.iter().position(|n| n == name).ok_or_else(|| {
            let error = Error::job(format!("the table has no column `{name}`"))
                .at(format!("columns.{name}"));
            self.help_column(error, name)
        })
    }

    /// Whether the column names are certainly names and not the cells of a first record.
    pub fn is_named(&self) -> bool {
        self.parts.iter().all(|part| part.named)
    }

    /// Adds a similar column name to an error about a missing column. Nothing is added if the names
    /// may be cells.
    #[must_use]
    pub fn help_column(&self, error: Error, name: &str) -> Error {
        error.help_column(name, self.names.iter().map(String::as_str), self.is_named())
    }
}

/// Creates a part for a relation of a database.
fn database_part(address: &Address, relation: Arc<Relation>, width: usize) -> Part {
    let (name, bytes) = (address.to_string(), relation.bytes());
    let part =
        Part::new(Path::new(&name), TableKind::Database(relation), bytes).with_columns(width);
    Part { decimal: Some(DecimalMark::Point), ..part }
}

fn open_part(location: &Location, options: &Options) -> Result<(Part, Vec<Column>)> {
    match location {
        Location::File(path) => open_file(path, options),
        Location::Database(address) => {
            let (relation, columns) = database::open(address)?;
            Ok((database_part(address, relation, columns.len()), columns))
        }
        Location::Remote(place) => Err(crate::remote::refused(place)),
    }
}

fn open_file(path: &Path, options: &Options) -> Result<(Part, Vec<Column>)> {
    let metadata = std::fs::metadata(path).map_err(|e| unreadable(path, &e))?;
    if !metadata.is_file() {
        return Err(Error::input(format!("`{}` is not a file", path.display()))
            .help("save a stream to a file first, or name it `-` and pipe it in"));
    }
    file_id::check_read(path, &metadata)?;
    let format = match (options.format, sniff::format(path)?) {
        (None, sniffed) => sniffed,
        // Text that is declared as uncompressed may still be compressed. The first bytes show it.
        (Some(Format::Csv(_)), sniffed @ Format::Csv(_)) => sniffed,
        (Some(stated), _) => stated,
    };
    let bytes = metadata.len();
    let version = Some(FileVersion::of(&metadata));
    let foreign = match (options.format, format) {
        (None, Format::Csv(Compression::Plain)) => foreign::sniff(path)?,
        _ => None,
    };
    if let Some(foreign) = foreign {
        let batches = foreign::read(path, foreign, options.sheet.as_deref())?;
        let source = Source::of_batches(&batches)?;
        let part =
            source.parts.into_iter().next().ok_or_else(|| Error::bug("a table without a part"))?;
        let mut columns = source.columns;
        for column in &mut columns {
            column.data_type = column.data_type.take().map(foreign::published);
        }
        return Ok((Part { path: path.to_owned(), bytes, version, ..part }, columns));
    }
    if let Format::Parquet | Format::Arrow = format {
        let (typed, columns) = arrow::open(path, format)?;
        let part = Part::new(path, TableKind::Typed(typed), bytes).with_columns(columns.len());
        return Ok((Part { version, ..part }, columns));
    }
    let compression = match format {
        Format::Csv(compression) => compression,
        Format::Parquet | Format::Arrow => Compression::Plain,
    };
    let mut part = Part::new(path, TableKind::Text(compression), bytes);
    part.version = version;
    part.encoding = match options.encoding {
        Some(encoding) => encoding,
        None => sniff::encoding(&part)?,
    };
    let header = sniff::header(&part, options.delimiter)?;
    (part.delimiter, part.named) = (header.delimiter, header.sure);
    part.decimal = Some(options.decimal.unwrap_or(header.decimal));
    let column = |name| Column { name, data_type: None, sql: None };
    let columns: Vec<Column> = header.names.into_iter().map(column).collect();
    Ok((part.with_columns(columns.len()), columns))
}

/// Maximum number of columns of a table. A column needs a few hundred bytes per thread, while one
/// byte of a file can declare a column.
const MOST_COLUMNS: usize = 1 << 16;

fn check_width(path: &Path, columns: usize) -> Result<()> {
    match columns > MOST_COLUMNS {
        true => {
            Err(Error::input(format!("`{}` has more than {MOST_COLUMNS} columns", path.display()))
                .help("is the delimiter right? Else leave out columns that are not needed"))
        }
        false => Ok(()),
    }
}

/// Maximum length of a column name in bytes, and of all names of a table together. Names are copied
/// into messages, jobs, manifests and reports.
const LONGEST_NAME: usize = 4 << 10;
const ALL_NAMES: usize = 16 << 20;

/// Checks the number and the length of column names. Readers that hold the names before there are
/// columns call it, so that long names are not copied. The messages do not contain the names.
fn check_name_lengths<'a>(
    path: &Path,
    names: impl ExactSizeIterator<Item = &'a str>,
) -> Result<()> {
    check_width(path, names.len())?;
    let (file, mut all) = (path.display(), 0usize);
    for (i, name) in names.enumerate() {
        if name.len() > LONGEST_NAME {
            let column = i + 1;
            return Err(Error::input(format!(
                "`{file}` has a column name of more than {LONGEST_NAME} bytes (column {column})"
            ))
            .help("shorten the name. Does the file have a header?"));
        }
        all = all.saturating_add(name.len());
    }
    match all > ALL_NAMES {
        true => Err(Error::input(format!(
            "the column names of `{file}` take more than {} MiB together",
            ALL_NAMES >> 20
        ))
        .help("shorten the names, or leave out columns that are not needed")),
        false => Ok(()),
    }
}

fn check_names(path: &Path, columns: &[Column]) -> Result<()> {
    check_name_lengths(path, columns.iter().map(|column| column.name.as_str()))?;
    let mut seen = hashbrown::HashMap::with_capacity(columns.len());
    for (i, column) in columns.iter().enumerate() {
        if let Some(first) = seen.insert(&column.name, i) {
            // The message does not contain the name. In a file without a header, the name is a
            // cell.
            let (file, a, b) = (path.display(), first + 1, i + 1);
            return Err(Error::input(format!(
                "`{file}` has two columns of one name (columns {a} and {b})"
            ))
            .help(
                "rename one of them: a column name must be unique. Does the file have a header?",
            ));
        }
    }
    Ok(())
}

/// Replaces glob patterns and directories by the files they match, in alphabetical order.
fn expand(locations: &[Location]) -> Result<Vec<directory::TableFile>> {
    let alone = |location| directory::TableFile { location, constants: Vec::new() };
    let mut expanded = Vec::new();
    let mut formats = table_format::TableFormats::default();
    for location in locations {
        let Location::File(path) = location else {
            expanded.push(alone(location.clone()));
            continue;
        };
        let text = path.to_string_lossy();
        if path.is_dir() {
            formats.check_read(path)?;
            expanded.extend(directory::files(path)?);
            continue;
        }
        if path.exists() || !text.contains(['*', '?', '[']) {
            expanded.push(alone(location.clone()));
            continue;
        }
        let matches =
            glob::glob(&text).map_err(|e| Error::job(format!("`{text}` is not a pattern: {e}")))?;
        let before = expanded.len();
        let files = matches.filter_map(Result::ok).filter(|p| p.is_file());
        expanded.extend(files.map(Location::File).map(alone));
        if expanded.len() == before {
            return Err(Error::input(format!("no file matches `{text}`")));
        }
    }
    // A file that is read twice would double the size of every group, so it is an error.
    let mut seen = hashbrown::HashSet::new();
    let mut seen_files = hashbrown::HashSet::new();
    for found in &expanded {
        let (mut place, mut linked) = (Some(found.location.clone()), false);
        if let Location::File(path) = &found.location {
            formats.check_read(path)?;
            place = path.canonicalize().ok().map(Location::File);
            // Two hard links to one file have different paths but the same file identifier.
            linked = FileId::at(path).is_some_and(|id| !seen_files.insert(id));
        }
        if linked || place.is_some_and(|place| !seen.insert(place)) {
            return Err(Error::job(format!("the file `{}` is named twice", found.location)));
        }
    }
    if expanded.is_empty() {
        return Err(Error::job("no input is given")
            .help("name a file: incrowd anonymize table.csv …, or [input] path"));
    }
    Ok(expanded)
}

/// Digest of a file's bytes, or of the text of a database table. It equals the digest that a scan
/// computes.
pub fn digest(location: &Location) -> Result<String> {
    if let Location::File(path) = location {
        return digest_of(std::slice::from_ref(path));
    }
    let source = Source::open([location], &Options { digest: true, ..Options::default() })?;
    let first = &source.columns()[..1];
    Ok(source.read_release(first, ExaminedColumns::default(), &Silent)?.digest)
}

/// Digest of several files in sequence, such as the files of a table in a directory.
pub fn digest_of(paths: &[PathBuf]) -> Result<String> {
    digest_of_each(paths.iter().cloned().map(Ok))
}

/// Digest of several files in sequence. Each file must exist only until the next one is requested.
pub fn digest_of_each(paths: impl Iterator<Item = Result<PathBuf>>) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    for path in paths {
        let path = path?;
        let failed = |e| unreadable(&path, &e);
        std::io::copy(&mut std::fs::File::open(&path).map_err(failed)?, &mut hasher)
            .map_err(failed)?;
    }
    Ok(format!("blake3:{}", hasher.finalize().to_hex()))
}

/// An input error with the message of the operating system.
pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    let file = path.display();
    match error.kind() {
        std::io::ErrorKind::NotFound => Error::input(format!("there is no file `{file}`")),
        std::io::ErrorKind::UnexpectedEof => {
            Error::input(format!("`{file}` is truncated: it ends too early"))
        }
        std::io::ErrorKind::InvalidInput | std::io::ErrorKind::InvalidData => {
            Error::input(format!("`{file}` is damaged or not of the format it claims: {error}"))
        }
        _ => Error::input(format!("`{file}` cannot be read: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_names_have_a_limited_length() {
        let checked = |names: &[String]| {
            let column = |name: &String| Column { name: name.clone(), data_type: None, sql: None };
            check_names(Path::new("t.csv"), &names.iter().map(column).collect::<Vec<_>>())
        };
        let named = |length: usize, at: usize| {
            let number = at.to_string();
            "x".repeat(length - number.len()) + &number
        };
        let mut names: Vec<String> = (0..3).map(|at| named(LONGEST_NAME, at)).collect();
        assert!(checked(&names).is_ok());
        names[1].push('x');
        let error = checked(&names).unwrap_err().to_string();
        assert!(error.contains("(column 2)") && !error.contains("xx"), "{error}");
        let most = ALL_NAMES / LONGEST_NAME;
        let many: Vec<String> = (0..most).map(|at| named(LONGEST_NAME, at)).collect();
        assert!(checked(&many).is_ok());
        let error = checked(&[&many[..], &["a".to_owned()]].concat()).unwrap_err().to_string();
        assert!(error.contains("16 MiB together") && !error.contains("xx"), "{error}");
    }
}
