//! `-` as a path: standard input is copied into a private file, because a table is opened more than
//! once: its format and header are read before its records, typed formats are read by position, and
//! hierarchies of columns, messages about single values and `report` need further readings. A
//! release is written to standard output only after it was verified.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Seek};
use std::path::PathBuf;
use std::sync::OnceLock;

use clap::{Arg, ValueHint};
use incrowd::Error;
use incrowd::front_end::StandardStream;
use incrowd::job::{Job, Location, Output};
use tempfile::TempDir;

/// The name of standard input and output.
const STREAM: &str = "-";

/// The copy of standard input. Where the system allows it, the file has no name and disappears with
/// the process.
struct Spool {
    _file: File,
    _directory: Option<TempDir>,
    path: PathBuf,
}

static SPOOL: OnceLock<Spool> = OnceLock::new();

/// The flags of files that a command writes. `--output` is not among them: a release can be written
/// to standard output.
const WRITTEN: [&str; 5] = ["audit", "details", "owner", "owner-report", "report"];

/// Replaces `-` by the path of the copy of standard input, where it is the path of a file that is
/// read. After `--missing` it is the text of a missing value.
pub(crate) fn arguments(
    command: &clap::Command,
    given: impl IntoIterator<Item = OsString>,
) -> Result<Vec<OsString>, Error> {
    let mut arguments: Vec<OsString> = Vec::new();
    // The innermost subcommand so far.
    let mut own = command;
    for argument in given {
        let flag = arguments.last().and_then(|last| flag_with_value([own, command], last));
        own = match flag {
            None => own.find_subcommand(&argument).unwrap_or(own),
            Some(_) => own,
        };
        let is_path = flag.is_none_or(|flag| flag.get_value_hint() == ValueHint::FilePath);
        let name = flag.and_then(Arg::get_long).unwrap_or_default();
        arguments.push(match argument == STREAM && is_path && name != "output" {
            true if WRITTEN.contains(&name) => {
                return Err(Error::job(format!("`--{name}` cannot be `-`"))
                    .help("name a file; only a release is written to standard output"));
            }
            true => spooled()?.into_os_string(),
            false => argument,
        });
    }
    Ok(arguments)
}

/// Returns the flag that an argument names, if a value follows it.
fn flag_with_value<'a>(commands: [&'a clap::Command; 2], argument: &OsStr) -> Option<&'a Arg> {
    let argument = argument.to_str()?;
    let is_named = |own: &&Arg| match (argument.strip_prefix("--"), argument.strip_prefix('-')) {
        (Some(long), _) => own.get_long() == Some(long),
        (None, Some(short)) => own.get_short().is_some_and(|own| short == own.to_string()),
        (None, None) => false,
    };
    let mut all = commands.into_iter().flat_map(clap::Command::get_arguments);
    all.find(is_named).filter(|own| own.get_action().takes_values())
}

/// Replaces `-` among the input tables of a job file.
pub(crate) fn resolve(tables: &mut [Location]) -> Result<(), Error> {
    for table in tables.iter_mut().filter(|table| **table == STREAM.into()) {
        *table = spooled()?.into();
    }
    Ok(())
}

fn spooled() -> Result<PathBuf, Error> {
    if let Some(spool) = SPOOL.get() {
        return Ok(spool.path.clone());
    }
    let failed = |e: io::Error| {
        Error::resources(format!("standard input cannot be copied to a temporary file: {e}"))
            .help("the environment variable TMPDIR sets the directory of temporary files")
    };
    if let Some(input) = own_handle(&io::stdin()) {
        incrowd::front_end::use_stream(StandardStream::Input, &input)?;
    }
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

/// Notes which files standard output and standard error go to, so that nothing that is read or
/// replaced is one of them.
pub(crate) fn use_outputs() -> Result<(), Error> {
    let outputs = [
        (StandardStream::Output, own_handle(&io::stdout())),
        (StandardStream::Error, own_handle(&io::stderr())),
    ];
    for (stream, file) in outputs {
        file.map_or(Ok(()), |file| incrowd::front_end::use_stream(stream, &file))?;
    }
    Ok(())
}

/// Returns a handle of the file that a stream is connected to.
#[cfg(unix)]
fn own_handle(stream: &impl std::os::fd::AsFd) -> Option<File> {
    stream.as_fd().try_clone_to_owned().ok().map(File::from)
}

#[cfg(not(unix))]
fn own_handle<S>(_: &S) -> Option<File> {
    None
}

/// Returns a path under which this process, but no other user, can open an unnamed file.
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

/// Replaces the path of the copy in a message by "standard input".
pub(crate) fn name_stdin(message: &str) -> String {
    match SPOOL.get() {
        Some(spool) => message
            .replace(&format!("`{}`", spool.path.display()), "standard input")
            .replace(&spool.path.display().to_string(), "standard input"),
        None => message.to_owned(),
    }
}

/// A staged release for standard output, in a directory that only its owner can read.
pub(crate) struct Outgoing {
    directory: TempDir,
    release: PathBuf,
    /// Whether the job names a manifest file.
    pub(crate) manifest: bool,
}

impl Outgoing {
    /// If the release of a job goes to standard output, redirects it into a private file.
    pub(crate) fn of(job: &mut Job) -> Result<Option<Outgoing>, Error> {
        let Some(output) = job.output.as_mut() else { return Ok(None) };
        if output.path != STREAM.into() {
            return match &output.format {
                None => Ok(None),
                Some(_) => Err(Error::job("the file name of a release determines its format")
                    .help("remove `[output] format`, or write the release to standard output")
                    .at("output.format")),
            };
        }
        let failed =
            |e: io::Error| Error::resources(format!("cannot create a temporary directory: {e}"));
        let directory = TempDir::with_prefix("incrowd-").map_err(failed)?;
        let format = output.format.take().unwrap_or_else(|| "csv".to_owned());
        let release = directory.path().join(format!("release.{format}"));
        let manifest = output.manifest.is_some();
        *output = Output { path: release.clone().into(), ..output.clone() };
        Ok(Some(Outgoing { directory, release, manifest }))
    }

    /// Writes the verified release to standard output.
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
