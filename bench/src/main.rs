//! Benchmarks anyone can run. Speed is a ratio to copying the same file in the same run;
//! information loss is measured on real tables. See `bench/README.md`.

#[macro_use]
mod print;

mod args;
mod auto;
mod cells;
mod chart;
mod cost;
mod extra_cost;
mod join;
mod lattice;
mod least;
mod loss;
mod models;
mod optimized;
mod peers;
mod plain;
mod profile;
mod release;
mod sensitive;
mod skewed;
mod speed;
mod task;

use std::process::ExitCode;

use args::Args;

/// A name, its options, and the function.
type Bench = (&'static str, &'static str, fn(&Args) -> Result<(), String>);

/// Every benchmark. A new one is one file and one line here.
const BENCHES: &[Bench] = &[
    (
        "speed",
        "[--rows 1000000,10000000] [--rounds 3] [--dir DIR] [--python PYTHON] [--only csv|parquet]",
        |args| {
            speed::run(
                &args.numbers("--rows", &[1_000_000, 10_000_000])?,
                args.rounds()?,
                &args.dir(),
                args.text("--python"),
                args.text("--only").as_deref(),
            )
        },
    ),
    ("loss", "[--data DIR]", |args| loss::run(&args.data())),
    ("profile", "[--rows 1000000] [--rounds 3] [--dir DIR]", |args| {
        profile::run(args.number("--rows", 1_000_000)?, args.rounds()?, &args.dir())
    }),
    ("persons", "[--rows 1000000] [--rounds 3] [--dir DIR]", |args| {
        extra_cost::persons(args.number("--rows", 1_000_000)?, args.rounds()?, &args.dir())
    }),
    ("alone", "[--rows 1000000] [--rounds 3] [--dir DIR]", |args| {
        extra_cost::alone(args.number("--rows", 1_000_000)?, args.rounds()?, &args.dir())
    }),
    ("lattice", "[--rows 1000000] [--rounds 3] [--dir DIR] [--data DIR]", |args| {
        lattice::run(args.number("--rows", 1_000_000)?, args.rounds()?, &args.dir(), &args.data())
    }),
    ("optimized", "[--rows 1000000] [--rounds 3] [--dir DIR] [--data DIR]", |args| {
        optimized::run(args.number("--rows", 1_000_000)?, args.rounds()?, &args.dir(), &args.data())
    }),
    (
        "plain",
        "[--rows 500000] [--only targets,causes,adult,plots,growth] [--dir DIR] [--data DIR]",
        |args| {
            let only = args.text("--only");
            plain::run_all(
                &args.data(),
                &args.dir(),
                args.number("--rows", 500_000)?,
                only.as_deref(),
            )
        },
    ),
    (
        "join",
        "[--only acceptance,sweeps,speed,large] [--seeds 5] [--sweep-seeds 1] [--microdata 10000] [--svg DIR] [--dir DIR] \
         [--data DIR]",
        |args| join::Options::new(|name| args.text(name)).and_then(|options| join::run(&options)),
    ),
    (
        "skewed",
        "[--samples 3000] [--svg DIR] [--data DIR] [--rows 10000000] [--rounds 3] [--dir DIR]",
        |args| {
            skewed::Options::new(|name| args.text(name)).and_then(|options| skewed::run(&options))
        },
    ),
    (
        "least",
        "[--only adult,models,free,tables,large] [--rows 1000000] [--dir DIR] [--data DIR]",
        |args| {
            let only = args.text("--only");
            least::run(
                &args.data(),
                &args.dir(),
                only.as_deref(),
                args.number("--rows", 1_000_000)?,
            )
        },
    ),
    ("auto", "[--arx JAR] [--data DIR]", |args| auto::run(&args.data(), args.text("--arx"))),
    ("models", "[--only PART_OF_A_NAME] [--data DIR]", |args| {
        models::run(&args.data(), args.text("--only").as_deref())
    }),
    ("peers", "--python PYTHON [--mdav yes] [--data DIR]", |args| {
        peers::run(&args.data(), args.text("--python"), args.text("--mdav").is_some())
    }),
    ("cells", "[--rows 1000000] [--rounds 3] [--dir DIR] [--data DIR]", |args| {
        cells::run(args.number("--rows", 1_000_000)?, args.rounds()?, &args.dir(), &args.data())
    }),
    ("cost", "[--rows 10000000] [--dir DIR]", |args| {
        cost::run(args.number("--rows", 10_000_000)?, &args.dir())
    }),
    ("sensitive", "[--seeds 3] [--data DIR]", |args| {
        sensitive::run(args.number("--seeds", 3)?, &args.data())
    }),
];

/// Single measurements, which run in separate processes for their peak memory.
const PARTS: &[Bench] = &[
    ("task", "", |args| task::run(args.rest())),
    ("cost-task", "", |args| cost::task(args.rest())),
    ("least-task", "", |args| least::task(args.rest())),
    ("join-task", "", |args| join::task(args.rest())),
    ("skewed-task", "", |args| skewed::task(args.rest())),
];

fn main() -> ExitCode {
    let args = Args::new(std::env::args().skip(1).collect());
    let bench = BENCHES.iter().chain(PARTS).find(|bench| args.name() == Some(bench.0));
    let outcome = bench.map_or_else(|| Err(usage()), |(_, _, run)| run(&args));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn usage() -> String {
    let line = |(name, options, _): &Bench| format!("  incrowd-bench {name} {options}");
    std::iter::once("usage:".to_owned())
        .chain(BENCHES.iter().map(line))
        .collect::<Vec<_>>()
        .join("\n")
}
