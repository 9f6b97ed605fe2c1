//! The persons of a staged release's records, in the order of the records. Only the verification of
//! the written bytes reads them. They are in memory, or in an unnamed temporary file that the
//! system removes when this process ends.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use incrowd_core::Result;

use crate::pending::write_failed;

/// The number of bytes in memory before the rest goes to disk.
const MEMORY: usize = 1 << 22;

/// Numbers that are written once and then read.
#[derive(Debug)]
pub(crate) struct WrittenNumbers {
    directory: PathBuf,
    memory: Vec<u32>,
    file: Option<File>,
}

impl WrittenNumbers {
    /// Makes a stream. Its file, if it needs one, is created in this directory.
    pub(crate) fn new(directory: &Path) -> WrittenNumbers {
        WrittenNumbers { directory: directory.to_owned(), memory: Vec::new(), file: None }
    }

    pub(crate) fn add(&mut self, persons: &[u32]) -> Result<()> {
        self.memory.extend_from_slice(persons);
        if self.memory.len() < MEMORY {
            return Ok(());
        }
        self.spill().map_err(|e| write_failed(&self.directory, &e))
    }

    fn spill(&mut self) -> std::io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile_in(&self.directory)?),
        };
        let bytes: Vec<u8> = self.memory.iter().flat_map(|person| person.to_le_bytes()).collect();
        self.memory.clear();
        file.write_all(&bytes)
    }

    /// Reads all numbers.
    pub(crate) fn read(&self) -> Result<Vec<u32>> {
        let mut persons = Vec::new();
        if let Some(mut file) = self.file.as_ref() {
            let mut bytes = Vec::new();
            let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes));
            read.and_then(|_| file.seek(SeekFrom::End(0)))
                .map_err(|e| write_failed(&self.directory, &e))?;
            persons.extend(
                bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            );
        }
        persons.extend_from_slice(&self.memory);
        Ok(persons)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spilled_values_are_read_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let mut stream = WrittenNumbers::new(directory.path());
        let all: Vec<u32> = (0..3 * MEMORY as u32 / 2).collect();
        all.chunks(100_003).for_each(|part| stream.add(part).unwrap());
        assert!(stream.file.is_some());
        assert_eq!(stream.read().unwrap(), all);
        assert_eq!(stream.read().unwrap(), all);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "the file has no name");
    }
}
