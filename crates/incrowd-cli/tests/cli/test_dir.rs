//! A temporary directory for a test, and the outcome of commands in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// Eight people; the ages and zips of neighbours are similar.
pub(crate) const PEOPLE: &str = "\
name,age,zip,disease
ann,34,02139,flu
bob,36,02139,cold
cyd,51,02140,flu
dan,58,02141,none
eva,22,90210,cold
fay,25,90210,none
gus,67,90211,flu
hal,63,90213,gout
";

/// A part of every cell that messages must not show.
pub(crate) const SECRET: &str = "S3CR3T";

/// The time limit of a run.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct TestDir {
    dir: TempDir,
    /// The configuration directory of the runs. It is separate, so that tests see only the files of
    /// publishing.
    config: TempDir,
}

impl TestDir {
    pub(crate) fn new() -> TestDir {
        TestDir { dir: tempfile::tempdir().unwrap(), config: tempfile::tempdir().unwrap() }
    }

    /// A directory with `people.csv`.
    pub(crate) fn with_people() -> TestDir {
        let test = TestDir::new();
        test.write("people.csv", PEOPLE);
        test
    }

    /// A directory with `people.csv` and an old release, which a refused command must not change.
    pub(crate) fn with_old_release() -> TestDir {
        let test = TestDir::with_people();
        test.succeeds(
            "anonymize people.csv --quasi age,zip --sensitive disease -k 2 --algorithm mondrian -o out.csv",
        );
        test
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn config(&self) -> &Path {
        self.config.path()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// Returns the lines after the header, sorted.
    pub(crate) fn records(&self, name: &str) -> Vec<String> {
        let mut lines: Vec<String> = self.text(name).lines().skip(1).map(str::to_owned).collect();
        lines.sort();
        lines
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.bytes(name)).unwrap()
    }

    /// Returns the names of all files and directories, including hidden ones, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut open: Vec<PathBuf> = vec![self.path().to_owned()];
        while let Some(directory) = open.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                names.push(path.strip_prefix(self.path()).unwrap().display().to_string());
                open.extend(path.is_dir().then_some(path));
            }
        }
        names.sort();
        names
    }

    /// Returns all files with their content; directories have none.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let content = |name: &String| {
            let path = self.path().join(name);
            if path.is_dir() { Vec::new() } else { std::fs::read(path).unwrap() }
        };
        self.names().into_iter().map(|name| (name.clone(), content(&name))).collect()
    }

    /// Returns a command that runs the binary in this directory, with a fixed environment.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_incrowd"));
        command.current_dir(self.path()).env("LC_ALL", "C.UTF-8");
        // Not the configuration of the user who runs the tests.
        command.env("XDG_CONFIG_HOME", self.config());
        for setting in ["NO_GRAPHICS", "CLICOLOR_FORCE", "FORCE_COLOR", "COLUMNS"] {
            command.env_remove(setting);
        }
        command
    }

    /// Starts `incrowd` with the arguments and does not wait for it.
    pub(crate) fn start(&self, args: &str) -> Child {
        let mut command = self.command();
        command.args(args.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Runs `incrowd` with the arguments, which must not contain spaces.
    pub(crate) fn run(&self, args: &str) -> Outcome {
        let mut command = self.command();
        command.args(args.split_whitespace());
        let output = assert_cmd::Command::from_std(command).timeout(PATIENCE).output().unwrap();
        Outcome::new(args, output)
    }

    /// Runs `incrowd` with additional environment variables.
    #[cfg(unix)]
    pub(crate) fn run_with(&self, args: &str, settings: &[(&str, &str)]) -> Outcome {
        let mut command = self.command();
        command.args(args.split_whitespace()).envs(settings.iter().copied());
        let output = assert_cmd::Command::from_std(command).timeout(PATIENCE).output().unwrap();
        Outcome::new(args, output)
    }

    /// Returns a command that runs `incrowd` with a limit on its allocated memory. Mapped files do
    /// not count.
    #[cfg(target_os = "linux")]
    pub(crate) fn command_within(&self, mebibytes: u64, args: &str) -> Command {
        let plain = self.command();
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -d \"$0\" && exec \"$@\"", &(mebibytes << 10).to_string()]);
        command.arg(plain.get_program()).args(args.split_whitespace()).current_dir(self.path());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// Runs `incrowd` with a limit on its allocated memory.
    #[cfg(target_os = "linux")]
    pub(crate) fn run_within(&self, mebibytes: u64, args: &str) -> Outcome {
        let command = self.command_within(mebibytes, args);
        let output = assert_cmd::Command::from_std(command).timeout(PATIENCE).output().unwrap();
        Outcome::new(args, output)
    }

    /// Runs `incrowd` with another standard output.
    #[cfg(unix)]
    pub(crate) fn run_into(&self, args: &str, stdout: impl Into<Stdio>) -> Outcome {
        let mut command = self.command();
        command.args(args.split_whitespace()).stdout(stdout).stderr(Stdio::piped());
        Outcome::new(args, command.spawn().unwrap().wait_with_output().unwrap())
    }

    /// Runs a command that must succeed.
    pub(crate) fn succeeds(&self, args: &str) -> Outcome {
        self.run(args).exits(0)
    }

    /// Runs a command that must fail: one message, no result, no cell shown, and no file changed.
    pub(crate) fn refuses(&self, args: &str) -> Outcome {
        let before = self.files();
        let done = self.run(args);
        let stderr = &done.stderr;
        assert_ne!(done.code, 0, "{done}");
        assert_eq!(done.stdout, "", "a refusal has no result\n{done}");
        assert_eq!(stderr.matches("error:").count(), 1, "one message\n{done}");
        assert!(!stderr.contains("panicked") && !stderr.contains("a bug in incrowd"), "{done}");
        assert!(!stderr.contains(SECRET), "a cell is shown\n{done}");
        let after = self.files();
        let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&before), names(&after), "files came or went\n{done}");
        for (name, content) in before {
            assert!(content == after[&name], "`{name}` was changed\n{done}");
        }
        done
    }
}

/// The outcome of a run.
pub(crate) struct Outcome {
    args: String,
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "$ incrowd {}\n{}{}[exit {}]", self.args, self.stdout, self.stderr, self.code)
    }
}

impl Outcome {
    pub(crate) fn new(args: &str, output: Output) -> Outcome {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Outcome {
            args: args.to_owned(),
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    pub(crate) fn exits(self, code: i32) -> Outcome {
        assert_eq!(self.code, code, "{self}");
        self
    }

    /// Checks that standard error contains all these texts, ignoring line breaks.
    pub(crate) fn reports(self, words: &[&str]) -> Outcome {
        let message = self.stderr.replace("\n  │ ", " ");
        for word in words {
            assert!(message.contains(word), "`{word}` is not said\n{self}");
        }
        self
    }

    /// Checks that standard output contains all these texts.
    pub(crate) fn prints(self, words: &[&str]) -> Outcome {
        for word in words {
            assert!(self.stdout.contains(word), "`{word}` is not printed\n{self}");
        }
        self
    }

    /// Parses standard output as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("not JSON: {e}\n{self}"))
    }
}
