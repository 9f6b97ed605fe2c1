//! The experiments of `xu2010`: how much each method withholds on Zipf tables and on samples of Adult, next to what the paper
//! states; what an adversary learns; and what the step costs in time.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use incrowd::eligibility::{self, Mechanism, Prior, Survey, survey};
use incrowd::job::{Job, RoleName, SuppressionJob};
use incrowd::recode::suppression::levels::{cut, safe_stop, stop};
use incrowd::recode::suppression::{Rule, Way};
use incrowd::{Embedded, Engine, FoldSpec, Options as Reading, Silent, Value};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use crate::chart::{Chart, Line};
use crate::speed::make;

/// What to run.
pub(crate) struct Options {
    samples: u32,
    rows: u64,
    rounds: usize,
    dir: PathBuf,
    svg: Option<PathBuf>,
    data: PathBuf,
}

impl Options {
    pub(crate) fn new(option: impl Fn(&str) -> Option<String>) -> Result<Options, String> {
        let number = |name: &str, usual: u64| {
            option(name).map_or(Ok(usual), |n| n.parse().map_err(|_| format!("{name} takes a number")))
        };
        let data = option("--data")
            .map(PathBuf::from)
            .or_else(|| std::env::var_os("INCROWD_DATA").map(PathBuf::from));
        Ok(Options {
            samples: number("--samples", 3_000)? as u32,
            rows: number("--rows", 0)?,
            rounds: number("--rounds", 3)? as usize,
            dir: option("--dir").map_or_else(|| PathBuf::from("bench/out"), PathBuf::from),
            svg: option("--svg").map(PathBuf::from),
            data: data.unwrap_or_else(|| PathBuf::from("../shared/data")),
        })
    }
}

/// Shares withheld: unsafe, R-suppression as in the paper, R-suppression with complete levels, safe.
type Rates = [f64; 4];
const METHODS: [&str; 4] = ["unsafe-d", "r-suppression (paper)", "r-suppression", "safe-d"];

/// `None` if the counts, in descending order, are l-eligible.
fn rates(counts: &[u64], l: u64) -> Option<Rates> {
    let n: u64 = counts.iter().sum();
    if counts[0] * l <= n || l > counts.len() as u64 {
        return None;
    }
    let r = |complete_level| Rule { way: Way::Random, l, complete_level }.expected(counts);
    let all = [stop(counts, n, l).cuts as f64, r(false), r(true), safe_stop(counts, l).cuts as f64];
    Some(all.map(|withheld| withheld / n as f64))
}

fn zipf(alpha: f64) -> Vec<u64> {
    (1..=20).map(|i| ((1000.0 / f64::from(i).powf(alpha) + 1e-9).floor() as u64).max(1)).collect()
}

/// Prints everything; with a directory for plots, writes them there.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    examples();
    zipf_by_alpha(options)?;
    zipf_by_l(options)?;
    adult(options)?;
    adversary();
    again();
    if options.rows > 0 { speed(options) } else { Ok(()) }
}

fn examples() {
    println!("### Examples 1 to 4 (R1, R2)\n\n| what | paper | ours |\n|---|---|---|");
    let table = [10, 4, 2, 1, 1];
    let (lower, safe) = (stop(&table, 18, 3), safe_stop(&table, 3));
    println!(
        "| Unsafe D-suppression | 6 withheld, {{4,4,2,1,1}} | {} withheld, {:?} |",
        lower.cuts,
        cut(&table, lower)
    );
    println!(
        "| Safe D-suppression | 10 withheld, {{2,2,2,1,1}} | {} withheld, {:?} |",
        safe.cuts,
        cut(&table, safe)
    );
    let reduced = [4, 3, 2, 1, 1];
    println!("| R-suppression, h = 2, F = 3 | {{3,3,2,1,1}} | {:?} |", cut(&reduced, stop(&reduced, 18, 3)));
    let mean = Rule { way: Way::Random, l: 3, complete_level: false }.expected(&table);
    println!("| R-suppression on average | not stated | {mean:.3} withheld |");
}

fn percent(x: f64) -> String {
    format!("{:.1}", 100.0 * x)
}

fn row(label: &str, rates: Option<Rates>) {
    match rates {
        Some(rates) => println!("| {label} | {} |", rates.map(percent).join(" | ")),
        None => println!("| {label} | eligible | eligible | eligible | eligible |"),
    }
}

fn header(first: &str) {
    println!("| {first} | {} |\n|---|---|---|---|---|", METHODS.join(" | "));
}

fn plot(
    options: &Options,
    name: &str,
    x: &str,
    labels: &[String],
    all: &[Option<Rates>],
) -> Result<(), String> {
    let Some(directory) = &options.svg else { return Ok(()) };
    std::fs::create_dir_all(directory).map_err(|e| e.to_string())?;
    let line = |i: usize, name: &str| {
        let at = |(label, rates): (&String, &Option<Rates>)| {
            let x = label.trim_end_matches([' ', '%']).parse().ok()?;
            Some((x, rates.map_or(0.0, |rates| 100.0 * rates[i])))
        };
        Line { name: name.to_owned(), points: labels.iter().zip(all).filter_map(at).collect() }
    };
    let lines = vec![line(0, "unsafe-d"), line(2, "r-suppression"), line(3, "safe-d")];
    let chart = Chart { x: x.to_owned(), y: "withheld, %".to_owned(), lines };
    let file = directory.join(format!("{name}.svg"));
    std::fs::write(&file, chart.svg()).map_err(|e| e.to_string())?;
    println!("\nplot: {}", file.display());
    Ok(())
}

fn zipf_by_alpha(options: &Options) -> Result<(), String> {
    println!("\n### Zipf tables by α: β = 1000, 20 values, l = 5; withheld, % (R3, R4)\n");
    println!(
        "Paper: no violation for α < 0.8; more is withheld as α grows; R-suppression is near Unsafe and about 20 % below Safe.\n"
    );
    let alphas = [0.5, 0.7, 0.75, 0.76, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0];
    let all: Vec<Option<Rates>> = alphas.iter().map(|&alpha| rates(&zipf(alpha), 5)).collect();
    header("α");
    alphas.iter().zip(&all).for_each(|(alpha, &rates)| row(&alpha.to_string(), rates));
    plot(options, "skewed-alpha", "α", &alphas.map(|a| a.to_string()), &all)
}

fn zipf_by_l(options: &Options) -> Result<(), String> {
    println!("\n### Zipf tables by l: α = 1; withheld, % (R5)\n");
    println!("Paper: Unsafe falls from l = 4 to 6 and rises to 10.\n");
    let ls: Vec<u64> = (2..=10).collect();
    let all: Vec<Option<Rates>> = ls.iter().map(|&l| rates(&zipf(1.0), l)).collect();
    header("l");
    ls.iter().zip(&all).for_each(|(l, &rates)| row(&l.to_string(), rates));
    let labels: Vec<String> = ls.iter().map(u64::to_string).collect();
    plot(options, "skewed-l", "l", &labels, &all)
}

/// The occupation of everybody in Adult who has no missing value.
fn occupations(data: &Path) -> Result<Vec<u32>, String> {
    let path = data.join("adult_arx.csv.gz");
    if !path.exists() {
        return Err(format!(
            "skipped: no adult_arx.csv.gz in {} (set INCROWD_DATA or use --data)",
            data.display()
        ));
    }
    let mut engine = Embedded::open(&[path], &Reading::default()).map_err(|e| e.to_string())?;
    let spec = FoldSpec {
        columns: vec!["occupation".to_owned()],
        missing: vec![String::new(), "?".to_owned()],
        drop_missing: true,
        replay: false,
    };
    let folded = engine.fold(&spec, &Silent).map_err(|e| e.to_string())?;
    let mut counts: Vec<(String, u64)> = folded
        .canonical()
        .into_iter()
        .map(|(cells, n)| (cells[0].unwrap_or_default().to_owned(), n))
        .collect();
    counts.sort();
    let all = counts.iter().enumerate();
    Ok(all.flat_map(|(value, (_, n))| std::iter::repeat_n(value as u32, *n as usize)).collect())
}

fn sorted_counts(values: &[u32]) -> Vec<u64> {
    let mut counts = vec![0; values.iter().max().map_or(0, |&v| v as usize + 1)];
    values.iter().for_each(|&value| counts[value as usize] += 1);
    counts.retain(|&count| count > 0);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts
}

/// The share of samples that are not eligible, and what is withheld from those on average.
fn sampled(everybody: &[u32], share: f64, l: u64, samples: u32, seed: u64) -> (f64, Option<Rates>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let size = (everybody.len() as f64 * share).round() as usize;
    let mut people = everybody.to_vec();
    let (mut violating, mut sums) = (0u32, [0.0; 4]);
    for _ in 0..samples {
        let (sample, _) = people.partial_shuffle(&mut rng, size);
        if let Some(rates) = rates(&sorted_counts(sample), l) {
            violating += 1;
            sums.iter_mut().zip(rates).for_each(|(sum, rate)| *sum += rate);
        }
    }
    let mean = (violating > 0).then(|| sums.map(|sum| sum / f64::from(violating)));
    (f64::from(violating) / f64::from(samples), mean)
}

fn adult(options: &Options) -> Result<(), String> {
    let everybody = match occupations(&options.data) {
        Ok(everybody) => everybody,
        Err(skipped) => {
            println!("\n{skipped}");
            return Ok(());
        }
    };
    let counts = sorted_counts(&everybody);
    let n = everybody.len() as u64;
    println!("\n### Adult, occupation (R6)\n\n| what | paper | ours |\n|---|---|---|");
    println!("| records | 30,162 | {n} |\n| values | 14 | {} |", counts.len());
    println!("| most frequent, % | 13.4 | {} |", percent(counts[0] as f64 / n as f64));
    let largest = (1..=counts.len() as u64).rev().find(|&l| counts[0] * l <= n).unwrap_or(0);
    println!(
        "| eligible for l = 6 | yes | {} (up to l = {largest}) |",
        if largest >= 6 { "yes" } else { "no" }
    );
    let samples = options.samples;
    println!("\n### Samples of Adult: {samples} of each kind, without replacement (R7, R8, R9)\n");
    println!(
        "Paper, samples of 0.5 % and l = 6: about 40 % violate eligibility; R-suppression withholds less than 3 %, almost as \
         little as Unsafe, Safe more than 10 %. More violations for smaller samples and larger l.\n"
    );
    println!("| sample | l | violate, % | {} |\n|---|---|---|---|---|---|---|", METHODS.join(" | "));
    let mut lines: Vec<(String, Option<Rates>)> = Vec::new();
    let kinds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05]
        .map(|share| (share, 6))
        .into_iter()
        .chain([(0.005, 7), (0.01, 7)]);
    for (i, (share, l)) in kinds.enumerate() {
        let (violating, mean) = sampled(&everybody, share, l, samples, 100 + i as u64);
        let cells = mean.map_or_else(|| ["-"; 4].map(str::to_owned), |rates| rates.map(percent));
        println!("| {} % | {l} | {} | {} |", 100.0 * share, percent(violating), cells.join(" | "));
        if l == 6 {
            lines.push((format!("{} %", 100.0 * share), mean));
        }
    }
    let (labels, all): (Vec<String>, Vec<Option<Rates>>) = lines.into_iter().unzip();
    plot(options, "skewed-samples", "sample of Adult, l = 6", &labels, &all)?;
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let (mut tables, mut below, mut dearer) = (0u32, 0u32, 0u32);
    while tables < 10_000 {
        let values = rng.random_range(3..7);
        let mut counts: Vec<u64> = (0..values).map(|_| rng.random_range(1..30)).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        if let Some(rates) = rates(&counts, rng.random_range(2..=values)) {
            tables += 1;
            below += u32::from(rates[1] < rates[0] - 1e-12);
            dearer += u32::from(rates[1] > rates[3] + 1e-12);
        }
    }
    println!(
        "\nR10. Paper: Unsafe ≤ R-suppression always, and R-suppression well below Safe. Of {tables} random tables R-suppression \
         withholds less than Unsafe on average in {below} and more than Safe in {dearer}."
    );
    Ok(())
}

fn adversary() {
    println!("\n### What an adversary learns: enumeration of all tables\n");
    println!("Paper: the best guess of the dominant value is right with at most 1/l.\n");
    println!(
        "| records, values, l | 1/l | prior | method | best guess is right | worst release | releases over 1/l, % |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (n, m, l) in [(12, 4, 3), (18, 5, 3), (18, 4, 2), (24, 5, 3), (24, 6, 4), (24, 4, 4)] {
        for (prior_name, prior) in Prior::ALL {
            for (name, complete) in
                [("unsafe-d", false), ("r-suppression", false), ("r-suppression", true), ("safe-d", false)]
            {
                let Some(mechanism) = Mechanism::named(name, l, complete) else { continue };
                let Survey { success, worst, over, .. } = survey(mechanism, prior, n, m);
                let name = if name == "r-suppression" && !complete { "r-suppression (paper)" } else { name };
                println!(
                    "| {n}, {m}, {l} | {:.3} | {prior_name} | {name} | {success:.3} | {worst:.3} | {:.0} |",
                    1.0 / l as f64,
                    100.0 * over
                );
            }
        }
    }
    let example = Mechanism::named("r-suppression", 3, false);
    if let Some(mechanism) = example {
        let release = [3, 3, 2, 1, 1];
        println!("\nExample 5, {{3,3,2,1,1}} of 18 records, l = 3. Paper: 1/3, 1/3, 1/3.\n");
        println!("| prior | posterior of the values with 3 records | with 2 | with 1 |\n|---|---|---|---|");
        let print = |name: &str, posterior: Option<eligibility::Posterior>| {
            if let Some(p) = posterior {
                println!("| {name} | {:.3} each | {:.3} | {:.3} each |", p.of(3), p.of(2), p.of(1));
            }
        };
        print("flat", eligibility::exact(mechanism, Prior::Flat, &release, 18));
        print("multinomial", eligibility::exact(mechanism, Prior::Multinomial, &release, 18));
        print("shape known", eligibility::shape_known(mechanism, &[10, 4, 2, 1, 1], &release));
    }
}

/// Two independent draws for one table: the value whose count moved is taken for the dominant one.
fn again() {
    const PAIRS: u32 = 2_000;
    println!("\n### A second, independent release of the same table (W1; {PAIRS} pairs)\n");
    println!(
        "| table | l | right from one release (most frequent) | right from two (which count moved) |\n|---|---|---|---|"
    );
    let tables: [(&str, Vec<u64>, u64); 2] =
        [("Zipf, α = 1", zipf(1.0), 5), ("{10,4,2,1,1}", vec![10, 4, 2, 1, 1], 3)];
    for (name, counts, l) in tables {
        let rule = Rule { way: Way::Random, l, complete_level: false };
        let (mut one, mut two) = (0.0, 0.0);
        for pair in 0..PAIRS {
            let draw = |seed: u32| {
                let secret = incrowd::recode::suppression::Secret::of_seed(u64::from(seed));
                rule.cut(&counts, &mut || secret.dice()).map(|cut| cut.kept).unwrap_or_default()
            };
            let (a, b) = (draw(2 * pair), draw(2 * pair + 1));
            let share = |guess: &dyn Fn(usize) -> bool| {
                let guessed = (0..a.len()).filter(|&i| guess(i)).count().max(1) as f64;
                if guess(0) { 1.0 / guessed } else { 0.0 }
            };
            let top = a.iter().copied().max().unwrap_or(0);
            one += share(&|i| a[i] == top);
            let moved = (0..a.len()).map(|i| a[i].abs_diff(b[i])).max().unwrap_or(0);
            two += share(&|i| if moved == 0 { a[i] == top } else { a[i].abs_diff(b[i]) == moved });
        }
        println!("| {name} | {l} | {:.2} | {:.2} |", one / f64::from(PAIRS), two / f64::from(PAIRS));
    }
    println!(
        "\nThe draws of a release follow from a key, so a repeat is the same release and tells nothing new."
    );
}

const TASKS: [&str; 2] = ["without", "with"];

/// The time of publishing with the step and without it, in turns, in processes of their own.
fn speed(options: &Options) -> Result<(), String> {
    let table = options.dir.join(format!("people-{}", options.rows));
    make(&table, options.rows)?;
    let mut seconds: [Vec<f64>; 2] = Default::default();
    let mut steps = Vec::new();
    for _ in 0..options.rounds.max(1) {
        for (i, task) in TASKS.iter().enumerate() {
            let mut command = Command::new(std::env::current_exe().map_err(|e| e.to_string())?);
            let output =
                command.args(["skewed-task", task]).arg(&table).output().map_err(|e| e.to_string())?;
            if !output.status.success() {
                return Err(String::from_utf8_lossy(&output.stderr).into_owned());
            }
            let answer: serde_json::Value =
                serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
            seconds[i].push(answer["seconds"].as_f64().unwrap_or(f64::NAN));
            if i == 1 {
                steps.push((answer["withholding"].as_f64().unwrap_or(f64::NAN), answer["withheld"].clone()));
            }
        }
    }
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let [without, with] = &mut seconds;
    let (without, with) = (median(without), median(with));
    let mut own: Vec<f64> = steps.iter().map(|step| step.0).collect();
    println!(
        "\n### Time, {} rows, disease, k = 10, l = 2 (median of {} rounds, in turns)\n",
        options.rows, options.rounds
    );
    println!("| task | seconds | ratio |\n|---|---|---|");
    println!("| mondrian, k = 10 and 2 different values, nothing withheld | {without:.2} | 1.00 |");
    println!(
        "| the same after r-suppression:l=2 ({} withheld) | {with:.2} | {:.2} |",
        steps[0].1,
        with / without
    );
    println!("| of that, the step itself | {:.2} | {:.2} |", median(&mut own), median(&mut own) / without);
    Ok(())
}

/// One measured run: `with` or `without` the step, and the directory of the table.
pub(crate) fn task(args: &[String]) -> Result<(), String> {
    let [kind, dir] = args else { return Err("unknown task".to_owned()) };
    let dir = Path::new(dir);
    let mut job = Job::default();
    job.input.paths = vec![dir.join("people.csv")];
    for column in crate::task::FIVE {
        job.set_role(column, RoleName::Quasi);
    }
    job.set_role("disease", RoleName::Sensitive);
    job.promise("k-anonymity", [("k", Value::Integer(10))]);
    job.promise("l-diversity", [("l", Value::Integer(2))]);
    if kind == "with" {
        job.suppression = Some(SuppressionJob {
            name: "r-suppression".to_owned(),
            params: vec![("l".to_owned(), Value::Integer(2))],
            seed: Some(1),
            ..SuppressionJob::default()
        });
    }
    job.write_to(dir.join(format!("skewed-{kind}.csv")));
    let steps = Step::default();
    let began = Instant::now();
    let report = incrowd::anonymize(&job, &steps).map_err(|e| e.to_string())?;
    let seconds = began.elapsed().as_secs_f64();
    std::fs::remove_file(dir.join(format!("skewed-{kind}.csv"))).ok();
    let withheld = report.suppression.map(|step| step.withheld);
    let own = steps.0.lock().map(|own| own.1).unwrap_or_default();
    println!("{}", json!({ "seconds": seconds, "withholding": own, "withheld": withheld }));
    Ok(())
}

/// How long the step took.
#[derive(Default)]
struct Step(std::sync::Mutex<(Option<Instant>, f64)>);

impl incrowd::Progress for Step {
    fn step(&self, name: &str, _: Option<u64>) {
        if let Ok(mut own) = self.0.lock() {
            if let Some(began) = own.0.take() {
                own.1 = began.elapsed().as_secs_f64();
            }
            if name == "withholding" {
                own.0 = Some(Instant::now());
            }
        }
    }

    fn advance(&self, _: u64) {}
}
