//! Releases in a database. A release is written into a new table inside a transaction and read back inside the same transaction.
//! Publishing gives the table its name, in place of an older one, notes the manifest, and commits: until then nobody else can see
//! anything of it, and if we or the server end in between, nothing happened.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_schema::DataType;
use incrowd_core::{Error, Result};

use super::MANIFESTS;
use super::address::{Address, is_database, names, quoted, same_database};
use super::client::Client;
use super::relation::Relation;
use super::session::{Session, told};
use super::streams::{Taken, ToServer, wait};
use crate::pending::{Pending, write_failed};
use crate::source::{Compression, Format, Source};
use crate::store::{Dialect, Escape, Places, Staging, Store, TableColumn, open_pending};

/// A table that a release becomes, or becomes in part.
#[derive(Debug)]
struct Table {
    /// What the manifest calls it.
    name: String,
    schema: String,
    table: String,
    /// What it is called until it is published.
    partial: String,
    /// Its columns with their SQL types, once it is begun.
    columns: Vec<(String, &'static str)>,
}

/// Where one of the tables goes.
#[derive(Debug)]
enum Slot {
    Table(Table),
    /// A file for the owner's eyes, with how it is written.
    File(Pending, Dialect),
}

/// All places of a release.
#[derive(Debug)]
struct Place {
    session: Session,
    slots: Vec<Slot>,
    taken: Mutex<Option<Taken>>,
    /// The file of the manifest, if one is asked for.
    manifest: Option<Pending>,
}

/// A store in a database.
#[derive(Debug)]
pub struct PostgresStore {
    place: Option<Place>,
    spill: PathBuf,
}

impl PostgresStore {
    /// A store in whatever database the place of the release names.
    #[allow(clippy::new_ret_no_self)]
    pub fn new() -> Result<Box<dyn Store>> {
        Ok(Box::new(PostgresStore { place: None, spill: std::env::temp_dir() }))
    }

    fn place(&self) -> Result<&Place> {
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
        let schema = match schema {
            Some(schema) => schema,
            None => {
                let row = session.client().query_one("SELECT coalesce(current_schema(), 'public')", &[]);
                row.map_err(|e| told("the schema cannot be told", &e))?.get(0)
            }
        };
        let partial = format!("incrowd_partial_{:016x}", rand::random::<u64>());
        Ok(Table { name, schema, table, partial, columns: Vec::new() })
    }

    fn quoted(&self, table: &str) -> String {
        format!("{}.{}", quoted(&self.schema), quoted(table))
    }

    /// Whether the table can be made there, and whether the one in its place may go.
    fn check(&self, session: &Session, reads: &[String]) -> Result<()> {
        let fails = "the place of the release cannot be looked at";
        let mut client = session.client();
        let schema = client
            .query_opt(
                "SELECT has_schema_privilege(oid, 'CREATE'), \
                 pg_try_advisory_xact_lock(hashtextextended($2, 22)) FROM pg_namespace WHERE nspname = $1",
                &[&self.schema, &format!("incrowd {}.{}", quoted(&self.schema), quoted(&self.table))],
            )
            .map_err(|e| told(fails, &e))?;
        let Some(row) = schema else {
            return Err(Error::job(format!("the database has no schema `{}`", self.schema))
                .help("make it first: CREATE SCHEMA")
                .at("output.table"));
        };
        if !row.get::<_, bool>(0) {
            return Err(Error::job(format!("you may not make tables in the schema `{}`", self.schema))
                .at("output.table"));
        }
        if !row.get::<_, bool>(1) {
            return Err(Error::resources(format!("another run is writing the table `{}`", self.name)));
        }
        let old = client
            .query_opt(
                "SELECT c.relkind = 'r', pg_has_role(c.relowner, 'USAGE'), pg_postmaster_start_time()::text || '/' || \
                 d.oid::text || '/' || c.oid::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, \
                 pg_database d WHERE n.nspname = $1 AND c.relname = $2 AND d.datname = current_database()",
                &[&self.schema, &self.table],
            )
            .map_err(|e| told(fails, &e))?;
        let Some(old) = old else { return Ok(()) };
        let name = &self.name;
        if !old.get::<_, bool>(0) {
            return Err(Error::job(format!("`{name}` is there and is not a plain table")).at("output.table"));
        }
        if !old.get::<_, bool>(1) {
            return Err(Error::job(format!("the table `{name}` belongs to somebody else")).at("output.table"));
        }
        if reads.contains(&old.get::<_, String>(2)) {
            return Err(Error::job("the release would take the place of a table that is read")
                .help("give it a name of its own")
                .at("output.table"));
        }
        Ok(())
    }

    /// Gives the table its name, in place of an older one whose readers may read the new one too.
    fn put(&self, client: &mut Client) -> std::result::Result<(), tokio_postgres::Error> {
        let (partial, whole) = (self.quoted(&self.partial), self.quoted(&self.table));
        let grants = client.query(
            "SELECT format('GRANT %s ON %I.%I TO %s', a.privilege_type, n.nspname, c.relname, \
             CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END) \
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, aclexplode(c.relacl) a \
             WHERE n.nspname = $1 AND c.relname = $2 AND a.grantee <> c.relowner",
            &[&self.schema, &self.table],
        )?;
        client.batch_execute(&format!(
            "DROP TABLE IF EXISTS {whole}; ALTER TABLE {partial} RENAME TO {}",
            quoted(&self.table)
        ))?;
        for grant in &grants {
            client.batch_execute(grant.get(0))?;
        }
        Ok(())
    }
}

impl Place {
    /// Waits until all that was written is in the tables.
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

    /// Gives the tables their names and notes the manifest, in the schema of the first of them.
    fn put(&self, manifest: &str) -> std::result::Result<(), tokio_postgres::Error> {
        let mut client = self.session.client();
        client.batch_execute("SET LOCAL lock_timeout = '2min'")?;
        for table in self.tables() {
            table.put(&mut client)?;
        }
        let Some(first) = self.tables().next() else { return Ok(()) };
        let manifests = first.quoted(MANIFESTS);
        client.batch_execute(&format!(
            "CREATE TABLE IF NOT EXISTS {manifests} (release text PRIMARY KEY, manifest json NOT NULL, \
             published timestamptz NOT NULL DEFAULT now())"
        ))?;
        client.execute(
            &format!(
                "INSERT INTO {manifests} (release, manifest) VALUES ($1, $2::text::json) ON CONFLICT (release) \
                 DO UPDATE SET manifest = excluded.manifest, published = excluded.published"
            ),
            &[&first.table, &manifest],
        )?;
        Ok(())
    }
}

/// The SQL type of a published column.
fn sql_type(column: &TableColumn) -> &'static str {
    match (column.sql, &column.data_type) {
        (Some(sql), _) => sql,
        (None, DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64) => "bigint",
        // Keeps the digits as they are spelled.
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
        let Some(first) = places.tables.first() else { return Err(unclaimed()) };
        let address = Address::parse(first).map_err(|e| e.at("output.path"))?;
        let manifest = match places.manifest.as_os_str().is_empty() {
            true => None,
            false => Some(Pending::create(&places.manifest).map_err(|e| e.at("output.manifest"))?),
        };
        let session = Session::begin(first, &address, "READ WRITE").map_err(|e| e.at("output.path"))?;
        let mut slots = Vec::new();
        let keys = places.keys.iter().copied().chain(std::iter::repeat("output.path"));
        for ((i, path), key) in places.tables.iter().enumerate().zip(keys) {
            // What only the owner may see does not lie beside what others read.
            if places.private.contains(&i) && !is_database(path) {
                let file = Pending::create(path).map_err(|e| e.at(key))?.private();
                slots.push(Slot::File(file, places.dialect));
                continue;
            }
            if !same_database(first, path) {
                return Err(Error::job("the tables of a release go into one database").at(key));
            }
            let table = Table::at(&Address::parse(path).map_err(|e| e.at(key))?, &session)?;
            table.check(&session, &places.reads)?;
            slots.push(Slot::Table(table));
        }
        self.place = Some(Place { session, slots, taken: Mutex::new(None), manifest });
        Ok(())
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
            .help("names of columns have at most 63 bytes there: give it another in `[input] query`"));
        }
        table.columns = columns.iter().map(|column| (column.name.clone(), sql_type(column))).collect();
        let defined: Vec<String> =
            table.columns.iter().map(|(name, sql)| format!("{} {sql}", quoted(name))).collect();
        let partial = table.quoted(&table.partial);
        let comment = |column: &TableColumn| {
            format!("; COMMENT ON COLUMN {partial}.{} IS '{}'", quoted(&column.name), column.says)
        };
        let comments: String = columns.iter().map(comment).collect();
        session.run(
            &format!("CREATE TABLE {partial} ({}){comments}", defined.join(", ")),
            "the table of the release cannot be made",
        )?;
        // Frozen rows are there for whoever can see the table, however old the view he has of the data.
        // An empty cell is a null. Of a table of one column it is an empty text: else there would be records that are read back as nothing.
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
                Ok(Source::of_relation(&place.session.name, Arc::new(relation), names))
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
        let text = std::str::from_utf8(manifest).map_err(|_| Error::bug("a manifest is not UTF-8"))?;
        if let Some(file) = &place.manifest {
            std::io::Write::write_all(&mut file.writer()?, manifest)
                .map_err(|e| write_failed(file.target(), &e))?;
        }
        place.put(text).map_err(|e| told("the release cannot take its place", &e))?;
        let committed = place.session.client().batch_execute("COMMIT");
        committed.map_err(|e| {
            told("the server did not confirm the release", &e)
                .help("if the connection broke, look into the database whether it is there")
        })?;
        let private = place.slots.into_iter().filter_map(|slot| match slot {
            Slot::File(file, _) => Some(file),
            Slot::Table(_) => None,
        });
        for file in private.chain(place.manifest) {
            file.publish().map_err(|e| {
                e.help(format!("the release is in place, and its manifest is in the table {MANIFESTS}"))
            })?;
        }
        Ok(())
    }

    fn discard(&mut self) {
        // The transaction ends with its connection, and with it whatever was made in it.
        self.place = None;
    }

    fn spill(&self) -> &Path {
        &self.spill
    }
}

/// The manifest of the release at an address, if the database has one.
pub fn read_manifest(path: &Path) -> Result<Option<Vec<u8>>> {
    let address = Address::parse(path)?;
    let Some(name) = &address.table else { return Ok(None) };
    let (schema, table) = names(name)?;
    let session = Session::begin(path, &address, "READ ONLY")?;
    let fails = "the manifest cannot be read";
    let mut client = session.client();
    let manifests = match schema {
        Some(schema) => format!("{}.{}", quoted(&schema), quoted(MANIFESTS)),
        None => quoted(MANIFESTS),
    };
    let known = client.query_one("SELECT to_regclass($1) IS NOT NULL", &[&manifests]);
    if !known.map_err(|e| told(fails, &e))?.get::<_, bool>(0) {
        return Ok(None);
    }
    let row = client
        .query_opt(&format!("SELECT manifest::text FROM {manifests} WHERE release = $1"), &[&table])
        .map_err(|e| told(fails, &e))?;
    Ok(row.map(|row| row.get::<_, String>(0).into_bytes()))
}
