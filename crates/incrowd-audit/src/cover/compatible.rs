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
    /// What the members of a set say, each read along the hierarchy that the other release has.
    Any(Vec<Says>),
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
        .help("give the people to look for as `[population] path` or `[attack] external`")
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
                .help("give the people to look for as `[population] path` or `[attack] external`"));
            }
            _ => None,
        };
        let kinds = [sniff(first, missing), sniff(second, missing)];
        let alike = if kinds[0] == kinds[1] { kinds[0] } else { Kind::Text };
        Ok(Reader { spec, kind: spec.kind.unwrap_or(alike), taxonomy, missing })
    }

    fn read(&self, code: usize, text: &str) -> Says {
        if code == MISSING as usize || text == self.missing {
            // In plain text a missing value is one more member of a set.
            let plain = self.spec.hierarchy.is_none() && self.kind == Kind::Text;
            return if plain { Says::OneOf(vec![self.missing.to_owned()]) } else { Says::Missing };
        }
        if text == "*" {
            return Says::Anything;
        }
        let label = || Says::Label(text.to_owned());
        if self.taxonomy.is_some() || matches!(self.spec.hierarchy, Some(HierarchySpec::Mask(_))) {
            return self.along(text).unwrap_or_else(|| self.made_without(text));
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
        let open = || {
            let above = text.strip_prefix(">=").and_then(number).map(|lo| Says::Between(lo, f64::INFINITY));
            above.or_else(|| {
                text.strip_prefix("<=").and_then(number).map(|hi| Says::Between(f64::NEG_INFINITY, hi))
            })
        };
        number(text).map(|x| Says::Between(x, x)).or_else(range).or_else(open).unwrap_or_else(label)
    }

    /// What a label says by the hierarchy.
    fn along(&self, text: &str) -> Option<Says> {
        match (&self.taxonomy, &self.spec.hierarchy) {
            (Some(taxonomy), _) => taxonomy.node(text).map(|node| match node == taxonomy.root() {
                true => Says::Anything,
                false => Says::Leaves(taxonomy.span(node).0.0, taxonomy.span(node).1.0),
            }),
            (None, Some(HierarchySpec::Mask(mask))) if parse_set(text).is_none() && !is_range(text) => {
                Some(masked(*mask, text))
            }
            _ => None,
        }
    }

    /// What a cell says that is no label of the hierarchy: the release was made without it and has sets, or ranges, which may be
    /// about any value here.
    fn made_without(&self, text: &str) -> Says {
        let label = |text: &str| Says::Label(text.to_owned());
        match parse_set(text) {
            Some(members) => {
                Says::Any(members.iter().map(|own| self.along(own).unwrap_or_else(|| label(own))).collect())
            }
            None if is_range(text) => Says::Anything,
            None => label(text),
        }
    }
}

fn is_range(text: &str) -> bool {
    text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).is_some_and(|ends| ends.contains(", "))
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
        (Says::Any(members), other) | (other, Says::Any(members)) => {
            members.iter().any(|own| agree(own, other))
        }
        (Says::Between(a, b), Says::Between(c, d)) => a <= d && c <= b,
        (Says::Leaves(a, b), Says::Leaves(c, d)) => a <= d && c <= b,
        (Says::OneOf(a), Says::OneOf(b)) => a.iter().any(|value| b.contains(value)),
        (Says::Masked(a, hidden), Says::Masked(b, concealed)) => {
            (a == b) || (*hidden && b.starts_with(a)) || (*concealed && a.starts_with(b))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreeing(spec: &ColumnSpec, a: &str, b: &str) -> bool {
        let column =
            |text: &str| FoldedColumn { name: "x".into(), texts: vec![String::new(), text.to_owned()] };
        let reach = compatible(&column(a), &column(b), spec, "?").unwrap();
        assert_eq!(compatible(&column(b), &column(a), spec, "?").unwrap()[1].covers(1), reach[1].covers(1));
        reach[1].covers(1)
    }

    #[test]
    fn masks_agree_if_what_they_show_does() {
        for (from, pairs) in [
            (From::Right, [("021**", "0213*", true), ("021**", "022**", false), ("02139", "021**", true)]),
            (From::Left, [("**139", "*2139", true), ("**139", "**138", false), ("02139", "**138", false)]),
        ] {
            let hierarchy = Some(HierarchySpec::Mask(Mask { char: '*', from }));
            let spec = ColumnSpec { hierarchy, ..ColumnSpec::default() };
            for (a, b, agree) in pairs {
                assert_eq!(agreeing(&spec, a, b), agree, "{a} {b}");
            }
        }
    }

    #[test]
    fn sets_of_one_release_are_read_along_the_hierarchy_of_the_other() {
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
            assert!(agreeing(&spec, "[1, 5]", pairs[1].0), "what cannot be read excludes nobody");
        }
    }

    #[test]
    fn a_label_nobody_explains_agrees_with_itself_and_with_a_star() {
        let spec = ColumnSpec::default();
        assert!(agreeing(&spec, "Europe", "Europe") && agreeing(&spec, "Europe", "*"));
        assert!(!agreeing(&spec, "Europe", "France"));
    }

    #[test]
    fn intervals_made_from_values_need_people() {
        let intervals = incrowd_core::hierarchy::intervals::Intervals::fixed(5.0, 0.0, 1, 2).unwrap();
        let spec =
            ColumnSpec { hierarchy: Some(HierarchySpec::Intervals(intervals)), ..ColumnSpec::default() };
        let column = FoldedColumn { name: "x".into(), texts: vec![String::new(), "[0, 4]".into()] };
        assert!(
            compatible(&column, &column, &spec, "?")
                .unwrap_err()
                .advice()
                .unwrap()
                .contains("[attack] external")
        );
    }
}
