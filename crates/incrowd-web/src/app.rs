//! What a server knows: its secrets, its directory, the tables that were opened and the work under way.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use incrowd::{Error, Result};

use crate::guard::Guard;
use crate::open::Opened;
use crate::private_dir::PrivateDir;
use crate::tasks::Tasks;
use crate::{Options, Ready, Table};

/// More tables are not kept open at a time.
const MOST_TABLES: usize = 50;

/// A server.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) guard: Guard,
    pub(crate) dir: PrivateDir,
    pub(crate) tasks: Tasks,
    pub(crate) most_bytes: u64,
    tables: Mutex<Vec<Arc<Opened>>>,
    /// Where the address leads: to the table that was opened at once, or to the first page.
    pub(crate) first: String,
}

impl App {
    pub(crate) fn new(port: u16, options: Options) -> Result<App> {
        let mut app = App {
            guard: Guard::new(port),
            dir: PrivateDir::new()?,
            tasks: Tasks::default(),
            most_bytes: options.most_bytes,
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

    /// The address, and a page in a private file that leads to it.
    pub(crate) fn ready(&self) -> Result<Ready> {
        let address = self.guard.address();
        let page = self.dir.path().join("open.html");
        let text = format!(
            "<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={address}\"><title>incrowd</title>"
        );
        std::fs::write(&page, text)
            .map_err(|e| Error::resources(format!("cannot write a private file: {e}")))?;
        Ok(Ready { address, page })
    }

    fn list(&self) -> MutexGuard<'_, Vec<Arc<Opened>>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a table open.
    pub(crate) fn add(&self, opened: Opened) -> Result<Arc<Opened>> {
        let mut list = self.list();
        if list.len() >= MOST_TABLES {
            return Err(Error::resources(format!("{MOST_TABLES} tables are open already"))
                .help("stop the server and start it again"));
        }
        let opened = Arc::new(opened);
        list.push(opened.clone());
        Ok(opened)
    }

    /// The tables, the latest first.
    pub(crate) fn tables(&self) -> Vec<Arc<Opened>> {
        self.list().iter().rev().cloned().collect()
    }

    pub(crate) fn table(&self, id: &str) -> Option<Arc<Opened>> {
        self.list().iter().find(|table| table.id == id).cloned()
    }

    /// Ends all work and removes what was uploaded.
    pub(crate) fn close(&self) {
        self.tasks.close();
        self.list().clear();
        self.dir.remove();
    }
}
