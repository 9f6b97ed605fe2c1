//! The readers and their property: an error is one sentence about the input, is not a bug, and
//! shows no cell; and no files are left.

use std::path::Path;

use incrowd::hierarchy::HierarchySpec;
use incrowd::hierarchy::nested::Tree;
use incrowd::job::{self, JobFile};
use incrowd::{Error, Fault, Judging, Manifest, Options, Silent, Source};

use crate::corpora::{self, CANARY};

/// A reader under test.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// Valid inputs.
    pub(crate) corpus: Vec<Vec<u8>>,
    /// Reads an input. Returns the violated property as `Err`.
    pub(crate) run: fn(&Path, &[u8]) -> Result<(), String>,
}

/// Returns all targets. Releases for the corpora are made in `dir`.
pub(crate) fn all(dir: &Path) -> Vec<Target> {
    let (release, manifest) = released(dir);
    let target = |name, corpus, run| Target { name, corpus, run };
    vec![
        target("csv", corpora::tables(), table as fn(&Path, &[u8]) -> Result<(), String>),
        target("arrow", corpora::arrow_files(), table),
        target("parquet", corpora::parquet_files(), table),
        target("workbook", corpora::workbooks(), workbook),
        target("stata", corpora::stata_files(), foreign),
        target("spss", corpora::spss_files(), foreign),
        target("hierarchy", corpora::hierarchies(), hierarchy),
        target("job", corpora::jobs(), job_file),
        target("release", vec![release], read_back),
        target("manifest", vec![manifest], stated),
        target("whole", corpora::tables(), whole),
        target("journal", corpora::journals(), journal),
    ]
}

/// Checks the properties of an error. A name may be a cell only if damage put a cell into the
/// header.
fn check_error(error: &Error, may_name: bool) -> Result<(), String> {
    let text = format!("{} {}", error.message(), error.advice().unwrap_or_default());
    if error.fault() == Fault::Bug {
        return Err(format!("taken for a bug: {text}"));
    }
    if text.contains('\n') || text.len() > 4000 {
        return Err("the error is not one short sentence".to_owned());
    }
    if !may_name && text.contains(CANARY) {
        return Err(format!("a cell is shown: {text}"));
    }
    Ok(())
}

fn judge<T>(outcome: Result<T, Error>, may_name: bool) -> Result<(), String> {
    outcome.map_or_else(|error| check_error(&error, may_name), |_| Ok(()))
}

/// Returns whether damage put a cell into the header.
fn in_header(bytes: &[u8]) -> bool {
    let first = bytes.split(|&b| b == b'\n').next().unwrap_or_default();
    // A quotation mark may extend the header over several lines.
    let header = if first.iter().filter(|&&b| b == b'"').count() % 2 == 0 { first } else { bytes };
    header.windows(CANARY.len()).any(|piece| piece == CANARY.as_bytes())
}

fn write(dir: &Path, name: &str, bytes: &[u8]) -> std::path::PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, bytes).expect("the directory can be written");
    path
}

/// Reads all columns of a table.
fn table(dir: &Path, bytes: &[u8]) -> Result<(), String> {
    judge(survey(dir, bytes), in_header(bytes))
}

fn survey(dir: &Path, bytes: &[u8]) -> Result<(), Error> {
    let path = write(dir, "t", bytes);
    let source = Source::open(&[path], &Options::default())?;
    source.survey(source.columns(), &[], &Silent).map(drop)
}

/// Reads all columns of a workbook. Its documents are zipped here, unless they are zipped already.
fn workbook(dir: &Path, bytes: &[u8]) -> Result<(), String> {
    if bytes.starts_with(b"PK") {
        return judge(survey(dir, bytes), false);
    }
    let text = String::from_utf8_lossy(bytes);
    let mut documents = text.split(corpora::NEXT);
    let mut next = || documents.next().unwrap_or_default();
    let packed = incrowd_testing::foreign::workbook(next(), next(), next());
    // The first row has the column names, and may share its strings with cells.
    let named = text.starts_with(corpora::HEADER)
        && text.contains("<si><t>age</t></si><si><t>city</t></si>");
    judge(survey(dir, &packed), !named)
}

/// Reads all columns of a file format that separates names from cells, so no name can be a cell.
fn foreign(dir: &Path, bytes: &[u8]) -> Result<(), String> {
    judge(survey(dir, bytes), false)
}

fn hierarchy(_: &Path, bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    judge(Tree::parse("h.toml", &text).and_then(|tree| tree.build()), false)?;
    let spec = HierarchySpec::Arx { name: "h.csv".to_owned(), text };
    judge(spec.build("city", &[&format!("{CANARY} 1"), "x"]), false)
}

fn job_file(dir: &Path, bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    match job::parse("job.toml", &text, dir) {
        Ok(_) => Ok(()),
        Err(refused) => {
            // Messages may quote the content of a job. The table among the jobs contains no part of
            // a job.
            let is_job = ["[input", "[output", "[columns", "[[models", "[algorithm"]
                .iter()
                .any(|part| text.contains(part));
            check_error(&refused.error, is_job)?;
            if is_job {
                return Ok(());
            }
            let (start, end) =
                refused.place.as_ref().map_or((0, 0), |place| (place.span.start, place.span.end));
            let quoted = refused.place.is_some()
                && text.get(start..end).is_some_and(|quoted| quoted.contains(CANARY));
            if quoted { Err("a record is quoted".to_owned()) } else { Ok(()) }
        }
    }
}

const JOB: &str = r#"[input]
path = "t.csv"
[output]
path = "out.csv"
[columns]
age = { role = "quasi", hierarchy = "intervals:5" }
city = { role = "quasi" }
born = { role = "quasi", kind = "date" }
disease = { role = "sensitive" }
[[models]]
name = "k-anonymity"
k = 2
"#;

fn job(dir: &Path) -> JobFile {
    job::parse("job.toml", JOB, dir).expect("the job is check_error")
}

/// Returns a release and its manifest.
fn released(dir: &Path) -> (Vec<u8>, Vec<u8>) {
    write(dir, "t.csv", &corpora::tables()[0]);
    incrowd::Anonymizer::new(&job(dir).job).run().expect("the table is check_error");
    let read = |name| std::fs::read(dir.join(name)).expect("it was written");
    let release = (read("out.csv"), read("out.release.json"));
    ["t.csv", "out.csv", "out.release.json"]
        .iter()
        .for_each(|name| drop(std::fs::remove_file(dir.join(name))));
    release
}

/// Reads the cells of a release, and compares with the original.
fn read_back(dir: &Path, bytes: &[u8]) -> Result<(), String> {
    write(dir, "t.csv", &corpora::tables()[0]);
    write(dir, "out.csv", bytes);
    let judging = Judging::of(&job(dir).job);
    judge(judging.verify(), in_header(bytes))?;
    judge(judging.measure(None), in_header(bytes))
}

/// Reads a manifest, and verifies its release.
fn stated(dir: &Path, bytes: &[u8]) -> Result<(), String> {
    judge(Manifest::parse(bytes), false)?;
    write(dir, "out.csv", b"age,city,born,disease\n*,*,*,x\n*,*,*,y\n");
    write(dir, "out.release.json", bytes);
    // The parameters of a manifest may be quoted: they are not cells.
    judge(Judging::new(dir.join("out.csv")).verify(), true)
}

/// Runs the whole pipeline: afterwards there is a release with its manifest, or nothing.
fn whole(dir: &Path, bytes: &[u8]) -> Result<(), String> {
    write(dir, "t.csv", bytes);
    let outcome = incrowd::Anonymizer::new(&job(dir).job).run();
    let made = outcome.is_ok();
    judge(outcome, in_header(bytes))?;
    for entry in std::fs::read_dir(dir).map_err(|e| e.to_string())? {
        let name = entry.map_err(|e| e.to_string())?.file_name().to_string_lossy().into_owned();
        let expected =
            name == "t.csv" || made && matches!(name.as_str(), "out.csv" | "out.release.json");
        if !expected {
            return Err(format!("{name} is left behind"));
        }
    }
    Ok(())
}

/// Reads a directory with a journal that is not authenticated. No file may change. Sealing needs
/// the key, so the property tests of `incrowd-engine` (`pending/journal/tests.rs`) damage sealed
/// journals.
fn journal(dir: &Path, bytes: &[u8]) -> Result<(), String> {
    const NAMES: [&str; 4] =
        ["out.csv", "victim.txt", corpora::STAGED, ".out.csv.0123456789abcdef.incrowd-journal"];
    write(dir, NAMES[0], b"age,city\n*,x\n*,y\n");
    write(dir, NAMES[1], b"a line\n");
    let staged = write(dir, NAMES[2], b"packed\n");
    write(dir, NAMES[3], bytes);
    let read = || NAMES.map(|name| std::fs::read(dir.join(name)).ok());
    let before = read();
    // A staged file without a writing process is removed, so this process holds it open.
    let held = std::fs::File::open(staged).map_err(|e| e.to_string())?;
    held.lock().map_err(|e| e.to_string())?;
    let recovery = incrowd::recover(dir);
    judge(Judging::new(dir.join(NAMES[0])).verify(), true)?;
    if read() != before {
        return Err("a file was changed or removed".to_owned());
    }
    match recovery {
        Ok(recovery) if recovery.unauthenticated.len() == 1 => Ok(()),
        Ok(_) => Err("the journal is not reported".to_owned()),
        Err(error) => check_error(&error, false),
    }
}
