//! Runs every console block of README, CONTRIBUTING and `docs/` and compares the output.
//!
//! The commands of a page run in order through `sh`, in a new directory, with the built `incrowd`
//! first on the path. The shown output is compared with standard output and standard error
//! together; `…` marks omitted output. A command without shown output must exit with code 0, or
//! with the code given by `# exit 1` at its end. `page.rs` describes the marks of blocks that
//! cannot run or need public data.
//!
//! `INCROWD_UPDATE_DOCS=1 cargo test -p incrowd-cli --test docs` writes the printed output into the
//! pages.

mod matching;
mod page;

use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use incrowd_testing::postgres::Server;

use matching::{GAP, alike, mended, trimmed};
use page::{Shown, Step, steps};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The directory in which the commands of a page run.
struct TestDir {
    dir: tempfile::TempDir,
    home: tempfile::TempDir,
    /// A database, if the page needs one.
    server: RefCell<Option<Server>>,
}

impl TestDir {
    /// Runs a command and returns its output and exit code.
    fn run(&self, command: &str) -> (String, Option<i32>) {
        let built =
            Path::new(env!("CARGO_BIN_EXE_incrowd")).parent().expect("it lies in a directory");
        let usual = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(
            [built.to_owned()].into_iter().chain(std::env::split_paths(&usual)),
        );
        let printed = self.home.path().join("printed");
        let file = std::fs::File::create(&printed).unwrap();
        let status = Command::new("sh")
            .args(["-c", command])
            .current_dir(self.dir.path())
            .envs(
                ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"]
                    .map(|name| (name, self.home.path())),
            )
            .envs([("LC_ALL", "C.UTF-8"), ("NO_COLOR", "1"), ("TERM", "dumb")])
            .envs(self.server.borrow().iter().flat_map(Server::settings))
            .env("PATH", path.unwrap())
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .status()
            .unwrap();
        (String::from_utf8_lossy(&std::fs::read(printed).unwrap()).into_owned(), status.code())
    }

    /// Links public data into the directory, or returns which data is missing.
    fn provide(&self, needs: &[String]) -> Result<(), String> {
        for name in needs {
            if name == "postgresql" {
                if self.server.borrow().is_none() {
                    *self.server.borrow_mut() = Some(Server::start("trust")?);
                }
                continue;
            }
            let from = std::fs::canonicalize(incrowd_testing::data(name)?.join(name)).unwrap();
            let to = self.dir.path().join(name);
            if !to.exists() {
                std::os::unix::fs::symlink(from, to).unwrap();
            }
        }
        Ok(())
    }
}

/// A page under test.
struct Page<'a> {
    name: &'a str,
    lines: Vec<&'a str>,
    /// The failures.
    wrong: Vec<String>,
    /// Replacements of lines, for the update mode.
    mends: Vec<(Range<usize>, Vec<String>)>,
}

impl Page<'_> {
    fn run(&mut self, test: &TestDir, shown: &Shown, last: &mut String) {
        let place = format!("{}:{}", self.name, shown.line);
        if let Some(command) = &shown.command {
            let (printed, code) = test.run(command);
            *last = printed;
            if code != Some(shown.exit()) {
                let code = code.map_or("a signal".to_owned(), |code| code.to_string());
                self.wrong.push(format!(
                    "{place}: {command}\nended with {code}, not {}\n{last}",
                    shown.exit()
                ));
                return;
            }
        }
        let printed = trimmed(&last.lines().collect::<Vec<_>>());
        let own = trimmed(&self.lines[shown.output.clone()]);
        let part = shown.command.is_none();
        let expected = if part { [&[GAP], &own[..], &[GAP]].concat() } else { own.clone() };
        if own.is_empty() || alike(&expected, &printed) {
            return;
        }
        let text =
            |lines: &[&str]| lines.iter().map(|line| format!("    {line}\n")).collect::<String>();
        let command = shown.command.as_deref().unwrap_or("(a part of what was printed before)");
        self.wrong.push(format!(
            "{place}: {command}\n  shows\n{}  but prints\n{}",
            text(&own),
            text(&printed)
        ));
        let mut mend = mended(&expected, &printed);
        if part {
            mend.retain(|line| line.trim() != GAP);
        }
        self.mends.push((shown.output.clone(), mend));
    }

    /// Returns the page with its replacements.
    fn mended(&self) -> String {
        let mut lines: Vec<String> = self.lines.iter().map(|line| (*line).to_owned()).collect();
        for (range, mend) in self.mends.iter().rev() {
            lines.splice(range.clone(), mend.iter().cloned());
        }
        lines.join("\n") + "\n"
    }
}

/// Runs a page.
fn check(name: &str) {
    let text = std::fs::read_to_string(root().join(name)).unwrap();
    let (dir, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let test = TestDir { dir, home, server: RefCell::new(None) };
    let mut page =
        Page { name, lines: text.lines().collect(), wrong: Vec::new(), mends: Vec::new() };
    let mut last = String::new();
    for step in steps(&text) {
        match step {
            // The blocks that need missing data are reported.
            Step::Prepare { needs, .. } if test.provide(&needs).is_err() => {}
            Step::Prepare { commands, .. } => {
                let (printed, code) = test.run(&format!("set -e\n{commands}"));
                assert!(
                    code == Some(0),
                    "{name}: what prepares the page failed:\n{commands}\n{printed}"
                );
            }
            Step::Block { not_run: Some(_), .. } => {}
            Step::Block { needs, shown, .. } => match test.provide(&needs) {
                Ok(()) => shown.iter().for_each(|shown| page.run(&test, shown, &mut last)),
                Err(why) => {
                    incrowd_testing::skipped(format_args!("{name}:{}: {why}", shown[0].line))
                }
            },
        }
    }
    if std::env::var_os("INCROWD_UPDATE_DOCS").is_some() && !page.mends.is_empty() {
        std::fs::write(root().join(name), page.mended()).unwrap();
    }
    let help = "INCROWD_UPDATE_DOCS=1 cargo test -p incrowd-cli --test docs   puts what is printed into the pages";
    assert!(page.wrong.is_empty(), "\n{}\n{help}\n", page.wrong.join("\n"));
}

/// Defines one test per page and the list of pages.
macro_rules! pages {
    ($($test:ident $name:literal)*) => {
        $(#[test]
        fn $test() {
            check($name);
        })*

        #[test]
        fn every_page_with_a_console_block_is_on_the_list() {
            let mut pages = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
            pages.extend(std::fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path()));
            for page in pages.iter().filter(|page| page.extension().is_some_and(|end| end == "md")) {
                let listed = [$($name),*].iter().any(|name| page.ends_with(name));
                let text = std::fs::read_to_string(page).unwrap();
                let blocks = text.lines().any(|line| line == "```console");
                assert!(listed || !blocks, "{} is not on the list in tests/docs/main.rs", page.display());
            }
        }
    };
}

pages! {
    readme "README.md"
    contributing "CONTRIBUTING.md"
    attacks "docs/attacks.md"
    comparing "docs/compare.md"
    full_domain "docs/full-domain.md"
    hierarchies "docs/hierarchies.md"
    k_join_anonymity "docs/k-join-anonymity.md"
    least_loss "docs/least-loss.md"
    models "docs/models.md"
    optimized_mondrian "docs/optimized-mondrian.md"
    local_suppression "docs/local-suppression.md"
    microaggregation "docs/microaggregation.md"
    coming_from "docs/coming-from.md"
    plain_k_anonymity "docs/plain-k-anonymity.md"
    postgres "docs/postgres.md"
    profile "docs/profile.md"
    publishing "docs/publishing.md"
    report "docs/report.md"
    serve "docs/serve.md"
    persons "docs/persons.md"
    singling_out "docs/singling-out.md"
    skewed "docs/skewed.md"
    using_a_release "docs/using-a-release.md"
    utility "docs/utility.md"
    weights "docs/weights.md"
}
