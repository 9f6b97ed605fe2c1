//! Number formats: decimal commas and thousands separators. After reading, numbers are written
//! `1234.5`.

use std::borrow::Cow;

/// The decimal mark of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecimalMark {
    /// `1234.5`, with thousands `1,234.5`.
    #[default]
    Point,
    /// `1234,5`, with thousands `1.234,5`.
    Comma,
}

impl DecimalMark {
    /// The names in a job file.
    pub const ALL: [(&'static str, DecimalMark); 2] =
        [(".", DecimalMark::Point), (",", DecimalMark::Comma)];

    fn fraction(self) -> char {
        if self == DecimalMark::Comma { ',' } else { '.' }
    }

    /// Whether a character is a thousands separator. A blank is one only with decimal commas:
    /// otherwise `1 234` may be two numbers.
    fn is_thousands(self, c: char) -> bool {
        match c {
            '\'' | '\u{2019}' | '\u{a0}' | '\u{202f}' => true,
            ' ' | '.' => self == DecimalMark::Comma,
            ',' => self == DecimalMark::Point,
            _ => false,
        }
    }

    /// The number as `1234.5`; `None` if it does not have this format.
    pub fn read(self, text: &str) -> Option<Cow<'_, str>> {
        let text = text.trim();
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (number, exponent) = match digits.find(['e', 'E']) {
            Some(at) => digits.split_at(at),
            None => (digits, ""),
        };
        if !exponent.is_empty() {
            let power = exponent[1..].strip_prefix(['-', '+']).unwrap_or(&exponent[1..]);
            if power.is_empty() || !power.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
        }
        let (whole, fraction) = match number.split_once(self.fraction()) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (number, None),
        };
        let is_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if !is_digits(fraction.unwrap_or_default())
            || (whole.is_empty() && fraction.unwrap_or_default().is_empty())
        {
            return None;
        }
        let plain = is_digits(whole);
        if !plain && !self.is_grouped(whole) {
            return None;
        }
        if plain && (fraction.is_none() || self == DecimalMark::Point) {
            return Some(Cow::Borrowed(text));
        }
        let sign = if digits.len() < text.len() { &text[..1] } else { "" };
        let mut read = sign.to_owned();
        read.extend(whole.chars().filter(char::is_ascii_digit));
        if let Some(fraction) = fraction {
            read.push('.');
            read.push_str(fraction);
        }
        read.push_str(exponent);
        Some(Cow::Owned(read))
    }

    /// Whether these are digits in groups of three: `12.345.678`.
    fn is_grouped(self, whole: &str) -> bool {
        let Some(mark) =
            whole.chars().find(|c| !c.is_ascii_digit()).filter(|c| self.is_thousands(*c))
        else {
            return false;
        };
        let mut groups = whole.split(mark);
        let first = groups.next().unwrap_or_default();
        let is_digits = |group: &str| group.bytes().all(|b| b.is_ascii_digit());
        (1..=3).contains(&first.len())
            && !first.starts_with('0')
            && is_digits(first)
            && groups.all(|group| group.len() == 3 && is_digits(group))
    }
}

/// Rewrites the numbers of a cell: a number, a range `[1, 2]`, or a half-open range `>=90`. `None`
/// if the cell is none of these.
fn rewrite<'t>(
    text: &'t str,
    number: &dyn Fn(&'t str) -> Option<Cow<'t, str>>,
) -> Option<Cow<'t, str>> {
    if let Some((lo, hi)) =
        text.strip_prefix('[').and_then(|t| t.strip_suffix(']')?.split_once(", "))
    {
        let (new_lo, new_hi) = (number(lo)?, number(hi)?);
        let same = matches!((&new_lo, &new_hi), (Cow::Borrowed(_), Cow::Borrowed(_)));
        return Some(if same {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(format!("[{new_lo}, {new_hi}]"))
        });
    }
    for open in [">=", "<=", "<", ">"] {
        if let Some(end) = text.strip_prefix(open) {
            return Some(match number(end)? {
                Cow::Borrowed(_) => Cow::Borrowed(text),
                Cow::Owned(end) => Cow::Owned(format!("{open}{end}")),
            });
        }
    }
    number(text)
}

/// Rewrites all texts or none: in a column of numbers every text with a digit is a number.
fn rewrite_all(
    texts: &[String],
    number: &dyn Fn(&str) -> Option<Cow<'_, str>>,
) -> Option<Vec<(usize, String)>> {
    let mut changed = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        if !text.bytes().any(|b| b.is_ascii_digit()) {
            continue;
        }
        if let Cow::Owned(new) = rewrite(text, &|t| number(t))? {
            changed.push((i, new));
        }
    }
    Some(changed)
}

/// Whether a text contains a character that a number in the normal format does not have.
pub fn is_marked(text: &str, mark: DecimalMark) -> bool {
    text.contains(|c: char| (c == ',' && mark == DecimalMark::Comma) || mark.is_thousands(c))
}

/// Rewrites the numbers of a column as `1234.5`, if it is a column of numbers. Texts without a
/// digit stay unchanged.
pub fn read(texts: &mut [String], mark: DecimalMark) {
    if !texts.iter().any(|text| is_marked(text, mark)) {
        return;
    }
    for (i, new) in rewrite_all(texts, &|text| mark.read(text)).unwrap_or_default() {
        texts[i] = new;
    }
}

/// Formats the cells of a column with this decimal mark. The inverse of [`read`].
pub fn written(texts: &[String], mark: DecimalMark) -> Cow<'_, [String]> {
    if mark == DecimalMark::Point {
        return Cow::Borrowed(texts);
    }
    fn number(text: &str) -> Option<Cow<'_, str>> {
        crate::number::parse_number(text).filter(|_| text.trim() == text)?;
        Some(if text.contains('.') { text.replacen('.', ",", 1).into() } else { text.into() })
    }
    match rewrite_all(texts, &number) {
        None => Cow::Borrowed(texts),
        Some(changed) => {
            let mut all = texts.to_vec();
            changed.into_iter().for_each(|(i, new)| all[i] = new);
            Cow::Owned(all)
        }
    }
}

/// Detects the decimal mark of a file from the cells of some records, column by column. A comma
/// that could also separate thousands counts only if the delimiter is not a comma.
pub fn sniff<'a>(columns: impl Iterator<Item = Vec<&'a str>>, delimiter: u8) -> DecimalMark {
    let (mut comma, mut point, mut either) = (0, 0, 0);
    for cells in columns {
        let cells: Vec<&str> =
            cells.into_iter().filter(|cell| cell.bytes().any(|b| b.is_ascii_digit())).collect();
        let all = |mark: DecimalMark| {
            !cells.is_empty() && cells.iter().all(|cell| mark.read(cell).is_some())
        };
        let fractions = |mark: DecimalMark| cells.iter().any(|cell| cell.contains(mark.fraction()));
        let of_comma = all(DecimalMark::Comma) && fractions(DecimalMark::Comma);
        let of_point = all(DecimalMark::Point) && fractions(DecimalMark::Point);
        match (of_comma, of_point) {
            (true, _) if !all(DecimalMark::Point) => comma += 1,
            (_, true) if !all(DecimalMark::Comma) => point += 1,
            (true, _) => either += 1,
            _ => {}
        }
    }
    let separate = delimiter != b',';
    let found =
        if separate { comma > 0 || (either > 0 && point == 0) } else { comma > 0 && point == 0 };
    if found { DecimalMark::Comma } else { DecimalMark::Point }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    fn as_read(texts: &[&str], mark: DecimalMark) -> Vec<String> {
        let mut all = strings(texts);
        read(&mut all, mark);
        all
    }

    #[test]
    fn numbers_with_separators_are_read() {
        let comma = DecimalMark::Comma;
        assert_eq!(
            as_read(&["169,6", "1.234.567,5", "-3", "1 234", "NA"], comma),
            ["169.6", "1234567.5", "-3", "1234", "NA"]
        );
        assert_eq!(
            as_read(&["1,234", "12,345,678.25", "7"], DecimalMark::Point),
            ["1234", "12345678.25", "7"]
        );
        assert_eq!(as_read(&["1'234", "5"], DecimalMark::Point), ["1234", "5"]);
        assert_eq!(as_read(&["[1,5, 2,25]", ">=9,5", "*"], comma), ["[1.5, 2.25]", ">=9.5", "*"]);
    }

    #[test]
    fn columns_with_other_texts_stay_unchanged() {
        for texts in [
            &["12.09.1972", "1,5"][..],
            &["1,5", "A1"],
            &["0.123", "1,5"],
            &["1,2,3", "1,5"],
            &["{1,5, 2}", "1,5"],
        ] {
            assert_eq!(as_read(texts, DecimalMark::Comma), texts, "{texts:?}");
        }
        assert_eq!(as_read(&["1,23", "4"], DecimalMark::Point), ["1,23", "4"]);
        assert_eq!(as_read(&["555 123", "4"], DecimalMark::Point), ["555 123", "4"]);
    }

    #[test]
    fn the_decimal_mark_is_detected_from_the_cells() {
        let of =
            |columns: &[&[&str]], delimiter| sniff(columns.iter().map(|c| c.to_vec()), delimiter);
        assert_eq!(of(&[&["169,6", "170"], &["a", "b"]], b';'), DecimalMark::Comma);
        assert_eq!(of(&[&["169,6", "170"]], b','), DecimalMark::Comma);
        assert_eq!(of(&[&["1,234", "7"]], b','), DecimalMark::Point);
        assert_eq!(of(&[&["1,234", "7"]], b';'), DecimalMark::Comma);
        assert_eq!(of(&[&["1,234", "7"], &["0.5"]], b';'), DecimalMark::Point);
        assert_eq!(of(&[&["1.5", "7"]], b';'), DecimalMark::Point);
        assert_eq!(of(&[&["12.09.1972"]], b';'), DecimalMark::Point);
    }

    proptest! {
        #[test]
        fn written_numbers_are_read_back(
            numbers in prop::collection::vec(
                (any::<i32>(), 0u8..4, any::<bool>(), any::<i32>()),
                1..6,
            ),
        ) {
            let power = |digits: u8| 10f64.powi(i32::from(digits));
            let text = |n: i32, digits: u8| (f64::from(n) / power(digits)).to_string();
            let cells: Vec<String> = numbers.iter().map(|&(n, digits, range, m)| match range {
                true => format!("[{}, {}]", text(n, digits), text(m, digits)),
                false => text(n, digits),
            }).collect();
            let mut back = written(&cells, DecimalMark::Comma).into_owned();
            prop_assert!(back.iter().all(|cell| !cell.contains('.')));
            read(&mut back, DecimalMark::Comma);
            prop_assert_eq!(back, cells);
        }

        #[test]
        fn other_texts_are_read_back_too(cells in prop::collection::vec("[0-9a.,{} ]{0,5}", 1..4)) {
            // Texts that were read have decimal points.
            let mut cells = cells;
            read(&mut cells, DecimalMark::Comma);
            let mut back = written(&cells, DecimalMark::Comma).into_owned();
            read(&mut back, DecimalMark::Comma);
            prop_assert_eq!(back, cells);
        }
    }
}
