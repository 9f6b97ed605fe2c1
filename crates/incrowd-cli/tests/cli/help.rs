//! `--help`, `--version` and completions.

use crate::room::Room;

const COMMANDS: [&str; 18] = [
    "",
    "anonymize",
    "verify",
    "measure",
    "hierarchy",
    "hierarchy build",
    "hierarchy lint",
    "hierarchy show",
    "explain",
    "demo",
    "completions",
    "profile",
    "init",
    "attack",
    "batches",
    "report",
    "compare",
    "serve",
];

#[test]
fn every_command_has_help() {
    let room = Room::new();
    for command in COMMANDS {
        for flag in ["--help", "-h"] {
            let done = room.does(&format!("{command} {flag}"));
            assert_eq!(done.stderr, "", "{done}");
            let usage = format!("Usage: incrowd {command}").trim_end().to_owned();
            done.prints(&[&usage, "Options:"]);
        }
    }
    assert!(room.names().is_empty());
}

#[test]
fn help_lists_the_commands_and_the_exit_codes() {
    let room = Room::new();
    let done = room.does("--help").prints(&["Exit codes: 0 done and verified", "incrowd demo"]);
    for command in COMMANDS.iter().filter(|c| !c.is_empty() && !c.contains(' ')) {
        assert!(done.stdout.lines().any(|l| l.trim_start().starts_with(command)), "{command}\n{done}");
    }
}

#[test]
fn nothing_typed_shows_the_help() {
    let room = Room::new();
    let done = room.run("").exits(2);
    assert!(done.stderr.contains("Usage: incrowd"), "{done}");
}

#[test]
fn the_examples_of_the_help_work() {
    let room = Room::new();
    let mut table = String::from("name,age,sex,zip,disease\n");
    for i in 0..40 {
        table += &format!("p{i},{},{},0213{},flu\n", 20 + i % 7, ["f", "m"][i % 2], i % 3);
    }
    room.write("people.csv", &table);
    room.write("anything.csv", "age,sex,zip\n".to_owned() + &"1,f,02139\n".repeat(10));
    let mut tried = 0;
    for command in ["anonymize", "verify"] {
        let help = room.does(&format!("{command} --help")).prints(&["Examples:"]).stdout;
        let start = format!("  incrowd {command} ");
        for line in help.lines().filter(|l| l.starts_with(&start)) {
            let typed = line.split("   (").next().unwrap().trim().trim_start_matches("incrowd ");
            // Those with a file of their own, or that go on on the next line, are left out.
            let own = ["people.csv", "people.release.csv", "anything.csv"];
            let first = typed.split_whitespace().nth(1).unwrap();
            if own.contains(&first) && !typed.contains("job.toml") && !typed.ends_with('\\') {
                room.does(typed);
                tried += 1;
            }
        }
    }
    assert_eq!(tried, 4);
    room.does("measure --help").prints(&["Examples:", "incrowd measure people.csv people.release.csv"]);
}

#[test]
fn the_job_file_of_the_help_works() {
    let room = Room::new();
    let help = room.does("anonymize --help").stdout;
    let (_, job) = help.split_once("  [input]\n").unwrap();
    let job: Vec<&str> = job.lines().map(str::trim).collect();
    room.write("job.toml", format!("[input]\n{}\n", job.join("\n")));
    room.write("people.csv", "name,age,zip,disease\n".to_owned() + &"a,1,02139,flu\n".repeat(10));
    room.does("anonymize job.toml");
    room.does("verify people.release.csv").prints(&["k-anonymity(k=10)   holds"]);
}

#[test]
fn the_version_is_that_of_the_package() {
    let room = Room::new();
    let done = room.does("--version");
    assert_eq!(done.stdout, concat!("incrowd ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn shells_are_told_what_can_be_completed() {
    let room = Room::new();
    for (shell, word) in
        [("bash", "complete -F _incrowd"), ("zsh", "#compdef incrowd"), ("fish", "complete -c incrowd")]
    {
        let done = room.does(&format!("completions {shell}"));
        assert_eq!(done.stderr, "", "{done}");
        done.prints(&[word, "anonymize", "suppression-limit", "hierarchy"]);
    }
    room.refuses("completions tcsh").exits(2).says(&["tcsh", "bash"]);
    room.refuses("completions").exits(2).says(&["<SHELL>"]);
}
