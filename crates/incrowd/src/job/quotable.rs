//! Whether a line of a file that is no TOML may be shown. Somebody may have named a table where a job file belongs, and then the
//! line is a record. So a line is quoted only where it has a key, in a file that has a part of a job.

use super::keys::Section;

/// Whether the line at a byte may be quoted.
pub(super) fn is_quotable(text: &str, at: usize) -> bool {
    let part = |line: &str| {
        let name = line.trim().trim_start_matches('[');
        let name = name.split([']', '.']).next().unwrap_or_default().trim().trim_matches('"');
        line.trim_start().starts_with('[') && Section::ALL.iter().any(|(known, _)| *known == name)
    };
    let at = (0..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0);
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    text.lines().any(part) && (part(line) || has_key(line))
}

/// Whether a line begins with a key and `=`.
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
        assert!(!is_quotable("[input]\nAnna,Graz\n", 10), "a record below a part of a job");
    }
}
