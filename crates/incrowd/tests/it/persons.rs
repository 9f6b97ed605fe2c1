//! Models that count persons: from the job to the written bytes, counted by independent code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use incrowd::Anonymizer;
use incrowd::job::{Input, parse};
use incrowd::{AttackRequest, Decision, Fault, Job, Judging, Progress, ReleasePersons, Result};
use incrowd_core::{Folded, Plan};
use incrowd_engine::{
    Embedded, Engine, ExaminedColumns, FileStore, FoldSpec, Options, Output, Places, ReadBack,
    Receipt, Source,
};
use incrowd_testing::{data, or_skip};

/// Returns the records of a file, by column name.
fn table(path: &Path) -> Vec<BTreeMap<String, String>> {
    let file = std::fs::File::open(path).unwrap();
    let bytes: Box<dyn std::io::Read> = if path.extension().is_some_and(|e| e == "gz") {
        Box::new(flate2::read::MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let mut reader = csv::Reader::from_reader(bytes);
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let record = |cells: csv::StringRecord| {
        header.iter().cloned().zip(cells.iter().map(str::to_owned)).collect()
    };
    reader.records().map(|cells| record(cells.unwrap())).collect()
}

/// Returns the distinct persons of each group of a release whose records have a key of the
/// original's records.
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
    let quasi = [
        "race",
        "gender",
        "age",
        "admission_type_id",
        "discharge_disposition_id",
        "time_in_hospital",
    ];
    let dir = tempfile::tempdir().unwrap();
    for (algorithm, person) in [
        ("mondrian", ""),
        ("mondrian", "person = 'patient_nbr'"),
        ("ascent", "person = 'patient_nbr'"),
    ] {
        let columns: String = quasi.iter().map(|q| format!("{q} = 'quasi'\n")).collect();
        let text = format!(
            "[input]\npath = '{}'\non_missing = 'keep'\n{person}\n[output]\npath = 'out.csv'\n\
             [columns]\n{columns}\
             encounter_id = {{ role = 'passthrough', linkable = false }}\ndiag_1 = 'sensitive'\n\
             [[models]]\nname = 'k-anonymity'\nk = 5\n[algorithm]\nname = '{algorithm}'\n",
            path.display()
        );
        let job = parse("job.toml", &text, dir.path()).unwrap_or_else(|e| panic!("{e}")).job;
        let report = Anonymizer::new(&job).run().unwrap();
        let groups = persons_by_group(
            &dir.path().join("out.csv"),
            &path,
            &quasi,
            ("encounter_id", "patient_nbr"),
        );
        let smallest = groups.iter().map(BTreeSet::len).min().unwrap() as u64;
        if person.is_empty() {
            assert!(smallest < 5, "without persons some groups have fewer patients");
            assert_eq!(report.manifest.unit, None);
            continue;
        }
        assert!(smallest >= 5, "{algorithm}: a group of {smallest} patients");
        let reported = report.manifest.persons.unwrap();
        let all: BTreeSet<&String> = groups.iter().flatten().collect();
        assert_eq!(report.manifest.unit.as_deref(), Some("persons"));
        assert_eq!(
            (reported.read, reported.published, reported.smallest_group),
            (Some(71_518), all.len() as u64, smallest)
        );
        assert_eq!(report.manifest.groups, groups.len() as u64);
    }
}

/// Returns visits of patients, some with several visits and different quasi-identifiers.
fn visits(dir: &Path) {
    let mut text = String::from("visit,patient,age,sex,disease\n");
    for n in 0..240u32 {
        let patient = (n * n + 7 * n) % 83;
        let patient = if n % 40 == 3 { String::new() } else { format!("p{patient}") };
        let disease = ["flu", "cold", "gout"][(n * 5 % 7 % 3) as usize];
        text += &format!(
            "v{n},{patient},{},{},{disease}\n",
            20 + n * 13 % 50,
            ["F", "M"][(n % 2) as usize]
        );
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
    let report = Anonymizer::new(job(dir.path(), K)).run().unwrap();
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
        let error = Anonymizer::new(job(dir.path(), &format!("patient = '{role}'\n{K}")))
            .run()
            .unwrap_err();
        assert!(error.to_string().contains("never published"), "{error}");
    }
    Anonymizer::new(job(dir.path(), &format!("patient = 'drop'\n{K}"))).run().unwrap();
    let mut absent = job(dir.path(), K);
    absent.input.person = Some("patent".to_owned());
    let error = Anonymizer::new(&absent).run().unwrap_err();
    assert!(error.to_string().contains("no column `patent`"), "{error}");
    assert!(error.advice().is_some_and(|help| help.contains("patient")));
}

#[test]
fn definitions_that_assume_one_record_per_person_are_refused_for_repeated_persons() {
    let dir = tempfile::tempdir().unwrap();
    visits(dir.path());
    let outliers = "[[models]]\nname = 'plain-k-anonymity'\nk = 2\n\
                    [algorithm]\nname = 'expc-plus'\nsuppression_limit = 1.0\n";
    let error = Anonymizer::new(job(dir.path(), outliers)).run().unwrap_err();
    assert!(
        error.to_string().contains("`plain-k-anonymity` assumes one record per person"),
        "{error}"
    );
    assert_eq!(error.key(), Some("input.person"));
    let anatomy = "[[models]]\nname = 'l-diversity'\nl = 2\n[algorithm]\nname = 'anatomy'\nl = 2\n";
    let suppression = format!("{K}[suppression]\nname = 'r-suppression'\nl = 2\nseed = 3\n");
    for more in [anatomy, &suppression] {
        let error = Anonymizer::new(job(dir.path(), more)).run().unwrap_err();
        assert!(
            error.to_string().contains("people who have another one, according to `patient`"),
            "{error}"
        );
    }
    // The visit is unique, so everybody has one record.
    let mut single = job(dir.path(), anatomy);
    single.input.person = Some("visit".to_owned());
    assert_eq!(Anonymizer::new(&single).run().unwrap().manifest.unit.as_deref(), Some("persons"));
}

#[test]
fn models_that_merging_may_break_are_refused_by_algorithms_that_merge() {
    let dir = tempfile::tempdir().unwrap();
    visits(dir.path());
    let diverse = "[[models]]\nname = 'l-diversity'\nl = 2\n";
    let error =
        Anonymizer::new(job(dir.path(), &format!("{diverse}[algorithm]\nname = 'ascent'\n")))
            .run()
            .unwrap_err();
    assert!(error.to_string().contains("differ in their quasi-identifiers"), "{error}");
    let report =
        Anonymizer::new(job(dir.path(), &format!("{K}{diverse}[algorithm]\nname = 'mondrian'\n")))
            .run()
            .unwrap();
    assert!(report.verification.holds());
}

fn with_original(dir: &Path, person: Option<&str>) -> Judging {
    let original = Input {
        paths: vec![dir.join("visits.csv").into()],
        person: person.map(str::to_owned),
        ..Input::default()
    };
    Judging::new(dir.join("out.csv")).with_original(original)
}

#[test]
fn the_owner_can_verify_later() {
    let dir = tempfile::tempdir().unwrap();
    visits(dir.path());
    for algorithm in ["mondrian", "ascent", "full-domain"] {
        let asked = job(dir.path(), &format!("{K}[algorithm]\nname = '{algorithm}'\n"));
        let report = Anonymizer::new(&asked).run().unwrap();
        let reported = report.manifest.persons.unwrap();
        // Without the original the persons are unknown.
        let alone = Judging::new(dir.path().join("out.csv")).verify().unwrap();
        assert!(matches!(alone.persons, ReleasePersons::Unknown(_)));
        assert_eq!(alone.decision(), Decision::Undecided);
        assert!(alone.verification.judgements[0].unknown);
        let checked = with_original(dir.path(), Some("patient")).verify().unwrap();
        assert_eq!(checked.persons, ReleasePersons::Known, "{algorithm}");
        let found = checked.verification.persons.unwrap();
        assert!(checked.holds());
        assert_eq!(
            (found.published, found.smallest_group),
            (reported.published, reported.smallest_group)
        );
    }
    // Made without persons, some group has fewer patients than records, which the owner detects.
    let mut records = job(dir.path(), &format!("{K}[algorithm]\nname = 'mondrian'\n"));
    records.input.person = None;
    Anonymizer::new(&records).run().unwrap();
    let checked = with_original(dir.path(), Some("patient")).verify().unwrap();
    assert_eq!(checked.persons, ReleasePersons::Known);
    assert!(!checked.holds());
    // With another table the persons are unknown.
    let text = std::fs::read_to_string(dir.path().join("visits.csv")).unwrap();
    std::fs::write(dir.path().join("visits.csv"), text.replace(",F,", ",M,")).unwrap();
    let checked = with_original(dir.path(), Some("patient")).verify().unwrap();
    assert!(matches!(checked.persons, ReleasePersons::Unknown(_)));
}

#[test]
fn attacks_count_persons() {
    let dir = tempfile::tempdir().unwrap();
    visits(dir.path());
    // The key of a record is published, so that the test can identify its person.
    let asked = job(
        dir.path(),
        &format!(
            "visit = {{ role = 'passthrough', linkable = false }}\n{K}[algorithm]\n\
             name = 'mondrian'\n"
        ),
    );
    Anonymizer::new(&asked).run().unwrap();
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
    let report =
        with_original(dir.path(), Some("patient")).attack(&AttackRequest::default()).unwrap();
    let found = |name: &str, nth: usize| {
        &report.attacked.iter().filter(|a| a.finding.attack == name).nth(nth).unwrap().finding
    };
    let smallest = groups.iter().map(BTreeSet::len).min().unwrap() as f64;
    let prosecutor = found("prosecutor", 0);
    let everybody: BTreeSet<&&String> = groups.iter().flatten().collect();
    assert_eq!((prosecutor.people, prosecutor.of), ("persons", everybody.len() as u64));
    assert_eq!(prosecutor.worst, 1.0 / smallest);
    // An adversary who knows two records, or all: computed by trying all groups for every person.
    let (mut two, mut all) = (usize::MAX, usize::MAX);
    for person in &everybody {
        let own: Vec<&BTreeSet<&String>> =
            groups.iter().filter(|group| group.contains(**person)).collect();
        if own.len() < 2 {
            continue;
        }
        for a in 0..own.len() {
            for b in a + 1..own.len() {
                two = two.min(own[a].intersection(own[b]).count());
            }
        }
        all = all.min(
            everybody
                .iter()
                .filter(|other| own.iter().all(|group| group.contains(***other)))
                .count(),
        );
    }
    assert!(found("persons", 0).owner_only && found("persons", 1).owner_only);
    assert_eq!(found("persons", 0).worst, 1.0 / two as f64);
    assert_eq!(found("persons", 1).worst, 1.0 / all as f64);
    assert!(all < smallest as usize, "some person is worse off than k people");
    let alone = Judging::new(dir.path().join("out.csv")).attack(&AttackRequest::default()).unwrap();
    assert!(alone.skipped.iter().any(|skipped| skipped.attack == "persons"));
}

#[test]
fn a_group_that_one_person_dominates_can_be_forbidden() {
    let dir = tempfile::tempdir().unwrap();
    visits(dir.path());
    let loose = Anonymizer::new(job(dir.path(), K)).run().unwrap().verification.persons.unwrap();
    let strict = K.replace("k = 4", "k = 4\ndominance = 0.2");
    let strict =
        Anonymizer::new(job(dir.path(), &strict)).run().unwrap().verification.persons.unwrap();
    assert!(
        loose.dominance > 0.2 && strict.dominance <= 0.2,
        "{} {}",
        loose.dominance,
        strict.dominance
    );
}

/// An engine that merges all persons into one when it reads back.
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

    fn read_back(
        &self,
        table: usize,
        columns: &[String],
        examined: ExaminedColumns<'_>,
        progress: &dyn Progress,
    ) -> Result<ReadBack> {
        let mut back = self.0.read_back(table, columns, examined, progress)?;
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
fn a_release_whose_persons_differ_when_read_back_is_not_published() {
    let dir = tempfile::tempdir().unwrap();
    visits(dir.path());
    let asked = job(dir.path(), K);
    let source = Source::open(&asked.input.paths, &Options::default()).unwrap();
    let mut engine = Forgetful(Embedded::new(source, FileStore::default()));
    let error = Anonymizer::new(&asked).run_with(&mut engine).unwrap_err();
    assert!(error.to_string().contains("does not keep k-anonymity(k=4)"), "{error}");
    let mut left: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["visits.csv"]);
}

/// 24 records of persons with several records, with equal quasi-identifiers and different values in
/// two sensitive columns.
fn few_persons(seed: u32) -> String {
    let mut state = seed.wrapping_mul(2_654_435_761).max(1);
    let mut draw = |below: u32| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state % below
    };
    let (persons, ages, values) = (12 + draw(10), 1 + draw(4), 3 + draw(4));
    let place: Vec<(u32, u32)> = (0..persons).map(|_| (20 + draw(ages), draw(2))).collect();
    let record = |_| {
        let person = draw(persons);
        let (age, city) = place[person as usize];
        format!("{person},{age},{city},{},{}\n", draw(values), draw(values))
    };
    (0..24).map(record).collect()
}

#[test]
fn the_union_of_groups_with_equal_cells_satisfies_models_about_persons() {
    // In these tables rows of one person are in two groups that `mdav` publishes with equal cells.
    let known = [
        "5,22,a,a,w 12,24,a,z,w 12,24,a,b,v 7,23,b,y,t 8,22,b,y,w 12,24,a,z,w 14,22,a,a,w 4,22,a,a,w 11,21,b,a,t 6,21,a,x,u 8,22,b,x,s 17,24,a,x,w 19,24,a,x,u 0,21,a,y,t 16,22,b,z,s 1,20,b,w,u 12,24,a,w,s 9,23,a,w,u 13,21,b,z,t 0,21,a,b,w 16,22,b,b,s 4,22,a,w,u 14,22,a,y,s 7,23,b,z,s",
        "14,21,b,z,t 5,21,a,x,v 10,21,a,z,s 1,21,a,y,w 5,21,a,b,w 15,22,a,a,s 20,21,a,z,v 9,21,a,z,w 12,20,b,y,u 19,22,a,x,w 1,21,a,w,v 11,20,b,z,v 20,21,a,w,v 19,22,a,b,u 15,22,a,z,t 20,21,a,x,v 4,20,b,y,s 18,20,b,y,u 1,21,a,w,w 5,21,a,b,w 8,20,a,a,v 3,22,a,w,v 2,20,b,x,r 13,20,a,b,s",
    ];
    let dir = tempfile::tempdir().unwrap();
    let mut made = 0;
    let tables =
        known.iter().map(|text| text.replace(' ', "\n") + "\n").chain((1..14).map(few_persons));
    for (n, text) in tables.enumerate() {
        std::fs::write(dir.path().join("t.csv"), format!("id,age,city,s,t\n{text}")).unwrap();
        for algorithm in
            ["mdav", "auto", "mondrian'\ncut = 'relaxed", "local-recoding", "top-down", "ascent"]
        {
            for models in [
                "[[models]]\nname = 'l-diversity'\nl = 2\nkind = 'entropy'\non = 's'\n",
                "[[models]]\nname = 'l-diversity'\nl = 2\nkind = 'entropy'\non = 's'\n\
                 [[models]]\nname = 'l-diversity'\nl = 2\nkind = 'entropy'\non = 't'\n",
                "[[models]]\nname = 'alpha-k-anonymity'\nalpha = 0.7\nk = 2\non = 's'\n",
            ] {
                let text = format!(
                    "[input]\npath = 't.csv'\nperson = 'id'\n[output]\npath = 'out.csv'\n\
                     [columns]\nage = 'quasi'\n\
                     city = 'quasi'\ns = 'sensitive'\nt = 'sensitive'\n{models}[algorithm]\n\
                     name = '{algorithm}'\n"
                );
                let job = parse("job.toml", &text, dir.path()).unwrap().job;
                match Anonymizer::new(&job).run() {
                    Ok(_) => made += 1,
                    Err(error) => {
                        assert_ne!(
                            error.fault(),
                            Fault::Bug,
                            "table {n}, {algorithm}: {error}\n{models}"
                        )
                    }
                }
            }
        }
    }
    assert!(made > 50, "{made} releases");
}
