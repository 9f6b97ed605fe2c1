//! k-join-anonymity: the figures of `sacharidis2010` on a real and on a generated table, and the
//! cost.

use std::fmt::Write as _;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use incrowd::job::{ExternalJob, Job, JoinMethod, PopulationJob, RoleName, Trim};
use incrowd::utility::{QueryError, Workload};
use incrowd::{Ask, AttackRequest, Judging, Value};
use incrowd_synth::{Synth, Table};

use crate::chart::{Chart, Line};

/// The attributes of the paper's table 2 under the names of the generated table, and those of the
/// real one.
const SKEWED: &[&str] = &["age", "income", "family_size", "education_years", "rent", "sex"];
const ACS: &[&str] = &["age", "salary", "education_level", "hours_worked"];

/// The parts to run.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) data: PathBuf,
    pub(crate) dir: PathBuf,
    pub(crate) svg: Option<PathBuf>,
    pub(crate) seeds: u64,
    pub(crate) sweep_seeds: u64,
    pub(crate) microdata: usize,
    pub(crate) parts: Vec<String>,
}

impl Options {
    /// Reads the options of the command line.
    pub(crate) fn new(option: impl Fn(&str) -> Option<String>) -> Result<Options, String> {
        let number = |name: &str, default: u64| {
            option(name)
                .map_or(Ok(default), |n| n.parse().map_err(|_| format!("{name} takes a number")))
        };
        let parts = option("--only").unwrap_or_else(|| "acceptance,sweeps,speed,large".to_owned());
        Ok(Options {
            data: option("--data").map_or_else(incrowd_testing::data_dir, PathBuf::from),
            dir: option("--dir").map_or_else(|| PathBuf::from("bench/out/join"), PathBuf::from),
            svg: option("--svg").map(PathBuf::from),
            seeds: number("--seeds", 5)?,
            sweep_seeds: number("--sweep-seeds", 1)?,
            microdata: number("--microdata", 10_000)? as usize,
            parts: parts.split(',').map(str::to_owned).collect(),
        })
    }

    fn wants(&self, part: &str) -> bool {
        self.parts.iter().any(|p| p == part)
    }
}

/// Random numbers from a seed, equal on every platform.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * u128::from(n)) >> 64) as u64
    }
}

/// People as numbers, with a text that is sensitive.
struct People {
    name: &'static str,
    quasi: &'static [&'static str],
    rows: Vec<u32>,
    values: Vec<u32>,
}

impl People {
    fn len(&self) -> usize {
        self.values.len()
    }

    fn row(&self, i: usize) -> &[u32] {
        &self.rows[i * self.quasi.len()..(i + 1) * self.quasi.len()]
    }

    /// Generates the table. People are independent, so the first ones are a sample.
    fn skewed(rows: usize, seed: u64) -> Result<People, String> {
        let mut csv = Vec::new();
        Synth::new(Table::Skewed, rows as u64, seed)
            .write_csv(&mut csv)
            .map_err(|e| e.to_string())?;
        let text = String::from_utf8(csv).map_err(|e| e.to_string())?;
        let mut people =
            People { name: "skewed", quasi: SKEWED, rows: Vec::new(), values: Vec::new() };
        for line in text.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |text: &str| match text {
                "female" => 1,
                "male" => 2,
                _ => text.parse().unwrap_or(0),
            };
            people.rows.extend(cells[1..7].iter().map(|cell| number(cell)));
            people.values.push(number(cells[7]));
        }
        Ok(people)
    }

    /// Returns the real table in an order drawn by the seed.
    fn acs(data: &Path, seed: u64) -> Result<People, String> {
        let path = data.join("acs2018_gov_employees.csv.gz");
        let file = std::fs::File::open(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut reader = csv::Reader::from_reader(flate2::read::GzDecoder::new(file));
        let header = reader.headers().map_err(|e| e.to_string())?.clone();
        let at =
            |name: &str| header.iter().position(|h| h == name).ok_or(format!("no column {name}"));
        let columns = ACS.iter().map(|name| at(name)).collect::<Result<Vec<_>, _>>()?;
        let occupation = at("occupation")?;
        let mut all: Vec<(Vec<u32>, u32)> = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|e| e.to_string())?;
            let row = columns.iter().map(|&c| record[c].parse().unwrap_or(0)).collect();
            // Occupation codes such as 13-1081: only equality matters.
            let digits: String = record[occupation].chars().filter(char::is_ascii_digit).collect();
            all.push((row, digits.parse().unwrap_or(0)));
        }
        let mut dice = Dice(seed);
        for i in (1..all.len()).rev() {
            all.swap(i, dice.below(i as u64 + 1) as usize);
        }
        let (rows, values): (Vec<Vec<u32>>, Vec<u32>) = all.into_iter().unzip();
        Ok(People { name: "acs2018", quasi: ACS, rows: rows.concat(), values })
    }

    /// Writes the first people as microdata and more of them as the external table, which contains
    /// the microdata.
    fn write(&self, dir: &Path, microdata: usize, external: usize) -> Result<(), String> {
        let create = |name: &str| {
            std::fs::File::create(dir.join(name)).map(BufWriter::new).map_err(|e| e.to_string())
        };
        let (mut mt, mut pd) = (create("mt.csv")?, create("pd.csv")?);
        let names = self.quasi.join(",");
        writeln!(mt, "id,{names},value").map_err(|e| e.to_string())?;
        writeln!(pd, "id,{names}").map_err(|e| e.to_string())?;
        let mut line = String::new();
        for i in 0..external.min(self.len()) {
            line.clear();
            let _ = write!(line, "p{i}");
            self.row(i).iter().for_each(|n| {
                let _ = write!(line, ",{n}");
            });
            writeln!(pd, "{line}").map_err(|e| e.to_string())?;
            if i < microdata {
                writeln!(mt, "{line},v{}", self.values[i]).map_err(|e| e.to_string())?;
            }
        }
        mt.flush().and_then(|()| pd.flush()).map_err(|e| e.to_string())
    }

    /// Returns the range of each attribute among the first people: one domain for every release.
    fn domains(&self, people: usize) -> Vec<(f64, f64)> {
        let range = |q: usize| {
            let values = || (0..people.min(self.len())).map(|i| self.row(i)[q]);
            (f64::from(values().min().unwrap_or(0)), f64::from(values().max().unwrap_or(0)))
        };
        (0..self.quasi.len()).map(range).collect()
    }
}

/// One release to make.
#[derive(Clone, Copy)]
struct JoinSetting<'a> {
    dir: &'a Path,
    quasi: &'a [&'a str],
    domains: &'a [(f64, f64)],
    k: u64,
    algorithm: &'a str,
    method: Option<JoinMethod>,
    trim: bool,
}

/// The cost of a release.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    /// The normalized certainty penalty of the microdata as a share of all cells.
    ncp: f64,
    discernibility: f64,
    seconds: f64,
}

impl JoinSetting<'_> {
    fn job(&self) -> Job {
        let mut job = Job::default();
        job.input.paths = vec![self.dir.join("mt.csv").into()];
        for (column, &domain) in self.quasi.iter().zip(self.domains) {
            job.set_role(column, RoleName::Quasi);
            let spec = &mut job.column_mut(column).spec;
            spec.kind = Some(incrowd::front_end::core::Kind::Numeric);
            spec.domain = Some(domain);
        }
        job.set_role("value", RoleName::Sensitive);
        job.add_model("k-anonymity", [("k", Value::Integer(self.k as i64))]);
        job.algorithm.name = self.algorithm.to_owned();
        if self.algorithm == "mondrian" {
            job.algorithm.params.push(("dimension".into(), Value::Word("round-robin".into())));
        }
        if let Some(method) = self.method {
            let trim = if self.trim { Trim::Greedy } else { Trim::Off };
            let paths = vec![self.dir.join("pd.csv").into()];
            job.external = Some(ExternalJob {
                paths,
                id: "id".into(),
                method,
                trim,
                ..ExternalJob::default()
            });
        }
        job.write_to(self.dir.join("out.csv"));
        // Benchmarks replace their earlier outputs.
        job.output.iter_mut().for_each(|output| output.replace = true);
        job
    }

    fn run(&self) -> Result<Cost, String> {
        let began = Instant::now();
        let report = incrowd::Anonymizer::new(self.job()).run().map_err(|e| e.to_string())?;
        let seconds = began.elapsed().as_secs_f64();
        let (ncp, discernibility) = match &report.joined {
            Some(joined) => (joined.ncp_rate, joined.discernibility as f64),
            None => {
                let metric = |name: &str| report.manifest.metrics.get(name).unwrap_or(f64::NAN);
                (metric("ncp"), metric("discernibility"))
            }
        };
        Ok(Cost { ncp, discernibility, seconds })
    }

    /// Returns the average relative error of the last release for queries of a tenth of the volume.
    fn error(&self) -> Result<f64, String> {
        let mut job = self.job();
        if self.method.is_none() {
            // Counts use only the quasi-identifiers.
            job.set_role("value", RoleName::Drop);
        }
        let workload =
            Workload { queries: 1000, seed: 1, selectivity: 0.1, dimensions: self.quasi.len() };
        let ask = Ask { only: vec!["query_error".into()], workload, ..Ask::default() };
        let measured = Judging::of(&job).measure(Some(&ask));
        let measured = measured.map_err(|e| e.to_string())?;
        let queries = measured.utility.as_ref().and_then(|u| u.get::<QueryError>());
        Ok(queries.and_then(|q| q.all.mean).unwrap_or(f64::NAN))
    }

    /// Returns the number of people whom the last release exposes because of trimming.
    fn exposed(&self) -> Result<f64, String> {
        let mut judging = Judging::new(self.dir.join("out.csv"));
        judging.population =
            Some(PopulationJob { paths: vec![self.dir.join("pd.csv").into()], memory: None });
        let request = AttackRequest { only: vec!["trimming".into()], ..AttackRequest::default() };
        let report = judging.attack(&request).map_err(|e| e.to_string())?;
        Ok(report.attacked.first().and_then(|a| a.finding.fact("exposed")).unwrap_or(f64::NAN))
    }
}

const METHODS: [JoinMethod; 2] = [JoinMethod::Direct, JoinMethod::Refinement];

/// Runs the selected parts and prints Markdown.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    std::fs::create_dir_all(&options.dir).map_err(|e| e.to_string())?;
    if options.wants("acceptance") {
        acceptance(options, &options.data)?;
    }
    if options.wants("sweeps") {
        sweeps(options)?;
    }
    if options.wants("speed") {
        speed(options)?;
    }
    if options.wants("large") {
        large(options)?;
    }
    Ok(())
}

#[derive(Default)]
struct Means {
    conventional: Vec<Cost>,
    joined: [Vec<Cost>; 2],
    trimmed: [Vec<Cost>; 2],
    error: Vec<f64>,
    errors: [Vec<f64>; 2],
    exposed: [Vec<f64>; 2],
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, n) = values.fold((0.0, 0.0), |(sum, n), x| (sum + x, n + 1.0));
    sum / n
}

/// Returns the conventional cost divided by that of a variant, run by run.
fn gain(before: &[Cost], after: &[Cost], of: impl Fn(&Cost) -> f64) -> f64 {
    mean(before.iter().zip(after).map(|(a, b)| of(a) / of(b)))
}

fn acceptance(options: &Options, data: &Path) -> Result<(), String> {
    println!("\n## Acceptance: k = 50, d = 4, |PD|/|MT| = 100, mean of {} seeds\n", options.seeds);
    println!(
        "| algorithm, data, MT / PD | conv. NCP | DIR NCP gain (DM gain) | DIR + trim | REF NCP gain (DM gain) | REF + trim | \
         ARE conv / DIR / REF | exposed by trimming DIR, REF |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let has_acs = data.join("acs2018_gov_employees.csv.gz").exists();
    if !has_acs {
        println!("\nskipped: no acs2018_gov_employees.csv.gz in {}\n", data.display());
    }
    for algorithm in ["mondrian", "top-down"] {
        for source in ["acs2018", "skewed"].into_iter().filter(|name| has_acs || *name == "skewed")
        {
            let microdata = if source == "acs2018" { 2_000 } else { options.microdata };
            let mut means = Means::default();
            for seed in 1..=options.seeds {
                let people = match source {
                    "acs2018" => People::acs(data, seed)?,
                    _ => People::skewed(100 * microdata, seed)?,
                };
                people.write(&options.dir, microdata, 100 * microdata)?;
                let domains = people.domains(100 * microdata);
                let quasi = &people.quasi[..4];
                let plain = JoinSetting {
                    dir: &options.dir,
                    quasi,
                    domains: &domains[..4],
                    k: 50,
                    algorithm,
                    method: None,
                    trim: false,
                };
                means.conventional.push(plain.run()?);
                means.error.push(plain.error()?);
                for (i, method) in METHODS.into_iter().enumerate() {
                    let joined = JoinSetting { method: Some(method), ..plain };
                    means.joined[i].push(joined.run()?);
                    means.errors[i].push(joined.error()?);
                    let trimmed = JoinSetting { trim: true, ..joined };
                    means.trimmed[i].push(trimmed.run()?);
                    means.exposed[i].push(trimmed.exposed()?);
                }
                eprintln!("{} {algorithm} seed {seed}", people.name);
            }
            let conventional = &means.conventional;
            let of = |i: usize| {
                let ncp = gain(conventional, &means.joined[i], |c| c.ncp);
                let dm = gain(conventional, &means.joined[i], |c| c.discernibility);
                format!("{ncp:.2} ({dm:.1})")
            };
            let trim =
                |i: usize| format!("{:.2}", gain(conventional, &means.trimmed[i], |c| c.ncp));
            let exposed = |i: usize| mean(means.exposed[i].iter().copied());
            println!(
                "| {algorithm}, {source}, {microdata} / {} | {:.1} % | {} | {} | {} | {} | {:.3} / {:.3} / {:.3} | {:.1}, {:.1} |",
                100 * microdata,
                100.0 * mean(conventional.iter().map(|c| c.ncp)),
                of(0),
                trim(0),
                of(1),
                trim(1),
                mean(means.error.iter().copied()),
                mean(means.errors[0].iter().copied()),
                mean(means.errors[1].iter().copied()),
                exposed(0),
                exposed(1)
            );
        }
    }
    println!(
        "\nThe paper (IPUMS, 10K / 1M): Mondrian DIR 3.04 (14.35), REF 2.15 (4.96); TopDown DIR 2.1 (2.22), REF 3.51 (3.4);"
    );
    println!("ARE Mondrian 21.1, REF 7.7; TopDown 6.1, REF 3.5.");
    Ok(())
}

/// One point of a sweep: the parameter, and the cost of the three variants.
type Point = (String, [Cost; 3]);

/// The accumulated costs of one point of a sweep: three variants, one value per seed.
type Sums = (String, [Vec<Cost>; 3]);

fn sweeps(options: &Options) -> Result<(), String> {
    let microdata = options.microdata;
    for algorithm in ["mondrian", "top-down"] {
        let mut sums: Vec<(&str, Vec<Sums>)> = Vec::new();
        for seed in 1..=options.sweep_seeds {
            let people = People::skewed(100 * microdata, seed)?;
            let domains = people.domains(100 * microdata);
            let mut add = |sweep: &'static str, parameter: String, costs: [Cost; 3]| {
                let at = sums.iter().position(|(name, _)| *name == sweep).unwrap_or_else(|| {
                    sums.push((sweep, Vec::new()));
                    sums.len() - 1
                });
                let points = &mut sums[at].1;
                let point =
                    points.iter().position(|(name, _)| *name == parameter).unwrap_or_else(|| {
                        points.push((parameter, Default::default()));
                        points.len() - 1
                    });
                costs
                    .into_iter()
                    .zip(&mut points[point].1)
                    .for_each(|(cost, list)| list.push(cost));
            };
            let costs = |d: usize, k: u64| -> Result<[Cost; 3], String> {
                let plain = JoinSetting {
                    dir: &options.dir,
                    quasi: &people.quasi[..d],
                    domains: &domains[..d],
                    k,
                    algorithm,
                    method: None,
                    trim: false,
                };
                let [direct, refinement] =
                    METHODS.map(|method| JoinSetting { method: Some(method), ..plain }.run());
                Ok([plain.run()?, direct?, refinement?])
            };
            for ratio in [1, 5, 10, 50, 100] {
                people.write(&options.dir, microdata, ratio * microdata)?;
                add("PD/MT", ratio.to_string(), costs(4, 50)?);
            }
            for k in [5, 10, 50, 100, 500] {
                add("k", k.to_string(), costs(4, k)?);
            }
            for d in 2..=6 {
                add("d", d.to_string(), costs(d, 50)?);
            }
            eprintln!("sweep {algorithm} seed {seed}");
        }
        for (sweep, points) in sums {
            let average = |costs: &Vec<Cost>| Cost {
                ncp: mean(costs.iter().map(|c| c.ncp)),
                discernibility: mean(costs.iter().map(|c| c.discernibility)),
                seconds: mean(costs.iter().map(|c| c.seconds)),
            };
            let points: Vec<Point> = points
                .iter()
                .map(|(name, costs)| (name.clone(), costs.each_ref().map(average)))
                .collect();
            print_sweep(options, algorithm, sweep, &points)?;
        }
    }
    Ok(())
}

fn print_sweep(
    options: &Options,
    algorithm: &str,
    sweep: &str,
    points: &[Point],
) -> Result<(), String> {
    println!("\n## {algorithm}, skewed, by {sweep} (mean of {} seeds)\n", options.sweep_seeds);
    println!(
        "| {sweep} | NCP conv / DIR / REF (%) | DM conv / DIR / REF | seconds conv / DIR / REF |"
    );
    println!("|---|---|---|---|");
    for (parameter, [a, b, c]) in points {
        println!(
            "| {parameter} | {:.2} / {:.2} / {:.2} | {:.0} / {:.0} / {:.0} | {:.2} / {:.2} / {:.2} |",
            100.0 * a.ncp,
            100.0 * b.ncp,
            100.0 * c.ncp,
            a.discernibility,
            b.discernibility,
            c.discernibility,
            a.seconds,
            b.seconds,
            c.seconds
        );
    }
    let Some(dir) = &options.svg else { return Ok(()) };
    std::fs::create_dir_all(dir).map_err(|e| e.to_string())?;
    let names = [algorithm.to_owned(), format!("{algorithm} DIR"), format!("{algorithm} REF")];
    for (what, of) in
        [("NCP", (|c: &Cost| 100.0 * c.ncp) as fn(&Cost) -> f64), ("DM", |c| c.discernibility)]
    {
        let line = |i: usize| {
            let at = |(name, costs): &Point| Some((name.parse().ok()?, of(&costs[i])));
            Line { name: names[i].clone(), points: points.iter().filter_map(at).collect() }
        };
        let unit = if what == "NCP" { "NCP (%)" } else { "DM" };
        let file = format!(
            "{algorithm}-{}-{}.svg",
            sweep.replace(['|', '/'], "").to_lowercase(),
            what.to_lowercase()
        );
        let chart =
            Chart { x: sweep.to_owned(), y: unit.to_owned(), lines: (0..3).map(line).collect() };
        std::fs::write(dir.join(file), chart.svg()).map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Measures against conventional Mondrian on as many rows as the external table, in the same run.
fn speed(options: &Options) -> Result<(), String> {
    let (microdata, external) = (options.microdata, 100 * options.microdata);
    let people = People::skewed(external, 1)?;
    people.write(&options.dir, microdata, external)?;
    let domains = people.domains(external);
    let quasi = &people.quasi[..4];
    println!("\n## Speed: |MT| = {microdata}, |PD| = {external}, d = 4, k = 50, end to end\n");
    println!("| run | seconds | to conventional mondrian on {external} rows |");
    println!("|---|---|---|");
    let mut plain = Job::default();
    plain.input.paths = vec![options.dir.join("pd.csv").into()];
    quasi.iter().for_each(|column| plain.set_role(column, RoleName::Quasi));
    plain.add_model("k-anonymity", [("k", Value::Integer(50))]);
    plain.algorithm.params.push(("dimension".into(), Value::Word("round-robin".into())));
    plain.write_to(options.dir.join("plain.csv"));
    // Benchmarks replace their earlier outputs.
    plain.output.iter_mut().for_each(|output| output.replace = true);
    let timed = |run: &dyn Fn() -> Result<(), String>| -> Result<f64, String> {
        let mut best = f64::INFINITY;
        for _ in 0..3 {
            let began = Instant::now();
            run()?;
            best = best.min(began.elapsed().as_secs_f64());
        }
        Ok(best)
    };
    let base =
        timed(&|| incrowd::Anonymizer::new(&plain).run().map(drop).map_err(|e| e.to_string()))?;
    println!("| conventional mondrian on {external} rows | {base:.2} | 1.00 |");
    for algorithm in ["mondrian", "top-down"] {
        for method in METHODS {
            let setting = JoinSetting {
                dir: &options.dir,
                quasi,
                domains: &domains[..4],
                k: 50,
                algorithm,
                method: Some(method),
                trim: false,
            };
            let seconds = timed(&|| setting.run().map(drop))?;
            println!("| {algorithm}, {method:?} | {seconds:.2} | {:.2} |", seconds / base);
        }
    }
    Ok(())
}

/// Measures the memory with a thousand times as many external people as microdata.
fn large(options: &Options) -> Result<(), String> {
    let (microdata, external) = (options.microdata, 1000 * options.microdata);
    println!("\n## Memory: |MT| = {microdata}, |PD| = {external}, d = 4, k = 50, mondrian\n");
    println!("| method | external table | seconds | most memory |");
    println!("|---|---|---|---|");
    let csv = options.dir.join("large.csv");
    let file = std::fs::File::create(&csv).map_err(|e| e.to_string())?;
    Synth::new(Table::Skewed, external as u64, 1)
        .write_csv(&mut BufWriter::new(file))
        .map_err(|e| e.to_string())?;
    let size = std::fs::metadata(&csv).map_err(|e| e.to_string())?.len() >> 20;
    let small = options.dir.join("small.csv");
    let file = std::fs::File::create(&small).map_err(|e| e.to_string())?;
    Synth::new(Table::Skewed, microdata as u64, 1)
        .write_csv(&mut BufWriter::new(file))
        .map_err(|e| e.to_string())?;
    for method in ["direct", "refinement"] {
        let own = std::env::current_exe().map_err(|e| e.to_string())?;
        let output = Command::new(own)
            .args(["join-task", method])
            .arg(&options.dir)
            .output()
            .map_err(|e| e.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        let json: serde_json::Value =
            serde_json::from_slice(&output.stdout).map_err(|e| e.to_string())?;
        let seconds = json["seconds"].as_f64().unwrap_or(f64::NAN);
        println!("| {method} | {size} MiB | {seconds:.1} | {} MiB |", json["peak_mib"]);
    }
    std::fs::remove_file(csv).ok();
    Ok(())
}

/// Runs one measurement in a separate process, for its peak memory.
pub(crate) fn task(args: &[String]) -> Result<(), String> {
    let [method, dir] = args else { return Err("unknown task".to_owned()) };
    let dir = Path::new(dir);
    let method = if method == "direct" { JoinMethod::Direct } else { JoinMethod::Refinement };
    let mut job = Job::default();
    job.input.paths = vec![dir.join("small.csv").into()];
    SKEWED[..4].iter().for_each(|column| job.set_role(column, RoleName::Quasi));
    job.set_role("occupation", RoleName::Sensitive);
    job.add_model("k-anonymity", [("k", Value::Integer(50))]);
    let paths = vec![dir.join("large.csv").into()];
    job.external = Some(ExternalJob { paths, id: "id".into(), method, ..ExternalJob::default() });
    job.write_to(dir.join("out.csv"));
    // Benchmarks replace their earlier outputs.
    job.output.iter_mut().for_each(|output| output.replace = true);
    let began = Instant::now();
    incrowd::Anonymizer::new(&job).run().map_err(|e| e.to_string())?;
    let peak = crate::task::peak_mib();
    println!(
        "{}",
        serde_json::json!({ "seconds": began.elapsed().as_secs_f64(), "peak_mib": peak })
    );
    Ok(())
}
