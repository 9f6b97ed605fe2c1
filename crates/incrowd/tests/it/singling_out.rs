//! Unique records on unmodified columns, counted independently on the written text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use incrowd::job::{Job, parse};
use incrowd::{Anonymizer, AttackRequest, Fault, Judging, UniqueRecords};

/// Visits: `tag` has few values, `code` many, `note` nearly one for each record.
fn visits(dir: &Path, seed: u32, records: u32) -> Vec<BTreeMap<String, String>> {
    let mut state = seed.wrapping_mul(2_654_435_761).max(1);
    let mut draw = |below: u32| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state % below
    };
    let names = ["who", "age", "disease", "tag", "code", "note"];
    let mut text = names.join(",") + "\n";
    let mut rows = Vec::new();
    for _ in 0..records {
        let cells = [
            format!("p{}", draw(records / 2 + 1)),
            (20 + draw(40)).to_string(),
            format!("d{}", draw(9)),
            format!("t{}", draw(3)),
            format!("c{}", draw(records / 2 + 2)),
            if draw(6) == 0 {
                String::new()
            } else {
                format!("a long remark, with a comma, no {}", draw(3 * records))
            },
        ];
        text += &cells.iter().map(|cell| format!("\"{cell}\"")).collect::<Vec<_>>().join(",");
        text += "\n";
        rows.push(names.iter().map(|name| (*name).to_owned()).zip(cells).collect());
    }
    std::fs::write(dir.join("visits.csv"), text).unwrap();
    rows
}

fn job(dir: &Path, input: &str, columns: &str) -> Job {
    let text = format!(
        "[input]\npath = 'visits.csv'\nmissing = []\n{input}\n[output]\npath = 'out.csv'\n\
         [columns]\nage = 'quasi'\n{columns}\n\
         [[models]]\nname = 'k-anonymity'\nk = 3\n[algorithm]\nname = 'mondrian'\n"
    );
    parse("job.toml", &text, dir).unwrap_or_else(|e| panic!("{e}")).job
}

/// Counts the persons (or records) with a unique combination on some columns.
fn alone(rows: &[BTreeMap<String, String>], by_person: bool, columns: &[&str]) -> u64 {
    let mut holders: BTreeMap<Vec<&str>, BTreeSet<String>> = BTreeMap::new();
    for (i, row) in rows.iter().enumerate() {
        let who = if by_person { row["who"].clone() } else { i.to_string() };
        holders.entry(columns.iter().map(|c| row[*c].as_str()).collect()).or_default().insert(who);
    }
    holders.values().filter(|who| who.len() == 1).flatten().collect::<BTreeSet<_>>().len() as u64
}

fn check(
    found: &UniqueRecords,
    rows: &[BTreeMap<String, String>],
    by_person: bool,
    names: &[&str],
) {
    let people: BTreeSet<&String> = rows.iter().map(|row| &row["who"]).collect();
    let of = if by_person { people.len() } else { rows.len() } as u64;
    assert_eq!((found.of, found.persons), (of, by_person));
    let reported: Vec<(&str, u64)> =
        found.columns.iter().map(|own| (own.columns[0].as_str(), own.unique)).collect();
    let expected: Vec<(&str, u64)> =
        names.iter().map(|name| (*name, alone(rows, by_person, &[name]))).collect();
    assert_eq!(reported, expected);
    assert_eq!(found.together, (names.len() > 1).then(|| alone(rows, by_person, names)));
    // Exactly the minimal sets of two and three columns on which at least 5 % are unique.
    let many = |set: &[&str]| {
        let n = alone(rows, by_person, set);
        n > 0 && 20 * n >= of
    };
    let mut sets = Vec::new();
    for bits in 1u32..1 << names.len() {
        let set: Vec<&str> =
            (0..names.len()).filter(|c| bits & (1 << c) != 0).map(|c| names[c]).collect();
        let smaller = (1u32..bits).filter(|part| part & bits == *part);
        let minimal = smaller.into_iter().all(|part| {
            !many(
                &(0..names.len())
                    .filter(|c| part & (1 << c) != 0)
                    .map(|c| names[c])
                    .collect::<Vec<_>>(),
            )
        });
        if (2..=3).contains(&set.len()) && many(&set) && minimal {
            sets.push((
                set.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>(),
                alone(rows, by_person, &set),
            ));
        }
    }
    let mut reported: Vec<_> =
        found.sets.iter().map(|own| (own.columns.clone(), own.unique)).collect();
    sets.sort();
    reported.sort();
    assert_eq!(reported, sets);
}

#[test]
fn the_counts_agree_with_counting_by_hand_in_files_and_in_memory() {
    for seed in 1..=12u32 {
        let dir = tempfile::tempdir().unwrap();
        let rows = visits(dir.path(), seed, 20 + 17 * seed);
        for (input, by_person) in [("", false), ("person = 'who'", true)] {
            let columns = "disease = 'sensitive'\ntag = 'passthrough'\ncode = 'sensitive'\n\
                           note = 'sensitive'";
            let asked = job(dir.path(), input, columns);
            let names = ["disease", "tag", "code", "note"];
            let report = Anonymizer::new(&asked).run().unwrap();
            check(report.unique_records.as_ref().unwrap(), &rows, by_person, &names);
            let released = Anonymizer::new(&asked).run_in_memory().unwrap();
            check(released.report.unique_records.as_ref().unwrap(), &rows, by_person, &names);
            let mut typed = asked.clone();
            typed.output.as_mut().unwrap().path = dir.path().join("typed.parquet").into();
            check(
                Anonymizer::new(&typed).run().unwrap().unique_records.as_ref().unwrap(),
                &rows,
                by_person,
                &names,
            );
            // Unlinkable columns are excluded.
            let report = Anonymizer::new(asked.unlinkable(["code", "note"])).run().unwrap();
            check(report.unique_records.as_ref().unwrap(), &rows, by_person, &names[..2]);
        }
        let none = Anonymizer::new(job(dir.path(), "", "")).run().unwrap();
        assert_eq!(none.unique_records, None);
    }
}

/// Returns a table whose column `own` has this number of unique values; the other records share
/// one.
fn table(dir: &Path, own: u32, of: u32) {
    let line = |i: u32| {
        format!("{},p{i},{}\n", 20 + i, if i < own { format!("x{i}") } else { "same".to_owned() })
    };
    std::fs::write(
        dir.join("visits.csv"),
        format!("age,who,note\n{}", (0..of).map(line).collect::<String>()),
    )
    .unwrap();
}

#[test]
fn a_passthrough_column_on_which_more_than_half_are_unique_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let passed = job(dir.path(), "", "note = 'passthrough'");
    table(dir.path(), 10, 20);
    let report = Anonymizer::new(&passed).run().unwrap();
    let printed = report.warnings.join("\n");
    assert!(printed.contains("note 10") && printed.contains("finds the record"), "{printed}");
    table(dir.path(), 11, 20);
    std::fs::remove_file(dir.path().join("out.csv")).unwrap();
    std::fs::remove_file(dir.path().join("out.release.json")).unwrap();
    for by_person in ["", "person = 'who'"] {
        let error =
            Anonymizer::new(job(dir.path(), by_person, "note = 'passthrough'")).run().unwrap_err();
        assert_eq!((error.fault(), error.key()), (Fault::Job, Some("columns.note")));
        let text = error.to_string();
        assert!(
            text.contains("column `note`") && text.contains("11 of 20 records are unique"),
            "{text}"
        );
        assert!(!text.contains("x1") && error.advice().unwrap().contains("linkable = false"));
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left");
    }
    // Declared unlinkable, or as a sensitive column, it is published.
    let report = Anonymizer::new(passed.unlinkable(["note"])).run().unwrap();
    assert!(
        report.unique_records.is_none()
            && report.manifest.job.columns.get("note").unwrap().linkable == Some(false)
    );
    let report = Anonymizer::new(job(dir.path(), "", "note = 'sensitive'")).run().unwrap();
    assert!(report.warnings.iter().any(|warning| warning.contains("note 11")));
}

#[test]
fn several_records_do_not_hide_a_unique_person() {
    let dir = tempfile::tempdir().unwrap();
    // Every patient has two records with her own note: no record is unique, every person is.
    let line = |i: u32| format!("{},p{},n{}\n", 20 + i % 7, i / 2, i / 2);
    std::fs::write(
        dir.path().join("visits.csv"),
        format!("age,who,note\n{}", (0..40).map(line).collect::<String>()),
    )
    .unwrap();
    let by_records = Anonymizer::new(job(dir.path(), "", "note = 'passthrough'")).run().unwrap();
    assert_eq!(by_records.unique_records.unwrap().columns[0].unique, 0);
    let error = Anonymizer::new(job(dir.path(), "person = 'who'", "note = 'passthrough'"))
        .run()
        .unwrap_err();
    assert!(error.to_string().contains("20 of 20 persons are unique"), "{error}");
}

#[test]
fn two_tables_and_suppressed_records_are_examined_too() {
    let dir = tempfile::tempdir().unwrap();
    let disease = |i: u32| if i < 3 { format!("rare{i}") } else { format!("d{}", i % 5) };
    let line = |i: u32| format!("p{i},{},{}\n", 20 + i, disease(i));
    std::fs::write(
        dir.path().join("visits.csv"),
        format!("who,age,disease\n{}", (0..43).map(line).collect::<String>()),
    )
    .unwrap();
    let line = |i: u32| format!("p{i},{}\n", 20 + i);
    std::fs::write(
        dir.path().join("voters.csv"),
        format!("who,age\n{}", (30..80).map(line).collect::<String>()),
    )
    .unwrap();
    let base = "[input]\npath = 'visits.csv'\n[output]\npath = 'out.csv'\n\
                [columns]\nage = 'quasi'\ndisease = 'sensitive'\n\
                who = 'identifier'\n";
    let key = "[suppression]\nname = 'r-suppression'\nl = 3\nseed = 5\n";
    for more in [
        "[algorithm]\nname = 'anatomy'\nl = 3\n[suppression]\nname = 'r-suppression'\nl = 3\n\
         seed = 5\n"
            .to_owned(),
        "[[models]]\nname = 'k-anonymity'\nk = 3\n[external]\npath = 'voters.csv'\n\
         id = 'who'\n"
            .to_owned(),
        format!("[[models]]\nname = 'k-anonymity'\nk = 3\n[algorithm]\nname = 'mondrian'\n{key}"),
        "[[models]]\nname = 'k-anonymity'\nk = 3\n[algorithm]\nname = 'mondrian'\n".to_owned(),
    ] {
        let asked = parse("job.toml", &format!("{base}{more}"), dir.path())
            .unwrap_or_else(|e| panic!("{e}"))
            .job;
        let report = Anonymizer::new(&asked).run().unwrap_or_else(|e| panic!("{more}: {e}"));
        let found = report.unique_records.unwrap_or_else(|| panic!("{more}"));
        let first = &found.columns[0];
        assert_eq!((first.unique, first.columns[0].as_str()), (3, "disease"), "{more}");
        assert!(found.singles_out());
        // The attack on the published tables gives the same counts.
        let only = vec!["singling-out".into()];
        let request = AttackRequest { only, ..AttackRequest::default() };
        let judging = Judging::new(dir.path().join("out.csv"));
        let attacked = judging.attack(&request).unwrap();
        assert_eq!(attacked.attacked.len(), 1, "{more}");
        assert_eq!(
            (attacked.attacked[0].finding.at_risk, attacked.attacked[0].finding.of),
            (3, found.of),
            "{more}"
        );
        assert!(attacked.singles_out());
    }
}

#[test]
fn the_attack_and_the_release_give_the_same_counts() {
    let dir = tempfile::tempdir().unwrap();
    let rows = visits(dir.path(), 99, 120);
    let columns =
        "disease = 'sensitive'\ntag = 'passthrough'\ncode = 'sensitive'\nnote = 'sensitive'";
    for (input, by_person) in [("", false), ("person = 'who'", true)] {
        let asked = job(dir.path(), input, columns);
        Anonymizer::new(&asked).run().unwrap();
        let request =
            AttackRequest { only: vec!["singling-out".into()], ..AttackRequest::default() };
        let judging =
            if by_person { Judging::of(&asked) } else { Judging::new(dir.path().join("out.csv")) };
        let report = judging.attack(&request).unwrap();
        // The tags of a person's records are unknown afterwards: records are counted, with a note.
        for attacked in &report.attacked {
            let finding = &attacked.finding;
            let title = finding.column.as_deref().unwrap();
            let names: Vec<&str> = if title.starts_with("all") {
                vec!["disease", "tag", "code", "note"]
            } else {
                title.split(" + ").collect()
            };
            assert_eq!(finding.at_risk, alone(&rows, false, &names), "{title}");
            assert_eq!((finding.of, finding.people, finding.owner_only), (120, "records", false));
        }
        let notes: Vec<&String> = report.attacked.iter().flat_map(|a| &a.finding.notes).collect();
        assert_eq!(
            notes.iter().any(|note| note.contains("records are counted")),
            by_person,
            "{notes:?}"
        );
        assert!(report.attacked.len() > 4);
    }
    // With sensitive columns only, the persons are known.
    let asked = job(dir.path(), "person = 'who'", "disease = 'sensitive'\ncode = 'sensitive'");
    Anonymizer::new(&asked).run().unwrap();
    let request = AttackRequest { only: vec!["singling-out".into()], ..AttackRequest::default() };
    let report = Judging::of(&asked).attack(&request).unwrap();
    for attacked in &report.attacked {
        let finding = &attacked.finding;
        let title = finding.column.as_deref().unwrap();
        let names: Vec<&str> = if title.starts_with("all") {
            vec!["disease", "code"]
        } else {
            title.split(" + ").collect()
        };
        assert_eq!(finding.at_risk, alone(&rows, true, &names), "{title}");
        assert!(
            finding.owner_only && finding.people == "persons",
            "the release does not say whose records they are"
        );
    }
    let answer = report.to_json();
    assert_eq!(answer["attacks"].as_array().unwrap().len(), 0);
}
