//! A PostgreSQL server of a test's own: made in a temporary directory, on a Unix socket, gone when it is dropped.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A running server. Its user is `tester`, its database `postgres`.
#[derive(Debug)]
pub struct Server {
    directory: PathBuf,
    programs: PathBuf,
}

/// Where the programs of a server are.
fn programs() -> Result<PathBuf, String> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian = versions.map(|version| version.path().join("bin"));
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = debian.chain(std::env::split_paths(&on_path)).collect();
    places.retain(|place| {
        ["initdb", "pg_ctl", "postgres", "psql"].iter().all(|name| place.join(name).exists())
    });
    places.into_iter().next().ok_or_else(|| "no PostgreSQL server; install Debian's postgresql".to_owned())
}

/// A server refuses to run as root.
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
    /// Starts one, or says why that cannot be. Connections need a password if `auth` is `scram-sha-256`, which is `hunter2`.
    pub fn start(auth: &str) -> Result<Server, String> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let programs = programs()?;
        // Names of sockets must be short.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = PathBuf::from(format!("/tmp/incrowd-pg-{}-{number}", std::process::id()));
        let server = Server { directory, programs };
        let said = |e: std::io::Error| format!("no directory for a server: {e}");
        std::fs::create_dir(&server.directory).map_err(said)?;
        std::fs::write(server.directory.join("password"), "hunter2\n").map_err(said)?;
        if is_root() {
            silent(Command::new("chown").args(["-R", "nobody"]).arg(&server.directory))?;
        }
        let mut initdb = server.program("initdb");
        initdb.args(["-U", "tester", "-N", "-E", "UTF8", "--locale=C", "-A", auth, "-D"]);
        silent(initdb.arg(server.data()).arg("--pwfile").arg(server.directory.join("password")))?;
        let options = format!("-c listen_addresses='' -c fsync=off -k {}", server.directory.display());
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

    /// The directory of its socket.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The address of its database.
    pub fn address(&self) -> String {
        format!("postgresql://tester@/postgres?host={}", self.directory.display())
    }

    /// What lets programs find it without an address.
    pub fn settings(&self) -> [(&'static str, String); 3] {
        let directory = self.directory.display().to_string();
        [("PGHOST", directory), ("PGUSER", "tester".to_owned()), ("PGDATABASE", "postgres".to_owned())]
    }

    /// What `psql` prints for a statement: rows only, cells parted by `|`.
    ///
    /// # Panics
    ///
    /// If the statement fails.
    pub fn sql(&self, statement: &str) -> String {
        let mut psql = Command::new(self.programs.join("psql"));
        psql.args(["-XAtq", "-v", "ON_ERROR_STOP=1", "-c", statement]).env("PGPASSWORD", "hunter2");
        let output = psql.envs(self.settings()).stdin(Stdio::null()).output().expect("psql runs");
        assert!(output.status.success(), "{statement}\n{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(silent(self.program("pg_ctl").args(["-m", "immediate", "-w", "stop", "-D"]).arg(self.data())));
        drop(std::fs::remove_dir_all(&self.directory));
    }
}
