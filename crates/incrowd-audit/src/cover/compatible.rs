//! Compatibility of the cells of two releases: whether a value can have both cells.

use incrowd_core::cell::parse_set;
use incrowd_core::hierarchy::dates::Step;
use incrowd_core::hierarchy::mask::{From, Mask};
use incrowd_core::number::{parse_date, parse_number};
use incrowd_core::{ColumnSpec, Error, HierarchySpec, Kind, MISSING, Result, Taxonomy};

use super::reach::{Reach, UsedColumn, is_missing, sniff};

/// Maximum number of comparisons of cells in one column.
const MOST: usize = 200_000_000;

/// Decoded cell, without a table of original values.
#[derive(Clone, Debug, PartialEq)]
enum DecodedCell {
    Anything,
    Missing,
    Between(f64, f64),
    Leaves(u32, u32),
    OneOf(Vec<String>),
    /// The members of a set, each decoded with the hierarchy of the other release.
    Any(Vec<DecodedCell>),
    /// The visible characters, starting at the end that is masked last, and whether others are
    /// hidden.
    Masked(Vec<char>, bool),
    /// A label that cannot be decoded. It agrees only with itself.
    Label(String),
}

/// Returns, for each cell of `first`, the cells of `second` that share a value with it.
pub(super) fn compatible(
    first: &UsedColumn<'_>,
    second: &UsedColumn<'_>,
    spec: &ColumnSpec,
    missing: &str,
) -> Result<Vec<Reach>> {
    if first.texts.len().saturating_mul(second.texts.len()) > MOST {
        return Err(too_many(first));
    }
    let reader = Reader::new(first, second, spec, missing)?;
    let theirs: Vec<DecodedCell> =
        (0..second.texts.len()).map(|i| reader.read(i, &second.texts[i])).collect();
    let reach = |i: usize| match reader.read(i, &first.texts[i]) {
        DecodedCell::Anything => Reach::Everything,
        cell => {
            let agreeing =
                (0..theirs.len() as u32).filter(|&code| agree(&cell, &theirs[code as usize]));
            Reach::Codes(agreeing.collect())
        }
    };
    Ok((0..first.texts.len()).map(reach).collect())
}

fn too_many(column: &UsedColumn<'_>) -> Error {
    Error::resources(format!(
        "column `{}` has too many distinct cells for comparing two releases",
        column.name
    ))
    .help("provide the people to attack as `[population] path` or `[attack] external`")
}

struct Reader<'a> {
    spec: &'a ColumnSpec,
    kind: Kind,
    taxonomy: Option<Taxonomy>,
    missing: &'a str,
}

impl<'a> Reader<'a> {
    fn new(
        first: &UsedColumn<'_>,
        second: &UsedColumn<'_>,
        spec: &'a ColumnSpec,
        missing: &'a str,
    ) -> Result<Reader<'a>> {
        let taxonomy = match &spec.hierarchy {
            Some(h @ (HierarchySpec::Arx { .. } | HierarchySpec::Nested(_))) => {
                Some(h.build(first.name, &[])?)
            }
            _ => None,
        };
        let kinds = [sniff(first, missing), sniff(second, missing)];
        let common = if kinds[0] == kinds[1] { kinds[0] } else { Kind::Text };
        let kind = match &spec.hierarchy {
            Some(HierarchySpec::Intervals(_)) => Kind::Numeric,
            Some(HierarchySpec::Dates(_)) => Kind::Date,
            _ => spec.kind.unwrap_or(common),
        };
        Ok(Reader { spec, kind, taxonomy, missing })
    }

    fn read(&self, code: usize, text: &str) -> DecodedCell {
        if code == MISSING as usize || is_missing(text, self.missing) {
            // In plain text columns a missing value may be a member of a set.
            let plain = self.spec.hierarchy.is_none() && self.kind == Kind::Text;
            return match plain {
                true => DecodedCell::OneOf(vec![self.missing.to_owned()]),
                false => DecodedCell::Missing,
            };
        }
        if text == "*" {
            return DecodedCell::Anything;
        }
        let label = || DecodedCell::Label(text.to_owned());
        if self.taxonomy.is_some() || matches!(self.spec.hierarchy, Some(HierarchySpec::Mask(_))) {
            return self.with_hierarchy(text).unwrap_or_else(|| self.without_hierarchy(text));
        }
        let number = |part: &str| match self.kind {
            Kind::Numeric => parse_number(part).map(|n| n.as_f64()),
            Kind::Date => parse_date(part).map(f64::from),
            Kind::Text => None,
        };
        if self.kind == Kind::Text {
            return DecodedCell::OneOf(parse_set(text).unwrap_or_else(|| vec![text.to_owned()]));
        }
        let range = || {
            let (lo, hi) = text.strip_prefix('[')?.strip_suffix(']')?.split_once(", ")?;
            Some(DecodedCell::Between(number(lo)?, number(hi)?))
        };
        let open = || {
            // `<hi` does not include `hi`. Including it is harmless: it can only add candidates.
            let below = text.strip_prefix('<').filter(|rest| !rest.starts_with('='));
            let below = below.or_else(|| text.strip_prefix("<=")).and_then(number);
            let above = || text.strip_prefix(">=").and_then(number);
            below
                .map(|hi| DecodedCell::Between(f64::NEG_INFINITY, hi))
                .or_else(|| above().map(|lo| DecodedCell::Between(lo, f64::INFINITY)))
        };
        let step = || {
            let (first, last) = Step::extent_of(text).filter(|_| self.kind == Kind::Date)?;
            Some(DecodedCell::Between(first, last))
        };
        let value = || number(text).map(|x| DecodedCell::Between(x, x));
        let decoded = value().or_else(range).or_else(open).or_else(step);
        match self.spec.hierarchy {
            // The other release may have been created without the hierarchy.
            Some(_) => decoded.unwrap_or_else(|| self.without_hierarchy(text)),
            None => decoded.unwrap_or_else(label),
        }
    }

    /// Decodes a label with the hierarchy.
    fn with_hierarchy(&self, text: &str) -> Option<DecodedCell> {
        match (&self.taxonomy, &self.spec.hierarchy) {
            (Some(taxonomy), _) => taxonomy.node(text).map(|node| match node == taxonomy.root() {
                true => DecodedCell::Anything,
                false => DecodedCell::Leaves(taxonomy.span(node).0.0, taxonomy.span(node).1.0),
            }),
            (None, Some(HierarchySpec::Mask(mask)))
                if parse_set(text).is_none() && !is_range(text) =>
            {
                Some(masked(*mask, text))
            }
            _ => None,
        }
    }

    /// Decodes a cell that is not a label of the hierarchy: the release was created without the
    /// hierarchy and has sets, or ranges, which may cover any value.
    fn without_hierarchy(&self, text: &str) -> DecodedCell {
        let label = |text: &str| DecodedCell::Label(text.to_owned());
        let member = |text: &String| self.with_hierarchy(text).unwrap_or_else(|| label(text));
        match parse_set(text) {
            Some(members) => DecodedCell::Any(members.iter().map(member).collect()),
            None if is_range(text) => DecodedCell::Anything,
            None => label(text),
        }
    }
}

fn is_range(text: &str) -> bool {
    text.strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
        .is_some_and(|ends| ends.contains(", "))
}

fn masked(mask: Mask, text: &str) -> DecodedCell {
    let mut shown: Vec<char> = text.chars().collect();
    if mask.from == From::Left {
        shown.reverse();
    }
    let all = shown.len();
    while shown.last() == Some(&mask.char) {
        shown.pop();
    }
    DecodedCell::Masked(shown.clone(), shown.len() < all)
}

/// Returns whether two cells can have a value in common.
fn agree(a: &DecodedCell, b: &DecodedCell) -> bool {
    use DecodedCell::{Any, Anything, Between, Leaves, Masked, OneOf};
    match (a, b) {
        (Anything, _) | (_, Anything) => true,
        (Any(members), other) | (other, Any(members)) => {
            members.iter().any(|own| agree(own, other))
        }
        (Between(a, b), Between(c, d)) => a <= d && c <= b,
        (Leaves(a, b), Leaves(c, d)) => a <= d && c <= b,
        (OneOf(a), OneOf(b)) => a.iter().any(|value| b.contains(value)),
        (Masked(a, hidden), Masked(b, concealed)) => {
            (a == b) || (*hidden && b.starts_with(a)) || (*concealed && a.starts_with(b))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incrowd_core::Folded;

    fn agreeing(spec: &ColumnSpec, a: &str, b: &str) -> bool {
        let table = |text: &str| Folded::from_records(&["x"], vec![vec![Some(text)]], false);
        let (a, b) = (table(a), table(b));
        let (a, b) = (UsedColumn::new(&a, 0), UsedColumn::new(&b, 0));
        let reach = compatible(&a, &b, spec, "?").unwrap();
        assert_eq!(compatible(&b, &a, spec, "?").unwrap()[1].covers(1), reach[1].covers(1));
        reach[1].covers(1)
    }

    #[test]
    fn masks_agree_if_their_visible_characters_agree() {
        for (from, pairs) in [
            (
                From::Right,
                [("021**", "0213*", true), ("021**", "022**", false), ("02139", "021**", true)],
            ),
            (
                From::Left,
                [("**139", "*2139", true), ("**139", "**138", false), ("02139", "**138", false)],
            ),
        ] {
            let hierarchy = Some(HierarchySpec::Mask(Mask { char: '*', from }));
            let spec = ColumnSpec { hierarchy, ..ColumnSpec::default() };
            for (a, b, agree) in pairs {
                assert_eq!(agreeing(&spec, a, b), agree, "{a} {b}");
            }
        }
    }

    #[test]
    fn sets_of_one_release_are_decoded_with_the_hierarchy_of_the_other() {
        let text = "Lima;Peru;America;*\nCusco;Peru;America;*\nParis;France;Europe;*\n";
        let arx = HierarchySpec::Arx { name: "city.csv".into(), text: text.into() };
        let mask = HierarchySpec::Mask(Mask { char: '*', from: From::Right });
        for (hierarchy, set, pairs) in [
            (
                arx,
                "{Lima, Paris}",
                [("Peru", true), ("Cusco", false), ("Europe", true), ("{Cusco, Paris}", true)],
            ),
            (
                mask,
                "{02139, 03000}",
                [("021**", true), ("022**", false), ("03000", true), ("{02140, 04000}", false)],
            ),
        ] {
            let spec = ColumnSpec { hierarchy: Some(hierarchy), ..ColumnSpec::default() };
            for (other, agree) in pairs {
                assert_eq!(agreeing(&spec, set, other), agree, "{set} {other}");
            }
            assert!(agreeing(&spec, "[1, 5]", pairs[1].0), "an undecodable cell excludes nobody");
        }
    }

    #[test]
    fn an_unknown_label_agrees_with_itself_and_with_a_star() {
        let spec = ColumnSpec::default();
        assert!(agreeing(&spec, "Europe", "Europe") && agreeing(&spec, "Europe", "*"));
        assert!(!agreeing(&spec, "Europe", "France"));
    }

    #[test]
    fn intervals_agree_if_they_intersect() {
        let intervals =
            incrowd_core::hierarchy::intervals::Intervals::fixed(5.0, 0.0, 1, 2).unwrap();
        let spec = ColumnSpec {
            hierarchy: Some(HierarchySpec::Intervals(intervals)),
            ..ColumnSpec::default()
        };
        for (other, agree) in [
            ("[0, 4]", true),
            ("[0, 9]", true),
            ("3", true),
            ("[5, 9]", false),
            (">=5", false),
            ("<5", true),
        ] {
            assert_eq!(agreeing(&spec, "[0, 4]", other), agree, "{other}");
        }
    }
}
