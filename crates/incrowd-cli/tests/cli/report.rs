//! `incrowd report`: a public page and a private one.

use crate::test_dir::{SECRET, TestDir};

const JOB: &str = r#"[input]
path = "people.csv"
[output]
path = "r.csv"
order = "sorted"
[columns]
age = { role = "quasi", hierarchy = { intervals = { width = 10 } } }
zip = { role = "quasi", hierarchy = { mask = {} } }
disease = "sensitive"
[[models]]
name = "k-anonymity"
k = 4
[algorithm]
name = "full-domain"
suppression_limit = 0.1
"#;

/// Sixty similar people and one outlier, whom the release suppresses.
fn setup_with_outlier(disease: &str) -> TestDir {
    let test = TestDir::new();
    let mut table = String::from("age,zip,disease\n");
    for i in 0..60 {
        table += &format!("{},021{:02},{}\n", 20 + i % 30, i % 4, ["flu", "cold", "gout"][i % 3]);
    }
    table += &format!("99,99999,{disease}\n");
    test.write("people.csv", table);
    test.write("job.toml", JOB);
    test.succeeds("anonymize job.toml");
    assert_eq!(test.json("r.release.json")["records"]["suppressed"], 1);
    test
}

/// Checks that hold for every page.
pub(crate) fn sound(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"));
    assert!(page.contains(
        "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\""
    ));
    for word in ["<script", "src=", "@import", "url(", "<link", "<iframe", "<object"] {
        assert!(!page.contains(word), "{word}");
    }
    // The only address is the XML namespace of SVG.
    let addresses = page.matches("http").count();
    let names =
        page.matches("http://www.w3.org/2000/svg").count() + page.matches("http-equiv").count();
    assert_eq!(addresses, names);
    for link in page.split("href=\"").skip(1) {
        let target = link.split('"').next().unwrap();
        assert!(
            target.starts_with('#') && page.contains(&format!("id=\"{}\"", &target[1..])),
            "{target}"
        );
    }
    // Charts are SVG images, or lists of bars with their numbers.
    let drawings = page.matches("role=\"img\"").count();
    let lists = page.matches("<ul class=\"rows").count();
    assert!(drawings + lists > 0);
    assert_eq!(page.matches("<desc>").count(), drawings, "every drawing tells what it shows");
    let named = page
        .split("<ul class=\"rows")
        .skip(1)
        .filter(|list| list.split('>').next().unwrap().contains("aria-label=\""));
    assert_eq!(named.count(), lists, "and so does every list");
    assert!(
        page.matches("<details>").count() >= (drawings + lists) / 2,
        "numbers stand behind the charts"
    );
    assert!(page.len() < 2_000_000, "{}", page.len());
}

/// Returns the visible text, without tags and styles.
fn words(page: &str) -> Vec<String> {
    let body = page.split_once("<body").unwrap().1;
    let text: String = body
        .split('<')
        .filter_map(|piece| piece.split_once('>'))
        .map(|(_, text)| format!("{text} "))
        .collect();
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn there_is_a_public_and_a_private_page() {
    let test = setup_with_outlier(SECRET);
    let done = test.succeeds("report r.csv --job job.toml -o public.html --owner owner.html");
    done.prints(&[
        "r.csv   all guarantees hold",
        "public.html   may be published",
        "owner.html   for the data owner only",
    ]);
    let (public, owner) = (test.text("public.html"), test.text("owner.html"));
    sound(&public);
    sound(&owner);
    for words in [
        "The guarantee holds",
        "k-anonymity(k=4)",
        "margin",
        "Not guaranteed",
        "prosecutor",
        "Sizes of the groups",
        "Information loss of each quasi-identifier",
        "Associations between columns",
        "incrowd verify r.csv",
    ] {
        assert!(public.contains(words), "{words}");
    }
    for words in [
        "Do not publish this page",
        "unique records",
        "Columns before and after",
        "61 → 60",
        "Sample records before and after",
        "For the data owner only: these are real people",
        "Contribution of each quasi-identifier to the risk of re-identification",
        "Disease can be guessed for",
        "without the release in",
        "Counts of small groups are",
    ] {
        assert!(owner.contains(words), "{words}");
        assert!(!public.contains(words), "{words}");
    }
    // The verdict comes first and agrees with the manifest.
    let smallest = 4 + test.json("r.release.json")["models"][0]["margin"].as_f64().unwrap() as u64;
    for page in [&public, &owner] {
        let said =
            page.find(&format!("Nobody can be narrowed down below {smallest} records.")).unwrap();
        assert!(said < page.find("<nav").unwrap());
    }
    assert!(!public.contains("class=\"sample\"") && owner.contains("class=\"sample\""));
    // The suppressed record is on the owner's page only.
    for word in [SECRET, "99999", "99"] {
        assert!(!words(&public).contains(&word.to_owned()), "{word}");
    }
    for word in [SECRET, "99999"] {
        assert!(words(&owner).contains(&word.to_owned()), "{word}");
    }
    let digest = test.json("r.release.json")["digest"].as_str().unwrap().to_owned();
    assert!(public.contains(&digest));
}

#[test]
fn a_successful_attack_is_amber_on_the_owners_page_only() {
    let test = TestDir::new();
    let person =
        |i: usize| format!("{},{},{}\n", ["f", "m"][i % 2], 30 + i % 2, ["flu", "cold"][i % 2]);
    test.write(
        "people.csv",
        format!("sex,age,disease\n{}", (0..60).map(person).collect::<String>()),
    );
    test.succeeds("anonymize people.csv --quasi sex,age --sensitive disease -k 4 -o r.csv");
    test.succeeds("report r.csv --original people.csv -o public.html --owner owner.html");
    let (public, owner) = (test.text("public.html"), test.text("owner.html"));
    for words in [
        "Nobody can be narrowed down below 30 records.",
        "Disease can be guessed for everybody with at least 80 % certainty.",
        "A guess is right in 100 % of the cases, without the release in 50 %: 2.0 times as often.",
        "class=\"verdict amber\"",
        "some attacks succeed",
        "Means, deviations and quartiles",
    ] {
        assert!(owner.contains(words), "{words}");
    }
    assert!(public.contains("Nobody can be narrowed down below 30 records."));
    for words in
        ["can be guessed for", "A guess is right", "class=\"verdict amber\"", "Means, deviations"]
    {
        assert!(!public.contains(words), "{words}");
    }
}

#[test]
fn only_the_chosen_variant_of_a_model_is_explained() {
    let test = TestDir::new();
    let person = |i: usize| format!("{},{}\n", 20 + i % 10, ["flu", "cold", "gout"][i % 3]);
    test.write("people.csv", format!("age,disease\n{}", (0..60).map(person).collect::<String>()));
    let args = "anonymize people.csv --quasi age --sensitive disease -k 4";
    test.succeeds(&format!(
        "{args} --model l-diversity:l=2,on=disease -o r.csv --report page.html"
    ));
    let page = test.text("page.html");
    assert!(page.contains("Every group has at least 2 different values of disease."));
    for other in
        ["entropy of disease", "more than one record in 2", "most frequent value of disease"]
    {
        assert!(!page.contains(other), "{other}");
    }
    test.succeeds(&format!(
        "{args} --model l-diversity:l=2,kind=frequency,on=disease -o s.csv --report page.html"
    ));
    let page = test.text("page.html");
    assert!(
        page.contains("In no group does more than one record in 2 have the same value of disease.")
    );
    assert!(!page.contains("different values of disease."));
}

/// Except for measures over the whole table, the page depends on the release only.
#[test]
fn the_public_page_does_not_depend_on_who_was_suppressed() {
    let pages = ["gout", SECRET].map(|disease| {
        let test = setup_with_outlier(disease);
        test.succeeds("report r.csv --job job.toml -o public.html --owner owner.html");
        let page = test.text("public.html");
        let (before, rest) = page.split_once("<section id=\"cost\"").unwrap();
        let (_, after) = rest.split_once("<section id=\"columns\"").unwrap();
        (format!("{before}{after}"), test.text("owner.html"))
    });
    assert!(pages[0].0 == pages[1].0);
    assert!(pages[0].1 != pages[1].1, "the owner's page does");
}

#[test]
fn without_the_original_there_is_a_public_page_only() {
    let test = TestDir::with_people();
    test.succeeds("anonymize people.csv --quasi age,zip --sensitive disease -k 2 -o r.csv");
    test.succeeds("report r.csv").prints(&["r.report.html   may be published"]);
    let page = test.text("r.report.html");
    sound(&page);
    assert!(page.contains("The original was not given"));
    test.refuses("report r.csv --owner owner.html")
        .exits(2)
        .reports(&["needs the original table", "--original"]);
}

#[test]
fn a_failed_guarantee_is_shown_and_gives_exit_code_one() {
    let test = TestDir::with_people();
    let done = test
        .run("report people.csv --quasi age,zip --sensitive disease -k 2 -o page.html")
        .exits(1);
    done.prints(&["a guarantee FAILS"]);
    let page = test.text("page.html");
    sound(&page);
    assert!(page.contains("Check failed: 0 of 1 guarantees hold") && page.contains("FAILS"));
    // A release that was changed after publication does not match its manifest.
    test.succeeds("anonymize people.csv --quasi age,zip -k 2 -o r.csv");
    test.write("r.csv", test.text("r.csv").replacen("[", "[ ", 1));
    test.run("report r.csv -o page.html").exits(1);
    assert!(test.text("page.html").contains("the table was changed after it was released"));
}

#[test]
fn anonymize_writes_the_pages_too() {
    let test = TestDir::with_people();
    let args = "anonymize people.csv --quasi age,zip --sensitive disease -k 2 -o r.csv";
    let done = test.succeeds(&format!("{args} --report page.html --owner-report owner.html"));
    done.prints(&[
        "report   page.html   may be published",
        "owner    owner.html   for the data owner only",
    ]);
    sound(&test.text("page.html"));
    sound(&test.text("owner.html"));
    let job = "[input]\npath = \"people.csv\"\n[output]\npath = \"s.csv\"\nreport = \"pages/s.html\"\n[columns]\nage = \
               \"quasi\"\n[[models]]\nname = \"k-anonymity\"\nk = 2\n";
    test.write("job.toml", job);
    test.write("pages/.keep", "");
    test.succeeds("anonymize job.toml");
    sound(&test.text("pages/s.html"));
}

#[test]
fn no_page_overwrites_a_table() {
    let test = TestDir::with_people();
    test.succeeds("anonymize people.csv --quasi age,zip -k 2 -o r.csv");
    for args in [
        "report r.csv -o r.csv",
        "report r.csv --original people.csv -o people.csv",
        "report r.csv --original people.csv -o page.html --owner page.html",
        "report r.csv --original people.csv -o page.html --owner people.csv",
        "anonymize people.csv --quasi age,zip -k 2 -o s.csv --report people.csv",
        "anonymize people.csv --quasi age,zip -k 2 -o s.csv --report s.csv",
        "anonymize people.csv --quasi age,zip -k 2 -o s.csv --report s.html --owner-report s.html",
        "anonymize people.csv --quasi age,zip -k 2 -o s.csv --report nowhere/s.html",
    ] {
        test.refuses(args).exits(2);
    }
}

#[test]
fn the_number_of_suppressed_records_is_on_the_owners_page_only() {
    let test = TestDir::new();
    let mut table = String::from("age,zip,disease\n");
    for i in 0..417 {
        let disease = if i % 5 < 3 { "flu" } else { ["cold", "gout", "none", "ache"][i % 4] };
        table += &format!("{},021{:02},{disease}\n", 20 + i % 30, i % 4);
    }
    test.write("people.csv", table);
    test.succeeds(
        "anonymize people.csv --quasi age,zip --sensitive disease --suppression r-suppression:l=3 --suppression-seed 1 -o r.csv",
    );
    assert!(test.json("r.release.json")["records"]["suppressed"].is_null());
    test.succeeds("report r.csv --original people.csv -o public.html --owner owner.html");
    let (public, owner) = (test.text("public.html"), test.text("owner.html"));
    sound(&public);
    sound(&owner);
    // Measures against the original reveal how many records are missing.
    for words in ["Associations between columns", "Counting", "entropy lost"] {
        assert!(!public.contains(words), "{words}");
        assert!(owner.contains(words), "{words}");
    }
    assert!(
        words(&owner).contains(&"417".to_owned()) && !words(&public).contains(&"417".to_owned())
    );
    assert!(public.contains("is secret") && public.contains("TEST, not for publication"));
    assert!(!public.contains("suppression_seed"));
}

#[test]
fn releases_of_two_tables_have_a_report() {
    let test = TestDir::new();
    let mut table = String::from("ssn,age,zip,disease\n");
    let mut external = String::from("ssn,age,zip\n");
    for i in 0..60 {
        let person = format!("p{i:03},{},021{:02}", 20 + i * 7 % 30, i % 4);
        external += &format!("{person}\n");
        if i % 2 == 0 {
            table += &format!("{person},{}\n", ["flu", "cold", "gout"][i % 3]);
        }
    }
    test.write("people.csv", table);
    test.write("voters.csv", external);
    test.succeeds("anonymize people.csv --quasi age,zip --sensitive disease -k 4 --external voters.csv --id ssn -o r.csv");
    test.succeeds(
        "report r.csv --original people.csv --external voters.csv --id ssn -o public.html --owner owner.html",
    );
    sound(&test.text("public.html"));
    test.write("job.toml", "[input]\npath = \"people.csv\"\n[columns]\nage = \"quasi\"\nzip = \"quasi\"\ndisease = \"sensitive\"\n\
        [algorithm]\nname = \"anatomy\"\nl = 2\n[output]\npath = \"a.csv\"\nreport = \"a.html\"\n\
        [suppression]\nname = \"r-suppression\"\nl = 2\nseed = 1\n");
    test.succeeds("anonymize job.toml");
    sound(&test.text("a.html"));
}

#[test]
fn json_separates_the_private_page() {
    let test = setup_with_outlier("gout");
    let json = test.succeeds("report r.csv --job job.toml -o p.html --owner o.html --json").json();
    assert_eq!(json["holds"], true);
    assert_eq!(json["page"], "p.html");
    assert_eq!(json["private"]["page"], "o.html");
    assert_eq!(json["bytes"], test.bytes("p.html").len());
}

/// Nothing is published before the report turns out to be impossible.
#[test]
fn a_report_about_group_means_is_refused_beforehand() {
    let test = TestDir::with_people();
    let asked = "anonymize people.csv --quasi age --sensitive disease -k 2 --numbers mean -o r.csv";
    for flag in ["--report", "--owner-report"] {
        test.refuses(&format!("{asked} {flag} page.html")).exits(2).reports(&[
            "no report about a release of group means",
            &format!("from: {flag}"),
            "low-high",
        ]);
    }
    test.succeeds(asked);
    test.refuses("report r.csv -o page.html").exits(2).reports(&["group means"]);
}
