//! Job files that are wrong: the message points at the line.

use crate::room::Room;

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

/// Refuses [`JOB`] with one line replaced; the message points at `line:column` of the file and underlines `shown`.
#[track_caller]
fn refuses(line: &str, by: &str, at: &str, shown: &str, says: &[&str]) {
    refuses_with(2, line, by, at, shown, says);
}

#[track_caller]
fn refuses_with(code: i32, line: &str, by: &str, at: &str, shown: &str, says: &[&str]) {
    assert!(JOB.contains(line), "{line}");
    let room = Room::with_old_release();
    room.write("job.toml", JOB.replacen(line, by, 1));
    let done = room.refuses("anonymize job.toml").exits(code).says(says);
    assert!(done.stderr.contains(&format!("job.toml:{at}\n")), "does not point at {at}\n{done}");
    let underlined = underlined(&done.stderr).unwrap_or_else(|| panic!("nothing is underlined\n{done}"));
    assert_eq!(underlined, shown, "{done}");
}

/// What the line of carets is below.
fn underlined(message: &str) -> Option<String> {
    let lines: Vec<&str> = message.lines().collect();
    let carets = lines.iter().position(|line| line.trim_start().starts_with('|') && line.contains('^'))?;
    let from = lines[carets].chars().position(|c| c == '^')?;
    let length = lines[carets].chars().filter(|c| *c == '^').count();
    Some(lines[carets - 1].chars().skip(from).take(length).collect())
}

#[test]
fn the_job_itself_is_right() {
    let room = Room::with_old_release();
    room.write("job.toml", JOB);
    room.does("anonymize job.toml");
}

#[test]
fn an_unknown_key_comes_with_the_near_miss() {
    let says = &["unknown key `paht` in [input]", "did you mean `path`?"];
    refuses("path = \"people", "paht = \"people", "2:1", "paht", says);
    let says = &["unknown key `rolle`", "did you mean `role`?"];
    refuses("age = { role", "age = { rolle", "9:9", "rolle", says);
    let says = &["unknown table [colums]", "did you mean `columns`?"];
    refuses("[columns]", "[colums]", "7:2", "colums", says);
}

#[test]
fn a_value_of_the_wrong_type_is_pointed_at() {
    let says = &["`path` must be a string", "not a whole number"];
    refuses("path = \"out.csv\"", "path = 7", "5:8", "7", says);
    let says = &["`disease` must be a role", "not true or false"];
    refuses("disease = \"sensitive\"", "disease = true", "11:11", "true", says);
    let says = &["`k` of `k-anonymity` cannot be `two`", "a whole number"];
    refuses("k = 2", "k = \"two\"", "15:1", "k = \"two\"", says);
}

#[test]
fn a_word_that_is_no_choice_comes_with_the_near_miss() {
    let says = &["`disease` cannot be `sensitiv`", "did you mean `sensitive`?"];
    refuses("\"sensitive\"", "\"sensitiv\"", "11:11", "\"sensitiv\"", says);
    let says = &["`kind` cannot be `number`", "numeric"];
    refuses("\"numeric\"", "\"number\"", "9:32", "\"number\"", says);
}

#[test]
fn k_of_zero_is_pointed_at() {
    let says = &["`k` of `k-anonymity` cannot be `0`", "at least 1"];
    refuses("k = 2", "k = 0", "15:1", "k = 0", says);
}

#[test]
fn k_beyond_the_table_points_at_the_model() {
    let says = &["k-anonymity(k=9) cannot be kept", "8 records", "ask for less"];
    refuses_with(1, "k = 2", "k = 9", "13:1", "[[models]]", says);
}

#[test]
fn an_unknown_column_is_pointed_at() {
    let says = &["the table has no column `disaese`", "did you mean `disease`?"];
    refuses("disease = ", "disaese = ", "11:1", "disaese = \"sensitive\"", says);
}

#[test]
fn unknown_models_and_algorithms_are_pointed_at() {
    let says = &["there is no model `k-anonimity`", "did you mean `k-anonymity`?"];
    refuses("k-anonymity", "k-anonimity", "14:1", "name = \"k-anonimity\"", says);
    let says = &["there is no algorithm `mondrain`", "did you mean `mondrian`?"];
    refuses("mondrian", "mondrain", "18:1", "name = \"mondrain\"", says);
    let says = &["`mondrian` has no parameter `undersize`", "did you mean `undersized`?"];
    refuses("undersized", "undersize", "19:1", "undersize = \"pool\"", says);
    let says = &["`undersized` of `mondrian` cannot be `poll`", "did you mean `pool`?"];
    refuses("\"pool\"", "\"poll\"", "19:1", "undersized = \"poll\"", says);
}

#[test]
fn files_that_are_not_there_are_pointed_at() {
    let says = &["there is no file `nobody.csv`"];
    refuses("\"people.csv\"", "\"nobody.csv\"", "2:1", "path = \"nobody.csv\"", says);
    let says = &["hierarchy `zip.csv`", "there is no such file", "relative to the job file"];
    refuses("{ mask = {} }", "\"zip.csv\"", "10:37", "\"zip.csv\"", says);
}

#[test]
fn outputs_that_cannot_be_are_pointed_at() {
    let says = &["cannot write `no/out.csv`", "its directory does not exist"];
    refuses("\"out.csv\"", "\"no/out.csv\"", "5:1", "path = \"no/out.csv\"", says);
    let says = &["cannot tell the format of `out.doc`"];
    refuses("\"out.csv\"", "\"out.doc\"", "5:1", "path = \"out.doc\"", says);
    let says = &["the release would overwrite a file that is read"];
    refuses("\"out.csv\"", "\"people.csv\"", "5:1", "path = \"people.csv\"", says);
}

#[test]
fn a_value_that_does_not_fit_points_at_its_column_and_names_its_record() {
    let room = Room::with_old_release();
    room.write("people.csv", "name,age,zip,disease\na,1,2,x\nb,S3CR3T,2,y\n");
    room.write("job.toml", JOB);
    let done = room.refuses("anonymize job.toml").exits(2);
    done.says(&["column `age`", "not a number", "first at record 2", "job.toml:9:1\n"]);
}

#[test]
fn text_that_is_no_toml_is_pointed_at() {
    let room = Room::with_old_release();
    room.write("job.toml", JOB.replace("k = 2", "k = "));
    room.refuses("anonymize job.toml").exits(2).says(&["not valid TOML", "job.toml:15:"]);
}

#[test]
fn a_job_file_that_is_not_there_is_named() {
    let room = Room::with_old_release();
    let says = &["job file `nojob.toml` cannot be read", "no such file"];
    for typed in
        ["anonymize nojob.toml", "anonymize people.csv --job nojob.toml", "verify out.csv -j nojob.toml"]
    {
        room.refuses(typed).exits(2).says(says);
    }
}

#[test]
fn one_job_at_a_time() {
    let room = Room::with_old_release();
    room.write("job.toml", JOB);
    room.write("other.toml", JOB);
    for typed in ["anonymize job.toml other.toml", "anonymize job.toml --job other.toml"] {
        room.refuses(typed).exits(2).says(&["more than one job file"]);
    }
}

#[test]
fn verify_and_measure_point_into_the_job_file_too() {
    let room = Room::with_old_release();
    room.write("job.toml", JOB.replace("k = 2", "k = 0"));
    room.refuses("verify people.csv --job job.toml").exits(2).says(&["cannot be `0`", "job.toml:15:1\n"]);
    room.write("job.toml", JOB.replace("age = ", "agee = "));
    let says = &["no column `agee`", "did you mean `age`?", "job.toml:9:1\n"];
    room.refuses("measure people.csv people.csv --job job.toml").exits(2).says(says);
}

#[test]
fn what_is_typed_is_not_looked_for_in_the_job_file() {
    let room = Room::with_old_release();
    room.write("job.toml", JOB);
    for (typed, code, says) in [
        ("anonymize job.toml -k 0", 2, "`k` of `k-anonymity` cannot be `0`"),
        ("anonymize job.toml -k 9", 1, "k-anonymity(k=9) cannot be kept"),
        ("anonymize job.toml --model k-anonimity:k=2", 2, "did you mean `k-anonymity`?"),
        ("anonymize job.toml --algorithm mondrain", 2, "did you mean `mondrian`?"),
        ("anonymize job.toml --set undersized=blok", 2, "did you mean `block`?"),
        ("anonymize job.toml -o no/such.csv", 2, "cannot write `no/such.csv`"),
        ("anonymize job.toml -o people.csv", 2, "the release would overwrite a file that is read"),
        ("verify people.csv --job job.toml -k 0", 2, "`k` of `k-anonymity` cannot be `0`"),
    ] {
        let done = room.refuses(typed).exits(code).says(&[says]);
        assert!(!done.stderr.contains("job.toml"), "points into the job file\n{done}");
    }
    // The rest of the file is still pointed at.
    room.write("job.toml", JOB.replace("mondrian", "mondrain"));
    room.refuses("anonymize job.toml -k 3 -o other.csv").exits(2).says(&["`mondrain`", "job.toml:18:1\n"]);
}
