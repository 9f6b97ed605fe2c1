//! Masks characters one by one, for codes in which the first (or last) characters denote the larger
//! unit: `47906`, `4790*`, `479**`, …

use super::Taxonomy;
use crate::error::Result;

/// The end that is masked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// `47906` becomes `4790*`.
    Right,
    /// `47906` becomes `*7906`.
    Left,
}

/// A masking rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mask {
    /// The character that replaces masked ones.
    pub char: char,
    /// The end that is masked first.
    pub from: From,
}

impl Mask {
    /// Builds the tree over `values`. Shorter values count as padded, so a label does not reveal
    /// the length of its values. The root is `*`.
    pub fn build(&self, values: &[&str]) -> Result<Taxonomy> {
        let longest = values.iter().map(|v| v.chars().count()).max().unwrap_or(0);
        let mut sorted: Vec<&str> = values.to_vec();
        sorted.sort_by_key(|v| match self.from {
            From::Right => v.chars().collect::<Vec<_>>(),
            From::Left => v.chars().rev().collect(),
        });
        sorted.dedup();
        let paths: Vec<Vec<String>> =
            sorted.iter().map(|value| self.path(value, longest)).collect();
        Taxonomy::from_paths(&paths)
    }

    fn path(&self, value: &str, longest: usize) -> Vec<String> {
        let chars: Vec<char> = value.chars().collect();
        let mut path = vec![value.to_owned()];
        for kept in (1..longest).rev() {
            let hidden = std::iter::repeat_n(self.char, longest - kept);
            if kept >= chars.len() {
                continue;
            }
            path.push(match self.from {
                From::Right => chars[..kept].iter().copied().chain(hidden).collect(),
                From::Left => hidden.chain(chars[chars.len() - kept..].iter().copied()).collect(),
            });
        }
        path.push("*".to_owned());
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_from_the_right() {
        let mask = Mask { char: '*', from: From::Right };
        let t = mask.build(&["47906", "47907", "47302", "02139"]).unwrap();
        let common = |a, b| t.label(t.common(t.code(a).unwrap(), t.code(b).unwrap())).to_owned();
        assert_eq!(common("47906", "47907"), "4790*");
        assert_eq!(common("47302", "47906"), "47***");
        assert_eq!(common("02139", "47906"), "*");
    }

    #[test]
    fn masks_from_the_left_and_hides_lengths() {
        let t = Mask { char: 'x', from: From::Left }.build(&["AB1", "CB1"]).unwrap();
        assert_eq!(t.label(t.common(crate::Code(0), crate::Code(1))), "xB1");
        let t = Mask { char: '*', from: From::Right }.build(&["12", "1234"]).unwrap();
        assert_eq!(t.label(t.common(crate::Code(0), crate::Code(1))), "1***");
    }
}
