//! Addresses of database tables: `postgresql://host/db?table=schema.people`, or with `query`
//! instead of `table`.

use std::path::{Path, PathBuf};

use incrowd_core::{Error, Result};

const SCHEMES: [&str; 2] = ["postgresql://", "postgres://"];

/// Whether a path is a database address.
pub fn is_database(path: &Path) -> bool {
    path.to_str().is_some_and(|text| SCHEMES.iter().any(|scheme| text.starts_with(scheme)))
}

/// A parsed address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Address {
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

/// Returns an error if an address contains a password, before any message shows the address. The
/// error does not show the password either.
pub fn check_address(path: &Path) -> Result<()> {
    let Some(text) = path.to_str().filter(|_| is_database(path)) else { return Ok(()) };
    let rest = text.split_once("://").map_or("", |(_, rest)| rest);
    let (before, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    // A password may contain any character, including a slash.
    let named = before.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'));
    let stated = parameters.split('&').any(|pair| {
        let name = decoded(pair.split('=').next().unwrap_or_default()).to_lowercase();
        ["password", "sslpassword", "passfile"].contains(&name.as_str())
    });
    // An `@` after the `?` indicates a password with a question mark, unless it is part of a query.
    let torn = before.contains(':') && !before.contains('@') && {
        let first = parameters.split('&').next().unwrap_or_default();
        first.contains('@') && !first.contains('=')
    };
    if named || stated || torn {
        return Err(Error::job("the address of a database has a password in it").help(
            "leave it out: addresses end up in histories, logs and job files. The password comes from PGPASSWORD, from \
             ~/.pgpass (PGPASSFILE) or from a service file (?service=NAME)",
        ));
    }
    Ok(())
}

impl Address {
    pub(crate) fn parse(path: &Path) -> Result<Address> {
        check_address(path)?;
        let text = path.to_str().unwrap_or_default();
        let (base, parameters) = text.split_once('?').unwrap_or((text, ""));
        let mut address = Address::default();
        let mut kept: Vec<&str> = Vec::new();
        for pair in parameters.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "table" => address.table = Some(decoded(value)),
                "query" => address.query = Some(decoded(value)),
                "fold" => address.fold = Some(decoded(value)),
                _ if LOGIN.contains(&name) => address.login.push((name.to_owned(), decoded(value))),
                _ => kept.push(pair),
            }
        }
        address.server = base.to_owned();
        if !kept.is_empty() {
            address.server = format!("{base}?{}", kept.join("&"));
        }
        Ok(address)
    }

    /// The value of a login parameter.
    #[cfg(any(feature = "postgres", test))]
    pub(crate) fn login(&self, name: &str) -> Option<String> {
        self.login.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone())
    }
}

/// Builds the address of a table or a query in a database. Returns an error if the path is not that
/// of a database.
pub fn locate(database: &Path, table: Option<&str>, query: Option<&str>) -> Result<PathBuf> {
    if !is_database(database) {
        return Err(Error::job("only a database has tables")
            .help("write postgresql://user@host/database as path"));
    }
    let address = Address::parse(database)?;
    let both = |a: bool, b: bool| a && b;
    if both(table.is_some() || address.table.is_some(), query.is_some() || address.query.is_some())
    {
        return Err(Error::job("a table and a query are given").help("give only one of them"));
    }
    if both(table.is_some(), address.table.is_some())
        || both(query.is_some(), address.query.is_some())
    {
        return Err(Error::job("the address of the database names a table of its own")
            .help("leave it out there, or leave the key out"));
    }
    let mut text = database.to_str().unwrap_or_default().to_owned();
    for (name, value) in [("table", table), ("query", query)] {
        if let Some(value) = value {
            let mark = if text.contains('?') { '&' } else { '?' };
            text.push_str(&format!("{mark}{name}={}", encoded(value)));
        }
    }
    Ok(PathBuf::from(text))
}

/// The address of another table in the same database.
pub fn with_table(path: &Path, table: &str) -> PathBuf {
    let text = path.to_str().unwrap_or_default();
    let (base, parameters) = text.split_once('?').unwrap_or((text, ""));
    let others = parameters.split('&').filter(|pair| {
        let name = pair.split('=').next().unwrap_or_default();
        !pair.is_empty() && !["table", "query"].contains(&name)
    });
    let own = format!("table={}", encoded(table));
    let all: Vec<&str> = others.chain([own.as_str()]).collect();
    PathBuf::from(format!("{base}?{}", all.join("&")))
}

/// The address of the table whose name has this suffix, such as `people_st` for `people`. Returns
/// `None` if the address has no table.
pub fn beside_table(path: &Path, ending: &str) -> Option<PathBuf> {
    let table = Address::parse(path).ok().filter(|_| is_database(path))?.table?;
    let longer = match table.trim_end().strip_suffix('"') {
        Some(quoted) => format!("{quoted}{ending}\""),
        None => format!("{}{ending}", table.trim_end()),
    };
    Some(with_table(path, &longer))
}

/// Whether two addresses refer to the same database. Only the addresses are compared.
pub fn same_database(a: &Path, b: &Path) -> bool {
    is_database(a) && is_database(b) && with_table(a, "") == with_table(b, "")
}

/// Name of the table at an address for messages, or `query`.
pub fn table_of(path: &Path) -> Option<String> {
    let address = Address::parse(path).ok().filter(|_| is_database(path))?;
    address.table.or_else(|| address.query.map(|_| "query".to_owned()))
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
        Address::parse(Path::new(text)).unwrap()
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
        assert!(
            is_database(Path::new("postgres://h/d")) && !is_database(Path::new("postgres.csv"))
        );
    }

    #[test]
    fn table_and_query_go_into_the_address() {
        let base = Path::new("postgresql://host/db");
        let query = "select *\nfrom people where town = 'São Paulo' and a & b = c?";
        let located = locate(base, None, Some(query)).unwrap();
        assert_eq!(Address::parse(&located).unwrap().query.as_deref(), Some(query));
        let named =
            locate(Path::new("postgresql:///db?host=/run"), Some("care.\"My people\""), None)
                .unwrap();
        assert_eq!(
            named.to_str().unwrap(),
            "postgresql:///db?host=/run&table=care.%22My%20people%22"
        );
        assert_eq!(table_of(&named).as_deref(), Some("care.\"My people\""));
        assert!(locate(&named, None, Some("select 1")).is_err());
        assert!(locate(&named, Some("other"), None).is_err());
        assert!(locate(Path::new("people.csv"), None, Some("select 1")).is_err());
        assert_eq!(table_of(Path::new("people.csv?table=x")), None);
    }

    #[test]
    fn tables_beside_each_other_are_of_one_database() {
        let first = Path::new("postgresql://h/db?table=care.people&sslmode=require");
        let second = beside_table(first, "_st").unwrap();
        assert_eq!(
            second.to_str().unwrap(),
            "postgresql://h/db?sslmode=require&table=care.people_st"
        );
        assert!(
            same_database(first, &second)
                && !same_database(first, Path::new("postgresql://h/other"))
        );
        let quoted =
            beside_table(Path::new("postgresql:///db?table=%22My%20people%22"), "_st").unwrap();
        assert_eq!(table_of(&quoted).as_deref(), Some("\"My people_st\""));
        assert_eq!(beside_table(Path::new("people.csv"), "_st"), None);
        assert_eq!(beside_table(Path::new("postgresql:///db"), "_st"), None);
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
            let error = check_address(Path::new(with)).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{with}");
        }
        for without in
            ["postgresql://me@host:5432/db?table=x", "postgresql:///db?host=/run", "a:b@c.csv"]
        {
            assert!(check_address(Path::new(without)).is_ok(), "{without}");
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
