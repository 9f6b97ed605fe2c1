//! Tables of PostgreSQL databases.
//!
//! A table has an address such as `postgresql://host/db?table=schema.people`, which is accepted
//! like a path. The table is read as delimited text (`COPY … TO STDOUT`) by the scanner for files.
//! A release is written as delimited text (`COPY … FROM STDIN`) by the writer for files.

mod address;
#[cfg(feature = "postgres")]
mod client;
#[cfg(feature = "postgres")]
mod grouping;
#[cfg(feature = "postgres")]
mod login;
#[cfg(feature = "postgres")]
mod relation;
#[cfg(feature = "postgres")]
mod session;
#[cfg(feature = "postgres")]
mod store;
#[cfg(feature = "postgres")]
mod streams;
#[cfg(feature = "postgres")]
mod tls;

pub use address::Address;
#[cfg(feature = "postgres")]
pub(crate) use relation::{Relation, open};
#[cfg(feature = "postgres")]
pub use store::{PostgresStore, read_manifest};
#[cfg(not(feature = "postgres"))]
pub use without::{PostgresStore, read_manifest};
#[cfg(not(feature = "postgres"))]
pub(crate) use without::{Relation, open};

/// Data that a relation sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sending {
    /// All records.
    #[default]
    Records,
    /// Distinct rows with their counts.
    Groups,
}

/// Blocks of whole records that a relation sends.
pub(crate) type Blocks = Box<dyn Iterator<Item = std::io::Result<Vec<u8>>> + Send>;

/// Table for manifests, with one row per release.
pub const MANIFESTS: &str = "incrowd_manifests";

/// Replacement for the PostgreSQL modules in builds without PostgreSQL.
#[cfg(not(feature = "postgres"))]
mod without {
    use std::sync::Arc;

    use incrowd_core::{Error, Result};

    use super::{Address, Blocks, Sending};
    use crate::source::Column;
    use crate::store::Store;

    fn absent() -> Error {
        Error::input("this build of incrowd does not support databases")
            .help("save the table as .csv")
    }

    /// A relation of a database. The type has no values in this build.
    #[derive(Debug)]
    pub(crate) enum Relation {}

    impl Relation {
        pub(crate) fn read(&self, _: Option<&[usize]>, _: Sending) -> Result<Blocks> {
            match *self {}
        }

        pub(crate) fn shall_group(&self, _: &[usize]) -> Result<bool> {
            match *self {}
        }

        pub(crate) fn repeats(&self, _: usize, _: &[String]) -> Result<(u64, u64)> {
            match *self {}
        }

        pub(crate) fn bytes(&self) -> u64 {
            match *self {}
        }

        pub(crate) fn identities(&self) -> &[String] {
            match *self {}
        }
    }

    pub(crate) fn open(_: &Address) -> Result<(Arc<Relation>, Vec<Column>)> {
        Err(absent())
    }

    /// A store in a database. The type has no values in this build.
    #[derive(Debug)]
    pub enum PostgresStore {}

    impl PostgresStore {
        /// Returns an error, because this build does not support databases.
        #[allow(clippy::new_ret_no_self)]
        pub fn new() -> Result<Box<dyn Store>> {
            Err(absent())
        }
    }

    /// Returns an error, because this build does not support databases.
    pub fn read_manifest(_: &Address) -> Result<Option<Vec<u8>>> {
        Err(absent())
    }
}
