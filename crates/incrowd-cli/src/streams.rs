//! `-`: standard input is spooled into a private file before it is read, because a table is read more than once, and a release
//! reaches standard output only after it was verified.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek};
use std::path::PathBuf;
use std::sync::OnceLock;

use incrowd::Error;
use incrowd::job::{Job, Output};
use tempfile::TempDir;

/// The name of standard input and output.
const STREAM: &str = "-";

/// What standard input was spooled into. It has no name where the system allows that, so nothing of it survives the process.
struct Spool {
    _file: File,
    _directory: Option<TempDir>,
    path: PathBuf,
}

static SPOOL: OnceLock<Spool> = OnceLock::new();

/// What was typed, with the place of what standard input holds where somebody typed `-` for it.
pub(crate) fn arguments(typed: impl IntoIterator<Item = OsString>) -> Result<Vec<OsString>, Error> {
    let mut arguments: Vec<OsString> = Vec::new();
    for argument in typed {
        let output = arguments.last().is_some_and(|last| last == "-o" || last == "--output");
        arguments.push(if argument == STREAM && !output { spooled()?.into_os_string() } else { argument });
    }
    Ok(arguments)
}

/// The same for the tables of a job file.
pub(crate) fn resolve(paths: &mut [PathBuf]) -> Result<(), Error> {
    for path in paths.iter_mut().filter(|path| path.as_os_str() == STREAM) {
        *path = spooled()?;
    }
    Ok(())
}

fn spooled() -> Result<PathBuf, Error> {
    if let Some(spool) = SPOOL.get() {
        return Ok(spool.path.clone());
    }
    let failed = |e: io::Error| {
        Error::resources(format!("standard input cannot be kept in a temporary file: {e}"))
            .help("TMPDIR says where temporary files go")
    };
    let mut file = tempfile::tempfile().map_err(failed)?;
    io::copy(&mut io::stdin().lock(), &mut file).map_err(failed)?;
    file.rewind().map_err(failed)?;
    let spool = match named_by_system(&file) {
        Some(path) => Spool { _file: file, _directory: None, path },
        None => {
            let directory = TempDir::with_prefix("incrowd-").map_err(failed)?;
            let path = directory.path().join("standard-input");
            io::copy(&mut file, &mut File::create(&path).map_err(failed)?).map_err(failed)?;
            Spool { _file: file, _directory: Some(directory), path }
        }
    };
    Ok(SPOOL.get_or_init(|| spool).path.clone())
}

/// A name under which this process, and no other user, can open a file that has none.
#[cfg(target_os = "linux")]
fn named_by_system(file: &File) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    File::open(&path).is_ok().then_some(path)
}

#[cfg(not(target_os = "linux"))]
fn named_by_system(_: &File) -> Option<PathBuf> {
    None
}

/// A message that names standard input as people do.
pub(crate) fn shown(message: &str) -> String {
    match SPOOL.get() {
        Some(spool) => message
            .replace(&format!("`{}`", spool.path.display()), "standard input")
            .replace(&spool.path.display().to_string(), "standard input"),
        None => message.to_owned(),
    }
}

/// A release on its way to standard output, in a directory that only its owner can look into.
pub(crate) struct Outgoing {
    directory: TempDir,
    release: PathBuf,
    /// Whether a manifest is kept.
    pub(crate) manifest: bool,
}

impl Outgoing {
    /// If the release of a job goes to standard output, lets it go into a private file first.
    pub(crate) fn of(job: &mut Job) -> Result<Option<Outgoing>, Error> {
        let Some(output) = job.output.as_mut() else { return Ok(None) };
        if output.path.as_os_str() != STREAM {
            return match &output.format {
                None => Ok(None),
                Some(_) => Err(Error::job("the name of a release tells its format")
                    .help("leave `[output] format` out, or let the release go to standard output")
                    .at("output.format")),
            };
        }
        let failed = |e: io::Error| Error::resources(format!("no temporary directory can be made: {e}"));
        let directory = TempDir::with_prefix("incrowd-").map_err(failed)?;
        let format = output.format.take().unwrap_or_else(|| "csv".to_owned());
        let release = directory.path().join(format!("release.{format}"));
        let manifest = output.manifest.is_some();
        *output = Output { path: release.clone(), ..output.clone() };
        Ok(Some(Outgoing { directory, release, manifest }))
    }

    /// Writes the release, which was verified, to standard output.
    pub(crate) fn send(self) -> Result<(), Error> {
        let sent = File::open(&self.release).and_then(|mut file| {
            let mut out = io::stdout().lock();
            io::copy(&mut file, &mut out)?;
            io::Write::flush(&mut out)
        });
        drop(self.directory);
        sent.map_err(|e| Error::resources(format!("standard output cannot be written: {e}")))
    }
}
