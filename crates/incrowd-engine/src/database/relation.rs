//! Reads a database table or the result of a query.
//!
//! All reads use one transaction with one snapshot (`REPEATABLE READ`), which lasts while the
//! relation is open. All reads therefore return the same rows, independent of concurrent writes.

use std::sync::Arc;

use arrow_schema::DataType;
use incrowd_core::{Error, Result};
use tokio_postgres::types::{Kind, Type};

use super::address::{Address, names, quoted};
use super::session::{Session, database_error, statement_error};
use super::streams::FromServer;
use super::{Blocks, Sending};
use crate::source::Column;

/// A relation that can be read repeatedly.
#[derive(Debug)]
pub(crate) struct Relation {
    pub(super) session: Session,
    /// SQL text after `FROM`.
    pub(super) from: String,
    /// SQL expression of each column.
    pub(super) cells: Vec<String>,
    /// SQL expressions for grouping records by the texts of their columns. Empty if the relation is
    /// not grouped.
    pub(super) keys: Vec<String>,
    /// Whether `COPY` works without a query. This requires a plain table without children and
    /// generated columns.
    is_copied: bool,
    /// Whether the relation is a table that supports sampling.
    pub(super) is_plain: bool,
    /// Whether the server folds, if the address states it.
    pub(super) in_server: Option<bool>,
    /// Size of the table in bytes, or 0 if unknown.
    bytes: u64,
    /// Identifiers of the server and the tables.
    identities: Vec<String>,
}

impl Relation {
    /// Starts to read the text of the given columns, or of all columns.
    pub(crate) fn read(&self, columns: Option<&[usize]>, sending: Sending) -> Result<Blocks> {
        if let (Sending::Groups, Some(columns)) = (sending, columns) {
            // The order of groups is irrelevant, so the server may use parallel workers.
            let before = "SET max_parallel_workers_per_gather TO DEFAULT";
            let sql =
                format!("COPY ({}) TO STDOUT (FORMAT csv, ENCODING 'UTF8')", self.grouped(columns));
            return Ok(Box::new(FromServer::start(&self.session, Some(before), sql)));
        }
        let cells: Vec<&str> = match columns {
            None => self.cells.iter().map(String::as_str).collect(),
            // At least one column must be sent to count the records.
            Some([]) => vec!["true"],
            Some(wanted) => wanted.iter().map(|&column| self.cells[column].as_str()).collect(),
        };
        let names_only = cells.iter().all(|cell| cell.starts_with('"') && cell.ends_with('"'));
        let (cells, from) = (cells.join(", "), &self.from);
        let what = match self.is_copied && names_only {
            true => format!("{from} ({cells})"),
            false => format!("(SELECT {cells} FROM {from})"),
        };
        let sql = format!("COPY {what} TO STDOUT (FORMAT csv, ENCODING 'UTF8')");
        Ok(Box::new(FromServer::start(&self.session, None, sql)))
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Identifiers of the tables in the relation. Equal tables have equal identifiers.
    pub(crate) fn identities(&self) -> &[String] {
        &self.identities
    }

    /// A table that this session is creating, with the SQL types of its columns.
    pub(super) fn under_way(
        session: &Session,
        from: String,
        columns: &[(String, &str)],
    ) -> Relation {
        let cell = |(name, sql): &(String, &str)| match *sql {
            "boolean" => format!("{}::text", quoted(name)),
            _ => quoted(name),
        };
        let cells = columns.iter().map(cell).collect();
        Relation {
            session: session.clone(),
            from,
            cells,
            keys: Vec::new(),
            is_copied: true,
            is_plain: false,
            in_server: None,
            bytes: 0,
            identities: Vec::new(),
        }
    }
}

/// How a type of the server is read.
struct Spelling {
    /// Type in files with types, or `None` for text.
    data_type: Option<DataType>,
    /// SQL type of a column that is published unchanged.
    sql: &'static str,
    /// Whether the server must cast the value to text.
    cast: bool,
    /// Criterion for equal texts.
    same: Same,
}

/// Criterion for two values of a type having the same text.
#[derive(Clone, Copy)]
enum Same {
    /// The values are equal.
    Equal,
    /// Their binary representations are equal.
    Bytes,
    /// Their texts are equal. Some equal numbers have different texts.
    Text,
}

fn reading(of: &Type) -> Option<Spelling> {
    let read = |data_type, sql, cast| {
        let same = match *of {
            Type::FLOAT4 | Type::FLOAT8 | Type::NUMERIC => Same::Text,
            Type::TEXT | Type::VARCHAR | Type::NAME | Type::BPCHAR | Type::BOOL => Same::Bytes,
            _ => Same::Equal,
        };
        Some(Spelling { data_type, sql, cast, same })
    };
    match *of {
        Type::BOOL => read(Some(DataType::Boolean), "boolean", true),
        Type::INT2 => read(Some(DataType::Int64), "smallint", false),
        Type::INT4 => read(Some(DataType::Int64), "integer", false),
        Type::INT8 => read(Some(DataType::Int64), "bigint", false),
        Type::FLOAT4 => read(Some(DataType::Float64), "real", false),
        Type::FLOAT8 => read(Some(DataType::Float64), "double precision", false),
        // `numeric` preserves the digits, which no Arrow type in use does.
        Type::NUMERIC => read(None, "numeric", false),
        Type::TEXT | Type::VARCHAR | Type::NAME => read(Some(DataType::Utf8), "text", false),
        // The cast removes the padding blanks.
        Type::BPCHAR => read(Some(DataType::Utf8), "text", true),
        Type::DATE => read(Some(DataType::Date32), "date", false),
        Type::TIMESTAMP => read(None, "timestamp", false),
        Type::TIMESTAMPTZ => read(None, "timestamp with time zone", false),
        Type::TIME => read(None, "time", false),
        Type::UUID => read(Some(DataType::Utf8), "uuid", false),
        _ => match of.kind() {
            Kind::Enum(_) => read(Some(DataType::Utf8), "text", false),
            Kind::Domain(of) => reading(of),
            _ => None,
        },
    }
}

/// Opens the table at an address.
// Long, because all queries about the table need one session, which the relation then owns.
pub(crate) fn open(address: &Address) -> Result<(Arc<Relation>, Vec<Column>)> {
    address.check()?;
    let (from, named) = match (&address.table, &address.query) {
        (Some(table), None) => {
            let (schema, table) = names(table).map_err(|e| e.at("input.table"))?;
            let schema = schema.map(|schema| format!("{}.", quoted(&schema))).unwrap_or_default();
            (format!("{schema}{}", quoted(&table)), true)
        }
        (None, Some(query)) => {
            let query = query.trim().trim_end_matches(';');
            (format!("({query}\n) AS incrowd_query"), false)
        }
        _ => {
            return Err(Error::job("the address names a database, but no table in it").help(
                "name one with `[input] table`, or what a query gives with `[input] query`; as part of an address: ?table=people",
            ));
        }
    };
    let in_server = match address.fold.as_deref() {
        None | Some("auto") => None,
        Some("server") => Some(true),
        Some("client") => Some(false),
        Some(other) => {
            return Err(Error::job(format!("the address has fold=`{other}`"))
                .help("write fold=server, fold=client or fold=auto"));
        }
    };
    let session = Session::begin(address, "ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
    let fails = "the table cannot be read";
    let select = format!("SELECT * FROM {from}");
    let statement =
        session.client().prepare(&select).map_err(|e| statement_error(fails, &select, &e))?;
    let (mut columns, mut cells, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    for column in statement.columns() {
        let (name, of) = (column.name(), column.type_());
        let Some(read) = reading(of) else {
            return Err(Error::input(format!(
                "column `{name}` is of type `{}`, which is not read",
                of.name()
            ))
            .help(format!(
                "select the columns you need with `[input] query`, or make text of it there: {}::text",
                quoted(name)
            )));
        };
        let cell = if read.cast { format!("{}::text", quoted(name)) } else { quoted(name) };
        keys.push(match read.same {
            Same::Equal => cell.clone(),
            Same::Bytes => format!("({cell}) COLLATE \"C\""),
            Same::Text => format!("({cell}::text) COLLATE \"C\""),
        });
        cells.push(cell);
        columns.push(Column {
            name: name.to_owned(),
            data_type: read.data_type,
            sql: Some(read.sql),
        });
    }
    if columns.is_empty() {
        return Err(Error::input("the table has no columns"));
    }
    // A query with `LIMIT 0` locks all tables it uses, including those behind views. The list of
    // locks therefore gives the identifiers of the tables.
    session.run(&format!("{select} LIMIT 0"), fails)?;
    let mut client = session.client();
    let locked = client.query(
        "SELECT relation::text, pg_postmaster_start_time()::text, database::text FROM pg_locks \
         WHERE pid = pg_backend_pid() AND locktype = 'relation' AND database <> 0",
        &[],
    );
    let identity = |row: &tokio_postgres::Row| {
        let part = |at: usize| row.get::<_, String>(at);
        format!("{}/{}/{}", part(1), part(2), part(0))
    };
    let identities = locked.map_err(|e| database_error(fails, &e))?.iter().map(identity).collect();
    let (bytes, is_plain, is_copied) = match named {
        true => {
            // Servers before version 12 have no generated columns.
            let sql = "SELECT pg_relation_size(c.oid), c.relkind IN ('r', 'm'), c.relkind = 'r' AND NOT c.relhassubclass \
                       AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND to_json(a)->>'attgenerated' <> '') \
                       FROM pg_class c WHERE c.oid = $1::text::regclass";
            let sized = client.query_one(sql, &[&from]).map_err(|e| database_error(fails, &e))?;
            (sized.get::<_, Option<i64>>(0).unwrap_or(0).max(0) as u64, sized.get(1), sized.get(2))
        }
        false => (0, false, false),
    };
    drop(client);
    let relation =
        Relation { session, from, cells, keys, is_copied, is_plain, in_server, bytes, identities };
    Ok((Arc::new(relation), columns))
}
