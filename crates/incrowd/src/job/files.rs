//! The files a job names.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The text of a file, or why it cannot be had.
pub(super) fn read_text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| match e.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::InvalidData => "it is not UTF-8 text".to_owned(),
        _ => e.to_string(),
    })
}

/// The file that the text `written` in a job means. If it is a pattern, nothing in `base` is part of it.
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
