//! Attacks on a server: other hosts, other origins, missing tokens, foreign paths, oversized input.
//! Each is tried against a real socket.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use incrowd_testing::skip;
use incrowd_web::{Options, Stop, serve};

/// A server, and the credentials of an admitted browser.
struct Served {
    port: u16,
    /// The used token of the printed address.
    token: String,
    /// The secret prefix of addresses: `/s/…`.
    root: String,
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
        let (port, token) = ready
            .address
            .strip_prefix("http://127.0.0.1:")
            .unwrap()
            .split_once("/?token=")
            .unwrap();
        let dir = ready.page.parent().unwrap().to_owned();
        let mut served = Served {
            port: port.parse().unwrap(),
            token: token.to_owned(),
            root: String::new(),
            dir,
            stop,
            thread: Some(thread),
        };
        let welcome =
            served.raw(&format!("GET /?token={token} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"));
        assert_eq!(welcome.code, 303);
        let to = welcome.header("location").unwrap();
        assert!(to.starts_with("/s/") && !to.contains(&served.token), "{to}");
        served.root = to.split('/').take(3).collect::<Vec<_>>().join("/");
        assert_eq!(served.root.len(), "/s/".len() + 32);
        served
    }

    /// Sends raw bytes.
    fn raw(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let request = request.replacen("\r\n", "\r\nConnection: close\r\n", 1);
        // A server that refuses early may not read the rest.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        // Cookies would be sent to every server on this host.
        assert!(!head.to_lowercase().contains("set-cookie"), "{head}");
        Answer { code, head: head.to_owned(), body: body.to_owned() }
    }

    /// Returns the path of a page with the secret, unless it has one already.
    fn at(&self, page: &str) -> String {
        if page.starts_with(&self.root) { page.to_owned() } else { format!("{}{page}", self.root) }
    }

    /// Requests an address without adding the secret.
    fn ask(&self, address: &str) -> Answer {
        self.raw(&format!("GET {address} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", self.port))
    }

    /// Requests a page with the secret.
    fn get(&self, path: &str) -> Answer {
        self.ask(&self.at(path))
    }

    fn post_as(&self, path: &str, kind: &str, body: &str) -> Answer {
        let (port, path, long) = (self.port, self.at(path), body.len());
        self.raw(&format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n\
             Content-Type: {kind}\r\nContent-Length: {long}\r\n\r\n{body}"
        ))
    }

    fn post(&self, path: &str, body: &str) -> Answer {
        self.post_as(path, "application/x-www-form-urlencoded", body)
    }

    /// Uploads a table, waits for its inspection, and returns the address of its first page.
    fn uploaded(&self, name: &str, table: &str) -> String {
        self.inspected(&self.upload(name, table))
    }

    /// Waits for the inspection of an opened table, and returns the address of its first page.
    fn inspected(&self, answer: &Answer) -> String {
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

    /// Returns all files in the private directory.
    fn files(&self) -> Vec<PathBuf> {
        fn walk(dir: &Path, all: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(dir).unwrap().flatten() {
                if entry.path().is_dir() {
                    walk(&entry.path(), all)
                } else {
                    all.push(entry.path())
                }
            }
        }
        let mut all = Vec::new();
        walk(&self.dir, &mut all);
        all.retain(|path| {
            path.file_name().is_some_and(|name| name != "open.html" && name != "lock")
        });
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
        table += &format!(
            "P{i:04},{},{:05},{}\n",
            20 + i % 40,
            10000 + i % 9,
            ["flu", "cold", "none"][i % 3]
        );
    }
    table
}

const PLACES: [&str; 8] = [
    "/",
    "/app.js",
    "/app.css",
    "/t/x",
    "/t/x/y/table",
    "/t/x/y/job.toml",
    "/t/x/y/task/quick",
    "/nothing",
];

#[test]
fn requests_without_the_secret_are_refused() {
    let served = Served::start(Options::default());
    let (port, token, secret) = (served.port, &served.token, &served.root["/s/".len()..]);
    let wrong = [
        String::new(),
        "/s".to_owned(),
        format!("/s/{token}"),
        format!("/s/{}", &secret[..31]),
        format!("/s/{secret}0"),
        format!("/s/{}", secret.to_uppercase()),
        format!("/f/{secret}"),
        format!("/{secret}"),
        format!("/x{}", served.root),
    ];
    for path in PLACES {
        for wrong in &wrong {
            // A cookie has no effect.
            let with = format!("Cookie: incrowd-{port}={secret}; session={secret}");
            let asked =
                format!("GET {wrong}{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{with}\r\n\r\n");
            assert_eq!(served.raw(&asked).code, 403, "{wrong}{path}");
        }
    }
    assert_eq!(served.get("/").code, 200);
}

#[test]
fn a_token_works_once_and_the_private_page_always_has_a_new_one() {
    let served = Served::start(Options::default());
    let launch = || {
        let page = std::fs::read_to_string(served.dir.join("open.html")).unwrap();
        page.split("/?token=").nth(1).unwrap().split('"').next().unwrap().to_owned()
    };
    let first = launch();
    assert_ne!(first, served.token);
    assert_eq!(served.ask(&format!("/?token={}", served.token)).code, 403, "it was used before");
    for wrong in ["", "x", &first[..31], &format!("{first}0"), &first.to_uppercase()] {
        assert_eq!(served.ask(&format!("/?token={wrong}")).code, 403, "{wrong}");
    }
    // A token opens only the start page, and only a GET request uses it.
    for path in ["/app.js", "/t/x", "//"] {
        assert_eq!(served.ask(&format!("{path}?token={first}")).code, 403, "{path}");
    }
    let head = format!("HEAD /?token={first} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", served.port);
    assert_eq!(served.raw(&head).code, 403);
    for _ in 0..3 {
        let token = launch();
        let answer = served.ask(&format!("/?token={token}"));
        assert_eq!((answer.code, answer.header("location")), (303, Some(served.at("/").as_str())));
        assert_eq!(served.ask(&format!("/?token={token}")).code, 403);
        assert_ne!(launch(), token);
    }
}

#[test]
fn the_address_of_a_download_opens_that_file_only() {
    let served = Served::start(Options::default());
    let base = served.uploaded("people.csv", &people());
    let page = served.get(&format!("{base}/publish"));
    // No page sends its path to others.
    assert_eq!(page.header("referrer-policy"), Some("strict-origin"));
    let mut links = page.body.split("href=\"").map(|rest| rest.split('"').next().unwrap());
    let link = links.find(|link| link.ends_with("/job.toml")).unwrap().to_owned();
    assert!(link.starts_with("/f/") && !link.contains(&served.root["/s/".len()..]), "{link}");
    let answer = served.ask(&link);
    assert!(answer.code == 200 && answer.body.contains("[columns]"), "{}", answer.body);
    assert_eq!(answer.header("referrer-policy"), Some("strict-origin"));
    let sealed = link.trim_end_matches("job.toml");
    for other in ["publish", "table", "file/release-0", "k/5/release", "task/quick"] {
        assert_eq!(served.ask(&format!("{sealed}{other}")).code, 403, "{other}");
    }
}

#[test]
fn other_host_names_are_refused() {
    let served = Served::start(Options::default());
    let (port, root) = (served.port, &served.root);
    let page = std::fs::read_to_string(served.dir.join("open.html")).unwrap();
    let token = page.split("/?token=").nth(1).unwrap().split('"').next().unwrap();
    for host in [
        "evil.example",
        &format!("evil.example:{port}"),
        "127.0.0.1",
        &format!("[::1]:{port}"),
        &format!("127.0.0.1:{port}@evil.example"),
    ] {
        for path in [format!("{root}/"), format!("/?token={token}")] {
            let answer = served.raw(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
            assert!(matches!(answer.code, 400 | 421), "{host}: {}", answer.code);
            assert!(!answer.head.contains(root));
        }
    }
    assert!(matches!(served.raw(&format!("GET {root}/ HTTP/1.1\r\n\r\n")).code, 400 | 421));
    assert_eq!(served.ask(&format!("/?token={token}")).code, 303, "another host used it up");
}

#[test]
fn other_origins_change_nothing() {
    let served = Served::start(Options::default());
    let (port, root) = (served.port, &served.root);
    for origin in [
        "",
        "Origin: null\r\n",
        "Origin: http://evil.example\r\n",
        "Origin: http://127.0.0.1:1\r\n",
        &format!("Origin: https://127.0.0.1:{port}\r\n"),
    ] {
        for path in [
            "/open",
            "/demo",
            "/upload",
            "/t/x/y/change",
            "/t/x/y/publish",
            "/t/x/y/task/quick/stop",
        ] {
            let answer = served.raw(&format!(
                "POST {root}{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{origin}Content-Length: 0\r\n\r\n"
            ));
            assert_eq!(answer.code, 403, "{path} {origin}");
        }
        // They cannot read either, if they send an origin.
        if !origin.is_empty() {
            let asked = format!("GET {root}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{origin}\r\n");
            assert_eq!(served.raw(&asked).code, 403);
        }
    }
    assert!(served.files().is_empty(), "a demo was made");
}

#[test]
fn only_this_machine_can_connect() {
    let served = Served::start(Options::default());
    // The address of this machine in the network, if it has one.
    let own = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        socket.connect("192.0.2.1:9")?;
        socket.local_addr()
    });
    let own = match own.map(|own| own.ip()) {
        Ok(IpAddr::V4(own)) if !own.is_loopback() => own,
        _ => skip!("this machine has no network, so it has no address to connect to"),
    };
    let connect = |host: Ipv4Addr, port: u16| {
        TcpStream::connect_timeout(&SocketAddr::from((host, port)), Duration::from_secs(2))
    };
    // Whoever listens on all addresses is reached by this one.
    let open = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    if let Err(e) = connect(own, open.local_addr().unwrap().port()) {
        skip!("no server can be reached at {own}, the address of this machine: {e}");
    }
    assert!(connect(Ipv4Addr::LOCALHOST, served.port).is_ok(), "the server does not answer");
    assert!(connect(own, served.port).is_err(), "the server answers at {own}");
}

#[test]
fn pages_load_nothing_from_other_hosts_and_run_no_inline_script() {
    let served = Served::start(Options::default());
    let base = served.uploaded("people.csv", &people());
    for step in ["table", "hierarchies", "models", "release", "check", "publish"] {
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
        for odd in
            ["http://", "https://", " style=", "javascript:", " onclick", " onload", "<iframe"]
        {
            let odd = body
                .match_indices(odd)
                .find(|(at, _)| !body[*at..].starts_with("http://www.w3.org"));
            assert!(odd.is_none(), "{step}: {odd:?}");
        }
        assert_eq!(body.matches("<script").count(), 1, "{step}");
    }
}

#[test]
fn names_and_cells_are_escaped() {
    let served = Served::start(Options::default());
    let mut table = String::from("\"<img src=x>\",age,\"</title><script>x\"\n");
    for i in 0..40 {
        table += &format!("<b>{}</b>,{},\"<script>alert(1)</script>\"\n", i % 3, 20 + i % 20);
    }
    let base = served.uploaded("people.csv", &table);
    for step in ["table", "hierarchies", "models", "release", "publish"] {
        let body = served.get(&format!("{base}/{step}")).body;
        for odd in ["<img", "<b>0", "<script>"] {
            assert!(!body.contains(odd), "{step}: {odd}");
        }
    }
    // An error about such a column is escaped too.
    let answer = served.get(&format!("{base}/hierarchies?column=%3Cscript%3E"));
    assert!(!answer.body.contains("<script>"));
}

#[test]
fn no_address_opens_other_files() {
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
    // A form cannot set a path in a job.
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
        let answer = served
            .post(&format!("{base}/change"), &format!("then=publish&{field}=%2Fetc%2Fpasswd"));
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
fn uploads_are_private_cannot_choose_their_path_and_are_removed() {
    let mut served = Served::start(Options::default());
    served.uploaded("../../../../tmp/evil.csv", &people());
    let files = served.files();
    assert_eq!(files.len(), 1, "{files:?}");
    assert!(files[0].starts_with(&served.dir) && files[0].ends_with("evil.csv"));
    for name in ["..", ".bashrc", "*.csv", "a\\..\\..", ""] {
        assert_eq!(served.upload(name, &people()).code, 422, "{name}");
    }
    assert_eq!(served.files(), files, "something that was refused is kept");
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
fn oversized_uploads_are_refused_and_removed() {
    let served = Served::start(Options { max_upload: 2000, ..Options::default() });
    let answer = served.upload("large.csv", &"x".repeat(100_000));
    assert!(matches!(answer.code, 422 | 0), "{}", answer.code);
    assert!(served.files().is_empty(), "part of it is kept");
    assert_eq!(served.post("/open", &format!("path={}", "x".repeat(9 << 20))).code, 413);
    let long = served.get(&format!("/{}", "x".repeat(1 << 20)));
    assert!(matches!(long.code, 400 | 414 | 431 | 0), "{}", long.code);
    assert_eq!(served.get("/").code, 200, "it still answers");
}

#[test]
fn the_other_fields_and_the_headers_of_an_upload_have_a_limited_size() {
    let served = Served::start(Options { max_upload: 2000, ..Options::default() });
    let long = "x".repeat(6 << 20);
    let file = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n\
                a,b\r\n1,2\r\n--x--\r\n";
    for before in [
        // A long name of a field, headers that do not end, and another field.
        format!("--x\r\nContent-Disposition: form-data; name=\"{long}\"\r\n\r\n1\r\n"),
        format!("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{long}"),
        format!("--x\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\n{long}\r\n"),
    ] {
        let answer = served.post_as(
            "/upload",
            "multipart/form-data; boundary=x",
            &format!("{before}{file}"),
        );
        assert!(matches!(answer.code, 422 | 0), "{}", answer.code);
        assert!(answer.code == 0 || answer.body.contains("larger than"), "{}", answer.body);
        assert!(served.files().is_empty(), "part of it is kept");
    }
    // A short field before the file.
    let note = "--x\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\n1\r\n";
    let answer =
        served.post_as("/upload", "multipart/form-data; boundary=x", &format!("{note}{file}"));
    assert_eq!(answer.code, 303, "{}", answer.body);
}

#[test]
fn invalid_tables_are_reported_without_a_cell() {
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
fn invalid_requests_are_answered() {
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
        "models%2F0%2Fk=-5&then=models",
        "remove=99",
        "add=nothing",
        "columns%2Fage%2Frole=king",
        "=&=&=",
    ] {
        let code = served.post(&format!("{base}/change"), body).code;
        assert!(matches!(code, 303 | 400 | 415 | 422), "{body}: {code}");
    }
    // A hierarchy with too many levels.
    let deep = format!("column=age&way=tree&lines=20%3B{}*", "x%3B".repeat(200_000));
    let answer = served.post(&format!("{base}/hierarchy"), &deep);
    assert!(answer.body.contains("id=\"error\""), "{} {}", answer.code, answer.body);
    let odd = served.post(&format!("{base}/change"), "models%2F0%2Fk=-5&then=models");
    let page = served.get(odd.header("location").unwrap());
    assert!(page.body.contains("id=\"error\""), "k = -5 is taken");
    assert_eq!(served.get("/").code, 200);
}

#[test]
fn refused_uploads_are_removed_and_others_stay() {
    let served = Served::start(Options::default());
    let base = served.uploaded("people.csv", &people());
    let kept = served.files();
    assert_eq!(kept.len(), 1, "{kept:?}");
    // Refused while it is received.
    assert_eq!(served.upload("b.parquet", "PAR1 and nothing else").code, 422);
    assert_eq!(served.files(), kept);
    // Refused when it is read completely.
    let answer =
        served.upload("a.csv", &("a,b\n".to_owned() + &"1,2\n".repeat(200_000) + "1,2,3\n"));
    assert_eq!(answer.code, 303, "{}", answer.body);
    let at = answer.header("location").unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while !served.get(at).body.contains("id=\"error\"") {
        assert!(Instant::now() < until, "{}", served.get(at).body);
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(served.files(), kept);
    // Interrupted.
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, served.port)).unwrap();
    let head = format!(
        "POST {}/upload HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nContent-Length: 9999\r\n\
         Content-Type: multipart/form-data; boundary=x\r\n\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; \
         filename=\"half.csv\"\r\n\r\na,b\r\n1,2\r\n",
        served.root,
        port = served.port
    );
    stream.write_all(head.as_bytes()).unwrap();
    while served.files() == kept {
        assert!(Instant::now() < until, "the upload does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(stream);
    while served.files() != kept {
        assert!(Instant::now() < until, "half an upload is kept: {:?}", served.files());
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(served.get(&format!("{base}/table")).code, 200);
}

/// Waits until the server closes a connection.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    match stream.read_to_end(&mut Vec::new()) {
        Ok(_) => true,
        Err(error) => {
            !matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
        }
    }
}

#[test]
fn silent_connections_do_not_block_the_owner() {
    let served = Served::start(Options::default());
    let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, served.port)).unwrap();
    let mut all: Vec<TcpStream> = (0..300).map(|_| connect()).collect();
    assert_eq!(served.get("/").code, 200);
    // The oldest connection was closed.
    for stream in &mut all[..200] {
        assert!(is_closed(stream));
    }
    assert_eq!(served.get("/").code, 200);
}

#[test]
fn a_connection_without_a_complete_request_is_closed() {
    let served = Served::start(Options::default());
    let port = served.port;
    let heads = [
        String::new(),
        "GET / HTTP/1.1\r\nHost: 127".to_owned(),
        format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"),
        format!(
            "POST /open HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 100000\r\n\r\npath="
        ),
    ];
    let mut streams = heads.map(|head| {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        (head, stream)
    });
    for (head, stream) in &mut streams {
        assert!(is_closed(stream), "{head:?}");
    }
    assert_eq!(served.get("/").code, 200);
}

#[test]
#[cfg(unix)]
fn a_blocking_path_does_not_stop_the_server() {
    let served = Served::start(Options::default());
    let dir = tempfile::tempdir().unwrap();
    let pipes: Vec<PathBuf> = (0..4).map(|i| dir.path().join(format!("{i}.csv"))).collect();
    assert!(std::process::Command::new("mkfifo").args(&pipes).status().unwrap().success());
    let ask = |pipe: &PathBuf| {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, served.port)).unwrap();
        let body = format!("path={}", pipe.display().to_string().replace('/', "%2F"));
        let asked = format!(
            "POST {}/open HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nContent-Type: \
             application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            served.root,
            body.len(),
            port = served.port
        );
        stream.write_all(asked.as_bytes()).unwrap();
        stream
    };
    let streams: Vec<TcpStream> = pipes.iter().map(ask).collect();
    for _ in 0..3 {
        assert_eq!(served.get("/").code, 200);
    }
    // The other end of the pipe is opened, so that the waiting threads end.
    for pipe in &pipes {
        drop(std::fs::File::options().read(true).write(true).open(pipe));
    }
    drop(streams);
}

#[test]
fn every_column_name_survives_in_the_job() {
    let served = Served::start(Options::default());
    let names = [
        "line\nbreak",
        "both ' and \"",
        "three ''' and \"\"\"",
        "back\\slash",
        "esc\u{1b}[31m",
        "a.b=[c]#",
    ];
    let quoted = names.map(|name| format!("\"{}\"", name.replace('"', "\"\"")));
    let mut table = quoted.join(",") + ",age\n";
    for i in 0..60 {
        let (two, three) = (i % 2, i % 3);
        table += &format!("a{two},b{three},c{two},d{three},e{two},f{three},{}\n", 20 + i % 7);
    }
    let base = served.uploaded("people.csv", &table);
    // Browsers send a line break as CR LF, also in field names, so field names must have none.
    let page = served.get(&format!("{base}/table")).body;
    let mut fields = page.split("name=\"").map(|rest| rest.split('"').next().unwrap());
    let field = fields.find(|field| field.starts_with("columns/line")).unwrap();
    assert!(!field.contains('\n'), "{field:?}");
    let changed = served.post(&format!("{base}/change"), &format!("then=table&{field}=identifier"));
    let base = changed.header("location").unwrap().trim_end_matches("/table").to_owned();
    let job = served.get(&format!("{base}/job.toml")).body;
    let read: toml::Table = job.parse().unwrap_or_else(|e| panic!("{e}\n{job}"));
    let columns = read["columns"].as_table().unwrap();
    for name in names {
        assert!(columns.contains_key(name), "{name:?} is not in\n{job}");
    }
    assert_eq!(columns["line\nbreak"].as_str(), Some("identifier"), "{job}");
    for step in ["hierarchies", "models", "release", "publish"] {
        let page = served.get(&format!("{base}/{step}"));
        assert!(page.code == 200 && !page.body.contains("id=\"error\""), "{step}: {}", page.body);
    }
}

#[test]
fn a_forged_journal_next_to_a_table_is_reported_and_not_executed() {
    let served = Served::start(Options::default());
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let journal = ".people.release.csv.0123456789abcdef.incrowd-journal";
    std::fs::write(path("people.csv"), people()).unwrap();
    std::fs::write(path(journal), "incrowd journal 1\n").unwrap();
    let field = |path: &Path| path.display().to_string().replace('/', "%2F");
    let base =
        served.inspected(&served.post("/open", &format!("path={}", field(&path("people.csv")))));
    let warned = |page: &str| page.contains("your key does not authenticate");
    let page = served.get(&format!("{base}/table")).body;
    assert!(warned(&page), "{page}");
    // The release is written into the same directory.
    let form = format!("dir={}&name=people.release.csv", field(dir.path()));
    let answer = served.post(&format!("{base}/publish"), &form);
    let at = answer.header("location").unwrap().to_owned();
    let until = Instant::now() + Duration::from_secs(60);
    let page = loop {
        let page = served.get(&at).body;
        if page.contains("incrowd verify ")
            || page.contains("id=\"error\"")
            || Instant::now() > until
        {
            break page;
        }
        std::thread::sleep(Duration::from_millis(30));
    };
    assert!(path("people.release.json").exists(), "{page}");
    assert!(warned(&page), "{page}");
    assert_eq!(std::fs::read_to_string(path(journal)).unwrap(), "incrowd journal 1\n");
}
