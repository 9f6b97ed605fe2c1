//! Formatting of numbers and texts.

/// Formats 1234567 as 1,234,567.
pub(crate) fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats an integer without decimals and another number with `places` decimals.
pub(crate) fn decimals(x: f64, places: usize) -> String {
    if !x.is_finite() {
        return "infinite".to_owned();
    }
    if x.fract() == 0.0 && x.abs() < 1e15 {
        let sign = if x < 0.0 { "−" } else { "" };
        return format!("{sign}{}", thousands(x.abs() as u64));
    }
    // A small positive number must not be shown as zero.
    let least = 10f64.powi(-(places as i32));
    if x > 0.0 && x < least / 2.0 {
        return format!("< {least:.places$}");
    }
    if x.abs() >= 1000.0 && x.abs() < 1e15 {
        let tenths = (x.abs() * 10.0).round() as u64;
        return format!(
            "{}{}.{}",
            if x < 0.0 { "−" } else { "" },
            thousands(tenths / 10),
            tenths % 10
        );
    }
    format!("{x:.places$}").replace('-', "−")
}

/// Formats a share as a percentage with one decimal.
pub fn percent(share: f64) -> String {
    let text = decimals(100.0 * share, 1);
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}

/// Formats a number for an axis with a unit: 12K, 3.5M.
pub(crate) fn compact(x: f64) -> String {
    let (scaled, unit) = match x.abs() {
        n if n >= 1e9 => (x / 1e9, "G"),
        n if n >= 1e6 => (x / 1e6, "M"),
        n if n >= 1e4 => (x / 1e3, "K"),
        _ => (x, ""),
    };
    let text =
        if scaled.fract().abs() < 1e-9 { format!("{scaled:.0}") } else { format!("{scaled:.2}") };
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}

/// Formats a number for an axis without trailing zeros.
pub(crate) fn tick(x: f64) -> String {
    let places =
        if x == 0.0 { 0 } else { (2 - x.abs().log10().floor() as i32).clamp(0, 6) as usize };
    let text = decimals(x, places);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Shortens a text to at most `most` characters. An ellipsis marks the cut.
pub fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(most.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_for_readers() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(decimals(0.18349, 3), "0.183");
        assert_eq!(decimals(45222.0, 3), "45,222");
        assert_eq!(decimals(0.0001, 3), "< 0.001");
        assert_eq!(decimals(40861.84, 4), "40,861.8");
        assert_eq!(decimals(-1.5, 1), "−1.5");
        assert_eq!(percent(0.5), "50 %");
        assert_eq!(percent(0.12345), "12.3 %");
        assert_eq!(percent(0.9999), "100 %");
        assert_eq!(percent(0.0001), "< 0.1 %");
        assert_eq!(compact(12_500.0), "12.5K");
        assert_eq!(compact(3_000_000.0), "3M");
        assert_eq!(compact(0.5), "0.5");
        assert_eq!([0.1, 0.25, 0.0, 1200.0].map(tick), ["0.1", "0.25", "0", "1,200"]);
        assert_eq!(short("abcdef", 4), "abc…");
    }
}
