//! Login parameters: from the address, then a service file, then the environment, then the password
//! file. Passwords are passed directly to the connection and not stored.

use std::path::PathBuf;

use incrowd_core::{Error, Result};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::address::Address;
use super::tls::{Tls, Wishes};
use crate::side_file::{MOST_BYTES, read_side_text};

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn at_home(name: &str) -> Option<PathBuf> {
    std::env::home_dir().map(|home| home.join(name))
}

/// Connection parameters, with the same rules as `psql`.
pub(super) fn config(address: &Address) -> Result<(Config, Tls)> {
    let mut config: Config = address.server.parse().map_err(|e: tokio_postgres::Error| {
        let why = std::error::Error::source(&e).map(|e| format!(": {e}")).unwrap_or_default();
        Error::job(format!("the address of the database cannot be read{why}"))
            .help("write postgresql://user@host:port/database")
    })?;
    let service = match address.login("service").or_else(|| variable("PGSERVICE")) {
        Some(name) => service(&name)?,
        None => Vec::new(),
    };
    let of_service =
        |key: &str| service.iter().find(|(own, _)| own == key).map(|(_, value)| value.clone());
    let usual = |key: &str, name: &str| of_service(key).or_else(|| variable(name));
    let bad_port = || Error::job("the port of the database is not a number");
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        config.host(usual("host", "PGHOST").as_deref().unwrap_or("/var/run/postgresql"));
    }
    if config.get_hosts().is_empty() {
        // The certificate is checked against a host name. The address is the only available name.
        for address in config.get_hostaddrs().to_vec() {
            config.host(address.to_string());
        }
    }
    if config.get_ports().is_empty()
        && let Some(port) = usual("port", "PGPORT")
    {
        config.port(port.parse().map_err(|_| bad_port())?);
    }
    if config.get_user().is_none()
        && let Some(user) = usual("user", "PGUSER")
    {
        config.user(&user);
    }
    if config.get_dbname().is_none()
        && let Some(name) = usual("dbname", "PGDATABASE")
    {
        config.dbname(&name);
    }
    if config.get_options().is_none()
        && let Some(options) = usual("options", "PGOPTIONS")
    {
        config.options(&options);
    }
    if let Some(password) = usual("password", "PGPASSWORD").or_else(|| from_file(&config)) {
        config.password(password);
    }
    let wish = |key: &str, name: &str| address.login(key).or_else(|| usual(key, name));
    let wishes = Wishes {
        mode: wish("sslmode", "PGSSLMODE"),
        root: wish("sslrootcert", "PGSSLROOTCERT"),
        certificate: wish("sslcert", "PGSSLCERT"),
        key: wish("sslkey", "PGSSLKEY"),
    };
    let tls = match config.get_hosts().iter().all(is_socket) && config.get_hostaddrs().is_empty() {
        // A local socket needs no encryption, and the server would not offer it.
        true => Tls::none(),
        false => wishes.prepare(std::env::home_dir().as_deref())?,
    };
    config.ssl_mode(tls.mode);
    Ok((config, tls))
}

fn is_socket(host: &Host) -> bool {
    match host {
        #[cfg(unix)]
        Host::Unix(_) => true,
        Host::Tcp(_) => false,
    }
}

/// The parameters of a service in the service file.
fn service(name: &str) -> Result<Vec<(String, String)>> {
    let file = variable("PGSERVICEFILE").map(PathBuf::from).or_else(|| at_home(".pg_service.conf"));
    let text = file.and_then(|file| read_side_text(&file, MOST_BYTES).ok()).unwrap_or_default();
    section(&text, name).ok_or_else(|| {
        Error::job(format!("no service file has a service `{name}`"))
            .help("service files are ~/.pg_service.conf, or what PGSERVICEFILE names")
    })
}

fn section(text: &str, name: &str) -> Option<Vec<(String, String)>> {
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != format!("[{name}]"));
    lines.next()?;
    let own = lines.take_while(|line| !line.starts_with('['));
    let pair =
        |line: &str| line.split_once('=').map(|(k, v)| (k.trim().to_owned(), v.trim().to_owned()));
    Some(own.filter(|line| !line.starts_with('#')).filter_map(pair).collect())
}

/// The password for this connection in the password file. As in `psql`, a file that others can read
/// is ignored.
fn from_file(config: &Config) -> Option<String> {
    let file = variable("PGPASSFILE").map(PathBuf::from).or_else(|| at_home(".pgpass"))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&file).ok()?.permissions().mode();
        if mode & 0o077 != 0 {
            return None;
        }
    }
    let text = read_side_text(&file, MOST_BYTES).ok()?;
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        #[cfg(unix)]
        Some(Host::Unix(directory)) => directory.display().to_string(),
        _ => "localhost".to_owned(),
    };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let user = config.get_user().map(str::to_owned).or_else(|| variable("USER"))?;
    let database = config.get_dbname().unwrap_or(&user).to_owned();
    matching(&text, &[&host, &port, &database, &user])
}

fn matching(text: &str, wanted: &[&str; 4]) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let [of @ .., password] = fields.as_slice() else { return None };
        let fits = |(own, wanted): (&String, &&str)| {
            let local = own == "localhost" && wanted.starts_with('/');
            own == "*" || own == wanted || local
        };
        (of.len() == 4 && of.iter().zip(wanted).all(fits)).then(|| password.clone())
    })
}

/// Splits a line of the password file. `\:` and `\\` are escapes.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        let last = fields.len() - 1;
        match char {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields[last].extend(chars.next()),
            other => fields[last].push(other),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_postgres::config::SslMode;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let text = "# a:b:c:d:e\nhost:5432:db:other:no\nhost:*:*:me:se\\:cr\\\\et\n*:*:*:*:last\n";
        assert_eq!(matching(text, &["host", "5432", "db", "me"]).as_deref(), Some("se:cr\\et"));
        assert_eq!(matching(text, &["elsewhere", "1", "db", "me"]).as_deref(), Some("last"));
        assert_eq!(matching("localhost:5:d:u:x", &["/run", "5", "d", "u"]).as_deref(), Some("x"));
        assert_eq!(matching("host:5:d:u:x\nshort", &["host", "6", "d", "u"]), None);
    }

    #[test]
    fn a_service_has_its_section() {
        let text = "[one]\nhost=a\n\n[two]\n# x\nhost = b\ndbname=people\n[three]\nhost=c\n";
        let two = section(text, "two").unwrap();
        assert_eq!(two, [("host".into(), "b".into()), ("dbname".into(), "people".into())]);
        assert_eq!(section(text, "four"), None);
    }

    #[test]
    fn encryption_that_is_asked_for_is_not_silently_left_out() {
        let of = |mode: &str, host: &str| {
            let text = format!("postgresql://me@{host}/db?sslmode={mode}");
            config(&Address::parse(&text).unwrap()).map(|(config, _)| config.get_ssl_mode())
        };
        assert_eq!(of("require", "host").unwrap(), SslMode::Require);
        assert_eq!(of("prefer", "host").unwrap(), SslMode::Prefer);
        assert_eq!(of("disable", "host").unwrap(), SslMode::Disable);
        assert!(of("requrie", "host").unwrap_err().message().contains("requrie"));
        // A socket is local.
        assert_eq!(of("require", "%2Frun").unwrap(), SslMode::Disable);
    }
}
