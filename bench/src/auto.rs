//! What somebody waits for who types one command: from the file to the verified file, beside ARX on the same file in the same run.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::lattice::children_seconds;
use crate::least::{FIVE, NINE};
use crate::peers::score;
use crate::release::Task;

/// A model beside k-anonymity: what it is called, as the command takes it, and as the program for ARX does.
type Beside = (&'static str, &'static str, [&'static str; 3]);

const MODELS: &[Beside] = &[
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

/// Models whose cost is held against that of k-anonymity alone, on occupation or on age.
const JUDGED: &[(&str, &str)] = &[
    ("occupation", "l-diversity:l=5,kind=distinct"),
    ("occupation", "l-diversity:l=4,kind=entropy"),
    ("occupation", "l-diversity:l=4,kind=recursive,c=3"),
    ("occupation", "l-diversity:l=3,kind=frequency"),
    ("occupation", "t-closeness:t=0.2,distance=equal"),
    ("occupation", "beta-likeness:beta=2,kind=basic"),
    ("occupation", "beta-likeness:beta=2,kind=enhanced"),
    ("occupation", "delta-disclosure:delta=2"),
    ("occupation", "alpha-k-anonymity:k=5,alpha=0.5"),
    ("occupation", "p-sensitive:k=5,p=3"),
    ("age", "t-closeness:t=0.2,distance=ordered"),
    ("age", "k-e-anonymity:k=5,e=20"),
];

/// What a run cost.
struct Run {
    loss: f64,
    seconds: f64,
    processor: f64,
}

/// Where everything lies.
struct Place {
    incrowd: PathBuf,
    /// ARX's classes and those of our program.
    arx: Option<String>,
    table: PathBuf,
    trees: PathBuf,
    out: PathBuf,
}

/// Prints a table of losses and times of whole commands. `arx` is a jar of ARX or a directory of its classes.
pub(crate) fn run(data: &Path, arx: Option<String>) -> Result<(), String> {
    let adult = data.join("adult_arx.csv.gz");
    let beside = std::env::current_exe().map_err(|e| e.to_string())?.with_file_name("incrowd");
    if !adult.exists() || !beside.exists() {
        return Err(format!(
            "skipped: needs {} (cargo build --release -p incrowd-cli) and adult_arx.csv.gz in {} (set INCROWD_DATA or use --data)",
            beside.display(),
            data.display()
        ));
    }
    let out = std::env::temp_dir().join(format!("incrowd-auto-{}", std::process::id()));
    std::fs::create_dir_all(&out).map_err(|e| e.to_string())?;
    let result = rows(&adult, data, beside, arx, &out);
    std::fs::remove_dir_all(&out).ok();
    result
}

fn rows(adult: &Path, data: &Path, incrowd: PathBuf, arx: Option<String>, out: &Path) -> Result<(), String> {
    // ARX reads no compressed files.
    let mut text = Vec::new();
    let file = std::fs::File::open(adult).map_err(|e| e.to_string())?;
    flate2::read::GzDecoder::new(file).read_to_end(&mut text).map_err(|e| e.to_string())?;
    let table = out.join("adult.csv");
    std::fs::write(&table, text).map_err(|e| e.to_string())?;
    if arx.is_none() {
        println!("ARX was not run: --arx PATH names its jar or a directory of its classes.\n");
    }
    let arx = arx.map(|path| compiled(&path, out)).transpose()?;
    let place = Place { incrowd, arx, table, trees: data.join("hierarchies"), out: out.to_owned() };
    println!("Loss; seconds of the whole command; in brackets processor seconds on all cores together.\n");
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
    judged(&place)
}

/// What a model adds to k-anonymity with k = 5 alone, on eight quasi-identifiers.
fn judged(place: &Place) -> Result<(), String> {
    println!("\n| with 5-anonymity of 8 QIs | ascent | of k-anonymity alone | auto | of k-anonymity alone |");
    println!("|---|---|---|---|---|");
    let mut alone: Vec<(&str, [f64; 2])> = Vec::new();
    for (on, model) in JUDGED {
        let quasi: Vec<&str> = NINE.iter().copied().filter(|c| c != on).collect();
        let cost = |algorithm: &str, model: Option<&str>| -> Result<(f64, f64), String> {
            let told = model.map(|model| format!("{model},on={on}"));
            let run = by_command(place, algorithm, &quasi, 5, Some((on, told.as_deref())))?;
            Ok((run.seconds, run.processor))
        };
        if alone.iter().all(|(column, _)| column != on) {
            alone.push((on, [cost("ascent", None)?.1, cost("auto", None)?.1]));
        }
        let base = alone.iter().find(|(column, _)| column == on).map_or([1.0, 1.0], |found| found.1);
        let mut cells = String::new();
        for (algorithm, base) in ["ascent", "auto"].iter().zip(base) {
            let (seconds, processor) = cost(algorithm, Some(model))?;
            cells += &format!(" {seconds:.2} s ({processor:.2}) | {:.1} times |", processor / base);
        }
        println!("| {model} of {on} |{cells}");
    }
    Ok(())
}

fn line(place: &Place, name: &str, quasi: &[&str], k: u64, model: Option<&Beside>) -> Result<(), String> {
    let (arx, alone) = match &place.arx {
        Some(classes) => {
            let (run, alone) = by_arx(place, classes, quasi, k, model)?;
            (Some(run), format!("{alone:.2}"))
        }
        None => (None, "-".to_owned()),
    };
    let mondrian = by_incrowd(place, "mondrian", quasi, k, model)?;
    let auto = by_incrowd(place, "auto", quasi, k, model)?;
    let told = |run: &Run| format!("{:.4}; {:.2} s ({:.2})", run.loss, run.seconds, run.processor);
    let ratio = arx.as_ref().map_or("-".to_owned(), |arx| format!("1/{:.0}", arx.seconds / auto.seconds));
    let arx = arx.as_ref().map_or("-".to_owned(), told);
    println!("| {name} | {k} | {arx} | {alone} | {} | {} | {ratio} |", told(&mondrian), told(&auto));
    Ok(())
}

/// Compiles our program against ARX; returns where both are found.
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
    model: Option<&Beside>,
) -> Result<(Run, f64), String> {
    let release = place.out.join("arx.csv");
    let mut java = Command::new("java");
    java.args(["-Xmx4g", "-cp", classes, "ArxRelease"]).args([&place.table, &place.trees]);
    java.args(["adult", &quasi.join(","), &k.to_string()]).arg(&release);
    java.args(model.iter().flat_map(|model| model.2));
    let (printed, seconds, processor) = timed(&mut java)?;
    let alone = printed.trim().parse().map_err(|_| format!("ARX printed `{}`", printed.trim()))?;
    Ok((Run { loss: loss(place, quasi, &release)?, seconds, processor }, alone))
}

fn by_incrowd(
    place: &Place,
    algorithm: &str,
    quasi: &[&str],
    k: u64,
    model: Option<&Beside>,
) -> Result<Run, String> {
    by_command(place, algorithm, quasi, k, model.map(|model| (model.2[1], Some(model.1))))
}

/// `model` is a sensitive column, and a model on it.
fn by_command(
    place: &Place,
    algorithm: &str,
    quasi: &[&str],
    k: u64,
    model: Option<(&str, Option<&str>)>,
) -> Result<Run, String> {
    let release = place.out.join("release.csv");
    let mut incrowd = Command::new(&place.incrowd);
    incrowd.arg("anonymize").arg(&place.table).args(["-q", "-k", &k.to_string(), "--algorithm", algorithm]);
    incrowd.args(["--quasi", &quasi.join(","), "--hierarchies"]).arg(&place.trees).arg("-o").arg(&release);
    if let Some((on, model)) = model {
        incrowd.args(["--sensitive", on]).args(model.iter().flat_map(|model| ["--model", model]));
    }
    let (_, seconds, processor) = timed(&mut incrowd)?;
    Ok(Run { loss: loss(place, quasi, &release)?, seconds, processor })
}

/// What was lost, from the bytes of the release, whoever wrote it.
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
