//! Detects repeated identifiers in bounded memory.

use std::fs::File;
use std::io::{BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use incrowd_core::numerals::DecimalMark;
use incrowd_core::{Error, Result, means_missing, value_key_in};
use rand::Rng;
use rayon::prelude::*;

use crate::order::generator;

/// Keyed digest of a person's identifier. Zero means that the identifier is missing.
pub(crate) type Fingerprint = u128;

/// Secret key of the digests.
#[derive(Clone)]
pub(crate) struct Key([u8; 32]);

// A key must not reach logs.
impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

impl Key {
    /// Generates a random key. It is never written.
    pub(crate) fn new() -> Key {
        let mut key = [0; 32];
        generator().fill_bytes(&mut key);
        Key(key)
    }

    /// Digest of an identifier after [normalization](incrowd_core::value_key). `mark` is the
    /// decimal mark.
    #[inline]
    pub(crate) fn fingerprint(&self, identifier: &[u8], mark: DecimalMark) -> Fingerprint {
        let text = String::from_utf8_lossy(identifier);
        self.digest(value_key_in(&text, mark).as_bytes())
    }

    /// Digest of several identifiers of one person, each like [`Key::fingerprint`]. `None` is a
    /// missing one.
    pub(crate) fn fingerprint_of_all<'a>(
        &self,
        identifiers: impl Iterator<Item = Option<&'a [u8]>>,
        mark: DecimalMark,
    ) -> Fingerprint {
        let (mut bytes, mut is_named) = (Vec::new(), false);
        for identifier in identifiers {
            is_named |= identifier.is_some();
            let text = String::from_utf8_lossy(identifier.unwrap_or_default());
            let key = value_key_in(&text, mark);
            // With its length, a key cannot continue in the next one.
            bytes.extend_from_slice(&key.len().to_le_bytes());
            bytes.extend_from_slice(key.as_bytes());
        }
        if is_named { self.digest(&bytes) } else { 0 }
    }

    fn digest(&self, bytes: &[u8]) -> Fingerprint {
        let digest = blake3::keyed_hash(&self.0, bytes);
        let mut half = [0; 16];
        half.copy_from_slice(&digest.as_bytes()[..16]);
        u128::from_le_bytes(half).max(1)
    }
}

/// Whether an identifier is missing: it is a [spelling](means_missing) of a missing value.
pub(crate) fn is_missing_identifier(text: &[u8], missing: &[String]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| means_missing(text, missing))
}

/// The number of people in a list, sorted for that, for each of whom another one was counted
/// before. People whose identifier is missing are not counted.
pub(crate) fn repeated(mut people: Vec<Fingerprint>) -> u64 {
    people.par_sort_unstable();
    people.windows(2).filter(|pair| pair[0] == pair[1] && pair[0] != 0).count() as u64
}

const SHARDS: usize = 64;
/// Maximum number of entries per shard in memory. All shards together take 100 MB.
const ROOM: usize = 1 << 16;
const BYTES: usize = 24;

/// A person and the hash of the person's row.
type Entry = (Fingerprint, u64);

#[derive(Default)]
struct Shard {
    kept: Vec<Entry>,
    spilled: Option<File>,
}

/// Set of all persons with the hashes of their rows. Entries that do not fit into memory are
/// spilled to unnamed files.
pub(crate) struct PersonRows {
    shards: Vec<Mutex<Shard>>,
    directory: PathBuf,
    /// Maximum number of entries per shard in memory.
    room: usize,
}

/// Persons with several records in a table.
#[derive(Debug, Default)]
pub(crate) struct Repeated {
    /// Persons with several equal records: the person, the hash of the row, and the number of
    /// surplus records.
    pub(crate) alike: Vec<(Fingerprint, u64, u64)>,
    /// Number of persons with records that differ.
    pub(crate) differing: u64,
}

impl PersonRows {
    pub(crate) fn new(directory: &Path) -> PersonRows {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        PersonRows { shards, directory: directory.to_owned(), room: ROOM }
    }
    /// Adds persons. The batch is empty afterwards.
    pub(crate) fn add(&self, batch: &mut Vec<Entry>) -> Result<()> {
        batch.sort_unstable_by_key(|(person, _)| *person as usize % SHARDS);
        for own in batch.chunk_by(|a, b| a.0 as usize % SHARDS == b.0 as usize % SHARDS) {
            let mut shard = self.shards[own[0].0 as usize % SHARDS]
                .lock()
                .expect("no worker panics while it holds a shard");
            shard.kept.extend_from_slice(own);
            if shard.kept.len() >= self.room {
                shard.spill(&self.directory)?;
            }
        }
        batch.clear();
        Ok(())
    }

    /// Returns the persons that were added more than once.
    pub(crate) fn repeated(self) -> Result<Repeated> {
        let mut repeated = Repeated::default();
        for shard in self.shards {
            let shard = shard.into_inner().expect("no worker is left");
            let mut entries = shard.all()?;
            entries.sort_unstable();
            for same in entries.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
                if same.iter().all(|entry| entry.1 == same[0].1) {
                    repeated.alike.push((same[0].0, same[0].1, same.len() as u64 - 1));
                } else {
                    repeated.differing += 1;
                }
            }
        }
        Ok(repeated)
    }
}

fn failed(error: &std::io::Error) -> Error {
    Error::resources(format!("cannot write a temporary file: {error}")).help(
        "identifiers of the external table are written to unnamed files next to the release; is the disk full?",
    )
}

impl Shard {
    fn spill(&mut self, directory: &Path) -> Result<()> {
        let mut bytes = Vec::with_capacity(self.kept.len() * BYTES);
        for (person, row) in self.kept.drain(..) {
            bytes.extend_from_slice(&person.to_le_bytes());
            bytes.extend_from_slice(&row.to_le_bytes());
        }
        let file = match &mut self.spilled {
            Some(file) => file,
            None => self.spilled.insert(tempfile::tempfile_in(directory).map_err(|e| failed(&e))?),
        };
        file.write_all(&bytes).map_err(|e| failed(&e))
    }

    fn all(self) -> Result<Vec<Entry>> {
        let mut entries = self.kept;
        if let Some(mut file) = self.spilled {
            file.rewind().map_err(|e| failed(&e))?;
            let mut reader = BufReader::new(file);
            let mut bytes = [0; BYTES];
            while reader.read_exact(&mut bytes).is_ok() {
                let (person, row) = bytes.split_at(16);
                let person = u128::from_le_bytes(person.try_into().unwrap_or_default());
                entries.push((person, u64::from_le_bytes(row.try_into().unwrap_or_default())));
            }
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_is_one_however_it_is_written() {
        let key = Key::new();
        let of = |text: &str| key.fingerprint(text.as_bytes(), DecimalMark::Point);
        assert_eq!(of("7"), of(" 007.0"));
        assert_eq!(of("7"), key.fingerprint(b"7,0", DecimalMark::Comma));
        assert_ne!(of("A7"), of("a7"));
        assert_ne!(of("12345678901234567890"), of("12345678901234567891"));
    }

    #[test]
    fn people_who_were_spilled_are_found_again() {
        let directory = tempfile::tempdir().unwrap();
        let seen = PersonRows { room: 1000, ..PersonRows::new(directory.path()) };
        let people = 5 * (SHARDS * 1000) as u128 / 2;
        let mut batch: Vec<Entry> = Vec::new();
        for person in 1..=people {
            batch.push((person, person as u64 % 7));
            // Every thousandth person is added twice. Every ten thousandth has a different row the
            // second time.
            if person % 1000 == 0 {
                batch.push((person, person as u64 % 7 + u64::from(person % 10_000 == 0)));
            }
            if batch.len() > 5000 {
                seen.add(&mut batch).unwrap();
            }
        }
        seen.add(&mut batch).unwrap();
        assert_eq!(
            std::fs::read_dir(directory.path()).unwrap().count(),
            0,
            "spilled files have no name"
        );
        let repeated = seen.repeated().unwrap();
        assert_eq!(repeated.differing, people as u64 / 10_000);
        assert_eq!(repeated.alike.len() as u64, people as u64 / 1000 - people as u64 / 10_000);
    }
}
