//! Keeps others out: other machines, other users, other pages in the same browser.
//!
//! - The server listens on 127.0.0.1 only.
//! - The address that is opened has a random token. Whoever shows it gets a cookie with another secret, which the browser sends
//!   with nothing that another page asks for (`SameSite=Strict`) and shows to no script (`HttpOnly`).
//! - A request must name this server as its host: a name of somebody else's that leads here (DNS rebinding) does not.
//! - A request that changes something must come from a page of this server (`Origin`).
//! - No page may load anything from elsewhere, run a script that is not ours, or be shown within another page.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

use crate::app::App;
use crate::pages::layout;
use crate::texts as t;

/// What pages may load: our script, our style, nothing else.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The secrets of a server.
pub(crate) struct Guard {
    port: u16,
    token: String,
    session: String,
}

// Secrets must not reach logs.
impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").field("port", &self.port).finish_non_exhaustive()
    }
}

/// 128 random bits as text.
pub(crate) fn secret() -> String {
    let bits: [u8; 16] = rand::random();
    bits.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether two secrets are the same; how long that takes does not tell where they differ.
fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

impl Guard {
    pub(crate) fn new(port: u16) -> Guard {
        Guard { port, token: secret(), session: secret() }
    }

    /// The address to open.
    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// Cookies are shared by all ports of a machine, so the name has the port.
    fn cookie_name(&self) -> String {
        format!("incrowd-{}", self.port)
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

    fn is_known(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(key, value)| key == name && same(value, &self.session))
    }

    fn shows_token(&self, request: &Request) -> bool {
        let query = request.uri().query().unwrap_or_default();
        let token = query.split('&').find_map(|pair| pair.strip_prefix("token="));
        request.uri().path() == "/" && token.is_some_and(|token| same(token, &self.token))
    }

    fn cookie(&self) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name(), self.session)
    }
}

/// What every request goes through.
pub(crate) async fn watch(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let guard = &app.guard;
    let response = if !guard.is_our_host(request.headers()) {
        (StatusCode::MISDIRECTED_REQUEST, t::WRONG_HOST).into_response()
    } else if !guard.is_our_origin(request.method(), request.headers()) {
        (StatusCode::FORBIDDEN, t::WRONG_ORIGIN).into_response()
    } else if guard.shows_token(&request) {
        // A page that goes on by itself: then the next request comes from here, wherever this one came from.
        let mut welcome = layout::welcome(&app.first).into_response();
        if let Ok(cookie) = HeaderValue::from_str(&guard.cookie()) {
            welcome.headers_mut().insert(header::SET_COOKIE, cookie);
        }
        welcome
    } else if !guard.is_known(request.headers()) {
        (StatusCode::FORBIDDEN, layout::stranger()).into_response()
    } else {
        next.run(request).await
    };
    with_headers(response)
}

fn with_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Without a referrer a browser would not say where a form comes from either.
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        // A page that says more of itself is left alone.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(list: &[(HeaderName, &str)]) -> HeaderMap {
        list.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap())).collect()
    }

    #[test]
    fn secrets_differ_and_are_compared_whole() {
        let (a, b) = (secret(), secret());
        assert!(a.len() == 32 && a != b);
        assert!(same(&a, &a.clone()) && !same(&a, &b) && !same(&a, &a[..31]) && !same(&a, ""));
    }

    #[test]
    fn only_our_own_host_and_origin() {
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
    fn the_cookie_is_not_the_token() {
        let guard = Guard::new(4321);
        assert!(!guard.cookie().contains(&guard.token));
        let shown = format!("other=1; incrowd-4321={}", guard.session);
        assert!(guard.is_known(&headers(&[(header::COOKIE, &shown)])));
        let stolen = format!("incrowd-4321={}", guard.token);
        assert!(!guard.is_known(&headers(&[(header::COOKIE, &stolen)])));
        assert!(!format!("{guard:?}").contains(&guard.token));
    }
}
