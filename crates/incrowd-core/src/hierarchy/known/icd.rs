//! Diagnoses: the International Classification of Diseases, code, category, chapter.

use std::sync::LazyLock;

use crate::lists::table;

/// First category, last category and title of a chapter.
type Chapters = LazyLock<Vec<[&'static str; 3]>>;

static CHAPTERS_10: Chapters = LazyLock::new(|| table(include_str!("icd10.txt")));
static CHAPTERS_9: Chapters = LazyLock::new(|| table(include_str!("icd9.txt")));

/// `E11.9` belongs to the category `E11.-` and the chapter `E00-E90`.
pub(super) fn path10(code: &str) -> Option<Vec<String>> {
    let code: String = code.to_ascii_uppercase();
    let (category, rest) = code.split_at_checked(3)?;
    let b = category.as_bytes();
    let shape = b[0].is_ascii_uppercase() && b[1].is_ascii_digit() && b[2].is_ascii_alphanumeric();
    let dotted = rest.strip_prefix('.').unwrap_or(rest);
    let detail =
        dotted.len() <= 4 && dotted.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    // Letters sort after digits: O9A is after O99.
    let chapter = CHAPTERS_10.iter().find(|[first, last, _]| (*first..=*last).contains(&category));
    let [first, last, about] = chapter.filter(|_| shape && detail)?;
    Some(vec![format!("{category}.-"), format!("{first}-{last} {about}")])
}

/// `250.83` belongs to the category `250.-` and the chapter `240-279`.
pub(super) fn path9(code: &str) -> Option<Vec<String>> {
    let code = code.to_ascii_uppercase();
    let (stem, detail) = code.split_once('.').unwrap_or((&code, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if !digits(detail) || detail.len() > 2 {
        return None;
    }
    let (letter, number) = match stem.strip_prefix(['V', 'E']) {
        Some(number) => (&stem[..1], number),
        None => ("", stem),
    };
    // Without a dot, the first digits are the category.
    let width = if letter == "V" { 2 } else { 3 };
    if number.is_empty() || !digits(number) || number.len() > width + 2 {
        return None;
    }
    let category = &number[..number.len().min(width)];
    let n: u16 = category.parse().ok()?;
    let chapter = match letter {
        "V" if (1..=91).contains(&n) => "V01-V91 other reasons".to_owned(),
        "E" => "E000-E999 external causes".to_owned(),
        "" => {
            let number = format!("{n:03}");
            let of = |[first, last, _]: &&[&str; 3]| (*first..=*last).contains(&number.as_str());
            let [first, last, about] = CHAPTERS_9.iter().find(of)?;
            format!("{first}-{last} {about}")
        }
        _ => return None,
    };
    Some(vec![format!("{letter}{n:0width$}.-"), chapter])
}
