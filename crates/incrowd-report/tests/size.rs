//! The size of pages is bounded, and their texts are escaped.

use incrowd_report::{
    Association, Attack, ColumnCost, ColumnMoments, ColumnRisk, ComparisonData, Configuration,
    Cost, Exposed, Guarantee, Loss, Outcome, Owner, Public, Risk, Sample, SampleRecord, Sentence,
    Shape, ShapeKind, SizeBin, Tone, comparison_page, owner_page, public_page,
};

const COLUMNS: usize = 400;

fn long(i: usize) -> String {
    format!("{i} {}", "a value that goes on and on ".repeat(400))
}

fn shapes(before: bool) -> Vec<Shape> {
    let shares = |n: usize| vec![1.0 / n as f64; n];
    let shape = |i: usize| {
        let kind = if i.is_multiple_of(2) {
            let ends = (0..25).map(|e| e.to_string()).collect();
            ShapeKind::Numbers { ends, before: before.then(|| shares(24)), after: shares(24) }
        } else {
            ShapeKind::Labels {
                labels: (0..12).map(long).collect(),
                before: before.then(|| shares(12)),
                after: shares(12),
            }
        };
        Shape {
            column: format!("column {i}"),
            role: "quasi-identifier".into(),
            kind,
            note: String::new(),
        }
    };
    (0..COLUMNS).map(shape).collect()
}

fn public() -> Public {
    let attack = |i: usize| Attack {
        title: format!("homogeneity of column {i}"),
        measures: "chance".into(),
        worst: 1.0,
        average: 0.5,
        at_risk: 3,
        of: 10,
        people: "records".into(),
        alarm: "≥ 0.8".into(),
        bands: vec![("0".into(), 3), ("1".into(), 7)],
        notes: vec!["a note".into()],
    };
    let column = |i: usize| ColumnCost {
        name: format!("column {i}"),
        role: "quasi-identifier".into(),
        ncp: 0.3,
        loss: Some(Loss {
            cells: 9,
            entropy: 0.1,
            kl_divergence: f64::INFINITY,
            total_variation: 0.2,
        }),
    };
    let pairs = (0..COLUMNS).flat_map(|a| (a + 1..COLUMNS).map(move |b| (a, b)));
    let association = |(a, b): (usize, usize)| Association {
        columns: (format!("column {a}"), format!("column {b}")),
        original: 0.5,
        release: 0.4,
    };
    Public {
        release: "r.csv".into(),
        outcome: Outcome::Holds,
        singles_out: true,
        caution: None,
        records: 10,
        groups: 2,
        guarantees: vec![Guarantee {
            title: "k-anonymity(k=5)".into(),
            statement: "…".into(),
            limits: "…".into(),
            outcome: Outcome::Holds,
            measures: "smallest group".into(),
            have: 5.0,
            need: 5.0,
            margin: 0.0,
        }],
        sizes: vec![SizeBin { label: "5".into(), groups: 2, records: 10 }],
        attacks: (0..COLUMNS).map(attack).collect(),
        cost: Cost {
            columns: (0..COLUMNS).map(column).collect(),
            associations: pairs.map(association).collect(),
            ..Cost::default()
        },
        shapes: shapes(false),
        ..Public::default()
    }
}

#[test]
fn four_hundred_columns_fit_into_two_megabytes() {
    let page = public_page(&public());
    assert!(page.len() < 2_000_000, "{}", page.len());
    assert!(page.contains("more columns are not drawn") && page.contains("holds"));
    let risk = |i: usize| Risk {
        title: format!("homogeneity of column {i}"),
        measures: "chance".into(),
        alarm: "≥ 0.8".into(),
        bands: vec![("0".into(), 0.3, 0.7); 8],
        worst: (1.0, 0.5),
        average: (1.0, 0.5),
        share: (1.0, 0.5),
    };
    let exposed =
        |i: usize| Exposed { title: format!("attack {i}"), groups: vec![(1.0, 5, long(i)); 5] };
    let name = |i: usize| format!("column {i}");
    let pair = || ("1".to_owned(), "2".to_owned());
    let moments = |i: usize| ColumnMoments {
        name: name(i),
        mean: pair(),
        deviation: pair(),
        quartiles: (["1", "2", "3"].map(str::to_owned), ["1", "2", "3"].map(str::to_owned)),
    };
    let record = || SampleRecord {
        before: (0..COLUMNS).map(long).collect(),
        after: Some((0..COLUMNS).map(long).collect()),
        fitting: Some(10),
    };
    let owner = Owner {
        sample: Some(Sample {
            columns: (0..COLUMNS).map(name).collect(),
            records: (0..8).map(|_| record()).collect(),
        }),
        column_risks: (0..COLUMNS)
            .map(|i| ColumnRisk { name: name(i), unique: (3, 0), adds: (0.1, 0.0) })
            .collect(),
        moments: (0..COLUMNS).map(moments).collect(),
        risks: (0..COLUMNS).map(risk).collect(),
        exposed: (0..COLUMNS).map(exposed).collect(),
        shapes: shapes(true),
        lost: (0..COLUMNS).map(|i| (format!("column {i}"), 1)).collect(),
        ..Owner::default()
    };
    let page = owner_page(&owner);
    assert!(page.len() < 2_000_000, "{}", page.len());
}

#[test]
fn ten_thousand_configurations_fit_into_two_megabytes() {
    let configuration = |i: usize| Configuration {
        algorithm: format!("algorithm {}", i % 9),
        models: format!("k-anonymity(k={i}) + l-diversity(l=3)"),
        point: (!i.is_multiple_of(7)).then_some((1.0 / (i + 1) as f64, Some(0.3), i as f64 / 1e4)),
        counts: (!i.is_multiple_of(7)).then_some((4, 5, 6)),
        seconds: 0.1,
        front: i.is_multiple_of(10),
        chosen: i == 10,
        failed: i.is_multiple_of(7).then(|| "the whole table violates the model".to_owned()),
    };
    let compared = ComparisonData {
        baseline: (0.00001, Some(0.2), 1.0),
        configurations: (0..10_000).map(configuration).collect(),
        requested: 10_000,
        loss: "ncp".into(),
        ..ComparisonData::default()
    };
    let page = comparison_page(&compared);
    assert!(page.len() < 2_000_000, "{}", page.len());
    assert!(page.contains("more configurations are not shown"));
}

#[test]
fn texts_are_escaped() {
    let mut data = public();
    data.release = "<script>alert(1)</script>".into();
    data.shapes = vec![Shape {
        column: "<b>".into(),
        role: "sensitive".into(),
        kind: ShapeKind::Labels {
            labels: vec!["<img src=x>".into()],
            before: None,
            after: vec![1.0],
        },
        note: String::new(),
    }];
    let page = public_page(&data);
    assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("<b>("));
    assert!(page.contains("&lt;script&gt;"));
    assert_eq!(
        format!("{:?}", data.shapes[0]),
        "Shape { column: \"<b>\", .. }",
        "no cell reaches a log"
    );
}

#[test]
fn a_successful_attack_makes_the_verdict_amber() {
    let finding = |tone| Sentence {
        text: "Income can be guessed.".into(),
        more: "More than guessing.".into(),
        tone,
    };
    let page = |tone| {
        owner_page(&Owner {
            outcome: Outcome::Holds,
            sentences: vec![finding(tone)],
            ..Owner::default()
        })
    };
    let (good, amber) = (page(Tone::Good), page(Tone::Amber));
    for words in ["Income can be guessed.", "More than guessing."] {
        assert!(good.contains(words) && amber.contains(words));
    }
    assert!(amber.contains("class=\"verdict amber\"") && amber.contains("some attacks succeed"));
    assert!(
        !good.contains("class=\"verdict amber\"") && good.contains("no attack that ran succeeds")
    );
    let broken = owner_page(&Owner {
        outcome: Outcome::Fails,
        sentences: vec![finding(Tone::Amber)],
        ..Owner::default()
    });
    assert!(broken.contains("class=\"verdict bad\"") && broken.contains("violates its guarantees"));
}

#[test]
fn records_are_only_on_the_owners_page_and_not_in_debug_output() {
    let record = SampleRecord {
        before: vec!["4711".into()],
        after: Some(vec!["[4000, 5000]".into()]),
        fitting: Some(12),
    };
    let sample = Sample { columns: vec!["zip".into()], records: vec![record] };
    let owner = Owner { sample: Some(sample), ..Owner::default() };
    let page = owner_page(&owner);
    assert!(
        page.contains("4711")
            && page.contains("[4000, 5000]")
            && page.contains("For the data owner only: these are real people")
    );
    let logged = format!("{owner:?}");
    assert!(!logged.contains("4711") && !logged.contains("4000"), "{logged}");
}
