//! A connection with a transaction, and the conversion of server errors into messages.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use incrowd_core::{Error, Result};
use tokio_postgres::error::ErrorPosition;

use super::address::Address;
use super::client::{Client, Unreachable};
use super::login;

/// Settings that make the text of values independent of the configuration of the server and the
/// user. Also, table scans start at the first page, and the server does not close an idle
/// connection.
const SETTINGS: &str = "SET DateStyle = 'ISO, YMD'; SET TimeZone = 'UTC'; SET IntervalStyle = 'iso_8601'; \
     SET extra_float_digits = 1; SET standard_conforming_strings = on; SET synchronize_seqscans = off; \
     SET statement_timeout = 0; SET client_encoding = 'UTF8'; \
     SET idle_in_transaction_session_timeout = 0; SET client_min_messages = warning";

/// A connection that one thread at a time uses.
#[derive(Clone)]
pub(super) struct Session {
    client: Arc<Mutex<Client>>,
    pub(super) address: Address,
}

incrowd_core::opaque_debug!(Session { address });

impl Session {
    /// Connects and starts a transaction of the given kind.
    pub(super) fn begin(address: &Address, kind: &str) -> Result<Session> {
        address.check()?;
        let (mut config, tls) = login::config(address)?;
        config.application_name("incrowd");
        let client = Client::connect(&config, tls).map_err(|e| {
            let e = match e {
                Unreachable::Server(e) => e,
                Unreachable::System(e) => return Error::resources(format!("no connection can be made: {e}")),
            };
            let error = database_error("the database cannot be reached", &e);
            let unknown = e.code().is_some_and(|code| code.code().starts_with("28"));
            match unknown || e.to_string().contains("password missing") || error.message().contains("password missing") {
                true => error.help(
                    "user and password come from the address (user only), PGUSER, PGPASSWORD, ~/.pgpass (readable for its \
                     owner only) or a service file",
                ),
                false => error,
            }
        })?;
        let session = Session { client: Arc::new(Mutex::new(client)), address: address.clone() };
        session.run(&format!("{SETTINGS}; BEGIN {kind}"), "the connection cannot be set up")?;
        Ok(session)
    }

    /// Locks the connection and returns it.
    pub(super) fn client(&self) -> MutexGuard<'_, Client> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs statements without a result.
    pub(super) fn run(&self, sql: &str, fails: &str) -> Result<()> {
        self.client().batch_execute(sql).map_err(|e| statement_error(fails, sql, &e))
    }
}

/// Converts a server error. Of the server's message, only the code is used. A database function may
/// raise any code with any text, so the text may contain cells.
pub(super) fn database_error(what: &str, error: &tokio_postgres::Error) -> Error {
    statement_error(what, "", error)
}

/// Converts an error of a statement of this program. The message contains the name at the position
/// of the error.
pub(super) fn statement_error(what: &str, sql: &str, error: &tokio_postgres::Error) -> Error {
    let Some(own) = error.as_db_error() else {
        let cause = std::error::Error::source(error).map(|e| format!(": {e}")).unwrap_or_default();
        return Error::resources(format!("{what}: {error}{cause}"));
    };
    let code = own.code().code();
    let message = match meaning(code) {
        Some(meaning) => {
            let word = match own.position() {
                Some(ErrorPosition::Original(at)) => word_at(sql, *at as usize),
                _ => None,
            };
            let near = word.map(|word| format!(" at `{word}`")).unwrap_or_default();
            format!("{what}: {meaning}{near} (SQLSTATE {code})")
        }
        None => {
            let column = column_of(own.where_().unwrap_or_default());
            let column = column.map(|name| format!(" in column `{name}`")).unwrap_or_default();
            format!("{what}: a value{column} is refused (SQLSTATE {code})")
        }
    };
    match code.get(..2) {
        Some("53" | "55" | "57" | "58" | "40" | "08" | "54") => Error::resources(message),
        Some("2B") => Error::resources(message).help(
            "views and the like need the old table: drop them, or publish under another name",
        ),
        _ => Error::input(message),
    }
}

/// Meaning of an error code that does not concern a value. Codes of five characters precede their
/// class in the list.
fn meaning(code: &str) -> Option<&'static str> {
    const MEANINGS: &[(&str, &str)] = &[
        ("08", "the connection failed"),
        ("0A", "the server does not support this"),
        ("25006", "the server is read-only"),
        ("25", "the transaction is in the wrong state"),
        ("26", "the statement is unknown to the server"),
        ("28P01", "the password is wrong"),
        (
            "28",
            "the server refuses this user; it may require encryption, a client certificate or another user",
        ),
        ("2B", "other objects depend on it"),
        ("3D", "there is no such database"),
        ("3F", "there is no such schema"),
        ("40", "the transaction came into conflict with another one"),
        ("42501", "you do not have the permission"),
        ("42601", "the SQL has an error"),
        ("42703", "a column does not exist"),
        ("42883", "a function or an operator does not exist"),
        ("42P01", "a table or a view does not exist"),
        ("42P07", "a table of that name exists"),
        ("42702", "the name of a column is ambiguous"),
        ("42804", "types do not fit each other"),
        ("42", "the SQL is refused"),
        ("53100", "the disk of the server is full"),
        ("53200", "the server is out of memory"),
        ("53300", "the server has too many connections"),
        ("53", "the server lacks resources"),
        ("54", "a limit of the server is exceeded"),
        ("55P03", "another transaction holds a lock on it"),
        ("55", "it is in use, or not in the state that is needed"),
        ("57014", "the statement was cancelled"),
        ("57", "the server was stopped, or is just starting"),
        ("58", "the server had an error of its system"),
        ("P0", "a function of the database raised an error"),
        ("XX", "the server had an internal error"),
    ];
    MEANINGS.iter().find(|(prefix, _)| code.starts_with(prefix)).map(|(_, meaning)| *meaning)
}

/// The name at a character position of a statement, counted from 1: `people`, or `care.people` for
/// `"care"."people"`.
fn word_at(sql: &str, at: usize) -> Option<String> {
    let (start, _) = sql.char_indices().nth(at.checked_sub(1)?)?;
    let mut is_quoted = false;
    let mut word = String::new();
    for c in sql[start..].chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted || c.is_alphanumeric() || matches!(c, '_' | '.') => word.push(c),
            _ => break,
        }
    }
    (!word.is_empty()).then_some(word)
}

/// The column in the context of a server error. `COPY people, line 4, column age: "…"` contains the
/// column before the cell. In the binary format it contains no cell. Only the innermost context is
/// used, because the contexts of functions may contain text derived from cells.
fn column_of(place: &str) -> Option<&str> {
    let (before, rest) = place.strip_prefix("COPY ")?.split_once(", column ")?;
    let (_, line) = before.split_once(", line ")?;
    let name = rest.split([':', '\n']).next().unwrap_or(rest);
    line.bytes().all(|byte| byte.is_ascii_digit()).then_some(name)
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
        assert_eq!(column_of("PL/pgSQL function f()\nCOPY people, line 4, column age"), None);
        assert_eq!(column_of("SQL statement \"SELECT 1, column secret\""), None);
    }

    #[test]
    fn a_word_of_the_statement_is_named_as_it_was_typed() {
        let sql = "SELECT agë, \"my col\" FROM \"care\".\"nobody\" x";
        for (at, word) in [(8, "agë"), (13, "my col"), (27, "care.nobody")] {
            assert_eq!(word_at(sql, at).as_deref(), Some(word));
        }
        assert_eq!([word_at(sql, 0), word_at(sql, 999), word_at("", 1)], [None, None, None]);
    }

    #[test]
    fn the_meaning_of_a_code_is_that_of_its_longest_prefix() {
        assert_eq!(meaning("42P01"), Some("a table or a view does not exist"));
        assert_eq!(meaning("42P13"), Some("the SQL is refused"));
        assert_eq!(meaning("22P02"), None);
    }
}
