//! Checks of hierarchy files; each finding has its line.

use std::fmt;

use hashbrown::{HashMap, HashSet};

use super::Taxonomy;
use super::arx::Line;
use crate::number::parse_number;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Valid, but probably not intended.
    Warning,
    /// The file does not define a hierarchy for this table.
    Error,
}

/// A finding of the linter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// The line.
    pub line: Option<u64>,
    /// The message. It may quote labels of the hierarchy file, for users who inspect the file.
    pub message: String,
    /// The message without labels, for errors: the file may be a table by mistake.
    pub plain: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

fn error(line: u64, message: String, plain: String) -> Finding {
    Finding { severity: Severity::Error, line: Some(line), message, plain }
}

fn warning(line: u64, message: String, plain: String) -> Finding {
    Finding { severity: Severity::Warning, line: Some(line), message, plain }
}

/// Checks the lines of a hierarchy file. Findings are in line order.
pub fn lint(lines: &[Line]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if lines.is_empty() {
        let message = "the file has no lines; write one per value: `value;level1;…;*`".to_owned();
        findings.push(Finding {
            severity: Severity::Error,
            line: None,
            plain: message.clone(),
            message,
        });
        return findings;
    }
    let height = lines[0].path.len();
    let root = lines[0].path.last().map_or("", String::as_str);
    let mut leaves: HashMap<&str, &Line> = HashMap::new();
    let mut parents: HashMap<(usize, &str), (&str, u64)> = HashMap::new();
    for line in lines {
        let path = &line.path;
        if path.len() < 2 {
            let message = "only one level; a value needs at least a root such as `*`".to_owned();
            findings.push(error(line.number, message.clone(), message));
            continue;
        }
        if let Some(level) = path.iter().skip(1).position(|label| label.is_empty()) {
            let message = format!("level {} is empty", level + 1);
            findings.push(error(line.number, message.clone(), message));
        }
        if path.len() != height {
            let message =
                format!("{} levels where line {} has {height}", path.len(), lines[0].number);
            findings.push(warning(line.number, message.clone(), message));
        }
        let top = &path[path.len() - 1];
        if top != root {
            let message = format!(
                "no single root: ends in `{top}` where line {} ends in `{root}`",
                lines[0].number
            );
            let plain =
                format!("no single root: it ends in another label than line {}", lines[0].number);
            findings.push(error(line.number, message, plain));
        }
        if let Some(first) = leaves.get(path[0].as_str()) {
            findings.push(repeated_leaf(line, first));
            continue;
        }
        leaves.insert(&path[0], line);
        // Levels are counted from the root, so that branches of different lengths can be compared.
        for (above, pair) in path.windows(2).skip(1).enumerate() {
            let from_root = path.len() - above;
            let (parent, first) =
                parents.entry((from_root, &pair[0])).or_insert((&pair[1], line.number));
            if *parent != pair[1] {
                findings.push(two_parents(line, above + 1, parent, *first));
            }
        }
        if let Some(label) = path[1..].iter().find(|label| excludes(label, &path[0])) {
            let message = format!("label `{label}` does not contain its value `{}`", path[0]);
            findings.push(warning(
                line.number,
                message,
                "a label does not contain its value".to_owned(),
            ));
        }
    }
    findings
}

/// A line whose leaf also occurs on line `first`.
fn repeated_leaf(line: &Line, first: &Line) -> Finding {
    let (leaf, first_line) = (&line.path[0], first.number);
    if first.path == line.path {
        let message = format!("`{leaf}` again, same as line {first_line}");
        return warning(line.number, message, format!("the same as line {first_line}"));
    }
    let message = format!("duplicate leaf `{leaf}`: line {first_line} has another path for it");
    let plain = format!("duplicate leaf: line {first_line} has another path for it");
    error(line.number, message, plain)
}

/// A line whose label on a level has another parent than on line `first`.
fn two_parents(line: &Line, level: usize, parent: &str, first: u64) -> Finding {
    let (label, own) = (&line.path[level], &line.path[level + 1]);
    let message = format!(
        "level {level} is not functional: `{label}` is below `{own}` here and below `{parent}` on \
         line {first}"
    );
    let plain =
        format!("level {level} is not functional: its label has another parent on line {first}");
    error(line.number, message, plain)
}

/// The number of distinct values of a column that are missing from a hierarchy.
pub fn missing_values<'a>(taxonomy: &Taxonomy, values: impl IntoIterator<Item = &'a str>) -> usize {
    let absent: HashSet<&str> =
        values.into_iter().filter(|value| taxonomy.code(value).is_none()).collect();
    absent.len()
}

/// Whether `label` is an interval and `leaf` a number outside it.
fn excludes(label: &str, leaf: &str) -> bool {
    match (interval(label), parse_number(leaf)) {
        (Some((lo, hi, open)), Some(leaf)) => {
            let x = leaf.as_f64();
            x < lo || x > hi || (open && x == hi)
        }
        _ => false,
    }
}

/// Parses `15-19`, `[15, 19]`, `[15, 20)`, `[15-20[`, `<18`, `<=18`, `>64`, `>=65`. Returns the
/// lower end, the upper end, and whether the upper end is excluded.
pub fn interval(label: &str) -> Option<(f64, f64, bool)> {
    let number = |s: &str| parse_number(s).map(|n| n.as_f64());
    let label = label.trim();
    if let Some(rest) = label.strip_prefix("<=").or_else(|| label.strip_prefix('≤')) {
        return Some((f64::NEG_INFINITY, number(rest)?, false));
    }
    if let Some(rest) = label.strip_prefix('<') {
        return Some((f64::NEG_INFINITY, number(rest)?, true));
    }
    if let Some(rest) = label.strip_prefix(">=").or_else(|| label.strip_prefix('≥')) {
        return Some((number(rest)?, f64::INFINITY, false));
    }
    if let Some(rest) = label.strip_prefix('>') {
        return Some((number(rest)?.next_up(), f64::INFINITY, false));
    }
    let open = label.ends_with(')') || label.ends_with('[');
    let inner = label.trim_start_matches(['[', '(', ']']).trim_end_matches([']', ')', '[']);
    let bracketed = inner.len() < label.len();
    // A minus may be the separator or a sign, so every separator is tried.
    let separators =
        inner.char_indices().filter(|&(i, c)| i > 0 && matches!(c, '-' | '–' | ',' | ';'));
    for (i, c) in separators {
        if c != '-' && c != '–' && !bracketed {
            continue;
        }
        if let (Some(lo), Some(hi)) = (number(&inner[..i]), number(&inner[i + c.len_utf8()..])) {
            return (lo <= hi).then_some((lo, hi, open));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::arx::lines;
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let findings = lint(&lines("x", text).unwrap());
        findings.iter().map(|f| format!("{:?} {f}", f.severity)).collect()
    }

    #[test]
    fn finds_nothing_in_a_good_file() {
        assert_eq!(found("19;15-19;10-19;*\n20;20-24;20-29;*\n"), Vec::<String>::new());
    }

    #[test]
    fn finds_ages_in_the_wrong_interval() {
        // A widely used age hierarchy puts 20, 25, 30, … into the interval below.
        assert_eq!(
            found("19;15-19;10-19;*\n20;15-19;10-19;*\n"),
            ["Warning line 2: label `15-19` does not contain its value `20`"]
        );
    }

    #[test]
    fn finds_duplicates_ambiguous_parents_and_missing_roots() {
        let all = found("a;A;X;*\nb;A;Y;*\na;B;Y;*\nb;A;Y;*\nc;C;Z;all\nd\ne;E;*\nf;;F;*\n");
        for expected in [
            "Error line 2: level 1 is not functional: `A` is below `Y` here and below `X` on \
             line 1",
            "Error line 3: duplicate leaf `a`: line 1 has another path for it",
            "Warning line 4: `b` again, same as line 2",
            "Error line 5: no single root: ends in `all` where line 1 ends in `*`",
            "Error line 6: only one level; a value needs at least a root such as `*`",
            "Warning line 7: 3 levels where line 1 has 4",
            "Error line 8: level 1 is empty",
        ] {
            assert!(all.iter().any(|f| f == expected), "{expected}\nnot in {all:#?}");
        }
        assert_eq!(all.len(), 7, "{all:#?}");
        assert_eq!(found("").len(), 1);
    }

    #[test]
    fn reads_interval_labels() {
        assert_eq!(interval("15-19"), Some((15.0, 19.0, false)));
        assert_eq!(interval("[15, 20)"), Some((15.0, 20.0, true)));
        assert_eq!(interval("[-5--1]"), Some((-5.0, -1.0, false)));
        assert_eq!(interval("<18"), Some((f64::NEG_INFINITY, 18.0, true)));
        for label in ["*", "adult", "2020-Q1", "13-1081-x", "1234", "20-10"] {
            assert_eq!(interval(label), None, "{label}");
        }
        assert!(excludes(">64", "64") && !excludes(">=65", "65") && !excludes("15-19", "young"));
    }
}
