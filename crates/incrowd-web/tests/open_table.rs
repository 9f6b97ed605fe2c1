//! Releases of an open table equal releases of a table that is read again.

use incrowd::job::{Job, RoleName};
use incrowd::{Anonymizer, OpenTable, Released};

fn table(shift: usize) -> String {
    let mut table = String::from("id,age,zip,disease,note\n");
    for i in 0..400 {
        let (age, zip) = (18 + (i * 7 + shift) % 60, 10_000 + (i * 13) % 40);
        table +=
            &format!("p{i},{age},{zip},{},n{}\n", ["flu", "cold", "gout", "none"][i % 4], i % 5);
    }
    table
}

fn job(path: &std::path::Path, k: u32) -> Job {
    let job = Job::of_file(path).quasi(["age", "zip"]).sensitive(["disease"]).k(k);
    job.with_role(["id"], RoleName::Identifier)
}

/// Returns the records as sorted text.
fn records(released: &Released) -> Vec<String> {
    let (_, batches) = released.tables[0].batches().unwrap();
    let text = |batch: &arrow_array::RecordBatch, row: usize| {
        let cell = |column: &arrow_array::ArrayRef| {
            let one = column.slice(row, 1);
            format!("{one:?}")
        };
        batch.columns().iter().map(cell).collect::<Vec<_>>().join("|")
    };
    let rows = |batch: &arrow_array::RecordBatch| {
        (0..batch.num_rows()).map(|row| text(batch, row)).collect::<Vec<_>>()
    };
    let mut all: Vec<String> = batches.iter().flat_map(rows).collect();
    all.sort();
    all
}

#[test]
fn an_open_table_gives_the_release_of_a_table_that_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("people.csv");
    std::fs::write(&path, table(0)).unwrap();
    let open = OpenTable::new();
    for k in [2, 5, 11, 5] {
        let (again, insight) = open.anonymize(&job(&path, k)).unwrap();
        let anew = Anonymizer::new(job(&path, k)).run_in_memory().unwrap();
        assert_eq!(records(&again), records(&anew), "k = {k}");
        assert_eq!(again.report.manifest.metrics, anew.report.manifest.metrics);
        let insight = insight.unwrap();
        assert_eq!(insight.columns, ["age", "zip", "disease"]);
        let smallest = insight.after.sizes.first().unwrap().0;
        assert_eq!(smallest, again.report.verification.smallest_group);
        let groups: u64 = insight.after.sizes.iter().map(|(_, groups)| groups).sum();
        assert_eq!(groups, again.report.verification.groups);
        let before: u64 = insight.before.sizes.iter().map(|(size, groups)| size * groups).sum();
        assert_eq!(before, 400);
    }
    assert_eq!(open.kept(), 1, "it was folded once for all k");

    // Other roles need another fold; passthrough columns are read again.
    let passing = job(&path, 5).with_role(["note"], RoleName::Passthrough);
    let (again, _) = open.anonymize(&passing).unwrap();
    assert_eq!(records(&again).len(), 400);
    assert_eq!(open.kept(), 1);

    // A changed file is read again.
    std::fs::write(&path, table(3) + "p,99,10001,flu,n\n").unwrap();
    let (again, _) = open.anonymize(&job(&path, 5)).unwrap();
    let anew = Anonymizer::new(job(&path, 5)).run_in_memory().unwrap();
    assert_eq!(records(&again), records(&anew));
    assert_eq!(records(&again).len(), 401);
}
