//! Random tables in which persons, sensitive values and missing values have random spellings,
//! through anonymize, verify and attack, and counted by independent arithmetic.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use incrowd::job::parse;
use incrowd::{Anonymizer, AttackRequest, Fault, Judging};
use proptest::prelude::*;

/// Returns the meaning of a cell by a slow method: a number in millionths, or a text.
fn meaning(text: &str) -> String {
    let text: String = text.trim().to_owned();
    if ["", "?", "NA"].contains(&text.as_str()) {
        return "missing".to_owned();
    }
    let (mantissa, power) = text
        .split_once('e')
        .map_or((text.as_str(), 0), |(m, p)| (m, p.parse::<i32>().unwrap_or(99)));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let is_number = !digits.is_empty()
        && mantissa.chars().all(|c| c.is_ascii_digit() || "+.".contains(c))
        && power < 99;
    match is_number {
        true => {
            let places = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i32);
            (digits.parse::<u128>().unwrap() * 10u128.pow((6 + power - places) as u32)).to_string()
        }
        false => text,
    }
}

/// Returns a number in one of its spellings.
fn written(number: u32, way: usize) -> String {
    match way % 8 {
        0 => number.to_string(),
        1 => format!("{number}.0"),
        2 => format!("00{number}"),
        3 => format!("+{number}"),
        4 => format!("{number}e0"),
        5 => format!("{number}0e-1"),
        6 => format!(" {number}"),
        _ => format!("{number}.000\u{a0}"),
    }
}

#[derive(Clone, Debug)]
struct Record {
    person: String,
    age: u32,
    disease: String,
}

fn record() -> impl Strategy<Value = Record> {
    let disease = prop_oneof![
        4 => (0..4u32, 0..8usize).prop_map(|(number, way)| written(number, way)),
        2 => prop::sample::select(vec!["flu", " flu", "flu\u{a0}", "unknown", "Flu"])
            .prop_map(str::to_owned),
        1 => prop::sample::select(vec!["", "?", "NA", " ?", "NA\u{a0}"]).prop_map(str::to_owned),
    ];
    let person = (0..12u32, 0..8usize).prop_map(|(number, way)| written(number, way));
    (person, 0..6u32, disease).prop_map(|(person, age, disease)| Record { person, age, disease })
}

fn cells(path: &Path) -> Vec<csv::StringRecord> {
    csv::Reader::from_path(path).unwrap().records().map(Result::unwrap).collect()
}

fn judged(release: &Path, model: &str, value: i64) -> (bool, f64) {
    let params =
        [("l", incrowd::Value::Integer(value)), ("kind", incrowd::Value::Word(model.to_owned()))];
    let judging = Judging::new(release).model("l-diversity", params);
    let checked = judging.verify().unwrap();
    (checked.verification.judgements[0].holds, checked.verification.judgements[0].have)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: incrowd_testing::cases(60),
        ..ProptestConfig::default()
    })]
    #[test]
    fn several_spellings_are_counted_once(
        table in prop::collection::vec(record(), 4..40),
        l in 1..4u32,
        k in 1..4u32,
        persons in any::<bool>(),
        name in prop::sample::select(vec!["mondrian", "ascent", "local-recoding"]),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let line = |(n, r): (usize, &Record)| {
            format!("{n},{},{},{}\n", r.person, r.age, r.disease)
        };
        let lines = table.iter().enumerate().map(line);
        std::fs::write(dir.path().join("t.csv"), format!("key,id,age,disease\n\
                                                          {}", lines.collect::<String>())).unwrap();
        let person = if persons { "person = 'id'\n" } else { "" };
        // Only one algorithm accepts every model for persons.
        let name = if persons { "mondrian" } else { name };
        let job = format!(
            "[input]\npath = 't.csv'\non_missing = 'keep'\n{person}[output]\npath = 'out.csv'\n\
             [columns]\nage = 'quasi'\n\
             key = {{ role = 'passthrough', linkable = false }}\ndisease = 'sensitive'\n\
             [[models]]\nname = 'k-anonymity'\nk = {k}\n\
             [[models]]\nname = 'l-diversity'\nl = {l}\nkind = 'distinct'\n\
             [algorithm]\nname = '{name}'\n"
        );
        let job = parse("job.toml", &job, dir.path()).unwrap_or_else(|e| panic!("{e}")).job;
        let different = |records: &mut dyn Iterator<Item = usize>, of: fn(&Record) -> &str| {
            records.map(|n| meaning(of(&table[n]))).collect::<BTreeSet<String>>().len()
        };
        let all = different(&mut (0..table.len()), |r| &r.disease);
        let people = different(&mut (0..table.len()), |r| &r.person);
        let made = Anonymizer::new(&job).run();
        if all < l as usize || persons && people < k as usize {
            let fault = made.err().map(|e| e.fault());
            let why = format!("{all} values and {people} persons");
            prop_assert_eq!(fault, Some(Fault::Unsatisfiable), "{}", why);
            return Ok(());
        }
        let report = match made {
            Ok(report) => report,
            // One group of all records satisfies the models, unless the values of a person with
            // several records count once.
            Err(e) => {
                let may_fail = persons && l > 1 && e.fault() == Fault::Unsatisfiable;
                prop_assert!(may_fail, "{}", e);
                return Ok(());
            }
        };
        let out = dir.path().join("out.csv");
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for cell in cells(&out) {
            let key: usize = cell[0].parse().unwrap();
            // Only missing values have another text.
            let own = &table[key].disease;
            let kept = cell[2] == **own || meaning(own) == "missing";
            prop_assert!(kept, "{:?} of {:?}", &cell[2], own);
            groups.entry(cell[1].to_owned()).or_default().push(key);
        }
        let diseases = |own: &Vec<usize>| different(&mut own.iter().copied(), |r| &r.disease);
        let fewest = groups.values().map(diseases).min().unwrap();
        prop_assert!(fewest >= l as usize, "{fewest} values, {l} asked for");
        if persons {
            let persons = |own: &Vec<usize>| different(&mut own.iter().copied(), |r| &r.person);
            let smallest = groups.values().map(persons).min().unwrap();
            prop_assert!(smallest >= k as usize, "{smallest} persons, {k} asked for");
            let reported = report.manifest.persons.unwrap();
            let expected = (Some(people as u64), smallest as u64);
            prop_assert_eq!((reported.read, reported.smallest_group), expected);
            return Ok(());
        }
        prop_assert_eq!(judged(&out, "distinct", 1), (true, fewest as f64));
        prop_assert!(!judged(&out, "distinct", fewest as i64 + 1).0);
        let only = vec!["homogeneity".to_owned()];
        let request = AttackRequest { only, ..AttackRequest::default() };
        let attacked = Judging::new(&out).attack(&request).unwrap();
        let worst = groups.values().map(|own| {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            own.iter().for_each(|&n| *counts.entry(meaning(&table[n].disease)).or_default() += 1);
            *counts.values().max().unwrap() as f64 / own.len() as f64
        });
        prop_assert_eq!(attacked.attacked[0].finding.worst, worst.fold(0.0, f64::max));
    }
}
