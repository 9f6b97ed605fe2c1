//! The time of whole commands, from the file to the verified release, compared with ARX on the same
//! file in the same run.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::lattice::children_seconds;
use crate::least::{FIVE, NINE};
use crate::peers::score;
use crate::release::Task;

/// A model in addition to k-anonymity: its name, and its arguments for the command and for ARX.
type ExtraModel = (&'static str, &'static str, [&'static str; 3]);

const MODELS: &[ExtraModel] = &[
    (
        "5 different occupations",
        "l-diversity:l=5,kind=distinct,on=occupation",
        ["l-diversity", "occupation", "5"],
    ),
    (
        "t-closeness 0.2 of occupation",
        "t-closeness:t=0.2,distance=equal,on=occupation",
        ["t-closeness", "occupation", "0.2"],
    ),
];

/// The results of a run.
pub(crate) struct Run {
    pub(crate) loss: f64,
    pub(crate) seconds: f64,
    pub(crate) processor: f64,
    /// The output of the command.
    pub(crate) printed: String,
}

/// The paths of a run.
pub(crate) struct Place {
    incrowd: PathBuf,
    /// The class path of ARX and of our program.
    arx: Option<String>,
    table: PathBuf,
    trees: PathBuf,
    out: PathBuf,
}

/// Prints a table of losses and times of whole commands. `arx` is a jar of ARX or a directory of
/// its classes.
pub(crate) fn run(data: &Path, arx: Option<String>) -> Result<(), String> {
    in_place(data, |place| rows(place, arx))
}

/// Runs a function in a temporary directory with Adult uncompressed, because ARX reads no
/// compressed files.
pub(crate) fn in_place(
    data: &Path,
    work: impl FnOnce(Place) -> Result<(), String>,
) -> Result<(), String> {
    let adult = data.join("adult_arx.csv.gz");
    let incrowd = std::env::current_exe().map_err(|e| e.to_string())?.with_file_name("incrowd");
    if !adult.exists() || !incrowd.exists() {
        return Err(format!(
            "skipped: needs {} (cargo build --release -p incrowd-cli) and adult_arx.csv.gz in {} (set INCROWD_DATA or use --data)",
            incrowd.display(),
            data.display()
        ));
    }
    let out = std::env::temp_dir().join(format!("incrowd-auto-{}", std::process::id()));
    std::fs::create_dir_all(&out).map_err(|e| e.to_string())?;
    let (table, trees) = (out.join("adult.csv"), data.join("hierarchies"));
    let result = unpacked(&adult, &table)
        .and_then(|()| work(Place { incrowd, arx: None, table, trees, out: out.clone() }));
    std::fs::remove_dir_all(&out).ok();
    result
}

fn unpacked(from: &Path, to: &Path) -> Result<(), String> {
    let mut text = Vec::new();
    let file = std::fs::File::open(from).map_err(|e| e.to_string())?;
    flate2::read::GzDecoder::new(file).read_to_end(&mut text).map_err(|e| e.to_string())?;
    std::fs::write(to, text).map_err(|e| e.to_string())
}

fn rows(mut place: Place, arx: Option<String>) -> Result<(), String> {
    if arx.is_none() {
        println!("ARX was not run: --arx PATH names its jar or a directory of its classes.\n");
    }
    place.arx = arx.map(|path| compiled(&path, &place.out)).transpose()?;
    println!(
        "Loss; seconds of the whole command; in brackets processor seconds on all cores together.\n"
    );
    println!("| Adult | k | ARX | its anonymizing alone | mondrian | auto | of ARX's time |");
    println!("|---|---|---|---|---|---|---|");
    let eight: Vec<&str> = NINE.iter().copied().filter(|&c| c != "occupation").collect();
    for quasi in [NINE, &eight, FIVE] {
        for k in [5, 10, 50] {
            line(&place, &format!("{} QIs", quasi.len()), quasi, k, None)?;
        }
    }
    for model in MODELS {
        line(&place, &format!("8 QIs, {}", model.0), &eight, 5, Some(model))?;
    }
    Ok(())
}

fn line(
    place: &Place,
    name: &str,
    quasi: &[&str],
    k: u64,
    model: Option<&ExtraModel>,
) -> Result<(), String> {
    let (arx, alone) = match &place.arx {
        Some(classes) => {
            let (run, alone) = by_arx(place, classes, quasi, k, model)?;
            (Some(run), format!("{alone:.2}"))
        }
        None => (None, "-".to_owned()),
    };
    let mondrian = by_incrowd(place, "mondrian", quasi, k, model)?;
    let auto = by_incrowd(place, "auto", quasi, k, model)?;
    let cell = |run: &Run| format!("{:.4}; {:.2} s ({:.2})", run.loss, run.seconds, run.processor);
    let ratio =
        arx.as_ref().map_or("-".to_owned(), |arx| format!("1/{:.0}", arx.seconds / auto.seconds));
    let arx = arx.as_ref().map_or("-".to_owned(), cell);
    println!(
        "| {name} | {k} | {arx} | {alone} | {} | {} | {ratio} |",
        cell(&mondrian),
        cell(&auto)
    );
    Ok(())
}

/// Compiles our program against ARX and returns the class path.
fn compiled(arx: &str, out: &Path) -> Result<String, String> {
    let classes = out.join("classes");
    let mut javac = Command::new("javac");
    javac.args(["-cp", arx, "-d"]).arg(&classes).arg("bench/ArxRelease.java");
    answer(&mut javac)?;
    Ok(format!("{arx}:{}", classes.display()))
}

fn by_arx(
    place: &Place,
    classes: &str,
    quasi: &[&str],
    k: u64,
    model: Option<&ExtraModel>,
) -> Result<(Run, f64), String> {
    let release = place.out.join("arx.csv");
    let mut java = Command::new("java");
    java.args(["-Xmx4g", "-cp", classes, "ArxRelease"]).args([&place.table, &place.trees]);
    java.args(["adult", &quasi.join(","), &k.to_string()]).arg(&release);
    java.args(model.iter().flat_map(|model| model.2));
    let (printed, seconds, processor) = timed(&mut java)?;
    let alone = printed.trim().parse().map_err(|_| format!("ARX printed `{}`", printed.trim()))?;
    Ok((Run { loss: loss(place, quasi, &release)?, seconds, processor, printed }, alone))
}

fn by_incrowd(
    place: &Place,
    algorithm: &str,
    quasi: &[&str],
    k: u64,
    model: Option<&ExtraModel>,
) -> Result<Run, String> {
    by_command(place, algorithm, quasi, k, model.map(|model| (model.2[1], Some(model.1))))
}

/// `model` is a sensitive column and a model for it.
pub(crate) fn by_command(
    place: &Place,
    algorithm: &str,
    quasi: &[&str],
    k: u64,
    model: Option<(&str, Option<&str>)>,
) -> Result<Run, String> {
    let release = place.out.join("release.csv");
    let mut incrowd = Command::new(&place.incrowd);
    incrowd.arg("anonymize").arg(&place.table).args(["-q", "--json", "-k", &k.to_string()]);
    incrowd.args(["--algorithm", algorithm]);
    incrowd
        .args(["--quasi", &quasi.join(","), "--hierarchies"])
        .arg(&place.trees)
        .arg("-o")
        .arg(&release);
    if let Some((on, model)) = model {
        incrowd.args(["--sensitive", on]).args(model.iter().flat_map(|model| ["--model", model]));
    }
    let (printed, seconds, processor) = timed(&mut incrowd)?;
    Ok(Run { loss: loss(place, quasi, &release)?, seconds, processor, printed })
}

/// Measures the loss from the bytes of a release.
fn loss(place: &Place, quasi: &[&str], release: &Path) -> Result<f64, String> {
    let task = Task {
        file: place.table.clone(),
        quasi: quasi.to_vec(),
        hierarchies: Some((&place.trees, "adult")),
        sensitive: None,
        ncp: false,
    };
    Ok(score(&task, release)?.loss)
}

fn timed(command: &mut Command) -> Result<(String, f64, f64), String> {
    let (began, spent) = (Instant::now(), children_seconds());
    let printed = answer(command)?;
    Ok((printed, began.elapsed().as_secs_f64(), children_seconds() - spent))
}

fn answer(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().display().to_string();
    let output = command.output().map_err(|e| format!("{program}: {e}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}
