//! What is said to people, before anybody knows how it will look: lines and tables, and one way to write numbers in them.

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A line.
    Line(String),
    /// A table row by row, the header first. The first column is of names, the others are of numbers.
    Table(Vec<Vec<String>>),
}

impl Block {
    /// A line.
    pub fn line(text: impl Into<String>) -> Block {
        Block::Line(text.into())
    }
}

/// 1234567 as 1,234,567.
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

/// A number of groups.
pub fn groups(n: u64) -> String {
    if n == 1 { "1 group".to_owned() } else { format!("{} groups", thousands(n)) }
}

/// A number with four decimals, whole if it is.
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
