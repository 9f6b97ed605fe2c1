//! The incremental forms of models agree with their verdicts on whole groups.

use proptest::prelude::*;

use super::{count, word};
use incrowd_core::model::{BoundModel, PrivacyModel};
use incrowd_core::{
    ColumnSpec, Dataset, Folded, GroupSummary, HierarchySpec, SensitiveSpec, Value,
};

/// Numbers in a tree, some of them in two spellings.
const VALUES: [&str; 7] = ["1", "1.0", "2", "3", "5", "8", "13"];
const TREE: &str = "1;low;*\n1.0;low;*\n2;low;*\n3;mid;*\n5;mid;*\n8;high;*\n13;high;*\n";

fn number(x: f64) -> Value {
    Value::Real(x)
}

fn privacy_models() -> Vec<(&'static str, Vec<(&'static str, Value)>)> {
    let mut all = Vec::new();
    for l in 1..5 {
        for kind in ["distinct", "entropy", "frequency"] {
            all.push(("l-diversity", vec![("l", count(l)), ("kind", word(kind))]));
        }
        for c in [0.5, 1.0, 2.0] {
            all.push((
                "l-diversity",
                vec![("l", count(l)), ("kind", word("recursive")), ("c", number(c))],
            ));
        }
    }
    for share in [0.1, 0.25, 0.4, 0.7, 1.5] {
        for distance in ["equal", "ordered", "hierarchical"] {
            all.push((
                "t-closeness",
                vec![("t", number(f64::min(share, 1.0))), ("distance", word(distance))],
            ));
        }
        for kind in ["basic", "enhanced"] {
            all.push(("beta-likeness", vec![("beta", number(share)), ("kind", word(kind))]));
        }
        all.push(("delta-disclosure", vec![("delta", number(share))]));
        let alpha = || ("alpha", number(f64::min(share, 1.0)));
        all.push(("alpha-k-anonymity", vec![alpha(), ("k", count(3))]));
        all.push((
            "alpha-k-anonymity",
            vec![alpha(), ("k", count(2)), ("values", Value::Words(vec!["1".into(), "5".into()]))],
        ));
    }
    for p in 1..4 {
        all.push(("p-sensitive", vec![("p", count(p)), ("k", count(4))]));
    }
    all
}

fn bound(name: &str, given: &[(&str, Value)], data: &Dataset) -> Box<dyn BoundModel> {
    let given = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    PrivacyModel::new(name, given.collect::<Vec<_>>()).unwrap().model.bind(data).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn incremental_verdicts_agree_with_full_verdicts(
        others in prop::collection::vec(0usize..VALUES.len(), 0..40),
        steps in prop::collection::vec((0usize..VALUES.len(), 1u64..4, any::<bool>()), 1..30),
    ) {
            let first = (0..35).map(|at| VALUES[at % VALUES.len()]);
            let values = first.chain(others.iter().map(|&at| VALUES[at]));
            let records: Vec<_> = values.map(|value| vec![Some("q"), Some(value)]).collect();
        let folded = Folded::from_records(&["q", "s"], records, true);
        let hierarchy = HierarchySpec::Arx { name: "h".into(), text: TREE.into() };
        let sensitive = SensitiveSpec { hierarchy: Some(hierarchy), ..SensitiveSpec::default() };
        let data = Dataset::encode(folded, &[&ColumnSpec::default()], &[&sensitive], "?")
            .map_err(|e| e.misfit.error)
            .unwrap();
        for (name, given) in privacy_models() {
            let model = bound(name, &given, &data);
            let mut running = model.running().unwrap();
            let admits = |group: &GroupSummary| model.admits(group).holds;
            let presence = model.presence();
            let mut group = GroupSummary::empty(1);
            for &(at, records, remove) in &steps {
                let code = at as u32;
                let there = group.sensitive[0].get(code);
                if remove && there > 0 && there < group.records {
                    let records = records.min(there);
                    let mut without = group.clone();
                    without.records -= records;
                    without.sensitive[0].subtract(code, records);
                    let expected = admits(&without);
                    let admitted = running.admits_without(code, records);
                    prop_assert_eq!(admitted, expected, "{} {:?}", name, given);
                    running.remove(code, records);
                    group = without;
                } else if there + records <= data.whole().sensitive[0].get(code) {
                    // A group has no more records than the table.
                    let mut with = group.clone();
                    with.add(records, &[code]);
                    let expected = admits(&with);
                    let admitted = running.admits_with(code, records);
                    prop_assert_eq!(admitted, expected, "{} {:?}", name, given);
                    running.add(code, records);
                    group = with;
                }
                prop_assert_eq!(running.admits(), admits(&group), "{} {:?}", name, given);
                let counts: Vec<u64> =
                    (0..VALUES.len() as u32).map(|code| group.sensitive[0].get(code)).collect();
                let refused = running.refuses(&counts, group.records);
                prop_assert!(!refused || !admits(&group), "{} {:?}", name, given);
                // A group that lacks values is not admitted, and neither is any part of it.
                if let Some(presence) = presence.as_ref().filter(|_| group.records > 0) {
                    let entries = group.sensitive[0].entries().iter();
                    let bits = entries.fold(0, |bits, entry| bits | presence.bit(entry.0));
                    let enough = presence.suffices(bits);
                    prop_assert!(enough || !admits(&group), "{} {:?}", name, given);
                }
                let fewest = model.fewest_records();
                let possible = group.records == 0 || group.records >= fewest;
                prop_assert!(possible || !admits(&group), "{} {:?} {}", name, given, fewest);
            }
            running.clear();
            running.add(0, 3);
            let mut three = GroupSummary::empty(1);
            three.add(3, &[0]);
            prop_assert_eq!(running.admits(), admits(&three), "{} {:?}", name, given);
        }
    }
}
