//! The information loss of bounds, relative to the original before `top`, `bottom` and `min_level`.
//! Computed independently from the texts of both tables, record by record.

use std::path::Path;

use incrowd::job::{Job, parse};
use incrowd::{Anonymizer, Judging};

fn job(dir: &Path, age: &str, k: u32, algorithm: &str) -> Job {
    let text = format!(
        "[input]\npath = 't.csv'\n[output]\npath = 'out.csv'\n\
         [columns]\nage = {{ role = 'quasi'{age} }}\n\
         [[models]]\nname = 'k-anonymity'\nk = {k}\n[algorithm]\nname = '{algorithm}'\n"
    );
    parse("job.toml", &text, dir).unwrap_or_else(|e| panic!("{e}\n{text}")).job
}

fn cells(path: &Path) -> Vec<String> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    reader.records().map(|record| record.unwrap()[0].to_owned()).collect()
}

/// Returns the least and the greatest number that a cell covers, within the range of the original.
fn ends(cell: &str, (min, max): (f64, f64)) -> (f64, f64) {
    let number = |text: &str| text.parse::<f64>().unwrap_or_else(|_| panic!("{cell}"));
    let (lo, hi) = if cell == "*" {
        (min, max)
    } else if let Some(lo) = cell.strip_prefix(">=") {
        (number(lo), max)
    } else if let Some(hi) = cell.strip_prefix("<=") {
        (min, number(hi))
    } else if let Some(above) = cell.strip_prefix('<') {
        (min, number(above) - 1.0)
    } else if let Some((lo, hi)) =
        cell.strip_prefix('[').and_then(|c| c.strip_suffix(']')?.split_once(", "))
    {
        (number(lo), number(hi))
    } else {
        (number(cell), number(cell))
    };
    (lo.max(min), hi.min(max))
}

/// NCP and loss of entropy by their definitions.
fn losses(original: &[f64], release: &[String]) -> (f64, f64) {
    let range = original.iter().fold((f64::MAX, f64::MIN), |(lo, hi), &x| (lo.min(x), hi.max(x)));
    let n = original.len() as f64;
    let bits = |lo: f64, hi: f64| {
        let like: f64 = original.iter().map(|&x| f64::from(u8::from(lo <= x && x <= hi))).sum();
        -(like / n).log2()
    };
    let ends: Vec<(f64, f64)> = release.iter().map(|cell| ends(cell, range)).collect();
    let ncp = ends.iter().map(|(lo, hi)| (hi - lo) / (range.1 - range.0)).sum::<f64>() / n;
    let all: f64 = original.iter().map(|&x| bits(x, x)).sum();
    let reported: f64 = ends.iter().map(|&(lo, hi)| bits(lo, hi)).sum();
    (ncp, (all - reported) / all)
}

fn ages(seed: u32, records: u32) -> Vec<f64> {
    let mut state = seed.wrapping_mul(2_654_435_761).max(1);
    let mut draw = |below: u32| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state % below
    };
    let mut age = |_| {
        let most = 1 + draw(41);
        f64::from(20 + draw(most))
    };
    (0..records).map(&mut age).collect()
}

#[test]
fn bounds_cost_the_part_of_the_original_that_they_hide() {
    let hierarchies = ["", ", hierarchy = { intervals = { width = 5, levels = 3 } }"];
    let bounds = [
        ", top = 20",
        ", top = 35",
        ", top = 100",
        ", bottom = 24",
        ", bottom = 60",
        ", bottom = 23, top = 40",
        ", bottom = 21, top = 22, domain = [20, 30]",
        "",
    ];
    for seed in 1..4 {
        let dir = tempfile::tempdir().unwrap();
        let original = ages(seed, 80);
        let text: String = original.iter().map(|age| format!("{age}\n")).collect();
        std::fs::write(dir.path().join("t.csv"), format!("age\n{text}")).unwrap();
        for hierarchy in hierarchies {
            for bound in
                bounds.iter().filter(|bound| hierarchy.is_empty() || !bound.contains("domain"))
            {
                let algorithms: &[&str] = if seed == 1 {
                    &["mondrian", "auto", "mdav", "top-down", "ascent"]
                } else {
                    &["auto"]
                };
                for algorithm in algorithms {
                    let what = format!("{algorithm}{hierarchy}{bound}");
                    let asked = job(dir.path(), &format!("{hierarchy}{bound}"), 3, algorithm);
                    let report =
                        Anonymizer::new(&asked).run().unwrap_or_else(|e| panic!("{what}: {e}"));
                    let (ncp, entropy) = losses(&original, &cells(&dir.path().join("out.csv")));
                    let measured = Judging::of(&asked).measure(None).unwrap().metrics();
                    for metrics in [&report.manifest.metrics, &measured] {
                        let close = |name: &str, expected: f64| {
                            let reported = metrics.get(name).unwrap();
                            assert!(
                                (reported - expected).abs() < 1e-9,
                                "{what}: {name} {reported}, not {expected}"
                            );
                        };
                        close("ncp", ncp);
                        close("entropy_loss", entropy);
                    }
                    assert_eq!(report.manifest.metrics, measured, "{what}");
                    assert!(Judging::of(&asked).verify().unwrap().holds());
                }
            }
        }
    }
}

#[test]
fn a_column_of_one_open_cell_has_no_information() {
    let dir = tempfile::tempdir().unwrap();
    let text: String = (20..=60).map(|age| format!("{age}\n")).collect();
    std::fs::write(dir.path().join("t.csv"), format!("age\n{text}")).unwrap();
    for hierarchy in ["", ", hierarchy = { intervals = { width = 5 } }"] {
        let asked = job(dir.path(), &format!("{hierarchy}, top = 20"), 3, "auto");
        let metrics = Anonymizer::new(&asked).run().unwrap().manifest.metrics;
        assert!(cells(&dir.path().join("out.csv")).iter().all(|cell| cell == ">=20"));
        for name in ["ncp", "weighted_ncp", "entropy_loss", "information_loss"] {
            assert!(
                (metrics.get(name).unwrap() - 1.0).abs() < 1e-9,
                "{hierarchy} {name}: {:?}",
                metrics.get(name)
            );
        }
        assert!(metrics.get("distortion").unwrap() > 0.0, "{hierarchy}");
        // The utility measures use the same original.
        let measured = Judging::of(&asked).measure(Some(&incrowd::Ask::default())).unwrap();
        let columns = &measured.utility.as_ref().unwrap().columns;
        assert_eq!(columns[0].ncp, 1.0, "{hierarchy}");
        assert!(columns[0].figure("non_uniform_entropy").unwrap() > 0.99, "{hierarchy}");
    }
}

#[test]
fn a_least_level_costs_its_steps() {
    let dir = tempfile::tempdir().unwrap();
    let zips: Vec<String> = (0..40).map(|n| format!("{:05}", 10_000 + (n % 20) * 137)).collect();
    std::fs::write(dir.path().join("t.csv"), format!("age\n{}\n", zips.join("\n"))).unwrap();
    let cost = |level: u32| {
        let asked =
            job(dir.path(), &format!(", hierarchy = 'mask', min_level = {level}"), 2, "auto");
        let metrics = Anonymizer::new(&asked).run().unwrap().manifest.metrics;
        assert_eq!(Judging::of(&asked).measure(None).unwrap().metrics(), metrics);
        let stars: usize =
            cells(&dir.path().join("out.csv")).iter().map(|cell| cell.matches('*').count()).sum();
        (metrics.get("distortion").unwrap(), metrics.get("entropy_loss").unwrap(), stars)
    };
    // Every value occurs twice, so only the level generalizes.
    assert_eq!(cost(0), (0.0, 0.0, 0));
    for level in 1..4 {
        let (distortion, entropy, stars) = cost(level);
        assert_eq!(stars, 40 * level as usize);
        assert!((distortion - f64::from(level) / 5.0).abs() < 1e-9, "{level}: {distortion}");
        assert!(entropy > 0.0 || level < 3, "{level}: {entropy}");
    }
}
