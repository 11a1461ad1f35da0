//! A sink for runs that only check their input.

use super::Sink;
use super::encoder::{BatchNumber, PositionEncoder, Takes};
use crate::store::error::Result;

/// Accepts everything and keeps nothing.
#[derive(Debug)]
pub(crate) struct NullSink;

impl PositionEncoder for NullSink {
    type Encoded = ();
    const TAKES: Takes = Takes::Nothing;

    fn another(&self) -> Self {
        Self
    }

    fn take(&mut self, _: Option<()>) -> Result<Option<()>> {
        Ok(None)
    }
}

impl Sink for NullSink {
    type Encoder = Self;

    fn encoder(&self) -> Self {
        Self
    }

    fn positions(&mut self, _: BatchNumber, (): ()) -> Result<Option<()>> {
        Ok(None)
    }
}
