//! `incrowd serve`: the browser interface, on this machine only.
//!
//! A server on 127.0.0.1 renders pages; nothing is fetched from other hosts. The address of a page
//! consists of an open table, an immutable job and a step, and it determines the content of the
//! page. Every change creates a new job with a new address, so the back button, reloading and
//! several tabs work. A job is a job file, and the command line makes the same release from it.
//!
//! `guard` controls access, `connections` limits the number of connections, `tasks` runs long work,
//! `document` is the job, and `pages` has one file per step.

mod app;
mod chart;
mod connections;
mod demo;
mod document;
mod forms;
mod guard;
mod markup;
mod open;
mod pages;
mod private_dir;
mod steps;
mod tasks;
mod texts;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use incrowd::{Batches, Error, Result};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use app::App;

/// The options of a server.
#[derive(Debug)]
pub struct Options {
    /// The port; 0 selects a free port.
    pub port: u16,
    /// The table to open at the start.
    pub table: Option<Table>,
    /// The largest upload in bytes. Larger uploads are refused.
    pub max_upload: u64,
}

/// The table to open at the start.
#[derive(Debug)]
pub enum Table {
    /// In a file.
    File(PathBuf),
    /// In memory.
    Memory(Batches),
}

/// The default of [`Options::max_upload`]. Larger files can be opened by path, without a copy.
pub const DEFAULT_MAX_UPLOAD: u64 = 1 << 30;

impl Default for Options {
    fn default() -> Self {
        Options { port: 0, table: None, max_upload: DEFAULT_MAX_UPLOAD }
    }
}

/// A handle that stops a server.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Notify>);

impl Stop {
    /// Stops the server that was started with this handle, and all its work.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

/// The addresses of a running server.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The address to open. It has a token, which works once.
    pub address: String,
    /// A private file that redirects to the server, any number of times. It is the argument of the
    /// browser, because every user of the machine can read command lines.
    pub page: PathBuf,
}

/// Runs a server until `stop` is used. `ready` is called with the address.
pub fn serve(options: Options, stop: &Stop, ready: impl FnOnce(&Ready)) -> Result<()> {
    // A panic is reported by its location only: its message may contain a cell.
    incrowd::work::hide_panic_messages(|at| eprintln!("error: incrowd failed at {at}"));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|e| Error::resources(format!("cannot start threads: {e}")))?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
    let served = runtime.block_on(async {
        let listener = TcpListener::bind(address).await.map_err(|e| {
            let error = Error::resources(format!("cannot listen on {address}: {e}"));
            error.help("choose another port with --port, or remove the flag to use a free port")
        })?;
        let port = listener.local_addr().map_err(|e| Error::resources(e.to_string()))?.port();
        let app = Arc::new(App::new(port, options)?);
        ready(&app.ready()?);
        let pages = guard::guarded(app.clone(), pages::router(app.clone()));
        tokio::select! {
            never = connections::accept(listener, pages) => match never {},
            () = stop.0.notified() => {}
        }
        // Running work is stopped, and uploads are removed.
        app.close();
        Ok(())
    });
    runtime.shutdown_background();
    served
}
