//! Long work: it says how far it has come, and ends when it is told to.
//!
//! Whoever is told to stop does so when it next says how far it has come, by unwinding: what is under way is dropped on the way.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Instant;

use incrowd::job::JobError;
use incrowd::{Error, Progress};

/// Where the last failure of ours was.
static FAILED_AT: Mutex<String> = Mutex::new(String::new());

/// How far work has come, and whether it shall go on.
#[derive(Debug)]
pub(crate) struct Watch {
    stopped: AtomicBool,
    step: Mutex<(String, Option<u64>, Instant)>,
    done: AtomicU64,
}

/// What work unwinds with.
struct Stopped;

impl Default for Watch {
    fn default() -> Self {
        Watch {
            stopped: AtomicBool::new(false),
            step: Mutex::new((String::new(), None, Instant::now())),
            done: AtomicU64::new(0),
        }
    }
}

/// What is seen of work from outside.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    pub(crate) step: String,
    pub(crate) done: u64,
    pub(crate) total: Option<u64>,
    /// How many seconds this step has taken.
    pub(crate) seconds: f64,
}

impl Watch {
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn seen(&self) -> Seen {
        let (step, total, since) = self.step.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Seen { step, done: self.done.load(Ordering::Relaxed), total, seconds: since.elapsed().as_secs_f64() }
    }

    fn go_on(&self) {
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

/// Why work ended without a result.
#[derive(Clone, Debug)]
pub(crate) enum Failed {
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

/// Does work. What fails because of us is an error like any other, without what it was about: that could be a cell.
pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, Failed>) -> Result<T, Failed> {
    quietly();
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(answer) => answer,
        Err(payload) if payload.is::<Stopped>() => Err(Failed::Stopped),
        Err(_) => {
            let at = FAILED_AT.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Err(Error::bug(format!("incrowd failed at {at}")).into())
        }
    }
}

/// What a failure says of itself could be a cell, so the terminal is told only where it was.
fn quietly() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let at = info.location().map_or_else(String::new, ToString::to_string);
            eprintln!("error: incrowd failed at {at}");
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
    fn a_failure_does_not_say_what_it_was_about() {
        let answer: Result<(), Failed> = caught(|| panic!("the cell 48811"));
        let Err(Failed::Error(error)) = answer else { panic!("no error") };
        assert!(error.to_string().contains("work.rs") && !error.to_string().contains("48811"), "{error}");
    }
}
