//! `incrowd serve`: start, end, and a complete session in a real browser.
//!
//! The browser is driven by `crates/incrowd-web/tests/browser/session.mjs` with the libraries of
//! its `package-lock.json`, which npm installs into `target/browser`. Screenshots are kept in
//! `target/browser/shots`. Without Node, Chromium or the libraries the test is skipped.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use incrowd_testing::or_skip;

use crate::test_dir::TestDir;

/// Starts a server and returns its address.
fn serving(test: &TestDir, more: &[&str]) -> (Child, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_incrowd"));
    command.args(["serve", "--no-open"]).args(more);
    started(test, command)
}

fn started(test: &TestDir, mut command: Command) -> (Child, String) {
    let mut server = command
        .current_dir(test.path())
        .env("TMPDIR", test.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(server.stdout.take().unwrap());
    let [line, more, again] = [(); 3].map(|()| {
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        line
    });
    assert!(more.contains("Ctrl-C") && again.contains("open.html"), "{more}{again}");
    let address =
        line.strip_prefix("serving  ").unwrap_or_else(|| panic!("{line}")).trim().to_owned();
    (server, address)
}

/// Returns the private directories of servers.
fn private_dirs(test: &TestDir) -> Vec<String> {
    let top = |name: &String| name.starts_with("incrowd-serve-") && !name.contains('/');
    test.names().into_iter().filter(top).collect()
}

/// Requests an address and returns the answer.
fn asked(address: &str) -> String {
    let (host, path) = address.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn it_ends_with_its_terminal_and_leaves_no_files() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let test = TestDir::with_people();
        let (mut server, address) = serving(&test, &["people.csv"]);
        assert!(
            address.starts_with("http://127.0.0.1:") && address.contains("/?token="),
            "{address}"
        );
        let private = |name: &String| name.starts_with("incrowd-serve-");
        assert!(test.names().iter().any(private), "{:?}", test.names());
        assert!(
            Command::new("kill")
                .args([signal, &server.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        let began = Instant::now();
        let status = loop {
            match server.try_wait().unwrap() {
                Some(status) => break status,
                None if began.elapsed() > Duration::from_secs(30) => {
                    panic!("{signal} is not heard")
                }
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        assert_eq!(status.code(), Some(0), "{signal}");
        assert_eq!(test.names(), ["people.csv"], "{signal}");
        let mut said = String::new();
        server.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(said, "", "{signal}");
    }
}

#[test]
fn servers_that_cannot_start_give_an_error() {
    let test = TestDir::new();
    test.run("serve nothing.csv --no-open").exits(2);
    test.run("serve --port 99999 --no-open").exits(2);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let done = test.run(&format!("serve --no-open --port {port}")).exits(2);
    assert!(done.stderr.contains("--port"), "{done}");
    assert!(test.names().is_empty());
}

#[test]
fn the_next_server_removes_the_files_of_a_killed_one() {
    let test = TestDir::with_people();
    let (mut killed, _) = serving(&test, &["people.csv"]);
    let (mut running, address) = serving(&test, &["people.csv"]);
    let both = private_dirs(&test);
    assert_eq!(both.len(), 2);
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert_eq!(private_dirs(&test), both, "a killed process cannot remove it");
    let (mut next, _) = serving(&test, &["people.csv"]);
    let left = private_dirs(&test);
    // The directory of the killed server is removed, that of the running one is kept.
    assert_eq!(
        (left.len(), left.iter().filter(|dir| both.contains(dir)).count()),
        (2, 1),
        "{both:?} {left:?}"
    );
    assert!(asked(&address).starts_with("HTTP/1.1 303"), "it serves");
    for server in [&mut running, &mut next] {
        assert!(
            Command::new("kill")
                .args(["-INT", &server.id().to_string()])
                .status()
                .unwrap()
                .success()
        );
        server.wait().unwrap();
    }
    assert_eq!(test.names(), ["people.csv"]);
}

/// Uploads a file and waits until it is read or refused. Returns the last answer.
#[cfg(target_os = "linux")]
fn uploaded(root: &str, name: &str, content: &[u8]) -> String {
    let (host, path) = root.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut body = b"--x\r\nContent-Disposition: form-data; name=\"file\"; ".to_vec();
    body.extend(format!("filename=\"{name}\"\r\n\r\n").bytes());
    body.extend([content, b"\r\n--x--\r\n"].concat());
    let head = format!(
        "POST /{path}/upload HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n\
         Connection: close\r\nContent-Type: multipart/form-data; boundary=x\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(host).unwrap();
    stream.write_all(&[head.into_bytes(), body].concat()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let until = Instant::now() + Duration::from_secs(120);
    while let Some(at) = location(&answer).filter(|at| !at.ends_with("/table")) {
        assert!(Instant::now() < until, "{name} is neither read nor refused");
        let next = asked(&format!("http://{host}{at}"));
        // Without a new address, the page shows the progress or the error.
        if location(&next).is_some() || next.contains("id=\"error\"") {
            answer = next;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    answer
}

/// Returns the address that an answer leads to.
#[cfg(target_os = "linux")]
fn location(answer: &str) -> Option<&str> {
    answer.lines().find_map(|line| line.strip_prefix("location: "))
}

#[cfg(target_os = "linux")]
#[test]
fn hostile_uploads_do_not_end_the_server() {
    use crate::{memory, small_files};

    const MEMORY: u64 = 1024;
    let test = TestDir::new();
    let (server, address) = started(&test, test.command_within(MEMORY, "serve --no-open"));
    let _server = Started(server);
    let origin = address.split("/?").next().unwrap();
    let welcome = asked(&address);
    let start = location(&welcome).unwrap().to_owned();
    let root = format!("{origin}{}", start.trim_end_matches('/'));
    let uploads = || {
        let is_upload = |name: &String| {
            name.contains('/')
                && ["open.html", "lock"].iter().all(|own| !name.ends_with(own))
                && test.path().join(name).is_file()
        };
        test.names().into_iter().filter(is_upload).collect::<Vec<String>>()
    };
    let good = uploaded(&root, "people.csv", crate::test_dir::PEOPLE.as_bytes());
    let table = location(&good).unwrap_or_else(|| panic!("{good}"));
    let kept = uploads();
    assert!(kept.len() == 1 && kept[0].ends_with("people.csv"), "{kept:?}");
    let is_served = |path: &str| asked(&format!("{origin}{path}")).starts_with("HTTP/1.1 200");
    for (name, content) in [
        ("shared.xlsx", small_files::shared_string(40 << 20, 5_000)),
        ("empty.xlsx", small_files::mostly_empty_workbook()),
        ("overlap.dta", small_files::overlapping_labels()),
        ("header.csv.gz", memory::compressed(&[(b"a", 1_400_000_000)])),
    ] {
        let answer = uploaded(&root, name, &content);
        assert!(answer.contains("id=\"error\""), "{name}: {answer}");
        assert!(!answer.contains(crate::test_dir::SECRET), "{name}");
        assert!(is_served(&start), "{name}");
        assert_eq!(uploads(), kept, "{name}");
    }
    // These would be large if every record had a text of its own.
    for (name, content) in [
        ("shared.xlsx", small_files::shared_string(1 << 20, 5_000)),
        ("labels.dta", small_files::long_label(300_000)),
    ] {
        let answer = uploaded(&root, name, &content);
        let table = location(&answer).unwrap_or_else(|| panic!("{name}: {answer}"));
        assert!(is_served(table) && is_served(&start), "{name}");
        assert!(is_served(&table.replace("/table", "/release")), "{name}");
    }
    assert!(is_served(table));
}

/// Another server on this host. It records requests and answers with a page and optionally a
/// cookie.
fn recorder(page: String, cookie: &'static str) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let all = Arc::new(Mutex::new(Vec::new()));
    let own: Arc<Mutex<Vec<String>>> = all.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1)
            {
                head.push(byte[0]);
            }
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{cookie}Connection: close\r\nContent-Length: {}\r\n\r\n{page}",
                page.len()
            );
            own.lock().unwrap().push(String::from_utf8_lossy(&head).into_owned());
        }
    });
    (port, all)
}

/// A process that ends with the test.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn another_server_on_this_host_receives_no_credentials() {
    let chromium = or_skip!(crate::browser::chromium());
    let test = TestDir::with_people();
    let (server, address) = serving(&test, &["people.csv"]);
    let _server = Started(server);
    let launch_page = test.path().join(&private_dirs(&test)[0]).join("open.html");
    let launch = || {
        let page = std::fs::read_to_string(&launch_page).unwrap();
        page.split("url=").nth(1).unwrap().split('"').next().unwrap().to_owned()
    };
    let welcome = asked(&address);
    let secret = welcome.split("location: /s/").nth(1).unwrap_or_else(|| panic!("{welcome}"))[..32]
        .to_owned();
    // A third server sets a cookie, which the browser also sends to the second one, because cookies
    // are not separated by port.
    let (third, _) =
        recorder(String::new(), "Set-Cookie: planted=1; Path=/; HttpOnly; SameSite=Strict\r\n");
    // The page of the second server opens ours in a window and requests its own server repeatedly:
    // a browser with a cookie of this host sends it then. The page also tries to read the address
    // of the window.
    let (first, origin) = (launch(), address.split("/?").next().unwrap().to_owned());
    let page = format!(
        "<!doctype html><img src=\"{origin}/app.js\"><img src=\"http://127.0.0.1:{third}/\">\
         <script>const other = window.open(\"{first}\");\
         setInterval(() => {{ let at = \"\"; try {{ at = other.location.href; }} catch {{}}\
         fetch(\"/poll?\" + encodeURIComponent(at), {{ credentials: \"include\" }}); }}, 100);</script>"
    );
    let (port, recorded) = recorder(page, "");
    let profile = test.path().join("profile");
    let browser = Command::new(chromium)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ])
        .args([
            "--disable-popup-blocking",
            "--disable-background-networking",
            "--remote-debugging-port=0",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("http://127.0.0.1:{port}/"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let browser = Started(browser);
    let until = Instant::now() + Duration::from_secs(120);
    let polls =
        || recorded.lock().unwrap().iter().filter(|head| head.starts_with("GET /poll")).count();
    let wait = |what: &str, done: &dyn Fn() -> bool| {
        while !done() {
            assert!(Instant::now() < until, "{what}: {:?}", recorded.lock().unwrap());
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    // The token is used once our page is open; the other page continues for some time.
    wait("our page is not opened", &|| launch() != first);
    let before = polls();
    wait("the other page does not ask", &|| polls() > before + 20);
    drop(browser);
    let mut planted = 0;
    for head in recorded.lock().unwrap().iter() {
        let cookies = head.lines().find_map(|line| line.strip_prefix("Cookie: "));
        assert!(matches!(cookies, None | Some("planted=1")), "{head}");
        assert!(!head.contains(&secret) && !head.contains("%2Fs%2F"), "{head}");
        planted += usize::from(cookies.is_some());
    }
    assert!(
        planted > 0,
        "the test would not have seen a cookie: {:?}",
        recorded.lock().unwrap().last()
    );
}

fn works(program: &str) -> bool {
    let asked =
        Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    asked.is_ok_and(|status| status.success())
}

fn browser() -> Option<String> {
    let named = std::env::var("CHROMIUM").ok();
    let usual = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
        .map(str::to_owned);
    named.into_iter().chain(usual).find(|program| works(program))
}

/// Returns the directory with the libraries that drive the browser, or why there is none.
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
        return Err(
            "no playwright-core; INCROWD_TEST_INSTALL=1 lets npm put it into target/".to_owned()
        );
    }
    for file in ["package.json", "package-lock.json"] {
        std::fs::copy(scripts.join(file), dir.join(file)).unwrap();
    }
    let npm = Command::new("npm")
        .args(["ci", "--no-audit", "--no-fund"])
        .current_dir(&dir)
        .output()
        .unwrap();
    match npm.status.success() {
        true => Ok(dir),
        false => Err(format!(
            "npm cannot fetch playwright-core: {}",
            String::from_utf8_lossy(&npm.stderr)
        )),
    }
}

#[test]
fn a_complete_session_in_a_browser() {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../incrowd-web/tests/browser");
    let browser = or_skip!(browser().ok_or("no Chromium; set CHROMIUM to one"));
    let libraries = or_skip!(libraries(&scripts));
    let test = TestDir::new();
    std::fs::create_dir(test.path().join("way")).unwrap();
    let mut node = Command::new("node");
    node.arg(scripts.join("session.mjs"))
        .arg(env!("CARGO_BIN_EXE_incrowd"))
        .arg(test.path().join("way"));
    node.arg(libraries.join("shots")).current_dir(&libraries).env("CHROMIUM", browser);
    match incrowd_testing::data("adult.csv.gz") {
        Ok(data) => drop(node.arg(data.join("adult.csv.gz"))),
        Err(why) => incrowd_testing::skipped(format!("the way with Adult: {why}")),
    }
    let done = node.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
