//! `incrowd serve`: it says where it is, it ends when it is asked to, and the whole way works in a real browser.
//!
//! The browser is driven by `crates/incrowd-web/tests/browser/way.mjs` with the libraries its `package-lock.json` names, which npm
//! puts into `target/browser`. Screenshots stay in `target/browser/shots`. Where Node, Chromium or the libraries are not to be had
//! the test is skipped.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use incrowd_testing::or_skip;

use crate::room::Room;

/// A server, and the address it says.
fn serving(room: &Room, more: &[&str]) -> (Child, String) {
    let mut server = Command::new(env!("CARGO_BIN_EXE_incrowd"))
        .args(["serve", "--no-open"])
        .args(more)
        .current_dir(room.path())
        .env("TMPDIR", room.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut line, mut more) = (String::new(), String::new());
    let mut said = BufReader::new(server.stdout.take().unwrap());
    said.read_line(&mut line).and_then(|_| said.read_line(&mut more)).unwrap();
    assert!(more.contains("Ctrl-C"), "{more}");
    let address = line.strip_prefix("serving  ").unwrap_or_else(|| panic!("{line}")).trim().to_owned();
    (server, address)
}

#[test]
fn it_ends_with_its_terminal_and_leaves_nothing() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let room = Room::with_people();
        let (mut server, address) = serving(&room, &["people.csv"]);
        assert!(address.starts_with("http://127.0.0.1:") && address.contains("/?token="), "{address}");
        let private = |name: &String| name.starts_with("incrowd-serve-");
        assert!(room.names().iter().any(private), "{:?}", room.names());
        assert!(Command::new("kill").args([signal, &server.id().to_string()]).status().unwrap().success());
        let began = Instant::now();
        let status = loop {
            match server.try_wait().unwrap() {
                Some(status) => break status,
                None if began.elapsed() > Duration::from_secs(30) => panic!("{signal} is not heard"),
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        assert_eq!(status.code(), Some(0), "{signal}");
        assert_eq!(room.names(), ["people.csv"], "{signal}");
        let mut said = String::new();
        server.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, "", "{signal}");
    }
}

#[test]
fn what_cannot_be_served_is_told() {
    let room = Room::new();
    room.run("serve nothing.csv --no-open").exits(2);
    room.run("serve --port 99999 --no-open").exits(2);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let done = room.run(&format!("serve --no-open --port {port}")).exits(2);
    assert!(done.stderr.contains("--port"), "{done}");
    assert!(room.names().is_empty());
}

fn works(program: &str) -> bool {
    let asked = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

fn browser() -> Option<String> {
    let named = std::env::var("CHROMIUM").ok();
    let usual =
        ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].map(str::to_owned);
    named.into_iter().chain(usual).find(|program| works(program))
}

/// The directory with the libraries that drive the browser, or why there is none.
fn libraries(scripts: &Path) -> Result<PathBuf, String> {
    if !works("node") {
        return Err("no Node: the pages of `serve` are not tried in a browser".to_owned());
    }
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../browser");
    std::fs::create_dir_all(&dir).unwrap();
    let wanted = std::fs::read(scripts.join("package-lock.json")).unwrap();
    let known = std::fs::read(dir.join("package-lock.json")).is_ok_and(|known| known == wanted);
    if known && dir.join("node_modules/playwright-core").exists() {
        return Ok(dir);
    }
    if !incrowd_testing::may_install() || !works("npm") {
        return Err("no playwright-core; INCROWD_TEST_INSTALL=1 lets npm put it into target/".to_owned());
    }
    for file in ["package.json", "package-lock.json"] {
        std::fs::copy(scripts.join(file), dir.join(file)).unwrap();
    }
    let npm = Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&dir).output().unwrap();
    match npm.status.success() {
        true => Ok(dir),
        false => Err(format!("npm cannot fetch playwright-core: {}", String::from_utf8_lossy(&npm.stderr))),
    }
}

#[test]
fn the_whole_way_in_a_browser() {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../incrowd-web/tests/browser");
    let browser = or_skip!(browser().ok_or("no Chromium; set CHROMIUM to one"));
    let libraries = or_skip!(libraries(&scripts));
    let room = Room::new();
    std::fs::create_dir(room.path().join("way")).unwrap();
    let mut node = Command::new("node");
    node.arg(scripts.join("way.mjs")).arg(env!("CARGO_BIN_EXE_incrowd")).arg(room.path().join("way"));
    node.arg(libraries.join("shots")).current_dir(&libraries).env("CHROMIUM", browser);
    match incrowd_testing::data("adult.csv.gz") {
        Ok(data) => drop(node.arg(data.join("adult.csv.gz"))),
        Err(why) => incrowd_testing::skipped(format!("the way with Adult: {why}")),
    }
    let done = node.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
