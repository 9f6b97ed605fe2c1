//! The hierarchies fit the tables and are trees.

use std::collections::{BTreeMap, BTreeSet};

use incrowd_synth::{Synth, Table, hierarchy};

/// Every hierarchy, as `(table, index of the column, paths from value to root)`.
fn hierarchies() -> Vec<(Table, usize, Vec<Vec<String>>)> {
    let mut found = Vec::new();
    for table in Table::ALL {
        for (index, column) in table.columns().iter().enumerate() {
            if let Some(text) = hierarchy(table, column.name) {
                let path = |line: &str| line.split(';').map(str::to_owned).collect();
                found.push((table, index, text.lines().map(path).collect()));
            }
        }
    }
    found
}

#[test]
fn exactly_the_categories_have_one() {
    let names = |wanted| -> Vec<&str> {
        hierarchies()
            .iter()
            .filter(|(table, ..)| *table == wanted)
            .map(|&(table, index, _)| table.columns()[index].name)
            .collect()
    };
    let census = [
        "sex",
        "education",
        "marital_status",
        "workclass",
        "occupation",
        "country",
        "race",
        "disease",
    ];
    assert_eq!(names(Table::Census), census);
    assert_eq!(names(Table::Skewed), ["sex", "occupation"]);
    assert_eq!(hierarchy(Table::Skewed, "education"), None);
    let salaries = ["sex", "education", "marital", "race", "workclass", "country", "occupation"];
    assert_eq!(names(Table::Salaries), salaries);
}

#[test]
fn every_hierarchy_is_a_tree() {
    for (table, index, paths) in hierarchies() {
        let name = table.columns()[index].name;
        let depth = paths[0].len();
        assert!(paths.iter().all(|path| path.len() == depth), "{name}");
        assert!(paths.iter().all(|path| path[depth - 1] == "*"), "{name}");
        let leaves: BTreeSet<&str> = paths.iter().map(|path| path[0].as_str()).collect();
        assert_eq!(leaves.len(), paths.len(), "{name}");
        for level in 0..depth - 1 {
            let mut parents = BTreeMap::new();
            for path in &paths {
                assert!(!path[level].is_empty() && path[level] != "*", "{name}");
                let parent = parents.entry(&path[level]).or_insert(&path[level + 1]);
                assert_eq!(*parent, &path[level + 1], "{name} at {}", path[level]);
            }
        }
    }
}

/// With this many rows every value occurs, so the comparison holds in both directions.
#[test]
fn the_leaves_are_the_values() {
    for table in Table::ALL {
        let mut values = vec![BTreeSet::new(); table.columns().len()];
        for record in Synth::new(table, 100_000, 11).records() {
            for (values, value) in values.iter_mut().zip(record) {
                values.insert(value);
            }
        }
        for (_, index, paths) in hierarchies().into_iter().filter(|(owner, ..)| *owner == table) {
            let leaves: BTreeSet<String> =
                paths.into_iter().map(|mut path| path.swap_remove(0)).collect();
            values[index].remove("?");
            assert_eq!(values[index], leaves, "{}", table.columns()[index].name);
        }
    }
}
