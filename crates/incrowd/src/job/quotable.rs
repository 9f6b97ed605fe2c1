//! Decides whether an error message may quote a line of an invalid job file. The file may be a
//! table by mistake, and then the line is a record. A line is quoted only if it has a key and the
//! file has a section of a job.

use super::keys::Section;

/// Returns whether the line at a byte may be quoted.
pub(super) fn is_quotable(text: &str, at: usize) -> bool {
    let is_section = |line: &str| {
        let name = line.trim().trim_start_matches('[');
        let name = name.split([']', '.']).next().unwrap_or_default().trim().trim_matches('"');
        line.trim_start().starts_with('[') && Section::ALL.iter().any(|(known, _)| *known == name)
    };
    let at = (0..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    text.lines().any(is_section) && (is_section(line) || has_key(line))
}

/// Returns whether a line begins with a key and `=`.
fn has_key(line: &str) -> bool {
    let Some((key, _)) = line.split_once('=') else { return false };
    let bare = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ' | '"' | '\'');
    let key = key.trim();
    !key.is_empty() && key.chars().all(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_never_quoted() {
        let job = "[input]\npath = \"a\n\n[columns]\nage = { role = \n";
        assert!(is_quotable(job, 10));
        assert!(is_quotable(job, job.len() - 2));
        for table in ["name,city\nAnna,Graz\n", "a=b\nAnna=Graz\n", "[Anna],x\n", ""] {
            for at in 0..=table.len() {
                assert!(!is_quotable(table, at), "{table} at {at}");
            }
        }
        assert!(!is_quotable("[input]\nAnna,Graz\n", 10), "a record below a section of a job");
    }
}
