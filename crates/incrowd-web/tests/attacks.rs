//! Attacks on a server: other hosts, other origins, no token, paths that lead elsewhere, too much of everything. Each is tried
//! against a real socket.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use incrowd_web::{Options, Stop, serve};

/// A server, and what a browser that was let in has.
struct Served {
    port: u16,
    token: String,
    cookie: String,
    dir: PathBuf,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

/// An answer.
struct Answer {
    code: u16,
    head: String,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &&str| line.to_lowercase().starts_with(&format!("{name}:"));
        self.head.lines().find(named).and_then(|line| line.split_once(": ")).map(|(_, value)| value)
    }
}

impl Served {
    fn start(options: Options) -> Served {
        let stop = Stop::default();
        let (send, receive) = mpsc::channel();
        let own = stop.clone();
        let thread = std::thread::spawn(move || {
            serve(options, &own, |ready| send.send(ready.clone()).unwrap()).unwrap();
        });
        let ready = receive.recv().unwrap();
        let (port, token) =
            ready.address.strip_prefix("http://127.0.0.1:").unwrap().split_once("/?token=").unwrap();
        let dir = ready.page.parent().unwrap().to_owned();
        let mut served = Served {
            port: port.parse().unwrap(),
            token: token.to_owned(),
            cookie: String::new(),
            dir,
            stop,
            thread: Some(thread),
        };
        let welcome = served.raw(&format!("GET /?token={token} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"));
        assert_eq!(welcome.code, 200);
        let cookie = welcome.header("set-cookie").unwrap().to_owned();
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
        assert!(!cookie.contains(&served.token), "the cookie is the token");
        served.cookie = cookie.split(';').next().unwrap().to_owned();
        served
    }

    /// Sends bytes as they are.
    fn raw(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let request = request.replacen("\r\n", "\r\nConnection: close\r\n", 1);
        // A server that says no early need not take the rest.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        Answer { code, head: head.to_owned(), body: body.to_owned() }
    }

    /// What a page of ours asks.
    fn get(&self, path: &str) -> Answer {
        let (port, cookie) = (self.port, &self.cookie);
        self.raw(&format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n"))
    }

    fn post_as(&self, path: &str, kind: &str, body: &str) -> Answer {
        let (port, cookie, long) = (self.port, &self.cookie, body.len());
        self.raw(&format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nCookie: {cookie}\r\n\
             Content-Type: {kind}\r\nContent-Length: {long}\r\n\r\n{body}"
        ))
    }

    fn post(&self, path: &str, body: &str) -> Answer {
        self.post_as(path, "application/x-www-form-urlencoded", body)
    }

    /// Uploads a table and waits until it was looked at: the address of its first page.
    fn uploaded(&self, name: &str, table: &str) -> String {
        let answer = self.upload(name, table);
        assert_eq!(answer.code, 303, "{}", answer.body);
        let at = answer.header("location").unwrap().to_owned();
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let answer = self.get(&at);
            match answer.header("location") {
                Some(page) => return page.trim_end_matches("/table").to_owned(),
                None if Instant::now() > until => panic!("{}", answer.body),
                None => std::thread::sleep(Duration::from_millis(30)),
            }
        }
    }

    fn upload(&self, name: &str, table: &str) -> Answer {
        let body = format!(
            "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n{table}\r\n--x--\r\n"
        );
        self.post_as("/upload", "multipart/form-data; boundary=x", &body)
    }

    /// Every file in the private directory.
    fn files(&self) -> Vec<PathBuf> {
        fn walk(dir: &Path, all: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(dir).unwrap().flatten() {
                if entry.path().is_dir() { walk(&entry.path(), all) } else { all.push(entry.path()) }
            }
        }
        let mut all = Vec::new();
        walk(&self.dir, &mut all);
        all.retain(|path| path.file_name().is_some_and(|name| name != "open.html"));
        all
    }

    fn end(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.end();
    }
}

fn people() -> String {
    let mut table = String::from("name,age,zip,disease\n");
    for i in 0..60 {
        table +=
            &format!("P{i:04},{},{:05},{}\n", 20 + i % 40, 10000 + i % 9, ["flu", "cold", "none"][i % 3]);
    }
    table
}

const PLACES: [&str; 8] =
    ["/", "/app.js", "/app.css", "/t/x", "/t/x/y/table", "/t/x/y/job.toml", "/t/x/y/task/quick", "/nothing"];

#[test]
fn nobody_gets_in_without_the_token() {
    let served = Served::start(Options::default());
    let port = served.port;
    for path in PLACES {
        for with in ["", "Cookie: incrowd-1=x\r\n", &format!("Cookie: incrowd-{port}={}\r\n", served.token)] {
            let answer = served.raw(&format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{with}\r\n"));
            assert_eq!(answer.code, 403, "{path} {with}");
        }
    }
    for token in ["", "x", &served.token[..31], &format!("{}0", served.token), &served.token.to_uppercase()] {
        let answer = served.raw(&format!("GET /?token={token} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"));
        assert!(answer.code == 403 && answer.header("set-cookie").is_none(), "{token}");
    }
    // The token opens the start and nothing else.
    let answer =
        served.raw(&format!("GET /app.js?token={} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n", served.token));
    assert_eq!(answer.code, 403);
    assert_eq!(served.get("/").code, 200);
}

#[test]
fn a_name_that_leads_here_is_not_ours() {
    let served = Served::start(Options::default());
    let (port, cookie, token) = (served.port, &served.cookie, &served.token);
    for host in [
        "evil.example",
        &format!("evil.example:{port}"),
        "127.0.0.1",
        &format!("[::1]:{port}"),
        &format!("127.0.0.1:{port}@evil.example"),
    ] {
        for path in ["/", &format!("/?token={token}")] {
            let answer =
                served.raw(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n"));
            assert!(matches!(answer.code, 400 | 421), "{host}: {}", answer.code);
            assert!(answer.header("set-cookie").is_none());
        }
    }
    assert!(matches!(served.raw(&format!("GET / HTTP/1.1\r\nCookie: {cookie}\r\n\r\n")).code, 400 | 421));
}

#[test]
fn other_pages_change_nothing() {
    let served = Served::start(Options::default());
    let (port, cookie) = (served.port, &served.cookie);
    for origin in [
        "",
        "Origin: null\r\n",
        "Origin: http://evil.example\r\n",
        "Origin: http://127.0.0.1:1\r\n",
        &format!("Origin: https://127.0.0.1:{port}\r\n"),
    ] {
        for path in ["/open", "/demo", "/upload", "/t/x/y/change", "/t/x/y/publish", "/t/x/y/task/quick/stop"]
        {
            let answer = served.raw(&format!(
                "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{origin}Cookie: {cookie}\r\nContent-Length: 0\r\n\r\n"
            ));
            assert_eq!(answer.code, 403, "{path} {origin}");
        }
        // Nor do they read, if they say who they are.
        if !origin.is_empty() {
            let asked =
                format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{origin}Cookie: {cookie}\r\n\r\n");
            assert_eq!(served.raw(&asked).code, 403);
        }
    }
    assert!(served.files().is_empty(), "a demo was made");
}

#[test]
fn only_this_machine_reaches_it() {
    let served = Served::start(Options::default());
    // The address by which others would reach this machine, if it has one.
    let own = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        socket.connect("192.0.2.1:9")?;
        socket.local_addr()
    });
    let Ok(IpAddr::V4(own)) = own.map(|own| own.ip()) else { return };
    if !own.is_loopback() {
        let there = SocketAddr::from((own, served.port));
        assert!(TcpStream::connect_timeout(&there, Duration::from_secs(2)).is_err(), "{there} answers");
    }
}

#[test]
fn pages_load_nothing_from_elsewhere_and_run_nothing_within() {
    let served = Served::start(Options::default());
    let base = served.uploaded("people.csv", &people());
    for step in ["table", "hierarchies", "promises", "release", "check", "publish"] {
        let answer = served.get(&format!("{base}/{step}"));
        assert_eq!(answer.code, 200, "{step}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(
            policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        let body = answer.body.to_lowercase();
        for odd in ["http://", "https://", " style=", "javascript:", " onclick", " onload", "<iframe"] {
            let odd = body.match_indices(odd).find(|(at, _)| !body[*at..].starts_with("http://www.w3.org"));
            assert!(odd.is_none(), "{step}: {odd:?}");
        }
        assert_eq!(body.matches("<script").count(), 1, "{step}");
    }
}

#[test]
fn names_and_cells_are_text_wherever_they_stand() {
    let served = Served::start(Options::default());
    let mut table = String::from("\"<img src=x>\",age,\"</title><script>x\"\n");
    for i in 0..40 {
        table += &format!("<b>{}</b>,{},\"<script>alert(1)</script>\"\n", i % 3, 20 + i % 20);
    }
    let base = served.uploaded("people.csv", &table);
    for step in ["table", "hierarchies", "promises", "release", "publish"] {
        let body = served.get(&format!("{base}/{step}")).body;
        for odd in ["<img", "<b>0", "<script>"] {
            assert!(!body.contains(odd), "{step}: {odd}");
        }
    }
    // An error about such a column is text too.
    let answer = served.get(&format!("{base}/hierarchies?column=%3Cscript%3E"));
    assert!(!answer.body.contains("<script>"));
}

#[test]
fn no_address_leads_to_a_file_that_was_not_opened() {
    let served = Served::start(Options::default());
    let base = served.uploaded("people.csv", &people());
    for path in [
        "/../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/app.js/../../etc/passwd",
        &format!("{base}/file/release-0"),
        &format!("{base}/file/..%2f..%2fetc%2fpasswd"),
        &format!("{base}/file/job--1"),
        &format!("{base}/../../people.csv"),
        "/t/..%2f..%2fetc/x/table",
    ] {
        let answer = served.get(path);
        assert!(matches!(answer.code, 400 | 404), "{path}: {}", answer.code);
        assert!(!answer.body.contains("root:"), "{path}");
    }
    // A form cannot put a path into a job.
    let fields = [
        "input%2Fpath",
        "output%2Fpath",
        "output%2Fsign",
        "population%2Fpath",
        "columns%2Fage%2Fhierarchy",
        "external%2Fpath",
        "suppression%2Fkey",
        "input%2Fhierarchies",
    ];
    for field in fields {
        let answer = served.post(&format!("{base}/change"), &format!("then=publish&{field}=%2Fetc%2Fpasswd"));
        assert_eq!(answer.code, 303);
        let page = served.get(answer.header("location").unwrap());
        assert!(!page.body.contains("/etc/passwd"), "{field}");
    }
    let way = served.post(&format!("{base}/hierarchy"), "column=age&way=%2Fetc%2Fpasswd");
    assert_eq!(way.code, 303);
    assert!(
        !served
            .get(&format!(
                "{}/job.toml",
                way.header("location").unwrap().split("/hierarchies").next().unwrap()
            ))
            .body
            .contains("passwd")
    );
}

#[test]
fn uploads_are_private_have_no_say_in_their_place_and_go_with_the_server() {
    let mut served = Served::start(Options::default());
    served.uploaded("../../../../tmp/evil.csv", &people());
    let files = served.files();
    assert_eq!(files.len(), 1, "{files:?}");
    assert!(files[0].starts_with(&served.dir) && files[0].ends_with("evil.csv"));
    for name in ["..", ".bashrc", "*.csv", "a\\..\\..", ""] {
        assert_eq!(served.upload(name, &people()).code, 422, "{name}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&served.dir).unwrap().permissions().mode() & 0o777, 0o700);
    }
    let dir = served.dir.clone();
    served.end();
    assert!(!dir.exists(), "uploads are left behind");
}

#[test]
fn too_much_is_refused_and_not_kept() {
    let served = Served::start(Options { most_bytes: 2000, ..Options::default() });
    let answer = served.upload("large.csv", &"x".repeat(100_000));
    assert!(matches!(answer.code, 422 | 0), "{}", answer.code);
    assert!(served.files().is_empty(), "part of it is kept");
    assert_eq!(served.post("/open", &format!("path={}", "x".repeat(9 << 20))).code, 413);
    let long = served.get(&format!("/{}", "x".repeat(1 << 20)));
    assert!(matches!(long.code, 400 | 414 | 431 | 0), "{}", long.code);
    assert_eq!(served.get("/").code, 200, "it still answers");
}

#[test]
fn what_is_no_table_is_told_without_a_cell() {
    let served = Served::start(Options::default());
    for (name, table) in
        [("a.csv", "a,b\n\"SECRET48811,2\n"), ("b.parquet", "PAR1SECRET48811"), ("c.csv", "")]
    {
        let mut answer = served.upload(name, table);
        if answer.code == 303 {
            let at = answer.header("location").unwrap().to_owned();
            let until = Instant::now() + Duration::from_secs(20);
            loop {
                answer = served.get(&at);
                if answer.body.contains("role=\"alert\" id=\"error\"") || Instant::now() > until {
                    break;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        } else {
            assert_eq!(answer.code, 422, "{name}");
        }
        assert!(answer.body.contains("id=\"error\""), "{name}: {}", answer.body);
        assert!(!answer.body.contains("SECRET"), "{name}");
    }
    assert_eq!(served.post("/open", "path=%2Fno%2Fsuch%2Ffile.csv").code, 422);
    assert_eq!(served.post("/open", "path=").code, 422);
    assert_eq!(served.post("/open", "").code, 422);
}

#[test]
fn nonsense_is_answered_and_breaks_nothing() {
    let served = Served::start(Options::default());
    let base = served.uploaded("people.csv", &people());
    for path in [
        format!("{base}/k/x/release"),
        format!("{base}/k/99999999999999999999/release"),
        format!("{base}/take?algorithm=rm"),
        format!("{base}/task/nothing"),
        format!("{base}/task/publish"),
        "/t//x/table".to_owned(),
    ] {
        let code = served.get(&path).code;
        assert!(matches!(code, 400 | 404), "{path}: {code}");
    }
    for body in [
        "%ZZ=1",
        "models%2F0%2Fk=-5&then=promises",
        "remove=99",
        "add=nothing",
        "columns%2Fage%2Frole=king",
        "=&=&=",
    ] {
        let code = served.post(&format!("{base}/change"), body).code;
        assert!(matches!(code, 303 | 400 | 415 | 422), "{body}: {code}");
    }
    let odd = served.post(&format!("{base}/change"), "models%2F0%2Fk=-5&then=promises");
    let page = served.get(odd.header("location").unwrap());
    assert!(page.body.contains("id=\"error\""), "k = -5 is taken");
    assert_eq!(served.get("/").code, 200);
}
