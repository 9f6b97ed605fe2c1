//! Occupations and industries.

use std::sync::LazyLock;

use crate::lists::table;

/// The major groups of ISCO-08, and the second digits of their sub-major groups.
const MAJOR: &[(&str, &str)] = &[
    ("armed forces", "123"),
    ("managers", "1234"),
    ("professionals", "123456"),
    ("technicians", "12345"),
    ("clerical support", "1234"),
    ("service and sales", "1234"),
    ("agriculture, forestry and fishery", "123"),
    ("craft and trades", "12345"),
    ("machine operators", "123"),
    ("elementary occupations", "123456"),
];

/// `2221` belongs to the minor group `222`, the sub-major group `22` and the major group `2
/// professionals`.
pub(super) fn isco(code: &str) -> Option<Vec<String>> {
    let digits = code.bytes().all(|b| b.is_ascii_digit()) && (2..=4).contains(&code.len());
    let (title, second) = MAJOR.get(usize::from(code.as_bytes().first()?.checked_sub(b'0')?))?;
    if !digits || !second.contains(&code[1..2]) {
        return None;
    }
    let mut path: Vec<String> = (2..code.len()).rev().map(|kept| code[..kept].to_owned()).collect();
    path.push(format!("{} {title}", &code[..1]));
    Some(path)
}

/// Letter, first division, last division and title of the sections of NACE.
static SECTIONS: LazyLock<Vec<[&str; 4]>> = LazyLock::new(|| table(include_str!("nace.txt")));

/// `62.01` belongs to the group `62.0`, the division `62` and the section `J information and
/// communication`.
pub(super) fn nace(code: &str) -> Option<Vec<String>> {
    let bare = code.strip_prefix(|c: char| c.is_ascii_uppercase()).unwrap_or(code);
    let (division, detail) = bare.split_once('.').unwrap_or((bare, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if division.len() != 2 || !digits(division) || detail.len() > 2 || !digits(detail) {
        return None;
    }
    let [letter, .., title] =
        SECTIONS.iter().find(|[_, first, last, _]| (*first..=*last).contains(&division))?;
    if bare.len() < code.len() && !code.starts_with(*letter) {
        return None;
    }
    let mut path = Vec::new();
    if !detail.is_empty() {
        path.push(format!("{division}.{}", &detail[..1]));
    }
    path.push(division.to_owned());
    path.push(format!("{letter} {title}"));
    Some(path)
}

/// First two digits, last two digits and title of the sectors of NAICS.
static SECTORS: LazyLock<Vec<[&str; 3]>> = LazyLock::new(|| table(include_str!("naics.txt")));

/// `541511` belongs to `54151`, `5415`, `541` and the sector `54`. Public files contain letters in
/// place of suppressed digits, `928P`.
pub(super) fn naics(code: &str) -> Option<Vec<String>> {
    let shape = (2..=6).contains(&code.len())
        && code.bytes().take(2).all(|b| b.is_ascii_digit())
        && code.bytes().skip(2).all(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    let digits = code.get(..2).filter(|_| shape)?;
    let [first, last, title] =
        SECTORS.iter().find(|[first, last, _]| (*first..=*last).contains(&digits))?;
    let mut path: Vec<String> = (3..code.len()).rev().map(|kept| code[..kept].to_owned()).collect();
    let sector =
        if first == last { format!("{first} {title}") } else { format!("{first}-{last} {title}") };
    path.push(sector);
    Some(path)
}
