//! `incrowd compare`: a sweep that goes on where it was stopped.

use crate::report::sound;
use crate::room::Room;

const SWEEP: &str = "compare people.csv --quasi age,zip --sensitive disease --algorithms mondrian,top-down:seed=1 --k 2,4 \
                     --models k-anonymity,l-diversity:l=2 -o c";

#[test]
fn a_sweep_has_a_table_a_page_and_a_choice() {
    let room = Room::with_people();
    let done = room.does(SWEEP);
    done.prints(&[
        "for the data owner only",
        "mondrian",
        "top-down(seed=1)",
        "k-anonymity(k=2) + l-diversity(l=2)",
        "choice   ",
        "Pareto front",
        "comparison.html",
    ]);
    sound(&room.text("c/comparison.html"));
    let csv = room.text("c/comparison.csv");
    assert_eq!(csv.lines().count(), 1 + 2 * 2 * 2);
    assert!(csv.starts_with("algorithm,models,identity_risk,attribute_risk,ncp,"), "{csv}");
    assert_eq!(csv.lines().filter(|line| line.contains(",true,true,")).count(), 1, "one is chosen\n{csv}");
    let json = room.json("c/comparison.json");
    assert_eq!((&json["configurations"], &json["finished"]), (&8.into(), &8.into()));
    assert!(json.get("results").is_none() && json["private"]["results"].as_array().unwrap().len() == 8);
}

/// What the cells of a configuration are judged to be must be what a release of that configuration is.
#[test]
fn a_sweep_says_what_anonymize_does() {
    let room = Room::with_people();
    room.does(SWEEP);
    for result in room.json("c/comparison.json")["private"]["results"].as_array().unwrap() {
        let models = result["models"].as_str().unwrap();
        let k = if models.contains("k=2") { 2 } else { 4 };
        let diverse = if models.contains("l-diversity") { "--model l-diversity:l=2" } else { "" };
        let algorithm = result["algorithm"].as_str().unwrap();
        let seed = if algorithm == "mondrian" { "" } else { "--set seed=1" };
        let name = algorithm.split('(').next().unwrap();
        let typed = format!(
            "anonymize people.csv --quasi age,zip --sensitive disease --algorithm {name} {seed} -k {k} {diverse}"
        );
        room.does(&format!("{typed} -o r.csv"));
        let manifest = room.json("r.release.json");
        for metric in ["ncp", "discernibility", "information_loss", "average_class_size"] {
            assert_eq!(result["metrics"][metric], manifest["metrics"][metric], "{typed}: {metric}");
        }
        assert_eq!(result["groups"], manifest["groups"], "{typed}");
        let attacked = room.does("attack r.csv --json").json();
        let worst = |name: &str, what: &str| {
            let all = attacked["attacks"].as_array().unwrap();
            all.iter().find(|a| a["attack"] == name).unwrap()[what].clone()
        };
        assert_eq!(result["identity_risk"], worst("prosecutor", "worst"), "{typed}");
        assert_eq!(result["attribute_risk"], worst("homogeneity", "average"), "{typed}");
    }
}

#[test]
fn what_is_finished_is_not_done_again() {
    let room = Room::with_people();
    room.does(SWEEP);
    let before = room.text("c/results.jsonl");
    let first = before.lines().next().unwrap();
    // A kill may cut the last line off.
    room.write("c/results.jsonl", format!("{first}\n{}", &before.lines().nth(1).unwrap()[..40]));
    room.does(SWEEP).prints(&["1 of 8 results are from an earlier run"]);
    let after = room.text("c/results.jsonl");
    assert!(after.starts_with(first));
    assert_eq!(after.lines().count(), 1 + 1 + 7);
    room.does(SWEEP).prints(&["8 of 8 results are from an earlier run"]);
    // Another table, other roles or another value of a hierarchy are other configurations.
    room.write("people.csv", room.text("people.csv").replace("34,02139", "35,02139"));
    assert!(!room.does(SWEEP).stdout.contains("earlier"));
    assert!(!room.does(&format!("{SWEEP} --hierarchy zip=mask")).stdout.contains("earlier"));
    room.does(&format!("{SWEEP} --hierarchy zip=mask")).prints(&["8 of 8"]);
}

#[test]
fn a_configuration_that_cannot_be_kept_is_a_result() {
    let room = Room::with_people();
    let done = room
        .does("compare people.csv --quasi age,zip --sensitive disease --algorithms mondrian --k 2,9 -o c");
    done.prints(&["no release (1 of 2)", "choice   mondrian with k-anonymity(k=2)"]);
    let done = room.run("compare people.csv --quasi age,zip --algorithms mondrian --k 9,10 -o d").exits(1);
    done.prints(&["no configuration can be kept"]);
}

#[test]
fn a_job_file_says_the_same() {
    let room = Room::with_people();
    let job = "[input]\npath = \"people.csv\"\n[columns]\nage = \"quasi\"\nzip = \"quasi\"\ndisease = \"sensitive\"\n[compare]\n\
               algorithms = [\"mondrian\", \"top-down:seed=1\"]\nk = [2, 4]\nmodels = [\"k-anonymity\", \"l-diversity:l=2\"]\n\
               dir = \"out\"\n";
    room.write("job.toml", job);
    room.does("compare job.toml");
    room.does(SWEEP);
    let rows = |name: &str| {
        let json = room.json(name)["private"]["results"].clone();
        let all = json.as_array().unwrap().clone();
        all.into_iter()
            .map(|mut r| {
                r["seconds"] = 0.into();
                r
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(rows("out/comparison.json"), rows("c/comparison.json"));
    // What makes a release does not mind.
    room.does("anonymize job.toml -k 2 -o r.csv");
    for (wrong, says) in
        [("k = [0]", "a whole number, 1 or more"), ("kk = [2]", "did you mean"), ("loss = \"nncp\"", "ncp")]
    {
        room.write("bad.toml", job.replace("k = [2, 4]", wrong));
        room.refuses("compare bad.toml").exits(2).says(&[says]);
    }
}

#[test]
fn what_cannot_be_swept_is_refused() {
    let room = Room::with_people();
    let start = "compare people.csv --quasi age,zip -o c";
    for (typed, says) in [
        ("--algorithms mondrain", "did you mean `mondrian`"),
        ("--models k-anonimity", "did you mean `k-anonymity`"),
        ("--models l-diversity:m=2", "l-diversity"),
        ("--algorithms mondrian:cat=strict", "mondrian"),
        ("--loss groups", "there is no loss"),
        ("--suppression-limit 2", "from 0 to 1"),
        ("--quasi nobody", "no column `nobody`"),
    ] {
        let typed = if typed.contains("--quasi") {
            format!("compare people.csv {typed} -o c")
        } else {
            format!("{start} {typed}")
        };
        room.refuses(&typed).exits(2).says(&[says]);
    }
}

#[test]
#[cfg(unix)]
fn whoever_interrupts_a_sweep_keeps_what_it_has() {
    use std::time::{Duration, Instant};
    let room = Room::new();
    room.does("demo --data-only --rows 60000 --dir .");
    let ks: Vec<String> = (2..120).map(|k| k.to_string()).collect();
    let typed =
        format!("compare job.toml --algorithms mondrian,top-down --k {} -o c --threads 1", ks.join(","));
    let run = room.start(&typed);
    let log = room.path().join("c/results.jsonl");
    let began = Instant::now();
    while std::fs::read_to_string(&log).unwrap_or_default().lines().count() < 2 {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing was begun");
        std::thread::sleep(Duration::from_millis(5));
    }
    // Twice at the same moment, as `timeout` does, is once.
    for _ in 0..2 {
        let asked =
            std::process::Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
        assert!(asked.success());
    }
    let done = crate::room::Done::new(&typed, run.wait_with_output().unwrap()).exits(130);
    done.says(&["interrupted with", "goes on from there"]).prints(&["choice   "]);
    sound(&room.text("c/comparison.html"));
    let json = room.json("c/comparison.json");
    let finished = json["finished"].as_u64().unwrap();
    assert!(finished >= 2 && finished < json["configurations"].as_u64().unwrap(), "{finished}");
    assert_eq!(room.text("c/results.jsonl").lines().count() as u64, finished);
    // Going on with what was finished asks for no more than that.
    let few: Vec<&str> = ks.iter().take(2).map(String::as_str).collect();
    let again = format!("compare job.toml --algorithms mondrian --k {} -o c --threads 1", few.join(","));
    room.does(&again).prints(&["2 of 2 results are from an earlier run"]);
}
