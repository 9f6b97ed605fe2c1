//! Maps the texts of a sensitive column to values, before encoding.

use crate::folded::{FoldedColumn, MISSING};
use crate::numerals::DecimalMark;
use crate::schema::SensitiveSpec;
use crate::sensitive::Sensitive;
use crate::value_key::{means_missing, value_key_in};

/// The values of a sensitive column of a folded table.
#[derive(Clone)]
pub struct SensitiveValues {
    /// The value of each code of the folded column; 0 for unused codes.
    pub of_code: Vec<u32>,
    /// A key for each value that does not depend on its spelling, in ascending order; `None` is
    /// missing.
    pub names: Vec<Option<String>>,
}

crate::opaque_debug!(SensitiveValues { values: |values| values.names.len() });

impl SensitiveValues {
    /// The values of the codes that are used. `missing` holds further texts that mean a missing
    /// value, in every [spelling](crate::means_missing). A column that does not fit `spec` is taken
    /// as plain text; encoding reports the error. `decimal` is the decimal mark of the texts.
    pub fn of(
        column: &FoldedColumn,
        used: &[bool],
        spec: &SensitiveSpec,
        missing: &[String],
        decimal: DecimalMark,
    ) -> SensitiveValues {
        let name = |code: usize| {
            let text = &column.texts[code];
            (code != MISSING as usize && !means_missing(text, missing)).then(|| text.clone())
        };
        let mut named: Vec<(Option<String>, usize)> = (0..column.texts.len())
            .filter(|&code| used[code])
            .map(|code| (name(code), code))
            .collect();
        let texts: Vec<String> = named.iter().filter_map(|(name, _)| name.clone()).collect();
        let plain =
            SensitiveSpec { kind: spec.kind, format: spec.format, ..SensitiveSpec::default() };
        let built = Sensitive::build(&column.name, texts, None, Some(&plain), decimal).ok();
        let mut code = 0..;
        for text in named.iter_mut().filter_map(|(name, _)| name.as_mut()) {
            // Two spellings of one value have one name.
            *text = match (&built, code.next()) {
                (Some(built), Some(code)) => built.key(code).into_owned(),
                _ => value_key_in(text, decimal).into_owned(),
            };
        }
        named.sort();
        let mut values =
            SensitiveValues { of_code: vec![0; column.texts.len()], names: Vec::new() };
        for (name, code) in named {
            if values.names.last() != Some(&name) {
                values.names.push(name);
            }
            values.of_code[code] = values.names.len() as u32 - 1;
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_number_and_of_a_missing_value_are_one() {
        let texts = ["", "1", "2", "1.0", "?", "7", " ?"].map(str::to_owned).to_vec();
        let column = FoldedColumn { name: "x".into(), texts };
        let used = [true, true, true, true, true, false, true];
        let values = SensitiveValues::of(
            &column,
            &used,
            &SensitiveSpec::default(),
            &["?".to_owned()],
            DecimalMark::Point,
        );
        assert_eq!(values.names, [None, Some("1".to_owned()), Some("2".to_owned())]);
        assert_eq!(values.of_code, [0, 1, 2, 1, 0, 0, 0]);
    }

    #[test]
    fn spellings_of_numbers_are_merged_if_other_values_are_texts() {
        let texts = ["", "1", "unknown", "1.0", "unknown ", "01"].map(str::to_owned).to_vec();
        let column = FoldedColumn { name: "x".into(), texts };
        let used = [false, true, true, true, true, true];
        let values =
            SensitiveValues::of(&column, &used, &SensitiveSpec::default(), &[], DecimalMark::Point);
        assert_eq!(values.names, [Some("1".to_owned()), Some("unknown".to_owned())]);
        assert_eq!(values.of_code, [0, 0, 1, 0, 1, 0]);
    }
}
