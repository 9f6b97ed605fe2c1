//! No output overwrites an input.

use std::path::{Path, PathBuf};

use incrowd::job::{ExternalJob, Job, PopulationJob, SuppressionJob, hierarchy_from_path};
use incrowd::{Anonymizer, Fault, Value};

/// Creates a directory with everything that a job can read, and a job that reads it.
fn everything(dir: &Path) -> Job {
    let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).unwrap();
    let rows: String =
        (0..40).map(|i| format!("p{i},{},{},{}\n", 20 + i % 9, i % 4, i % 3)).collect();
    write("part-1.csv", &format!("id,age,zip,disease\n{rows}"));
    write("part-2.csv", "id,age,zip,disease\nq,21,1,2\n");
    write("population.csv", &format!("id,age,zip,disease\n{rows}"));
    write("zip.csv", "0;low;*\n1;low;*\n2;high;*\n3;high;*\n");
    write("job.toml", "# a job");
    write("key", &format!("{}\n", "ab".repeat(32)));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(dir.join("key"), std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let mut job =
        Job::of_file(dir.join("part-*.csv")).quasi(["age", "zip"]).sensitive(["disease"]).k(2);
    job = job.hierarchy("zip", hierarchy_from_path(&dir.join("zip.csv")).unwrap());
    job.population =
        Some(PopulationJob { paths: vec![dir.join("population.csv").into()], memory: None });
    job.file = Some(dir.join("job.toml"));
    job.suppression = Some(SuppressionJob {
        name: "r-suppression".into(),
        params: vec![("l".into(), Value::Integer(2))],
        key: Some(dir.join("key")),
        ..SuppressionJob::default()
    });
    job.output(dir.join("out.csv"))
}

#[test]
fn no_output_overwrites_an_input() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    everything(dir);
    let read =
        ["part-1.csv", "part-2.csv", "population.csv", "zip.csv", "job.toml", "key", "key.ledger"]
            .map(|n| dir.join(n));
    type Change = fn(&mut Job, PathBuf);
    let outputs: [(&str, Change); 4] = [
        ("path", |job, path| job.output.as_mut().unwrap().path = path.into()),
        ("manifest", |job, path| job.output.as_mut().unwrap().manifest = Some(path)),
        ("report", |job, path| job.output.as_mut().unwrap().report = Some(path)),
        ("owner_report", |job, path| job.output.as_mut().unwrap().owner_report = Some(path)),
    ];
    std::fs::write(dir.join("key.ledger"), "").unwrap();
    for (what, change) in outputs {
        for path in &read {
            let mut job = everything(dir);
            let before: Vec<Option<Vec<u8>>> = read.iter().map(|p| std::fs::read(p).ok()).collect();
            // A release needs an extension of its format; a link to the same file is the same file.
            let alias = dir.join("alias.csv");
            if what == "path" && path.extension().is_none_or(|e| e != "csv") {
                #[cfg(unix)]
                std::os::unix::fs::symlink(path, &alias).unwrap();
                change(&mut job, alias.clone());
            } else {
                change(&mut job, dir.join(".").join(path.file_name().unwrap()));
            }
            let error =
                Anonymizer::new(&job).run().expect_err(&format!("{what} {}", path.display()));
            assert_eq!(error.fault(), Fault::Job, "{what} {}: {error}", path.display());
            assert!(error.message().contains("would overwrite a file that is read"), "{error}");
            let after: Vec<Option<Vec<u8>>> = read.iter().map(|p| std::fs::read(p).ok()).collect();
            assert!(before == after, "{what}: an input was changed");
            std::fs::remove_file(alias).ok();
        }
    }
}

#[test]
fn no_output_overwrites_another_or_an_external_table() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let joined = || {
        let mut job = everything(dir);
        (job.suppression, job.population) = (None, None);
        let paths = vec![dir.join("population.csv").into()];
        job.external = Some(ExternalJob { paths, id: "id".into(), ..ExternalJob::default() });
        job
    };
    for path in ["population.csv", "part-1.csv", "zip.csv"] {
        let mut job = joined();
        job.external.as_mut().unwrap().sensitive = Some(dir.join(path).into());
        assert!(Anonymizer::new(&job).run().unwrap_err().message().contains("is read"), "{path}");
        let mut job = joined();
        job.external.as_mut().unwrap().audit = Some(dir.join(path));
        assert!(Anonymizer::new(&job).run().unwrap_err().message().contains("is read"), "{path}");
    }
    let mut job = joined();
    job.external.as_mut().unwrap().audit = Some(dir.join("out.si.csv"));
    assert!(Anonymizer::new(&job).run().unwrap_err().message().contains("another output"));
    let mut job = joined();
    job.output.as_mut().unwrap().report = Some(dir.join("out.release.json"));
    assert!(Anonymizer::new(&job).run().unwrap_err().message().contains("another output"));
    assert!(!dir.join("out.csv").exists());
    // Anatomy's second table has its own path.
    let mut job = everything(dir);
    (job.suppression, job.population) = (None, None);
    job.models.clear();
    job.algorithm.name = "anatomy".to_owned();
    job.algorithm.params = vec![("l".to_owned(), Value::Integer(2))];
    std::fs::copy(dir.join("part-1.csv"), dir.join("out.st.csv")).unwrap();
    job.input.paths = vec![dir.join("out.st.csv").into()];
    assert!(Anonymizer::new(&job).run().unwrap_err().message().contains("is read"));
}

/// A program that uses the library has no other warning about the directory it publishes to.
#[test]
fn a_release_warns_about_journals_that_are_not_executed() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let rows: String = (0..40).map(|i| format!("{},{}\n", 20 + i % 9, i % 3)).collect();
    std::fs::write(dir.join("people.csv"), format!("age,disease\n{rows}")).unwrap();
    std::fs::create_dir(dir.join("out")).unwrap();
    let journal = dir.join("out/.out.csv.0123456789abcdef.incrowd-journal");
    std::fs::write(&journal, "incrowd journal 1\n").unwrap();
    let job = Job::of_file(dir.join("people.csv")).quasi(["age"]).sensitive(["disease"]).k(2);
    let report = Anonymizer::new(job.output(dir.join("out/out.csv"))).run().unwrap();
    let warned = |text: &String| text.contains("your key does not authenticate");
    assert_eq!(report.warnings.iter().filter(|text| warned(text)).count(), 1);
    assert!(journal.exists());
}
