//! The file of a secret key: only its owner can read it, and it is created on first use.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use incrowd_core::{Error, Result};
use incrowd_engine::Pending;
use incrowd_recode::suppression::Secret;

/// Returns the key of a file. The file is created if it does not exist.
pub(crate) fn read_or_make(path: &Path) -> Result<Secret> {
    match read(path)? {
        Some(secret) => Ok(secret),
        None => make(path),
    }
}

/// Returns the key of a file, if it exists. An empty file was never completed and contained no key.
pub(crate) fn read(path: &Path) -> Result<Option<Secret>> {
    let at = |what: &str| format!("the key `{}` {what}", path.display());
    let failed = |e: std::io::Error| Error::resources(at(&format!("cannot be used: {e}")));
    // Opening something other than a file, such as a named pipe, could block.
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() && found.len() == 0 => return Ok(None),
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(Error::job(at("is not a file"))),
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(failed(e)),
    }
    incrowd_engine::refuse_own_output(path)?;
    let file = File::open(path).map_err(failed)?;
    only_ours(&file).map_err(|()| {
        Error::job(at("can be read by others")).help(format!("chmod 600 {}", path.display()))
    })?;
    let mut text = String::new();
    file.take(MOST_BYTES).read_to_string(&mut text).map_err(failed)?;
    from_hex(text.trim()).map(|bytes| Some(Secret::new(bytes))).ok_or_else(|| {
        Error::job(at("is not a key")).help(
            "name a file that does not exist yet, and a key is created there; \
             a key has 64 hexadecimal digits",
        )
    })
}

/// The maximum size of a key file.
const MOST_BYTES: u64 = 4096;

/// Creates a key. The file appears completely or not at all.
fn make(path: &Path) -> Result<Secret> {
    if let Some(directory) = path.parent().filter(|d| !d.as_os_str().is_empty()) {
        let mut builder = std::fs::DirBuilder::new();
        // A configuration directory that others can write is refused later.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true).create(directory).map_err(|e| {
            Error::resources(format!("cannot create the directory `{}`: {e}", directory.display()))
        })?;
    }
    let bytes: [u8; 32] = rand::random();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let pending = Pending::create_private(path)?;
    let failed = |e: std::io::Error| incrowd_engine::write_failed(path, &e);
    pending.writer()?.write_all(format!("{hex}\n").as_bytes()).map_err(failed)?;
    if path.exists() {
        // The existing file is empty.
        pending.publish()?;
    } else if !pending.publish_new()? {
        // Another run created it first.
        return read(path)?
            .ok_or_else(|| Error::resources(format!("the key `{}` is empty", path.display())));
    }
    Ok(Secret::new(bytes))
}

#[cfg(unix)]
fn only_ours(file: &File) -> Result<(), ()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata().map_err(|_| ())?.permissions().mode();
    if mode & 0o077 == 0 { Ok(()) } else { Err(()) }
}

#[cfg(not(unix))]
fn only_ours(_: &File) -> Result<(), ()> {
    Ok(())
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    let mut bytes = [0; 32];
    if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

/// Returns the default path of the user's key.
pub(super) fn default_path() -> Result<PathBuf> {
    incrowd_engine::configuration_directory()
        .map(|directory| directory.join("suppression.key"))
        .ok_or_else(|| {
            Error::job("there is no directory for the secret key")
                .help("name a file as `[suppression] key`")
                .at("suppression.key")
        })
}
