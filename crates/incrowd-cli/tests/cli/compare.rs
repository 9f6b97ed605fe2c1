//! `incrowd compare`: a sweep that continues after an interruption.

use crate::report::sound;
use crate::test_dir::TestDir;

const SWEEP: &str = "compare people.csv --quasi age,zip --sensitive disease --algorithms mondrian,top-down:seed=1 --k 2,4 \
                     --models k-anonymity,l-diversity:l=2 -o c";

#[test]
fn a_sweep_has_a_table_a_page_and_a_choice() {
    let test = TestDir::with_people();
    let done = test.succeeds(SWEEP);
    done.prints(&[
        "for the data owner only",
        "mondrian",
        "top-down(seed=1)",
        "k-anonymity(k=2) + l-diversity(l=2)",
        "choice   ",
        "Pareto front",
        "comparison.html",
    ]);
    sound(&test.text("c/comparison.html"));
    let csv = test.text("c/comparison.csv");
    assert_eq!(csv.lines().count(), 1 + 2 * 2 * 2);
    assert!(csv.starts_with("algorithm,models,identity_risk,attribute_risk,ncp,"), "{csv}");
    assert_eq!(
        csv.lines().filter(|line| line.contains(",true,true,")).count(),
        1,
        "one is chosen\n{csv}"
    );
    let json = test.json("c/comparison.json");
    assert_eq!((&json["configurations"], &json["finished"]), (&8.into(), &8.into()));
    assert!(
        json.get("results").is_none() && json["private"]["results"].as_array().unwrap().len() == 8
    );
}

/// The scores of a configuration must equal those of a release with that configuration.
#[test]
fn scores_equal_those_of_a_release() {
    let test = TestDir::with_people();
    test.succeeds(SWEEP);
    let comparison = test.json("c/comparison.json");
    let results = comparison["private"]["results"].as_array().unwrap();
    assert_eq!(results.len(), 8);
    for result in results {
        let models = result["models"].as_str().unwrap();
        let k = if models.contains("k=2") { 2 } else { 4 };
        let diverse = if models.contains("l-diversity") { "--model l-diversity:l=2" } else { "" };
        let algorithm = result["algorithm"].as_str().unwrap();
        let seed = if algorithm == "mondrian" { "" } else { "--set seed=1" };
        let name = algorithm.split('(').next().unwrap();
        let args = format!(
            "anonymize people.csv --quasi age,zip --sensitive disease --algorithm {name} {seed} -k {k} {diverse}"
        );
        test.succeeds(&format!("{args} -o r.csv"));
        let manifest = test.json("r.release.json");
        for metric in ["ncp", "discernibility", "information_loss", "average_class_size"] {
            assert_eq!(result["metrics"][metric], manifest["metrics"][metric], "{args}: {metric}");
        }
        assert_eq!(result["groups"], manifest["groups"], "{args}");
        let attacked = test.succeeds("attack r.csv --json").json();
        let worst = |name: &str, what: &str| {
            let all = attacked["attacks"].as_array().unwrap();
            all.iter().find(|a| a["attack"] == name).unwrap()[what].clone()
        };
        assert_eq!(result["identity_risk"], worst("prosecutor", "worst"), "{args}");
        assert_eq!(result["attribute_risk"], worst("homogeneity", "average"), "{args}");
    }
}

#[test]
fn finished_configurations_are_not_repeated() {
    let test = TestDir::with_people();
    test.succeeds(SWEEP);
    let before = test.text("c/results.jsonl");
    let first = before.lines().next().unwrap();
    // A kill may truncate the last line.
    test.write("c/results.jsonl", format!("{first}\n{}", &before.lines().nth(1).unwrap()[..40]));
    test.succeeds(SWEEP).prints(&["1 of 8 results are from an earlier run"]);
    let after = test.text("c/results.jsonl");
    assert!(after.starts_with(first));
    assert_eq!(after.lines().count(), 1 + 1 + 7);
    test.succeeds(SWEEP).prints(&["8 of 8 results are from an earlier run"]);
    // Another table, other roles or another hierarchy are other configurations.
    test.write("people.csv", test.text("people.csv").replace("34,02139", "35,02139"));
    assert!(!test.succeeds(SWEEP).stdout.contains("earlier"));
    assert!(!test.succeeds(&format!("{SWEEP} --hierarchy zip=mask")).stdout.contains("earlier"));
    test.succeeds(&format!("{SWEEP} --hierarchy zip=mask")).prints(&["8 of 8"]);
}

#[test]
fn a_configuration_without_a_release_is_a_result() {
    let test = TestDir::with_people();
    let done = test.succeeds(
        "compare people.csv --quasi age,zip --sensitive disease --algorithms mondrian --k 2,9 -o c",
    );
    done.prints(&["no release (1 of 2)", "choice   mondrian with k-anonymity(k=2)"]);
    let done =
        test.run("compare people.csv --quasi age,zip --algorithms mondrian --k 9,10 -o d").exits(1);
    done.prints(&["no configuration gives a release"]);
}

#[test]
fn a_job_file_is_equivalent_to_flags() {
    let test = TestDir::with_people();
    let job = "[input]\npath = \"people.csv\"\n[columns]\nage = \"quasi\"\nzip = \"quasi\"\ndisease = \"sensitive\"\n[compare]\n\
               algorithms = [\"mondrian\", \"top-down:seed=1\"]\nk = [2, 4]\nmodels = [\"k-anonymity\", \"l-diversity:l=2\"]\n\
               dir = \"out\"\n";
    test.write("job.toml", job);
    test.succeeds("compare job.toml");
    test.succeeds(SWEEP);
    let rows = |name: &str| {
        let json = test.json(name)["private"]["results"].clone();
        let all = json.as_array().unwrap().clone();
        all.into_iter()
            .map(|mut r| {
                r["seconds"] = 0.into();
                r
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(rows("out/comparison.json"), rows("c/comparison.json"));
    // `anonymize` ignores the section.
    test.succeeds("anonymize job.toml -k 2 -o r.csv");
    for (wrong, expected) in [
        ("k = [0]", "a whole number, 1 or more"),
        ("kk = [2]", "did you mean"),
        ("loss = \"nncp\"", "ncp"),
    ] {
        test.write("bad.toml", job.replace("k = [2, 4]", wrong));
        test.refuses("compare bad.toml").exits(2).reports(&[expected]);
    }
}

#[test]
fn invalid_sweeps_are_refused() {
    let test = TestDir::with_people();
    let start = "compare people.csv --quasi age,zip -o c";
    for (args, expected) in [
        ("--algorithms mondrain", "did you mean `mondrian`"),
        ("--models k-anonimity", "did you mean `k-anonymity`"),
        ("--models l-diversity:m=2", "l-diversity"),
        ("--algorithms mondrian:cat=strict", "mondrian"),
        ("--loss groups", "there is no loss"),
        ("--suppression-limit 2", "from 0 to 1"),
        ("--quasi nobody", "no column `nobody`"),
    ] {
        let args = if args.contains("--quasi") {
            format!("compare people.csv {args} -o c")
        } else {
            format!("{start} {args}")
        };
        test.refuses(&args).exits(2).reports(&[expected]);
    }
}

#[test]
#[cfg(unix)]
fn an_interrupted_sweep_keeps_its_results() {
    use std::time::{Duration, Instant};
    let test = TestDir::new();
    test.succeeds("demo --data-only --rows 60000 --dir .");
    let ks: Vec<String> = (2..120).map(|k| k.to_string()).collect();
    let args = format!(
        "compare job.toml --algorithms mondrian,top-down --k {} -o c --threads 1",
        ks.join(",")
    );
    let run = test.start(&args);
    let log = test.path().join("c/results.jsonl");
    let began = Instant::now();
    while std::fs::read_to_string(&log).unwrap_or_default().lines().count() < 2 {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing was begun");
        std::thread::sleep(Duration::from_millis(5));
    }
    // Two signals at the same moment, as `timeout` sends them, count as one.
    for _ in 0..2 {
        let asked = std::process::Command::new("kill")
            .args(["-INT", &run.id().to_string()])
            .status()
            .unwrap();
        assert!(asked.success());
    }
    let done = crate::test_dir::Outcome::new(&args, run.wait_with_output().unwrap()).exits(130);
    done.reports(&["interrupted after", "to continue"]).prints(&["choice   "]);
    sound(&test.text("c/comparison.html"));
    let json = test.json("c/comparison.json");
    let finished = json["finished"].as_u64().unwrap();
    assert!(finished >= 2 && finished < json["configurations"].as_u64().unwrap(), "{finished}");
    assert_eq!(test.text("c/results.jsonl").lines().count() as u64, finished);
    // Continuing with fewer configurations uses the finished ones only.
    let few: Vec<&str> = ks.iter().take(2).map(String::as_str).collect();
    let again =
        format!("compare job.toml --algorithms mondrian --k {} -o c --threads 1", few.join(","));
    test.succeeds(&again).prints(&["2 of 2 results are from an earlier run"]);
}

#[test]
fn files_that_a_comparison_did_not_write_are_unchanged() {
    let files = ["comparison.csv", "comparison.json", "comparison.html", "results.jsonl"];
    for name in files {
        let test = TestDir::with_people();
        test.write(&format!("c/{name}"), "mine\n");
        test.refuses(SWEEP).exits(2).reports(&[
            &format!("`c/{name}` exists and was not made by incrowd"),
            "name another directory",
        ]);
    }
    // Files of an earlier comparison are replaced, and so is an empty file.
    let test = TestDir::with_people();
    files.iter().for_each(|name| test.write(&format!("c/{name}"), ""));
    test.succeeds(SWEEP);
    test.succeeds(SWEEP).prints(&["8 of 8 results are from an earlier run"]);
}
