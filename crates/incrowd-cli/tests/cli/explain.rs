//! `incrowd explain`: every named item is explained.

use std::path::Path;

use crate::test_dir::TestDir;

#[test]
fn everything_listed_is_explained() {
    let test = TestDir::new();
    let list = test.succeeds("explain --json").json();
    let list = list.as_array().unwrap();
    let text = test.succeeds("explain").stdout;
    assert_eq!(text.lines().count(), list.len());
    for kind in ["model", "algorithm", "metric", "utility"] {
        assert!(list.iter().any(|entry| entry["kind"] == kind), "no {kind} is listed");
    }
    for entry in list {
        let name = entry["name"].as_str().unwrap();
        let kind = entry["kind"].as_str().unwrap();
        assert!(
            text.lines().any(|l| l.starts_with(kind) && l.contains(name)),
            "{name} is not listed"
        );
        let done = test.succeeds(&format!("explain {name}"));
        assert_eq!(done.stderr, "", "{done}");
        for param in entry["parameters"].as_array().unwrap() {
            assert!(
                done.stdout.contains(&format!("  {} = ", param["name"].as_str().unwrap())),
                "{done}"
            );
        }
        let paper = entry["paper"].as_str().unwrap();
        assert!(!paper.is_empty() && !entry["about"].as_str().unwrap().is_empty());
        done.prints(&[&format!("{name} ({kind})"), &format!("Paper: {paper}")]);
        assert_eq!(test.succeeds(&format!("explain {name} --json")).json(), *entry);
    }
}

/// The pages that must name every item of a kind; of several pages one is enough.
const PAGES: &[(&str, &[&str])] = &[
    ("model", &["docs/models.md"]),
    ("algorithm", &["README.md"]),
    ("algorithm", &["docs/job-file.md", "docs/plain-k-anonymity.md"]),
    ("suppression", &["docs/skewed.md"]),
    ("utility", &["docs/utility.md"]),
    ("attack", &["docs/attacks.md", "docs/plain-k-anonymity.md"]),
];

#[test]
fn everything_listed_has_its_paper_and_its_pages() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let papers = page("docs/papers.md");
    let list = TestDir::new().succeeds("explain --json").json();
    assert!(!list.as_array().unwrap().is_empty());
    for entry in list.as_array().unwrap() {
        let name = entry["name"].as_str().unwrap();
        for key in entry["paper"].as_str().unwrap().split([',', ' ']).filter(|key| !key.is_empty())
        {
            assert!(
                papers.contains(&format!("### `{key}`")),
                "{name}: add `{key}` to docs/papers.md"
            );
        }
        for (_, pages) in PAGES.iter().filter(|(kind, _)| entry["kind"] == *kind) {
            let named =
                pages.iter().any(|page_name| page(page_name).contains(&format!("`{name}`")));
            let pages = pages.join(" or ");
            assert!(
                named,
                "add `{name}` to {pages} (docs/job-file.md is made from crates/incrowd/src/job/job-file.md)"
            );
        }
    }
}

#[test]
fn models_and_algorithms_have_limits() {
    let test = TestDir::new();
    test.succeeds("explain k-anonymity").prints(&[
        "Limits.",
        "sensitive",
        "k = a whole number from 1   (required)",
    ]);
    test.succeeds("explain mondrian")
        .prints(&["Limits.", "cut = strict | relaxed   (default: strict)"]);
}

#[test]
fn a_misspelled_name_gives_a_suggestion() {
    let test = TestDir::new();
    let expected = &["there is nothing called `k-anonimity`", "did you mean `k-anonymity`?"];
    test.refuses("explain k-anonimity").exits(2).reports(expected);
    test.refuses("explain whatever").exits(2).reports(&["known names: k-anonymity, "]);
}
