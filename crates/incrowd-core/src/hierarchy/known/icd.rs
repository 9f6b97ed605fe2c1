//! Diagnoses: the International Classification of Diseases, code, category, chapter.

/// The chapters of ICD-10 with the additions of the clinical modification: first and last category,
/// and title.
const CHAPTERS_10: &[(&str, &str, &str)] = &[
    ("A00", "B99", "infectious"),
    ("C00", "D49", "neoplasms"),
    ("D50", "D89", "blood and immunity"),
    ("E00", "E90", "endocrine, nutritional and metabolic"),
    ("F00", "F99", "mental"),
    ("G00", "G99", "nervous system"),
    ("H00", "H59", "eye"),
    ("H60", "H95", "ear"),
    ("I00", "I99", "circulatory"),
    ("J00", "J99", "respiratory"),
    ("K00", "K95", "digestive"),
    ("L00", "L99", "skin"),
    ("M00", "M99", "muscles and bones"),
    ("N00", "N99", "genitourinary"),
    ("O00", "O9A", "pregnancy and childbirth"),
    ("P00", "P96", "perinatal"),
    ("Q00", "Q99", "congenital"),
    ("R00", "R99", "symptoms"),
    ("S00", "T98", "injury and poisoning"),
    ("U00", "U99", "special purposes"),
    ("V00", "Y99", "external causes"),
    ("Z00", "Z99", "contact with health services"),
];

/// The chapters of ICD-9.
const CHAPTERS_9: &[(u16, u16, &str)] = &[
    (1, 139, "infectious"),
    (140, 239, "neoplasms"),
    (240, 279, "endocrine, nutritional and metabolic"),
    (280, 289, "blood"),
    (290, 319, "mental"),
    (320, 389, "nervous system and senses"),
    (390, 459, "circulatory"),
    (460, 519, "respiratory"),
    (520, 579, "digestive"),
    (580, 629, "genitourinary"),
    (630, 679, "pregnancy and childbirth"),
    (680, 709, "skin"),
    (710, 739, "muscles and bones"),
    (740, 759, "congenital"),
    (760, 779, "perinatal"),
    (780, 799, "symptoms"),
    (800, 999, "injury and poisoning"),
];

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
    let chapter = CHAPTERS_10.iter().find(|(first, last, _)| (*first..=*last).contains(&category));
    let (first, last, about) = chapter.filter(|_| shape && detail)?;
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
            let (first, last, about) =
                CHAPTERS_9.iter().find(|(first, last, _)| (*first..=*last).contains(&n))?;
            format!("{first:03}-{last:03} {about}")
        }
        _ => return None,
    };
    Some(vec![format!("{letter}{n:0width$}.-"), chapter])
}
