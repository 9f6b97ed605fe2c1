//! Codes of dictionary-encoded cells and of integer cells. Lookups of one batch are reused for the
//! next.

use arrow_array::{Array, StringArray};
use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// Marks a text or a number that was not looked up yet.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// The maximum number of dictionary texts per record of a batch. With more, allocating their codes
/// costs more than looking up the records.
const FEW: usize = 2;

/// The codes of the texts of an Arrow dictionary.
#[derive(Default)]
pub(crate) struct TextCodes {
    /// The texts. They are kept alive, so that no other texts can have the same address.
    texts: Option<StringArray>,
    /// The code of each text, or [`UNKNOWN`]. Empty if there are too many texts for the batches so
    /// far.
    codes: Vec<u32>,
}

impl TextCodes {
    /// The codes of these texts as far as they are known. `None` if there are too many texts for a
    /// new dictionary in a batch of this number of records. Texts with the address of the last
    /// batch's texts are the same texts.
    pub(crate) fn of(&mut self, texts: &StringArray, records: usize) -> Option<&mut [u32]> {
        let again = self.texts.as_ref().is_some_and(|known| {
            known.len() == texts.len()
                && known.value_data().as_ptr() == texts.value_data().as_ptr()
                && known.value_offsets().as_ptr() == texts.value_offsets().as_ptr()
        });
        if !again {
            self.texts = Some(texts.clone());
            self.codes.clear();
        }
        if self.codes.is_empty() {
            if !again && texts.len() > FEW * records {
                return None;
            }
            self.codes.resize(texts.len(), UNKNOWN);
        }
        Some(&mut self.codes)
    }
}

/// Numbers below this limit are looked up by index.
const SMALL: usize = 1 << 17;

/// The codes of integers.
#[derive(Default)]
pub(crate) struct NumberCodes {
    /// Codes indexed by the number.
    small: Vec<u32>,
    others: HashMap<i64, u32, FixedState>,
}

impl NumberCodes {
    #[inline]
    pub(crate) fn get(&self, number: i64) -> u32 {
        match usize::try_from(number).ok().and_then(|place| self.small.get(place)) {
            Some(&code) => code,
            None => self.others.get(&number).copied().unwrap_or(UNKNOWN),
        }
    }

    pub(crate) fn put(&mut self, number: i64, code: u32) {
        match usize::try_from(number).ok().filter(|place| *place < SMALL) {
            Some(place) => {
                if self.small.len() <= place {
                    // The new entries have no codes yet: a code would have extended the list
                    // before.
                    self.small.resize((place + 1).next_power_of_two(), UNKNOWN);
                }
                self.small[place] = code;
            }
            None => drop(self.others.insert(number, code)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn numbers_have_the_codes_they_were_given(
            numbers in prop::collection::vec(
                prop_oneof![
                    -5..300_i64,
                    (SMALL as i64 - 3)..(SMALL as i64 + 3),
                    any::<i64>(),
                    Just(i64::MIN),
                    Just(i64::MAX),
                ],
                1..80,
            ),
        ) {
            let (mut codes, mut twin) = (NumberCodes::default(), BTreeMap::new());
            for (at, &number) in numbers.iter().enumerate() {
                prop_assert_eq!(codes.get(number), twin.get(&number).copied().unwrap_or(UNKNOWN));
                codes.put(number, at as u32);
                twin.insert(number, at as u32);
            }
            for (number, code) in twin {
                prop_assert_eq!(codes.get(number), code);
            }
        }
    }

    #[test]
    fn texts_that_come_again_keep_their_codes_and_others_do_not() {
        let few: StringArray = ["a", "b"].into_iter().map(Some).collect();
        let mut codes = TextCodes::default();
        assert_eq!(codes.of(&few, 1), Some(&mut [UNKNOWN, UNKNOWN][..]));
        codes.of(&few, 1).unwrap()[1] = 7;
        assert_eq!(codes.of(&few.clone(), 1), Some(&mut [UNKNOWN, 7][..]));
        // Equal length, but another address.
        let others: StringArray = ["a", "b"].into_iter().map(Some).collect();
        assert_eq!(codes.of(&others, 1), Some(&mut [UNKNOWN, UNKNOWN][..]));
        // A slice has the same address but another length.
        codes.of(&others, 1).unwrap()[0] = 3;
        assert_eq!(codes.of(&others.slice(0, 1), 1), Some(&mut [UNKNOWN][..]));
        let many: StringArray = (0..9).map(|n| Some(n.to_string())).collect();
        assert_eq!(codes.of(&many, 2), None);
        assert_eq!(codes.of(&many, 2).map(|codes| codes.len()), Some(9));
    }
}
