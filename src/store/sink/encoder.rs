//! Encodes games for a sink, on the threads of the workers.

use std::borrow::Cow;
use std::sync::Arc;

use crate::board::{FenText, MoveCode, Position};
use crate::id::{GameId, Ply};
use crate::store::error::Result;
use crate::store::layout::Layout;
use crate::store::pages::{BoardFen, LeafWriter, PageFile, PositionRecord, Segment};
use crate::store::row::{EvalRow, HeaderBatch};

/// One position of a game that is being replayed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PositionView<'a> {
    pub(crate) game: GameId,
    pub(crate) ply: Ply,
    pub(crate) position: &'a Position,
    /// The placement of the position; `None` in the compact layout, which does not store it.
    pub(crate) placement: Option<&'a FenText>,
    /// The move played from this position; `None` in the last position of the game.
    pub(crate) move_code: Option<MoveCode>,
    /// Whether the game starts from a set-up position.
    pub(crate) is_setup: bool,
}

impl PositionView<'_> {
    /// The placement of the position; computed if the field has none.
    #[inline]
    pub(crate) fn placement(&self) -> Cow<'_, FenText> {
        self.placement.map_or_else(|| Cow::Owned(FenText::new(self.position)), Cow::Borrowed)
    }
}

/// The moves of one game.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GameMoves<'g> {
    pub(crate) game: GameId,
    /// The start position; `None` if it is the standard one.
    pub(crate) setup: Option<&'g Position>,
    pub(crate) codes: &'g [MoveCode],
}

/// Identifies a batch, in input order: the number of its chunk, and the number of the batch within this
/// chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BatchNumber {
    pub(crate) chunk: u64,
    pub(crate) batch: u32,
}

/// The data that an encoder takes from each batch of games.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Nothing: the games are only checked.
    Nothing,
    /// Positions, and rows of `move_eval`.
    Positions,
    /// The moves of whole games. All rows, including the rows of `move_eval`, are sent to the sink.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet files need it"))]
    Moves,
    /// The rows and the moves of games. For each batch, the rows are sent to the sink after the encoded data.
    Games,
}

impl Takes {
    /// Whether the sink keeps the games. If not, rows need no game ids, and duplicates are not removed.
    pub(crate) const fn keeps(self) -> bool {
        matches!(self, Self::Positions | Self::Moves)
    }
}

/// Encodes games for a sink. Each worker has one encoder, and adds to it only the data that the encoder
/// [takes](Self::TAKES).
pub(crate) trait PositionEncoder: Send + Sync + Sized {
    /// The encoded data of a batch.
    type Encoded: Send;

    /// The data that the encoder takes.
    const TAKES: Takes;

    /// Whether the sink needs the batches in order.
    const IN_ORDER: bool = false;

    /// A new encoder for another worker.
    fn another(&self) -> Self;

    /// The layout of the database that the sink writes.
    fn layout(&self) -> Layout {
        Layout::Open
    }

    /// Adds the next position.
    fn push(&mut self, _: &PositionView<'_>) -> Result<()> {
        Ok(())
    }

    /// Adds the next row of `move_eval`.
    fn push_eval(&mut self, _: &EvalRow) -> Result<()> {
        Ok(())
    }

    /// Adds the moves of the next game.
    fn push_moves(&mut self, _: &GameMoves<'_>) {}

    /// Adds the next games. The first game has the id `first`. In `rows`, the ids of the games begin at 0.
    /// `moves` contains the moves of those games that have positions.
    fn push_games<'g>(
        &mut self,
        _first: GameId,
        _rows: &HeaderBatch,
        _moves: impl Iterator<Item = GameMoves<'g>>,
    ) {
    }

    /// Returns the encoded data of the batch; `None` if nothing was added. The next batch can reuse the
    /// memory of `used`.
    fn take(&mut self, used: Option<Self::Encoded>) -> Result<Option<Self::Encoded>>;
}

/// Builds the leaf pages of `game_position` and `move_eval`, and writes them to the file. The encoded data
/// contains the numbers of these pages, and the rows between them; if all rows fit on one page, only the rows.
#[derive(Debug)]
pub(crate) struct LeafEncoder {
    file: Arc<PageFile>,
    layout: Layout,
    positions: LeafWriter,
    evals: LeafWriter,
}

/// The leaves of one batch of games.
#[derive(Debug)]
pub(crate) struct GameLeaves {
    positions: Segment,
    evals: Segment,
}

/// Removes the leaves of all batches from `leaves`. Returns them in key order: the leaves of `game_position`, and
/// those of `move_eval`.
pub(crate) fn take_in_order(leaves: &mut Vec<(BatchNumber, GameLeaves)>) -> (Vec<Segment>, Vec<Segment>) {
    let mut leaves = std::mem::take(leaves);
    leaves.sort_by_key(|&(number, _)| number);
    leaves.into_iter().map(|(_, GameLeaves { positions, evals })| (positions, evals)).unzip()
}

impl LeafEncoder {
    pub(crate) fn new(file: &Arc<PageFile>, layout: Layout) -> Self {
        let [positions, evals] = [(); 2].map(|()| LeafWriter::new(Arc::clone(file)));
        Self { file: Arc::clone(file), layout, positions, evals }
    }
}

impl PositionEncoder for LeafEncoder {
    type Encoded = GameLeaves;
    const TAKES: Takes = Takes::Positions;

    fn another(&self) -> Self {
        Self::new(&self.file, self.layout)
    }

    fn layout(&self) -> Layout {
        self.layout
    }

    #[inline]
    fn push(&mut self, view: &PositionView<'_>) -> Result<()> {
        let Some(placement) = view.placement else { return Ok(()) };
        Ok(self.positions.push(&PositionRecord {
            game: view.game,
            ply: view.ply,
            key: view.position.key(),
            halfmove_clock: view.position.halfmove_clock(),
            move_code: view.move_code,
            fen: BoardFen { position: view.position, placement },
        })?)
    }

    #[inline]
    fn push_eval(&mut self, row: &EvalRow) -> Result<()> {
        Ok(self.evals.push(row)?)
    }

    fn take(&mut self, _: Option<GameLeaves>) -> Result<Option<GameLeaves>> {
        let (positions, evals) = (self.positions.finish_segment()?, self.evals.finish_segment()?);
        Ok((!positions.is_empty() || !evals.is_empty()).then_some(GameLeaves { positions, evals }))
    }
}
