//! The target path of a file, resolved once, before any long work. A published file replaces a
//! regular file or creates a new one. A device, a named pipe or a socket is never replaced.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use incrowd_core::{Error, Result};

use super::unwritable;

/// The target of a file. A symbolic link is resolved when the target is made; later changes of the
/// link have no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub(super) path: PathBuf,
    /// The path as the caller gave it, for messages.
    pub(super) shown: PathBuf,
}

/// The maximum length of a chain of symbolic links.
const MOST_LINKS: usize = 40;

impl Target {
    /// Resolves a path. Returns an error if the file cannot be published there.
    pub fn decide(shown: &Path) -> Result<Target> {
        let refused = |what: &str, help: &str| {
            Err(Error::job(format!("`{}` {what}", shown.display())).help(help))
        };
        crate::file_id::check_write(shown)?;
        crate::source::table_format::check_write(shown)?;
        let mut path = shown.to_owned();
        // `metadata` follows links in the kernel. The text of a link into `/proc`, such as
        // `pipe:[123]`, is not a path that could be followed below.
        if let Some(kind) = std::fs::metadata(shown).ok().and_then(|found| strange(&found)) {
            return refused(&format!("is {kind} and cannot be replaced"), "name a file");
        }
        for _ in 0..MOST_LINKS {
            if path.file_name().is_none() || path.is_dir() {
                return refused("is a directory", "name a file in it");
            }
            let found = match std::fs::symlink_metadata(&path) {
                Ok(found) => found,
                Err(e) if e.kind() == ErrorKind::NotFound => {
                    return Ok(Target { path, shown: shown.to_owned() });
                }
                Err(e) => return Err(unwritable(shown, &e)),
            };
            let directory = directory(&path);
            if !found.is_symlink() {
                if let Some(kind) = strange(&found) {
                    return refused(&format!("is {kind} and cannot be replaced"), "name a file");
                }
                if !may_replace(&found, directory) {
                    return refused(
                        "belongs to another user, and here only its owner can replace it",
                        "name another file",
                    );
                }
                return Ok(Target { path, shown: shown.to_owned() });
            }
            if !is_trusted(&found, directory) {
                return refused("is a link of another user", "name the file itself");
            }
            let to = std::fs::read_link(&path).map_err(|e| unwritable(shown, &e))?;
            path = directory.join(to);
        }
        refused("is a link that leads nowhere", "name a file")
    }

    /// The resolved path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The directory of a file.
pub(super) fn directory(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The kind of a special file. `None` for a regular file, a directory or a symbolic link.
fn strange(found: &Metadata) -> Option<&'static str> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = found.file_type();
        if kind.is_fifo() {
            return Some("a named pipe");
        }
        if kind.is_socket() {
            return Some("a socket");
        }
        if kind.is_char_device() || kind.is_block_device() {
            return Some("a device");
        }
    }
    let usual = found.is_file() || found.is_dir() || found.is_symlink();
    (!usual).then_some("no file")
}

#[cfg(unix)]
mod owners {
    use std::fs::Metadata;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    const STICKY: u32 = 0o1000;
    const OTHERS_WRITE: u32 = 0o022;

    pub(in crate::pending) fn own_user() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    pub(in crate::pending) fn is_ours(found: &Metadata) -> bool {
        found.uid() == own_user()
    }

    /// Whether this user may replace a file. In a sticky directory such as /tmp everybody may
    /// create files, but only a file's owner may replace it.
    pub(super) fn may_replace(found: &Metadata, directory: &Path) -> bool {
        let Ok(around) = std::fs::metadata(directory) else { return true };
        let us = own_user();
        us == 0 || around.mode() & STICKY == 0 || found.uid() == us || around.uid() == us
    }

    /// Whether a symbolic link is followed. It is if this user or root owns it, if no other user
    /// may write to the directory, or if the directory is sticky and its owner made the link. Such
    /// users could replace the target anyway.
    pub(super) fn is_trusted(found: &Metadata, directory: &Path) -> bool {
        let Ok(around) = std::fs::metadata(directory) else { return false };
        let alone = around.mode() & OTHERS_WRITE == 0;
        is_ours(found)
            || found.uid() == 0
            || alone
            || around.mode() & STICKY != 0 && found.uid() == around.uid()
    }
}

#[cfg(not(unix))]
mod owners {
    use std::fs::Metadata;
    use std::path::Path;

    pub(in crate::pending) fn is_ours(_: &Metadata) -> bool {
        true
    }

    pub(super) fn may_replace(_: &Metadata, _: &Path) -> bool {
        true
    }

    pub(super) fn is_trusted(_: &Metadata, _: &Path) -> bool {
        true
    }
}

pub(super) use owners::is_ours;
use owners::{is_trusted, may_replace};
