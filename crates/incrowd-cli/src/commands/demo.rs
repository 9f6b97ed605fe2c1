//! `incrowd demo`: anonymizes and verifies a synthetic table.

use std::fs;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use incrowd::{Error, FoldSpec, Options, Progress, Result, Source};
use serde_json::json;

use incrowd_synth::{Role, Synth, Table, hierarchy};

use crate::args::DemoArgs;
use crate::commands;
use crate::failure::Failure;
use crate::print::{OutputMode, outln, thousands};
use crate::progress::Bar;

const FILES: [&str; 5] =
    ["people.csv", "people.release.csv", "people.release.json", "job.toml", "hierarchies"];

/// The first line of the job file. It identifies a directory as one of the demo.
const FIRST_LINE: &str = "# A job of the incrowd demo. Relative paths are relative to this file.";

pub(crate) fn run(args: &DemoArgs, mode: OutputMode) -> Result<ExitCode, Failure> {
    let table: Table = args.table.parse().map_err(|_| {
        Error::job(format!("there is no table `{}`", args.table))
            .help_near(&args.table, Table::ALL.iter().map(|t| t.name()))
    })?;
    let quasi = quasi(table);
    let settings = Settings { table, rows: args.rows, seed: args.seed, k: args.k };
    make(&args.dir, settings, mode)?;
    let job_path = args.dir.join("job.toml");
    let file = incrowd::job::read(&job_path)?;
    incrowd::front_end::unauthenticated_by_job(&file.job).iter().for_each(|text| mode.warn(text));
    if args.data_only {
        if mode.json {
            let files =
                json!({ "table": args.dir.join("people.csv"), "job": job_path, "rows": args.rows });
            mode.print_json(&files);
        } else {
            outln!(
                "wrote    {}   {} people",
                args.dir.join("people.csv").display(),
                thousands(args.rows)
            );
            outln!("next     incrowd anonymize {}", job_path.display());
        }
        return Ok(ExitCode::SUCCESS);
    }
    let unique = unique_people(&args.dir.join("people.csv"), &quasi)?;
    let report = incrowd::Anonymizer::new(&file.job)
        .progress(&Bar::new(mode))
        .run()
        .map_err(|e| file.provenance.locate(e))?;
    let release = args.dir.join("people.release.csv");
    let checked = incrowd::Judging::new(&release).progress(&Bar::new(mode)).verify()?;
    if mode.json {
        mode.print_json(&report.manifest.to_json());
        return Ok(ExitCode::from(u8::from(!checked.holds())));
    }
    outln!(
        "people   {}   {} synthetic people",
        args.dir.join("people.csv").display(),
        thousands(args.rows)
    );
    outln!(
        "risk     {} of them are unique on {}: an adversary who knows these values finds the \
         person",
        thousands(unique),
        quasi.join(", ")
    );
    outln!("");
    commands::anonymize::print(&report, false);
    outln!("");
    let groups = report.verification.judgements.first().map_or(0.0, |j| j.have);
    outln!(
        "Each person now shares their published cells with at least {} others.",
        groups as u64 - 1
    );
    outln!("The release was read back from disk and verified before it was published.");
    outln!("\nbefore");
    head(&args.dir.join("people.csv"))?;
    outln!("after (in random order)");
    head(&release)?;
    outln!("\nThe job is {}; change k and run it again:", job_path.display());
    outln!("  incrowd anonymize {}", job_path.display());
    outln!("  incrowd verify {}", release.display());
    outln!("  incrowd explain k-anonymity");
    Ok(ExitCode::from(u8::from(!checked.holds())))
}

/// Returns the quasi-identifiers of the demo. Of the census table some are omitted to keep the
/// output short.
fn quasi(table: Table) -> Vec<&'static str> {
    let columns = table.columns().iter().filter(|c| c.role == Role::Quasi).map(|c| c.name);
    match table {
        Table::Census => {
            columns.filter(|c| !["income", "hours", "household_size"].contains(c)).collect()
        }
        Table::Skewed | Table::Salaries => columns.collect(),
    }
}

/// The settings of a demo. Equal settings give equal files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Settings {
    table: Table,
    rows: u64,
    seed: u64,
    k: i64,
}

impl Settings {
    /// The second line of the job file. It identifies changed files in a later demo.
    fn line(self) -> String {
        let Settings { table, rows, seed, k } = self;
        format!("# Made by: incrowd demo --table {table} --rows {rows} --seed {seed} -k {k}")
    }

    /// Reads the settings from a job file of the demo.
    fn of_job(text: &str) -> Option<Settings> {
        let mut lines = text.lines();
        let line = lines.next().filter(|first| *first == FIRST_LINE).and(lines.next())?;
        let after = |flag: &str| line.split(' ').skip_while(|word| *word != flag).nth(1);
        Some(Settings {
            table: after("--table")?.parse().ok()?,
            rows: after("--rows")?.parse().ok()?,
            seed: after("--seed")?.parse().ok()?,
            k: after("-k")?.parse().ok()?,
        })
    }

    fn job(self) -> String {
        let mut job = format!(
            "{FIRST_LINE}\n{}\n[input]\npath = \"people.csv\"\nmissing = [\"\", \"?\"]\n\n\
             [output]\npath = \"people.release.csv\"\n\n[columns]\n",
            self.line()
        );
        let quasi = quasi(self.table);
        for column in self.table.columns() {
            let entry = match column.role {
                Role::Identifier => "{ role = \"identifier\" }".to_owned(),
                Role::Sensitive => "{ role = \"sensitive\" }".to_owned(),
                Role::Quasi if !quasi.contains(&column.name) => "{ role = \"drop\" }".to_owned(),
                Role::Quasi if hierarchy(self.table, column.name).is_some() => {
                    format!(
                        "{{ role = \"quasi\", hierarchy = \"hierarchies/{}.csv\" }}",
                        column.name
                    )
                }
                Role::Quasi if column.name == "zip" => {
                    "{ role = \"quasi\", hierarchy = { mask = {} } }".to_owned()
                }
                Role::Quasi => "{ role = \"quasi\", kind = \"numeric\" }".to_owned(),
            };
            job.push_str(&format!("{:<15} = {entry}\n", column.name));
        }
        job.push_str(&format!(
            "\n[[models]]\nname = \"k-anonymity\"\nk = {}\n\n[algorithm]\nname = \"auto\"\n",
            self.k
        ));
        job
    }

    /// The hierarchy files.
    fn hierarchies(self, dir: &Path) -> Vec<(PathBuf, String)> {
        let quasi = quasi(self.table);
        let file = |name: &&str| {
            let path = dir.join("hierarchies").join(format!("{name}.csv"));
            Some((path, hierarchy(self.table, name)?))
        };
        quasi.iter().filter_map(file).collect()
    }

    fn write_people(self, out: &mut impl Write, bar: &dyn Progress) -> io::Result<()> {
        Synth::new(self.table, self.rows, self.seed)
            .write_csv_with(out, &mut |rows| bar.advance(rows))
            .and_then(|()| out.flush())
    }
}

/// Compares the written bytes with a file. The file may be shorter, because a demo may have been
/// killed.
struct Comparison<R>(R);

impl<R: Read> Write for Comparison<R> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut found = Vec::with_capacity(bytes.len());
        self.0.by_ref().take(bytes.len() as u64).read_to_end(&mut found)?;
        if bytes.starts_with(&found) { Ok(bytes.len()) } else { Err(io::ErrorKind::Other.into()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        let more = self.0.by_ref().take(1).read_to_end(&mut Vec::new())?;
        if more == 0 { Ok(()) } else { Err(io::ErrorKind::Other.into()) }
    }
}

/// Refuses a directory with files that the demo did not write, or that were changed since.
fn check_directory(dir: &Path, next: Settings) -> Result<()> {
    let help = "choose another directory with --dir";
    let Ok(entries) = fs::read_dir(dir) else { return Ok(()) };
    let foreign = |e: io::Result<fs::DirEntry>| {
        e.is_ok_and(|e| {
            let name = e.file_name().to_string_lossy().into_owned();
            !FILES.iter().any(|known| name.trim_start_matches('.').starts_with(known))
        })
    };
    let entries: Vec<_> = entries.collect();
    // Also returns if a demo was killed before its first file, the job, was published.
    let is_staged_job = |e: &io::Result<fs::DirEntry>| {
        e.as_ref().is_ok_and(|e| {
            let name = e.file_name().to_string_lossy().into_owned();
            name.starts_with(".job.toml.") && name.ends_with(".incrowd-partial")
        })
    };
    if entries.iter().all(is_staged_job) {
        return Ok(());
    }
    let job = dir.join("job.toml");
    let text = incrowd::front_end::read_side_text(&job, incrowd::front_end::MOST_BYTES)
        .unwrap_or_default();
    let known = Settings::of_job(&text);
    let Some(made) = known.filter(|_| !entries.into_iter().any(foreign)) else {
        return Err(Error::job(format!(
            "`{}` contains files that the demo did not write",
            dir.display()
        ))
        .help(help));
    };
    let is_hierarchy = |path: &Path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let text = incrowd::front_end::read_side_text(path, incrowd::front_end::MOST_BYTES)
            .unwrap_or_default();
        Table::ALL.iter().any(|table| hierarchy(*table, &name).is_some_and(|own| own == text))
    };
    let people = dir.join("people.csv");
    let is_table = |file: fs::File| {
        made.write_people(&mut Comparison(BufReader::new(file)), &incrowd::Silent).is_ok()
    };
    let mut changed = Vec::new();
    changed.extend((text != made.job()).then_some(job));
    let is_other = people.is_file() && fs::File::open(&people).is_ok_and(|file| !is_table(file));
    changed.extend(is_other.then_some(people));
    let files = next.hierarchies(dir).into_iter().map(|(path, _)| path);
    changed.extend(files.filter(|path| path.exists() && !is_hierarchy(path)));
    match changed.first() {
        None => Ok(()),
        Some(path) => {
            let message = format!("`{}` was changed after the demo wrote it", path.display());
            Err(Error::job(message).help(help))
        }
    }
}

/// Writes the job file, the hierarchies and the table.
fn make(dir: &Path, settings: Settings, mode: OutputMode) -> Result<()> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |e: io::Error| Error::resources(format!("cannot write `{}`: {e}", path.display()))
    };
    check_directory(dir, settings)?;
    fs::create_dir_all(dir).map_err(failed(dir))?;
    let write = |path: &Path, text: &str| {
        let target = incrowd::front_end::Target::decide(path)?;
        incrowd::front_end::write_file(&target, text.as_bytes(), incrowd::Audience::Everybody)
    };
    let people = dir.join("people.csv");
    let target = incrowd::front_end::Target::decide(&people)?;
    let empty = || fs::File::create(target.path()).map_err(failed(&people));
    // A later demo recognizes the files of a killed one by the complete job file, so that comes
    // first. The table of an earlier demo is emptied before, because it fits the old job only.
    if people.exists() {
        empty()?;
    }
    write(&dir.join("job.toml"), &settings.job())?;
    let mut out = BufWriter::new(empty()?);
    let hierarchies = dir.join("hierarchies");
    fs::create_dir_all(&hierarchies).map_err(failed(&hierarchies))?;
    for (path, text) in settings.hierarchies(dir) {
        write(&path, &text)?;
    }
    let bar = Bar::new(mode);
    bar.step("making", Some(settings.rows));
    settings.write_people(&mut out, &bar).map_err(failed(&people))
}

/// Returns the number of records that are unique on the quasi-identifiers.
fn unique_people(people: &Path, quasi: &[&str]) -> Result<u64> {
    let source = Source::open(&[PathBuf::from(people)], &Options::default())?;
    let columns = quasi.iter().map(|c| (*c).to_owned()).collect();
    let folded = source.fold(&FoldSpec { columns, ..FoldSpec::default() }, &incrowd::Silent)?;
    Ok(folded.weights.iter().filter(|w| **w == 1).count() as u64)
}

/// Prints the first lines of a file.
fn head(path: &Path) -> Result<()> {
    use io::BufRead;
    let file =
        fs::File::open(path).map_err(|e| Error::resources(format!("`{}`: {e}", path.display())))?;
    for line in io::BufReader::new(file).lines().take(4).map_while(io::Result::ok) {
        outln!("  {line}");
    }
    Ok(())
}
