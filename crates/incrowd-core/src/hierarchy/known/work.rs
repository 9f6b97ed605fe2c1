//! Occupations and industries.

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

/// The sections of NACE: letter, first and last division.
const SECTIONS: &[(char, u8, u8, &str)] = &[
    ('A', 1, 3, "agriculture, forestry and fishing"),
    ('B', 5, 9, "mining"),
    ('C', 10, 33, "manufacturing"),
    ('D', 35, 35, "electricity and gas"),
    ('E', 36, 39, "water and waste"),
    ('F', 41, 43, "construction"),
    ('G', 45, 47, "trade"),
    ('H', 49, 53, "transport and storage"),
    ('I', 55, 56, "accommodation and food"),
    ('J', 58, 63, "information and communication"),
    ('K', 64, 66, "finance and insurance"),
    ('L', 68, 68, "real estate"),
    ('M', 69, 75, "professional, scientific and technical"),
    ('N', 77, 82, "administrative and support services"),
    ('O', 84, 84, "public administration"),
    ('P', 85, 85, "education"),
    ('Q', 86, 88, "health and social work"),
    ('R', 90, 93, "arts and recreation"),
    ('S', 94, 96, "other services"),
    ('T', 97, 98, "households"),
    ('U', 99, 99, "extraterritorial organisations"),
];

/// `62.01` belongs to the group `62.0`, the division `62` and the section `J information and
/// communication`.
pub(super) fn nace(code: &str) -> Option<Vec<String>> {
    let bare = code.strip_prefix(|c: char| c.is_ascii_uppercase()).unwrap_or(code);
    let (division, detail) = bare.split_once('.').unwrap_or((bare, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if division.len() != 2 || !digits(division) || detail.len() > 2 || !digits(detail) {
        return None;
    }
    let n: u8 = division.parse().ok()?;
    let (letter, .., title) =
        SECTIONS.iter().find(|(_, first, last, _)| (*first..=*last).contains(&n))?;
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

/// The sectors of NAICS: first and last two digits.
const SECTORS: &[(u8, u8, &str)] = &[
    (11, 11, "agriculture, forestry, fishing and hunting"),
    (21, 21, "mining"),
    (22, 22, "utilities"),
    (23, 23, "construction"),
    (31, 33, "manufacturing"),
    (42, 42, "wholesale trade"),
    (44, 45, "retail trade"),
    (48, 49, "transportation and warehousing"),
    (51, 51, "information"),
    (52, 52, "finance and insurance"),
    (53, 53, "real estate"),
    (54, 54, "professional, scientific and technical services"),
    (55, 55, "management of companies"),
    (56, 56, "administrative and waste services"),
    (61, 61, "education"),
    (62, 62, "health care and social assistance"),
    (71, 71, "arts and recreation"),
    (72, 72, "accommodation and food"),
    (81, 81, "other services"),
    (92, 92, "public administration"),
];

/// `541511` belongs to `54151`, `5415`, `541` and the sector `54`. Public files contain letters in
/// place of suppressed digits, `928P`.
pub(super) fn naics(code: &str) -> Option<Vec<String>> {
    let shape = (2..=6).contains(&code.len())
        && code.bytes().take(2).all(|b| b.is_ascii_digit())
        && code.bytes().skip(2).all(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    let n: u8 = code.get(..2).filter(|_| shape)?.parse().ok()?;
    let (first, last, title) =
        SECTORS.iter().find(|(first, last, _)| (*first..=*last).contains(&n))?;
    let mut path: Vec<String> = (3..code.len()).rev().map(|kept| code[..kept].to_owned()).collect();
    let sector =
        if first == last { format!("{first} {title}") } else { format!("{first}-{last} {title}") };
    path.push(sector);
    Some(path)
}
