//! Free text. It can contain anything about a person, and no hierarchy generalizes it.

use super::{ColumnFacts, Finding};
use crate::job::RoleName;
use crate::profile::ValueKind;

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    if column.kind != ValueKind::Text || column.counts.distinct < 10 {
        return None;
    }
    let sentences = column.share(|text| text.split_whitespace().count() >= 5) >= 0.5;
    let named = column.named(&[
        "comment",
        "comments",
        "note",
        "notes",
        "remark",
        "remarks",
        "description",
        "text",
        "memo",
        "message",
    ]);
    if sentences && (column.variety() > 0.3 || named) {
        return Finding::sure(RoleName::Drop, "is free text, which can contain anything");
    }
    (named && column.variety() > 0.3)
        .then(|| {
            Finding::unsure(RoleName::Drop, "is named like free text, which can contain anything")
        })
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::super::tests::judged;
    use crate::job::RoleName;

    #[test]
    fn sentences_are_dropped_and_answers_are_not() {
        let notes: Vec<String> =
            (0..30).map(|i| format!("the patient came back after {i} days")).collect();
        let notes: Vec<&str> = notes.iter().map(String::as_str).collect();
        assert_eq!(judged("x", &notes), (RoleName::Drop, true));
        let answers =
            ["not in the labour force at all", "is working for pay or profit now"].repeat(20);
        assert_ne!(judged("x", &answers).0, RoleName::Drop);
    }
}
