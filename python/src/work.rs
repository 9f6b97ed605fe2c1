//! Long work: on threads of its own, without the interpreter's lock, with somebody who looks for interruptions.
//!
//! Whoever interrupts is answered at once. The work itself ends when it next says how far it has come, by unwinding: what is
//! under way is dropped on the way, and nothing is published, because publishing begins with such a step.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, PoisonError, mpsc};
use std::time::Duration;

use incrowd::job::JobError;
use incrowd::{Error, Progress};
use pyo3::prelude::*;

use crate::errors;

/// How often interruptions are looked for.
const LOOK: Duration = Duration::from_millis(50);
/// How long work that was interrupted is waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// Where the last failure of ours was.
static FAILED_AT: Mutex<String> = Mutex::new(String::new());

/// Why work ended without a result.
#[derive(Debug)]
pub(crate) enum Finished {
    /// An error.
    Failed(Box<JobError>),
    /// Somebody interrupted it.
    Cancelled,
}

impl From<JobError> for Finished {
    fn from(error: JobError) -> Finished {
        Finished::Failed(Box::new(error))
    }
}

impl From<Error> for Finished {
    fn from(error: Error) -> Finished {
        Finished::Failed(Box::new(error.into()))
    }
}

impl Finished {
    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Finished::Failed(error) => errors::raise(py, *error),
            Finished::Cancelled => pyo3::exceptions::PyKeyboardInterrupt::new_err(()),
        }
    }
}

/// How far the work has come, and whether it shall go on.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    cancelled: AtomicBool,
    step: Mutex<(String, Option<u64>)>,
    done: AtomicU64,
}

/// What the work unwinds with.
struct Cancelled;

impl Watch {
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn go_on(&self) {
        if self.is_cancelled() {
            // Not a panic: nobody is told.
            resume_unwind(Box::new(Cancelled));
        }
    }

    fn seen(&self) -> (String, u64, Option<u64>) {
        let (step, total) = self.step.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (step, self.done.load(Ordering::Relaxed), total)
    }
}

impl Progress for Watch {
    fn step(&self, name: &str, total: Option<u64>) {
        self.go_on();
        *self.step.lock().unwrap_or_else(PoisonError::into_inner) = (name.to_owned(), total);
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, amount: u64) {
        self.go_on();
        self.done.fetch_add(amount, Ordering::Relaxed);
    }
}

/// Does work and tells `progress`, a callable, of its steps: `progress(step, done, total)`.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Finished> + Send + 'static,
) -> PyResult<T> {
    quietly();
    let watch = Arc::new(Watch::default());
    let (send, receive) = mpsc::channel();
    let theirs = watch.clone();
    // A pool for each call: one that everybody shares would not survive a fork of the process.
    let worker = move || drop(send.send(caught(|| in_pool(|| work(&theirs)))));
    let thread = std::thread::Builder::new().name("incrowd".to_owned()).spawn(worker);
    thread.map_err(|e| errors::raise(py, Error::resources(format!("cannot start a thread: {e}")).into()))?;
    let mut told = None;
    // Waiting happens behind a lock only because the other end of a channel is not shared.
    let receive = Mutex::new(receive);
    let wait = |time| {
        let receive = receive.lock().unwrap_or_else(PoisonError::into_inner);
        receive.recv_timeout(time)
    };
    loop {
        match py.detach(|| wait(LOOK)) {
            Ok(answer) => return answer.map_err(|finished| finished.raise(py)),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(errors::raise(py, Error::bug("work ended without an answer").into()));
            }
        }
        let seen = watch.seen();
        let mut heard = py.check_signals();
        if let (Ok(()), Some(progress)) = (&heard, &progress)
            && told.as_ref() != Some(&seen)
        {
            heard = progress.call1(py, seen.clone()).map(drop);
            told = Some(seen);
        }
        if let Err(error) = heard {
            watch.cancelled.store(true, Ordering::Relaxed);
            drop(py.detach(|| wait(PATIENCE)));
            return Err(error);
        }
    }
}

fn in_pool<T: Send>(work: impl FnOnce() -> Result<T, Finished> + Send) -> Result<T, Finished> {
    let pool = rayon::ThreadPoolBuilder::new().thread_name(|i| format!("incrowd {i}")).build();
    let pool = pool.map_err(|e| Error::resources(format!("cannot start threads: {e}")))?;
    pool.install(work)
}

/// What failed because of us is an error like any other, without what it was about: that could be a cell.
fn caught<T>(work: impl FnOnce() -> Result<T, Finished>) -> Result<T, Finished> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(answer) => answer,
        Err(payload) if payload.is::<Cancelled>() => Err(Finished::Cancelled),
        Err(_) => {
            let at = FAILED_AT.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Err(Error::bug(format!("incrowd failed at {at}")).into())
        }
    }
}

/// Failures are told by exceptions and not on standard error. The hook is that of this module alone.
fn quietly() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let at = info.location().map_or_else(String::new, ToString::to_string);
            *FAILED_AT.lock().unwrap_or_else(PoisonError::into_inner) = at;
        }));
    });
}
