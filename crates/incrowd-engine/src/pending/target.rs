//! Where a file will be: decided once, before any long work. What is written replaces a file or comes where nothing is; a device, a
//! named pipe or a socket is never replaced.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use incrowd_core::{Error, Result};

use super::unwritable;

/// The place of a file. A link to a file stands for that file, as it was when the place was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub(super) path: PathBuf,
    /// What somebody called it.
    pub(super) shown: PathBuf,
}

/// Links in a row that are followed.
const MOST_LINKS: usize = 40;

impl Target {
    /// Decides where a file will be, or says why it cannot be there.
    pub fn decide(shown: &Path) -> Result<Target> {
        let refused =
            |what: &str, help: &str| Err(Error::job(format!("`{}` {what}", shown.display())).help(help));
        let mut path = shown.to_owned();
        // Of a link into `/proc` the system knows more than its text says.
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
                        "belongs to somebody else, and here only its owner can replace it",
                        "name another file",
                    );
                }
                return Ok(Target { path, shown: shown.to_owned() });
            }
            if !is_trusted(&found, directory) {
                return refused("is a link that somebody else made", "name the file itself");
            }
            let to = std::fs::read_link(&path).map_err(|e| unwritable(shown, &e))?;
            path = directory.join(to);
        }
        refused("is a link that leads nowhere", "name a file")
    }

    /// Where the file will be.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The directory a file is in.
pub(super) fn directory(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What something is that is neither a file nor a directory nor a link.
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

    /// In a directory such as /tmp everybody may make files, and only their owners may replace them.
    pub(super) fn may_replace(found: &Metadata, directory: &Path) -> bool {
        let Ok(around) = std::fs::metadata(directory) else { return true };
        let us = own_user();
        us == 0 || around.mode() & STICKY == 0 || found.uid() == us || around.uid() == us
    }

    /// A link counts if its maker could do whatever it leads to: ourselves, root, or the only one who may write here.
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
