//! Functions that create archives for tests.

use std::io::Write as _;

use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::{Compression, Crc};

/// A zstd frame. `size` says whether its header contains the size of the text.
pub(crate) fn zstd_frame(text: &[u8], size: bool) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).expect("an encoder");
    encoder.include_checksum(true).expect("set");
    if size {
        encoder.set_pledged_src_size(Some(text.len() as u64)).expect("set");
    }
    encoder.write_all(text).expect("packed");
    encoder.finish().expect("packed")
}

/// A zstd archive with frames of this text size and skippable frames between them, as `pzstd` writes it.
pub(crate) fn zstd_frames(text: &[u8], size: usize) -> Vec<u8> {
    let mut archive = Vec::new();
    for (index, piece) in text.chunks(size).enumerate() {
        let frame = zstd_frame(piece, index % 2 == 0);
        archive.extend(b"\x50\x2a\x4d\x18\x04\0\0\0");
        archive.extend(u32::try_from(frame.len()).expect("short").to_le_bytes());
        archive.extend(frame);
    }
    archive
}

/// A zstd archive with a window of 2^`log` bytes.
pub(crate) fn zstd_long(text: &[u8], log: u32) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
    encoder.long_distance_matching(true).expect("set");
    encoder.window_log(log).expect("set");
    encoder.write_all(text).expect("packed");
    encoder.finish().expect("packed")
}

/// A gzip archive with members of this text size.
pub(crate) fn gzip(text: &[u8], size: usize) -> Vec<u8> {
    let member = |piece: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(piece).expect("packed");
        encoder.finish().expect("packed")
    };
    text.chunks(size).flat_map(member).collect()
}

/// A bzip2 archive with streams of this text size.
pub(crate) fn bzip2(text: &[u8], size: usize) -> Vec<u8> {
    let stream = |piece: &[u8]| {
        let mut encoder = ::bzip2::write::BzEncoder::new(Vec::new(), ::bzip2::Compression::best());
        encoder.write_all(piece).expect("packed");
        encoder.finish().expect("packed")
    };
    text.chunks(size).flat_map(stream).collect()
}

/// How a file in a zip archive is compressed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Packing {
    Stored,
    Deflated,
    Bzip2,
    Zstd,
    /// Deflated, but marked as encrypted.
    Encrypted,
    /// A compression method with an unknown number.
    Unknown,
}

/// A zip archive (APPNOTE.TXT 4.3).
pub(crate) fn zip(files: &[(&str, &[u8], Packing)]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for &(name, text, packing) in files {
        let (method, packed): (u16, Vec<u8>) = match packing {
            Packing::Stored => (0, text.to_vec()),
            Packing::Bzip2 => (12, bzip2(text, usize::MAX)),
            Packing::Zstd => (93, zstd_frame(text, true)),
            Packing::Unknown => (19, text.to_vec()),
            Packing::Deflated | Packing::Encrypted => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(text).expect("packed");
                (8, encoder.finish().expect("packed"))
            }
        };
        let mut crc = Crc::new();
        crc.update(text);
        let flags: u16 = 0x800 | u16::from(packing == Packing::Encrypted);
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).expect("short").to_le_bytes();
        let mut header = Vec::new();
        header.extend(20_u16.to_le_bytes());
        header.extend(flags.to_le_bytes());
        header.extend(method.to_le_bytes());
        header.extend([0; 4]);
        header.extend(crc.sum().to_le_bytes());
        header.extend(length(&packed));
        header.extend(length(text));
        header.extend(u16::try_from(name.len()).expect("short").to_le_bytes());
        header.extend([0; 2]);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(&header);
        directory.extend([0; 10]);
        directory.extend(length(&archive));
        directory.extend(name.as_bytes());
        archive.extend(b"PK\x03\x04");
        archive.extend(&header);
        archive.extend(name.as_bytes());
        archive.extend(&packed);
    }
    let count = u16::try_from(files.len()).expect("a small number").to_le_bytes();
    let start = u32::try_from(archive.len()).expect("short").to_le_bytes();
    let length = u32::try_from(directory.len()).expect("short").to_le_bytes();
    archive.extend(&directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend([count, count].concat());
    archive.extend([length, start].concat());
    archive.extend([0; 2]);
    archive
}

/// UTF-16 text with a byte order mark.
pub(crate) fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(bytes).collect()
}
