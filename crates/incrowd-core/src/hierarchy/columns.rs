//! Hierarchies from other columns of the table: every municipality is in one district, every
//! district in one region.

use hashbrown::HashMap;

use super::Taxonomy;
use crate::error::{Error, Result};
use crate::folded::{Folded, MISSING};

/// The columns above a column, finest first, and the paths once they have been read from the table.
#[derive(Clone, PartialEq)]
pub struct Columns {
    names: Vec<String>,
    paths: Option<Vec<Vec<String>>>,
}

crate::opaque_debug!(Columns { names });

impl Columns {
    /// Checks that there is a column.
    pub fn new(names: Vec<String>) -> Result<Columns> {
        if names.is_empty() {
            return Err(Error::job("a hierarchy of columns needs at least one column"));
        }
        Ok(Columns { names, paths: None })
    }

    /// The columns, finest first.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether the paths have been read.
    pub fn is_resolved(&self) -> bool {
        self.paths.is_some()
    }

    /// Reads the paths from a table folded over `column` and the columns above it, in this order.
    pub fn resolved(&self, column: &str, folded: &Folded) -> Result<Columns> {
        let text = |c: usize, code: u32| {
            (code != MISSING).then(|| folded.columns[c].texts[code as usize].as_str())
        };
        let mut parents: Vec<HashMap<&str, Option<&str>>> = vec![HashMap::new(); self.names.len()];
        let mut conflicts = vec![0u64; self.names.len()];
        let mut order: Vec<&str> = Vec::new();
        for row in 0..folded.rows() {
            let codes = folded.row(row);
            if let Some(leaf) = text(0, codes[0])
                && !parents[0].contains_key(leaf)
            {
                order.push(leaf);
            }
            for (level, known) in parents.iter_mut().enumerate() {
                let (Some(below), above) =
                    (text(level, codes[level]), text(level + 1, codes[level + 1]))
                else {
                    continue;
                };
                match known.get(below).copied() {
                    None => {
                        known.insert(below, above);
                    }
                    Some(before) if before != above => conflicts[level] += 1,
                    Some(_) => {}
                }
            }
        }
        if let Some(level) = conflicts.iter().position(|&n| n > 0) {
            let below = if level == 0 { column } else { &self.names[level - 1] };
            return Err(Error::input(format!(
                "column `{}` does not follow from `{below}`: some values of `{below}` have more \
                 than one value there",
                self.names[level]
            ))
            .help(
                "each value of a column must have exactly one value in the column above it; \
                 remove the column from the hierarchy",
            )
            .at(format!("columns.{column}.hierarchy")));
        }
        order.sort_unstable();
        let mut paths = Vec::with_capacity(order.len());
        for leaf in order {
            let mut path = vec![leaf.to_owned()];
            let mut below = Some(leaf);
            for known in &parents {
                // If a value is missing, the path continues at the root.
                below = below.and_then(|below| known.get(below).copied().flatten());
                path.extend(below.map(str::to_owned));
            }
            path.push("*".to_owned());
            paths.push(path);
        }
        paths.sort_by_cached_key(|path| path.iter().rev().cloned().collect::<Vec<_>>());
        Ok(Columns { names: self.names.clone(), paths: Some(paths) })
    }

    /// Builds the tree.
    pub(super) fn build(&self, column: &str) -> Result<Taxonomy> {
        let Some(paths) = &self.paths else {
            return Err(Error::job(format!(
                "the hierarchy of column `{column}` is built from other columns of the original \
                 table"
            ))
            .help("provide the original table")
            .at(format!("columns.{column}.hierarchy")));
        };
        Taxonomy::from_paths(paths)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(rows: &[[Option<&'static str>; 3]]) -> Folded {
        Folded::from_records(
            &["town", "district", "region"],
            rows.iter().map(|r| r.to_vec()),
            false,
        )
    }

    fn columns() -> Columns {
        Columns::new(vec!["district".into(), "region".into()]).unwrap()
    }

    #[test]
    fn columns_that_determine_each_other_are_a_tree() {
        let table = folded(&[
            [Some("Aa"), Some("D1"), Some("R1")],
            [Some("Bb"), Some("D1"), Some("R1")],
            [Some("Cc"), Some("D2"), Some("R1")],
            [Some("Dd"), Some("D3"), None],
            [Some("Aa"), Some("D1"), Some("R1")],
        ]);
        let tree = columns().resolved("town", &table).unwrap().build("town").unwrap();
        let common = |a, b| {
            let (a, b) = (tree.code(a).unwrap(), tree.code(b).unwrap());
            tree.label(tree.common(a.min(b), a.max(b))).to_owned()
        };
        assert_eq!(common("Aa", "Bb"), "D1");
        assert_eq!(common("Aa", "Cc"), "R1");
        assert_eq!(common("Aa", "Dd"), "*");
    }

    #[test]
    fn columns_that_do_not_follow_are_refused_without_a_cell() {
        let table =
            folded(&[[Some("Aa"), Some("D1"), Some("R1")], [Some("Bb"), Some("D1"), Some("R2")]]);
        let error = columns().resolved("town", &table).unwrap_err();
        assert!(error.message().starts_with("column `region` does not follow from `district`"));
        assert!(!error.message().contains("R2"));
        assert!(columns().build("town").is_err());
    }
}
