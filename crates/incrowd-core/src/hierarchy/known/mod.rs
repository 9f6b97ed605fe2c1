//! Built-in classifications, derived from the structure of their codes: diagnoses, countries,
//! states, occupations, industries, postal codes.
//!
//! A value that is not a code of its classification is a child of the root: it is published as
//! itself or as `*`. The number of such values is reported, not the values.

mod countries;
mod icd;
mod postal;
mod regions;
mod states;
mod work;

use super::Taxonomy;
use crate::error::Result;

/// A classification.
#[derive(Clone, Copy)]
pub struct Known {
    /// The name in a job file.
    pub name: &'static str,
    /// A description of its levels.
    pub title: &'static str,
    /// Words of column names that indicate it. Codes that look like other numbers are recognised
    /// only with one of them.
    pub words: &'static [&'static str],
    /// Whether values alone are enough to recognise it.
    pub by_values: bool,
    /// The labels of the levels above a code, finest first; `None` if it is not a code.
    path: fn(&str) -> Option<Vec<String>>,
}

/// All classifications, in the order in which values are tested.
pub const KNOWN: &[Known] = &[
    Known {
        name: "countries",
        title: "countries (ISO 3166 or English names), UN subregions, UN regions",
        words: &["country", "nation", "nationality", "citizenship", "land", "birthplace"],
        by_values: true,
        path: countries::path,
    },
    Known {
        name: "us-states",
        title: "US states (names, letters or FIPS numbers), Census divisions, regions",
        words: &["state", "st", "fips", "statefip", "statefips", "istatenum", "statenum"],
        by_values: true,
        path: states::path,
    },
    Known {
        name: "icd10",
        title: "diagnoses (ICD-10), categories, chapters",
        words: &["icd", "icd10", "diag", "diagnosis", "dx", "cause"],
        by_values: true,
        path: icd::path10,
    },
    Known {
        name: "icd9",
        title: "diagnoses (ICD-9), categories, chapters",
        words: &["icd", "icd9", "diag", "diagnosis", "dx", "cause"],
        by_values: false,
        path: icd::path9,
    },
    Known {
        name: "nuts",
        title: "European regions (NUTS), level by level up to the country",
        words: &["nuts", "nuts1", "nuts2", "nuts3", "region", "district"],
        by_values: true,
        path: regions::nuts,
    },
    Known {
        name: "nace",
        title: "industries (NACE), groups, divisions, sections",
        words: &["nace", "industry", "branch", "sector"],
        by_values: false,
        path: work::nace,
    },
    Known {
        name: "naics",
        title: "industries (NAICS), up to the sector",
        words: &["naics", "industry", "naicsp"],
        by_values: false,
        path: work::naics,
    },
    Known {
        name: "isco08",
        title: "occupations (ISCO-08), minor, sub-major and major groups",
        words: &["isco", "isco08", "occupation", "beruf", "profession"],
        by_values: false,
        path: work::isco,
    },
    Known {
        name: "postal",
        title: "postal codes, by their first characters",
        words: &["zip", "zipcode", "postal", "postcode", "plz", "cp", "postalcode"],
        by_values: false,
        path: postal::path,
    },
];

impl Known {
    /// The classification with this name.
    pub fn named(name: &str) -> Option<Known> {
        KNOWN.iter().find(|known| known.name == name).copied()
    }

    /// Whether a value is a code of the classification.
    pub fn fits(&self, value: &str) -> bool {
        (self.path)(value.trim()).is_some()
    }

    /// Builds the tree over `values`.
    pub(super) fn build(&self, values: &[&str]) -> Result<Taxonomy> {
        let mut paths: Vec<Vec<String>> = values
            .iter()
            .map(|value| {
                let above = (self.path)(value.trim()).unwrap_or_default();
                std::iter::once((*value).to_owned()).chain(above).chain(["*".to_owned()]).collect()
            })
            .collect();
        // Sort by the path from the root, so that related codes are adjacent; values that are not
        // codes come last.
        paths.sort_by_cached_key(|path| {
            (path.len() == 2, path.iter().rev().cloned().collect::<Vec<_>>())
        });
        paths.dedup();
        Taxonomy::from_paths(&paths)
    }
}

impl PartialEq for Known {
    fn eq(&self, other: &Known) -> bool {
        self.name == other.name
    }
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Known({})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn up(name: &str, code: &str) -> String {
        let known = Known::named(name).unwrap();
        let above = (known.path)(code).map(|path| path.join(" < "));
        above.unwrap_or_else(|| "none".to_owned())
    }

    #[test]
    fn codes_are_generalized_by_their_structure() {
        for (name, code, above) in [
            ("icd10", "E11.9", "E11.- < E00-E90 endocrine, nutritional and metabolic"),
            ("icd10", "e119", "E11.- < E00-E90 endocrine, nutritional and metabolic"),
            ("icd10", "H60", "H60.- < H60-H95 ear"),
            ("icd10", "D49.2", "D49.- < C00-D49 neoplasms"),
            ("icd10", "O9A.1", "O9A.- < O00-O9A pregnancy and childbirth"),
            ("icd10", "flu", "none"),
            ("icd10", "E1", "none"),
            ("icd9", "250.83", "250.- < 240-279 endocrine, nutritional and metabolic"),
            ("icd9", "11", "011.- < 001-139 infectious"),
            ("icd9", "V45", "V45.- < V01-V91 other reasons"),
            ("icd9", "E909", "E909.- < E000-E999 external causes"),
            ("icd9", "?", "none"),
            ("countries", "DE", "Western Europe < Europe"),
            ("countries", "DEU", "Western Europe < Europe"),
            ("countries", "Germany", "Western Europe < Europe"),
            ("countries", "United-States", "Northern America < Americas"),
            ("countries", "Atlantis", "none"),
            ("us-states", "New York", "Middle Atlantic < Northeast"),
            ("us-states", "NY", "Middle Atlantic < Northeast"),
            ("us-states", "36", "Middle Atlantic < Northeast"),
            ("us-states", "6", "Pacific < West"),
            ("us-states", "3", "none"),
            ("nuts", "DE111", "DE11 < DE1 < DE"),
            ("nuts", "FRK2", "FRK < FR"),
            ("nuts", "XX11", "none"),
            ("nace", "62.01", "62.0 < 62 < J information and communication"),
            ("nace", "C10.7", "10.7 < 10 < C manufacturing"),
            ("nace", "34", "none"),
            (
                "naics",
                "541511",
                "54151 < 5415 < 541 < 54 professional, scientific and technical services",
            ),
            ("naics", "332", "31-33 manufacturing"),
            ("isco08", "2221", "222 < 22 < 2 professionals"),
            ("isco08", "0110", "011 < 01 < 0 armed forces"),
            ("isco08", "2799", "none"),
            ("postal", "02139", "021** < 0****"),
            ("postal", "02139-4307", "02139 < 021** < 0****"),
            ("postal", "SW1A 1AA", "SW1A < SW"),
            ("postal", "K1A 0B1", "K1A < K"),
            ("postal", "1012 AB", "1012 < 10**"),
            ("postal", "8001", "80** < 8***"),
        ] {
            assert_eq!(up(name, code), above, "{name} {code}");
        }
    }

    #[test]
    fn values_that_are_not_codes_are_below_the_root() {
        let tree =
            Known::named("icd10").unwrap().build(&["E11.9", "E10", "fall", "E11.0"]).unwrap();
        let common = |a, b| {
            let (a, b) = (tree.code(a).unwrap(), tree.code(b).unwrap());
            tree.label(tree.common(a.min(b), a.max(b))).to_owned()
        };
        assert_eq!(common("E11.9", "E11.0"), "E11.-");
        assert_eq!(common("E10", "E11.0"), "E00-E90 endocrine, nutritional and metabolic");
        assert_eq!(common("fall", "E11.0"), "*");
        assert_eq!(tree.depth(tree.leaf(tree.code("fall").unwrap())), 1);
    }

    #[test]
    fn every_label_has_one_parent() {
        // A label with two parents would be read as the wider of the two.
        for known in KNOWN {
            let codes: Vec<String> = (0..10_000)
                .map(|n| n.to_string())
                .chain((0..100).map(|n| format!("{n:02}")))
                .collect();
            let letters = ('A'..='Z').flat_map(|a| ('A'..='Z').map(move |b| format!("{a}{b}")));
            let coded = ('A'..='Z').flat_map(|a| (0..100).map(move |n| format!("{a}{n:02}")));
            let mut parent: hashbrown::HashMap<String, Option<String>> = hashbrown::HashMap::new();
            for code in codes.into_iter().chain(letters).chain(coded) {
                let path = (known.path)(&code).unwrap_or_default();
                for (i, label) in path.iter().enumerate() {
                    let above = path.get(i + 1).cloned();
                    let known_above = parent.entry(label.clone()).or_insert_with(|| above.clone());
                    assert_eq!(*known_above, above, "{} {label}", known.name);
                }
            }
        }
    }
}
