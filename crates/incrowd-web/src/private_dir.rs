//! A directory that nobody else can read, and that is gone when the server ends.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use incrowd::{Error, Result};
use tempfile::TempDir;

/// Where uploads and what belongs to them lie.
#[derive(Debug)]
pub(crate) struct PrivateDir {
    dir: Mutex<Option<TempDir>>,
    path: PathBuf,
}

impl PrivateDir {
    /// Makes it with mode 0700.
    pub(crate) fn new() -> Result<PrivateDir> {
        let failed = |e| Error::resources(format!("cannot make a private directory: {e}"));
        let mut builder = tempfile::Builder::new();
        builder.prefix("incrowd-serve-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o700));
        }
        let dir = builder.tempdir().map_err(failed)?;
        let path = dir.path().to_owned();
        Ok(PrivateDir { dir: Mutex::new(Some(dir)), path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A new directory in it.
    pub(crate) fn below(&self, name: &str) -> Result<PathBuf> {
        let path = self.path.join(name);
        std::fs::create_dir_all(&path)
            .map_err(|e| Error::resources(format!("cannot make a private directory: {e}")))?;
        Ok(path)
    }

    /// Removes it with everything in it.
    pub(crate) fn remove(&self) {
        let dir = self.dir.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        drop(dir);
    }
}

/// The last part of a name that somebody else chose, if it may be the name of a file: no directories, nothing hidden.
pub(crate) fn file_name(given: &str) -> Option<String> {
    let name = given.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    let sound = !name.is_empty()
        && name.len() <= 200
        && !name.starts_with('.')
        && !name.chars().any(|c| c.is_control() || "*?[]\"<>|:".contains(c));
    sound.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_can_read_it_and_it_goes() {
        let dir = PrivateDir::new().unwrap();
        let path = dir.path().to_owned();
        std::fs::write(dir.below("x").unwrap().join("people.csv"), "a\n1\n").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        }
        dir.remove();
        assert!(!path.exists());
    }

    #[test]
    fn names_lead_nowhere_else() {
        assert_eq!(file_name("people.csv").as_deref(), Some("people.csv"));
        assert_eq!(file_name("../../etc/passwd").as_deref(), Some("passwd"));
        assert_eq!(file_name("C:\\tables\\people.csv").as_deref(), Some("people.csv"));
        for bad in ["", "..", ".hidden", "a/..", "part-*.csv", "a\nb", "x/", &"n".repeat(300)] {
            assert_eq!(file_name(bad), None, "{bad:?}");
        }
    }
}
