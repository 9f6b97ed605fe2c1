//! Every model at several parameters on the Adult table, and an independent checker in Python that
//! measures the releases.
//!
//! The checker is `tests/pycanon/check.py` with pycanon from the Python package index, in a virtual
//! environment below `target/`, installed if `INCROWD_TEST_INSTALL=1` is set. Without it the test
//! prints a note and still makes and verifies the releases.

use std::path::{Path, PathBuf};
use std::process::Command;

use incrowd::job::{Job, PopulationJob, parse};
use incrowd::{Anonymizer, Judging, Value};
use incrowd_testing::{data, or_skip};
use serde_json::{Value as Json, json};

use crate::adult::{HIERARCHIES, hierarchy};

const PYCANON: &str = "pycanon==1.3.6";
const QUASI: [&str; 8] = [
    "age",
    "workclass",
    "education",
    "marital-status",
    "relationship",
    "race",
    "sex",
    "native-country",
];
const NUMERIC: [&str; 2] = ["hours-per-week", "capital-gain"];

/// A model in the notation of flags, and the measure that pycanon computes for its release, on
/// which column. k-anonymity is always added, so that the checker has few groups.
const RELEASES: &[(&str, &str, &str)] = &[
    ("k-anonymity k=100", "k", "occupation"),
    ("k-anonymity k=250", "k", "occupation"),
    ("k-anonymity k=1000", "k", "occupation"),
    ("l-diversity l=5", "distinct", "occupation"),
    ("l-diversity l=9", "distinct", "occupation"),
    ("l-diversity l=12", "distinct", "occupation"),
    ("l-diversity l=3 kind=entropy", "entropy", "occupation"),
    ("l-diversity l=6 kind=entropy", "entropy", "occupation"),
    ("l-diversity l=8 kind=entropy", "entropy", "occupation"),
    ("l-diversity l=2 kind=recursive c=1", "recursive 2", "occupation"),
    ("l-diversity l=3 kind=recursive c=0.5", "recursive 3", "occupation"),
    ("l-diversity l=3 kind=recursive c=2", "recursive 3", "occupation"),
    ("l-diversity l=6 kind=frequency", "", "occupation"),
    ("t-closeness t=0.1", "t equal", "occupation"),
    ("t-closeness t=0.2", "t equal", "occupation"),
    ("t-closeness t=0.35", "t equal", "occupation"),
    ("t-closeness t=0.1 distance=hierarchical", "", "occupation"),
    ("t-closeness t=0.05 distance=ordered", "t ordered", "hours-per-week"),
    ("t-closeness t=0.1 distance=ordered", "t ordered", "hours-per-week"),
    ("t-closeness t=0.02 distance=ordered", "t ordered", "capital-gain"),
    ("alpha-k-anonymity alpha=0.2 k=50", "alpha", "occupation"),
    ("alpha-k-anonymity alpha=0.3 k=50", "alpha", "occupation"),
    ("alpha-k-anonymity alpha=0.5 k=100", "alpha", "occupation"),
    ("alpha-k-anonymity alpha=0.2 k=50 values=Sales", "", "occupation"),
    ("k-e-anonymity k=5 e=40", "", "hours-per-week"),
    ("k-e-anonymity k=20 e=60", "", "hours-per-week"),
    ("k-e-anonymity k=30 e=80", "", "hours-per-week"),
    ("epsilon-m-anonymity epsilon=0 m=2", "", "hours-per-week"),
    ("epsilon-m-anonymity epsilon=5 m=1", "", "hours-per-week"),
    ("epsilon-m-anonymity epsilon=0.01 m=2 neighbourhood=relative", "", "hours-per-week"),
    ("beta-likeness beta=0.5 kind=basic", "beta basic", "occupation"),
    ("beta-likeness beta=1 kind=basic", "beta basic", "occupation"),
    ("beta-likeness beta=4 kind=basic", "beta basic", "occupation"),
    ("beta-likeness beta=1", "beta enhanced", "occupation"),
    ("beta-likeness beta=3", "beta enhanced", "occupation"),
    ("delta-disclosure delta=0.5", "delta", "occupation"),
    ("delta-disclosure delta=1", "delta", "occupation"),
    ("delta-disclosure delta=2", "delta", "occupation"),
    ("p-sensitive p=4 k=50", "distinct", "occupation"),
    ("p-sensitive p=8 k=50", "distinct", "occupation"),
    ("p-sensitive p=10 k=200", "distinct", "occupation"),
    ("p-alpha-sensitive p=4 alpha=20 k=50", "distinct", "occupation"),
    ("p-alpha-sensitive p=6 alpha=30 k=50 mean_weight=0.4", "distinct", "occupation"),
    ("p-alpha-sensitive p=8 alpha=100 k=200", "distinct", "occupation"),
    ("p-plus-alpha-sensitive p=2 alpha=20 k=50", "", "occupation"),
    ("p-plus-alpha-sensitive p=3 alpha=30 k=50", "", "occupation"),
    ("p-plus-alpha-sensitive p=3 alpha=30 k=50 max_category_share=0.6", "", "occupation"),
    ("k-map k=50", "k", "occupation"),
    ("k-map k=200", "k", "occupation"),
    ("k-map k=1000", "k", "occupation"),
    ("delta-presence delta_max=0.3", "k", "occupation"),
    ("delta-presence delta_max=0.5", "k", "occupation"),
    ("delta-presence delta_min=0.15 delta_max=0.4", "k", "occupation"),
    ("plain-k-anonymity k=4 distance_attributes=age", "distinct", "hours-per-week"),
    ("plain-k-anonymity k=8 p=0.9 distance_attributes=age,sex", "distinct", "hours-per-week"),
    (
        "plain-k-anonymity k=6 p=0.95 distance_attributes=age,education level=strong",
        "distinct",
        "hours-per-week",
    ),
];

/// The measures of every release: a name of the checker, the column, and a model so weak that it
/// only reports the measure.
const MEASURES: &[(&str, &str, &str)] = &[
    ("k", "", "k-anonymity k=1"),
    ("alpha", "occupation", "alpha-k-anonymity alpha=1 k=1"),
    ("distinct", "occupation", "l-diversity l=1"),
    ("distinct", "hours-per-week", "l-diversity l=1"),
    ("entropy", "occupation", "l-diversity l=1 kind=entropy"),
    ("recursive 2", "occupation", "l-diversity l=2 kind=recursive c=1000000"),
    ("recursive 3", "occupation", "l-diversity l=3 kind=recursive c=1000000"),
    ("t equal", "occupation", "t-closeness t=1"),
    ("t ordered", "hours-per-week", "t-closeness t=1 distance=ordered"),
    ("t ordered", "capital-gain", "t-closeness t=1 distance=ordered"),
    ("beta basic", "occupation", "beta-likeness beta=1000000 kind=basic"),
    ("beta enhanced", "occupation", "beta-likeness beta=1000000"),
    ("delta", "occupation", "delta-disclosure delta=1000000"),
];

/// Occupations in three categories, for the models that use them.
const CATEGORIES: &str = "categories = { Service = ['Priv-house-serv', 'Other-service', \
    'Protective-serv', 'Armed-Forces', \
    'Handlers-cleaners'], Manual = ['Craft-repair', 'Machine-op-inspct', 'Farming-fishing', \
    'Transport-moving'], Office = \
    ['Tech-support', 'Sales', 'Exec-managerial', 'Prof-specialty', 'Adm-clerical'] }";

/// Adds a model in the notation of flags to a job.
fn privacy_model(job: &mut Job, typed: &str, on: &str) {
    let (name, rest) = typed.split_once(' ').unwrap();
    let card = incrowd::model::MODELS.iter().find(|card| card.name == name).unwrap();
    let kind = |name: &str| card.params.iter().find(|param| param.name == name).unwrap().kind;
    let mut params: Vec<(&str, Value)> = rest
        .split(' ')
        .map(|pair| pair.split_once('=').unwrap())
        .map(|(name, word)| (name, Value::from_word(word, kind(name))))
        .collect();
    if card.params.iter().any(|param| param.name == "on") {
        params.push(("on", Value::Word(on.to_owned())));
    }
    job.add_model(name, params);
}

fn job(data: &Path, dir: &Path) -> Job {
    let mut columns = String::new();
    for column in QUASI.iter().chain(&["occupation"]).chain(&NUMERIC) {
        let role = if QUASI.contains(column) { "quasi" } else { "sensitive" };
        let how = match (HIERARCHIES.contains(column), *column) {
            (_, "occupation") => {
                let hierarchy = hierarchy(data, column);
                format!(
                    ", hierarchy = '{}', {CATEGORIES}, publish_sa = 'value'",
                    hierarchy.display()
                )
            }
            (true, _) => format!(", hierarchy = '{}'", hierarchy(data, column).display()),
            (_, "relationship") => String::new(),
            _ => ", kind = 'numeric'".to_owned(),
        };
        columns += &format!("{column} = {{ role = '{role}'{how} }}\n");
    }
    let adult = data.join("adult.csv.gz");
    let job = format!("[input]\npath = '{}'\n[columns]\n{columns}", adult.display());
    let mut job = parse("job.toml", &job, dir).unwrap_or_else(|e| panic!("{e}")).job;
    job.population = Some(PopulationJob { paths: vec![adult.into()], memory: None });
    job
}

/// Returns every fourth record of the table, as a sample of its people.
fn sample(data: &Path, dir: &Path) -> PathBuf {
    let file = std::fs::File::open(data.join("adult.csv.gz")).unwrap();
    let text = std::io::read_to_string(flate2::read::MultiGzDecoder::new(file)).unwrap();
    let every =
        text.lines().enumerate().filter(|(i, _)| i % 4 == 0).map(|(_, line)| format!("{line}\n"));
    std::fs::write(dir.join("sample.csv"), every.collect::<String>()).unwrap();
    dir.join("sample.csv")
}

/// Makes and verifies all releases. Returns the checker's input.
fn releases(data: &Path, dir: &Path) -> Vec<Json> {
    let sample = sample(data, dir);
    let release = |(i, &(typed, asked, on)): (usize, &(&str, &str, &str))| {
        let mut own = job(data, dir);
        let path = dir.join(format!("r{i}.csv"));
        privacy_model(&mut own, typed, on);
        if ["k-map", "delta-presence", "plain-k-anonymity"].contains(&own.models[0].name.as_str()) {
            own.input.paths = vec![sample.clone().into()];
        }
        if own.models[0].name == "plain-k-anonymity" {
            own.algorithm.name = "expc-plus".to_owned();
            own.algorithm.suppression_limit = 1.0;
        }
        if own.models[0].name != "k-anonymity" {
            privacy_model(&mut own, "k-anonymity k=50", "");
        }
        own.write_to(path.clone());
        let report = Anonymizer::new(&own).run().unwrap_or_else(|e| panic!("{typed}: {e}"));
        assert!(report.verification.groups > 1, "{typed}: nothing was divided");
        let checked = Judging::of(&own).verify().unwrap_or_else(|e| panic!("{typed}: {e}"));
        assert!(checked.holds(), "{typed}");
        assert_eq!(checked.verification.judgements, report.verification.judgements, "{typed}");
        let mut again = own.clone();
        again.models.clear();
        MEASURES.iter().for_each(|(_, on, weak)| privacy_model(&mut again, weak, on));
        let measured = Judging::of(&again).verify().unwrap().verification.judgements;
        let measures = MEASURES.iter().zip(&measured).map(|((name, on, _), judgement)| {
            let on = (!on.is_empty()).then_some(*on);
            json!({ "name": name, "on": on, "have": judgement.have })
        });
        json!({
            "file": path, "title": typed, "quasi": QUASI, "numeric": NUMERIC,
            "pycanon": [asked], "on": on,
            "measures": measures.collect::<Vec<_>>(),
        })
    };
    RELEASES.iter().enumerate().step_by(incrowd_testing::step(5)).map(release).collect()
}

/// Returns a Python with pycanon, or the reason why there is none. The environment is kept.
fn python() -> Result<PathBuf, String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (venv, done) = (target.join("pycanon"), target.join("pycanon").join(PYCANON));
    let python = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    if done.exists() {
        return Ok(python);
    }
    if !incrowd_testing::may_install() {
        return Err(
            "it is not installed; set INCROWD_TEST_INSTALL=1 to have pip install it below target"
                .to_owned(),
        );
    }
    let run = |program: &Path, args: &[&str]| {
        let output =
            Command::new(program).args(args).output().map_err(|e| format!("no Python: {e}"))?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        let last = errors.lines().last().unwrap_or_default().to_owned();
        if output.status.success() { Ok(()) } else { Err(format!("{}: {last}", args.join(" "))) }
    };
    run(Path::new("python3"), &["-m", "venv", "--clear", &venv.display().to_string()])?;
    run(&python, &["-m", "pip", "install", "--quiet", PYCANON])?;
    std::fs::write(done, "").map_err(|e| e.to_string())?;
    Ok(python)
}

#[test]
fn every_model_has_releases_to_measure() {
    for card in incrowd::model::MODELS {
        let named =
            RELEASES.iter().filter(|(typed, ..)| typed.split(' ').next() == Some(card.name));
        assert!(
            named.count() >= 3,
            "`{}`: add three models to `RELEASES` of {}",
            card.name,
            file!()
        );
    }
}

#[test]
fn pycanon_agrees_on_releases_of_every_model() {
    let data = or_skip!(data("adult.csv.gz"));
    let dir = tempfile::tempdir().unwrap();
    let entries = releases(&data, dir.path());
    let python = or_skip!(
        python().map_err(|why| format!("the releases are not measured by pycanon: {why}"))
    );
    let list = dir.path().join("releases.json");
    std::fs::write(&list, serde_json::to_vec(&entries).unwrap()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pycanon/check.py");
    let output = Command::new(python).arg(script).arg(&list).output().unwrap();
    let (printed, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    eprintln!("{printed}");
    assert!(output.status.success(), "{printed}{errors}");
}
