//! Parameters at their limits, given by a program: the fault and the job key of each error.

use incrowd::job::{Job, parse};
use incrowd::{Anonymizer, Error, Fault};

const TABLE: &str = "age,zip,disease,income\n1,a,flu,1\n2,a,cold,2\n3,b,flu,nan\n4,b,gout,4\n\
                     5,c,cold,5\n6,c,flu,6\n";

/// Runs a job about the table with these models.
fn attempt(models: &str, more: &str) -> Result<u64, Error> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("in.csv"), TABLE).unwrap();
    std::fs::write(dir.path().join("people.csv"), "age,zip\n1,a\n9,z\n").unwrap();
    let job = format!(
        "[input]\npath = 'in.csv'\n[output]\npath = 'out.csv'\n\
         [columns]\nage = 'quasi'\nzip = 'quasi'\n\
         disease = 'sensitive'\nincome = 'sensitive'\n{models}\n{more}"
    );
    let job: Job = parse("job.toml", &job, dir.path()).map_err(|e| e.error)?.job;
    let made = Anonymizer::new(&job).run();
    let left: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), if made.is_ok() { 4 } else { 2 }, "{left:?}");
    made.map(|report| report.verification.groups)
}

fn model(name: &str, params: &str) -> String {
    format!("[[models]]\nname = '{name}'\n{params}\n")
}

#[test]
fn refusals_have_a_fault_and_a_key() {
    let people = "[population]\npath = 'people.csv'\n";
    for (name, params, more, fault, key) in [
        ("l-diversity", "l = 2", "", Fault::Job, Some("models.0")),
        ("l-diversity", "l = 2\non = 'diseases'", "", Fault::Job, Some("models.0.on")),
        ("l-diversity", "l = 2\non = 'age'", "", Fault::Job, Some("models.0.on")),
        ("l-diversity", "l = 2\nc = 2.0\non = 'disease'", "", Fault::Job, Some("models.0.c")),
        ("l-diversity", "l = 0\non = 'disease'", "", Fault::Job, Some("models.0.l")),
        ("l-diversity", "l = 4\non = 'disease'", "", Fault::Unsatisfiable, Some("models.0")),
        (
            "t-closeness",
            "t = 0.5\ndistance = 'ordered'\non = 'disease'",
            "",
            Fault::Job,
            Some("models.0.on"),
        ),
        (
            "t-closeness",
            "t = 0.5\ndistance = 'hierarchical'\non = 'disease'",
            "",
            Fault::Job,
            Some("models.0.on"),
        ),
        ("k-e-anonymity", "k = 1\ne = 1\non = 'income'", "", Fault::Job, Some("models.0.on")),
        (
            "epsilon-m-anonymity",
            "epsilon = 1\nm = 2\non = 'income'",
            "",
            Fault::Job,
            Some("models.0.on"),
        ),
        (
            "alpha-k-anonymity",
            "alpha = 0.5\nk = 2\nvalues = ['flue']\non = 'disease'",
            "",
            Fault::Job,
            Some("models.0.values"),
        ),
        (
            "alpha-k-anonymity",
            "alpha = 0.4\nk = 2\non = 'disease'",
            "",
            Fault::Unsatisfiable,
            Some("models.0"),
        ),
        (
            "delta-presence",
            "delta_min = 1\ndelta_max = 0.5",
            people,
            Fault::Job,
            Some("models.0.delta_min"),
        ),
        ("delta-presence", "delta_max = 1.0", people, Fault::Unsatisfiable, Some("models.0")),
        ("k-map", "k = 2", "", Fault::Job, Some("models.0")),
        ("k-map", "k = 2", people, Fault::Unsatisfiable, Some("models.0")),
        (
            "k-map",
            "k = 2",
            "[population]\npath = 'in.csv'\n[algorithm]\ncut = 'relax'",
            Fault::Job,
            Some("algorithm.cut"),
        ),
        (
            "k-map",
            "k = 1",
            "[population]\npath = 'nobody.csv'\n",
            Fault::Input,
            Some("population.path"),
        ),
        ("k-anonymity", "k = 7", "", Fault::Unsatisfiable, Some("models.0")),
    ] {
        let error = attempt(&model(name, params), more).expect_err(params);
        assert_eq!((error.fault(), error.key()), (fault, key), "{name} {params}: {error}");
        assert!(!error.message().contains("nan"), "a cell is shown: {error}");
    }
}

#[test]
fn satisfiable_limits() {
    for (name, params, groups) in [
        ("k-anonymity", "k = 6", 1),
        ("k-anonymity", "k = 1", 6),
        ("l-diversity", "l = 1\non = 'disease'", 6),
        ("l-diversity", "l = 3\non = 'disease'", 1),
        ("t-closeness", "t = 1\non = 'disease'", 6),
        ("t-closeness", "t = 0\non = 'disease'", 1),
        ("alpha-k-anonymity", "alpha = 1\nk = 1\non = 'disease'", 6),
        ("alpha-k-anonymity", "alpha = 0.5\nk = 6\non = 'disease'", 1),
        ("beta-likeness", "beta = 0\non = 'disease'", 1),
        ("p-sensitive", "p = 1\nk = 1\non = 'disease'", 6),
        // For a model that only counts, a text that is not a number is a regular value.
        ("l-diversity", "l = 6\non = 'income'", 1),
    ] {
        let made =
            attempt(&model(name, params), "").unwrap_or_else(|e| panic!("{name} {params}: {e}"));
        assert_eq!(made, groups, "{name} {params}");
    }
    // The table is its own population.
    let own = "[population]\npath = 'in.csv'\n";
    assert_eq!(attempt(&model("k-map", "k = 6"), own).unwrap(), 1);
    assert_eq!(attempt(&model("delta-presence", "delta_min = 1\ndelta_max = 1"), own).unwrap(), 6);
}

#[test]
fn two_sensitive_columns_each_with_a_model() {
    let both = model("l-diversity", "l = 2\non = 'disease'")
        + &model("l-diversity", "l = 3\non = 'income'");
    assert_eq!(attempt(&both, "").unwrap(), 2);
    let impossible = model("l-diversity", "l = 2\non = 'disease'")
        + &model("l-diversity", "l = 7\non = 'income'");
    let error = attempt(&impossible, "").unwrap_err();
    assert_eq!((error.fault(), error.key()), (Fault::Unsatisfiable, Some("models.1")));
}
