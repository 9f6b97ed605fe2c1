//! The identity of files, also of those behind the standard streams of the process.
//!
//! Two names can refer to one file: symbolic links, hard links, `/dev/stdin`. On Unix, the device
//! and inode numbers identify a file. On other systems, [`FileId::of`] returns `None`, and the
//! checks here do nothing.

use std::fs::{File, Metadata};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use incrowd_core::{Error, Result};

/// The identity of a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// The identity of a regular file with this metadata. `None` for other files, and on systems
    /// without inode numbers.
    #[cfg(unix)]
    pub fn of(metadata: &Metadata) -> Option<FileId> {
        use std::os::unix::fs::MetadataExt;
        metadata.is_file().then(|| FileId { device: metadata.dev(), inode: metadata.ino() })
    }

    /// The identity of a regular file with this metadata. `None` for other files, and on systems
    /// without inode numbers.
    #[cfg(not(unix))]
    pub fn of(_: &Metadata) -> Option<FileId> {
        None
    }

    /// The identity of the regular file at a path. Links are followed.
    pub fn at(path: &Path) -> Option<FileId> {
        std::fs::metadata(path).ok().as_ref().and_then(FileId::of)
    }
}

/// Distinguishes a file from another file that takes its name, and from its own later contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileVersion {
    id: Option<FileId>,
    bytes: u64,
    modified: Option<SystemTime>,
}

impl FileVersion {
    pub(crate) fn of(metadata: &Metadata) -> FileVersion {
        let (id, bytes) = (FileId::of(metadata), metadata.len());
        FileVersion { id, bytes, modified: metadata.modified().ok() }
    }
}

/// A standard stream that the process uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardStream {
    /// A table is read from it.
    Input,
    /// Results are written to it.
    Output,
    /// Messages are written to it.
    Error,
}

impl StandardStream {
    fn name(self) -> &'static str {
        match self {
            StandardStream::Input => "standard input",
            StandardStream::Output => "standard output",
            StandardStream::Error => "standard error",
        }
    }
}

/// The regular files behind the standard streams in use. Only the command line fills it, because a
/// library does not own the streams of its process.
static IN_USE: Mutex<Vec<(StandardStream, FileId)>> = Mutex::new(Vec::new());

/// Registers that the process uses a standard stream. `file` is a handle of the stream. Afterwards,
/// a file behind an output stream cannot be read, and a file behind any stream cannot be written.
/// It is an error if the file is already used in the other direction, or if an input file belongs
/// to a table of [another format](crate::check_table_format).
pub fn use_stream(stream: StandardStream, file: &File) -> Result<()> {
    let Some(id) = file.metadata().ok().as_ref().and_then(FileId::of) else { return Ok(()) };
    let shown = Path::new(stream.name());
    if stream == StandardStream::Input {
        check_read(shown, &file.metadata().map_err(|e| crate::source::unreadable(shown, &e))?)?;
        crate::source::table_format::check_open_file(file)?;
    }
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner).push((stream, id));
    Ok(())
}

/// The stream in use that is this file, if `wanted` accepts it.
fn stream_of(id: FileId, wanted: impl Fn(StandardStream) -> bool) -> Option<StandardStream> {
    let in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
    in_use.iter().find(|(stream, own)| *own == id && wanted(*stream)).map(|(stream, _)| *stream)
}

/// Refuses to read a file that standard output or standard error is written to.
pub fn refuse_own_output(path: &Path) -> Result<()> {
    std::fs::metadata(path).map_or(Ok(()), |metadata| check_read(path, &metadata))
}

/// Whether a standard stream is written to an input file. A message on the stream would change that
/// file.
pub fn goes_into_input(stream: StandardStream) -> bool {
    READ.lock().unwrap_or_else(PoisonError::into_inner).contains(&stream)
}

/// Keeps messages out of a file that an argument names. Otherwise a message before the file is
/// opened would change it.
pub fn keep_messages_out(path: &Path) {
    if let Some(id) = FileId::at(path) {
        note_read(id);
    }
}

/// Notes the output streams that are written to a file.
fn note_read(id: FileId) {
    for own in [StandardStream::Output, StandardStream::Error] {
        if stream_of(id, |stream| stream == own).is_some() {
            READ.lock().unwrap_or_else(PoisonError::into_inner).push(own);
        }
    }
}

/// The streams that are written to an input file.
static READ: Mutex<Vec<StandardStream>> = Mutex::new(Vec::new());

/// Refuses to read a file that standard output or standard error is written to.
pub(crate) fn check_read(path: &Path, metadata: &Metadata) -> Result<()> {
    let Some(id) = FileId::of(metadata) else { return Ok(()) };
    let Some(stream) = stream_of(id, |stream| stream != StandardStream::Input) else {
        return Ok(());
    };
    note_read(id);
    let (file, stream) = (path.display(), stream.name());
    // `>` empties a file before the program starts.
    let emptied = if metadata.len() == 0 { "; the shell has emptied it already" } else { "" };
    Err(Error::job(format!("{stream} goes into `{file}`, which is read{emptied}"))
        .help("redirect it to another file"))
}

/// Refuses to write a file that a standard stream in use reads or writes.
pub(crate) fn check_write(path: &Path) -> Result<()> {
    let Some(stream) = FileId::at(path).and_then(|id| stream_of(id, |_| true)) else {
        return Ok(());
    };
    let (file, stream_name) = (path.display(), stream.name());
    Err(match stream {
        StandardStream::Input => {
            Error::job(format!("`{file}` would be overwritten, but {stream_name} is read from it"))
        }
        _ => Error::job(format!("`{file}` would be replaced, but {stream_name} goes into it")),
    }
    .help("give it a name of its own"))
}
