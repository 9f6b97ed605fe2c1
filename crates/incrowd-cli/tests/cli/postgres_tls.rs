//! Encrypted connections to a PostgreSQL server, with certificates made for the test.

use incrowd_testing::or_skip;
use incrowd_testing::postgres::Server;

use crate::test_dir::TestDir;

/// Runs `profile` with a user, a host and connection settings.
struct Connects<'a> {
    test: &'a TestDir,
    port: u16,
}

impl Connects<'_> {
    fn run(&self, user: &str, host: &str, settings: &str) -> String {
        let port = self.port;
        format!("profile postgresql://{user}@{host}:{port}/postgres?table=people&{settings}")
    }

    fn succeeds(&self, user: &str, host: &str, settings: &str) {
        self.test.succeeds(&self.run(user, host, settings));
    }

    fn refuses(&self, user: &str, host: &str, settings: &str, words: &[&str]) {
        self.test.refuses(&self.run(user, host, settings)).reports(words);
    }
}

#[test]
fn sslmode_determines_the_checks_of_the_certificate() {
    let (server, port) = or_skip!(Server::encrypted());
    let test = TestDir::new();
    server.sql("CREATE ROLE certified LOGIN; CREATE TABLE people AS SELECT i AS age FROM generate_series(1, 50) i; GRANT SELECT ON people TO certified");
    let at = server.directory().display();
    let (root, other) =
        (format!("sslrootcert={at}/root.crt"), format!("sslrootcert={at}/other.crt"));
    let connects = Connects { test: &test, port };
    // The server accepts only encrypted connections.
    connects.refuses("tester", "localhost", "sslmode=disable", &["encryption"]);
    for settings in ["", "sslmode=allow", "sslmode=prefer", "sslmode=require"] {
        connects.succeeds("tester", "localhost", settings);
    }
    for mode in ["require", "verify-ca", "verify-full"] {
        connects.succeeds("tester", "localhost", &format!("sslmode={mode}&{root}"));
        // A stated root certificate is used with every mode.
        connects.refuses(
            "tester",
            "localhost",
            &format!("sslmode={mode}&{other}"),
            &["no authority of sslrootcert"],
        );
    }
    // The certificate is for another name.
    connects.succeeds("tester", "127.0.0.1", &format!("sslmode=verify-ca&{root}"));
    connects.refuses(
        "tester",
        "127.0.0.1",
        &format!("sslmode=verify-full&{root}"),
        &["not for the host `127.0.0.1`"],
    );
    // A stated self-signed certificate is trusted.
    connects.succeeds(
        "tester",
        "localhost",
        &format!("sslmode=verify-full&sslrootcert={at}/server.crt"),
    );
    connects.refuses("tester", "localhost", "sslmode=verify-full", &["sslrootcert"]);
    connects.refuses(
        "tester",
        "localhost",
        "sslmode=verify-full&sslrootcert=system",
        &["no authority"],
    );
    connects.refuses(
        "tester",
        "localhost",
        "sslmode=verify-ca&sslrootcert=system",
        &["verify-full"],
    );
    connects.refuses(
        "tester",
        "localhost",
        "sslmode=verify-ca&sslrootcert=/nowhere.crt",
        &["/nowhere.crt"],
    );
    // From the environment, and from a service file.
    let args = format!("profile postgresql://tester@localhost:{port}/postgres?table=people");
    let with = |root: &str| {
        let file = format!("{at}/{root}.crt");
        test.run_with(&args, &[("PGSSLMODE", "verify-full"), ("PGSSLROOTCERT", &file)])
    };
    with("root").exits(0);
    with("other").exits(2);
    let service = format!(
        "[mine]\nhost=localhost\nport={port}\nuser=tester\ndbname=postgres\nsslmode=verify-full\nsslrootcert={at}/other.crt\n"
    );
    test.write("services", service);
    let services = test.path().join("services");
    let service = [("PGSERVICEFILE", services.to_str().unwrap())];
    test.run_with("profile postgresql://?service=mine&table=people", &service)
        .exits(2)
        .reports(&["no authority"]);
    // A request by key is not answered for others.
    let key = format!("sslcert={at}/client.crt&sslkey={at}/client.key");
    connects.succeeds("certified", "localhost", &format!("sslmode=verify-full&{root}&{key}"));
    connects.refuses(
        "certified",
        "localhost",
        &format!("sslmode=verify-full&{root}"),
        &["client certificate"],
    );
    connects.refuses(
        "certified",
        "localhost",
        &format!("sslcert={at}/client.crt&sslkey="),
        &["sslkey"],
    );
    let open = test.path().join("open.key");
    std::fs::copy(server.directory().join("client.key"), &open).unwrap();
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    let settings = format!("sslcert={at}/client.crt&sslkey={}", open.display());
    connects.refuses("certified", "localhost", &settings, &["others can read"]);
}

#[test]
fn a_release_is_written_through_an_encrypted_connection() {
    let (server, port) = or_skip!(Server::encrypted());
    let test = TestDir::new();
    server.sql(
        "CREATE TABLE people AS SELECT i % 40 AS age, repeat('x', 200) || i % 5 AS disease \
         FROM generate_series(1, 30000) i",
    );
    let root = server.directory().join("root.crt");
    let address = format!(
        "postgresql://tester@localhost:{port}/postgres?sslmode=verify-full&sslrootcert={}",
        root.display()
    );
    let roles = "--quasi age --sensitive disease -k 5";
    test.succeeds(&format!(
        "anonymize {address} --table people {roles} -o {address} --output-table release"
    ));
    assert_eq!(server.sql("SELECT count(*), count(DISTINCT disease) FROM release"), "30000|5");
    test.succeeds(&format!("verify {address} --table release"));
}
