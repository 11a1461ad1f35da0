//! Chunks of sources, in order, for whoever asks next.

use std::ops::Range;
use std::sync::Arc;

use crate::pgn::next_boundary;
use crate::source::{Mapped, SourceFile, Sources};
use crate::store::row::SourceId;

/// What a worker is given to do. The numbers of all work are 0, 1, 2 … in input order.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) number: u64,
    pub(super) source: SourceId,
    pub(super) task: Task,
}

/// The work itself.
#[derive(Debug)]
pub(super) enum Task {
    /// Whole games of a source.
    Chunk { map: Arc<Mapped>, range: Range<usize> },
    /// A source that cannot be read: why.
    Report(String),
}

/// Opens one source after the other and cuts it into chunks.
#[derive(Debug)]
pub(super) struct Feed<'s> {
    sources: std::slice::Iter<'s, crate::source::Result<SourceFile>>,
    chunk_size: usize,
    number: u64,
    source: SourceId,
    open: Option<(Arc<Mapped>, usize)>,
}

impl<'s> Feed<'s> {
    /// The ids of the sources follow `last`.
    pub(super) fn new(sources: &'s Sources, last: SourceId, chunk_size: usize) -> Self {
        let sources = sources.files.iter();
        Self { sources, chunk_size: chunk_size.max(1), number: 0, source: last, open: None }
    }
}

impl Iterator for Feed<'_> {
    type Item = Work;

    fn next(&mut self) -> Option<Work> {
        loop {
            let task = match self.open.take() {
                Some((map, start)) if start < map.bytes().len() => {
                    let target = start.saturating_add(self.chunk_size).min(map.bytes().len());
                    let end = next_boundary(map.bytes(), target - 1);
                    self.open = Some((Arc::clone(&map), end));
                    Task::Chunk { map, range: start..end }
                }
                _ => {
                    self.source.0 += 1;
                    let opened = match self.sources.next()? {
                        Ok(file) => Mapped::open(&file.path)
                            .map(|map| (map, usize::try_from(file.first_byte).unwrap_or(usize::MAX)))
                            .map_err(|error| error.full_message()),
                        Err(error) => Err(error.full_message()),
                    };
                    match opened {
                        Ok((map, start)) => {
                            self.open = Some((Arc::new(map), start));
                            continue;
                        }
                        Err(message) => Task::Report(message),
                    }
                }
            };
            let number = self.number;
            self.number += 1;
            return Some(Work { number, source: self.source, task });
        }
    }
}
