//! Memory that the operating system may move to a file: with `source::mapped`, the only unsafe code outside the database layer.
#![allow(unsafe_code)]

use std::io::{self, Read as _};
use std::path::Path;

use memmap2::MmapMut;

/// So many zero bytes in a file in `directory` that has no name and vanishes with the process.
pub(super) fn zeroed_file(directory: &Path, bytes: usize) -> io::Result<MmapMut> {
    let mut file = tempfile::tempfile_in(directory)?;
    // Written, not only made longer: that the disk is full must be an error here, not a signal at a later access.
    io::copy(&mut io::repeat(0).take(bytes as u64), &mut file)?;
    // SAFETY: nobody else can open the file, which has no name, and this handle is about to be closed: no other program and no
    // other part of this one changes it or cuts it shorter.
    unsafe { MmapMut::map_mut(&file) }
}
