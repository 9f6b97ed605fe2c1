//! A page of the documentation and its commands.
//!
//! In a block marked `console`, a line that begins with `$ ` is a command, continued while lines
//! end with `\`. Its output follows. A block without a command shows a part of the output of the
//! last command. A comment above a block can set options:
//! - `<!-- not run: WHY -->`: the block is not run;
//! - `<!-- needs: FILE FILE -->`: these files or directories of the public data are linked into the
//!   directory first.
//!
//! `<!-- run: COMMANDS -->` runs commands that readers do not see. It may need data as well.

/// A command and its shown output.
#[derive(Debug, PartialEq)]
pub(crate) struct Shown {
    /// The command. `None` if the lines are a part of the output of the last command.
    pub(crate) command: Option<String>,
    /// The line number on the page, from 1.
    pub(crate) line: usize,
    /// The lines of the page with the shown output, from 0, end excluded.
    pub(crate) output: std::ops::Range<usize>,
}

impl Shown {
    /// Returns the exit code that a comment at the end of the command gives.
    pub(crate) fn exit(&self) -> i32 {
        let comment = self.command.as_deref().and_then(|command| command.rsplit_once("# exit "));
        comment
            .map_or(0, |(_, code)| code.trim().parse().expect("`# exit` is followed by a number"))
    }
}

/// One action, in the order of the page.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    Prepare { needs: Vec<String>, commands: String },
    Block { needs: Vec<String>, not_run: Option<String>, shown: Vec<Shown> },
}

/// Returns the steps of a page.
pub(crate) fn steps(text: &str) -> Vec<Step> {
    let lines: Vec<&str> = text.lines().collect();
    let (mut steps, mut at) = (Vec::new(), 0);
    while at < lines.len() {
        let above = at.checked_sub(1).map_or("", |above| lines[above]);
        let said =
            |what: &str| Some(above.strip_prefix(what)?.strip_suffix("-->")?.trim().to_owned());
        let files = said("<!-- needs:").unwrap_or_default();
        let needs: Vec<String> = files.split_whitespace().map(str::to_owned).collect();
        if let Some(first) = lines[at].strip_prefix("<!-- run:") {
            let mut commands = first.to_owned();
            while !commands.contains("-->") {
                at += 1;
                commands = commands + "\n" + lines[at];
            }
            steps.push(Step::Prepare { needs, commands: commands.replace("-->", "") });
        } else if lines[at] == "```console" {
            let end =
                at + 1 + lines[at + 1..].iter().position(|l| *l == "```").expect("the block ends");
            steps.push(Step::Block {
                needs,
                not_run: said("<!-- not run:"),
                shown: block(&lines, at + 1, end),
            });
            at = end;
        } else if lines[at].starts_with("```") {
            at += 1 + lines[at + 1..]
                .iter()
                .position(|l| l.starts_with("```"))
                .expect("the block ends");
        }
        at += 1;
    }
    steps
}

fn block(lines: &[&str], from: usize, end: usize) -> Vec<Shown> {
    let (mut all, mut at) = (Vec::new(), from);
    while at < end {
        let line = at + 1;
        let mut command = None;
        if let Some(args) = lines[at].strip_prefix("$ ") {
            let mut args = args.to_owned();
            while args.ends_with('\\') {
                at += 1;
                args = args + "\n" + lines[at];
            }
            command = Some(args);
            at += 1;
        }
        let output = at;
        while at < end && !lines[at].starts_with("$ ") {
            at += 1;
        }
        all.push(Shown { command, line, output: output..at });
    }
    all
}

#[test]
fn commands_marks_and_output_are_parsed() {
    let text = "\
Text
<!-- run: touch a
touch b -->
```toml
$ x
```
<!-- needs: adult.csv.gz hierarchies -->
```console
$ one \\
   more   # exit 1
printed

too
$ two
```
<!-- not run: takes long -->
```console
a part
```
";
    let shown =
        |command: &str, line, output| Shown { command: Some(command.to_owned()), line, output };
    let first = shown("one \\\n   more   # exit 1", 9, 10..13);
    assert_eq!(first.exit(), 1);
    assert_eq!(
        steps(text),
        [
            Step::Prepare { needs: Vec::new(), commands: " touch a\ntouch b ".to_owned() },
            Step::Block {
                needs: vec!["adult.csv.gz".to_owned(), "hierarchies".to_owned()],
                not_run: None,
                shown: vec![first, shown("two", 14, 14..14)],
            },
            Step::Block {
                needs: Vec::new(),
                not_run: Some("takes long".to_owned()),
                shown: vec![Shown { command: None, line: 18, output: 17..18 }],
            },
        ]
    );
}
