//! Texts for users, independent of how they are rendered: lines, tables, and the format of numbers.

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A line.
    Line(String),
    /// A table row by row, the header first. The first column contains names, the others numbers.
    Table(Vec<Vec<String>>),
}

impl Block {
    /// A line.
    pub fn line(text: impl Into<String>) -> Block {
        Block::Line(text.into())
    }
}

/// Formats 1234567 as 1,234,567.
pub fn thousands(n: u64) -> String {
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

/// Formats a number of groups.
pub fn groups(n: u64) -> String {
    if n == 1 { "1 group".to_owned() } else { format!("{} groups", thousands(n)) }
}

/// Formats a number with four decimals, or without decimals if it is an integer.
pub fn number(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 1e15 {
        let sign = if x < 0.0 { "-" } else { "" };
        format!("{sign}{}", thousands(x.abs() as u64))
    } else {
        format!("{x:.4}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(thousands(12), "12");
        assert_eq!(number(0.18349), "0.1835");
        assert_eq!(number(45222.0), "45,222");
        assert_eq!(groups(1), "1 group");
    }
}
