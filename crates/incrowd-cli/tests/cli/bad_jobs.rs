//! Invalid job files: the message names the line.

use crate::test_dir::TestDir;

const JOB: &str = r#"[input]
path = "people.csv"

[output]
path = "out.csv"

[columns]
name = "identifier"
age = { role = "quasi", kind = "numeric" }
zip = { role = "quasi", hierarchy = { mask = {} } }
disease = "sensitive"

[[models]]
name = "k-anonymity"
k = 2

[algorithm]
name = "mondrian"
undersized = "pool"
"#;

/// Refuses [`JOB`] with one line replaced; the message points at `line:column` of the file and
/// underlines `shown`.
#[track_caller]
fn refuses(line: &str, by: &str, at: &str, shown: &str, expected: &[&str]) {
    refuses_with(2, line, by, at, shown, expected);
}

#[track_caller]
fn refuses_with(code: i32, line: &str, by: &str, at: &str, shown: &str, expected: &[&str]) {
    assert!(JOB.contains(line), "{line}");
    let test = TestDir::with_old_release();
    test.write("job.toml", JOB.replacen(line, by, 1));
    let done = test.refuses("anonymize job.toml").exits(code).reports(expected);
    assert!(done.stderr.contains(&format!("job.toml:{at}\n")), "does not point at {at}\n{done}");
    let underlined =
        underlined(&done.stderr).unwrap_or_else(|| panic!("nothing is underlined\n{done}"));
    assert_eq!(underlined, shown, "{done}");
}

/// Returns the text above the line of carets.
fn underlined(message: &str) -> Option<String> {
    let lines: Vec<&str> = message.lines().collect();
    let carets =
        lines.iter().position(|line| line.trim_start().starts_with('|') && line.contains('^'))?;
    let from = lines[carets].chars().position(|c| c == '^')?;
    let length = lines[carets].chars().filter(|c| *c == '^').count();
    Some(lines[carets - 1].chars().skip(from).take(length).collect())
}

#[test]
fn the_unchanged_job_works() {
    let test = TestDir::with_old_release();
    test.write("job.toml", JOB);
    test.succeeds("anonymize job.toml");
}

#[test]
fn an_unknown_key_gives_a_suggestion() {
    let expected = &["unknown key `paht` in [input]", "did you mean `path`?"];
    refuses("path = \"people", "paht = \"people", "2:1", "paht", expected);
    let expected = &["unknown key `rolle`", "did you mean `role`?"];
    refuses("age = { role", "age = { rolle", "9:9", "rolle", expected);
    let expected = &["unknown table [colums]", "did you mean `columns`?"];
    refuses("[columns]", "[colums]", "7:2", "colums", expected);
}

#[test]
fn a_value_of_the_wrong_type_is_located() {
    let expected = &["`path` must be a string", "not a whole number"];
    refuses("path = \"out.csv\"", "path = 7", "5:8", "7", expected);
    let expected = &["`disease` must be a role", "not true or false"];
    refuses("disease = \"sensitive\"", "disease = true", "11:11", "true", expected);
    let expected = &["`k` of `k-anonymity` cannot be `two`", "a whole number"];
    refuses("k = 2", "k = \"two\"", "15:1", "k = \"two\"", expected);
}

#[test]
fn an_unknown_choice_gives_a_suggestion() {
    let expected = &["`disease` cannot be `sensitiv`", "did you mean `sensitive`?"];
    refuses("\"sensitive\"", "\"sensitiv\"", "11:11", "\"sensitiv\"", expected);
    let expected = &["`kind` cannot be `number`", "numeric"];
    refuses("\"numeric\"", "\"number\"", "9:32", "\"number\"", expected);
}

#[test]
fn k_of_zero_is_located() {
    let expected = &["`k` of `k-anonymity` cannot be `0`", "at least 1"];
    refuses("k = 2", "k = 0", "15:1", "k = 0", expected);
}

#[test]
fn k_beyond_the_table_is_located_at_the_model() {
    let expected =
        &["k-anonymity(k=9) cannot be satisfied", "8 records", "choose weaker parameters"];
    refuses_with(1, "k = 2", "k = 9", "13:1", "[[models]]", expected);
}

#[test]
fn an_unknown_column_is_located() {
    let expected = &["the table has no column `disaese`", "did you mean `disease`?"];
    refuses("disease = ", "disaese = ", "11:1", "disaese = \"sensitive\"", expected);
}

#[test]
fn unknown_models_and_algorithms_are_located() {
    let expected = &["there is no model `k-anonimity`", "did you mean `k-anonymity`?"];
    refuses("k-anonymity", "k-anonimity", "14:1", "name = \"k-anonimity\"", expected);
    let expected = &["there is no algorithm `mondrain`", "did you mean `mondrian`?"];
    refuses("mondrian", "mondrain", "18:1", "name = \"mondrain\"", expected);
    let expected = &["`mondrian` has no parameter `undersize`", "did you mean `undersized`?"];
    refuses("undersized", "undersize", "19:1", "undersize = \"pool\"", expected);
    let expected = &["`undersized` of `mondrian` cannot be `poll`", "did you mean `pool`?"];
    refuses("\"pool\"", "\"poll\"", "19:1", "undersized = \"poll\"", expected);
}

#[test]
fn missing_files_are_located() {
    let expected = &["there is no file `nobody.csv`"];
    refuses("\"people.csv\"", "\"nobody.csv\"", "2:1", "path = \"nobody.csv\"", expected);
    let expected = &["hierarchy `zip.csv`", "there is no such file", "relative to the job file"];
    refuses("{ mask = {} }", "\"zip.csv\"", "10:37", "\"zip.csv\"", expected);
}

#[test]
fn invalid_outputs_are_located() {
    let expected = &["cannot write `no/out.csv`", "its directory does not exist"];
    refuses("\"out.csv\"", "\"no/out.csv\"", "5:1", "path = \"no/out.csv\"", expected);
    let expected = &["cannot tell the format of `out.doc`"];
    refuses("\"out.csv\"", "\"out.doc\"", "5:1", "path = \"out.doc\"", expected);
    let expected = &["the release would overwrite a file that is read"];
    refuses("\"out.csv\"", "\"people.csv\"", "5:1", "path = \"people.csv\"", expected);
}

#[test]
fn an_invalid_value_is_located_at_its_column_with_its_record() {
    let test = TestDir::with_old_release();
    test.write("people.csv", "name,age,zip,disease\na,1,2,x\nb,S3CR3T,2,y\n");
    test.write("job.toml", JOB);
    let done = test.refuses("anonymize job.toml").exits(2);
    done.reports(&["column `age`", "not a number", "first at record 2", "job.toml:9:1\n"]);
}

#[test]
fn invalid_toml_is_located() {
    let test = TestDir::with_old_release();
    test.write("job.toml", JOB.replace("k = 2", "k = "));
    test.refuses("anonymize job.toml").exits(2).reports(&["not valid TOML", "job.toml:15:"]);
}

#[test]
fn a_missing_job_file_is_named() {
    let test = TestDir::with_old_release();
    let expected = &["job file `nojob.toml` cannot be read", "no such file"];
    for args in [
        "anonymize nojob.toml",
        "anonymize people.csv --job nojob.toml",
        "verify out.csv -j nojob.toml",
    ] {
        test.refuses(args).exits(2).reports(expected);
    }
}

#[test]
fn two_job_files_are_refused() {
    let test = TestDir::with_old_release();
    test.write("job.toml", JOB);
    test.write("other.toml", JOB);
    for args in ["anonymize job.toml other.toml", "anonymize job.toml --job other.toml"] {
        test.refuses(args).exits(2).reports(&["more than one job file"]);
    }
}

#[test]
fn verify_and_measure_locate_errors_in_the_job_file() {
    let test = TestDir::with_old_release();
    test.write("job.toml", JOB.replace("k = 2", "k = 0"));
    test.refuses("verify people.csv --job job.toml")
        .exits(2)
        .reports(&["cannot be `0`", "job.toml:15:1\n"]);
    test.write("job.toml", JOB.replace("age = ", "agee = "));
    let expected = &["no column `agee`", "did you mean `age`?", "job.toml:9:1\n"];
    test.refuses("measure people.csv people.csv --job job.toml").exits(2).reports(expected);
}

#[test]
fn errors_of_flags_are_not_located_in_the_job_file() {
    let test = TestDir::with_old_release();
    test.write("job.toml", JOB);
    for (args, code, expected) in [
        ("anonymize job.toml -k 0", 2, "`k` of `k-anonymity` cannot be `0`"),
        ("anonymize job.toml -k 9", 1, "k-anonymity(k=9) cannot be satisfied"),
        ("anonymize job.toml --model k-anonimity:k=2", 2, "did you mean `k-anonymity`?"),
        ("anonymize job.toml --algorithm mondrain", 2, "did you mean `mondrian`?"),
        ("anonymize job.toml --set undersized=blok", 2, "did you mean `block`?"),
        ("anonymize job.toml -o no/such.csv", 2, "cannot write `no/such.csv`"),
        ("anonymize job.toml -o people.csv", 2, "the release would overwrite a file that is read"),
        ("verify people.csv --job job.toml -k 0", 2, "`k` of `k-anonymity` cannot be `0`"),
    ] {
        let done = test.refuses(args).exits(code).reports(&[expected]);
        assert!(!done.stderr.contains("job.toml"), "points into the job file\n{done}");
    }
    // Errors in the rest of the file are still located.
    test.write("job.toml", JOB.replace("mondrian", "mondrain"));
    test.refuses("anonymize job.toml -k 3 -o other.csv")
        .exits(2)
        .reports(&["`mondrain`", "job.toml:18:1\n"]);
}
