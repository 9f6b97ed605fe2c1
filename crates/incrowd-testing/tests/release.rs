//! Publishing: the order of the crates, the workflow, and the list of accepted duplicate
//! dependencies.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use incrowd_testing::workspace::{metadata, publish_order, top};
use serde_json::{Value, json};

fn text(path: &str) -> String {
    let path = top().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn every_crate_is_published_after_its_dependencies() {
    let metadata = metadata().unwrap();
    let order = publish_order(&metadata).unwrap();
    let at = |name: &str| order.iter().position(|one| one == name);
    assert!(at("incrowd-web").is_some() && at("incrowd-web") < at("incrowd-cli"), "{order:?}");
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        assert_eq!(at(name).is_some(), package["publish"].is_null(), "{name}");
        for needed in package["dependencies"].as_array().unwrap() {
            let needed_by_users = needed["kind"] != "dev" && needed["path"].is_string();
            if at(name).is_some() && needed_by_users {
                let needed = needed["name"].as_str().unwrap();
                assert!(
                    at(needed).is_some() && at(needed) < at(name),
                    "{name} needs {needed}: {order:?}"
                );
            }
        }
    }
}

#[test]
fn an_impossible_order_is_refused() {
    let package = |name: &str, publish: Value, needs: Value| json!({ "name": name, "publish": publish, "dependencies": needs });
    let needs = |name: &str| json!({ "name": name, "kind": null, "req": "^1" });
    let dev = |name: &str, req: &str| json!({ "name": name, "kind": "dev", "req": req });
    let order = |packages: &[Value]| publish_order(&json!({ "packages": packages }));
    let (yes, no) = (json!(null), json!([]));
    let sound = [
        package("a", yes.clone(), json!([needs("b"), needs("serde"), dev("tests", "*")])),
        package("b", yes.clone(), json!([dev("c", "^1")])),
        package("c", yes.clone(), json!([dev("a", "*")])),
        package("tests", no.clone(), json!([needs("a")])),
    ];
    assert_eq!(order(&sound).unwrap(), ["c", "b", "a"]);
    let circle = [
        package("a", yes.clone(), json!([needs("b")])),
        package("b", yes.clone(), json!([needs("a")])),
    ];
    assert!(order(&circle).unwrap_err().contains("a, b"));
    let private = [package("a", yes, json!([needs("b")])), package("b", no, json!([]))];
    assert!(order(&private).unwrap_err().contains("needs b"));
}

/// Returns the steps of a workflow as text.
fn steps(workflow: &str) -> Vec<&str> {
    workflow
        .split("\n      - ")
        .skip(1)
        .map(|step| step.split("\n\n").next().unwrap_or(step))
        .collect()
}

#[test]
fn actions_are_pinned_by_commit_with_their_version() {
    let mut seen = 0;
    for workflow in ["release.yml", "test.yml"] {
        let workflow = text(&format!(".github/workflows/{workflow}"));
        for line in workflow
            .lines()
            .filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("uses: "))
        {
            let (action, version) =
                line.split_once(" # v").unwrap_or_else(|| panic!("no version: {line}"));
            let commit = action.split_once('@').map_or("", |(_, commit)| commit);
            assert!(commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit()), "{line}");
            assert_eq!(version.split('.').count(), 3, "{line}");
            seen += 1;
        }
    }
    assert!(seen > 10);
}

#[test]
fn jobs_that_build_have_no_token() {
    let workflow = text(".github/workflows/release.yml");
    let with_token: Vec<&str> =
        steps(&workflow).into_iter().filter(|step| step.contains("secrets.")).collect();
    assert_eq!(workflow.matches("secrets.").count(), 1, "one step has one token");
    let runs: Vec<&str> =
        with_token[0].lines().filter(|line| line.trim().starts_with("run:")).collect();
    assert_eq!(runs, ["        run: .github/publish-crates \"${TAG#v}\" $ORDER"]);
    // The workflow does not name the crates: their order is computed.
    assert!(!workflow.contains("incrowd-core") && workflow.contains("--bin publish-order"));
    // A job with a token builds nothing.
    let publishing: Vec<&str> =
        workflow.split("\n\n").filter(|job| job.starts_with("  publish-")).collect();
    assert_eq!(publishing.len(), 3);
    for job in publishing {
        for builds in
            ["cargo build", "cargo test", "cargo run", "cargo package", "./test", "maturin"]
        {
            assert!(!job.contains(builds), "{builds} in\n{job}");
        }
        assert!(job.contains("needs: [wheels, sdist, binaries, crates]"), "{job}");
    }
    assert!(workflow.contains("sha256sum") && workflow.contains("attest-build-provenance@"));
}

/// Runs the script with programs that record their arguments.
#[cfg(unix)]
fn published(registry: &str, crates: &[&str]) -> (bool, Vec<String>) {
    use std::os::unix::fs::PermissionsExt;
    let dir =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("publish-{registry}-{}", crates.len()));
    std::fs::create_dir_all(&dir).unwrap();
    let put = |name: &str, script: &str| {
        std::fs::write(dir.join(name), format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(dir.join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let log = dir.join("log");
    drop(std::fs::remove_file(&log));
    // The registry has `old` in version 1.2.3 and nothing else, or it answers with an error.
    let answer = match registry {
        "sound" => "case \"$*\" in */crates/old/1.2.3) printf 200;; *) printf 404;; esac",
        _ => "printf 503",
    };
    put("curl", answer);
    put(
        "cargo",
        &format!("echo \"$*\" >>'{}'; case \"$*\" in *broken*) exit 101;; esac", log.display()),
    );
    let path = std::env::join_paths(
        std::iter::once(dir.clone())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let mut script = Command::new(top().join(".github/publish-crates"));
    let done = script.arg("1.2.3").args(crates).env("PATH", path.unwrap()).output().unwrap();
    let calls = std::fs::read_to_string(&log).unwrap_or_default();
    (done.status.success(), calls.lines().map(str::to_owned).collect())
}

#[test]
#[cfg(unix)]
fn published_crates_are_skipped_and_a_failure_ends_the_publishing() {
    let publish = |name: &str| format!("publish --locked --no-verify --package {name}");
    assert_eq!(published("sound", &["a", "old", "b"]), (true, vec![publish("a"), publish("b")]));
    assert_eq!(
        published("sound", &["a", "broken", "b", "c"]),
        (false, vec![publish("a"), publish("broken")])
    );
    assert_eq!(published("failing", &["a"]), (false, Vec::new()));
    assert_eq!(published("sound", &[]), (false, Vec::new()));
}

#[test]
fn duplicate_dependencies_are_listed() {
    let lock = text("Cargo.lock");
    let names: Vec<&str> = lock.lines().filter_map(|line| line.strip_prefix("name = ")).collect();
    let twice: BTreeSet<&str> = names
        .iter()
        .filter(|name| names.iter().filter(|other| other == name).count() > 1)
        .copied()
        .collect();
    let deny = text("deny.toml");
    let skip =
        deny.lines().find_map(|line| line.strip_prefix("skip = [")).unwrap().trim_end_matches(']');
    assert_eq!(skip.split(", ").collect::<BTreeSet<_>>(), twice, "deny.toml, skip");
}

/// Returns all source files below a directory.
fn files_below(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let paths = entries.map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| match path.is_dir() {
        true => files_below(&path),
        false => vec![path],
    };
    paths.flat_map(below).filter(|path| path.extension().is_some_and(|own| own == "rs")).collect()
}

#[test]
fn only_the_file_that_security_md_names_has_unsafe_code() {
    let has = |manifest: &str, lines: &str| {
        assert!(text(manifest).contains(&format!("\n{lines}\n")), "{manifest}: {lines}");
    };
    has("Cargo.toml", "[workspace.lints.rust]\nunsafe_code = \"forbid\"");
    for package in metadata().unwrap()["packages"].as_array().unwrap() {
        let manifest = package["manifest_path"].as_str().unwrap();
        match package["name"].as_str() {
            // `forbid` allows no exception.
            Some("incrowd-python") => has(manifest, "[lints.rust]\nunsafe_code = \"deny\""),
            _ => has(manifest, "[lints]\nworkspace = true"),
        }
    }
    let sources = ["crates", "python/src"].map(|dir| files_below(&top().join(dir))).concat();
    assert!(sources.len() > 100, "{}", sources.len());
    // `{}` keeps this file from being found.
    let forms = ["{", "impl", "fn"].map(|form| format!("{} {form}", "unsafe"));
    let has_unsafe = |path: &&PathBuf| {
        let source = std::fs::read_to_string(path).unwrap();
        forms.iter().any(|form| source.contains(form))
    };
    let found: Vec<&PathBuf> = sources.iter().filter(has_unsafe).collect();
    let security = text("SECURITY.md");
    let named = security.split("`unsafe` code is forbidden, except in `").nth(1).unwrap();
    let named = top().join(named.split('`').next().unwrap());
    assert_eq!(found, [&named]);
}

#[test]
fn every_test_that_contributing_md_names_exists() {
    let sources = files_below(&top().join("crates"));
    let sources: Vec<String> =
        sources.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let contributing = text("CONTRIBUTING.md");
    // Names of tests have at least two underscores, unlike most keys and types.
    let is_name = |word: &&str| {
        word.matches('_').count() >= 2 && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
    };
    let names: Vec<&str> = contributing.split('`').skip(1).step_by(2).filter(is_name).collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        assert!(sources.iter().any(|source| source.contains(name)), "`{name}` does not exist");
    }
}
