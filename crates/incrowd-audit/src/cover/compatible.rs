//! Which cells of one release can be about the same value as which cells of another.

use incrowd_core::cell::parse_set;
use incrowd_core::hierarchy::mask::{From, Mask};
use incrowd_core::number::{parse_date, parse_number};
use incrowd_core::{ColumnSpec, Error, FoldedColumn, HierarchySpec, Kind, MISSING, Result, Taxonomy};

use super::reach::{Reach, sniff};

/// More comparisons of cells than this are too many for one column.
const MOST: usize = 200_000_000;

/// What a cell says when there are no plain values to read it by.
#[derive(Clone, Debug, PartialEq)]
enum Says {
    Anything,
    Missing,
    Between(f64, f64),
    Leaves(u32, u32),
    OneOf(Vec<String>),
    /// The characters that are shown, from the end that is masked last, and whether others are hidden.
    Masked(Vec<char>, bool),
    /// A label nobody explains: it agrees with itself only.
    Label(String),
}

/// For each cell of `first` the cells of `second` that some value could have both.
pub(super) fn compatible(
    first: &FoldedColumn,
    second: &FoldedColumn,
    spec: &ColumnSpec,
    missing: &str,
) -> Result<Vec<Reach>> {
    if first.texts.len().saturating_mul(second.texts.len()) > MOST {
        return Err(too_many(first));
    }
    let reader = Reader::new(first, second, spec, missing)?;
    let theirs: Vec<Says> = (0..second.texts.len()).map(|i| reader.read(i, &second.texts[i])).collect();
    let reach = |i: usize| match reader.read(i, &first.texts[i]) {
        Says::Anything => Reach::Everything,
        said => {
            let agree = (0..theirs.len() as u32).filter(|&code| agree(&said, &theirs[code as usize]));
            Reach::Codes(agree.collect())
        }
    };
    Ok((0..first.texts.len()).map(reach).collect())
}

fn too_many(column: &FoldedColumn) -> Error {
    Error::resources(format!("column `{}` has too many different cells to compare two releases", column.name))
        .help("give the people to look for: --population or --external")
}

struct Reader<'a> {
    spec: &'a ColumnSpec,
    kind: Kind,
    taxonomy: Option<Taxonomy>,
    missing: &'a str,
}

impl<'a> Reader<'a> {
    fn new(
        first: &FoldedColumn,
        second: &FoldedColumn,
        spec: &'a ColumnSpec,
        missing: &'a str,
    ) -> Result<Reader<'a>> {
        let taxonomy = match &spec.hierarchy {
            Some(h @ (HierarchySpec::Arx { .. } | HierarchySpec::Nested(_))) => {
                Some(h.build(&first.name, &[])?)
            }
            Some(HierarchySpec::Intervals(_) | HierarchySpec::Dates(_)) => {
                return Err(Error::job(format!(
                    "the intervals of column `{}` are made from values, and two releases have none",
                    first.name
                ))
                .help("give the people to look for: --population or --external"));
            }
            _ => None,
        };
        let kinds = [sniff(first, missing), sniff(second, missing)];
        let alike = if kinds[0] == kinds[1] { kinds[0] } else { Kind::Text };
        Ok(Reader { spec, kind: spec.kind.unwrap_or(alike), taxonomy, missing })
    }

    fn read(&self, code: usize, text: &str) -> Says {
        if code == MISSING as usize || text == self.missing {
            return Says::Missing;
        }
        if text == "*" {
            return Says::Anything;
        }
        let label = || Says::Label(text.to_owned());
        if let Some(taxonomy) = &self.taxonomy {
            return match taxonomy.node(text) {
                Some(node) if node == taxonomy.root() => Says::Anything,
                Some(node) => Says::Leaves(taxonomy.span(node).0.0, taxonomy.span(node).1.0),
                None => label(),
            };
        }
        if let Some(HierarchySpec::Mask(mask)) = &self.spec.hierarchy {
            return masked(*mask, text);
        }
        let number = |part: &str| match self.kind {
            Kind::Numeric => parse_number(part).map(|n| n.as_f64()),
            Kind::Date => parse_date(part).map(f64::from),
            Kind::Text => None,
        };
        if self.kind == Kind::Text {
            return Says::OneOf(parse_set(text).unwrap_or_else(|| vec![text.to_owned()]));
        }
        let range = || {
            let (lo, hi) = text.strip_prefix('[')?.strip_suffix(']')?.split_once(", ")?;
            Some(Says::Between(number(lo)?, number(hi)?))
        };
        number(text).map(|x| Says::Between(x, x)).or_else(range).unwrap_or_else(label)
    }
}

fn masked(mask: Mask, text: &str) -> Says {
    let mut shown: Vec<char> = text.chars().collect();
    if mask.from == From::Left {
        shown.reverse();
    }
    let all = shown.len();
    while shown.last() == Some(&mask.char) {
        shown.pop();
    }
    Says::Masked(shown.clone(), shown.len() < all)
}

fn agree(a: &Says, b: &Says) -> bool {
    match (a, b) {
        (Says::Anything, _) | (_, Says::Anything) => true,
        (Says::Between(a, b), Says::Between(c, d)) => a <= d && c <= b,
        (Says::Leaves(a, b), Says::Leaves(c, d)) => a <= d && c <= b,
        (Says::OneOf(a), Says::OneOf(b)) => a.iter().any(|value| b.contains(value)),
        (Says::Masked(a, hidden), Says::Masked(b, concealed)) => {
            (a == b) || (*hidden && b.starts_with(a)) || (*concealed && a.starts_with(b))
        }
        _ => a == b,
    }
}
