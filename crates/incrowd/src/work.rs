//! Long-running work that reports its progress, can be stopped, and yields to urgent work. The
//! Python package and the web app use it.
//!
//! Stopped work ends at its next progress report. Its function returns an error with
//! [`Fault::Stopped`], staged files are removed, and nothing is published, because publishing begins
//! with a progress report. A progress report returns nothing, because algorithms without errors make
//! some on all their threads. Therefore a stop unwinds within the library, up to the public function.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use incrowd_core::{Error, Fault, Progress, Result as CoreResult};

use crate::job::JobError;

/// The reason why work ended without a result.
#[derive(Clone, Debug)]
pub enum Failed {
    /// An error.
    Error(Box<JobError>),
    /// The work was stopped.
    Stopped,
}

impl From<JobError> for Failed {
    fn from(error: JobError) -> Failed {
        Failed::Error(Box::new(error))
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Failed {
        Failed::Error(Box::new(error.into()))
    }
}

/// A snapshot of the progress of work.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WorkState {
    /// The name of the current step.
    pub step: String,
    /// The completed amount of the step.
    pub done: u64,
    /// The total amount of the step, if known.
    pub total: Option<u64>,
    /// The seconds since the step began.
    pub seconds: f64,
}

/// The release that work published before it was interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedRelease {
    /// The path of the release.
    pub path: String,
    /// Whether its reports were made. Also true if none were requested.
    pub reported: bool,
}

impl std::fmt::Display for PublishedRelease {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let report = if self.reported { "" } else { "; the report was not made" };
        write!(f, "the release `{}` and its manifest were published{report}", self.path)
    }
}

/// The progress of work and its stop flag.
#[derive(Debug)]
pub struct Watch {
    stopped: AtomicBool,
    step: Mutex<(String, Option<u64>, Instant)>,
    done: AtomicU64,
    published: Mutex<Option<PublishedRelease>>,
    gate: Option<Arc<Gate>>,
}

/// The payload with which stopped work unwinds.
struct Stopped;

impl Default for Watch {
    fn default() -> Self {
        Watch {
            stopped: AtomicBool::new(false),
            step: Mutex::new((String::new(), None, Instant::now())),
            done: AtomicU64::new(0),
            published: Mutex::new(None),
            gate: None,
        }
    }
}

impl Watch {
    /// Creates work that pauses at its next step while urgent work runs. It must run on [its own
    /// threads](in_pool): otherwise urgent work could wait for paused threads.
    pub fn with_gate(gate: Arc<Gate>) -> Watch {
        Watch { gate: Some(gate), ..Watch::default() }
    }

    /// Stops the work at its next step.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Returns whether the work was stopped.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Returns the current progress.
    pub fn state(&self) -> WorkState {
        let (step, total, since) = self.step.lock().unwrap_or_else(PoisonError::into_inner).clone();
        WorkState {
            step,
            done: self.done.load(Ordering::Relaxed),
            total,
            seconds: since.elapsed().as_secs_f64(),
        }
    }

    /// Returns the release that the work published, if any.
    pub fn published_release(&self) -> Option<PublishedRelease> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn go_on(&self) {
        if let Some(gate) = &self.gate {
            gate.wait(&|| self.is_stopped());
        }
        if self.is_stopped() {
            // `resume_unwind` does not call the panic hook, so nothing is printed.
            resume_unwind(Box::new(Stopped));
        }
    }
}

impl Progress for Watch {
    fn step(&self, name: &str, total: Option<u64>) {
        self.go_on();
        *self.step.lock().unwrap_or_else(PoisonError::into_inner) =
            (name.to_owned(), total, Instant::now());
        self.done.store(0, Ordering::Relaxed);
    }

    fn published(&self, release: &str) {
        *self.published.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(PublishedRelease { path: release.to_owned(), reported: false });
    }

    fn reported(&self) {
        let mut published = self.published.lock().unwrap_or_else(PoisonError::into_inner);
        published.iter_mut().for_each(|release| release.reported = true);
    }

    fn advance(&self, amount: u64) {
        self.go_on();
        self.done.fetch_add(amount, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        Watch::is_stopped(self)
    }
}

/// A request or a table with the receiver of progress reports of the work on it. It has the methods
/// of the request that take long.
///
/// ```
/// use incrowd::work::Watch;
/// use incrowd::{Fault, Judging};
///
/// let watch = Watch::default();
/// watch.stop();
/// # let dir = std::env::temp_dir().join(format!("incrowd-progress-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir).unwrap();
/// # let release = dir.join("patients.release.csv");
/// std::fs::write(&release, "age,disease\n30-39,flu\n30-39,cold\n").unwrap();
/// let judging = Judging::new(&release)
///     .with_role(["age"], incrowd::job::RoleName::Quasi)
///     .model("k-anonymity", [("k", incrowd::Value::Integer(2))]);
/// // Another thread could call `watch.state()` and `watch.stop()` meanwhile.
/// let stopped = judging.progress(&watch).verify();
/// assert_eq!(stopped.unwrap_err().fault(), Fault::Stopped);
/// # std::fs::remove_dir_all(&dir).unwrap();
/// ```
#[must_use = "nothing is done until one of its methods is called"]
pub struct WithProgress<'a, T> {
    pub(crate) subject: &'a T,
    pub(crate) progress: &'a dyn Progress,
}

impl<T: std::fmt::Debug> std::fmt::Debug for WithProgress<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WithProgress").field("subject", &self.subject).finish_non_exhaustive()
    }
}

/// Defines the methods of a request that take long, with and without progress reports. Each calls a
/// function `work(&request, arguments…, progress)`.
macro_rules! long_work {
    ($subject:ty: $(
        $(#[$doc:meta])*
        fn $name:ident($($argument:ident: $type:ty),*) -> $answer:ty = $work:path;
    )*) => {
        impl $subject {
            /// Sets the receiver of progress reports.
            pub fn progress<'a>(
                &'a self,
                progress: &'a dyn incrowd_core::Progress,
            ) -> $crate::work::WithProgress<'a, $subject> {
                $crate::work::WithProgress { subject: self, progress }
            }

            $(
                $(#[$doc])*
                pub fn $name(&self, $($argument: $type),*) -> incrowd_core::Result<$answer> {
                    self.progress(&incrowd_core::Silent).$name($($argument),*)
                }
            )*
        }

        impl $crate::work::WithProgress<'_, $subject> {
            $(
                $(#[$doc])*
                pub fn $name(self, $($argument: $type),*) -> incrowd_core::Result<$answer> {
                    $crate::work::stoppable(|| $work(self.subject, $($argument,)* self.progress))
                }
            )*
        }
    };
}

pub(crate) use long_work;

/// Gives urgent work precedence: while it runs, other work pauses.
#[derive(Debug, Default)]
pub struct Gate {
    /// The number of live [`Urgent`] guards.
    urgent: AtomicUsize,
    lock: Mutex<()>,
    changed: Condvar,
}

/// A guard of urgent work. Other work pauses while it is alive.
#[derive(Debug)]
pub struct Urgent<'a>(&'a Gate);

/// The interval at which paused work checks whether it was stopped.
const POLL: Duration = Duration::from_millis(50);

impl Gate {
    /// Begins urgent work.
    pub fn begin_urgent(&self) -> Urgent<'_> {
        self.urgent.fetch_add(1, Ordering::SeqCst);
        Urgent(self)
    }

    fn wait(&self, stopped: &dyn Fn() -> bool) {
        if self.urgent.load(Ordering::SeqCst) == 0 {
            return;
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while self.urgent.load(Ordering::SeqCst) > 0 && !stopped() {
            guard =
                self.changed.wait_timeout(guard, POLL).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Urgent<'_> {
    fn drop(&mut self) {
        // The lock is taken before the counter changes, so that no waiter misses the notification.
        let _guard = self.0.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.urgent.fetch_sub(1, Ordering::SeqCst);
        self.0.changed.notify_all();
    }
}

/// The source location of the last panic.
static FAILED_AT: Mutex<String> = Mutex::new(String::new());

/// Runs work. A panic becomes an error with its source location but without its message, which
/// could contain a cell.
pub fn caught<T>(work: impl FnOnce() -> Result<T, Failed>) -> Result<T, Failed> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Err(Failed::Error(error))) if error.error.fault() == Fault::Stopped => {
            Err(Failed::Stopped)
        }
        Ok(answer) => answer,
        Err(payload) if payload.is::<Stopped>() => Err(Failed::Stopped),
        Err(_) => {
            let at = FAILED_AT.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Err(Error::bug(format!("incrowd failed at {at}")).into())
        }
    }
}

/// Runs a public function. If the work is stopped, the result is an error with [`Fault::Stopped`].
/// Panics continue.
pub(crate) fn stoppable<T>(work: impl FnOnce() -> CoreResult<T>) -> CoreResult<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(answer) => answer,
        Err(payload) if payload.is::<Stopped>() => Err(Error::stopped()),
        Err(payload) => resume_unwind(payload),
    }
}

/// Runs work on a thread pool of its own.
pub fn in_pool<T: Send>(work: impl FnOnce() -> Result<T, Failed> + Send) -> Result<T, Failed> {
    let pool = rayon::ThreadPoolBuilder::new().thread_name(|i| format!("incrowd {i}")).build();
    let pool = pool.map_err(|e| Error::resources(format!("cannot start threads: {e}")))?;
    pool.install(work)
}

/// Installs a panic hook that passes only the source location to `report`: the message could
/// contain a cell. Only the first call in a process has an effect.
pub fn hide_panic_messages(report: fn(&str)) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(move |info| {
            let at = info.location().map_or_else(String::new, ToString::to_string);
            report(&at);
            *FAILED_AT.lock().unwrap_or_else(PoisonError::into_inner) = at;
        }));
    });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn stopped_work_ends_at_its_next_step() {
        let watch = Watch::default();
        let answer = caught(|| {
            watch.step("one", Some(3));
            watch.advance(1);
            watch.stop();
            watch.advance(1);
            Ok(())
        });
        assert!(matches!(answer, Err(Failed::Stopped)));
        let state = watch.state();
        assert_eq!((state.step.as_str(), state.done, state.total), ("one", 1, Some(3)));
    }

    #[test]
    fn work_pauses_during_urgent_work_and_can_be_stopped_meanwhile() {
        let gate = Arc::new(Gate::default());
        let watch = Arc::new(Watch::with_gate(gate.clone()));
        watch.advance(1);
        let urgent = gate.begin_urgent();
        let own = watch.clone();
        let advance = |watch: &Watch| {
            watch.advance(1);
            Ok(())
        };
        let paused = std::thread::spawn(move || caught(|| in_pool(|| advance(&own))));
        // It cannot advance until the urgent work ends.
        for _ in 0..20 {
            std::thread::yield_now();
            assert_eq!(watch.state().done, 1);
        }
        drop(urgent);
        assert!(paused.join().unwrap().is_ok());
        assert_eq!(watch.state().done, 2);
        let _urgent = gate.begin_urgent();
        watch.stop();
        assert!(matches!(caught(|| advance(&watch)), Err(Failed::Stopped)));
    }

    #[test]
    fn a_panic_message_is_not_part_of_the_error() {
        hide_panic_messages(|_| {});
        let answer: Result<(), Failed> = caught(|| panic!("the cell 48811"));
        let Err(Failed::Error(error)) = answer else { panic!("no error") };
        assert!(
            error.to_string().contains("work.rs") && !error.to_string().contains("48811"),
            "{error}"
        );
    }

    /// Counts the progress reports of each step, and stops in one of them.
    #[derive(Default)]
    struct ReportCounter {
        watch: Watch,
        stop_in: Option<&'static str>,
        /// The step that is stopped when it begins.
        stop_at: Option<String>,
        reports: Mutex<Vec<(String, u64)>>,
    }

    impl ReportCounter {
        fn of(&self, step: &str) -> u64 {
            let reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
            reports.iter().filter(|(name, _)| name == step).map(|(_, times)| times).sum()
        }
    }

    impl Progress for ReportCounter {
        fn step(&self, name: &str, total: Option<u64>) {
            if Some(name) == self.stop_at.as_deref() {
                self.watch.stop();
            }
            self.watch.step(name, total);
            self.reports.lock().unwrap_or_else(PoisonError::into_inner).push((name.to_owned(), 0));
        }

        fn advance(&self, amount: u64) {
            // Unwinds if the work was stopped.
            self.watch.advance(amount);
            let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((name, times)) = reports.last_mut() {
                *times += 1;
                if Some(name.as_str()) == self.stop_in {
                    self.watch.stop();
                }
            }
        }
    }

    #[test]
    fn a_public_function_returns_an_error_if_it_is_stopped() {
        let dir = tempfile::tempdir().unwrap();
        let (table, release) = (dir.path().join("people.csv"), dir.path().join("release.csv"));
        std::fs::write(&table, "age\n1\n1\n2\n2\n").unwrap();
        let job = crate::Job::of_file(&table).quasi(["age"]).k(2);
        for step in ["reading", "writing", "verifying"] {
            let counter =
                ReportCounter { stop_at: Some(step.to_owned()), ..ReportCounter::default() };
            let stopped = crate::Anonymizer::new(&job).progress(&counter).run_in_memory();
            assert_eq!(stopped.unwrap_err().fault(), Fault::Stopped, "{step}");
            let job = job.clone().output(&release);
            let counter =
                ReportCounter { stop_at: Some(step.to_owned()), ..ReportCounter::default() };
            let stopped = crate::Anonymizer::new(job).progress(&counter).run();
            assert_eq!(stopped.unwrap_err().fault(), Fault::Stopped, "{step}");
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "files remain");
        }
    }

    /// Records the steps of work, then stops it at the beginning of each.
    fn check_stops<T>(name: &str, work: &dyn Fn(&dyn Progress) -> CoreResult<T>) {
        let counter = ReportCounter::default();
        work(&counter).unwrap_or_else(|e| panic!("{name}: {e}"));
        let reports = counter.reports.into_inner().unwrap_or_else(PoisonError::into_inner);
        let steps: BTreeSet<String> = reports.into_iter().map(|(step, _)| step).collect();
        assert!(!steps.is_empty(), "{name} reports no progress");
        for step in steps {
            let stop_at = Some(step.clone());
            let counter = ReportCounter { stop_at, ..ReportCounter::default() };
            let stopped = work(&counter).err().unwrap_or_else(|| panic!("{name} went on: {step}"));
            assert_eq!(stopped.fault(), Fault::Stopped, "{name} in {step}");
        }
    }

    #[test]
    fn every_request_returns_an_error_if_it_is_stopped() {
        use crate::job::{CompareJob, SuppressionJob};
        use crate::profile::InitOptions;
        use crate::{Ask, AttackRequest, BatchTable, BatchesRequest, CompareRequest, Judging};

        let dir = tempfile::tempdir().unwrap();
        let (table, release) = (dir.path().join("people.csv"), dir.path().join("release.csv"));
        let disease = |i: usize| ["flu", "cold"][i / 2 % 2];
        let row = |i: usize| format!("{},{},{}\n", 20 + i / 2, disease(i), 100 * (i % 7));
        let rows: String = (0..24).map(row).collect();
        std::fs::write(&table, format!("age,disease,income\n{rows}")).unwrap();
        let job = crate::Job::of_file(&table).quasi(["age"]).sensitive(["disease"]).k(2);
        let published = job.clone().output(&release);
        crate::Anonymizer::new(&published).run().unwrap();

        let judging = Judging::of(&published);
        check_stops("verify", &|p| judging.progress(p).verify());
        check_stops("attack", &|p| judging.progress(p).attack(&AttackRequest::default()));
        check_stops("measure", &|p| judging.progress(p).measure(Some(&Ask::default())));
        check_stops("report", &|p| judging.progress(p).report(&Ask::default()));
        check_stops("open table", &|p| crate::OpenTable::new().progress(p).anonymize(&job));

        let input = &job.input;
        check_stops("profile", &|p| crate::ProfileOptions::new(input.clone()).progress(p).run());
        check_stops("init", &|p| InitOptions::new(input.clone(), 2).progress(p).run());
        check_stops("glimpse", &|p| input.progress(p).glimpse());
        check_stops("counts", &|p| input.progress(p).column_counts("age"));
        check_stops("values", &|p| input.progress(p).column_values("age"));
        let levels = crate::job::hierarchy_from_word(r#"{ columns = ["disease"] }"#).unwrap();
        check_stops("hierarchy", &|p| input.progress(p).hierarchy_of("age", &levels));
        let params = vec![("on".to_owned(), crate::Value::Word("income".to_owned()))];
        let outliers = crate::OutlierRequest::new(job.clone().sensitive(["income"]), params);
        check_stops("outliers", &|p| outliers.progress(p).run());

        let mut swept = job.clone();
        let algorithms = vec!["mondrian".to_owned()];
        swept.compare = Some(CompareJob { algorithms, k: vec![2], ..CompareJob::default() });
        check_stops("compare", &|p| {
            let fresh = tempfile::tempdir_in(dir.path()).unwrap();
            CompareRequest::new(swept.clone(), fresh.path()).progress(p).run()
        });

        let mut rules = job.clone();
        rules.suppression = Some(SuppressionJob {
            name: "r-suppression".to_owned(),
            params: vec![("l".to_owned(), crate::Value::Integer(2))],
            seed: Some(1),
            ..SuppressionJob::default()
        });
        let tables = [BatchTable::from(&table)];
        check_stops("batches", &|p| {
            let fresh = tempfile::tempdir_in(dir.path()).unwrap();
            let to = fresh.path().join("releases");
            let made = BatchesRequest::new(rules.clone(), tables.to_vec(), &to).progress(p).run();
            assert!(made.is_ok() || !to.exists(), "a directory without a release remains");
            made
        });
    }

    #[test]
    fn the_long_stages_of_auto_report_often_enough_to_be_stopped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("people.csv");
        let mut table = String::from("age,zip,height,disease\n");
        for i in 0..6000u64 {
            let (age, zip, height) = (18 + i * 7 % 71, i * 7919 % 997, 140 + i * 31 % 67);
            table += &format!("{age},{zip},{height},{}\n", ["flu", "cold", "gout"][i as usize % 3]);
        }
        std::fs::write(&path, table).unwrap();
        let run = |stop_in| {
            let counter = ReportCounter { stop_in, ..ReportCounter::default() };
            let job = crate::Job::of_file(&path)
                .quasi(["age", "zip", "height"])
                .sensitive(["disease"])
                .k(5);
            let answer = caught(|| {
                in_pool(|| {
                    Ok(crate::Anonymizer::new(&job)
                        .progress(&counter)
                        .run_in_memory()?
                        .report
                        .manifest
                        .groups)
                })
            });
            (answer, counter)
        };
        let (answer, counter) = run(None);
        assert!(answer.is_ok());
        // Windows have at most 2,048 rows, and each reports in every round.
        let windows = 6000 / 2048 + 1;
        assert!(counter.of("moving") >= 2 * windows, "{}", counter.of("moving"));
        let (answer, counter) = run(Some("moving"));
        assert!(matches!(answer, Err(Failed::Stopped)));
        // Each thread may report once more after the stop. No further step begins.
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
        assert!(counter.of("moving") <= threads, "{}", counter.of("moving"));
        let last = counter
            .reports
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .last()
            .map(|(name, _)| name.clone());
        assert_eq!(last.as_deref(), Some("moving"));
    }
}
