//! A sink for runs that only check their input.

use super::encoder::{BlockNumber, NoEncoder};
use super::{NewRun, Sink};
use crate::store::error::Result;
use crate::store::row::HeaderBatch;

/// Accepts everything and keeps nothing.
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
}
