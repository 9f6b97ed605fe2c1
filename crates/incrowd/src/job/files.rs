//! Reading the files that a job names.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Returns the text of a file of at most `most` bytes, or the reason why it cannot be read.
pub(super) fn read_text(path: &Path, most: u64) -> Result<String, String> {
    incrowd_engine::read_side_text(path, most).map_err(|e| match e.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::InvalidData => "it is not UTF-8 text".to_owned(),
        _ => e.to_string(),
    })
}

/// Returns the path for the text `written` in a job. If it is a pattern, special characters in
/// `base` are escaped.
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
    fn special_characters_of_the_base_are_escaped() {
        let resolved =
            |base: &str, written| resolve_pattern(Path::new(base), written).display().to_string();
        assert_eq!(resolved("", "part-*.csv"), "part-*.csv");
        assert_eq!(resolved("jobs", "part-*.csv"), "jobs/part-*.csv");
        assert_eq!(resolved("jobs [old]", "part-*.csv"), "jobs [[]old[]]/part-*.csv");
        assert_eq!(resolved("jobs [old]", "all.csv"), "jobs [old]/all.csv");
        assert_eq!(resolved("jobs", "/data/all.csv"), "/data/all.csv");
    }
}
