//! Tests of the join with an external table: every rule about invalid input, with the test vectors
//! of the specification.

use std::path::Path;

use incrowd_core::Silent;
use incrowd_engine::{Embedded, Engine, External, Identity, Options};
use serde_json::Value as Json;

fn write(path: &Path, header: &Json, rows: &Json) {
    let line = |json: &Json| {
        let cells: Vec<&str> =
            json.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap()).collect();
        cells.join(",") + "\n"
    };
    let mut text = line(header);
    rows.as_array().unwrap().iter().for_each(|row| text.push_str(&line(row)));
    std::fs::write(path, text).unwrap();
}

/// All persons of both tables: identifier, quasi-identifiers, source table.
type Joined = Vec<(String, Vec<i64>, String)>;

/// The join, and the number of records for each warning.
fn join(dir: &Path, most: u64) -> incrowd_core::Result<(Joined, Vec<(&'static str, u64)>)> {
    let columns = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let identity = Identity {
        id: "ID".into(),
        person: None,
        quasi: columns(&["Q1", "Q2"]),
        sensitive: columns(&["SA"]),
        missing: vec![String::new()],
        drop_missing: false,
        names: true,
    };
    let engine = Embedded::open(&[dir.join("mt.csv")], &Options::default())?;
    let external = External::open(
        &[dir.join("pd.csv")],
        &Options::default(),
        "ID",
        &identity.quasi,
        &identity.missing,
    )?;
    let people = engine.source().people(&identity, &Silent)?;
    let gathered = external.read(&people, most, dir, &Silent)?;
    let number = |text: &str| text.parse::<i64>().unwrap();
    let mut joined = Joined::new();
    for (record, name) in people.names.iter().flatten().enumerate() {
        let known = gathered.known.iter().any(|(own, _)| *own as usize == record);
        let place = (0..2).map(|q| number(people.text(record, q))).collect();
        joined.push((name.clone(), place, if known { "both" } else { "mt" }.to_owned()));
    }
    // The strangers are located in the same way as for the audit table.
    let find = |codes: &[u32]| Some(codes[0] << 16 | codes[1]);
    for (name, codes) in external.names(&people, &gathered, &find, &Silent)? {
        let text = |slot: usize, code: u32| number(&gathered.columns[slot].texts[code as usize]);
        joined.push((name, vec![text(0, codes >> 16), text(1, codes & 0xffff)], "pd".to_owned()));
    }
    joined.sort();
    let strangers = joined.iter().filter(|(_, _, source)| source == "pd").count() as u64;
    assert_eq!(gathered.people, strangers);
    if let Some(kept) = &gathered.strangers {
        assert_eq!(kept.weights.iter().sum::<u64>(), strangers);
    }
    let conflict = |(record, texts): &&(u32, Vec<String>)| {
        (0..2).any(|q| people.text(*record as usize, q) != texts[q])
    };
    let warnings = vec![
        ("mt_no_id", people.nameless),
        ("pd_no_id_dropped", gathered.nameless),
        ("pd_missing_qi_dropped", gathered.incomplete),
        ("pd_duplicate_collapsed", gathered.repeated),
        ("qi_conflict", gathered.known.iter().filter(conflict).count() as u64),
    ];
    Ok((joined, warnings.into_iter().filter(|(_, n)| *n > 0).collect()))
}

#[test]
fn the_join_follows_every_rule() {
    let vectors: Json = serde_json::from_str(incrowd_testing::fixture("kja_join.json")).unwrap();
    let (mut joins, mut errors) = (0, 0);
    for case in vectors["cases"].as_array().unwrap() {
        let (name, expect) = (case["name"].as_str().unwrap(), &case["expect"]);
        if case["on_conflict"] == "error" {
            continue; // The engine does not handle conflicting values.
        }
        let dir = tempfile::tempdir().unwrap();
        write(&dir.path().join("mt.csv"), &case["mt_header"], &case["mt"]);
        write(&dir.path().join("pd.csv"), &case["pd_header"], &case["pd"]);
        // With and without a limit that the strangers fit into.
        for most in [u64::MAX, 0] {
            match (join(dir.path(), most), expect["rows"].as_array()) {
                (Ok((joined, warnings)), Some(rows)) => {
                    let place = |row: &Json| {
                        row[1].as_array().unwrap().iter().map(|n| n.as_i64().unwrap()).collect()
                    };
                    let text = |row: &Json, at: usize| row[at].as_str().unwrap().to_owned();
                    let mut expected: Joined =
                        rows.iter().map(|row| (text(row, 0), place(row), text(row, 2))).collect();
                    expected.sort();
                    assert_eq!(joined, expected, "{name}");
                    let mut said: Vec<(String, u64)> =
                        warnings.iter().map(|(n, c)| ((*n).to_owned(), *c)).collect();
                    said.sort();
                    let mut wanted: Vec<(String, u64)> = expect["warnings"]
                        .as_object()
                        .into_iter()
                        .flatten()
                        .map(|(n, c)| (n.clone(), c.as_u64().unwrap()))
                        .collect();
                    wanted.sort();
                    assert_eq!(said, wanted, "{name}");
                    joins += 1;
                }
                (Err(error), None) => {
                    let says = error.message();
                    for column in ["Q2", "ID"] {
                        let named =
                            expect["error"].as_str().unwrap().ends_with(&format!(": {column}"));
                        assert!(!named || says.contains(&format!("`{column}`")), "{name}: {says}");
                    }
                    errors += 1;
                }
                (Ok(_), None) => panic!("{name}: no error"),
                (Err(error), Some(_)) => panic!("{name}: {error}"),
            }
        }
    }
    assert_eq!((joins, errors), (10, 10));
}

#[test]
fn strangers_are_gathered_if_not_all_fit_within_the_limit() {
    let dir = tempfile::tempdir().unwrap();
    let people: String = (0..40).map(|i| format!("p{i},{},{},x\n", i % 7, i % 3)).collect();
    std::fs::write(dir.path().join("mt.csv"), format!("ID,Q1,Q2,SA\n{people}")).unwrap();
    // Ten persons of the microdata, and strangers. Some strangers occur twice.
    let others: String = (30..400).map(|i| format!("p{i},{},{}\n", i % 7, i % 3)).collect();
    let again: String = (100..120).map(|i| format!("p{i},{},{}\n", i % 7, i % 3)).collect();
    std::fs::write(dir.path().join("pd.csv"), format!("ID,Q1,Q2\n{others}{again}")).unwrap();
    let quasi = vec!["Q1".to_owned(), "Q2".to_owned()];
    let identity = Identity {
        id: "ID".into(),
        person: None,
        quasi: quasi.clone(),
        sensitive: Vec::new(),
        missing: Vec::new(),
        drop_missing: true,
        names: false,
    };
    let engine = Embedded::open(&[dir.path().join("mt.csv")], &Options::default()).unwrap();
    let people = engine.source().people(&identity, &Silent).unwrap();
    let external =
        External::open(&[dir.path().join("pd.csv")], &Options::default(), "ID", &quasi, &[])
            .unwrap();
    let all = external.read(&people, u64::MAX, dir.path(), &Silent).unwrap();
    let none = external.read(&people, 5, dir.path(), &Silent).unwrap();
    assert!(none.strangers.is_none());
    assert_eq!((none.people, none.repeated, none.known.len()), (360, 20, 10));
    let places: Vec<Vec<incrowd_core::Code>> = none
        .columns
        .iter()
        .map(|c| c.texts.iter().map(|t| incrowd_core::Code(t.parse().unwrap_or(99))).collect())
        .collect();
    let keep = |point: &[u32]| point[0] > 2;
    let gathered = external.gather(&people, &none, &places, &keep, &Silent).unwrap();
    let mut expected: Vec<(Vec<u32>, u64)> = Vec::new();
    let strangers = all.strangers.unwrap();
    for (codes, &weight) in strangers.codes.chunks(2).zip(&strangers.weights) {
        let point: Vec<u32> =
            (0..2).map(|q| all.columns[q].texts[codes[q] as usize].parse().unwrap()).collect();
        if keep(&point) {
            expected.push((point, weight));
        }
    }
    expected.sort();
    let found: Vec<(Vec<u32>, u64)> = gathered
        .codes
        .chunks(2)
        .map(<[u32]>::to_vec)
        .zip(gathered.weights.iter().copied())
        .collect();
    assert_eq!(found, expected);
    assert_eq!(found.len(), 12);
}
