//! Digests of plain files, computed in parallel with reading.

use std::path::Path;

use crate::index::read::stream::SourceEnd;
use crate::index::run::Run;
use crate::index::run::worker::Shared;
use crate::source::{self, Mapped, SourceFile};
use crate::store::SourceDigest;

impl Run<'_> {
    /// The digests of all readable plain files, with the number of bytes covered. Digests of other sources
    /// are computed while they are decoded.
    pub(crate) fn digests(&self, shared: &Shared<'_>) -> Vec<Option<(u64, SourceDigest)>> {
        let of = |path: &Path| {
            let map = Mapped::open(path).ok()?;
            let is_stopped = || self.progress.is_stopped() || shared.turn.is_stopped();
            let bytes = map.bytes().len();
            Some((bytes as u64, digest(&map, bytes, is_stopped)?))
        };
        let file =
            |file: &source::Result<SourceFile>| of(&file.as_ref().ok().filter(|file| file.is_plain())?.path);
        self.intake.sources.files.iter().map(file).collect()
    }

    /// The end of a source with its digest. For a plain file whose size has changed since `digested` was
    /// computed, the digest is computed again.
    pub(crate) fn end_of(
        &self,
        index: usize,
        end: SourceEnd,
        digested: Option<(u64, SourceDigest)>,
    ) -> SourceEnd {
        let again = |bytes: u64| {
            let map = Mapped::open(&self.intake.sources.files[index].as_ref().ok()?.path).ok()?;
            let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes <= map.bytes().len())?;
            digest(&map, bytes, || self.progress.is_stopped())
        };
        let made = match (digested, end.bytes) {
            (Some((bytes, digest)), Some(read)) if bytes == read => Some(digest),
            (Some(_), Some(read)) => again(read),
            _ => None,
        };
        SourceEnd { digest: end.digest.or(made), ..end }
    }
}

/// The digest of the first `end` bytes of a file; `None` if `is_stopped` returns true.
fn digest(map: &Mapped, end: usize, is_stopped: impl Fn() -> bool) -> Option<SourceDigest> {
    const PIECE: usize = 1 << 20;
    let mut hasher = blake3::Hasher::new();
    for (index, piece) in map.bytes()[..end].chunks(PIECE).enumerate() {
        if is_stopped() {
            return None;
        }
        hasher.update(piece);
        map.release(index * PIECE..index * PIECE + piece.len());
    }
    Some(SourceDigest(*hasher.finalize().as_bytes()))
}
