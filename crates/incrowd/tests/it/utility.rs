//! Utility on the Adult table: more protection, less utility.

use incrowd::job::{Job, parse};
use incrowd::utility::{Classification, EntropyLoss, Pairs, QueryError};
use incrowd::{Anonymizer, Ask, Judging, Utility};
use incrowd_testing::{data, or_skip};

use crate::adult::hierarchy;

const HIERARCHIES: [&str; 6] =
    ["workclass", "education", "marital-status", "race", "sex", "native-country"];

fn job(data: &std::path::Path, dir: &std::path::Path, k: u64) -> Job {
    let mut columns = String::from("age = { role = 'quasi', kind = 'numeric' }\n");
    for column in HIERARCHIES {
        columns += &format!(
            "{column} = {{ role = 'quasi', hierarchy = '{}' }}\n",
            hierarchy(data, column).display()
        );
    }
    let text = format!(
        "[input]\npath = '{}'\n[output]\npath = 'r{k}.csv'\n\
         [columns]\n{columns}occupation = 'sensitive'\n\
         income = 'passthrough'\n[[models]]\nname = 'k-anonymity'\nk = {k}\n",
        data.join("adult.csv.gz").display()
    );
    parse("job.toml", &text, dir).unwrap_or_else(|e| panic!("{e}")).job
}

fn ask(only: &[&str]) -> Ask {
    let mut ask = Ask { only: only.iter().map(|&n| n.to_owned()).collect(), ..Ask::default() };
    (ask.workload.queries, ask.target) = (300, Some("income".into()));
    ask
}

#[test]
fn a_larger_k_costs_more_of_everything() {
    let data = or_skip!(data("adult.csv.gz"));
    let dir = tempfile::tempdir().unwrap();
    let measure = |k: u64, only: &[&str]| -> Utility {
        let job = job(&data, dir.path(), k);
        let made = Anonymizer::new(&job).run().unwrap();
        let utility = Judging::of(&job).measure(Some(&ask(only))).unwrap().utility.unwrap();
        // The manifest's metrics were computed from the release; the measure also uses the
        // original.
        let (reported, measured) = (
            made.manifest.metrics.get("entropy_loss").unwrap(),
            utility.get::<EntropyLoss>().unwrap().share(),
        );
        assert!((reported - measured).abs() < 1e-9, "{reported} {measured}");
        utility
    };
    let all =
        [5, 50, 500].map(|k| measure(k, &["non_uniform_entropy", "query_error", "association"]));
    let figures = |u: &Utility| {
        let age = &u.columns[0];
        assert_eq!(age.name, "age");
        let errors = u.get::<QueryError>().unwrap().all;
        assert!(errors.answered >= 100, "{errors:?}");
        let pairs = &u.get::<Pairs>().unwrap().0;
        // Cramer's V may also rise if a cell's records are spread over rare values; the distance
        // grows.
        let distance = pairs.iter().map(|p| p.total_variation).sum::<f64>() / pairs.len() as f64;
        [
            u.get::<EntropyLoss>().unwrap().share(),
            age.mean_width.unwrap(),
            errors.bounded_mean.unwrap(),
            distance,
        ]
    };
    let figures: Vec<[f64; 4]> = all.iter().map(figures).collect();
    eprintln!("{figures:?}");
    for pair in figures.windows(2) {
        assert!(pair[0].iter().zip(&pair[1]).all(|(less, more)| less < more), "{figures:?}");
    }
    assert!(figures.iter().all(|f| (0.0..=1.0).contains(&f[0])));
    // Unmodified columns have no loss.
    for utility in &all {
        let occupation = utility.columns.iter().find(|c| c.name == "occupation").unwrap();
        assert_eq!((occupation.figure("kl_divergence"), occupation.ncp), (Some(0.0), 0.0));
    }
}

#[test]
fn accuracy_from_a_release_lies_between_guessing_and_originals() {
    let data = or_skip!(data("adult.csv.gz"));
    let dir = tempfile::tempdir().unwrap();
    let job = job(&data, dir.path(), 10);
    Anonymizer::new(&job).run().unwrap();
    let utility = Judging::of(&job).measure(Some(&ask(&["classification"])));
    let utility = utility.unwrap().utility.unwrap();
    let c = utility.get::<Classification>().unwrap();
    assert_eq!((c.target.as_str(), c.classes, c.originals), ("income", 2, c.published));
    let auc = |scores: incrowd::utility::Scores| scores.auc.unwrap();
    assert!(auc(c.from_originals) > 0.8, "{c:?}");
    assert!(
        auc(c.from_release) > 0.65 && auc(c.from_release) <= auc(c.from_originals) + 0.01,
        "{c:?}"
    );
    assert!((0.74..0.77).contains(&c.majority.accuracy), "{c:?}");
}
