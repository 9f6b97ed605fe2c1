//! Which errors of an algorithm a test of random tables accepts.

use incrowd_core::{Fault, Result};
use proptest::prelude::*;

/// Returns the value, or `None` if the models cannot be satisfied. Every other fault is a failure.
pub(crate) fn possible<T>(made: Result<T>, what: &str) -> Result<Option<T>, TestCaseError> {
    match made {
        Ok(made) => Ok(Some(made)),
        Err(error) => {
            prop_assert_eq!(error.fault(), Fault::Unsatisfiable, "{}: {}", what, error);
            Ok(None)
        }
    }
}
