//! Private data never appears in public output: canary numbers are planted in data that only the
//! owner has.

use incrowd::job::{Job, PopulationJob, SuppressionJob};
use incrowd::{Anonymizer, Ask, AttackRequest, Audience, Fact, Judging, Value};
use serde_json::Value as Json;

/// 1013 records, some of which are suppressed: the number is in no public output.
const RECORDS: u64 = 1013;

fn job(dir: &std::path::Path) -> Job {
    let disease =
        |i: u64| if i % 5 < 3 { "frequent" } else { ["a", "b", "c", "d"][(i % 4) as usize] };
    let rows: String = (0..RECORDS)
        .map(|i| format!("canary-{i},{},{},{}\n", 20 + i * 7 % 50, i * 13 % 9, disease(i)))
        .collect();
    std::fs::write(dir.join("people.csv"), format!("id,age,place,disease\n{rows}")).unwrap();
    let mut job =
        Job::of_file(dir.join("people.csv")).quasi(["age", "place"]).sensitive(["disease"]).k(3);
    job.suppression = Some(SuppressionJob {
        name: "r-suppression".into(),
        params: vec![("l".into(), Value::Integer(3))],
        seed: Some(7),
        ..SuppressionJob::default()
    });
    job.output(dir.join("out.csv"))
}

/// Returns everything in an answer except `private`.
fn public(answer: &Json) -> String {
    let mut answer = answer.clone();
    if let Some(object) = answer.as_object_mut() {
        object.remove("private");
    }
    answer.to_string()
}

/// Returns the text of a page, without styles and tags.
fn shown(page: &str) -> String {
    let without_style =
        page.split("<style").map(|part| part.split_once("</style>").map_or(part, |(_, rest)| rest));
    let text: String = without_style.collect();
    text.split('<')
        .map(|part| part.split_once('>').map_or(part, |(_, rest)| rest))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn canaries_are_found_in_nothing_that_may_be_published() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let made = Anonymizer::new(job(dir)).run().unwrap();
    let withheld = made.suppression.as_ref().unwrap().suppressed;
    assert!(withheld > 100, "{withheld}");
    let secrets = [RECORDS.to_string(), withheld.to_string(), "canary".to_owned()];
    let mut judging = Judging::new(dir.join("out.csv"));
    judging.original = Some(job(dir).input);
    let ask = Ask { pairs: true, ..Ask::default() };
    let pages = judging.report(&ask).unwrap();
    judging.population =
        Some(PopulationJob { paths: vec![dir.join("people.csv").into()], memory: None });
    // The manifest at another path must be found, or private measures would be treated as public.
    std::fs::rename(dir.join("out.release.json"), dir.join("elsewhere.json")).unwrap();
    judging.manifest = Some(dir.join("elsewhere.json"));
    let measured = judging.measure(Some(&ask)).unwrap();
    assert!(measured.owner_only, "all that is measured tells how many records were withheld");
    let answers = [
        ("manifest", made.manifest.to_json().to_string()),
        ("anonymize", public(&made.to_json())),
        ("verify", public(&judging.verify().unwrap().to_json())),
        ("measure", public(&measured.to_json())),
        (
            "attack",
            public(&Judging::of(&job(dir)).attack(&AttackRequest::default()).unwrap().to_json()),
        ),
        ("page", shown(&pages.public)),
    ];
    for (what, answer) in answers {
        for secret in &secrets {
            // Numbers are searched as numbers, not inside digests and fractions.
            let found = answer.match_indices(secret.as_str()).any(|(at, _)| {
                let near = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '.');
                !near(answer[..at].chars().next_back())
                    && !near(answer[at + secret.len()..].chars().next())
            });
            assert!(!found, "{what} tells `{secret}`");
        }
    }
    // The owner's output contains them.
    assert!(made.to_json()["private"]["records"]["read"] == RECORDS);
    assert!(pages.owner.is_some());
}

#[test]
fn one_function_decides_about_the_audience() {
    let reported = |fact| Audience::decide(fact, false).is_everybody();
    assert!(
        reported(Fact::ReleaseItself)
            && reported(Fact::MeasuredOverTheTable)
            && reported(Fact::SizeOfTheTable)
    );
    assert!(
        reported(Fact::QueryErrors { answered: 100 })
            && !reported(Fact::QueryErrors { answered: 99 })
    );
    for fact in [
        Fact::QueryErrorsBySelectivity,
        Fact::LostValues,
        Fact::ScoresByFold,
        Fact::AlgorithmReport,
        Fact::SuppressionStep,
        Fact::JoinWithExternal,
        Fact::AttackWithSecrets,
        Fact::ExposedGroups,
        Fact::FromOriginal,
        Fact::ProfileOfTheTable,
    ] {
        assert!(!reported(fact), "{fact:?}");
    }
    for fact in
        [Fact::SizeOfTheTable, Fact::MeasuredOverTheTable, Fact::QueryErrors { answered: 1000 }]
    {
        assert!(!Audience::decide(fact, true).is_everybody(), "{fact:?} of withheld records");
    }
    assert!(Audience::decide(Fact::ReleaseItself, true).is_everybody());
}
