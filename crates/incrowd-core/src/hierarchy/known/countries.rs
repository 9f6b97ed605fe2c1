//! Countries in the regions and subregions of the United Nations (M49).

use std::sync::LazyLock;

use crate::lists::{Lists, fields};

/// A list for each subregion, with the region in the title.
static SUBREGIONS: LazyLock<Lists> = LazyLock::new(|| Lists::parse(include_str!("countries.txt")));

/// `DE`, `DEU` and `Germany` are in `Western Europe` and `Europe`. Letters must be upper case;
/// blanks, dashes and case of names are ignored.
pub(super) fn path(text: &str) -> Option<Vec<String>> {
    let plain = |text: &str| text.to_lowercase().replace(['-', '_', '.'], " ");
    let name = plain(text);
    let name = name.strip_prefix("the ").unwrap_or(&name);
    let is = |country: &&str| {
        let mut words = country.split(';');
        let letters = [words.next(), words.next()].contains(&Some(text));
        letters || words.any(|word| plain(word) == name)
    };
    let (title, _) = SUBREGIONS.iter().find(|(_, countries)| countries.iter().any(&is))?;
    Some(fields::<2>(title).map(str::to_owned).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_letters_are_given_twice() {
        let all = || SUBREGIONS.iter().flat_map(|(_, countries)| countries);
        // 249 of ISO 3166, Kosovo, and one former country, which occurs as a birthplace.
        assert_eq!(all().count(), 251);
        let mut words: Vec<String> =
            all().flat_map(|c| c.split(';')).map(str::to_lowercase).collect();
        words.sort();
        let before = words.len();
        words.dedup();
        assert_eq!(words.len(), before);
    }
}
