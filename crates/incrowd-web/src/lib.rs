//! `incrowd serve`: the whole way to a release in a browser, on this machine only.
//!
//! A server on 127.0.0.1 renders pages; nothing is fetched from elsewhere. What a page shows follows from its address: a table
//! that was opened, a job that cannot be changed any more, and a step. A change makes another job with an address of its own, so
//! that going back, reloading and a second tab work by themselves. The job of an address is a job file, and the command line
//! makes the same release of it.
//!
//! `guard` keeps others out, `tasks` does long work, `document` is the job, `pages` has one file per step.

mod app;
mod chart;
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

/// What to serve.
#[derive(Debug)]
pub struct Options {
    /// The port; 0 is any that is free.
    pub port: u16,
    /// A table that is opened at once.
    pub table: Option<Table>,
    /// Uploads larger than so many bytes are refused.
    pub most_bytes: u64,
}

/// A table that is opened at once.
#[derive(Debug)]
pub enum Table {
    /// In a file.
    File(PathBuf),
    /// In memory.
    Memory(Batches),
}

/// Larger uploads are refused unless told otherwise: open such a file by its path, which copies nothing.
pub const USUAL_MOST_BYTES: u64 = 1 << 30;

impl Default for Options {
    fn default() -> Self {
        Options { port: 0, table: None, most_bytes: USUAL_MOST_BYTES }
    }
}

/// Stops a server.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Notify>);

impl Stop {
    /// A server that was given this ends, and with it all its work.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

/// Where a server is.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The address to open. It has the token: whoever sees it gets in.
    pub address: String,
    /// A page in a private file that leads to the address. What programs are started with everybody on the machine can see, so a
    /// browser is given this.
    pub page: PathBuf,
}

/// Serves until somebody stops it. `ready` is told the address.
pub fn serve(options: Options, stop: &Stop, ready: impl FnOnce(&Ready)) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|e| Error::resources(format!("cannot start threads: {e}")))?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
    let served = runtime.block_on(async {
        let listener = TcpListener::bind(address).await.map_err(|e| {
            let error = Error::resources(format!("cannot listen on {address}: {e}"));
            error.help("choose another port with --port, or leave it out for any that is free")
        })?;
        let port = listener.local_addr().map_err(|e| Error::resources(e.to_string()))?.port();
        let app = Arc::new(App::new(port, options)?);
        ready(&app.ready()?);
        let router = pages::router(app.clone());
        let ended = tokio::select! {
            ended = async { axum::serve(listener, router).await } => ended,
            () = stop.0.notified() => Ok(()),
        };
        // Whoever works for a page nobody will see again is told so, and what was uploaded goes.
        app.close();
        ended.map_err(|e| Error::resources(format!("the server failed: {e}")))
    });
    runtime.shutdown_background();
    served
}
