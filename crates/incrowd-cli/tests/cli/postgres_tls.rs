//! Encrypted connections to a PostgreSQL server that encrypts, with certificates made for the test.

use incrowd_testing::or_skip;
use incrowd_testing::postgres::Server;

use crate::room::Room;

/// Runs `profile` as a user, on a host, with settings of the connection.
struct Connects<'a> {
    room: &'a Room,
    port: u16,
}

impl Connects<'_> {
    fn run(&self, user: &str, host: &str, settings: &str) -> String {
        let port = self.port;
        format!("profile postgresql://{user}@{host}:{port}/postgres?table=people&{settings}")
    }

    fn does(&self, user: &str, host: &str, settings: &str) {
        self.room.does(&self.run(user, host, settings));
    }

    fn refuses(&self, user: &str, host: &str, settings: &str, words: &[&str]) {
        self.room.refuses(&self.run(user, host, settings)).says(words);
    }
}

#[test]
fn a_server_that_encrypts_is_believed_as_far_as_sslmode_says() {
    let (server, port) = or_skip!(Server::encrypted());
    let room = Room::new();
    server.sql("CREATE ROLE certified LOGIN; CREATE TABLE people AS SELECT i AS age FROM generate_series(1, 50) i; GRANT SELECT ON people TO certified");
    let at = server.directory().display();
    let (root, other) = (format!("sslrootcert={at}/root.crt"), format!("sslrootcert={at}/other.crt"));
    let connects = Connects { room: &room, port };
    // The server takes nobody who does not encrypt.
    connects.refuses("tester", "localhost", "sslmode=disable", &["no encryption"]);
    for settings in ["", "sslmode=allow", "sslmode=prefer", "sslmode=require"] {
        connects.does("tester", "localhost", settings);
    }
    for mode in ["require", "verify-ca", "verify-full"] {
        connects.does("tester", "localhost", &format!("sslmode={mode}&{root}"));
        // Whose word counts is stated, so it counts, whatever the mode.
        connects.refuses(
            "tester",
            "localhost",
            &format!("sslmode={mode}&{other}"),
            &["no authority of sslrootcert"],
        );
    }
    // The certificate is for another name.
    connects.does("tester", "127.0.0.1", &format!("sslmode=verify-ca&{root}"));
    connects.refuses(
        "tester",
        "127.0.0.1",
        &format!("sslmode=verify-full&{root}"),
        &["not for the host `127.0.0.1`"],
    );
    // A certificate that is named itself is trusted as it is.
    connects.does("tester", "localhost", &format!("sslmode=verify-full&sslrootcert={at}/server.crt"));
    connects.refuses("tester", "localhost", "sslmode=verify-full", &["sslrootcert"]);
    connects.refuses("tester", "localhost", "sslmode=verify-full&sslrootcert=system", &["no authority"]);
    connects.refuses("tester", "localhost", "sslmode=verify-ca&sslrootcert=system", &["verify-full"]);
    connects.refuses("tester", "localhost", "sslmode=verify-ca&sslrootcert=/nowhere.crt", &["/nowhere.crt"]);
    // From the environment, and from a service file.
    let typed = format!("profile postgresql://tester@localhost:{port}/postgres?table=people");
    let with = |root: &str| {
        let file = format!("{at}/{root}.crt");
        room.run_with(&typed, &[("PGSSLMODE", "verify-full"), ("PGSSLROOTCERT", &file)])
    };
    with("root").exits(0);
    with("other").exits(2);
    let service = format!(
        "[mine]\nhost=localhost\nport={port}\nuser=tester\ndbname=postgres\nsslmode=verify-full\nsslrootcert={at}/other.crt\n"
    );
    room.write("services", service);
    let services = room.path().join("services");
    let service = [("PGSERVICEFILE", services.to_str().unwrap())];
    room.run_with("profile postgresql://?service=mine&table=people", &service)
        .exits(2)
        .says(&["no authority"]);
    // What is asked for by a key is not given to others.
    let key = format!("sslcert={at}/client.crt&sslkey={at}/client.key");
    connects.does("certified", "localhost", &format!("sslmode=verify-full&{root}&{key}"));
    connects.refuses(
        "certified",
        "localhost",
        &format!("sslmode=verify-full&{root}"),
        &["client certificate"],
    );
    connects.refuses("certified", "localhost", &format!("sslcert={at}/client.crt&sslkey="), &["sslkey"]);
    let open = room.path().join("open.key");
    std::fs::copy(server.directory().join("client.key"), &open).unwrap();
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o644)).unwrap();
    }
    let settings = format!("sslcert={at}/client.crt&sslkey={}", open.display());
    connects.refuses("certified", "localhost", &settings, &["others can read"]);
}

#[test]
fn a_release_goes_through_an_encrypted_connection() {
    let (server, port) = or_skip!(Server::encrypted());
    let room = Room::new();
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
    room.does(&format!("anonymize {address} --table people {roles} -o {address} --output-table release"));
    assert_eq!(server.sql("SELECT count(*), count(DISTINCT disease) FROM release"), "30000|5");
    room.does(&format!("verify {address} --table release"));
}
