//! The state of a server: secrets, private directory, open tables and tasks.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use incrowd::{Error, Result};

use crate::guard::Guard;
use crate::open::Opened;
use crate::private_dir::PrivateDir;
use crate::tasks::Tasks;
use crate::{Options, Ready, Table};

/// The largest number of open tables.
const MOST_TABLES: usize = 50;

/// The state of a server.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) guard: Guard,
    pub(crate) dir: PrivateDir,
    pub(crate) tasks: Tasks,
    pub(crate) max_upload: u64,
    tables: Mutex<Vec<Arc<Opened>>>,
    /// The page of the printed address: the table opened at the start, or the start page.
    pub(crate) first: String,
}

impl App {
    pub(crate) fn new(port: u16, options: Options) -> Result<App> {
        let mut app = App {
            guard: Guard::new(port),
            dir: PrivateDir::new()?,
            tasks: Tasks::default(),
            max_upload: options.max_upload,
            tables: Mutex::default(),
            first: "/".to_owned(),
        };
        let given = match options.table {
            Some(Table::File(path)) => Some(app.add(Opened::by_path(&path)?)?),
            Some(Table::Memory(batches)) => Some(app.add(Opened::in_memory(batches))?),
            None => None,
        };
        if let Some(given) = given {
            app.first = format!("/t/{}", given.id);
        }
        Ok(app)
    }

    /// Writes the launch page and returns the addresses.
    pub(crate) fn ready(&self) -> Result<Ready> {
        let page = self.write_launch_page()?;
        Ok(Ready { address: self.guard.printed_address().unwrap_or_default(), page })
    }

    /// Writes the launch page: a private file that redirects to the server with an unused token.
    pub(crate) fn write_launch_page(&self) -> Result<PathBuf> {
        let text = format!(
            "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={}\">\
             <title>incrowd</title>",
            self.guard.launch_address()
        );
        let failed = |e| Error::resources(format!("cannot write a private file: {e}"));
        let (page, new) =
            (self.dir.path().join("open.html"), self.dir.path().join("open.html.new"));
        // Renaming is atomic: a browser reads the complete old page or the complete new one.
        std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, &page)).map_err(failed)?;
        Ok(page)
    }

    fn list(&self) -> MutexGuard<'_, Vec<Arc<Opened>>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an open table.
    pub(crate) fn add(&self, opened: Opened) -> Result<Arc<Opened>> {
        let mut list = self.list();
        list.retain(|table| !table.is_discarded());
        if list.len() >= MOST_TABLES {
            return Err(Error::resources(format!("{MOST_TABLES} tables are already open"))
                .help("restart the server"));
        }
        let opened = Arc::new(opened);
        list.push(opened.clone());
        Ok(opened)
    }

    /// Returns the tables, the latest first.
    pub(crate) fn tables(&self) -> Vec<Arc<Opened>> {
        self.list().iter().rev().cloned().collect()
    }

    pub(crate) fn table(&self, id: &str) -> Option<Arc<Opened>> {
        self.list().iter().find(|table| table.id == id).cloned()
    }

    /// Stops all work and removes uploads.
    pub(crate) fn close(&self) {
        self.tasks.close();
        self.list().clear();
        self.dir.remove();
    }
}
