//! What reads, and what must hold of whatever is read: an error is one sentence about the input, no bug, and shows no cell; and
//! nothing is left where it was read.

use std::path::Path;

use incrowd::hierarchy::HierarchySpec;
use incrowd::hierarchy::nested::Tree;
use incrowd::job::{self, JobFile};
use incrowd::{Error, Fault, Judging, Manifest, Options, Silent, Source};

use crate::corpora::{self, CANARY};

/// Something that reads.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// Sound inputs.
    pub(crate) corpus: Vec<Vec<u8>>,
    /// Reads one; `Err` says what does not hold.
    pub(crate) run: fn(&Path, &[u8]) -> Result<(), String>,
}

/// All of them. `dir` is where releases for the corpora are made.
pub(crate) fn all(dir: &Path) -> Vec<Target> {
    let (release, manifest) = released(dir);
    let target = |name, corpus, run| Target { name, corpus, run };
    vec![
        target("csv", corpora::tables(), table as fn(&Path, &[u8]) -> Result<(), String>),
        target("arrow", corpora::arrow_files(), table),
        target("parquet", corpora::parquet_files(), table),
        target("hierarchy", corpora::hierarchies(), hierarchy),
        target("job", corpora::jobs(), job_file),
        target("release", vec![release], read_back),
        target("manifest", vec![manifest], stated),
        target("whole", corpora::tables(), whole),
    ]
}

/// What must hold of an error. A name may be a cell only where damage put a cell into the header.
fn sound(error: &Error, may_name: bool) -> Result<(), String> {
    let said = format!("{} {}", error.message(), error.advice().unwrap_or_default());
    if error.fault() == Fault::Bug {
        return Err(format!("taken for a bug: {said}"));
    }
    if said.contains('\n') || said.len() > 4000 {
        return Err("the error is not one short sentence".to_owned());
    }
    if !may_name && said.contains(CANARY) {
        return Err(format!("a cell is shown: {said}"));
    }
    Ok(())
}

fn judge<T>(outcome: Result<T, Error>, may_name: bool) -> Result<(), String> {
    outcome.map_or_else(|error| sound(&error, may_name), |_| Ok(()))
}

/// Whether damage put a cell where names are.
fn in_header(bytes: &[u8]) -> bool {
    let first = bytes.split(|&b| b == b'\n').next().unwrap_or_default();
    // A quotation mark may make the header longer than a line.
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
    let path = write(dir, "t", bytes);
    let read = || {
        let source = Source::open(&[path], &Options::default())?;
        source.survey(source.columns(), &[], &Silent)
    };
    judge(read(), in_header(bytes))
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
            // A job may state what it likes, and is told so. The table among the jobs has no part of one.
            let is_job = ["[input", "[output", "[columns", "[[models", "[algorithm"]
                .iter()
                .any(|part| text.contains(part));
            sound(&refused.error, is_job)?;
            if is_job {
                return Ok(());
            }
            let (start, end) =
                refused.place.as_ref().map_or((0, 0), |place| (place.span.start, place.span.end));
            let quoted =
                refused.place.is_some() && text.get(start..end).is_some_and(|quoted| quoted.contains(CANARY));
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
    job::parse("job.toml", JOB, dir).expect("the job is sound")
}

/// A release and its manifest.
fn released(dir: &Path) -> (Vec<u8>, Vec<u8>) {
    write(dir, "t.csv", &corpora::tables()[0]);
    incrowd::anonymize(&job(dir).job, &Silent).expect("the table is sound");
    let read = |name| std::fs::read(dir.join(name)).expect("it was written");
    let release = (read("out.csv"), read("out.release.json"));
    ["t.csv", "out.csv", "out.release.json"]
        .iter()
        .for_each(|name| drop(std::fs::remove_file(dir.join(name))));
    release
}

/// Reads the cells of a release back, beside the original.
fn read_back(dir: &Path, bytes: &[u8]) -> Result<(), String> {
    write(dir, "t.csv", &corpora::tables()[0]);
    write(dir, "out.csv", bytes);
    let judging = Judging::of(&job(dir).job);
    judge(incrowd::verify(&judging, &Silent), in_header(bytes))?;
    judge(incrowd::measure(&judging, None, &Silent), in_header(bytes))
}

/// Reads a manifest, and verifies the release it is beside.
fn stated(dir: &Path, bytes: &[u8]) -> Result<(), String> {
    judge(Manifest::parse(bytes), false)?;
    write(dir, "out.csv", b"age,city,born,disease\n*,*,*,x\n*,*,*,y\n");
    write(dir, "out.release.json", bytes);
    // What a manifest promises may be quoted: its parameters are no cells.
    judge(incrowd::verify(&Judging::new(dir.join("out.csv")), &Silent), true)
}

/// The whole way: a release and its manifest are there, or nothing is.
fn whole(dir: &Path, bytes: &[u8]) -> Result<(), String> {
    write(dir, "t.csv", bytes);
    let outcome = incrowd::anonymize(&job(dir).job, &Silent);
    let made = outcome.is_ok();
    judge(outcome, in_header(bytes))?;
    for entry in std::fs::read_dir(dir).map_err(|e| e.to_string())? {
        let name = entry.map_err(|e| e.to_string())?.file_name().to_string_lossy().into_owned();
        let expected = name == "t.csv" || made && matches!(name.as_str(), "out.csv" | "out.release.json");
        if !expected {
            return Err(format!("{name} is left behind"));
        }
    }
    Ok(())
}
