//! Accepts connections and limits their number.
//!
//! A connection without a complete request head in time is closed, whether it is new, slow, or idle
//! between two requests. At most [`MOST`] connections are open. For a new connection beyond that,
//! the oldest connection without a valid secret is closed, otherwise the one that was idle for the
//! longest time. An adversary on this machine therefore cannot block the owner of the data.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tower::ServiceExt;

/// The largest number of connections. A browser opens six, and some systems allow a process 256
/// open files.
const MOST: usize = 64;
/// The time limit of a request head, counted from the connection or from the previous request.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// The pause after a failed `accept`, for example because too many files are open.
const PAUSE: Duration = Duration::from_millis(100);

/// The state of a connection, shared by its requests and the list of connections.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Whether a request had a valid secret.
    admitted: AtomicBool,
    /// The number of requests without an answer.
    unanswered: AtomicUsize,
    /// The time of the last request or answer, or of the connection.
    active: Mutex<Instant>,
    end: Notify,
}

impl Connection {
    fn new() -> Connection {
        Connection {
            admitted: AtomicBool::new(false),
            unanswered: AtomicUsize::new(0),
            active: Mutex::new(Instant::now()),
            end: Notify::new(),
        }
    }

    /// Records that a request had a valid secret.
    pub(crate) fn admitted(&self) {
        self.admitted.store(true, Ordering::Relaxed);
    }

    fn touch(&self) {
        *lock(&self.active) = Instant::now();
    }

    /// Returns the order in which connections are closed, the smallest first. `None` if the
    /// connection must stay.
    fn rank(&self) -> Option<(bool, Instant)> {
        let admitted = self.admitted.load(Ordering::Relaxed);
        let answers = self.unanswered.load(Ordering::Relaxed) > 0;
        (!(admitted && answers)).then(|| (admitted, *lock(&self.active)))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All open connections.
#[derive(Clone, Debug, Default)]
struct Connections(Arc<Mutex<Vec<Arc<Connection>>>>);

impl Connections {
    /// Adds a connection and closes another if there are too many. Returns `None` if all others
    /// must stay.
    fn add(&self) -> Option<Arc<Connection>> {
        let mut open = lock(&self.0);
        if open.len() >= MOST {
            let ranks = open.iter().enumerate().filter_map(|(at, one)| Some((one.rank()?, at)));
            let (_, at) = ranks.min()?;
            open.swap_remove(at).end.notify_one();
        }
        let own = Arc::new(Connection::new());
        open.push(own.clone());
        Some(own)
    }

    fn remove(&self, own: &Arc<Connection>) {
        lock(&self.0).retain(|one| !Arc::ptr_eq(one, own));
    }
}

/// Serves all connections, forever.
pub(crate) async fn accept(listener: TcpListener, pages: Router) -> Infallible {
    let all = Connections::default();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                if let Some(own) = all.add() {
                    tokio::spawn(serve(stream, pages.clone(), own, all.clone()));
                }
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

async fn serve(stream: TcpStream, pages: Router, own: Arc<Connection>, all: Connections) {
    let each = own.clone();
    let answer = service_fn(move |request: hyper::Request<Incoming>| {
        let (own, pages) = (each.clone(), pages.clone());
        own.unanswered.fetch_add(1, Ordering::Relaxed);
        own.touch();
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(own.clone());
        async move {
            let answer = pages.oneshot(request).await;
            own.unanswered.fetch_sub(1, Ordering::Relaxed);
            own.touch();
            answer
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    // Errors are ignored: the client closed the connection or sent no HTTP.
    tokio::select! {
        _ = http.serve_connection(TokioIo::new(stream), answer) => {}
        () = own.end.notified() => {}
    }
    all.remove(&own);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_without_a_secret_are_closed_first_and_pending_requests_stay() {
        let all = Connections::default();
        let own: Vec<_> = (0..MOST).map(|_| all.add().unwrap()).collect();
        let is_open =
            |one: &Arc<Connection>| lock(&all.0).iter().any(|open| Arc::ptr_eq(open, one));
        // The first is admitted, so the second is the oldest without a secret.
        own[0].admitted();
        all.add().unwrap();
        assert!(is_open(&own[0]) && !is_open(&own[1]) && is_open(&own[2]));
        // If all are admitted, the longest idle one is closed, unless it waits for an answer.
        lock(&all.0).iter().for_each(|one| one.admitted());
        own[0].unanswered.fetch_add(1, Ordering::Relaxed);
        all.add().unwrap();
        assert!(is_open(&own[0]) && !is_open(&own[2]) && is_open(&own[3]));
        assert_eq!(lock(&all.0).len(), MOST);
        // If all must stay, the new one is refused.
        lock(&all.0).iter().for_each(|one| {
            one.admitted();
            one.unanswered.fetch_add(1, Ordering::Relaxed);
        });
        assert!(all.add().is_none());
    }
}
