//! Every model on the command line, the limits of its parameters, and its errors.

use crate::test_dir::{PEOPLE, TestDir};

/// The eight people with an income, twice, so that groups can be diverse.
fn setup() -> TestDir {
    let test = TestDir::with_old_release();
    let incomes = ["0", "10", "20.5", "30", "40", "50", "60", "1e2"];
    let lines =
        PEOPLE.lines().skip(1).zip(incomes).map(|(line, income)| format!("{line},{income}\n"));
    let people: String = lines.collect();
    test.write("people.csv", format!("name,age,zip,disease,income\n{people}{people}"));
    test.write(
        "population.csv",
        format!("age,zip\n{}", "34,02139\n51,02140\n22,90210\n67,90213\n".repeat(8)),
    );
    test.write("disease.csv", "flu;viral;*\ncold;viral;*\ngout;other;*\nnone;other;*\n");
    test
}

const TABLE: &str = "anonymize people.csv -o out.csv --quasi age,zip --sensitive disease,income";

/// Checks that these flags are refused and nothing is written.
fn refuses(flags: &str, code: i32, expected: &[&str]) {
    setup().refuses(&format!("{TABLE} {flags}")).exits(code).reports(expected);
}

/// Every model with options, a stronger form that its release violates, and the additional
/// arguments of `verify`.
const KEPT: &[(&str, &str, &str)] = &[
    ("k-anonymity:k=2", "k-anonymity:k=17", ""),
    ("l-diversity:l=2,on=disease", "l-diversity:l=5,on=disease", ""),
    ("l-diversity:l=2,kind=entropy,on=disease", "l-diversity:l=5,kind=entropy,on=disease", ""),
    (
        "l-diversity:l=2,kind=recursive,c=3,on=disease",
        "l-diversity:l=5,kind=recursive,c=3,on=disease",
        "",
    ),
    ("l-diversity:l=2,kind=frequency,on=disease", "l-diversity:l=5,kind=frequency,on=disease", ""),
    ("t-closeness:t=0.5,on=disease", "t-closeness:t=0.001,on=disease", ""),
    (
        "t-closeness:t=0.5,distance=ordered,on=income",
        "t-closeness:t=0.001,distance=ordered,on=income",
        "",
    ),
    (
        "t-closeness:t=0.5,distance=hierarchical,on=disease",
        "t-closeness:t=0.001,distance=hierarchical,on=disease",
        "--hierarchy disease=disease.csv",
    ),
    (
        "alpha-k-anonymity:alpha=0.5,k=2,on=disease",
        "alpha-k-anonymity:alpha=0.1,k=2,on=disease",
        "",
    ),
    (
        "alpha-k-anonymity:alpha=0.5,k=2,values=flu,gout,on=disease",
        "alpha-k-anonymity:alpha=0.1,k=2,values=flu,gout,on=disease",
        "",
    ),
    ("k-e-anonymity:k=2,e=10,on=income", "k-e-anonymity:k=2,e=101,on=income", ""),
    (
        "epsilon-m-anonymity:epsilon=5,m=2,on=income",
        "epsilon-m-anonymity:epsilon=100,m=2,on=income",
        "",
    ),
    ("beta-likeness:beta=2,on=disease", "beta-likeness:beta=0.001,on=disease", ""),
    (
        "beta-likeness:beta=2,kind=basic,on=disease",
        "beta-likeness:beta=0.001,kind=basic,on=disease",
        "",
    ),
    ("delta-disclosure:delta=1.5,on=income", "delta-disclosure:delta=0,on=income", ""),
    ("k-map:k=4", "k-map:k=40", "--population population.csv"),
    (
        "delta-presence:delta_max=0.9",
        "delta-presence:delta_max=0.01",
        "--population population.csv",
    ),
    ("p-sensitive:p=2,k=3,on=disease", "p-sensitive:p=2,k=17,on=disease", ""),
    (
        "p-alpha-sensitive:p=2,alpha=1,k=3,on=disease",
        "p-alpha-sensitive:p=2,alpha=99,k=3,on=disease",
        "--category disease:top=flu,gout --category disease:low=cold,none",
    ),
    (
        "p-plus-alpha-sensitive:p=2,alpha=1,k=3,max_category_share=0.9,on=disease",
        "p-plus-alpha-sensitive:p=2,alpha=1,k=3,max_category_share=0.1,on=disease",
        "--category disease:top=flu,gout --category disease:low=cold,none",
    ),
    (
        "plain-k-anonymity:k=2,p=0.9,d=0.5,distance_attributes=age,on=income",
        "plain-k-anonymity:k=9,p=0.9,d=0.5,distance_attributes=age,on=income",
        "",
    ),
];

/// Returns the additional arguments for making and for verifying a release.
fn apart(kept: &str) -> (&'static str, &'static str) {
    match kept.split(':').next() {
        Some("plain-k-anonymity") => {
            ("--algorithm expc-plus --suppression-limit 1", "--original people.csv")
        }
        _ => ("", ""),
    }
}

#[test]
fn every_release_is_verified_from_its_manifest_and_fails_a_stronger_model() {
    for card in incrowd::model::MODELS {
        let named = KEPT.iter().any(|(kept, ..)| kept.split(':').next() == Some(card.name));
        assert!(
            named,
            "`{}`: add a model, a stronger one and its flags to `KEPT` of {}",
            card.name,
            file!()
        );
    }
    for (kept, stronger, further) in KEPT {
        let test = setup();
        // A coarse grouping, so that models that compare groups with the whole table apply.
        let (making, judging) = apart(kept);
        let done = test.succeeds(&format!("{TABLE} --model {kept} {further} {making}"));
        let further = format!("{further} {judging}");
        let title = kept.split(':').next().unwrap();
        done.prints(&[title, "holds", "cost "]);
        let verified = test.succeeds(&format!("verify out.csv {further}"));
        verified.prints(&[title, "holds", "digest   matches the manifest"]);
        let json = test.succeeds(&format!("verify out.csv {further} --json")).json();
        assert_eq!(json["models"][0]["holds"], true, "{kept}");
        let manifest = test.json("out.release.json");
        assert_eq!(json["models"], manifest["models"], "{kept}");
        let failed = test.run(&format!("verify out.csv {further} --model {stronger}")).exits(1);
        failed.prints(&[title, "FAILS"]);
    }
}

#[test]
fn a_missing_population_is_an_error() {
    for model in ["k-map:k=2", "delta-presence:delta_max=0.5"] {
        let expected = &["needs a population table", "(--population)"];
        refuses(&format!("--model {model}"), 2, expected);
    }
    let test = setup();
    test.succeeds(&format!("{TABLE} --model k-map:k=4 --population population.csv"));
    test.refuses("verify out.csv")
        .exits(2)
        .reports(&["`k-map` needs a population table", "--population"]);
    test.write("lacking.csv", "age\n3\n");
    let lacking = format!("{TABLE} --model k-map:k=2 --population lacking.csv");
    test.refuses(&lacking).exits(2).reports(&["the population table has no column `zip`"]);
    test.write("strange.csv", "age,zip\nS3CR3T,02139\n");
    let strange = format!("{TABLE} --model k-map:k=1 --population strange.csv");
    test.refuses(&strange).exits(2).reports(&["the population table", "column `age`"]);
    test.write("empty.csv", "age,zip\n");
    let empty = format!("{TABLE} --model k-map:k=1 --population empty.csv");
    test.refuses(&empty).exits(2).reports(&["the population table has no records"]);
}

/// Labels that cannot be parsed would cover no person, and a model would seem to fail.
#[test]
fn people_are_counted_with_the_hierarchies_of_the_release() {
    let test = setup();
    test.write(
        "h/zip.csv",
        "02139;021;*\n02140;021;*\n02141;021;*\n90210;902;*\n90211;902;*\n90213;902;*\n",
    );
    test.succeeds(&format!(
        "{TABLE} --model k-map:k=9 --population population.csv --hierarchies h"
    ));
    let bare = "verify out.csv --population population.csv";
    let expected = &["column `zip` was generalized along a hierarchy", "(--hierarchy)"];
    test.refuses(bare).exits(2).reports(expected);
    test.succeeds(&format!("{bare} --hierarchies h")).prints(&["k-map(k=9)   holds"]);
    test.succeeds(&format!("{bare} --hierarchy zip=h/zip.csv")).prints(&["k-map(k=9)   holds"]);
}

/// Whether people with missing values count depends on the release, and its manifest states it.
#[test]
fn people_without_a_value_count_where_such_records_are_kept() {
    let test = setup();
    test.write("gaps.csv", "age,zip\n?,02139\n?,02139\n40,90210\n?,90210\n");
    test.write("people.csv", "age,zip\n?,02139\n40,90210\n");
    test.succeeds("anonymize people.csv -o out.csv --quasi age,zip --on-missing keep --model k-map:k=4 --population gaps.csv");
    test.succeeds("verify out.csv --population gaps.csv")
        .prints(&["fewest people covered by a record 4"]);
    let dropped = test.run("verify out.csv --population gaps.csv --on-missing drop").exits(1);
    dropped.prints(&["FAILS   fewest people covered by a record 1, needs 4"]);
}

#[test]
fn a_population_that_is_too_small_is_refused_with_the_number() {
    let test = setup();
    test.write("small.csv", "age,zip\n34,02139\n35,02139\n");
    let args = |model: &str| format!("{TABLE} --model {model} --population small.csv");
    let expected = &["k-map(k=3) cannot be satisfied", "is 2, and 3 is needed"];
    test.refuses(&args("k-map:k=3")).exits(1).reports(expected);
    let expected =
        &["cannot be satisfied", "greatest probability of presence is 8, and 0.5 is needed"];
    test.refuses(&args("delta-presence:delta_max=0.5")).exits(1).reports(expected);
}

#[test]
fn people_that_no_cell_covers_violate_a_minimum_probability() {
    let test = setup();
    test.write("wide.csv", format!("age,zip\n{}150,02139\n", "34,02139\n".repeat(40)));
    let args = |min: &str| {
        format!("{TABLE} --model delta-presence:delta_min={min},delta_max=1 --population wide.csv")
    };
    let expected = &["cannot be satisfied: 1 people of the population", "is 0, and 0.1 is needed"];
    test.refuses(&args("0.1")).exits(1).reports(expected);
    test.succeeds(&args("0"));
}

#[test]
fn an_unreachable_model_is_refused_with_the_number_that_fails() {
    for (model, have, need) in [
        ("l-diversity:l=5,on=disease", "4", "5"),
        ("p-sensitive:p=5,k=2,on=disease", "4", "5"),
        ("p-sensitive:p=2,k=17,on=disease", "16", "17"),
        ("k-anonymity:k=17", "16", "17"),
        ("k-e-anonymity:k=9,e=1,on=income", "8", "9"),
        ("k-e-anonymity:k=2,e=100.5,on=income", "100", "100.5"),
        ("alpha-k-anonymity:alpha=0.2,k=2,on=disease", "0.375", "0.2"),
        ("alpha-k-anonymity:alpha=0,k=2,on=disease", "0.375", "0"),
        ("epsilon-m-anonymity:epsilon=0,m=9,on=income", "0.125", "0.111111"),
        ("delta-disclosure:delta=0,on=disease", "0", "0"),
    ] {
        let expected =
            [format!("is {have}, and {need} is needed"), "cannot be satisfied".to_owned()];
        refuses(&format!("--model {model}"), 1, &[&expected[0], &expected[1]]);
    }
}

#[test]
fn the_strongest_models_need_one_group_or_even_splits() {
    for (model, groups) in [
        ("k-anonymity:k=16", "1 group"),
        ("l-diversity:l=4,on=disease", "1 group"),
        ("alpha-k-anonymity:alpha=1,k=16,on=disease", "1 group"),
        ("epsilon-m-anonymity:epsilon=0,m=8,on=income", "1 group"),
    ] {
        let done = setup().succeeds(&format!("{TABLE} --model {model}"));
        assert!(done.stdout.contains(&format!("16 of 16 records in {groups}")), "{done}");
    }
    // Two people of each kind can be divided without changing any share.
    let test = setup();
    test.write(
        "even.csv",
        format!("age,zip,disease\n{}", "1,a,flu\n1,a,cold\n9,b,flu\n9,b,cold\n".repeat(3)),
    );
    for model in [
        "t-closeness:t=0",
        "beta-likeness:beta=0",
        "l-diversity:l=2,kind=entropy",
        "l-diversity:l=1",
    ] {
        let args = format!(
            "anonymize even.csv -o even.out.csv --quasi age,zip --sensitive disease --model {model}"
        );
        let done = test.succeeds(&args);
        assert!(done.stdout.contains("12 of 12 records in 2 groups"), "{done}");
    }
}

#[test]
fn a_constant_sensitive_column() {
    let test = setup();
    test.write(
        "flat.csv",
        format!("age,disease,income\n{}", "1,flu,7\n2,flu,7\n3,flu,7\n4,flu,7\n"),
    );
    let run = |model: &str| {
        test.run(&format!(
            "anonymize flat.csv -o flat.out.csv --quasi age --sensitive disease,income --model {model}"
        ))
    };
    for model in [
        "t-closeness:t=0,on=disease",
        "t-closeness:t=0,distance=ordered,on=income",
        "beta-likeness:beta=0,on=disease",
        "delta-disclosure:delta=0.1,on=disease",
        "l-diversity:l=1,kind=entropy,on=disease",
        "alpha-k-anonymity:alpha=1,k=1,on=disease",
        "k-e-anonymity:k=1,e=0,on=income",
        "epsilon-m-anonymity:epsilon=0,m=1,on=income",
    ] {
        run(model).exits(0).prints(&["4 of 4 records in 4 groups", "holds"]);
    }
    for (model, number) in [
        ("l-diversity:l=2,on=disease", "is 1, and 2 is needed"),
        ("alpha-k-anonymity:alpha=0.99,k=1,on=disease", "is 1, and 0.99 is needed"),
        ("k-e-anonymity:k=1,e=1,on=income", "is 0, and 1 is needed"),
        ("epsilon-m-anonymity:epsilon=0,m=2,on=income", "is 1, and 0.5 is needed"),
    ] {
        run(model).exits(1).reports(&["cannot be satisfied", number]);
    }
}

#[test]
fn invalid_numbers_give_one_clear_error() {
    for bad in ["NaN", "nan", "inf", "-inf", "Infinity", "1e999", "S3CR3T"] {
        let test = setup();
        let people = test.text("people.csv").replacen("20.5", bad, 1);
        test.write("people.csv", people);
        for model in [
            "k-e-anonymity:k=2,e=1",
            "epsilon-m-anonymity:epsilon=1,m=2",
            "t-closeness:t=0.9,distance=ordered",
        ] {
            let args = format!("{TABLE} --model {model},on=income");
            let expected = ["column `income` is not numeric"];
            test.refuses(&args).exits(2).reports(&expected);
            let stated = format!("{args} --kind income=numeric");
            test.refuses(&stated).exits(2).reports(&["column `income`", "record 3"]);
        }
        // A model that counts values treats it as one value.
        test.succeeds(&format!("{TABLE} --model l-diversity:l=2,on=income"));
    }
}

#[test]
fn missing_sensitive_values_are_dropped_or_kept() {
    let test = setup();
    test.write(
        "people.csv",
        test.text("people.csv").replacen("20.5", "?", 1).replacen("cold", "NA", 1),
    );
    let args = |more: &str| format!("{TABLE} {more}");
    test.succeeds(&args("--model k-e-anonymity:k=2,e=1,on=income")).prints(&["14 of 16 records"]);
    let kept = args("--on-missing keep --model k-e-anonymity:k=2,e=1,on=income");
    test.refuses(&kept)
        .exits(2)
        .reports(&["column `income` has missing values", "on_missing = \"drop\""]);
    for model in [
        "l-diversity:l=2,on=income",
        "t-closeness:t=0.9,distance=hierarchical,on=disease",
        "delta-disclosure:delta=9,on=disease",
    ] {
        let flags = "--on-missing keep --kind income=numeric --hierarchy disease=disease.csv";
        test.succeeds(&args(&format!("{flags} --model {model}"))).prints(&["16 of 16 records"]);
        test.succeeds("verify out.csv --hierarchy disease=disease.csv")
            .prints(&["holds", "digest   matches"]);
    }
}

#[test]
fn the_column_of_a_model() {
    let one = "anonymize people.csv -o out.csv --quasi age,zip --sensitive disease --model l-diversity:l=2";
    let two = &format!("{TABLE} --model l-diversity:l=2");
    let none = "anonymize people.csv -o out.csv --quasi age,zip --model l-diversity:l=2";
    let test = setup();
    test.succeeds(one).prints(&["l-diversity(kind=distinct, l=2, on=disease)"]);
    test.succeeds(&format!("{two},on=income")).prints(&["on=income"]);
    let both = format!("{two},on=income --model alpha-k-anonymity:alpha=0.6,k=2,on=disease");
    test.succeeds(&both).prints(&["on=income", "on=disease"]);
    let test = TestDir::with_old_release();
    let expected =
        &["which sensitive column is `l-diversity` about?", "add `on`, one of: age, disease"];
    test.refuses(
        "anonymize people.csv -o out.csv --quasi zip --sensitive disease,age --model l-diversity:l=2",
    )
    .exits(2)
    .reports(expected);
    test.refuses(none)
        .exits(2)
        .reports(&["`l-diversity` needs a sensitive column, and there is none"]);
    let expected = &[
        "`l-diversity` is about `diseas`, which is not a sensitive column",
        "did you mean `disease`?",
    ];
    test.refuses(&format!("{one},on=diseas")).exits(2).reports(expected);
    test.refuses(&format!("{one},on=age"))
        .exits(2)
        .reports(&["is about `age`, which is not a sensitive column"]);
}

#[test]
fn incompatible_parameters() {
    refuses(
        "--model l-diversity:l=2,kind=recursive,on=disease",
        2,
        &["kind = \"recursive\" needs `c`"],
    );
    refuses(
        "--model l-diversity:l=2,c=3,on=disease",
        2,
        &["`c` is used with kind = \"recursive\" only"],
    );
    let presence = "--model delta-presence:delta_min=0.5,delta_max=0.4 --population population.csv";
    refuses(presence, 2, &["delta_min = 0.5 is greater than delta_max = 0.4"]);
    let hierarchical = "--model t-closeness:t=0.5,distance=hierarchical,on=disease";
    refuses(hierarchical, 2, &["column `disease` has no hierarchy", "hierarchy = \"disease.csv\""]);
    let expected =
        &["column `disease` is not numeric", "an order needs numbers, dates, or a hierarchy"];
    refuses("--model t-closeness:t=0.5,distance=ordered,on=disease", 2, expected);
    refuses("--model k-e-anonymity:k=2,e=1,on=disease", 2, &["column `disease` is not numeric"]);
    let relaxed = "--algorithm mondrian --set cut=relaxed --model epsilon-m-anonymity:epsilon=1,m=2,on=income";
    refuses(relaxed, 2, &["cannot be used with `epsilon-m-anonymity`", "strict"]);
    let misspelled = "--model alpha-k-anonymity:alpha=0.5,k=2,values=flu,gaut,on=disease";
    refuses(misspelled, 2, &["no record has `gaut` in column `disease`"]);
}

#[test]
fn parameters_out_of_range() {
    for (model, expected) in [
        ("t-closeness:t=1.01,on=disease", "a number from 0 to 1"),
        ("t-closeness:t=-0.1,on=disease", "a number from 0 to 1"),
        ("t-closeness:t=nan,on=disease", "a number from 0 to 1"),
        ("l-diversity:l=0,on=disease", "a whole number, at least 1"),
        ("l-diversity:l=2.5,on=disease", "a whole number, at least 1"),
        ("alpha-k-anonymity:alpha=2,k=2,on=disease", "a number from 0 to 1"),
        ("epsilon-m-anonymity:epsilon=inf,m=2,on=income", "a number, at least 0"),
        ("epsilon-m-anonymity:epsilon=1,m=0,on=income", "a whole number, at least 1"),
        ("beta-likeness:beta=-1,on=disease", "a number, at least 0"),
        ("delta-disclosure:delta=x,on=disease", "a number, at least 0"),
        ("k-map:k=0", "a whole number, at least 1"),
    ] {
        refuses(&format!("--model {model}"), 2, &["cannot be", expected]);
    }
}

#[test]
fn a_misspelled_value_is_not_verified() {
    let test = setup();
    test.succeeds(&format!(
        "{TABLE} --model alpha-k-anonymity:alpha=0.5,k=2,values=flu,on=disease"
    ));
    let args = "verify out.csv --model alpha-k-anonymity:alpha=0.5,k=2,values=Flu,on=disease";
    test.refuses(args).exits(2).reports(&["no record has `Flu` in column `disease`"]);
}
