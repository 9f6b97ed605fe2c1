//! A PostgreSQL server for a test: in a temporary directory, on a Unix socket, removed when it is
//! dropped.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A running server. Its user is `tester`, its database `postgres`.
#[derive(Debug)]
pub struct Server {
    directory: PathBuf,
    programs: PathBuf,
    port: u16,
}

/// Returns the directory of the server programs.
fn programs() -> Result<PathBuf, String> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian = versions.map(|version| version.path().join("bin"));
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = debian.chain(std::env::split_paths(&on_path)).collect();
    places.retain(|place| {
        ["initdb", "pg_ctl", "postgres", "psql"].iter().all(|name| place.join(name).exists())
    });
    places
        .into_iter()
        .next()
        .ok_or_else(|| "no PostgreSQL server; install Debian's postgresql".to_owned())
}

/// Returns whether the process runs as root, as which a server refuses to run.
fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.starts_with(b"0\n"))
}

fn silent(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    match output {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!("{} does not run here", command.get_program().display())),
    }
}

impl Server {
    /// Starts a server, or returns why that is not possible. Connections need the password
    /// `hunter2` if `auth` is `scram-sha-256`.
    pub fn start(auth: &str) -> Result<Server, String> {
        Server::prepared(auth, 5432, |_| Ok(String::new()))
    }

    /// Starts a server that accepts only encrypted TCP connections, and returns its port. Its
    /// certificate is for `localhost` and signed by `root.crt` in its directory; `other.crt` is of
    /// another authority. Its role `certified` logs in with `client.crt` and `client.key`.
    pub fn encrypted() -> Result<(Server, u16), String> {
        let free =
            std::net::TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr());
        let port = free.map_err(|e| format!("no free port: {e}"))?.port();
        let server = Server::prepared("trust", port, |server| {
            server.certify()?;
            let lines = "local all all trust\nhostssl all certified 127.0.0.1/32 cert\n\
                         hostssl all all 127.0.0.1/32 trust\n";
            std::fs::write(server.data().join("pg_hba.conf"), lines).map_err(|e| e.to_string())?;
            let at = server.directory.display();
            Ok(format!(
                "-c ssl=on -c ssl_cert_file={at}/server.crt -c ssl_key_file={at}/server.key \
                 -c ssl_ca_file={at}/root.crt -c listen_addresses=127.0.0.1"
            ))
        })?;
        Ok((server, port))
    }

    /// Creates authorities and certificates.
    fn certify(&self) -> Result<(), String> {
        let openssl = |line: &str| {
            silent(Command::new("openssl").args(line.split(' ')).current_dir(&self.directory))
        };
        std::fs::write(self.directory.join("names"), "subjectAltName=DNS:localhost\n")
            .map_err(|e| e.to_string())?;
        let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
        for authority in ["root", "other"] {
            openssl(&format!(
                "req -x509 {key} -days 2 -subj /CN={authority} -keyout {authority}.key -out {authority}.crt"
            ))?;
        }
        for (name, subject) in [("server", "localhost"), ("client", "certified")] {
            openssl(&format!(
                "req -new {key} -subj /CN={subject} -keyout {name}.key -out {name}.csr"
            ))?;
            openssl(&format!(
                "x509 -req -in {name}.csr -CA root.crt -CAkey root.key -CAcreateserial -days 2 -extfile names -out {name}.crt"
            ))?;
        }
        silent(Command::new("sh").args(["-c", "chmod 600 *.key"]).current_dir(&self.directory))?;
        match is_root() {
            true => silent(
                Command::new("chown")
                    .arg("nobody")
                    .args(["server.key"])
                    .current_dir(&self.directory),
            ),
            false => Ok(()),
        }
    }

    /// Starts a server with further settings, which are computed after its directory exists.
    fn prepared(
        auth: &str,
        port: u16,
        settings: impl Fn(&Server) -> Result<String, String>,
    ) -> Result<Server, String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let programs = programs()?;
        // Names of sockets must be short.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = PathBuf::from(format!("/tmp/incrowd-pg-{}-{number}", std::process::id()));
        let server = Server { directory, programs, port };
        let failed = |e: std::io::Error| format!("no directory for a server: {e}");
        std::fs::create_dir(&server.directory).map_err(failed)?;
        std::fs::write(server.directory.join("password"), "hunter2\n").map_err(failed)?;
        if is_root() {
            silent(Command::new("chown").args(["-R", "nobody"]).arg(&server.directory))?;
        }
        let mut initdb = server.program("initdb");
        initdb.args(["-U", "tester", "-N", "-E", "UTF8", "--locale=C", "-A", auth, "-D"]);
        silent(initdb.arg(server.data()).arg("--pwfile").arg(server.directory.join("password")))?;
        let more = settings(&server)?;
        let options = format!(
            "-c listen_addresses='' -c fsync=off -p {port} -k {} {more}",
            server.directory.display()
        );
        let mut start = server.program("pg_ctl");
        start
            .args(["-w", "-o", &options, "-l"])
            .arg(server.directory.join("log"))
            .arg("-D")
            .arg(server.data());
        silent(start.arg("start"))?;
        Ok(server)
    }

    fn program(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = match is_root() {
            true => {
                let mut command = Command::new("setpriv");
                command.args(["--reuid=nobody", "--clear-groups"]).arg(program);
                command
            }
            false => Command::new(program),
        };
        command.current_dir("/");
        command
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// Returns the directory of its socket.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the address of its database.
    pub fn address(&self) -> String {
        format!("postgresql://tester@/postgres?host={}", self.directory.display())
    }

    /// Returns the environment variables with which programs find the server.
    pub fn settings(&self) -> [(&'static str, String); 3] {
        let directory = self.directory.display().to_string();
        [
            ("PGHOST", directory),
            ("PGUSER", "tester".to_owned()),
            ("PGDATABASE", "postgres".to_owned()),
        ]
    }

    /// Runs a statement with `psql` and returns its rows, with cells separated by `|`.
    ///
    /// # Panics
    ///
    /// If the statement fails.
    pub fn sql(&self, statement: &str) -> String {
        self.try_sql(statement).unwrap_or_else(|error| panic!("{statement}\n{error}"))
    }

    /// Runs a statement and returns its rows, or the error.
    pub fn try_sql(&self, statement: &str) -> Result<String, String> {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.arg("-p").arg(self.port.to_string());
        psql.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statement]).env("PGPASSWORD", "hunter2");
        let output = psql.envs(self.settings()).stdin(Stdio::null()).output().expect("psql runs");
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }
}

/// A small file system for a tablespace, removed when it is dropped.
#[derive(Debug)]
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Mounts a file system of this size, if that is allowed.
    pub fn mount(server: &Server, megabytes: u32) -> Result<SmallDisk, String> {
        let place = server.directory.join("small");
        std::fs::create_dir(&place).map_err(|e| e.to_string())?;
        let size = format!("size={megabytes}m");
        silent(Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&place))
            .map_err(|_| "a separate file system cannot be mounted here".to_owned())?;
        let disk = SmallDisk(place);
        if is_root() {
            silent(Command::new("chown").arg("nobody").arg(&disk.0))?;
        }
        Ok(disk)
    }

    /// Changes the size.
    pub fn resize(&self, megabytes: u32) -> Result<(), String> {
        silent(
            Command::new("mount").args(["-o", &format!("remount,size={megabytes}m")]).arg(&self.0),
        )
    }

    /// Returns the mount point.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // A server may still have files open there.
        drop(silent(Command::new("umount").arg("-l").arg(&self.0)));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(silent(
            self.program("pg_ctl").args(["-m", "immediate", "-w", "stop", "-D"]).arg(self.data()),
        ));
        drop(std::fs::remove_dir_all(&self.directory));
    }
}
