//! `incrowd attack`: 0 what was asked for is said, 1 a stated limit is exceeded, 2 nobody knows.

use crate::room::{PEOPLE, Room};

fn released() -> Room {
    let room = Room::with_people();
    room.does("anonymize people.csv --identifier name --quasi age,zip --sensitive disease -k 2 -o r.csv");
    room
}

/// Everybody with a name stands in the release; gus and hal share a group of two.
const HIERARCHY: &str =
    "02139;021**;*\n02140;021**;*\n02141;021**;*\n90210;902**;*\n90211;902**;*\n90213;902**;*\n";

fn with_hierarchy() -> Room {
    let room = Room::with_people();
    room.write("zip.csv", HIERARCHY);
    room.does(
        "anonymize people.csv --quasi age,zip --hierarchy zip=zip.csv --sensitive disease -k 2 -o r.csv",
    );
    room
}

#[test]
fn the_manifest_tells_the_roles() {
    let room = released();
    let short = room.does("attack r.csv").prints(&["attacks: --all says why", "\nverdict  5 attacks ran"]);
    assert!(!short.stdout.contains("\n\n\n"), "{short}");
    let done = room.does("attack r.csv --all");
    assert_eq!(done.stderr, "", "{done}");
    done.prints(&[
        "table    r.csv   8 records in",
        "may be published",
        "prosecutor",
        "homogeneity of disease",
        "skewness of disease",
        "not run  journalist: needs a population table (--population)",
        "not run  proximity of disease: needs numbers",
        "not run  equijoin: needs an external table",
        "not run  intersection: needs a second release",
    ]);
}

#[test]
fn a_limit_that_is_exceeded_is_exit_code_one() {
    let room = released();
    room.does("attack r.csv --limit prosecutor=0.5").prints(&["limit    prosecutor   holds"]);
    let done = room.run("attack r.csv --limit prosecutor=0.49").exits(1);
    done.prints(&["limit    prosecutor   EXCEEDED   the worst risk is 0.5000, at most 0.4900"]);
    room.does("attack r.csv --limit prosecutor.share=0 --threshold prosecutor=0.5");
    room.run("attack r.csv --limit prosecutor.share=0 --threshold prosecutor=0.49").exits(1);
    let answer = room.run("attack r.csv --limit marketer=0.1 --json").exits(1).json();
    assert_eq!(answer["holds"], false);
    let limit = &answer["attacks"].as_array().unwrap().iter().find(|a| a["attack"] == "marketer").unwrap()["limits"]
        [0];
    assert_eq!((&limit["on"], &limit["holds"]), (&"average".into(), &false.into()));
}

#[test]
fn a_limit_nobody_can_check_does_not_hold() {
    let room = released();
    let says = &["`journalist` has a limit, but it was not run", "--population"];
    room.refuses("attack r.csv --limit journalist=0.5").exits(2).says(says);
    let says = &["`homogeneity` has a limit, but it was not run", "add homogeneity to --only"];
    room.refuses("attack r.csv --only prosecutor --limit homogeneity=0").exits(2).says(says);
}

#[test]
fn what_is_private_stands_apart() {
    let room = released();
    let answer = room.does("attack r.csv --json").json();
    let mut public = answer.clone();
    let private = public.as_object_mut().unwrap().remove("private").unwrap();
    let cells: Vec<String> =
        room.records("r.csv").iter().map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect();
    let age = |line: &String| line.trim_start_matches('"').split(']').next().unwrap().to_owned();
    assert!(cells.iter().all(|line| !public.to_string().contains(&age(line))), "{public}");
    let exposed = &private["most_exposed"][0]["groups"][0];
    assert!(
        cells.iter().any(|line| exposed["cells"]["age"].as_str().unwrap().starts_with(&age(line))),
        "{private}"
    );
    assert_eq!(exposed["risk"], 0.5);
    let text = room.does("attack r.csv").stdout;
    assert!(
        !text.contains("for the data owner only") && !cells.iter().any(|line| text.contains(&age(line))),
        "{text}"
    );
}

#[test]
fn details_have_one_line_for_each_distinct_row() {
    let room = released();
    let done = room.does("attack r.csv --details d.csv");
    done.prints(&["for the data owner only", "most exposed to prosecutor", "details  d.csv"]);
    let text = room.text("d.csv");
    let mut lines = csv::Reader::from_reader(text.as_bytes());
    let header = lines.headers().unwrap().iter().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        header,
        ["age", "zip", "disease", "records", "prosecutor", "homogeneity of disease", "skewness of disease"]
    );
    let rows: Vec<csv::StringRecord> = lines.records().map(Result::unwrap).collect();
    let records: u64 = rows.iter().map(|row| row[3].parse::<u64>().unwrap()).sum();
    assert_eq!(records, 8);
    assert!(rows.iter().all(|row| (0.0..=1.0).contains(&row[4].parse::<f64>().unwrap())));
    room.does("attack r.csv --details again.csv --quiet");
    assert_eq!(text, room.text("again.csv"), "the order of records shows");
}

#[test]
fn everybody_is_joined_with_population_and_voters() {
    let room = with_hierarchy();
    room.write("town.csv", PEOPLE.to_owned() + "ivy,35,02139,none\njon,23,90211,none\n");
    room.write("voters.csv", "who,zip,party\ngus,90211,blue\nzoe,99999,red\n");
    let how = "--quasi age,zip --hierarchy zip=zip.csv --sensitive disease";
    let answer =
        room.does(&format!("attack r.csv {how} --population town.csv --external voters.csv --json")).json();
    let found = |name: &str, column: Option<&str>| {
        let column = serde_json::json!(column);
        let all = answer["attacks"].as_array().unwrap();
        all.iter()
            .find(|a| a["attack"] == name && a["column"] == column)
            .unwrap_or_else(|| panic!("{name}"))
            .clone()
    };
    assert_eq!(found("journalist", None)["worst"], 0.5);
    let expected = found("marketer", None)["facts"]["expected_records"].as_f64().unwrap();
    assert!(expected < 4.0 && expected > 2.0, "{expected}");
    let join = found("equijoin", None);
    assert_eq!((&join["of"], &join["facts"]["unmatched"]), (&2.into(), &1.into()));
    assert_eq!(join["facts"]["further_columns"], 2);
    let notes = join["notes"].to_string();
    assert!(notes.contains("has no age") && notes.contains("only `*` covers"), "{notes}");
    assert_eq!(found("skewness", Some("disease"))["notes"][0], "the prior is that of the population");
}

#[test]
fn two_releases_of_the_same_people_are_intersected() {
    let room = Room::new();
    room.write(
        "one.csv",
        "age,disease\n\"[20, 30]\",flu\n\"[20, 30]\",cold\n\"[31, 40]\",gout\n\"[31, 40]\",cold\n",
    );
    room.write("two.csv", "age,disease\n\"[20, 40]\",flu\n\"[20, 40]\",gout\n");
    let typed = "attack one.csv --quasi age --sensitive disease --second two.csv --only intersection --json";
    let answer = room.does(typed).json();
    let found = &answer["attacks"][0];
    assert_eq!((&found["at_risk"], &found["of"], &found["worst"]), (&2.into(), &2.into(), &1.0.into()));
    assert_eq!(found["facts"]["not_in_both"], 2);
    room.write("people.csv", "age\n25\n35\n50\n");
    let found = &room.does(&format!("{typed} --external people.csv")).json()["attacks"][0];
    assert_eq!(
        (&found["at_risk"], &found["of"], &found["people"]),
        (&2.into(), &2.into(), &"targets in both".into())
    );
}

#[test]
fn numbers_are_guessed_within_epsilon() {
    let room = Room::new();
    room.write("t.csv", "age,income\n1,1000\n1,1040\n2,1000\n2,9000\n");
    let typed = "attack t.csv --quasi age --sensitive income --only proximity --json";
    let certain = |epsilon: &str| {
        room.does(&format!("{typed} {epsilon}")).json()["attacks"][0]["facts"]["certain"].clone()
    };
    assert_eq!((certain("--epsilon income=20"), certain("--epsilon income=19")), (2.into(), 0.into()));
    assert_eq!((certain("--epsilon income=2%"), certain("--epsilon income=1%")), (2.into(), 0.into()));
    assert_eq!(certain(""), 2);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let room = with_hierarchy();
    room.write("other.csv", "height\n1\n");
    for (typed, says) in [
        ("attack r.csv --only prosecuter", "did you mean `prosecutor`?"),
        ("attack r.csv --limit prosecutor", "write --limit prosecutor=0.1"),
        ("attack r.csv --limit prosecutor=-1", "write --limit prosecutor=0.1"),
        ("attack r.csv --limit prosecutor.wurst=1", "did you mean `worst`?"),
        ("attack r.csv --limit persecutor=0.1", "there is no attack `persecutor`"),
        ("attack r.csv --threshold homogeneity=2", "a number from 0 to 1"),
        ("attack r.csv --threshold homogeneity", "write --threshold homogeneity=0.8"),
        ("attack r.csv --epsilon diseases=1", "did you mean `disease`?"),
        ("attack r.csv --epsilon disease=much", "write --epsilon income=500"),
        ("attack r.csv --epsilon disease=100%", "a percentage below 100"),
        ("attack r.csv --population people.csv", "was generalized along a hierarchy (file)"),
        ("attack r.csv --details ./r.csv", "the details would overwrite a file that is read"),
        ("attack nobody.csv", "there is no file `nobody.csv`"),
        ("attack people.csv", "which columns are quasi-identifiers?"),
        ("attack people.csv --quasi age --external other.csv", "has none of the quasi-identifiers"),
        ("attack people.csv --quasi height", "no column `height`"),
        ("attack people.csv --quasi age --external none.csv", "there is no file `none.csv`"),
    ] {
        room.refuses(typed).exits(2).says(&[says]);
    }
}

#[test]
fn labels_without_their_hierarchy_are_refused_without_showing_a_cell() {
    let room = Room::with_people();
    room.write("r.csv", "zip\nS3CR3T\nS3CR3T\n");
    let says = &["no cell of column `zip` of the release covers a value", "--hierarchy"];
    room.refuses("attack r.csv --quasi zip --population people.csv").exits(2).says(says);
}
