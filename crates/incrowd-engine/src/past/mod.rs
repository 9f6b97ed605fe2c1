//! Direct I/O: reads and writes that bypass the page cache.
//!
//! The content of a large file beyond its beginning would not stay in the page cache anyway, and
//! copying it there evicts other pages. Direct I/O saves that copy, as long as the disk is fast. It
//! transfers whole blocks from and to memory with the alignment of a block. If a file system
//! rejects direct I/O, or if the disk is slow, the page cache is used.

mod reading;
mod writing;

use std::fs::{File, OpenOptions};
use std::io::Result;
use std::path::Path;

pub(crate) use reading::PastReader;
pub(crate) use writing::{PastWriter, Went};

/// The number of bytes at the start of a file that go through the page cache.
pub(crate) const FIRST: u64 = 256 << 20;
/// The alignment of blocks in files and in memory. It suits all common disks.
const BLOCK: usize = 1 << 12;
/// The number of bytes of a buffer, which is one transfer.
const BUFFER_BYTES: usize = 4 << 20;

/// A buffer that is aligned to blocks.
#[derive(Debug)]
struct AlignedBuffer {
    bytes: Vec<u8>,
    start: usize,
}

impl AlignedBuffer {
    fn new() -> Option<AlignedBuffer> {
        let bytes = vec![0; BUFFER_BYTES + BLOCK];
        let start = bytes.as_ptr().align_offset(BLOCK);
        (start <= BLOCK).then_some(AlignedBuffer { bytes, start })
    }

    fn all(&self) -> &[u8] {
        &self.bytes[self.start..self.start + BUFFER_BYTES]
    }

    fn all_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + BUFFER_BYTES]
    }
}

/// Opens a file for direct I/O, if its file system supports that.
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

    /// Whether this file system does not support direct I/O. Then the test prints that it checks
    /// little.
    pub(crate) fn skipped(directory: &Path) -> bool {
        let path = directory.join("probe");
        std::fs::write(&path, "probe").unwrap();
        let skipped = PastWriter::open(&path, 0).is_none();
        if skipped {
            incrowd_testing::skipped(
                "the file system has no way past its cache (TMPDIR on another may)",
            );
        }
        skipped
    }

    /// Whether this file system accepts direct I/O at unaligned offsets. Some do, by using the page
    /// cache.
    pub(crate) fn takes_all(directory: &Path) -> bool {
        let path = directory.join("odd");
        std::fs::write(&path, "odd").unwrap();
        let file = open(&path, OpenOptions::new().write(true)).unwrap();
        let takes = writing::write_at(&file, b"odd", 7).is_ok();
        if takes {
            incrowd_testing::skipped(
                "the file system takes bytes at any place (TMPDIR on another may not)",
            );
        }
        takes
    }

    /// Test data without short periods.
    pub(crate) fn text(bytes: usize) -> Vec<u8> {
        (0..bytes as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
    }
}
