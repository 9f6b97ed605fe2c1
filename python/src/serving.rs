//! The browser interface for a table in memory or in a file.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use incrowd::Error;
use incrowd_web::{Options, Ready, Stop, Table};
use pyo3::prelude::*;

use crate::errors;
use crate::tables::Given;

/// The interval between checks for interruptions.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// A message of the server thread.
enum ServerMessage {
    Ready(Ready),
    Ended(incrowd::Result<()>),
}

/// Runs the server until an interruption. `ready` is called with the address and with the path of a
/// private file that redirects to it.
#[pyfunction]
pub(crate) fn serve(
    py: Python<'_>,
    table: Option<Given>,
    port: u16,
    max_upload: u64,
    ready: Py<PyAny>,
) -> PyResult<()> {
    let one = |mut paths: Vec<PathBuf>| match paths.len() {
        1 => Ok(Table::File(paths.remove(0))),
        _ => Err(errors::raise(py, Error::input("the table must be a single file").into())),
    };
    let table = match table {
        None => None,
        Some(Given::Memory(batches)) => Some(Table::Memory(batches)),
        Some(Given::Files(paths)) => Some(one(paths)?),
    };
    let options = Options { port, table, max_upload: max_upload.saturating_mul(1 << 20) };
    let stop = Stop::default();
    let (send, receive) = mpsc::channel();
    let theirs = stop.clone();
    let serving = std::thread::Builder::new().name("incrowd serve".to_owned()).spawn(move || {
        let sender = send.clone();
        let ended = incrowd_web::serve(options, &theirs, |at| {
            drop(sender.send(ServerMessage::Ready(at.clone())));
        });
        drop(send.send(ServerMessage::Ended(ended)));
    });
    serving.map_err(|e| {
        errors::raise(py, Error::resources(format!("cannot start a thread: {e}")).into())
    })?;
    let receive = Mutex::new(receive);
    let wait = |time| receive.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(time);
    loop {
        let result = match py.detach(|| wait(CHECK_INTERVAL)) {
            Ok(ServerMessage::Ended(ended)) => {
                return ended.map_err(|error| errors::raise(py, error.into()));
            }
            Ok(ServerMessage::Ready(at)) => ready.call1(py, (at.address, at.page)).map(drop),
            Err(mpsc::RecvTimeoutError::Timeout) => py.check_signals(),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(errors::raise(
                    py,
                    Error::bug("the server thread ended without a message").into(),
                ));
            }
        };
        if let Err(error) = result {
            stop.stop();
            // The server removes its uploads before it ends.
            while !matches!(
                py.detach(|| wait(CHECK_INTERVAL)),
                Ok(ServerMessage::Ended(_)) | Err(mpsc::RecvTimeoutError::Disconnected)
            ) {}
            return Err(error);
        }
    }
}
