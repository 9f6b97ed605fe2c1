//! Which texts of a sensitive column mean the same value, before anything is encoded.

use crate::folded::{FoldedColumn, MISSING};
use crate::schema::SensitiveSpec;
use crate::sensitive::Sensitive;

/// The values of a sensitive column of a folded table.
#[derive(Clone)]
pub struct SensitiveValues {
    /// The value of each code of the folded column; 0 for codes nobody uses.
    pub of_code: Vec<u32>,
    /// A name for each value that does not depend on which of its spellings occur, in ascending order; `None` is missing.
    pub names: Vec<Option<String>>,
}

// Cells must not reach logs.
impl std::fmt::Debug for SensitiveValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SensitiveValues").field("values", &self.names.len()).finish_non_exhaustive()
    }
}

impl SensitiveValues {
    /// The values of the codes that are used. `missing` is a further text that stands for a missing value. A column that is
    /// not what `spec` says is taken as plain text: whoever encodes it will say what is wrong.
    pub fn of(
        column: &FoldedColumn,
        used: &[bool],
        spec: &SensitiveSpec,
        missing: Option<&str>,
    ) -> SensitiveValues {
        let name = |code: usize| {
            let text = &column.texts[code];
            (code != MISSING as usize && missing != Some(text.as_str())).then(|| text.clone())
        };
        let mut named: Vec<(Option<String>, usize)> =
            (0..column.texts.len()).filter(|&code| used[code]).map(|code| (name(code), code)).collect();
        let texts: Vec<String> = named.iter().filter_map(|(name, _)| name.clone()).collect();
        let plain = SensitiveSpec { kind: spec.kind, ..SensitiveSpec::default() };
        let numbers = Sensitive::build(&column.name, texts, None, Some(&plain)).ok();
        if let Some(numbers) = numbers.as_ref().and_then(|sensitive| sensitive.numbers().ok()) {
            // Two spellings of one number are one value.
            let present = named.iter_mut().filter(|(name, _)| name.is_some());
            present.zip(numbers).for_each(|((name, _), number)| *name = Some(format!("{number}")));
        }
        named.sort();
        let mut values = SensitiveValues { of_code: vec![0; column.texts.len()], names: Vec::new() };
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
        let texts = ["", "1", "2", "1.0", "?", "7"].map(str::to_owned).to_vec();
        let column = FoldedColumn { name: "x".into(), texts };
        let used = [true, true, true, true, true, false];
        let values = SensitiveValues::of(&column, &used, &SensitiveSpec::default(), Some("?"));
        assert_eq!(values.names, [None, Some("1".to_owned()), Some("2".to_owned())]);
        assert_eq!(values.of_code, [0, 1, 2, 1, 0, 0]);
    }
}
