//! Sampling weights: from the job to the written bytes, added up by independent code.

use std::collections::BTreeMap;
use std::path::Path;

use incrowd::Anonymizer;
use incrowd::job::{Input, Job, parse};
use incrowd::risk::benedetti_franconi;
use incrowd::{Ask, AttackRequest, Decision, Fault, Judging, ProfileOptions};
use incrowd_testing::{data, or_skip};

type Record = BTreeMap<String, String>;

fn table(path: &Path) -> Vec<Record> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let record = |cells: csv::StringRecord| {
        header.iter().cloned().zip(cells.iter().map(str::to_owned)).collect()
    };
    reader.records().map(|cells| record(cells.unwrap())).collect()
}

/// A sample with weights between 1 and 60, some of them fractions.
fn sample(dir: &Path, seed: u32, records: u32) {
    let mut state = seed.wrapping_mul(2_654_435_761).max(1);
    let mut draw = |below: u32| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state % below
    };
    let mut text = String::from("id,age,sex,income,club,pw\n");
    for n in 0..records {
        let weight = f64::from(4 + draw(236)) / 4.0;
        let (age, sex, club) = (
            20 + draw(30),
            ["F", "M"][draw(2) as usize],
            ["golf", "chess", "none"][draw(3) as usize],
        );
        text += &format!("r{n},{age},{sex},{},{club},{weight}\n", 100 * draw(40));
    }
    std::fs::write(dir.join("sample.csv"), text).unwrap();
}

const ID: &str = "id = { role = 'passthrough', linkable = false }\n";

fn job(dir: &Path, output: &str, rest: &str) -> Job {
    let text = format!(
        "[input]\npath = 'sample.csv'\nweight = 'pw'\n[output]\npath = 'out.csv'\n{output}\n\
         [columns]\nage = 'quasi'\n\
         sex = 'quasi'\nincome = 'sensitive'\nclub = 'sensitive'\n{rest}"
    );
    parse("job.toml", &text, dir).unwrap_or_else(|e| panic!("{e}")).job
}

/// Returns the records, the people and the published means of each group.
fn groups(release: &[Record], weights: &BTreeMap<String, f64>) -> Vec<(u64, f64, Vec<String>)> {
    let mut groups: BTreeMap<(String, String), (u64, f64, Vec<String>)> = BTreeMap::new();
    for record in release {
        let own = groups.entry((record["age"].clone(), record["sex"].clone())).or_default();
        own.0 += 1;
        own.1 += weights[&record["id"]];
        own.2.extend(record.get("pw").filter(|reported| !own.2.contains(reported)).cloned());
    }
    groups.into_values().collect()
}

fn weights(dir: &Path) -> BTreeMap<String, f64> {
    table(&dir.join("sample.csv"))
        .into_iter()
        .map(|r| (r["id"].clone(), r["pw"].parse().unwrap()))
        .collect()
}

#[test]
fn k_map_holds_of_the_estimated_population_in_every_group() {
    for seed in 1..=6 {
        let dir = tempfile::tempdir().unwrap();
        sample(dir.path(), seed, 90 + 30 * seed);
        for algorithm in ["mondrian", "mondrian'\ncut = 'relaxed", "ascent", "top-down"] {
            for (k, with) in [(90, ""), (200, "[[models]]\nname = 'k-anonymity'\nk = 3\n")] {
                let rest = format!(
                    "{ID}[[models]]\nname = 'k-map'\nk = {k}\n{with}[algorithm]\n\
                     name = '{algorithm}'\n"
                );
                let report = Anonymizer::new(job(dir.path(), "", &rest))
                    .run()
                    .unwrap_or_else(|e| panic!("{algorithm}: {e}"));
                let release = table(&dir.path().join("out.csv"));
                let groups = groups(&release, &weights(dir.path()));
                let fewest =
                    groups.iter().map(|(_, people, _)| *people).fold(f64::INFINITY, f64::min);
                assert!(
                    fewest >= k as f64,
                    "{algorithm}, k = {k}: a group stands for {fewest} people"
                );
                let reported =
                    report.verification.judgements.iter().find(|j| j.name == "k-map").unwrap();
                assert!(
                    (reported.have - fewest).abs() < 1e-4,
                    "{} reported, {fewest} found",
                    reported.have
                );
                assert!(groups.len() > 1 && !release[0].contains_key("pw"));
                assert!(
                    groups.iter().any(|(records, ..)| *records < k),
                    "people are counted, not records"
                );
            }
        }
        // An unsatisfiable k, and an algorithm that does not add up weights.
        let rest = format!(
            "{ID}[[models]]\nname = 'k-map'\nk = 100000000\n[algorithm]\nname = 'mondrian'\n"
        );
        assert_eq!(
            Anonymizer::new(job(dir.path(), "", &rest)).run().unwrap_err().fault(),
            Fault::Unsatisfiable
        );
        let rest = "[[models]]\nname = 'k-map'\nk = 90\n[algorithm]\nname = 'full-domain'\n";
        let error = Anonymizer::new(job(dir.path(), "", rest)).run().unwrap_err();
        assert!(error.to_string().contains("does not add up weights"), "{error}");
        // δ-presence needs a population table.
        let rest = "[[models]]\nname = 'delta-presence'\ndelta_min = 0.0\ndelta_max = 0.9\n";
        assert!(
            Anonymizer::new(job(dir.path(), "", rest))
                .run()
                .unwrap_err()
                .to_string()
                .contains("population table")
        );
    }
}

#[test]
fn the_release_itself_does_not_show_the_estimate() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path(), 7, 120);
    let rest = "[[models]]\nname = 'k-map'\nk = 90\n[algorithm]\nname = 'mondrian'\n";
    let report = Anonymizer::new(job(dir.path(), "", rest)).run().unwrap();
    let text = std::fs::read_to_string(&report.manifest_path).unwrap();
    assert!(text.contains("estimated by weights") && !text.contains("\"pw\""), "{text}");
    let checked = Judging::new(dir.path().join("out.csv")).verify().unwrap();
    assert!(checked.verification.judgements[0].unknown);
    assert_eq!(checked.decision(), Decision::Undecided);
    // A changed original is detected.
    let changed =
        std::fs::read_to_string(dir.path().join("out.csv")).unwrap().replacen("golf", "chess", 1);
    std::fs::write(dir.path().join("out.csv"), changed).unwrap();
    let checked = Judging::new(dir.path().join("out.csv")).verify().unwrap();
    assert_eq!(checked.decision(), Decision::Fails);
}

#[test]
fn published_means_are_the_means_of_the_groups() {
    for seed in 11..=16 {
        let dir = tempfile::tempdir().unwrap();
        sample(dir.path(), seed, 150);
        for algorithm in ["mondrian", "ascent", "top-down"] {
            let rest = format!(
                "{ID}[[models]]\nname = 'k-anonymity'\nk = 4\n[algorithm]\nname = '{algorithm}'\n"
            );
            let asked = job(dir.path(), "publish_weight = 'group-mean'\norder = 'sorted'", &rest);
            let report = Anonymizer::new(&asked).run().unwrap();
            let release = table(&dir.path().join("out.csv"));
            let found = groups(&release, &weights(dir.path()));
            for (records, people, reported) in &found {
                let [reported] = reported.as_slice() else { panic!("{reported:?}") };
                let mean = people / *records as f64;
                assert!(
                    (reported.parse::<f64>().unwrap() - mean).abs() < 1.1e-6,
                    "{reported} is not {mean}"
                );
            }
            assert_eq!(report.manifest.job.columns.get("pw").unwrap().role, "weight");
            // A unique mean would identify a group.
            assert!(
                report
                    .unique_records
                    .unwrap()
                    .columns
                    .iter()
                    .any(|own| own.columns == ["pw"] && own.unique == 0)
            );
            assert!(Judging::new(dir.path().join("out.csv")).verify().unwrap().holds());
            Anonymizer::new(&asked).run_in_memory().unwrap();
            let mut typed = asked.clone();
            typed.output.as_mut().unwrap().path = dir.path().join("typed.parquet").into();
            Anonymizer::new(&typed).run().unwrap();
            // Every reader can estimate with published means.
            let request =
                AttackRequest { only: vec!["population-risk".into()], ..AttackRequest::default() };
            let attacked = Judging::new(dir.path().join("out.csv")).attack(&request).unwrap();
            assert!(attacked.attacked.iter().all(|a| !a.finding.owner_only));
            risks_are_those_of(&attacked, &found, 1e-5);
        }
    }
}

fn risks_are_those_of(
    attacked: &incrowd::AttackReport,
    groups: &[(u64, f64, Vec<String>)],
    within: f64,
) {
    let [plain, expected] = attacked.attacked.as_slice() else { panic!("two findings") };
    let sum = |risk: &dyn Fn(u64, f64) -> f64| {
        groups.iter().map(|(f, people, _)| risk(*f, *people) * *f as f64).sum::<f64>()
    };
    let worst = |risk: &dyn Fn(u64, f64) -> f64| {
        groups.iter().map(|(f, people, _)| risk(*f, *people)).fold(0.0, f64::max)
    };
    let records: u64 = groups.iter().map(|(f, ..)| f).sum();
    for (finding, risk) in [
        (&plain.finding, &(|_, people| 1.0 / people) as &dyn Fn(u64, f64) -> f64),
        (&expected.finding, &benedetti_franconi),
    ] {
        assert_eq!(finding.of, records);
        assert!(
            (finding.worst / worst(risk) - 1.0).abs() < within,
            "{} {}",
            finding.worst,
            worst(risk)
        );
        assert!((finding.fact("expected_found").unwrap() / sum(risk) - 1.0).abs() < within);
        assert!((finding.average * records as f64 / sum(risk) - 1.0).abs() < within);
    }
}

#[test]
fn the_owner_attacks_with_the_weights_of_the_original() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path(), 21, 200);
    let rest =
        format!("{ID}[[models]]\nname = 'k-anonymity'\nk = 4\n[algorithm]\nname = 'mondrian'\n");
    let asked = job(dir.path(), "", &rest);
    Anonymizer::new(&asked).run().unwrap();
    let request =
        AttackRequest { only: vec!["population-risk".into()], ..AttackRequest::default() };
    let attacked = Judging::of(&asked).attack(&request).unwrap();
    // Strict cuts leave no record between the cells of others, so the cells of a group cover
    // exactly the group.
    risks_are_those_of(
        &attacked,
        &groups(&table(&dir.path().join("out.csv")), &weights(dir.path())),
        1e-9,
    );
    assert!(
        attacked.attacked.iter().all(|a| a.finding.owner_only),
        "the weights are not published"
    );
    assert!(Judging::new(dir.path().join("out.csv")).attack(&request).unwrap().attacked.is_empty());
}

#[test]
fn means_and_shares_are_measured_with_weights() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path(), 31, 180);
    for output in ["", "publish_weight = 'group-mean'"] {
        let rest = format!(
            "{ID}[[models]]\nname = 'k-anonymity'\nk = 4\n[algorithm]\nname = 'mondrian'\n"
        );
        let asked = job(dir.path(), output, &rest);
        Anonymizer::new(&asked).run().unwrap();
        let found = Judging::of(&asked).measure(Some(&Ask::default())).unwrap().weighted.unwrap();
        let (original, release) =
            (table(&dir.path().join("sample.csv")), table(&dir.path().join("out.csv")));
        let weight =
            |record: &Record| record.get("pw").map_or(1.0, |text| text.parse::<f64>().unwrap());
        let mean = |all: &[Record]| {
            let sum: f64 =
                all.iter().map(|r| weight(r) * r["income"].parse::<f64>().unwrap()).sum();
            sum / all.iter().map(&weight).sum::<f64>()
        };
        let share = |all: &[Record], club: &str| {
            all.iter().filter(|r| r["club"] == club).map(&weight).sum::<f64>()
                / all.iter().map(&weight).sum::<f64>()
        };
        assert_eq!(found.published, !output.is_empty());
        let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-6, "{a} is not {b}");
        near(found.people.0, original.iter().map(&weight).sum());
        near(found.people.1, release.iter().map(&weight).sum());
        assert_eq!((found.means.len(), found.means[0].0.as_str()), (1, "income"));
        near(found.means[0].1, mean(&original));
        near(found.means[0].2, mean(&release));
        let apart: f64 = ["golf", "chess", "none"]
            .iter()
            .map(|club| (share(&original, club) - share(&release, club)).abs())
            .sum();
        assert!((found.shares[0].1 - apart / 2.0).abs() < 1e-6);
        assert!(found.published || (found.people.1 - 180.0).abs() < 1e-9);
    }
}

#[test]
fn a_profile_reports_the_risk_by_weights() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path(), 41, 160);
    let input = Input {
        paths: vec![dir.path().join("sample.csv").into()],
        weight: Some("pw".into()),
        ..Input::default()
    };
    let asked = ProfileOptions {
        input,
        quasi: vec!["age".into(), "sex".into()],
        ..ProfileOptions::default()
    };
    let found = asked.run().unwrap();
    let risk = found.weighted.clone().unwrap();
    let all = groups(&table(&dir.path().join("sample.csv")), &weights(dir.path()));
    let plain: f64 = all.iter().map(|(f, people, _)| *f as f64 / people).sum();
    let expected: f64 =
        all.iter().map(|(f, people, _)| benedetti_franconi(*f, *people) * *f as f64).sum();
    assert!(
        (risk.by_weights.1 / plain - 1.0).abs() < 1e-9
            && (risk.expected.1 / expected - 1.0).abs() < 1e-9
    );
    assert_eq!(found.to_json()["private"]["weighted"]["fewest_people"].as_f64(), Some(risk.fewest));
}

#[test]
fn invalid_weights_and_jobs_are_refused_and_name_the_record() {
    let dir = tempfile::tempdir().unwrap();
    let k = "[[models]]\nname = 'k-anonymity'\nk = 2\n";
    for bad in ["0.5", "", "?", "-3", "many"] {
        let text = format!(
            "age,sex,income,club,pw\n30,F,1,golf,2\n31,M,2,golf,3\n32,F,3,golf,{bad}\n\
             33,M,4,golf,2\n"
        );
        std::fs::write(dir.path().join("sample.csv"), text).unwrap();
        let error = Anonymizer::new(job(dir.path(), "", k)).run().unwrap_err();
        assert_eq!(error.fault(), Fault::Input, "{bad}: {error}");
        assert!(
            error.to_string().contains("record 3") && error.to_string().contains("`pw`"),
            "{error}"
        );
        assert!(
            !dir.path().join("out.csv").exists()
                && (bad.len() < 3 || !error.to_string().contains(bad))
        );
    }
    sample(dir.path(), 3, 40);
    let refused = |output: &str, rest: &str, says: &str| {
        let error = Anonymizer::new(job(dir.path(), output, rest)).run().unwrap_err();
        assert!(error.to_string().contains(says) && error.fault() == Fault::Job, "{error}");
    };
    for role in ["quasi", "passthrough", "sensitive"] {
        refused("", &format!("pw = '{role}'\n{k}"), "holds the sampling weights");
    }
    refused(
        "",
        &format!("{k}[suppression]\nname = 'r-suppression'\nl = 2\nseed = 1\n"),
        "weights cannot be used with",
    );
    let mut by_person = job(dir.path(), "", k);
    by_person.input.person = Some("id".into());
    assert!(
        Anonymizer::new(&by_person)
            .run()
            .unwrap_err()
            .to_string()
            .contains("weights cannot be used with")
    );
    let mut without = job(dir.path(), "publish_weight = 'group-mean'", k);
    without.input.weight = None;
    assert!(
        Anonymizer::new(&without).run().unwrap_err().to_string().contains("no weight to publish")
    );
    without.input.weight = Some("pww".into());
    let error = Anonymizer::new(&without).run().unwrap_err();
    assert!(
        error.to_string().contains("no column `pww`") && error.advice().unwrap().contains("pw")
    );
}

/// Compares the people that an attack reports with the sum of the original's weights.
fn people_are_counted_once(asked: &Job, release: &Path, sum: f64) {
    let request =
        AttackRequest { only: vec!["population-risk".into()], ..AttackRequest::default() };
    for judging in [Judging::of(asked), Judging::new(release)] {
        let owner = judging.original.is_some();
        let attacked = judging.attack(&request).unwrap().attacked;
        assert_eq!(attacked.len(), 2, "by the weights and by the model of Benedetti and Franconi");
        for reported in attacked {
            let people = reported.finding.fact("people").unwrap();
            // Means are published with six decimals, so the sum over a release has an error of half
            // a millionth per record.
            let error = 0.5e-6 * reported.finding.of as f64;
            assert!((people - sum).abs() <= error, "{people} people, not {sum}");
            assert_eq!(reported.finding.owner_only, owner);
        }
    }
}

#[test]
fn people_in_the_cells_of_several_groups_are_counted_once() {
    let dir = tempfile::tempdir().unwrap();
    for seed in 51..55 {
        sample(dir.path(), seed, 150);
        let sum = weights(dir.path()).values().sum();
        for algorithm in ["mondrian'\ncut = 'relaxed", "top-down", "ascent"] {
            let rest = format!(
                "{ID}[[models]]\nname = 'k-anonymity'\nk = 4\n[algorithm]\nname = '{algorithm}'\n"
            );
            let asked = job(dir.path(), "publish_weight = 'group-mean'", &rest);
            Anonymizer::new(&asked).run().unwrap();
            people_are_counted_once(&asked, &dir.path().join("out.csv"), sum);
        }
    }
}

#[test]
fn people_of_a_real_survey_are_counted_once() {
    let data = or_skip!(data("nist_acs_national2019.csv.gz")).join("nist_acs_national2019.csv.gz");
    let dir = tempfile::tempdir().unwrap();
    let text = format!(
        "[input]\npath = {data:?}\nweight = 'PWGTP'\n[output]\npath = 'out.csv'\n\
         publish_weight = 'group-mean'\n[columns]\n\
         AGEP = 'quasi'\nSEX = 'quasi'\nHISP = 'quasi'\nRAC1P = 'quasi'\nDVET = 'sensitive'\n\
         [[models]]\nname = 'k-anonymity'\n\
         k = 20\n[algorithm]\nname = 'mondrian'\ncut = 'relaxed'\n"
    );
    let asked = parse("job.toml", &text, dir.path()).unwrap_or_else(|e| panic!("{e}")).job;
    Anonymizer::new(&asked).run().unwrap();
    let counts = asked.input.column_counts("PWGTP").unwrap();
    let sum = counts.iter().map(|(weight, n)| weight.parse::<f64>().unwrap() * *n as f64).sum();
    people_are_counted_once(&asked, &dir.path().join("out.csv"), sum);
    let measured = Judging::of(&asked).measure(None).unwrap().weighted.unwrap();
    assert!(
        (measured.people.0 - sum).abs() < 1e-3 && (measured.people.1 - sum).abs() < 0.02,
        "{measured:?}"
    );
}
