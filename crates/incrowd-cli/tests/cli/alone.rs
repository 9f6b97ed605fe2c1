//! Who stands out in what is published as it is: refusals, warnings, the attack and the pages.

use crate::room::Room;

/// Forty people: an id of their own, an income that a quarter have to themselves, a club.
fn people() -> String {
    let income = |n: u32| if n.is_multiple_of(4) { 10_000 + n } else { 20_000 };
    let line = |n: u32| format!("i{n},{},{},{}\n", 20 + n, income(n), ["golf", "chess"][(n % 2) as usize]);
    format!("id,age,income,club\n{}", (0..40).map(line).collect::<String>())
}

#[test]
fn an_identifier_passed_through_is_refused_until_it_is_said_that_nobody_knows_it() {
    let room = Room::new();
    room.write("people.csv", people());
    let typed = "anonymize people.csv --quasi age -k 5 -o out.csv --passthrough id,club";
    let refused = room.refuses(typed).exits(2);
    refused.says(&["column `id`", "40 of 40 records are alone", "--unlinkable"]);
    assert_eq!(room.names(), ["people.csv"], "nothing was put in place");
    let done = room.does(&format!("{typed} --unlinkable id"));
    assert!(!done.stderr.contains("alone"), "{done}");
    room.does("attack out.csv --only singling-out").prints(&["singling-out of club", "not looked at", "id"]);
    // The job file says the same.
    room.write(
        "job.toml",
        "[input]\npath = \"people.csv\"\n[output]\npath = \"out.csv\"\n[columns]\nage = \"quasi\"\n\
         id = { role = \"passthrough\", linkable = false }\n[[models]]\nname = \"k-anonymity\"\nk = 5\n",
    );
    room.does("anonymize job.toml");
    room.does("attack out.csv --only singling-out").prints(&["not run", "nobody else is said to know id"]);
    let odd = room.refuses("anonymize people.csv --quasi age -k 5 -o out.csv --unlinkable age").exits(2);
    odd.says(&["linkable", "passthrough or sensitive"]);
}

#[test]
fn a_quarter_alone_is_a_warning_and_an_amber_banner() {
    let room = Room::new();
    room.write("people.csv", people());
    let typed =
        "anonymize people.csv --quasi age -k 5 -o out.csv --report page.html --owner-report owner.html";
    let done = room.does(&format!("{typed} --passthrough income --sensitive club")).says(&[
        "of 40 records so many are alone",
        "income 10",
        "docs/singling-out.md",
    ]);
    // No value is shown.
    assert!(!done.stderr.contains("100") && !done.stdout.contains("10004"), "{done}");
    let (page, owner) = (room.text("page.html"), room.text("owner.html"));
    assert!(page.contains("verdict amber") && !page.contains("verdict good"));
    assert!(owner.contains("verdict amber") && owner.contains("Who is alone in what is published as it is"));
    assert!(owner.contains("25 %"), "a quarter");
    room.does(&format!("{typed} --sensitive club"));
    assert!(room.text("page.html").contains("verdict good"));
    assert!(!room.text("owner.html").contains("verdict amber"));
}

#[test]
fn the_attack_has_a_limit_and_an_explanation() {
    let room = Room::new();
    room.write("people.csv", people());
    room.does("anonymize people.csv --quasi age --sensitive income -k 5 -o out.csv");
    let attacked = room.does("attack out.csv --only singling-out --limit singling-out=0.25");
    attacked.prints(&["singling-out of income", "25.0 %", "holds"]);
    room.run("attack out.csv --limit singling-out=0.2").exits(1).prints(&["EXCEEDED"]);
    room.run("attack out.csv --limit singling-out.worst=0.5").exits(1);
    room.does("explain singling-out").prints(&["wp216", "passed through"]);
    let answer =
        room.does("anonymize people.csv --quasi age --sensitive income -k 5 -o out.csv --json").json();
    assert_eq!(answer["private"]["singling_out"]["columns"][0]["alone"], 10);
    assert_eq!(answer["private"]["singling_out"]["singles_out"], true);
}
