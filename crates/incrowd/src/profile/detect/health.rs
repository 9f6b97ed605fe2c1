//! Health and other specially protected data: belief, politics, sexuality, crime, heredity.

use super::{ColumnFacts, Finding, sensitive};

const HEALTH: &[&str] = &[
    "disease",
    "diagnos",
    "icd9",
    "icd10",
    "symptom",
    "treatment",
    "therapy",
    "illness",
    "sickness",
    "disab",
    "injur",
    "handicap",
    "healthcondition",
    "medicalcondition",
    "hospital",
    "hospstay",
    "readmi",
    "surgery",
    "cancer",
    "tumor",
    "diabet",
    "hiv",
    "covid",
    "asthma",
    "allerg",
    "depress",
    "mental",
    "psych",
    "pregnan",
    "bloodpres",
    "cholesterol",
    "glucose",
    "gluserum",
    "a1c",
    "hemoglobin",
    "creatinin",
    "insurancecover",
    "inscov",
    "healthinsurance",
    "mortality",
    "prescription",
    "medication",
    "vaccin",
    "smok",
    "alcohol",
];
const HEALTH_WORDS: &[&str] = &[
    "diag",
    "dx",
    "icd",
    "med",
    "meds",
    "drug",
    "drugs",
    "drem",
    "dphy",
    "deye",
    "dear",
    "dvet",
    "dout",
    "ddrs",
    "lab",
    "condition",
    "health",
    "outcome",
];
const OTHER: &[&str] = &[
    "religio",
    "belief",
    "politic",
    "voted",
    "sexualori",
    "orientation",
    "convict",
    "arrest",
    "crimin",
    "offence",
    "offense",
    "genotype",
    "genetic",
    "tradeunion",
];
const OTHER_WORDS: &[&str] = &["party", "union", "faith", "church", "crime", "gene", "dna"];

pub(super) fn detect(column: &ColumnFacts<'_>) -> Option<Finding> {
    if column.name_has(HEALTH)
        || column.named(HEALTH_WORDS)
        || column.words.iter().any(|w| is_diagnosis(w))
    {
        return sensitive(column, "is about health");
    }
    (column.name_has(OTHER) || column.named(OTHER_WORDS))
        .then(|| sensitive(column, "is about belief, politics, sexuality, crime or heredity"))?
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
