//! `-` as a path: standard input is copied into a private file, because a table is opened more than
//! once: its format and header are read before its records, typed formats are read by position, and
//! hierarchies of columns, messages about single values and `report` need further readings. A
//! release is written to standard output only after it was verified.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

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

/// The temporary directories of this process. They contain a table or a release.
static TEMPORARY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Makes a directory that only its owner can read. [`remove_temporary`] and
/// [`abandon_temporary`] remove it.
fn private_directory() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("incrowd-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o700));
    }
    // A signal between creation and registration must not leave the directory behind.
    let mut all = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = builder.tempdir()?;
    all.push(directory.path().to_owned());
    Ok(directory)
}

/// Removes the temporary directories at the end of a command.
pub(crate) fn remove_temporary() {
    let mut all = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    all.drain(..).for_each(|directory| drop(std::fs::remove_dir_all(directory)));
}

/// Removes the temporary directories of a process that is about to exit. The lock is never
/// released, so that no thread can make another one before the process exits.
pub(crate) fn abandon_temporary() {
    let all = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    all.iter().for_each(|directory| drop(std::fs::remove_dir_all(directory)));
    std::mem::forget(all);
}

/// Returns whether a file is in a temporary directory of this process.
pub(crate) fn is_temporary(path: &Path) -> bool {
    let all = TEMPORARY.try_lock();
    all.is_ok_and(|all| all.iter().any(|directory| path.starts_with(directory)))
}

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
        refuse_device(&input)?;
        incrowd::front_end::use_stream(StandardStream::Input, &input)?;
    }
    let mut file = tempfile::tempfile().map_err(failed)?;
    io::copy(&mut io::stdin().lock(), &mut file).map_err(failed)?;
    file.rewind().map_err(failed)?;
    let spool = match named_by_system(&file) {
        Some(path) => Spool { _file: file, _directory: None, path },
        None => {
            let directory = private_directory().map_err(failed)?;
            let path = directory.path().join("standard-input");
            io::copy(&mut file, &mut File::create(&path).map_err(failed)?).map_err(failed)?;
            Spool { _file: file, _directory: Some(directory), path }
        }
    };
    Ok(SPOOL.get_or_init(|| spool).path.clone())
}

/// Refuses an endless device such as /dev/zero, whose copy would fill the disk. A terminal is read.
#[cfg(unix)]
fn refuse_device(input: &File) -> Result<(), Error> {
    use std::io::IsTerminal;
    use std::os::unix::fs::FileTypeExt;
    let is_device = input.metadata().is_ok_and(|found| found.file_type().is_char_device());
    if is_device && !input.is_terminal() {
        return Err(Error::input("standard input is a device, which is not read")
            .help("write the table to a file or a pipe"));
    }
    Ok(())
}

#[cfg(not(unix))]
fn refuse_device(_: &File) -> Result<(), Error> {
    Ok(())
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

/// Keeps messages out of the files that arguments name.
pub(crate) fn keep_messages_out(arguments: &[OsString]) {
    // A flag may contain its value: --job=job.toml.
    let value = |argument: &OsString| {
        let value = argument.to_str().and_then(|text| text.strip_prefix("--")?.split_once('='));
        value.map(|(_, value)| PathBuf::from(value))
    };
    for argument in arguments.iter().skip(1) {
        let path = value(argument).unwrap_or_else(|| argument.into());
        incrowd::front_end::engine::keep_messages_out(&path);
    }
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
        let directory = private_directory().map_err(failed)?;
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
