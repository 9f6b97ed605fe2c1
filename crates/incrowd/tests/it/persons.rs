//! Persons as the unit: from the job to the written bytes, counted by code that knows nothing of folds and summaries.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use incrowd::job::{Input, parse};
use incrowd::{AttackRequest, Behind, Job, Judging, Progress, Result, Silent};
use incrowd::{anonymize, anonymize_with, attack, verify};
use incrowd_core::{Folded, Plan};
use incrowd_engine::{
    Embedded, Engine, FileStore, FoldSpec, Options, Output, Places, ReadBack, Receipt, Source,
};
use incrowd_testing::{data, or_skip};

/// The records of a file, by column name.
fn table(path: &Path) -> Vec<BTreeMap<String, String>> {
    let file = std::fs::File::open(path).unwrap();
    let bytes: Box<dyn std::io::Read> = if path.extension().is_some_and(|e| e == "gz") {
        Box::new(flate2::read::MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let mut reader = csv::Reader::from_reader(bytes);
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let record =
        |cells: csv::StringRecord| header.iter().cloned().zip(cells.iter().map(str::to_owned)).collect();
    reader.records().map(|cells| record(cells.unwrap())).collect()
}

/// The different persons of each group of a release, whose records carry a key of the original's records.
fn persons_by_group(
    release: &Path,
    original: &Path,
    quasi: &[&str],
    (key, person): (&str, &str),
) -> Vec<BTreeSet<String>> {
    let whose: BTreeMap<String, String> =
        table(original).into_iter().map(|r| (r[key].clone(), r[person].clone())).collect();
    let mut groups: BTreeMap<Vec<String>, BTreeSet<String>> = BTreeMap::new();
    for record in table(release) {
        assert!(!record.contains_key(person), "the person is never published");
        let cells = quasi.iter().map(|q| record[*q].clone()).collect();
        groups.entry(cells).or_default().insert(whose[&record[key]].clone());
    }
    groups.into_values().collect()
}

#[test]
fn no_group_of_the_diabetes_release_has_fewer_than_k_patients() {
    let path = or_skip!(data("diabetes_130us.csv.gz"));
    let path = path.join("diabetes_130us.csv.gz");
    let quasi =
        ["race", "gender", "age", "admission_type_id", "discharge_disposition_id", "time_in_hospital"];
    let dir = tempfile::tempdir().unwrap();
    for (algorithm, person) in
        [("mondrian", ""), ("mondrian", "person = 'patient_nbr'"), ("ascent", "person = 'patient_nbr'")]
    {
        let columns: String = quasi.iter().map(|q| format!("{q} = 'quasi'\n")).collect();
        let text = format!(
            "[input]\npath = '{}'\non_missing = 'keep'\n{person}\n[output]\npath = 'out.csv'\n[columns]\n{columns}\
             encounter_id = 'passthrough'\ndiag_1 = 'sensitive'\n\
             [[models]]\nname = 'k-anonymity'\nk = 5\n[algorithm]\nname = '{algorithm}'\n",
            path.display()
        );
        let job = parse("job.toml", &text, dir.path()).unwrap_or_else(|e| panic!("{e}")).job;
        let report = anonymize(&job, &Silent).unwrap();
        let groups =
            persons_by_group(&dir.path().join("out.csv"), &path, &quasi, ("encounter_id", "patient_nbr"));
        let smallest = groups.iter().map(BTreeSet::len).min().unwrap() as u64;
        if person.is_empty() {
            assert!(smallest < 5, "without persons some groups have fewer patients");
            assert_eq!(report.manifest.unit, None);
            continue;
        }
        assert!(smallest >= 5, "{algorithm}: a group of {smallest} patients");
        let told = report.manifest.persons.unwrap();
        let all: BTreeSet<&String> = groups.iter().flatten().collect();
        assert_eq!(report.manifest.unit.as_deref(), Some("persons"));
        assert_eq!(
            (told.read, told.published, told.smallest_group),
            (Some(71_518), all.len() as u64, smallest)
        );
        assert_eq!(report.manifest.groups, groups.len() as u64);
    }
}

/// Visits of patients, some of whom come several times with other quasi-identifiers.
fn visits(dir: &Path) {
    let mut text = String::from("visit,patient,age,sex,disease\n");
    for n in 0..240u32 {
        let patient = (n * n + 7 * n) % 83;
        let patient = if n % 40 == 3 { String::new() } else { format!("p{patient}") };
        let disease = ["flu", "cold", "gout"][(n * 5 % 7 % 3) as usize];
        text += &format!("v{n},{patient},{},{},{disease}\n", 20 + n * 13 % 50, ["F", "M"][(n % 2) as usize]);
    }
    std::fs::write(dir.join("visits.csv"), text).unwrap();
}

fn job(dir: &Path, more: &str) -> Job {
    let text = format!(
        "[input]\npath = 'visits.csv'\nperson = 'patient'\n[output]\npath = 'out.csv'\n\
         [columns]\nage = 'quasi'\nsex = 'quasi'\ndisease = 'sensitive'\n{more}"
    );
    parse("job.toml", &text, dir).unwrap_or_else(|e| panic!("{e}")).job
}

const K: &str = "[[models]]\nname = 'k-anonymity'\nk = 4\n";

#[test]
fn records_without_a_person_are_persons_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    visits(dir.path());
    let report = anonymize(&job(dir.path(), K), &Silent).unwrap();
    let named: BTreeSet<String> = table(&dir.path().join("visits.csv"))
        .into_iter()
        .map(|r| r["patient"].clone())
        .filter(|p| !p.is_empty())
        .collect();
    assert_eq!(report.unnamed, 6);
    assert_eq!(report.manifest.persons.unwrap().read, Some(named.len() as u64 + 6));
    let public = std::fs::read_to_string(dir.path().join("out.csv")).unwrap();
    assert!(!public.contains("p1") && !public.contains("patient"));
}

#[test]
fn a_person_column_has_no_other_role() {
    let dir = tempfile::tempdir().unwrap();
    visits(dir.path());
    for role in ["quasi", "sensitive", "passthrough"] {
        let error = anonymize(&job(dir.path(), &format!("patient = '{role}'\n{K}")), &Silent).unwrap_err();
        assert!(error.to_string().contains("never published"), "{error}");
    }
    anonymize(&job(dir.path(), &format!("patient = 'drop'\n{K}")), &Silent).unwrap();
    let mut absent = job(dir.path(), K);
    absent.input.person = Some("patent".to_owned());
    let error = anonymize(&absent, &Silent).unwrap_err();
    assert!(error.to_string().contains("no column `patent`"), "{error}");
    assert!(error.advice().is_some_and(|help| help.contains("patient")));
}

#[test]
fn what_assumes_one_record_per_person_is_refused_unless_that_is_so() {
    let dir = tempfile::tempdir().unwrap();
    visits(dir.path());
    let outliers = "[[models]]\nname = 'plain-k-anonymity'\nk = 2\n[algorithm]\nname = 'expc-plus'\nsuppression_limit = 1.0\n";
    let error = anonymize(&job(dir.path(), outliers), &Silent).unwrap_err();
    assert!(error.to_string().contains("`plain-k-anonymity` assumes one record per person"), "{error}");
    assert_eq!(error.key(), Some("input.person"));
    let anatomy = "[[models]]\nname = 'l-diversity'\nl = 2\n[algorithm]\nname = 'anatomy'\nl = 2\n";
    let suppression = format!("{K}[suppression]\nname = 'r-suppression'\nl = 2\nseed = 3\n");
    for more in [anatomy, &suppression] {
        let error = anonymize(&job(dir.path(), more), &Silent).unwrap_err();
        assert!(error.to_string().contains("people who have another one, going by `patient`"), "{error}");
    }
    // The visit tells records apart, so everybody has one.
    let mut single = job(dir.path(), anatomy);
    single.input.person = Some("visit".to_owned());
    assert_eq!(anonymize(&single, &Silent).unwrap().manifest.unit.as_deref(), Some("persons"));
}

#[test]
fn models_that_do_not_survive_merging_here_are_refused_by_algorithms_that_need_it() {
    let dir = tempfile::tempdir().unwrap();
    visits(dir.path());
    let diverse = "[[models]]\nname = 'l-diversity'\nl = 2\n";
    let error = anonymize(&job(dir.path(), &format!("{diverse}[algorithm]\nname = 'ascent'\n")), &Silent)
        .unwrap_err();
    assert!(error.to_string().contains("differ in their quasi-identifiers"), "{error}");
    let report =
        anonymize(&job(dir.path(), &format!("{K}{diverse}[algorithm]\nname = 'mondrian'\n")), &Silent)
            .unwrap();
    assert!(report.verification.holds());
}

fn beside(dir: &Path, person: Option<&str>) -> Judging {
    let original =
        Input { paths: vec![dir.join("visits.csv")], person: person.map(str::to_owned), ..Input::default() };
    Judging::new(dir.join("out.csv")).beside(original)
}

#[test]
fn the_owner_can_check_later() {
    let dir = tempfile::tempdir().unwrap();
    visits(dir.path());
    for algorithm in ["mondrian", "ascent", "full-domain"] {
        let asked = job(dir.path(), &format!("{K}[algorithm]\nname = '{algorithm}'\n"));
        let report = anonymize(&asked, &Silent).unwrap();
        let told = report.manifest.persons.unwrap();
        // Nobody but the owner can.
        let alone = verify(&Judging::new(dir.path().join("out.csv")), &Silent).unwrap();
        assert!(matches!(alone.behind, Behind::Unknown(_)) && alone.holds());
        assert!(alone.verification.judgements[0].unknown);
        let checked = verify(&beside(dir.path(), Some("patient")), &Silent).unwrap();
        assert_eq!(checked.behind, Behind::Known, "{algorithm}");
        let found = checked.verification.persons.unwrap();
        assert!(checked.holds());
        assert_eq!((found.published, found.smallest_group), (told.published, told.smallest_group));
    }
    // Made without persons, some group has fewer patients than records; the owner sees it.
    let mut records = job(dir.path(), &format!("{K}[algorithm]\nname = 'mondrian'\n"));
    records.input.person = None;
    anonymize(&records, &Silent).unwrap();
    let checked = verify(&beside(dir.path(), Some("patient")), &Silent).unwrap();
    assert_eq!(checked.behind, Behind::Known);
    assert!(!checked.holds());
    // Beside another table nothing is known.
    let text = std::fs::read_to_string(dir.path().join("visits.csv")).unwrap();
    std::fs::write(dir.path().join("visits.csv"), text.replace(",F,", ",M,")).unwrap();
    let checked = verify(&beside(dir.path(), Some("patient")), &Silent).unwrap();
    assert!(matches!(checked.behind, Behind::Unknown(_)));
}

#[test]
fn attacks_count_persons() {
    let dir = tempfile::tempdir().unwrap();
    visits(dir.path());
    // The key of a record is published, so that the test can tell whose it is.
    let asked = job(dir.path(), &format!("visit = 'passthrough'\n{K}[algorithm]\nname = 'mondrian'\n"));
    anonymize(&asked, &Silent).unwrap();
    let whose: BTreeMap<String, String> = table(&dir.path().join("visits.csv"))
        .into_iter()
        .map(|r| {
            (
                r["visit"].clone(),
                if r["patient"].is_empty() { r["visit"].clone() } else { r["patient"].clone() },
            )
        })
        .collect();
    let mut groups: BTreeMap<(String, String), BTreeSet<&String>> = BTreeMap::new();
    for record in table(&dir.path().join("out.csv")) {
        groups
            .entry((record["age"].clone(), record["sex"].clone()))
            .or_default()
            .insert(&whose[&record["visit"]]);
    }
    let groups: Vec<BTreeSet<&String>> = groups.into_values().collect();
    let report = attack(&beside(dir.path(), Some("patient")), &AttackRequest::default(), &Silent).unwrap();
    let found = |name: &str, nth: usize| {
        &report.attacked.iter().filter(|a| a.finding.attack == name).nth(nth).unwrap().finding
    };
    let smallest = groups.iter().map(BTreeSet::len).min().unwrap() as f64;
    let prosecutor = found("prosecutor", 0);
    let everybody: BTreeSet<&&String> = groups.iter().flatten().collect();
    assert_eq!((prosecutor.people, prosecutor.of), ("persons", everybody.len() as u64));
    assert_eq!(prosecutor.worst, 1.0 / smallest);
    // Whoever knows two records, or all: by trying all groups of everybody.
    let (mut two, mut all) = (usize::MAX, usize::MAX);
    for person in &everybody {
        let own: Vec<&BTreeSet<&String>> = groups.iter().filter(|group| group.contains(**person)).collect();
        if own.len() < 2 {
            continue;
        }
        for a in 0..own.len() {
            for b in a + 1..own.len() {
                two = two.min(own[a].intersection(own[b]).count());
            }
        }
        all = all
            .min(everybody.iter().filter(|other| own.iter().all(|group| group.contains(***other))).count());
    }
    assert!(found("persons", 0).owner_only && found("persons", 1).owner_only);
    assert_eq!(found("persons", 0).worst, 1.0 / two as f64);
    assert_eq!(found("persons", 1).worst, 1.0 / all as f64);
    assert!(all < smallest as usize, "some person is worse off than k promises");
    let alone =
        attack(&Judging::new(dir.path().join("out.csv")), &AttackRequest::default(), &Silent).unwrap();
    assert!(alone.skipped.iter().any(|skipped| skipped.attack == "persons"));
}

#[test]
fn a_group_that_one_person_dominates_can_be_forbidden() {
    let dir = tempfile::tempdir().unwrap();
    visits(dir.path());
    let loose = anonymize(&job(dir.path(), K), &Silent).unwrap().verification.persons.unwrap();
    let strict = K.replace("k = 4", "k = 4\ndominance = 0.2");
    let strict = anonymize(&job(dir.path(), &strict), &Silent).unwrap().verification.persons.unwrap();
    assert!(loose.dominance > 0.2 && strict.dominance <= 0.2, "{} {}", loose.dominance, strict.dominance);
}

/// An engine that forgets who is who when it reads back: everybody becomes one person.
#[derive(Debug)]
struct Forgetful(Embedded);

impl Engine for Forgetful {
    fn columns(&self) -> &[String] {
        self.0.columns()
    }

    fn fold(&mut self, spec: &FoldSpec, progress: &dyn Progress) -> Result<Folded> {
        self.0.fold(spec, progress)
    }

    fn source(&self) -> &Source {
        self.0.source()
    }

    fn locate(&self, column: &str, text: &str) -> Result<Option<String>> {
        self.0.locate(column, text)
    }

    fn begin(&mut self, places: &Places) -> Result<()> {
        self.0.begin(places)
    }

    fn stage(
        &mut self,
        table: usize,
        plan: &Plan<'_>,
        output: &Output,
        progress: &dyn Progress,
    ) -> Result<Receipt> {
        self.0.stage(table, plan, output, progress)
    }

    fn read_back(&self, table: usize, columns: &[String], progress: &dyn Progress) -> Result<ReadBack> {
        let mut back = self.0.read_back(table, columns, progress)?;
        if let Some(persons) = &mut back.folded.persons {
            persons.codes.fill(0);
        }
        Ok(back)
    }

    fn publish(&mut self, manifest: &[u8]) -> Result<()> {
        self.0.publish(manifest)
    }

    fn discard(&mut self) {
        self.0.discard();
    }
}

#[test]
fn a_release_whose_persons_do_not_hold_up_is_not_published() {
    let dir = tempfile::tempdir().unwrap();
    visits(dir.path());
    let asked = job(dir.path(), K);
    let source = Source::open(&asked.input.paths, &Options::default()).unwrap();
    let mut engine = Forgetful(Embedded::new(source, FileStore::default()));
    let error = anonymize_with(&mut engine, &asked, &Silent).unwrap_err();
    assert!(error.to_string().contains("does not keep k-anonymity(k=4)"), "{error}");
    let mut left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["visits.csv"]);
}
