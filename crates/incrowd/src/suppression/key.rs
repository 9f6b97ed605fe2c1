//! Where the secret key lies: in a file that only its owner can read, made on first use.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use incrowd_core::{Error, Result};
use incrowd_engine::Pending;
use incrowd_recode::suppression::Secret;

/// The key of a file; the file is made if it is not there.
pub(crate) fn read_or_make(path: &Path) -> Result<Secret> {
    match read(path)? {
        Some(secret) => Ok(secret),
        None => make(path),
    }
}

/// The key of a file, if it is there. An empty file is one that was never finished, so no key was ever in it.
pub(crate) fn read(path: &Path) -> Result<Option<Secret>> {
    let at = |what: &str| format!("the key `{}` {what}", path.display());
    let failed = |e: std::io::Error| Error::resources(at(&format!("cannot be used: {e}")));
    // Whatever is no file could keep whoever opens it waiting.
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() && found.len() == 0 => return Ok(None),
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(Error::job(at("is not a file"))),
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(failed(e)),
    }
    let file = File::open(path).map_err(failed)?;
    only_ours(&file).map_err(|()| {
        Error::job(at("can be read by others")).help(format!("chmod 600 {}", path.display()))
    })?;
    let mut text = String::new();
    file.take(MOST_BYTES).read_to_string(&mut text).map_err(failed)?;
    from_hex(text.trim()).map(|bytes| Some(Secret::new(bytes))).ok_or_else(|| {
        Error::job(at("is not a key")).help(
            "name a file that does not exist yet, and a key is made there; 64 hexadecimal digits are one",
        )
    })
}

/// No key is longer.
const MOST_BYTES: u64 = 4096;

/// Makes a key: the file is there with all of it, or not at all.
fn make(path: &Path) -> Result<Secret> {
    if let Some(directory) = path.parent().filter(|d| !d.as_os_str().is_empty()) {
        std::fs::create_dir_all(directory).map_err(|e| {
            Error::resources(format!("cannot make the directory `{}`: {e}", directory.display()))
        })?;
    }
    let bytes: [u8; 32] = rand::random();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let pending = Pending::create_private(path)?;
    let failed = |e: std::io::Error| incrowd_engine::write_failed(path, &e);
    pending.writer()?.write_all(format!("{hex}\n").as_bytes()).map_err(failed)?;
    if path.exists() {
        // It is empty.
        pending.publish()?;
    } else if !pending.publish_new()? {
        // Another run was faster.
        return read(path)?.ok_or_else(|| Error::resources(format!("the key `{}` is empty", path.display())));
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

/// The key of a user who names none.
pub(super) fn default_path() -> Result<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let directory = variable("XDG_CONFIG_HOME")
        .or_else(|| variable("HOME").map(|home| home.join(".config")))
        .or_else(|| variable("APPDATA"));
    directory.map(|directory| directory.join("incrowd").join("suppression.key")).ok_or_else(|| {
        Error::job("there is no directory for the secret key")
            .help("name a file as `[suppression] key`")
            .at("suppression.key")
    })
}
