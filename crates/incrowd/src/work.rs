//! Long work for somebody who looks on: it says how far it has come, ends when it is told to, and lets what is in a hurry go first.
//!
//! Whoever is told to stop does so when it next says how far it has come, by unwinding: what is under way is dropped on the way, and
//! nothing is published, because publishing begins with such a step. The Python package and the web app run their work with this.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use incrowd_core::{Error, Progress};

use crate::job::JobError;

/// Why work ended without a result.
#[derive(Clone, Debug)]
pub enum Failed {
    /// An error.
    Error(Box<JobError>),
    /// Somebody stopped it.
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

/// What is seen of work from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The step it is at.
    pub step: String,
    /// How much of the step is done.
    pub done: u64,
    /// Of how much, if that is known.
    pub total: Option<u64>,
    /// How many seconds the step has taken.
    pub seconds: f64,
}

/// How far work has come, and whether it shall go on.
#[derive(Debug)]
pub struct Watch {
    stopped: AtomicBool,
    step: Mutex<(String, Option<u64>, Instant)>,
    done: AtomicU64,
    gate: Option<Arc<Gate>>,
}

/// What work unwinds with.
struct Stopped;

impl Default for Watch {
    fn default() -> Self {
        Watch {
            stopped: AtomicBool::new(false),
            step: Mutex::new((String::new(), None, Instant::now())),
            done: AtomicU64::new(0),
            gate: None,
        }
    }
}

impl Watch {
    /// Work that pauses at its next step while somebody is in a hurry. It must run on [threads of its own](in_pool): who is in a hurry
    /// would wait for threads that pause.
    pub fn behind(gate: Arc<Gate>) -> Watch {
        Watch { gate: Some(gate), ..Watch::default() }
    }

    /// Tells it to stop at its next step.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether it was told to stop.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// How far it is.
    pub fn seen(&self) -> Seen {
        let (step, total, since) = self.step.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Seen { step, done: self.done.load(Ordering::Relaxed), total, seconds: since.elapsed().as_secs_f64() }
    }

    fn go_on(&self) {
        if let Some(gate) = &self.gate {
            gate.wait(&|| self.is_stopped());
        }
        if self.is_stopped() {
            // Not a panic: nobody is told.
            resume_unwind(Box::new(Stopped));
        }
    }
}

impl Progress for Watch {
    fn step(&self, name: &str, total: Option<u64>) {
        self.go_on();
        *self.step.lock().unwrap_or_else(PoisonError::into_inner) = (name.to_owned(), total, Instant::now());
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, amount: u64) {
        self.go_on();
        self.done.fetch_add(amount, Ordering::Relaxed);
    }
}

/// Lets those in a hurry go first: while one of them is inside, others wait.
#[derive(Debug, Default)]
pub struct Gate {
    inside: AtomicUsize,
    lock: Mutex<()>,
    changed: Condvar,
}

/// Somebody in a hurry, as long as it lives.
#[derive(Debug)]
pub struct Hurried<'a>(&'a Gate);

/// How often those who wait look whether they were stopped.
const LOOK: Duration = Duration::from_millis(50);

impl Gate {
    /// Begins something in a hurry.
    pub fn hurry(&self) -> Hurried<'_> {
        self.inside.fetch_add(1, Ordering::SeqCst);
        Hurried(self)
    }

    fn wait(&self, stopped: &dyn Fn() -> bool) {
        if self.inside.load(Ordering::SeqCst) == 0 {
            return;
        }
        let mut held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while self.inside.load(Ordering::SeqCst) > 0 && !stopped() {
            held = self.changed.wait_timeout(held, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Hurried<'_> {
    fn drop(&mut self) {
        let _held = self.0.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.0.inside.fetch_sub(1, Ordering::SeqCst);
        self.0.changed.notify_all();
    }
}

/// Where the last failure of ours was.
static FAILED_AT: Mutex<String> = Mutex::new(String::new());

/// Does work. What fails because of us is an error like any other, without what it was about: that could be a cell.
pub fn caught<T>(work: impl FnOnce() -> Result<T, Failed>) -> Result<T, Failed> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(answer) => answer,
        Err(payload) if payload.is::<Stopped>() => Err(Failed::Stopped),
        Err(_) => {
            let at = FAILED_AT.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Err(Error::bug(format!("incrowd failed at {at}")).into())
        }
    }
}

/// Does work on threads of its own.
pub fn in_pool<T: Send>(work: impl FnOnce() -> Result<T, Failed> + Send) -> Result<T, Failed> {
    let pool = rayon::ThreadPoolBuilder::new().thread_name(|i| format!("incrowd {i}")).build();
    let pool = pool.map_err(|e| Error::resources(format!("cannot start threads: {e}")))?;
    pool.install(work)
}

/// From now on a failure of ours says of itself only where it was, and that to `tell`: what it was about could be a cell. The first
/// call decides for the whole process.
pub fn quietly(tell: fn(&str)) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(move |info| {
            let at = info.location().map_or_else(String::new, ToString::to_string);
            tell(&at);
            *FAILED_AT.lock().unwrap_or_else(PoisonError::into_inner) = at;
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_is_stopped_ends_at_its_next_step() {
        let watch = Watch::default();
        let answer = caught(|| {
            watch.step("one", Some(3));
            watch.advance(1);
            watch.stop();
            watch.advance(1);
            Ok(())
        });
        assert!(matches!(answer, Err(Failed::Stopped)));
        let seen = watch.seen();
        assert_eq!((seen.step.as_str(), seen.done, seen.total), ("one", 1, Some(3)));
    }

    #[test]
    fn work_pauses_while_somebody_is_in_a_hurry_and_can_be_stopped_meanwhile() {
        let gate = Arc::new(Gate::default());
        let watch = Arc::new(Watch::behind(gate.clone()));
        watch.advance(1);
        let hurried = gate.hurry();
        let own = watch.clone();
        let speak = |watch: &Watch| {
            watch.advance(1);
            Ok(())
        };
        let paused = std::thread::spawn(move || caught(|| in_pool(|| speak(&own))));
        // It cannot advance until the other is over, however long that takes.
        for _ in 0..20 {
            std::thread::yield_now();
            assert_eq!(watch.seen().done, 1);
        }
        drop(hurried);
        assert!(paused.join().unwrap().is_ok());
        assert_eq!(watch.seen().done, 2);
        let _hurried = gate.hurry();
        watch.stop();
        assert!(matches!(caught(|| speak(&watch)), Err(Failed::Stopped)));
    }

    #[test]
    fn a_failure_does_not_say_what_it_was_about() {
        quietly(|_| {});
        let answer: Result<(), Failed> = caught(|| panic!("the cell 48811"));
        let Err(Failed::Error(error)) = answer else { panic!("no error") };
        assert!(error.to_string().contains("work.rs") && !error.to_string().contains("48811"), "{error}");
    }

    /// Counts how often each step speaks, and stops in one of them.
    #[derive(Default)]
    struct Told {
        watch: Watch,
        stop_in: Option<&'static str>,
        spoken: Mutex<Vec<(String, u64)>>,
    }

    impl Told {
        fn of(&self, step: &str) -> u64 {
            let spoken = self.spoken.lock().unwrap_or_else(PoisonError::into_inner);
            spoken.iter().filter(|(name, _)| name == step).map(|(_, times)| times).sum()
        }
    }

    impl Progress for Told {
        fn step(&self, name: &str, total: Option<u64>) {
            self.watch.step(name, total);
            self.spoken.lock().unwrap_or_else(PoisonError::into_inner).push((name.to_owned(), 0));
        }

        fn advance(&self, amount: u64) {
            // Whoever comes through has not been told to stop.
            self.watch.advance(amount);
            let mut spoken = self.spoken.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((name, times)) = spoken.last_mut() {
                *times += 1;
                if Some(name.as_str()) == self.stop_in {
                    self.watch.stop();
                }
            }
        }
    }

    #[test]
    fn the_long_stages_of_auto_speak_often_enough_to_be_stopped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("people.csv");
        let mut table = String::from("age,zip,height,disease\n");
        for i in 0..6000u64 {
            let (age, zip, height) = (18 + i * 7 % 71, i * 7919 % 997, 140 + i * 31 % 67);
            table += &format!("{age},{zip},{height},{}\n", ["flu", "cold", "gout"][i as usize % 3]);
        }
        std::fs::write(&path, table).unwrap();
        let run = |stop_in| {
            let told = Told { stop_in, ..Told::default() };
            let job = crate::Job::of_file(&path).quasi(["age", "zip", "height"]).sensitive(["disease"]).k(5);
            let answer =
                caught(|| in_pool(|| Ok(crate::anonymize_in_memory(&job, &told)?.report.manifest.groups)));
            (answer, told)
        };
        let (answer, told) = run(None);
        assert!(answer.is_ok());
        // Windows have at most 2,048 rows: in every round each of them speaks.
        let windows = 6000 / 2048 + 1;
        assert!(told.of("moving") >= 2 * windows, "{}", told.of("moving"));
        let (answer, told) = run(Some("moving"));
        assert!(matches!(answer, Err(Failed::Stopped)));
        // Every thread may have been about to speak when it was stopped, and none speaks again; no further step begins.
        let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
        assert!(told.of("moving") <= threads, "{}", told.of("moving"));
        let last =
            told.spoken.lock().unwrap_or_else(PoisonError::into_inner).last().map(|(name, _)| name.clone());
        assert_eq!(last.as_deref(), Some("moving"));
    }
}
