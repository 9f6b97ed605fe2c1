//! `--help`, `--version` and completions.

use crate::test_dir::TestDir;

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
    let test = TestDir::new();
    for command in COMMANDS {
        for flag in ["--help", "-h"] {
            let done = test.succeeds(&format!("{command} {flag}"));
            assert_eq!(done.stderr, "", "{done}");
            let usage = format!("Usage: incrowd {command}").trim_end().to_owned();
            done.prints(&[&usage, "Options:"]);
        }
    }
    assert!(test.names().is_empty());
}

#[test]
fn help_lists_the_commands_and_the_exit_codes() {
    let test = TestDir::new();
    let done = test.succeeds("--help").prints(&["Exit codes: 0 success", "incrowd demo"]);
    for command in COMMANDS.iter().filter(|c| !c.is_empty() && !c.contains(' ')) {
        assert!(
            done.stdout.lines().any(|l| l.trim_start().starts_with(command)),
            "{command}\n{done}"
        );
    }
}

#[test]
fn no_arguments_show_the_help() {
    let test = TestDir::new();
    let done = test.run("").exits(2);
    assert!(done.stderr.contains("Usage: incrowd"), "{done}");
}

#[test]
fn the_examples_of_the_help_work() {
    let test = TestDir::new();
    let mut table = String::from("name,age,sex,zip,disease\n");
    for i in 0..40 {
        table += &format!("p{i},{},{},0213{},flu\n", 20 + i % 7, ["f", "m"][i % 2], i % 3);
    }
    test.write("people.csv", &table);
    test.write("anything.csv", "age,sex,zip\n".to_owned() + &"1,f,02139\n".repeat(10));
    let mut tried = 0;
    for command in ["anonymize", "verify"] {
        let help = test.succeeds(&format!("{command} --help")).prints(&["Examples:"]).stdout;
        let start = format!("  incrowd {command} ");
        for line in help.lines().filter(|l| l.starts_with(&start)) {
            let args = line.split("   (").next().unwrap().trim().trim_start_matches("incrowd ");
            // Examples with other files and examples of several lines are skipped.
            let own = ["people.csv", "people.release.csv", "anything.csv"];
            let first = args.split_whitespace().nth(1).unwrap();
            if own.contains(&first) && !args.contains("job.toml") && !args.ends_with('\\') {
                test.succeeds(args);
                tried += 1;
            }
        }
    }
    assert_eq!(tried, 4);
    test.succeeds("measure --help")
        .prints(&["Examples:", "incrowd measure people.csv people.release.csv"]);
}

#[test]
fn the_job_file_of_the_help_works() {
    let test = TestDir::new();
    let help = test.succeeds("anonymize --help").stdout;
    let (_, job) = help.split_once("  [input]\n").unwrap();
    let job: Vec<&str> = job.lines().map(str::trim).collect();
    test.write("job.toml", format!("[input]\n{}\n", job.join("\n")));
    test.write("people.csv", "name,age,zip,disease\n".to_owned() + &"a,1,02139,flu\n".repeat(10));
    test.succeeds("anonymize job.toml");
    test.succeeds("verify people.release.csv").prints(&["k-anonymity(k=10)   holds"]);
}

#[test]
fn the_version_is_that_of_the_package() {
    let test = TestDir::new();
    let done = test.succeeds("--version");
    assert_eq!(done.stdout, concat!("incrowd ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn completions_exist_for_every_shell() {
    let test = TestDir::new();
    for (shell, word) in [
        ("bash", "complete -F _incrowd"),
        ("zsh", "#compdef incrowd"),
        ("fish", "complete -c incrowd"),
    ] {
        let done = test.succeeds(&format!("completions {shell}"));
        assert_eq!(done.stderr, "", "{done}");
        done.prints(&[word, "anonymize", "suppression-limit", "hierarchy"]);
    }
    test.refuses("completions tcsh").exits(2).reports(&["tcsh", "bash"]);
    test.refuses("completions").exits(2).reports(&["<SHELL>"]);
}
