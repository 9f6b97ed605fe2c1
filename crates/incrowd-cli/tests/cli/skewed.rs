//! Tables in which a sensitive value is too frequent: the suppression step, anatomy, batches and the eligibility attack, as
//! they are typed.

use std::collections::BTreeMap;

use crate::room::{Room, SECRET};

/// A table with so many records of each disease; ages and zips repeat, so that rows fold.
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

pub(crate) fn room(counts: &[(&str, u64)]) -> Room {
    let room = Room::new();
    room.write("people.csv", table(counts));
    room
}

/// The paper's first table, ten times.
pub(crate) const SKEWED: &[(&str, u64)] =
    &[("flu", 100), ("cold", 40), ("gout", 20), ("hiv", 10), ("none", 10)];
pub(crate) const TYPED: &str =
    "anonymize people.csv --quasi age,zip --sensitive disease --order sorted --suppression-key my.key";

fn made(room: &Room, more: &str) -> BTreeMap<String, u64> {
    room.does(&format!("{TYPED} -o out.csv {more}"));
    diseases(room, "out.csv")
}

fn diseases(room: &Room, file: &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for record in room.records(file) {
        *counts.entry(record.rsplit(',').next().unwrap().to_owned()).or_insert(0) += 1;
    }
    counts
}

#[test]
fn the_whole_chain_in_one_command_and_what_is_said_to_whom() {
    for algorithm in ["mondrian", "full-domain"] {
        let room = room(SKEWED);
        let typed =
            format!("{TYPED} -o out.csv -k 2 --algorithm {algorithm} --suppression r-suppression:l=3");
        let done = room.does(&format!("{typed} --hierarchy zip=mask --hierarchy age=intervals:10"));
        let (public, private) = done.stdout.split_once("for the data owner only").unwrap();
        for word in ["withheld", " of 180", "dominant", "eligib"] {
            assert!(!public.contains(word), "{word}\n{done}");
        }
        for word in
            ["withheld", "1 of them more frequent than one in 3", "it is not guaranteed", "shape known"]
        {
            assert!(private.contains(word), "{word}\n{done}");
        }
        assert!(!done.stdout.contains("guaranteed to"), "{done}");
        let counts = diseases(&room, "out.csv");
        let published: u64 = counts.values().sum();
        assert!(published < 180 && counts.values().all(|n| n * 3 <= published), "{counts:?}");
        room.does("verify out.csv").prints(&[
            "l-diversity(kind=frequency, l=3, on=disease)",
            "holds",
            "matches",
        ]);
        // Neither the manifest nor anything beside it tells how many were withheld, or from what they were drawn.
        let manifest = room.json("out.release.json");
        assert!(manifest["records"]["read"].is_null() && manifest["records"]["suppressed"].is_null());
        assert_eq!(manifest["suppression"]["design_target"], "1/3");
        assert_eq!(manifest["suppression"]["complete_level"], true);
        let text = room.text("out.release.json");
        assert!(!text.contains("seed") && !text.contains(room.text("my.key").trim()), "{text}");
    }
}

#[test]
fn a_repeat_is_the_same_release_whatever_the_order_of_the_records() {
    let room = room(SKEWED);
    let first = made(&room, "--suppression r-suppression:l=3");
    let bytes = room.bytes("out.csv");
    let mut lines: Vec<String> = table(SKEWED).lines().map(str::to_owned).collect();
    lines[1..].reverse();
    room.write("people.csv", lines.join("\n") + "\n");
    assert_eq!(made(&room, "--suppression r-suppression:l=3"), first);
    assert!(room.bytes("out.csv") == bytes, "sorted, a repeat is the same to the byte");
    // Another key draws otherwise, sooner or later.
    let other = (0..12).any(|i| {
        let typed = TYPED.replace("my.key", &format!("key-{i}"));
        room.does(&format!("{typed} -o other.csv --suppression r-suppression:l=3"));
        room.bytes("other.csv") != bytes
    });
    assert!(other);
}

#[test]
fn a_second_release_in_another_way_is_refused_or_logged() {
    let room = room(SKEWED);
    made(&room, "--suppression r-suppression:l=3");
    for other in ["r-suppression:l=2", "safe-d:l=3", "r-suppression:l=3,complete_level=false"] {
        // Other quasi-identifiers do not make it another table.
        let done =
            room.run(&format!("{} -o b.csv --suppression {other}", TYPED.replace("age,zip", "age"))).exits(1);
        done.says(&["released before with other parameters", "--again"]);
        assert!(!room.path().join("b.csv").exists());
    }
    room.does(&format!("{TYPED} -o b.csv --suppression safe-d:l=3 --again"));
    let ledger = room.text("my.key.ledger");
    // Each release is noted twice: before it is put in place, and when it is there.
    assert_eq!((ledger.lines().count(), ledger.matches("\"again\":true").count()), (4, 1));
    assert!(!ledger.contains("flu") && !ledger.contains("disease"), "{ledger}");
    // A release in the first way is now one in another way than the second.
    room.run(&format!("{TYPED} -o c.csv --suppression r-suppression:l=3")).exits(1);
    // Another table is another table.
    room.write("people.csv", table(&[("flu", 90), ("cold", 40), ("gout", 20), ("hiv", 10)]));
    room.does(&format!("{TYPED} -o d.csv --suppression safe-d:l=3"));
}

#[test]
fn a_repeat_with_columns_passed_through_would_not_be_the_same() {
    let room = Room::new();
    let lines: Vec<String> = table(SKEWED)
        .lines()
        .enumerate()
        .map(|(i, line)| if i == 0 { format!("{line},note") } else { format!("{line},n{i}") })
        .collect();
    room.write("people.csv", lines.join("\n") + "\n");
    let counts = {
        room.does(&format!(
            "{TYPED} -o out.csv --passthrough note --unlinkable note --suppression r-suppression:l=3"
        ));
        room.records("out.csv").len() as u64
    };
    let notes: std::collections::BTreeSet<String> =
        room.records("out.csv").iter().map(|r| r.rsplit(',').next().unwrap().to_owned()).collect();
    assert_eq!(notes.len() as u64, counts, "every record at most once");
    room.run(&format!(
        "{TYPED} -o b.csv --passthrough note --unlinkable note --suppression r-suppression:l=3"
    ))
    .exits(1)
    .says(&["passes columns through", "--again"]);
}

#[test]
#[cfg(unix)]
fn the_key_is_private_and_made_once() {
    use std::os::unix::fs::PermissionsExt;
    let room = room(SKEWED);
    made(&room, "--suppression r-suppression:l=3");
    let key = room.path().join("my.key");
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    room.refuses(&format!("{TYPED} -o b.csv --suppression r-suppression:l=3"))
        .exits(2)
        .says(&["can be read by others", "chmod 600"]);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    room.write("my.key", format!("{SECRET}\n"));
    room.refuses(&format!("{TYPED} -o b.csv --suppression r-suppression:l=3"))
        .exits(2)
        .says(&["is not a key"]);
}

#[test]
fn a_stated_seed_makes_a_test() {
    let room = room(SKEWED);
    let typed = TYPED.replace("--suppression-key my.key", "--suppression-seed 7");
    let done = room.does(&format!("{typed} -o out.csv --suppression r-suppression:l=3"));
    done.prints(&["TEST, not for publication"]);
    let manifest = room.json("out.release.json");
    assert_eq!(manifest["suppression"]["test"], true);
    assert!(manifest["test"].is_string());
    assert_eq!(room.names(), ["out.csv", "out.release.json", "people.csv"], "no key and no ledger");
    room.refuses(&format!("{typed} -o b.csv --suppression-key k --suppression r-suppression:l=3")).exits(2);
    room.refuses("anonymize people.csv --quasi age -k 2 -o b.csv --suppression-seed 7")
        .exits(2)
        .says(&["--suppression"]);
}

#[test]
fn fewer_values_than_l_is_infeasible() {
    for (counts, l) in [(&[("flu", 50), (SECRET, 10)][..], 3), (&[("flu", 70)], 2), (&[("flu", 70)], 9)] {
        let room = room(counts);
        for method in ["r-suppression", "safe-d", "cheaper"] {
            let typed = format!("{TYPED} -o out.csv --suppression {method}:l={l}");
            room.refuses(&typed).exits(1).says(&["infeasible", &format!("fewer than l = {l}")]);
        }
    }
}

#[test]
fn one_value_and_l_of_one_is_eligible() {
    let room = room(&[("flu", 7)]);
    assert_eq!(made(&room, "--suppression r-suppression:l=1")["flu"], 7);
}

#[test]
fn as_many_values_as_l_become_equally_frequent() {
    let room = room(&[("flu", 90), ("cold", 40), ("gout", 20)]);
    let counts = made(&room, "--suppression r-suppression:l=3");
    assert_eq!(counts.into_values().collect::<Vec<_>>(), [20, 20, 20]);
}

#[test]
fn ties_at_the_top_are_drawn_and_said() {
    let room = room(&[("flu", 60), ("cold", 60), ("gout", 20), ("hiv", 20)]);
    let done = room.does(&format!("{TYPED} -o out.csv --suppression r-suppression:l=3"));
    done.prints(&["2 values share the greatest count", "2 of them more frequent than one in 3"]);
}

#[test]
fn an_eligible_table_is_left_as_it_is_and_nothing_is_drawn() {
    // Exactly at the boundary: 40 of 120 with l = 3.
    for (counts, l) in [
        (&[("flu", 40), ("cold", 30), ("gout", 30), ("hiv", 20)], 3),
        (&[("flu", 30), ("cold", 30), ("gout", 30), ("hiv", 30)], 4),
    ] {
        let room = room(counts);
        let done = room.does(&format!("{TYPED} -o out.csv --suppression r-suppression:l={l}"));
        done.prints(&["eligible already: nothing was withheld and nothing was drawn"]);
        assert_eq!(diseases(&room, "out.csv"), counts.iter().map(|(d, n)| ((*d).to_owned(), *n)).collect());
        // The manifest does not tell that from a table of which records were withheld.
        assert!(room.json("out.release.json")["records"]["read"].is_null());
    }
}

#[test]
fn missing_sensitive_values_are_no_value_unless_kept() {
    let counts = [("flu", 50), ("cold", 20), ("gout", 20), ("?", 60)];
    let room = room(&counts);
    let done = room.does(&format!("{TYPED} -o out.csv --suppression safe-d:l=2 --json"));
    let json = done.json();
    assert_eq!(json["private"]["suppression"]["records"], 90);
    assert_eq!(json["private"]["records"]["dropped_missing"], 60);
    let counts = diseases(&room, "out.csv");
    assert_eq!(
        counts,
        BTreeMap::from([("flu", 20), ("cold", 20), ("gout", 20)].map(|(d, n)| (d.to_owned(), n)))
    );
    // Kept, it is one value among the others, here the dominant one.
    let typed = TYPED.replace("my.key", "other.key");
    room.does(&format!("{typed} -o out.csv --on-missing keep --suppression safe-d:l=3"));
    let kept = diseases(&room, "out.csv");
    assert_eq!(kept.values().copied().collect::<Vec<_>>(), [20, 20, 20, 20]);
}

#[test]
fn the_lower_bound_is_no_release_unless_forced() {
    let room = room(SKEWED);
    room.refuses(&format!("{TYPED} -o out.csv --suppression unsafe-d:l=3"))
        .exits(2)
        .says(&["lower bound", "force = true"]);
    let done = room.does(&format!("{TYPED} -o out.csv --suppression unsafe-d:l=3,force=true"));
    done.prints(&["not a protection"]);
    let told = room.json("out.release.json")["suppression"]["means"].to_string();
    assert!(told.contains("lower bound and no protection"), "{told}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let room = room(SKEWED);
    for (typed, says) in [
        ("--suppression r-supression:l=3", "r-suppression"),
        ("--suppression r-suppression", "needs `l`"),
        ("--suppression r-suppression:l=3,on=age", "not a sensitive column"),
        ("--suppression r-suppression:l=3,of=disease", "no parameter `of`"),
        ("--suppression r-suppression:l=3 --suppression-limit 0.1 -k 2", "suppression_limit"),
    ] {
        room.refuses(&format!("{TYPED} -o out.csv {typed}")).exits(2).says(&[says]);
    }
    room.write("job.toml", "[suppression]\nname = 'safe-d'\nl = 3\nseed = -1\n");
    room.refuses("anonymize job.toml").exits(2).says(&["seed", "job.toml"]);
}

#[test]
fn a_job_file_says_the_same() {
    let room = room(SKEWED);
    let job = "[input]\npath = 'people.csv'\n[output]\npath = 'out.csv'\norder = 'sorted'\n[columns]\nage = 'quasi'\nzip = 'quasi'\n\
               disease = 'sensitive'\n[suppression]\nname = 'cheaper'\nl = 3\non = 'disease'\nkey = 'my.key'\npublish_size = true\n";
    room.write("job.toml", job);
    room.does("anonymize job.toml").prints(&["of 180 records"]);
    assert_eq!(room.json("out.release.json")["records"]["read"], 180);
    room.write("bad.toml", job.replace("l = 3", "l = 0"));
    room.refuses("anonymize bad.toml").exits(2).says(&["bad.toml", "`l`"]);
}

#[test]
fn the_adversary_is_told_the_size_or_asks_for_it() {
    let room = room(SKEWED);
    room.does(&format!("{TYPED} -o out.csv --suppression r-suppression:l=3"));
    room.does("attack out.csv --only eligibility")
        .prints(&["not run  eligibility of disease: needs the size"]);
    let done = room.does("attack out.csv --only eligibility --original people.csv --json");
    // What follows from the true size or counts is for whoever has the table.
    assert_eq!(done.json()["attacks"].as_array().unwrap().len(), 0);
    let attack = &done.json()["private"]["attacks"][0];
    assert_eq!(attack["attack"], "eligibility");
    assert!(
        attack["facts"]["shape_known"].as_f64().unwrap() > 0.0
            && attack["facts"]["flat"].as_f64().unwrap() > 0.0
    );
    room.does("attack out.csv --only eligibility --original-size 180")
        .prints(&["what the method aims at, 1/l; not guaranteed"]);
    // Everybody at the top has a chance of one in three at least.
    room.run("attack out.csv --only eligibility --original-size 180 --limit eligibility=0.1").exits(1);
    room.does("attack out.csv --only eligibility --original-size 20").prints(&["not run  eligibility"]);
    // Of the lower bound it is known for sure if one value stands alone at the top.
    room.write("b.csv", table(&[("flu", 20), ("cold", 15), ("gout", 15), ("hiv", 10)]));
    let typed = "attack b.csv --quasi age,zip --sensitive disease --only eligibility --original-size 90";
    let sure = room.does(&format!("{typed} --suppression unsafe-d:l=3 --json")).json();
    assert_eq!(sure["private"]["attacks"][0]["worst"], 1.0);
}

#[test]
fn anatomy_publishes_two_tables_that_verify_together() {
    let room = room(SKEWED);
    let typed =
        "anonymize people.csv --quasi age,zip --sensitive disease -o out.csv --algorithm anatomy --set l=3";
    room.refuses(typed).exits(1).says(&["more frequent than one record in 3", "--suppression"]);
    let suppressed = format!("{typed} --suppression r-suppression:l=3 --suppression-key my.key");
    room.does(&suppressed).prints(&[
        "l-diversity(kind=frequency, l=3, on=disease)",
        "holds",
        "a known participant who is absent",
    ]);
    let (qit, st) = (room.text("out.csv"), room.text("out.st.csv"));
    assert!(qit.starts_with("age,zip,group\n") && st.starts_with("group,disease,count\n"));
    let published: u64 = room
        .records("out.st.csv")
        .iter()
        .map(|r| r.rsplit(',').next().unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(published as usize, room.records("out.csv").len());
    assert!(room.records("out.st.csv").iter().all(|r| r.ends_with(",1")), "no value twice in a group");
    // A repeat is the same to the byte.
    room.does(&suppressed);
    assert!(room.text("out.csv") == qit && room.text("out.st.csv") == st);
    room.does("verify out.csv").prints(&["holds", "digest   matches the manifest"]);
    room.does("attack out.csv --only homogeneity,eligibility --original-size 180")
        .prints(&["homogeneity of disease", "eligibility of disease"]);
    // A value moved to another group, and a record to another group.
    let moved = st.replacen(",flu,1", ",gout,1", 1);
    room.write("out.st.csv", &moved);
    room.run("verify out.csv").exits(1);
    room.write("out.st.csv", &st);
    let mut lines: Vec<&str> = qit.lines().collect();
    lines.pop();
    room.write("out.csv", lines.join("\n") + "\n");
    room.run("verify out.csv").exits(2).says(&["do not fit each other"]);
}

#[test]
fn batches_are_published_one_by_one_and_judged_together() {
    let room = Room::new();
    room.write("day-1.csv", table(&[("flu", 30), ("cold", 12), ("gout", 9), ("hiv", 9)]));
    room.write("day-2.csv", table(&[("flu", 15), ("cold", 15), ("gout", 15), ("hiv", 15)]));
    room.write("day-3.csv", table(&[("flu", 28), ("cold", 8), ("gout", 10), ("hiv", 9)]));
    room.write("day-4.csv", table(&[("flu", 20), ("cold", 2)]));
    let rules = "--quasi age,zip --sensitive disease --suppression r-suppression:l=3 --suppression-key my.key --dir out";
    let done = room
        .run(&format!("batches day-1.csv day-2.csv day-3.csv day-4.csv {rules} --same-people --json"))
        .exits(1);
    let json = done.json();
    assert_eq!((&json["batches"], &json["published"]), (&4.into(), &3.into()));
    let private = &json["private"];
    assert_eq!(private["skewed"], 3);
    assert_eq!(private["dominant_value_named_from_the_other_releases"]["of"], 2);
    assert!(private["batches"][1]["joined_with_the_last"]["worst"].as_f64().is_some());
    assert!(private["batches"][3]["why"].as_str().unwrap().contains("infeasible"));
    room.does(&format!("batches day-1.csv day-2.csv {rules}"))
        .prints(&["2 of 2 published", "in 1 of 2 batches (50 %)"]);
    room.does("verify out/day-1.release.csv").prints(&["holds"]);
}

#[test]
fn batches_that_cannot_be_published_leave_nothing() {
    let room = Room::new();
    let day = table(&[("flu", 15), ("cold", 15), ("gout", 15), ("hiv", 15)]);
    room.write("day-1.csv", &day);
    room.write("day-1.txt", &day);
    let rules = "--sensitive disease --suppression r-suppression:l=3 --suppression-key my.key --dir out";
    let before = room.names();
    room.run(&format!("batches day-1.csv --quasi agee,zip {rules}")).exits(2).says(&["did you mean `age`?"]);
    // Both would be called day-1.release.csv: that is told before the first is published.
    room.run(&format!("batches day-1.csv day-1.txt --quasi age,zip {rules}"))
        .exits(2)
        .says(&["would have the same release"]);
    assert_eq!(room.names(), before);
    // A directory that was there stays.
    std::fs::create_dir(room.path().join("out")).unwrap();
    room.run(&format!("batches day-1.csv --quasi agee,zip {rules}")).exits(2);
    assert!(room.path().join("out").is_dir());
}

#[test]
fn everything_is_explained() {
    let room = Room::new();
    for (name, says) in [
        ("r-suppression", "not a guarantee"),
        ("safe-d", "at least l"),
        ("unsafe-d", "not a protection"),
        ("cheaper", "before anything is drawn"),
        ("anatomy", "hide no presence"),
        ("eligibility", "often higher"),
    ] {
        let done = room.does(&format!("explain {name}"));
        let flat = done.stdout.replace('\n', " ");
        assert!(flat.contains(says), "{name}: {done}");
    }
}
