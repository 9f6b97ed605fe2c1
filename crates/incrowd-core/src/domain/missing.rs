//! Domains for local suppression: a cell is published unmodified or as `*`.

use super::Domain;
use crate::error::{Error, Result};
use crate::hierarchy::Taxonomy;
use crate::index::Code;

impl Domain {
    /// A domain with the same leaves in which every cell is published at this level, or as `*`.
    pub fn or_missing(&self, level: usize) -> Result<Domain> {
        let leaves = self.leaves();
        let label = |code: u32| match level {
            0 => self.label(Code(code), Code(code)),
            level => self.level_label(Code(code), level),
        };
        let labels: Vec<String> = (0..leaves).map(label).collect();
        let root = "*".to_owned();
        let mut sorted: Vec<&str> = labels.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        let distinct = sorted.windows(2).all(|two| two[0] != two[1]) && !sorted.contains(&"*");
        if leaves == 0 {
            return Ok(self.clone());
        }
        let tree = if distinct {
            let paths: Vec<Vec<String>> =
                labels.into_iter().map(|label| vec![label, root.clone()]).collect();
            Taxonomy::from_paths(&paths)?
        } else {
            // Leaves with the same label stay separate below it; their own names are never
            // published.
            let path = |(leaf, label): (usize, String)| {
                let own = format!("{label}\u{0}{leaf}");
                if label == root { vec![own, root.clone()] } else { vec![own, label, root.clone()] }
            };
            let paths: Vec<Vec<String>> = labels.into_iter().enumerate().map(path).collect();
            let tree = Taxonomy::from_paths(&paths)?;
            let in_order = |(code, path): (usize, &Vec<String>)| {
                tree.code(&path[0]) == Some(Code(code as u32))
            };
            if !paths.iter().enumerate().all(in_order) {
                return Err(Error::bug("values with the same label are not adjacent"));
            }
            tree.coarsened_to(1, None)?
        };
        Ok(Domain::Taxonomy(tree))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folded::FoldedColumn;
    use crate::hierarchy::HierarchySpec;
    use crate::schema::ColumnSpec;

    fn encoded(texts: &[&str], spec: &ColumnSpec) -> Domain {
        let texts = std::iter::once("").chain(texts.iter().copied()).map(str::to_owned).collect();
        Domain::build(&FoldedColumn { name: "x".into(), texts }, spec, None).unwrap().0
    }

    #[test]
    fn a_cell_is_published_unmodified_or_as_a_star() {
        let line = encoded(&["30", "5", "100"], &ColumnSpec::default()).or_missing(0).unwrap();
        assert_eq!(line.leaves(), 3);
        let single = |code: u32| line.label(Code(code), Code(code));
        assert_eq!([single(0), single(1), single(2)], ["5", "30", "100"]);
        assert_eq!(
            (line.label(Code(0), Code(1)), line.label(Code(0), Code(2))),
            ("*".into(), "*".into())
        );
        assert_eq!((line.loss(Code(1), Code(1)), line.loss(Code(0), Code(1))), (0.0, 1.0));
    }

    #[test]
    fn at_a_level_values_below_it_are_published_alike() {
        let text = "a;A;All\nb;A;All\nc;C;All\n".into();
        let hierarchy = HierarchySpec::Arx { name: "h".into(), text };
        let spec = ColumnSpec { hierarchy: Some(hierarchy), ..ColumnSpec::default() };
        let line = encoded(&["a", "b", "c"], &spec).or_missing(1).unwrap();
        let label = |lo: u32, hi: u32| line.label(Code(lo), Code(hi));
        assert_eq!([label(0, 0), label(0, 1), label(2, 2), label(1, 2)], ["A", "A", "C", "*"]);
        let top = encoded(&["a", "b", "c"], &spec).or_missing(2).unwrap();
        assert_eq!([top.label(Code(0), Code(0)), top.label(Code(0), Code(2))], ["All", "All"]);
    }
}
