//! Releases in a database. A release is written into a new table and read back in the same
//! transaction. Publishing renames the table, which may replace an older one, stores the manifest
//! and commits. Other sessions see nothing before the commit. If this program or the server stops
//! before it, the database is unchanged.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_schema::DataType;
use incrowd_core::{Error, Result};

use super::MANIFESTS;
use super::address::{Address, names, quoted};
use super::client::Client;
use super::relation::Relation;
use super::session::{Session, database_error};
use super::streams::{Taken, ToServer, wait};
use crate::location::Location;
use crate::pending::{Pending, write_failed};
use crate::source::{Compression, Format, Source};
use crate::store::{
    Dialect, Escape, Existing, Occupied, Places, Staging, Store, TableColumn, existing_file,
    open_pending, read_manifest_file,
};

/// A table of a release.
#[derive(Debug)]
struct Table {
    /// Name in the manifest.
    name: String,
    schema: String,
    table: String,
    /// Name before the publication.
    partial: String,
    address: Address,
    /// Whether a table of this name exists. The release replaces it.
    is_there: bool,
    /// Columns with their SQL types, set when the table is created.
    columns: Vec<(String, &'static str)>,
}

/// Target of one of the tables.
#[derive(Debug)]
enum Slot {
    Table(Table),
    /// A file that only the data owner may read, with its text format.
    File(Pending, Dialect),
}

/// All targets of a release.
#[derive(Debug)]
struct ReleaseTargets {
    session: Session,
    slots: Vec<Slot>,
    taken: Mutex<Option<Taken>>,
    /// The manifest file, if requested.
    manifest: Option<Pending>,
}

/// A store in a database.
#[derive(Debug)]
pub struct PostgresStore {
    place: Option<ReleaseTargets>,
    spill: PathBuf,
}

impl PostgresStore {
    /// Creates a store. The targets of the release determine the database.
    #[allow(clippy::new_ret_no_self)]
    pub fn new() -> Result<Box<dyn Store>> {
        Ok(Box::new(PostgresStore { place: None, spill: std::env::temp_dir() }))
    }

    fn place(&self) -> Result<&ReleaseTargets> {
        self.place.as_ref().ok_or_else(unclaimed)
    }
}

fn unclaimed() -> Error {
    Error::bug("a table was staged for which no place was claimed")
}

impl Table {
    /// The table at an address.
    fn at(address: &Address, session: &Session) -> Result<Table> {
        let Some(name) = address.table.clone() else {
            return Err(Error::job("the release goes into a database, but no table is named")
                .help("name it with `[output] table`")
                .at("output.path"));
        };
        let (schema, table) = names(&name).map_err(|e| e.at("output.table"))?;
        if table == MANIFESTS {
            return Err(Error::job(format!("the table `{name}` is for the manifests of releases"))
                .help("name another table")
                .at("output.table"));
        }
        let schema = match schema {
            Some(schema) => schema,
            None => {
                let row =
                    session.client().query_one("SELECT coalesce(current_schema(), 'public')", &[]);
                row.map_err(|e| database_error("the schema cannot be determined", &e))?.get(0)
            }
        };
        let partial = format!("incrowd_partial_{:016x}", rand::random::<u64>());
        let (address, columns) = (address.clone(), Vec::new());
        Ok(Table { name, schema, table, partial, address, is_there: false, columns })
    }

    fn quoted(&self, table: &str) -> String {
        format!("{}.{}", quoted(&self.schema), quoted(table))
    }

    /// Checks that the table can be created, and that an existing table can be replaced.
    fn check(&mut self, session: &Session, reads: &[String]) -> Result<()> {
        let fails = "the place of the release cannot be looked at";
        let mut client = session.client();
        let schema = client
            .query_opt(
                "SELECT has_schema_privilege(oid, 'CREATE'), \
                 pg_try_advisory_xact_lock(hashtextextended($2, 22)) FROM pg_namespace WHERE nspname = $1",
                &[&self.schema, &format!("incrowd {}.{}", quoted(&self.schema), quoted(&self.table))],
            )
            .map_err(|e| database_error(fails, &e))?;
        let Some(row) = schema else {
            return Err(Error::job(format!("the database has no schema `{}`", self.schema))
                .help("make it first: CREATE SCHEMA")
                .at("output.table"));
        };
        if !row.get::<_, bool>(0) {
            return Err(Error::job(format!(
                "you may not make tables in the schema `{}`",
                self.schema
            ))
            .at("output.table"));
        }
        if !row.get::<_, bool>(1) {
            return Err(Error::resources(format!(
                "another run is writing the table `{}`",
                self.name
            )));
        }
        let old = client
            .query_opt(
                "SELECT c.relkind = 'r', pg_has_role(c.relowner, 'USAGE'), pg_postmaster_start_time()::text || '/' || \
                 d.oid::text || '/' || c.oid::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, \
                 pg_database d WHERE n.nspname = $1 AND c.relname = $2 AND d.datname = current_database()",
                &[&self.schema, &self.table],
            )
            .map_err(|e| database_error(fails, &e))?;
        let Some(old) = old else { return Ok(()) };
        let name = &self.name;
        if !old.get::<_, bool>(0) {
            return Err(
                Error::job(format!("`{name}` exists and is not a plain table")).at("output.table")
            );
        }
        if !old.get::<_, bool>(1) {
            return Err(Error::job(format!("the table `{name}` belongs to another user"))
                .at("output.table"));
        }
        if reads.contains(&old.get::<_, String>(2)) {
            return Err(Error::job("the release would replace a table that is read")
                .help("give it a name of its own")
                .at("output.table"));
        }
        self.is_there = true;
        Ok(())
    }

    /// The existing table at the target. If it may be a release, its digest is computed. Before
    /// that, a lock excludes writers until the end of the transaction, so the examined data are the
    /// data that will be replaced. Readers are not blocked.
    fn existing(&self, at: usize, session: &Session, known: bool) -> Result<Existing> {
        let shown = format!("the table `{}`", self.name);
        let mut digest = None;
        if known {
            session.run(
                &format!(
                    "SET LOCAL lock_timeout = '2min'; LOCK TABLE {} IN SHARE MODE",
                    self.quoted(&self.table)
                ),
                "the table in the place of the release is being written",
            )?;
            // Uses a separate connection, because this one is needed for the release. A table that
            // cannot be read is not a release.
            digest = crate::source::digest(&Location::Database(self.address.clone())).ok();
        }
        Ok(Existing { table: Some(at), shown, digest })
    }

    /// Renames the table to its final name and replaces an older one. The privileges on the older
    /// table are granted on the new one.
    fn put(&self, client: &mut Client) -> std::result::Result<(), tokio_postgres::Error> {
        let (partial, whole) = (self.quoted(&self.partial), self.quoted(&self.table));
        let grants = client.query(
            "SELECT format('GRANT %s ON %I.%I TO %s', a.privilege_type, n.nspname, c.relname, \
             CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END) \
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, aclexplode(c.relacl) a \
             WHERE n.nspname = $1 AND c.relname = $2 AND a.grantee <> c.relowner",
            &[&self.schema, &self.table],
        )?;
        // If no table existed before, nothing is dropped. If another session created one in the
        // meantime, the rename and the publication fail.
        let dropped =
            if self.is_there { format!("DROP TABLE IF EXISTS {whole}; ") } else { String::new() };
        client.batch_execute(&format!(
            "{dropped}ALTER TABLE {partial} RENAME TO {}",
            quoted(&self.table)
        ))?;
        for grant in &grants {
            client.batch_execute(grant.get(0))?;
        }
        Ok(())
    }
}

impl ReleaseTargets {
    /// Waits until all written data are in the tables.
    fn settle(&self) -> Result<()> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.map_or(Ok(()), |taken| wait(taken).map(drop))
    }

    fn tables(&self) -> impl Iterator<Item = &Table> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Table(table) => Some(table),
            Slot::File(..) => None,
        })
    }

    /// The stored manifest of the release whose first table is the first target, if there is one.
    fn manifest_kept(&self) -> Result<Option<Vec<u8>>> {
        let Some(first) = self.tables().next() else { return Ok(None) };
        manifest_row(&self.session, &first.quoted(MANIFESTS), &first.table)
    }

    /// Renames the tables and stores the manifest in the schema of the first table.
    fn put(&self, manifest: &str) -> Result<()> {
        let mut client = self.session.client();
        let fails = "the release cannot take its place";
        client
            .batch_execute("SET LOCAL lock_timeout = '2min'")
            .map_err(|e| database_error(fails, &e))?;
        for table in self.tables() {
            let fails = |e| {
                database_error(
                    &format!("the release cannot replace the table `{}`", table.name),
                    &e,
                )
            };
            table.put(&mut client).map_err(fails)?;
        }
        let Some(first) = self.tables().next() else { return Ok(()) };
        let manifests = first.quoted(MANIFESTS);
        let made = client.batch_execute(&format!(
            "CREATE TABLE IF NOT EXISTS {manifests} (release text PRIMARY KEY, manifest json NOT NULL, \
             published timestamptz NOT NULL DEFAULT now())"
        ));
        let kept = made.and_then(|()| {
            client.execute(
                &format!(
                    "INSERT INTO {manifests} (release, manifest) VALUES ($1, $2::text::json) ON CONFLICT (release) \
                     DO UPDATE SET manifest = excluded.manifest, published = excluded.published"
                ),
                &[&first.table, &manifest],
            )
        });
        kept.map(drop)
            .map_err(|e| database_error("the manifest cannot be kept in the database", &e))
    }
}

/// SQL type of a published column.
fn sql_type(column: &TableColumn) -> &'static str {
    match (column.sql, &column.data_type) {
        (Some(sql), _) => sql,
        (None, DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64) => "bigint",
        // `numeric` preserves the digits of the text.
        (None, DataType::Float64) => "numeric",
        (None, DataType::Boolean) => "boolean",
        (None, DataType::Date32) => "date",
        _ => "text",
    }
}

impl Store for PostgresStore {
    fn begin(&mut self, places: &Places) -> Result<()> {
        self.discard();
        if places.csv_safe {
            return Err(Error::job("a table of a database has no formulas").at("output.csv_safe"));
        }
        let Some(Location::Database(first)) = places.tables.first() else {
            return Err(unclaimed());
        };
        let manifest = match places.manifest.as_os_str().is_empty() {
            true => None,
            false => Some(Pending::create(&places.manifest).map_err(|e| e.at("output.manifest"))?),
        };
        let session = Session::begin(first, "READ WRITE").map_err(|e| e.at("output.path"))?;
        let mut slots = Vec::new();
        let keys = places.keys.iter().copied().chain(std::iter::repeat("output.path"));
        for ((i, location), key) in places.tables.iter().enumerate().zip(keys) {
            slots.push(match location {
                // A table that only the data owner may read is written to a file, if its target is
                // one, and not into the database of the public tables.
                Location::File(path) if places.private.contains(&i) => {
                    let file = Pending::create(path).map_err(|e| e.at(key))?.private();
                    Slot::File(file, places.dialect)
                }
                Location::Database(address) if address.is_same_database(first) => {
                    let mut table = Table::at(address, &session)?;
                    table.check(&session, &places.reads)?;
                    Slot::Table(table)
                }
                _ => {
                    let error = Error::job("the tables of a release go into one database");
                    return Err(error.at(key));
                }
            });
        }
        self.place = Some(ReleaseTargets { session, slots, taken: Mutex::new(None), manifest });
        Ok(())
    }

    fn occupied(&self) -> Result<Occupied> {
        let place = self.place()?;
        let manifest = place.manifest_kept()?;
        let mut existing = Vec::new();
        for (at, slot) in place.slots.iter().enumerate() {
            match slot {
                Slot::Table(table) if table.is_there => {
                    existing.push(table.existing(at, &place.session, manifest.is_some())?);
                }
                Slot::Table(_) => {}
                Slot::File(file, _) => {
                    existing.extend(existing_file(Some(at), file.target(), false))
                }
            }
        }
        let file = place.manifest.as_ref().map(Pending::target);
        existing.extend(file.and_then(|path| existing_file(None, path, false)));
        let manifest_file = file.and_then(read_manifest_file);
        Ok(Occupied { existing, manifest, manifest_file, unauthenticated: Vec::new() })
    }

    fn stage(&mut self, table: usize, columns: &[TableColumn]) -> Result<Staging> {
        let place = self.place.as_mut().ok_or_else(unclaimed)?;
        place.settle()?;
        let session = place.session.clone();
        let table = match place.slots.get_mut(table) {
            Some(Slot::Table(table)) => table,
            Some(Slot::File(file, dialect)) => {
                let (target, dialect) = (file.target().to_owned(), *dialect);
                let (writer, format) = (Box::new(file.writer()?), Format::of_path(&target)?);
                return Ok(Staging {
                    writer,
                    format,
                    target,
                    csv_safe: false,
                    dialect,
                    escape: Escape::Quotes,
                    in_codes: false,
                });
            }
            None => return Err(unclaimed()),
        };
        if let Some(long) = columns.iter().find(|column| column.name.len() > 63) {
            return Err(Error::input(format!(
                "the name of column `{}` is too long for the server",
                long.name
            ))
            .help(
                "names of columns have at most 63 bytes there: give it another in `[input] query`",
            ));
        }
        table.columns =
            columns.iter().map(|column| (column.name.clone(), sql_type(column))).collect();
        let defined: Vec<String> =
            table.columns.iter().map(|(name, sql)| format!("{} {sql}", quoted(name))).collect();
        let partial = table.quoted(&table.partial);
        let comment = |column: &TableColumn| {
            format!(
                "; COMMENT ON COLUMN {partial}.{} IS '{}'",
                quoted(&column.name),
                column.description
            )
        };
        let comments: String = columns.iter().map(comment).collect();
        session.run(
            &format!("CREATE TABLE {partial} ({}){comments}", defined.join(", ")),
            "the table of the release cannot be made",
        )?;
        // `FREEZE` makes the rows visible to all sessions that see the table, including those with
        // an older snapshot. An empty cell is a null. In a table with one column it is an empty
        // text, because a record with only a null would be read back as a blank line.
        let null = if columns.len() == 1 { "\\N" } else { "" };
        let (escape, form) = match table.columns.iter().all(|(_, sql)| *sql == "text") {
            true => (Escape::Lengths, "FORMAT binary".to_owned()),
            false => (Escape::Backslashes, format!("FORMAT text, NULL '{null}', ENCODING 'UTF8'")),
        };
        let sql = format!("COPY {partial} FROM STDIN ({form}, FREEZE true)");
        let target = PathBuf::from(&table.name);
        let (writer, taken) = ToServer::start(&session, sql);
        place.taken = Mutex::new(Some(taken));
        Ok(Staging {
            writer: Box::new(writer),
            format: Format::Csv(Compression::Plain),
            target,
            csv_safe: false,
            dialect: Dialect { delimiter: Some(b'\t'), ..Dialect::default() },
            escape,
            in_codes: false,
        })
    }

    fn open(&self, table: usize) -> Result<Source> {
        let place = self.place()?;
        place.settle()?;
        match place.slots.get(table) {
            Some(Slot::Table(table)) => {
                let from = table.quoted(&table.partial);
                let relation = Relation::under_way(&place.session, from, &table.columns);
                let names = table.columns.iter().map(|(name, _)| name.clone()).collect();
                Ok(Source::of_relation(&place.session.address, Arc::new(relation), names))
            }
            Some(Slot::File(file, dialect)) => open_pending(file, *dialect),
            None => Err(unclaimed()),
        }
    }

    fn publish(&mut self, manifest: &[u8]) -> Result<()> {
        let Some(place) = self.place.take() else {
            return Err(Error::bug("a release was published for which no place was claimed"));
        };
        place.settle()?;
        let text =
            std::str::from_utf8(manifest).map_err(|_| Error::bug("a manifest is not UTF-8"))?;
        if let Some(file) = &place.manifest {
            std::io::Write::write_all(&mut file.writer()?, manifest)
                .map_err(|e| write_failed(file.target(), &e))?;
        }
        place.put(text)?;
        let committed = place.session.client().batch_execute("COMMIT");
        committed.map_err(|e| {
            database_error("the server did not confirm the release", &e)
                .help("if the connection broke, check whether the release is in the database")
        })?;
        let private = place.slots.into_iter().filter_map(|slot| match slot {
            Slot::File(file, _) => Some(file),
            Slot::Table(_) => None,
        });
        for file in private.chain(place.manifest) {
            file.publish().map_err(|e| {
                e.help(format!(
                    "the release is in place, and its manifest is in the table {MANIFESTS}"
                ))
            })?;
        }
        Ok(())
    }

    fn discard(&mut self) {
        // Closing the connection rolls back the transaction.
        self.place = None;
    }

    fn spill(&self) -> &Path {
        &self.spill
    }
}

/// The stored manifest of the release at an address, if there is one.
pub fn read_manifest(address: &Address) -> Result<Option<Vec<u8>>> {
    address.check()?;
    let Some(name) = &address.table else { return Ok(None) };
    let (schema, table) = names(name)?;
    let session = Session::begin(address, "READ ONLY")?;
    let manifests = match schema {
        Some(schema) => format!("{}.{}", quoted(&schema), quoted(MANIFESTS)),
        None => quoted(MANIFESTS),
    };
    manifest_row(&session, &manifests, &table)
}

/// Reads the manifest of a release from a table of manifests, which may not exist.
fn manifest_row(session: &Session, manifests: &str, release: &str) -> Result<Option<Vec<u8>>> {
    let fails = "the manifest cannot be read";
    let mut client = session.client();
    let known = client.query_one("SELECT to_regclass($1) IS NOT NULL", &[&manifests]);
    if !known.map_err(|e| database_error(fails, &e))?.get::<_, bool>(0) {
        return Ok(None);
    }
    let row = client
        .query_opt(
            &format!("SELECT manifest::text FROM {manifests} WHERE release = $1"),
            &[&release],
        )
        .map_err(|e| database_error(fails, &e))?;
    Ok(row.map(|row| row.get::<_, String>(0).into_bytes()))
}
