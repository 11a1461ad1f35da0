//! A run that only looks at its input.

use super::encoder::{BlockNumber, NoEncoder};
use super::{DuplicateLinks, NewRun, RunTotals, Sink, SortedOccurrences};
use crate::store::error::Result;
use crate::store::row::HeaderBatch;

/// Takes everything and keeps nothing.
#[derive(Debug)]
pub(crate) struct Nothing;

impl Sink for Nothing {
    type Encoder = NoEncoder;
    const KEEPS: bool = false;

    fn encoder(&self) -> NoEncoder {
        NoEncoder
    }

    fn begin(&mut self, _: &NewRun<'_>) -> Result<()> {
        Ok(())
    }

    fn headers(&mut self, _: &HeaderBatch) -> Result<()> {
        Ok(())
    }

    fn positions(&mut self, _: BlockNumber, (): ()) -> Result<Option<()>> {
        Ok(None)
    }

    fn occurrences<S: SortedOccurrences>(&mut self, _: &S) -> Result<(), S::Error> {
        Ok(())
    }

    fn end(&mut self, _: &RunTotals) -> Result<()> {
        Ok(())
    }

    fn links<S: SortedOccurrences>(&mut self, _: &S, _: &DuplicateLinks) -> Result<u64, S::Error> {
        Ok(0)
    }

    fn finish(self) -> Result<()> {
        Ok(())
    }
}
