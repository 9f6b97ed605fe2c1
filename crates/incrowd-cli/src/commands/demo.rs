//! `incrowd demo`: anonymizes and verifies a synthetic table.

use std::fs;
use std::io::{self, BufWriter, Write};
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
    make(args, table, &quasi, mode)?;
    let job_path = args.dir.join("job.toml");
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
    let file = incrowd::job::read(&job_path)?;
    let report =
        incrowd::anonymize(&file.job, &Bar::new(mode)).map_err(|e| file.provenance.locate(e))?;
    let release = args.dir.join("people.release.csv");
    let checked = incrowd::verify(&incrowd::Judging::new(&release), &Bar::new(mode))?;
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

/// Writes the table, the hierarchies and the job file.
fn make(args: &DemoArgs, table: Table, quasi: &[&str], mode: OutputMode) -> Result<()> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |e: io::Error| Error::resources(format!("cannot write `{}`: {e}", path.display()))
    };
    if let Ok(entries) = fs::read_dir(&args.dir) {
        let foreign = |e: io::Result<fs::DirEntry>| {
            e.is_ok_and(|e| {
                !FILES
                    .iter()
                    .any(|f| e.file_name().to_string_lossy().trim_start_matches('.').starts_with(f))
            })
        };
        let entries: Vec<_> = entries.collect();
        let job = incrowd::read_side_text(&args.dir.join("job.toml"), incrowd::MOST_BYTES);
        let own = job.is_ok_and(|job| job.starts_with(FIRST_LINE));
        if !entries.is_empty() && (!own || entries.into_iter().any(foreign)) {
            return Err(Error::job(format!(
                "`{}` contains files that the demo did not write",
                args.dir.display()
            ))
            .help("choose another directory with --dir"));
        }
    }
    let hierarchies = args.dir.join("hierarchies");
    fs::create_dir_all(&hierarchies).map_err(failed(&hierarchies))?;
    let mut job = String::from(FIRST_LINE);
    job.push_str(
        "\n[input]\npath = \"people.csv\"\nmissing = [\"\", \"?\"]\n\n\
         [output]\npath = \"people.release.csv\"\n\n[columns]\n",
    );
    for column in table.columns() {
        let entry = match column.role {
            Role::Identifier => "{ role = \"identifier\" }".to_owned(),
            Role::Sensitive => "{ role = \"sensitive\" }".to_owned(),
            Role::Quasi if !quasi.contains(&column.name) => "{ role = \"drop\" }".to_owned(),
            Role::Quasi => match hierarchy(table, column.name) {
                Some(text) => {
                    let file = hierarchies.join(format!("{}.csv", column.name));
                    fs::write(incrowd::Target::decide(&file)?.path(), text)
                        .map_err(failed(&file))?;
                    format!(
                        "{{ role = \"quasi\", hierarchy = \"hierarchies/{}.csv\" }}",
                        column.name
                    )
                }
                None if column.name == "zip" => {
                    "{ role = \"quasi\", hierarchy = { mask = {} } }".to_owned()
                }
                None => "{ role = \"quasi\", kind = \"numeric\" }".to_owned(),
            },
        };
        job.push_str(&format!("{:<15} = {entry}\n", column.name));
    }
    job.push_str(&format!(
        "\n[[models]]\nname = \"k-anonymity\"\nk = {}\n\n[algorithm]\nname = \"auto\"\n",
        args.k
    ));
    let path = args.dir.join("job.toml");
    // The job file is written first, so that the directory of an interrupted demo is recognized.
    fs::write(incrowd::Target::decide(&path)?.path(), job).map_err(failed(&path))?;
    let people = args.dir.join("people.csv");
    let target = incrowd::Target::decide(&people)?;
    let mut out = BufWriter::new(fs::File::create(target.path()).map_err(failed(&people))?);
    let bar = Bar::new(mode);
    bar.step("making", Some(args.rows));
    Synth::new(table, args.rows, args.seed)
        .write_csv_with(&mut out, &mut |rows| bar.advance(rows))
        .and_then(|()| out.flush())
        .map_err(failed(&people))
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
