//! Past the system's cache. What a large file has beyond its beginning would not stay in memory anyway: every page of it is copied
//! there, and takes the place of another. Straight between here and the disk it costs the processor nothing, as long as the disk is
//! fast. Bytes go in whole blocks to and from memory that begins where a block may; what a file system will not do that way, and
//! all that a slow disk is given, goes through the cache as ever.

mod reading;
mod writing;

use std::fs::{File, OpenOptions};
use std::io::Result;
use std::path::Path;

pub(crate) use reading::PastReader;
pub(crate) use writing::{PastWriter, Went};

/// How many bytes of a file go through the cache before any go past it.
pub(crate) const FIRST: u64 = 256 << 20;
/// Where blocks of every usual disk begin, in a file and in memory.
const BLOCK: usize = 1 << 12;
/// How many bytes go at once.
const ROOM: usize = 4 << 20;

/// Memory that begins where a block may.
#[derive(Debug)]
struct Room {
    bytes: Vec<u8>,
    start: usize,
}

impl Room {
    fn new() -> Option<Room> {
        let bytes = vec![0; ROOM + BLOCK];
        let start = bytes.as_ptr().align_offset(BLOCK);
        (start <= BLOCK).then_some(Room { bytes, start })
    }

    fn all(&self) -> &[u8] {
        &self.bytes[self.start..self.start + ROOM]
    }

    fn all_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + ROOM]
    }
}

/// Opens a file past the cache, if its file system can.
#[cfg(target_os = "linux")]
fn open(path: &Path, options: &mut OpenOptions) -> Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::DIRECT | rustix::fs::OFlags::NOFOLLOW;
    options.custom_flags(flags.bits() as i32).open(path)
}

#[cfg(not(target_os = "linux"))]
fn open(_: &Path, _: &mut OpenOptions) -> Result<File> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Whether this file system has no way past its cache: then little is tested, which is said.
    pub(crate) fn skipped(directory: &Path) -> bool {
        let path = directory.join("probe");
        std::fs::write(&path, "probe").unwrap();
        let skipped = PastWriter::open(&path, 0).is_none();
        if skipped {
            incrowd_testing::skipped("the file system has no way past its cache (TMPDIR on another may)");
        }
        skipped
    }

    /// Whether this file system takes bytes past its cache at any place, which some do by not going past it.
    pub(crate) fn takes_all(directory: &Path) -> bool {
        let path = directory.join("odd");
        std::fs::write(&path, "odd").unwrap();
        let file = open(&path, OpenOptions::new().write(true)).unwrap();
        let takes = writing::write_at(&file, b"odd", 7).is_ok();
        if takes {
            incrowd_testing::skipped("the file system takes bytes at any place (TMPDIR on another may not)");
        }
        takes
    }

    /// Bytes that do not repeat soon.
    pub(crate) fn text(bytes: usize) -> Vec<u8> {
        (0..bytes as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
    }
}
