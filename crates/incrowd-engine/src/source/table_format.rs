//! Directories of Delta Lake, Apache Iceberg and Apache Hudi tables. Their data files are Parquet,
//! but a log determines which files and records belong to the table. The files still contain
//! deleted records and earlier versions of updated records. incrowd does not read these logs. It
//! therefore refuses to read such files and to write into such directories.

use std::path::{Path, PathBuf};

use hashbrown::HashMap;
use incrowd_core::{Error, Result};

use super::Format;
use crate::database::is_database;
use crate::remote::is_remote;

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
        let marked = |format: &TableFormat| {
            let marker = folder.join(format.marker());
            match format {
                TableFormat::Iceberg => has_iceberg_metadata(&marker),
                _ => marker.is_dir(),
            }
        };
        [TableFormat::Delta, TableFormat::Hudi, TableFormat::Iceberg].into_iter().find(marked)
    }
}

fn has_iceberg_metadata(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).any(|name| {
        let name = name.to_string_lossy();
        // Both extensions are in use for compressed metadata.
        name.ends_with(".metadata.json") || name.ends_with(".metadata.json.gz")
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
    fn holding(&mut self, path: &Path) -> Option<(PathBuf, TableFormat)> {
        if is_database(path) || is_remote(path) {
            return None;
        }
        // Other programs also write `metadata/x.metadata.json`. The name only indicates Iceberg
        // next to files that Iceberg could have written.
        let may_be_iceberg = matches!(Format::of_path(path), Ok(Format::Parquet | Format::Arrow));
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
            .find(|(_, format)| may_be_iceberg || *format != TableFormat::Iceberg)
    }

    /// Returns an error if the file or directory belongs to a table of such a format.
    pub(crate) fn check_read(&mut self, path: &Path) -> Result<()> {
        let Some((folder, format)) = self.holding(path) else { return Ok(()) };
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

/// Returns an error if the path is in the directory of a table of such a format.
pub(crate) fn check_write(path: &Path) -> Result<()> {
    let Some((folder, format)) = TableFormats::default().holding(path) else { return Ok(()) };
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
