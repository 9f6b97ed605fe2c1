//! Compares the number of persons with several records with a count over all identifiers.

use std::collections::BTreeMap;

use incrowd_core::Silent;
use incrowd_engine::{Embedded, Engine, FoldSpec, Options, Source};

/// Sets of columns that are folded in one reading have the rows of separate folds.
#[test]
fn sets_of_columns_are_folded_in_one_reading() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    let row = |i: u64| format!("{},{},{}\n", i * i % 97, ["", "x", "?"][(i % 3) as usize], i % 11);
    std::fs::write(&path, "a,b,c\n".to_owned() + &(0..9_000).map(row).collect::<String>()).unwrap();
    let source = Source::open(&[path], &Options::default()).unwrap();
    let sets = [["b", "a"], ["c", "b"], ["a", "c"]].map(|set| set.map(str::to_owned).to_vec());
    let missing = vec!["?".to_owned()];
    let together = source.fold_each(&sets, &missing, &Silent).unwrap();
    assert_eq!(together.len(), sets.len());
    for (columns, folded) in sets.into_iter().zip(together) {
        let spec = FoldSpec { columns, missing: missing.clone(), ..FoldSpec::default() };
        let twin = source.fold(&spec, &Silent).unwrap();
        assert_eq!(folded.read, 9_000);
        assert_eq!(folded.canonical(), twin.canonical());
    }
}

/// Several chunks, read by several threads. Includes identifiers that are equal in two columns
/// only, missing identifiers, and dropped records.
#[test]
fn people_with_several_records_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.csv");
    let mut text = String::from("first,age,last,disease\n");
    let mut people: BTreeMap<(String, String), [u64; 2]> = BTreeMap::new();
    for i in 0..60_000u64 {
        let name = |n: u64| {
            if n.is_multiple_of(19) {
                "?".to_owned()
            } else {
                format!("{}{}", "n".repeat((n % 7) as usize), n)
            }
        };
        let (first, last) = (name(i * i % 3_001), name(i * 7 % 2_003));
        let disease = if i.is_multiple_of(5) { "" } else { "flu" };
        text += &format!("{first},{},{last},{disease}\n", i % 90);
        if (first.as_str(), last.as_str()) != ("?", "?") {
            let own = people.entry((first, last)).or_default();
            own[0] += 1;
            own[1] += u64::from(!disease.is_empty());
        }
    }
    std::fs::write(&path, &text).unwrap();
    let mut engine = Embedded::open(&[path], &Options::default()).unwrap();
    let names = ["first".to_owned(), "last".to_owned()];
    for (which, drop_missing) in [(0, false), (1, true)] {
        let spec = FoldSpec {
            columns: vec!["age".to_owned(), "disease".to_owned()],
            missing: vec![String::new(), "?".to_owned()],
            drop_missing,
            people: names.to_vec(),
            // The same columns have a second use.
            repeating: names.to_vec(),
            ..FoldSpec::default()
        };
        let want: u64 = people.values().map(|own| own[which].saturating_sub(1)).sum();
        assert!(want > 1_000);
        assert_eq!(engine.fold(&spec, &Silent).unwrap().repeated, want);
    }
}
