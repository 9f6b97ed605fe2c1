//! A sensitive column: its values, and how they relate to each other for models that ask.

use crate::calendar::{DateFormat, Sniffed};
use crate::categories::Categories;
use crate::domain::Misfit;
use crate::error::{Error, Result};
use crate::hierarchy::{HierarchySpec, Taxonomy, intervals::not_numeric};
use crate::index::Code;
use crate::number::{looks_numeric, parse_date, parse_number};
use crate::schema::{Kind, Publish, SensitiveSpec};

/// A sensitive column with its values in alphabetical order.
#[derive(Clone)]
pub struct Sensitive {
    /// The column's name.
    pub name: String,
    /// The distinct values by code; the text of a missing value is empty.
    pub values: Vec<String>,
    /// The code of a missing value, if such are kept.
    pub missing: Option<u32>,
    /// The number each value stands for, dates as days; not there unless all but the missing value are numbers.
    numbers: Option<Vec<f64>>,
    /// The stated hierarchy and the leaf of each value; a missing value has a leaf of its own.
    hierarchy: Option<(Taxonomy, Vec<Code>)>,
    categories: Option<Categories>,
    /// Whether only the categories of its values are published.
    only_categories: bool,
}

// Cells must not reach logs.
impl std::fmt::Debug for Sensitive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sensitive")
            .field("name", &self.name)
            .field("values", &self.values.len())
            .finish_non_exhaustive()
    }
}

impl Sensitive {
    pub(crate) fn build(
        name: &str,
        values: Vec<String>,
        missing: Option<u32>,
        spec: Option<&SensitiveSpec>,
    ) -> Result<Sensitive, Misfit> {
        let numbers =
            numbers(name, &values, missing, spec.and_then(|s| s.kind), spec.and_then(|s| s.format))?;
        let hierarchy = spec.and_then(|s| s.hierarchy.as_ref());
        let hierarchy = match hierarchy {
            None => None,
            Some(HierarchySpec::Mdr(_)) => {
                let error = Error::job(format!(
                    "the sensitive column `{name}` cannot have the hierarchy `mdr`, which is for what is published in intervals"
                ));
                return Err(error
                    .help("use { intervals = { width = 5 } }")
                    .at(format!("columns.{name}.hierarchy"))
                    .into());
            }
            Some(spec) => {
                let present: Vec<&str> =
                    values.iter().map(String::as_str).filter(|v| !v.is_empty()).collect();
                let mut tree = spec.build(name, &present)?;
                if missing.is_some() && tree.code("").is_none() {
                    tree = tree.with_leaf("");
                }
                let leaf = |(code, value): (usize, &String)| {
                    tree.code(spec.canonical(value).as_deref().unwrap_or(value)).ok_or_else(|| {
                        let error =
                            Error::input(format!("column `{name}` has a value missing from its hierarchy"))
                                .help("add the value to the hierarchy, or list it in [input] missing")
                                .at(format!("columns.{name}.hierarchy"));
                        Misfit { error, code: Some(code as u32) }
                    })
                };
                let leaves = values.iter().enumerate().map(leaf).collect::<Result<Vec<_>, _>>()?;
                Some((tree, leaves))
            }
        };
        let categories = spec.and_then(|s| s.categories.clone());
        if let Some(categories) = &categories {
            let uncategorized = |(code, value): (usize, &String)| {
                Some(code as u32) != missing && categories.of(value).is_none()
            };
            if let Some((code, _)) = values.iter().enumerate().find(|entry| uncategorized(*entry)) {
                let count = values.iter().enumerate().filter(|entry| uncategorized(*entry)).count();
                let what = if count == 1 { "a value".to_owned() } else { format!("{count} values") };
                let error = Error::input(format!("column `{name}` has {what} in no category"))
                    .help("put every value into a category, or list it in [input] missing")
                    .at(format!("columns.{name}.categories"));
                return Err(Misfit { error, code: Some(code as u32) });
            }
        }
        let only_categories = spec.and_then(|s| s.publish) == Some(Publish::Category);
        let name = name.to_owned();
        Ok(Sensitive { name, values, missing, numbers, hierarchy, categories, only_categories })
    }

    /// The number each value stands for, by code.
    pub fn numbers(&self) -> Result<&[f64]> {
        let name = &self.name;
        if self.missing.is_some() {
            return Err(Error::job(format!(
                "column `{name}` has missing values, which have no place among numbers"
            ))
            .help("leave such records out with on_missing = \"drop\""));
        }
        self.numbers.as_deref().ok_or_else(|| {
            Error::job(format!("column `{name}` is not numeric"))
                .help("every value must be a finite number (nan and inf are none); list other texts in [input] missing")
        })
    }

    /// For each value, by code, its rank in the column's order: that of the numbers, or that of the hierarchy's leaves. Equal
    /// numbers have equal ranks. Also the number of ranks.
    pub fn ranks(&self) -> Result<(Vec<u32>, usize)> {
        let order: Vec<f64> = match (&self.hierarchy, self.missing) {
            (Some((_, leaves)), _) if self.numbers.is_none() => {
                leaves.iter().map(|leaf| f64::from(leaf.0)).collect()
            }
            _ => self.numbers().map(<[f64]>::to_vec).map_err(|e| {
                let help = "order needs numbers, dates, or a hierarchy that lists the values in their order";
                if self.missing.is_some() { e } else { e.help(help) }
            })?,
        };
        let mut sorted = order.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        let rank = |x: &f64| sorted.partition_point(|y| y < x) as u32;
        Ok((order.iter().map(rank).collect(), sorted.len()))
    }

    /// The stated hierarchy, and the leaf of each value by code.
    pub fn hierarchy(&self) -> Result<(&Taxonomy, &[Code])> {
        self.hierarchy.as_ref().map(|(tree, leaves)| (tree, leaves.as_slice())).ok_or_else(|| {
            let name = &self.name;
            Error::job(format!("column `{name}` has no hierarchy"))
                .help(format!("give it one: {name} = {{ role = \"sensitive\", hierarchy = \"{name}.csv\" }}"))
        })
    }

    /// The category of each value by code, 0 for the most sensitive, and the number of categories.
    pub fn categories(&self) -> Result<(Vec<u32>, usize)> {
        let name = &self.name;
        let Some(categories) = &self.categories else {
            return Err(Error::job(format!("column `{name}` has no categories")).help(format!(
                "list them, most sensitive first: {name} = {{ role = \"sensitive\", categories = {{ \"Top\" = [\"HIV\"], … }} }}"
            )));
        };
        if self.missing.is_some() {
            return Err(Error::job(format!("column `{name}` has missing values, which have no category"))
                .help("leave such records out with on_missing = \"drop\""));
        }
        let of = self.values.iter().filter_map(|value| categories.of(value).map(|c| c as u32)).collect();
        Ok((of, categories.len()))
    }

    /// Whether the values are categories, because nothing else is published.
    pub fn only_categories(&self) -> bool {
        self.only_categories
    }

    /// The name of the category of a value.
    pub fn category_name(&self, code: u32) -> Option<&str> {
        let categories = self.categories.as_ref()?;
        categories.of(&self.values[code as usize]).map(|category| categories.name(category))
    }

    /// For each code the first code that means the same; `None` if no two do. `1` and `1.0` are one value however they
    /// are spelled, and counting them as two would promise diversity that is not there.
    pub fn synonyms(&self) -> Option<Vec<u32>> {
        let numbers = self.numbers.as_ref()?;
        let mut by_number: Vec<u32> = (0..numbers.len() as u32).collect();
        by_number.sort_by(|&a, &b| numbers[a as usize].total_cmp(&numbers[b as usize]).then(a.cmp(&b)));
        let mut first: Vec<u32> = (0..numbers.len() as u32).collect();
        let mut found = false;
        for pair in by_number.windows(2) {
            if numbers[pair[0] as usize] == numbers[pair[1] as usize] {
                first[pair[1] as usize] = first[pair[0] as usize];
                found = true;
            }
        }
        found.then_some(first)
    }
}

/// Reads the values as numbers or dates if that is what they are, or what they are said to be.
fn numbers(
    name: &str,
    values: &[String],
    missing: Option<u32>,
    kind: Option<Kind>,
    format: Option<DateFormat>,
) -> Result<Option<Vec<f64>>, Misfit> {
    let present = || values.iter().enumerate().filter(|(code, _)| Some(*code as u32) != missing);
    let sniffed = || DateFormat::sniff(present().map(|(_, text)| text.as_str()));
    let (kind, format) = match (kind, format) {
        (Some(Kind::Date) | None, Some(format)) => (Kind::Date, Some(format)),
        (Some(Kind::Date), None) => match sniffed() {
            Sniffed::Written(format) => (Kind::Date, Some(format)),
            Sniffed::Ambiguous(formats) => return Err(crate::spelling::ambiguous(name, &formats).into()),
            Sniffed::NoDates => (Kind::Date, None),
        },
        (Some(kind), _) => (kind, None),
        (None, None) if present().next().is_none() => (Kind::Text, None),
        (None, None) if present().all(|(_, v)| looks_numeric(v)) => (Kind::Numeric, None),
        // It is published as it is, so nobody needs to know when an ambiguous day was.
        (None, None) => match sniffed() {
            Sniffed::Written(format) => (Kind::Date, Some(format)),
            _ => (Kind::Text, None),
        },
    };
    let read = |text: &str| match (kind, format) {
        (Kind::Numeric, _) => parse_number(text).map(|n| n.as_f64()),
        (Kind::Date, Some(format)) => format.read(text).map(|date| f64::from(date.days())),
        (Kind::Date, None) => parse_date(text).map(f64::from),
        (Kind::Text, _) => None,
    };
    if kind == Kind::Text {
        return Ok(None);
    }
    let mut numbers = vec![f64::NAN; values.len()];
    for (code, text) in present() {
        let Some(x) = read(text) else {
            let error = match kind {
                Kind::Numeric => not_numeric(name),
                _ => crate::spelling::no_date(name, format),
            };
            return Err(Misfit { error, code: Some(code as u32) });
        };
        numbers[code] = x;
    }
    Ok(Some(numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[&str], spec: &SensitiveSpec) -> Result<Sensitive, Misfit> {
        Sensitive::build("x", values.iter().map(|v| (*v).to_owned()).collect(), None, Some(spec))
    }

    #[test]
    fn spellings_of_one_number_are_one_value() {
        let x = column(&["1", "1.0", "2", "1e0"], &SensitiveSpec::default()).unwrap();
        assert_eq!(x.synonyms(), Some(vec![0, 0, 2, 0]));
        assert_eq!(x.ranks().unwrap(), (vec![0, 0, 1, 0], 2));
        assert_eq!(column(&["a", "b"], &SensitiveSpec::default()).unwrap().synonyms(), None);
    }

    #[test]
    fn nan_and_infinity_are_not_numbers() {
        for bad in ["nan", "inf", "-inf", "NaN"] {
            let sniffed = column(&["1", bad], &SensitiveSpec::default()).unwrap();
            assert!(sniffed.numbers().is_err() && sniffed.ranks().is_err());
            let stated = SensitiveSpec { kind: Some(Kind::Numeric), ..SensitiveSpec::default() };
            assert_eq!(column(&["1", bad], &stated).unwrap_err().code, Some(1));
        }
    }
}
