//! Converts panics of the decoding libraries into errors.
//!
//! Files are validated before they are decoded, but the validation does not cover every assumption
//! of a decoder. A panic in a decoder therefore means a damaged file. Only library calls are
//! wrapped, and the conversions of typed values, which consist of them. Any other panic in the code
//! of this project is not caught.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// The library panicked.
#[derive(Debug)]
pub(in crate::source) struct Panicked;

/// Calls a library function. The panic hook prints nothing for a panic on this thread during the
/// call.
pub(in crate::source) fn contained<T>(call: impl FnOnce() -> T) -> Result<T, Panicked> {
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
    // After a panic, all state of the call is dropped. Inconsistent state is therefore never used.
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
