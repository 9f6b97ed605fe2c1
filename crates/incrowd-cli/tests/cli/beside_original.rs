//! A release after suppression and the two tables of anatomy beside the table they were made from, and tables in which somebody
//! has several records.

use std::collections::BTreeMap;

use crate::room::{Room, SECRET};
use crate::skewed::{SKEWED, TYPED, room, table};

/// Everybody published comes from the table, and from it once; whoever forges a record is found out, and so is a table that
/// the manifest's method would have left otherwise.
#[test]
fn the_owner_verifies_beside_the_original() {
    let room = room(SKEWED);
    let rules = "--hierarchy zip=mask --suppression r-suppression:l=3";
    room.does(&format!("{TYPED} -o out.csv -k 2 {rules}"));
    let typed = "verify out.csv --original people.csv --hierarchy zip=mask";
    let done = room.does(typed);
    let (public, private) = done.stdout.split_once("for the data owner only").unwrap();
    assert!(public.starts_with("may be published") && !public.contains("withheld"), "{done}");
    for word in ["every published record comes from it", "l-candidacy holds", "some draw leads here"] {
        assert!(private.contains(word), "{word}\n{done}");
    }
    room.refuses("verify out.csv --original people.csv").exits(2).says(&["(--hierarchy)"]);
    let json = room.does(&format!("{typed} --json")).json();
    let own = &json["private"]["original"];
    assert_eq!((&own["holds"], &own["records_not_of_the_original"]), (&true.into(), &0.into()));
    assert!(json["original"].is_null() && json["suppression"].is_null());
    // Everybody published is said to be 20 years old: more people than are.
    let honest = room.text("out.csv");
    let forged = honest.lines().enumerate().map(|(i, line)| {
        let cell = line
            .strip_prefix('"')
            .map_or_else(|| line.find(',').unwrap(), |cell| cell.find('"').unwrap() + 2);
        if i == 0 { line.to_owned() } else { format!("20{}", &line[cell..]) }
    });
    room.write("out.csv", forged.collect::<Vec<_>>().join("\n") + "\n");
    let done = room.run(typed).exits(1);
    assert!(done.stdout.contains("do not come from it, or come from it twice"), "{done}");
    room.write("out.csv", honest);
    // Another table of the same people with other diseases.
    room.write("other.csv", room.text("people.csv").replace("gout", "cold"));
    let done = room.run("verify out.csv --original other.csv --hierarchy zip=mask").exits(1);
    assert!(done.stdout.contains("FAILS") && done.stdout.contains("NO draw leads here"), "{done}");
}

#[test]
fn anatomy_is_verified_beside_the_original_and_measured() {
    let room = room(SKEWED);
    let typed =
        "anonymize people.csv --quasi age,zip --sensitive disease -o out.csv --algorithm anatomy --set l=3";
    room.does(&format!("{typed} --suppression r-suppression:l=3 --suppression-key my.key"));
    room.does("verify out.csv --original people.csv")
        .prints(&["every published record comes from it", "holds"]);
    let measured = room.does("measure people.csv out.csv");
    assert!(measured.stdout.starts_with("for the data owner only"), "{measured}");
    measured.prints(&["and values of a sensitive column", "average class size"]);
    let json = room.does("measure people.csv out.csv --json").json();
    assert_eq!(json.as_object().unwrap().len(), 1, "{json}");
    assert_eq!(json["private"]["utility"]["query_error"]["sensitive_predicate"], true);
    room.refuses("measure people.csv out.csv --only classification")
        .exits(2)
        .says(&["linked by groups only"]);
    // Groups hide values, not people: identities are attacked by the exact quasi-identifiers.
    let qit = room.text("out.csv");
    let mut people: BTreeMap<&str, u64> = BTreeMap::new();
    qit.lines().skip(1).for_each(|line| *people.entry(line.rsplit_once(',').unwrap().0).or_default() += 1);
    let least = *people.values().min().unwrap() as f64;
    let json = room
        .does("attack out.csv --only prosecutor,homogeneity,equijoin --external people.csv --json")
        .json();
    let worst = |attack: &str| {
        let found = json["attacks"].as_array().unwrap().iter().find(|a| a["attack"] == attack);
        found.unwrap_or_else(|| panic!("{attack}: {json}"))["worst"].as_f64().unwrap()
    };
    assert_eq!((worst("prosecutor"), worst("equijoin")), (1.0 / least, 1.0 / least));
    assert!(worst("homogeneity") < 0.34);
    // Somebody whose quasi-identifiers nobody of the table has.
    let first = qit.lines().nth(1).unwrap().to_owned();
    let (_, rest) = first.split_once(',').unwrap();
    room.write("out.csv", qit.replacen(&first, &format!("19,{rest}"), 1));
    let json = room.run("verify out.csv --original people.csv --json").exits(1).json();
    let own = &json["private"]["original"];
    assert_eq!(
        (&own["records_not_of_the_original"], &own["groups_not_of_the_original"]),
        (&1.into(), &1.into())
    );
}

#[test]
fn several_records_of_a_person_are_refused() {
    let room = Room::new();
    let mut text = "id,age,zip,disease\n".to_owned();
    for (i, line) in table(SKEWED).lines().skip(1).enumerate() {
        text += &format!("{SECRET}{},{line}\n", if i == 150 { 3 } else { i });
    }
    room.write("people.csv", &text);
    let typed = format!("{TYPED} --identifier id -o out.csv --suppression safe-d:l=3");
    room.refuses(&typed).exits(2).says(&[
        "1 record is of people who have another one",
        "`id`",
        "keep one record",
    ]);
    room.refuses("anonymize people.csv --quasi age,zip --sensitive disease --identifier id --algorithm anatomy --set l=2 -o a.csv")
        .exits(2)
        .says(&["people who have another one"]);
    // Whoever has no name is nobody's second record, and a record that is dropped is no record.
    let nobody = text.replacen(&format!("{SECRET}3,"), "?,", 1);
    room.write("people.csv", nobody);
    room.does(&typed);
    let lost = text.lines().map(|line| {
        if line.starts_with(&format!("{SECRET}3,")) && line.ends_with("gout") {
            line.replace("gout", "?")
        } else {
            line.to_owned()
        }
    });
    room.write("people.csv", lost.collect::<Vec<_>>().join("\n") + "\n");
    room.does(&format!("{typed} --again"));
}
