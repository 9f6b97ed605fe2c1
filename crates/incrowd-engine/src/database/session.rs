//! A connection, and what is said of what the server answers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use incrowd_core::{Error, Result};

use super::address::Address;
use super::client::{Client, Unreachable};
use super::login;

/// Whatever the server or its user is set to, values are spelled like this. Readings of a table begin at its start, and the server does not hang up while we plan.
const SETTINGS: &str = "SET DateStyle = 'ISO, YMD'; SET TimeZone = 'UTC'; SET IntervalStyle = 'iso_8601'; \
     SET extra_float_digits = 1; SET standard_conforming_strings = on; SET synchronize_seqscans = off; \
     SET statement_timeout = 0; SET client_encoding = 'UTF8'; \
     SET idle_in_transaction_session_timeout = 0; SET client_min_messages = warning";

/// A connection that one thread at a time uses.
#[derive(Clone)]
pub(super) struct Session {
    client: Arc<Mutex<Client>>,
    /// The address in words, for messages.
    pub(super) name: PathBuf,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Session {
    /// Connects and begins a transaction of that kind.
    pub(super) fn begin(path: &Path, address: &Address, kind: &str) -> Result<Session> {
        let (mut config, tls) = login::config(address)?;
        config.application_name("incrowd");
        let client = Client::connect(&config, tls).map_err(|e| {
            let e = match e {
                Unreachable::Server(e) => e,
                Unreachable::System(e) => return Error::resources(format!("no connection can be made: {e}")),
            };
            let error = told("the database cannot be reached", &e);
            let unknown = e.code().is_some_and(|code| code.code().starts_with("28"));
            match unknown || e.to_string().contains("password missing") || error.message().contains("password missing") {
                true => error.help(
                    "user and password come from the address (user only), PGUSER, PGPASSWORD, ~/.pgpass (readable for its \
                     owner only) or a service file",
                ),
                false => error,
            }
        })?;
        let session = Session { client: Arc::new(Mutex::new(client)), name: path.to_owned() };
        session.run(&format!("{SETTINGS}; BEGIN {kind}"), "the connection cannot be set up")?;
        Ok(session)
    }

    /// The connection, when nobody else uses it.
    pub(super) fn client(&self) -> MutexGuard<'_, Client> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs statements that answer nothing.
    pub(super) fn run(&self, sql: &str, fails: &str) -> Result<()> {
        self.client().batch_execute(sql).map_err(|e| told(fails, &e))
    }
}

/// An error in words. What the server says about values is left out: it would show a cell.
pub(super) fn told(what: &str, error: &tokio_postgres::Error) -> Error {
    let Some(own) = error.as_db_error() else {
        let cause = std::error::Error::source(error).map(|e| format!(": {e}")).unwrap_or_default();
        return Error::resources(format!("{what}: {error}{cause}"));
    };
    let code = own.code().code();
    let harmless = ["08", "25", "26", "28", "2B", "3D", "3F", "40", "42", "53", "54", "55", "57", "58", "0A"];
    let says = match code.get(..2).is_some_and(|class| harmless.contains(&class)) {
        true => format!("{what}: {} (SQLSTATE {code})", own.message()),
        false => {
            let column = column_of(own.where_().unwrap_or_default());
            let column = column.map(|name| format!(" in column `{name}`")).unwrap_or_default();
            format!("{what}: a value{column} is refused (SQLSTATE {code})")
        }
    };
    match code.get(..2) {
        Some("53" | "55" | "57" | "58" | "40" | "08" | "54") => Error::resources(says),
        Some("2B") => Error::resources(says)
            .help("views and the like need the old table: drop them, or publish under another name"),
        _ => Error::input(says),
    }
}

/// Which column the server complains of. `COPY people, line 4, column age: "…"` names the column before it shows the cell; of cells
/// in binary form it shows none.
fn column_of(place: &str) -> Option<&str> {
    // What stands before the column holds no cell.
    let (before, rest) = place.split_once(", column ")?;
    let name = rest.split([':', '\n']).next().unwrap_or(rest);
    (!before.contains(':')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_is_named_and_no_cell() {
        assert_eq!(column_of("COPY people, line 4, column age: \"secret\""), Some("age"));
        assert_eq!(column_of("COPY people, line 4, column age, more"), Some("age, more"));
        assert_eq!(column_of("COPY people, line 4, column age\nSQL statement"), Some("age"));
        assert_eq!(column_of("COPY people, line 4: \"a, column secret: b\""), None);
        assert_eq!(column_of("COPY people, line 4"), None);
    }
}
