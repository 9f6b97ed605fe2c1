//! Health and other specially protected data: belief, politics, sexuality, crime, heredity.

use std::sync::LazyLock;

use incrowd_core::lists::Lists;

use super::{ColumnFacts, Finding, sensitive};

static NAMES: LazyLock<Lists> = LazyLock::new(|| Lists::parse(include_str!("health.txt")));

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    if column.name_has(NAMES.list("parts"))
        || column.named(NAMES.list("words"))
        || column.words.iter().any(|w| is_diagnosis(w))
    {
        return sensitive(column, "is about health");
    }
    let other = column.name_has(NAMES.list("parts of other subjects"))
        || column.named(NAMES.list("words of other subjects"));
    other.then(|| sensitive(column, "is about belief, politics, sexuality, crime or heredity"))?
}

/// `diag1`, `dx2`, `icd9`
fn is_diagnosis(word: &str) -> bool {
    let stem = word.trim_end_matches(|c: char| c.is_ascii_digit());
    stem.len() < word.len() && ["diag", "dx", "icd"].contains(&stem)
}

#[cfg(test)]
mod tests {
    use super::super::tests::judged;
    use crate::job::RoleName;

    #[test]
    fn health_is_sensitive_unless_it_singles_out() {
        let cells = ["flu", "cold", "flu", "cold"];
        for name in [
            "disease",
            "diag_1",
            "hosp_stay",
            "DPHY",
            "iinjury",
            "diabetesMed",
            "A1Cresult",
            "religion",
        ] {
            assert_eq!(judged(name, &cells), (RoleName::Sensitive, true), "{name}");
        }
        let levels: Vec<String> = (0..40).map(|i| format!("{}.5", i * 3)).collect();
        let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
        assert_eq!(judged("cholesterol", &levels), (RoleName::Quasi, false));
    }
}
