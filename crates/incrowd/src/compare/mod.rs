//! Sweeping algorithms, models and parameters over one table: what would each risk, and what would it cost?
//!
//! The table is read and folded once. Every configuration then recodes it in memory, and the released cells are judged as
//! verification judges a table: grouped anew by their texts. Only [`anonymize`](crate::anonymize()) writes a release, and it
//! judges the bytes. Each configuration runs on one core, so many at a time; what is finished goes into a file at once, from
//! which a later run goes on.

mod choose;
mod page;
mod results;
mod sweep;
mod trial;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use incrowd_core::dataset::Quasi;
use incrowd_core::metric::{ColumnTally, METRICS, Tally};
use incrowd_core::{Better, Dataset, Error, Progress, Result};

use crate::checked::{CheckedJob, need_population, promises};
use crate::job::{CompareJob, Job};
use crate::reading::open_input;

pub use choose::{Baseline, CHOICE, ChoiceCard};
use results::Log;
pub use results::{Comparison, Scores, Tried};
pub(crate) use sweep::USUAL_ALGORITHMS;
#[cfg(test)]
pub(crate) use sweep::USUAL_K;
use trial::{Table, trial};

/// What shall be compared.
#[derive(Clone, Debug, Default)]
pub struct CompareRequest {
    /// The table with the roles of its columns. What it says of algorithm and models is the default of the sweep.
    pub job: Job,
    /// Where the results go; what an earlier run left there is not done again.
    pub dir: PathBuf,
    /// How many configurations run at a time; 0 is as many as there are cores.
    pub threads: usize,
}

/// The metric on the axis of loss unless the job says otherwise.
const USUAL_LOSS: &str = "ncp";

/// Runs every configuration that has no result yet. If `stop` says so, what is finished is all there is.
pub fn compare(
    request: &CompareRequest,
    progress: &dyn Progress,
    stop: &dyn Fn() -> bool,
) -> Result<Comparison> {
    let job = &request.job;
    if job.external.is_some() || job.suppression.is_some() {
        return Err(Error::job(
            "a comparison is about one table: it knows neither [external] nor [suppression]",
        )
        .help("leave that part out of the job"));
    }
    let sweep = job.compare.clone().unwrap_or_default();
    let loss = loss_of(&sweep)?;
    let source = open_input(&job.input)?;
    let mut job = job.clone();
    crate::reading::resolve_columns(&mut job.columns, &job.input.missing, &source, progress)?;
    let job = &job;
    let plans = sweep::plans(job, &sweep)?;
    // What is wrong with every configuration is wrong with the job.
    let check = |plan: &sweep::Plan| CheckedJob::for_table(&plan.job, source.columns(), source.is_named());
    let mut setups = plans.iter().map(check);
    let checked = match setups.find(Result::is_ok) {
        Some(sound) => sound?,
        None => check(&plans[0])?,
    };
    drop(setups);
    let mut log =
        Log::open(&request.dir, job, &plans, &source.files().map(PathBuf::from).collect::<Vec<_>>())?;
    let folded = source.fold(&checked.fold_spec(), progress)?;
    // Values that do not fit are told with their place now, once for all.
    let locate = |name: &str, text: &str| source.locate(name, text).ok().flatten();
    let data = checked.encode(folded.clone(), &locate)?;
    let (records, baseline) = (data.records(), baseline(&data, loss));
    drop(data);
    let reading = checked.reading();
    let needs = |plan: &sweep::Plan| {
        let all = promises(
            &plan.job.models,
            job.population.is_some(),
            job.input.weight.is_some(),
            &reading.sensitive_names(),
        );
        all.is_ok_and(|all| need_population(&all))
    };
    let people = match (&job.population, plans.iter().any(needs)) {
        (Some(people), true) => Some(reading.fold_population(people, progress)?),
        _ => None,
    };
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if request.threads == 0 { cores() } else { request.threads };
    let table = Table { folded, columns: source.columns().to_vec(), population: people };
    let todo: Vec<usize> = (0..plans.len()).filter(|&i| !log.has(i)).collect();
    let before = plans.len() - todo.len();
    let failed = |e| Error::resources(format!("cannot make the directory `{}`: {e}", request.dir.display()));
    std::fs::create_dir_all(&request.dir).map_err(failed)?;
    progress.step_through("comparing", plans.len() as u64, "configurations");
    progress.advance(before as u64);
    let results = work(Arc::new(table), Arc::new(plans.clone()), todo, threads)?;
    loop {
        if stop() {
            break;
        }
        match results.recv_timeout(Duration::from_millis(50)) {
            Ok((i, done)) => {
                log.add(i, done)?;
                progress.advance(1);
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    let comparison =
        Comparison::new(job, records, &plans, log.into_results(), (loss, baseline), threads, before);
    comparison.write(&request.dir)?;
    Ok(comparison)
}

/// What somebody has who gets no release: the chances of guessing, and the loss of a table of `*`.
fn baseline(data: &Dataset, loss: &str) -> Baseline {
    let records = data.records();
    let column = |quasi: &Quasi| ColumnTally {
        name: quasi.name.clone(),
        ncp: records as f64,
        loss: records as f64,
        leaf_depth: quasi.leaf_depth,
        weight: quasi.weight,
        open_bits: 1.0,
        all_bits: 1.0,
        ..ColumnTally::default()
    };
    let nothing = Tally {
        columns: data.quasi().iter().map(column).collect(),
        group_sizes: vec![records],
        published: records,
        suppressed: 0,
    };
    let commonest = |column: usize| {
        let mut counts = vec![0; data.sensitive()[column].values.len()];
        for row in 0..data.rows() {
            counts[data.sensitive_codes(row)[column] as usize] += data.weight(row);
        }
        counts.into_iter().max().unwrap_or(0) as f64 / records.max(1) as f64
    };
    Baseline {
        found: 1.0 / records.max(1) as f64,
        guessed: (0..data.sensitive().len()).map(commonest).reduce(f64::max),
        loss: METRICS.iter().find(|card| card.name == loss).map_or(1.0, |card| (card.measure)(&nothing)),
    }
}

fn loss_of(sweep: &CompareJob) -> Result<&'static str> {
    let name = sweep.loss.as_deref().unwrap_or(USUAL_LOSS);
    // Of what is the better the more there is of it, none is a loss.
    let losses = || METRICS.iter().filter(|card| card.better == Better::Lower).map(|card| card.name);
    losses().find(|known| *known == name).ok_or_else(|| {
        Error::job(format!("there is no loss called `{name}`")).help_near(name, losses()).at("compare.loss")
    })
}

/// Starts the threads. They are not waited for: who stops early leaves them to the end of the process.
fn work(
    table: Arc<Table>,
    plans: Arc<Vec<sweep::Plan>>,
    todo: Vec<usize>,
    threads: usize,
) -> Result<mpsc::Receiver<(usize, trial::Done)>> {
    let (send, receive) = mpsc::channel();
    let (todo, next) = (Arc::new(todo), Arc::new(AtomicUsize::new(0)));
    for _ in 0..threads.min(todo.len()) {
        let (table, plans, todo, next) = (table.clone(), plans.clone(), todo.clone(), next.clone());
        let send = send.clone();
        // A pool of one thread: whatever an algorithm would do on all cores it does on this one.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.map_err(|e| Error::resources(format!("cannot start a thread: {e}")))?;
        pool.spawn(move || {
            while let Some(&i) = todo.get(next.fetch_add(1, Ordering::Relaxed)) {
                if send.send((i, trial(&table, &plans[i].job))).is_err() {
                    break;
                }
            }
        });
    }
    Ok(receive)
}
