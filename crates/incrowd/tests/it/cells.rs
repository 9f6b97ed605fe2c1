//! Local suppression: from the job to the written bytes, counted by code that compares all pairs.

use std::collections::BTreeMap;
use std::path::Path;

use incrowd::front_end::recode::local_suppression::LocalSuppressionReport;
use incrowd::front_end::recode::mdav::MdavReport;
use incrowd::job::{Job, MissingCells, parse};
use incrowd::{Anonymizer, Fault, Judging};
use incrowd_testing::{data, or_skip};

fn table(path: &Path) -> Vec<Vec<String>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.records().map(|cells| cells.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// People of 3 regions, 12 ages and 2 sexes, unevenly distributed.
fn people(dir: &Path, seed: u32, records: u32) {
    let mut state = seed.wrapping_mul(2_654_435_761).max(1);
    let mut draw = |below: u32| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state % below
    };
    let mut text = String::from("age,sex,region,disease\n");
    for _ in 0..records {
        let age = 20 + draw(12).min(draw(12));
        let (sex, region) = (
            ["F", "M"][draw(2) as usize],
            ["north", "east", "west"][draw(3).min(draw(3)) as usize],
        );
        text += &format!("{age},{sex},{region},{}\n", ["flu", "cold", "gout"][draw(3) as usize]);
    }
    std::fs::write(dir.join("people.csv"), text).unwrap();
}

fn job(dir: &Path, k: u64, algorithm: &str, columns: &str) -> Job {
    let text = format!(
        "[input]\npath = 'people.csv'\n[output]\npath = 'out.csv'\n\
         [columns]\nsex = 'quasi'\nregion = 'quasi'\n\
         disease = 'sensitive'\n{columns}\n[[models]]\nname = 'k-anonymity'\nk = {k}\n\
         [algorithm]\n{algorithm}"
    );
    parse("job.toml", &text, dir).unwrap_or_else(|e| panic!("{e}")).job
}

const AGE: &str = "age = 'quasi'";

/// Returns the number of records that match each record in the first columns.
fn matching(release: &[Vec<String>], quasi: usize, any: bool) -> Vec<usize> {
    let agree = |a: &str, b: &str| a == b || any && (a == "*" || b == "*");
    let matches = |a: &Vec<String>, b: &Vec<String>| (0..quasi).all(|q| agree(&a[q], &b[q]));
    release.iter().map(|a| release.iter().filter(|b| matches(a, b)).count()).collect()
}

fn missing(release: &[Vec<String>]) -> usize {
    release.iter().flatten().filter(|cell| *cell == "*").count()
}

#[test]
fn cells_are_published_unchanged_or_suppressed() {
    let dir = tempfile::tempdir().unwrap();
    for (seed, k) in [(1, 2), (2, 3), (3, 5), (4, 9)] {
        people(dir.path(), seed, 220);
        let mut cells = [0, 0];
        for any in [false, true] {
            let reading = if any {
                "cells = 'suppress'\nmissing_cells = 'any'"
            } else {
                "cells = 'suppress'"
            };
            let report = Anonymizer::new(job(dir.path(), k, reading, AGE)).run().unwrap();
            let (original, release) =
                (table(&dir.path().join("people.csv")), table(&dir.path().join("out.csv")));
            assert_eq!(release.len(), original.len());
            let least = matching(&release, 3, any).into_iter().min().unwrap();
            assert!(least >= k as usize, "{least} records match where {k} should");
            assert_eq!(report.verification.smallest_group, least as u64);
            // Each column has the values of the original, fewer of each, and no others.
            for q in 0..4 {
                let count = |table: &[Vec<String>]| {
                    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
                    table
                        .iter()
                        .for_each(|record| *counts.entry(record[q].clone()).or_default() += 1);
                    counts
                };
                let before = count(&original);
                for (cell, n) in count(&release) {
                    assert!(
                        cell == "*" && q < 3 || before[&cell] >= n,
                        "a cell the original does not have"
                    );
                }
            }
            cells[usize::from(any)] = missing(&release);
            let reported = report.manifest.job.missing_cells.as_ref().unwrap();
            assert_eq!(reported.matches, if any { "any" } else { "alone" });
            // The manifest states the matching rule.
            let checked = Judging::new(dir.path().join("out.csv")).verify().unwrap();
            assert!(checked.holds());
            assert_eq!(
                checked.missing_cells,
                if any { MissingCells::Any } else { MissingCells::Alone }
            );
        }
        assert!(cells[1] <= cells[0], "a missing cell that matches more needs no more of them");
    }
}

#[test]
fn rare_records_get_a_missing_cell() {
    let dir = tempfile::tempdir().unwrap();
    people(dir.path(), 9, 60);
    let job = job(dir.path(), 4, "cells = 'suppress'\nmissing_cells = 'any'", AGE);
    let report = Anonymizer::new(&job).run().unwrap();
    let found =
        report.algorithm_report.as_ref().unwrap().downcast::<LocalSuppressionReport>().unwrap();
    let (original, release) =
        (table(&dir.path().join("people.csv")), table(&dir.path().join("out.csv")));
    let alike = |table: &[Vec<String>], record: &[String]| {
        table.iter().filter(|r| r[..3] == record[..3]).count()
    };
    let is_whole = |record: &&Vec<String>| record[..3].iter().all(|cell| cell != "*");
    let whole: Vec<&Vec<String>> = release.iter().filter(is_whole).collect();
    assert!(!whole.is_empty() && whole.len() < release.len(), "{}", whole.len());
    for record in whole {
        assert!(alike(&original, record) >= 4, "a record at risk is published whole");
    }
    assert_eq!(found.cells(), missing(&release) as u64);
    // The candidates of an adversary who knows all values of a person.
    let fits = |known: &[String]| {
        release.iter().filter(|r| (0..3).all(|q| r[q] == "*" || r[q] == known[q])).count()
    };
    let candidates: Vec<usize> = original.iter().map(|known| fits(known)).collect();
    assert_eq!(found.few, candidates.iter().filter(|n| **n < 4).count() as u64);
    assert_eq!(found.found, candidates.iter().filter(|n| **n == 1).count() as u64);
    assert!(
        found.few > 0,
        "in a table of this kind some match fewer, which is what the manifest warns of"
    );
}

#[test]
fn a_damaged_release_is_refused_under_either_matching_rule() {
    let dir = tempfile::tempdir().unwrap();
    people(dir.path(), 5, 60);
    Anonymizer::new(job(dir.path(), 4, "cells = 'suppress'\nmissing_cells = 'any'", AGE))
        .run()
        .unwrap();
    let out = dir.path().join("out.csv");
    let stated = |missing_cells| {
        let judging = Judging::new(dir.path().join("copy.csv"))
            .with_role(["age", "sex", "region"], incrowd::job::RoleName::Quasi);
        let judging = judging.model("k-anonymity", [("k", incrowd::Value::Integer(4))]);
        Judging { missing_cells: Some(missing_cells), ..judging }
    };
    let copy = dir.path().join("copy.csv");
    std::fs::copy(&out, &copy).unwrap();
    let by = |reading| stated(reading).verify().unwrap().verification.judgements[0].clone();
    assert!(by(MissingCells::Any).holds);
    assert!(!by(MissingCells::Alone).holds, "the stricter reading does not hold");
    // Missing markers of other programs are missing cells too.
    let text = std::fs::read_to_string(&out).unwrap();
    std::fs::write(&copy, text.replace('*', "NA")).unwrap();
    assert!(by(MissingCells::Any).holds);
    let numbered = text.split('*').enumerate();
    let numbered =
        numbered.map(|(i, part)| if i == 0 { part.to_owned() } else { format!("{i}{part}") });
    std::fs::write(&copy, numbered.collect::<String>()).unwrap();
    assert!(!by(MissingCells::Any).holds);
    std::fs::write(&copy, text + "97,X,nowhere,flu\n").unwrap();
    let judged = by(MissingCells::Any);
    assert!(!judged.holds);
    assert_eq!(judged.failing, 1);
}

#[test]
fn limits_of_columns_are_kept_or_the_job_fails() {
    let dir = tempfile::tempdir().unwrap();
    people(dir.path(), 6, 240);
    for any in ["", "missing_cells = 'any'"] {
        let algorithm = format!("cells = 'suppress'\n{any}");
        let gone = |limit: &str| {
            let columns = format!("age = {{ role = 'quasi', max_missing = {limit} }}");
            Anonymizer::new(job(dir.path(), 3, &algorithm, &columns)).run()?;
            let release = table(&dir.path().join("out.csv"));
            Ok::<usize, incrowd::Error>(release.iter().filter(|record| record[0] == "*").count())
        };
        let free = gone("1.0").unwrap();
        assert!(free > 0);
        match gone("0.15") {
            Ok(limited) => assert!(limited <= 36, "{limited} of 240 ages are missing"),
            Err(error) => assert_eq!(error.fault(), Fault::Unsatisfiable),
        }
        let error = gone("0.0").map(|_| ()).unwrap_err();
        assert_eq!(error.fault(), Fault::Unsatisfiable, "{error}");
    }
}

#[test]
fn generalization_comes_first_where_that_costs_less() {
    let dir = tempfile::tempdir().unwrap();
    people(dir.path(), 7, 240);
    let bands = "age = { role = 'quasi', hierarchy = 'intervals:3,6' }";
    let made = |cells: &str, columns: &str| {
        let algorithm = format!("cells = '{cells}'\nmissing_cells = 'any'");
        let report = Anonymizer::new(job(dir.path(), 6, &algorithm, columns)).run().unwrap();
        let release = table(&dir.path().join("out.csv"));
        assert!(matching(&release, 3, true).into_iter().min().unwrap() >= 6);
        (report.manifest.metrics.get("information_loss").unwrap(), missing(&release), release)
    };
    let (alone, cells, _) = made("suppress", bands);
    let (both, fewer, release) = made("both", bands);
    assert!(both <= alone, "{both} is more than {alone}");
    assert!(fewer < cells);
    assert!(
        release.iter().any(|record| record[0].starts_with('[')),
        "ages are published in intervals"
    );
    // The same settings stated in the job: the first level as the minimum level of the age.
    let (_, stated, release) =
        made("suppress", "age = { role = 'quasi', hierarchy = 'intervals:3,6', min_level = 1 }");
    assert!(stated < cells);
    assert!(release.iter().all(|record| record[0].starts_with('[') || record[0] == "*"));
}

#[test]
fn incompatible_settings_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    people(dir.path(), 8, 60);
    let any = "cells = 'suppress'\nmissing_cells = 'any'";
    let cases = [
        ("missing_cells = 'any'", AGE, "no cell that could match"),
        ("cells = 'both'", AGE, "never costs less"),
        (&format!("name = 'mondrian'\n{any}"), AGE, "makes groups"),
        ("", "age = { role = 'quasi', max_missing = 0.1 }", "no cells are suppressed"),
        (any, "age = 'quasi'\n[[models]]\nname = 'l-diversity'\nl = 2", "is about groups"),
        (
            any,
            "age = 'quasi'\n[suppression]\nname = 'r-suppression'\nl = 2\nseed = 1",
            "cannot be combined with",
        ),
    ];
    for (algorithm, columns, says) in cases {
        let error = Anonymizer::new(job(dir.path(), 2, algorithm, columns)).run().unwrap_err();
        assert_eq!(error.fault(), Fault::Job, "{error}");
        assert!(error.message().contains(says), "{error}");
        assert!(!dir.path().join("out.csv").exists());
    }
}

/// The numbers of cells that sdcMicro's `kAnon` suppresses on Adult.
#[test]
fn fewer_cells_are_missing_than_with_sdcmicro() {
    let dir = or_skip!(data("adult_arx.csv.gz"));
    let out = tempfile::tempdir().unwrap();
    let few = "sex,age,race,native-country,workclass";
    let many = "sex,age,race,native-country,workclass,marital-status,education,occupation";
    let mut text = String::new();
    let mut gz =
        flate2::read::GzDecoder::new(std::fs::File::open(dir.join("adult_arx.csv.gz")).unwrap());
    std::io::Read::read_to_string(&mut gz, &mut text).unwrap();
    let first: Vec<&str> = text.lines().take(5001).collect();
    std::fs::write(out.path().join("all.csv"), &text).unwrap();
    std::fs::write(out.path().join("first.csv"), first.join("\n") + "\n").unwrap();
    for (table, columns, k, theirs) in [
        ("all.csv", few, 3, 2925),
        ("all.csv", few, 5, 4152),
        ("all.csv", few, 10, 5924),
        ("first.csv", many, 3, 5078),
        ("first.csv", many, 5, 6426),
    ] {
        let columns: Vec<String> =
            columns.split(',').map(|name| format!("\"{name}\" = 'quasi'\n")).collect();
        let text = format!(
            "[input]\npath = '{table}'\n[output]\npath = 'out.csv'\n\
             [columns]\n{}[[models]]\nname = 'k-anonymity'\nk = {k}\n\
             [algorithm]\ncells = 'suppress'\nmissing_cells = 'any'",
            columns.concat()
        );
        let job = parse("job.toml", &text, out.path()).unwrap_or_else(|e| panic!("{e}")).job;
        let report = Anonymizer::new(&job).run().unwrap();
        let found =
            report.algorithm_report.as_ref().unwrap().downcast::<LocalSuppressionReport>().unwrap();
        assert!(found.cells() < theirs, "{} of {table}, k = {k}: {theirs}", found.cells());
    }
}

/// SSE/SST of sdcMicro's MDAV on the census table, to all printed digits, and less after moves.
#[test]
fn mdav_equals_that_of_sdcmicro_and_moves_improve_it() {
    let dir = or_skip!(data("casc_census_1080.csv.gz"));
    let out = tempfile::tempdir().unwrap();
    let columns = "AFNLWGT,AGI,EMCONTRB,FEDTAX,PTOTVAL,STATETAX,TAXINC,\
                   POTHVAL,INTVAL,PEARNVAL,FICA,WSALVAL,ERNVAL";
    let columns: Vec<String> =
        columns.split(',').map(|name| format!("{name} = 'quasi'\n")).collect();
    for (k, theirs, most) in [(3, "5.69", 5.35), (5, "9.09", 8.3), (10, "14.16", 12.7)] {
        let text = format!(
            "[input]\npath = '{}'\n[output]\npath = 'out.csv'\nnumbers = 'mean'\n\
             [columns]\n{}[[models]]\nname = 'k-anonymity'\n\
             k = {k}\n[algorithm]\nname = 'mdav'",
            dir.join("casc_census_1080.csv.gz").display(),
            columns.concat()
        );
        let job = parse("job.toml", &text, out.path()).unwrap_or_else(|e| panic!("{e}")).job;
        let report = Anonymizer::new(&job).run().unwrap();
        let found = report.algorithm_report.as_ref().unwrap().downcast::<MdavReport>().unwrap();
        assert_eq!(format!("{:.2}", 100.0 * found.gathered), theirs);
        assert!(100.0 * found.moved < most, "{}", found.moved);
    }
}
