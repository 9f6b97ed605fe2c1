//! Reads the small files of a job: the job file, manifests, hierarchies, keys.
//!
//! Such a path may name any kind of file, such as an endless device or a named pipe without a
//! writer. Only regular files and pipes with a writer are read. Pipes are supported for the `<(…)`
//! of a shell. There is a maximum number of bytes.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The maximum size of a job file, or of a hierarchy that is a tree in TOML. A parsed document
/// takes up to 240 times its size.
pub const MOST_TOML_BYTES: u64 = 4 << 20;
/// The maximum size of a manifest, and of any other small file.
pub const MOST_BYTES: u64 = 64 << 20;
/// The maximum size of a hierarchy that is a list of lines.
pub const MOST_HIERARCHY_BYTES: u64 = 32 << 20;

/// The time to wait for the first writer of a pipe. In `writer > pipe &`, the writer may start
/// after the reader.
const PATIENCE: Duration = Duration::from_secs(2);
/// The pause between two reads of a pipe that has no bytes yet.
const PAUSE: Duration = Duration::from_millis(5);

/// Reads a regular file, or a pipe that has a writer. More than `most` bytes are an error.
pub fn read_side_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let metadata = file.metadata()?;
    crate::file_id::check_read(path, &metadata)
        .map_err(|e| io::Error::other(e.message().to_owned()))?;
    let too_large = || io::Error::other(format!("it is larger than {} MiB", most >> 20));
    if !metadata.is_file() {
        if !is_pipe(&metadata) {
            return Err(io::Error::other("it is not a file"));
        }
        // A named pipe may have other bytes the next time. A pipe of the shell cannot, so its bytes
        // are stored.
        let of_shell = path.starts_with("/dev/fd") || path.starts_with("/proc");
        return read_pipe(file, of_shell.then(|| pipe_id(&metadata)), most)?.ok_or_else(too_large);
    }
    if metadata.len() > most {
        return Err(too_large());
    }
    // Some files, such as those below /proc, do not state their size.
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

/// Reads a file like [`read_side_file`], as UTF-8 text.
pub fn read_side_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read_side_file(path, most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Opens a file without waiting for the other end of a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    // Without NOCTTY, a terminal could become the controlling terminal of the process.
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    File::options().read(true).custom_flags(flags.bits() as i32).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(unix)]
fn is_pipe(metadata: &std::fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&metadata.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &std::fs::Metadata) -> bool {
    false
}

/// Device and inode number. They identify a pipe as long as it is open.
type PipeId = (u64, u64);

#[cfg(unix)]
fn pipe_id(metadata: &std::fs::Metadata) -> PipeId {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn pipe_id(_: &std::fs::Metadata) -> PipeId {
    (0, 0)
}

/// The last pipes of a shell that were read. A command may read a manifest twice, but a pipe
/// provides its bytes once.
static PIPES: Mutex<VecDeque<(PipeId, Vec<u8>)>> = Mutex::new(VecDeque::new());
const MOST_PIPES: usize = 8;

/// The bytes of a pipe until its writers close it. `None` if there are more than `most`.
fn read_pipe(pipe: File, id: Option<PipeId>, most: u64) -> io::Result<Option<Vec<u8>>> {
    let known = || {
        let pipes = PIPES.lock().unwrap_or_else(PoisonError::into_inner);
        pipes.iter().find(|(own, _)| Some(*own) == id).map(|(_, bytes)| bytes.clone())
    };
    let patience = if known().is_some() { Duration::ZERO } else { PATIENCE };
    match read_to_end(pipe, patience, most)? {
        None => {
            known().map(Some).ok_or_else(|| io::Error::other("it is a pipe that nothing writes to"))
        }
        Some(bytes) if bytes.len() as u64 > most => Ok(None),
        Some(bytes) => {
            if let Some(id) = id {
                let mut pipes = PIPES.lock().unwrap_or_else(PoisonError::into_inner);
                pipes.retain(|(own, _)| *own != id);
                pipes.push_back((id, bytes.clone()));
                if pipes.len() > MOST_PIPES {
                    pipes.pop_front();
                }
            }
            Ok(Some(bytes))
        }
    }
}

/// The bytes of a pipe. If there are more than `most`, it returns at least `most` + 1 of them.
/// `None` if the pipe has no writer.
fn read_to_end(mut pipe: File, patience: Duration, most: u64) -> io::Result<Option<Vec<u8>>> {
    let begun = Instant::now();
    let (mut bytes, mut room) = (Vec::new(), vec![0; 1 << 16]);
    // A pipe without a writer is at its end at once. A writer may still open it, so this is
    // retried.
    let mut has_writer = false;
    loop {
        match pipe.read(&mut room) {
            Ok(0) if has_writer => return Ok(Some(bytes)),
            Ok(0) if begun.elapsed() >= patience => return Ok(None),
            Ok(0) => {}
            Ok(read) => {
                has_writer = true;
                bytes.extend_from_slice(&room[..read]);
                if bytes.len() as u64 > most {
                    return Ok(Some(bytes));
                }
                continue;
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => has_writer = true,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn files_are_read_up_to_their_limit_and_devices_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("side");
        std::fs::write(&path, b"four").unwrap();
        assert_eq!(read_side_file(&path, 4).unwrap(), b"four");
        assert!(read_side_file(&path, 3).is_err());
        std::fs::write(&path, b"\xff").unwrap();
        assert_eq!(read_side_text(&path, 4).unwrap_err().kind(), io::ErrorKind::InvalidData);
        for device in ["/dev/zero", "/dev/null", "/"] {
            assert!(read_side_file(Path::new(device), 4).is_err(), "{device}");
        }
        assert_eq!(
            read_side_file(&dir.path().join("none"), 4).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }

    #[test]
    fn a_pipe_is_read_if_something_writes_to_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(read_side_file(&path, 9).unwrap_err().to_string().contains("nothing writes"));
        let writes = |text: &'static [u8]| {
            let path = path.clone();
            std::thread::spawn(move || {
                File::options().write(true).open(path).and_then(|mut f| f.write_all(text))
            })
        };
        let writer = writes(b"from a pipe");
        assert_eq!(read_side_file(&path, 99).unwrap(), b"from a pipe");
        writer.join().unwrap().unwrap();
        let writer = writes(b"from a pipe");
        assert!(read_side_file(&path, 9).is_err(), "too much");
        writer.join().unwrap().ok();
    }
}
