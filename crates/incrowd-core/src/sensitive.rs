//! A sensitive column: its values, their order, hierarchy and categories.

use std::borrow::Cow;

use hashbrown::HashMap;

use crate::calendar::{DateFormat, Sniffed};
use crate::categories::Categories;
use crate::domain::Misfit;
use crate::error::{Error, Result};
use crate::hierarchy::intervals::{not_exact, not_numeric};
use crate::hierarchy::{HierarchySpec, Taxonomy};
use crate::index::Code;
use crate::number::{first_inexact, is_quantity, parse_date, parse_number};
use crate::numerals::DecimalMark;
use crate::schema::{Kind, Publish, SensitiveSpec};
use crate::value_key::{SameKeys, means_missing, value_key_in};

/// A sensitive column with its values in alphabetical order.
#[derive(Clone)]
pub struct Sensitive {
    /// The column's name.
    pub name: String,
    /// The distinct values by code; the text of a missing value is empty.
    pub values: Vec<String>,
    /// The code of a missing value, if missing values are kept.
    pub missing: Option<u32>,
    numbers: Numbers,
    /// For each code, the code under which its value is counted. Set if a value has several
    /// spellings.
    counted_as: Option<Vec<u32>>,
    /// The configured hierarchy and the leaf of each value; a missing value has its own leaf.
    hierarchy: Option<(Taxonomy, Vec<Code>)>,
    categories: Option<Categories>,
    /// Whether only the categories are published, so that the values are categories.
    only_categories: bool,
    /// The decimal mark of the texts.
    decimal: DecimalMark,
}

/// The values of a sensitive column as numbers, by code; NaN for a missing value.
#[derive(Clone)]
enum Numbers {
    /// A value is neither a number nor a date.
    None,
    /// All values are numbers, but floats would change or merge some of them.
    Inexact,
    Quantities(Vec<f64>),
    /// Dates, as days since 1970-01-01.
    Days(Vec<f64>),
}

crate::opaque_debug!(Sensitive { name, values: |sensitive| sensitive.values.len() });

impl Sensitive {
    pub(crate) fn build(
        name: &str,
        values: Vec<String>,
        missing: Option<u32>,
        spec: Option<&SensitiveSpec>,
        decimal: DecimalMark,
    ) -> Result<Sensitive, Misfit> {
        let numbers = numbers(
            name,
            &values,
            missing,
            spec.and_then(|s| s.kind),
            spec.and_then(|s| s.format),
        )?;
        let hierarchy = spec.and_then(|s| s.hierarchy.as_ref());
        let hierarchy =
            hierarchy.map(|spec| tree_with_leaves(name, &values, missing, spec)).transpose()?;
        let categories = spec.and_then(|s| s.categories.clone());
        if let Some(categories) = &categories {
            all_have_a_category(name, &values, missing, categories)?;
        }
        let mut counted_as = match &numbers {
            Numbers::Days(days) => same_days(days),
            _ => SameKeys::of_texts(&values, decimal).first,
        };
        // All texts that mean a missing value are one value, also without a common key.
        let is_missing = |code: u32| {
            let text = &values[code as usize];
            Some(code) == missing || spec.is_some_and(|s| means_missing(text, &s.missing))
        };
        let gone: Vec<bool> = (0..values.len() as u32).map(is_missing).collect();
        let all_gone = (0..values.len() as u32).filter(|&code| gone[code as usize]);
        if let Some(one) = missing.or_else(|| all_gone.clone().next())
            && all_gone.clone().nth(1).is_some()
        {
            let first = counted_as.get_or_insert_with(|| (0..values.len() as u32).collect());
            all_gone.for_each(|code| first[code as usize] = one);
        }
        if let Some(first) = &mut counted_as {
            // Spellings with different leaves or categories are different values. A generated
            // hierarchy has a leaf for every text, also for those that mean a missing value.
            let leaf = |code: u32| {
                let known = hierarchy.as_ref().filter(|_| !gone[code as usize]);
                known.map(|(_, leaves)| leaves[code as usize])
            };
            let category =
                |code: u32| categories.as_ref().and_then(|c| c.of(&values[code as usize]));
            let mut apart = HashMap::new();
            for code in 0..values.len() as u32 {
                let own = first[code as usize];
                if (leaf(code), category(code)) != (leaf(own), category(own)) {
                    first[code as usize] =
                        *apart.entry((own, leaf(code), category(code))).or_insert(code);
                }
            }
        }
        let only_categories = spec.and_then(|s| s.publish) == Some(Publish::Category);
        let name = name.to_owned();
        Ok(Sensitive {
            name,
            values,
            missing,
            numbers,
            counted_as,
            hierarchy,
            categories,
            only_categories,
            decimal,
        })
    }

    /// The number of each value, by code. Numbers that a float does not represent exactly are
    /// refused: a model would judge other numbers than those that are published.
    pub fn numbers(&self) -> Result<&[f64]> {
        self.refuse_inexact()?;
        let name = &self.name;
        if self.missing.is_some() {
            return Err(Error::job(format!(
                "column `{name}` has missing values, and this model needs a number in every record"
            ))
            .help("drop these records with on_missing = \"drop\""));
        }
        match &self.numbers {
            Numbers::Quantities(numbers) | Numbers::Days(numbers) => Ok(numbers),
            Numbers::None | Numbers::Inexact => {
                let error = Error::job(format!("column `{name}` is not numeric"));
                Err(error.help(
                    "every value must be a finite number (not nan or inf); list other texts in \
                     [input] missing",
                ))
            }
        }
    }

    /// Fails if all values are numbers, but a float does not represent each of them exactly.
    pub(crate) fn refuse_inexact(&self) -> Result<()> {
        match self.numbers {
            Numbers::Inexact => Err(not_exact(&self.name).help(
                "round the numbers beforehand, or choose a model that only compares values for \
                 equality, such as l-diversity",
            )),
            _ => Ok(()),
        }
    }

    /// The rank of each value, by code, in the order of the numbers or of the hierarchy's leaves.
    /// Equal numbers have equal ranks. Also returns the number of ranks.
    pub fn ranks(&self) -> Result<(Vec<u32>, usize)> {
        self.refuse_inexact().map_err(|e| {
            e.help(
                "round the numbers beforehand, or set kind = \"text\" and give the column a \
                 hierarchy that lists the values in order",
            )
        })?;
        let order: Vec<f64> = match (&self.hierarchy, self.missing) {
            (Some((_, leaves)), _) if matches!(self.numbers, Numbers::None) => {
                leaves.iter().map(|leaf| f64::from(leaf.0)).collect()
            }
            _ => self.numbers().map(<[f64]>::to_vec).map_err(|e| {
                let help = "an order needs numbers, dates, or a hierarchy that lists the values \
                            in order";
                if self.missing.is_some() { e } else { e.help(help) }
            })?,
        };
        let mut sorted = order.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        let rank = |x: &f64| sorted.partition_point(|y| y < x) as u32;
        Ok((order.iter().map(rank).collect(), sorted.len()))
    }

    /// The configured hierarchy, and the leaf of each value by code.
    pub fn hierarchy(&self) -> Result<(&Taxonomy, &[Code])> {
        self.hierarchy.as_ref().map(|(tree, leaves)| (tree, leaves.as_slice())).ok_or_else(|| {
            let name = &self.name;
            Error::job(format!("column `{name}` has no hierarchy")).help(format!(
                "give it one: {name} = {{ role = \"sensitive\", hierarchy = \"{name}.csv\" }}"
            ))
        })
    }

    /// The category of each value by code, 0 for the most sensitive, and the number of categories.
    pub fn categories(&self) -> Result<(Vec<u32>, usize)> {
        let name = &self.name;
        let Some(categories) = &self.categories else {
            return Err(Error::job(format!("column `{name}` has no categories")).help(format!(
                "list them, most sensitive first: {name} = {{ role = \"sensitive\", categories = \
                 {{ \"Top\" = [\"HIV\"], … }} }}"
            )));
        };
        if self.missing.is_some() {
            return Err(Error::job(format!(
                "column `{name}` has missing values, which have no category"
            ))
            .help("drop these records with on_missing = \"drop\""));
        }
        let of =
            self.values.iter().filter_map(|value| categories.of(value).map(|c| c as u32)).collect();
        Ok((of, categories.len()))
    }

    /// The decimal mark of the texts, which decides whether two texts are one value.
    pub fn decimal(&self) -> DecimalMark {
        self.decimal
    }

    /// Whether only categories are published. The values are categories then.
    pub fn only_categories(&self) -> bool {
        self.only_categories
    }

    /// The name of the category of a value.
    pub fn category_name(&self, code: u32) -> Option<&str> {
        let categories = self.categories.as_ref()?;
        categories.of(&self.values[code as usize]).map(|category| categories.name(category))
    }

    /// For each code, the code under which its value is counted; `None` if every code is a
    /// different value. `1`, `1.0` and ` 1` are one value ([`value_key`](crate::value_key)):
    /// counting them as three would overstate diversity. Dates of one day are one value.
    pub fn synonyms(&self) -> Option<&[u32]> {
        self.counted_as.as_deref()
    }

    /// The code under which the value of a code is counted.
    pub fn counted_as(&self, code: u32) -> u32 {
        self.counted_as.as_ref().map_or(code, |first| first[code as usize])
    }

    /// A key of the value that does not depend on its spelling.
    pub(crate) fn key(&self, code: u32) -> Cow<'_, str> {
        match &self.numbers {
            Numbers::Days(days) => Cow::Owned(days[code as usize].to_string()),
            _ => value_key_in(&self.values[code as usize], self.decimal),
        }
    }
}

/// Builds the hierarchy of a sensitive column. Returns the tree and the leaf of each value.
fn tree_with_leaves(
    name: &str,
    values: &[String],
    missing: Option<u32>,
    spec: &HierarchySpec,
) -> Result<(Taxonomy, Vec<Code>), Misfit> {
    let setting = format!("columns.{name}.hierarchy");
    if let HierarchySpec::Mdr(_) = spec {
        let error = Error::job(format!(
            "the sensitive column `{name}` cannot have the hierarchy `mdr`, which applies to \
             columns that are published as intervals"
        ));
        return Err(error.help("use { intervals = { width = 5 } }").at(setting).into());
    }
    let present: Vec<&str> = values.iter().map(String::as_str).filter(|v| !v.is_empty()).collect();
    let mut tree = spec.build(name, &present)?;
    if missing.is_some() && tree.code("").is_none() {
        tree = tree.with_leaf("");
    }
    let leaf = |(code, value): (usize, &String)| {
        tree.code(spec.canonical(value).as_deref().unwrap_or(value)).ok_or_else(|| {
            let error =
                Error::input(format!("column `{name}` has a value missing from its hierarchy"))
                    .help("add the value to the hierarchy, or list it in [input] missing")
                    .at(&setting);
            Misfit { error, code: Some(code as u32) }
        })
    };
    let leaves = values.iter().enumerate().map(leaf).collect::<Result<Vec<_>, _>>()?;
    Ok((tree, leaves))
}

/// Fails if a value has no category.
fn all_have_a_category(
    name: &str,
    values: &[String],
    missing: Option<u32>,
    categories: &Categories,
) -> Result<(), Misfit> {
    let codes = 0..values.len() as u32;
    let without =
        |code: &u32| Some(*code) != missing && categories.of(&values[*code as usize]).is_none();
    let without: Vec<u32> = codes.filter(without).collect();
    let Some(&first) = without.first() else { return Ok(()) };
    let what = match without.len() {
        1 => "a value".to_owned(),
        n => format!("{n} values"),
    };
    let error = Error::input(format!("column `{name}` has {what} in no category"))
        .help("put every value into a category, or list it in [input] missing")
        .at(format!("columns.{name}.categories"));
    Err(Misfit { error, code: Some(first) })
}

/// For each code the first code of the same day; `None` if no two codes have the same day. A
/// missing value has no day.
fn same_days(days: &[f64]) -> Option<Vec<u32>> {
    let mut by_day: Vec<u32> = (0..days.len() as u32).collect();
    by_day.sort_by(|&a, &b| days[a as usize].total_cmp(&days[b as usize]).then(a.cmp(&b)));
    let mut first: Vec<u32> = (0..days.len() as u32).collect();
    let mut repeated = false;
    for pair in by_day.windows(2) {
        if days[pair[0] as usize] == days[pair[1] as usize] {
            first[pair[1] as usize] = first[pair[0] as usize];
            repeated = true;
        }
    }
    repeated.then_some(first)
}

/// Parses the values as numbers or dates, if they are or `kind` requires it.
fn numbers(
    name: &str,
    values: &[String],
    missing: Option<u32>,
    kind: Option<Kind>,
    format: Option<DateFormat>,
) -> Result<Numbers, Misfit> {
    let present = || values.iter().enumerate().filter(|(code, _)| Some(*code as u32) != missing);
    let sniffed = || DateFormat::sniff(present().map(|(_, text)| text.as_str()));
    let (kind, format) = match (kind, format) {
        (Some(Kind::Date) | None, Some(format)) => (Kind::Date, Some(format)),
        (Some(Kind::Date), None) => match sniffed() {
            Sniffed::Written(format) => (Kind::Date, Some(format)),
            Sniffed::Ambiguous(formats) => {
                return Err(crate::spelling::ambiguous(name, &formats).into());
            }
            Sniffed::NoDates => (Kind::Date, None),
        },
        (Some(kind), _) => (kind, None),
        (None, None) if present().next().is_none() => (Kind::Text, None),
        (None, None) if present().all(|(_, v)| is_quantity(v)) => (Kind::Numeric, None),
        // The values are published unmodified, so ambiguous dates need not be parsed.
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
        return Ok(Numbers::None);
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
    if kind == Kind::Date {
        return Ok(Numbers::Days(numbers));
    }
    let texts: Vec<&str> = present().map(|(_, text)| text.as_str()).collect();
    Ok(match first_inexact(&texts) {
        Some(_) => Numbers::Inexact,
        None => Numbers::Quantities(numbers),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[&str], spec: &SensitiveSpec) -> Result<Sensitive, Misfit> {
        let values = values.iter().map(|v| (*v).to_owned()).collect();
        Sensitive::build("x", values, None, Some(spec), DecimalMark::Point)
    }

    #[test]
    fn spellings_of_one_number_are_one_value() {
        let x = column(&["1", "1.0", "2", "1e0"], &SensitiveSpec::default()).unwrap();
        assert_eq!(x.synonyms(), Some(&[0, 0, 2, 0][..]));
        assert_eq!(x.ranks().unwrap(), (vec![0, 0, 1, 0], 2));
        assert_eq!(column(&["a", "b"], &SensitiveSpec::default()).unwrap().synonyms(), None);
    }

    #[test]
    fn spellings_of_numbers_are_merged_if_other_values_are_texts() {
        let x = column(&[" flu", "01", "1", "1.0", "flu", "unknown"], &SensitiveSpec::default())
            .unwrap();
        assert_eq!(x.synonyms(), Some(&[4, 2, 2, 2, 4, 5][..]));
        assert!(x.numbers().is_err());
        let values = || ["1", "1,0", "2", "X2"].map(str::to_owned).to_vec();
        let build = |mark| Sensitive::build("x", values(), None, None, mark).unwrap();
        let comma = build(DecimalMark::Comma);
        assert_eq!(comma.synonyms(), Some(&[0, 0, 2, 3][..]));
        assert_eq!(comma.key(1), "1");
        assert_eq!(build(DecimalMark::Point).synonyms(), None);
    }

    #[test]
    fn all_texts_that_mean_a_missing_value_are_one_value() {
        let spec = SensitiveSpec {
            missing: ["?", "NA"].map(str::to_owned).to_vec(),
            ..SensitiveSpec::default()
        };
        let texts = [" ?", "?\u{a0}", "NA ", "flu"];
        assert_eq!(column(&texts, &spec).unwrap().synonyms(), Some(&[0, 0, 0, 3][..]));
        // Without these settings two texts have one key.
        let plain = column(&texts, &SensitiveSpec::default()).unwrap();
        assert_eq!(plain.synonyms(), Some(&[0, 0, 2, 3][..]));
        assert_eq!(column(&[" ?", "flu"], &spec).unwrap().synonyms(), None);
        // The missing value of the table is the same value.
        let values = ["", " ?", "flu"].map(str::to_owned).to_vec();
        let kept = Sensitive::build("x", values, Some(0), Some(&spec), DecimalMark::Point).unwrap();
        assert_eq!(kept.synonyms(), Some(&[0, 0, 2][..]));
    }

    #[test]
    fn numbers_that_only_rounding_makes_equal_are_two_values() {
        let x =
            column(&["9007199254740992", "9007199254740993"], &SensitiveSpec::default()).unwrap();
        assert_eq!(x.synonyms(), None);
    }

    #[test]
    fn numbers_that_would_be_rounded_are_not_computed_with() {
        let stated = SensitiveSpec { kind: Some(Kind::Numeric), ..SensitiveSpec::default() };
        for spec in [SensitiveSpec::default(), stated] {
            let x = column(&["9007199254740993", "9007199254740995"], &spec).unwrap();
            assert_eq!(x.synonyms(), None, "the values remain different");
            for refused in [x.numbers().map(|_| ()), x.ranks().map(|_| ())] {
                let refused = refused.unwrap_err();
                assert!(refused.message().contains("column `x`"), "{refused}");
                assert!(refused.message().contains("more digits"), "{refused}");
                assert!(refused.advice().unwrap().starts_with("round"), "{refused}");
                assert!(!format!("{refused}").contains("900719"), "{refused}");
            }
        }
        // Two texts of one float, and 17 digits that identify a float.
        assert!(
            column(&["0.1", "0.10000000000000001"], &SensitiveSpec::default())
                .unwrap()
                .numbers()
                .is_err()
        );
        let x = column(&["0.10000000000000001", "0.2"], &SensitiveSpec::default()).unwrap();
        assert_eq!(x.numbers().unwrap(), [0.1, 0.2]);
    }

    #[test]
    fn values_in_different_categories_are_different() {
        let list = [("low", vec!["1", "1.0"]), ("high", vec!["01"])];
        let list =
            list.map(|(name, own)| (name.to_owned(), own.into_iter().map(str::to_owned).collect()));
        let categories = Some(crate::Categories::new(list.to_vec()).unwrap());
        let spec = SensitiveSpec { categories, ..SensitiveSpec::default() };
        let x = column(&["01", "1", "1.0"], &spec).unwrap();
        assert_eq!(x.synonyms(), Some(&[0, 1, 1][..]));
    }

    #[test]
    fn moments_of_one_day_are_one_value() {
        let spec = SensitiveSpec { kind: Some(Kind::Date), ..SensitiveSpec::default() };
        let x = column(&["2021-03-05", "2021-03-05T10:00:00Z", "2021-03-06"], &spec).unwrap();
        assert_eq!(x.synonyms(), Some(&[0, 0, 2][..]));
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
