//! Progress reports of long operations, independent of the user interface.

/// Receives progress reports. Implementations must be cheap and callable from any thread.
///
/// ```
/// use std::sync::Mutex;
///
/// /// Keeps the names of all steps.
/// #[derive(Default)]
/// struct Steps(Mutex<Vec<String>>);
///
/// impl incrowd_core::Progress for Steps {
///     fn step(&self, name: &str, _: Option<u64>) {
///         self.0.lock().unwrap().push(name.to_owned());
///     }
///     fn advance(&self, _: u64) {}
/// }
/// ```
pub trait Progress: Sync {
    /// A step begins; `total` is the amount of work in it, if known.
    fn step(&self, name: &str, total: Option<u64>);
    /// A step begins that processes `total` items of this kind, one by one.
    fn step_through(&self, name: &str, total: u64, things: &str) {
        let _ = things;
        self.step(name, Some(total));
    }
    /// A short message about the current step.
    fn note(&self, text: &str) {
        let _ = text;
    }
    /// A release is published. Later work, for example its report, can still fail or be
    /// interrupted.
    fn published(&self, release: &str) {
        let _ = release;
    }
    /// The reports of the published release are made, or none were requested.
    fn reported(&self) {}
    /// `amount` more of the current step is done.
    fn advance(&self, amount: u64);
    /// Whether the work should end. It is asked by work that can return a partial result.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// Ignores all reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn step(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, _: u64) {}
}
