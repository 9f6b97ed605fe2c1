//! How long work says how far it has come, without knowing who listens.

/// Listens to long work. Implementations must be cheap and callable from any thread.
pub trait Progress: Sync {
    /// A step begins; `total` is the amount of work in it, if known.
    fn step(&self, name: &str, total: Option<u64>);
    /// A step begins that goes through `total` of these things, one by one.
    fn step_through(&self, name: &str, total: u64, things: &str) {
        let _ = things;
        self.step(name, Some(total));
    }
    /// Something worth knowing about the current step, in a few words.
    fn note(&self, text: &str) {
        let _ = text;
    }
    /// `amount` more of the current step is done.
    fn advance(&self, amount: u64);
}

/// Nobody listens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn step(&self, _: &str, _: Option<u64>) {}
    fn advance(&self, _: u64) {}
}
