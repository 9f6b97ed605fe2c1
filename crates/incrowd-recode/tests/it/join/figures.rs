//! The figures of `sacharidis2010`.

use incrowd_recode::join::JoinRules;
use incrowd_recode::join::trim::trim;
use incrowd_recode::mondrian::{Dimension, Mondrian};
use serde_json::Value as Json;

use super::common::{Points, alone, groups, run_direct, run_refinement};

/// People by name, with their coordinates.
struct People {
    names: Vec<String>,
    points: Points,
}

impl People {
    /// All people of the microdata first, then those of the public table who are not in it.
    fn new(microdata: &Json, public: &Json) -> People {
        let row = |json: &Json| {
            let number = |i: usize| json[i].as_u64().unwrap() as u32;
            (json[0].as_str().unwrap().to_owned(), vec![number(1), number(2)])
        };
        let own: Vec<(String, Vec<u32>)> = microdata.as_array().unwrap().iter().map(row).collect();
        let others = public.as_array().unwrap().iter().map(row);
        let others = others
            .filter(|(name, _)| own.iter().all(|(known, _)| known != name))
            .collect::<Vec<_>>();
        let microdata = own.len();
        let (names, points): (Vec<String>, Vec<Vec<u32>>) = own.into_iter().chain(others).unzip();
        People { names, points: Points::new(&points, microdata, &[5, 5]) }
    }

    fn named(&self, groups: Vec<Vec<u32>>) -> Vec<Vec<&str>> {
        let name = |&row: &u32| self.names[row as usize].as_str();
        let mut named: Vec<Vec<&str>> =
            groups.iter().map(|group| group.iter().map(name).collect()).collect();
        named.iter_mut().for_each(|group| group.sort_unstable());
        named.sort();
        named
    }
}

fn expected(json: &Json) -> Vec<Vec<&str>> {
    let texts = |group: &'_ Json| {
        group.as_array().unwrap().iter().map(|n| n.as_str().unwrap().len()).sum::<usize>()
    };
    assert!(json.as_array().unwrap().iter().all(|group| texts(group) > 0));
    let mut all: Vec<Vec<&str>> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group.as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect())
        .collect();
    all.iter_mut().for_each(|group| group.sort_unstable());
    all.sort();
    all
}

fn round_robin() -> Mondrian {
    Mondrian { dimension: Dimension::RoundRobin, ..Mondrian::default() }
}

#[test]
fn figure_2_groups_the_microdata() {
    let figure: Json =
        serde_json::from_str(incrowd_testing::fixture("kja_fig1_fig2.json")).unwrap();
    let people = People::new(&figure["mt"], &figure["pd_known"]);
    let groups = alone(&round_robin(), &people.points, 3);
    assert_eq!(people.named(groups), expected(&figure["strict_mondrian_groups"]));
}

#[test]
fn figure_5_refines_them_with_external_people() {
    let figure: Json =
        serde_json::from_str(incrowd_testing::fixture("kja_fig5_reconstructed.json")).unwrap();
    let people = People::new(&figure["mt"], &figure["pd"]);
    let outcome = run_direct(&round_robin(), &people.points, 3);
    assert_eq!(people.named(groups(&outcome)), expected(&figure["direct_groups"]));
    // The paper removes external people who are not needed (section 4), here X.
    let mut outcome = run_refinement(&round_robin(), &people.points, 3);
    trim(&mut outcome, &people.points.data, &JoinRules::new(people.points.microdata, 3, &[]));
    assert_eq!(people.named(groups(&outcome)), expected(&figure["refinement_groups"]));
}
