//! Reading tables: one or several files of one format as one table, in parallel.

mod arrow;
mod batches;
mod chunks;
mod directory;
mod encoding;
mod foreign;
mod scan;
mod sniff;
mod work;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow_schema::DataType;
use incrowd_core::numerals::{self, DecimalMark};
use incrowd_core::{Error, Result, Silent};

use crate::beside::Beside;
use crate::database::{self, Relation, is_database};

pub use batches::Batches;
pub use encoding::Encoding;
pub(crate) use work::{CodedCells, Place, Records, Trouble, WholeCells, Worker};

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

/// How delimited text is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    Plain,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

/// A file format's entry in the list.
#[derive(Clone, Copy, Debug)]
pub struct FormatCard {
    /// The name in a job file.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// The ends of file names that ask for it.
    pub extensions: &'static [&'static str],
    /// Whether `.gz` and `.zst` may follow.
    pub compressed: bool,
    /// The format; what cannot be compressed is only asked for plain.
    pub format: fn(Compression) -> Format,
}

/// Every file format. Names of files and job keys, what `init` proposes, messages and tests read this list.
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
    /// The list in words, `CSV, Parquet and Arrow`.
    pub(crate) fn titles() -> String {
        let titles: Vec<&str> = FORMATS.iter().map(|card| card.title).collect();
        let (last, first) = titles.split_last().expect("the list is not empty");
        format!("{} and {last}", first.join(", "))
    }
}

impl Format {
    /// The format a file name asks for, with the names that would be understood in the error.
    pub fn of_path(path: &Path) -> Result<Format> {
        let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
        let (stem, compression) = match name.rsplit_once('.') {
            Some((stem, "gz")) => (stem, Compression::Gzip),
            Some((stem, "zst")) => (stem, Compression::Zstd),
            _ => (name.as_str(), Compression::Plain),
        };
        let extension = stem.rsplit_once('.').map_or("", |(_, extension)| extension);
        let asked = |card: &&FormatCard| {
            card.extensions.contains(&extension) && (card.compressed || compression == Compression::Plain)
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

    /// The format of that name in a job file, not compressed.
    pub fn named(name: &str) -> Option<Format> {
        FORMATS.iter().find(|card| card.name == name).map(|card| (card.format)(Compression::Plain))
    }
}

/// What the reader is told instead of finding it out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The format, if the files do not show it.
    pub format: Option<Format>,
    /// The delimiter of delimited text.
    pub delimiter: Option<u8>,
    /// How its characters are written.
    pub encoding: Option<Encoding>,
    /// What stands before the fractions of its numbers.
    pub decimal: Option<DecimalMark>,
    /// The sheet of an Excel file that has several.
    pub sheet: Option<String>,
    /// Whether a digest of the files' bytes is computed while reading.
    pub digest: bool,
}

/// A column of a source.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// The type in formats that have types.
    pub(crate) data_type: Option<DataType>,
    /// The type in the database it comes from.
    pub(crate) sql: Option<&'static str>,
}

/// One file, or a table in memory.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    path: PathBuf,
    format: Format,
    bytes: u64,
    delimiter: u8,
    encoding: Encoding,
    /// What stands before fractions, in text.
    decimal: Option<DecimalMark>,
    /// For each column of the table its position in this file.
    positions: Vec<usize>,
    /// How many columns the file has.
    width: usize,
    /// What is known of a typed file.
    typed: Option<arrow::Typed>,
    /// Whether the names are known to be names: those of a typed file are, the first line of a text may be a record.
    named: bool,
    /// What the names of its directories say of all its records. These columns come after those of the file.
    constants: Vec<directory::Constant>,
    /// The relation of a database, if it is one.
    database: Option<Arc<Relation>>,
}

impl Part {
    fn in_memory(&self) -> bool {
        self.typed.as_ref().is_some_and(|typed| typed.in_memory().is_some())
    }
}

/// A table in one or several files, or in memory.
#[derive(Debug)]
pub struct Source {
    parts: Vec<Part>,
    names: Vec<String>,
    columns: Vec<Column>,
    digest: bool,
    /// Whether its bytes are better read past the system's cache.
    past: bool,
    /// Set once a line break was met inside quotes; from then on chunks are cut with care.
    careful: AtomicBool,
}

impl Source {
    /// Opens files as one table; a path may be a glob pattern, or a directory. All files must have the same columns, in any order.
    pub fn open(paths: &[PathBuf], options: &Options) -> Result<Source> {
        let found = expand(paths)?;
        let paths: Vec<PathBuf> = found.iter().map(|found| found.path.clone()).collect();
        let mut parts: Vec<Part> = Vec::new();
        let mut columns: Vec<Column> = Vec::new();
        for (path, found) in paths.iter().zip(found) {
            let (mut part, mut own) = open_part(path, options)?;
            for constant in found.constants {
                // Some writers keep the column in the file as well.
                if !own.iter().any(|column| column.name == constant.0) {
                    part.positions.push(own.len());
                    own.push(Column { name: constant.0.clone(), data_type: None, sql: None });
                    part.constants.push(constant);
                }
            }
            if parts.is_empty() {
                check_names(path, &own)?;
                columns = own;
            } else {
                check_names(path, &own)?;
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
                        let (this, first) = (path.display(), paths[0].display());
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
        Ok(Source {
            parts,
            names,
            columns,
            digest: options.digest,
            past: false,
            careful: AtomicBool::new(false),
        })
    }

    /// The same, of which the text is read past the system's cache where that can be done.
    pub(crate) fn past_the_cache(self) -> Source {
        Source { past: true, ..self }
    }

    /// The files that paths and patterns mean.
    pub fn matching(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
        Ok(expand(paths)?.into_iter().map(|found| found.path).collect())
    }

    /// A table in memory. Nothing is copied.
    pub fn of_batches(batches: &Batches) -> Result<Source> {
        let name = Path::new(batches.name());
        let columns = arrow::columns(&batches.schema());
        check_names(name, &columns)?;
        let part = Part {
            path: name.to_owned(),
            format: Format::Arrow,
            bytes: batches.bytes(),
            delimiter: b',',
            encoding: Encoding::Utf8,
            decimal: None,
            positions: (0..columns.len()).collect(),
            width: columns.len(),
            typed: Some(arrow::Typed::Batches(batches.clone())),
            named: true,
            constants: Vec::new(),
            database: None,
        };
        Ok(Source::of_part(part, columns, false))
    }

    /// An Arrow file whose bytes are in memory.
    pub(crate) fn of_bytes(name: &str, bytes: &arrow_buffer::Buffer) -> Result<Source> {
        let mut part = Part {
            path: PathBuf::from(name),
            format: Format::Arrow,
            bytes: bytes.len() as u64,
            delimiter: b',',
            encoding: Encoding::Utf8,
            decimal: None,
            positions: Vec::new(),
            width: 0,
            typed: None,
            named: true,
            constants: Vec::new(),
            database: None,
        };
        let (typed, columns) = arrow::open_bytes(&part, bytes)?;
        (part.typed, part.width) = (Some(typed), columns.len());
        part.positions = (0..columns.len()).collect();
        Ok(Source::of_part(part, columns, true))
    }

    /// A relation of a database with columns of these names, read as text of which a digest is computed.
    #[cfg(feature = "postgres")]
    pub(crate) fn of_relation(name: &Path, relation: Arc<Relation>, columns: Vec<String>) -> Source {
        let column = |name| Column { name, data_type: None, sql: None };
        let columns: Vec<Column> = columns.into_iter().map(column).collect();
        Source::of_part(database_part(name, relation, columns.len()), columns, true)
    }

    /// The relation that this is, if it is one of a database, need not be read whole, and nothing else is read with it.
    pub(crate) fn relation(&self) -> Option<&Relation> {
        match self.parts.as_slice() {
            [part] if !self.digest => part.database.as_deref(),
            _ => None,
        }
    }

    /// Names for the tables of databases that are read; equal if the tables are.
    pub(crate) fn identities(&self) -> Vec<String> {
        let relations = self.parts.iter().filter_map(|part| part.database.as_ref());
        relations.flat_map(|relation| relation.identities().to_vec()).collect()
    }

    /// The batches of an Arrow file whose bytes are in memory.
    pub(crate) fn batches_in(name: &str, bytes: &arrow_buffer::Buffer) -> Result<Batches> {
        let source = Source::of_bytes(name, bytes)?;
        match source.parts.into_iter().next().and_then(|part| part.typed) {
            Some(arrow::Typed::Bytes { batches, .. }) => Ok(batches),
            _ => Err(Error::bug("a table in memory has no batches")),
        }
    }

    fn of_part(part: Part, columns: Vec<Column>, digest: bool) -> Source {
        let names = columns.iter().map(|c| c.name.clone()).collect();
        Source { parts: vec![part], names, columns, digest, past: false, careful: AtomicBool::new(false) }
    }

    /// The system that holds the table, if one does.
    pub(crate) fn remote(&self) -> Option<&Arc<dyn crate::remote::Remote>> {
        match self.parts.as_slice() {
            [Part { typed: Some(arrow::Typed::Batches(batches)), .. }] => batches.held_by(),
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

    /// The files, patterns replaced by what they match; none of a table in memory.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.parts.iter().filter(|part| !part.in_memory()).map(|part| part.path.as_path())
    }

    /// The size of the files in bytes.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// What separates the cells, if the table is text.
    pub fn delimiter(&self) -> Option<u8> {
        self.parts.iter().find(|part| matches!(part.format, Format::Csv(_))).map(|part| part.delimiter)
    }

    /// What stands before the fractions of numbers, if the table is text: in all files what it is in one of them.
    pub fn decimal(&self) -> Option<DecimalMark> {
        let of_part = |mark| self.parts.iter().find(|part| part.decimal == Some(mark)).map(|_| mark);
        of_part(DecimalMark::Comma).or_else(|| of_part(DecimalMark::Point))
    }

    /// Spells the numbers of a column that was read from text as they are spelled elsewhere.
    pub(crate) fn spell_numbers(&self, texts: &mut [String]) {
        if let Some(mark) = self.decimal() {
            numerals::read(texts, mark);
        }
    }

    /// The position of a column.
    pub fn position(&self, name: &str) -> Result<usize> {
        self.names.iter().position(|n| n == name).ok_or_else(|| {
            let error = Error::job(format!("the table has no column `{name}`")).at(format!("columns.{name}"));
            self.help_column(error, name)
        })
    }

    /// Whether the column names are known to be names and not the cells of a first record.
    pub fn is_named(&self) -> bool {
        self.parts.iter().all(|part| part.named)
    }

    /// Adds to an error about a column that is not there which one may be meant, if that can be told without telling a cell.
    #[must_use]
    pub fn help_column(&self, error: Error, name: &str) -> Error {
        error.help_column(name, self.names.iter().map(String::as_str), self.is_named())
    }
}

/// A relation of a database as a part of a table.
fn database_part(name: &Path, relation: Arc<Relation>, width: usize) -> Part {
    Part {
        path: name.to_owned(),
        format: Format::Csv(Compression::Plain),
        bytes: relation.bytes(),
        delimiter: b',',
        encoding: Encoding::Utf8,
        decimal: Some(DecimalMark::Point),
        positions: (0..width).collect(),
        width,
        typed: None,
        named: true,
        constants: Vec::new(),
        database: Some(relation),
    }
}

fn open_part(path: &Path, options: &Options) -> Result<(Part, Vec<Column>)> {
    if is_database(path) {
        let (relation, columns) = database::open(path)?;
        return Ok((database_part(path, relation, columns.len()), columns));
    }
    let metadata = std::fs::metadata(path).map_err(|e| unreadable(path, &e))?;
    if !metadata.is_file() {
        return Err(Error::input(format!("`{}` is not a file", path.display()))
            .help("incrowd reads its input more than once; save a stream to a file first, or name it `-` and pipe it in"));
    }
    let format = match (options.format, sniff::format(path)?) {
        (None, sniffed) => sniffed,
        // Whatever is said to be text may still be compressed, which shows in the bytes.
        (Some(Format::Csv(_)), sniffed @ Format::Csv(_)) => sniffed,
        (Some(stated), _) => stated,
    };
    let bytes = metadata.len();
    let foreign = match (options.format, format) {
        (None, Format::Csv(Compression::Plain)) => foreign::sniff(path)?,
        _ => None,
    };
    if let Some(foreign) = foreign {
        let batches = foreign::read(path, foreign, options.sheet.as_deref())?;
        let source = Source::of_batches(&batches)?;
        let part = source.parts.into_iter().next().ok_or_else(|| Error::bug("a table without a part"))?;
        return Ok((Part { path: path.to_owned(), bytes, ..part }, source.columns));
    }
    let mut part = Part {
        path: path.to_owned(),
        format,
        bytes,
        delimiter: b',',
        encoding: options.encoding.unwrap_or_default(),
        decimal: None,
        positions: Vec::new(),
        width: 0,
        typed: None,
        named: true,
        constants: Vec::new(),
        database: None,
    };
    let columns = match format {
        Format::Csv(_) => {
            if options.encoding.is_none() {
                part.encoding = sniff::encoding(&part)?;
            }
            let header = sniff::header(&part, options.delimiter)?;
            (part.delimiter, part.named) = (header.delimiter, header.sure);
            part.decimal = Some(options.decimal.unwrap_or(header.decimal));
            header.names.into_iter().map(|name| Column { name, data_type: None, sql: None }).collect()
        }
        Format::Parquet | Format::Arrow => {
            let (typed, columns) = arrow::open(&part)?;
            part.typed = Some(typed);
            columns
        }
    };
    part.width = columns.len();
    part.positions = (0..columns.len()).collect();
    Ok((part, columns))
}

fn check_names(path: &Path, columns: &[Column]) -> Result<()> {
    let mut seen = hashbrown::HashMap::with_capacity(columns.len());
    for (i, column) in columns.iter().enumerate() {
        if let Some(first) = seen.insert(&column.name, i) {
            // The name is not told: of a file without a header it would be somebody's cell.
            let (file, a, b) = (path.display(), first + 1, i + 1);
            return Err(Error::input(format!("`{file}` has two columns of one name (columns {a} and {b})"))
                .help("rename one of them: a column name must be unique. Does the file have a header?"));
        }
    }
    Ok(())
}

/// Replaces glob patterns and directories by the files they mean, in alphabetical order.
fn expand(paths: &[PathBuf]) -> Result<Vec<directory::Found>> {
    let alone = |path: PathBuf| directory::Found { path, constants: Vec::new() };
    let mut expanded = Vec::new();
    for path in paths {
        if is_database(path) {
            expanded.push(alone(path.clone()));
            continue;
        }
        let text = path.to_string_lossy();
        if path.is_dir() {
            expanded.extend(directory::files(path)?);
            continue;
        }
        if path.exists() || !text.contains(['*', '?', '[']) {
            expanded.push(alone(path.clone()));
            continue;
        }
        let matches = glob::glob(&text).map_err(|e| Error::job(format!("`{text}` is not a pattern: {e}")))?;
        let before = expanded.len();
        expanded.extend(matches.filter_map(Result::ok).filter(|p| p.is_file()).map(alone));
        if expanded.len() == before {
            return Err(Error::input(format!("no file matches `{text}`")));
        }
    }
    // The same people twice would look like a crowd.
    let mut seen = hashbrown::HashSet::new();
    for found in &expanded {
        let place = match is_database(&found.path) {
            true => Ok(found.path.clone()),
            false => found.path.canonicalize(),
        };
        if place.is_ok_and(|path| !seen.insert(path)) {
            return Err(Error::job(format!("the file `{}` is named twice", found.path.display())));
        }
    }
    if expanded.is_empty() {
        return Err(Error::job("no input is given")
            .help("name a file: incrowd anonymize table.csv …, or [input] path"));
    }
    Ok(expanded)
}

/// The digest of a file's bytes, or of the text of a table of a database, as a scan computes it.
pub fn digest(path: &Path) -> Result<String> {
    if is_database(path) {
        let source = Source::open(&[path.to_owned()], &Options { digest: true, ..Options::default() })?;
        let first = &source.columns()[..1];
        return Ok(source.read_release(first, Beside::default(), &Silent)?.digest);
    }
    digest_of(&[path.to_owned()])
}

/// The digest of several files, one after another: that of a table in a directory.
pub fn digest_of(paths: &[PathBuf]) -> Result<String> {
    digest_of_each(paths.iter().cloned().map(Ok))
}

/// The same of files of which each need only be there until the next one is asked for.
pub fn digest_of_each(paths: impl Iterator<Item = Result<PathBuf>>) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    for path in paths {
        let path = path?;
        let failed = |e| unreadable(&path, &e);
        std::io::copy(&mut std::fs::File::open(&path).map_err(failed)?, &mut hasher).map_err(failed)?;
    }
    Ok(format!("blake3:{}", hasher.finalize().to_hex()))
}

/// An input error that says what the operating system said.
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
