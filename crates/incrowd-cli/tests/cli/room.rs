//! A directory of its own for each test, and what the binary did in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// Eight people; the ages and the zips of any two neighbours differ little.
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

/// In every cell a message must not show.
pub(crate) const SECRET: &str = "S3CR3T";

/// A run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Room {
    dir: TempDir,
}

impl Room {
    pub(crate) fn new() -> Room {
        Room { dir: tempfile::tempdir().unwrap() }
    }

    /// A room with `people.csv` in it.
    pub(crate) fn with_people() -> Room {
        let room = Room::new();
        room.write("people.csv", PEOPLE);
        room
    }

    /// A room with `people.csv` and a release from before, which a refusal must not touch.
    pub(crate) fn with_old_release() -> Room {
        let room = Room::with_people();
        room.write("out.csv", "the old release\n");
        room.write("out.release.json", "the old manifest\n");
        room
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
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

    /// The lines after the header, sorted: what a table says whatever its order.
    pub(crate) fn records(&self, name: &str) -> Vec<String> {
        let mut lines: Vec<String> = self.text(name).lines().skip(1).map(str::to_owned).collect();
        lines.sort();
        lines
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.bytes(name)).unwrap()
    }

    /// The names of all files and directories, hidden ones too, in order.
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

    /// All files with what is in them; directories have nothing in them.
    pub(crate) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let content = |name: &String| {
            let path = self.path().join(name);
            if path.is_dir() { Vec::new() } else { std::fs::read(path).unwrap() }
        };
        self.names().into_iter().map(|name| (name.clone(), content(&name))).collect()
    }

    /// The binary, ready to be started in this room without any setting of the one who runs the tests.
    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_incrowd"));
        command.current_dir(self.path()).env("LC_ALL", "C.UTF-8");
        // Keys are made in this room, not where the one who runs the tests keeps theirs.
        command.env("XDG_CONFIG_HOME", self.path().join("config"));
        for setting in ["NO_GRAPHICS", "CLICOLOR_FORCE", "FORCE_COLOR", "COLUMNS"] {
            command.env_remove(setting);
        }
        command
    }

    /// Starts what is typed after `incrowd` and does not wait for it.
    pub(crate) fn start(&self, typed: &str) -> Child {
        let mut command = self.command();
        command.args(typed.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Runs what is typed after `incrowd`; no argument has a space in it.
    pub(crate) fn run(&self, typed: &str) -> Done {
        let mut command = self.command();
        command.args(typed.split_whitespace());
        let output = assert_cmd::Command::from_std(command).timeout(PATIENCE).output().unwrap();
        Done::new(typed, output)
    }

    /// The same with some settings of the environment.
    #[cfg(unix)]
    pub(crate) fn run_with(&self, typed: &str, settings: &[(&str, &str)]) -> Done {
        let mut command = self.command();
        command.args(typed.split_whitespace()).envs(settings.iter().copied());
        let output = assert_cmd::Command::from_std(command).timeout(PATIENCE).output().unwrap();
        Done::new(typed, output)
    }

    /// Runs what is typed after `incrowd`, with its result sent elsewhere.
    #[cfg(unix)]
    pub(crate) fn run_into(&self, typed: &str, stdout: impl Into<Stdio>) -> Done {
        let mut command = self.command();
        command.args(typed.split_whitespace()).stdout(stdout).stderr(Stdio::piped());
        Done::new(typed, command.spawn().unwrap().wait_with_output().unwrap())
    }

    /// Runs what must work.
    pub(crate) fn does(&self, typed: &str) -> Done {
        self.run(typed).exits(0)
    }

    /// Runs what must be refused: one message, no result, no cell shown, and the directory as it was.
    pub(crate) fn refuses(&self, typed: &str) -> Done {
        let before = self.files();
        let done = self.run(typed);
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

/// What a run left on its outputs.
pub(crate) struct Done {
    typed: String,
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl std::fmt::Display for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "$ incrowd {}\n{}{}[exit {}]", self.typed, self.stdout, self.stderr, self.code)
    }
}

impl Done {
    pub(crate) fn new(typed: &str, output: Output) -> Done {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Done {
            typed: typed.to_owned(),
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    pub(crate) fn exits(self, code: i32) -> Done {
        assert_eq!(self.code, code, "{self}");
        self
    }

    /// Whether the message has all these words, wherever its lines are broken.
    pub(crate) fn says(self, words: &[&str]) -> Done {
        let message = self.stderr.replace("\n  │ ", " ");
        for word in words {
            assert!(message.contains(word), "`{word}` is not said\n{self}");
        }
        self
    }

    /// Whether the result has all these words.
    pub(crate) fn prints(self, words: &[&str]) -> Done {
        for word in words {
            assert!(self.stdout.contains(word), "`{word}` is not printed\n{self}");
        }
        self
    }

    /// The result, which must be JSON and nothing else.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("not JSON: {e}\n{self}"))
    }
}
