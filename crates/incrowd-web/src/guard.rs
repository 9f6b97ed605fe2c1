//! Access control: excludes other machines, other users of this machine, and other pages and
//! servers that the same browser visits.
//!
//! - The server listens on 127.0.0.1 only.
//! - Every address begins with a random secret, `/s/SECRET/…`. The server sets no cookie, because a
//!   browser sends the cookies of 127.0.0.1 to every server of this host, whatever its port. A path
//!   is sent to this server only: no `Referer` contains it (`Referrer-Policy`), and no other origin
//!   can read the address of a page.
//! - The first address has a token instead, which works once. It may therefore be on a command
//!   line, which every user of the machine can read. The private launch page always has an unused
//!   token.
//! - The address of a download has a seal instead of the secret. It opens that file only, because
//!   browsers store the address of a download in attributes of the file, which are copied with it.
//! - A request must name this server as its host, which excludes other names that resolve to this
//!   machine (DNS rebinding).
//! - A request that changes something must come from a page of this server (`Origin`).
//! - No page may load anything from other hosts, run a foreign script, or be embedded in another
//!   page.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use tokio::task::JoinSet;
use tower::ServiceExt;

use crate::app::App;
use crate::connections::Connection;
use crate::pages::layout;
use crate::texts as t;

/// The content security policy: only the script and the style of this server.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; \
     frame-ancestors 'none'";

/// The secrets of a server.
pub(crate) struct Guard {
    port: u16,
    tokens: Mutex<Tokens>,
    session: String,
    /// The key of the seals of downloads.
    key: [u8; 32],
}

/// Tokens that are exchanged for the secret of the session. Each works once.
struct Tokens {
    /// The token of the printed address, until it is used.
    printed: Option<String>,
    /// The token of the launch page. A new one replaces it when it is used.
    launch: String,
}

/// The way a request was admitted.
#[derive(Debug, PartialEq, Eq)]
enum Entry {
    /// With a token: the browser is redirected to the secret address.
    Token,
    /// With the secret or a seal: the rest of the path is the page.
    Page(String),
}

// Secrets must not reach logs.
impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").field("port", &self.port).finish_non_exhaustive()
    }
}

/// Returns 128 random bits as hexadecimal text.
pub(crate) fn secret() -> String {
    let bits: [u8; 16] = rand::random();
    bits.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Compares two secrets in constant time: the duration does not depend on where they differ.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

impl Guard {
    pub(crate) fn new(port: u16) -> Guard {
        let tokens = Tokens { printed: Some(secret()), launch: secret() };
        Guard { port, tokens: Mutex::new(tokens), session: secret(), key: rand::random() }
    }

    fn with_token(&self, token: &str) -> String {
        format!("http://127.0.0.1:{}/?token={token}", self.port)
    }

    /// Returns the address to print, unless its token was used.
    pub(crate) fn printed_address(&self) -> Option<String> {
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.printed.as_deref().map(|token| self.with_token(token))
    }

    /// Returns the address for the launch page.
    pub(crate) fn launch_address(&self) -> String {
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        self.with_token(&tokens.launch)
    }

    /// Returns the path of a page with the secret: `/s/SECRET/t/…`.
    pub(crate) fn path(&self, page: &str) -> String {
        format!("/s/{}{page}", self.session)
    }

    /// Returns the path of a download with its seal.
    pub(crate) fn download_path(&self, page: &str) -> String {
        format!("/f/{}{page}", self.seal(page))
    }

    fn seal(&self, page: &str) -> String {
        blake3::keyed_hash(&self.key, page.as_bytes()).to_hex()[..32].to_owned()
    }

    fn hosts(&self) -> [String; 2] {
        ["127.0.0.1", "localhost"].map(|host| format!("{host}:{}", self.port))
    }

    fn is_our_host(&self, headers: &HeaderMap) -> bool {
        let mut given = headers.get_all(header::HOST).iter();
        match (given.next().and_then(|host| host.to_str().ok()), given.next()) {
            (Some(host), None) => self.hosts().iter().any(|own| own == host),
            _ => false,
        }
    }

    fn is_our_origin(&self, method: &Method, headers: &HeaderMap) -> bool {
        let ours = |origin: &HeaderValue| {
            self.hosts().iter().any(|host| origin.as_bytes() == format!("http://{host}").as_bytes())
        };
        match headers.get(header::ORIGIN) {
            Some(origin) => ours(origin),
            None => matches!(*method, Method::GET | Method::HEAD),
        }
    }

    /// Returns how an address is admitted, if it is. This uses up a token.
    fn entry(&self, method: &Method, uri: &Uri) -> Option<Entry> {
        let path = uri.path();
        let page_behind = |secret: &str, rest: &str| {
            let (shown, page) = rest.split_at_checked(secret.len())?;
            (same(shown, secret) && page.starts_with('/')).then(|| page.to_owned())
        };
        if let Some(rest) = path.strip_prefix("/s/") {
            return page_behind(&self.session, rest).map(Entry::Page);
        }
        if let Some(rest) = path.strip_prefix("/f/").filter(|_| method == Method::GET) {
            let page = rest.find('/').map(|at| &rest[at..])?;
            return page_behind(&self.seal(page), rest).map(Entry::Page);
        }
        let query = uri.query().unwrap_or_default();
        let token = query.split('&').find_map(|pair| pair.strip_prefix("token="));
        let used = token
            .filter(|_| path == "/" && method == Method::GET)
            .is_some_and(|token| self.uses(token));
        used.then_some(Entry::Token)
    }

    fn uses(&self, token: &str) -> bool {
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        let printed = tokens.printed.as_deref().is_some_and(|printed| same(token, printed));
        let launch = same(token, &tokens.launch);
        if printed {
            tokens.printed = None;
        }
        if launch {
            tokens.launch = secret();
        }
        printed || launch
    }
}

/// Wraps the pages with access control.
pub(crate) fn guarded(app: Arc<App>, pages: Router) -> Router {
    Router::new().fallback(admit).with_state((app, pages))
}

/// Handles every request.
async fn admit(State((app, pages)): State<(Arc<App>, Router)>, request: Request) -> Response {
    let guard = &app.guard;
    let response = if !guard.is_our_host(request.headers()) {
        (StatusCode::MISDIRECTED_REQUEST, t::WRONG_HOST).into_response()
    } else if !guard.is_our_origin(request.method(), request.headers()) {
        (StatusCode::FORBIDDEN, t::WRONG_ORIGIN).into_response()
    } else {
        let entry = guard.entry(request.method(), request.uri());
        if let Some(connection) =
            request.extensions().get::<Arc<Connection>>().filter(|_| entry.is_some())
        {
            connection.admitted();
        }
        match entry {
            None => (StatusCode::FORBIDDEN, layout::stranger()).into_response(),
            Some(Entry::Token) => {
                // On a full disk the launch page keeps its used token, which opens nothing. This
                // browser is still admitted.
                let _ = app.write_launch_page();
                Redirect::to(&guard.path(&app.first)).into_response()
            }
            Some(Entry::Page(page)) => answered(&app, pages, request, &page).await,
        }
    };
    with_headers(response)
}

/// Runs the handler of a page. A panic ends this request only and is shown on the page.
async fn answered(app: &App, pages: Router, mut request: Request, page: &str) -> Response {
    let page = match request.uri().query() {
        Some(query) => format!("{page}?{query}"),
        None => page.to_owned(),
    };
    let Ok(uri) = page.parse() else {
        return (StatusCode::NOT_FOUND, layout::nothing(app)).into_response();
    };
    *request.uri_mut() = uri;
    // The set is dropped when the browser disconnects, which aborts the task.
    let mut task = JoinSet::new();
    task.spawn(pages.oneshot(request));
    match task.join_next().await {
        Some(Ok(Ok(response))) => response,
        _ => (StatusCode::INTERNAL_SERVER_ERROR, layout::failed(app)).into_response(),
    }
}

fn with_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // The path contains the secret, so only the origin is sent. With `no-referrer`, forms would
        // not send `Origin` either.
        (header::REFERRER_POLICY, "strict-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        // A header that the page set itself is kept.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(list: &[(HeaderName, &str)]) -> HeaderMap {
        list.iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    fn get(guard: &Guard, address: &str) -> Option<Entry> {
        let path = address.strip_prefix("http://127.0.0.1:4321").unwrap_or(address);
        guard.entry(&Method::GET, &path.parse().unwrap())
    }

    #[test]
    fn secrets_differ_and_are_compared_completely() {
        let (a, b) = (secret(), secret());
        assert!(a.len() == 32 && a != b);
        assert!(same(&a, &a.clone()) && !same(&a, &b) && !same(&a, &a[..31]) && !same(&a, ""));
    }

    #[test]
    fn only_our_host_and_origin_are_accepted() {
        let guard = Guard::new(4321);
        for (host, ours) in [
            ("127.0.0.1:4321", true),
            ("localhost:4321", true),
            ("127.0.0.1", false),
            ("127.0.0.1:4322", false),
            ("evil.example:4321", false),
            ("127.0.0.1:4321.evil.example", false),
            ("", false),
        ] {
            assert_eq!(guard.is_our_host(&headers(&[(header::HOST, host)])), ours, "{host}");
        }
        assert!(!guard.is_our_host(&HeaderMap::new()));
        for (origin, ours) in [
            (Some("http://127.0.0.1:4321"), true),
            (Some("http://localhost:4321"), true),
            (Some("https://127.0.0.1:4321"), false),
            (Some("http://evil.example"), false),
            (Some("null"), false),
            (None, false),
        ] {
            let given: Vec<_> = origin.iter().map(|origin| (header::ORIGIN, *origin)).collect();
            assert_eq!(guard.is_our_origin(&Method::POST, &headers(&given)), ours, "{origin:?}");
        }
        assert!(guard.is_our_origin(&Method::GET, &HeaderMap::new()));
    }

    #[test]
    fn a_token_works_once_and_the_launch_page_gets_a_new_one() {
        let guard = Guard::new(4321);
        let (printed, launch) = (guard.printed_address().unwrap(), guard.launch_address());
        assert_ne!(printed, launch);
        assert_eq!(guard.entry(&Method::HEAD, &"/".parse().unwrap()), None);
        for address in [&printed, &launch] {
            assert_eq!(get(&guard, address), Some(Entry::Token));
            assert_eq!(get(&guard, address), None);
        }
        assert_eq!(guard.printed_address(), None);
        assert_ne!(guard.launch_address(), launch);
        assert_eq!(get(&guard, &guard.launch_address()), Some(Entry::Token));
    }

    #[test]
    fn the_secret_opens_pages_and_a_seal_opens_one_file() {
        let guard = Guard::new(4321);
        let page = Some(Entry::Page("/t/a/b/job.toml".to_owned()));
        assert_eq!(get(&guard, &guard.path("/t/a/b/job.toml")), page);
        let download = guard.download_path("/t/a/b/job.toml");
        assert_eq!(get(&guard, &download), page);
        assert_eq!(guard.entry(&Method::POST, &download.parse().unwrap()), None);
        let seal = download.split('/').nth(2).unwrap();
        let launch = guard.launch_address();
        let token = launch.split_once('=').unwrap().1;
        for wrong in [
            format!("/f/{seal}/t/a/b/publish"),
            format!("/f/{seal}/"),
            format!("/s/{seal}/t/a/b/job.toml"),
            format!("/s/{token}/"),
            format!("/f/{}/t/a/b/job.toml", guard.session),
            format!("/s/{}x/", guard.session),
            format!("/s/{}", guard.session),
            format!("//s/{}/", guard.session),
            format!("/?token={}", guard.session),
            "/".to_owned(),
            "/s/".to_owned(),
            "/f/".to_owned(),
        ] {
            assert_eq!(get(&guard, &wrong), None, "{wrong}");
        }
        assert!(!format!("{guard:?}").contains(&guard.session));
    }

    #[test]
    fn a_panic_fails_only_its_request() {
        use axum::routing::get;
        let app = Arc::new(App::new(4321, crate::Options::default()).unwrap());
        let pages = Router::new()
            .route(
                "/bad",
                get(|| async {
                    if true {
                        panic!("of a test")
                    }
                }),
            )
            .route("/good", get(|| async { "good" }));
        let router = guarded(app.clone(), pages);
        let ask = |page: &str| {
            let request =
                Request::builder().uri(app.guard.path(page)).header(header::HOST, "127.0.0.1:4321");
            router.clone().oneshot(request.body(axum::body::Body::empty()).unwrap())
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for (page, code) in [("/bad", 500), ("/good", 200), ("/bad", 500)] {
            let answer = runtime.block_on(ask(page)).unwrap();
            assert_eq!(answer.status().as_u16(), code, "{page}");
            assert!(answer.headers().contains_key(header::CONTENT_SECURITY_POLICY));
        }
    }
}
