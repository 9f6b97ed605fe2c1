//! Changes to a published release are detected.

use std::path::Path;

use incrowd::{Anonymizer, Checked, Judging};

use crate::release::small;

const RELEASE: &str = "out.csv";
const MANIFEST: &str = "out.release.json";

/// Returns a release and the request to judge it with its job.
fn made(dir: &Path) -> Judging {
    let job = small(dir, RELEASE);
    assert_eq!(Anonymizer::new(&job).run().unwrap().verification.groups, 2);
    Judging::of(&job)
}

fn tamper(dir: &Path, change: impl FnOnce(&mut Vec<String>)) {
    let text = std::fs::read_to_string(dir.join(RELEASE)).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    change(&mut lines);
    std::fs::write(dir.join(RELEASE), lines.join("\n") + "\n").unwrap();
}

fn check(job: &Judging) -> Checked {
    job.verify().unwrap()
}

#[test]
fn an_untouched_release_holds() {
    let dir = tempfile::tempdir().unwrap();
    let job = made(dir.path());
    for job in [job.clone(), Judging::new(dir.path().join(RELEASE))] {
        let checked = check(&job);
        assert!(checked.holds() && checked.digest_matches == Some(true));
        assert_eq!(checked.verification.judgements[0].have, 2.0);
    }
}

#[test]
fn a_removed_record_is_detected_by_the_digest_and_by_its_group() {
    let dir = tempfile::tempdir().unwrap();
    let job = made(dir.path());
    let small_group = std::fs::read_to_string(dir.path().join(RELEASE)).unwrap();
    let at = small_group.lines().position(|line| line.contains("Rome")).unwrap();
    tamper(dir.path(), |lines| drop(lines.remove(at)));
    let checked = check(&job);
    assert_eq!((checked.digest_matches, checked.holds()), (Some(false), false));
    std::fs::remove_file(dir.path().join(MANIFEST)).unwrap();
    let checked = check(&job);
    assert_eq!((checked.digest_matches, checked.holds()), (None, false));
    assert_eq!(checked.verification.judgements[0].have, 1.0);
    assert_eq!(checked.to_json()["holds"], false);
}

#[test]
fn a_record_removed_from_a_larger_group_is_detected_only_by_the_digest() {
    let dir = tempfile::tempdir().unwrap();
    let job = made(dir.path());
    let text = std::fs::read_to_string(dir.path().join(RELEASE)).unwrap();
    let at = text.lines().position(|line| line.contains("Oslo")).unwrap();
    tamper(dir.path(), |lines| drop(lines.remove(at)));
    let checked = check(&job);
    assert!(checked.verification.holds() && !checked.holds());
}

#[test]
fn one_changed_cell_is_detected() {
    for (from, to, privacy_model) in
        [("Rome", "Roma", false), ("flu", "fly", true), ("[20, 21]", "20", false)]
    {
        let dir = tempfile::tempdir().unwrap();
        let job = made(dir.path());
        tamper(dir.path(), |lines| {
            let line = lines.iter_mut().find(|line| line.contains(from)).unwrap();
            *line = line.replace(from, to);
        });
        let checked = check(&job);
        assert_eq!(checked.digest_matches, Some(false));
        assert_eq!(checked.verification.holds(), privacy_model, "{from}");
        assert!(!checked.holds());
    }
}

#[test]
fn a_changed_order_of_records_is_detected() {
    let dir = tempfile::tempdir().unwrap();
    let job = made(dir.path());
    tamper(dir.path(), |lines| lines[1..].reverse());
    let checked = check(&job);
    assert!(checked.verification.holds() && !checked.holds());
}

#[test]
fn a_published_identifier_is_detected() {
    let dir = tempfile::tempdir().unwrap();
    let job = made(dir.path()).with_role(["id"], incrowd::job::RoleName::Identifier);
    let checked = check(&job);
    assert_eq!(
        (checked.identifiers.as_slice(), checked.holds()),
        (["id".to_owned()].as_slice(), false)
    );
}

#[test]
fn the_original_is_not_a_release() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = made(dir.path());
    job.release = incrowd::job::Table::file(dir.path().join("people-in.csv"));
    let checked = check(&job);
    assert_eq!((checked.digest_matches, checked.holds()), (None, false));
    assert_eq!(checked.verification.judgements[0].failing, 5);
}
