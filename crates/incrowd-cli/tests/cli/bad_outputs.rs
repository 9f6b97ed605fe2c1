//! Invalid outputs.

use crate::test_dir::TestDir;

fn refuses(test: &TestDir, output: &str, expected: &[&str]) {
    test.refuses(&format!("anonymize people.csv --quasi age,zip -k 2 {output}"))
        .exits(2)
        .reports(expected);
}

#[test]
fn a_missing_directory_is_not_created() {
    let test = TestDir::with_old_release();
    let expected = &["cannot write `no/such/out.csv`", "its directory does not exist"];
    refuses(&test, "-o no/such/out.csv", expected);
}

#[test]
fn a_directory_is_not_an_output() {
    let test = TestDir::with_old_release();
    test.write("releases.csv/old.csv", "old\n");
    refuses(&test, "-o releases.csv", &["`releases.csv` is a directory", "name a file in it"]);
}

#[test]
fn a_path_through_a_file_is_not_an_output() {
    let test = TestDir::with_old_release();
    refuses(
        &test,
        "-o people.csv/out.csv",
        &["cannot write `people.csv/out.csv`", "not a directory"],
    );
}

#[test]
fn the_input_is_never_the_output() {
    let test = TestDir::with_old_release();
    std::fs::create_dir(test.path().join("sub")).unwrap();
    for output in ["people.csv", "./people.csv", "sub/../people.csv"] {
        refuses(
            &test,
            &format!("-o {output}"),
            &["the release would overwrite a file that is read"],
        );
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("people.csv", test.path().join("link.csv")).unwrap();
        refuses(&test, "-o link.csv", &["the release would overwrite a file that is read"]);
    }
}

#[test]
fn one_of_several_inputs_is_never_the_output() {
    let test = TestDir::with_old_release();
    test.write("more.csv", crate::test_dir::PEOPLE);
    // The second is a pattern, which matches `people.csv` and `more.csv`.
    for inputs in ["people.csv more.csv", "*o*e*.csv"] {
        let args = format!("anonymize {inputs} --quasi age,zip -k 2 -o more.csv");
        test.refuses(&args).exits(2).reports(&["the release would overwrite a file that is read"]);
        let args =
            format!("anonymize {inputs} --quasi age,zip -k 2 -o out.csv --manifest more.csv");
        test.refuses(&args).exits(2).reports(&["the manifest would overwrite a file that is read"]);
    }
}

#[test]
fn an_unknown_extension_gives_the_known_ones() {
    let test = TestDir::with_old_release();
    for name in ["out.xlsx", "out", "out.csv.bz2", "out.parquet.gz"] {
        let expected =
            &[&*format!("cannot tell the format of `{name}`"), ".csv.gz", ".parquet", ".arrow"];
        refuses(&test, &format!("-o {name}"), expected);
    }
}

#[test]
fn a_release_needs_an_output() {
    let test = TestDir::with_old_release();
    refuses(&test, "", &["the job has no `[output] path` (-o)"]);
    refuses(&test, "--order sorted", &["[output] needs `path`", "from: --order", "(-o)"]);
}

#[test]
fn a_manifest_that_cannot_be_written_prevents_the_release() {
    let test = TestDir::with_old_release();
    let expected = &["cannot write `no/such.json`", "its directory does not exist"];
    refuses(&test, "-o out.csv --manifest no/such.json", expected);
    let expected = &["the manifest would overwrite another output of the same run"];
    refuses(&test, "-o out.csv --manifest out.csv", expected);
    refuses(&test, "-o out.csv --manifest ./out.csv", expected);
}

#[test]
fn a_hierarchy_that_cannot_be_written_is_an_error() {
    let test = TestDir::with_old_release();
    let expected = &["cannot write `no/zip.csv`"];
    test.refuses("hierarchy build people.csv zip --kind mask -o no/zip.csv")
        .exits(2)
        .reports(expected);
}

#[test]
fn a_hierarchy_is_never_the_output() {
    let test = TestDir::with_old_release();
    test.succeeds("hierarchy build people.csv zip --kind mask -o zip.csv");
    let asked = "--hierarchy zip=zip.csv";
    for output in ["zip.csv", "./zip.csv"] {
        refuses(
            &test,
            &format!("{asked} -o {output}"),
            &["the release would overwrite a file that is read"],
        );
    }
    let expected = &["the manifest would overwrite a file that is read"];
    refuses(&test, &format!("{asked} -o out.csv --manifest zip.csv"), expected);
    test.write("hierarchies/zip.csv", test.bytes("zip.csv"));
    let expected = &["the release would overwrite a file that is read"];
    refuses(&test, "--hierarchies hierarchies -o hierarchies/zip.csv", expected);
}

#[test]
fn a_hierarchy_never_overwrites_its_table() {
    let test = TestDir::with_old_release();
    for output in ["people.csv", "./people.csv"] {
        let args = format!("hierarchy build people.csv zip --kind mask -o {output}");
        test.refuses(&args)
            .exits(2)
            .reports(&["would overwrite a file that is read", "a name of its own"]);
    }
}
