//! k-join-anonymity from two files to two files: the vectors of the specification, random tables,
//! damaged releases.

use std::path::{Path, PathBuf};

use incrowd::job::{ExternalJob, Job, JoinMethod, OnConflict, PopulationJob, RoleName, Trim};
use incrowd::{Anonymizer, AttackRequest, Checked, Fault, Judging, Value};
use proptest::prelude::*;
use serde_json::Value as Json;

fn vectors(text: &str) -> Vec<Json> {
    let all: Json = serde_json::from_str(text).unwrap();
    all["cases"].as_array().unwrap().clone()
}

fn line(json: &Json) -> String {
    let cell = |cell: &Json| {
        let text = cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
        if text.contains(',') { format!("\"{text}\"") } else { text }
    };
    json.as_array().unwrap().iter().map(cell).collect::<Vec<_>>().join(",") + "\n"
}

fn write(path: &Path, header: &str, rows: &Json) {
    let rows: String = rows.as_array().unwrap().iter().map(line).collect();
    std::fs::write(path, format!("{header}\n{rows}")).unwrap();
}

/// A job on `mt.csv` and `pd.csv` of the directory.
fn job(dir: &Path, quasi: &[&str], k: i64, method: JoinMethod) -> Job {
    let mut job = Job::default();
    job.input.paths = vec![dir.join("mt.csv").into()];
    for column in quasi {
        job.set_role(column, RoleName::Quasi);
    }
    job.set_role("SA", RoleName::Sensitive);
    job.add_model("k-anonymity", [("k", Value::Integer(k))]);
    job.algorithm.name = "mondrian".into();
    job.external = Some(ExternalJob {
        paths: vec![dir.join("pd.csv").into()],
        id: "ID".into(),
        method,
        ..ExternalJob::default()
    });
    job.write_to(dir.join("out.csv"));
    job
}

/// Returns the request to judge `out.csv` with its originals.
fn checked(job: &Job, audit: Option<PathBuf>, si: Option<&Path>) -> Checked {
    let mut judging = Judging { values: si.map(Into::into), ..Judging::of(job) };
    judging.external.as_mut().unwrap().audit = audit;
    judging.verify().unwrap()
}

#[test]
fn persons_of_another_column_have_one_record_each() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("pd.csv"), "ID,Q1\n1,1\n5,1\n6,1\n").unwrap();
    let mut job = job(dir, &["Q1"], 2, JoinMethod::Direct);
    job.input.person = Some("who".to_owned());
    // 7.0 and 7 are one person. A record without a person is a person of its own.
    for (third, is_repeated) in [("7.0", true), ("8", false), ("", false)] {
        let text = format!("ID,who,Q1,SA\n1,7,1,v1\n2,,1,v2\n3,{third},1,v1\n4,9,1,v2\n");
        std::fs::write(dir.join("mt.csv"), text).unwrap();
        let error = Anonymizer::new(&job).run().err().map(|error| error.to_string());
        let is_refused = |error: &String| error.contains("assumes one record per person");
        assert!(error.as_ref().is_none_or(is_refused), "{error:?}");
        assert_eq!(error.is_some(), is_repeated, "{third}");
        job.output.iter_mut().for_each(|output| output.replace = true);
    }
}

#[test]
fn verdicts_of_the_checker() {
    let mut seen = 0;
    for (i, case) in vectors(incrowd_testing::fixture("kja_checker.json")).iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let header = line(&case["jat_header"]);
        write(&dir.join("out.csv"), header.trim_end(), &case["jat"]);
        write(&dir.join("si.csv"), "SG,SA", &case["si"]);
        write(&dir.join("mt.csv"), "ID,QI1,QI2,SA", &case["mt"]);
        write(&dir.join("pd.csv"), "ID,QI1,QI2", &case["pd"]);
        let mut job = job(dir, &["QI1", "QI2"], case["k"].as_i64().unwrap(), JoinMethod::Direct);
        job.column_mut("QI1").spec.kind = Some(incrowd::front_end::core::Kind::Numeric);
        job.column_mut("QI2").spec.kind = Some(incrowd::front_end::core::Kind::Numeric);
        let checked = checked(&job, None, Some(&dir.join("si.csv")));
        assert_eq!(checked.holds(), case["ok"] == true, "case {i} {}: {checked:?}", case["kind"]);
        seen += 1;
    }
    assert_eq!(seen, 32);
}

#[test]
fn tables_that_cannot_be_joined_are_refused() {
    let mut refused = 0;
    for case in vectors(incrowd_testing::fixture("kja_join.json")) {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        write(&dir.join("mt.csv"), line(&case["mt_header"]).trim_end(), &case["mt"]);
        write(&dir.join("pd.csv"), line(&case["pd_header"]).trim_end(), &case["pd"]);
        let mut job = job(dir, &["Q1", "Q2"], 1, JoinMethod::Direct);
        job.external.as_mut().unwrap().on_conflict = match case["on_conflict"].as_str() {
            Some("mt") => OnConflict::Microdata,
            Some("pd") => OnConflict::External,
            _ => OnConflict::Error,
        };
        match (Anonymizer::new(&job).run(), case["expect"]["error"].as_str()) {
            (Ok(report), None) => {
                let printed = report.joined.unwrap().warnings.len();
                let expected =
                    case["expect"]["warnings"].as_object().map_or(0, serde_json::Map::len);
                let adds_nobody =
                    !case["expect"]["rows"].as_array().unwrap().iter().any(|row| row[2] == "pd");
                assert_eq!(printed, expected + usize::from(adds_nobody), "{}", case["name"]);
            }
            (Err(error), Some(_)) => {
                assert_eq!(error.fault(), Fault::Input, "{}: {error}", case["name"]);
                assert!(
                    !dir.join("out.csv").exists() && std::fs::read_dir(dir).unwrap().count() == 2
                );
                refused += 1;
            }
            (made, _) => panic!("{}: {:?}", case["name"], made.map(|r| r.records)),
        }
    }
    assert_eq!(refused, 6);
}

fn figure_5(dir: &Path) -> Json {
    let figure: Json =
        serde_json::from_str(incrowd_testing::fixture("kja_fig5_reconstructed.json")).unwrap();
    write(&dir.join("mt.csv"), "ID,QI1,QI2,SA", &figure["mt"]);
    write(&dir.join("pd.csv"), "ID,QI1,QI2", &figure["pd"]);
    figure
}

#[test]
fn figure_5_is_published_as_two_tables() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    figure_5(dir);
    let mut job = job(dir, &["QI1", "QI2"], 3, JoinMethod::Refinement);
    job.algorithm.params.push(("dimension".into(), Value::Word("round-robin".into())));
    job.external.as_mut().unwrap().trim = Trim::Greedy;
    job.external.as_mut().unwrap().audit = Some(dir.join("audit.csv"));
    let report = Anonymizer::new(&job).run().unwrap();
    let boxes = std::fs::read_to_string(dir.join("out.csv")).unwrap();
    let expected = "QI1,QI2,SG\n\
        1,\"[1, 4]\",sg1\n1,\"[1, 4]\",sg1\n1,\"[1, 4]\",sg1\n\
        2,\"[1, 3]\",sg1\n2,\"[1, 3]\",sg1\n2,\"[1, 3]\",sg1\n\
        5,4,sg2\n5,4,sg2\n5,4,sg2\n\
        \"[3, 4]\",\"[1, 2]\",sg2\n\"[3, 4]\",\"[1, 2]\",sg2\n\"[3, 4]\",\"[1, 2]\",sg2\n";
    assert_eq!(boxes, expected);
    let values = std::fs::read_to_string(dir.join("out.si.csv")).unwrap();
    assert_eq!(values, "SG,SA\nsg1,v1\nsg1,v1\nsg1,v2\nsg1,v2\nsg2,v1\nsg2,v2\nsg2,v3\n");
    let audit = std::fs::read_to_string(dir.join("audit.csv")).unwrap();
    assert!(
        audit.starts_with("id,group,source\nA,1,both\n")
            && audit.contains("V,1,external\n")
            && audit.contains("D,2,table\n")
    );
    let joined = report.joined.unwrap();
    assert_eq!((joined.strangers, joined.strangers_published, joined.outside), (6, 5, 1));
    assert_eq!((joined.discernibility, joined.margin), (2 * 2 + 2 * 2 + 2 * 2 + 1, 0));
    // Private data is in neither table nor in the manifest.
    let manifest = std::fs::read_to_string(dir.join("out.release.json")).unwrap();
    assert!(
        !manifest.contains("ncp_microdata")
            && !manifest.contains("strangers")
            && !manifest.contains("\"ID\"")
    );
    let found = checked(&job, Some(dir.join("audit.csv")), None);
    assert!(found.holds(), "{found:?}");
    assert!(checked(&job, None, None).holds());
    let found = Judging::new(dir.join("out.csv")).verify().unwrap();
    assert!(found.holds() && found.digest_matches == Some(true));
    assert_eq!(found.values_match(), Some(true));
}

#[test]
fn damaged_releases_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    figure_5(dir);
    let mut job = job(dir, &["QI1", "QI2"], 3, JoinMethod::Direct);
    job.external.as_mut().unwrap().audit = Some(dir.join("audit.csv"));
    Anonymizer::new(&job).run().unwrap();
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap();
    let (boxes, values, audit) = (read("out.csv"), read("out.si.csv"), read("audit.csv"));
    std::fs::remove_file(dir.join("out.release.json")).unwrap();
    let verdict = |boxes: &str, values: &str, audit_text: &str, with_audit: bool| {
        std::fs::write(dir.join("out.csv"), boxes).unwrap();
        std::fs::write(dir.join("out.si.csv"), values).unwrap();
        std::fs::write(dir.join("audit.csv"), audit_text).unwrap();
        let audit = with_audit.then(|| dir.join("audit.csv"));
        checked(&job, audit, Some(&dir.join("out.si.csv"))).holds()
    };
    assert!(verdict(&boxes, &values, &audit, true) && verdict(&boxes, &values, &audit, false));
    let last = boxes.trim_end().rsplit_once('\n').unwrap();
    // A removed or added row may be another external person of the same box, unless the audit table
    // is given. A box that covers nobody is a failure.
    for damaged in [format!("{}\n", last.0), format!("{boxes}{}\n", last.1)] {
        assert!(!verdict(&damaged, &values, &audit, true));
    }
    let elsewhere = boxes.replace(last.1, "99,99,sg1");
    assert_ne!(elsewhere, boxes);
    assert!(
        !verdict(&elsewhere, &values, &audit, true) && !verdict(&elsewhere, &values, &audit, false)
    );
    let crowded = format!("{boxes}{}", format!("{}\n", last.1).repeat(9));
    assert!(!verdict(&crowded, &values, &audit, false));
    // A removed value, another value, a label that does not exist.
    let less = values.trim_end().rsplit_once('\n').unwrap().0;
    for damaged in
        [format!("{less}\n"), values.replacen("v1", "v3", 1), values.replacen("sg1", "sg9", 1)]
    {
        assert!(
            !verdict(&boxes, &damaged, &audit, true) && !verdict(&boxes, &damaged, &audit, false)
        );
    }
    // Audit tables with a repeated person, an unknown name, two people exchanged.
    let swapped = {
        let number = |name: &str| {
            audit
                .lines()
                .find(|l| l.starts_with(name))
                .unwrap()
                .split(',')
                .nth(1)
                .unwrap()
                .to_owned()
        };
        let (a, g) = (number("A,"), number("G,"));
        assert_ne!(a, g);
        audit
            .replace(&format!("A,{a},"), &format!("A,{g},"))
            .replace(&format!("G,{g},"), &format!("G,{a},"))
    };
    for damaged in [format!("{audit}A,1,both\n"), audit.replace("\nA,", "\nZ,"), swapped] {
        assert!(!verdict(&boxes, &values, &damaged, true));
    }
}

#[test]
fn impossible_jobs_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    figure_5(dir);
    let fails = |change: &dyn Fn(&mut Job), fault: Fault, says: &str| {
        let mut job = job(dir, &["QI1", "QI2"], 3, JoinMethod::Refinement);
        change(&mut job);
        let error = Anonymizer::new(&job).run().unwrap_err();
        assert!(error.fault() == fault && error.message().contains(says), "{error}");
    };
    let k = |job: &mut Job, k: i64| {
        job.models.clear();
        job.add_model("k-anonymity", [("k", Value::Integer(k))]);
    };
    fails(&|job| k(job, 8), Fault::Unsatisfiable, "k-anonymity(k=8) cannot be satisfied");
    let without_values = |job: &mut Job, number: i64, method: JoinMethod| {
        k(job, number);
        job.set_role("SA", RoleName::Drop);
        job.external.as_mut().unwrap().method = method;
    };
    fails(
        &|job| without_values(job, 8, JoinMethod::Refinement),
        Fault::Unsatisfiable,
        "cannot form a group of 8",
    );
    fails(
        &|job| without_values(job, 14, JoinMethod::Direct),
        Fault::Unsatisfiable,
        "have 13 people, and k is 14",
    );
    fails(&|job| job.algorithm.suppression_limit = 0.1, Fault::Job, "nothing can be suppressed");
    fails(
        &|job| job.algorithm.name = "full-domain".into(),
        Fault::Job,
        "cannot be used with [external]",
    );
    fails(&|job| job.set_role("ID", RoleName::Quasi), Fault::Job, "cannot have another role");
    fails(
        &|job| job.external.as_mut().unwrap().id = "SSN".into(),
        Fault::Job,
        "no column `SSN` to join on",
    );
    fails(
        &|job| job.external.as_mut().unwrap().audit = Some(dir.join("mt.csv")),
        Fault::Job,
        "would overwrite a file that is read",
    );
    fails(
        &|job| {
            job.models.clear();
            job.add_model("l-diversity", [("l", Value::Integer(2))]);
        },
        Fault::Job,
        "needs a model about the number of people",
    );
    // More than the records of the microdata, but not of both tables: possible without sensitive
    // values.
    let mut job = job(dir, &["QI1", "QI2"], 3, JoinMethod::Direct);
    without_values(&mut job, 13, JoinMethod::Direct);
    let report = Anonymizer::new(&job).run().unwrap();
    assert_eq!((report.verification.groups, report.verification.records), (1, 13));
    assert!(!dir.join("out.si.csv").exists());
    let manifest = std::fs::read_to_string(dir.join("out.release.json")).unwrap();
    let manifest: Json = serde_json::from_str(&manifest).unwrap();
    let reported = serde_json::json!({
        "read": null,
        "dropped_missing": null,
        "suppressed": null,
        "published": 13,
    });
    assert_eq!(manifest["records"], reported);
}

#[test]
fn attacks_on_figure_5() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let figure = figure_5(dir);
    let mut job = job(dir, &["QI1", "QI2"], 3, JoinMethod::Refinement);
    job.external.as_mut().unwrap().trim = Trim::Greedy;
    job.algorithm.params.push(("dimension".into(), Value::Word("round-robin".into())));
    Anonymizer::new(&job).run().unwrap();
    let request =
        AttackRequest { external: Some(dir.join("pd.csv").into()), ..AttackRequest::default() };
    let report = Judging::new(dir.join("out.csv")).attack(&request).unwrap();
    let found = |name: &str| report.attacked.iter().map(|a| &a.finding).find(|f| f.attack == name);
    // Without a population, the published rows are all candidates: 4 of 6 and 3 of 6.
    let shares = &figure["presence_by_sg"];
    let presence = found("presence").unwrap();
    assert_eq!(presence.worst, shares["sg1"].as_f64().unwrap());
    assert_eq!(presence.fact("least"), shares["sg2"].as_f64());
    // D is in the microdata but not in the public table, and is in a box with two others.
    let outside = found("outside").unwrap();
    assert_eq!((outside.fact("boxes"), outside.fact("people")), (Some(1.0), Some(1.0)));
    assert_eq!(found("prosecutor").unwrap().worst, 1.0 / 3.0);
    let homogeneity = found("homogeneity").unwrap();
    assert_eq!(homogeneity.worst, 0.5);
    assert!(found("trimming").is_none());
}

#[test]
fn trimming_exposes_the_people_named_by_the_vectors() {
    let mut exposed = 0;
    for case in vectors(incrowd_testing::fixture("kja_mondrian_random.json")) {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let names = ["a", "b", "c", "d", "e", "f"];
        let quasi = &names[..case["d"].as_u64().unwrap() as usize];
        let microdata = case["mt_rows"].as_u64().unwrap() as usize;
        let (mut mt, mut pd) =
            (format!("ID,{},SA\n", quasi.join(",")), format!("ID,{}\n", quasi.join(",")));
        for (i, point) in case["points"].as_array().unwrap().iter().enumerate() {
            let cells = line(point);
            pd += &format!("p{i},{cells}");
            if i < microdata {
                mt += &format!("p{i},{},v{}\n", cells.trim_end(), i % 3);
            }
        }
        std::fs::write(dir.join("mt.csv"), mt).unwrap();
        std::fs::write(dir.join("pd.csv"), pd).unwrap();
        let mut counts = Vec::new();
        for method in [JoinMethod::Direct, JoinMethod::Refinement] {
            let mut job = job(dir, quasi, case["k"].as_i64().unwrap(), method);
            let domains = case["domain"].as_array().unwrap();
            assert_eq!(domains.len(), quasi.len(), "{}", case["case"]);
            for (column, domain) in quasi.iter().zip(domains) {
                let spec = &mut job.column_mut(column).spec;
                spec.kind = Some(incrowd::front_end::core::Kind::Numeric);
                spec.domain = Some((0.0, domain.as_f64().unwrap()));
            }
            job.algorithm.params.push(("dimension".into(), Value::Word("round-robin".into())));
            job.external.as_mut().unwrap().trim = Trim::Greedy;
            let report = Anonymizer::new(&job).run().unwrap();
            let name = if method == JoinMethod::Direct { "direct_trim" } else { "refinement_trim" };
            let joined = report.joined.unwrap();
            assert!(
                (joined.ncp - case[name]["ncp"].as_f64().unwrap()).abs() < 1e-8,
                "{} {name}",
                case["case"]
            );
            assert_eq!(joined.discernibility, case[name]["dm"].as_u64().unwrap());
            let mut judging = Judging::new(dir.join("out.csv"));
            judging.population =
                Some(PopulationJob { paths: vec![dir.join("pd.csv").into()], memory: None });
            let request =
                AttackRequest { only: vec!["trimming".into()], ..AttackRequest::default() };
            let report = judging.attack(&request).unwrap();
            counts.push(report.attacked[0].finding.fact("exposed").unwrap() as u64);
        }
        let expected = case["trim_attack"]["exposed"].as_u64().unwrap();
        assert!(counts.contains(&expected), "case {}: {counts:?} {expected}", case["case"]);
        exposed += expected;
    }
    assert!(exposed > 10, "{exposed}");
}

/// Writes records as tables; `known` records of the microdata are also in the external table.
fn tables(dir: &Path, people: &[(u8, u8, u8)], microdata: usize, known: usize) {
    let (mut mt, mut pd) = (String::from("ID,a,b,SA\n"), String::from("ID,a,b\n"));
    for (i, (a, b, v)) in people.iter().enumerate() {
        if i < microdata {
            mt += &format!("p{i},{a},{b},v{v}\n");
        }
        if i >= microdata || i < known {
            pd += &format!("p{i},{a},{b}\n");
        }
    }
    std::fs::write(dir.join("mt.csv"), mt).unwrap();
    std::fs::write(dir.join("pd.csv"), pd).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_variant_is_verified_from_its_bytes_and_against_the_originals(
        people in prop::collection::vec((0u8..12, 0u8..9, 0u8..4), 12..70),
        microdata in 6usize..30,
        known in 0usize..30,
        k in 1i64..4,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let microdata = microdata.min(people.len());
        tables(dir, &people, microdata, known);
        for algorithm in ["mondrian", "top-down"] {
            for method in [JoinMethod::Direct, JoinMethod::Refinement] {
                for trim in [Trim::Off, Trim::Greedy] {
                    let mut job = job(dir, &["a", "b"], k, method);
                    job.algorithm.name = algorithm.into();
                    let external = job.external.as_mut().unwrap();
                    (external.trim, external.audit) = (trim, Some(dir.join("audit.csv")));
                    let report = Anonymizer::new(&job).run().unwrap();
                    prop_assert!(report.verification.holds());
                    let with = checked(&job, Some(dir.join("audit.csv")), None);
                    prop_assert!(with.holds(), "{algorithm} {method:?} {trim:?} {with:?}");
                    let without = checked(&job, None, None);
                    prop_assert!(without.holds(), "{algorithm} {method:?} {trim:?} {without:?}");
                    prop_assert_eq!(without.from_original.unwrap().loose, Some(0));
                }
            }
        }
    }
}

#[test]
fn without_strangers_the_boxes_are_those_of_k_anonymity() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let people: Vec<(u8, u8, u8)> =
        (0..200u32).map(|i| ((i * 37 % 91) as u8, (i * 53 % 67) as u8, (i % 4) as u8)).collect();
    tables(dir, &people, 200, 200);
    for method in [JoinMethod::Direct, JoinMethod::Refinement] {
        let joined = job(dir, &["a", "b"], 5, method);
        let mut plain = joined.clone();
        (plain.external, plain.output.as_mut().unwrap().path) =
            (None, dir.join("plain.csv").into());
        plain.output.as_mut().unwrap().order = incrowd::job::Order::Sorted;
        let report = Anonymizer::new(&joined).run().unwrap();
        Anonymizer::new(&plain).run().unwrap();
        assert!(report.joined.unwrap().warnings.iter().any(|w| w.contains("adds no people")));
        let cells = |name: &str| {
            let text = std::fs::read_to_string(dir.join(name)).unwrap();
            let mut lines: Vec<String> =
                text.lines().skip(1).map(|l| l.rsplit_once(',').unwrap().0.to_owned()).collect();
            lines.sort();
            lines
        };
        assert_eq!(cells("out.csv"), cells("plain.csv"));
    }
}

#[test]
fn models_hold_on_the_sensitive_groups_and_hierarchies_work() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let (mut mt, mut pd) = (String::from("ID,age,zip,SA\n"), String::from("ID,age,zip\n"));
    for i in 0..3000u32 {
        let cells = format!("p{i},{},021{:02}", 20 + i * 37 % 61, i * 17 % 41);
        pd += &format!("{cells}\n");
        if i % 10 == 0 {
            mt += &format!(
                "{cells},{}\n",
                ["flu", "cold", "gout", "none"][(i / 10 * 7 % 4) as usize]
            );
        }
    }
    std::fs::write(dir.join("mt.csv"), mt).unwrap();
    std::fs::write(dir.join("pd.csv"), pd).unwrap();
    for algorithm in ["mondrian", "top-down"] {
        for method in [JoinMethod::Direct, JoinMethod::Refinement] {
            let mut job = job(dir, &["age", "zip"], 5, method);
            job.algorithm.name = algorithm.into();
            job.add_model("l-diversity", [("l", Value::Integer(3))]);
            job.add_model("t-closeness", [("t", Value::Real(0.5))]);
            let mask = incrowd::hierarchy::mask::Mask {
                char: '*',
                from: incrowd::hierarchy::mask::From::Right,
            };
            job.column_mut("zip").spec.hierarchy =
                Some(incrowd::front_end::core::HierarchySpec::Mask(mask));
            let report = Anonymizer::new(&job).run().unwrap();
            let content = &report.manifest.to_json();
            let models = content["sensitive_groups"]["models"].as_array().unwrap();
            assert_eq!(models.len(), 3, "{algorithm} {method:?}");
            for model in models {
                assert_eq!(model["holds"], true, "{algorithm} {method:?} {model}");
            }
            assert!(
                content["sensitive_groups"]["groups"].as_u64().unwrap() > 1,
                "{algorithm} {method:?}"
            );
            assert!(checked(&job, None, None).holds(), "{algorithm} {method:?}");
            let ask = incrowd::Ask::default();
            let measured = Judging::of(&job).measure(Some(&ask)).unwrap();
            let error = measured
                .utility
                .unwrap()
                .get::<incrowd::utility::QueryError>()
                .unwrap()
                .all
                .mean
                .unwrap();
            assert!(error > 0.0 && error < 2.0, "{algorithm} {method:?} {error}");
        }
    }
}
