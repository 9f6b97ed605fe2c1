//! A tree written as nested TOML: tables are inner nodes, lists are leaves.
//!
//! ```toml
//! ["N. America"]
//! values = ["USA", "Canada"]        # or directly: "N. America" = ["USA", "Canada"]
//! ```

use super::Taxonomy;
use crate::error::{Error, Result};

/// The tree, with children in the order of the document.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    name: String,
    /// The paths, leaf first, root `*` last.
    paths: Vec<Vec<String>>,
}

impl Tree {
    /// Parses a TOML document.
    pub fn parse(name: &str, text: &str) -> Result<Tree> {
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| {
            Error::input(format!("hierarchy `{name}` is not TOML: {}", e.message()))
        })?;
        Tree::from_table(name, &table)
    }

    /// Reads a TOML table. A table with the single key `*` is a tree with an explicit root.
    pub fn from_table(name: &str, table: &toml::Table) -> Result<Tree> {
        let mut paths = Vec::new();
        let mut above = vec!["*".to_owned()];
        match (table.len(), table.get("*")) {
            (1, Some(below)) => walk(name, below, &mut above, &mut paths)?,
            _ => walk(name, &toml::Value::Table(table.clone()), &mut above, &mut paths)?,
        }
        let tree = Tree { name: name.to_owned(), paths };
        let mut seen = hashbrown::HashSet::new();
        if tree.paths.iter().any(|path| !seen.insert(path[0].as_str())) {
            return Err(Error::input(format!("hierarchy `{name}` lists a value twice")));
        }
        if tree.paths.is_empty() {
            return Err(Error::input(format!("hierarchy `{name}` has no values")));
        }
        drop(seen);
        Ok(tree)
    }

    /// The name of the file or setting that defines the tree.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Builds the taxonomy.
    pub fn build(&self) -> Result<Taxonomy> {
        Taxonomy::from_paths(&self.paths)
    }
}

fn walk(
    name: &str,
    value: &toml::Value,
    above: &mut Vec<String>,
    paths: &mut Vec<Vec<String>>,
) -> Result<()> {
    let leaf = |value: &toml::Value| match value {
        toml::Value::String(s) => Some(s.clone()),
        toml::Value::Integer(n) => Some(n.to_string()),
        _ => None,
    };
    match value {
        toml::Value::Table(children) => {
            for (label, below) in children {
                above.push(label.clone());
                walk(name, below, above, paths)?;
                above.pop();
            }
            Ok(())
        }
        toml::Value::Array(items) => {
            for item in items {
                let Some(label) = leaf(item) else {
                    return Err(Error::input(format!(
                        "hierarchy `{name}`: a list may hold only texts and numbers"
                    )));
                };
                let mut path = vec![label];
                path.extend(above.iter().rev().cloned());
                paths.push(path);
            }
            Ok(())
        }
        _ => Err(Error::input(format!(
            "hierarchy `{name}`: a label on level {} must be a table (more levels) or a list \
             (values)",
            above.len() - 1
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_tables_and_lists() {
        let tree = Tree::parse(
            "t",
            "\"N. AMERICA\" = [\"USA\", \"Canada\"]\n[ASIA]\nEast = [\"Japan\"]\n",
        )
        .unwrap();
        let t = tree.build().unwrap();
        assert_eq!(t.leaves(), 3);
        assert_eq!(
            t.label(t.common(t.code("USA").unwrap(), t.code("Canada").unwrap())),
            "N. AMERICA"
        );
        assert_eq!(t.label(t.root()), "*");
    }

    #[test]
    fn refuses_a_value_listed_twice_and_a_bare_word() {
        assert!(
            Tree::parse("t", "A = [\"x\"]\nB = [\"x\"]").unwrap_err().message().contains("twice")
        );
        assert!(Tree::parse("t", "A = \"x\"").unwrap_err().message().contains("must be a table"));
    }
}
