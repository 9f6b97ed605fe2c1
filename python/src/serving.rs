//! The pages in a browser, of a table in memory or in a file.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use incrowd::Error;
use incrowd_web::{Options, Ready, Stop, Table};
use pyo3::prelude::*;

use crate::errors;
use crate::tables::Given;

/// How often interruptions are looked for.
const LOOK: Duration = Duration::from_millis(50);

/// What the server says.
enum Said {
    Ready(Ready),
    Ended(incrowd::Result<()>),
}

/// Serves the pages until somebody interrupts. `told` is called with the address, and with a private file that leads to it.
#[pyfunction]
pub(crate) fn serve(
    py: Python<'_>,
    table: Option<Given>,
    port: u16,
    max_upload: u64,
    told: Py<PyAny>,
) -> PyResult<()> {
    let one = |mut paths: Vec<PathBuf>| match paths.len() {
        1 => Ok(Table::File(paths.remove(0))),
        _ => Err(errors::raise(py, Error::input("the pages show one table, in one file").into())),
    };
    let table = match table {
        None => None,
        Some(Given::Memory(batches)) => Some(Table::Memory(batches)),
        Some(Given::Files(paths)) => Some(one(paths)?),
    };
    let options = Options { port, table, most_bytes: max_upload.saturating_mul(1 << 20) };
    let stop = Stop::default();
    let (send, receive) = mpsc::channel();
    let theirs = stop.clone();
    let serving = std::thread::Builder::new().name("incrowd serve".to_owned()).spawn(move || {
        let ready = send.clone();
        let ended = incrowd_web::serve(options, &theirs, |at| drop(ready.send(Said::Ready(at.clone()))));
        drop(send.send(Said::Ended(ended)));
    });
    serving.map_err(|e| errors::raise(py, Error::resources(format!("cannot start a thread: {e}")).into()))?;
    let receive = Mutex::new(receive);
    let wait = |time| receive.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(time);
    loop {
        let heard = match py.detach(|| wait(LOOK)) {
            Ok(Said::Ended(ended)) => return ended.map_err(|error| errors::raise(py, error.into())),
            Ok(Said::Ready(ready)) => told.call1(py, (ready.address, ready.page)).map(drop),
            Err(mpsc::RecvTimeoutError::Timeout) => py.check_signals(),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(errors::raise(py, Error::bug("the server ended without a word").into()));
            }
        };
        if let Err(error) = heard {
            stop.stop();
            // Its uploads are gone when it has ended.
            while !matches!(
                py.detach(|| wait(LOOK)),
                Ok(Said::Ended(_)) | Err(mpsc::RecvTimeoutError::Disconnected)
            ) {}
            return Err(error);
        }
    }
}
