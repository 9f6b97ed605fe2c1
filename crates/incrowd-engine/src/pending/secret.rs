//! The secret that authenticates this user's journals. It is in the configuration directory and
//! never in a data directory. So a journal that was copied with another person's files cannot be
//! authentic.

use std::fs::{DirBuilder, Metadata, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use incrowd_core::{Error, Result};

use super::{create_locked, directory, disk, is_ours};

const NAME: &str = "journal.key";
const BYTES: usize = 32;

/// Authenticates journals.
#[derive(Clone)]
pub(super) struct Secret([u8; BYTES]);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// The directory for this user's settings and keys: `$XDG_CONFIG_HOME/incrowd`, `~/.config/incrowd`
/// or `%APPDATA%\incrowd`.
pub fn configuration_directory() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = variable("XDG_CONFIG_HOME")
        .or_else(|| variable("HOME").map(|home| home.join(".config")))
        .or_else(|| variable("APPDATA"))?;
    // A relative path would be in the data directory.
    base.is_absolute().then(|| base.join("incrowd"))
}

impl Secret {
    /// Reads the user's secret, or makes it on first use. If there is no writable configuration
    /// directory, the secret is valid for this publication only. Then a failed publication is still
    /// undone, but after a crash the user must handle the journal manually.
    pub(super) fn read_or_make() -> Result<Secret> {
        let Some(path) = own_directory()?.map(|directory| directory.join(NAME)) else {
            return Ok(Secret(rand::random()));
        };
        if let Some(secret) = read(&path)? {
            return Ok(secret);
        }
        let secret = Secret(rand::random());
        match make(&path, &secret) {
            Ok(true) => Ok(secret),
            // Another run made the file in the meantime.
            Ok(false) => Ok(read(&path)?.unwrap_or(secret)),
            Err(_) => Ok(secret),
        }
    }

    /// The user's secret, if there is one.
    pub(super) fn existing() -> Result<Option<Secret>> {
        own_directory()?.map_or(Ok(None), |directory| read(&directory.join(NAME)))
    }

    /// The authentication code of a text.
    pub(super) fn code(&self, text: &str) -> String {
        blake3::keyed_hash(&self.0, text.as_bytes()).to_hex().to_string()
    }

    /// Whether `code` is the authentication code of a text. The comparison takes constant time.
    pub(super) fn admits(&self, text: &str, code: &str) -> bool {
        blake3::Hash::from_hex(code)
            .is_ok_and(|code| code == blake3::keyed_hash(&self.0, text.as_bytes()))
    }

    #[cfg(test)]
    pub(super) fn of_test(byte: u8) -> Secret {
        Secret([byte; BYTES])
    }
}

/// The configuration directory, if this user owns it, or would own it if it does not exist yet. A
/// program that runs as another user with this user's `HOME`, as `sudo` does, must neither use the
/// key there nor make one that the owner cannot read.
fn own_directory() -> Result<Option<PathBuf>> {
    let Some(place) = configuration_directory() else { return Ok(None) };
    let existing = place.ancestors().find_map(|path| Some((path, std::fs::metadata(path).ok()?)));
    let Some((path, found)) = existing.filter(|(_, found)| is_ours(found)) else { return Ok(None) };
    // Many users have a group of their own, so that a parent which the group can write to is common.
    check_writers(path, &found, if path == place { GROUP_WRITE | ALL_WRITE } else { ALL_WRITE })?;
    // A user who can write to the parent can put another directory in place.
    if path == place
        && let Some(parent) = place.parent()
        && let Ok(found) = std::fs::metadata(parent)
    {
        check_writers(parent, &found, ALL_WRITE)?;
    }
    Ok(Some(place))
}

/// Returns an error if a directory has one of these permission bits: other users could replace the
/// key by an older one, or by a link. In a sticky directory they cannot.
fn check_writers(directory: &Path, found: &Metadata, bits: u32) -> Result<()> {
    if !others_can(found, bits) || others_can(found, STICKY) {
        return Ok(());
    }
    let shown = directory.display();
    Err(Error::resources(format!(
        "other users can write to `{shown}`, in which the key of journals is"
    ))
    .help(format!("chmod go-w {shown}")))
}

/// Reads the secret. Returns `None` for a file that belongs to another user or that cannot be
/// opened. All checks are about the opened file, so that the path cannot lead to another file
/// meanwhile.
fn read(path: &Path) -> Result<Option<Secret>> {
    let unusable = |why: &str, help: String| {
        Err(Error::resources(format!("the key of journals `{}` {why}", path.display())).help(help))
    };
    // A symbolic link is followed, because some users keep their configuration in another
    // directory.
    let Ok(mut file) = without_waiting(OpenOptions::new().read(true)).open(path) else {
        return Ok(None);
    };
    let Ok(found) = file.metadata() else { return Ok(None) };
    if !found.is_file() {
        return unusable(
            "is not a file",
            "remove it, and the next publication makes a new one".to_owned(),
        );
    }
    if !is_ours(&found) {
        return Ok(None);
    }
    if others_can(&found, OTHERS_READ) {
        return unusable("can be read by others", format!("chmod 600 {}", path.display()));
    }
    let mut text = String::new();
    let read = (&mut file).take(4 * BYTES as u64).read_to_string(&mut text);
    let hash = read.ok().and_then(|_| blake3::Hash::from_hex(text.trim_end()).ok());
    match hash {
        Some(hash) => Ok(Some(Secret(*hash.as_bytes()))),
        None => {
            unusable("is damaged", "remove it, and the next publication makes a new one".to_owned())
        }
    }
}

/// Writes the file with the secret atomically. Returns `false` if the file exists already.
fn make(path: &Path, secret: &Secret) -> std::io::Result<bool> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory(path))?;
    let (staged, file) = create_locked(path, super::PARTIAL)?;
    let hex = blake3::Hash::from_bytes(secret.0).to_hex();
    let linked = disk::write(&file, &staged, format!("{hex}\n").as_bytes())
        .and_then(|()| disk::sync(&file, &staged))
        .and_then(|()| disk::link(&staged, path));
    disk::remove(&staged).ok();
    disk::sync_directory(directory(path)).ok();
    match linked {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(e),
    }
}

/// Permission bits of all users but the owner.
const OTHERS_READ: u32 = 0o077;
const GROUP_WRITE: u32 = 0o020;
const ALL_WRITE: u32 = 0o002;
/// The permission bit of a directory in which only a file's owner can rename or remove it.
const STICKY: u32 = 0o1000;

/// Whether a file has one of these permission bits.
#[cfg(unix)]
fn others_can(found: &Metadata, bits: u32) -> bool {
    std::os::unix::fs::MetadataExt::mode(found) & bits != 0
}

#[cfg(not(unix))]
fn others_can(_: &Metadata, _: u32) -> bool {
    false
}

/// Makes opening a pipe not wait for its writer, and a terminal not the controlling one.
#[cfg(unix)]
fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.bits().cast_signed())
}

#[cfg(not(unix))]
fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}
