//! Values with several spellings: missing values, numbers, blanks, persons, and numbers of many
//! digits.

use crate::test_dir::TestDir;

/// Returns the number of diseases that `verify` counts in a table of one group.
fn values(test: &TestDir, table: &str, more: &str) -> u64 {
    let asked = format!(
        "verify {table} --quasi zip --sensitive disease --model l-diversity:l=9,kind=distinct --json {more}"
    );
    let answer = test.run(&asked).json();
    assert_eq!(answer["models"].as_array().unwrap().len(), 1, "{answer}");
    answer["models"][0]["measured"]["have"].as_f64().unwrap() as u64
}

fn setup(diseases: &[&str]) -> TestDir {
    let test = TestDir::new();
    let records: String = diseases.iter().map(|disease| format!("A,{disease}\n")).collect();
    test.write("t.csv", format!("zip,disease\n{records}"));
    test
}

#[test]
fn verify_and_attack_use_the_missing_markers_of_anonymize() {
    let test = setup(&["?", "NA", "", "flu"]);
    assert_eq!(values(&test, "t.csv", ""), 2, "missing is one value");
    assert_eq!(values(&test, "t.csv", "--on-missing keep"), 2);
    assert_eq!(values(&test, "t.csv", "--missing ?"), 4);
    assert_eq!(values(&test, "t.csv", "--missing []"), 4);
    assert_eq!(values(&test, "t.csv", "--missing ?,NA,,flu"), 1);
    test.write("lost.csv", "zip,disease\nA,?\nA,NA\nA,\n");
    let certain = |more: &str| {
        let asked = format!(
            "attack lost.csv --quasi zip --sensitive disease --only homogeneity --json {more}"
        );
        let answer = test.run(&asked).json();
        answer["attacks"][0]["facts"]["certain"].as_f64().unwrap_or_else(|| panic!("{answer}"))
    };
    assert_eq!((certain(""), certain("--missing ?")), (3.0, 0.0));
}

#[test]
fn a_manifest_states_the_missing_markers() {
    let test = setup(&["NA", "?", "NA", "?"]);
    let anonymize = "anonymize t.csv --quasi zip --sensitive disease --model l-diversity:l=2,kind=distinct -o out.csv";
    test.succeeds(&format!("{anonymize} --missing n/a"));
    assert_eq!(test.json("out.release.json")["job"]["missing"], serde_json::json!(["n/a"]));
    test.succeeds("verify out.csv").prints(&["holds"]);
    // A stated marker overrides the manifest.
    test.run("verify out.csv --missing ?,NA").exits(1).prints(&["FAILS"]);
    test.succeeds(&format!("{anonymize} --missing n/a --on-missing keep"));
    test.succeeds("verify out.csv").prints(&["holds"]);
    // The default markers are not stated.
    test.write("t.csv", "zip,disease\nA,flu\nA,cold\n");
    test.succeeds(anonymize);
    assert!(test.json("out.release.json")["job"].get("missing").is_none());
}

#[test]
fn spellings_of_a_value_are_one_value() {
    let test = setup(&["1", "1.0", "unknown", "01", "1e0", "+1", "\u{a0}unknown", " unknown "]);
    assert_eq!(values(&test, "t.csv", ""), 2);
    let asked = "anonymize t.csv --quasi zip --sensitive disease -o out.csv --model l-diversity";
    test.refuses(&format!("{asked}:l=3,kind=distinct")).exits(1).reports(&["2"]);
    let done = test.succeeds(&format!("{asked}:l=2,kind=distinct"));
    done.reports(&[
        "in column `disease` 2 values are written in more than one way",
        "each counts as one value",
    ]);
    // Every record is published in its original spelling.
    let mut written = test.records("t.csv");
    written.sort();
    assert_eq!(test.records("out.csv"), written);
    test.succeeds("verify out.csv").prints(&["holds"]);
    let answer = test.succeeds("attack out.csv --only homogeneity --json").json();
    assert_eq!(answer["attacks"][0]["worst"], 0.625, "five of eight records are one");
}

#[test]
fn a_missing_text_with_blanks_is_the_missing_value() {
    let test = setup(&["?", " ?", "? ", "\u{a0}NA"]);
    assert_eq!(values(&test, "t.csv", ""), 1);
    assert_eq!(values(&test, "t.csv", "--on-missing keep"), 1);
    assert_eq!(values(&test, "t.csv", "--missing NA"), 2, "`?` is a value");
    let asked = "anonymize t.csv --quasi zip --sensitive disease -o out.csv";
    for kept in ["keep", "drop"] {
        let flags = format!("--on-missing {kept} --model l-diversity:l=2,kind=distinct");
        test.refuses(&format!("{asked} {flags}")).exits(1).reports(&["cannot be satisfied"]);
    }
    // Without such a model every record is published in its original spelling.
    test.succeeds(&format!("{asked} -k 2 --on-missing keep"));
    assert_eq!(test.records("out.csv"), test.records("t.csv"));
    assert_eq!(values(&test, "out.csv", ""), 1);
}

#[test]
fn a_missing_person_with_blanks_has_no_identifier() {
    let test = TestDir::new();
    let records = |ids: &[&str]| ids.iter().map(|id| format!("{id},A,flu\n")).collect::<String>();
    // Five records without an identifier are five persons, and `7`, `7.0` are one.
    test.write(
        "t.csv",
        format!("id,zip,disease\n{}", records(&["?", " ?", " ?", "?\u{a0}", " NA", "7", "7.0"])),
    );
    let asked = "anonymize t.csv --person id --quasi zip --sensitive disease -o out.csv";
    test.refuses(&format!("{asked} -k 7")).exits(1).reports(&["all 6 persons in one group"]);
    let done = test.succeeds(&format!("{asked} -k 6"));
    done.reports(&["in column `id` 1 person is written in more than one way"]);
    let manifest = test.json("out.release.json");
    assert_eq!(manifest["persons"]["read"], 6, "{manifest}");
    // Missing identifiers do not repeat.
    test.write("a.csv", "id,zip,disease\n ?,A,flu\n ?,A,cold\n1,A,flu\n2,A,cold\n");
    let anatomy = "--quasi zip --sensitive disease --algorithm anatomy --set l=2 -o a.out.csv";
    test.succeeds(&format!("anonymize a.csv --identifier id {anatomy}"));
    // With another marker ` ?` is an identifier.
    test.refuses(&format!("{asked} -k 6 --missing NA"))
        .exits(1)
        .reports(&["all 3 persons in one group"]);
}

#[test]
fn verify_and_attack_count_missing_texts_with_blanks_alike() {
    let test = setup(&["?", " ?", "NA ", "?"]);
    let read = "t.csv --quasi zip --sensitive disease --missing [\"?\",\"NA\"]";
    test.run(&format!("verify {read} --model alpha-k-anonymity:alpha=0.5,k=2"))
        .exits(1)
        .prints(&["FAILS", "greatest share of a value 1,"]);
    let answer = test.run(&format!("attack {read} --only homogeneity --json")).json();
    assert_eq!(answer["attacks"][0]["worst"], 1.0, "{answer}");
}

#[test]
fn case_is_not_merged_but_noted() {
    let test = setup(&["Flu", "flu", "FLU", "cold"]);
    assert_eq!(values(&test, "t.csv", ""), 4);
    let done = test.succeeds("anonymize t.csv --quasi zip --sensitive disease -k 2 -o out.csv");
    assert!(!done.stderr.to_lowercase().contains("flu"), "no value is shown\n{done}");
    done.reports(&[
        "in column `disease` 2 values differ from another one in upper and lower case only",
    ]);
}

#[test]
fn persons_are_equal_in_two_files_with_different_spellings() {
    let test = TestDir::new();
    test.write("one.csv", "id,zip,disease,note\n1,A,flu,x\n2,A,cold,x\n3,A,gout,x\n");
    // As a program writes whole numbers of a column with a missing value.
    test.write("two.csv", "id,zip,disease,note\n1.0,A,flu,x\n2.0,A,cold,x\n3.0,A,gout,x\n");
    let asked = "anonymize one.csv two.csv --person id --quasi zip --sensitive disease -o out.csv";
    test.refuses(&format!("{asked} -k 6")).exits(1).reports(&["all 3 persons in one group"]);
    test.refuses(&format!("{asked} -k 4")).exits(1);
    let done = test.succeeds(&format!("{asked} -k 3"));
    done.prints(&["3 of 3 persons"])
        .reports(&["in column `id` 3 persons are written in more than one way"]);
    test.write(
        "all.csv",
        "id,zip,disease\n1,A,flu\n2,A,cold\n3,A,gout\n1.0,A,flu\n2.0,A,cold\n3.0,A,gout\n",
    );
    let known = test.succeeds("verify out.csv --original all.csv --person id --json").json();
    assert_eq!((&known["unit"], &known["smallest_group"]), (&"persons".into(), &3.into()));
    let attacked = test
        .succeeds("attack out.csv --original all.csv --person id --only prosecutor --json")
        .json();
    assert_eq!(attacked["attacks"][0]["worst"].as_f64().unwrap(), 1.0 / 3.0);
    // With passthrough columns records are read a second time.
    test.succeeds(&format!("{asked} -k 3 --default-role passthrough")).prints(&["3 of 3 persons"]);
}

#[test]
fn persons_of_a_table_with_decimal_commas_are_read_as_such() {
    let test = TestDir::new();
    test.write("t.csv", "id;zip;income\n1,0;A;1,5\n1;A;2,5\n2,0;A;3,5\nX2;A;4,5\n");
    let asked = "anonymize t.csv --person id --quasi zip --sensitive income -o out.csv";
    test.refuses(&format!("{asked} -k 4")).exits(1).reports(&["all 3 persons in one group"]);
    test.succeeds(&format!("{asked} -k 3"));
}

#[test]
fn one_record_per_person_is_checked_across_spellings() {
    let test = TestDir::new();
    test.write("t.csv", "id,zip,disease\n1,A,flu\n01,A,flu\n3,A,cold\n4,A,gout\n");
    test.refuses("anonymize t.csv --identifier id --quasi zip --sensitive disease -o out.csv --algorithm anatomy --set l=2")
        .exits(2)
        .reports(&["1 record is of people who have another one"]);
}

/// Returns the cells of `code` in a release in which every record is a group.
fn published(test: &TestDir, flags: &str) -> Vec<String> {
    test.succeeds(&format!("anonymize t.csv {flags} -k 1 -o out.csv"));
    test.records("out.csv")
}

#[test]
fn numbers_of_many_digits_are_published_unchanged() {
    let codes = [
        "9007199254740992",
        "9007199254740993",
        "9007199254740995",
        "12345678901234567890",
        "12345678901234567891",
        "0.10000000000000000555",
        "3.14159265358979323846",
        "-18446744073709551617",
    ];
    let test = TestDir::new();
    test.write("t.csv", format!("code\n{}\n", codes.join("\n")));
    let mut expected: Vec<String> = codes.map(str::to_owned).to_vec();
    expected.sort();
    assert_eq!(published(&test, "--quasi code"), expected);
    let done = test.succeeds("anonymize t.csv --quasi code -k 1 -o out.csv");
    done.reports(&[
        "column `code` holds numbers with more digits than can be represented: it is treated as text",
    ]);
    // Two numbers that differ in the last digit are distinct, and merging them has a loss.
    test.succeeds("anonymize t.csv --quasi code -k 8 -o out.csv");
    assert_eq!(test.json("out.release.json")["metrics"]["ncp"], 1.0);
    test.succeeds("verify out.csv").prints(&["holds"]);
    // Intervals of a single number keep its digits too.
    assert_eq!(published(&test, "--quasi code --hierarchy code=intervals:1e21"), expected);
    // Sensitive numbers are unchanged in typed files as well.
    test.write(
        "s.csv",
        format!("zip,code\n{}\n", codes.map(|code| format!("A,{code}")).join("\n")),
    );
    test.succeeds("anonymize s.csv --quasi zip --sensitive code -k 2 -o typed.parquet");
    test.succeeds("anonymize typed.parquet --quasi zip --sensitive code -k 2 -o back.csv");
    let of_group: Vec<String> = expected.iter().map(|code| format!("A,{code}")).collect();
    assert_eq!(test.records("back.csv"), of_group);
}

#[test]
fn numbers_of_many_digits_with_a_numeric_kind_give_a_note() {
    let test = TestDir::new();
    test.write("t.csv", "code\n1\n2\n12345678901234567890\n");
    let bounds = ["--bottom code=2", "--top code=9", "--top code=12345678901234567892"];
    let interval = "--hierarchy code=intervals:10 --top code=9";
    for flags in ["--kind code=numeric", "--hierarchy code=mdr", interval].into_iter().chain(bounds)
    {
        let done =
            test.refuses(&format!("anonymize t.csv --quasi code {flags} -k 1 -o out.csv")).exits(2);
        assert!(!done.stderr.contains("12345678901234567890"), "{done}");
        done.reports(&[
            "column `code` holds a number with more digits than are computed with",
            "round it",
        ]);
    }
}

#[test]
fn missing_values_of_a_weighted_release_are_those_of_the_table() {
    let test = TestDir::new();
    let person = |i: usize| format!("{},{},5\n", 20 + i % 4, ["a", "b", "?"][i % 3]);
    test.write("t.csv", format!("age,dis,w\n{}", (0..40).map(person).collect::<String>()));
    test.succeeds(
        "anonymize t.csv --quasi age --sensitive dis --weight w --publish-weight group-mean -k 3 --on-missing keep \
         --algorithm mondrian -o out.csv",
    );
    let measured = test.succeeds("measure t.csv out.csv --weight w --only ncp --json").json();
    let apart = &measured["private"]["weighted"]["shares_apart"][0];
    assert_eq!((&apart["column"], &apart["distance"]), (&"dis".into(), &0.0.into()), "{measured}");
}

#[test]
fn a_dry_run_needs_no_output() {
    let test = TestDir::with_people();
    test.succeeds("anonymize people.csv --quasi age,zip --sensitive disease -k 2 --dry-run")
        .prints(&["dry run"]);
    assert_eq!(test.names(), ["people.csv"]);
}

#[test]
fn codes_in_a_table_with_decimal_commas_are_counted_by_their_numbers() {
    let test = TestDir::new();
    test.write("t.csv", "zip;income;code\nA;1,5;1\nA;2,5;1,0\nA;3,5;X2\n");
    let asked = "anonymize t.csv --quasi zip --sensitive code --model l-diversity";
    test.refuses(&format!("{asked}:l=3,kind=distinct -o out.csv")).exits(1).reports(&["2"]);
    test.succeeds(&format!("{asked}:l=2,kind=distinct -o out.csv"))
        .reports(&["in column `code` 1 value is written in more than one way"]);
    let verified = test.succeeds("verify out.csv --json").json();
    assert_eq!(verified["models"][0]["measured"]["have"], 2.0, "{verified}");
    let answer = test.succeeds("attack out.csv --only homogeneity --json").json();
    let worst = answer["attacks"][0]["worst"].as_f64().unwrap();
    assert!((worst - 2.0 / 3.0).abs() < 1e-9, "{answer}");
    // Two tables, and a step that suppresses values.
    let two = "anonymize t.csv --quasi zip --sensitive code --algorithm anatomy --set l=3";
    test.refuses(&format!("{two} -o two.csv")).exits(1);
}

#[test]
fn negative_numbers_with_decimal_commas_are_no_formulas() {
    let test = TestDir::new();
    test.write("t.csv", "x;d\n-1,5;a\n-1,5;-2,0\n2,5;a\n2,5;=1+1\n");
    test.succeeds(
        "anonymize t.csv --quasi x --sensitive d -k 2 --algorithm mondrian --csv-safe -o out.csv",
    );
    assert_eq!(test.records("out.csv"), ["-1,5;-2,0", "-1,5;a", "2,5;'=1+1", "2,5;a"]);
    test.succeeds("verify out.csv --original t.csv").prints(&["k-anonymity(k=2)   holds"]);
}

#[test]
fn sensitive_numbers_of_many_digits_are_guessed_too() {
    let test = TestDir::new();
    test.write("t.csv", "zip,x\nA,48.12345678901234567\nA,48.2\nA,48.3\n");
    test.succeeds("anonymize t.csv --quasi zip --sensitive x -k 3 -o out.csv");
    let answer = test.succeeds("attack out.csv --only proximity --json").json();
    assert_eq!(answer["not_run"], serde_json::json!([]));
    assert_eq!(answer["attacks"][0]["attack"], "proximity", "{answer}");
}

#[test]
fn a_number_of_many_digits_in_another_table_is_outside_every_range() {
    let test = TestDir::new();
    test.write("s.csv", "x\n1\n1\n2\n2\n");
    test.write("p.csv", "x\n1\n1\n2\n2\n12345678901234567890\n2.00000000000000000001\n");
    test.succeeds(
        "anonymize s.csv --quasi x --population p.csv --model k-map:k=2 --algorithm mondrian -o o.csv",
    );
    let have = |more: &str| {
        let asked = format!("verify o.csv --population p.csv --model k-map:k=2 {more} --json");
        test.succeeds(&asked).json()["models"][0]["measured"]["have"].as_f64().unwrap()
    };
    assert_eq!((have(""), have("--hierarchy x=mdr")), (2.0, 2.0));
    test.succeeds("attack o.csv --population p.csv");
    test.succeeds("attack o.csv --external p.csv");
    // Numbers beyond a bound.
    let top = "anonymize s.csv --quasi x --population p.csv --model k-map:k=2 --top x=2 -o t.csv";
    test.succeeds(top);
    test.succeeds("verify t.csv --population p.csv");
}

#[test]
fn floats_with_17_digits_are_numbers() {
    let test = TestDir::new();
    let table = |texts: [&str; 4]| format!("x\n{}\n", texts.join("\n"));
    let floats = ["0.10000000000000001", "0.20000000000000001", "0.5", "0.69999999999999996"];
    test.write("t.csv", table(floats));
    test.write("p.csv", table(["0.1", "0.10000000000000001", "0.2", "0.7"]));
    let asked = "--quasi x -k 2 --algorithm mondrian -o out.csv";
    test.succeeds(&format!("anonymize t.csv {asked}"));
    let pairs = ["[0.1, 0.2]", "[0.1, 0.2]", "[0.5, 0.7]", "[0.5, 0.7]"];
    assert_eq!(test.records("out.csv"), pairs.map(|pair| format!("\"{pair}\"")));
    test.succeeds("verify out.csv --original t.csv").prints(&["holds"]);
    let verified = test.run("verify out.csv --population p.csv --model k-map:k=1 --json").json();
    assert_eq!(verified["models"][0]["measured"]["have"], 1.0, "{verified}");
    // Two texts of one float are two values, so the column is text.
    let mixed = table(["0.1", "0.10000000000000001", "0.2", "0.7"]);
    test.write("t.csv", mixed);
    test.succeeds("anonymize t.csv --quasi x -k 1 -o same.csv");
    assert_eq!(test.records("same.csv"), test.records("t.csv"));
    test.refuses("anonymize t.csv --quasi x --kind x=numeric -k 2 -o x.csv").exits(2);
}

#[test]
fn a_second_release_is_read_with_its_own_missing_markers() {
    let test = TestDir::new();
    test.write("one.csv", "zip,d\nA,flu\nA,?\nA,flu\nA,?\n");
    test.write("two.csv", "zip,d\nA,flu\nA,-\nA,flu\nA,-\n");
    let asked = "--quasi zip --sensitive d -k 2 --on-missing keep";
    test.succeeds(&format!("anonymize one.csv {asked} -o a.csv"));
    test.succeeds(&format!("anonymize two.csv {asked} --missing - -o b.csv"));
    let answer = test.succeeds("attack a.csv --second b.csv --only intersection --json").json();
    assert_eq!(answer["attacks"][0]["worst"], 0.5, "{answer}");
}

#[test]
fn sensitive_numbers_of_many_digits_are_not_computed_with() {
    let test = TestDir::new();
    test.write("t.csv", "q,n\n1,9007199254740993\n1,9007199254740995\n");
    let columns = "t.csv --quasi q --sensitive n";
    for model in [
        "k-e-anonymity:k=2,e=3",
        "epsilon-m-anonymity:epsilon=1,m=2",
        "t-closeness:t=0.5,distance=ordered",
    ] {
        for asked in [format!("verify {columns}"), format!("anonymize {columns} -o out.csv")] {
            test.refuses(&format!("{asked} --model {model}"))
                .exits(2)
                .reports(&["column `n` holds a number with more digits", "round the numbers"]);
        }
    }
    test.succeeds(&format!("verify {columns} --model l-diversity:l=2,kind=distinct"));
}

#[test]
fn dates_of_other_tables_may_have_another_format() {
    let test = TestDir::new();
    let people =
        ["02.02.2004", "17.01.2004", "03.01.2004", "04.02.2004", "21.01.2004", "16.01.2004"];
    let iso = |day: &str| format!("{}-{}-{}", &day[6..], &day[3..5], &day[..2]);
    let table = |days: Vec<String>| {
        let line = |(day, x): (&String, &str)| format!("{day},{x},2\n");
        let lines: String = days.iter().zip(["1", "1", "2", "2", "2", "1"]).map(line).collect();
        format!("born,x,w\n{lines}")
    };
    test.write("d.csv", table(people.map(str::to_owned).to_vec()));
    test.write("iso.csv", table(people.map(iso).to_vec()));
    let mixed = people.iter().enumerate();
    let mixed = mixed.map(|(i, day)| if i % 2 == 0 { iso(day) } else { (*day).to_owned() });
    test.write("mixed.csv", table(mixed.collect()));
    test.succeeds("anonymize d.csv --quasi born,x -k 2 -o out.csv");
    for flags in ["--population", "--external", "--weight w --original"] {
        let attacks = |table: &str| {
            let answer = test.succeeds(&format!("attack out.csv {flags} {table} --json")).json();
            answer["attacks"].clone()
        };
        let expected = attacks("iso.csv");
        assert_eq!(attacks("d.csv"), expected, "{flags}");
        // An original is read like the input of a release, in which mixed dates are text.
        if !flags.ends_with("--original") {
            assert_eq!(attacks("mixed.csv"), expected, "{flags}");
        }
    }
    // People whose dates cannot be read are not left out silently.
    test.write("several.csv", "born\n17.01.2004\n1/16/2004\n");
    test.refuses("attack out.csv --population several.csv")
        .exits(2)
        .reports(&["column `born` has dates in several formats"]);
}
