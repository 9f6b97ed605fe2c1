//! Reading one table by several connections at once. The first one exports its view of the data (`pg_export_snapshot`), the others
//! take it over, and each reads a range of the table's pages (`ctid`). A record lies in exactly one of them, so together they read
//! what one would read.
//!
//! It is a matter of speed only. Whatever stands against it, one connection reads everything.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use incrowd_core::{Error, Result};

use super::address::Address;
use super::relation::ONE_VIEW;
use super::session::{Session, told};

/// Tables of fewer bytes are read before another connection is made.
const LARGE: u64 = 32 << 20;
/// So many connections read a large table if nobody says how many.
const USUAL: usize = 2;
/// So many may be asked for.
const MOST: usize = 16;

/// The connections that read a table which can be divided.
pub(super) struct Readers {
    /// The one that exported its view.
    first: Session,
    path: PathBuf,
    address: Address,
    snapshot: String,
    /// What follows `FROM`.
    from: String,
    /// Which table of which server it is.
    identity: String,
    pages: u64,
    connections: usize,
    /// The others, once they are needed.
    others: Mutex<Option<Vec<Session>>>,
}

impl std::fmt::Debug for Readers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Readers").field("connections", &self.connections).finish_non_exhaustive()
    }
}

/// How many connections an address asks for.
pub(super) fn wanted(address: &Address) -> Result<Option<usize>> {
    let Some(text) = &address.connections else { return Ok(None) };
    match text.parse() {
        Ok(connections) if (1..=MOST).contains(&connections) => Ok(Some(connections)),
        _ => Err(Error::job(format!("the address says connections=`{text}`"))
            .help(format!("write a number from 1 to {MOST}"))),
    }
}

/// Exports what a transaction that has just begun sees. Where that is not possible, it begins anew.
pub(super) fn snapshot(session: &Session) -> Result<Option<String>> {
    let exported = session.client().query_one("SELECT pg_export_snapshot()", &[]);
    match exported {
        Ok(row) => Ok(Some(row.get(0))),
        Err(_) => {
            session.run(&format!("ROLLBACK; BEGIN {ONE_VIEW}"), "the table cannot be read")?;
            Ok(None)
        }
    }
}

/// Tells which table of which server a name means.
const IDENTITY: &str = "pg_postmaster_start_time()::text || '/' || current_database() || '/' || c.oid::text";

impl Readers {
    /// The readers of a plain table of so many bytes; `None` if one is enough, or if it cannot be divided. Servers before 14 would
    /// read all pages to find a range of them, and so would tables that are kept in another way than usual.
    pub(super) fn new(
        first: &Session,
        path: &Path,
        address: Address,
        snapshot: String,
        from: &str,
        bytes: u64,
        connections: Option<usize>,
    ) -> Result<Option<Readers>> {
        let usual = if bytes < LARGE { 1 } else { USUAL };
        let connections = connections.unwrap_or(usual);
        if connections == 1 {
            return Ok(None);
        }
        let sql = format!(
            "SELECT {IDENTITY}, pg_relation_size(c.oid) / current_setting('block_size')::bigint, \
             current_setting('server_version_num')::int >= 140000 AND NOT c.relhassubclass AND a.amname = 'heap' \
             FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE c.oid = $1::text::regclass"
        );
        let found = first.client().query_opt(&sql, &[&from]);
        let found = found.map_err(|e| told("the table cannot be read", &e))?;
        let Some(found) = found.filter(|row| row.get(2)) else { return Ok(None) };
        Ok(Some(Readers {
            first: first.clone(),
            path: path.to_owned(),
            address,
            snapshot,
            from: from.to_owned(),
            identity: found.get(0),
            pages: found.get::<_, i64>(1).max(0) as u64,
            connections,
            others: Mutex::new(None),
        }))
    }

    /// Sessions, and which records each of them reads: what follows `FROM`. Nothing if there is only one.
    pub(super) fn ranges(&self) -> Vec<(Session, String)> {
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let others =
            others.get_or_insert_with(|| (1..self.connections).map_while(|_| self.another()).collect());
        if others.is_empty() {
            return Vec::new();
        }
        let sessions: Vec<&Session> = std::iter::once(&self.first).chain(others.iter()).collect();
        let ranges = ranges(self.pages, sessions.len());
        sessions.into_iter().cloned().zip(ranges).collect()
    }

    /// Another session with the same view of the same table, if there can be one.
    fn another(&self) -> Option<Session> {
        let session = Session::begin(&self.path, &self.address, ONE_VIEW).ok()?;
        let mut client = session.client();
        client.batch_execute(&format!("SET TRANSACTION SNAPSHOT '{}'", self.snapshot)).ok()?;
        // Who waits for our first session to end would let this one wait behind him, and then nobody went on.
        let sql = format!("SET lock_timeout = '500ms'; SELECT * FROM {} LIMIT 0", self.from);
        client.batch_execute(&sql).ok()?;
        // An address may mean several servers.
        let sql = format!("SELECT {IDENTITY} FROM pg_class c WHERE c.oid = $1::text::regclass");
        let identity: String = client.query_one(&sql, &[&self.from]).ok()?.get(0);
        drop(client);
        (identity == self.identity).then_some(session)
    }
}

/// Conditions of which each record fulfils exactly one: pages from one on and before another. The last has no end.
fn ranges(pages: u64, parts: usize) -> Vec<String> {
    let start = |part: usize| pages * part as u64 / parts as u64;
    let range = |part: usize| {
        let from = format!(" WHERE ctid >= '({},0)'", start(part));
        match part + 1 == parts {
            true => from,
            false => format!("{from} AND ctid < '({},0)'", start(part + 1)),
        }
    };
    (0..parts).map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_pages_meet_and_the_last_has_no_end() {
        assert_eq!(
            ranges(101, 3),
            [
                " WHERE ctid >= '(0,0)' AND ctid < '(33,0)'",
                " WHERE ctid >= '(33,0)' AND ctid < '(67,0)'",
                " WHERE ctid >= '(67,0)'"
            ]
        );
        assert_eq!(ranges(0, 2), [" WHERE ctid >= '(0,0)' AND ctid < '(0,0)'", " WHERE ctid >= '(0,0)'"]);
    }

    #[test]
    fn a_number_of_connections_is_a_number() {
        let of = |text: &str| {
            let path = format!("postgresql:///db?table=t{text}");
            wanted(&Address::parse(Path::new(&path)).unwrap())
        };
        assert_eq!(of("").unwrap(), None);
        assert_eq!(of("&connections=3").unwrap(), Some(3));
        for bad in ["0", "17", "two", ""] {
            assert!(of(&format!("&connections={bad}")).is_err(), "{bad}");
        }
    }
}
