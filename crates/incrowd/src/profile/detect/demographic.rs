//! Facts that neighbours, colleagues and registers know about a person: age, sex, family, origin,
//! schooling, work.

use super::{ColumnFacts, Finding};
use crate::job::RoleName;

/// Parts of names that are long enough not to occur in other words, with their subject.
const PARTS: &[(&str, &str)] = &[
    ("gender", "sex"),
    ("race", "race or origin"),
    ("ethnic", "race or origin"),
    ("hispan", "race or origin"),
    ("ancestry", "race or origin"),
    ("national", "nationality"),
    ("citizen", "nationality"),
    ("nativ", "nationality"),
    ("immigr", "nationality"),
    ("marital", "family"),
    ("marriage", "family"),
    ("relationship", "family"),
    ("family", "family"),
    ("household", "family"),
    ("children", "family"),
    ("educat", "schooling"),
    ("school", "schooling"),
    ("degree", "schooling"),
    ("language", "language"),
    ("english", "language"),
    ("occupation", "work"),
    ("profession", "work"),
    ("industry", "work"),
    ("employ", "work"),
    ("workclass", "work"),
    ("jobtitle", "work"),
    ("veteran", "work"),
    ("wrkstat", "work"),
    ("workstatus", "work"),
    ("labforce", "work"),
    ("laborforce", "work"),
    ("labourforce", "work"),
    ("jobstatus", "work"),
    ("retired", "work"),
    ("beruf", "work"),
    ("qualification", "schooling"),
    ("diploma", "schooling"),
    ("bildung", "schooling"),
    ("siblings", "family"),
    ("offspring", "family"),
    ("kinder", "family"),
    ("enfants", "family"),
    ("military", "work"),
    ("housing", "housing"),
    ("ownrent", "housing"),
    ("tenure", "housing"),
    ("dwelling", "housing"),
];

/// Whole words, among them codes of public surveys.
const WORDS: &[(&str, &str)] = &[
    ("sex", "sex"),
    ("isex", "sex"),
    ("rac1p", "race or origin"),
    ("hisp", "race or origin"),
    ("msp", "family"),
    ("mar", "family"),
    ("married", "family"),
    ("noc", "family"),
    ("npf", "family"),
    ("kids", "family"),
    ("child", "family"),
    ("childs", "family"),
    ("nchild", "family"),
    ("sibs", "family"),
    ("babies", "family"),
    ("hhsize", "family"),
    ("hompop", "family"),
    ("educ", "schooling"),
    ("esr", "work"),
    ("cow", "work"),
    ("wkhp", "work"),
    ("hrs1", "work"),
    ("empstat", "work"),
    ("wrkslf", "work"),
    ("edu", "schooling"),
    ("schl", "schooling"),
    ("job", "work"),
    ("work", "work"),
    ("worked", "work"),
    ("hours", "work"),
    ("occ", "work"),
    ("occp", "work"),
    ("indp", "work"),
    ("height", "looks"),
    ("weight", "looks"),
    ("bmi", "looks"),
    ("eye", "looks"),
    ("hair", "looks"),
    ("car", "possessions"),
    ("vehicle", "possessions"),
];

/// Words that end in `age` and have another meaning.
const NO_AGE: &[&str] = &[
    "wage",
    "page",
    "usage",
    "stage",
    "image",
    "mileage",
    "package",
    "storage",
    "language",
    "message",
    "percentage",
    "average",
    "coverage",
    "dosage",
    "village",
    "marriage",
    "voltage",
    "advantage",
    "mortgage",
    "acreage",
    "teenage",
];

/// Returns whether the column is an age in years.
pub(crate) fn is_age(column: &ColumnFacts<'_>) -> bool {
    let word = |w: &String| {
        let w = w.as_str();
        ["age", "ages", "agep", "agegrp", "agegroup", "alter", "edad"].contains(&w)
            || (w.len() > 3 && w.len() <= 7 && w.ends_with("age") && !NO_AGE.contains(&w))
    };
    let human = column.range.is_none_or(|(low, high)| low >= 0.0 && high <= 130.0);
    human && column.words.iter().any(word)
}

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    if is_age(column) {
        return Finding::sure(RoleName::Quasi, "is an age, which many people know of a person");
    }
    let part = PARTS.iter().find(|(part, _)| column.squashed.contains(part));
    let word = || WORDS.iter().find(|(word, _)| column.words.iter().any(|w| w == word));
    let (_, about) = part.or_else(word)?;
    Finding::sure(RoleName::Quasi, format!("is about {about}, which others can know or look up"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::judged;
    use crate::job::RoleName;

    #[test]
    fn what_others_know_can_be_linked() {
        let cells = ["1", "2", "1", "2"];
        for name in [
            "age",
            "AGEP",
            "iage",
            "isex",
            "marital-status",
            "hispanic_origin",
            "RAC1P",
            "workclass",
            "irace",
            "wrkstat",
            "work_status",
            "empstat",
            "educ",
            "highest_qualification",
            "childs",
            "n_children",
            "sibs",
        ] {
            assert_eq!(judged(name, &cells), (RoleName::Quasi, true), "{name}");
        }
        assert_eq!(judged("mileage", &cells), (RoleName::Quasi, false));
    }
}
