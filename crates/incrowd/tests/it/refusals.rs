//! Operations that could destroy or falsify data are refused, or done correctly.

use std::io::Write;

use incrowd::Anonymizer;

use crate::release::{read, small};

#[test]
fn the_output_is_never_an_input() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = small(dir.path(), "people-in.csv");
    let before = std::fs::read(dir.path().join("people-in.csv")).unwrap();
    assert!(Anonymizer::new(&job).run().is_err());
    // By another name of the file, and as one of the files of a pattern.
    job.write_to(
        dir.path().join("../").join(dir.path().file_name().unwrap()).join("people-in.csv"),
    );
    assert!(Anonymizer::new(&job).run().is_err());
    job.input.paths = vec![dir.path().join("people-*.csv").into()];
    assert!(
        Anonymizer::new(&job).run().is_err(),
        "a file that matches the pattern would be overwritten"
    );
    assert_eq!(std::fs::read(dir.path().join("people-in.csv")).unwrap(), before);
}

#[test]
fn the_manifest_is_never_an_input() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = small(dir.path(), "out.csv");
    let before = std::fs::read(dir.path().join("people-in.csv")).unwrap();
    job.output.as_mut().unwrap().manifest = Some(dir.path().join("people-in.csv"));
    let refused = Anonymizer::new(&job).run().is_err();
    assert!(
        std::fs::read(dir.path().join("people-in.csv")).unwrap() == before,
        "the table is overwritten"
    );
    assert!(refused);
}

#[test]
fn an_empty_sensitive_text_that_does_not_count_as_missing_stays_empty() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = small(dir.path(), "out.csv");
    std::fs::write(
        dir.path().join("people-in.csv"),
        "id,age,city,disease\n1,2,Rome,\n2,2,Rome,flu\n",
    )
    .unwrap();
    job.input.missing = vec!["?".to_owned()];
    Anonymizer::new(&job).run().unwrap();
    let table = read(&dir.path().join("out.csv"));
    let mut diseases: Vec<&str> = table.rows.iter().map(|row| row[3].as_str()).collect();
    diseases.sort_unstable();
    assert_eq!(diseases, ["", "flu"]);
}

#[test]
fn compression_is_detected_also_when_the_format_is_stated() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = small(dir.path(), "out.csv");
    let plain = std::fs::read(dir.path().join("people-in.csv")).unwrap();
    let file = std::fs::File::create(dir.path().join("people.dat")).unwrap();
    let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    out.write_all(&plain).unwrap();
    out.finish().unwrap();
    job.input.paths = vec![dir.path().join("people.dat").into()];
    job.input.format = Some("csv".to_owned());
    let report = Anonymizer::new(&job).run().map_err(|e| e.message().to_owned());
    assert_eq!(report.map(|r| r.records.published), Ok(5));
}

/// The release has its own delimiter, which verification must find regardless of the cells.
#[test]
fn tables_of_one_column_and_tab_separated_releases_can_be_checked() {
    let dir = tempfile::tempdir().unwrap();
    for output in ["out.csv", "out.tsv", "out.tsv.gz", "out.csv.zst", "out.parquet", "out.arrow"] {
        let mut job = small(dir.path(), output);
        // All of them have the same manifest name.
        job.output.as_mut().unwrap().replace = true;
        let table = "id,age,city,disease\n1,2,\"a;b;c, d\",x\n2,2,\"e;f;g, h\",y\n";
        std::fs::write(dir.path().join("people-in.csv"), table).unwrap();
        for column in ["id", "age", "disease"] {
            job.set_role(column, incrowd::job::RoleName::Drop);
        }
        Anonymizer::new(&job).run().unwrap();
        let checked = incrowd::Judging::of(&job).verify().map_err(|e| e.message().to_owned());
        assert_eq!(checked.map(|c| c.holds()), Ok(true), "{output}");
    }
}
