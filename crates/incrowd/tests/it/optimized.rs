//! Regular intervals and trial runs from a job to a release, and verification with the release
//! alone.

use std::path::{Path, PathBuf};

use incrowd::front_end::CheckedJob;
use incrowd::job::{Job, Limits, PopulationJob, RoleName, hierarchy_from_path, parse};
use incrowd::model::MODELS;
use incrowd::{Anonymizer, AttackRequest, Fault, Judging, Quantity, Report, Value};
use incrowd_testing::{data, or_skip};
use serde_json::Value as Json;

use crate::release::read;

/// People with a whole number, a real one and a date.
fn people(dir: &Path) -> PathBuf {
    let mut table = String::from("age,dose,seen,sex,disease\n");
    for i in 0..240_u32 {
        let age = 18 + i * 37 % 61 + if i % 40 == 0 { 30 } else { 0 };
        let dose = f64::from(i * 29 % 97) / 4.0;
        let (month, day) = (1 + i * 7 % 12, 1 + i * 11 % 28);
        let disease = ["flu", "cold", "gout"][(i * 7 % 13 % 3) as usize];
        table += &format!(
            "{age},{dose:?},2021-{month:02}-{day:02},{},{disease}\n",
            ["F", "M"][(i % 2) as usize]
        );
    }
    let path = dir.join("people.csv");
    std::fs::write(&path, table).unwrap();
    path
}

fn job(dir: &Path, extra: &str, algorithm: &str) -> Job {
    let text = format!(
        "[input]\npath = 'people.csv'\n[output]\npath = 'out.csv'\n[columns]\n\
         age = {{ role = 'quasi', hierarchy = 'mdr' }}\n\
         dose = {{ role = 'quasi', hierarchy = {{ mdr = {{ outliers = 'none' }} }} }}\n\
         seen = {{ role = 'quasi', hierarchy = 'mdr' }}\nsex = 'quasi'\ndisease = 'sensitive'\n\
         [[models]]\nname = 'k-anonymity'\nk = 4\n{extra}\n[algorithm]\n{algorithm}\n"
    );
    people(dir);
    parse("job.toml", &text, dir).unwrap_or_else(|e| panic!("{e:?}")).job
}

/// Returns whether a published interval is one of the grid's, or an outlier cell. Computed in units
/// of the width from its lower end.
fn is_cell(cell: &str, mdr: &Json) -> bool {
    let day = |text: &str| incrowd::front_end::core::number::parse_date(text).map(f64::from);
    let number = |text: &str| text.parse::<f64>().ok().or_else(|| day(text));
    let end = |json: &Json| json.as_f64().or_else(|| json.as_str().and_then(day));
    if cell == "*" {
        return true;
    }
    let inner =
        cell.strip_prefix('[').and_then(|c| c.strip_suffix(']')).and_then(|c| c.split_once(", "));
    let (lo, hi) =
        inner.map_or_else(|| (number(cell), number(cell)), |(lo, hi)| (number(lo), number(hi)));
    let (Some(lo), Some(hi)) = (lo, hi) else { return false };
    let step = if mdr["unit"] == "real" { 0.0 } else { 1.0 };
    let (from, to, width) =
        (end(&mdr["from"]).unwrap(), end(&mdr["to"]).unwrap(), mdr["width"].as_f64().unwrap());
    let low = end(&mdr["outliers_from"]).is_some_and(|low| lo == low && hi == from - step);
    let high = end(&mdr["outliers_to"]).is_some_and(|high| lo == to + step && hi == high);
    let fits = |factor: &Json| {
        let wide = width * factor.as_f64().unwrap();
        let cells = (lo - from) / wide;
        (cells - cells.round()).abs() < 1e-6 && (hi - (lo + wide - step).min(to)).abs() < 1e-6
    };
    low || high || mdr["factors"].as_array().unwrap().iter().any(fits)
}

fn check_cells(dir: &Path, report: &Report, columns: &[&str]) {
    let table = read(&dir.join("out.csv"));
    let mut narrow = 0;
    for column in columns {
        let mdr = &report.manifest.to_json()["job"]["columns"][column]["mdr"];
        for row in &table.rows {
            let cell = &row[table.column(column)];
            assert!(is_cell(cell, mdr), "a cell of {column} is not one of {mdr}");
            narrow += usize::from(cell != "*");
        }
    }
    assert!(narrow > 0, "everything is a star");
}

#[test]
fn every_algorithm_publishes_regular_intervals_that_can_be_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for algorithm in crate::matrix::generalizing() {
        let job = job(dir, "", &format!("name = '{}'", algorithm.name));
        let report =
            Anonymizer::new(&job).run().unwrap_or_else(|e| panic!("{}: {e}", algorithm.name));
        check_cells(dir, &report, &["age", "dose", "seen"]);
        let release = dir.join("out.csv");
        // With the job, and with the manifest only.
        let bare = Judging { original: Some(job.input.clone()), ..Judging::new(&release) };
        for asked in [Judging::of(&job), bare] {
            let measured = asked.measure(None).unwrap().to_json();
            let (have, want) =
                (&measured["metrics"]["ncp"], &report.manifest.to_json()["metrics"]["ncp"]);
            assert!(
                (have.as_f64().unwrap() - want.as_f64().unwrap()).abs() < 1e-12,
                "{}",
                algorithm.name
            );
        }
        let mut judging = Judging::new(&release);
        assert!(judging.verify().unwrap().holds());
        judging.population =
            Some(PopulationJob { paths: vec![dir.join("people.csv").into()], memory: None });
        let attacked = judging.attack(&AttackRequest::default()).unwrap();
        let journalist =
            attacked.attacked.iter().find(|a| a.finding.attack == "journalist").unwrap();
        // The population is the table, so the people covered by a group are its members or have
        // equal cells.
        assert!(journalist.finding.quantity(Quantity::Worst) <= 0.25);
    }
}

#[test]
fn a_cell_that_is_not_in_the_tree_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let job = job(dir, "", "name = 'mondrian'");
    let report = Anonymizer::new(&job).run().unwrap();
    let release = dir.join("out.csv");
    let text = std::fs::read_to_string(&release).unwrap();
    let cell = read(&release)
        .rows
        .iter()
        .map(|row| row[0].clone())
        .find(|cell| cell.starts_with('['))
        .unwrap();
    let (lo, hi) = cell[1..cell.len() - 1].split_once(", ").unwrap();
    let odd = format!("[{lo}, {}]", hi.parse::<i64>().unwrap() + 1);
    std::fs::write(&release, text.replace(&cell, &odd)).unwrap();
    let error = Judging::of(&job).measure(None).unwrap_err();
    assert!(!error.message().contains(lo) || !error.message().contains(&odd), "{error}");
    assert_eq!(error.fault(), Fault::Input);
    assert!(report.verification.holds());
}

#[test]
fn a_single_width_is_kept_and_its_loss_measured() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let all = Anonymizer::new(job(dir, "", "name = 'optimized-mondrian'")).run().unwrap();
    let one = Anonymizer::new(job(dir, "", "name = 'optimized-mondrian'\nsingle_width = true"))
        .run()
        .unwrap();
    check_cells(dir, &one, &["age", "dose", "seen"]);
    let ncp = |report: &Report, column: &str| {
        report.manifest.to_json()["metrics"]["ncp_by_column"][column].as_f64().unwrap()
    };
    let printed = &one.to_json()["private"]["trials"]["single_width"];
    assert_eq!(printed.as_array().unwrap().len(), 3);
    for width in printed.as_array().unwrap() {
        let column = width["column"].as_str().unwrap();
        assert_eq!(
            one.manifest.to_json()["job"]["columns"][column]["mdr"]["factors"]
                .as_array()
                .unwrap()
                .len(),
            1
        );
        assert!(
            (width["ncp_after"].as_f64().unwrap() - ncp(&one, column)).abs() < 1e-9,
            "{column}"
        );
        assert!(
            (width["ncp_before"].as_f64().unwrap() - ncp(&all, column)).abs() < 1e-9,
            "{column}"
        );
    }
    assert!(one.manifest.to_json()["private"].is_null(), "trials are not for the public");
    assert!(!one.manifest.to_json().to_string().contains("trials"));
}

#[test]
fn a_single_width_refuses_models_that_merging_may_break_and_populations() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let mut refused = 0;
    for model in MODELS.iter().filter(|model| !model.survives.merging) {
        let mut job = job(dir, "", "name = 'optimized-mondrian'\nsingle_width = true");
        job.population =
            Some(PopulationJob { paths: vec![dir.join("people.csv").into()], memory: None });
        let given = model
            .params
            .iter()
            .filter(|p| p.default.is_none())
            .map(|p| (p.name, Value::Integer(1)));
        job.add_model(model.name, given.collect::<Vec<_>>());
        assert_eq!(Anonymizer::new(&job).run().unwrap_err().fault(), Fault::Job, "{}", model.name);
        refused += 1;
    }
    let mut job = job(dir, "", "name = 'optimized-mondrian'\nsingle_width = true");
    job.population =
        Some(PopulationJob { paths: vec![dir.join("people.csv").into()], memory: None });
    job.add_model("k-map", [("k", Value::Integer(2))]);
    let error = Anonymizer::new(&job).run().unwrap_err();
    assert!(error.message().contains("population"), "{error}");
    assert!(refused > 0);
}

/// People of a population on bounds and between cells are counted in the same way when the release
/// is made and when it is verified.
#[test]
fn models_about_a_population_hold_for_regular_intervals() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let mut everybody = String::from("age,dose,seen,sex\n");
    for i in 0..900_u32 {
        let sex = ["F", "M"][(i % 2) as usize];
        everybody += &format!(
            "{},{:?},2021-{:02}-{:02},{sex}\n",
            10 + i % 90,
            f64::from(i % 120) / 5.0,
            1 + i % 12,
            1 + i % 28
        );
    }
    let table = std::fs::read_to_string(people(dir)).unwrap();
    for line in table.lines().skip(1) {
        everybody += line.rsplit_once(',').unwrap().0;
        everybody.push('\n');
    }
    std::fs::write(dir.join("everybody.csv"), everybody).unwrap();
    for algorithm in ["mondrian", "optimized-mondrian", "full-domain"] {
        let models = "[[models]]\nname = 'k-map'\nk = 6\n[population]\npath = 'everybody.csv'";
        let job = job(dir, models, &format!("name = '{algorithm}'"));
        let report = Anonymizer::new(&job).run().unwrap_or_else(|e| panic!("{algorithm}: {e}"));
        assert!(report.verification.holds());
        let judged =
            Judging { population: job.population.clone(), ..Judging::new(dir.join("out.csv")) };
        assert!(judged.verify().unwrap().holds(), "{algorithm}");
    }
}

#[test]
fn numbers_get_a_tree_if_the_algorithm_is_asked_to() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let mut job = job(
        dir,
        "",
        "name = 'optimized-mondrian'\nnumbers = 'mdr'\nundersized = 'block'\nkeep_best = false",
    );
    job.columns.iter_mut().for_each(|(_, column)| column.spec.hierarchy = None);
    let report = Anonymizer::new(&job).run().unwrap();
    check_cells(dir, &report, &["age", "dose", "seen"]);
    let trials = report
        .algorithm_report
        .as_deref()
        .and_then(|r| r.downcast::<incrowd::front_end::recode::optimized::TrialReport>())
        .cloned()
        .unwrap();
    assert_eq!((trials.runs, trials.order.len()), (5, 4));
}

/// Regular intervals may be finer than a bound, and labels such as `>=60` are not among them.
#[test]
fn a_bound_on_numbers_that_get_a_tree_is_refused_before_records_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let columns = ["age", "dose", "seen", "sex", "disease"].map(str::to_owned);
    for (key, limits) in [
        ("top", Limits { top: Some(60.0), bottom: None }),
        ("bottom", Limits { top: None, bottom: Some(30.0) }),
    ] {
        let mut job = job(dir.path(), "", "name = 'optimized-mondrian'\nnumbers = 'mdr'");
        job.columns.iter_mut().for_each(|(_, column)| column.spec.hierarchy = None);
        job.column_mut("age").spec.limits = limits;
        let error = CheckedJob::new(&job, &columns).unwrap_err();
        assert!(error.message().contains("publishes it in regular intervals"), "{error}");
        assert_eq!(error.key(), Some(format!("columns.age.{key}").as_str()));
        assert_eq!(error.fault(), Fault::Job);
        assert!(Anonymizer::new(&job).run().is_err() && !dir.path().join("out.csv").exists());
        job.algorithm.params.clear();
        CheckedJob::new(&job, &columns).unwrap();
    }
}

#[test]
fn weights_are_reported_and_checked() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let mut heavy = job(dir, "", "name = 'optimized-mondrian'");
    heavy.column_mut("age").spec.weight = Some(3.0);
    let report = Anonymizer::new(&heavy).run().unwrap();
    let metrics = &report.manifest.to_json()["metrics"];
    let of = |column: &str| metrics["ncp_by_column"][column].as_f64().unwrap();
    let want = (3.0 * of("age") + of("dose") + of("seen") + of("sex")) / 6.0;
    assert!((metrics["weighted_ncp"].as_f64().unwrap() - want).abs() < 1e-12);
    assert_ne!(metrics["weighted_ncp"], metrics["ncp"]);
    for column in ["age", "dose", "seen", "sex"] {
        heavy.column_mut(column).spec.weight = Some(0.0);
    }
    assert!(Anonymizer::new(&heavy).run().unwrap_err().message().contains("weight 0"));
    for weight in ["-1", "nan", "inf", "'2'"] {
        let text = format!("[columns]\nage = {{ role = 'quasi', weight = {weight} }}");
        assert!(parse("job.toml", &text, dir).is_err(), "{weight}");
    }
    let text = "[columns]\nage = { role = 'sensitive', weight = 1 }";
    assert!(parse("job.toml", text, dir).is_err(), "only quasi-identifiers are generalized");
}

#[test]
fn a_sensitive_column_has_no_tree_of_regular_intervals() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = job(dir.path(), "", "name = 'mondrian'");
    job.set_role("age", RoleName::Sensitive);
    let error = Anonymizer::new(&job).run().unwrap_err();
    assert!(error.message().contains("cannot have the hierarchy `mdr`"), "{error}");
}

/// The specification's table at k = 10, to all digits, from the written release.
#[test]
fn adult_with_blocking_and_pooling() {
    let data = or_skip!(data("adult.csv.gz"));
    let dir = tempfile::tempdir().unwrap();
    let release = |algorithm: &str, options: &[(&str, Value)]| {
        let mut job = Job::default();
        job.input.paths = vec![data.join("adult.csv.gz").into()];
        job.set_role("occupation", RoleName::Sensitive);
        for column in ["age", "workclass", "race", "sex", "native-country"] {
            job.set_role(column, RoleName::Quasi);
            if column != "age" {
                let file = data.join(format!("hierarchies/adult_hierarchy_{column}.csv"));
                job.column_mut(column).spec.hierarchy = Some(hierarchy_from_path(&file).unwrap());
            }
        }
        job.add_model("k-anonymity", [("k", Value::Integer(10))]);
        job.algorithm.name = algorithm.to_owned();
        job.algorithm.params =
            options.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        job.write_to(dir.path().join("adult.csv"));
        let report = Anonymizer::new(&job).run().unwrap();
        assert_eq!(report.records.published, 45_222);
        report.manifest.to_json()
    };
    let word = |text: &str| Value::Word(text.to_owned());
    let ncp = |content: &Json| format!("{:.4}", content["metrics"]["ncp"].as_f64().unwrap());
    for (undersized, basic, optimized) in
        [("block", "0.1042", "0.0574"), ("pool", "0.0209", "0.0278")]
    {
        let made = release("mondrian", &[("undersized", word(undersized))]);
        assert_eq!(ncp(&made), basic);
        let paper = [
            ("undersized", word(undersized)),
            ("numbers", word("mdr")),
            ("keep_best", Value::Flag(false)),
        ];
        let made = release("optimized-mondrian", &paper);
        assert_eq!(ncp(&made), optimized);
        let mdr = &made["job"]["columns"]["age"]["mdr"];
        assert_eq!(
            (&mdr["from"], &mdr["to"], &mdr["outliers_to"]),
            (&17.into(), &64.into(), &90.into())
        );
        assert_eq!(mdr["width"], 2.0);
    }
    let product = release("optimized-mondrian", &[]);
    assert!(
        product["metrics"]["ncp"].as_f64().unwrap() <= 0.015_35,
        "{}",
        product["metrics"]["ncp"]
    );
}
