//! Manifests of every format ever written stay readable, and their releases can be verified.

use std::path::PathBuf;

use incrowd::job::{ExternalJob, Input};
use incrowd::manifest::FORMAT;
use incrowd::{Judging, Manifest, Value};

fn samples(format: u32) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/manifests/format-{format}"))
}

fn original(directory: &std::path::Path) -> Input {
    Input { paths: vec![directory.join("people.csv").into()], ..Input::default() }
}

#[test]
fn every_format_has_samples_that_are_read_and_judged() {
    for format in 1..=FORMAT {
        let dir = samples(format);
        for (name, publication) in [
            ("one-table", "one table"),
            ("categories", "one table"),
            ("withheld", "one table"),
            ("anatomy", "anatomy"),
            ("joined", "k-join-anonymity"),
        ] {
            let bytes = std::fs::read(dir.join(format!("{name}.release.json"))).unwrap();
            let manifest =
                Manifest::parse(&bytes).unwrap_or_else(|e| panic!("{format} {name}: {e}"));
            assert_eq!(
                (manifest.format, manifest.publication.as_str()),
                (format, publication),
                "{name}"
            );
            let release = dir.join(format!("{name}.csv"));
            let checked = Judging::new(&release).verify().unwrap();
            assert!(checked.holds() && checked.digest_matches == Some(true), "{format} {name}");
            // And with the original.
            let mut judging = Judging::new(&release).with_original(original(&dir));
            if publication == "k-join-anonymity" {
                let paths = vec![dir.join("everybody.csv").into()];
                judging.external =
                    Some(ExternalJob { paths, id: "id".into(), ..ExternalJob::default() });
            }
            let checked = judging.verify().unwrap_or_else(|e| panic!("{format} {name}: {e}"));
            assert!(checked.holds(), "{format} {name}");
            assert_eq!(
                checked.from_original.is_some(),
                name != "one-table" && name != "categories",
                "{name}"
            );
        }
    }
}

#[test]
fn the_content_of_a_manifest_is_typed() {
    for format in 1..=FORMAT {
        let read = |name: &str| {
            let bytes =
                std::fs::read(samples(format).join(format!("{name}.release.json"))).unwrap();
            Manifest::parse(&bytes).unwrap()
        };
        let one = read("one-table");
        assert_eq!(one.records.published, 30);
        assert_eq!(one.models[0].params.get("k").map(|p| &p.0), Some(&Value::Integer(3)));
        assert!(one.metrics.ncp() > 0.0 && one.metrics.get("groups") == Some(one.groups as f64));
        assert_eq!(one.job.columns.get("zip").unwrap().hierarchy.as_deref(), Some("mask"));
        let categories = read("categories");
        let disease = categories.job.columns.get("disease").unwrap();
        assert_eq!(disease.publish.as_deref(), Some("both"));
        assert_eq!(disease.categories.as_ref().unwrap()[0].values, ["cancer", "HIV"]);
        assert!(categories.job.columns.get("income").unwrap().intervals.is_some());
        assert!(categories.algorithm.levels.is_some());
        let withheld = read("withheld");
        assert!(withheld.hides_suppression() && withheld.records.read.is_none());
        assert_eq!(withheld.suppression.unwrap().on, "disease");
        assert_eq!(read("anatomy").files.len(), 2);
        assert!(read("joined").sensitive_groups.is_some());
    }
}

/// Every written manifest is read back unchanged.
#[test]
fn a_manifest_survives_a_round_trip() {
    for name in ["one-table", "categories", "withheld", "anatomy", "joined"] {
        let bytes = std::fs::read(samples(FORMAT).join(format!("{name}.release.json"))).unwrap();
        let manifest = Manifest::parse(&bytes).unwrap();
        assert!(manifest.to_bytes().unwrap() == bytes, "{name}");
    }
}
