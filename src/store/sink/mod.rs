//! The interface through which a run writes its games.
//!
//! Reading does not depend on the kind of output: it passes games and positions to a [`Sink`]. There is one
//! sink for each kind of output:
//!
//! | sink | writes |
//! |---|---|
//! | `FreshPages`, in the module `index` | a new database; the workers build the pages of its large tables |
//! | `AddedPages`, in `index` | an existing database: new pages beside those in use, or rows through SQL |
//! | `ParquetFiles`, in the module `columnar` | Parquet files |
//! | `StreamSink` and `RankSink`, in `columnar` | no files: they pass rows, or the data for a random sample, to a caller |
//! | [`NullSink`] | nothing: the input is only checked |

mod encoder;
mod game_index;
mod game_table;
mod sorter;

pub(crate) use encoder::{
    BatchNumber, GameLeaves, GameMoves, LeafEncoder, PositionEncoder, PositionView, Takes, take_in_order,
};
pub(crate) use game_index::IndexRows;
pub(crate) use game_table::{GameTables, columns_of_game};

use super::error::Result;
use super::row::HeaderBatch;

/// The output of a run. One thread calls its methods; each worker has an [encoder](Sink::Encoder).
pub(crate) trait Sink: Sized {
    /// The encoder to which workers pass games.
    type Encoder: PositionEncoder;

    /// The first encoder. The encoders of the workers are [created](PositionEncoder::another) from it.
    fn encoder(&self) -> Self::Encoder;

    /// Writes the rows of a batch to the small tables. The batches are passed in the order of the games.
    fn headers(&mut self, _: &HeaderBatch) -> Result<()> {
        Ok(())
    }

    /// Consumes the encoded data of a batch. If its memory can be reused, returns the emptied data.
    fn positions(
        &mut self,
        number: BatchNumber,
        encoded: <Self::Encoder as PositionEncoder>::Encoded,
    ) -> Result<Option<<Self::Encoder as PositionEncoder>::Encoded>>;
}

/// A sink for dry runs: it discards all data.
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
