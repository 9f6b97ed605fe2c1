//! The states of the USA, in the divisions and regions of the Census Bureau.

use std::sync::LazyLock;

use crate::lists::{Lists, fields};

/// A list for each division, with the region in the title.
static DIVISIONS: LazyLock<Lists> = LazyLock::new(|| Lists::parse(include_str!("states.txt")));

/// `NY` is in `Middle Atlantic` and `Northeast`.
pub(super) fn path(code: &str) -> Option<Vec<String>> {
    let number = code.parse::<u8>().ok().filter(|_| code.len() <= 2).map(|n| format!("{n:02}"));
    let name = code.replace(['-', '_'], " ");
    let is = |state: &&str| {
        let [letters, fips, full] = fields(state);
        letters == code || Some(fips) == number.as_deref() || full.eq_ignore_ascii_case(name.trim())
    };
    let (title, _) = DIVISIONS.iter().find(|(_, states)| states.iter().any(is))?;
    Some(fields::<2>(title).map(str::to_owned).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifty_states_the_capital_and_five_islands() {
        let all = || DIVISIONS.iter().flat_map(|(_, states)| states).map(|state| fields(state));
        assert_eq!(all().count(), 56);
        let mut fips: Vec<&str> = all().map(|[_, fips, _]| fips).collect();
        fips.sort_unstable();
        fips.dedup();
        assert_eq!(fips.len(), 56);
    }
}
