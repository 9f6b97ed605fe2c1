//! Categories of sensitive values, ordered by sensitivity.
//!
//! Paper: `sun2008`, section 3. The values of a sensitive column are divided into categories S₁
//! (most sensitive) to S_m. A value of Sᵢ has the weight (i − 1)/(m − 1): more sensitive values
//! have smaller weights. With a single category every weight is 0. The distance of two categories
//! is |i − j|/(m − 1).
//!
//! The order is a decision of the data owner; it is given, never inferred.

use crate::error::{Error, Result};

/// Named sets of values, most sensitive first.
#[derive(Clone, PartialEq, Eq)]
pub struct Categories {
    list: Vec<(String, Vec<String>)>,
}

crate::opaque_debug!(Categories { categories: |categories| categories.list.len() });

impl Categories {
    /// Refuses an empty list, an empty category, duplicate names, and a value in two categories.
    pub fn new(list: Vec<(String, Vec<String>)>) -> Result<Categories> {
        if list.is_empty() {
            return Err(Error::job("`categories` names no category"));
        }
        for (i, (name, values)) in list.iter().enumerate() {
            if values.is_empty() {
                return Err(Error::job(format!("the category `{name}` has no values")));
            }
            if list[..i].iter().any(|(other, _)| other == name) {
                return Err(Error::job(format!("two categories are called `{name}`")));
            }
            for (j, value) in values.iter().enumerate() {
                if values[..j].contains(value) {
                    return Err(Error::job(format!("the category `{name}` lists a value twice")));
                }
                if let Some((other, _)) =
                    list[..i].iter().find(|(_, others)| others.contains(value))
                {
                    return Err(Error::job(format!(
                        "the categories `{other}` and `{name}` have a value in common"
                    )));
                }
            }
        }
        Ok(Categories { list })
    }

    /// The number of categories.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Always false: there is at least one category.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The index of a value's category, 0 for the most sensitive. The name of a category counts as
    /// one of its values, so that a release of categories can be judged.
    pub fn of(&self, value: &str) -> Option<usize> {
        let listed = self.list.iter().position(|(_, values)| values.iter().any(|v| v == value));
        listed.or_else(|| self.list.iter().position(|(name, _)| name == value))
    }

    /// The name of a category.
    pub fn name(&self, category: usize) -> &str {
        &self.list[category].0
    }

    /// Names and values, most sensitive first.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.list.iter().map(|(name, values)| (name.as_str(), values.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn categories(list: &[(&str, &[&str])]) -> Result<Categories> {
        let own = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
        Categories::new(
            list.iter().map(|(name, values)| ((*name).to_owned(), own(values))).collect(),
        )
    }

    #[test]
    fn a_value_has_one_category() {
        let known = categories(&[("top", &["HIV", "Cancer"]), ("low", &["Flu"])]).unwrap();
        assert_eq!(
            (known.of("Cancer"), known.of("Flu"), known.of("low"), known.of("Cold")),
            (Some(0), Some(1), Some(1), None)
        );
        assert!(categories(&[("top", &["HIV"]), ("low", &["HIV"])]).is_err());
        assert!(categories(&[("top", &["HIV", "HIV"])]).is_err());
        assert!(categories(&[("top", &[])]).is_err() && categories(&[]).is_err());
    }
}
