//! Every model as it is typed, its parameters at their edges, and what is said where it cannot be kept.

use crate::room::{PEOPLE, Room};

/// The eight people with an income, twice, so that groups can be diverse.
fn room() -> Room {
    let room = Room::with_old_release();
    let incomes = ["0", "10", "20.5", "30", "40", "50", "60", "1e2"];
    let lines = PEOPLE.lines().skip(1).zip(incomes).map(|(line, income)| format!("{line},{income}\n"));
    let people: String = lines.collect();
    room.write("people.csv", format!("name,age,zip,disease,income\n{people}{people}"));
    room.write(
        "population.csv",
        format!("age,zip\n{}", "34,02139\n51,02140\n22,90210\n67,90213\n".repeat(8)),
    );
    room.write("disease.csv", "flu;viral;*\ncold;viral;*\ngout;other;*\nnone;other;*\n");
    room
}

const TABLE: &str = "anonymize people.csv -o out.csv --quasi age,zip --sensitive disease,income";

/// Refuses these flags; nothing is written.
fn refuses(flags: &str, code: i32, says: &[&str]) {
    room().refuses(&format!("{TABLE} {flags}")).exits(code).says(says);
}

/// Every model with options, a stronger form of it that its release breaks, and what verifying needs beside the manifest.
const KEPT: &[(&str, &str, &str)] = &[
    ("k-anonymity:k=2", "k-anonymity:k=17", ""),
    ("l-diversity:l=2,on=disease", "l-diversity:l=5,on=disease", ""),
    ("l-diversity:l=2,kind=entropy,on=disease", "l-diversity:l=5,kind=entropy,on=disease", ""),
    ("l-diversity:l=2,kind=recursive,c=3,on=disease", "l-diversity:l=5,kind=recursive,c=3,on=disease", ""),
    ("l-diversity:l=2,kind=frequency,on=disease", "l-diversity:l=5,kind=frequency,on=disease", ""),
    ("t-closeness:t=0.5,on=disease", "t-closeness:t=0.001,on=disease", ""),
    ("t-closeness:t=0.5,distance=ordered,on=income", "t-closeness:t=0.001,distance=ordered,on=income", ""),
    (
        "t-closeness:t=0.5,distance=hierarchical,on=disease",
        "t-closeness:t=0.001,distance=hierarchical,on=disease",
        "--hierarchy disease=disease.csv",
    ),
    ("alpha-k-anonymity:alpha=0.5,k=2,on=disease", "alpha-k-anonymity:alpha=0.1,k=2,on=disease", ""),
    (
        "alpha-k-anonymity:alpha=0.5,k=2,values=flu,gout,on=disease",
        "alpha-k-anonymity:alpha=0.1,k=2,values=flu,gout,on=disease",
        "",
    ),
    ("k-e-anonymity:k=2,e=10,on=income", "k-e-anonymity:k=2,e=101,on=income", ""),
    ("epsilon-m-anonymity:epsilon=5,m=2,on=income", "epsilon-m-anonymity:epsilon=100,m=2,on=income", ""),
    ("beta-likeness:beta=2,on=disease", "beta-likeness:beta=0.001,on=disease", ""),
    ("beta-likeness:beta=2,kind=basic,on=disease", "beta-likeness:beta=0.001,kind=basic,on=disease", ""),
    ("delta-disclosure:delta=1.5,on=income", "delta-disclosure:delta=0,on=income", ""),
    ("k-map:k=4", "k-map:k=40", "--population population.csv"),
    ("delta-presence:delta_max=0.9", "delta-presence:delta_max=0.01", "--population population.csv"),
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

/// What making a release needs beside, and what judging it does.
fn apart(kept: &str) -> (&'static str, &'static str) {
    match kept.split(':').next() {
        Some("plain-k-anonymity") => ("--algorithm expc-plus --suppression-limit 1", "--original people.csv"),
        _ => ("", ""),
    }
}

#[test]
fn every_release_is_verified_from_its_manifest_and_fails_a_stronger_promise() {
    for card in incrowd::model::MODELS {
        let named = KEPT.iter().any(|(kept, ..)| kept.split(':').next() == Some(card.name));
        assert!(
            named,
            "`{}`: add a promise, a stronger one and its flags to `KEPT` of {}",
            card.name,
            file!()
        );
    }
    for (kept, stronger, beside) in KEPT {
        let room = room();
        // A loose grouping, so that models which compare groups with the whole have something to say.
        let (making, judging) = apart(kept);
        let done = room.does(&format!("{TABLE} --model {kept} {beside} {making}"));
        let beside = format!("{beside} {judging}");
        let title = kept.split(':').next().unwrap();
        done.prints(&[title, "holds", "cost "]);
        let verified = room.does(&format!("verify out.csv {beside}"));
        verified.prints(&[title, "holds", "digest   matches the manifest"]);
        let json = room.does(&format!("verify out.csv {beside} --json")).json();
        assert_eq!(json["models"][0]["holds"], true, "{kept}");
        let manifest = room.json("out.release.json");
        assert_eq!(json["models"], manifest["models"], "{kept}");
        let failed = room.run(&format!("verify out.csv {beside} --model {stronger}")).exits(1);
        failed.prints(&[title, "FAILS"]);
    }
}

#[test]
fn a_population_is_asked_for_where_it_is_needed() {
    for model in ["k-map:k=2", "delta-presence:delta_max=0.5"] {
        let says = &["needs a population table", "(--population)"];
        refuses(&format!("--model {model}"), 2, says);
    }
    let room = room();
    room.does(&format!("{TABLE} --model k-map:k=4 --population population.csv"));
    room.refuses("verify out.csv").exits(2).says(&["`k-map` needs a population table", "--population"]);
    room.write("lacking.csv", "age\n3\n");
    let lacking = format!("{TABLE} --model k-map:k=2 --population lacking.csv");
    room.refuses(&lacking).exits(2).says(&["the population table has no column `zip`"]);
    room.write("strange.csv", "age,zip\nS3CR3T,02139\n");
    let strange = format!("{TABLE} --model k-map:k=1 --population strange.csv");
    room.refuses(&strange).exits(2).says(&["the population table", "column `age`"]);
    room.write("empty.csv", "age,zip\n");
    let empty = format!("{TABLE} --model k-map:k=1 --population empty.csv");
    room.refuses(&empty).exits(2).says(&["the population table has no records"]);
}

/// Labels that cannot be read would cover nobody, and a promise that is kept would seem broken.
#[test]
fn people_are_counted_with_the_hierarchies_of_the_release() {
    let room = room();
    room.write("h/zip.csv", "02139;021;*\n02140;021;*\n02141;021;*\n90210;902;*\n90211;902;*\n90213;902;*\n");
    room.does(&format!("{TABLE} --model k-map:k=9 --population population.csv --hierarchies h"));
    let bare = "verify out.csv --population population.csv";
    let says = &["column `zip` was generalized along a hierarchy", "(--hierarchy)"];
    room.refuses(bare).exits(2).says(says);
    room.does(&format!("{bare} --hierarchies h")).prints(&["k-map(k=9)   holds"]);
    room.does(&format!("{bare} --hierarchy zip=h/zip.csv")).prints(&["k-map(k=9)   holds"]);
}

/// Whether people who lack a value count is a matter of the release, and its manifest says so.
#[test]
fn people_without_a_value_count_where_such_records_are_kept() {
    let room = room();
    room.write("gaps.csv", "age,zip\n?,02139\n?,02139\n40,90210\n?,90210\n");
    room.write("people.csv", "age,zip\n?,02139\n40,90210\n");
    room.does("anonymize people.csv -o out.csv --quasi age,zip --on-missing keep --model k-map:k=4 --population gaps.csv");
    room.does("verify out.csv --population gaps.csv").prints(&["fewest people covered by a record 4"]);
    let dropped = room.run("verify out.csv --population gaps.csv --on-missing drop").exits(1);
    dropped.prints(&["FAILS   fewest people covered by a record 1, needs 4"]);
}

#[test]
fn a_population_that_is_too_small_is_refused_with_the_number() {
    let room = room();
    room.write("small.csv", "age,zip\n34,02139\n35,02139\n");
    let typed = |model: &str| format!("{TABLE} --model {model} --population small.csv");
    let says = &["k-map(k=3) cannot be kept", "is 2, and 3 is needed"];
    room.refuses(&typed("k-map:k=3")).exits(1).says(says);
    let says = &["cannot be kept", "greatest probability of presence is 8, and 0.5 is needed"];
    room.refuses(&typed("delta-presence:delta_max=0.5")).exits(1).says(says);
}

#[test]
fn people_whom_no_cell_could_cover_break_a_least_probability() {
    let room = room();
    room.write("wide.csv", format!("age,zip\n{}150,02139\n", "34,02139\n".repeat(40)));
    let typed = |min: &str| {
        format!("{TABLE} --model delta-presence:delta_min={min},delta_max=1 --population wide.csv")
    };
    let says = &["cannot be kept: 1 people of the population", "is 0, and 0.1 is needed"];
    room.refuses(&typed("0.1")).exits(1).says(says);
    room.does(&typed("0"));
}

#[test]
fn what_no_grouping_keeps_is_refused_with_the_number_that_fails() {
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
        let says = [format!("is {have}, and {need} is needed"), "cannot be kept".to_owned()];
        refuses(&format!("--model {model}"), 1, &[&says[0], &says[1]]);
    }
}

#[test]
fn the_strongest_promises_put_everybody_into_one_group_or_divide_evenly() {
    for (model, groups) in [
        ("k-anonymity:k=16", "1 group"),
        ("l-diversity:l=4,on=disease", "1 group"),
        ("alpha-k-anonymity:alpha=1,k=16,on=disease", "1 group"),
        ("epsilon-m-anonymity:epsilon=0,m=8,on=income", "1 group"),
    ] {
        let done = room().does(&format!("{TABLE} --model {model}"));
        assert!(done.stdout.contains(&format!("16 of 16 records in {groups}")), "{done}");
    }
    // Two people of each kind can be divided without changing any share.
    let room = room();
    room.write(
        "even.csv",
        format!("age,zip,disease\n{}", "1,a,flu\n1,a,cold\n9,b,flu\n9,b,cold\n".repeat(3)),
    );
    for model in
        ["t-closeness:t=0", "beta-likeness:beta=0", "l-diversity:l=2,kind=entropy", "l-diversity:l=1"]
    {
        let typed =
            format!("anonymize even.csv -o even.out.csv --quasi age,zip --sensitive disease --model {model}");
        let done = room.does(&typed);
        assert!(done.stdout.contains("12 of 12 records in 2 groups"), "{done}");
    }
}

#[test]
fn a_constant_sensitive_column() {
    let room = room();
    room.write("flat.csv", format!("age,disease,income\n{}", "1,flu,7\n2,flu,7\n3,flu,7\n4,flu,7\n"));
    let run = |model: &str| {
        room.run(&format!(
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
        run(model).exits(1).says(&["cannot be kept", number]);
    }
}

#[test]
fn numbers_that_are_none_are_one_clear_error() {
    for bad in ["NaN", "nan", "inf", "-inf", "Infinity", "1e999", "S3CR3T"] {
        let room = room();
        let people = room.text("people.csv").replacen("20.5", bad, 1);
        room.write("people.csv", people);
        for model in [
            "k-e-anonymity:k=2,e=1",
            "epsilon-m-anonymity:epsilon=1,m=2",
            "t-closeness:t=0.9,distance=ordered",
        ] {
            let typed = format!("{TABLE} --model {model},on=income");
            let says = ["column `income` is not numeric"];
            room.refuses(&typed).exits(2).says(&says);
            let stated = format!("{typed} --kind income=numeric");
            room.refuses(&stated).exits(2).says(&["column `income`", "record 3"]);
        }
        // To a model that counts values it is one.
        room.does(&format!("{TABLE} --model l-diversity:l=2,on=income"));
    }
}

#[test]
fn missing_sensitive_values_are_dropped_or_kept() {
    let room = room();
    room.write("people.csv", room.text("people.csv").replacen("20.5", "?", 1).replacen("cold", "NA", 1));
    let typed = |more: &str| format!("{TABLE} {more}");
    room.does(&typed("--model k-e-anonymity:k=2,e=1,on=income")).prints(&["14 of 16 records"]);
    let kept = typed("--on-missing keep --model k-e-anonymity:k=2,e=1,on=income");
    room.refuses(&kept).exits(2).says(&["column `income` has missing values", "on_missing = \"drop\""]);
    for model in [
        "l-diversity:l=2,on=income",
        "t-closeness:t=0.9,distance=hierarchical,on=disease",
        "delta-disclosure:delta=9,on=disease",
    ] {
        let flags = "--on-missing keep --kind income=numeric --hierarchy disease=disease.csv";
        room.does(&typed(&format!("{flags} --model {model}"))).prints(&["16 of 16 records"]);
        room.does("verify out.csv --hierarchy disease=disease.csv").prints(&["holds", "digest   matches"]);
    }
}

#[test]
fn the_column_a_promise_is_about() {
    let one = "anonymize people.csv -o out.csv --quasi age,zip --sensitive disease --model l-diversity:l=2";
    let two = &format!("{TABLE} --model l-diversity:l=2");
    let none = "anonymize people.csv -o out.csv --quasi age,zip --model l-diversity:l=2";
    let room = room();
    room.does(one).prints(&["l-diversity(kind=distinct, l=2, on=disease)"]);
    room.does(&format!("{two},on=income")).prints(&["on=income"]);
    let both = format!("{two},on=income --model alpha-k-anonymity:alpha=0.6,k=2,on=disease");
    room.does(&both).prints(&["on=income", "on=disease"]);
    let room = Room::with_old_release();
    let says = &["which sensitive column is `l-diversity` about?", "add `on`, one of: age, disease"];
    room.refuses(
        "anonymize people.csv -o out.csv --quasi zip --sensitive disease,age --model l-diversity:l=2",
    )
    .exits(2)
    .says(says);
    room.refuses(none).exits(2).says(&["`l-diversity` needs a sensitive column, and there is none"]);
    let says =
        &["`l-diversity` is about `diseas`, which is not a sensitive column", "did you mean `disease`?"];
    room.refuses(&format!("{one},on=diseas")).exits(2).says(says);
    room.refuses(&format!("{one},on=age"))
        .exits(2)
        .says(&["is about `age`, which is not a sensitive column"]);
}

#[test]
fn parameters_that_do_not_go_together() {
    refuses("--model l-diversity:l=2,kind=recursive,on=disease", 2, &["kind = \"recursive\" needs `c`"]);
    refuses("--model l-diversity:l=2,c=3,on=disease", 2, &["`c` goes with kind = \"recursive\" only"]);
    let presence = "--model delta-presence:delta_min=0.5,delta_max=0.4 --population population.csv";
    refuses(presence, 2, &["delta_min = 0.5 is greater than delta_max = 0.4"]);
    let hierarchical = "--model t-closeness:t=0.5,distance=hierarchical,on=disease";
    refuses(hierarchical, 2, &["column `disease` has no hierarchy", "hierarchy = \"disease.csv\""]);
    let says = &["column `disease` is not numeric", "order needs numbers, dates, or a hierarchy"];
    refuses("--model t-closeness:t=0.5,distance=ordered,on=disease", 2, says);
    refuses("--model k-e-anonymity:k=2,e=1,on=disease", 2, &["column `disease` is not numeric"]);
    let relaxed =
        "--algorithm mondrian --set cut=relaxed --model epsilon-m-anonymity:epsilon=1,m=2,on=income";
    refuses(relaxed, 2, &["cannot be used with `epsilon-m-anonymity`", "strict"]);
    let misspelled = "--model alpha-k-anonymity:alpha=0.5,k=2,values=flu,gaut,on=disease";
    refuses(misspelled, 2, &["no record has `gaut` in column `disease`"]);
}

#[test]
fn parameters_out_of_range() {
    for (model, says) in [
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
        refuses(&format!("--model {model}"), 2, &["cannot be", says]);
    }
}

#[test]
fn a_misspelled_value_is_not_verified_as_kept() {
    let room = room();
    room.does(&format!("{TABLE} --model alpha-k-anonymity:alpha=0.5,k=2,values=flu,on=disease"));
    let typed = "verify out.csv --model alpha-k-anonymity:alpha=0.5,k=2,values=Flu,on=disease";
    room.refuses(typed).exits(2).says(&["no record has `Flu` in column `disease`"]);
}
