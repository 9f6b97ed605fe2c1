//! The files a job names.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::reader::{Entry, Read};

/// The text of a file, or why it cannot be had.
pub(super) fn read_text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| match e.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::InvalidData => "it is not UTF-8 text".to_owned(),
        _ => e.to_string(),
    })
}

/// The file that the text `written` in a job means.
pub(super) fn resolve(base: &Path, written: &str) -> PathBuf {
    base.join(written)
}

/// Like [`resolve`] for what may be a pattern: then nothing in `base` is part of the pattern.
pub(super) fn resolve_pattern(base: &Path, written: &str) -> PathBuf {
    let special = |c: char| matches!(c, '*' | '?' | '[' | ']');
    match base.to_str() {
        Some(text) if written.contains(special) && text.contains(special) => {
            let literal = |c: char| if special(c) { format!("[{c}]") } else { c.to_string() };
            Path::new(&text.chars().map(literal).collect::<String>()).join(written)
        }
        _ => base.join(written),
    }
}

/// The path an entry holds.
pub(super) fn path(entry: &Entry<'_>, base: &Path) -> Read<PathBuf> {
    let written = entry.text()?;
    if written.is_empty() {
        return Err(entry.refuse(entry.cannot_be(written, "the path of a file")));
    }
    Ok(resolve(base, written))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_written_is_a_pattern() {
        let resolved = |base: &str, written| resolve_pattern(Path::new(base), written).display().to_string();
        assert_eq!(resolved("", "part-*.csv"), "part-*.csv");
        assert_eq!(resolved("jobs", "part-*.csv"), "jobs/part-*.csv");
        assert_eq!(resolved("jobs [old]", "part-*.csv"), "jobs [[]old[]]/part-*.csv");
        assert_eq!(resolved("jobs [old]", "all.csv"), "jobs [old]/all.csv");
        assert_eq!(resolved("jobs", "/data/all.csv"), "/data/all.csv");
    }
}
