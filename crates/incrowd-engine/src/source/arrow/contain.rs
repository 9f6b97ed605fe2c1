//! What the libraries that decode files still panic on.
//!
//! A file is checked before it is trusted, but no check of ours knows every assumption of a decoder. A panic within one is taken
//! for what it is, a damaged file. Only calls of the libraries go through here: a panic of our own code must be seen.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// The library panicked.
#[derive(Debug)]
pub(super) struct Panicked;

/// Calls a library; while it works, a panic on this thread says nothing.
pub(super) fn contained<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !WITHIN.with(Cell::get) {
                before(info);
            }
        }));
    });
    let outer = WITHIN.with(|within| within.replace(true));
    // Whatever the call left half done is dropped with it.
    let outcome = catch_unwind(AssertUnwindSafe(call));
    WITHIN.with(|within| within.set(outer));
    outcome.map_err(|_| Panicked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_within_is_an_error_and_one_without_is_seen() {
        assert_eq!(contained(|| 3).unwrap(), 3);
        assert!(contained(|| -> u32 { panic!("as a library would") }).is_err());
        assert!(!WITHIN.with(Cell::get));
        assert!(catch_unwind(|| assert!(!WITHIN.with(Cell::get), "still within")).is_ok());
    }
}
