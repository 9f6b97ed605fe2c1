//! Long work: on separate threads, without the interpreter lock, while the calling thread checks
//! for interruptions.
//!
//! An interruption returns at once. The work itself ends at its next progress report
//! ([`incrowd::work`]).

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use incrowd::Error;
pub(crate) use incrowd::work::{Failed as Finished, Watch};
use incrowd::work::{caught, hide_panic_messages, in_pool};
use pyo3::prelude::*;

use crate::errors;

/// The interval between checks for interruptions.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// The longest time that interrupted work is waited for.
const STOP_TIMEOUT: Duration = Duration::from_millis(500);

/// Returns the exception for work that ended without a result.
pub(crate) fn raise(finished: Finished, py: Python<'_>) -> PyErr {
    match finished {
        Finished::Error(error) => errors::raise(py, *error),
        Finished::Stopped => pyo3::exceptions::PyKeyboardInterrupt::new_err(()),
    }
}

/// Runs work and calls `progress(step, done, total)`.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Finished> + Send + 'static,
) -> PyResult<T> {
    // Panics are reported as exceptions and not on standard error. The hook belongs to this module
    // only.
    hide_panic_messages(|_| {});
    let watch = Arc::new(Watch::default());
    let (send, receive) = mpsc::channel();
    let theirs = watch.clone();
    // One thread pool per call: the threads of a shared pool would not survive a fork.
    let worker = move || drop(send.send(caught(|| in_pool(|| work(&theirs)))));
    let thread = std::thread::Builder::new().name("incrowd".to_owned()).spawn(worker);
    thread.map_err(|e| {
        errors::raise(py, Error::resources(format!("cannot start a thread: {e}")).into())
    })?;
    let mut reported = None;
    // The lock is needed only because the receiver of a channel is not `Sync`.
    let receive = Mutex::new(receive);
    let wait = |time| {
        let receive = receive.lock().unwrap_or_else(PoisonError::into_inner);
        receive.recv_timeout(time)
    };
    loop {
        match py.detach(|| wait(CHECK_INTERVAL)) {
            Ok(answer) => return answer.map_err(|finished| raise(finished, py)),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(errors::raise(py, Error::bug("work ended without an answer").into()));
            }
        }
        let seen = watch.state();
        let seen = (seen.step, seen.done, seen.total);
        let mut heard = py.check_signals();
        if let (Ok(()), Some(progress)) = (&heard, &progress)
            && reported.as_ref() != Some(&seen)
        {
            heard = progress.call1(py, seen.clone()).map(drop);
            reported = Some(seen);
        }
        if let Err(error) = heard {
            watch.stop();
            drop(py.detach(|| wait(STOP_TIMEOUT)));
            if let Some(release) = watch.published_release() {
                // Python 3.10 has no notes.
                drop(error.value(py).call_method1("add_note", (release.to_string(),)));
            }
            return Err(error);
        }
    }
}
