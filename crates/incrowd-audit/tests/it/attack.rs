//! Compares every attack with brute force on random tables.

use crate::common::{Cells, cases, folded};
use crate::cover::{
    MISSING_TEXT, NAMES, admits_all, matching_person, readable, releases, specs, tables,
};
use incrowd_audit::attack::{
    ATTACKS, Adversary, Answer, Card, Epsilon, External, Finding, Published,
};
use incrowd_core::{ColumnSpec, Folded, Silent};
use proptest::prelude::*;

const COLUMNS: [&str; 6] = ["age", "place", "country", "born", "disease", "income"];

pub(crate) fn missing() -> Vec<String> {
    vec![String::new(), MISSING_TEXT.to_owned()]
}

/// Quasi-identifier cells and sensitive values.
pub(crate) type Record = (Cells, Cells);

pub(crate) fn table(names: &[&str], records: &[Record]) -> Folded {
    let cells: Vec<Cells> =
        records.iter().map(|(quasi, private)| [quasi.as_slice(), private].concat()).collect();
    folded(names, &cells)
}

pub(crate) fn run(name: &str, adversary: &Adversary<'_>, threshold: Option<f64>) -> Answer {
    let card = Card::find(name).unwrap();
    (card.run)(adversary, card.threshold(threshold).unwrap(), &Silent).unwrap()
}

fn private() -> impl Strategy<Value = Cells> {
    let disease = prop::sample::select(vec![Some("flu"), Some("cold"), Some("gout"), None]);
    let income = prop::sample::select(vec![
        Some("1"),
        Some("2"),
        Some("5"),
        Some("10"),
        Some("11"),
        Some(MISSING_TEXT),
    ]);
    (disease, income).prop_map(|(d, i)| vec![d.map(str::to_owned), i.map(str::to_owned)])
}

/// Releases with few distinct combinations of cells, so that groups have several records.
fn published() -> impl Strategy<Value = Vec<Record>> {
    (releases(), prop::collection::vec((0usize..5, private()), 0..18)).prop_map(
        |(quasi, people)| {
            let pick = |(i, private): (usize, Cells)| (quasi[i % quasi.len()].clone(), private);
            let mut records: Vec<Record> = people.into_iter().map(pick).collect();
            records.push((readable(), vec![Some("flu".into()), Some("1".into())]));
            records
        },
    )
}

/// A population with diseases.
fn population() -> impl Strategy<Value = Vec<Record>> {
    (tables(), prop::collection::vec(private(), 20)).prop_map(|(people, diseases)| {
        let with = |(person, private): (Cells, &Cells)| (person, private[..1].to_vec());
        let mut people: Vec<Record> = people.into_iter().zip(&diseases).map(with).collect();
        people.push((matching_person(), vec![Some("flu".into())]));
        people
    })
}

fn group<'a>(records: &'a [Record], of: &Record) -> Vec<&'a Record> {
    records.iter().filter(|other| other.0 == of.0).collect()
}

fn count<T: PartialEq>(of: &T, among: &[T]) -> u64 {
    among.iter().filter(|other| *other == of).count() as u64
}

/// Checks a finding against the risks of all people.
fn check(finding: &Finding, risks: &[f64], at_risk: usize) -> Result<(), TestCaseError> {
    let worst = risks.iter().copied().fold(0.0, f64::max);
    let average =
        if risks.is_empty() { 0.0 } else { risks.iter().sum::<f64>() / risks.len() as f64 };
    prop_assert!((finding.worst - worst).abs() < 1e-12, "{} {worst}", finding.worst);
    prop_assert!((finding.average - average).abs() < 1e-12, "{} {average}", finding.average);
    prop_assert_eq!(finding.of, risks.len() as u64);
    prop_assert_eq!(finding.at_risk, at_risk as u64);
    prop_assert_eq!(finding.bands.iter().map(|band| band.people).sum::<u64>(), finding.of);
    let certain = finding.bands.iter().find(|band| band.label == "1");
    if let Some(band) = certain {
        prop_assert_eq!(band.people, risks.iter().filter(|risk| **risk == 1.0).count() as u64);
    }
    Ok(())
}

fn people_of(records: &[Record], has: impl Fn(&Record) -> bool) -> f64 {
    records.iter().filter(|record| has(record)).count() as f64
}

/// Returns the values of the records of a release that match a person.
fn open(records: &[Record], fits: impl Fn(&Record) -> bool) -> Vec<&Option<String>> {
    let mut values: Vec<&Option<String>> =
        records.iter().filter(|r| fits(r)).map(|r| &r.1[0]).collect();
    values.sort();
    values.dedup();
    values
}

/// Returns whether a person can have both cells in every column. Tries all possible values.
fn share_a_person(a: &Cells, b: &Cells) -> bool {
    let values: [&[&str]; 4] = [
        &["0", "1", "2", "3", "4", "7", "8", "9"],
        &["a", "b", "c", "d"],
        &["p", "q", "r", "s", "y", "z", "zz"],
        &["2001-01-01", "2001-02-01", "2001-06-30", "2002-01-01"],
    ];
    (0..4).all(|column| {
        let tried = values[column].iter().map(|v| Some((*v).to_owned())).chain([None]);
        let star = || vec![Some("*".to_owned()); 4];
        let only = |cells: &Cells| {
            let mut only = star();
            only[column].clone_from(&cells[column]);
            only
        };
        let (a, b) = (only(a), only(b));
        tried.into_iter().any(|value| {
            let mut person = star();
            person[column] = value;
            admits_all(&a, &person) && admits_all(&b, &person)
        })
    })
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn linkage_equals_that_of_all_pairs(
        records in published(),
        people in population(),
        t in 0u32..5,
    ) {
        let (specs, missing) = (specs(), missing());
        let release = table(&COLUMNS, &records);
        let population = table(&COLUMNS[..5], &people);
        let threshold = f64::from(t) / 4.0;
        let mut adversary = Adversary::new(Published::new(&release, &specs), &missing);
        let own: Vec<f64> = records.iter().map(|r| 1.0 / group(&records, r).len() as f64).collect();
        let above = |risks: &[f64]| risks.iter().filter(|risk| **risk > threshold).count();
        let prosecutor = &run("prosecutor", &adversary, Some(threshold)).findings[0];
        check(prosecutor, &own, above(&own))?;
        check(&run("marketer", &adversary, Some(threshold)).findings[0], &own, above(&own))?;
        prop_assert!(run("journalist", &adversary, None).findings.is_empty());

        adversary.set_population(Some(&population));
        let fits = |r: &Record| people.iter().filter(|p| admits_all(&r.0, &p.0)).count();
        let chance = |r: &Record| 1.0 / fits(r).max(group(&records, r).len()) as f64;
        let linked: Vec<f64> = records.iter().map(chance).collect();
        let journalist = &run("journalist", &adversary, Some(threshold)).findings[0];
        check(journalist, &linked, above(&linked))?;
        let marketer = &run("marketer", &adversary, Some(threshold)).findings[0];
        check(marketer, &linked, above(&linked))?;
        let expected: f64 = linked.iter().sum();
        prop_assert!((marketer.fact("expected_records").unwrap() - expected).abs() < 1e-9);
        let short = people_of(&records, |r| fits(r) < group(&records, r).len());
        prop_assert_eq!(journalist.fact("short"), Some(short));
        let fewest = records.iter().map(fits).min().unwrap();
        prop_assert_eq!(journalist.fact("fewest_fitting"), Some(fewest as f64));
        let uncovered = people_of(&people, |p| !records.iter().any(|r| admits_all(&r.0, &p.0)));
        prop_assert_eq!(journalist.fact("uncovered"), Some(uncovered));
        // The risk of each record equals that of its group.
        for (row, &group) in adversary.release.groups.of_row.iter().enumerate() {
            let codes = release.row(row).iter().zip(&release.columns);
            let cells: Vec<Option<&str>> = codes
                .map(|(&code, c)| (code != 0).then(|| c.texts[code as usize].as_str()))
                .collect();
            let same =
                |r: &&Record| r.0.iter().map(Option::as_deref).eq(cells[..4].iter().copied());
            let record = records.iter().find(same).unwrap();
            prop_assert_eq!(journalist.by_group[group as usize], chance(record));
        }
    }

    #[test]
    fn homogeneity_equals_that_of_all_pairs(records in published(), t in 1u32..5) {
        let (specs, missing) = (specs(), missing());
        let release = table(&COLUMNS, &records);
        let adversary = Adversary::new(Published::new(&release, &specs), &missing);
        let threshold = f64::from(t) / 4.0;
        let answer = run("homogeneity", &adversary, Some(threshold));
        prop_assert_eq!(answer.findings.len(), 2);
        for (column, finding) in answer.findings.iter().enumerate() {
            let most = |r: &Record| {
                let values: Vec<_> =
                    group(&records, r).iter().map(|r| r.1[column].clone()).collect();
                (values.iter().map(|v| count(v, &values)).max().unwrap(), values.len() as u64)
            };
            let risk = |r: &Record| most(r).0 as f64 / most(r).1 as f64;
            let risks: Vec<f64> = records.iter().map(risk).collect();
            let is_at_risk = |r: &&Record| most(r).0 * 4 >= u64::from(t) * most(r).1;
            check(finding, &risks, records.iter().filter(is_at_risk).count())?;
            let certain = people_of(&records, |r| most(r).0 == most(r).1);
            prop_assert_eq!(finding.fact("certain"), Some(certain));
        }
    }

    #[test]
    fn skewness_equals_that_of_all_pairs(
        records in published(),
        people in population(),
        t in 1u64..5,
        known in any::<bool>(),
    ) {
        let (specs, missing) = (specs(), missing());
        let release = table(&COLUMNS, &records);
        let population = table(&COLUMNS[..5], &people);
        let mut adversary = Adversary::new(Published::new(&release, &specs), &missing);
        adversary.set_population(known.then_some(&population));
        let finding = &run("skewness", &adversary, Some(t as f64)).findings[0];
        let own: Vec<Option<String>> = records.iter().map(|r| r.1[0].clone()).collect();
        let theirs: Vec<Option<String>> = people.iter().map(|r| r.1[0].clone()).collect();
        let usable = known && own.iter().all(|value| theirs.contains(value));
        let prior = if usable { &theirs } else { &own };
        prop_assert_eq!(finding.notes.last().unwrap().contains("population"), usable);
        let all = prior.len() as u64;
        // The increase as numerator and denominator, the share of the prior that is ruled out, and
        // the greatest difference.
        let judge = |r: &Record| {
            let values: Vec<_> = group(&records, r).iter().map(|r| r.1[0].clone()).collect();
            let n = values.len() as u64;
            let rises: Vec<(u64, u64)> =
                values.iter().map(|v| (count(v, &values) * all, n * count(v, prior))).collect();
            let out = prior.iter().filter(|v| !values.contains(v)).count() as f64 / all as f64;
            let difference = values.iter()
                .map(|v| count(v, &values) as f64 / n as f64 - count(v, prior) as f64 / all as f64)
                .fold(0.0, f64::max);
            (rises, out, difference)
        };
        let rise = |r: &Record| {
            judge(r).0.iter().map(|(a, b)| *a as f64 / *b as f64).fold(0.0, f64::max)
        };
        let risks: Vec<f64> = records.iter().map(rise).collect();
        let is_at_risk = |r: &&Record| judge(r).0.iter().any(|(a, b)| *a >= t * b);
        check(finding, &risks, records.iter().filter(is_at_risk).count())?;
        let fact = |name: &str| finding.fact(name).unwrap();
        let worst = |of: &dyn Fn(&Record) -> f64| records.iter().map(of).fold(0.0, f64::max);
        prop_assert!((fact("greatest_difference") - worst(&|r| judge(r).2)).abs() < 1e-12);
        prop_assert!((fact("excluded_worst") - worst(&|r| judge(r).1)).abs() < 1e-12);
        prop_assert_eq!(fact("excluded_people"), people_of(&records, |r| judge(r).1 > 0.0));
        let average = records.iter().map(|r| judge(r).1).sum::<f64>() / records.len() as f64;
        prop_assert!((fact("excluded_average") - average).abs() < 1e-12);
    }

    #[test]
    fn proximity_equals_that_of_all_guesses(
        records in published(),
        width in 0i64..6,
        relative in any::<bool>(),
    ) {
        let (specs, missing) = (specs(), missing());
        let release = table(&COLUMNS, &records);
        let mut adversary = Adversary::new(Published::new(&release, &specs), &missing);
        let epsilon = match relative {
            true => Epsilon::Relative(width as f64 / 10.0),
            false => Epsilon::Absolute(width as f64 / 2.0),
        };
        adversary.epsilon.insert("income".to_owned(), epsilon);
        let answer = run("proximity", &adversary, Some(0.5));
        prop_assert_eq!(answer.skipped.len(), 1, "disease is not numeric");
        let finding = &answer.findings[0];
        // The interval of the best guess can be shifted until it begins at a value.
        let near = |low: i64, x: i64| {
            let within = match relative {
                true => x * (10 - width) <= low * (10 + width),
                false => x - low <= width,
            };
            x >= low && within
        };
        let best = |r: &Record| {
            let all = group(&records, r);
            let numbers: Vec<i64> =
                all.iter().filter_map(|r| r.1[1].as_ref()?.parse().ok()).collect();
            let close = |low: i64| numbers.iter().filter(|&&x| near(low, x)).count();
            let most = numbers.iter().map(|&low| close(low)).max();
            (most.unwrap_or(0), all.len())
        };
        let risks: Vec<f64> = records.iter().map(|r| best(r).0 as f64 / best(r).1 as f64).collect();
        let at_risk = records.iter().filter(|r| 2 * best(r).0 >= best(r).1).count();
        check(finding, &risks, at_risk)?;
        let certain = people_of(&records, |r| best(r).0 == best(r).1);
        prop_assert_eq!(finding.fact("certain"), Some(certain));
    }

    #[test]
    fn equijoin_equals_that_of_all_pairs(
        records in published(),
        people in population(),
        shared in 1usize..5,
    ) {
        let (specs, missing) = (specs(), missing());
        let release = table(&COLUMNS, &records);
        // The external table lacks the last columns, so they match any value.
        let people: Vec<Record> = people.into_iter().map(|(mut cells, _)| {
            cells.truncate(shared);
            (cells, Vec::new())
        }).collect();
        let external = table(&COLUMNS[..shared], &people);
        let mut adversary = Adversary::new(Published::new(&release, &specs), &missing);
        prop_assert!(run("equijoin", &adversary, None).findings.is_empty());
        adversary.external = Some(External { table: &external, further: 3 });
        let answer = run("equijoin", &adversary, Some(0.5));
        let candidates = |p: &Record| -> Vec<&Record> {
            records.iter().filter(|r| admits_all(&r.0, &p.0)).collect()
        };
        let chance = |n: usize| if n == 0 { 0.0 } else { 1.0 / n as f64 };
        let risks: Vec<f64> = people.iter().map(|p| chance(candidates(p).len())).collect();
        let identity = &answer.findings[0];
        let found = people.iter().filter(|p| (1..=2).contains(&candidates(p).len())).count();
        check(identity, &risks, found)?;
        let with = |n: usize| Some(people_of(&people, |p| candidates(p).len() == n));
        prop_assert_eq!(identity.fact("one_record"), with(1));
        prop_assert_eq!(identity.fact("unmatched"), with(0));
        prop_assert_eq!(identity.fact("further_columns"), Some(3.0));
        let groups = |p: &Record| {
            let mut cells: Vec<&[Option<String>]> =
                candidates(p).iter().map(|r| &r.0[..shared]).collect();
            cells.sort();
            cells.dedup();
            cells.len()
        };
        prop_assert_eq!(identity.fact("one_group"), Some(people_of(&people, |p| groups(p) == 1)));
        let matching = |r: &Record| people.iter().filter(|p| admits_all(&r.0, &p.0)).count();
        let of_one = people_of(&records, |r| matching(r) == 1);
        prop_assert_eq!(identity.fact("records_of_one_person"), Some(of_one));
        for (column, finding) in answer.findings[1..].iter().enumerate() {
            let best = |p: &Record| {
                let values: Vec<_> = candidates(p).iter().map(|r| r.1[column].clone()).collect();
                (values.iter().map(|v| count(v, &values)).max().unwrap_or(0), values.len() as u64)
            };
            let risk = |p: &Record| best(p).0 as f64 / best(p).1.max(1) as f64;
            let risks: Vec<f64> = people.iter().map(risk).collect();
            let is_at_risk = |p: &&Record| best(p).1 > 0 && 2 * best(p).0 >= best(p).1;
            check(finding, &risks, people.iter().filter(is_at_risk).count())?;
            let certain = people_of(&people, |p| best(p).0 > 0 && best(p).0 == best(p).1);
            prop_assert_eq!(finding.fact("certain"), Some(certain));
        }
    }

    #[test]
    fn intersection_for_targets_equals_that_of_all_pairs(
        one in published(), two in published(), people in population(), t in 1u64..4,
    ) {
        let (specs, missing) = (specs(), missing());
        let (first, second) = (table(&COLUMNS, &one), table(&COLUMNS, &two));
        let targets = table(&COLUMNS[..5], &people);
        let mut adversary = Adversary::new(Published::new(&first, &specs), &missing);
        prop_assert!(run("intersection", &adversary, None).findings.is_empty());
        adversary.set_population(Some(&targets));
        adversary.second = Some(Published::new(&second, &specs));
        let answer = run("intersection", &adversary, Some(1.0 / t as f64));
        let is_disease = |f: &&Finding| f.column.as_deref() == Some("disease");
        let finding = answer.findings.iter().find(is_disease).unwrap();
        let (mut risks, mut at_risk, mut not_in_both, mut certain) = (Vec::new(), 0, 0, 0);
        for person in &people {
            let v1 = open(&one, |r| admits_all(&r.0, &person.0));
            let v2 = open(&two, |r| admits_all(&r.0, &person.0));
            let left = v1.iter().filter(|v| v2.contains(v)).count();
            if left == 0 {
                not_in_both += 1;
                continue;
            }
            risks.push(1.0 / left as f64);
            at_risk += usize::from(left as u64 <= t && v1.len() as u64 > t && v2.len() as u64 > t);
            certain += u64::from(v1.len() == 1 || v2.len() == 1);
        }
        check(finding, &risks, at_risk)?;
        prop_assert_eq!(finding.fact("not_in_both"), Some(f64::from(not_in_both)));
        prop_assert_eq!(finding.fact("certain_alone"), Some(certain as f64));
    }

    #[test]
    fn intersection_without_targets_equals_that_of_all_pairs_of_groups(
        one in published(), two in published(), shared in 1usize..5,
    ) {
        let (specs, missing) = (specs(), missing());
        let first = table(&COLUMNS, &one);
        // The second release has fewer quasi-identifiers.
        let fewer = |(quasi, private): Record| (quasi[..shared].to_vec(), private);
        let two: Vec<Record> = two.into_iter().map(fewer).collect();
        let second = table(&[&COLUMNS[..shared], &COLUMNS[4..]].concat(), &two);
        let mut adversary = Adversary::new(Published::new(&first, &specs), &missing);
        let fewer: Vec<ColumnSpec> = specs[..shared].to_vec();
        adversary.second = Some(Published::new(&second, &fewer));
        let answer = run("intersection", &adversary, None);
        let is_disease = |f: &&Finding| f.column.as_deref() == Some("disease");
        let finding = answer.findings.iter().find(is_disease).unwrap();
        let (mut risks, mut at_risk, mut not_in_both, mut certain) = (Vec::new(), 0, 0, 0);
        let wide = |cells: &Cells| -> Cells {
            let stars = std::iter::repeat_n(Some("*".to_owned()), 4 - cells.len());
            cells.iter().cloned().chain(stars).collect()
        };
        for record in &one {
            let v1 = open(&one, |r| r.0 == record.0);
            let (mut fewest, mut both, mut single) = (usize::MAX, false, false);
            for other in &two {
                let v2 = open(&two, |r| r.0 == other.0);
                if !share_a_person(&record.0, &wide(&other.0)) || !v2.contains(&&record.1[0]) {
                    continue;
                }
                let left = v1.iter().filter(|v| v2.contains(v)).count();
                fewest = fewest.min(left);
                both |= left == 1 && v1.len() > 1 && v2.len() > 1;
                single |= v1.len() == 1 || v2.len() == 1;
            }
            if fewest == usize::MAX {
                not_in_both += 1;
                continue;
            }
            risks.push(1.0 / fewest as f64);
            at_risk += usize::from(both);
            certain += u64::from(single);
        }
        check(finding, &risks, at_risk)?;
        prop_assert_eq!(finding.fact("not_in_both"), Some(f64::from(not_in_both)));
        prop_assert_eq!(finding.fact("certain_alone"), Some(certain as f64));
    }
}

#[test]
fn every_attack_has_texts_and_checks_its_threshold() {
    assert_eq!(NAMES, COLUMNS[..4]);
    for card in ATTACKS {
        assert!(
            !card.about.is_empty() && !card.limits.is_empty() && !card.needs_text.is_empty(),
            "{}",
            card.name
        );
        assert!(
            card.threshold(None).is_ok() && card.threshold(Some(-1.0)).is_err(),
            "{}",
            card.name
        );
    }
    assert!(Card::find("prosecuter").unwrap_err().advice().unwrap().contains("prosecutor"));
}
