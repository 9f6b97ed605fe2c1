//! Random tables with random models, with and without suppression: the release satisfies every
//! model by its definition, suppression stays within the limit, and satisfiable models are not
//! refused.

use std::collections::BTreeMap;
use std::path::Path;

use incrowd::job::{Job, PopulationJob, Suppressed, parse};
use incrowd::{Anonymizer, Fault};
use proptest::prelude::*;

use crate::columns::COLUMNS;
use crate::judge::{Ask, Group, Ratio};
use crate::release::{Case, MISSING, Table, cases, read};

const TREE: &str = "disease = { role = 'sensitive', hierarchy = { tree = { ill = ['flu', 'cold'], \
                    other = ['a, \"rare\" one'] } } }";

/// A model and its sensitive column.
fn asks() -> impl Strategy<Value = (Ask, &'static str)> {
    let share = || {
        prop::sample::select(vec![Ratio(1, 4), Ratio(2, 5), Ratio(1, 2), Ratio(7, 10), Ratio(1, 1)])
    };
    let few = || 1u64..4;
    let column = prop::sample::select(vec!["disease", "income"]);
    let ask = prop_oneof![
        (1u64..6).prop_map(Ask::K),
        few().prop_map(Ask::Distinct),
        few().prop_map(Ask::Entropy),
        (few(), 1i128..5).prop_map(|(l, c)| Ask::Recursive(l, Ratio(c, 1))),
        share().prop_map(Ask::Equal),
        share().prop_map(Ask::Ordered),
        share().prop_map(Ask::Hierarchical),
        (share(), few(), prop::option::of(Just("flu"))).prop_map(|(a, k, v)| Ask::Alpha(a, k, v)),
        (few(), 0i128..4).prop_map(|(k, e)| Ask::Range(k, e)),
        (share(), few(), any::<bool>()).prop_map(|(e, m, r)| Ask::Proximity(e, m, r)),
        (share(), any::<bool>()).prop_map(|(b, e)| Ask::Likeness(b, e)),
        share().prop_map(Ask::Disclosure),
        (1u64..8).prop_map(Ask::Map),
        (prop::sample::select(vec![Ratio(0, 1), Ratio(1, 10)]), share())
            .prop_map(|(a, b)| Ask::Presence(a, b)),
        (few(), few()).prop_map(|(p, k)| Ask::Sensitive(p, k)),
    ];
    (ask, column).prop_map(|(ask, column)| {
        let column = match ask {
            Ask::Hierarchical(_) | Ask::Alpha(_, _, Some(_)) => "disease",
            _ if ask.about_numbers() => "income",
            _ => column,
        };
        (ask, column)
    })
}

#[derive(Clone, Debug)]
struct Request {
    case: Case,
    asks: Vec<(Ask, &'static str)>,
    /// People who are in the population but not in the table.
    others: Vec<Vec<u8>>,
    limit: u64,
    star: bool,
    numeric: bool,
}

fn requests() -> impl Strategy<Value = Request> {
    let person = prop::collection::vec(any::<u8>(), COLUMNS.len() + 1);
    let others = prop::collection::vec(person, 0..60);
    let asks = prop::collection::vec(asks(), 1..3);
    let flags = (any::<bool>(), any::<bool>());
    (cases(), asks, others, prop::sample::select(vec![0u64, 5, 10, 30]), flags).prop_map(
        |(mut case, asks, others, limit, (star, numeric))| {
            // Income is sensitive here.
            case.quasi.retain(|&c| COLUMNS[c].name != "income");
            if case.quasi.is_empty() {
                case.quasi.push(0);
            }
            Request { case, asks, others, limit, star, numeric }
        },
    )
}

impl Request {
    fn job(&self, dir: &Path) -> Job {
        let kind =
            if self.numeric { "{ role = 'sensitive', kind = 'numeric' }" } else { "'sensitive'" };
        let text = self
            .case
            .job("out.csv")
            .replace("disease = 'sensitive'", &format!("{TREE}\nincome = {kind}"));
        let mut job = parse("job.toml", &text, dir).unwrap_or_else(|e| panic!("{e}")).job;
        job.models.clear();
        for (ask, on) in &self.asks {
            let (name, params) = ask.privacy_model(on);
            job.add_model(name, params);
        }
        job.population =
            Some(PopulationJob { paths: vec![dir.join("population.csv").into()], memory: None });
        job.algorithm.suppression_limit = self.limit as f64 / 100.0;
        job.algorithm.suppressed = if self.star { Suppressed::Star } else { Suppressed::Absent };
        job
    }

    /// Returns the table and the people who are not in it.
    fn population(&self) -> Case {
        let people = self.case.people.iter().chain(&self.others).cloned().collect();
        Case { people, ..self.case.clone() }
    }

    /// Returns whether a person is dropped for a missing value in one of these columns.
    fn dropped(&self, case: &Case, person: usize, columns: &[usize]) -> bool {
        !self.case.keep && columns.iter().any(|&column| case.value(person, column).1)
    }

    fn published_people(&self) -> Vec<usize> {
        let matters: Vec<usize> =
            self.case.quasi.iter().copied().chain([1, COLUMNS.len()]).collect();
        (0..self.case.people.len()).filter(|&p| !self.dropped(&self.case, p, &matters)).collect()
    }

    /// Returns the number of people of the population that these cells cover.
    fn covered(&self, population: &Case, cells: &[&str]) -> Vec<usize> {
        let covers = |person: usize| {
            self.case.quasi.iter().zip(cells).all(|(&c, cell)| match population.value(person, c) {
                (_, true) => *cell == "*" || says_missing(cell, c),
                (value, false) => (COLUMNS[c].covers)(cell, value),
            })
        };
        let everybody = 0..population.people.len();
        everybody.filter(|&p| !self.dropped(population, p, &self.case.quasi) && covers(p)).collect()
    }

    /// Returns the groups of a published release, for a model about a column.
    fn groups(&self, table: &Table, on: &str) -> (Vec<Group>, Vec<String>) {
        let at: Vec<usize> =
            self.case.quasi.iter().map(|&c| table.column(COLUMNS[c].name)).collect();
        let value = table.column(on);
        let mut groups: BTreeMap<Vec<&str>, Group> = BTreeMap::new();
        for row in &table.rows {
            let cells = at.iter().map(|&c| row[c].as_str()).collect();
            groups.entry(cells).or_default().values.push(row[value].clone());
        }
        let population = self.population();
        let mut reached = vec![false; population.people.len()];
        for (cells, group) in &mut groups {
            let covered = self.covered(&population, cells);
            covered.iter().for_each(|&p| reached[p] = true);
            group.people = covered.len() as u64;
        }
        let counted = |&p: &usize| !reached[p] && !self.dropped(&population, p, &self.case.quasi);
        let outside = (0..population.people.len()).filter(counted).count() as u64;
        let nobody = Group { people: outside, ..Group::default() };
        let whole = table.rows.iter().map(|row| row[value].clone()).collect();
        (groups.into_values().chain([nobody]).collect(), whole)
    }
}

/// Returns whether a cell is or contains a missing value.
fn says_missing(cell: &str, column: usize) -> bool {
    MISSING.contains(&cell)
        || (COLUMNS[column].name == "city" && (COLUMNS[column].covers)(cell, "?"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(incrowd_testing::cases(200)))]

    #[test]
    fn a_release_satisfies_every_model_by_its_definition(request in requests()) {
        let dir = tempfile::tempdir().unwrap();
        let population = request.population();
        population.write(dir.path(), 0..population.people.len());
        let population = dir.path().join("population.csv");
        std::fs::rename(dir.path().join("people-in.csv"), population).unwrap();
        request.case.write(dir.path(), 0..request.case.people.len());
        let job = request.job(dir.path());
        let people = request.published_people();
        let report = match Anonymizer::new(&job).run() {
            Ok(report) => report,
            Err(error) => {
                let message = error.message();
                prop_assert!(error.fault() != Fault::Bug, "{}", message);
                let asked =
                    |what: &dyn Fn(&Ask) -> bool| request.asks.iter().any(|(ask, _)| what(ask));
                let lost = |column: usize| people.iter().any(|&p| request.case.value(p, column).1);
                let refusable = people.is_empty()
                    || request.case.lacks_values()
                    || (request.case.relaxed && asked(&|ask| !ask.survives_merging()))
                    || (asked(&Ask::about_numbers) && lost(1))
                    || (asked(&|ask| matches!(ask, Ask::Alpha(_, _, Some(_))))
                        && message.contains("no record has"))
                    // If a model does not survive merging, a whole table that violates it is no
                    // proof.
                    || asked(&|ask| !ask.survives_merging() || ask.about_people());
                let broken = |(ask, on): &(Ask, &str)| {
                    let column = if *on == "income" { 1 } else { COLUMNS.len() };
                    let text = |&p: &usize| match request.case.value(p, column) {
                        (_, true) => "?".to_owned(),
                        (value, false) => value.to_owned(),
                    };
                    let values: Vec<String> = people.iter().map(text).collect();
                    !ask.keeps(&Group { values: values.clone(), people: 0 }, &values)
                };
                let right = refusable || request.asks.iter().any(broken);
                prop_assert!(right, "refused without a reason: {}", message);
                return Ok(());
            }
        };
        let table = read(&dir.path().join("out.csv"));
        for (ask, on) in &request.asks {
            let (groups, whole) = request.groups(&table, on);
            for group in &groups {
                let holds = ask.keeps(group, &whole);
                prop_assert!(holds, "{:?} on {} is violated by {:?}", ask, on, group);
            }
        }
        let suppressed = report.records.suppressed;
        prop_assert!(suppressed * 100 <= request.limit * people.len() as u64);
        let starred = table.rows.iter().filter(|row| {
            request.case.quasi.iter().all(|&c| row[table.column(COLUMNS[c].name)] == "*")
        });
        let absent = people.len() - table.rows.len();
        if request.star {
            prop_assert_eq!(absent, 0);
            prop_assert!(starred.count() as u64 >= suppressed);
        } else {
            prop_assert_eq!(absent as u64, suppressed);
        }
        // Verification of the file with the job only gives the same result.
        let checked = incrowd::Judging::of(&job).verify();
        let message = checked.as_ref().err().map(|e| e.message().to_owned());
        prop_assert!(checked.is_ok_and(|c| c.holds()), "{:?}", message);
    }
}
