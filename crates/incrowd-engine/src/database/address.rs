//! Addresses of database tables: `postgresql://host/db?table=schema.people`, or with `query`
//! instead of `table`.

use std::fmt;

use incrowd_core::{Error, Result};

const SCHEMES: [&str; 2] = ["postgresql://", "postgres://"];

/// A parsed address.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Address {
    /// The whole address.
    text: String,
    /// The address without the parameters below.
    pub(crate) server: String,
    pub(crate) table: Option<String>,
    pub(crate) query: Option<String>,
    /// Value of `fold`, which states where the table is folded.
    pub(crate) fold: Option<String>,
    /// Login parameters, see [`LOGIN`].
    login: Vec<(String, String)>,
}

/// Parameters that are not passed to `tokio-postgres`.
const LOGIN: [&str; 5] = ["service", "sslmode", "sslrootcert", "sslcert", "sslkey"];

impl Address {
    /// Parses an address. Returns `None` if the text does not begin like one.
    pub(crate) fn parse(text: &str) -> Option<Address> {
        if !SCHEMES.iter().any(|scheme| text.starts_with(scheme)) {
            return None;
        }
        let (base, parameters) = text.split_once('?').unwrap_or((text, ""));
        let (mut table, mut query, mut fold, mut login) = (None, None, None, Vec::new());
        let mut kept: Vec<&str> = Vec::new();
        for pair in parameters.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "table" => table = Some(decoded(value)),
                "query" => query = Some(decoded(value)),
                "fold" => fold = Some(decoded(value)),
                _ if LOGIN.contains(&name) => login.push((name.to_owned(), decoded(value))),
                _ => kept.push(pair),
            }
        }
        let server = match kept.is_empty() {
            true => base.to_owned(),
            false => format!("{base}?{}", kept.join("&")),
        };
        Some(Address { text: text.to_owned(), server, table, query, fold, login })
    }

    fn has_password(&self) -> bool {
        let rest = self.text.split_once("://").map_or("", |(_, rest)| rest);
        let (before, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        // A password may contain any character, including a slash.
        let named = before.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
        let stated = parameters.split('&').any(|pair| {
            let name = decoded(pair.split('=').next().unwrap_or_default()).to_lowercase();
            ["password", "sslpassword", "passfile"].contains(&name.as_str())
        });
        // An `@` after the `?` indicates a password with a question mark, unless it is part of a
        // query.
        let torn = before.contains(':') && !before.contains('@') && {
            let first = parameters.split('&').next().unwrap_or_default();
            first.contains('@') && !first.contains('=')
        };
        named || stated || torn
    }

    /// Returns an error if the address contains a password. The error does not show it.
    pub(crate) fn check(&self) -> Result<()> {
        match self.has_password() {
            false => Ok(()),
            true => Err(Error::job("the address of a database has a password in it").help(
                "leave it out: addresses end up in histories, logs and job files. The password \
                 comes from PGPASSWORD, from ~/.pgpass (PGPASSFILE) or from a service file \
                 (?service=NAME)",
            )),
        }
    }

    /// The value of a login parameter.
    #[cfg(any(feature = "postgres", test))]
    pub(crate) fn login(&self, name: &str) -> Option<String> {
        self.login.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone())
    }

    /// The address of a table or a query in this database.
    pub(crate) fn locate(&self, table: Option<&str>, query: Option<&str>) -> Result<Address> {
        self.check()?;
        let both = |a: bool, b: bool| a && b;
        if both(table.is_some() || self.table.is_some(), query.is_some() || self.query.is_some()) {
            return Err(Error::job("a table and a query are given").help("give only one of them"));
        }
        if both(table.is_some(), self.table.is_some())
            || both(query.is_some(), self.query.is_some())
        {
            return Err(Error::job("the address of the database names a table of its own")
                .help("leave it out there, or leave the key out"));
        }
        let mut text = self.text.clone();
        for (name, value) in [("table", table), ("query", query)] {
            if let Some(value) = value {
                let mark = if text.contains('?') { '&' } else { '?' };
                text.push_str(&format!("{mark}{name}={}", encoded(value)));
            }
        }
        let (table, query) = (table.map(str::to_owned), query.map(str::to_owned));
        let (table, query) = (table.or(self.table.clone()), query.or(self.query.clone()));
        Ok(Address { text, table, query, ..self.clone() })
    }

    /// The address of another table in the same database.
    pub(crate) fn with_table(&self, table: &str) -> Address {
        let (base, parameters) = self.text.split_once('?').unwrap_or((&self.text, ""));
        let others = parameters.split('&').filter(|pair| {
            let name = pair.split('=').next().unwrap_or_default();
            !pair.is_empty() && !["table", "query"].contains(&name)
        });
        let own = format!("table={}", encoded(table));
        let all: Vec<&str> = others.chain([own.as_str()]).collect();
        let text = format!("{base}?{}", all.join("&"));
        Address { text, table: Some(table.to_owned()), query: None, ..self.clone() }
    }

    /// Whether two addresses refer to the same database. Only the addresses are compared.
    pub fn is_same_database(&self, other: &Address) -> bool {
        self.with_table("") == other.with_table("")
    }

    /// Name of the table for messages, or `query`.
    pub(crate) fn name(&self) -> Option<String> {
        self.table.clone().or_else(|| self.query.as_ref().map(|_| "query".to_owned()))
    }
}

// A password must not reach logs.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.has_password() { "postgresql://…" } else { &self.text })
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Parses a table name as SQL does, such as `Schema."My table"`, into an optional schema and a
/// table.
#[cfg(any(feature = "postgres", test))]
pub(crate) fn names(table: &str) -> Result<(Option<String>, String)> {
    let bad = || {
        Error::job(format!("`{table}` is not the name of a table"))
            .help("write `people`, `schema.people` or `schema.\"My people\"`")
    };
    let mut parts: Vec<String> = Vec::new();
    let mut rest = table.trim();
    loop {
        let (part, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let mut part = String::new();
                let mut rest = quoted;
                loop {
                    let (before, after) = rest.split_once('"').ok_or_else(bad)?;
                    part.push_str(before);
                    match after.strip_prefix('"') {
                        Some(more) => {
                            part.push('"');
                            rest = more;
                        }
                        None => break (part, after),
                    }
                }
            }
            None => {
                let end = rest.find('.').unwrap_or(rest.len());
                (rest[..end].to_lowercase(), &rest[end..])
            }
        };
        if part.is_empty() || part.contains('\0') || part.len() > 63 {
            return Err(bad());
        }
        parts.push(part);
        match after.strip_prefix('.') {
            Some(more) => rest = more,
            None if after.is_empty() => break,
            None => return Err(bad()),
        }
    }
    match (parts.pop(), parts.pop(), parts.is_empty()) {
        (Some(table), schema, true) => Ok((schema, table)),
        _ => Err(bad()),
    }
}

/// Quotes a name for SQL.
#[cfg(any(feature = "postgres", test))]
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Decodes percent-encoded characters such as `%20`.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = match (first, tail) {
            (b'%', [high, low, ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let digit = |b: u8| (b as char).to_digit(16).unwrap_or(0) as u8;
                Some(digit(*high) * 16 + digit(*low))
            }
            _ => None,
        };
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn encoded(text: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~,*()'".contains(&b);
    text.bytes()
        .map(|b| if plain(b) { (b as char).to_string() } else { format!("%{b:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Address {
        Address::parse(text).unwrap()
    }

    #[test]
    fn an_address_is_taken_apart() {
        let whole =
            parsed("postgresql://me@host:5433/db?table=care.people&service=x&connect_timeout=3");
        assert_eq!(whole.server, "postgresql://me@host:5433/db?connect_timeout=3");
        assert_eq!(
            (whole.table.as_deref(), whole.login("service").as_deref()),
            (Some("care.people"), Some("x"))
        );
        assert_eq!(parsed("postgres:///db?host=/run").server, "postgres:///db?host=/run");
        assert_eq!(Address::parse("postgres.csv"), None);
    }

    #[test]
    fn table_and_query_go_into_the_address() {
        let base = parsed("postgresql://host/db");
        let query = "select *\nfrom people where town = 'São Paulo' and a & b = c?";
        let located = base.locate(None, Some(query)).unwrap();
        assert_eq!(parsed(&located.to_string()), located);
        let run = parsed("postgresql:///db?host=/run");
        let named = run.locate(Some("care.\"My people\""), None).unwrap();
        assert_eq!(named.to_string(), "postgresql:///db?host=/run&table=care.%22My%20people%22");
        assert_eq!(parsed(&named.to_string()), named);
        assert_eq!(named.name().as_deref(), Some("care.\"My people\""));
        assert!(named.locate(None, Some("select 1")).is_err());
        assert!(named.locate(Some("other"), None).is_err());
    }

    #[test]
    fn tables_of_one_database_are_recognized() {
        let first = parsed("postgresql://h/db?table=care.people&sslmode=require");
        let second = first.with_table("people_st");
        assert_eq!(second.to_string(), "postgresql://h/db?sslmode=require&table=people_st");
        assert!(first.is_same_database(&second));
        assert!(!first.is_same_database(&parsed("postgresql://h/other")));
    }

    #[test]
    fn a_password_is_refused_and_not_shown() {
        for with in [
            "postgresql://me:hunter2@host/db",
            "postgresql://me:hun/hunter2@host/db",
            "postgresql://me:hunter2?x@host/db",
            "postgresql://me@host/db?password=hunter2",
            "postgresql://host/db?table=x&pass%77ord=hunter2",
        ] {
            let address = parsed(with);
            let error = address.check().unwrap_err();
            assert!(!format!("{error} {error:?} {address} {address:?}").contains("hunter2"));
        }
        for without in ["postgresql://me@host:5432/db?table=x", "postgresql:///db?host=/run"] {
            assert!(parsed(without).check().is_ok(), "{without}");
        }
    }

    #[test]
    fn names_are_read_as_sql_reads_them() {
        let read = |text| names(text).unwrap();
        assert_eq!(read("People"), (None, "people".into()));
        assert_eq!(read("care.people"), (Some("care".into()), "people".into()));
        assert_eq!(
            read("\"Care.x\".\"My \"\"people\"\"\""),
            (Some("Care.x".into()), "My \"people\"".into())
        );
        assert_eq!(quoted("My \"people\""), "\"My \"\"people\"\"\"");
        for bad in ["", "a.", ".a", "\"a", "a.b.c", "\"a\"b", "\"\""] {
            assert!(names(bad).is_err(), "{bad}");
        }
    }
}
