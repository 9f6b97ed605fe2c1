//! Postal codes: the first characters denote the larger area.

/// `02139` is in `021**` and `0****`, `SW1A 1AA` in `SW1A` and `SW`.
pub(super) fn path(code: &str) -> Option<Vec<String>> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let letters = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_uppercase());
    let masked =
        |code: &str, kept: usize| format!("{}{}", &code[..kept], "*".repeat(code.len() - kept));
    if digits(code) && (4..=6).contains(&code.len()) {
        let kept = if code.len() == 4 { 2 } else { 3 };
        return Some(vec![masked(code, kept), masked(code, 1)]);
    }
    if let Some((zip, more)) = code.split_once('-')
        && digits(zip)
        && zip.len() == 5
        && digits(more)
        && more.len() == 4
    {
        return Some(vec![zip.to_owned(), masked(zip, 3), masked(zip, 1)]);
    }
    let code = code.to_ascii_uppercase();
    let (outer, inner) = code.split_once(' ')?;
    let shape = |text: &str| -> String {
        text.chars()
            .map(|c| {
                if c.is_ascii_digit() {
                    '9'
                } else if c.is_ascii_uppercase() {
                    'A'
                } else {
                    '?'
                }
            })
            .collect()
    };
    match (shape(outer).as_str(), shape(inner).as_str()) {
        ("A9A", "9A9") => Some(vec![outer.to_owned(), outer[..1].to_owned()]),
        ("A9" | "A99" | "AA9" | "AA99" | "A9A" | "AA9A", "9AA") => {
            let area = outer.trim_end_matches(|c: char| !c.is_ascii_uppercase());
            let area: String = area.chars().take_while(char::is_ascii_uppercase).collect();
            Some(vec![outer.to_owned(), area]).filter(|path| letters(&path[1]))
        }
        ("9999", "AA") => Some(vec![outer.to_owned(), masked(outer, 2)]),
        ("999", "99") => Some(vec![format!("{outer} **"), format!("{}** **", &outer[..1])]),
        _ => None,
    }
}
