//! Comparing answers: which algorithm, models and parameters protect a table best at the least
//! information loss?
//!
//! The table is read and folded once. Every configuration recodes it in memory. The resulting cells
//! are verified like a published table: grouped by their texts. Only an
//! [`Anonymizer`](crate::Anonymizer) writes a release, and it verifies the bytes. Each
//! configuration runs on one core, several at the same time. Each result is appended to a file,
//! from which a later run continues.

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

use crate::job::reading::open_input;
use crate::job::{CompareJob, Job};
use crate::making::checked::{CheckedJob, need_population, privacy_models};
use crate::work::stoppable;

pub use choose::{Baseline, CHOICE, ChoiceCard};
use results::Log;
pub use results::{Comparison, Scores, Tried};
pub(crate) use sweep::DEFAULT_ALGORITHMS;
#[cfg(test)]
pub(crate) use sweep::DEFAULT_K;
use trial::{SharedInput, trial};

/// A request for a comparison.
///
/// ```
/// # fn main() -> Result<(), incrowd::Error> {
/// use incrowd::job::CompareJob;
/// use incrowd::{CompareRequest, Job};
///
/// # let dir = std::env::temp_dir().join(format!("incrowd-compare-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir).unwrap();
/// # let people = dir.join("patients.csv");
/// let table = "age,zip,disease\n34,02139,flu\n36,02139,cold\n38,02141,flu\n51,02140,flu\n\
///              55,02141,none\n58,02141,none\n61,02142,cold\n";
/// std::fs::write(&people, table).unwrap();
/// let mut job = Job::of_file(&people).quasi(["age", "zip"]).sensitive(["disease"]);
/// let algorithms = vec!["mondrian".to_owned(), "full-domain".to_owned()];
/// job.compare = Some(CompareJob { algorithms, k: vec![2, 3], ..CompareJob::default() });
/// let compared = CompareRequest::new(job, dir.join("comparison")).run()?;
/// assert_eq!(compared.results.len(), 4);
/// assert!(compared.choice.is_some());
/// # std::fs::remove_dir_all(&dir).unwrap();
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CompareRequest {
    /// The table with the roles of its columns. Its algorithm and models are the defaults of the
    /// sweep.
    pub job: Job,
    /// The directory of the results. Results of an earlier run are reused.
    pub dir: PathBuf,
    /// The number of configurations that run at the same time; 0: one per core.
    pub threads: usize,
}

impl CompareRequest {
    /// Compares the configurations of a job, with results in this directory.
    pub fn new(job: Job, dir: impl Into<PathBuf>) -> CompareRequest {
        CompareRequest { job, dir: dir.into(), ..CompareRequest::default() }
    }

    /// Sets the number of configurations that run at the same time; 0: one per core.
    #[must_use]
    pub fn threads(self, threads: usize) -> CompareRequest {
        CompareRequest { threads, ..self }
    }
}

crate::work::long_work! { CompareRequest:
    /// Runs every configuration that has no result yet. If [`Progress::is_stopped`] becomes true
    /// while configurations run, the comparison contains only the finished ones.
    fn run() -> Comparison = compare;
}

/// The default loss metric.
const DEFAULT_LOSS: &str = "ncp";

// The order of the steps matters: errors of the job come before the log is opened and records are
// read.
fn compare(request: &CompareRequest, progress: &dyn Progress) -> Result<Comparison> {
    let job = &request.job;
    if job.external.is_some() || job.suppression.is_some() {
        return Err(Error::job(
            "a comparison is about one table: [external] and [suppression] are not supported",
        )
        .help("remove that section from the job"));
    }
    let sweep = job.compare.clone().unwrap_or_default();
    let loss = loss_of(&sweep)?;
    let source = open_input(&job.input)?;
    let mut job = job.clone();
    crate::job::reading::resolve_columns(&mut job.columns, &job.input.missing, &source, progress)?;
    let job = &job;
    let plans = sweep::plans(job, &sweep)?;
    // If no configuration is valid, the error of the first one is an error of the job.
    let check =
        |plan: &sweep::Plan| CheckedJob::for_table(&plan.job, source.columns(), source.is_named());
    let mut setups = plans.iter().map(check);
    let checked = match setups.find(Result::is_ok) {
        Some(sound) => sound?,
        None => check(&plans[0])?,
    };
    drop(setups);
    let mut log = Log::open(
        &request.dir,
        job,
        &plans,
        &source
            .files()
            .map(incrowd_engine::Location::from)
            .chain(job.input.paths.iter().filter(|path| path.file().is_none()).cloned())
            .collect::<Vec<_>>(),
    )?;
    let folded = source.fold(&checked.fold_spec(), progress)?;
    // Values that do not fit are reported here, with their place, once for all configurations.
    let locate = |name: &str, text: &str| source.locate(name, text).ok().flatten();
    let data = checked.encode(folded.clone(), &locate)?;
    let (records, baseline) = (data.records(), baseline(&data, loss));
    drop(data);
    let reading = checked.reading();
    let needs = |plan: &sweep::Plan| {
        let all = privacy_models(
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
    let table = SharedInput {
        folded,
        columns: source.columns().to_vec(),
        population: people,
        most_labels: source.most_labels(),
    };
    let todo: Vec<usize> = (0..plans.len()).filter(|&i| !log.has(i)).collect();
    let before = plans.len() - todo.len();
    let failed =
        |e| Error::resources(format!("cannot make the directory `{}`: {e}", request.dir.display()));
    std::fs::create_dir_all(&request.dir).map_err(failed)?;
    progress.step_through("comparing", plans.len() as u64, "configurations");
    progress.advance(before as u64);
    let results = work(Arc::new(table), Arc::new(plans.clone()), todo, threads)?;
    loop {
        if progress.is_stopped() {
            break;
        }
        match results.recv_timeout(Duration::from_millis(50)) {
            Ok((i, done)) => {
                log.add(i, done)?;
                // After a stop, the finished results are returned.
                let advance = || {
                    progress.advance(1);
                    Ok(())
                };
                if stoppable(advance).is_err() {
                    break;
                }
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    let comparison = Comparison::new(
        job,
        records,
        &plans,
        log.into_results(),
        (loss, baseline),
        threads,
        before,
    );
    comparison.write(&request.dir)?;
    Ok(comparison)
}

/// Computes the scores without a release: the probabilities of guessing, and the loss of a table of
/// `*`.
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
            let code = data.sensitive_codes(row)[column];
            counts[data.sensitive()[column].counted_as(code) as usize] += data.weight(row);
        }
        counts.into_iter().max().unwrap_or(0) as f64 / records.max(1) as f64
    };
    Baseline {
        found: 1.0 / records.max(1) as f64,
        guessed: (0..data.sensitive().len()).map(commonest).reduce(f64::max),
        loss: METRICS
            .iter()
            .find(|card| card.name == loss)
            .map_or(1.0, |card| (card.measure)(&nothing)),
    }
}

fn loss_of(sweep: &CompareJob) -> Result<&'static str> {
    let name = sweep.loss.as_deref().unwrap_or(DEFAULT_LOSS);
    // A metric of which more is better is not a loss.
    let losses =
        || METRICS.iter().filter(|card| card.better == Better::Lower).map(|card| card.name);
    losses().find(|known| *known == name).ok_or_else(|| {
        Error::job(format!("there is no loss metric `{name}`"))
            .help_near(name, losses())
            .at("compare.loss")
    })
}

/// Starts the threads. They are not joined: after an early stop they run until the process ends.
fn work(
    table: Arc<SharedInput>,
    plans: Arc<Vec<sweep::Plan>>,
    todo: Vec<usize>,
    threads: usize,
) -> Result<mpsc::Receiver<(usize, trial::Done)>> {
    let (send, receive) = mpsc::channel();
    let (todo, next) = (Arc::new(todo), Arc::new(AtomicUsize::new(0)));
    for _ in 0..threads.min(todo.len()) {
        let (table, plans, todo, next) = (table.clone(), plans.clone(), todo.clone(), next.clone());
        let send = send.clone();
        // A pool of one thread, so that parallel parts of an algorithm use one core.
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
