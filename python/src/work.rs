//! Long work: on threads of its own, without the interpreter's lock, with somebody who looks for interruptions.
//!
//! Whoever interrupts is answered at once. The work itself ends when it next says how far it has come ([`incrowd::work`]).

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use incrowd::Error;
pub(crate) use incrowd::work::{Failed as Finished, Watch};
use incrowd::work::{caught, in_pool, quietly};
use pyo3::prelude::*;

use crate::errors;

/// How often interruptions are looked for.
const LOOK: Duration = Duration::from_millis(50);
/// How long work that was interrupted is waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// The exception for work that ended without a result.
pub(crate) fn raise(finished: Finished, py: Python<'_>) -> PyErr {
    match finished {
        Finished::Error(error) => errors::raise(py, *error),
        Finished::Stopped => pyo3::exceptions::PyKeyboardInterrupt::new_err(()),
    }
}

/// Does work and tells `progress`, a callable, of its steps: `progress(step, done, total)`.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, Finished> + Send + 'static,
) -> PyResult<T> {
    // Failures are told by exceptions and not on standard error. The hook is that of this module alone.
    quietly(|_| {});
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
            Ok(answer) => return answer.map_err(|finished| raise(finished, py)),
            Err(mpsc::RecvTimeoutError::Timeout) => {}
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(errors::raise(py, Error::bug("work ended without an answer").into()));
            }
        }
        let seen = watch.seen();
        let seen = (seen.step, seen.done, seen.total);
        let mut heard = py.check_signals();
        if let (Ok(()), Some(progress)) = (&heard, &progress)
            && told.as_ref() != Some(&seen)
        {
            heard = progress.call1(py, seen.clone()).map(drop);
            told = Some(seen);
        }
        if let Err(error) = heard {
            watch.stop();
            drop(py.detach(|| wait(PATIENCE)));
            return Err(error);
        }
    }
}
