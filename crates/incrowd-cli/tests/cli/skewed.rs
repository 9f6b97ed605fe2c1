//! Tables with a sensitive value that is too frequent: suppression step, anatomy, batches and
//! eligibility attack.

use std::collections::BTreeMap;

use crate::test_dir::{SECRET, TestDir};

/// Returns a table with the given counts of each disease; ages and zips repeat, so that rows fold.
pub(crate) fn table(counts: &[(&str, u64)]) -> String {
    let mut text = "age,zip,disease\n".to_owned();
    let mut person = 0;
    for (disease, records) in counts {
        for _ in 0..*records {
            text += &format!("{},0213{},{disease}\n", 20 + 7 * (person % 9), person % 4);
            person += 1;
        }
    }
    text
}

pub(crate) fn setup(counts: &[(&str, u64)]) -> TestDir {
    let test = TestDir::new();
    test.write("people.csv", table(counts));
    test
}

/// The first table of the paper, ten times.
pub(crate) const SKEWED: &[(&str, u64)] =
    &[("flu", 100), ("cold", 40), ("gout", 20), ("hiv", 10), ("none", 10)];
pub(crate) const ARGS: &str = "anonymize people.csv --quasi age,zip --sensitive disease --order sorted --suppression-key my.key";

fn made(test: &TestDir, more: &str) -> BTreeMap<String, u64> {
    test.succeeds(&format!("{ARGS} -o out.csv {more}"));
    diseases(test, "out.csv")
}

fn diseases(test: &TestDir, file: &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for record in test.records(file) {
        *counts.entry(record.rsplit(',').next().unwrap().to_owned()).or_insert(0) += 1;
    }
    counts
}

#[test]
fn all_steps_in_one_command_with_public_and_private_output() {
    for algorithm in ["mondrian", "full-domain"] {
        let test = setup(SKEWED);
        let args = format!(
            "{ARGS} -o out.csv -k 2 --algorithm {algorithm} --suppression r-suppression:l=3"
        );
        let done =
            test.succeeds(&format!("{args} --hierarchy zip=mask --hierarchy age=intervals:10"));
        let (public, private) = done.stdout.split_once("for the data owner only").unwrap();
        for word in [" suppressed", " of 180", "dominant", "eligib"] {
            assert!(!public.contains(word), "{word}\n{done}");
        }
        for word in [
            " suppressed",
            "1 of them more frequent than one in 3",
            "it is not guaranteed",
            "shape known",
        ] {
            assert!(private.contains(word), "{word}\n{done}");
        }
        assert!(!done.stdout.contains("guaranteed to"), "{done}");
        let counts = diseases(&test, "out.csv");
        let published: u64 = counts.values().sum();
        assert!(published < 180 && counts.values().all(|n| n * 3 <= published), "{counts:?}");
        test.succeeds("verify out.csv").prints(&[
            "l-diversity(kind=frequency, l=3, on=disease)",
            "holds",
            "matches",
        ]);
        // Neither the manifest nor any other file reveals how many records were suppressed, or from
        // which table.
        let manifest = test.json("out.release.json");
        assert!(
            manifest["records"]["read"].is_null() && manifest["records"]["suppressed"].is_null()
        );
        assert_eq!(manifest["suppression"]["design_target"], "1/3");
        assert_eq!(manifest["suppression"]["complete_level"], true);
        let text = test.text("out.release.json");
        assert!(!text.contains("seed") && !text.contains(test.text("my.key").trim()), "{text}");
    }
}

#[test]
fn a_repeated_release_is_equal_for_any_order_of_the_records() {
    let test = setup(SKEWED);
    let first = made(&test, "--suppression r-suppression:l=3");
    let bytes = test.bytes("out.csv");
    let mut lines: Vec<String> = table(SKEWED).lines().map(str::to_owned).collect();
    lines[1..].reverse();
    test.write("people.csv", lines.join("\n") + "\n");
    assert_eq!(made(&test, "--suppression r-suppression:l=3"), first);
    assert!(test.bytes("out.csv") == bytes, "sorted, a repeat is the same to the byte");
    // Another key gives another draw after some attempts.
    let other = (0..12).any(|i| {
        let args = ARGS.replace("my.key", &format!("key-{i}"));
        test.succeeds(&format!("{args} -o other.csv --suppression r-suppression:l=3"));
        test.bytes("other.csv") != bytes
    });
    assert!(other);
}

#[test]
fn a_second_release_with_other_settings_is_refused_or_logged() {
    let test = setup(SKEWED);
    made(&test, "--suppression r-suppression:l=3");
    for other in ["r-suppression:l=2", "safe-d:l=3", "r-suppression:l=3,complete_level=false"] {
        // Other quasi-identifiers do not make it another table.
        let done = test
            .run(&format!("{} -o b.csv --suppression {other}", ARGS.replace("age,zip", "age")))
            .exits(1);
        done.reports(&["released before with other parameters", "--again"]);
        assert!(!test.path().join("b.csv").exists());
    }
    test.succeeds(&format!("{ARGS} -o b.csv --suppression safe-d:l=3 --again"));
    let ledger = test.text("my.key.ledger");
    // Each release is logged twice: before publication and after it.
    assert_eq!((ledger.lines().count(), ledger.matches("\"again\":true").count()), (4, 1));
    assert!(!ledger.contains("flu") && !ledger.contains("disease"), "{ledger}");
    // A release with the first settings now differs from the second.
    test.run(&format!("{ARGS} -o c.csv --suppression r-suppression:l=3")).exits(1);
    // Another table has its own log.
    test.write("people.csv", table(&[("flu", 90), ("cold", 40), ("gout", 20), ("hiv", 10)]));
    test.succeeds(&format!("{ARGS} -o d.csv --suppression safe-d:l=3"));
}

#[test]
fn a_repeated_release_with_passthrough_columns_is_refused() {
    let test = TestDir::new();
    let lines: Vec<String> = table(SKEWED)
        .lines()
        .enumerate()
        .map(|(i, line)| if i == 0 { format!("{line},note") } else { format!("{line},n{i}") })
        .collect();
    test.write("people.csv", lines.join("\n") + "\n");
    let counts = {
        test.succeeds(&format!(
            "{ARGS} -o out.csv --passthrough note --unlinkable note --suppression r-suppression:l=3"
        ));
        test.records("out.csv").len() as u64
    };
    let notes: std::collections::BTreeSet<String> =
        test.records("out.csv").iter().map(|r| r.rsplit(',').next().unwrap().to_owned()).collect();
    assert_eq!(notes.len() as u64, counts, "every record at most once");
    test.run(&format!(
        "{ARGS} -o b.csv --passthrough note --unlinkable note --suppression r-suppression:l=3"
    ))
    .exits(1)
    .reports(&["with passthrough columns", "--again"]);
}

#[test]
#[cfg(unix)]
fn the_key_is_private_and_created_once() {
    use std::os::unix::fs::PermissionsExt;
    let test = setup(SKEWED);
    made(&test, "--suppression r-suppression:l=3");
    let key = test.path().join("my.key");
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    test.refuses(&format!("{ARGS} -o b.csv --suppression r-suppression:l=3"))
        .exits(2)
        .reports(&["can be read by others", "chmod 600"]);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    test.write("my.key", format!("{SECRET}\n"));
    test.refuses(&format!("{ARGS} -o b.csv --suppression r-suppression:l=3"))
        .exits(2)
        .reports(&["is not a key"]);
}

#[test]
fn a_stated_seed_makes_a_test() {
    let test = setup(SKEWED);
    let args = ARGS.replace("--suppression-key my.key", "--suppression-seed 7");
    let done = test.succeeds(&format!("{args} -o out.csv --suppression r-suppression:l=3"));
    done.prints(&["TEST, not for publication"]);
    let manifest = test.json("out.release.json");
    assert_eq!(manifest["suppression"]["test"], true);
    assert!(manifest["test"].is_string());
    assert_eq!(test.names(), ["out.csv", "out.release.json", "people.csv"], "no key and no ledger");
    test.refuses(&format!("{args} -o b.csv --suppression-key k --suppression r-suppression:l=3"))
        .exits(2);
    test.refuses("anonymize people.csv --quasi age -k 2 -o b.csv --suppression-seed 7")
        .exits(2)
        .reports(&["--suppression"]);
}

#[test]
fn fewer_values_than_l_is_infeasible() {
    for (counts, l) in
        [(&[("flu", 50), (SECRET, 10)][..], 3), (&[("flu", 70)], 2), (&[("flu", 70)], 9)]
    {
        let test = setup(counts);
        for method in ["r-suppression", "safe-d", "cheaper"] {
            let args = format!("{ARGS} -o out.csv --suppression {method}:l={l}");
            test.refuses(&args).exits(1).reports(&["infeasible", &format!("fewer than l = {l}")]);
        }
    }
}

#[test]
fn one_value_and_l_of_one_is_eligible() {
    let test = setup(&[("flu", 7)]);
    assert_eq!(made(&test, "--suppression r-suppression:l=1")["flu"], 7);
}

#[test]
fn as_many_values_as_l_become_equally_frequent() {
    let test = setup(&[("flu", 90), ("cold", 40), ("gout", 20)]);
    let counts = made(&test, "--suppression r-suppression:l=3");
    assert_eq!(counts.into_values().collect::<Vec<_>>(), [20, 20, 20]);
}

#[test]
fn ties_at_the_top_are_drawn_and_reported() {
    let test = setup(&[("flu", 60), ("cold", 60), ("gout", 20), ("hiv", 20)]);
    let done = test.succeeds(&format!("{ARGS} -o out.csv --suppression r-suppression:l=3"));
    done.prints(&["2 values share the greatest count", "2 of them more frequent than one in 3"]);
}

#[test]
fn an_eligible_table_is_unchanged_and_nothing_is_drawn() {
    // Exactly at the boundary: 40 of 120 with l = 3.
    for (counts, l) in [
        (&[("flu", 40), ("cold", 30), ("gout", 30), ("hiv", 20)], 3),
        (&[("flu", 30), ("cold", 30), ("gout", 30), ("hiv", 30)], 4),
    ] {
        let test = setup(counts);
        let done = test.succeeds(&format!("{ARGS} -o out.csv --suppression r-suppression:l={l}"));
        done.prints(&["eligible already: nothing was suppressed and nothing was drawn"]);
        assert_eq!(
            diseases(&test, "out.csv"),
            counts.iter().map(|(d, n)| ((*d).to_owned(), *n)).collect()
        );
        // The manifest equals that of a table with suppressed records.
        assert!(test.json("out.release.json")["records"]["read"].is_null());
    }
}

#[test]
fn missing_sensitive_values_do_not_count_unless_kept() {
    let counts = [("flu", 50), ("cold", 20), ("gout", 20), ("?", 60)];
    let test = setup(&counts);
    let done = test.succeeds(&format!("{ARGS} -o out.csv --suppression safe-d:l=2 --json"));
    let json = done.json();
    assert_eq!(json["private"]["suppression"]["records"], 90);
    assert_eq!(json["private"]["records"]["dropped_missing"], 60);
    let counts = diseases(&test, "out.csv");
    assert_eq!(
        counts,
        BTreeMap::from([("flu", 20), ("cold", 20), ("gout", 20)].map(|(d, n)| (d.to_owned(), n)))
    );
    // If kept, missing is one value among the others, here the dominant one.
    let args = ARGS.replace("my.key", "other.key");
    test.succeeds(&format!("{args} -o out.csv --on-missing keep --suppression safe-d:l=3"));
    let kept = diseases(&test, "out.csv");
    assert_eq!(kept.values().copied().collect::<Vec<_>>(), [20, 20, 20, 20]);
}

#[test]
fn the_lower_bound_is_not_released_unless_forced() {
    let test = setup(SKEWED);
    test.refuses(&format!("{ARGS} -o out.csv --suppression unsafe-d:l=3"))
        .exits(2)
        .reports(&["lower bound", "force = true"]);
    let done = test.succeeds(&format!("{ARGS} -o out.csv --suppression unsafe-d:l=3,force=true"));
    done.prints(&["not a protection"]);
    let told = test.json("out.release.json")["suppression"]["means"].to_string();
    assert!(told.contains("lower bound and no protection"), "{told}");
}

#[test]
fn contradictory_requests_are_refused() {
    let test = setup(SKEWED);
    for (args, expected) in [
        ("--suppression r-supression:l=3", "r-suppression"),
        ("--suppression r-suppression", "needs `l`"),
        ("--suppression r-suppression:l=3,on=age", "not a sensitive column"),
        ("--suppression r-suppression:l=3,of=disease", "no parameter `of`"),
        ("--suppression r-suppression:l=3 --suppression-limit 0.1 -k 2", "suppression_limit"),
    ] {
        test.refuses(&format!("{ARGS} -o out.csv {args}")).exits(2).reports(&[expected]);
    }
    test.write("job.toml", "[suppression]\nname = 'safe-d'\nl = 3\nseed = -1\n");
    test.refuses("anonymize job.toml").exits(2).reports(&["seed", "job.toml"]);
}

#[test]
fn a_job_file_is_equivalent_to_flags() {
    let test = setup(SKEWED);
    let job = "[input]\npath = 'people.csv'\n[output]\npath = 'out.csv'\norder = 'sorted'\n[columns]\nage = 'quasi'\nzip = 'quasi'\n\
               disease = 'sensitive'\n[suppression]\nname = 'cheaper'\nl = 3\non = 'disease'\nkey = 'my.key'\npublish_size = true\n";
    test.write("job.toml", job);
    test.succeeds("anonymize job.toml").prints(&["of 180 records"]);
    assert_eq!(test.json("out.release.json")["records"]["read"], 180);
    test.write("bad.toml", job.replace("l = 3", "l = 0"));
    test.refuses("anonymize bad.toml").exits(2).reports(&["bad.toml", "`l`"]);
}

#[test]
fn the_eligibility_attack_needs_the_size_of_the_original() {
    let test = setup(SKEWED);
    test.succeeds(&format!("{ARGS} -o out.csv --suppression r-suppression:l=3"));
    test.succeeds("attack out.csv --only eligibility")
        .prints(&["not run  eligibility of disease: needs the size"]);
    let done = test.succeeds("attack out.csv --only eligibility --original people.csv --json");
    // Results that depend on the true size or counts are for the data owner.
    assert_eq!(done.json()["attacks"].as_array().unwrap().len(), 0);
    let attack = &done.json()["private"]["attacks"][0];
    assert_eq!(attack["attack"], "eligibility");
    assert!(
        attack["facts"]["shape_known"].as_f64().unwrap() > 0.0
            && attack["facts"]["flat"].as_f64().unwrap() > 0.0
    );
    test.succeeds("attack out.csv --only eligibility --original-size 180")
        .prints(&["design target of the method, 1/l; not guaranteed"]);
    // Each person with a most frequent value has a risk of at least one in three.
    test.run("attack out.csv --only eligibility --original-size 180 --limit eligibility=0.1")
        .exits(1);
    test.succeeds("attack out.csv --only eligibility --original-size 20")
        .prints(&["not run  eligibility"]);
    // For the lower bound the value is certain if exactly one value is most frequent.
    test.write("b.csv", table(&[("flu", 20), ("cold", 15), ("gout", 15), ("hiv", 10)]));
    let args =
        "attack b.csv --quasi age,zip --sensitive disease --only eligibility --original-size 90";
    let sure = test.succeeds(&format!("{args} --suppression unsafe-d:l=3 --json")).json();
    assert_eq!(sure["private"]["attacks"][0]["worst"], 1.0);
}

#[test]
fn anatomy_publishes_two_tables_that_verify_together() {
    let test = setup(SKEWED);
    let args = "anonymize people.csv --quasi age,zip --sensitive disease -o out.csv --algorithm anatomy --set l=3";
    test.refuses(args).exits(1).reports(&["more frequent than one record in 3", "--suppression"]);
    let suppressed = format!("{args} --suppression r-suppression:l=3 --suppression-key my.key");
    test.succeeds(&suppressed).prints(&[
        "l-diversity(kind=frequency, l=3, on=disease)",
        "holds",
        "a known participant who is absent",
    ]);
    let (qit, st) = (test.text("out.csv"), test.text("out.st.csv"));
    assert!(qit.starts_with("age,zip,group\n") && st.starts_with("group,disease,count\n"));
    let published: u64 = test
        .records("out.st.csv")
        .iter()
        .map(|r| r.rsplit(',').next().unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(published as usize, test.records("out.csv").len());
    assert!(
        test.records("out.st.csv").iter().all(|r| r.ends_with(",1")),
        "no value twice in a group"
    );
    // A repeated release is equal byte for byte.
    test.succeeds(&suppressed);
    assert!(test.text("out.csv") == qit && test.text("out.st.csv") == st);
    test.succeeds("verify out.csv").prints(&["holds", "digest   matches the manifest"]);
    test.succeeds("attack out.csv --only homogeneity,eligibility --original-size 180")
        .prints(&["homogeneity of disease", "eligibility of disease"]);
    // A value moved to another group, and a record to another group.
    let moved = st.replacen(",flu,1", ",gout,1", 1);
    test.write("out.st.csv", &moved);
    test.run("verify out.csv").exits(1);
    test.write("out.st.csv", &st);
    let mut lines: Vec<&str> = qit.lines().collect();
    lines.pop();
    test.write("out.csv", lines.join("\n") + "\n");
    test.run("verify out.csv").exits(2).reports(&["the two tables do not match"]);
}

#[test]
fn batches_are_published_separately_and_measured_together() {
    let test = TestDir::new();
    test.write("day-1.csv", table(&[("flu", 30), ("cold", 12), ("gout", 9), ("hiv", 9)]));
    test.write("day-2.csv", table(&[("flu", 15), ("cold", 15), ("gout", 15), ("hiv", 15)]));
    test.write("day-3.csv", table(&[("flu", 28), ("cold", 8), ("gout", 10), ("hiv", 9)]));
    test.write("day-4.csv", table(&[("flu", 20), ("cold", 2)]));
    let rules = "--quasi age,zip --sensitive disease --suppression r-suppression:l=3 --suppression-key my.key --dir out";
    let done = test
        .run(&format!(
            "batches day-1.csv day-2.csv day-3.csv day-4.csv {rules} --same-people --json"
        ))
        .exits(1);
    let json = done.json();
    assert_eq!((&json["batches"], &json["published"]), (&4.into(), &3.into()));
    let private = &json["private"];
    assert_eq!(private["skewed"], 3);
    assert_eq!(private["dominant_value_named_from_the_other_releases"]["of"], 2);
    assert!(private["batches"][1]["joined_with_the_last"]["worst"].as_f64().is_some());
    assert!(private["batches"][3]["why"].as_str().unwrap().contains("infeasible"));
    test.succeeds(&format!("batches day-1.csv day-2.csv {rules}"))
        .prints(&["2 of 2 published", "in 1 of 2 batches (50 %)"]);
    test.succeeds("verify out/day-1.release.csv").prints(&["holds"]);
}

#[test]
fn batches_that_cannot_be_published_leave_no_files() {
    let test = TestDir::new();
    let day = table(&[("flu", 15), ("cold", 15), ("gout", 15), ("hiv", 15)]);
    test.write("day-1.csv", &day);
    test.write("day-1.txt", &day);
    let rules =
        "--sensitive disease --suppression r-suppression:l=3 --suppression-key my.key --dir out";
    let before = test.names();
    test.run(&format!("batches day-1.csv --quasi agee,zip {rules}"))
        .exits(2)
        .reports(&["did you mean `age`?"]);
    // Both would be called day-1.release.csv, which is reported before the first is published.
    test.run(&format!("batches day-1.csv day-1.txt --quasi age,zip {rules}"))
        .exits(2)
        .reports(&["would have the same release"]);
    assert_eq!(test.names(), before);
    // An existing directory stays.
    std::fs::create_dir(test.path().join("out")).unwrap();
    test.run(&format!("batches day-1.csv --quasi agee,zip {rules}")).exits(2);
    assert!(test.path().join("out").is_dir());
}

#[test]
fn everything_is_explained() {
    let test = TestDir::new();
    for (name, expected) in [
        ("r-suppression", "not a guarantee"),
        ("safe-d", "at least l"),
        ("unsafe-d", "not a protection"),
        ("cheaper", "before any draw"),
        ("anatomy", "do not hide presence"),
        ("eligibility", "often higher"),
    ] {
        let done = test.succeeds(&format!("explain {name}"));
        let flat = done.stdout.replace('\n', " ");
        assert!(flat.contains(expected), "{name}: {done}");
    }
}
