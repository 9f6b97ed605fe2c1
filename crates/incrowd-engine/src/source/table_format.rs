//! Directories of Delta Lake, Apache Iceberg and Apache Hudi tables. Their data files are Parquet,
//! but a log determines which files and records belong to the table. The files still contain
//! deleted records and earlier versions of updated records. incrowd does not read these logs. It
//! therefore refuses to read such files and to write into such directories.
//!
//! The location of a file and its first bytes decide, not its extension. A file outside of the
//! directory of its table, or the bytes of a pipe, cannot be recognised.

use std::cell::LazyCell;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use hashbrown::HashMap;
use incrowd_core::{Error, Result};

use super::Format;

/// A table format with a log next to its data files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableFormat {
    Delta,
    Iceberg,
    Hudi,
}

impl TableFormat {
    fn title(self) -> &'static str {
        match self {
            TableFormat::Delta => "a Delta Lake table",
            TableFormat::Iceberg => "an Apache Iceberg table",
            TableFormat::Hudi => "an Apache Hudi table",
        }
    }

    /// Name of the directory that identifies the format.
    fn marker(self) -> &'static str {
        match self {
            TableFormat::Delta => "_delta_log",
            TableFormat::Iceberg => "metadata",
            TableFormat::Hudi => ".hoodie",
        }
    }

    /// Advice on how to export a snapshot of a table.
    fn export(self, folder: &Path) -> String {
        let folder = folder.display();
        let duckdb = |function: &str| {
            format!(
                "export a snapshot and name that file, for example with DuckDB: COPY (SELECT * FROM {function}('{folder}')) \
                 TO 'snapshot.parquet'; Spark and Polars can do it too"
            )
        };
        match self {
            TableFormat::Delta => duckdb("delta_scan"),
            TableFormat::Iceberg => duckdb("iceberg_scan"),
            TableFormat::Hudi => format!(
                "export a snapshot and name that folder, for example with Spark: \
                 spark.read.format(\"hudi\").load(\"{folder}\").write.parquet(\"snapshot.parquet\")"
            ),
        }
    }

    /// The table format of a directory, if it is a table.
    fn of_folder(folder: &Path) -> Option<TableFormat> {
        let marked = |format: &TableFormat| match format {
            TableFormat::Iceberg => has_iceberg_metadata(folder),
            _ => may_be_directory(&folder.join(format.marker())),
        };
        [TableFormat::Delta, TableFormat::Hudi, TableFormat::Iceberg].into_iter().find(marked)
    }
}

/// Whether a path is a directory, or a link that may lead to one.
fn may_be_directory(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir() || found.is_symlink())
}

/// Whether a directory has the metadata of an Iceberg table. If the metadata cannot be listed, a
/// directory `data` next to them is sufficient.
fn has_iceberg_metadata(table: &Path) -> bool {
    let metadata = table.join(TableFormat::Iceberg.marker());
    let is_metadata = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.map(|entry| is_iceberg_metadata(&entry.file_name().to_string_lossy()))
    };
    let listed: std::io::Result<Vec<bool>> =
        std::fs::read_dir(&metadata).and_then(|entries| entries.map(is_metadata).collect());
    match listed {
        Ok(known) => known.contains(&true),
        Err(_) => may_be_directory(&metadata) && may_be_directory(&table.join("data")),
    }
}

/// Whether a file in the directory `metadata` belongs to an Iceberg table: the metadata of a
/// version, which may be compressed, the number of the newest version, or a list of data files.
fn is_iceberg_metadata(name: &str) -> bool {
    name.contains(".metadata.json") || name == "version-hint.text" || name.ends_with(".avro")
}

/// The first bytes of the files that an Iceberg table may have (Parquet, encrypted Parquet, ORC,
/// Avro), and of Arrow files.
const DATA: [&[u8]; 5] = [b"PAR1", b"PARE", b"ORC", b"Obj\x01", b"ARROW1"];
/// The maximum length of these bytes.
const MOST_FIRST: u64 = 6;
/// The maximum depth of directories in which data files are searched.
const DEEPEST: usize = 32;

fn begins_as_data(first: &[u8]) -> bool {
    DATA.iter().any(|begin| first.starts_with(begin))
}

/// Whether the name of a file is that of a typed file.
fn is_named_as_data(path: &Path) -> bool {
    matches!(Format::of_path(path), Ok(Format::Parquet | Format::Arrow))
}

/// Whether a file begins like a data file. The name decides only if the file cannot be read. A pipe
/// or a device is not opened.
fn is_data_file(path: &Path) -> bool {
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => return false,
        Ok(_) => {}
        Err(_) => return is_named_as_data(path),
    }
    let mut first = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_FIRST).read_to_end(&mut first));
    match read {
        Ok(_) => begins_as_data(&first),
        Err(_) => is_named_as_data(path),
    }
}

/// Whether a path is a data file, or a directory with one. Links to directories are not followed.
fn has_data_file(path: &Path, deeper: usize) -> bool {
    if !path.is_dir() {
        return is_data_file(path);
    }
    let mut entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.any(|entry| {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        match is_directory {
            true => deeper > 0 && has_data_file(&entry.path(), deeper - 1),
            false => is_data_file(&entry.path()),
        }
    })
}

/// Finds the tables that files belong to. Each directory is examined once.
#[derive(Debug, Default)]
pub(crate) struct TableFormats {
    known: HashMap<PathBuf, Option<TableFormat>>,
}

impl TableFormats {
    fn of_folder(&mut self, folder: &Path) -> Option<TableFormat> {
        if let Some(known) = self.known.get(folder) {
            return *known;
        }
        let format = TableFormat::of_folder(folder);
        self.known.insert(folder.to_owned(), format);
        format
    }

    /// The directory of the table that contains the path, or is the path. Both the path and its
    /// target after resolving links are checked.
    ///
    /// Other programs also write `metadata/x.metadata.json`. The name indicates Iceberg only if
    /// Iceberg could have written the file itself, which `may_be_iceberg` decides.
    fn holding(
        &mut self,
        path: &Path,
        may_be_iceberg: impl FnOnce() -> bool,
    ) -> Option<(PathBuf, TableFormat)> {
        let may_be_iceberg = LazyCell::new(may_be_iceberg);
        let absolute = std::path::absolute(path).ok();
        let real = match path.canonicalize() {
            Ok(real) => Some(real),
            // The file may not exist yet. Then its parent directory is resolved.
            Err(_) => absolute
                .as_deref()
                .and_then(Path::parent)
                .and_then(|folder| folder.canonicalize().ok()),
        };
        let paths: Vec<PathBuf> = absolute.into_iter().chain(real).collect();
        let folders = paths.iter().flat_map(|path| path.ancestors());
        folders
            .filter_map(|folder| Some((folder.to_owned(), self.of_folder(folder)?)))
            .find(|(_, format)| *format != TableFormat::Iceberg || *may_be_iceberg)
    }

    /// Returns an error if the file or directory belongs to a table of such a format.
    pub(crate) fn check_read(&mut self, path: &Path) -> Result<()> {
        self.check(path, || has_data_file(path, DEEPEST))
    }

    fn check(&mut self, path: &Path, may_be_iceberg: impl FnOnce() -> bool) -> Result<()> {
        let Some((folder, format)) = self.holding(path, may_be_iceberg) else { return Ok(()) };
        let (shown, title) = (shown(&folder, path), format.title());
        Err(Error::input(format!(
            "`{}` is {title}: its files also hold records that were deleted or replaced, and incrowd does not read the log in `{}` \
             that says which",
            shown.display(),
            format.marker()
        ))
        .help(format.export(&shown)))
    }
}

/// Returns an error if a file or directory belongs to a Delta Lake, Iceberg or Hudi table. For
/// callers that read the file with another library.
pub fn check_table_format(path: &Path) -> Result<()> {
    TableFormats::default().check_read(path)
}

/// Returns an error if an open file belongs to a table of such a format. Only Linux knows the path
/// of an open file.
#[cfg(target_os = "linux")]
pub(crate) fn check_open_file(file: &File) -> Result<()> {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::FileExt;
    let is_file = file.metadata().is_ok_and(|found| found.is_file());
    // The path of a removed file ends in ` (deleted)`. Its directory is still correct.
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    match std::fs::read_link(link) {
        Ok(path) if is_file && path.is_absolute() => {
            let is_data = || {
                let mut first = [0; MOST_FIRST as usize];
                // The position of the file stays where it is.
                file.read_at(&mut first, 0).map_or(true, |read| begins_as_data(&first[..read]))
            };
            TableFormats::default().check(&path, is_data)
        }
        _ => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn check_open_file(_: &File) -> Result<()> {
    Ok(())
}

/// Returns an error if the path is in the directory of a table of such a format.
pub(crate) fn check_write(path: &Path) -> Result<()> {
    let may_be_iceberg = || is_named_as_data(path) || is_data_file(path);
    let Some((folder, format)) = TableFormats::default().holding(path, may_be_iceberg) else {
        return Ok(());
    };
    let (shown, title) = (shown(&folder, path), format.title());
    Err(Error::job(format!(
        "`{}` is {title}: a file that is put there does not become part of it",
        shown.display()
    ))
    .help("write the file to another folder, and load it into the table with the system that keeps it"))
}

/// The directory as a prefix of the given path, if it is one.
fn shown(folder: &Path, path: &Path) -> PathBuf {
    let same = |own: &&Path| {
        own.canonicalize().is_ok_and(|own| folder.canonicalize().is_ok_and(|f| f == own))
    };
    let named = path.ancestors().filter(|own| !own.as_os_str().is_empty()).find(same);
    named.unwrap_or(folder).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: PathBuf, content: &[u8]) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    #[test]
    fn a_directory_with_data_files_of_iceberg_is_recognised() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        for metadata in ["v1.metadata.json", "v1.metadata.json.gz", "version-hint.text", "a.avro"] {
            write(path(metadata).join("metadata").join(metadata), b"{}");
            write(path(metadata).join("data/day=1/part"), b"PAR1");
            write(path(metadata).join("data/day=1/people.csv"), b"age,zip\n");
            for refused in ["", "data", "data/day=1", "data/day=1/part"] {
                let error = check_table_format(&path(metadata).join(refused)).unwrap_err();
                assert!(error.message().contains("Iceberg"), "{error}");
            }
            check_table_format(&path(metadata).join("data/day=1/people.csv")).unwrap();
        }
    }

    #[test]
    fn a_directory_without_data_files_of_iceberg_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        write(path("study/metadata/people.metadata.json"), b"{}");
        write(path("study/data/people.csv"), b"age,zip\n");
        write(path("plain/metadata/notes.json"), b"{}");
        write(path("plain/data/a.parquet"), b"PAR1");
        for folder in ["study", "study/data", "plain", "plain/data", "plain/data/a.parquet"] {
            check_table_format(&path(folder)).unwrap();
        }
        check_write(&path("study/data/out.csv")).unwrap();
        check_write(&path("study/data/out.parquet")).unwrap_err();
    }
}
