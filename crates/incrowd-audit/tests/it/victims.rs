//! Attacks on the examples of the papers, and on a planted victim who is found in the weak release
//! but not in the strong one.

use std::sync::LazyLock;

use crate::attack::{missing, run};
use crate::common::{Cells, folded};
use incrowd_audit::attack::{Adversary, Epsilon, External, Finding, Published};
use incrowd_core::{ColumnSpec, Folded};

fn rows(lines: &str) -> Vec<Cells> {
    let cells =
        |line: &str| line.trim().split('|').map(|cell| Some(cell.trim().to_owned())).collect();
    lines.trim().lines().map(cells).collect()
}

fn table(names: &[&str], lines: &str) -> Folded {
    folded(names, &rows(lines))
}

static SPECS: LazyLock<Vec<ColumnSpec>> = LazyLock::new(|| vec![ColumnSpec::default(); 2]);
static MISSING: LazyLock<Vec<String>> = LazyLock::new(missing);

/// Returns the findings of an attack on a release with two quasi-identifiers.
fn attack<'a>(name: &str, release: &'a Folded, set: impl Fn(&mut Adversary<'a>)) -> Vec<Finding> {
    let mut adversary = Adversary::new(Published::new(release, &SPECS), &MISSING);
    set(&mut adversary);
    run(name, &adversary, None).findings
}

const CONDITIONS: [&str; 3] = ["zip", "age", "condition"];

/// Ages as intervals, where the paper writes `< 30`, `3*` and `>= 40`.
const INPATIENTS: &str = "
    130** | [0, 29]   | Heart Disease
    130** | [0, 29]   | Heart Disease
    130** | [0, 29]   | Viral Infection
    130** | [0, 29]   | Viral Infection
    1485* | [40, 120] | Cancer
    1485* | [40, 120] | Heart Disease
    1485* | [40, 120] | Viral Infection
    1485* | [40, 120] | Viral Infection
    130** | [30, 39]  | Cancer
    130** | [30, 39]  | Cancer
    130** | [30, 39]  | Cancer
    130** | [30, 39]  | Cancer";

#[test]
fn homogeneity_on_the_inpatients_of_machanavajjhala2007() {
    let release = table(&CONDITIONS, INPATIENTS);
    let found = &attack("homogeneity", &release, |_| {})[0];
    // Bob is 31 and lives in 13068. All four records that match him have cancer.
    assert_eq!((found.worst, found.fact("certain"), found.at_risk), (1.0, Some(4.0), 4));
    assert_eq!(found.average, (8.0 * 0.5 + 4.0) / 12.0);
    assert_eq!(attack("prosecutor", &release, |_| {})[0].worst, 0.25);
}

/// Salaries in thousands.
const SALARIES: &str = "
    476** | [20, 29]  | 3
    476** | [20, 29]  | 4
    476** | [20, 29]  | 5
    4790* | [40, 120] | 6
    4790* | [40, 120] | 11
    4790* | [40, 120] | 8
    476** | [30, 39]  | 7
    476** | [30, 39]  | 9
    476** | [30, 39]  | 10";

#[test]
fn proximity_on_the_salaries_of_li2007() {
    let release = table(&["zip", "age", "salary"], SALARIES);
    let near = |adversary: &mut Adversary<'_>| {
        adversary.epsilon.insert("salary".into(), Epsilon::Absolute(1.0));
    };
    // All salaries differ, but Bob, who is in his twenties, earns between 3 and 5 thousand.
    assert_eq!(attack("homogeneity", &release, |_| {})[0].fact("certain"), Some(0.0));
    let found = &attack("proximity", &release, near)[0];
    assert_eq!((found.worst, found.fact("certain"), found.at_risk), (1.0, Some(3.0), 3));
    assert_eq!(found.by_group, [1.0, 2.0 / 3.0, 2.0 / 3.0]);
}

/// A second hospital, as in the introduction of the paper.
const HOSPITAL: &str = "
    130** | [0, 34]   | AIDS
    130** | [0, 34]   | Tuberculosis
    130** | [0, 34]   | Flu
    130** | [0, 34]   | Tuberculosis
    130** | [0, 34]   | Cancer
    130** | [0, 34]   | Cancer
    130** | [35, 120] | Cancer
    130** | [35, 120] | Cancer
    130** | [35, 120] | Tuberculosis
    130** | [35, 120] | Viral Infection
    130** | [35, 120] | Viral Infection";

#[test]
fn intersection_on_the_two_hospitals_of_ganta2008() {
    let first = table(&CONDITIONS, &INPATIENTS.replacen("Heart Disease", "AIDS", 1));
    let second = table(&CONDITIONS, HOSPITAL);
    let alice = table(&["age"], "28");
    let found = &attack("intersection", &first, |adversary| {
        adversary.second = Some(Published::new(&second, &SPECS));
        adversary.external = Some(External { table: &alice, further: 1 });
    })[0];
    // The three values of one release and the four of the other have one value in common.
    assert_eq!((found.at_risk, found.of, found.worst), (1, 1, 1.0));
    let safe = table(&CONDITIONS, &HOSPITAL.replace("Flu", "Viral Infection"));
    let found = &attack("intersection", &first, |adversary| {
        adversary.second = Some(Published::new(&safe, &SPECS));
        adversary.external = Some(External { table: &alice, further: 1 });
    })[0];
    assert_eq!((found.at_risk, found.of, found.worst), (0, 1, 0.5));
    // Without a table of people, the same pair of groups is the worst case.
    let found = &attack("intersection", &first, |adversary| {
        adversary.second = Some(Published::new(&second, &SPECS))
    })[0];
    assert_eq!((found.worst, found.by_group[0]), (1.0, 1.0));
    assert!(found.at_risk >= 1);
}

const NAMES: [&str; 3] = ["age", "sex", "income"];

/// The victim is the woman of 81. In the strong release she is in a larger group.
const WEAK: &str = "
    [20, 40] | f | 10
    [20, 40] | f | 20
    [20, 40] | m | 10
    [20, 40] | m | 30
    81       | f | 90";
const STRONG: &str = "
    [20, 81] | * | 10
    [20, 81] | * | 20
    [20, 81] | * | 10
    [20, 81] | * | 30
    [20, 81] | * | 90";
const TOWN: &str = "
    20 | f
    30 | f
    40 | f
    30 | m
    33 | m
    40 | m
    81 | f";

#[test]
fn a_planted_victim_is_found_in_the_weak_release_only() {
    let (town, voters) = (table(&NAMES[..2], TOWN), table(&NAMES[..2], "81 | f"));
    let (weakly, strongly) = (table(&NAMES, WEAK), table(&NAMES, STRONG));
    let worst = |name: &str, release, column: Option<&str>| {
        let findings = attack(name, release, |adversary| {
            adversary.set_population(Some(&town));
            adversary.external = Some(External { table: &voters, further: 2 });
            adversary.epsilon.insert("income".into(), Epsilon::Absolute(4.0));
        });
        findings.into_iter().find(|f| f.column.as_deref() == column).unwrap()
    };
    for (name, column) in [
        ("prosecutor", None),
        ("journalist", None),
        ("equijoin", None),
        ("equijoin", Some("income")),
        ("homogeneity", Some("income")),
        ("proximity", Some("income")),
    ] {
        let (weak, strong) = (worst(name, &weakly, column), worst(name, &strongly, column));
        let certain = |finding: &Finding| finding.bands.last().map(|band| band.people);
        assert_eq!((weak.worst, certain(&weak)), (1.0, Some(1)), "{name}");
        assert!(strong.worst < 0.5 && strong.by_group[0] < 0.5, "{name} {}", strong.worst);
    }
    let (weak, strong) = (worst("marketer", &weakly, None), worst("marketer", &strongly, None));
    // Two groups match three people each, and one group matches one person.
    assert!((weak.average - (4.0 / 3.0 + 1.0) / 5.0).abs() < 1e-12 && strong.average == 1.0 / 7.0);
    let (weak, strong) =
        (worst("skewness", &weakly, Some("income")), worst("skewness", &strongly, Some("income")));
    // One in five earns 90. In the weak release the victim does so for certain.
    assert_eq!((weak.worst, strong.worst, strong.at_risk), (5.0, 1.0, 0));
}

#[test]
fn proximity_needs_numbers() {
    for text in ["nan", "inf", "-inf", "1e999", "02139", "many"] {
        let release = table(&NAMES, &format!("1 | f | 10\n1 | f | {text}"));
        assert!(attack("proximity", &release, |_| {}).is_empty(), "{text}");
    }
    let constant = table(&NAMES, "1 | f | 10\n1 | f | 10\n2 | m | 10\n2 | m | ?");
    let found = &attack("proximity", &constant, |_| {})[0];
    // A single value is certain. A missing value is not near any guess.
    assert_eq!(
        (found.fact("epsilon"), found.fact("certain"), found.average),
        (Some(0.0), Some(2.0), 0.75)
    );
}

#[test]
fn without_sensitive_columns_only_linkage_attacks_run() {
    let release = table(&["age", "sex"], "1 | f\n1 | f");
    for (name, findings) in
        [("prosecutor", 1), ("homogeneity", 0), ("skewness", 0), ("proximity", 0)]
    {
        assert_eq!(attack(name, &release, |_| {}).len(), findings, "{name}");
    }
}
